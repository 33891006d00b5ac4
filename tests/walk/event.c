/*
 * One event's way through every room, step by step: read this first.
 *
 *   declare -> switch on -> emit -> ring -> stream -> page walk -> format -> text
 *
 * Each step looks at what the one before left, with the function that the next room uses itself.
 */
#include <ringside/ringside.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/stream.h"
#include "control/control.h"
#include "control/enable.h"
#include "control/names.h"
#include "control/tree.h"
#include "decode/page.h"
#include "insist.h"
#include "layout/page.h"
#include "report/trace.h"

/* event/: one macro makes the record's layout, its format text, and a function to call. Its constructor has registered it in
 * the tracing directory before main. */
RINGSIDE_EVENT(walk, hello,
	field(int, answer),
	string(who),
	print("answer=%d who=%s", answer, who))

static struct err err = ERR_INIT;

/* control/: a rule, and because it is the first, rings; published as a new generation. */
static struct control *switch_on(void)
{
	struct control *control;

	CHECK(!control_open(&control, NULL, false, &err), "%s", err.text);
	CHECK(!trace_walk_hello_enabled(), "nobody has asked for it yet");
	CHECK(!control_begin(control, &err) && !control_enable(control, 0, "walk", "*", true, &err) &&
	      !control_commit(control, &err), "%s", err.text);
	CHECK(trace_walk_hello_enabled(), "the site tests a word in shared memory: no message had to be sent");
	return control;
}

/* runtime/ and ring/: the record is put together on our stack and committed to this CPU's page by one store. */
static void emit(void)
{
	trace_walk_hello(42, "world");
}

/* ring/ and capture/: whichever CPU it was, its stream yields one page, in the kernel's bytes. */
static void capture(struct control *control, unsigned char page[4096], int *cpu)
{
	int pages = 0;

	CHECK(!control_refresh(control, &err), "%s", err.text);
	for (uint32_t i = 0; i < control->dir.ncpu; i++) {
		struct stream *stream;
		struct stream_page info;
		unsigned char copy[4096];

		CHECK(!stream_open(&stream, control->dir.fd[SEGMENT_RINGS], &control->state.buffers[0],
				   control->dir.ncpu, i, false, &err), "%s", err.text);
		CHECK(stream_page_size(stream) == sizeof(copy), "%u", stream_page_size(stream));
		while (stream_next(stream, copy, &info) > 0) {
			CHECK(info.events == 1 && !info.lost, "%u events", info.events);
			memcpy(page, copy, sizeof(copy));
			*cpu = (int)i;
			pages++;
		}
		stream_close(stream);
	}
	CHECK(pages == 1, "%d pages have events", pages);
}

/* decode/: the page's events, each with its time and its record. */
static struct page_event walk(const unsigned char page[4096])
{
	struct page_walk walk;
	struct page_event event, none;
	struct record_head head;

	CHECK(!page_walk_init(&walk, page, 4096), "not a page");
	CHECK(page_walk_next(&walk, &event) == 1 && page_walk_next(&walk, &none) == 0, "one event");
	CHECK(event.ts == walk.time_stamp, "the first event gives the page its time");
	/* 8 common bytes, an int, where the string lies and how long it is, the string with its NUL, rounded up to words */
	CHECK(event.len == 8 + 4 + 4 + 8, "%u bytes", event.len);
	memcpy(&head, event.data, sizeof(head));
	CHECK(head.type >= EVENT_ID_FIRST && head.pid == getpid(), "type %u pid %d", head.type, head.pid);
	CHECK(!memcmp((const char *)event.data + 16, "world", 6), "the string");
	return event;
}

/* decode/ and report/: the format text that the program registered says how it reads. */
static void print(struct control *control, const struct page_event *event, int cpu)
{
	const struct record_head *head = event->data;
	struct buf line = BUF_INIT, format = BUF_INIT;
	struct control_names *names;
	struct report_row row = { .ts = event->ts, .cpu = cpu, .data = event->data, .len = event->len };

	CHECK(!control_names_open(&names, control, &err), "%s", err.text);
	row.format = control_names_format(names, head->type);
	CHECK(row.format, "no format of id %u", head->type);
	report_trace_line(&line, &row, control_names_ctx(names), 0);
	CHECK(strstr(line.data, ": hello: answer=42 who=world\n"), "%s", line.data);
	CHECK(!tree_read(control, "events/walk/hello/format", &format, &err), "%s", err.text);
	CHECK(strstr(format.data, "\tfield:__data_loc char[] who;\toffset:12;\tsize:4;"), "%s", format.data);
	control_names_close(names);
	buf_fini(&line);
	buf_fini(&format);
}

/* And the whole way in one go: what `ringside show` prints. */
static void show(struct control *control)
{
	struct buf text = BUF_INIT;

	CHECK(!tree_read(control, "trace", &text, &err), "%s", err.text);
	CHECK(strstr(text.data, "# entries-in-buffer/entries-written: 1/1 "), "%s", text.data);
	CHECK(strstr(text.data, ": hello: answer=42 who=world\n"), "%s", text.data);
	buf_fini(&text);
}

int main(void)
{
	unsigned char page[4096];
	struct control *control = switch_on();
	struct page_event event;
	int cpu = -1;

	emit();
	capture(control, page, &cpu);
	event = walk(page);
	print(control, &event, cpu);
	show(control);
	control_close(control);
	return 0;
}
