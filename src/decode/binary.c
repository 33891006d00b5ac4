/*
 * decode/binary: the arguments of a bprint record, packed as the kernel's vbin_printf packs them:
 *
 *   char, short, int	their size, aligned to it
 *   8-byte values	8 bytes, aligned to 4; so are the doubles that user space adds
 *   long, pointers	as values of the writer's long size
 *   strings		inline, with their NUL, not aligned; so are %pI4 and its like, which the
 *			writer prints
 *
 * Alignment counts from the first byte of the arguments. A value that the record does not hold
 * prints as "?".
 */
#include "decode/eval.h"

#include <string.h>

struct args {
	struct decode_bytes b;
	uint32_t pos;
	bool big_endian;
};

/* False when there are not that many bytes left; then all that follows is missing too. */
static bool take(struct args *a, uint32_t size, uint64_t *out)
{
	uint32_t align = size < 4 ? size : 4;
	uint64_t pos = ((uint64_t)a->pos + align - 1) & ~(uint64_t)(align - 1);

	if (pos + size > a->b.len) {
		a->pos = a->b.len;
		*out = 0;
		return false;
	}
	*out = decode_abi_load(a->b.data + pos, size, a->big_endian);
	a->pos = (uint32_t)pos + size;
	return true;
}

static bool take_string(struct args *a, struct value *v)
{
	uint32_t left = a->b.len - a->pos;
	const uint8_t *p, *nul;

	if (!left)
		return false;
	p = a->b.data + a->pos;
	nul = memchr(p, '\0', left);
	*v = (struct value){ .what = VALUE_BYTES, .p = p, .len = nul ? (uint32_t)(nul - p) : left };
	a->pos += v->len + (nul != NULL);
	return true;
}

/* Whether the writer stored a pointer's value, not what %p made of it. */
static bool stores_address(const struct conv *c)
{
	return !c->ext[0] || strchr("sSxKefF", c->ext[0]);
}

static bool take_value(const struct frame *f, struct args *a, struct conv *c, struct value *v)
{
	uint32_t size = c->size;

	*v = (struct value){ .what = VALUE_NUM };
	switch (c->kind) {
	case 's':
		return take_string(a, v);
	case 'p':
		if (!stores_address(c)) {
			c->kind = 's';
			c->width = 0;
			c->prec = -1;
			return take_string(a, v);
		}
		size = f->format->abi.long_size;
		break;
	case 'f':
		v->what = VALUE_DOUBLE;
		size = 8;
		break;
	}
	return take(a, size, &v->num);
}

static void one(const struct frame *f, struct args *a, struct conv *c, struct sink *s)
{
	struct value v;
	uint64_t star = 0;

	if ((c->flags & CONV_STAR_WIDTH) && take(a, 4, &star))
		conv_set_width(c, (int32_t)star);
	if ((c->flags & CONV_STAR_PREC) && take(a, 4, &star))
		conv_set_prec(c, (int32_t)star);
	c->flags &= (uint8_t)~(CONV_STAR_WIDTH | CONV_STAR_PREC);
	if (take_value(f, a, c, &v))
		decode_conv(f, c, &v, c->kind == 'd', s);
	else
		sink_putc(s, '?');
}

void decode_binary(const struct frame *f, const char *fmt, struct decode_bytes bytes,
		   struct sink *s)
{
	struct args a = { .b = bytes, .big_endian = f->format->abi.big_endian };
	const char *end = fmt + strlen(fmt), *percent;
	struct conv c;
	size_t n;

	while (fmt < end && !s->full) {
		percent = memchr(fmt, '%', (size_t)(end - fmt));
		sink_add(s, fmt, (size_t)((percent ? percent : end) - fmt));
		if (!percent)
			return;
		n = conv_parse(percent, end, &f->format->abi, &c);
		if (!n || c.kind == '%') {
			sink_putc(s, '%');
			fmt = percent + (n ? n : 1);
			continue;
		}
		one(f, &a, &c, s);
		fmt = percent + n;
	}
}
