/*
 * ring/intern: see intern.h.
 */
#include "ring/intern.h"

#include <errno.h>
#include <string.h>

#include "base/crc32c.h"

#define PROBES_MAX 4096u

#define LOAD(word) __atomic_load_n(&(word), __ATOMIC_RELAXED)
#define STORE(word, value) __atomic_store_n(&(word), (value), __ATOMIC_RELAXED)
#define LOAD_ACQUIRE(word) __atomic_load_n(&(word), __ATOMIC_ACQUIRE)
#define STORE_RELEASE(word, value) __atomic_store_n(&(word), (value), __ATOMIC_RELEASE)

static const struct {
	uint64_t offset;
	uint32_t count;
} tables[REGISTRY_KINDS] = {
	[REGISTRY_EVENT] = { REGISTRY_EVENTS_OFFSET, REGISTRY_EVENTS },
	[REGISTRY_FORMAT] = { REGISTRY_FORMATS_OFFSET, REGISTRY_FORMATS },
	[REGISTRY_ELF] = { REGISTRY_ELFS_OFFSET, REGISTRY_ELFS },
};

/* What is being interned. */
struct thing {
	const struct intern *how;
	const char *blob;
	uint32_t kind;
	uint32_t len;
	uint32_t hash;
};

struct registry_slot *intern_slot(const struct registry_head *head, uint32_t kind, uint32_t i)
{
	return (struct registry_slot *)(void *)((char *)(uintptr_t)head + tables[kind].offset) + i;
}

static struct registry_slot *slot_at(const struct thing *thing, uint32_t i)
{
	return intern_slot(thing->how->head, thing->kind, i);
}

static uint32_t *bucket_at(const struct thing *thing, uint32_t i)
{
	return (uint32_t *)(void *)((char *)thing->how->head + REGISTRY_BUCKETS_OFFSET) + i % REGISTRY_BUCKETS;
}

static bool same(const struct thing *thing, uint32_t i)
{
	struct registry_slot *slot = slot_at(thing, i);
	uint64_t text = LOAD(slot->text);

	return LOAD(slot->hash) == thing->hash && LOAD(slot->text_len) == thing->len && text >= REGISTRY_HEAP_OFFSET &&
	       text <= REGISTRY_SIZE - thing->len && !memcmp((char *)thing->how->head + text, thing->blob, thing->len);
}

/* The slot that bucket value `value` names if it is our blob's, else -1. */
static int slot_of(const struct thing *thing, uint32_t value)
{
	uint32_t i = (value & 0xfffffff) - 1;

	if (value >> 28 != thing->kind || i >= tables[thing->kind].count || !same(thing, i))
		return -1;
	/* Its maker may have died before it could say so. */
	STORE_RELEASE(slot_at(thing, i)->state, REGISTRY_READY);
	return (int)i;
}

static int claim_slot(const struct thing *thing)
{
	const struct intern *how = thing->how;
	uint32_t count = tables[thing->kind].count, from = LOAD(how->head->next[thing->kind]) % count;

	for (uint32_t n = 0; n < count; n++) {
		uint32_t i = (from + n) % count, idle = REGISTRY_FREE;
		struct registry_slot *slot = slot_at(thing, i);

		/* Even a look takes memory where there was none. Slots do not straddle pages. */
		if ((!n || !((uintptr_t)slot & 4095)) && !how->back(slot, sizeof(*slot)))
			return -ENOSPC;
		if (LOAD(slot->state) != REGISTRY_FREE ||
		    !__atomic_compare_exchange_n(&slot->state, &idle, how->pid << 2 | REGISTRY_CLAIMED, false,
						 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		STORE(how->head->next[thing->kind], (i + 1) % count);
		return (int)i;
	}
	return -ENOSPC;
}

static uint32_t related_of(const struct thing *thing)
{
	struct registry_event_blob event;

	if (thing->kind != REGISTRY_EVENT)
		return 0;
	memcpy(&event, thing->blob, sizeof(event));
	return event.related;
}

static int fill_slot(const struct thing *thing)
{
	struct registry_head *head = thing->how->head;
	struct registry_slot *slot;
	int i = claim_slot(thing);
	uint64_t at;

	/* The slot first: what is taken from the heap is never given back. */
	if (i < 0)
		return i;
	slot = slot_at(thing, (uint32_t)i);
	at = __atomic_fetch_add(&head->heap_used, (thing->len + 7) & ~7ull, __ATOMIC_RELAXED);
	if (at < REGISTRY_HEAP_OFFSET || at > REGISTRY_SIZE - thing->len ||
	    !thing->how->back((char *)head + at, thing->len)) {
		STORE_RELEASE(slot->state, REGISTRY_FREE);
		return -ENOSPC;
	}
	memcpy((char *)head + at, thing->blob, thing->len);
	STORE(slot->hint, 0);
	STORE(slot->text, at);
	STORE(slot->text_len, thing->len);
	STORE(slot->hash, thing->hash);
	STORE(slot->related, related_of(thing));
	STORE(slot->named, thing->kind == REGISTRY_EVENT && thing->how->named);
	STORE(slot->dynamic, thing->kind == REGISTRY_EVENT && thing->how->dynamic);
	STORE(slot->number, __atomic_add_fetch(&head->number, 1, __ATOMIC_RELAXED));
	return i;
}

static void give_back(const struct thing *thing, int mine)
{
	if (mine >= 0)
		STORE_RELEASE(slot_at(thing, (uint32_t)mine)->state, REGISTRY_FREE);
}

int intern_blob(const struct intern *intern, uint32_t kind, const char *blob, uint32_t len)
{
	const struct thing thing = { intern, blob, kind, len, crc32c(kind, blob, len) };
	int mine = -1;

	for (uint32_t probe = 0; probe < PROBES_MAX; probe++) {
		uint32_t *bucket = bucket_at(&thing, thing.hash + probe), value;
		int i;

		if ((!probe || !((uintptr_t)bucket & 4095)) && !intern->back(bucket, sizeof(*bucket)))
			break;
		/* Partner: the compare-and-swap below, behind a filled slot. */
		value = LOAD_ACQUIRE(*bucket);
		if (!value) {
			if (mine < 0)
				mine = fill_slot(&thing);
			if (mine < 0)
				break;
			if (__atomic_compare_exchange_n(bucket, &value, kind << 28 | (uint32_t)(mine + 1), false,
							__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
				STORE_RELEASE(slot_at(&thing, (uint32_t)mine)->state, REGISTRY_READY);
				return mine;
			}
		}
		i = slot_of(&thing, value);
		if (i < 0)
			continue;
		give_back(&thing, mine);
		return i;
	}
	give_back(&thing, mine);
	__atomic_fetch_add(&intern->head->refused, 1, __ATOMIC_RELAXED);
	return -ENOSPC;
}

void intern_adopt(struct registry_head *head, struct registry_slot *slot)
{
	if (!LOAD(slot->named))
		return;
	STORE(slot->number, __atomic_add_fetch(&head->number, 1, __ATOMIC_RELAXED));
	STORE_RELEASE(slot->named, 0);
	/* Once more, behind it: who looked in between looks again. */
	__atomic_fetch_add(&head->number, 1, __ATOMIC_RELEASE);
}
