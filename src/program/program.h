/*
 * program: what filters, conditions, histogram keys and probe arguments are compiled to: a few instructions that read one
 * record and answer with a truth, a number or a text.
 *
 * A program is bytes: offsets and no pointers, so that it lies in the control state, in a view or in a heap alike. Names of
 * fields stand in it; *linking* finds them in the format text of one event and gives a table of places. One program thus
 * serves every layout of an event, those that come later included, as long as the fields are of the same class.
 *
 *   builder (tool) -> bytes -> verify -> link with an event's format text -> run on its records, in any thread or handler
 *
 * Running trusts nothing: the bytes may change under it (a view's place is used again), the record may hold anything. It
 * stays within `size` bytes of program, within the record, never loops and never allocates. What it answers then is of no
 * importance: who runs it looks afterwards whether its generation is still in force. Programs are aligned to 8 bytes.
 */
#ifndef PROGRAM_PROGRAM_H
#define PROGRAM_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define PROGRAM_SIZE_MAX 32768u
#define PROGRAM_FIELDS_MAX 64u
#define PROGRAM_NOTHING UINT32_MAX	/* no root */

/* What a field is, as far as programs care. */
enum program_class {
	PROGRAM_INT,		/* 1, 2, 4 or 8 bytes */
	PROGRAM_REAL,		/* float or double */
	PROGRAM_TEXT,		/* bytes up to a NUL, wherever they lie */
	PROGRAM_MASK,		/* a bitmask or cpumask */
	PROGRAM_WORDS,		/* an array of longs: a stack */
	PROGRAM_EITHER,		/* asked for only: a text, or an int, which is then its digits */
};

/* Where a program finds a field in the records of one event: the result of linking. */
struct program_field {
	uint16_t offset;
	uint16_t size;		/* of the fixed part: 4 of a location */
	uint8_t class;		/* enum program_class; UINT8_MAX: this event has no such field, or of another class */
	uint8_t is_signed;
	uint8_t place;		/* enum decode_place's values: inline, tail, location, relative location */
	uint8_t shape;		/* all of a number's class, size and sign in one: program_field_shape() */
};

/* Not 0 for numbers of 1, 2, 4 and 8 bytes; what fills in a place by itself and does not link sets it, too. */
static inline uint8_t program_field_shape(const struct program_field *field)
{
	if (field->class != PROGRAM_INT || !(field->size == 1 || field->size == 2 || field->size == 4 || field->size == 8))
		return 0;
	return (uint8_t)(field->size << 1 | (field->is_signed ? 1 : 0));
}

/* Names of things that only readers of files can tell; NULL in traced programs. */
struct program_names {
	void *arg;
	const char *(*comm)(void *arg, int32_t pid);
	/* The function that an address is in. */
	const char *(*symbol)(void *arg, int32_t pid, uint64_t address);
	/* Whether a text matches the pattern of that number. */
	bool (*match)(void *arg, uint32_t pattern, const char *text, uint32_t len);
};

/* A text with its length; `at` is NULL where it could not be read. */
struct program_text {
	const char *at;
	uint32_t len;
};

/* A record and its moment. */
struct program_input {
	const void *rec;
	uint32_t len;
	int32_t cpu;
	uint64_t ts;
	const struct program_field *fields;	/* as linked: PROGRAM_FIELDS_MAX of them */
	const char *comm;			/* of this task, NUL-terminated; NULL: ask `names` with the record's pid */
	const uint64_t *stack;			/* of this task, nstack addresses */
	uint32_t nstack;
	uint32_t nvars;
	const uint64_t *vars;			/* values of $variables, by number */
	const struct program_text *texts;	/* of those that are texts or stacks; may be NULL */
	const struct program_names *names;	/* may be NULL */
	/* Memory of the program that the event happened in: copies what can be read of `len` bytes, and says how much that
	 * was. `text`: ends behind a NUL. NULL: there is none. */
	uint32_t (*peek)(void *to, uint64_t address, uint32_t len, bool text);
	/* Where an address of that program is in the symbol space; NULL: addresses are taken as they are. */
	uint64_t (*symbol)(uint64_t address);
	bool swap;				/* the record is of the other byte order */
};

/* Nothing but a record yet. One by one: an initializer becomes a `rep stos`, which takes longer than most filters. */
static inline void program_input_open(struct program_input *in, const void *rec, uint32_t len, const struct program_field *fields)
{
	in->rec = rec;
	in->len = len;
	in->cpu = 0;
	in->ts = 0;
	in->fields = fields;
	in->comm = NULL;
	in->stack = NULL;
	in->nstack = 0;
	in->nvars = 0;
	in->vars = NULL;
	in->texts = NULL;
	in->names = NULL;
	in->peek = NULL;
	in->symbol = NULL;
	in->swap = false;
}

/* Whether the bytes are a program: sizes, operands before users, jumps that go forward. Required before link and run. */
bool program_verify(const void *program, size_t size);
/* Its size by its own words; at most `room`, 0 when that is no program. */
uint32_t program_size(const void *program, size_t room);

/*
 * Finds the program's fields in a format text (from its first field line on). Returns how many places it filled in, at most
 * PROGRAM_FIELDS_MAX; -ENOENT when one is not there or of another class, which is then marked in its place. `fields` has
 * PROGRAM_FIELDS_MAX members, those behind the program's are marked too.
 */
int program_link(const void *program, size_t size, const char *body, size_t body_len, struct program_field *fields);

/* What of its moment a verified program looks at: bits 1 << enum program_moment. */
uint32_t program_uses(const void *program, size_t size);

/* The truth that the program is of. A comparison with what cannot be had is false. */
bool program_test(const void *program, size_t size, const struct program_input *in);

/* The number that is built at `root`. */
uint64_t program_number(const void *program, size_t size, uint32_t root, const struct program_input *in);
double program_real(const void *program, size_t size, uint32_t root, const struct program_input *in);
/* The same where memory is looked at: false when some of it could not be read. */
bool program_fetch(const void *program, size_t size, uint32_t root, const struct program_input *in, uint64_t *value);

/* The text, or the words of a stack or mask, built at `root`. What was peeked at lies in `scratch`. */
struct program_text program_text(const void *program, size_t size, uint32_t root, const struct program_input *in,
				 char *scratch, uint32_t scratch_size);

/* ---- The tool's side: putting one together. program/build.c, not in traced programs ---- */

/* Failures latch; finish tells. Roots are numbers of instructions, to be stored beside the program. */
struct program_build;
struct program_build *program_build_new(void);
void program_build_free(struct program_build *build);

enum program_moment { PROGRAM_CPU, PROGRAM_TIME, PROGRAM_COMM, PROGRAM_STACK, PROGRAM_PID };

uint32_t program_build_num(struct program_build *build, uint64_t num);
uint32_t program_build_real(struct program_build *build, double num);
uint32_t program_build_literal(struct program_build *build, const char *text, size_t len);
uint32_t program_build_field(struct program_build *build, const char *name, enum program_class class);
/* A text, also where the field is a number: its digits. */
uint32_t program_build_string(struct program_build *build, const char *name);
uint32_t program_build_moment(struct program_build *build, enum program_moment what);
uint32_t program_build_var(struct program_build *build, uint32_t number, enum program_class class);
/* `op`: the operator's characters as expr/lex.h has them; a value out of two. 64 bits, as C. */
uint32_t program_build_math(struct program_build *build, uint16_t op, bool is_signed, uint32_t a, uint32_t b);
uint32_t program_build_neg(struct program_build *build, uint32_t a);
/* floor(log2(a)) as the kernel's hist counts it (0 -> 0, else the power above or equal), a cut down to a multiple of `num`. */
uint32_t program_build_log2(struct program_build *build, uint32_t a);
uint32_t program_build_bucket(struct program_build *build, uint32_t a, uint64_t num);
/* The number or text that lies in the program's memory at address a + offset. size 1, 2, 4, 8; text: up to a NUL. */
uint32_t program_build_peek(struct program_build *build, uint32_t a, int64_t offset, uint32_t size, bool is_signed);
uint32_t program_build_peek_text(struct program_build *build, uint32_t a, int64_t offset);
/* Address a of the program that the event happened in, as one of the symbol space. */
uint32_t program_build_symbol(struct program_build *build, uint32_t a);
/* `width` bits of a from bit `shift` on; sign-extension or cutting to `size` bytes. */
uint32_t program_build_bits(struct program_build *build, uint32_t a, uint32_t shift, uint32_t width, bool is_signed);
/*
 * Truths are numbered by themselves: what these return is for program_build_not(), _joint() and _is(). A comparison whose
 * operands cannot be had is false. `op`: == != < <= > >= and & (a common bit). Each truth becomes part of one other at most.
 */
enum {
	PROGRAM_UNSIGNED = 1,	/* both are, whatever their fields say */
	PROGRAM_WRAP = 2,	/* the kernel's: a constant is cut to the size of the field that it meets */
};
enum program_match { PROGRAM_FULL, PROGRAM_FRONT, PROGRAM_END, PROGRAM_MIDDLE, PROGRAM_GLOB };

uint32_t program_build_compare(struct program_build *build, uint16_t op, unsigned int flags, uint32_t a, uint32_t b);
uint32_t program_build_nonzero(struct program_build *build, uint32_t a);
/* A text against a pattern; a number against start <= a < end. */
uint32_t program_build_match(struct program_build *build, uint32_t a, enum program_match how, const char *pattern, size_t len);
uint32_t program_build_range(struct program_build *build, uint32_t a, uint64_t start, uint64_t end);
/* A mask, or a number that is a CPU's, against a set of CPUs: == != and &, as the kernel's CPUS{}. */
uint32_t program_build_cpus(struct program_build *build, uint16_t op, uint32_t a, const uint64_t *words, uint32_t nwords);
uint32_t program_build_known(struct program_build *build, bool truth);
uint32_t program_build_not(struct program_build *build, uint32_t truth);
/* Both of them, or with `either` one of them, the first one first. */
uint32_t program_build_joint(struct program_build *build, bool either, uint32_t first, uint32_t second);
/* What program_test() shall answer; true as long as nobody says. */
void program_build_is(struct program_build *build, uint32_t truth);

/*
 * Programs that only readers of files run, with their `names`: larger, with patterns (by number) and names of addresses (a
 * text: the function's, or digits in hexadecimal; `plain` numbers are digits). What a record is too short for is 0 in them.
 * program_verify() refuses them.
 */
void program_build_for_files(struct program_build *build);
uint32_t program_build_time(struct program_build *build, uint64_t unit);
uint32_t program_build_invert(struct program_build *build, uint32_t a);
uint32_t program_build_name_of(struct program_build *build, uint32_t a, bool plain);
uint32_t program_build_pattern(struct program_build *build, uint32_t a, uint32_t number);
/* The number of a field in the table that linking fills; PROGRAM_NOTHING: it is not in the program. */
uint32_t program_build_place(const struct program_build *build, const char *name);

/* Appends the program to `out`, padded to 8 bytes. -ENOMEM, -E2BIG. */
int program_build_finish(struct program_build *build, struct buf *out);

#endif
