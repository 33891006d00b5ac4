/*
 * symbol/btf_cast: a type as somebody writes it -> a type of BTF and how many pointers to it. See btf_fetch.h.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/near.h"
#include "symbol/btf_fetch.h"
#include "symbol/fetch.h"

#define STARS_MAX 4u
#define STRUCTS (1u << BTF_STRUCT | 1u << BTF_UNION)
#define PLAIN (1u << BTF_INT | 1u << BTF_TYPEDEF | 1u << BTF_FLOAT)

struct words {
	char name[BTF_NAME_MAX];	/* without what does not count: "long unsigned int" */
	const char *kind;		/* struct, union, enum, or NULL */
};

static const char *skip(const char *text)
{
	return text + strspn(text, " \t");
}

static bool is_word(const char *text, size_t len, const char *word)
{
	return strlen(word) == len && !strncmp(text, word, len);
}

/* Words of numbers, in whatever order somebody writes them: BTF has one. */
enum { UNSIGNED = 1, SIGNED = 2, SHORT = 4, LONG = 8, INT = 16, CHAR = 32 };

static uint32_t number_word(const char *text, size_t len)
{
	static const char *const all[] = { "unsigned", "signed", "short", "long", "int", "char" };

	for (uint32_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (is_word(text, len, all[i]))
			return 1u << i;
	return 0;
}

static void name_number(uint32_t seen, char name[BTF_NAME_MAX])
{
	if (seen & CHAR)
		snprintf(name, BTF_NAME_MAX, "%schar", seen & UNSIGNED ? "unsigned " : seen & SIGNED ? "signed " : "");
	else
		snprintf(name, BTF_NAME_MAX, "%s%sint", seen & LONG ? "long " : seen & SHORT ? "short " : "",
			 seen & UNSIGNED ? "unsigned " : "");
}

/* All words up to something else. */
static int read_words(const char **text, struct words *words, struct err *err)
{
	static const char *const kinds[] = { "struct", "union", "enum" };
	uint32_t seen = 0;
	size_t len;

	*words = (struct words){ .name = "" };
	for (*text = skip(*text); (len = fetch_word(*text)); *text = skip(*text + len)) {
		uint32_t number = number_word(*text, len);
		bool thin = is_word(*text, len, "const") || is_word(*text, len, "volatile");

		for (size_t i = 0; i < 3; i++)
			if (is_word(*text, len, kinds[i])) {
				words->kind = kinds[i];
				thin = true;
			}
		seen |= number;
		if (thin || number)
			continue;
		if (*words->name || len >= sizeof(words->name))
			return err_set(err, -EINVAL, "'%.*s' is too much for a type", (int)len, *text);
		memcpy(words->name, *text, len);
	}
	if (seen && (*words->name || words->kind))
		return err_set(err, -EINVAL, "'%s' is no number", *words->name ? words->name : words->kind);
	if (seen)
		name_number(seen, words->name);
	return *words->name ? 0 : err_set(err, -EINVAL, "which type?");
}

static int no_such(const struct btf *btf, const struct words *words, uint32_t kinds, struct err *err)
{
	struct near near = { .to = words->name };
	struct btf_type type;
	const char *best;

	for (uint32_t id = 1; id < btf_count(btf); id++)
		if (btf_get(btf, id, &type) && kinds >> type.kind & 1)
			near_see(&near, type.name);
	best = near_best(&near);
	return err_set(err, -ENOENT, "there is no %s '%s'%s%s%s", words->kind ? words->kind : "type", words->name,
		       best ? " (did you mean '" : "", best ? best : "", best ? "'?)" : "");
}

static uint32_t kinds_of(const struct words *words)
{
	if (!words->kind)
		return STRUCTS | PLAIN;
	if (*words->kind == 's')
		return 1u << BTF_STRUCT;
	return *words->kind == 'u' ? 1u << BTF_UNION : 1u << BTF_ENUM | 1u << BTF_ENUM64;
}

int btf_parse_type(const struct btf *btf, const char **text, struct btf_ref *ref, struct err *err)
{
	struct words words;
	bool is_void;
	int r = read_words(text, &words, err);

	if (r)
		return r;
	is_void = !words.kind && !strcmp(words.name, "void");
	*ref = (struct btf_ref){ 0 };
	if (!is_void) {
		/* A typedef of that name goes before a struct, as in C. */
		if (!words.kind)
			ref->id = btf_find(btf, words.name, PLAIN);
		if (!ref->id)
			ref->id = btf_find(btf, words.name, kinds_of(&words));
		if (!ref->id)
			return no_such(btf, &words, kinds_of(&words), err);
	}
	for (; **text == '*'; *text = skip(*text + 1))
		if (ref->stars++ == STARS_MAX)
			return err_set(err, -EINVAL, "too many pointers");
	return 0;
}
