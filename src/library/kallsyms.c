/*
 * library/kallsyms: see kallsyms.h. Who may not see addresses sees zeros: then there are no names.
 */
#include "library/kallsyms.h"

#include <stdlib.h>

#include "base/buf.h"
#include "symbol/kallsyms.h"

struct symbol {
	uint64_t addr;
	const char *name;
	const char *module;
	uint32_t number;	/* of its line: of several names of an address the first is taken */
};

struct library_kallsyms {
	struct symbol *symbols;	/* by address */
	size_t n;
	struct buf text;
};

static int compare(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

struct library_kallsyms *library_kallsyms_open(void)
{
	struct library_kallsyms *symbols = calloc(1, sizeof(*symbols));
	struct kallsyms_symbol line;
	size_t lines = 1;
	char *at;

	if (!symbols || kallsyms_read(&symbols->text, NULL))
		goto fail;
	for (size_t i = 0; i < symbols->text.len; i++)
		lines += symbols->text.data[i] == '\n';
	symbols->symbols = calloc(lines, sizeof(*symbols->symbols));
	if (!symbols->symbols)
		goto fail;
	/* Data has names, too, but nothing in a record is about those. */
	for (at = symbols->text.data; kallsyms_next(&at, &line);)
		if (line.address && kallsyms_is_code(&line)) {
			symbols->symbols[symbols->n] = (struct symbol){ line.address, line.name, line.module,
									(uint32_t)symbols->n };
			symbols->n++;
		}
	qsort(symbols->symbols, symbols->n, sizeof(*symbols->symbols), compare);
	return symbols;
fail:
	library_kallsyms_close(symbols);
	return NULL;
}

void library_kallsyms_close(struct library_kallsyms *symbols)
{
	if (!symbols)
		return;
	free(symbols->symbols);
	buf_fini(&symbols->text);
	free(symbols);
}

bool library_kallsyms_find(const struct library_kallsyms *symbols, uint64_t addr,
			   struct decode_symbol *out)
{
	const struct symbol *all = symbols->symbols;
	size_t low = 0, high = symbols->n, first, behind;

	/* The first symbol behind the address. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (all[middle].addr <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || low == symbols->n)
		return false;
	behind = low;
	for (first = low - 1; first && all[first - 1].addr == all[low - 1].addr;)
		first--;
	*out = (struct decode_symbol){
		.name = all[first].name,
		.module = all[first].module,
		.offset = addr - all[first].addr,
		.size = all[behind].addr - all[first].addr,
	};
	return true;
}
