/*
 * event/custom: events that ride on the sites of others (RINGSIDE_CUSTOM_EVENT).
 *
 * A rider says which of the base event's arguments go into its record. That table is copied here,
 * so that nothing of the library that declared it is needed by the sites, which may be in another
 * one: unloading a rider's library turns the rider off, and a thread that was about to look at it
 * still finds it. Nodes are never freed; a library that comes back finds its own again, so there
 * are as many as there are different riders.
 *
 *   chain[hash(base id)] -> rider -> rider      pushed with compare-and-swap, never taken out
 *
 * Registering and releasing run in constructors, destructors, dlopen and dlclose; writing in any
 * thread and handler.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event/local.h"
#include "runtime/runtime.h"

#define CHAINS 64u

enum { FLAG_RIDING = 1 };	/* ringside_event.flags: counted in its rider's `users` */

struct rider {
	struct rider *next;
	uint32_t base;
	uint32_t shape;	/* of the base's arguments */
	uint32_t id;
	uint32_t users;	/* libraries that have it now */
	const uint32_t *hint;
	uint32_t fixed;
	struct ringside_field fields[];
};

static struct rider *chains[CHAINS];

static struct rider *find(struct rider *rider, uint32_t base, uint32_t shape, uint32_t id)
{
	while (rider && (rider->base != base || rider->shape != shape || rider->id != id))
		rider = rider->next;
	return rider;
}

/* A copy of what writing needs; the names, which lie in the library, are only told apart from
 * the end. */
static struct rider *make(const struct ringside_event *event, const struct ringside_field *fields)
{
	size_t n = 1;
	struct rider *rider;

	for (const struct ringside_field *f = fields; f->name; f++)
		n++;
	rider = calloc(1, sizeof(*rider) + n * sizeof(*fields));
	if (!rider)
		return NULL;
	memcpy(rider->fields, fields, n * sizeof(*fields));
	for (struct ringside_field *f = rider->fields; f->name; f++) {
		f->name = "";
		f->type = "";
		f->symbols = NULL;
	}
	rider->id = event->id;
	rider->hint = event->hint;
	rider->fixed = event_record_fixed(fields);
	return rider;
}

static struct rider *join(const struct ringside_event *event, const struct ringside_field *fields,
			  const struct ringside_event *base)
{
	struct rider **chain = &chains[base->id % CHAINS];
	struct rider *mine = NULL, *found;
	/* Partner: the compare-and-swap below. */
	struct rider *head = __atomic_load_n(chain, __ATOMIC_ACQUIRE);

	for (;;) {
		found = find(head, base->id, base->shape, event->id);
		if (found) {
			free(mine);
			return found;
		}
		if (!mine)
			mine = make(event, fields);
		if (!mine)
			return NULL;
		mine->base = base->id;
		mine->shape = base->shape;
		mine->next = head;
		/* Nothing is ever taken out, so an unchanged head means that nobody else has
		 * added it. */
		if (__atomic_compare_exchange_n(chain, &head, mine, false, __ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE))
			return mine;
	}
}

RINGSIDE_API void ringside_custom_register(struct ringside_event *event,
					   const struct ringside_field *fields,
					   const struct ringside_event *base)
{
	struct rider *rider;
	int saved = errno;

	if (event->abi != RINGSIDE_ABI || event->id || !base->id ||
	    event_intern(event, fields, base->id))
		goto out;
	rider = join(event, fields, base);
	if (rider) {
		event->fields = NULL;
		event->rider = rider;
		event->flags |= FLAG_RIDING;
		__atomic_fetch_add(&rider->users, 1, __ATOMIC_RELAXED);
	}
out:
	errno = saved;
}

RINGSIDE_API void ringside_custom_release(struct ringside_event *event)
{
	struct rider *rider = event->rider;

	if (!(event->flags & FLAG_RIDING))
		return;
	event->flags &= (uint16_t)~FLAG_RIDING;
	__atomic_fetch_sub(&rider->users, 1, __ATOMIC_RELAXED);
}

void event_custom_write(const struct ringside_event *base, const void *args)
{
	/* Partner: the compare-and-swap of join(). */
	struct rider *rider = __atomic_load_n(&chains[base->id % CHAINS], __ATOMIC_ACQUIRE);

	for (; rider; rider = rider->next) {
		if (rider->base != base->id || rider->shape != base->shape ||
		    !__atomic_load_n(&rider->users, __ATOMIC_RELAXED) ||
		    !__atomic_load_n(rider->hint, __ATOMIC_RELAXED))
			continue;
		event_record_write(rider->id, rider->fields, rider->fixed, args);
	}
}
