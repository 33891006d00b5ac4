/*
 * symbol/table: functions of one file, found by address or by name.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/functions.h"
#include "symbol/symbol.h"

struct symbol_table {
	struct functions functions;
	uint64_t *reach;	/* where the functions up to this one end, at most: what is inside another is found, too */
};

int symbol_table_open(struct symbol_table **out, const struct symbol_file *file, struct err *err)
{
	struct symbol_table *table = calloc(1, sizeof(*table));
	uint64_t reach = 0;
	int r;

	if (!table)
		return err_set(err, -ENOMEM, "out of memory");
	r = functions_init(&table->functions, file, err);
	if (!r) {
		table->reach = calloc(table->functions.n + 1, sizeof(*table->reach));
		r = table->reach ? 0 : err_set(err, -ENOMEM, "out of memory");
	}
	for (size_t i = 0; !r && i < table->functions.n; i++) {
		const struct function *function = &table->functions.all[i];

		if (function->address + function->size > reach)
			reach = function->address + function->size;
		table->reach[i] = reach;
	}
	if (r) {
		symbol_table_close(table);
		return r;
	}
	*out = table;
	return 0;
}

void symbol_table_close(struct symbol_table *table)
{
	if (!table)
		return;
	functions_fini(&table->functions);
	free(table->reach);
	free(table);
}

static bool holds(const struct symbol_table *table, size_t i, uint64_t offset)
{
	const struct function *function = &table->functions.all[i];

	if (function->size)
		return offset - function->address < function->size;
	/* One without a size reaches as far as the next. */
	return i + 1 == table->functions.n || offset < table->functions.all[i + 1].address;
}

static void tell(const struct function *function, struct symbol_function *out)
{
	size_t len = strcspn(function->name, "@");

	*out = (struct symbol_function){ .address = function->address, .size = function->size };
	if (!len || len >= sizeof(out->name))
		len = len ? sizeof(out->name) - 1 : strnlen(function->name, sizeof(out->name) - 1);
	for (size_t i = 0; i < len; i++)
		out->name[i] = (unsigned char)function->name[i] <= ' ' || function->name[i] == 0x7f ? '_' : function->name[i];
}

bool symbol_table_at(const struct symbol_table *table, uint64_t offset, struct symbol_function *out)
{
	const struct function *all = table->functions.all;
	size_t low = 0, high = table->functions.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (all[middle].address <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	/* The first of those at one address: it is the one that others know. */
	for (size_t i = low; i && (table->reach[i - 1] > offset || i == low); i--) {
		if (!holds(table, i - 1, offset))
			continue;
		while (i > 1 && all[i - 2].address == all[i - 1].address && holds(table, i - 2, offset))
			i--;
		tell(&all[i - 1], out);
		return true;
	}
	return false;
}

bool symbol_table_find(const struct symbol_table *table, const char *name, struct symbol_function *out)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < table->functions.n; i++) {
		const struct function *function = &table->functions.all[i];

		if (strncmp(function->name, name, len) || (function->name[len] && function->name[len] != '@'))
			continue;
		tell(function, out);
		if (!out->size && i + 1 < table->functions.n)
			out->size = function[1].address - function->address;
		return true;
	}
	return false;
}
