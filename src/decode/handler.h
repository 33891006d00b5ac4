/*
 * decode/handler: one printer of one event, and what it is given. Private to the room: plugin.c
 * has the set, the plugin_*.c have the printers, grouped by what they are about.
 *
 * Fields are looked up by name once, when a format meets its handler. Numbers are without sign, as
 * libtraceevent gives them to its plugins.
 */
#ifndef DECODE_HANDLER_H
#define DECODE_HANDLER_H

#include "decode/plugin.h"
#include "decode/tep.h"

#define HANDLER_FIELDS 8

/* Options by number, for those who look at them. */
enum { OPTION_PARENT, OPTION_INDENT, OPTION_OFFSET, OPTION_TAILPRINT, OPTION_DEPTH, OPTION_RETVAL, OPTION_NR };

struct handling {
	struct frame f;
	const struct decode_plugin *plugin;
	const struct decode_moment *moment;
	const bool *options;			/* OPTION_NR of them */
	struct sink *s;
};

/* What a printer did. */
enum handled {
	HANDLED,	/* printed all */
	HANDLED_FIRST,	/* printed what stands before the event's usual text */
	HANDLED_NOT,	/* this record is not for it */
};

struct handler {
	const char *system;
	const char *event;
	/* Those up to the first NULL; a '?' in front: the event need not have it. */
	const char *fields[HANDLER_FIELDS];
	enum handled (*print)(const struct handling *h);
	/* What printing changes, without the text; NULL: nothing. */
	void (*pass)(const struct handling *h);
};

struct decode_plugin {
	const struct handler *handler;	/* NULL: a print format that calls functions */
	const struct user_handler *user;	/* in place of it; NULL: none */
	const struct decode_plugins *set;
	const struct decode_format *format;
	const struct decode_field *fields[HANDLER_FIELDS];
	struct decode_plugin *next;	/* of the set's */
};

/* Whether the event has field `i` of the handler's list. */
bool handler_has(const struct handling *h, int i);
uint64_t handler_num(const struct handling *h, int i);
/* The text in field `i`, to its NUL: an array of char, or a dynamic one. */
struct decode_bytes handler_text(const struct handling *h, int i);
/* All bytes of field `i`. */
struct decode_bytes handler_bytes(const struct handling *h, int i);

/* The function at an address; false: not known. */
bool handler_symbol(const struct handling *h, uint64_t addr, struct decode_symbol *out);

/* The text that the event has without plugins. */
void handler_usual(const struct handling *h);

/* Tables, each ended by a line without a system. */
extern const struct handler function_handlers[], graph_handlers[], sched_handlers[],
	memory_handlers[], timer_handlers[], kvm_handlers[], syscall_handlers[],
	wireless_handlers[];

/* carry.c: the functions that a CPU is in. */
struct decode_carry {
	struct carry_name *names;
	uint32_t nr, cap;
};

/*
 * How deep `child` is when `parent` calls it: where the parent stands in the stack, behind which
 * the child then stands, if it has a name; a parent that is not in it becomes the bottom.
 */
uint32_t carry_call(struct decode_carry *carry, const char *parent, const char *child);

#endif
