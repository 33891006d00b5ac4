/*
 * trigger/shape: how large the tables of a histogram are, and how its keys lie in them. See lower.h. Pure.
 */
#include <string.h>

#include "trigger/lower.h"

#define CELLS_MIN 4096u
#define TABLE_BYTES_MAX (32ull << 20)	/* spread over CPUs only as far as that */

static uint16_t key_size(const struct spec_term *term)
{
	if (term->form == HOOK_STACK)
		return 8 + 8 * TABLE_STACK_MAX;
	if (term->form != HOOK_TEXT)
		return 8;
	if (!term->size || term->size > TABLE_TEXT_MAX)
		return TABLE_TEXT_MAX;
	return (uint16_t)((term->size + 7u) & ~7u);
}

static bool term_refers(const struct spec_term *term)
{
	if (!term)
		return false;
	if (term->what == SPEC_VAR)
		return !term->is_own;
	return (term->what == SPEC_MATH || term->what == SPEC_NEG) && (term_refers(term->a) || term_refers(term->b));
}

/* Does the hash of its key stand for variables, its own or others'? */
static bool has_tags(const struct spec_hist *hist)
{
	bool tags = hist->nvars;

	for (uint32_t i = 0; i < hist->nkeys; i++)
		tags |= term_refers(hist->keys[i]);
	for (uint32_t i = 0; i < hist->nvals; i++)
		tags |= term_refers(hist->vals[i]);
	for (uint32_t i = 0; i < hist->nactions; i++) {
		tags |= term_refers(hist->actions[i]->value);
		for (uint32_t p = 0; p < hist->actions[i]->nparams; p++)
			tags |= term_refers(hist->actions[i]->params[p]);
	}
	return tags;
}

uint32_t lower_hist_keys(const struct spec_hist *hist, struct hook_key keys[HOOK_KEYS_MAX], uint32_t *hash_size)
{
	uint32_t named = UINT32_MAX, at = 0, n = hist->nkeys < HOOK_KEYS_MAX ? hist->nkeys : HOOK_KEYS_MAX;

	memset(keys, 0, HOOK_KEYS_MAX * sizeof(*keys));
	for (uint32_t i = 0; i < n; i++)
		if (hist->keys[i]->how == SPEC_EXECNAME && (i + 1 == n || !has_tags(hist)))
			named = i;
	for (uint32_t i = 0; i < n; i++) {
		keys[i].form = hist->keys[i]->form;
		keys[i].size = key_size(hist->keys[i]);
		keys[i].with_comm = i == named;
		if (i == named)
			continue;
		keys[i].at = (uint16_t)at;
		at += keys[i].size;
	}
	if (named < n) {
		keys[named].at = (uint16_t)at;
		at += keys[named].size;
	}
	*hash_size = at;
	return named < n ? at + 16 : at;
}

static uint32_t power_of_two(uint64_t n)
{
	uint32_t power = 1;

	while (power < n && power < 1u << 30)
		power *= 2;
	return power;
}

static uint32_t hist_size(const struct spec_hist *hist)
{
	return hist->size ? power_of_two(hist->size) : 2048;
}

void lower_hist_shape(const struct spec_hist *hist, uint32_t parts, struct table_shape *shape)
{
	struct hook_key keys[HOOK_KEYS_MAX];
	uint32_t hash_size;

	memset(shape, 0, sizeof(*shape));
	shape->parts = power_of_two(parts ? parts : 1);
	shape->elements = hist_size(hist);
	shape->slots = shape->elements * 2;
	shape->nvals = hist->nvals;
	for (uint32_t i = 0; i < hist->nvals; i++)
		shape->nspreads += hist->vals[i]->how == SPEC_QUANTILES;
	for (uint32_t i = 0; i < hist->nactions; i++) {
		const struct spec_action *action = hist->actions[i];

		if (action->handler == HOOK_ONMATCH)
			continue;
		shape->ntracks++;
		if (action->doing == HOOK_DO_SAVE)
			shape->nsaves += action->nparams;
	}
	shape->key_size = lower_hist_keys(hist, keys, &hash_size);
	shape->key_at = table_numbers_size(shape);
	shape->element_size = shape->key_at + shape->key_size;
	/* The largest value of a key is one for all CPUs. */
	if (shape->ntracks)
		shape->parts = 1;
	while (shape->parts > 1 && table_size(shape) > TABLE_BYTES_MAX)
		shape->parts /= 2;
}

static bool is_long(const struct spec_term *term)
{
	return term->form == HOOK_TEXT || term->form == HOOK_STACK;
}

static uint32_t ncells(const struct spec_hist *hist)
{
	uint32_t n = hist_size(hist) * 2;

	return n < CELLS_MIN ? CELLS_MIN : n;
}

uint64_t lower_hist_cells(const struct spec_hist *hist)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < hist->nvars; i++)
		sum += table_cells_size(ncells(hist), is_long(hist->vars[i].value));
	return sum;
}

void lower_hist_var(const struct spec_hist *hist, uint64_t cells, uint32_t number, struct hook_var *var)
{
	memset(var, 0, sizeof(*var));
	for (uint32_t i = 0; i < number && i < hist->nvars; i++)
		cells += table_cells_size(ncells(hist), is_long(hist->vars[i].value));
	var->cells = cells;
	var->ncells = ncells(hist);
	var->form = hist->vars[number].value->form;
	var->number = (uint8_t)number;
	var->seed = hist->serial << 8 | number;
}
