/*
 * symbol/debug_point: what is told of an address: behind which instructions variables are in their places, and what to call it.
 */
#include <string.h>

#include "symbol/debug_local.h"
#include "symbol/dwarf_numbers.h"

/* The second row of the function, or the one that says that it is. */
static bool after_prologue(struct debug *debug, const struct debug_point *point, uint64_t *out)
{
	size_t n = debug_dw_rows(&point->unit);
	uint64_t end, second = 0;
	struct debug_row row;

	if (!debug_dw_end(&point->function, point->address, &end))
		return false;
	for (size_t i = 0; i < n && debug_step(debug); i++) {
		if (!debug_dw_row(&point->unit, i, &row) || row.address < point->address || row.address >= end || row.end ||
		    !row.statement)
			continue;
		if (row.prologue_end && row.address > point->address) {
			*out = row.address;
			return true;
		}
		if (!second && row.address > point->address && row.line)
			second = row.address;
	}
	*out = second;
	return second;
}

static bool is_optimised(struct debug *debug, const struct debug_die *unit)
{
	const char *producer = debug_dw_text(debug->dw, unit, DW_AT_producer), *flag = producer ? strstr(producer, " -O") : NULL;

	return flag && flag[3] != '0';
}

bool debug_point_settle(struct debug *debug, struct debug_point *point, const char *const *exprs, size_t n)
{
	struct debug_die variable;
	bool needs = false;
	uint64_t address;

	if (!point->entry || !point->described || is_optimised(debug, &point->unit))
		return false;
	for (size_t i = 0; i < n && !needs; i++)
		needs = debug_variable_at(debug, point, exprs[i], strcspn(exprs[i], ".-[:"), &variable) &&
			debug_where_needs_frame(debug, point, &variable);
	if (!needs || !after_prologue(debug, point, &address))
		return false;
	point->address = address;
	point->entry = false;
	return true;
}

void debug_point_put(struct debug *debug, const struct debug_point *point, struct buf *out)
{
	struct debug_die outer;
	uint64_t entry;

	if (point->described && debug_function_at(debug, &point->unit, point->address, &outer) && debug_dw_entry(&outer, &entry))
		buf_printf(out, "%s+%lld", debug_name(debug, &outer), (long long)(point->address - entry));
	else
		buf_printf(out, "%s", point->name);
}

/* The one that has the line. */
static int see_inner(void *arg, struct debug *debug, const struct debug_seen *seen)
{
	(void)debug;
	*(struct debug_die *)arg = seen->die;
	return 0;
}

bool debug_describe(struct debug *debug, uint64_t address, struct buf *where, struct buf *file)
{
	struct debug_die unit, function = { { 0 } };
	const char *source;
	uint32_t line, found = 0;
	uint64_t entry;
	struct debug_row row;
	size_t n;

	if (!debug_unit_at(debug, address, &unit) || debug_each_function(debug, &unit, &address, see_inner, &function) ||
	    !function.words[0])
		return false;
	buf_puts(where, debug_name(debug, &function));
	if (!debug_dw_declared(&function, &source, &line))
		return true;
	buf_puts(file, source);
	if (debug_dw_entry(&function, &entry) && entry == address)
		return true;
	n = debug_dw_rows(&unit);
	for (size_t i = 0; i < n && debug_step(debug); i++)
		if (debug_dw_row(&unit, i, &row) && row.address == address && row.statement && row.line >= line &&
		    !strcmp(row.file, source))
			found = row.line;
	if (found)
		buf_printf(where, ":%u", found - line);
	else
		buf_printf(where, "+%llu", (unsigned long long)(address - entry));
	return true;
}
