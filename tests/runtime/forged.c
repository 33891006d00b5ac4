/*
 * A state that is published but not whole, as when it was written over while it was read, is not believed: the program goes on as if
 * nothing were on, and follows again as soon as a whole one is published.
 */
#include "runtime/trace.h"

#include "base/crc32c.h"

static struct control *control;

/* Puts a copy of the state in force at a place of its own and publishes it; `whole` says whether its checksum fits. */
static void publish_copy(bool whole)
{
	uint64_t bytes[4096 / 8] = { 0 }, published;
	struct state_head *state = (struct state_head *)bytes;
	int fd = control->dir.fd[SEGMENT_CONTROL];
	uint64_t place = 1000;	/* far from where the tool puts its own */

	CHECK(pread(fd, &published, 8, offsetof(struct control_head, published)) == 8, "published");
	CHECK(pread(fd, bytes, sizeof(bytes), (off_t)((published & CONTROL_PLACE_MASK) * 4096)) > 0, "state");
	CHECK(state->size <= sizeof(bytes), "the state is larger than this test thinks");
	CHECK(!ftruncate(fd, (off_t)((place + 1) * 4096)), "ftruncate");
	published = ((published >> CONTROL_PLACE_BITS) + 1) << CONTROL_PLACE_BITS | place;
	state->published = published;
	state->crc = 0;
	state->crc = crc32c(0, state, state->size) ^ !whole;
	CHECK(pwrite(fd, bytes, sizeof(bytes), (off_t)(place * 4096)) == sizeof(bytes), "state");
	CHECK(pwrite(fd, &published, 8, offsetof(struct control_head, published)) == 8, "published");
}

int main(void)
{
	struct note_event event;
	struct state_buffer before;
	uint64_t events = 0;

	control = tool_start(64);
	event = note_event("forged");
	note_write(&event, 1, 0, NOTE_MIN);
	publish_copy(true);
	note_write(&event, 1, 1, NOTE_MIN);
	tool_refresh(control);
	before = control->state.buffers[0];
	publish_copy(false);
	note_write(&event, 1, 2, NOTE_MIN);
	for (uint32_t cpu = 0; cpu < control->dir.ncpu; cpu++) {
		struct err err = ERR_INIT;
		struct stream_stats stats;
		struct stream *stream;

		CHECK(!stream_open(&stream, control->dir.fd[SEGMENT_RINGS], &before, control->dir.ncpu, cpu, false, &err),
		      "%s", err.text);
		CHECK(!stream_stats(stream, &stats), "stats");
		events += stats.entries;
		stream_close(stream);
	}
	CHECK(events == 2, "%llu events: the whole states' are two", (unsigned long long)events);
	control_close(control);
	return 0;
}
