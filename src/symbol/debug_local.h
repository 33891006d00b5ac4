/*
 * symbol/debug_local: what the files of debug_*.c share. debug_dw.c alone knows libdw; the others know debug information.
 */
#ifndef SYMBOL_DEBUG_LOCAL_H
#define SYMBOL_DEBUG_LOCAL_H

#include "symbol/debug.h"

#define DEBUG_DEPTH 64		/* of entries in entries, of types of types */
#define DEBUG_OPS_MAX 32u	/* of one expression */

struct debug_dw;

struct debug {
	struct debug_dw *dw;
	char *path;		/* that was asked for */
	char *from;		/* that has the information */
	const char *sources;	/* the directory that has them; NULL: they are where they were */
	uint64_t steps;		/* entries that may still be looked at */
};

/* Instances of one function are many, each in a unit of its own. */
struct debug_seen {
	struct debug_die unit, die;
	bool inlined;
};

/* 0: go on. Else that is what the walk gives. */
typedef int debug_see(void *arg, struct debug *debug, const struct debug_seen *seen);

/* debug_walk.c */

/* One more step; false: that was the last. */
bool debug_step(struct debug *debug);
/* Words for what may be the end of a walk: -ENOMEM, and -EFBIG when steps were not enough. */
int debug_words(const struct debug *debug, int r, struct err *err);
const char *debug_name(struct debug *debug, const struct debug_die *die);
/* Functions with code, and inlined instances, of all units (or of that one; at `pc` if that is not NULL, outer ones first). */
int debug_each_function(struct debug *debug, const struct debug_die *unit, const uint64_t *pc, debug_see *see, void *arg);
/* The function of the unit that has the code there, whatever is inlined to it. */
bool debug_function_at(struct debug *debug, const struct debug_die *unit, uint64_t pc, struct debug_die *function);
/* The unit whose code it is. */
bool debug_unit_at(struct debug *debug, uint64_t pc, struct debug_die *unit);
/* Does the path of a file end so, at the beginning of a name? */
bool debug_file_is(const char *path, const char *end);

/* The blocks within a function at that address, the function first: how many. */
size_t debug_blocks_at(struct debug *debug, const struct debug_die *function, uint64_t pc, struct debug_die out[DEBUG_DEPTH]);

/*
 * debug_alias.c: the place by the name that debug information has for the function, where only symbols have the one that is
 * written; to be let go of. False: there is none.
 */
bool debug_alias(struct debug *debug, const struct debug_place *place, struct debug_place *real);

/* debug_type.c */

/* Without what does not change where it lies: const, typedef and the like. False: void. */
bool debug_type_peel(struct debug *debug, const struct debug_die *of, struct debug_die *type);
void debug_type_put(struct debug *debug, const struct debug_die *of, struct buf *out);
bool debug_type_size(struct debug *debug, const struct debug_die *type, uint64_t *size);
/* Of one dimension of an array. False: not told, or too many to be true. */
bool debug_type_elements(const struct debug_die *dimension, uint64_t *n);
/* Of an array's first dimension; 0: not told. */
uint64_t debug_type_count(struct debug *debug, const struct debug_die *array);
/* "s32", "u8", "x64", "char", of anything that is one word; false: it is not. */
bool debug_type_word(struct debug *debug, const struct debug_die *of, char word[8]);
bool debug_type_is_char(struct debug *debug, const struct debug_die *of);

/* debug_where.c: a sum of a register, a number or an address of the file, and what is read there, and so on. */
#define DEBUG_LOADS_MAX 12u
struct debug_sum {
	enum { DEBUG_NUMBER, DEBUG_REGISTER, DEBUG_ADDRESS, DEBUG_RETVAL } base;
	uint64_t number;	/* register, address */
	uint32_t nloads;
	int64_t add[DEBUG_LOADS_MAX + 1];	/* add[0] to the base; each next one to the 8 bytes that are read there */
};

/* A struct that is spread over registers: so many bytes of it. */
#define DEBUG_PIECES_MAX 8u
struct debug_piece {
	uint64_t at, size;
	bool known, in_memory;
	struct debug_sum sum;
};

struct debug_where {
	bool in_memory;		/* `sum` is its address; else its value */
	bool pointed;		/* the value is none, but what it would point to is at `target` and `offset` */
	struct debug_sum sum;
	struct debug_die target;
	int64_t offset;
	uint32_t npieces;	/* not 0: it is in these, and nowhere as a whole */
	struct debug_piece pieces[DEBUG_PIECES_MAX];
};

/* What to do where something is, but not as a value that could be fetched. */
#define DEBUG_UNREADABLE \
	"; it has no place here that a probe can read: try another line, -V FUNCTION:LINE marks those that have none"

/* -ENODATA: nowhere at this address. -EOPNOTSUPP: in a way that no probe can follow; words say which. */
int debug_where_at(struct debug *debug, const struct debug_point *point, const struct debug_die *variable,
		   struct debug_where *where, struct err *err);
/* Can its value be fetched, or what it points to; or is there only a way to compute it? */
bool debug_where_is_sum(const struct debug_where *where);
/* Behind the function's first instructions a value is in its frame, at one place throughout. */
bool debug_where_needs_frame(struct debug *debug, const struct debug_point *point, const struct debug_die *variable);

/* debug_vars.c: the variable of that name that is seen at the point. False: there is none. */
bool debug_variable_at(struct debug *debug, const struct debug_point *point, const char *name, size_t len,
		       struct debug_die *variable);

/* ---- debug_dw.c: entries as they are ---- */

struct debug_row {
	uint64_t address;
	const char *file;
	uint32_t line;
	bool statement, prologue_end, end;
};

struct debug_op {
	uint8_t code;
	uint64_t a, b;
	struct debug_die die;	/* of DW_OP_implicit_pointer */
};

/* `beside`: a file with the debug information, NULL: it is in the first. */
int debug_dw_open(struct debug_dw **out, const char *path, const char *beside, struct err *err);
void debug_dw_close(struct debug_dw *dw);

/* The next unit behind *cursor, which begins as NULL. */
bool debug_dw_unit(struct debug_dw *dw, void **cursor, struct debug_die *unit);
bool debug_dw_child(const struct debug_die *die, struct debug_die *child);
bool debug_dw_sibling(const struct debug_die *die, struct debug_die *next);
uint32_t debug_dw_tag(const struct debug_die *die);
bool debug_dw_same(const struct debug_die *a, const struct debug_die *b);
/* These look into what an entry is an instance of, too. Texts are libdw's. */
const char *debug_dw_text(struct debug_dw *dw, const struct debug_die *die, uint32_t attribute);
bool debug_dw_number(const struct debug_die *die, uint32_t attribute, int64_t *number);
/* Where a member is in its struct; -EOPNOTSUPP: that differs from one to another. */
int debug_dw_member(const struct debug_die *die, int64_t *offset);
/* Of C++: "shop::counter::", what it is in. */
void debug_dw_put_scopes(struct debug_dw *dw, const struct debug_die *die, struct buf *out);
bool debug_dw_flag(const struct debug_die *die, uint32_t attribute);
bool debug_dw_ref(const struct debug_die *die, uint32_t attribute, struct debug_die *to);
bool debug_dw_has(const struct debug_die *die, uint32_t attribute);
/* Where it was declared. */
bool debug_dw_declared(const struct debug_die *die, const char **file, uint32_t *line);
/* The line that an inlined instance was called at. */
bool debug_dw_called(const struct debug_die *die, const char **file, uint32_t *line);
bool debug_dw_has_pc(const struct debug_die *die, uint64_t pc);
bool debug_dw_entry(const struct debug_die *die, uint64_t *pc);
/* The range that it begins with. */
bool debug_dw_end(const struct debug_die *die, uint64_t entry, uint64_t *end);
size_t debug_dw_rows(const struct debug_die *unit);
bool debug_dw_row(const struct debug_die *unit, size_t i, struct debug_row *row);
/* How many operations; 0: nothing is told at this address. -EOPNOTSUPP: more than one can follow. *listed: by address. */
int debug_dw_location(struct debug_dw *dw, const struct debug_die *die, uint32_t attribute, uint64_t pc,
		      struct debug_op ops[DEBUG_OPS_MAX], bool *listed);
int debug_dw_cfa(struct debug_dw *dw, uint64_t pc, struct debug_op ops[DEBUG_OPS_MAX]);

/* An address of the image as one of the file, counted as the code's part is (as `@+OFFSET` of a probe at `at` counts). */
uint64_t debug_dw_offset_near(struct debug_dw *dw, uint64_t address, uint64_t at);

#endif
