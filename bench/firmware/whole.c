/*
 * A whole user of the writer, for its size: begins, ticks, and traces SITES times. Nothing in it runs.
 */
#include "remote_events.h"

#include "events.h"

#define REMOTE_EVENT_INCLUDE_FILE events.h
#include "define_remote_events.h"

void whole(uint32_t a, uint32_t b, uint32_t c);

void whole(uint32_t a, uint32_t b, uint32_t c)
{
	ringside_fw_init();
	trace_sample(a, b, c);
#if SITES > 1
	trace_sample(c, a, b);
#endif
	ringside_fw_tick();
}
