/*
 * decode/tep_special: chooses how libtraceevent prints a record, and prints bprint records, whose
 * format text and arguments the record leads to and holds; see tep.h.
 *
 * The arguments are read from the record first and printed then, and the two steps do not agree on
 * what a conversion is: of "%-5d" and "%hd" the first takes no argument, while the second prints
 * one. So what is printed by them is the next argument that there is.
 */
#include "decode/tep.h"

#include <string.h>

#include "decode/special.h"

#define ARGS_MAX 64

struct arg {
	uint64_t num;
	struct decode_bytes text;	/* data not NULL: a string */
};

struct packed {
	struct decode_bytes b;
	uint32_t pos;
	const struct decode_abi *abi;
	struct arg args[ARGS_MAX];
	uint32_t nr, next;
};

static void take_number(struct packed *p, uint32_t size)
{
	uint64_t pos = ((uint64_t)p->pos + 3) & ~(uint64_t)3;

	if (p->nr == ARGS_MAX || pos + size > p->b.len)
		return;
	p->args[p->nr++].num = decode_abi_load(p->b.data + pos, size, p->abi->big_endian);
	p->pos = (uint32_t)pos + size;
}

static void take_string(struct packed *p)
{
	struct decode_bytes text;

	if (p->nr == ARGS_MAX || p->pos >= p->b.len)
		return;
	text = (struct decode_bytes){ p->b.data + p->pos, p->b.len - p->pos };
	text = decode_bytes_text(text);
	p->args[p->nr++].text = text;
	p->pos += text.len + 1;
}

static bool is_alnum(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The arguments that the conversion at `p`, behind its percent sign, takes from the record. */
static const char *take(struct packed *a, const char *p)
{
	uint32_t size = 4;

	for (;; p++) {
		switch (*p) {
		case 'l':
		case 'z':
		case 'Z':
			size = size == 4 ? a->abi->long_size : 8;
			continue;
		case 'L':
			size = 8;
			continue;
		case '.':
		case '#':
		case '0' ... '9':
			continue;
		case '*':
			take_number(a, 4);
			continue;
		case 'd':
		case 'i':
		case 'u':
		case 'x':
		case 'X':
		case 'o':
			take_number(a, size);
			return p;
		case 's':
			take_string(a);
			return p;
		case 'p':
			/* Of most of these the writer stored the text. */
			if (is_alnum(p[1]) && !strchr("SsfFx", p[1]))
				take_string(a);
			else
				take_number(a, a->abi->long_size);
			return p;
		}
		return p;
	}
}

static void take_all(struct packed *a, const char *fmt)
{
	while ((fmt = strchr(fmt, '%')) && fmt[1])
		fmt = fmt[1] == '%' ? fmt + 2 : take(a, fmt + 1);
}

static void put_string(const struct frame *f, const struct conv *conv, const struct arg *arg,
		       struct sink *s)
{
	static const struct conv plain = { .prec = -1 };
	struct conv dec = { .kind = 'd', .size = 8, .prec = -1, .width = conv->width,
			    .flags = conv->flags & CONV_LEFT };

	if (arg->text.data)
		conv_text(s, conv->kind == 's' ? conv : &plain, arg->text.data, arg->text.len,
			  f->escape);
	else
		conv_int(s, &dec, arg->num, false);
}

static void put_pointer(const struct frame *f, const struct conv *conv, uint64_t addr,
			struct sink *s)
{
	if (conv->ext[0] && strchr("sSfF", conv->ext[0])) {
		tep_symbol(f, addr, conv->ext[0] < 'a', s);
	} else if (addr) {
		sink_add(s, "0x", 2);
		sink_hex(s, addr, 0);
	} else {
		sink_puts(s, "(nil)");
	}
}

static void put(const struct frame *f, struct packed *a, const struct tep_spec *spec,
		const char *p, struct sink *s)
{
	struct conv conv = spec->conv;
	uint32_t want = spec->star ? 2 : 1;
	const struct arg *arg = &a->args[a->next];
	const char *from;

	/* Nothing left: the conversion stands there from where it asked for something. */
	if (a->nr - a->next < want) {
		from = spec->star && a->next == a->nr ? memchr(p, '*', spec->len) :
			p + spec->len - 1 - strlen(conv.ext);
		a->next = a->nr;
		sink_add(s, from, (size_t)(p + spec->len - from));
		return;
	}
	a->next += want;
	if (spec->star == CONV_STAR_WIDTH)
		conv_set_width(&conv, (int32_t)arg++->num);
	else if (spec->star)
		conv_set_prec(&conv, (int32_t)arg++->num);
	if (conv.kind == 's' || arg->text.data)
		put_string(f, &conv, arg, s);
	else if (conv.kind == 'p')
		put_pointer(f, &conv, arg->num, s);
	else
		conv_int(s, &conv, arg->num, false);
}

static void put_all(const struct frame *f, struct packed *a, const char *fmt, struct sink *s)
{
	const char *end = fmt + tep_printk_len(fmt), *percent;
	struct tep_spec spec;

	for (; fmt < end && !s->full; fmt = percent + spec.len) {
		percent = memchr(fmt, '%', (size_t)(end - fmt));
		sink_add(s, fmt, (size_t)((percent ? percent : end) - fmt));
		if (!percent)
			return;
		if (tep_conv_read(percent, end, &spec) == TEP_CONV) {
			put(f, a, &spec, percent, s);
		} else if (spec.odd == '%') {
			sink_putc(s, '%');
		} else if (spec.odd) {
			sink_putc(s, '>');
			sink_putc(s, spec.odd);
			sink_putc(s, '<');
		}
	}
}

void tep_bprint(const struct frame *f, struct sink *s)
{
	const struct decode_field *const *own = f->format->own;
	uint64_t addr = tep_load(f, own[1]->offset, own[1]->size);
	struct packed a = { .b = tep_bytes(f, own[2]->offset, UINT32_MAX),
			    .abi = &f->format->abi };
	struct decode_printk fmt = { 0 };

	tep_symbol(f, tep_load(f, own[0]->offset, own[0]->size), false, s);
	sink_add(s, ": ", 2);
	if (!f->ctx->printk || !f->ctx->printk(f->ctx->arg, addr, &fmt) || !fmt.text) {
		sink_puts(s, "(NO FORMAT FOUND at ");
		sink_hex(s, addr, 0);
		sink_putc(s, ')');
		return;
	}
	take_all(&a, fmt.text);
	put_all(f, &a, fmt.text, s);
}

void tep_print(const struct frame *f, struct sink *s)
{
	if (f->format->special && f->format->special->tep)
		f->format->special->tep(f, s);
	else if (f->tep && !f->tep->calls)
		tep_run(f, s);
	else
		tep_failed(f, s);
}
