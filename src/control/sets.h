/*
 * control/sets: room for sets of rings in the rings file, and their first bytes.
 */
#ifndef CONTROL_SETS_H
#define CONTROL_SETS_H

#include "base/err.h"
#include "control/control.h"

/*
 * Finds room for a set of such pages of such bytes a ring, makes every ring of it ready
 * for its first event, and describes it in `set`. Nobody writes to it before a state with it is
 * published; if none ever is, the room is free again. Only in a transaction.
 * `before`: the clock that the set's own follows, or NULL. `lost`: for each CPU, events that its
 * stream lost before this set and that nobody was told of; NULL: none.
 */
struct control_set_plan {
	uint32_t npages;
	uint32_t page_size;
	uint32_t clock;			/* TRACE_CLOCK_* */
	const uint32_t *cpu_npages;	/* for each CPU, of which npages is the largest; NULL: all the same */
	const struct state_clock *before;
	const uint64_t *lost;
};
int control_set_make(struct control *control, struct state_set *set,
		     const struct control_set_plan *plan, struct err *err);

/*
 * Gives back memory that no set and no limbo accounts for: of one who died while it made a set, or of a program that gave a
 * ring its memory when the set was gone already. In a transaction, when the state is published.
 */
void control_sets_sweep(const struct control *control);

/* Pages of each CPU's ring. True when they are not all the same. */
bool control_set_shape(const struct control *control, const struct state_set *set,
		       uint32_t *cpu_npages);

/*
 * For each CPU, what a reader has not been told yet: events not read, overwritten, dropped or
 * refused. What overflow rings hold is counted with the CPU of the ring's number. -errno when the
 * set makes no sense.
 */
int control_set_unread(const struct control *control, const struct state_set *set,
		       uint64_t *unread);

/* Keeps consumers away from the set until the transaction ends. -EAGAIN when there is one. */
int control_set_lock(const struct control *control, const struct state_set *set);

/* Has every reader been told everything of the set? One that cannot be read has not been. */
bool control_set_consumed(const struct control *control, const struct state_set *set);

/* Were all events taken out of it? Losses behind the last one may be left to tell. */
bool control_set_emptied(const struct control *control, const struct state_set *set);

#endif
