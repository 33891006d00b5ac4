/*
 * base/map: keys of any bytes and length, values that stay where they are, and removal, against a
 * plain list of what was put in.
 */
#include "base/map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "insist.h"

#define KEYS 5000

/* Keys that differ in their length only, in their first or last byte, or hold NULs. */
static size_t make_key(unsigned int i, char *key)
{
	memset(key, 0, 32);
	memcpy(key + i % 7, &i, sizeof(i));
	return i % 7 + sizeof(i);
}

static void put_all(struct map *map, unsigned int **places)
{
	char key[32];
	size_t len;

	for (unsigned int i = 0; i < KEYS; i++) {
		len = make_key(i, key);
		CHECK(!map_find(map, key, len), "key %u", i);
		places[i] = map_get(map, key, len, sizeof(**places));
		CHECK(places[i] && !*places[i], "key %u", i);
		CHECK((uintptr_t)places[i] % sizeof(void *) == 0, "key %u", i);
		*places[i] = i + 1;
	}
	CHECK(map->nr == KEYS, "%zu", map->nr);
}

static void remove_odd(struct map *map)
{
	char key[32];
	size_t len;

	for (unsigned int i = 1; i < KEYS; i += 2) {
		len = make_key(i, key);
		map_remove(map, key, len);
		map_remove(map, key, len);
		CHECK(!map_find(map, key, len), "key %u", i);
	}
	CHECK(map->nr == KEYS / 2, "%zu", map->nr);
}

static void check_even(struct map *map, unsigned int **places)
{
	const struct map_entry **all;
	char key[32];
	size_t len;
	unsigned int seen[KEYS] = { 0 };

	for (unsigned int i = 0; i < KEYS; i += 2) {
		len = make_key(i, key);
		CHECK(map_find(map, key, len) == places[i] && *places[i] == i + 1, "key %u", i);
		CHECK(map_get(map, key, len, sizeof(**places)) == places[i], "key %u", i);
	}
	CHECK(!map_list(map, &all), "memory");
	for (size_t i = 0; i < map->nr; i++) {
		unsigned int n = *(unsigned int *)all[i]->value - 1;

		len = make_key(n, key);
		CHECK(all[i]->key_len == len && !memcmp(all[i]->key, key, len), "key %u", n);
		CHECK(!seen[n]++ && n % 2 == 0, "key %u", n);
	}
	free(all);
}

int main(void)
{
	struct map map = MAP_INIT;
	static unsigned int *places[KEYS];
	const struct map_entry **none;

	CHECK(!map_find(&map, "", 0) && !map_list(&map, &none), "an empty map");
	free(none);
	map_remove(&map, "x", 1);
	CHECK(map_get(&map, "", 0, 0), "an empty map");
	map_remove(&map, "", 0);
	put_all(&map, places);
	remove_odd(&map);
	check_even(&map, places);
	map_fini(&map);
	CHECK(!map.nr && !map_find(&map, "x", 1), "an empty map");
	map_fini(&map);
	return 0;
}
