/*
 * base/map: see map.h. Buckets of chains; there are always at least as many buckets as entries.
 */
#include "base/map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BUCKETS 64

/* FNV-1a: keys are short. */
static uint32_t hash_of(const void *key, size_t len)
{
	const unsigned char *p = key;
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ p[i]) * 16777619u;
	/* The low bits choose the bucket: what the high ones know must reach them. */
	return hash ^ hash >> 15;
}

static struct map_entry **place(const struct map *map, uint32_t hash, const void *key, size_t len)
{
	struct map_entry **at = &map->buckets[hash & (map->nr_buckets - 1)];

	while (*at && ((*at)->hash != hash || (*at)->key_len != len ||
		       memcmp((*at)->key, key, len)))
		at = &(*at)->next;
	return at;
}

static bool grow(struct map *map)
{
	size_t nr = map->nr_buckets ? map->nr_buckets * 2 : FIRST_BUCKETS;
	struct map_entry **buckets = calloc(nr, sizeof(*buckets)), *entry;

	if (!buckets)
		return false;
	for (size_t i = 0; i < map->nr_buckets; i++)
		while ((entry = map->buckets[i])) {
			map->buckets[i] = entry->next;
			entry->next = buckets[entry->hash & (nr - 1)];
			buckets[entry->hash & (nr - 1)] = entry;
		}
	free(map->buckets);
	map->buckets = buckets;
	map->nr_buckets = nr;
	return true;
}

void *map_find(const struct map *map, const void *key, size_t key_len)
{
	struct map_entry *entry;

	if (!map->nr)
		return NULL;
	entry = *place(map, hash_of(key, key_len), key, key_len);
	return entry ? entry->value : NULL;
}

/* Entry, value and key in one piece of memory; the value where anything may lie. */
static struct map_entry *new_entry(uint32_t hash, const void *key, size_t key_len,
				   size_t value_size)
{
	size_t align = _Alignof(max_align_t) - 1;
	size_t value_at = (sizeof(struct map_entry) + align) & ~align;
	struct map_entry *entry = calloc(1, value_at + value_size + key_len);
	char *bytes = (char *)entry;

	if (!entry)
		return NULL;
	memcpy(bytes + value_at + value_size, key, key_len);
	*entry = (struct map_entry){ .hash = hash, .key_len = (uint32_t)key_len,
				     .value = bytes + value_at,
				     .key = bytes + value_at + value_size };
	return entry;
}

void *map_get(struct map *map, const void *key, size_t key_len, size_t value_size)
{
	uint32_t hash = hash_of(key, key_len);
	struct map_entry **at;

	if (map->nr == map->nr_buckets && !grow(map))
		return NULL;
	at = place(map, hash, key, key_len);
	if (!*at) {
		*at = new_entry(hash, key, key_len, value_size);
		if (!*at)
			return NULL;
		map->nr++;
	}
	return (*at)->value;
}

void map_remove(struct map *map, const void *key, size_t key_len)
{
	struct map_entry **at, *entry;

	if (!map->nr)
		return;
	at = place(map, hash_of(key, key_len), key, key_len);
	entry = *at;
	if (!entry)
		return;
	*at = entry->next;
	free(entry);
	map->nr--;
}

int map_list(const struct map *map, const struct map_entry ***all)
{
	size_t n = 0;

	*all = calloc(map->nr + 1, sizeof(**all));
	if (!*all)
		return -ENOMEM;
	for (size_t i = 0; i < map->nr_buckets; i++)
		for (const struct map_entry *e = map->buckets[i]; e; e = e->next)
			(*all)[n++] = e;
	return 0;
}

void map_fini(struct map *map)
{
	struct map_entry *next;

	for (size_t i = 0; i < map->nr_buckets; i++)
		for (struct map_entry *e = map->buckets[i]; e; e = next) {
			next = e->next;
			free(e);
		}
	free(map->buckets);
	*map = (struct map)MAP_INIT;
}
