/*
 * decode/helper: the text that __print_flags() and its like make, byte for byte as the kernel makes
 * it.
 */
#include "decode/eval.h"

static struct decode_bytes bytes_of(const struct frame *f, uint32_t node)
{
	struct value v = decode_eval(f, node);

	if (v.what != VALUE_BYTES && v.what != VALUE_STRING)
		return (struct decode_bytes){ NULL, 0 };
	return (struct decode_bytes){ v.p, v.len };
}

static uint64_t int_of(const struct frame *f, uint32_t node)
{
	struct value v = decode_eval(f, node);

	return decode_value_int(&v);
}

static void hex_number(struct sink *s, uint64_t v)
{
	sink_add(s, "0x", 2);
	sink_hex(s, v, 0);
}

/*
 * Each name whose bits are all set, those bits taken off; what is left as a number. No bits, no
 * text.
 */
static void flags(const struct frame *f, const struct node *n, struct sink *s)
{
	uint64_t v = int_of(f, n->a);
	bool first = true;

	for (uint32_t i = 0; i < n->nr_list && v && !s->full; i++) {
		const struct name *name = &f->prog->names[n->list + i];

		if ((v & name->value) != name->value)
			continue;
		v &= ~name->value;
		if (!first)
			sink_add(s, n->text.p, n->text.len);
		sink_add(s, name->text.p, name->text.len);
		first = false;
	}
	if (!v)
		return;
	if (!first)
		sink_add(s, n->text.p, n->text.len);
	hex_number(s, v);
}

static void symbolic(const struct frame *f, const struct node *n, struct sink *s)
{
	uint64_t v = int_of(f, n->a);

	for (uint32_t i = 0; i < n->nr_list; i++) {
		const struct name *name = &f->prog->names[n->list + i];

		if (name->value == v) {
			sink_add(s, name->text.p, name->text.len);
			return;
		}
	}
	hex_number(s, v);
}

void decode_hex_bytes(struct sink *s, struct decode_bytes b, char separator)
{
	for (uint32_t i = 0; i < b.len && !s->full; i++) {
		if (i && separator)
			sink_putc(s, separator);
		sink_hex(s, b.data[i], 2);
	}
}

static void hex(const struct frame *f, const struct node *n, struct sink *s)
{
	struct decode_bytes b = bytes_of(f, n->a);
	uint64_t len = int_of(f, n->b);

	if (len < b.len)
		b.len = (uint32_t)len;
	decode_hex_bytes(s, b, n->op == OP_HEX ? ' ' : '\0');
}

static void array(const struct frame *f, const struct node *n, struct sink *s)
{
	struct decode_bytes b = bytes_of(f, n->a);
	uint64_t count = int_of(f, n->b), want = int_of(f, n->c);
	bool bad = want != 1 && want != 2 && want != 4 && want != 8;
	uint32_t size = bad ? 1 : (uint32_t)want;

	if (count > b.len / size)
		count = b.len / size;
	sink_putc(s, '{');
	for (uint32_t i = 0; i < count && !s->full; i++) {
		if (i)
			sink_putc(s, ',');
		if (bad) {
			sink_puts(s, "BAD SIZE:");
			sink_dec(s, want);
			sink_putc(s, ' ');
		}
		hex_number(s, decode_abi_load(b.data + (size_t)i * size, size,
					      f->format->abi.big_endian));
	}
	sink_putc(s, '}');
}

/* Bitmaps are arrays of longs: which byte holds bits 8i and up. Bits that are not there are 0. */
static uint8_t bitmap_byte(struct decode_bytes b, uint32_t i, const struct decode_abi *abi)
{
	if (abi->big_endian)
		i = i / abi->long_size * abi->long_size + abi->long_size - 1 - i % abi->long_size;
	return i < b.len ? b.data[i] : 0;
}

void decode_bitmap(struct sink *s, struct decode_bytes b, uint32_t bits,
		   const struct decode_abi *abi)
{
	uint32_t group = (bits + 31) / 32, left = bits % 32 ? bits % 32 : 32, word;
	bool first = true;

	while (group-- && !s->full) {
		word = 0;
		for (uint32_t i = 0; i < 4; i++)
			word |= (uint32_t)bitmap_byte(b, group * 4 + i, abi) << i * 8;
		if (left < 32)
			word &= (1u << left) - 1;
		if (!first)
			sink_putc(s, ',');
		sink_hex(s, word, (left + 3) / 4);
		first = false;
		left = 32;
	}
}

void decode_bitmap_list(struct sink *s, struct decode_bytes b, uint32_t bits,
			const struct decode_abi *abi)
{
	bool first = true;
	uint32_t end;

	for (uint32_t i = 0; i < bits && !s->full; i++) {
		if (!(bitmap_byte(b, i / 8, abi) >> i % 8 & 1))
			continue;
		for (end = i + 1; end < bits && bitmap_byte(b, end / 8, abi) >> end % 8 & 1; end++)
			;
		if (!first)
			sink_putc(s, ',');
		sink_dec(s, i);
		if (end > i + 1) {
			sink_putc(s, '-');
			sink_dec(s, end - 1);
		}
		first = false;
		i = end;
	}
}

void decode_made(const struct frame *f, uint32_t at, struct sink *s)
{
	const struct node *n = &f->prog->nodes[at];
	struct decode_bytes b;

	switch (n->op) {
	case OP_FLAGS:
		flags(f, n, s);
		break;
	case OP_SYMBOLIC:
		symbolic(f, n, s);
		break;
	case OP_HEX:
	case OP_HEX_STR:
		hex(f, n, s);
		break;
	case OP_ARRAY:
		array(f, n, s);
		break;
	case OP_BITMASK:
		b = bytes_of(f, n->a);
		decode_bitmap(s, b, b.len * 8, &f->format->abi);
		break;
	}
}
