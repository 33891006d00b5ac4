/*
 * trigger/probe: the reading of one probe. Private to the room.
 *
 *   probe.c         the line: its words, which kind it is, arguments' names
 *   probe_place.c   the first two words: what it is called and where it is
 *   probe_params.c  what the parameters of a function or the fields of an event are, for $argN, $arg* and plain names
 *   probe_member.c  members of what a parameter points to
 *   probe_fetch.c   where an argument comes from
 *   probe_type.c    and of what type it is
 *   probe_show.c    back to text; what another event, or another point of the same one, says to it
 */
#ifndef TRIGGER_PROBE_H
#define TRIGGER_PROBE_H

#include "trigger/read.h"

#define PROBE_PARAMS_MAX 64

/* As layout/prototype.h has them. */
struct probe_param {
	const char *name;	/* "": it has none */
	char kind;
	uint8_t size;
	int8_t at;		/* of the registers for arguments; -1: in none of them */
};

struct probe_read {
	const struct spec_world *world;
	struct read_mem *mem;
	struct spec_error *error;
	struct spec_probe *probe;
	const struct decode_format *format;	/* of the event that it hangs on; NULL: all fields are believed */
	uint32_t nwords;
	char **words;		/* as refusals show the line */
	uint32_t nargs;
	char **args;		/* words, with what $arg* stands for in its place */
	uint32_t at;		/* the word that is looked at */
	size_t offset;		/* and where in it */
	uint32_t ops;		/* steps of the argument: the kernel has room for so many */
	bool is_memory;		/* what was read last is what lies at an address */
	bool at_entry;		/* of a function: parameters are where the caller put them */
	bool is_missing;	/* a symbol that nobody has was named */
	bool knows_params;
	uint32_t nparams;
	struct probe_param params[PROBE_PARAMS_MAX];
	struct probe_param returned;
	struct probe_param member;	/* of a parameter */
	uint32_t bits, shift;		/* of it, if it is not whole bytes */
	const struct probe_param *last;	/* that was read last; NULL: it was none */
};

/* What others see as struct spec_probe, which is first. */
struct probe_box {
	struct spec_probe probe;
	struct read_mem mem;
	char *line;		/* as refusals show it */
};

/* The caret is `offset` behind the beginning of the current word; behind the last word where there is none. */
int probe_refuse(struct probe_read *read, int code, const char *message, size_t offset);

static inline bool probe_is_user(const struct spec_probe *probe)
{
	return probe->kind == SPEC_PROBE_FILE;
}

/* error_log's name of who refuses. */
const char *probe_location(enum spec_probe_kind kind);

/* The first two words. -ECANCELED: it is of no kind that the file takes. */
int probe_read_place(struct probe_read *read, char file);

/* Words of arguments: $arg* becomes one for each parameter, $argN that one's name. */
int probe_expand(struct probe_read *read);
/* Is it at a function or an event whose parameters are where they were put? */
bool probe_has_params(const struct probe_read *read);
/* The number of a parameter; -1: there is none of that name. */
int probe_param(const struct probe_read *read, const char *name, size_t len);

/* arg->body -> all else of it but names and place. */
int probe_read_body(struct probe_read *read, struct spec_arg *arg);
/* Where it comes from. `user`: as the kernel has it, from a program's memory. */
int probe_read_fetch(struct probe_read *read, char *text, bool *user, const struct spec_fetch **out);
/* What lies that much behind an address; NULL: there is no memory. */
struct spec_fetch *probe_peek(struct probe_read *read, const struct spec_fetch *of, int64_t offset);
/* probe_member.c: `path` leads from `param`, which *out is read to be, to a member; the first step of it is `at` behind its beginning. */
int probe_read_member(struct probe_read *read, const char *path, size_t at, const struct probe_param *param,
		      const struct spec_fetch **out);
/* One more step of the kernel's. */
int probe_step(struct probe_read *read);

#endif
