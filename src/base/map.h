/*
 * base/map: values by keys, both of any size. A value's place does not change while it is in the
 * map. No thread but one.
 */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_entry {
	struct map_entry *next;		/* in its bucket */
	uint32_t hash;
	uint32_t key_len;
	void *value;
	const void *key;
};

struct map {
	struct map_entry **buckets;
	size_t nr_buckets;		/* a power of two, or 0 */
	size_t nr;
};

#define MAP_INIT { NULL, 0, 0 }

void map_fini(struct map *map);

/* NULL: there is none. */
void *map_find(const struct map *map, const void *key, size_t key_len);
/* The value of the key: a new one is all zeros. NULL: no memory. */
void *map_get(struct map *map, const void *key, size_t key_len, size_t value_size);
void map_remove(struct map *map, const void *key, size_t key_len);

/* All map->nr entries, in no order that means anything. 0 or -ENOMEM; the list is yours to free. */
int map_list(const struct map *map, const struct map_entry ***all);

#endif
