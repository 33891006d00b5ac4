/*
 * func/hit_aside: what a hit needs beyond the hot path, in code that is compiled as usual: several buffers, filters and
 * triggers, memory that is looked at. Under func_aside().
 */
#include "func/point.h"
#include "runtime/runtime.h"

#if defined(__x86_64__) && !defined(__ILP32__)

void func_hit_wake(void *ring)
{
	const struct view *view = LOAD_ACQUIRE(wiped.view);

	/* Under another state by now: who reads looks by himself soon. */
	if (view)
		runtime_wake(&view->buffer[0], ring, LOAD_ACQUIRE(view->published), NULL);
}

void func_hit_aside(void *arg)
{
	struct func_hitting *hitting = arg;

	if (!func_current_view())
		return;
	if (hitting->record) {
		runtime_write(hitting->probe->event, hitting->record, hitting->len);
		hitting->done = true;
	} else {
		hitting->done = runtime_write_probe(hitting->probe->serial, hitting->probe->index, hitting->hit);
	}
}

#endif
