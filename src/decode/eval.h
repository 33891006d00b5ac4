/*
 * decode/eval: runs compiled print formats on records. Private to the room.
 *
 * A frame is one record being printed: it is made on the stack of whoever prints, so any number of
 * threads may run the same program. Nothing here reads outside [rec, rec + len).
 */
#ifndef DECODE_EVAL_H
#define DECODE_EVAL_H

#include "decode/print.h"
#include "decode/prog.h"
#include "decode/sink.h"

struct frame {
	const struct decode_format *format;
	const struct decode_prog *prog;
	const struct tep_prog *tep;	/* in place of prog, for DECODE_TEP */
	const struct decode_ctx *ctx;	/* never NULL while printing */
	const uint8_t *rec;
	size_t len;
	int pid;
	bool escape;
};

struct value {
	enum {
		VALUE_NUM,
		VALUE_DOUBLE,
		VALUE_BYTES,	/* p and len: in the record */
		VALUE_STRING,	/* p and len: a literal */
		VALUE_MADE,	/* len is a node that makes text: decode_made() */
	} what;
	uint32_t len;
	union {
		uint64_t num;	/* extended to 64 bits by the sign of the node's type */
		double dbl;
		const uint8_t *p;
	};
};

struct value decode_eval(const struct frame *f, uint32_t node);
/* A value where C wants an integer. */
uint64_t decode_value_int(const struct value *v);

/* helper.c: what a VALUE_MADE prints. */
void decode_made(const struct frame *f, uint32_t node, struct sink *s);
void decode_bitmap(struct sink *s, struct decode_bytes bytes, uint32_t bits,
		   const struct decode_abi *abi);
void decode_bitmap_list(struct sink *s, struct decode_bytes bytes, uint32_t bits,
			const struct decode_abi *abi);
void decode_hex_bytes(struct sink *s, struct decode_bytes bytes, char separator);

/* pointer.c: %p and what may follow it. */
void decode_pointer(const struct frame *f, const struct conv *conv, const struct value *v,
		    struct sink *s);
/* What the extension makes of the bytes behind the pointer; false: nothing was printed. */
bool decode_extension(const struct frame *f, const struct conv *conv, struct decode_bytes b,
		      struct sink *s);
/* "name", "name+0x1/0x20", either with its " [module]"; the address if it has no name. */
enum { SYMBOL_OFFSET = 1, SYMBOL_MODULE = 2 };
void decode_symbol_name(const struct frame *f, uint64_t addr, unsigned int with, struct sink *s);

/* print.c: a frame for a record, and the end of its text; the sink is closed. */
struct frame decode_frame(const struct decode_format *format, const void *rec, size_t len,
			  const struct decode_ctx *ctx);
void decode_end_line(const struct frame *f, struct sink *s);
/* One conversion of one value. */
void decode_conv(const struct frame *f, const struct conv *conv, const struct value *v,
		 bool is_signed, struct sink *s);

/* binary.c: a bprint record's arguments by its format text. */
void decode_binary(const struct frame *f, const char *fmt, struct decode_bytes bytes,
		   struct sink *s);

#endif
