/*
 * decode/special: ftrace's own records, whose text the kernel does not make from their print
 * format. Private to the room.
 */
#ifndef DECODE_SPECIAL_H
#define DECODE_SPECIAL_H

#include "decode/eval.h"

struct decode_special {
	const char *name;
	const char *fields[3];	/* that the format must have; a '?' in front: it need not */
	void (*print)(const struct frame *f, struct sink *s);
	/* Of records that are somebody's words, the words alone; of others NULL. */
	void (*message)(const struct frame *f, struct sink *s);
	int source;	/* field with the address of the words, 0: the record holds them */
	/* The same as print for DECODE_TEP; NULL: by the format. */
	void (*tep)(const struct frame *f, struct sink *s);
};

/*
 * Sets format->special and format->own, by system, name and fields, never by ID, since these are
 * numbered differently from kernel to kernel.
 */
void decode_special_find(struct decode_format *format);

/* block.c */
void decode_print_block(const struct frame *f, struct sink *s);

#endif
