/*
 * cmd/probe_kernel: a place of the kernel's own code, by the names that its types have -> lines of kprobe_events.
 *
 *   ip_rcv_core skb->dev->name    ->    p:probe/ip_rcv_core ip_rcv_core name=+280(+16($arg1)):string
 *
 * The lines have offsets and registers only, so that kernels take them that know nothing of types. A function that is there several
 * times is one event with as many points.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/glob.h"
#include "base/near.h"
#include "cmd/probe_local.h"
#include "symbol/fetch.h"

#define FUNCTIONS_MAX 4096u	/* of one glob */

struct define {
	struct kernel *kernel;
	const struct probe_words *words;
	struct probe_place place;
	struct btf_scope *scope;
	struct utsname machine;
	bool unloaded;		/* the module is not there yet: of its functions the kernel knows nothing */
	size_t added, left_out;
	struct err why;		/* of the first that was left out */
	struct err *err;
};

bool probe_is_kernel(const struct opts *opts)
{
	return !opts_value(opts, "exec") && !opts_value(opts, "pid") && (opts_value(opts, "btf") || kernel_is_meant(opts));
}

bool probe_is_elsewhere(const struct opts *opts)
{
	return opts_value(opts, "btf") && !opts_value(opts, "kernel") && !opts_value(opts, "tracefs");
}

/* ---- places ---- */

static int read_address(struct probe_place *place, const char *text, struct err *err)
{
	char *end;

	errno = 0;
	place->address = strtoull(text, &end, 16);
	if (*end || errno || !place->address)
		return err_set(err, -EINVAL, "'%.80s' is no address", text);
	return 0;
}

static int read_end(struct probe_place *place, const char *text, const char *at, struct err *err)
{
	char *end;

	if (*at == '+') {
		errno = 0;
		place->offset = strtoull(at + 1, &end, 0);
		if (end == at + 1 || errno || place->offset > UINT32_MAX)
			return err_set(err, -EINVAL, "%.80s: so many bytes behind FUNCTION's first: FUNCTION+BYTES", text);
		at = end;
	}
	place->returns = !strcmp(at, "%return");
	if (place->returns && place->offset)
		return err_set(err, -EINVAL, "%.80s: a function returns as a whole: FUNCTION%%return", text);
	if (place->returns || !*at)
		return 0;
	if (strchr(":;@", *at))
		return err_set(err, -EOPNOTSUPP,
			       "%.80s: the kernel's types tell nothing of its source lines: FUNCTION, FUNCTION+BYTES, FUNCTION%%return, "
			       "MODULE:FUNCTION, 0xADDRESS", text);
	return err_set(err, -EINVAL, "%.80s: '%.40s' is not understood: [MODULE:]FUNCTION[+BYTES | %%return]", text, at);
}

int probe_place_read(struct probe_place *place, const char *text, struct err *err)
{
	const char *at = text, *colon = strchr(text, ':');
	size_t len;

	*place = (struct probe_place){ 0 };
	if (!strncmp(text, "0x", 2))
		return read_address(place, text, err);
	if (colon && !isdigit((unsigned char)colon[1]) && !strpbrk(text, ";@")) {
		len = (size_t)(colon - text);
		if (!len || len >= sizeof(place->module) || fetch_word(text) < len)
			return err_set(err, -EINVAL, "%.80s: '%.*s' is no module", text, (int)len, text);
		memcpy(place->module, text, len);
		at = colon + 1;
	}
	/* Parts of functions have a point in their names; globs have what they have. */
	for (len = 0; isalnum((unsigned char)at[len]) || (at[len] && strchr("_.*?[]!^-$", at[len]));)
		len++;
	if (!len || len >= sizeof(place->function) || strchr("-$", *at))
		return err_set(err, -EINVAL, "%.80s: which function? [MODULE:]FUNCTION[+BYTES | %%return]", text);
	memcpy(place->function, at, len);
	return read_end(place, text, at + len, err);
}

/* ---- what is there ---- */

static struct btf_root *add_root(struct btf_scope *scope, const char *name, const char *fetch, uint32_t type)
{
	struct btf_root *root;

	if (scope->n == BTF_ROOTS_MAX)
		return NULL;
	root = &scope->roots[scope->n++];
	*root = (struct btf_root){ .type = { type, 0 } };
	snprintf(root->name, sizeof(root->name), "%s", name);
	snprintf(root->fetch[0], sizeof(root->fetch[0]), "%s", fetch);
	return root;
}

/* Parameters by their numbers, of the same types. */
static void add_numbers(struct btf_scope *scope)
{
	const uint32_t n = scope->n;
	char name[16];

	for (uint32_t i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "$arg%u", scope->roots[i].number);
		if (scope->roots[i].number)
			add_root(scope, name, scope->roots[i].fetch[0], scope->roots[i].type.id);
	}
}

void probe_scope_function(struct btf_scope *scope, struct kernel *kernel, const struct probe_place *place, const char *module,
			  const char *function)
{
	struct btf_type prototype;
	struct utsname machine;
	uint32_t id;

	*scope = (struct btf_scope){ .where = function, .plain_char = !kernel_knows(kernel, "char,") };
	scope->btf = kernel_btf(kernel, module);
	scope->why = kernel->btf_why.text;
	if (!scope->btf || uname(&machine))
		return;
	id = btf_function(scope->btf, function);
	if (!btf_prototype(scope->btf, id, &prototype)) {
		scope->why = "the kernel's types do not tell of this function: there may be several that differ, or the compiler has "
			     "changed its parameters; there are $arg1, $retval, %di and such";
		return;
	}
	if (place->offset) {
		scope->why = "parameters are where they are passed only at a function's first instruction, and the probe is not there: "
			     "name a register, %di";
		return;
	}
	if (!place->returns || kernel_knows(kernel, "return probes support: $retval, $arg<N>")) {
		if (!btf_put_roots(scope, id, machine.machine, kernel_knows(kernel, "$arg<N>")))
			scope->why = "where parameters are on this kind of processor is not known: name a register";
		add_numbers(scope);
	} else {
		scope->why = "this kernel keeps no parameters until a function returns: probe its entry";
	}
	if (place->returns) {
		struct btf_root *root = add_root(scope, "$retval", prototype.type ? "$retval" : "", prototype.type);

		if (root)
			root->why = "the function returns nothing";
	}
}

/* ---- arguments ---- */

/* What a probe takes as it is: %di, +8(%sp):u64, @jiffies, \5, $comm. */
static bool is_raw(const struct btf_scope *scope, const char *expr)
{
	size_t len = 1 + fetch_word(expr + 1);

	if (*expr != '$')
		return strchr("%+-@\\", *expr) || isdigit((unsigned char)*expr);
	for (uint32_t i = 0; i < scope->n; i++)
		if ((!strncmp(scope->roots[i].name, expr, len) && !scope->roots[i].name[len]) ||
		    (!strncmp(scope->roots[i].name, expr + 1, len - 1) && !scope->roots[i].name[len - 1]))
			return false;
	return true;
}

/* Not one argument, but as many as there are. */
static bool is_all(const char *expr)
{
	return !strcmp(expr, "$vars") || !strcmp(expr, "$params") || !strcmp(expr, "$args") || !strcmp(expr, "$arg*");
}

static int put_named(struct probe_put *put, const struct btf_scope *scope, const char *name, const char *expr, struct err *err)
{
	struct btf_arg arg;
	int r = btf_argument(scope, expr, &arg, err);

	if (r)
		return r;
	if (!*name)
		probe_put_free_name(put, expr, arg.name);
	probe_put_one(put, *name ? name : arg.name, arg.body.data);
	btf_arg_fini(&arg);
	return 0;
}

static int put_all(struct probe_put *put, const struct btf_scope *scope, struct err *err)
{
	size_t left_out = 0;
	int r = 0;

	if (!scope->n && scope->why && *scope->why)
		return err_set(err, -ENODATA, "%s", scope->why);
	for (uint32_t i = 0; !r && i < scope->n; i++) {
		const char *name = scope->roots[i].name;

		if (*name == '$' || probe_put_has(put, name))
			continue;
		r = put_named(put, scope, "", name, NULL);
		left_out += r && r != -ENOMEM;
		r = r == -ENOMEM ? err_set(err, r, "out of memory") : 0;
	}
	if (!r && left_out)
		cmd_say("%zu of what there is at %s is no number and no text: -V lists it", left_out, scope->where);
	return r;
}

static int put_raw(struct probe_put *put, const char *name, const char *expr, probe_raw *raw, void *ctx, struct err *err)
{
	const size_t len = strcspn(expr + 1, ":");
	struct buf body = BUF_INIT;
	char own[PROBE_NAME_MAX] = "";
	int r;

	if (isdigit((unsigned char)*expr))
		return err_set(err, -EINVAL, "%.60s: a number is written \\%.60s", expr, expr);
	r = raw(ctx, expr, &body, err);
	if (!r && buf_failed(&body))
		r = err_set(err, -ENOMEM, "out of memory");
	if (*name)
		memcpy(own, name, strlen(name) + 1);
	else if (strchr("$%@", *expr) && len < sizeof(own) && probe_is_name(expr + 1, len))
		memcpy(own, expr + 1, len);
	if (!*name && *own)
		probe_put_free_name(put, expr + 1, own);
	if (!r)
		probe_put_one(put, own, body.data);
	buf_fini(&body);
	return r;
}

int probe_put_scoped(struct probe_put *put, const struct btf_scope *scope, const struct probe_words *words, probe_raw *raw, void *ctx,
		     struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < words->nargs; i++) {
		char name[PROBE_NAME_MAX];
		const char *expr;

		r = probe_word_name(put, words->args[i], name, &expr, err);
		if (r)
			return r;
		if (!*name && is_all(expr))
			r = put_all(put, scope, err);
		else if (is_raw(scope, expr))
			r = put_raw(put, name, expr, raw, ctx, err);
		else
			r = put_named(put, scope, name, expr, err);
	}
	if (!r && (buf_failed(&put->args) || buf_failed(&put->with) || buf_failed(&put->types)))
		r = err_set(err, -ENOMEM, "out of memory");
	return r;
}

/* $argN where the kernel has no such word: the register, or the word of the stack. */
static int raw_word(void *ctx, const char *expr, struct buf *body, struct err *err)
{
	struct define *define = ctx;
	const bool numbered = kernel_knows(define->kernel, "$arg<N>") && !define->unloaded;
	const char *whole = expr, *next;

	if (strstr(expr, "$retval") && !define->place.returns)
		return err_set(err, -EINVAL, "%.60s: what a function returns is there when it does: FUNCTION%%return", expr);
	for (; (next = strstr(expr, "$arg")); ) {
		char *end, word[BTF_NAME_MAX + 1];
		unsigned long number = strtoul(next + 4, &end, 10);

		if (!number || number > BTF_ROOTS_MAX)
			return err_set(err, -EINVAL, "%.60s: parameters are $arg1 to $arg%u; $params are all of them", whole, BTF_ROOTS_MAX);
		if (define->place.offset)
			return err_set(err, -EINVAL, "%.60s: parameters are where they are passed only at a function's first "
				       "instruction, and the probe is not there: name a register, %%di", whole);
		if (define->place.returns && !kernel_knows(define->kernel, "return probes support: $retval, $arg<N>"))
			return err_set(err, -EINVAL, "%.60s: this kernel keeps no parameters until a function returns: probe its entry",
				       whole);
		if (!btf_put_slot(word, define->machine.machine, (uint32_t)number - 1, numbered))
			return err_set(err, -EOPNOTSUPP, "%.60s: where parameters are on this kind of processor is not known", whole);
		buf_add(body, expr, (size_t)(next - expr));
		buf_puts(body, word);
		expr = end;
	}
	buf_puts(body, expr);
	return 0;
}

/* ---- lines ---- */

static void name_of(const struct probe_place *place, const char *function, char name[64])
{
	if (place->address)
		snprintf(name, 64, "abs_%" PRIx64, place->address);
	else if (place->returns)
		snprintf(name, 64, "%.50s__return", function);
	else
		snprintf(name, 64, "%.63s", function);
	for (char *c = name; *c; c++)
		if (!isalnum((unsigned char)*c))
			*c = '_';
	if (isdigit((unsigned char)*name))
		*name = '_';
}

/* One point. `where` is what kprobe_events calls its place. */
static int add_point(struct define *define, struct probe_events *events, const char *module, const char *function, const char *where)
{
	const struct probe_words *words = define->words;
	const char *group = *words->group ? words->group : "probe";
	struct probe_put put = { BUF_INIT, BUF_INIT, BUF_INIT };
	struct buf line = BUF_INIT;
	struct err err = ERR_INIT;
	char name[64], shown[300];
	int r;

	snprintf(shown, sizeof(shown), "%s%s", where, define->place.returns ? "%return" : "");
	probe_scope_function(define->scope, define->kernel, &define->place, module, function);
	r = probe_put_scoped(&put, define->scope, words, raw_word, define, &err);
	name_of(&define->place, function, name);
	if (*words->name)
		memcpy(name, words->name, sizeof(name));
	buf_printf(&line, "%c:%s/%s %s%s\n", define->place.returns ? 'r' : 'p', group, name, where, put.args.data ? put.args.data : "");
	if (!r && buf_failed(&line))
		r = err_set(&err, -ENOMEM, "out of memory");
	if (!r)
		r = probe_events_add(events,
				     &(struct probe_point){ .group = group, .name = name, .file = "kprobe_events", .path = "",
							    .where = shown, .line = line.data,
							    .with = put.with.data ? put.with.data : "",
							    .one_of_many = strpbrk(define->place.function, "*?[") },
				     &err);
	define->added += !r;
	if (r && !define->why.code)
		define->why = err;
	define->left_out += r != 0;
	probe_put_fini(&put);
	buf_fini(&line);
	return r == -ENOMEM ? err_set(define->err, r, "%s", err.text) : 0;
}

/* ---- functions of a name ---- */

static bool is_meant(const struct define *define, const struct kallsyms_symbol *symbol, bool glob)
{
	const struct probe_place *place = &define->place;

	if (*place->module && (!symbol->module || strcmp(symbol->module, place->module)))
		return false;
	/* Gaps before functions, which checks of calls use, and pieces of functions. */
	if (glob && (!strncmp(symbol->name, "__pfx_", 6) || !strncmp(symbol->name, "__cfi_", 6) || strstr(symbol->name, ".cold")))
		return false;
	return glob ? glob_match(place->function, symbol->name) : !strcmp(place->function, symbol->name);
}

static int refuse_blacklisted(struct define *define, const struct kallsyms_symbol *symbol)
{
	return err_set(define->err, -EINVAL,
		       "%.80s may not be probed: probes would need it themselves (" KERNEL_BLACKLIST " lists such functions)", symbol->name);
}

/* Nobody is called so: what to do instead. */
static int no_such(struct define *define)
{
	const struct probe_place *place = &define->place;
	struct near near = { .to = place->function };
	const char *best, *part = NULL;
	bool loaded = !*place->module;
	size_t len = strlen(place->function);

	for (size_t i = 0; i < define->kernel->symbols.n; i++) {
		const struct kallsyms_symbol *symbol = &define->kernel->symbols.all[i];

		loaded |= symbol->module && !strcmp(symbol->module, place->module);
		if (*place->module && (!symbol->module || strcmp(symbol->module, place->module)))
			continue;
		if (!strncmp(symbol->name, place->function, len) && symbol->name[len] == '.' && !part)
			part = symbol->name;
		near_see(&near, symbol->name);
	}
	best = near_best(&near);
	if (!loaded)
		return 0;
	if (part)
		return err_set(define->err, -ENOENT, "there is no function %.80s any more: the compiler has made %.80s of it", place->function,
			       part);
	return err_set(define->err, -ENOENT, "there is no function %.80s%s%.64s%s%s%s: -F lists those that there are%s", place->function,
		       *place->module ? " in module " : "", place->module, best ? " (did you mean '" : "", best ? best : "",
		       best ? "'?)" : "", best ? "" : "; one that is inlined everywhere has no place of its own");
}

/* Where one of several is that are called alike: from the first byte of all code. */
static int put_where(struct define *define, const struct kallsyms_symbol *symbol, bool alone, char where[256])
{
	const struct probe_place *place = &define->place;
	uint64_t text = kernel_text(define->kernel);
	int n;

	if (alone || (symbol->module && *place->module))
		n = snprintf(where, 256, "%s%s%s", *place->module ? place->module : "", *place->module ? ":" : "", symbol->name);
	else if (symbol->module)
		n = snprintf(where, 256, "%s:%s", symbol->module, symbol->name);
	else if (text && symbol->address > text)
		n = snprintf(where, 256, "_stext+%" PRIu64, symbol->address - text + place->offset);
	else
		return err_set(define->err, -EEXIST, "several functions are called %.80s, and to you " KALLSYMS " tells no addresses that "
			       "would tell them apart", symbol->name);
	if (place->offset && strncmp(where, "_stext+", 7))
		snprintf(where + n, 256 - (size_t)n, "+%" PRIu64, place->offset);
	return 0;
}

static size_t count_named(const struct define *define, const char *name)
{
	size_t n = 0;

	for (size_t i = 0; i < define->kernel->symbols.n; i++)
		n += !strcmp(define->kernel->symbols.all[i].name, name);
	return n;
}

static int add_symbol(struct define *define, struct probe_events *events, const struct kallsyms_symbol *symbol)
{
	char where[256];
	int r = put_where(define, symbol, count_named(define, symbol->name) == 1, where);

	return r ? r : add_point(define, events, symbol->module, symbol->name, where);
}

static int add_functions(struct define *define, struct probe_events *events)
{
	const bool glob = strpbrk(define->place.function, "*?[");
	size_t found = 0, refused = 0;
	char where[256];
	int r = 0;

	for (size_t i = 0; !r && i < define->kernel->symbols.n; i++) {
		const struct kallsyms_symbol *symbol = &define->kernel->symbols.all[i];

		if (!is_meant(define, symbol, glob))
			continue;
		if (found++ == FUNCTIONS_MAX)
			return err_set(define->err, -E2BIG, "more than %u functions are called so", FUNCTIONS_MAX);
		if (kernel_is_blacklisted(define->kernel, symbol)) {
			refused++;
			if (!glob)
				return refuse_blacklisted(define, symbol);
			continue;
		}
		r = add_symbol(define, events, symbol);
	}
	if (!r && !found)
		r = no_such(define);
	if (!r && !found && glob)
		return err_set(define->err, -ENOENT, "module %.64s is not loaded: which of its functions %.80s means is not known before it is",
			       define->place.module, define->place.function);
	if (!r && !found) {
		cmd_say("module %s is not loaded: the probe begins when it is", define->place.module);
		define->unloaded = true;
		snprintf(where, sizeof(where), "%s", define->words->place);
		where[strcspn(where, "%")] = '\0';
		r = add_point(define, events, define->place.module, define->place.function, where);
	}
	if (!r && refused)
		cmd_say("%s: %zu of %zu functions may not be probed, and are left out", define->words->place, refused, found);
	return r;
}

/* ---- all together ---- */

static int add_all(struct define *define, struct probe_events *events)
{
	const struct probe_place *place = &define->place;
	char where[256];
	int r;

	if (place->address) {
		snprintf(where, sizeof(where), "0x%" PRIx64, place->address);
		r = add_point(define, events, NULL, where, where);
	} else if (define->kernel->btf_file || !kernel_read_symbols(define->kernel)) {
		/* Of another kernel, or one that does not tell: it will say itself what there is. */
		snprintf(where, sizeof(where), "%s", define->words->place);
		where[strcspn(where, "%")] = '\0';
		r = add_point(define, events, *place->module ? place->module : NULL, place->function, where);
	} else {
		r = add_functions(define, events);
	}
	if (!r && !define->added && define->why.code)
		return err_set_at(define->err, define->why.code, define->why.pos, "%s", define->why.text);
	if (!r && !define->added)
		return err_set(define->err, -EINVAL, "%s: none of these functions may be probed", define->words->place);
	if (!r && define->left_out)
		cmd_say("%s: %zu of %zu functions are left out: %s", define->words->place, define->left_out,
			define->left_out + define->added, define->why.text);
	return r;
}

int probe_define_kernel(struct probe_events *events, struct kernel *kernel, const struct probe_words *words, struct err *err)
{
	struct define define = { .kernel = kernel, .words = words, .why = ERR_INIT, .err = err, .scope = malloc(sizeof(*define.scope)) };
	int r = define.scope ? probe_place_read(&define.place, words->place, err) : err_set(err, -ENOMEM, "out of memory");

	if (!r)
		r = uname(&define.machine) ? err_set(err, -errno, "uname: %s", strerror(errno)) : add_all(&define, events);
	free(define.scope);
	return r;
}
