/*
 * cmd/list_kernel: functions of the kernel: those that its tracers take, or, where nobody is told, all that it has; with what they
 * are given and return; and those that are not traced, and why.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "base/map.h"
#include "cmd/cmd.h"
#include "cmd/kernel.h"
#include "cmd/list_functions.h"

static const char file[] = "available_filter_functions";

struct listing {
	struct buf *out;
	const struct list_ask *ask;
	struct kernel kernel;
	regex_t re;
	bool is_re;
	size_t n, without;	/* shown; of those without a prototype */
	struct err *err;
};

/* ---- which ---- */

/* Who writes what no glob has means a regular expression; a plain word is one. */
static int read_pattern(struct listing *list)
{
	const char *pattern = list->ask->pattern;
	char wrong[128];
	int r;

	list->is_re = pattern && (strpbrk(pattern, "^$|()+") || strstr(pattern, ".*") || !strpbrk(pattern, "*?[\\"));
	if (!list->is_re)
		return 0;
	r = regcomp(&list->re, pattern, REG_EXTENDED | REG_NOSUB);
	if (!r)
		return 0;
	regerror(r, &list->re, wrong, sizeof(wrong));
	list->is_re = false;
	return err_set(list->err, -EINVAL, "'%.100s': %s", pattern, wrong);
}

static bool is_meant(const struct listing *list, const char *name)
{
	if (list->is_re)
		return !regexec(&list->re, name, 0, NULL, 0);
	return !list->ask->pattern || glob_match(list->ask->pattern, name);
}

/* Gaps before functions, which checks of calls use. */
static bool is_gap(const char *name)
{
	return !strncmp(name, "__pfx_", 6) || !strncmp(name, "__cfi_", 6);
}

/* ---- one function ---- */

static void put(struct listing *list, const char *name, const char *module, const char *why)
{
	const struct btf *btf = list->ask->proto ? kernel_btf(&list->kernel, module) : NULL;
	struct buf proto = BUF_INIT;

	if (btf)
		btf_put_function(btf, btf_function(btf, name), &proto);
	list->n++;
	list->without += !proto.len;
	list_put_function(list->out, name, module, why ? "no" : NULL, why, proto.len ? proto.data : NULL, list->ask->json);
	buf_fini(&proto);
}

/* ---- all of them ---- */

static void put_traced(struct listing *list, char *text)
{
	char *save;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *module = strstr(line, " [");

		if (module) {
			*module = '\0';
			module += 2;
			module[strcspn(module, "]")] = '\0';
		}
		if (is_meant(list, line))
			put(list, line, module, NULL);
	}
}

/* What is left where the file is refused. */
static int put_symbols(struct listing *list, const struct err *refused)
{
	if (!kernel_read_symbols(&list->kernel))
		return err_set(list->err, refused->code, "%s; and %s", refused->text, list->kernel.symbols.why.text);
	cmd_say("%s: these are all functions of " KALLSYMS ", of which some cannot be traced", refused->text);
	for (size_t i = 0; i < list->kernel.symbols.n; i++) {
		const struct kallsyms_symbol *symbol = &list->kernel.symbols.all[i];

		if (!is_gap(symbol->name) && is_meant(list, symbol->name))
			put(list, symbol->name, symbol->module, NULL);
	}
	return 0;
}

/* ---- those that are not traced ---- */

struct init {
	uint64_t from, to;
};

static struct init find_init(struct listing *list)
{
	struct init init = { 0 };

	for (size_t i = 0; i < list->kernel.symbols.n; i++) {
		const struct kallsyms_symbol *symbol = &list->kernel.symbols.all[i];

		if (!strcmp(symbol->name, "_sinittext"))
			init.from = symbol->address;
		else if (!strcmp(symbol->name, "_einittext"))
			init.to = symbol->address;
	}
	return init;
}

static const char *reason(struct listing *list, const struct kallsyms_symbol *symbol, const struct init *init)
{
	if (strstr(symbol->name, ".cold"))
		return "a part of another function";
	if (symbol->module && !strcmp(symbol->module, "bpf"))
		return "made by BPF";
	if (symbol->address && symbol->address >= init->from && symbol->address < init->to)
		return "it is gone since the kernel has started (__init)";
	if (kernel_is_blacklisted(&list->kernel, symbol))
		return "it may not be probed either: tracing itself may need it (noinstr, NOKPROBE)";
	return "compiled without a place for tracing (notrace, assembly)";
}

static int put_untraced(struct listing *list, char *text)
{
	struct map traced = MAP_INIT;
	struct init init;
	char *save;
	int r = 0;

	if (!kernel_read_symbols(&list->kernel))
		return err_set(list->err, list->kernel.symbols.why.code, "%s", list->kernel.symbols.why.text);
	for (char *line = strtok_r(text, "\n", &save); !r && line; line = strtok_r(NULL, "\n", &save))
		r = map_get(&traced, line, strcspn(line, " "), 1) ? 0 : err_set(list->err, -ENOMEM, "out of memory");
	init = find_init(list);
	for (size_t i = 0; !r && i < list->kernel.symbols.n; i++) {
		const struct kallsyms_symbol *symbol = &list->kernel.symbols.all[i];

		if (!is_gap(symbol->name) && is_meant(list, symbol->name) && !map_find(&traced, symbol->name, strlen(symbol->name)))
			put(list, symbol->name, symbol->module, reason(list, symbol, &init));
	}
	map_fini(&traced);
	return r;
}

/* ---- all together ---- */

static int put_all(struct listing *list, struct source *source)
{
	struct err refused = ERR_INIT;
	struct buf text = BUF_INIT;
	int r = source_read(source, file, &text, &refused);

	/* Without a word about its functions no reason can be told. */
	if (r && list->ask->why)
		r = err_set(list->err, r, "%s: which functions are not traced is not known", refused.text);
	else if (r)
		r = put_symbols(list, &refused);
	else if (!text.data)
		r = 0;
	else if (list->ask->why)
		r = put_untraced(list, text.data);
	else
		put_traced(list, text.data);
	buf_fini(&text);
	return r;
}

int list_kernel_functions(struct buf *out, struct source *source, const struct list_ask *ask, struct err *err)
{
	struct listing list = { .out = out, .ask = ask, .err = err };
	int r = read_pattern(&list);

	if (r)
		return r;
	kernel_init(&list.kernel, source, ask->opts);
	if (ask->proto && !kernel_btf(&list.kernel, NULL))
		r = err_set(err, list.kernel.btf_why.code, "%s", list.kernel.btf_why.text);
	else
		r = put_all(&list, source);
	if (!r && ask->proto && list.without && !ask->json)
		cmd_say("of %zu of %zu functions the kernel's types tell nothing: there may be several that differ, or the compiler has "
			"changed what they are given", list.without, list.n);
	kernel_fini(&list.kernel);
	if (list.is_re)
		regfree(&list.re);
	return r;
}
