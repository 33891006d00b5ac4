/*
 * cmd/probe_kernel_show: what can be probed in the kernel: its functions, what they are given, what is in a struct; and what is in an
 * event, whoever has it.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "base/near.h"
#include "cmd/probe_local.h"

/* ---- variables ---- */

static void put_root(struct buf *out, const struct btf_scope *scope, const struct btf_root *root)
{
	buf_puts(out, "\t\t");
	btf_put(scope->btf, root->type, "", out);
	buf_printf(out, "\t%s", root->name);
	if (!*root->fetch[0] && root->why)
		buf_printf(out, "\t(%s)", root->why);
	buf_putc(out, '\n');
}

static void put_scope(struct buf *out, const struct btf_scope *scope, const char *where)
{
	bool any = false;

	buf_printf(out, "\t@<%s>\n", where);
	for (uint32_t i = 0; i < scope->n; i++) {
		/* Numbers are other names for the same. */
		if (!strncmp(scope->roots[i].name, "$arg", 4))
			continue;
		put_root(out, scope, &scope->roots[i]);
		any = true;
	}
	if (!any)
		buf_puts(out, "\t\t(no variables)\n");
}

/* One that is there, in the kernel or a module; NULL: none of that name. */
static const struct kallsyms_symbol *find_symbol(struct kernel *kernel, const struct probe_place *place)
{
	if (kernel->btf_file || !kernel_read_symbols(kernel))
		return NULL;
	for (size_t i = 0; i < kernel->symbols.n; i++) {
		const struct kallsyms_symbol *symbol = &kernel->symbols.all[i];

		if (!strcmp(symbol->name, place->function) &&
		    (!*place->module || (symbol->module && !strcmp(symbol->module, place->module))))
			return symbol;
	}
	return NULL;
}

static int no_function(struct kernel *kernel, const struct probe_place *place, struct err *err)
{
	struct near near = { .to = place->function };
	const struct btf *btf = kernel->btf_file ? kernel->btf : NULL;
	struct btf_type type;
	const char *best;

	for (size_t i = 0; !btf && i < kernel->symbols.n; i++)
		near_see(&near, kernel->symbols.all[i].name);
	for (size_t i = 0; btf && btf_get(btf, btf_function_at(btf, i), &type); i++)
		near_see(&near, type.name);
	best = near_best(&near);
	return err_set(err, -ENOENT, "there is no function %.80s%s%s%s: -F lists those that there are", place->function,
		       best ? " (did you mean '" : "", best ? best : "", best ? "'?)" : "");
}

static int show_function(struct buf *out, struct kernel *kernel, struct btf_scope *scope, const char *text, struct err *err)
{
	const struct kallsyms_symbol *symbol;
	struct probe_place place;
	const char *module;
	int r = probe_place_read(&place, text, err);

	if (r)
		return r;
	symbol = find_symbol(kernel, &place);
	if (!symbol && !kernel->btf_file && kernel->symbols.n)
		return no_function(kernel, &place, err);
	module = symbol ? symbol->module : *place.module ? place.module : NULL;
	probe_scope_function(scope, kernel, &place, module, place.function);
	if (!scope->btf)
		return err_set(err, kernel->btf_why.code, "%s", kernel->btf_why.text);
	if (!symbol && kernel->btf_file && !btf_function(scope->btf, place.function))
		return no_function(kernel, &place, err);
	if (!scope->n && scope->why && *scope->why)
		return err_set(err, -ENODATA, "%.80s: %s", text, scope->why);
	buf_printf(out, "Available variables at %s\n", text);
	put_scope(out, scope, text);
	return 0;
}

static void put_field(struct buf *out, const struct decode_field *field)
{
	buf_printf(out, "\t\t%s", field->type);
	if (field->is_array && field->place == DECODE_INLINE)
		buf_printf(out, "[%" PRIu32 "]", field->count);
	buf_printf(out, "\t%s\n", field->name);
}

static int show_event(struct buf *out, struct kernel *kernel, struct btf_scope *scope, const struct probe_target *target, struct err *err)
{
	struct decode_format *format = NULL;
	int r = probe_scope_event(scope, kernel, target, &format, err);

	if (r)
		return r;
	buf_printf(out, "Fields of %s:%s\n", target->system, target->event);
	for (uint32_t i = 0; i < format->nr_fields; i++)
		if (!format->fields[i].is_common)
			put_field(out, &format->fields[i]);
	decode_format_free(format);
	return 0;
}

struct members {
	const struct btf *btf;
	struct buf *out;
};

static bool put_member(void *ctx, const struct btf_member *member)
{
	struct members *members = ctx;

	buf_printf(members->out, "\t@%" PRIu32, member->bit / 8);
	if (member->bits)
		buf_printf(members->out, ".%" PRIu32, member->bit % 8);
	buf_putc(members->out, '\t');
	btf_put(members->btf, (struct btf_ref){ member->type, 0 }, member->name, members->out);
	if (member->bits)
		buf_printf(members->out, " : %" PRIu32, member->bits);
	buf_putc(members->out, '\n');
	return true;
}

/* Does a module's own part have it? */
static bool has_own(const struct btf *btf, const struct btf *base, const char *name)
{
	struct btf_type type;

	for (uint32_t id = btf_count(base); id < btf_count(btf); id++)
		if (btf_get(btf, id, &type) && (type.kind == BTF_STRUCT || type.kind == BTF_UNION) && !strcmp(type.name, name))
			return true;
	return false;
}

/* Types of the first module that has one of that name; else the kernel's. */
static const struct btf *find_types(struct kernel *kernel, const char *text)
{
	const struct btf *base = kernel_btf(kernel, NULL), *btf = base;
	const char *blank = strrchr(text, ' '), *name = blank ? blank + 1 : text;
	struct dirent *entry;
	DIR *dir;

	if (!base || kernel->btf_file || btf_find(base, name, 1u << BTF_STRUCT | 1u << BTF_UNION) || !(dir = opendir(BTF_KERNEL)))
		return base;
	while ((entry = readdir(dir))) {
		if (*entry->d_name == '.' || !strcmp(entry->d_name, "vmlinux"))
			continue;
		btf = kernel_btf(kernel, entry->d_name);
		if (btf && has_own(btf, base, name))
			break;
	}
	closedir(dir);
	return entry ? btf : base;
}

static int show_struct(struct buf *out, struct kernel *kernel, const char *text, struct err *err)
{
	const struct btf *btf = find_types(kernel, text);
	struct members members = { .btf = btf, .out = out };
	struct btf_type type;
	struct btf_ref ref;
	const char *at = text;
	int r;

	if (!btf)
		return err_set(err, kernel->btf_why.code, "%s", kernel->btf_why.text);
	r = btf_parse_type(btf, &at, &ref, err);
	if (r)
		return r;
	if (*at || ref.stars || !btf_peel(btf, ref.id, &type, NULL) || (type.kind != BTF_STRUCT && type.kind != BTF_UNION))
		return err_set(err, -EINVAL, "'%.80s' is no struct and no union", text);
	btf_put(btf, ref, "", out);
	buf_printf(out, " (%" PRIu32 " bytes)\n", type.size);
	btf_members(btf, &type, put_member, &members);
	return 0;
}

int probe_show_variables(struct buf *out, struct probe_world *world, const char *text, struct err *err)
{
	struct btf_scope *scope = malloc(sizeof(*scope));
	struct probe_target target;
	int r;

	if (!scope)
		return err_set(err, -ENOMEM, "out of memory");
	if (world->source && probe_is_event(&target, world->source, text))
		r = show_event(out, &world->kernel, scope, &target, err);
	else if (!probe_is_kernel(world->opts))
		r = probe_show_file_variables(out, world->opts, text, err);
	else if (!strncmp(text, "struct ", 7) || !strncmp(text, "union ", 6))
		r = show_struct(out, &world->kernel, text, err);
	else
		r = show_function(out, &world->kernel, scope, text, err);
	free(scope);
	return r;
}

/* ---- functions ---- */

static void put_types(struct buf *out, const struct btf *btf, const char *glob)
{
	struct btf_type type;

	for (size_t i = 0; btf_get(btf, btf_function_at(btf, i), &type); i++)
		if (!glob || glob_match(glob, type.name))
			buf_printf(out, "%s\n", type.name);
}

int probe_show_kernel_functions(struct buf *out, const struct opts *opts, const char *glob, struct err *err)
{
	struct kernel kernel;
	int r = 0;

	kernel_init(&kernel, NULL, opts);
	if (kernel.btf_file) {
		const struct btf *btf = kernel_btf(&kernel, NULL);

		if (btf)
			put_types(out, btf, glob);
		else
			r = err_set(err, kernel.btf_why.code, "%s", kernel.btf_why.text);
	} else if (!kernel_read_symbols(&kernel)) {
		r = err_set(err, kernel.symbols.why.code, "%s", kernel.symbols.why.text);
	} else {
		for (size_t i = 0; i < kernel.symbols.n; i++) {
			const struct kallsyms_symbol *symbol = &kernel.symbols.all[i];

			if ((glob && !glob_match(glob, symbol->name)) || !strncmp(symbol->name, "__pfx_", 6) ||
			    kernel_is_blacklisted(&kernel, symbol))
				continue;
			buf_printf(out, "%s%s%s%s\n", symbol->name, symbol->module ? " [" : "", symbol->module ? symbol->module : "",
				   symbol->module ? "]" : "");
		}
	}
	kernel_fini(&kernel);
	return r;
}
