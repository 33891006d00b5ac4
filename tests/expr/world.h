/*
 * For the tests of expr: a few events to filter, among them the one with a field of each kind, and
 * names for a task and a function. Filters are made in one call; what goes wrong is printed.
 */
#ifndef TESTS_EXPR_WORLD_H
#define TESTS_EXPR_WORLD_H

#include <errno.h>

#include "decode/event.h"
#include "expr/filter.h"

#define INT_FIELD(name) "\tfield:int " name ";\toffset:8;\tsize:4;\tsigned:1;\n"

static const struct {
	const char *system, *name;
	uint32_t id;
	const char *fields;	/* NULL: the sample's */
} events[] = {
	{ "test", "sample", 32768, NULL },
	{ "sched", "sched_switch", 11, INT_FIELD("a") },
	{ "sched", "sched_wakeup", 12, INT_FIELD("b") },
	{ "irq", "irq_entry", 13, INT_FIELD("b") },
	{ "sched2", "xsched", 21, INT_FIELD("CPU") INT_FIELD("COMM") },
	{ "kmem", "sched", 22, "\tfield:unsigned long ip;\toffset:32;\tsize:8;\tsigned:0;\n" },
	/* No record can have such a number. */
	{ "far", "away", 65536, INT_FIELD("a") },
};

enum { NR_EVENTS = sizeof(events) / sizeof(events[0]) };
static struct decode_format *formats[NR_EVENTS];

static inline struct decode_format *event_format(size_t i)
{
	struct decode_format *format = NULL;
	struct err err = ERR_INIT;
	struct buf text = BUF_INIT;

	if (!events[i].fields)
		return sample_format("\"x\"");
	buf_printf(&text, "name: %s\nID: %u\nformat:\n" COMMON "%s\nprint fmt: \"x\"\n",
		   events[i].name, events[i].id, events[i].fields);
	if (decode_format_parse(events[i].system, text.data, text.len, NULL, &format, &err)) {
		printf("%s\n", err.text);
		exit(1);
	}
	buf_fini(&text);
	return format;
}

static inline void world_name(void *arg, size_t i, const char **system, const char **name)
{
	(void)arg;
	*system = events[i].system;
	*name = events[i].name;
}

static inline const struct decode_format *world_format(void *arg, size_t i)
{
	(void)arg;
	if (!formats[i])
		formats[i] = event_format(i);
	return formats[i];
}

static const struct filter_world world = {
	.nr = NR_EVENTS, .name = world_name, .format = world_format,
};

static inline void world_fini(void)
{
	for (size_t i = 0; i < NR_EVENTS; i++)
		decode_format_free(formats[i]);
}

/* The sample's u64 is within schedule. */
static inline bool world_symbol(void *arg, int pid, uint64_t addr, struct decode_symbol *out)
{
	(void)arg, (void)pid;
	*out = (struct decode_symbol){ .name = "schedule", .offset = addr & 0xff, .size = 0x100 };
	return addr >> 8 == 0xfedcba98765432ull;
}

static inline const char *world_comm(void *arg, int pid)
{
	(void)arg;
	return pid == 4242 ? "shopcomm" : NULL;
}

static const struct decode_ctx world_ctx = { .symbol = world_symbol, .comm = world_comm };

/* A filter of one text; NULL and what was wrong. */
static inline struct filter *filter_of(const char *text, unsigned int flags, struct err *err)
{
	struct filter *filter;

	*err = (struct err)ERR_INIT;
	if (filter_new(&filter, flags))
		exit(1);
	if (!filter_add(filter, text, &world, err))
		return filter;
	filter_free(filter);
	return NULL;
}

/* What a filter says of a record of event i on CPU 3. */
static inline enum filter_verdict verdict_of(const struct filter *filter, size_t i, const void *rec,
					     size_t len)
{
	return filter_match(filter, world_format(NULL, i), rec, len, 3, 1234567890123ull,
			    &world_ctx);
}

/* The filter on the sample record must say what is wanted. */
static inline void check_sample(const char *file, int line, const char *expr, unsigned int flags,
				bool wanted)
{
	struct sample rec = sample_record();
	char text[512];
	struct filter *filter;
	struct err err;

	snprintf(text, sizeof(text), "sample: %s", expr);
	filter = filter_of(text, flags, &err);
	if (!filter) {
		printf("%s:%d: %s: at %d: %s\n", file, line, text, err.pos, err.text);
		failures++;
		return;
	}
	if (verdict_of(filter, 0, &rec, sizeof(rec)) != (wanted ? FILTER_MATCH : FILTER_MISS)) {
		printf("%s:%d: %s: is not %s\n", file, line, text, wanted ? "true" : "false");
		failures++;
	}
	filter_free(filter);
}

#define is_true(expr) check_sample(__FILE__, __LINE__, expr, 0, true)
#define is_false(expr) check_sample(__FILE__, __LINE__, expr, 0, false)

/* The text must be refused for this reason, at this place. */
static inline void check_refused(const char *file, int line, const char *text, int code, int pos,
				 const char *why)
{
	struct err err;
	struct filter *filter = filter_of(text, 0, &err);

	if (filter || err.code != code || err.pos != pos || !strstr(err.text, why)) {
		printf("%s:%d: |%s|\n  got  %d at %d: %s\n  want %d at %d: %s\n", file, line, text,
		       filter ? 0 : err.code, err.pos, err.text, code, pos, why);
		failures++;
	}
	filter_free(filter);
}

#define refused(text, code, pos, why) check_refused(__FILE__, __LINE__, text, code, pos, why)

#endif
