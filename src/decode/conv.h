/*
 * decode/conv: one printf conversion, read once and carried out many times.
 *
 * The rules are the kernel's, which differ from C's in corners: %#x of 0 is 0x0, a precision does
 * not switch off the zero flag, %.0d of 0 is 0, and letters and digits after %p belong to it. %f,
 * %e, %g and %a, which the kernel lacks, are C's. Used by print formats (prog.h) and by the formats
 * of bprint records (binary.c); with CONV_C by those that print like libtraceevent (tep.h), whose
 * integers are C's. Any thread.
 */
#ifndef DECODE_CONV_H
#define DECODE_CONV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/abi.h"
#include "decode/sink.h"

enum {
	CONV_LEFT = 1,
	CONV_PLUS = 2,
	CONV_SPACE = 4,
	CONV_ALT = 8,
	CONV_ZERO = 16,
	/* Width and precision come from arguments of their own, before the value's. */
	CONV_STAR_WIDTH = 32,
	CONV_STAR_PREC = 64,
	/* C's rules where the kernel's differ. */
	CONV_C = 128,
};

/* No width or precision is larger: what a field needs to line up, not what fills a disk. */
#define CONV_WIDTH_MAX 16384
#define CONV_EXT_MAX 7

struct conv {
	char kind;		/* d u o x X c s p % or f, which is e, g and a too */
	char letter;		/* as written */
	uint8_t flags;
	uint8_t size;		/* bytes of the argument of an integer conversion */
	int16_t width;		/* 0: none */
	int16_t prec;		/* -1: none */
	char ext[CONV_EXT_MAX + 1];	/* what follows %p */
};

/*
 * Reads the conversion at `p`, which is the percent sign. Returns the bytes it takes; 0 when this
 * is no conversion that we know, and then the percent sign is text.
 */
size_t conv_parse(const char *p, const char *end, const struct decode_abi *abi, struct conv *out);

/*
 * Width and precision out of star arguments, as C reads them: a negative width means left, a
 * negative precision none.
 */
void conv_set_width(struct conv *c, int64_t width);
void conv_set_prec(struct conv *c, int64_t prec);

/* d u o x X and c; `v` is cut to the conversion's size. `escape`: see sink_text. */
void conv_int(struct sink *s, const struct conv *c, uint64_t v, bool escape);
void conv_text(struct sink *s, const struct conv *c, const void *text, size_t len, bool escape);
void conv_double(struct sink *s, const struct conv *c, double v);

#endif
