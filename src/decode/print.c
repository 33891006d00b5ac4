/*
 * decode/print: see print.h.
 */
#include "decode/print.h"

#include <inttypes.h>
#include <string.h>

#include "decode/eval.h"
#include "decode/special.h"
#include "decode/tep.h"

/*
 * %s of a number: an address in the writer's memory, which may be that of a string we were told of.
 */
static void string_at(const struct frame *f, const struct conv *conv, uint64_t addr, struct sink *s)
{
	struct decode_printk str = { 0 };
	struct conv hex = { .kind = 'x', .size = 8, .flags = CONV_ALT, .prec = -1 };

	if (!addr)
		conv_text(s, conv, "(null)", 6, false);
	else if (f->ctx->printk && f->ctx->printk(f->ctx->arg, addr, &str) && str.text)
		conv_text(s, conv, str.text, strlen(str.text), f->escape);
	else
		conv_int(s, &hex, addr, false);
}

static void string(const struct frame *f, const struct conv *conv, const struct value *v,
		   struct sink *s)
{
	struct decode_bytes text;
	size_t mark;

	switch (v->what) {
	case VALUE_NUM:
		string_at(f, conv, v->num, s);
		break;
	case VALUE_DOUBLE:
		conv_double(s, &(struct conv){ .letter = 'g', .width = conv->width, .prec = -1 },
			    v->dbl);
		break;
	case VALUE_BYTES:
		text = decode_bytes_text((struct decode_bytes){ v->p, v->len });
		conv_text(s, conv, text.data, text.len, f->escape);
		break;
	case VALUE_STRING:
		conv_text(s, conv, v->p, v->len, false);
		break;
	case VALUE_MADE:
		mark = sink_used(s);
		decode_made(f, v->len, s);
		if (conv->width || conv->prec >= 0)
			sink_adjust(s, mark, conv->width, conv->prec, conv->flags & CONV_LEFT);
		break;
	}
}

void decode_conv(const struct frame *f, const struct conv *conv, const struct value *v,
		 bool is_signed, struct sink *s)
{
	uint64_t n;

	switch (conv->kind) {
	case 's':
		string(f, conv, v, s);
		break;
	case 'p':
		decode_pointer(f, conv, v, s);
		break;
	case 'f':
		n = decode_value_int(v);
		conv_double(s, conv, v->what == VALUE_DOUBLE ? v->dbl :
				     is_signed ? (double)(int64_t)n : (double)n);
		break;
	default:
		conv_int(s, conv, decode_value_int(v), f->escape);
	}
}

static int64_t star(const struct frame *f, uint32_t node)
{
	struct value v = decode_eval(f, node);

	return (int32_t)decode_value_int(&v);
}

static void run_piece(const struct frame *f, const struct piece *p, struct sink *s)
{
	struct value v;
	struct conv conv;

	sink_add(s, p->text.p, p->text.len);
	if (!p->conv.kind)
		return;
	v = decode_eval(f, p->value);
	if (!(p->conv.flags & (CONV_STAR_WIDTH | CONV_STAR_PREC))) {
		decode_conv(f, &p->conv, &v, f->prog->nodes[p->value].type.is_signed, s);
		return;
	}
	conv = p->conv;
	conv.flags &= (uint8_t)~(CONV_STAR_WIDTH | CONV_STAR_PREC);
	if (p->width)
		conv_set_width(&conv, star(f, p->width));
	if (p->prec)
		conv_set_prec(&conv, star(f, p->prec));
	decode_conv(f, &conv, &v, f->prog->nodes[p->value].type.is_signed, s);
}

static void one_element(const struct frame *f, const struct decode_field *field,
			struct decode_bytes b, uint32_t i, struct sink *s)
{
	struct conv conv = { .kind = field->is_signed ? 'd' : 'u', .size = 8, .prec = -1 };
	uint64_t v = decode_elem_int(f->format, field, b, i);

	if (field->kind == DECODE_FLOAT) {
		conv.letter = 'g';
		conv_double(s, &conv, decode_elem_double(f->format, field, b, i));
		return;
	}
	if (field->kind == DECODE_POINTER) {
		conv.kind = 'x';
		conv.flags = CONV_ALT;
	}
	conv_int(s, &conv, v, false);
}

/*
 * Text as it is, numbers in decimal, pointers in hexadecimal, arrays in braces, what is not known
 * as bytes.
 */
static void raw_field(const struct frame *f, const struct decode_field *field, struct sink *s)
{
	struct decode_bytes b = decode_field_bytes(f->format, field, f->rec, f->len);
	uint32_t nr = decode_elem_count(field, b);

	if (field->is_string) {
		b = decode_bytes_text(b);
		sink_text(s, b.data, b.len, f->escape);
	} else if (field->kind == DECODE_OPAQUE) {
		decode_hex_bytes(s, b, '\0');
	} else if (!field->is_array) {
		if (nr)
			one_element(f, field, b, 0, s);
		else
			sink_putc(s, '?');
	} else {
		sink_putc(s, '{');
		for (uint32_t i = 0; i < nr && !s->full; i++) {
			if (i)
				sink_putc(s, ',');
			one_element(f, field, b, i, s);
		}
		sink_putc(s, '}');
	}
}

static void raw_fields(const struct frame *f, struct sink *s)
{
	for (uint32_t i = 0; i < f->format->nr_fields && !s->full; i++) {
		const struct decode_field *field = &f->format->fields[i];

		if (field->is_common)
			continue;
		sink_putc(s, ' ');
		sink_puts(s, field->name);
		sink_putc(s, '=');
		raw_field(f, field, s);
	}
}

static void program(const struct frame *f, struct sink *s)
{
	for (uint32_t i = 0; i < f->prog->nr_pieces && !s->full; i++)
		run_piece(f, &f->prog->pieces[i], s);
}

/* Lines of trace-cmd's report end where their text ends, but for one line break of its own. */
static void drop_newline(struct sink *s, bool escape)
{
	size_t used = sink_used(s);

	if (used && s->at[-1] == '\n')
		s->at--;
	else if (escape && used > 1 && !memcmp(s->at - 2, "\\n", 2))
		s->at -= 2;
}

struct frame decode_frame(const struct decode_format *format, const void *rec, size_t len,
			  const struct decode_ctx *ctx)
{
	static const struct decode_ctx nobody;
	struct frame f = { .format = format, .prog = format->prog, .tep = format->tep,
			   .ctx = ctx ? ctx : &nobody, .rec = rec, .len = len };
	struct record_head head;

	f.escape = f.ctx->flags & DECODE_ESCAPE;
	if (decode_record_head(&format->abi, rec, len, &head))
		f.pid = head.pid;
	return f;
}

static inline void end_line(const struct frame *f, struct sink *s)
{
	if (f->ctx->flags & DECODE_TEP)
		drop_newline(s, f->escape);
	sink_close(s);
	if (s->full)
		buf_puts(s->buf, "[LINE TOO BIG]");
}

void decode_end_line(const struct frame *f, struct sink *s)
{
	end_line(f, s);
}

static void print(const struct decode_format *format, const void *rec, size_t len,
		  const struct decode_ctx *ctx, struct buf *out,
		  void (*how)(const struct frame *f, struct sink *s))
{
	struct frame f = decode_frame(format, rec, len, ctx);
	struct sink s;

	sink_open(&s, out, DECODE_TEXT_MAX);
	how(&f, &s);
	decode_end_line(&f, &s);
}

/* Nearly all records of a report: a program and nothing special. */
static void print_tep(const struct decode_format *format, const void *rec, size_t len,
		      const struct decode_ctx *ctx, struct buf *out)
{
	struct frame f = { .format = format, .tep = format->tep, .ctx = ctx, .rec = rec, .len = len,
			   .escape = ctx->flags & DECODE_ESCAPE };
	struct record_head head;
	struct sink s;

	if (decode_record_head(&format->abi, rec, len, &head))
		f.pid = head.pid;
	sink_open(&s, out, DECODE_TEXT_MAX);
	tep_run(&f, &s);
	end_line(&f, &s);
}

/* ---- Probes ---- */

/* The first field of a probe's record says where it was: in the kernel's own text as a symbol, else by its print format. */
static const struct decode_field *probe_field(const struct decode_format *format)
{
	uint32_t i = 0;

	while (i < format->nr_fields && format->fields[i].is_common)
		i++;
	if (i == format->nr_fields || strncmp(format->fields[i].name, "__probe_", 8) || format->fields[i].size != format->abi.long_size)
		return NULL;
	return &format->fields[i];
}

static void put_place(const struct frame *f, uint64_t address, bool offset, struct buf *out)
{
	struct decode_symbol symbol;

	if (f->ctx->symbol && f->ctx->symbol(f->ctx->arg, f->pid, address, &symbol))
		decode_symbol_text(&symbol, offset, out);
	else
		buf_printf(out, "0x%" PRIx64, address);
}

/* `from`: where in `out` its text by the print format begins, with the place in brackets. */
static void put_probe(const struct decode_format *format, const struct decode_field *field, const void *rec, size_t len,
		      const struct decode_ctx *ctx, struct buf *out, size_t from)
{
	const struct frame f = decode_frame(format, rec, len, ctx);
	const size_t size = format->abi.long_size;
	const bool returns = !strcmp(field->name, "__probe_func");
	const char *end = out->len > from ? memchr(out->data + from, ')', out->len - from) : NULL;
	struct buf rest = BUF_INIT;
	uint64_t at;

	if (buf_failed(out) || !end || field->offset + size * (1 + returns) > len)
		return;
	at = decode_abi_load((const uint8_t *)rec + field->offset, size, format->abi.big_endian);
	/* At no instruction, but an event that a program declares: the text says which. */
	if (!at)
		return;
	buf_puts(&rest, end + 1);
	out->len = from;
	buf_putc(out, '(');
	if (returns) {
		put_place(&f, decode_abi_load((const uint8_t *)rec + field->offset + size, size, format->abi.big_endian), true, out);
		buf_puts(out, " <- ");
	}
	put_place(&f, at, !returns, out);
	buf_putc(out, ')');
	buf_add(out, rest.data ? rest.data : "", rest.len);
	buf_fini(&rest);
}

void decode_print(const struct decode_format *format, const void *rec, size_t len,
		  const struct decode_ctx *ctx, struct buf *out)
{
	const struct decode_field *probe = format->prog && !format->special ? probe_field(format) : NULL;
	const size_t from = out->len;

	if (ctx && (ctx->flags & DECODE_TEP) && !format->special && format->tep &&
	    !format->tep->calls)
		print_tep(format, rec, len, ctx, out);
	else if (ctx && (ctx->flags & DECODE_TEP))
		print(format, rec, len, ctx, out, tep_print);
	else
		print(format, rec, len, ctx, out,
		      format->special ? format->special->print :
		      format->prog    ? program :
					raw_fields);
	if (probe && !(ctx && ctx->flags & DECODE_TEP))
		put_probe(format, probe, rec, len, ctx, out, from);
}

bool decode_tep_is_exact(const struct decode_format *format)
{
	return format->tep && format->tep->exact;
}

bool decode_tep_is_raw(const struct decode_format *format, bool plugins)
{
	if (format->special && format->special->tep)
		return false;
	return !format->tep || (format->tep->calls && !plugins);
}

bool decode_has_text(const struct decode_format *format)
{
	return format->prog || format->tep || format->special;
}

bool decode_is_message(const struct decode_format *format)
{
	return format->special && format->special->message;
}

void decode_print_message(const struct decode_format *format, const void *rec, size_t len,
			  const struct decode_ctx *ctx, struct buf *out)
{
	print(format, rec, len, ctx, out, format->special->message);
}

void decode_print_fields(const struct decode_format *format, const void *rec, size_t len,
			 const struct decode_ctx *ctx, struct buf *out)
{
	print(format, rec, len, ctx, out,
	      ctx && (ctx->flags & DECODE_TEP) ? tep_fields : raw_fields);
}

bool decode_is_whole(const struct decode_format *format)
{
	return format->special;
}

void decode_symbol_text(const struct decode_symbol *symbol, bool offset, struct buf *out)
{
	buf_puts(out, symbol->name);
	if (offset)
		buf_printf(out, "+0x%" PRIx64 "/0x%" PRIx64, symbol->offset, symbol->size);
	if (symbol->module)
		buf_printf(out, " [%s]", symbol->module);
}
