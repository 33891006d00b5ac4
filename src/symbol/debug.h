/*
 * symbol/debug: places and variables of an ELF file by the names that its source has for them.
 *
 * In: a file that may hold anything, with debug information in it or in one beside it. Out: addresses of functions and of source
 * lines, variables that are in scope there, and where their values lie, in words of the probe grammar ("+8(%di)"). What reads the
 * format is libdw, behind debug_dw.c; without it debug_open() says so. The work is bounded as a whole.
 *
 *   "shop_place:3" -> debug_place -> debug_points (addresses)
 *                     debug_argument: "order->customer->name:string" -> +0(+8(+8(%di))):string
 *
 * Text of the file is handed out as it is there; it may hold any byte but NUL. One thread at a time.
 */
#ifndef SYMBOL_DEBUG_H
#define SYMBOL_DEBUG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

#define DEBUG_NAME_MAX 64u	/* of arguments, with NUL */
#define DEBUG_POINTS_MAX 4096u

struct debug;

/* -ENODATA: there is no debug information. -ENOSYS: what reads it is not built in. Others: the file cannot be read. */
int debug_open(struct debug **out, const char *path, struct err *err);
void debug_close(struct debug *debug);
/* Sources are in this directory and nowhere else; not copied. NULL: where the compiler had them. */
void debug_look_in(struct debug *debug, const char *dir);
/* The file with the debug information: the one that was opened, or another. */
const char *debug_file(const struct debug *debug);

/* ---- Places ---- */

/* FUNCTION[@FILE][+OFFSET | %return | :LINE | ;PATTERN], FILE:LINE, FILE;PATTERN or 0xADDRESS, as it is written. */
struct debug_place {
	char *function;		/* or NULL; maybe a glob */
	char *file;		/* or NULL: its path's end */
	char *pattern;		/* of a source line, blanks aside; or NULL */
	bool returns, has_line, has_offset, has_address;
	uint32_t line;		/* of the file; of the function its own first line is 0 */
	uint64_t offset;	/* behind the function's first byte */
	uint64_t address;
};

int debug_place_parse(struct debug_place *place, const char *text, struct err *err);
void debug_place_fini(struct debug_place *place);

/* What libdw calls an entry, in its own bytes. */
struct debug_die {
	uint64_t words[4];
};

struct debug_point {
	uint64_t address;
	bool entry;		/* the first instruction of a function that others call */
	bool described;		/* the entries below are there: it is in a function that debug information tells of */
	struct debug_die unit;
	struct debug_die function;	/* whose variables are meant: maybe one that was inlined there */
	char *name;		/* of the function that has the code; of one that was asked for, its own */
};

struct debug_points {
	struct debug_point *all;	/* by address, no two of one address and name */
	size_t n;
	uint32_t inlined;	/* instances that neither return nor have bytes of their own, and were left out for that */
};

/* -ENOENT: there is no such place, and words why. */
int debug_points_find(struct debug_points *points, struct debug *debug, const struct debug_place *place, struct err *err);
void debug_points_fini(struct debug_points *points);

/*
 * In code that is not optimised, parameters come to their places only behind the first instructions: moves a point at a
 * function's entry there when one of these expressions needs it. True: it was moved.
 */
bool debug_point_settle(struct debug *debug, struct debug_point *point, const char *const *exprs, size_t n);

/* "place+31": the function that has the code, and the bytes. */
void debug_point_put(struct debug *debug, const struct debug_point *point, struct buf *out);

/* ---- Variables ---- */

struct debug_arg {
	char name[DEBUG_NAME_MAX];	/* what it would be called: the last word of the expression */
	struct buf body;		/* FETCH:TYPE */
};

/*
 * VARIABLE[.MEMBER | ->MEMBER | [INDEX]]...[:TYPE], or the same of $retval. -ENOENT: nothing is called so; -ENODATA: it is, but
 * is nowhere at this point; -EOPNOTSUPP: no probe can fetch it; -EINVAL: it makes no sense.
 */
int debug_argument(struct debug *debug, const struct debug_point *point, const char *text, struct debug_arg *arg,
		   struct err *err);
void debug_arg_fini(struct debug_arg *arg);

struct debug_variable {
	char *name;
	char *type;		/* as in a declaration: "struct order*" */
	bool parameter;
	bool here;		/* has a place at this point */
	bool simple;		/* a number, a pointer, or a small array of such */
	char *function;		/* that has it, of one that is inlined there or that this one is inlined to; else NULL */
};

struct debug_variables {
	struct debug_variable *all;	/* parameters first, then as they are declared; those of other functions; one of a name */
	size_t n;
};

int debug_variables_find(struct debug_variables *variables, struct debug *debug, const struct debug_point *point,
			 struct err *err);
void debug_variables_fini(struct debug_variables *variables);

/* ---- Lines ---- */

struct debug_lines {
	char *file;		/* as the compiler was told */
	char *function;		/* or NULL */
	uint32_t base;		/* the function's first line; 0 of a file */
	uint32_t first, last;	/* of the file */
	bool to_end;		/* it was asked for to its end: what has no code may follow */
	bool *probed;		/* [line - first]: there is an instruction to be probed */
};

/* Of a function, or, without one, of a file: the lines from..to, counted as in struct debug_place; `to` 0: to its end. */
int debug_lines_find(struct debug_lines *lines, struct debug *debug, const struct debug_place *place, uint32_t to,
		     struct err *err);
void debug_lines_fini(struct debug_lines *lines);

/* Where an address is: "place:3", "place+4" in source `file`, which may be "". False: nothing is known. */
bool debug_describe(struct debug *debug, uint64_t address, struct buf *where, struct buf *file);

#endif
