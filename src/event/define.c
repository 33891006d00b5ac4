/*
 * event/define: events that programs define with words at run time, for languages that have no
 * RINGSIDE_EVENT.
 *
 * The words become the same table of fields that the compiler makes of a declaration, so the same
 * event in both ways has one id. Values come as an array of unions, which is to the table what a
 * structure of arguments is: value i at offset i * sizeof(union ringside_value). All of the words
 * are checked before anything is made known.
 *
 * Defining runs in ordinary code of any thread; the rest in any thread and signal handler.
 */
#include <ringside/define.h>

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "base/err.h"
#include "event/local.h"
#include "layout/registry.h"
#include "runtime/runtime.h"

#define FIELDS_MAX 64u
#define TOKENS_MAX 8

struct ringside_defined {
	struct ringside_defined *next;
	struct ringside_event event;
	size_t count;
	uint32_t fixed;
	char *key;	/* the words, to find it again */
	struct ringside_field fields[FIELDS_MAX + 1];
};

static struct ringside_defined *all;

/* ---- Types ---- */

struct type {
	const char *name;
	uint8_t size;
	uint8_t type_class;
	uint8_t is_signed;
};

/* clang-format off */
#define TYPE_AS(name, t) { name, sizeof(t), RINGSIDE_CLASS(t), RINGSIDE_SIGNED(t) }
#define TYPE(t) TYPE_AS(#t, t)

static const struct type types[] = {
	TYPE(char), TYPE(signed char), TYPE(unsigned char), TYPE(short), TYPE(unsigned short),
	TYPE(int), TYPE(unsigned int), TYPE(unsigned), TYPE(long), TYPE(unsigned long),
	TYPE(long long), TYPE(unsigned long long), TYPE(float), TYPE(double),
	TYPE_AS("bool", _Bool), TYPE_AS("_Bool", _Bool),
	TYPE_AS("s8", int8_t), TYPE_AS("s16", int16_t), TYPE_AS("s32", int32_t),
	TYPE_AS("s64", int64_t), TYPE_AS("u8", uint8_t), TYPE_AS("u16", uint16_t),
	TYPE_AS("u32", uint32_t), TYPE_AS("u64", uint64_t),
	TYPE(int8_t), TYPE(int16_t), TYPE(int32_t), TYPE(int64_t),
	TYPE(uint8_t), TYPE(uint16_t), TYPE(uint32_t), TYPE(uint64_t),
	TYPE(size_t), TYPE(ssize_t), TYPE(intptr_t), TYPE(uintptr_t), TYPE(ptrdiff_t),
	TYPE(pid_t), TYPE(uid_t), TYPE(gid_t), TYPE(off_t), TYPE(time_t), TYPE(mode_t),
};
/* clang-format on */

static const struct type *type_find(const char *name)
{
	static const struct type an_enum = TYPE_AS("enum", unsigned),
				 a_pointer = TYPE_AS("pointer", void *);

	if (strchr(name, '*'))
		return &a_pointer;
	if (!strncmp(name, "enum ", 5))
		return &an_enum;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(types[i].name, name))
			return &types[i];
	return NULL;
}

/* ---- Words ---- */

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static int check_name(const char *what, const char *name, struct err *err)
{
	if (!name || !*name || isdigit((unsigned char)*name))
		return err_set(err, -EINVAL, "%s: \"%s\" is not a name", what, name ? name : "");
	if (strlen(name) > REGISTRY_NAME_MAX)
		return err_set(err, -EINVAL, "%s: %.20s... is longer than %u characters", what,
			       name, REGISTRY_NAME_MAX);
	for (const char *p = name; *p; p++)
		if (!is_word(*p))
			return err_set(err, -EINVAL, "%s: \"%s\": only letters, digits and _", what,
				       name);
	return 0;
}

/* A declaration cut into words, stars and brackets. */
struct tokens {
	char text[TOKENS_MAX][64];
	int count;
};

static int cut_tokens(const char *at, size_t len, struct tokens *tokens, struct err *err)
{
	const char *end = at + len;

	tokens->count = 0;
	while (at < end) {
		size_t n = 1;

		if (isspace((unsigned char)*at)) {
			at++;
			continue;
		}
		if (is_word(*at))
			while (at + n < end && is_word(at[n]))
				n++;
		else if (!strchr("*[]", *at))
			return err_set(err, -EINVAL, "field \"%.*s\": what is '%c'?", (int)len,
				       end - len, *at);
		if (tokens->count == TOKENS_MAX || n >= sizeof(tokens->text[0]))
			return err_set(err, -EINVAL, "field \"%.*s\" is too long", (int)len,
				       end - len);
		memcpy(tokens->text[tokens->count], at, n);
		tokens->text[tokens->count++][n] = '\0';
		at += n;
	}
	return 0;
}

/* Takes [N] or [] off the end: the number of elements, 0 for any, -1 when there are no brackets,
 * -2 for nonsense. */
static long take_brackets(struct tokens *tokens)
{
	int n = tokens->count;
	char *end;
	long count = 0;

	if (n < 2 || strcmp(tokens->text[n - 1], "]"))
		return -1;
	if (!strcmp(tokens->text[n - 2], "[")) {
		tokens->count -= 2;
		return 0;
	}
	if (n < 3 || strcmp(tokens->text[n - 3], "["))
		return -2;
	errno = 0;
	count = strtol(tokens->text[n - 2], &end, 0);
	tokens->count -= 3;
	return *end || errno || count <= 0 || count > (long)RINGSIDE_RECORD_MAX ? -2 : count;
}

/* Words with a blank between them, stars as the kernel writes them: "const char *". */
static char *join(const struct tokens *tokens, int count)
{
	struct buf text = BUF_INIT;

	for (int i = 0; i < count; i++)
		buf_printf(&text, "%s%s", i && strcmp(tokens->text[i - 1], "*") ? " " : "",
			   tokens->text[i]);
	return buf_take(&text);
}

static int set_kind(struct ringside_field *field, const char *type, long brackets)
{
	if (!strcmp(type, "string") || !strcmp(type, "bitmask")) {
		field->kind = *type == 's' ? RINGSIDE_STRING_N : RINGSIDE_BITMASK;
		field->size = 1;
		return brackets == -1 ? 0 : -EINVAL;
	}
	field->kind = brackets == 0  ? RINGSIDE_SEQUENCE
		      : brackets > 0 ? EVENT_ARRAY_N
				     : RINGSIDE_FIELD;
	field->count = brackets > 0 ? (uint32_t)brackets : 1;
	return 0;
}

/* One declaration: "u8 mac[6]". What it allocates is freed with the event's other texts. */
static int read_field(const char *at, size_t len, struct ringside_field *field, struct err *err)
{
	const struct type *type;
	struct tokens tokens;
	long brackets;
	int res = cut_tokens(at, len, &tokens, err);

	if (res)
		return res;
	brackets = take_brackets(&tokens);
	if (tokens.count < 2 || brackets == -2 || !is_word(*tokens.text[tokens.count - 1]))
		return err_set(err, -EINVAL, "field \"%.*s\": expected a type and a name", (int)len,
			       at);
	*field = (struct ringside_field){ .count = 1 };
	field->name = strdup(tokens.text[tokens.count - 1]);
	field->type = join(&tokens, tokens.count - 1);
	if (!field->name || !field->type)
		return err_set(err, -ENOMEM, "out of memory");
	res = check_name("field", field->name, err);
	if (res)
		return res;
	if (set_kind(field, field->type, brackets))
		return err_set(err, -EINVAL, "field %s: there are no arrays of %s", field->name,
			       field->type);
	if (field->kind == RINGSIDE_STRING_N || field->kind == RINGSIDE_BITMASK)
		return 0;
	type = type_find(field->type);
	if (!type)
		return err_set(err, -EINVAL, "field %s: unknown type \"%s\"", field->name,
			       field->type);
	field->size = type->size;
	field->type_class = type->type_class;
	field->is_signed = type->is_signed;
	field->arg_size = 8;
	field->arg_class = type->type_class;
	field->arg_signed = type->is_signed;
	return 0;
}

static int check_unique(const struct ringside_field *fields, size_t n, struct err *err)
{
	if (!strncmp(fields[n].name, "common_", 7))
		return err_set(err, -EINVAL, "field %s: every event has fields of such names",
			       fields[n].name);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(fields[i].name, fields[n].name))
			return err_set(err, -EINVAL, "field %s: there are two of that name",
				       fields[n].name);
	return 0;
}

static int read_fields(struct ringside_defined *defined, const char *text, struct err *err)
{
	while (*text) {
		size_t len = strcspn(text, ";");
		struct ringside_field *field = &defined->fields[defined->count];
		int res;

		if (strspn(text, " \t\n") >= len) {
			text += len + (text[len] == ';');
			continue;
		}
		if (defined->count == FIELDS_MAX)
			return err_set(err, -E2BIG, "more than %u fields", FIELDS_MAX);
		res = read_field(text, len, field, err);
		if (!res)
			res = check_unique(defined->fields, defined->count, err);
		if (res)
			return res;
		field->arg = (uint32_t)(defined->count * sizeof(union ringside_value));
		defined->count++;
		text += len + (text[len] == ';');
	}
	return 0;
}

/* As a compiler would lay out the declaration. */
static int lay_out(struct ringside_defined *defined, struct err *err)
{
	uint32_t at = 8, parts = 0;

	for (struct ringside_field *f = defined->fields; f->name; f++) {
		bool part = f->kind >= RINGSIDE_STRING && f->kind <= RINGSIDE_BITMASK;
		uint32_t align = part ? 4 : f->size;

		at = (at + align - 1) / align * align;
		f->offset = at;
		at += part ? 4 : f->size * f->count;
		parts += part;
		if (at + parts * 4 > RINGSIDE_RECORD_MAX - 4)
			return err_set(err, -E2BIG, "the record would be longer than %u bytes",
				       RINGSIDE_RECORD_MAX);
	}
	defined->fixed = event_record_fixed(defined->fields);
	return 0;
}

/* A string in quotes, then arguments in which quotes and brackets close. */
static int check_print(const char *print, struct err *err)
{
	int depth = 0;
	char quote = 0;

	if (!print)
		return 0;
	if (print[strspn(print, " \t\n")] != '"')
		return err_set(err, -EINVAL, "print: expected a format string in quotes");
	for (const char *p = print; *p; p++) {
		if (quote && *p == '\\' && p[1])
			p++;
		else if (quote)
			quote = *p == quote ? 0 : quote;
		else if (*p == '"' || *p == '\'')
			quote = *p;
		else
			depth += *p == '(' ? 1 : *p == ')' ? -1 : 0;
		if (depth < 0)
			break;
	}
	if (quote || depth)
		return err_set(err, -EINVAL, "print: %s",
			       quote ? "a quote is not closed" : "unbalanced ( )");
	return 0;
}

/* ---- Events ---- */

static void drop(struct ringside_defined *defined)
{
	if (!defined)
		return;
	for (size_t i = 0; i <= FIELDS_MAX; i++) {
		free((char *)defined->fields[i].name);
		free((char *)defined->fields[i].type);
	}
	free(defined->key);
	free(defined);
}

/* All the words as one text. Names have no newlines, so no other words make the same. */
static char *make_key(const char *system, const char *name, const char *fields, const char *print)
{
	struct buf key = BUF_INIT;

	buf_printf(&key, "%s\n%s\n%s\n%s", system, name, fields, print ? print : "");
	return buf_take(&key);
}

static struct ringside_defined *find(const char *key)
{
	struct ringside_defined *defined = __atomic_load_n(&all, __ATOMIC_ACQUIRE);

	while (defined && strcmp(defined->key, key))
		defined = defined->next;
	return defined;
}

static struct ringside_defined *keep(struct ringside_defined *defined)
{
	defined->next = __atomic_load_n(&all, __ATOMIC_RELAXED);
	/* Two threads may keep the same twice: one event in two places. Partner: find(). */
	while (!__atomic_compare_exchange_n(&all, &defined->next, defined, true, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED))
		;
	return defined;
}

/* The words are not kept: whoever gave them may free them. */
static int intern(struct ringside_defined *defined, const char *system, const char *name,
		  const char *print)
{
	struct ringside_event *event = &defined->event;
	int res;

	event->hint = &event->nothing;
	event->abi = RINGSIDE_ABI;
	event->fields = defined->fields;
	if (!event_attached())
		return 0;
	event->system = system;
	event->name = name;
	event->print = print;
	res = event_intern(event, defined->fields, 0);
	event->system = event->name = event->print = NULL;
	return res;
}

static struct ringside_defined *define(const char *system, const char *name, const char *fields,
				       const char *print, struct err *err)
{
	struct ringside_defined *defined = NULL, *found;
	char *key = NULL;

	if (check_name("system", system, err) || check_name("event", name, err) ||
	    check_print(print, err))
		return NULL;
	key = make_key(system, name, fields, print);
	found = key ? find(key) : NULL;
	if (found) {
		free(key);
		return found;
	}
	defined = key ? calloc(1, sizeof(*defined)) : NULL;
	if (!defined) {
		free(key);
		err_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	defined->key = key;
	if (read_fields(defined, fields, err) || lay_out(defined, err)) {
		drop(defined);
		return NULL;
	}
	intern(defined, system, name, print);
	return keep(defined);
}

RINGSIDE_API struct ringside_defined *ringside_define(const char *system, const char *name,
						      const char *fields, const char *print,
						      char *error, size_t error_size)
{
	struct err err = ERR_INIT;
	struct ringside_defined *defined = define(system, name, fields ? fields : "", print, &err);

	if (error && error_size)
		snprintf(error, error_size, "%s", err.text);
	return defined;
}

RINGSIDE_API int ringside_enabled(const struct ringside_defined *event)
{
	return event && __atomic_load_n(event->event.hint, __ATOMIC_RELAXED);
}

RINGSIDE_API const uint32_t *ringside_enabled_word(const struct ringside_defined *event)
{
	return event ? event->event.hint : &runtime_hint_off;
}

RINGSIDE_API int ringside_emit(const struct ringside_defined *event,
			       const union ringside_value *values, size_t count)
{
	uint32_t wanted;

	if (!event || count != event->count)
		return -EINVAL;
	wanted = __atomic_load_n(event->event.hint, __ATOMIC_RELAXED);
	if (wanted & RINGSIDE_THIS)
		event_record_write(event->event.id, event->fields, event->fixed, values);
	return 0;
}
