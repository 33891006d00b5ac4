/*
 * symbol/btf_fetch: see btf_fetch.h.
 *
 * A value is a word (a register, a field of an event) or lies in memory, at an address that is a word and what is added to it, or
 * what is read there and added to, and so on:
 *
 *   skb               $arg1
 *   skb->dev          in memory, at $arg1 + 16
 *   skb->dev->name    in memory, at what is read there + 288
 */
#include "symbol/btf_fetch.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/near.h"
#include "symbol/fetch.h"

#define LOADS_MAX 12u
#define STEPS_MAX 32u
#define NEST_MAX 8u

struct fetch {
	const struct btf_scope *scope;
	const struct btf *btf;
	const char *text, *at;
	const struct btf_root *root;
	const char *base;
	struct btf_ref type;
	bool typed;		/* `type` is what it is; else the root's word is */
	bool in_memory;
	uint32_t nloads, user;
	int64_t add[LOADS_MAX + 1];
	uint32_t bits, shift, unit;	/* some bits of `unit` bytes; bits 0: all */
	uint32_t steps, nest;
	char name[BTF_NAME_MAX];
	struct err *err;
};

static int refuse(struct fetch *fetch, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static int refuse(struct fetch *fetch, int code, const char *fmt, ...)
{
	char words[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	return err_set_at(fetch->err, code, (int)(fetch->at - fetch->text), "%.100s: %s", fetch->text, words);
}

static void take_name(struct fetch *fetch, const char *name, size_t len)
{
	if (len >= sizeof(fetch->name))
		len = sizeof(fetch->name) - 1;
	memcpy(fetch->name, name, len);
	fetch->name[len] = '\0';
}

/* ---- types on the way ---- */

/* What it is; of a pointer (true) what that points to is in `to`. False: it is no pointer. */
static bool is_pointer(struct fetch *fetch, struct btf_ref *to, const char **tag)
{
	struct btf_type type, target;

	*tag = "";
	if (fetch->type.stars) {
		*to = (struct btf_ref){ fetch->type.id, fetch->type.stars - 1 };
		return true;
	}
	if (!btf_peel(fetch->btf, fetch->type.id, &type, NULL) || type.kind != BTF_PTR)
		return false;
	*to = (struct btf_ref){ type.type, 0 };
	btf_peel(fetch->btf, type.type, &target, tag);
	return true;
}

static bool is_struct(struct fetch *fetch, struct btf_type *type)
{
	return !fetch->type.stars && btf_peel(fetch->btf, fetch->type.id, type, NULL) &&
	       (type->kind == BTF_STRUCT || type->kind == BTF_UNION);
}

static bool size_of(struct fetch *fetch, struct btf_ref ref, uint64_t *size)
{
	if (ref.stars)
		*size = 8;
	return ref.stars || btf_size(fetch->btf, ref.id, size);
}

static void put_type_name(struct fetch *fetch, struct buf *out)
{
	if (fetch->typed)
		btf_put(fetch->btf, fetch->type, "", out);
	else
		buf_puts(out, fetch->root->text ? fetch->root->text : fetch->root->word);
}

/* ---- steps ---- */

static int add_offset(struct fetch *fetch, int64_t offset)
{
	int64_t *add = &fetch->add[fetch->nloads];

	if (__builtin_add_overflow(*add, offset, add) || *add > INT32_MAX || *add < INT32_MIN)
		return refuse(fetch, -ERANGE, "that is too far away");
	return 0;
}

/* From something to what it points to: its value is an address. */
static int follow(struct fetch *fetch, const char *tag)
{
	if (fetch->bits)
		return refuse(fetch, -EOPNOTSUPP, "the pointer is a part of a register");
	if (!strcmp(tag, "percpu"))
		return refuse(fetch, -EOPNOTSUPP, "'%s' is not one place: each CPU has its own", fetch->name);
	if (fetch->in_memory) {
		if (fetch->nloads == LOADS_MAX - 1)
			return refuse(fetch, -E2BIG, "too many pointers");
		fetch->add[++fetch->nloads] = 0;
	}
	fetch->in_memory = true;
	if (!strcmp(tag, "user"))
		fetch->user |= 1u << fetch->nloads;
	return 0;
}

struct names {
	struct buf text;
	struct near near;
	int left;
};

static bool see_name(void *ctx, const struct btf_member *member)
{
	struct names *names = ctx;

	near_see(&names->near, member->name);
	if (names->left-- > 0)
		buf_printf(&names->text, "%s%.40s", names->text.len ? ", " : "", member->name);
	else if (names->left == -1)
		buf_puts(&names->text, ", ...");
	return true;
}

static int no_member(struct fetch *fetch, const struct btf_type *type, size_t len)
{
	char wanted[BTF_NAME_MAX];
	struct names names = { .text = BUF_INIT, .near = { .to = wanted }, .left = 8 };
	const char *best;
	int r;

	snprintf(wanted, sizeof(wanted), "%.*s", (int)len, fetch->at);
	btf_members(fetch->btf, type, see_name, &names);
	best = near_best(&names.near);
	if (best)
		r = refuse(fetch, -EINVAL, "'%s' has no member '%s' (did you mean '%s'?): -V 'struct %.60s' lists them", fetch->name,
			   wanted, best, *type->name ? type->name : "NAME");
	else if (type->n)
		r = refuse(fetch, -EINVAL, "'%s' has no member '%s'; it has %.150s", fetch->name, wanted,
			   names.text.len ? names.text.data : "none");
	else
		r = refuse(fetch, -EINVAL, "'%s' has no member '%s': it is empty", fetch->name, wanted);
	buf_fini(&names.text);
	return r;
}

static int no_members(struct fetch *fetch)
{
	struct buf type = BUF_INIT;
	struct btf_type peeled;
	bool unknown = fetch->typed && btf_peel(fetch->btf, fetch->type.id, &peeled, NULL) && peeled.kind == BTF_FWD;
	int r;

	put_type_name(fetch, &type);
	if (unknown)
		r = refuse(fetch, -ENODATA, "what is in '%.60s' is not told here: another module may know it", type.data ? type.data : "?");
	else if (!fetch->typed)
		r = refuse(fetch, -EINVAL, "'%s' is of type '%.60s', which has no members: say what it is, (struct NAME *)%s",
			   fetch->name, type.data ? type.data : "?", fetch->name);
	else
		r = refuse(fetch, -EINVAL, "'%s' is of type '%.60s', which has no members", fetch->name, type.data ? type.data : "?");
	buf_fini(&type);
	return r;
}

/* Some bits of memory: of the word that its type would be, or, where they do not fit in one, of the bytes that they are in. */
static int take_bits(struct fetch *fetch, const struct btf_member *member)
{
	uint32_t step;
	uint64_t size;

	if (!btf_size(fetch->btf, member->type, &size) || (size != 1 && size != 2 && size != 4 && size != 8))
		return refuse(fetch, -EOPNOTSUPP, "a bit field of a strange type");
	step = (uint32_t)size;
	if (member->bit % (size * 8) + member->bits > size * 8) {
		step = 1;
		for (size = 1; size < 8 && member->bit % 8 + member->bits > size * 8;)
			size *= 2;
	}
	fetch->unit = (uint32_t)size;
	fetch->shift = member->bit % (step * 8);
	fetch->bits = member->bits;
	if (fetch->shift + fetch->bits > size * 8)
		return refuse(fetch, -EOPNOTSUPP, "a bit field that is not within one word");
	return add_offset(fetch, member->bit / (step * 8) * step);
}

/* Of a struct that is in one register, or in two: the bits of it. */
static int take_part(struct fetch *fetch, const struct btf_member *member)
{
	uint64_t size = 0;
	uint32_t from = (fetch->bits ? fetch->shift : 0) + member->bit;

	if (!member->bits && !btf_size(fetch->btf, member->type, &size))
		return refuse(fetch, -EOPNOTSUPP, "nobody knows how large it is");
	if (from >= 64 && *fetch->root->fetch[1] && fetch->base == fetch->root->fetch[0]) {
		fetch->base = fetch->root->fetch[1];
		from -= 64;
	}
	if (size > 8 || from + (member->bits ? member->bits : size * 8) > 64) {
		struct btf_type type;

		/* All of both registers, of which a member is still to be named. */
		if (!from && size <= 16 && btf_peel(fetch->btf, member->type, &type, NULL) &&
		    (type.kind == BTF_STRUCT || type.kind == BTF_UNION))
			return 0;
		return refuse(fetch, -EOPNOTSUPP, "it is not in one register");
	}
	fetch->unit = 8;
	fetch->shift = from;
	fetch->bits = member->bits ? member->bits : from || size < 8 ? (uint32_t)size * 8 : 0;
	return 0;
}

static int take_member(struct fetch *fetch, const struct btf_member *member)
{
	if (!fetch->in_memory)
		return take_part(fetch, member);
	if (member->bits)
		return take_bits(fetch, member);
	if (member->bit % 8)
		return refuse(fetch, -EOPNOTSUPP, "it does not begin with a byte");
	return add_offset(fetch, member->bit / 8);
}

static int step_member(struct fetch *fetch, bool arrow)
{
	struct btf_member member;
	struct btf_type type;
	struct btf_ref to;
	const char *tag;
	size_t len;
	bool pointer;
	int r = 0;

	fetch->at += arrow ? 2 : 1;
	len = fetch_word(fetch->at);
	if (!len)
		return refuse(fetch, -EINVAL, "which member?");
	if (!fetch->typed)
		return no_members(fetch);
	pointer = is_pointer(fetch, &to, &tag);
	if (pointer && !arrow)
		return refuse(fetch, -EINVAL, "'%s' is a pointer: write -> before '%.*s'", fetch->name, (int)len, fetch->at);
	if (!pointer && arrow && is_struct(fetch, &type))
		return refuse(fetch, -EINVAL, "'%s' is no pointer: write a point before '%.*s'", fetch->name, (int)len, fetch->at);
	if (pointer) {
		r = follow(fetch, tag);
		fetch->type = to;
	}
	if (r)
		return r;
	if (!is_struct(fetch, &type))
		return no_members(fetch);
	if (!btf_member_find(fetch->btf, &type, fetch->at, len, &member))
		return no_member(fetch, &type, len);
	r = take_member(fetch, &member);
	fetch->type = (struct btf_ref){ member.type, 0 };
	take_name(fetch, fetch->at, len);
	fetch->at += len;
	return r;
}

static int step_index(struct fetch *fetch)
{
	struct btf_type type;
	struct btf_ref of;
	const char *tag;
	uint64_t size;
	int64_t index;
	char *end;
	int r = 0;

	errno = 0;
	index = strtoll(fetch->at + 1, &end, 0);
	if (end == fetch->at + 1 || *end != ']' || errno || index > INT32_MAX || index < INT32_MIN)
		return refuse(fetch, -EINVAL, "[ ] needs a number");
	if (!fetch->typed)
		return no_members(fetch);
	if (is_pointer(fetch, &of, &tag)) {
		r = follow(fetch, tag);
	} else if (fetch->type.stars || !btf_peel(fetch->btf, fetch->type.id, &type, NULL) || type.kind != BTF_ARRAY) {
		return refuse(fetch, -EINVAL, "'%s' is no array and no pointer", fetch->name);
	} else if (type.n > 1 && (index < 0 || index >= type.n)) {
		/* Behind one element, or none, there may be more than was declared. */
		return refuse(fetch, -ERANGE, "'%s' has %u elements, from [0] to [%u]", fetch->name, type.n, type.n - 1);
	} else if (!fetch->in_memory) {
		return refuse(fetch, -EOPNOTSUPP, "its array is not in memory");
	} else {
		of = (struct btf_ref){ type.type, 0 };
	}
	if (r)
		return r;
	if (!size_of(fetch, of, &size) || !size || size > INT32_MAX)
		return refuse(fetch, -EINVAL, "nobody knows how large an element of '%s' is", fetch->name);
	r = add_offset(fetch, index * (int64_t)size);
	fetch->type = of;
	fetch->at = end + 1;
	return r;
}

static int steps(struct fetch *fetch)
{
	struct btf_type type;
	int r = 0;

	while (!r && *fetch->at && *fetch->at != ':' && *fetch->at != ')') {
		if (fetch->steps++ == STEPS_MAX)
			return refuse(fetch, -EINVAL, "too many steps");
		/* Of bits in a register a struct may go on. */
		if (fetch->bits && (fetch->in_memory || !is_struct(fetch, &type)))
			return refuse(fetch, -EINVAL, "'%s' has no members", fetch->name);
		if (*fetch->at == '[')
			r = step_index(fetch);
		else if (*fetch->at == '.')
			r = step_member(fetch, false);
		else if (fetch->at[0] == '-' && fetch->at[1] == '>')
			r = step_member(fetch, true);
		else
			r = refuse(fetch, -EINVAL, "'%.20s' is not understood: NAME, .MEMBER, ->MEMBER, [INDEX] or :TYPE", fetch->at);
	}
	return r;
}

/* ---- beginnings ---- */

static int no_such(struct fetch *fetch, size_t len)
{
	const struct btf_scope *scope = fetch->scope;
	char wanted[BTF_NAME_MAX];
	struct near near = { .to = wanted };
	const char *best;
	bool named = false;

	snprintf(wanted, sizeof(wanted), "%.*s", (int)len, fetch->at);
	for (uint32_t i = 0; i < scope->n; i++) {
		near_see(&near, scope->roots[i].name);
		named |= *scope->roots[i].name != '$';
	}
	best = near_best(&near);
	if (!named && scope->why && *scope->why)
		return refuse(fetch, -ENODATA, "names are not known here: %s", scope->why);
	return refuse(fetch, -ENOENT, "there is no '%s' at %.60s%s%s%s: -V lists what is", wanted, scope->where,
		      best ? " (did you mean '" : "", best ? best : "", best ? "'?)" : "");
}

static int begin_root(struct fetch *fetch, const struct btf_root *root, size_t len)
{
	fetch->root = root;
	fetch->base = root->fetch[0];
	fetch->type = root->type;
	fetch->typed = fetch->btf && (root->type.id || root->type.stars);
	fetch->in_memory = root->in_memory;
	fetch->add[0] = root->offset;
	take_name(fetch, fetch->at + (*fetch->at == '$'), len - (*fetch->at == '$'));
	fetch->at += len;
	if (!*root->fetch[0])
		return refuse(fetch, -EOPNOTSUPP, "'%s' cannot be fetched: %s", root->name, root->why);
	return 0;
}

static int begin_name(struct fetch *fetch)
{
	const struct btf_scope *scope = fetch->scope;
	size_t len = *fetch->at == '$';

	len += fetch_word(fetch->at + len);
	if (!len || isdigit((unsigned char)*fetch->at))
		return refuse(fetch, -EINVAL, "which name?");
	/* A field of an event may be written as probes have it, $skbaddr. */
	for (uint32_t i = 0; i < scope->n; i++)
		for (size_t from = 0; from <= (*fetch->at == '$'); from++)
			if (!strncmp(scope->roots[i].name, fetch->at + from, len - from) && !scope->roots[i].name[len - from])
				return begin_root(fetch, &scope->roots[i], len);
	return no_such(fetch, len);
}

static const char *skip(const char *text)
{
	return text + strspn(text, " \t");
}

/* Behind a parenthesis: does a type come, or an expression? */
static bool is_cast(const char *text)
{
	const char *end = strchr(text, ')'), *next;

	if (!end || !fetch_word(text))
		return false;
	if (memchr(text, '*', (size_t)(end - text)))
		return true;
	/* struct NAME, or a name alone with another behind it. */
	next = skip(text + fetch_word(text));
	if (fetch_word(next))
		return true;
	end = skip(end + 1);
	return *next == ')' && (fetch_word(end) || (*end && strchr("($", *end)));
}

static int begin(struct fetch *fetch);

/* (TYPE)what follows */
static int begin_cast(struct fetch *fetch)
{
	struct err why = ERR_INIT;
	const char *at = fetch->at;
	struct btf_type type;
	struct btf_ref ref;
	int r;

	if (!fetch->btf)
		return refuse(fetch, -ENODATA, "types are not known here: %s", fetch->scope->why ? fetch->scope->why : "there is no BTF");
	r = btf_parse_type(fetch->btf, &at, &ref, &why);
	if (r)
		return refuse(fetch, r, "%s", why.text);
	if (*at != ')')
		return refuse(fetch, -EINVAL, "the type does not end in ')'");
	fetch->at = skip(at + 1);
	r = begin(fetch);
	if (r)
		return r;
	/* A struct by itself is meant as what it points to: nothing else is one word. */
	if (!ref.stars && btf_peel(fetch->btf, ref.id, &type, NULL) && (type.kind == BTF_STRUCT || type.kind == BTF_UNION))
		ref.stars = 1;
	if (fetch->bits || (fetch->root->word && !strcmp(fetch->root->word, "string")))
		return refuse(fetch, -EINVAL, "'%s' is no word that could be something else", fetch->name);
	fetch->type = ref;
	fetch->typed = true;
	return 0;
}

/* NAME, (TYPE)..., or an expression in parentheses. */
static int begin(struct fetch *fetch)
{
	int r;

	if (*fetch->at != '(')
		return begin_name(fetch);
	if (fetch->nest++ == NEST_MAX)
		return refuse(fetch, -EINVAL, "too many parentheses");
	fetch->at = skip(fetch->at + 1);
	if (is_cast(fetch->at))
		return begin_cast(fetch);
	r = begin(fetch);
	if (!r)
		r = steps(fetch);
	if (!r && *fetch->at != ')')
		r = refuse(fetch, -EINVAL, "a ')' is missing");
	if (!r)
		fetch->at = skip(fetch->at + 1);
	return r;
}

/* ---- types of what is fetched ---- */

/* A text is at an address: that of an array, or what a pointer points to. */
static int text_type(struct fetch *fetch, const char *type, struct buf *out)
{
	struct btf_type peeled;
	struct btf_ref to;
	const char *tag = "";
	int r = 0;

	if (!fetch->typed && !strcmp(fetch->root->word, "string")) {
		buf_puts(out, ":string");
		return 0;
	}
	if (!fetch->typed || is_pointer(fetch, &to, &tag))
		r = follow(fetch, tag);
	else if (!btf_peel(fetch->btf, fetch->type.id, &peeled, NULL) || (peeled.kind != BTF_ARRAY && peeled.kind != BTF_INT))
		return refuse(fetch, -EINVAL, "'%s' is no text: neither char* nor an array of char", fetch->name);
	/* A number may well be an address: system calls have such. */
	else if (peeled.kind == BTF_INT && peeled.size != 8)
		return refuse(fetch, -EINVAL, "'%s' is no text: neither char* nor an array of char", fetch->name);
	else if (peeled.kind == BTF_INT)
		r = follow(fetch, tag);
	if (!r && !fetch->in_memory)
		return refuse(fetch, -EOPNOTSUPP, "the text is not in memory");
	buf_printf(out, ":%s", type);
	return r;
}

static int whole_struct(struct fetch *fetch, const struct btf_type *type)
{
	struct names names = { .text = BUF_INIT, .near = { .to = "" }, .left = 8 };
	int r;

	btf_members(fetch->btf, type, see_name, &names);
	r = refuse(fetch, -EINVAL, "'%s' is a struct: name a member of it (%.150s) or give a type", fetch->name,
		   names.text.len ? names.text.data : "none");
	buf_fini(&names.text);
	return r;
}

static int array_type(struct fetch *fetch, const struct btf_type *type, struct buf *out)
{
	char word[8];

	if (!fetch->in_memory)
		return refuse(fetch, -EOPNOTSUPP, "the array is not in memory");
	if (btf_is_char(fetch->btf, type->type)) {
		buf_puts(out, ":string");
		return 0;
	}
	if (!btf_word(fetch->btf, type->type, word))
		return refuse(fetch, -EINVAL, "'%s' is an array of what is no number: name an element, %s[0]", fetch->name,
			      fetch->name);
	if (!type->n || type->n > FETCH_ARRAY_MAX)
		return refuse(fetch, -EINVAL, "'%s' has %s elements: name one, %s[0], or give a type, :%s[%d]", fetch->name,
			      type->n ? "too many" : "nobody knows how many", fetch->name, word, FETCH_ARRAY_MAX);
	buf_printf(out, ":%s[%u]", word, type->n);
	return 0;
}

/* Probes fetch bits of a word without a sign, and with a width of their own: other types mean something else. */
static int bits_type(struct fetch *fetch, const char *type, struct buf *out)
{
	uint32_t width = type[0] == 'u' && type[1] ? (uint32_t)atoi(type + 1) : 64;

	/* What begins where its register begins is cut off by its type. */
	if (!fetch->shift && !fetch->in_memory && (fetch->bits == 8 || fetch->bits == 16 || fetch->bits == 32)) {
		buf_printf(out, ":%s", type);
		return 0;
	}
	if (type[0] != 'u' || strchr(type, '['))
		return refuse(fetch, -EOPNOTSUPP,
			      "'%s' is %u bits of a word, which are fetched without a sign: leave the type out", fetch->name,
			      fetch->bits);
	fetch_put_bits(out, width < fetch->bits ? width : fetch->bits, fetch->shift, fetch->unit);
	return 0;
}

/* By itself, of what BTF says; `sign`: one of u, s, x in place of its own. */
static int own_type(struct fetch *fetch, char sign, struct buf *out)
{
	struct btf_type type;
	char word[8] = "x64";

	if (!fetch->typed) {
		snprintf(word, sizeof(word), "%s", fetch->root->word);
	} else if (!fetch->type.stars) {
		bool known = btf_peel(fetch->btf, fetch->type.id, &type, NULL);

		if (known && type.kind == BTF_ARRAY)
			return array_type(fetch, &type, out);
		if (known && (type.kind == BTF_STRUCT || type.kind == BTF_UNION))
			return whole_struct(fetch, &type);
		if (!known || !btf_word(fetch->btf, fetch->type.id, word))
			return refuse(fetch, -EINVAL, "'%s' is of a type that is no number of 1, 2, 4 or 8 bytes", fetch->name);
	}
	if (fetch->scope->plain_char && !strcmp(word, "char"))
		strcpy(word, "s8");
	if (fetch->bits && (fetch->shift || fetch->in_memory || (fetch->bits != 8 && fetch->bits != 16 && fetch->bits != 32)))
		return bits_type(fetch, "u64", out);
	if (sign && !strcmp(word, "symbol"))
		strcpy(word, "x64");
	if (sign && !strcmp(word, "char"))
		snprintf(word, sizeof(word), "%c8", sign);
	else if (sign && strcmp(word, "string"))
		word[0] = sign;
	buf_printf(out, ":%s", word);
	return 0;
}

static int put_type(struct fetch *fetch, struct buf *out)
{
	const char *type = *fetch->at ? fetch->at + 1 : NULL;
	bool sign = type && type[0] && !type[1] && strchr("usx", type[0]);

	if (*fetch->at == ')')
		return refuse(fetch, -EINVAL, "a '(' is missing");
	if (!type)
		return own_type(fetch, 0, out);
	if (!strcmp(type, "string") || !strcmp(type, "ustring"))
		return text_type(fetch, type, out);
	if (!sign && !fetch_is_value(type))
		return refuse(fetch, -EINVAL, "'%.40s' is no type: " FETCH_TYPES, type);
	if (sign)
		return own_type(fetch, type[0], out);
	if (fetch->bits)
		return bits_type(fetch, type, out);
	buf_printf(out, ":%s", type);
	return 0;
}

/* ---- all together ---- */

int btf_argument(const struct btf_scope *scope, const char *text, struct btf_arg *arg, struct err *err)
{
	struct fetch fetch = { .scope = scope, .btf = scope->btf, .text = text, .at = text, .err = err };
	struct buf type = BUF_INIT;
	int r = begin(&fetch);

	*arg = (struct btf_arg){ .body = BUF_INIT };
	if (!r)
		r = steps(&fetch);
	if (!r)
		r = put_type(&fetch, &type);
	if (!r) {
		fetch_put_loads(&arg->body, fetch.base, fetch.add, fetch.nloads + fetch.in_memory, fetch.user);
		buf_puts(&arg->body, type.data ? type.data : "");
	}
	if (!r && (buf_failed(&type) || buf_failed(&arg->body)))
		r = err_set(err, -ENOMEM, "out of memory");
	if (!r && arg->body.len > FETCH_MAX)
		r = refuse(&fetch, -E2BIG, "'%.80s' is longer than a probe takes (%d bytes)", arg->body.data, FETCH_MAX);
	memcpy(arg->name, fetch.name, sizeof(arg->name));
	buf_fini(&type);
	if (r)
		btf_arg_fini(arg);
	return r;
}

void btf_arg_fini(struct btf_arg *arg)
{
	buf_fini(&arg->body);
}
