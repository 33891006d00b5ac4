/*
 * decode/print: a record as text, the way the kernel prints it.
 *
 * In: a format (format.h), a record's bytes (they may be anything), and what only the caller can
 * know: names of addresses and of tasks. Out: text appended to a buf, of at most DECODE_TEXT_MAX
 * bytes, never read from outside the record. Any thread, as long as the callbacks can be called
 * from it.
 *
 *   print format text --prog.c--> pieces and expressions --eval.c, helper.c, pointer.c--> text
 *                     lex.c                               conv.c
 *   ftrace's own records --special.c, binary.c--> text
 */
#ifndef DECODE_PRINT_H
#define DECODE_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "decode/format.h"

/* Longest text of one record; what is longer ends in "[LINE TOO BIG]". */
#define DECODE_TEXT_MAX 65536u

struct decode_symbol {
	const char *name;
	const char *module;	/* NULL: none */
	uint64_t offset;	/* of the address from the symbol's start */
	uint64_t size;
};

/* "name [module]", or with how far into it: "name+0x12/0x40 [module]". */
void decode_symbol_text(const struct decode_symbol *symbol, bool offset, struct buf *out);

/* A printf format that bprint records name by its address. */
struct decode_printk {
	const char *text;
	const char *caller;	/* name of the function it stands in, NULL: by the record's ip */
};

enum {
	DECODE_ESCAPE = 1,	/* control characters in records' strings come as \n, \t, \xNN */
	/* In ftrace's own records, of the places where they were written: */
	DECODE_SYM_OFFSET = 2,	/* "name+0x1/0x20 [module]" instead of "name" */
	DECODE_SYM_ADDR = 4,	/* the address behind it, " <ffffffff81000000>" */
	DECODE_NO_PARENT = 8,	/* functions without " <-caller" */
	/*
	 * As libtraceevent prints, and with it trace-cmd's report, not as the kernel does: other
	 * rules for print formats, for fields and for ftrace's own records; "[FAILED TO PARSE]" and
	 * the fields where it cannot read a print format. The three above do not count then.
	 */
	DECODE_TEP = 16,
	DECODE_NS = 32,		/* with DECODE_TEP: times in texts have nine digits, not six */
	DECODE_NO_ARGS = 128,	/* the same: calls of functions without their arguments, as before there were any */
	DECODE_LONE = 64,	/* without DECODE_TEP: addresses as 0x1 and (nil), names as name+0x1 */
};

/*
 * Texts of flags and symbolic values that were made before: few values come again and again. Begins
 * as zeros, belongs to one thread, and to formats that outlive it. Private.
 */
#define DECODE_MEMO 128	/* a power of two */
struct decode_memo {
	struct {
		const void *of;
		uint64_t value;
		uint32_t len;
		char text[44];
	} slots[DECODE_MEMO];
};

/*
 * Each callback may be NULL, as may be the whole: then addresses and numbers are printed. What they
 * return is peeked.
 */
struct decode_ctx {
	void *arg;
	unsigned int flags;
	struct decode_memo *memo;	/* NULL: none */
	/* The name of an address in task `pid`; false: not known. */
	bool (*symbol)(void *arg, int pid, uint64_t addr, struct decode_symbol *out);
	/* The format (or any constant string) at an address; false: not known. */
	bool (*printk)(void *arg, uint64_t addr, struct decode_printk *out);
	/* The address of a symbol, which some print formats name; false: not known. DECODE_TEP only. */
	bool (*address)(void *arg, const char *name, size_t len, uint64_t *out);
	/*
	 * Whether a byte array has held what is no text in a record before this one: libtraceevent never
	 * takes it for text again. NULL: each record for itself. Raw fields under DECODE_TEP only.
	 */
	bool (*odd)(void *arg, const struct decode_field *field);
	/* The name of a task; NULL: not known. */
	const char *(*comm)(void *arg, int pid);
	/* The process that a task belongs to; 0: not known. */
	int (*tgid)(void *arg, int pid);
	/* What the function that begins at an address takes and gives (layout/prototype.h); NULL: not known. */
	const char *(*prototype)(void *arg, uint64_t func);
};

/*
 * What follows `event: ` in a line. ftrace's own records (print, bprint, function, ...) give the
 * line's whole text, which in the kernel's layout has no event name before it: decode_is_whole()
 * tells.
 */
void decode_print(const struct decode_format *format, const void *rec, size_t len,
		  const struct decode_ctx *ctx, struct buf *out);
bool decode_is_whole(const struct decode_format *format);
/* Whether its text is more than its fields, in one dialect at least. If not, print_err tells why. */
bool decode_has_text(const struct decode_format *format);

/*
 * Under DECODE_TEP: whether its numbers come out as C and the kernel have them, which goes for most;
 * the byte arrays of a record that are no text; and whether raw fields are all that is printed.
 */
bool decode_tep_is_exact(const struct decode_format *format);
bool decode_tep_is_raw(const struct decode_format *format, bool plugins);
void decode_odd_fields(const struct decode_format *format, const void *rec, size_t len,
		       void (*found)(void *arg, const struct decode_field *field), void *arg);

/*
 * Records that are somebody's words: print, bprint, bputs. The words alone, without the place that
 * they come from; only for these.
 */
bool decode_is_message(const struct decode_format *format);
void decode_print_message(const struct decode_format *format, const void *rec, size_t len,
			  const struct decode_ctx *ctx, struct buf *out);

/* " name=value name=value ...": what decode_print falls back to. */
void decode_print_fields(const struct decode_format *format, const void *rec, size_t len,
			 const struct decode_ctx *ctx, struct buf *out);

#endif
