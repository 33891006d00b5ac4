/*
 * Behind the first words: any frames of whoever may record, into a file in memory, cut off anywhere and gone on with. What makes no sense is
 * refused with words, the position counts what was taken, each lane has as many pages in the file as are counted, and the file
 * can be read when it was told once.
 *
 * The input: a byte for the shape of the recording; then frames: kind : 8 | length : 16 | body. Kind 255 is a cut, 254 another file.
 */
#include <stdint.h>

#include "collect/taker.h"
#include "still_target.h"

#define CUT 255
#define TURN 254
#define FILES_MAX 4

static struct taker taker;
static int file, files, journal;
static bool is_told;

static size_t put_open(uint8_t *body, uint8_t shape)
{
	struct wire_open open = {
		.page_size = 4096u << (shape >> 6 & 1), .nr_cpus = 1 + (shape & 3), .nr_buffers = 1 + (shape >> 2 & 3), .long_size = 8, .flags = WIRE_MONO,
	};
	size_t len = sizeof(open);

	memcpy(body, &open, sizeof(open));
	for (uint32_t i = 0; i < open.nr_buffers; i++) {
		struct wire_buffer buffer = { .page_size = open.page_size, .name_len = i ? 1 : 0, .clock_len = 4 };

		memcpy(body + len, &buffer, sizeof(buffer));
		len += sizeof(buffer);
		if (i)
			body[len++] = (uint8_t)('a' + i);
		memcpy(body + len, "mono", 4);
		len += 4;
	}
	return len;
}

static void check(void)
{
	for (size_t i = 0; i < taker.nr_lanes; i++) {
		uint32_t buffer = (uint32_t)(i / taker.open.nr_cpus), cpu = (uint32_t)(i % taker.open.nr_cpus);

		still_insist(dat_live_lane(taker.live, buffer, cpu) == taker.lanes[i].pages * taker.page_sizes[buffer]);
	}
}

static void check_file(void)
{
	struct err err = ERR_INIT;
	struct dat *dat = NULL;

	/* Without a header nobody can read it; whatever the rest is, it is refused with words. */
	still_insist(!dat_open_fd(&dat, file, "file", &err) || *err.text);
	dat_close(dat);
}

static bool begin(uint8_t shape)
{
	uint8_t body[300];
	struct err err = ERR_INIT;
	size_t len = put_open(body, shape);

	still_insist(!taker_open(&taker, body, len, &err));
	taker.keeps = shape & 128;
	taker.journal = (struct journal){ .fd = journal };
	return true;
}

static bool cut(uint8_t shape)
{
	struct err err = ERR_INIT;
	int r;

	taker_close(&taker);
	begin(shape);
	r = taker_resume(&taker, dup(file), "file", &err);
	still_insist(!r || *err.text);
	return !r;
}

static bool turn(void)
{
	struct err err = ERR_INIT;
	int next = memfd_create("next", 0), r;

	still_insist(next >= 0);
	r = taker.keeps && files++ < FILES_MAX ? taker_prepare(&taker, dup(next), "next", &err) : -1;
	if (!r)
		r = taker_turn(&taker, &err);
	close(r ? next : file);
	file = r ? file : next;
	return !r;
}

static bool say(uint8_t kind, const uint8_t *body, size_t len)
{
	struct frame frame = { (enum wire_kind)kind, body, len };
	uint64_t at = taker.at;
	struct err err = ERR_INIT;
	int r = taker_frame(&taker, &frame, &err);

	still_insist(!r == !err.code && (!r || *err.text));
	still_insist(taker.at == at + (r ? 0 : sizeof(struct wire_head) + len));
	is_told |= !r && kind == WIRE_TELL;
	return !r && !taker.ended;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = ERR_INIT;
	bool goes_on = true;
	uint8_t shape;

	if (!size)
		return 0;
	shape = *data++;
	size--;
	files = 0;
	is_told = false;
	file = memfd_create("file", 0);
	journal = memfd_create("journal", 0);
	still_insist(file >= 0 && begin(shape) && !taker_begin(&taker, dup(file), "file", &err));
	while (goes_on && size >= 3) {
		uint8_t kind = data[0];
		size_t len = (size_t)data[1] | (size_t)data[2] << 8;

		data += 3;
		size -= 3;
		len = len < size ? len : size;
		if (kind == CUT) {
			goes_on = cut(len & 1 ? shape : (uint8_t)(shape ^ len));
			len = 0;
		} else if (kind == TURN) {
			goes_on = turn();
			len = 0;
		} else {
			goes_on = say(kind, data, len);
		}
		if (taker.live && goes_on)
			check();
		data += len;
		size -= len;
	}
	if (taker.live)
		taker_finish(&taker, &err);
	check_file();
	taker_close(&taker);
	close(file);
	close(journal);
	return 0;
}
