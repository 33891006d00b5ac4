/*
 * capture/stats: what a CPU's rings hold, lost and gave away. See stream.h.
 */
#include "capture/lanes.h"
#include "capture/stream.h"

/* Was the event in hand written behind what was the ring's end? */
static bool is_behind(const struct cursor *cursor, uint64_t tail, uint32_t commit)
{
	int64_t pages = ring_distance(&cursor->source, tail, cursor->page);

	return pages > 0 || (!pages && cursor->event.offset >= commit);
}

static int add_lane(const struct stream *stream, struct reader *reader, uint32_t n, struct stream_stats *stats)
{
	struct lane *lane = &reader->lane[n];
	struct ring_source source = stream_lane_source(stream, &reader->set, stream_lane_ring(stream, n));
	uint64_t lost, tail = 0;
	uint32_t commit;
	int ret = ring_read_tail(&source, &tail);

	if (ret)
		return ret;
	/* What is there now, before anything is copied: writers may be as fast as we count, and counting has to end. */
	commit = ring_page_commit(&source, tail);
	ret = stream_lane_peek(stream, reader, n);
	for (; ret > 0 && !is_behind(&lane->cursor, tail, commit); ret = stream_lane_peek(stream, reader, n)) {
		const struct page_event *event = &lane->cursor.event;

		if (!stats->oldest_ts || event->ts < stats->oldest_ts)
			stats->oldest_ts = event->ts;
		stats->entries++;
		stats->bytes += event->len + 4;
		cursor_pass(&lane->cursor);
	}
	if (ret < 0 || !lane->open)
		return ret;
	stats->read += lane->cursor.read_before;
	lost = lane->cursor.lost_before + lane->cursor.lost;
	if (!n) {
		struct ring_head head;

		ret = ring_read_head(&lane->cursor.source, &head);
		if (ret)
			return ret;
		stats->dropped += head.dropped + head.refused;
		/* Told losses are overwritten, dropped or refused ones. */
		lost -= lost < lane->cursor.refused_before ? lost : lane->cursor.refused_before;
		stats->overrun += lost > head.dropped ? lost - head.dropped : 0;
	} else if (stream_lane_tells(stream, n)) {
		stats->overrun += lost;
	}
	return 0;
}

int stream_stats(struct stream *stream, struct stream_stats *stats)
{
	struct stream fresh = *stream;
	int ret = 0;

	/* Counted by looking, with readers of their own so that the stream's position stays. */
	*stats = (struct stream_stats){ 0 };
	for (uint32_t i = 0; i < stream->nreaders && !ret; i++) {
		struct reader reader;

		ret = stream_reader_open(&fresh, &reader, &stream->reader[i].set);
		for (uint32_t n = 0; !ret && n < stream_lanes(&fresh); n++)
			ret = add_lane(&fresh, &reader, n, stats);
		stream_reader_close(&fresh, &reader);
	}
	stats->written = stats->entries + stats->read + stats->overrun;
	return ret;
}
