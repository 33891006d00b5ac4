/*
 * symbol/debug_vars: which variables are seen at a point: those of the blocks around it, from the inside out, then those of
 * functions that it was inlined to, then those of the file, then those of all files.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/debug_local.h"
#include "symbol/dwarf_numbers.h"

#define VARIABLES_MAX 4096u

static bool is_variable(const struct debug_die *die)
{
	uint32_t tag = debug_dw_tag(die);

	return (tag == DW_TAG_variable || tag == DW_TAG_formal_parameter) && !debug_dw_flag(die, DW_AT_declaration);
}

static bool is_named(struct debug *debug, const struct debug_die *die, const char *name, size_t len)
{
	const char *own = debug_dw_text(debug->dw, die, DW_AT_name);

	return own && !strncmp(own, name, len) && !own[len];
}

static bool find_in(struct debug *debug, const struct debug_die *block, const char *name, size_t len, struct debug_die *out)
{
	struct debug_die die;

	if (!debug_dw_child(block, &die))
		return false;
	do {
		if (!debug_step(debug))
			return false;
		if (is_variable(&die) && is_named(debug, &die, name, len)) {
			*out = die;
			return true;
		}
	} while (debug_dw_sibling(&die, &die));
	return false;
}

static bool find_in_function(struct debug *debug, const struct debug_die *function, uint64_t pc, const char *name, size_t len,
			     struct debug_die *out)
{
	struct debug_die blocks[DEBUG_DEPTH];

	for (size_t n = debug_blocks_at(debug, function, pc, blocks); n; n--)
		if (find_in(debug, &blocks[n - 1], name, len, out))
			return true;
	return false;
}

struct outer {
	uint64_t pc;
	const char *name;
	size_t len;
	struct debug_die *out;
	bool found;
};

/* Inner ones come later and count. */
static int see_outer(void *arg, struct debug *debug, const struct debug_seen *seen)
{
	struct outer *outer = arg;

	if (find_in_function(debug, &seen->die, outer->pc, outer->name, outer->len, outer->out))
		outer->found = true;
	return 0;
}

static bool has_place(const struct debug_die *die)
{
	return debug_dw_has(die, DW_AT_location) || debug_dw_has(die, DW_AT_const_value);
}

/* Of the file's own unit, or public ones of others. */
static bool find_global(struct debug *debug, const struct debug_die *unit, const char *name, size_t len, struct debug_die *out)
{
	struct debug_die each;
	void *cursor = NULL;

	if (find_in(debug, unit, name, len, out) && has_place(out))
		return true;
	while (debug_dw_unit(debug->dw, &cursor, &each))
		if (find_in(debug, &each, name, len, out) && debug_dw_flag(out, DW_AT_external) && has_place(out))
			return true;
	return false;
}

bool debug_variable_at(struct debug *debug, const struct debug_point *point, const char *name, size_t len,
		       struct debug_die *variable)
{
	uint64_t pc = point->address;
	struct outer outer = { pc, name, len, variable, false };

	if (!point->described || !len)
		return false;
	if (find_in_function(debug, &point->function, pc, name, len, variable))
		return true;
	debug_each_function(debug, &point->unit, &pc, see_outer, &outer);
	return outer.found || find_global(debug, &point->unit, name, len, variable);
}

/* ---- all of them ---- */

static bool is_there(const struct debug_variables *variables, const char *name)
{
	for (size_t i = 0; i < variables->n; i++)
		if (!strcmp(variables->all[i].name, name))
			return true;
	return false;
}

static bool is_simple(struct debug *debug, const struct debug_die *die)
{
	struct debug_die type;
	char word[8];
	uint64_t n;

	if (debug_type_word(debug, die, word))
		return true;
	if (!debug_type_peel(debug, die, &type) || debug_dw_tag(&type) != DW_TAG_array_type)
		return false;
	n = debug_type_count(debug, &type);
	return n && n <= 64 && debug_type_word(debug, &type, word);
}

static int add(struct debug_variables *variables, struct debug *debug, const struct debug_point *point,
	       const struct debug_die *die, const char *function)
{
	const char *name = debug_dw_text(debug->dw, die, DW_AT_name);
	struct debug_variable *more, one = { 0 };
	struct debug_where where;
	struct buf type = BUF_INIT;

	if (!name || !*name || is_there(variables, name))
		return 0;
	if (variables->n == VARIABLES_MAX)
		return -E2BIG;
	more = reallocarray(variables->all, variables->n + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	variables->all = more;
	debug_type_put(debug, die, &type);
	one.name = strdup(name);
	one.type = buf_take(&type);
	one.parameter = debug_dw_tag(die) == DW_TAG_formal_parameter;
	one.here = !debug_where_at(debug, point, die, &where, NULL) && !where.pointed && !debug_where_is_sum(&where);
	one.simple = is_simple(debug, die);
	one.function = function ? strdup(function) : NULL;
	more[variables->n++] = one;
	return one.name && one.type && (one.function || !function) ? 0 : -ENOMEM;
}

static int add_block(struct debug_variables *variables, struct debug *debug, const struct debug_point *point,
		     const struct debug_die *block, const char *function)
{
	struct debug_die die;
	int r = 0;

	if (!debug_dw_child(block, &die))
		return 0;
	do {
		if (is_variable(&die))
			r = add(variables, debug, point, &die, function);
	} while (!r && debug_dw_sibling(&die, &die));
	return r;
}

/* Of a function, from the inside out. */
static int add_function(struct debug_variables *variables, struct debug *debug, const struct debug_point *point,
			const struct debug_die *function, const char *name)
{
	struct debug_die blocks[DEBUG_DEPTH];
	int r = 0;

	for (size_t n = debug_blocks_at(debug, function, point->address, blocks); !r && n; n--)
		r = add_block(variables, debug, point, &blocks[n - 1], name);
	return r;
}

/* Parameters were found last, in the outermost block; each kind stays in its order. */
static void parameters_first(struct debug_variables *variables)
{
	for (size_t i = 0, to = 0; i < variables->n; i++) {
		struct debug_variable one = variables->all[i];

		if (!one.parameter)
			continue;
		memmove(&variables->all[to + 1], &variables->all[to], (i - to) * sizeof(one));
		variables->all[to++] = one;
	}
}

struct others {
	struct debug_die all[DEBUG_DEPTH];
	size_t n;
};

static int see_other(void *arg, struct debug *debug, const struct debug_seen *seen)
{
	struct others *others = arg;

	(void)debug;
	if (others->n < DEBUG_DEPTH)
		others->all[others->n++] = seen->die;
	return 0;
}

int debug_variables_find(struct debug_variables *variables, struct debug *debug, const struct debug_point *point, struct err *err)
{
	struct others others = { .n = 0 };
	uint64_t pc = point->address;
	int r;

	*variables = (struct debug_variables){ 0 };
	if (!point->described)
		return err_set(err, -ENODATA, "%.100s: no debug information tells of its variables", point->name);
	r = add_function(variables, debug, point, &point->function, NULL);
	parameters_first(variables);
	debug_each_function(debug, &point->unit, &pc, see_other, &others);
	for (size_t n = others.n; !r && n; n--) {
		const struct debug_die *die = &others.all[n - 1];
		const char *name = debug_dw_text(debug->dw, die, DW_AT_name);

		if (!debug_dw_same(die, &point->function))
			r = add_function(variables, debug, point, die, name ? name : "?");
	}
	if (r) {
		debug_variables_fini(variables);
		return err_set(err, r, r == -ENOMEM ? "out of memory" : "too many variables");
	}
	return 0;
}

void debug_variables_fini(struct debug_variables *variables)
{
	for (size_t i = 0; i < variables->n; i++) {
		free(variables->all[i].name);
		free(variables->all[i].type);
		free(variables->all[i].function);
	}
	free(variables->all);
	*variables = (struct debug_variables){ 0 };
}
