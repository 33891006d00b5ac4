/*
 * decode/sink: the fast way to append to a struct buf, with a limit.
 *
 * What prints a record appends many small pieces, and what a record may print is bounded whatever
 * its format says: past the limit (or out of memory) everything is dropped and `full` is set.
 * Between sink_open and sink_close the buf belongs to the sink.
 */
#ifndef DECODE_SINK_H
#define DECODE_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/buf.h"

struct sink {
	char *at;	/* where the next byte goes */
	char *end;	/* room ends here; one byte behind it is kept for the NUL */
	struct buf *buf;
	size_t start;	/* offset in the buf of the first byte of this sink */
	size_t limit;	/* bytes that may be added in all */
	bool full;
};

#define SINK_FIRST_ROOM 256
void sink_open_slow(struct sink *s, struct buf *buf, size_t limit);
static inline void sink_open(struct sink *s, struct buf *buf, size_t limit)
{
	size_t room;

	if (buf->failed || buf->cap - buf->len <= SINK_FIRST_ROOM || limit < SINK_FIRST_ROOM) {
		sink_open_slow(s, buf, limit);
		return;
	}
	room = buf->cap - 1 - buf->len;
	*s = (struct sink){ .at = buf->data + buf->len, .buf = buf, .start = buf->len, .limit = limit };
	s->end = s->at + (room < limit ? room : limit);
}

static inline void sink_close(struct sink *s)
{
	if (!s->buf->data)
		return;
	s->buf->len = (size_t)(s->at - s->buf->data);
	if (s->buf->cap)
		s->buf->data[s->buf->len] = '\0';
}

/*
 * Makes room for n bytes and returns how many of them fit; less than n only when the sink is full.
 */
size_t sink_grow(struct sink *s, size_t n);

static inline size_t sink_used(const struct sink *s)
{
	return s->buf->data ? (size_t)(s->at - s->buf->data) - s->start : 0;
}

/* sink_add where there is too little room. */
void sink_add_more(struct sink *s, const void *bytes, size_t n);

/* Most pieces are a few bytes, for which a call of memcpy costs more than the copy. */
static inline void sink_copy(char *to, const void *from, size_t n)
{
	const char *p = from;

	if (n > 16) {
		memcpy(to, p, n);
	} else if (n >= 8) {
		memcpy(to, p, 8);
		memcpy(to + n - 8, p + n - 8, 8);
	} else if (n >= 4) {
		memcpy(to, p, 4);
		memcpy(to + n - 4, p + n - 4, 4);
	} else if (n) {
		to[0] = p[0];
		to[n / 2] = p[n / 2];
		to[n - 1] = p[n - 1];
	}
}

static inline void sink_add(struct sink *s, const void *bytes, size_t n)
{
	if ((size_t)(s->end - s->at) < n) {
		sink_add_more(s, bytes, n);
		return;
	}
	if (__builtin_constant_p(n))
		memcpy(s->at, bytes, n);
	else
		sink_copy(s->at, bytes, n);
	s->at += n;
}

static inline void sink_putc(struct sink *s, char c)
{
	if (s->at == s->end && !sink_grow(s, 1))
		return;
	*s->at++ = c;
}

static inline void sink_puts(struct sink *s, const char *text)
{
	sink_add(s, text, strlen(text));
}

void sink_fill(struct sink *s, char c, size_t n);

/* Digits only: decimal; hexadecimal in lower case; hexadecimal with at least `width` digits. */
void sink_dec(struct sink *s, unsigned long long v);
void sink_hex(struct sink *s, unsigned long long v, unsigned int width);

/* Text of a record; with `escape` control characters come as \n, \t or \xNN. */
void sink_text(struct sink *s, const void *text, size_t n, bool escape);

/*
 * Gives what was added since `mark` (a value of sink_used) the look of a %s: cut to `precision` if
 * that is not negative, then padded to `width`, on the right side if `left`.
 */
void sink_adjust(struct sink *s, size_t mark, int width, int precision, bool left);

#endif
