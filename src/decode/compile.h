/*
 * decode/compile: what prog.c, parse.c and call.c, which together compile a print format, share.
 * Private to them.
 *
 * Functions that make a node return its number, or 0 when the text cannot be read or memory is out;
 * the first cause is then in the compiler, and all later calls do no harm.
 */
#ifndef DECODE_COMPILE_H
#define DECODE_COMPILE_H

#include "decode/lex.h"
#include "decode/prog.h"

struct compiler {
	const struct decode_format *format;
	struct decode_prog *prog;
	struct lex lex;
	struct err *err;
	int ret;			/* 0, or the first error */
	uint32_t cap_pieces, cap_nodes, cap_names;
	size_t strings_used;
	unsigned int nesting;
	bool lenient;			/* in a list of values: names may be unknown */
};

/* prog.c */
uint32_t prog_fail(struct compiler *c, const char *why);
/* Depth, folding of constants and storage are seen to. */
uint32_t prog_node(struct compiler *c, struct node node);
bool prog_name(struct compiler *c, struct name name);
/* The string literal, or several in a row, at the current word. */
bool prog_string(struct compiler *c, struct text *out);
/* Goes past `word`, or fails with `why`. */
bool prog_expect(struct compiler *c, int word, const char *why);
/*
 * Whether a node gives bytes of the record or text, not a number or an address in the writer's
 * memory.
 */
bool prog_is_memory(const struct compiler *c, uint32_t node);
bool prog_word_is(const struct compiler *c, const char *name);

/* parse.c */
uint32_t prog_expr(struct compiler *c);
/* The conversion of node `a` to a type, where it makes a difference. */
uint32_t prog_cast(struct compiler *c, uint32_t a, struct decode_type type);
uint32_t prog_binary(struct compiler *c, int op, uint32_t a, uint32_t b);
/* The value of a field, or the bytes of an array. */
uint32_t prog_field(struct compiler *c, const struct decode_field *field);
struct decode_type prog_type(struct compiler *c, const char *text, size_t len);
/* True, and the words in parentheses are consumed, if these are a type's. */
bool prog_type_in_parens(struct compiler *c, struct decode_type *type);
extern const struct decode_type prog_int, prog_chars;

/* call.c: the function whose name is the current word, up to its closing parenthesis. */
uint32_t prog_call(struct compiler *c);

#endif
