/*
 * decode/format: see format.h. This file reads the text; field.c reads records by what it found.
 *
 *   name: order
 *   ID: 32768
 *   format:
 *	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
 *	...
 *
 *	field:__data_loc char[] item;	offset:8;	size:4;	signed:0;
 *
 *   print fmt: "item=%s", __get_str(item)
 *
 * All strings of a format live in one block. A line's strings with their NULs are never longer than
 * the line, since each line also has a keyword and a colon; so the block is as long as the text and
 * is never outgrown.
 */
#include "decode/format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode/prog.h"
#include "decode/special.h"
#include "decode/tep.h"

/* Larger than any sub-buffer, small enough for sums of two to fit 32 bits. */
#define RECORD_MAX (1u << 20)

/* The format, and what only its making and freeing need. */
struct whole {
	struct decode_format format;
	struct decode_field *fields;
	uint32_t cap;
	char *strings;
	size_t used;
};

struct reader {
	const char *text;
	const char *end;
	struct whole *whole;
	struct err *err;
	bool has_name, has_id;
};

struct span {
	const char *p;
	const char *end;
};

static struct span trim(struct span s)
{
	while (s.p < s.end && (*s.p == ' ' || *s.p == '\t'))
		s.p++;
	while (s.end > s.p && (s.end[-1] == ' ' || s.end[-1] == '\t' || s.end[-1] == '\r'))
		s.end--;
	return s;
}

static size_t span_len(struct span s)
{
	return (size_t)(s.end - s.p);
}

static bool starts(struct span s, const char *word)
{
	size_t len = strlen(word);

	return span_len(s) >= len && !memcmp(s.p, word, len);
}

static int refuse(struct reader *r, const char *at, const char *why)
{
	return err_set_at(r->err, -EBADMSG, (int)(at - r->text), "format text: %s", why);
}

static const char *keep(struct whole *w, struct span s)
{
	char *copy = w->strings + w->used;

	memcpy(copy, s.p, span_len(s));
	copy[span_len(s)] = '\0';
	w->used += span_len(s) + 1;
	return copy;
}

/* A decimal number that is all of `s`. */
static bool number(struct span s, uint32_t *out)
{
	uint64_t v = 0;

	s = trim(s);
	if (s.p == s.end)
		return false;
	for (; s.p < s.end; s.p++) {
		if (*s.p < '0' || *s.p > '9')
			return false;
		v = v * 10 + (uint64_t)(*s.p - '0');
		if (v > UINT32_MAX)
			return false;
	}
	*out = (uint32_t)v;
	return true;
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/*
 * "char comm[16]" into type, name and bounds; the bounds are what is between the brackets, p NULL
 * without any.
 */
static void split_decl(struct span decl, struct span *type, struct span *name, struct span *bounds)
{
	const char *p;

	*bounds = (struct span){ NULL, NULL };
	decl = trim(decl);
	if (decl.end > decl.p && decl.end[-1] == ']') {
		p = memchr(decl.p, '[', span_len(decl));
		/*
		 * In "T[] name" the brackets belong to the type, and the text does not end with
		 * one.
		 */
		if (p) {
			*bounds = (struct span){ p + 1, decl.end - 1 };
			decl.end = p;
			decl = trim(decl);
		}
	}
	for (p = decl.end; p > decl.p && is_word(p[-1]); p--)
		;
	*name = (struct span){ p, decl.end };
	*type = trim((struct span){ decl.p, p });
}

/* What one element is, when the type's name says less than its size. */
static void set_kind(struct decode_field *f, struct decode_type t)
{
	uint32_t size = f->elem_size;
	bool word = size == 1 || size == 2 || size == 4 || size == 8;

	f->kind = t.kind;
	if (t.kind == DECODE_FLOAT)
		f->kind = size == 4 || size == 8 ? DECODE_FLOAT : DECODE_OPAQUE;
	else if (!word)
		f->kind = DECODE_OPAQUE;
	else if (t.kind == DECODE_OPAQUE && strncmp(f->type, "struct", 6) &&
		 strncmp(f->type, "union", 5))
		f->kind = DECODE_INT;
}

static void set_shape(struct decode_field *f, struct span bounds, const struct decode_abi *abi)
{
	struct decode_type t = decode_type_parse(f->type, strlen(f->type), abi);
	uint32_t n;

	f->count = 1;
	f->elem_size = f->size;
	if (!strncmp(f->type, "__data_loc", 10))
		f->place = DECODE_LOC;
	else if (!strncmp(f->type, "__rel_loc", 9))
		f->place = DECODE_REL_LOC;
	else if (bounds.p && !f->size)
		f->place = DECODE_TAIL;

	if (f->place != DECODE_INLINE) {
		f->is_array = true;
		f->elem_size = t.size ? t.size : 1;
		f->count = 0;
	} else if (bounds.p) {
		f->is_array = true;
		/*
		 * Bounds may be an expression that was left as written; then the name's size has to
		 * do.
		 */
		if (number(bounds, &n) && n && f->size % n == 0)
			f->elem_size = f->size / n;
		else
			f->elem_size = t.size && f->size % t.size == 0 ? t.size : 1;
		f->count = f->size / f->elem_size;
	}
	set_kind(f, t);
	f->is_string = f->is_array && t.is_char && f->elem_size == 1;
}

/* The "key:value;" parts after the declaration. */
static int read_keys(struct reader *r, struct span rest, struct decode_field *f)
{
	bool has_offset = false, has_size = false, has_signed = false;

	while (rest.p < rest.end) {
		const char *semi = memchr(rest.p, ';', span_len(rest));
		struct span part = { rest.p, semi ? semi : rest.end };
		const char *colon;
		uint32_t value;

		rest.p = semi ? semi + 1 : rest.end;
		part = trim(part);
		if (part.p == part.end)
			continue;
		colon = memchr(part.p, ':', span_len(part));
		if (!colon || !number((struct span){ colon + 1, part.end }, &value))
			return refuse(r, part.p, "expected offset:N;, size:N; or signed:N;");
		if (starts(part, "offset:")) {
			f->offset = value;
			has_offset = true;
		} else if (starts(part, "size:")) {
			f->size = value;
			has_size = true;
		} else if (starts(part, "signed:")) {
			f->is_signed = value != 0;
			has_signed = true;
		}
	}
	if (!has_offset || !has_size)
		return refuse(r, rest.end, "a field without offset and size");
	if (f->offset > RECORD_MAX || f->size > RECORD_MAX)
		return refuse(r, rest.end, "a field outside any record");
	/* Kernels before 2.6.36 do not say. */
	if (!has_signed)
		f->is_signed = decode_type_parse(f->type, strlen(f->type),
						 &r->whole->format.abi).is_signed;
	return 0;
}

static struct decode_field *new_field(struct whole *w)
{
	uint32_t cap = w->cap ? w->cap * 2 : 16;
	struct decode_field *more;

	if (w->format.nr_fields == w->cap) {
		more = realloc(w->fields, cap * sizeof(*more));
		if (!more)
			return NULL;
		w->fields = more;
		w->cap = cap;
	}
	more = &w->fields[w->format.nr_fields++];
	*more = (struct decode_field){ 0 };
	return more;
}

static int read_field(struct reader *r, struct span line)
{
	const char *colon = memchr(line.p, ':', span_len(line));
	struct span decl, type, name, bounds;
	struct decode_field *f;
	const char *semi;
	int ret;

	if (!colon)
		return refuse(r, line.p, "expected field:TYPE NAME;");
	semi = memchr(colon, ';', (size_t)(line.end - colon));
	if (!semi)
		return refuse(r, line.p, "expected a semicolon after the field's name");
	decl = (struct span){ colon + 1, semi };
	split_decl(decl, &type, &name, &bounds);
	if (name.p == name.end || type.p == type.end)
		return refuse(r, decl.p, "expected field:TYPE NAME;");
	f = new_field(r->whole);
	if (!f)
		return err_set(r->err, -ENOMEM, "out of memory");
	f->type = keep(r->whole, type);
	f->name = keep(r->whole, name);
	f->is_common = !strncmp(f->name, "common_", 7);
	ret = read_keys(r, (struct span){ semi + 1, line.end }, f);
	if (ret)
		return ret;
	set_shape(f, bounds, &r->whole->format.abi);
	return 0;
}

static int read_line(struct reader *r, struct span line)
{
	struct decode_format *f = &r->whole->format;
	const char *at = line.p;

	line = trim(line);
	if (starts(line, "name:") && !r->has_name) {
		f->name = keep(r->whole, trim((struct span){ line.p + 5, line.end }));
		r->has_name = true;
	} else if (starts(line, "ID:") && !r->has_id) {
		if (!number((struct span){ line.p + 3, line.end }, &f->id))
			return refuse(r, at, "expected a number after ID:");
		r->has_id = true;
	} else if (starts(line, "field")) {
		return read_field(r, line);
	} else if (line.p < line.end && !starts(line, "format:")) {
		return refuse(r, at, "expected name:, ID:, format:, field: or print fmt:");
	}
	return 0;
}

/* All lines. The print format is the last thing and may itself have line breaks. */
static int read_text(struct reader *r)
{
	const char *p = r->text, *nl;
	int ret;

	while (p < r->end) {
		struct span rest = { p, r->end };

		if (starts(rest, "print fmt:")) {
			rest.p += strlen("print fmt:");
			while (rest.end > rest.p && rest.end[-1] == '\n')
				rest.end--;
			r->whole->format.print_fmt = keep(r->whole, trim(rest));
			break;
		}
		nl = memchr(p, '\n', span_len(rest));
		ret = read_line(r, (struct span){ p, nl ? nl : r->end });
		if (ret)
			return ret;
		p = nl ? nl + 1 : r->end;
	}
	if (!r->has_name || !r->has_id || !*r->whole->format.name)
		return refuse(r, r->text, "no name or no ID");
	return 0;
}

int decode_format_parse(const char *system, const char *text, size_t len,
			const struct decode_abi *abi, struct decode_format **out, struct err *err)
{
	static const struct decode_abi native = DECODE_ABI_NATIVE;
	struct reader r = { .text = text, .end = text + len, .err = err };
	struct span sys = { system, system + strlen(system) };
	struct decode_format *f;
	int ret;

	*out = NULL;
	if (len > DECODE_FORMAT_MAX)
		return err_set(err, -E2BIG, "format text of %zu bytes: at most %u are read", len,
			       DECODE_FORMAT_MAX);
	if (memchr(text, '\0', len))
		return refuse(&r, memchr(text, '\0', len), "holds a NUL byte");
	r.whole = calloc(1, sizeof(*r.whole));
	if (!r.whole)
		return err_set(err, -ENOMEM, "out of memory");
	f = &r.whole->format;
	f->abi = abi ? *abi : native;
	f->print_fmt = "";
	f->print_err = (struct err)ERR_INIT;
	r.whole->strings = malloc(len + span_len(sys) + 2);
	ret = r.whole->strings ? 0 : err_set(err, -ENOMEM, "out of memory");
	if (!ret) {
		f->system = keep(r.whole, sys);
		ret = read_text(&r);
	}
	f->fields = r.whole->fields;
	if (!ret) {
		decode_special_find(f);
		ret = decode_prog_compile(f, &f->prog, &f->print_err);
		if (ret != -ENOMEM)
			ret = tep_compile(f, &f->tep);
		/* Only lack of memory is no property of the text. */
		ret = ret == -ENOMEM ? err_set(err, ret, "out of memory") : 0;
	}
	if (ret) {
		decode_format_free(f);
		return ret;
	}
	*out = f;
	return 0;
}

void decode_format_free(struct decode_format *format)
{
	struct whole *w = (struct whole *)format;

	if (!w)
		return;
	decode_prog_free(w->format.prog);
	tep_free(w->format.tep);
	free(w->fields);
	free(w->strings);
	free(w);
}

const struct decode_field *decode_format_find(const struct decode_format *format, const char *name)
{
	for (uint32_t i = 0; i < format->nr_fields; i++)
		if (!strcmp(format->fields[i].name, name))
			return &format->fields[i];
	return NULL;
}
