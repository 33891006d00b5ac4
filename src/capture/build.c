/*
 * capture/build: see build.h.
 */
#include "capture/build.h"

#include <string.h>

#include "decode/page.h"
#include "layout/page.h"

void build_begin(struct build *build, void *page, uint32_t size)
{
	*build = (struct build){ .page = page, .size = size };
	memset(page, 0, size);
}

static void put(struct build *build, uint32_t word)
{
	memcpy(build->page + PAGE_HEAD_SIZE + build->len, &word, 4);
	build->len += 4;
}

bool build_add(struct build *build, uint64_t ts, const void *data, uint32_t len, uint32_t keep)
{
	uint32_t whole = (len + 3) & ~3u;
	uint32_t need = 4 + whole + (whole > EVENT_LEN_MAX_SHORT ? 4 : 0);
	uint64_t delta;

	if (build->events && ts < build->last_ts)
		ts = build->last_ts;
	delta = build->events ? ts - build->last_ts : 0;
	if (delta > EVENT_DELTA_MAX)
		need += EVENT_EXTEND_SIZE;
	if (build->size - PAGE_HEAD_SIZE - build->len < need + keep || delta >> EVENT_DELTA_BITS >> 32 || whole < 4)
		return false;
	if (delta > EVENT_DELTA_MAX) {
		put(build, (uint32_t)delta << EVENT_TYPE_BITS | EVENT_TYPE_TIME_EXTEND);
		put(build, (uint32_t)(delta >> EVENT_DELTA_BITS));
		delta = 0;
	}
	if (whole <= EVENT_LEN_MAX_SHORT) {
		put(build, (uint32_t)delta << EVENT_TYPE_BITS | whole / 4);
	} else {
		put(build, (uint32_t)delta << EVENT_TYPE_BITS | EVENT_TYPE_LONG);
		put(build, whole + 4);
	}
	memcpy(build->page + PAGE_HEAD_SIZE + build->len, data, len);
	build->len += whole;
	if (!build->events++)
		build->first_ts = ts;
	build->last_ts = ts;
	return true;
}

void build_end(struct build *build, uint64_t lost)
{
	struct page_head head = { .time_stamp = build->first_ts, .commit = build->len };

	if (lost) {
		head.commit |= PAGE_MISSED_EVENTS;
		if (lost != PAGE_LOST_UNKNOWN && build->size - PAGE_HEAD_SIZE - build->len >= sizeof(lost)) {
			head.commit |= PAGE_MISSED_STORED;
			memcpy(build->page + PAGE_HEAD_SIZE + build->len, &lost, sizeof(lost));
		}
	}
	memcpy(build->page, &head, sizeof(head));
}
