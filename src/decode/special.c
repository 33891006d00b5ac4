/*
 * decode/special: see special.h. Each function prints a line's whole text but for its line break.
 */
#include "decode/special.h"

#include <string.h>

#include "decode/args.h"
#include "decode/tep.h"
#include "layout/registry.h"

#define MARKER_NAME "tracing_mark_write"

/* A number of one of the fields that the table below names for the event. */
static uint64_t number(const struct frame *f, int own)
{
	return decode_field_int(f->format, f->format->own[own], f->rec, f->len);
}

/* An array's bytes up to the end of the record, whatever length the format gives it. */
static struct decode_bytes rest(const struct frame *f, int own)
{
	const struct decode_field *field = f->format->own[own];

	if (field->offset >= f->len)
		return (struct decode_bytes){ NULL, 0 };
	return (struct decode_bytes){ f->rec + field->offset, (uint32_t)(f->len - field->offset) };
}

static void put_addr(const struct frame *f, uint64_t addr, struct sink *s)
{
	sink_puts(s, " <");
	sink_hex(s, addr, f->format->abi.long_size * 2u);
	sink_putc(s, '>');
}

static bool is_named(const struct frame *f, uint64_t addr)
{
	struct decode_symbol sym = { 0 };

	return f->ctx->symbol && f->ctx->symbol(f->ctx->arg, f->pid, addr, &sym) && sym.name;
}

/* An address as the name of what lies there, in the way that the options of ctx ask for. */
static void place(const struct frame *f, uint64_t addr, struct sink *s)
{
	if (addr == MARKER_IP)
		sink_puts(s, MARKER_NAME);
	else if (f->ctx->flags & DECODE_SYM_OFFSET)
		decode_symbol_name(f, addr, SYMBOL_OFFSET | SYMBOL_MODULE, s);
	else
		decode_symbol_name(f, addr, 0, s);
	if (f->ctx->flags & DECODE_SYM_ADDR)
		put_addr(f, addr, s);
}

/* Texts end with a line break of their own most of the time; a line has one in any case. */
static void drop_newline(struct sink *s, size_t mark, bool escape)
{
	size_t used = sink_used(s) - mark;

	if (!escape && used && s->at[-1] == '\n')
		s->at--;
	else if (escape && used > 1 && !memcmp(s->at - 2, "\\n", 2))
		s->at -= 2;
}

static bool printk(const struct frame *f, uint64_t addr, struct decode_printk *out)
{
	*out = (struct decode_printk){ 0 };
	return f->ctx->printk && f->ctx->printk(f->ctx->arg, addr, out) && out->text;
}

/* place: words. */
static void print_message(const struct frame *f, struct sink *s)
{
	const struct decode_special *own = f->format->special;
	struct decode_printk source;

	if (own->source && printk(f, number(f, own->source), &source) && source.caller)
		sink_text(s, source.caller, strlen(source.caller), f->escape);
	else
		place(f, number(f, 0), s);
	sink_puts(s, ": ");
	own->message(f, s);
}

static void print_words(const struct frame *f, struct sink *s)
{
	struct decode_bytes text = decode_bytes_text(rest(f, 1));

	if (text.len && text.data[text.len - 1] == '\n')
		text.len--;
	sink_text(s, text.data, text.len, f->escape);
}

static void bprint_words(const struct frame *f, struct sink *s)
{
	uint64_t addr = number(f, 1);
	struct decode_bytes args = rest(f, 2);
	struct decode_printk fmt;
	size_t mark;

	if (!printk(f, addr, &fmt)) {
		sink_puts(s, "[format 0x");
		sink_hex(s, addr, 0);
		sink_puts(s, " is not known]");
		if (args.len)
			sink_putc(s, ' ');
		decode_hex_bytes(s, args, ' ');
		return;
	}
	mark = sink_used(s);
	decode_binary(f, fmt.text, args, s);
	drop_newline(s, mark, false);
}

static void bputs_words(const struct frame *f, struct sink *s)
{
	uint64_t addr = number(f, 1);
	struct decode_printk str;
	size_t mark;

	if (!printk(f, addr, &str)) {
		sink_puts(s, "[string 0x");
		sink_hex(s, addr, 0);
		sink_puts(s, " is not known]");
		return;
	}
	mark = sink_used(s);
	sink_text(s, str.text, strlen(str.text), f->escape);
	drop_newline(s, mark, f->escape);
}

static void print_raw_data(const struct frame *f, struct sink *s)
{
	struct decode_bytes b = rest(f, 1);

	sink_puts(s, "# ");
	sink_hex(s, number(f, 0), 0);
	sink_puts(s, " buf:");
	if (b.len)
		sink_putc(s, ' ');
	decode_hex_bytes(s, b, ' ');
}

static void print_function(const struct frame *f, struct sink *s)
{
	uint64_t parent = number(f, 1);

	place(f, number(f, 0), s);
	if (decode_args_count(f->format, f->format->own[2], (uint32_t)f->len))
		decode_args_put(s, decode_prototype(f->ctx, number(f, 0)), f->format, f->format->own[2], f->rec, (uint32_t)f->len);
	if (!parent || (f->ctx->flags & DECODE_NO_PARENT))
		return;
	sink_puts(s, " <-");
	place(f, parent, s);
}

/* One line an address, until the record ends or an address that only fills room. */
static void stack(const struct frame *f, bool user, struct sink *s)
{
	struct decode_bytes b = rest(f, 0);
	uint32_t size = f->format->abi.long_size;
	uint64_t none = decode_abi_extend(UINT64_MAX, size, false), addr;

	for (uint32_t i = 0; i + size <= b.len && !s->full; i += size) {
		addr = decode_abi_load(b.data + i, size, f->format->abi.big_endian);
		if (addr == none || (user && !addr))
			break;
		sink_puts(s, "\n => ");
		if (!user || is_named(f, addr))
			place(f, addr, s);
		else
			put_addr(f, addr, s);
	}
}

static void print_kernel_stack(const struct frame *f, struct sink *s)
{
	sink_puts(s, "<stack trace>");
	stack(f, false, s);
}

static void print_user_stack(const struct frame *f, struct sink *s)
{
	sink_puts(s, "<user stack trace>");
	stack(f, true, s);
}

static const struct decode_special specials[] = {
	{ "print", { "ip", "buf" }, print_message, print_words, 0, NULL },
	{ "bprint", { "ip", "fmt", "buf" }, print_message, bprint_words, 1, tep_bprint },
	{ "bputs", { "ip", "str" }, print_message, bputs_words, 1, NULL },
	{ "raw_data", { "id", "buf" }, print_raw_data, NULL, 0, NULL },
	{ "function", { "ip", "parent_ip", "?args" }, print_function, NULL, 0, NULL },
	{ "kernel_stack", { "caller" }, print_kernel_stack, NULL, 0, NULL },
	{ "user_stack", { "caller" }, print_user_stack, NULL, 0, NULL },
	{ "blktrace", { "sector", "action", "data" }, decode_print_block, NULL, 0, NULL },
};

static bool find_fields(struct decode_format *format, const struct decode_special *sp)
{
	for (int i = 0; i < 3 && sp->fields[i]; i++) {
		bool optional = sp->fields[i][0] == '?';

		format->own[i] = decode_format_find(format, sp->fields[i] + optional);
		if (!format->own[i] && !optional)
			return false;
	}
	return true;
}

void decode_special_find(struct decode_format *format)
{
	if (strcmp(format->system, "ftrace"))
		return;
	for (size_t i = 0; i < sizeof(specials) / sizeof(specials[0]); i++)
		if (!strcmp(format->name, specials[i].name) && find_fields(format, &specials[i]))
			format->special = &specials[i];
}
