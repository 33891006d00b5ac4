/*
 * decode/tep_text: runs a program; and what a %s makes of its argument. See tep.h.
 */
#include "decode/tep.h"

#include <string.h>

#include "base/digits.h"

static void hex_number(struct sink *s, uint64_t v)
{
	sink_add(s, "0x", 2);
	sink_hex(s, v, 0);
}

void tep_symbol(const struct frame *f, uint64_t addr, bool offset, struct sink *s)
{
	struct decode_symbol sym = { 0 };

	if (!f->ctx->symbol || !f->ctx->symbol(f->ctx->arg, f->pid, addr, &sym) || !sym.name) {
		hex_number(s, addr);
		return;
	}
	sink_text(s, sym.name, strlen(sym.name), f->escape);
	if (offset) {
		sink_add(s, "+0x", 3);
		sink_hex(s, sym.offset, 0);
	}
}

/* conv_text, at once where there is nothing to do but to copy. */
static inline void put_text(const struct conv *conv, const void *text, size_t len, bool escape,
			    struct sink *s)
{
	if (!conv->width && conv->prec < 0 && !escape)
		sink_add(s, text, len);
	else
		conv_text(s, conv, text, len, escape);
}

/* Up to the first NUL, or to the end of the record when there is none. */
static void c_string(const struct frame *f, const struct conv *conv, uint64_t offset, uint64_t want,
		     struct sink *s)
{
	struct decode_bytes text = decode_bytes_text(tep_bytes(f, offset, want));

	put_text(conv, text.data, text.len, f->escape, s);
}

size_t tep_printk_len(const char *text)
{
	size_t n = strlen(text);

	return n && text[n - 1] == '\n' ? n - 1 : n;
}

/* A scalar as large as a pointer is one: to a text we were told of, or a number. */
static void string_at(const struct frame *f, uint64_t addr, struct sink *s)
{
	struct decode_printk str = { 0 };

	if (f->ctx->printk && f->ctx->printk(f->ctx->arg, addr, &str) && str.text)
		sink_text(s, str.text, tep_printk_len(str.text), f->escape);
	else
		sink_hex(s, addr, 0);
}

static void field_text(const struct frame *f, const struct conv *conv,
		       const struct decode_field *field, struct sink *s)
{
	if (!field)
		return;
	if (!field->is_array && field->size == f->format->abi.long_size)
		string_at(f, tep_load(f, field->offset, field->size), s);
	else
		c_string(f, conv, field->offset, field->size ? field->size : UINT32_MAX, s);
}

static void flags(const struct frame *f, const struct conv *conv, const struct tep_node *n,
		  uint64_t v, struct sink *s)
{
	bool first = true;

	for (uint32_t i = 0; i < n->nr_list && !s->full; i++) {
		const struct tep_name *name = &f->tep->names[n->list + i];

		/* Only a negative one matches nothing, and few lists have any. */
		if (!v && !n->negative)
			return;
		if (!v && name->value < 0) {
			put_text(conv, name->text.p, name->text.len, false, s);
			break;
		}
		if (name->value <= 0 || (v & (uint64_t)name->value) != (uint64_t)name->value)
			continue;
		if (!first)
			sink_add(s, n->text.p, n->text.len);
		put_text(conv, name->text.p, name->text.len, false, s);
		first = false;
		v &= ~(uint64_t)name->value;
	}
	if (!v)
		return;
	if (!first)
		sink_add(s, n->text.p, n->text.len);
	hex_number(s, v);
}

static void symbolic(const struct frame *f, const struct conv *conv, const struct tep_node *n,
		     uint64_t v, struct sink *s)
{
	for (uint32_t i = 0; i < n->nr_list; i++) {
		const struct tep_name *name = &f->tep->names[n->list + i];

		if ((uint64_t)name->value == v) {
			put_text(conv, name->text.p, name->text.len, false, s);
			return;
		}
	}
	hex_number(s, v);
}

/* Either of them, out of the memo if it was made before. */
static void by_list(const struct frame *f, const struct conv *conv, const struct tep_node *n,
		    struct sink *s)
{
	struct decode_memo *memo = conv->width || conv->prec >= 0 ? NULL : f->ctx->memo;
	uint64_t v = tep_number(f, n->a);
	size_t i = ((uintptr_t)n / sizeof(*n) + v * 31) % DECODE_MEMO, mark = sink_used(s), len;

	if (memo && memo->slots[i].of == n && memo->slots[i].value == v &&
	    (size_t)(s->end - s->at) >= sizeof(memo->slots[i].text)) {
		memcpy(s->at, memo->slots[i].text, sizeof(memo->slots[i].text));
		s->at += memo->slots[i].len;
		return;
	}
	if (n->kind == TEP_FLAGS)
		flags(f, conv, n, v, s);
	else
		symbolic(f, conv, n, v, s);
	len = sink_used(s) - mark;
	if (!memo || len > sizeof(memo->slots[i].text) || s->full)
		return;
	memo->slots[i].of = n;
	memo->slots[i].value = v;
	memo->slots[i].len = (uint32_t)len;
	memcpy(memo->slots[i].text, s->at - len, len);
}

/* Where the bytes of an argument of __print_hex and __print_array begin. */
static bool place_of(const struct frame *f, uint32_t at, uint64_t *offset)
{
	const struct tep_node *n = &f->tep->nodes[at];

	if (!n->field || (n->kind != TEP_DYNAMIC && n->kind != TEP_FIELD))
		return false;
	*offset = n->kind == TEP_DYNAMIC ? tep_locate(f, n->field).offset : n->field->offset;
	return true;
}

static void hex(const struct frame *f, const struct tep_node *n, struct sink *s)
{
	uint64_t offset;

	if (place_of(f, n->a, &offset))
		decode_hex_bytes(s, tep_bytes(f, offset, (uint32_t)tep_number(f, n->b)),
				 n->kind == TEP_HEX ? ' ' : '\0');
}

static void array(const struct frame *f, const struct tep_node *n, struct sink *s)
{
	int32_t count = (int32_t)tep_number(f, n->b), size = (int32_t)tep_number(f, n->c);
	uint64_t offset;

	if (!place_of(f, n->a, &offset))
		return;
	for (int32_t i = 0; i < count && !s->full; i++) {
		if (i)
			sink_putc(s, ' ');
		if (size != 1 && size != 2 && size != 4 && size != 8) {
			sink_puts(s, "BAD SIZE:");
			if (size < 0)
				sink_putc(s, '-');
			sink_dec(s, size < 0 ? 0u - (uint32_t)size : (uint32_t)size);
			sink_putc(s, ' ');
			hex_number(s, tep_load(f, offset, 1));
			size = 1;
		} else {
			sink_dec(s, tep_load(f, offset, (uint32_t)size));
		}
		offset += (uint32_t)size;
		if (offset >= f->len)
			return;
	}
}

static void mask(const struct frame *f, const struct conv *conv, const struct tep_node *n,
		 struct sink *s)
{
	size_t mark = sink_used(s);
	struct tep_loc loc;
	struct decode_bytes b;

	if (!n->field || n->field->place == DECODE_INLINE)
		return;
	loc = tep_locate(f, n->field);
	b = tep_bytes(f, loc.offset, loc.len);
	if (n->kind == TEP_CPUMASK)
		decode_bitmap_list(s, b, b.len * 8, &f->format->abi);
	else
		decode_bitmap(s, b, b.len * 8, &f->format->abi);
	sink_adjust(s, mark, conv->width, conv->prec, conv->flags & CONV_LEFT);
}

static void call(const struct frame *f, const struct tep_node *n, struct sink *s)
{
	struct tep_args args;

	if (!n->func->text)
		return;
	args = tep_func_args(f, n);
	n->func->text(&args, s);
}

void tep_text(const struct frame *f, const struct conv *conv, uint32_t at, struct sink *s)
{
	const struct tep_node *n = &f->tep->nodes[at];

	switch (n->kind) {
	case TEP_ATOM:
		put_text(conv, n->text.p, n->text.len, false, s);
		break;
	case TEP_FIELD:
		field_text(f, conv, n->field, s);
		break;
	case TEP_STRING:
		if (n->field)
			c_string(f, conv, tep_locate(f, n->field).offset, UINT32_MAX, s);
		break;
	case TEP_FLAGS:
	case TEP_SYMBOLIC:
		by_list(f, conv, n, s);
		break;
	case TEP_HEX:
	case TEP_HEX_STR:
		hex(f, n, s);
		break;
	case TEP_ARRAY:
		array(f, n, s);
		break;
	case TEP_BITMASK:
	case TEP_CPUMASK:
		mask(f, conv, n, s);
		break;
	case TEP_FUNC:
		call(f, n, s);
		break;
	case TEP_OP:
		if (n->op == '?')
			tep_text(f, conv, tep_number(f, n->a) ? n->b : n->c, s);
		break;
	}
}

static void run_star(const struct frame *f, const struct tep_piece *p, struct sink *s)
{
	struct tep_piece q = *p;
	int32_t n = (int32_t)tep_number(f, p->width);

	/* libtraceevent has no use for a negative length and leaves the conversion as it stands. */
	if (n < 0 && p->kind == TEP_PIECE_STRING) {
		sink_add(s, p->spec.p, p->spec.len);
		return;
	}
	if (p->star == CONV_STAR_WIDTH)
		conv_set_width(&q.conv, n);
	else
		conv_set_prec(&q.conv, n);
	if (p->kind == TEP_PIECE_STRING)
		tep_text(f, &q.conv, p->value, s);
	else
		conv_int(s, &q.conv, tep_number(f, p->value), false);
}

void tep_piece_value(const struct frame *f, const struct tep_piece *p, struct sink *s)
{
	uint64_t v;

	if (p->star && p->kind != TEP_PIECE_POINTER) {
		run_star(f, p, s);
		return;
	}
	switch (p->kind) {
	case TEP_PIECE_SIGNED:
		v = decode_abi_extend(tep_number(f, p->value), p->conv.size, true);
		if ((int64_t)v < 0) {
			sink_putc(s, '-');
			v = 0 - v;
		}
		sink_dec(s, v);
		break;
	case TEP_PIECE_UNSIGNED:
		sink_dec(s, decode_abi_extend(tep_number(f, p->value), p->conv.size, false));
		break;
	case TEP_PIECE_HEX:
		sink_hex(s, decode_abi_extend(tep_number(f, p->value), p->conv.size, false), 0);
		break;
	case TEP_PIECE_NUMBER:
		conv_int(s, &p->conv, tep_number(f, p->value), false);
		break;
	case TEP_PIECE_STRING:
		tep_text(f, &p->conv, p->value, s);
		break;
	case TEP_PIECE_ADDRESS:
	case TEP_PIECE_POINTER:
		tep_pointer(f, p, s);
		break;
	}
}

/*
 * The quick way for a piece: its text and a number of the record, written where it belongs. Needs
 * QUICK_ROOM in the sink, so that nothing has to be asked in between.
 */
#define QUICK_ROOM (TEP_TEXT_ROOM + DIGITS_ROOM + 16)

static bool run_quick(const struct frame *f, const struct tep_piece *p, struct sink *s)
{
	uint64_t v;

	memcpy(s->at, p->text.p, TEP_TEXT_ROOM);
	s->at += p->text.len;
	if (p->kind == TEP_PIECE_TEXT)
		return true;
	if (!p->direct || p->kind > TEP_PIECE_ADDRESS || p->offset + p->direct > f->len)
		return false;
	v = decode_abi_load(f->rec + p->offset, p->direct, f->format->abi.big_endian);
	if (p->kind == TEP_PIECE_ADDRESS) {
		if (!v)
			return false;
		memcpy(s->at, "0x", 2);
		s->at = digits_hex(s->at + 2, v);
		return true;
	}
	v = decode_abi_extend(v, p->conv.size, p->kind == TEP_PIECE_SIGNED);
	if (p->kind == TEP_PIECE_HEX) {
		s->at = digits_hex(s->at, v);
		return true;
	}
	if (p->kind == TEP_PIECE_SIGNED && (int64_t)v < 0) {
		*s->at++ = '-';
		v = 0 - v;
	}
	s->at = digits_dec(s->at, v);
	return true;
}

void tep_run(const struct frame *f, struct sink *s)
{
	const struct tep_piece *p = f->tep->pieces, *end = p + f->tep->nr_pieces;

	for (; p < end && !s->full; p++) {
		if ((size_t)(s->end - s->at) >= QUICK_ROOM && p->text.len <= TEP_TEXT_ROOM) {
			if (!run_quick(f, p, s))
				tep_piece_value(f, p, s);
			continue;
		}
		sink_add(s, p->text.p, p->text.len);
		if (p->kind != TEP_PIECE_TEXT)
			tep_piece_value(f, p, s);
	}
}
