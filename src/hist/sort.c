/*
 * hist/sort: puts rows in order. See show.h. Pure.
 */
#include <stdlib.h>
#include <string.h>

#include "hist/show.h"
#include "trigger/lower.h"

struct order {
	const struct spec_hist *hist;
	struct hook_key keys[HOOK_KEYS_MAX];
};

struct sorted {
	struct hist_row row;
	const struct order *order;
};

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static bool is_signed(const struct spec_term *term)
{
	return term->is_signed && term->how != SPEC_LOG2 && term->how != SPEC_BUCKETS;
}

static int compare_numbers(const unsigned char *a, const unsigned char *b, bool with_sign)
{
	uint64_t x, y;

	memcpy(&x, a, 8);
	memcpy(&y, b, 8);
	if (with_sign)
		return ((int64_t)x > (int64_t)y) - ((int64_t)x < (int64_t)y);
	return compare(x, y);
}

static int compare_reals(const unsigned char *a, const unsigned char *b)
{
	double x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return (x > y) - (x < y);
}

bool hist_is_number(const char *text, size_t len)
{
	size_t sign = len && text[0] == '-', n = sign;

	while (n < len && text[n] >= '0' && text[n] <= '9')
		n++;
	return n == len && n > sign && n - sign <= 20;
}

/* A .string may be digits: 9 comes before 10, and numbers before everything else. */
static int compare_strings(const char *a, const char *b, uint32_t size)
{
	size_t x = strnlen(a, size), y = strnlen(b, size);
	bool is_a = hist_is_number(a, x), is_b = hist_is_number(b, y);
	int r = strncmp(a, b, size);

	if (!is_a || !is_b)
		return is_a == is_b ? r : is_a ? -1 : 1;
	if ((*a == '-') != (*b == '-'))
		return *a == '-' ? -1 : 1;
	if (x != y)
		r = x < y ? -1 : 1;
	return *a == '-' ? -r : r;
}

static int by_key(const struct order *order, const struct hist_row *a, const struct hist_row *b, uint32_t i)
{
	const struct hook_key *key = &order->keys[i];
	const unsigned char *x = a->key + key->at, *y = b->key + key->at;

	switch (key->form) {
	case HOOK_TEXT:
		if (order->hist->keys[i]->how == SPEC_STRING)
			return compare_strings((const char *)x, (const char *)y, key->size);
		return strncmp((const char *)x, (const char *)y, key->size);
	case HOOK_STACK:
		return memcmp(x, y, key->size);
	case HOOK_REAL:
		return compare_reals(x, y);
	default:
		return compare_numbers(x, y, is_signed(order->hist->keys[i]));
	}
}

static int by_sort(const struct order *order, const struct spec_sort *sort, const struct hist_row *a,
		   const struct hist_row *b)
{
	const struct spec_hist *hist = order->hist;
	int r;

	if (sort->key >= 0)
		r = (uint32_t)sort->key < hist->nkeys ? by_key(order, a, b, (uint32_t)sort->key) : 0;
	else if (sort->val >= 0 && (uint32_t)sort->val < hist->nvals)
		r = compare(hist_value(a, hist, (uint32_t)sort->val), hist_value(b, hist, (uint32_t)sort->val));
	else
		r = compare(a->hits, b->hits);
	return sort->descending ? -r : r;
}

static int by_order(const void *a, const void *b)
{
	const struct sorted *x = a, *y = b;
	const struct spec_hist *hist = x->order->hist;
	int r = hist->nsorts ? 0 : compare(x->row.hits, y->row.hits);

	for (uint32_t i = 0; i < hist->nsorts && !r; i++)
		r = by_sort(x->order, &hist->sorts[i], &x->row, &y->row);
	for (uint32_t i = 0; i < hist->nkeys && !r; i++)
		r = by_key(x->order, &x->row, &y->row, i);
	return r;
}

void hist_sort(struct hist_rows *rows, const struct spec_hist *hist)
{
	struct order order = { .hist = hist };
	struct sorted *sorted = malloc(((size_t)rows->nrows + 1) * sizeof(*sorted));
	uint32_t hash_size;

	/* Without memory they stay as they are: not in order, but all there. */
	if (!sorted)
		return;
	lower_hist_keys(hist, order.keys, &hash_size);
	for (uint32_t i = 0; i < rows->nrows; i++)
		sorted[i] = (struct sorted){ rows->rows[i], &order };
	qsort(sorted, rows->nrows, sizeof(*sorted), by_order);
	for (uint32_t i = 0; i < rows->nrows; i++)
		rows->rows[i] = sorted[i].row;
	free(sorted);
}
