/*
 * decode/pointer: %p and its extensions. The letters after %p choose a line of the table below;
 * what is not there, and what would need memory that the record does not hold, prints as an
 * address.
 *
 * A pointer is either a number, an address in the writer's memory, or bytes in the record, which
 * the extensions that look behind a pointer need.
 */
#include "decode/eval.h"

#include <string.h>

struct extension {
	const char *letters;	/* that ext must begin with */
	uint32_t bytes;		/* that it needs; 0: any number */
	void (*print)(const struct frame *f, const struct conv *conv, struct decode_bytes b,
		      struct sink *s);
};

static void plain(const struct frame *f, const struct conv *conv, uint64_t addr, struct sink *s)
{
	struct conv c = *conv;
	uint8_t size = f->format->abi.long_size;

	if (f->ctx->flags & DECODE_LONE) {
		sink_puts(s, addr ? "0x" : "(nil)");
		if (addr)
			sink_hex(s, addr, 0);
		return;
	}
	c.kind = 'x';
	c.size = size;
	c.prec = -1;
	if (!c.width) {
		c.flags |= CONV_ZERO;
		c.width = (int16_t)(size * 2 + (c.flags & CONV_ALT ? 2 : 0));
	}
	conv_int(s, &c, addr, false);
}

void decode_symbol_name(const struct frame *f, uint64_t addr, unsigned int with, struct sink *s)
{
	struct decode_symbol sym = { 0 };

	if (!f->ctx->symbol || !f->ctx->symbol(f->ctx->arg, f->pid, addr, &sym) || !sym.name) {
		sink_puts(s, "0x");
		sink_hex(s, addr, 0);
		return;
	}
	sink_text(s, sym.name, strlen(sym.name), f->escape);
	if (with & SYMBOL_OFFSET) {
		sink_puts(s, "+0x");
		sink_hex(s, sym.offset, 0);
		if (!(f->ctx->flags & DECODE_LONE)) {
			sink_puts(s, "/0x");
			sink_hex(s, sym.size, 0);
		}
	}
	if (sym.module && !(f->ctx->flags & DECODE_LONE) && (with & SYMBOL_MODULE)) {
		sink_puts(s, " [");
		sink_text(s, sym.module, strlen(sym.module), f->escape);
		sink_putc(s, ']');
	}
}

/* %pM 00:01:..., %pMF with dashes, %pMR backwards, %pm without separators. */
static void mac(const struct frame *f, const struct conv *conv, struct decode_bytes b,
		struct sink *s)
{
	char separator = conv->ext[0] == 'm' ? '\0' : conv->ext[1] == 'F' ? '-' : ':';
	bool backwards = conv->ext[1] == 'R';

	(void)f;
	for (uint32_t i = 0; i < 6; i++) {
		if (i && separator)
			sink_putc(s, separator);
		sink_hex(s, b.data[backwards ? 5 - i : i], 2);
	}
}

static void ip4_bytes(const uint8_t *b, bool padded, struct sink *s)
{
	static const struct conv three = { .kind = 'u', .size = 1, .flags = CONV_ZERO, .width = 3,
					   .prec = -1 };

	for (int i = 0; i < 4; i++) {
		if (i)
			sink_putc(s, '.');
		if (padded)
			conv_int(s, &three, b[i], false);
		else
			sink_dec(s, b[i]);
	}
}

/* %pI4, %pi4 with leading zeros; then h (the writer's order), n, b (network) or l. */
static void ip4(const struct frame *f, const struct conv *conv, struct decode_bytes b,
		struct sink *s)
{
	char order = conv->ext[2];
	bool turn = order == 'l' || (order == 'h' && !f->format->abi.big_endian);
	uint8_t out[4];

	for (int i = 0; i < 4; i++)
		out[i] = b.data[turn ? 3 - i : i];
	ip4_bytes(out, conv->ext[0] == 'i', s);
}

static unsigned int ip6_group(const uint8_t *b, int i)
{
	return (unsigned int)b[2 * i] << 8 | b[2 * i + 1];
}

/* The longest run of two or more zero groups; -1 without one. */
static int ip6_gap(const uint8_t *b, int groups, int *len)
{
	int best = -1, run;

	*len = 1;
	for (int i = 0; i < groups; i += run + 1) {
		for (run = 0; i + run < groups && !ip6_group(b, i + run); run++)
			;
		if (run > *len) {
			best = i;
			*len = run;
		}
	}
	return best;
}

static void ip6_short(const uint8_t *b, struct sink *s)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	/* An IPv4 address inside is written as one. */
	bool v4 = !memcmp(b, mapped, 12) ||
		  (!(b[8] & ~2) && !b[9] && b[10] == 0x5e && b[11] == 0xfe);
	int groups = v4 ? 6 : 8, len, gap = ip6_gap(b, groups, &len);
	bool colon = false;

	for (int i = 0; i < groups; i++) {
		if (i == gap) {
			sink_puts(s, "::");
			colon = false;
			i += len - 1;
			continue;
		}
		if (colon)
			sink_putc(s, ':');
		sink_hex(s, ip6_group(b, i), 0);
		colon = true;
	}
	if (v4) {
		if (colon)
			sink_putc(s, ':');
		ip4_bytes(b + 12, false, s);
	}
}

static void ip6_long(const uint8_t *b, bool colons, struct sink *s)
{
	for (int i = 0; i < 8; i++) {
		if (i && colons)
			sink_putc(s, ':');
		sink_hex(s, ip6_group(b, i), 4);
	}
}

/* %pI6, %pi6 without colons, %pI6c shortened. */
static void ip6(const struct frame *f, const struct conv *conv, struct decode_bytes b,
		struct sink *s)
{
	(void)f;
	if (conv->ext[0] == 'I' && conv->ext[2] == 'c')
		ip6_short(b.data, s);
	else
		ip6_long(b.data, conv->ext[0] == 'I', s);
}

static void sockaddr6(const struct frame *f, const char *letters, const uint8_t *b, struct sink *s)
{
	bool extra = strpbrk(letters, "pfs");

	if (extra)
		sink_putc(s, '[');
	if (strchr(letters, 'c'))
		ip6_short(b + 8, s);
	else
		ip6_long(b + 8, true, s);
	if (extra)
		sink_putc(s, ']');
	if (strchr(letters, 'p')) {
		sink_putc(s, ':');
		sink_dec(s, decode_abi_load(b + 2, 2, true));
	}
	if (strchr(letters, 'f')) {
		sink_putc(s, '/');
		sink_dec(s, decode_abi_load(b + 4, 4, true) & 0x0fffffff);
	}
	if (strchr(letters, 's')) {
		sink_putc(s, '%');
		sink_dec(s, decode_abi_load(b + 24, 4, f->format->abi.big_endian));
	}
}

/*
 * %pIS and letters: a struct sockaddr of Linux, with p for the port, c for the short form of IPv6.
 */
static void sockaddr(const struct frame *f, const struct conv *conv, struct decode_bytes b,
		     struct sink *s)
{
	const char *letters = conv->ext + 2;
	uint64_t family = b.len >= 2 ? decode_abi_load(b.data, 2, f->format->abi.big_endian) : 0;

	if (family == 2 && b.len >= 8) {
		ip4_bytes(b.data + 4, conv->ext[0] == 'i', s);
		if (strchr(letters, 'p')) {
			sink_putc(s, ':');
			sink_dec(s, decode_abi_load(b.data + 2, 2, true));
		}
	} else if (family == 10 && b.len >= 28) {
		sockaddr6(f, letters, b.data, s);
	} else {
		sink_puts(s, "(einval)");
	}
}

/* %pU, %pUb as the bytes lie, %pUl the first three parts turned; B and L in capitals. */
static void uuid(const struct frame *f, const struct conv *conv, struct decode_bytes b,
		 struct sink *s)
{
	static const uint8_t turned[16] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
	struct conv two = { .kind = 'x', .size = 1, .flags = CONV_ZERO, .width = 2, .prec = -1 };
	char how = conv->ext[1];

	(void)f;
	if (how == 'B' || how == 'L')
		two.kind = 'X';
	for (int i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			sink_putc(s, '-');
		conv_int(s, &two, b.data[how == 'l' || how == 'L' ? turned[i] : i], false);
	}
}

/* %*ph: as many bytes as the width says, 64 at most; C, D, N choose what stands between. */
static void hex_string(const struct frame *f, const struct conv *conv, struct decode_bytes b,
		       struct sink *s)
{
	uint32_t want = conv->width > 0 ? (uint32_t)conv->width : 1;
	char how = conv->ext[1];

	(void)f;
	if (want > 64)
		want = 64;
	if (want < b.len)
		b.len = want;
	decode_hex_bytes(s, b, how == 'C' ? ':' : how == 'D' ? '-' : how == 'N' ? '\0' : ' ');
}

/* %*pb: the width says how many bits; %*pbl as a list of ranges. */
static void bitmap(const struct frame *f, const struct conv *conv, struct decode_bytes b,
		   struct sink *s)
{
	uint32_t bits = conv->width > 0 ? (uint32_t)conv->width : 0;

	if (conv->ext[1] == 'l')
		decode_bitmap_list(s, b, bits, &f->format->abi);
	else
		decode_bitmap(s, b, bits, &f->format->abi);
}

static const struct extension extensions[] = {
	{ "I4", 4, ip4 },	{ "i4", 4, ip4 },
	{ "I6", 16, ip6 },	{ "i6", 16, ip6 },
	{ "IS", 0, sockaddr },	{ "iS", 0, sockaddr },
	{ "M", 6, mac },	{ "m", 6, mac },
	{ "U", 16, uuid },
	{ "h", 0, hex_string },
	{ "b", 0, bitmap },
};

/* Symbols need the address alone: %ps, %pS with offset, %pB as %pS but for return addresses. */
static bool is_symbol(const struct conv *conv)
{
	return conv->ext[0] && strchr("sSBfF", conv->ext[0]);
}

bool decode_extension(const struct frame *f, const struct conv *conv, struct decode_bytes b,
		      struct sink *s)
{
	const struct extension *e = extensions, *end = e + sizeof(extensions) / sizeof(*e);

	while (e < end && strncmp(conv->ext, e->letters, strlen(e->letters)))
		e++;
	if (e == end || b.len < e->bytes || (!b.data && e->bytes))
		return false;
	e->print(f, conv, b, s);
	return true;
}

static void by_bytes(const struct frame *f, const struct conv *conv, struct decode_bytes b,
		     struct sink *s)
{
	size_t mark = sink_used(s);

	if (!decode_extension(f, conv, b, s)) {
		/* There is no address to print either: say that there is something. */
		sink_puts(s, "(bytes)");
		return;
	}
	/* For these two the width is no width. */
	if (conv->ext[0] != 'h' && conv->ext[0] != 'b')
		sink_adjust(s, mark, conv->width, -1, conv->flags & CONV_LEFT);
}

void decode_pointer(const struct frame *f, const struct conv *conv, const struct value *v,
		    struct sink *s)
{
	size_t mark = sink_used(s);
	unsigned int offset;

	if (v->what == VALUE_BYTES || v->what == VALUE_STRING) {
		by_bytes(f, conv, (struct decode_bytes){ v->p, v->len }, s);
	} else if (v->what == VALUE_MADE) {
		decode_made(f, v->len, s);
	} else if (is_symbol(conv)) {
		offset = conv->ext[0] != 's' && conv->ext[0] != 'f' ? SYMBOL_OFFSET : 0;
		decode_symbol_name(f, decode_value_int(v), offset | SYMBOL_MODULE, s);
		sink_adjust(s, mark, conv->width, -1, conv->flags & CONV_LEFT);
	} else {
		plain(f, conv, decode_value_int(v), s);
	}
}
