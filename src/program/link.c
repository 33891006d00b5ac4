/*
 * program/link: the fields that a program names, found in an event's format text; see program.h. In traced programs: no
 * memory, any thread or signal handler. Neither text nor program is believed.
 *
 *   \tfield:TYPE NAME[N];\toffset:O;\tsize:S;\tsigned:B;
 */
#include <errno.h>
#include <string.h>

#include "program/code.h"
#include "program/load.h"

/* Records and their fields end here. */
#define LINK_END 4096u
#define CLASS_NONE UINT8_MAX

/* A piece of the format text. */
struct piece {
	const char *at;
	size_t len;
};

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool has(struct piece text, const char *word)
{
	return memmem(text.at, text.len, word, strlen(word)) != NULL;
}

/* Whether `word` stands in the text, not as part of another. */
static bool has_word(struct piece text, const char *word)
{
	size_t len = strlen(word);
	const char *end = text.at + text.len, *at = text.at;

	while ((at = memmem(at, (size_t)(end - at), word, len))) {
		if ((at == text.at || !is_name(at[-1])) && (at + len == end || !is_name(at[len])))
			return true;
		at++;
	}
	return false;
}

static bool starts(struct piece text, const char *with)
{
	size_t len = strlen(with);

	return text.len >= len && !memcmp(text.at, with, len);
}

static struct piece trim(struct piece text)
{
	while (text.len && is_blank(text.at[0])) {
		text.at++;
		text.len--;
	}
	while (text.len && is_blank(text.at[text.len - 1]))
		text.len--;
	return text;
}

/* The digits behind `key` up to a semicolon. */
static bool read_key(struct piece line, const char *key, uint32_t *out)
{
	const char *p = memmem(line.at, line.len, key, strlen(key)), *end = line.at + line.len;
	uint32_t n = 0;

	if (!p)
		return false;
	p += strlen(key);
	if (p == end || *p < '0' || *p > '9')
		return false;
	for (; p < end && *p >= '0' && *p <= '9'; p++) {
		if (n > LINK_END)
			return false;
		n = n * 10 + (uint32_t)(*p - '0');
	}
	*out = n;
	return p < end && *p == ';';
}

/* What stands between `field:` and the semicolon: type, name, and whether bounds follow. */
struct declaration {
	struct piece type, name;
	bool is_array;
};

static bool read_declaration(struct piece line, struct declaration *out)
{
	struct piece text = trim(line);
	const char *semicolon, *bounds;
	size_t n;

	if (!starts(text, "field:"))
		return false;
	text.at += 6;
	text.len -= 6;
	semicolon = memchr(text.at, ';', text.len);
	if (!semicolon)
		return false;
	text.len = (size_t)(semicolon - text.at);
	text = trim(text);
	out->is_array = text.len && text.at[text.len - 1] == ']';
	if (out->is_array) {
		bounds = memrchr(text.at, '[', text.len);
		if (!bounds)
			return false;
		text.len = (size_t)(bounds - text.at);
		text = trim(text);
	}
	for (n = text.len; n && is_name(text.at[n - 1]); n--)
		;
	out->name = (struct piece){ text.at + n, text.len - n };
	out->type = trim((struct piece){ text.at, n });
	return out->name.len && out->type.len;
}

static uint8_t class_of_dynamic(struct piece type)
{
	if (has(type, "mask"))
		return PROGRAM_MASK;
	if (has_word(type, "char"))
		return PROGRAM_TEXT;
	return has_word(type, "long") ? PROGRAM_WORDS : CLASS_NONE;
}

/* `place` is set on the way. */
static uint8_t class_of(const struct declaration *d, uint32_t size, uint8_t *place)
{
	bool is_pointer = d->type.at[d->type.len - 1] == '*';

	*place = LOAD_INLINE;
	if (starts(d->type, "__data_loc ") || starts(d->type, "__rel_loc ")) {
		*place = d->type.at[2] == 'd' ? LOAD_LOC : LOAD_REL_LOC;
		/* The kernel's synthetic events say 8: the word is the first four of them. */
		return size == 4 || size == 8 ? class_of_dynamic(d->type) : CLASS_NONE;
	}
	if (!is_pointer && (has(d->type, "cpumask_t") || (has(d->type, "mask") && (d->is_array || size > 8))))
		return PROGRAM_MASK;
	if (d->is_array && has_word(d->type, "char") && !is_pointer) {
		*place = size ? LOAD_INLINE : LOAD_TAIL;
		return PROGRAM_TEXT;
	}
	if (d->is_array)
		return has_word(d->type, "long") && size && !is_pointer ? PROGRAM_WORDS : CLASS_NONE;
	if ((has_word(d->type, "float") || has_word(d->type, "double")) && !is_pointer)
		return size == 4 || size == 8 ? PROGRAM_REAL : CLASS_NONE;
	return size == 1 || size == 2 || size == 4 || size == 8 ? PROGRAM_INT : CLASS_NONE;
}

static bool read_line(struct piece line, struct declaration *d, struct program_field *out)
{
	uint32_t offset, size, is_signed = 0;

	if (!read_declaration(line, d) || !read_key(line, "offset:", &offset) || !read_key(line, "size:", &size) ||
	    offset > LINK_END || size > LINK_END - offset)
		return false;
	read_key(line, "signed:", &is_signed);
	*out = (struct program_field){ .offset = (uint16_t)offset, .size = (uint16_t)size, .is_signed = is_signed != 0 };
	out->class = class_of(d, size, &out->place);
	if (out->place == LOAD_LOC || out->place == LOAD_REL_LOC)
		out->size = 4;
	return true;
}

/* A stack and a mask may look the same in a format. */
static bool agrees(uint8_t wanted, uint8_t found)
{
	if (wanted == PROGRAM_EITHER)
		return found == PROGRAM_INT || found == PROGRAM_TEXT;
	return wanted == found || (wanted == PROGRAM_MASK && found == PROGRAM_WORDS) ||
	       (wanted == PROGRAM_WORDS && found == PROGRAM_MASK);
}

/* The field's name in the program: its length, or 0. */
static size_t name_of(const char *program, size_t size, const struct code_field *field, const char **name)
{
	uint32_t at = CODE_GET(field->name);

	if (at >= size)
		return 0;
	*name = program + at;
	return strnlen(*name, size - at);
}

/* A program's names of fields, and the places to fill in. */
struct linking {
	const char *program;
	size_t size;
	const struct code_field *names;
	uint32_t nfields;
	struct program_field *fields;
};

static void offer(const struct linking *l, const struct declaration *d, const struct program_field *found)
{
	const char *name = "";

	for (uint32_t i = 0; i < l->nfields; i++) {
		uint8_t class = CODE_GET(l->names[i].class);
		size_t len = name_of(l->program, l->size, &l->names[i], &name);

		if (l->fields[i].class != CLASS_NONE || len != d->name.len || memcmp(name, d->name.at, len) ||
		    !agrees(class, found->class))
			continue;
		l->fields[i] = *found;
		if (class != PROGRAM_EITHER)
			l->fields[i].class = class;
		l->fields[i].shape = program_field_shape(&l->fields[i]);
	}
}

static bool open_link(struct linking *l, const void *program, size_t size, struct program_field *fields)
{
	struct code_head head;
	size_t at;

	for (uint32_t i = 0; i < PROGRAM_FIELDS_MAX; i++)
		fields[i] = (struct program_field){ .class = CLASS_NONE };
	if (size < sizeof(head))
		return false;
	head = code_head_read(program);
	at = head.ncode * sizeof(struct code);
	if (head.nfields > PROGRAM_FIELDS_MAX || at > size || head.nfields * sizeof(struct code_field) > size - at)
		return false;
	*l = (struct linking){ program, size, (const void *)((const char *)program + at), head.nfields, fields };
	return true;
}

int program_link(const void *program, size_t size, const char *body, size_t body_len, struct program_field *fields)
{
	const char *end = body + body_len, *line_end;
	struct program_field found;
	struct declaration d;
	struct linking l;

	if (!open_link(&l, program, size, fields))
		return -ENOENT;
	for (; l.nfields && body < end; body = line_end < end ? line_end + 1 : end) {
		line_end = memchr(body, '\n', (size_t)(end - body));
		if (!line_end)
			line_end = end;
		if (read_line((struct piece){ body, (size_t)(line_end - body) }, &d, &found))
			offer(&l, &d, &found);
		else if (starts((struct piece){ body, (size_t)(line_end - body) }, "print fmt:"))
			break;
	}
	for (uint32_t i = 0; i < l.nfields; i++)
		if (fields[i].class == CLASS_NONE)
			return -ENOENT;
	return (int)l.nfields;
}
