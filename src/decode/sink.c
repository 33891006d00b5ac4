/*
 * decode/sink: see sink.h. A sink belongs to one thread.
 */
#include "decode/sink.h"

#define FIRST_ROOM 256

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

void sink_open(struct sink *s, struct buf *buf, size_t limit)
{
	*s = (struct sink){ .buf = buf, .start = buf->len, .limit = limit };
	if (buf_room(buf, FIRST_ROOM)) {
		take_room(s);
		return;
	}
	s->full = true;
	s->at = s->end = buf->data ? buf->data + buf->len : NULL;
}

void sink_close(struct sink *s)
{
	if (!s->buf->data)
		return;
	s->buf->len = (size_t)(s->at - s->buf->data);
	if (s->buf->cap)
		s->buf->data[s->buf->len] = '\0';
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

/* "00" to "99". */
static const char pairs[] =
	"0001020304050607080910111213141516171819202122232425262728293031323334353637383940"
	"4142434445464748495051525354555657585960616263646566676869707172737475767778798081"
	"828384858687888990919293949596979899";

/* "00" to "ff". */
static const char hex_pairs[] =
	"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
	"202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f"
	"404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f"
	"606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f"
	"808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f"
	"a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebf"
	"c0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9dadbdcdddedf"
	"e0e1e2e3e4e5e6e7e8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9fafbfcfdfeff";

static unsigned int dec_digits(unsigned long long v)
{
	unsigned int n = 1;

	for (; v >= 10000; v /= 10000)
		n += 4;
	return n + (v >= 10) + (v >= 100) + (v >= 1000);
}

void sink_dec(struct sink *s, unsigned long long v)
{
	unsigned int n = dec_digits(v);
	char tmp[20], *p;

	/* Digits go where they belong, if there is room for them. */
	p = (size_t)(s->end - s->at) >= n ? s->at + n : tmp + n;
	for (; v >= 100; v /= 100)
		memcpy(p -= 2, pairs + v % 100 * 2, 2);
	if (v >= 10)
		memcpy(p -= 2, pairs + v * 2, 2);
	else
		*--p = (char)('0' + v);
	if (p == s->at)
		s->at += n;
	else
		sink_add(s, tmp, n);
}

void sink_hex(struct sink *s, unsigned long long v, unsigned int width)
{
	unsigned int n = v ? (67u - (unsigned int)__builtin_clzll(v)) / 4 : 1;
	char tmp[16], *p;

	if (width > sizeof(tmp))
		width = sizeof(tmp);
	if (n < width)
		n = width;
	p = (size_t)(s->end - s->at) >= n ? s->at + n : tmp + n;
	for (unsigned int i = n / 2; i; i--) {
		memcpy(p -= 2, hex_pairs + (v & 255) * 2, 2);
		v >>= 8;
	}
	if (n & 1)
		*--p = hex_pairs[(v & 15) * 2 + 1];
	if (p == s->at)
		s->at += n;
	else
		sink_add(s, tmp, n);
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
