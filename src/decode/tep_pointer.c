/*
 * decode/tep_pointer: %p and its extensions as libtraceevent has them; see tep.h. Those that look
 * behind a pointer want a field of the very size, and say so when they do not get it.
 */
#include "decode/tep.h"

#include <string.h>

static void plain(uint64_t addr, struct sink *s)
{
	if (!addr) {
		sink_puts(s, "(nil)");
		return;
	}
	sink_add(s, "0x", 2);
	sink_hex(s, addr, 0);
}

static void not_a_field(const struct tep_node *n, struct sink *s)
{
	sink_puts(s, "ARG TYPE NOT FIELD BUT ");
	sink_dec(s, n->kind);
}

/* A field of `size` bytes, or the word for what it is not. */
static void sized(const struct frame *f, const struct conv *conv, const struct tep_node *n,
		  uint32_t size, const char *invalid, struct sink *s)
{
	struct decode_bytes b;

	if (n->kind != TEP_FIELD) {
		not_a_field(n, s);
		return;
	}
	if (!n->field)
		return;
	b = tep_bytes(f, n->field->offset, size);
	if (n->field->size == size && b.len == size)
		decode_extension(f, conv, b, s);
	else
		sink_puts(s, invalid);
}

/* An address of its own, by the letters of %pI4 or %pI6. */
static void ip(const struct frame *f, const char *letters, struct decode_bytes b, struct sink *s)
{
	struct conv conv = { .prec = -1 };

	memcpy(conv.ext, letters, strlen(letters) + 1);
	decode_extension(f, &conv, b, s);
}

/* %pIS, then p for the port, then c for the short form; any other letters do nothing. */
static void address(const struct frame *f, const char *ext, struct decode_bytes b, bool six,
		    struct sink *s)
{
	bool big = ext[0] == 'I', port = big && ext[2] == 'p';
	bool brief = big && ext[port ? 3 : 2] == 'c';

	if (six) {
		if (port)
			sink_putc(s, '[');
		ip(f, !big ? "i6" : brief ? "I6c" : "I6",
		   (struct decode_bytes){ b.data + 8, 16 }, s);
		if (port)
			sink_putc(s, ']');
	} else {
		ip(f, big ? "I4" : "i4", (struct decode_bytes){ b.data + 4, 4 }, s);
	}
	if (port) {
		sink_putc(s, ':');
		sink_dec(s, decode_abi_load(b.data + 2, 2, true));
	}
}

static void sockaddr(const struct frame *f, const struct conv *conv, const struct tep_node *n,
		     struct sink *s)
{
	struct tep_loc loc;
	struct decode_bytes b;
	uint64_t family;

	if (n->kind != TEP_FIELD && n->kind != TEP_DYNAMIC) {
		not_a_field(n, s);
		return;
	}
	if (!n->field)
		return;
	if (n->kind == TEP_DYNAMIC)
		loc = tep_locate(f, n->field);
	else
		loc = (struct tep_loc){ n->field->offset, n->field->size };
	b = tep_bytes(f, loc.offset, loc.len);
	family = tep_load(f, loc.offset, 2);
	if (family == 2 && b.len < 16)
		sink_puts(s, "INVALIDIPv4");
	else if (family == 10 && b.len < 28)
		sink_puts(s, "INVALIDIPv6");
	else if (family == 2 || family == 10)
		address(f, conv->ext, b, family == 10, s);
}

static void hex_bytes(const struct frame *f, const struct tep_piece *p, const struct tep_node *n,
		      struct sink *s)
{
	char how = p->conv.ext[1];
	uint64_t want = p->star ? tep_number(f, p->width) : 1;
	struct tep_loc loc;

	if (n->kind != TEP_DYNAMIC) {
		not_a_field(n, s);
		return;
	}
	loc = tep_locate(f, n->field);
	decode_hex_bytes(s, tep_bytes(f, loc.offset, want < loc.len ? want : loc.len),
			 how == 'C' ? ':' : how == 'D' ? '-' : how == 'N' ? '\0' : ' ');
}

void tep_pointer(const struct frame *f, const struct tep_piece *p, struct sink *s)
{
	const struct conv *conv = &p->conv;
	const struct tep_node *n = &f->tep->nodes[p->value];

	while (n->kind == TEP_CAST)
		n = &f->tep->nodes[n->a];
	switch (conv->ext[0]) {
	case 'F':
	case 'S':
	case 'f':
	case 's':
		tep_symbol(f, tep_number(f, p->value), conv->ext[0] < 'a', s);
		break;
	case 'M':
	case 'm':
		sized(f, conv, n, 6, "INVALIDMAC", s);
		break;
	case 'U':
		sized(f, conv, n, 16, "INVALIDUUID", s);
		break;
	case 'I':
	case 'i':
		if (conv->ext[1] == '4')
			sized(f, conv, n, 4, "INVALIDIPv4", s);
		else if (conv->ext[1] == '6')
			sized(f, conv, n, 16, "INVALIDIPv6", s);
		else if (conv->ext[1] == 'S')
			sockaddr(f, conv, n, s);
		break;
	case 'h':
		hex_bytes(f, p, n, s);
		break;
	default:
		plain(tep_number(f, p->value), s);
	}
}
