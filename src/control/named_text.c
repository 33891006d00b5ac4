/*
 * control/named_text: short forms of events as the text that programs bring, see event/format.c. No state.
 */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "control/named.h"
#include "layout/page.h"

#define FIELDS_AT ((uint32_t)sizeof(struct record_head))

/* As on x86-64; pointers and enums are told by their form. */
static const struct type {
	const char *name;
	uint32_t size;
	bool is_signed;
} types[] = {
	{ "bool", 1, false }, { "char", 1, false },
	{ "int", 4, true }, { "unsigned int", 4, false }, { "pid_t", 4, true }, { "clockid_t", 4, true },
	{ "long", 8, true }, { "unsigned long", 8, false }, { "unsigned long long", 8, false },
	{ "size_t", 8, false }, { "s64", 8, true }, { "u64", 8, false },
};

static struct type type_of(const char *text, size_t len)
{
	if (len > 1 && text[len - 1] == '*')
		return (struct type){ .size = 8 };
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strlen(types[i].name) == len && !memcmp(types[i].name, text, len))
			return types[i];
	return (struct type){ .size = 4 };
}

static void line_end(struct buf *out, uint32_t offset, uint32_t size, bool is_signed)
{
	buf_printf(out, ";\toffset:%" PRIu32 ";\tsize:%" PRIu32 ";\tsigned:%d;\n", offset, size, is_signed);
}

/* One declaration at `offset` or the next place that its type may have; returns where it ends. */
static uint32_t put_field(struct buf *out, const char *text, size_t len, uint32_t offset)
{
	static const char string[] = "string ";
	const char *name = text + len, *bracket = memchr(text, '[', len);
	struct type type;
	uint32_t count = 1;

	if (len > strlen(string) && !memcmp(text, string, strlen(string))) {
		offset = (offset + 3) & ~3u;
		buf_puts(out, "\tfield:__data_loc char[] ");
		buf_add(out, text + strlen(string), len - strlen(string));
		line_end(out, offset, 4, false);
		return offset + 4;
	}
	while (name[-1] != ' ')
		name--;
	type = type_of(text, (size_t)(name - text) - 1);
	for (count = bracket ? 0 : 1; bracket && isdigit((unsigned char)*++bracket);)
		count = count * 10 + (uint32_t)(*bracket - '0');
	offset = (offset + type.size - 1) & ~(type.size - 1);
	buf_puts(out, "\tfield:");
	buf_add(out, text, len);
	line_end(out, offset, type.size * count, type.is_signed);
	return offset + type.size * count;
}

void named_text(const struct named_event *event, struct buf *out)
{
	uint32_t offset = FIELDS_AT;

	buf_puts(out, RECORD_HEAD_FORMAT);
	for (const char *at = event->fields; *at;) {
		size_t len = strcspn(at, ";");

		offset = put_field(out, at, len, offset);
		at += len;
		at += strspn(at, "; ");
	}
	buf_printf(out, "\nprint fmt: %s", event->print);
}

size_t named_syscall_name(const char *call)
{
	return strcspn(call, "(");
}

/* The next argument of a call, or NULL behind the last. */
static const char *next_argument(const char **at, size_t *len)
{
	const char *argument = *at + strspn(*at, "(, ");

	*len = strcspn(argument, ",)");
	*at = argument + *len;
	return *len ? argument : NULL;
}

/* Each argument is as wide as a register, whatever its type, and has no sign. */
static void put_arguments(const char *call, struct buf *out)
{
	uint32_t offset = FIELDS_AT + 8;
	const char *argument;
	size_t len;

	while ((argument = next_argument(&call, &len))) {
		buf_puts(out, "\tfield:");
		buf_add(out, argument, len);
		line_end(out, offset, 8, false);
		offset += 8;
	}
}

static void put_names(const char *call, const char *before, const char *after, const char *between, struct buf *out)
{
	const char *argument;
	bool first = true;
	size_t len;

	while ((argument = next_argument(&call, &len))) {
		const char *name = argument + len;

		while (name[-1] != ' ')
			name--;
		buf_printf(out, "%s%s%.*s%s", first ? "" : between, before, (int)(argument + len - name), name, after);
		first = false;
	}
}

void named_enter_text(const char *call, struct buf *out)
{
	const char *arguments = call + named_syscall_name(call);

	buf_puts(out, RECORD_HEAD_FORMAT);
	buf_puts(out, "\tfield:int __syscall_nr");
	line_end(out, FIELDS_AT, 4, true);
	put_arguments(arguments, out);
	buf_puts(out, "\nprint fmt: \"");
	put_names(arguments, "", ": 0x%08lx", ", ", out);
	buf_putc(out, '"');
	put_names(arguments, ", ((unsigned long)(REC->", "))", "", out);
}

void named_exit_text(struct buf *out)
{
	static const struct named_event any = {
		.fields = "int __syscall_nr; long ret", .print = "\"0x%lx\", REC->ret",
	};

	named_text(&any, out);
}
