/*
 * Records out of the kernel's raw pages, in the order in which its `trace` file shows them, and
 * that file's options by name.
 */
#ifndef TESTS_REPORT_RECORDED_H
#define TESTS_REPORT_RECORDED_H

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "decode/page.h"
#include "report/trace.h"
#include "../insist.h"

#define SUBBUF 4096
#define CPUS_MAX 64

/* One CPU's pages. */
struct stream {
	struct buf pages;
	size_t at; /* page that is walked */
	struct page_walk walk;
	struct page_event event;
	bool has;
};

static inline void stream_next(struct stream *s)
{
	int r;

	while ((r = page_walk_next(&s->walk, &s->event)) == 0 && s->at < s->pages.len) {
		CHECK(!page_walk_init(&s->walk, s->pages.data + s->at, SUBBUF), "page %zu",
		      s->at / SUBBUF);
		s->at += SUBBUF;
	}
	CHECK(r >= 0, "page %zu is torn", s->at / SUBBUF - 1);
	s->has = r > 0;
}

/* The stream whose next event is the oldest; of equals the kernel takes the lower CPU. */
static inline int oldest(const struct stream *s, int cpus)
{
	int best = -1;

	for (int i = 0; i < cpus; i++)
		if (s[i].has && (best < 0 || s[i].event.ts < s[best].event.ts))
			best = i;
	return best;
}

/* All records, and which of them are the first of their CPU. */
struct rows {
	struct report_row *row;
	bool *first;
	size_t nr;
};

static inline void add_row(struct rows *rows, int cpu, const struct page_event *event,
			   const struct decode_format *format, bool first)
{
	struct report_row *row;

	if (!(rows->nr & (rows->nr + 1))) {
		rows->row = realloc(rows->row, (rows->nr * 2 + 2) * sizeof(*rows->row));
		rows->first = realloc(rows->first, rows->nr * 2 + 2);
		CHECK(rows->row && rows->first, "out of memory");
	}
	row = &rows->row[rows->nr];
	*row = (struct report_row){.ts = event->ts,
				   .cpu = cpu,
				   .format = format,
				   .data = event->data,
				   .len = event->len,
				   .index = rows->nr};
	if (rows->nr)
		row[-1].next_ts = row->ts;
	rows->first[rows->nr++] = first;
}

/* The streams must have their pages, and keep them while the rows are in use. */
static inline void rows_merge(struct rows *rows, struct stream *s, int cpus,
			      struct decode_format *const *formats)
{
	bool started[CPUS_MAX] = {0};
	uint16_t type;
	int cpu;

	for (int i = 0; i < cpus; i++)
		stream_next(&s[i]);
	for (; (cpu = oldest(s, cpus)) >= 0; stream_next(&s[cpu])) {
		memcpy(&type, s[cpu].event.data, 2);
		add_row(rows, cpu, &s[cpu].event, formats[type], !started[cpu]);
		started[cpu] = true;
	}
}

static inline void rows_fini(struct rows *rows)
{
	free(rows->row);
	free(rows->first);
}

/* Bits for options that are separated by blanks. */
static inline unsigned int look_flags(const char *options)
{
	static const struct {
		const char *name;
		unsigned int flag;
	} names[] = {
		{"printk-msg-only", REPORT_MSG_ONLY}, {"bin", REPORT_BIN},
		{"hex", REPORT_HEX},		      {"raw", REPORT_RAW},
		{"fields", REPORT_FIELDS},	      {"latency-format", REPORT_LATENCY},
		{"verbose", REPORT_VERBOSE},	      {"nocontext-info", REPORT_NO_CONTEXT},
		{"noirq-info", REPORT_NO_IRQ},	      {"noannotate", REPORT_NO_ANNOTATE},
		{"record-tgid", REPORT_TGID},	      {"sym-offset", REPORT_SYM_OFFSET},
		{"sym-addr", REPORT_SYM_ADDR},	      {"noprint-parent", REPORT_NO_PARENT},
	};
	unsigned int flags = 0;
	size_t i, n;

	for (; *options; options += n + strspn(options + n, " ")) {
		n = strcspn(options, " ");
		for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if (strlen(names[i].name) == n && !memcmp(names[i].name, options, n))
				break;
		CHECK(i < sizeof(names) / sizeof(names[0]), "%s", options);
		flags |= names[i].flag;
	}
	return flags;
}

#endif
