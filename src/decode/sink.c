/*
 * decode/sink: see sink.h. A sink belongs to one thread.
 */
#include "decode/sink.h"

#include "base/digits.h"

/* Room is what the buf has, but never more than the limit leaves. */
static void take_room(struct sink *s)
{
	size_t left;

	s->at = s->buf->data + s->buf->len;
	left = s->limit - sink_used(s);
	s->end = s->buf->data + s->buf->cap - 1;
	if ((size_t)(s->end - s->at) > left)
		s->end = s->at + left;
}

void sink_open_slow(struct sink *s, struct buf *buf, size_t limit)
{
	*s = (struct sink){ .buf = buf, .start = buf->len, .limit = limit };
	if (buf_room(buf, SINK_FIRST_ROOM)) {
		take_room(s);
		return;
	}
	s->full = true;
	s->at = s->end = buf->data ? buf->data + buf->len : NULL;
}

size_t sink_grow(struct sink *s, size_t n)
{
	size_t room;

	if (s->full)
		return 0;
	s->buf->len = (size_t)(s->at - s->buf->data);
	room = s->limit - sink_used(s);
	if (!buf_room(s->buf, n < room ? n : room)) {
		s->full = true;
		s->end = s->at;
		return 0;
	}
	take_room(s);
	if ((size_t)(s->end - s->at) >= n)
		return n;
	s->full = true;
	return (size_t)(s->end - s->at);
}

void sink_add_more(struct sink *s, const void *bytes, size_t n)
{
	n = sink_grow(s, n);
	if (!n)
		return;
	memcpy(s->at, bytes, n);
	s->at += n;
}

void sink_fill(struct sink *s, char c, size_t n)
{
	if ((size_t)(s->end - s->at) < n)
		n = sink_grow(s, n);
	if (!n)
		return;
	memset(s->at, c, n);
	s->at += n;
}

void sink_dec(struct sink *s, unsigned long long v)
{
	char tmp[DIGITS_ROOM];

	if ((size_t)(s->end - s->at) >= DIGITS_ROOM)
		s->at = digits_dec(s->at, v);
	else
		sink_add(s, tmp, (size_t)(digits_dec(tmp, v) - tmp));
}

void sink_hex(struct sink *s, unsigned long long v, unsigned int width)
{
	char tmp[DIGITS_ROOM];
	size_t len = (size_t)(digits_hex(tmp, v) - tmp);

	if (width > 16)
		width = 16;
	if (len < width)
		sink_fill(s, '0', width - len);
	sink_add(s, tmp, len);
}

/* Bytes from p on that a terminal would obey: 1 for C0 and DEL, 2 for C1 in UTF-8, else 0. */
static size_t control(const unsigned char *p, size_t n)
{
	if (*p < 0x20 || *p == 0x7f)
		return 1;
	return n > 1 && p[0] == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0 ? 2 : 0;
}

void sink_text(struct sink *s, const void *text, size_t n, bool escape)
{
	const unsigned char *p = text;
	size_t i = 0, end;

	if (!escape) {
		sink_add(s, text, n);
		return;
	}
	while (i < n && !s->full) {
		end = i + control(p + i, n - i);
		if (end == i)
			sink_putc(s, (char)p[i++]);
		for (; i < end; i++) {
			if (p[i] == '\n' || p[i] == '\t') {
				sink_puts(s, p[i] == '\n' ? "\\n" : "\\t");
				continue;
			}
			sink_puts(s, "\\x");
			sink_hex(s, p[i], 2);
		}
	}
}

void sink_adjust(struct sink *s, size_t mark, int width, int precision, bool left)
{
	size_t len = sink_used(s) - mark, pad;
	char *from;

	if (precision >= 0 && (size_t)precision < len) {
		s->at -= len - (size_t)precision;
		len = (size_t)precision;
	}
	if (width <= 0 || (size_t)width <= len)
		return;
	pad = (size_t)width - len;
	if ((size_t)(s->end - s->at) < pad)
		pad = sink_grow(s, pad);
	if (!pad)
		return;
	from = s->at - len;
	if (!left)
		memmove(from + pad, from, len);
	memset(left ? s->at : from, ' ', pad);
	s->at += pad;
}
