/*
 * decode/tep: print formats the way libtraceevent reads and prints them, which is what people know
 * from trace-cmd's report. Private to the room.
 *
 * It is a language of its own, whose text looks like C: numbers are unsigned and of 64 bits,
 * operators of one rank group to the right, parentheses group only what stands left of an operator,
 * names of constants are 0, and a %s decides by the kind of its argument. So there is a second
 * compiler (tep_parse.c, tep_call.c, tep_prog.c) with a tree of its own, and a second printer
 * (tep_number.c, tep_text.c, tep_pointer.c, tep_fields.c). What that library refuses is refused.
 *
 * Nothing reads outside the record, and every tree is at most TEP_DEPTH_MAX high. Any thread.
 */
#ifndef DECODE_TEP_H
#define DECODE_TEP_H

#include "decode/eval.h"
#include "decode/lex.h"

#define TEP_DEPTH_MAX 250

/* Numbers that show in some texts: "ARG TYPE NOT FIELD BUT 8". */
enum tep_kind {
	TEP_NONE = 0,
	TEP_ATOM = 1,		/* text, and the number that it begins with */
	TEP_FIELD = 2,		/* field, NULL: a name that the event does not have */
	TEP_FLAGS = 3,		/* a by list, joined by text */
	TEP_SYMBOLIC = 4,	/* a by list */
	TEP_HEX = 5,		/* a, b bytes */
	TEP_ARRAY = 6,		/* a, b elements of c bytes */
	TEP_CAST = 7,		/* a, `keep` bytes of it */
	TEP_STRING = 8,		/* the text that field leads to */
	TEP_DYNAMIC = 10,	/* the bytes that field leads to */
	TEP_OP = 11,		/* op: a and b; '?': a, then b or c */
	TEP_FUNC = 12,		/* func of the arguments from a on */
	TEP_BITMASK = 13,	/* of field */
	TEP_LEN = 14,		/* of what field leads to */
	TEP_HEX_STR = 15,	/* as TEP_HEX */
	TEP_CPUMASK = 16,	/* of field */
	TEP_ARGUMENT = 17,	/* a function's: a; the next one is b */
};

struct tep_node {
	uint8_t kind;
	uint8_t rank;		/* of an operator; 0: whatever follows takes it as a whole */
	uint8_t size;		/* not 0: the number is as many bytes of the record, at offset */
	uint8_t keep;		/* CAST: bytes that it keeps, 0: all */
	bool negative;		/* FLAGS: the list has a negative value */
	bool is_name;		/* ATOM: a word of the text, and may be a symbol */
	uint8_t elem;		/* CAST to a pointer: the same of elements behind it */
	uint8_t depth;
	int op;			/* as lex.h spells it */
	uint32_t a, b, c;
	uint32_t list, nr_list;
	struct text text;
	union {
		uint64_t num;
		uint32_t offset;	/* with size */
	};
	union {
		const struct decode_field *field;
		const struct tep_func *func;
	};
};

/* An entry of a list. Values that are no plain numbers are -1, as there. */
struct tep_name {
	int64_t value;
	struct text text;
};

enum tep_piece_kind {
	TEP_PIECE_TEXT,
	/* Numbers without width and flags, cut to `size` bytes: */
	TEP_PIECE_SIGNED, TEP_PIECE_UNSIGNED, TEP_PIECE_HEX,
	TEP_PIECE_ADDRESS,	/* %p alone */
	TEP_PIECE_NUMBER,	/* any other number */
	TEP_PIECE_STRING,
	TEP_PIECE_POINTER,
};

struct tep_piece {
	struct text text;	/* printed first */
	struct text spec;	/* the conversion as written */
	struct conv conv;
	uint8_t kind;
	uint8_t star;		/* CONV_STAR_*: what the node `width` gives */
	uint8_t direct;		/* bytes at `offset` in the record that are the value; 0: evaluate it */
	uint32_t offset;
	uint32_t value, width;
};

/* Texts of pieces lie so that this many bytes can be read, whatever their length. */
#define TEP_TEXT_ROOM 32

/* A function that plugins add to the language: it gives a number, or makes text. */
#define TEP_ARGS_MAX 3
struct tep_args {
	uint64_t num[TEP_ARGS_MAX];
	struct decode_bytes mem[TEP_ARGS_MAX];	/* of arguments that are dynamic arrays */
};
struct tep_func {
	const char *name;
	uint8_t nr_args;
	uint64_t (*number)(const struct tep_args *args);
	void (*text)(const struct tep_args *args, struct sink *s);
};

struct tep_prog {
	struct tep_piece *pieces;
	struct tep_node *nodes;
	struct tep_name *names;
	struct tep_chunk *chunks;	/* texts that do not stand as such in the print format */
	uint32_t *shown;		/* of each field, 1 + the piece that shows it as it is */
	uint32_t nr_pieces, nr_nodes, nr_names;
	bool calls;			/* has TEP_FUNCs: of use only where there are plugins */
	bool exact;			/* gives the numbers that C gives */
	bool odd;		/* has conversions that libtraceevent does not know, such as %f */
};

/* A program, or NULL when libtraceevent could not read it either; -ENOMEM. */
int tep_compile(const struct decode_format *format, const struct tep_prog **out);
void tep_free(const struct tep_prog *prog);

/* Under compilation. Every function returns false once something could not be read. */
struct tep_compiler {
	const struct decode_format *format;
	struct tep_prog *prog;
	struct lex lex;
	bool failed, no_memory;
	unsigned int nesting;
	uint32_t cap_pieces, cap_nodes, cap_names;
};

/* tep_prog.c */
bool tep_fail(struct tep_compiler *c);
uint32_t tep_node_new(struct tep_compiler *c);
bool tep_name_add(struct tep_compiler *c, struct tep_name name);
/* Two texts as one, `between` them. */
struct text tep_join(struct tep_compiler *c, struct text a, const char *between, struct text b);
/*
 * Operations on constants within a tree of operators become constants, which a %s can print.
 * libtraceevent does so where an argument went on behind its first operand.
 */
void tep_fold(struct tep_compiler *c, uint32_t at);
/* A string that holds anything but ASCII and line breaks is more than libtraceevent can read. */
bool tep_is_printable(const char *p, const char *end);
/* True, and the word is consumed. */
bool tep_expect(struct tep_compiler *c, int word);

/* tep_parse.c: the argument at the current word goes into node `at`; operators are not followed. */
bool tep_parse_arg(struct tep_compiler *c, uint32_t at);
/* The operator at the current word and what belongs to it. */
bool tep_parse_op(struct tep_compiler *c, uint32_t at);
bool tep_is_op(int word);
void tep_set_atom(struct tep_compiler *c, uint32_t at, struct text text);

/* tep_call.c: the function whose name was `name`; the current word is its parenthesis. */
bool tep_parse_call(struct tep_compiler *c, uint32_t at, struct text name);

/* tep_func.c: NULL: no plugin has it. */
const struct tep_func *tep_func_find(struct text name);
struct tep_args tep_func_args(const struct frame *f, const struct tep_node *n);

/* tep_number.c */
uint64_t tep_number_of(const struct frame *f, const struct tep_node *n);
uint64_t tep_cast(uint64_t value, unsigned int size);
/* Where a __data_loc or __rel_loc field's bytes begin, and how many it says they are. */
struct tep_loc {
	uint64_t offset;
	uint32_t len;
};
struct tep_loc tep_locate(const struct frame *f, const struct decode_field *field);
/* Of the record, `want` bytes from `offset` on at most. */
struct decode_bytes tep_bytes(const struct frame *f, uint64_t offset, uint64_t want);

static inline uint64_t tep_load(const struct frame *f, uint64_t offset, uint32_t size)
{
	if (offset > f->len || size > f->len - offset)
		return 0;
	return decode_abi_load(f->rec + offset, size, f->format->abi.big_endian);
}

/* What a node is as a number. Nearly all of them lie in the record as they are. */
static inline uint64_t tep_number(const struct frame *f, uint32_t at)
{
	const struct tep_node *n = &f->tep->nodes[at];

	if (n->size)
		return tep_load(f, n->offset, n->size);
	return tep_number_of(f, n);
}

/* tep_text.c */
void tep_run(const struct frame *f, struct sink *s);
void tep_text(const struct frame *f, const struct conv *conv, uint32_t at, struct sink *s);
/* A piece but for its text. */
void tep_piece_value(const struct frame *f, const struct tep_piece *p, struct sink *s);
/* One conversion whose value is already known: a number, or text in the record. */
void tep_conv(const struct frame *f, const struct conv *conv, const struct value *v,
	      struct sink *s);
/* Of a format or string that records lead to, all but the line break that it may end with. */
size_t tep_printk_len(const char *text);
void tep_symbol(const struct frame *f, uint64_t addr, bool offset, struct sink *s);

/* tep_pointer.c */
void tep_pointer(const struct frame *f, const struct tep_piece *p, struct sink *s);

/* tep_conv.c: reads the conversion at `p`, its percent sign. */
enum { TEP_CONV_BAD = -1, TEP_CONV_TEXT = 0, TEP_CONV = 1 };
struct tep_spec {
	struct conv conv;
	uint8_t star;		/* CONV_STAR_* */
	char odd;		/* a letter that is printed as ">c<"; 0: nothing is */
	size_t len;
};
int tep_conv_read(const char *p, const char *end, struct tep_spec *out);

/* tep_fields.c: " name=value ..." */
void tep_fields(const struct frame *f, struct sink *s);
/* What is printed when the format could not be read. */
void tep_failed(const struct frame *f, struct sink *s);

/* tep_special.c */
void tep_print(const struct frame *f, struct sink *s);
void tep_bprint(const struct frame *f, struct sink *s);

#endif
