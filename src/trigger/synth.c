/*
 * trigger/synth: synthetic events: a line of synthetic_events or dynamic_events -> struct spec_synth, and back.
 *
 *   NAME TYPE FIELD[; TYPE FIELD]...	s:[synthetic/]NAME ...	!NAME ...
 *
 * In a record every number has eight bytes and every text of fixed size 256, whatever the type: records stay the same when
 * what feeds them changes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layout/page.h"
#include "trigger/format.h"
#include "trigger/read.h"

#define TEXT_MAX 256
#define FIELDS_MAX 64
#define FIELDS_AT 8
#define BLANKS " \t\n\v\f\r"

static const struct number_type {
	const char *name;
	uint8_t size;
	const char *conversion;
} number_types[] = {
	{ "s64", 8, "%lld" }, { "u64", 8, "%llu" }, { "s32", 4, "%d" }, { "u32", 4, "%u" }, { "s16", 2, "%d" },
	{ "u16", 2, "%u" }, { "s8", 1, "%d" }, { "u8", 1, "%u" }, { "char", 1, "%d" }, { "unsigned char", 1, "%u" },
	{ "int", 4, "%d" }, { "unsigned int", 4, "%u" }, { "long", 8, "%ld" },
	{ "unsigned long", 8, "%lu" }, { "bool", 1, "%d" }, { "pid_t", 4, "%d" }, { "gfp_t", 4, "%x" },
	{ "float", 4, "%f" }, { "double", 8, "%f" },
};

static const struct number_type *find_number(const char *type)
{
	for (size_t i = 0; i < sizeof(number_types) / sizeof(number_types[0]); i++) {
		if (!strcmp(number_types[i].name, type))
			return &number_types[i];
	}
	return NULL;
}

/* Bytes in the brackets of char[N], 0 of char[]; -1: no such array. */
static int text_size(const char *type)
{
	const char *start = strstr(type, "char[") + strlen("char["), *end = strchr(type, ']');
	char digits[4] = "";
	uint64_t size;

	if (!end || end < start || end[1] || end - start > 3)
		return -1;
	memcpy(digits, start, (size_t)(end - start));
	if (end == start)
		return 0;
	return read_number(digits, &size) || size > TEXT_MAX ? -1 : (int)size;
}

/* `of[`, or `unsigned of[`: the kernel looks for it anywhere in the type, and takes what nobody can read. */
static bool is_array_of(const char *type, const char *of)
{
	if (!strncmp(type, "unsigned ", strlen("unsigned ")))
		type += strlen("unsigned ");
	return !strncmp(type, of, strlen(of)) && type[strlen(of)] == '[';
}

/* [] or [N]: how deep a stack is, is not asked. */
static bool is_stack_size(const char *bounds)
{
	size_t digits = strspn(bounds + 1, "0123456789");

	return !strcmp(bounds + 1 + digits, "]");
}

/* Form, sizes and sign by the type's name; false: it is none. */
static bool set_type(struct spec_field *field)
{
	const struct number_type *number = find_number(field->type);
	int size = 0;

	field->is_signed = field->type[0] != 'u' && strcmp(field->type, "gfp_t");
	if (number) {
		field->form = number->conversion[1] == 'f' ? HOOK_FIELD_REAL : HOOK_FIELD_NUMBER;
		field->size = 8;
		field->value_size = number->size;
		return true;
	}
	if (is_array_of(field->type, "char")) {
		size = text_size(field->type);
		field->form = size ? HOOK_FIELD_TEXT : HOOK_FIELD_DYN_TEXT;
	} else if (is_array_of(field->type, "long") && is_stack_size(strchr(field->type, '['))) {
		field->form = HOOK_FIELD_DYN_STACK;
	} else {
		return false;
	}
	/* Of dynamic ones the type begins with __data_loc, which is not unsigned. */
	if (!size)
		field->is_signed = true;
	field->size = size ? TEXT_MAX : 4;
	field->value_size = (uint16_t)size;
	return size >= 0;
}

/* ---- Fields ---- */

struct words {
	char *at[3];
	uint32_t n;
};

/* The next field's words: a type of one or two, a name. */
static int take_words(char **rest, struct words *words, struct spec_error *error)
{
	char *word;
	uint32_t want = 2;

	words->n = 0;
	while (words->n < want && (word = strsep(rest, BLANKS)) != NULL) {
		if (!*word)
			continue;
		words->at[words->n++] = word;
		if (words->n == 1 && !strcmp(word, "unsigned"))
			want = 3;
	}
	if (words->n && words->n < want)
		return want == 3 ? read_refuse(error, -EINVAL, "Incomplete type", words->at[0])
				 : read_refuse(error, -EINVAL, "Invalid field", words->at[0]);
	return 0;
}

static int read_field(struct spec_field *field, const struct words *words, struct spec_error *error)
{
	const char *type = words->at[words->n - 2], *name = words->at[words->n - 1], *array = strchr(name, '[');
	int len = array ? (int)(array - name) : (int)strlen(name);
	int type_len;

	if (len >= (int)sizeof(field->name))
		return read_refuse(error, -EINVAL, "Illegal name", name);
	snprintf(field->name, sizeof(field->name), "%.*s", len, name);
	if (!read_is_name(field->name))
		return read_refuse(error, -EINVAL, "Illegal name", name);
	type_len = snprintf(field->type, sizeof(field->type), "%s%s%s", words->n == 3 ? "unsigned " : "", type,
			    array ? array : "");
	if (type_len >= (int)sizeof(field->type) || !set_type(field)) {
		bool is_text = is_array_of(field->type, "char");

		return array && is_text ? read_refuse(error, -EINVAL, "Invalid array specification", name)
					: read_refuse(error, -EINVAL, "Invalid type", type);
	}
	return 0;
}

static int read_fields(struct spec_synth *synth, char *text, struct spec_error *error)
{
	char *part;

	while ((part = strsep(&text, ";")) != NULL) {
		struct spec_field field = { .name = "" };
		struct words words;
		int ret;

		/* Several fields without a semicolon between them are an old way of writing. */
		while (!(ret = take_words(&part, &words, error)) && words.n) {
			ret = read_field(&field, &words, error);
			if (ret)
				break;
			if (synth->nfields == FIELDS_MAX)
				return read_refuse(error, -EINVAL, "Too many fields", NULL);
			synth->fields[synth->nfields++] = field;
		}
		if (ret)
			return ret;
	}
	if (!synth->nfields)
		return read_refuse(error, -EINVAL, "Command must be of the form: <name> field[;field] ...", NULL);
	return 0;
}

static int place_fields(struct spec_synth *synth, struct spec_error *error)
{
	uint32_t offset = FIELDS_AT;

	for (uint32_t i = 0; i < synth->nfields; i++) {
		synth->fields[i].offset = (uint16_t)offset;
		offset += synth->fields[i].size == TEXT_MAX ? TEXT_MAX : 8;
	}
	/* No program could put such a record together. */
	return offset > HOOK_RECORD_MAX - 4 * synth->nfields ? read_refuse(error, -E2BIG, "Event too big (too many fields?)", NULL) : 0;
}

/* ---- The line ---- */

/* A name, a type and a field before the first semicolon. */
static bool is_complete(const char *line)
{
	size_t len = strcspn(line, ";"), n = 0;

	for (size_t i = 0; i < len; i++)
		n += !read_is_blank(line[i]) && (!i || read_is_blank(line[i - 1]));
	return n >= 3;
}

static int read_line(struct spec_synth *synth, bool *remove, const struct spec_world *world, bool dynamic, char *line,
		     struct spec_error *error)
{
	static const char form[] = "Command must be of the form: <name> field[;field] ...";
	char *name = line, *rest = strpbrk(line, " \t"), *own;

	*remove = !dynamic && line[0] == '!';
	if (dynamic) {
		name = read_after(line, "s:");
		if (!name)
			return read_refuse_silently(error, -EINVAL, "a synthetic event begins with s:");
		if (!rest)
			return read_refuse(error, -EINVAL, form, NULL);
		own = read_after(name, "synthetic/");
		if (strchr(name, '/') && !own)
			return read_refuse(error, -EINVAL,
					   "Command must be of the form: s or -:[synthetic/]<name> field[;field] ...", NULL);
		name = own ? own : name;
	}
	if (!*remove && (!is_complete(name) || !rest))
		return read_refuse(error, -EINVAL, form, NULL);
	if (rest)
		*rest++ = '\0';
	name += *remove;
	if (!*name)
		return read_refuse(error, -EINVAL, form, NULL);
	if (!read_copy_name(synth->name, name) || (!*remove && !read_is_name(name)))
		return *remove ? -ENOENT : read_refuse(error, -EINVAL, "Illegal name", name);
	if (*remove)
		return 0;
	if (world->synth && world->synth(world->arg, name))
		return read_refuse(error, -EEXIST, "Event already exists", name);
	return read_fields(synth, rest, error);
}

int spec_synth_parse(struct spec_synth **out, bool *remove, const struct spec_world *world, bool dynamic, const char *text,
		     size_t len, struct spec_error *error)
{
	struct spec_synth *synth = calloc(1, sizeof(*synth));
	char *line;
	int ret;

	*out = NULL;
	while (len && read_is_blank(*text)) {
		text++;
		len--;
	}
	while (len && text[len - 1] == '\n')
		len--;
	read_begin(error, text, len, "synthetic_events");
	line = strndup(text, len);
	if (!synth || !line || buf_failed(&error->command))
		ret = -ENOMEM;
	else if (strlen(line) != len)
		ret = read_refuse_silently(error, -EINVAL, "a NUL in the line");
	else
		ret = read_line(synth, remove, world, dynamic, line, error);
	free(line);
	if (!ret && !*remove)
		ret = place_fields(synth, error);
	if (ret) {
		error->code = ret;
		free(synth);
		return ret;
	}
	*out = synth;
	return read_accept(error);
}

void spec_synth_free(struct spec_synth *synth)
{
	free(synth);
}

void spec_synth_show(const struct spec_synth *synth, bool dynamic, struct buf *out)
{
	buf_printf(out, "%s%s\t", dynamic ? "s:synthetic/" : "", synth->name);
	for (uint32_t i = 0; i < synth->nfields; i++)
		buf_printf(out, "%s%s %s", i ? "; " : "", synth->fields[i].type, synth->fields[i].name);
}

bool spec_synth_same(const struct spec_synth *a, const struct spec_synth *b)
{
	if (strcmp(a->name, b->name) || a->nfields != b->nfields)
		return false;
	for (uint32_t i = 0; i < a->nfields; i++) {
		if (strcmp(a->fields[i].name, b->fields[i].name) || strcmp(a->fields[i].type, b->fields[i].type))
			return false;
	}
	return true;
}

/* ---- Format ---- */

static bool is_dynamic(const struct spec_field *field)
{
	return field->form == HOOK_FIELD_DYN_TEXT || field->form == HOOK_FIELD_DYN_STACK;
}

static void show_print(const struct spec_synth *synth, struct buf *out)
{
	buf_puts(out, "\nprint fmt: \"");
	for (uint32_t i = 0; i < synth->nfields; i++) {
		const struct number_type *number = find_number(synth->fields[i].type);

		buf_printf(out, "%s%s=%s", i ? ", " : "", synth->fields[i].name, number ? number->conversion : "%s");
	}
	buf_putc(out, '"');
	for (uint32_t i = 0; i < synth->nfields; i++) {
		const struct spec_field *field = &synth->fields[i];

		if (field->form == HOOK_FIELD_DYN_TEXT)
			buf_printf(out, ", __get_str(%s)", field->name);
		else if (field->form == HOOK_FIELD_DYN_STACK)
			buf_printf(out, ", __get_stacktrace(%s)", field->name);
		else
			buf_printf(out, ", REC->%s", field->name);
	}
}

void spec_synth_format(const struct spec_synth *synth, struct buf *out)
{
	buf_puts(out, RECORD_HEAD_FORMAT);
	for (uint32_t i = 0; i < synth->nfields; i++) {
		const struct spec_field *field = &synth->fields[i];
		char type[SPEC_NAME_MAX + 16];

		snprintf(type, sizeof(type), "%s%s", is_dynamic(field) ? "__data_loc " : "", field->type);
		format_field(out, type, field->name, field->offset, is_dynamic(field) ? 8 : field->value_size, field->is_signed);
	}
	show_print(synth, out);
}
