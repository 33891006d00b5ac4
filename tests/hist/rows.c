/*
 * Rows out of tables: parts are added up, distributions give quantiles within their bound, and bytes that nobody would
 * write are survived.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "hist/show.h"
#include "insist.h"
#include "trigger/lower.h"

static uint64_t seed = 88172645463325252ull;

static uint64_t chance(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

static void check_ranges(void)
{
	for (uint32_t i = 0; i < TABLE_SPREAD; i++) {
		uint64_t low = table_spread_low(i), high = table_spread_high(i);

		CHECK(table_spread_index(low) == i && table_spread_index(high) == i, "range %u", i);
		CHECK(i + 1 == TABLE_SPREAD ? high == UINT64_MAX : table_spread_low(i + 1) == high + 1, "range %u", i);
		CHECK((high - low) < low / 8 || high == low, "range %u is as wide as %llu", i,
		      (unsigned long long)(high - low));
	}
}

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void check_quantiles(void)
{
	static const uint32_t shares[] = { 1, 50000, 90000, 99000, 99900, 100000 };
	static uint64_t spread[TABLE_SPREAD], values[5000];

	CHECK(hist_quantile(spread, 50000) == 0, "of nothing");
	for (uint32_t n = 1; n <= 5000; n = n * 3 + 1) {
		memset(spread, 0, sizeof(spread));
		for (uint32_t i = 0; i < n; i++) {
			values[i] = chance() >> chance() % 64;
			spread[table_spread_index(values[i])]++;
		}
		qsort(values, n, sizeof(values[0]), ascending);
		for (uint32_t i = 0; i < 6; i++) {
			uint64_t rank = ((uint64_t)n * shares[i] + 99999) / 100000;
			uint64_t real = values[rank - 1], told = hist_quantile(spread, shares[i]);

			CHECK(told >= real && told - real <= real / 8, "%u of %u: %llu, told %llu", shares[i], n,
			      (unsigned long long)real, (unsigned long long)told);
		}
	}
}

static unsigned char *element_at(unsigned char *bytes, const struct table_shape *shape, uint32_t part, uint32_t n)
{
	return bytes + part * table_part_size(shape) + sizeof(struct table_part) + 8ull * shape->slots +
	       (uint64_t)n * shape->element_size;
}

static uint64_t *slot_at(unsigned char *bytes, const struct table_shape *shape, uint32_t part, uint32_t n)
{
	return (uint64_t *)(void *)(bytes + part * table_part_size(shape) + sizeof(struct table_part) + 8ull * n);
}

/* Four parts, keys 0 to 9 in each, with as many hits as the key says, and a value that is counted in a distribution. */
static void check_sums(void)
{
	struct spec_term key = { .what = SPEC_FIELD, .name = "k", .size = 8 };
	struct spec_term val = { .what = SPEC_FIELD, .how = SPEC_QUANTILES, .name = "v", .size = 8 };
	struct spec_hist hist = { .nkeys = 1, .nvals = 1, .keys = { &key }, .vals = { &val }, .size = 128 };
	struct hook_key keys[HOOK_KEYS_MAX];
	struct table_shape shape;
	struct hist_rows rows;
	struct buf out = BUF_INIT;
	uint32_t hash_size;
	unsigned char *bytes;

	lower_hist_shape(&hist, 4, &shape);
	lower_hist_keys(&hist, keys, &hash_size);
	CHECK(shape.parts == 4 && shape.nspreads == 1 && shape.key_at >= 16 + 8 * TABLE_SPREAD, "shape");
	bytes = calloc(1, table_size(&shape));
	CHECK(bytes, "memory");
	for (uint32_t part = 0; part < 4; part++) {
		((struct table_part *)(void *)(bytes + part * table_part_size(&shape)))->drops = part;
		for (uint64_t k = 0; k < 10; k++) {
			unsigned char *element = element_at(bytes, &shape, part, (uint32_t)k);
			uint64_t *numbers = (uint64_t *)(void *)element;

			numbers[0] = k;
			numbers[1] = k * 1000;
			numbers[2 + table_spread_index(1000)] = k;
			memcpy(element + shape.key_at, &k, 8);
			*slot_at(bytes, &shape, part, (uint32_t)(part * 50 + k)) = k + 1;
		}
	}
	CHECK(!hist_rows_read(&rows, bytes, &shape, hash_size), "read");
	CHECK(rows.nrows == 10 && rows.hits == 4 * 45 && rows.drops == 6, "%u rows", rows.nrows);
	hist_sort(&rows, &hist);
	for (uint32_t i = 0; i < 10; i++)
		CHECK(rows.rows[i].hits == 4 * i && rows.rows[i].vals[0] == 4000 * i, "row %u", i);
	hist_show(&rows, &hist, "x", NULL, &out);
	CHECK(strstr(out.data, "{ k:          9 } hitcount:         36  v p50:       1023 p90:       1023 p99:       1023 "
			       "p99.9:       1023\n"), "%s", out.data);
	buf_fini(&out);
	hist_rows_fini(&rows);
	free(bytes);
}

/* Bytes and geometry by chance: an errno, or rows that lie within. */
static void check_hostile(void)
{
	for (int round = 0; round < 300; round++) {
		struct table_shape shape = { .parts = 1u << chance() % 3, .slots = 1u << chance() % 8, .elements = 1 + chance() % 64,
					     .nvals = chance() % 4, .nspreads = chance() % 2, .ntracks = chance() % 3,
					     .nsaves = chance() % 4, .key_size = 8 * (uint32_t)(chance() % 8) };
		struct hist_rows rows;
		unsigned char *bytes;
		uint64_t size;

		shape.key_at = table_numbers_size(&shape);
		shape.element_size = shape.key_at + shape.key_size;
		size = table_size(&shape);
		bytes = malloc(size);
		CHECK(bytes, "memory");
		for (uint64_t i = 0; i < size; i++)
			bytes[i] = (unsigned char)(chance() % 5 ? 0 : chance());
		for (uint32_t i = 0; i < shape.slots; i++)
			*slot_at(bytes, &shape, 0, i) = chance() % 100;
		if (!hist_rows_read(&rows, bytes, &shape, shape.key_size))
			CHECK(rows.nrows <= shape.parts * shape.slots, "%u rows", rows.nrows);
		hist_rows_fini(&rows);
		shape.key_at += 8;
		CHECK(hist_rows_read(&rows, bytes, &shape, shape.key_size) == -EINVAL, "key outside");
		hist_rows_fini(&rows);
		free(bytes);
	}
}

int main(void)
{
	check_ranges();
	check_quantiles();
	check_sums();
	check_hostile();
	return 0;
}
