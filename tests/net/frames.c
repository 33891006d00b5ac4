/*
 * Frames that are meant to do harm, into the taker of recordings: lengths and counts beyond their ends, a million CPUs, pages out of
 * order, twice, of other sizes, in pieces, options in options, a recording of another shape. What makes no sense is refused, what
 * was there before stays, and the file can be read all the while.
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collect/taker.h"
#include "dat/lived.h"
#include "insist.h"

#define PAGE 4096u

static struct taker taker;
static int file = -1;
static struct err err;
static const char *trying = "";

/* ---- frames ---- */

struct shape {
	uint32_t cpus, buffers, page;
	uint8_t long_size, flags;
	const char *name;	/* of the second buffer */
	size_t name_len;
	int more;		/* bytes behind the last, or missing */
};

static int open_as(const struct shape *shape)
{
	struct wire_open open = {
		.recording = "0123456789abcde", .page_size = shape->page, .nr_cpus = shape->cpus, .nr_buffers = shape->buffers,
		.long_size = shape->long_size, .flags = shape->flags,
	};
	struct buf body = BUF_INIT;
	int r;

	buf_add(&body, &open, sizeof(open));
	for (uint32_t i = 0; i < shape->buffers && i < 300; i++) {
		struct wire_buffer buffer = { .page_size = shape->page, .name_len = i ? (uint16_t)shape->name_len : 0, .clock_len = 4 };

		buf_add(&body, &buffer, sizeof(buffer));
		if (i)
			buf_add(&body, shape->name, shape->name_len);
		buf_add(&body, "mono", 4);
	}
	for (int i = 0; i < shape->more; i++)
		buf_putc(&body, 'x');
	body.len -= shape->more < 0 ? (size_t)-shape->more : 0;
	err = (struct err)ERR_INIT;
	/* Exactly so long, for whoever looks behind it. */
	body.data = realloc(body.data, body.len + !body.len);
	r = taker_open(&taker, (uint8_t *)body.data, body.len, &err);
	CHECK(!r == !err.code, "%s: refused without words", trying);
	free(body.data);
	return r;
}

static int say(uint16_t kind, const void *head, size_t head_len, const void *rest, size_t rest_len)
{
	uint8_t *body = malloc(head_len + rest_len + 1);
	struct frame frame = { (enum wire_kind)kind, body, head_len + rest_len };
	uint64_t at = taker.at;
	int r;

	/* Nothing lies behind it. */
	body = realloc(body, head_len + rest_len + (head_len + rest_len == 0));
	frame.body = body;
	if (head_len)
		memcpy(body, head, head_len);
	if (rest_len)
		memcpy(body + head_len, rest, rest_len);
	err = (struct err)ERR_INIT;
	r = taker_frame(&taker, &frame, &err);
	CHECK(!r == !err.code, "%s: refused without words", trying);
	CHECK(taker.at == at + (r ? 0 : 8 + frame.len), "%s: is counted wrong", trying);
	free(body);
	return r;
}

static int say_section(enum dat_id id, const struct buf *payload)
{
	return say(WIRE_SECTION, (uint32_t[]){ id, WIRE_FIRST | WIRE_LAST }, 8, payload->data, payload->len);
}

/* With as much as a file needs to be one. */
static void start(uint32_t cpus, uint32_t buffers)
{
	const struct shape shape = { cpus, buffers, PAGE, 8, 0, "two", 3, 0 };
	struct buf payload = BUF_INIT;

	CHECK(!open_as(&shape), "%s", err.text);
	file = memfd_create("recording", MFD_CLOEXEC);
	CHECK(file >= 0 && !taker_begin(&taker, dup(file), "recording", &err), "%s", err.text);
	made_headers(&payload, &lived_abi, PAGE);
	CHECK(!say_section(DAT_HEADER_INFO, &payload), "%s", err.text);
	buf_reset(&payload);
	made_word(&payload, &lived_abi, 4, 0);
	CHECK(!say_section(DAT_FTRACE_EVENTS, &payload), "%s", err.text);
	buf_reset(&payload);
	made_events(&payload, &lived_abi);
	CHECK(!say_section(DAT_EVENT_FORMATS, &payload), "%s", err.text);
	buf_fini(&payload);
}

static int say_pages(uint32_t buffer, uint32_t cpu, uint64_t first, uint8_t fill, size_t len)
{
	static uint8_t pages[8 * PAGE];
	const struct wire_pages head = { buffer, cpu, first };

	memset(pages, fill, sizeof(pages));
	return say(WIRE_PAGES, &head, sizeof(head), pages, len);
}

static int say_page(uint64_t number, uint32_t head_len, uint32_t at, uint8_t fill, size_t rest, uint32_t flags)
{
	const struct wire_page head = { .number = number, .head = head_len, .at = at, .flags = flags };
	uint8_t bytes[2 * PAGE];

	memset(bytes, fill, sizeof(bytes));
	return say(WIRE_PAGE, &head, sizeof(head), bytes, rest);
}

static int say_options(uint32_t flags, const void *bytes, size_t len)
{
	const struct wire_options head = { .flags = flags };

	return say(WIRE_OPTIONS, &head, sizeof(head), bytes, len);
}

static uint8_t byte_at(uint64_t at)
{
	uint8_t byte;

	CHECK(!dat_live_read(taker.live, 0, 0, at, &byte, 1), "%s: nothing is there", trying);
	return byte;
}

/* ---- what they come to ---- */

static void check_file(void)
{
	struct dat *dat = NULL;

	err = (struct err)ERR_INIT;
	CHECK(!dat_live_publish(taker.live), "%s: the file cannot be told", trying);
	CHECK(!dat_open_fd(&dat, file, "recording", &err), "%s: %s", trying, err.text);
	dat_close(dat);
}

static void finish(void)
{
	check_file();
	taker_close(&taker);
	close(file);
	file = -1;
}

static void try_shapes(void)
{
	static char long_name[300];
	static const struct {
		const char *what;
		struct shape shape;
		int code;
	} tries[] = {
		{ "one", { 1, 1, PAGE, 8, 0, "", 0, 0 }, 0 }, { "two buffers", { 2, 2, PAGE, 4, 0, "other", 5, 0 }, 0 },
		{ "a million CPUs", { 1000000, 1, PAGE, 8, 0, "", 0, 0 }, -E2BIG }, { "all CPUs", { UINT32_MAX, 1, PAGE, 8, 0, "", 0, 0 }, -E2BIG },
		{ "no CPU", { 0, 1, PAGE, 8, 0, "", 0, 0 }, -E2BIG }, { "no buffer", { 1, 0, PAGE, 8, 0, "", 0, 0 }, -E2BIG },
		{ "a million buffers", { 1, 1000000, PAGE, 8, 0, "x", 1, 0 }, -E2BIG }, { "many of both", { 4096, 256, PAGE, 8, 0, "x", 1, 0 }, -E2BIG },
		{ "a product of nothing", { 65536, 65536, PAGE, 8, 0, "x", 1, 0 }, -E2BIG }, { "no size", { 1, 1, 0, 8, 0, "", 0, 0 }, -EPROTO },
		{ "an odd size", { 1, 1, 5000, 8, 0, "", 0, 0 }, -EPROTO }, { "a large size", { 1, 1, 1u << 31, 8, 0, "", 0, 0 }, -EPROTO },
		{ "a long of 3", { 1, 1, PAGE, 3, 0, "", 0, 0 }, -EPROTO }, { "big endian", { 1, 1, PAGE, 8, 1, "", 0, 0 }, -ENOTSUP },
		{ "bytes behind it", { 1, 1, PAGE, 8, 0, "", 0, 1 }, -EPROTO }, { "a byte missing", { 1, 1, PAGE, 8, 0, "", 0, -1 }, -EPROTO },
		{ "half a buffer", { 1, 2, PAGE, 8, 0, "two", 3, -10 }, -EPROTO }, { "a buffer without a name", { 1, 2, PAGE, 8, 0, "", 0, 0 }, -EPROTO },
		{ "a name that is a path", { 1, 2, PAGE, 8, 0, "../../x", 7, 0 }, -EPROTO }, { "a path", { 1, 2, PAGE, 8, 0, "a/b", 3, 0 }, -EPROTO },
		{ "a hidden name", { 1, 2, PAGE, 8, 0, "..", 2, 0 }, -EPROTO }, { "a name with an end in it", { 1, 2, PAGE, 8, 0, "a\0b", 3, 0 }, -EPROTO },
		{ "a long name", { 1, 2, PAGE, 8, 0, long_name, 256, 0 }, -EPROTO },
	};

	memset(long_name, 'x', sizeof(long_name));
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		int r;

		trying = tries[i].what;
		r = open_as(&tries[i].shape);
		CHECK(r == tries[i].code, "%s: %d, %s", trying, r, err.text);
		taker_close(&taker);
	}
	trying = "an OPEN that is cut off";
	for (size_t len = 0; len < sizeof(struct wire_open); len++) {
		const struct wire_open open = { .page_size = PAGE, .nr_cpus = 1, .nr_buffers = 1, .long_size = 8 };
		uint8_t *body = malloc(len + !len);

		memcpy(body, &open, len);
		CHECK(taker_open(&taker, body, len, &err) == -EPROTO, "%zu bytes are taken", len);
		taker_close(&taker);
		free(body);
	}
}

static int no_section(void)
{
	return say(WIRE_SECTION, (uint32_t[]){ 99, 3 }, 8, "x", 1);
}

static int second_half(void)
{
	return say(WIRE_SECTION, (uint32_t[]){ DAT_KALLSYMS, WIRE_LAST }, 8, "x", 1);
}

static int half_of_another(void)
{
	int r = say(WIRE_SECTION, (uint32_t[]){ DAT_KALLSYMS, WIRE_FIRST }, 8, "x", 1);

	return r ? 0 : say(WIRE_SECTION, (uint32_t[]){ DAT_PRINTK, WIRE_LAST }, 8, "x", 1);
}

static int short_section(void)
{
	return say(WIRE_SECTION, "1234567", 7, NULL, 0);
}

static int owned_option(void)
{
	return say_options(3, "\3\0\4\0\0\0abcd", 10);
}

static int shift_of_times(void)
{
	return say_options(3, "\14\0\4\0\0\0abcd", 10);
}

static int option_beyond(void)
{
	return say_options(3, "\5\0\0\0\0\200abcd", 10);
}

static int option_of_all(void)
{
	return say_options(3, "\5\0\377\377\377\377abcd", 10);
}

static int half_option(void)
{
	return say_options(3, "\5\0\0\0\0", 5);
}

static int later_options(void)
{
	return say_options(WIRE_LAST, "", 0);
}

static int second_option_beyond(void)
{
	return say_options(3, "\5\0\1\0\0\0x\5\0\2\0\0\0x", 14);
}

static int other_cpu(void)
{
	return say_pages(0, 2, 0, 1, PAGE);
}

static int other_buffer(void)
{
	return say_pages(UINT32_MAX, 0, 0, 1, PAGE);
}

static int no_page(void)
{
	return say_pages(0, 0, 0, 1, 0);
}

static int half_a_page(void)
{
	return say_pages(0, 0, 0, 1, PAGE / 2);
}

static int page_and_a_half(void)
{
	return say_pages(0, 0, 0, 1, PAGE + PAGE / 2);
}

static int page_after_next(void)
{
	return say_pages(0, 0, 2, 1, PAGE);
}

static int last_page_of_all(void)
{
	return say_pages(0, 0, UINT64_MAX, 1, PAGE);
}

static int before_the_first(void)
{
	return say_pages(0, 0, UINT64_MAX - 1, 1, 3 * PAGE);
}

static int no_head(void)
{
	return say(WIRE_PAGES, "123456789012345", 15, NULL, 0);
}

static int behind_its_end(void)
{
	return say_page(1, 16, PAGE - 6, 1, 100, 0);
}

static int head_beyond(void)
{
	return say_page(1, 0xfffffff0, 0xfffffff0, 1, 100, 0);
}

static int head_over_the_rest(void)
{
	return say_page(1, 100, 50, 1, 200, 0);
}

static int without_beginning(void)
{
	return say_page(1, 16, 100, 1, 100, 0);
}

static int last_number_of_all(void)
{
	return say_page(UINT64_MAX, 16, 16, 1, 100, 0);
}

static int short_page(void)
{
	return say(WIRE_PAGE, "1234567890123456789012345678901", 31, NULL, 0);
}

static int another_open(void)
{
	return say(WIRE_OPEN, NULL, 0, NULL, 0);
}

static int no_kind(void)
{
	return say(999, NULL, 0, NULL, 0);
}

static int of_a_driver(void)
{
	return say(WIRE_RUN, "0123456789abcdef--event\0all", 28, NULL, 0);
}

static int short_sums(void)
{
	return say(WIRE_SUMS, "1234567", 7, NULL, 0);
}

static int long_end(void)
{
	return say(WIRE_END, "0123456789012345678901234", 25, NULL, 0);
}

static int behind_the_end(void)
{
	int r = say(WIRE_END, "012345678901234567890123", 24, NULL, 0);

	return r ? 0 : say_pages(0, 0, 1, 1, PAGE);
}

static void try_frames(void)
{
	static const struct {
		const char *what;
		int (*say)(void);
	} tries[] = {
		{ "a section of no kind", no_section }, { "a section's second half", second_half }, { "half of another", half_of_another },
		{ "half a section's head", short_section }, { "an option that is the file's", owned_option }, { "a shift of times", shift_of_times },
		{ "an option beyond its end", option_beyond }, { "an option of all there is", option_of_all }, { "half an option", half_option },
		{ "options without a beginning", later_options }, { "a second option beyond its end", second_option_beyond },
		{ "pages of another CPU", other_cpu }, { "pages of another buffer", other_buffer }, { "no page", no_page },
		{ "half a page", half_a_page }, { "a page and a half", page_and_a_half }, { "the page after the next", page_after_next },
		{ "the last page there can be", last_page_of_all }, { "pages before the first", before_the_first }, { "half a head", no_head },
		{ "a page behind its end", behind_its_end }, { "a head beyond its frame", head_beyond }, { "a head over the rest", head_over_the_rest },
		{ "a page without its beginning", without_beginning }, { "the last number there can be", last_number_of_all },
		{ "half of a page's head", short_page }, { "another OPEN", another_open }, { "a frame of no kind", no_kind },
		{ "what a driver says", of_a_driver }, { "sums of another length", short_sums }, { "an end of another length", long_end },
		{ "a page behind the end", behind_the_end },
	};

	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		int r;

		trying = tries[i].what;
		start(2, 2);
		CHECK(!say_pages(0, 0, 0, 7, PAGE), "%s", err.text);
		r = tries[i].say();
		CHECK(r == -EPROTO, "%s: %d, %s", trying, r, err.text);
		CHECK(dat_live_lane(taker.live, 0, 0) == PAGE && byte_at(0) == 7 && byte_at(PAGE - 1) == 7, "%s: what was there is not", trying);
		CHECK(!dat_live_lane(taker.live, 0, 1) && !dat_live_lane(taker.live, 1, 0), "%s: something is there", trying);
		finish();
	}
}

/* ---- what may come twice ---- */

static void try_pages(void)
{
	trying = "pages again and again";
	start(2, 2);
	for (int i = 0; i < 100; i++)
		CHECK(!say_pages(0, 0, 0, i ? 9 : 1, PAGE), "%s", err.text);
	CHECK(dat_live_lane(taker.live, 0, 0) == PAGE && byte_at(0) == 1, "a page that is there is written over");
	CHECK(!say_pages(0, 0, 0, 2, 3 * PAGE) && dat_live_lane(taker.live, 0, 0) == 3 * PAGE, "%s", err.text);
	CHECK(byte_at(PAGE - 1) == 1 && byte_at(PAGE) == 2, "what overlaps lies elsewhere");
	CHECK(!say_pages(0, 0, 1, 3, PAGE) && !say_pages(0, 0, 2, 3, 2 * PAGE) && byte_at(2 * PAGE) == 2 && byte_at(3 * PAGE) == 3, "%s", err.text);
	/* One that grows, and grows again, and is said again when it is done. */
	CHECK(!say_page(4, 16, 16, 4, 100, WIRE_IS_OPEN) && !say_page(4, 16, 116, 5, 50, WIRE_IS_OPEN), "%s", err.text);
	CHECK(dat_live_lane(taker.live, 0, 0) == 5 * PAGE && byte_at(4 * PAGE + 99) == 4, "a page that grows is not there");
	CHECK(byte_at(4 * PAGE) == 5 && byte_at(4 * PAGE + 116) == 5 && byte_at(4 * PAGE + 116 + 34) == 0, "a page that grows is another");
	CHECK(say_page(4, 16, PAGE - 6, 6, 100, WIRE_IS_OPEN) == -EPROTO, "a page grows behind its end");
	CHECK(say_page(5, 16, 16, 6, 100, 0) == -EPROTO, "a page behind one that is open is taken");
	CHECK(!say_page(4, 16, 150, 6, 20, 0) && !say_page(4, 16, 16, 7, 30, 0) && byte_at(4 * PAGE + 16) == 4, "what is done is written over");
	CHECK(!say_page(3, 16, 16, 7, 30, 0) && !say_pages(0, 0, 0, 7, 5 * PAGE) && byte_at(0) == 1, "what is done is written over");
	CHECK(!say_page(5, 16, 16, 6, 100, WIRE_IS_OPEN) && !say_pages(0, 0, 5, 8, PAGE) && byte_at(5 * PAGE + 20) == 8, "%s", err.text);
	CHECK(dat_live_lane(taker.live, 0, 0) == 6 * PAGE, "a page is there twice");
	finish();
}

static void try_options(void)
{
	static uint8_t much[1 << 19];
	int r = 0, n;

	trying = "options";
	start(1, 1);
	/* Options in an option are bytes; a list comes in any pieces, and again. */
	CHECK(!say_options(3, "\5\0\14\0\0\0\5\0\6\0\0\0\3\0\377\377\377\377", 18), "%s", err.text);
	CHECK(!say_options(WIRE_FIRST, "\5", 1) && !say_options(0, "\0\1\0", 3) && !say_options(0, "", 0) && !say_options(WIRE_LAST, "\0\0x", 3), "%s",
	      err.text);
	CHECK(!say_options(WIRE_FIRST, "\5\0\1", 3) && !say_options(3, "", 0), "%s", err.text);
	finish();
	trying = "options without an end";
	start(1, 1);
	for (n = 0; !r && n < 200; n++)
		r = say_options(n ? 0 : WIRE_FIRST, much, sizeof(much));
	CHECK(r == -E2BIG && n > 100, "%d after %d", r, n);
	finish();
	trying = "a section without an end";
	start(1, 1);
	for (r = n = 0; !r && n < 200; n++)
		r = say(WIRE_SECTION, (uint32_t[]){ DAT_KALLSYMS, n ? 0 : WIRE_FIRST }, 8, much, sizeof(much));
	CHECK(r == -E2BIG && n > 100, "%d after %d", r, n);
	finish();
}

/* ---- what was left ---- */

static int come_back(const struct shape *shape)
{
	int r = open_as(shape);

	return r ? r : taker_resume(&taker, dup(file), "recording", &err);
}

static void try_to_resume(void)
{
	static const struct {
		const char *what;
		struct shape shape;
		int code;
	} tries[] = {
		{ "the same", { 4, 2, PAGE, 8, 0, "two", 3, 0 }, 0 }, { "more buffers", { 2, 4, PAGE, 8, 0, "two", 3, 0 }, -EPROTO },
		{ "fewer buffers", { 8, 1, PAGE, 8, 0, "", 0, 0 }, -EPROTO }, { "more buffers yet", { 1, 8, PAGE, 8, 0, "two", 3, 0 }, -EPROTO },
		{ "larger pages", { 4, 2, 2 * PAGE, 8, 0, "two", 3, 0 }, -EPROTO },
	};

	trying = "left behind";
	start(4, 2);
	CHECK(!say_pages(1, 3, 0, 7, 2 * PAGE) && !say(WIRE_TELL, NULL, 0, NULL, 0), "%s", err.text);
	taker_close(&taker);
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		int r;

		trying = tries[i].what;
		r = come_back(&tries[i].shape);
		CHECK(r == tries[i].code, "%s: %d, %s", trying, r, err.text);
		if (!r) {
			CHECK(taker.lanes[7].pages == 2 && !say_pages(1, 3, 1, 9, 2 * PAGE), "%s", err.text);
			CHECK(dat_live_lane(taker.live, 1, 3) == 3 * PAGE, "%s: not gone on with", trying);
		}
		taker_close(&taker);
	}
	trying = "garbage";
	CHECK(!ftruncate(file, 5000) && pwrite(file, "garbage", 7, 0) == 7 && come_back(&tries[0].shape) < 0, "garbage is gone on with");
	taker_close(&taker);
	close(file);
}

int main(void)
{
	try_shapes();
	try_frames();
	try_pages();
	try_options();
	try_to_resume();
	return 0;
}
