/*
 * R12, R6: in discard mode what is not read yet is never written over; what finds no room is
 * counted, and told where it is missing.
 *
 * Writes and reads are drawn, slow readers and fast ones, and a plain list of what was committed
 * says what must be read: all of it, in order. An event may be dropped only when the next page
 * would put what the slowest reader has not read out of its reach. A page tells the drops before
 * it: at its first event read + lost is its number.
 */
#include "base/err.h"
#include "capture/stream.h"
#include "ring/audit.h"

#define NCPU 2u
#define ATTEMPTS 40000u

struct reader {
	struct cursor cursor;
	uint64_t consumed_at, records_at;
	uint32_t read;	      /* of the list */
	uint64_t lost_before; /* by cursors that were closed */
	uint32_t chance;      /* of 100, to read at all */
};

/* One ring, its readers, and what must be in it. */
struct scene {
	struct lab lab;
	uint32_t ring;
	bool twin;
	struct reader reader[NCPU];
	uint32_t nreaders;
	uint32_t list[ATTEMPTS + 1000]; /* ids that were committed */
	uint32_t committed, dropped, attempt;
	uint32_t pages;		       /* entered so far */
	uint32_t dropped_at[ATTEMPTS]; /* when each was entered */
	uint64_t state, ts;
};

static struct scene scene;

static uint64_t reader_page(const struct reader *reader)
{
	struct ring_source source = lab_source(&scene.lab, scene.ring);
	const struct ring_head *head = lab_head(&scene.lab, scene.ring);
	uint32_t offset;
	uint64_t consumed;

	memcpy(&consumed, (const char *)head + reader->consumed_at, sizeof(consumed));
	return ring_pos_page(&source, consumed, head->tail, &offset);
}

/* How far behind the slowest reader is, in pages. */
static int64_t behind(void)
{
	struct ring_source source = lab_source(&scene.lab, scene.ring);
	uint64_t tail = lab_head(&scene.lab, scene.ring)->tail;
	int64_t most = 0;

	for (uint32_t i = 0; i < scene.nreaders; i++) {
		int64_t pages = ring_distance(&source, reader_page(&scene.reader[i]), tail);

		CHECK(pages >= 0, "R12: a reader is ahead of the writer");
		most = pages > most ? pages : most;
	}
	return most;
}

static void check_room(enum ring_result result, uint64_t tail_before, int64_t behind_before)
{
	const struct ring_head *head = lab_head(&scene.lab, scene.ring);
	int64_t reach = (int64_t)scene.lab.npages - 2;

	CHECK(result == RING_DONE || result == RING_DROPPED, "result %d", result);
	CHECK(behind() <= reach,
	      "R12: the writer entered a page while one %lld pages back was unread",
	      (long long)behind());
	if (result == RING_DROPPED) {
		CHECK(head->tail == tail_before, "R12: dropped, and the tail moved");
		CHECK(behind_before == reach,
		      "R12: dropped while there was room: %lld pages behind",
		      (long long)behind_before);
		scene.dropped++;
	} else {
		if (head->tail != tail_before)
			scene.dropped_at[++scene.pages] = scene.dropped;
		scene.list[scene.committed++] = scene.attempt;
	}
	CHECK(head->dropped == scene.dropped, "R6: %llu drops counted, not %u",
	      (unsigned long long)head->dropped, scene.dropped);
	scene.attempt++;
}

static void write_one(uint32_t len)
{
	struct record record;
	struct ring_op op;
	uint64_t tail = lab_head(&scene.lab, scene.ring)->tail;
	int64_t pages = behind();

	scene.ts += 1 + draw(&scene.state) % 1000;
	record_fill(&record, scene.attempt, len, scene.ts);
	op = lab_op(&scene.lab, &record, len);
	op.ts = scene.ts;
	check_room(scene.twin
			   ? ring_twin_write(&scene.lab.refs[scene.ring], &op, scene.attempt % NCPU)
			   : ring_write(lab_fake_rseq(), &op),
		   tail, pages);
}

static void reader_open(struct reader *reader)
{
	struct ring_source source = lab_source(&scene.lab, scene.ring);

	CHECK(!cursor_open(&reader->cursor, &source, reader->consumed_at, reader->records_at),
	      "cursor");
}

static void check_event(struct reader *reader)
{
	struct ring_source source = lab_source(&scene.lab, scene.ring);
	const struct page_event *event = &reader->cursor.event;
	uint64_t lost = reader->lost_before + reader->cursor.lost;
	uint32_t skip = scene.twin ? 4 : 0;
	uint32_t page = (uint32_t)ring_distance(&source, 0, reader->cursor.page);
	struct record record;
	const char *wrong = record_wrong((const char *)event->data + skip, event->len - skip,
					 event->ts, &record);

	CHECK(!wrong, "R1: event %u: %s", reader->read, wrong);
	CHECK(reader->read < scene.committed && record.id == scene.list[reader->read],
	      "R12: event %u was read, %u is next of what was committed", record.id,
	      scene.list[reader->read]);
	CHECK(lost == scene.dropped_at[page],
	      "R6: at page %u %llu are told lost, %u were dropped before it", page,
	      (unsigned long long)lost, scene.dropped_at[page]);
	CHECK(reader->cursor.nr == reader->read + lost, "R6: numbered %llu, not %llu",
	      (unsigned long long)reader->cursor.nr, (unsigned long long)(reader->read + lost));
}

static void read_some(struct reader *reader, uint32_t most)
{
	struct ring_read record = { 0 };

	for (uint32_t n = 0; n < most && cursor_peek(&reader->cursor) > 0; n++) {
		check_event(reader);
		cursor_pass(&reader->cursor);
		reader->read++;
	}
	record.pos = ring_pos(reader->cursor.page, reader->cursor.offset);
	record.nr = reader->cursor.nr;
	CHECK(!cursor_store(&reader->cursor, reader->consumed_at, reader->records_at, &record),
	      "store");
	if (draw(&scene.state) % 8 == 0) {
		reader->lost_before += reader->cursor.lost;
		cursor_close(&reader->cursor);
		reader_open(reader);
	}
}

static void scene_open(uint32_t npages, bool twin, uint64_t seed)
{
	memset(&scene, 0, sizeof(scene));
	scene.state = seed;
	scene.twin = twin;
	scene.ring = twin ? NCPU : 0;
	scene.nreaders = twin ? NCPU : 1;
	lab_open(&scene.lab, NCPU, npages, 4096, 0);
	for (uint32_t i = 0; i < scene.nreaders; i++) {
		struct reader *reader = &scene.reader[i];
		uint64_t at = RING_STREAMS_OFFSET + i * sizeof(struct ring_stream);

		reader->consumed_at = twin ? at + offsetof(struct ring_stream, consumed)
					   : offsetof(struct ring_head, consumed);
		reader->records_at = twin ? at + offsetof(struct ring_stream, read)
					  : offsetof(struct ring_head, read);
		reader->chance = 1 + draw(&scene.state) % 30;
		reader_open(reader);
	}
}

static void run(uint32_t npages, bool twin, uint64_t seed)
{
	scene_open(npages, twin, seed);
	while (scene.attempt < ATTEMPTS - 1000) {
		uint32_t size = draw(&scene.state);

		write_one(RECORD_MIN + (size % 16 ? size / 16 % 50 * 4 : size / 16 % 1000 * 4));
		for (uint32_t i = 0; i < scene.nreaders; i++)
			if (draw(&scene.state) % 100 < scene.reader[i].chance)
				read_some(&scene.reader[i], draw(&scene.state) % 40);
		/* Now and then nobody reads for long. */
		for (uint32_t n = size % 1000 ? 0 : 500; n; n--)
			write_one(RECORD_MIN + n % 100 * 4);
	}
	/* The last drops are told with a page to come. */
	for (uint32_t from = scene.pages; scene.pages < from + 2;) {
		write_one(1000);
		for (uint32_t i = 0; i < scene.nreaders; i++)
			read_some(&scene.reader[i], 1000);
	}
	for (uint32_t i = 0; i < scene.nreaders; i++) {
		struct reader *reader = &scene.reader[i];

		CHECK(reader->read + reader->lost_before + reader->cursor.lost ==
			      scene.committed + scene.dropped,
		      "R6: %u read and %llu lost of %u committed and %u dropped", reader->read,
		      (unsigned long long)(reader->lost_before + reader->cursor.lost),
		      scene.committed, scene.dropped);
		cursor_close(&reader->cursor);
	}
	CHECK(scene.dropped && scene.pages > 10 * npages, "too little happened");
	printf("%s of %u pages: %u committed, %u dropped, %u pages\n",
	       twin ? "overflow ring" : "ring", npages, scene.committed, scene.dropped,
	       scene.pages);
	lab_close(&scene.lab);
}

/* ---- the same through a consuming stream, page by page ---- */

static struct stream *stream_of(void)
{
	struct state_buffer buffer = {
		.page_size = scene.lab.page_size,
		.npages = scene.lab.npages,
		.live = { .offset = LAB_SET,
			  .npages = scene.lab.npages,
			  .page_size = scene.lab.page_size,
			  .generation = 1 },
	};
	struct err err = ERR_INIT;
	struct stream *stream = NULL;

	CHECK(!stream_open(&stream, scene.lab.fd, &buffer, NCPU, 0, true, &err), "%s", err.text);
	return stream;
}

static uint64_t stream_read(struct stream *stream, uint32_t most, uint64_t *lost)
{
	static unsigned char page[PAGE_SIZE_MAX];
	struct reader *reader = &scene.reader[0];
	uint64_t pages = 0;
	struct stream_page info;
	struct page_walk walk;
	struct page_event event;

	for (; pages < most && stream_next(stream, page, &info) > 0; pages++) {
		CHECK(!page_walk_init(&walk, page, stream_page_size(stream)), "R1: no page");
		CHECK(walk.lost == info.lost, "R6: the page tells %llu lost, not %llu",
		      (unsigned long long)walk.lost, (unsigned long long)info.lost);
		*lost += info.lost;
		while (page_walk_next(&walk, &event) > 0) {
			uint32_t id;

			memcpy(&id, event.data, sizeof(id));
			CHECK(reader->read < scene.committed && id == scene.list[reader->read],
			      "R12: event %u of the stream, not %u", id, scene.list[reader->read]);
			reader->read++;
		}
	}
	/* What was handed out and is through is read. */
	if (pages)
		stream_accept(stream);
	return pages;
}

static void run_stream(uint32_t npages, uint64_t seed)
{
	struct stream *stream;
	uint64_t lost = 0;

	scene_open(npages, false, seed);
	stream = stream_of();
	while (scene.attempt < ATTEMPTS - 1000) {
		write_one(RECORD_MIN + draw(&scene.state) % 80 * 4);
		if (draw(&scene.state) % 100 == 0)
			stream_read(stream, draw(&scene.state) % 4, &lost);
		if (draw(&scene.state) % 2000 == 0) {
			stream_close(stream);
			stream = stream_of();
		}
	}
	for (uint32_t from = scene.pages; scene.pages < from + 2;) {
		write_one(1000);
		stream_read(stream, 1000, &lost);
	}
	stream_read(stream, 1000, &lost);
	CHECK(scene.reader[0].read + lost == scene.committed + scene.dropped && scene.dropped,
	      "R6: the stream gave %u and told %llu lost of %u committed and %u dropped",
	      scene.reader[0].read, (unsigned long long)lost, scene.committed, scene.dropped);
	printf("stream of %u pages: %u committed, %u dropped\n", npages, scene.committed,
	       scene.dropped);
	stream_close(stream);
	cursor_close(&scene.reader[0].cursor);
	lab_close(&scene.lab);
}

int main(void)
{
	for (uint32_t npages = 4; npages <= 9; npages++) {
		run(npages, false, 0x9e3779b97f4a7c15ull + npages);
		run(npages, true, 0xbf58476d1ce4e5b9ull + npages);
		run_stream(npages, 0x94d049bb133111ebull + npages);
	}
	return 0;
}
