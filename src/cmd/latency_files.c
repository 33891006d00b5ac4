/*
 * cmd/latency_files: see latency_local.h. What the text of histograms in a tree of files tells, the kernel's above all.
 *
 * Quantiles are our own: a kernel has none. But it counts by ranges of one width, of events for which a filter holds, and so ranges
 * as fine as those of our tables (layout/table.h), an eighth of each power of two, can be counted there, none of it lost to a
 * reader who is late. Four powers of two have at most 120 of them, and rows of a histogram are at least 128:
 *
 *	hist:keys=lat if lat < 64
 *	hist:keys=lat.buckets=8 if lat >= 64 && lat < 1024
 *	hist:keys=lat.buckets=128 if lat >= 1024 && lat < 16384 ...
 *	hist:keys=lat.log2 if lat >= 274877906944		more than four minutes
 *
 * What a kernel does not tell is which starts still wait for their end.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/latency_local.h"
#include "decode/format.h"
#include "hist/text.h"

#define FIRST_POWER 6u
#define POWERS 4u		/* in one histogram */
#define LAST_POWER 38u		/* and more */
#define LINES ((LAST_POWER - FIRST_POWER) / POWERS + 2)

bool latency_files_line(uint32_t i, struct buf *line)
{
	uint32_t power = FIRST_POWER + (i - 1) * POWERS;

	if (!i)
		buf_printf(line, "hist:keys=lat:size=128 if lat < %llu", 1ull << FIRST_POWER);
	else if (power < LAST_POWER)
		buf_printf(line, "hist:keys=lat.buckets=%llu:size=128 if lat >= %llu && lat < %llu", 1ull << (power - 3), 1ull << power,
			   1ull << (power + POWERS));
	else if (power == LAST_POWER)
		buf_printf(line, "hist:keys=lat.log2:size=128 if lat >= %llu", 1ull << LAST_POWER);
	return i < LINES;
}

int latency_files_key(struct latency *l)
{
	struct decode_format *format = NULL;
	const struct decode_field *field = NULL;
	struct buf text = BUF_INIT;
	char path[LATENCY_PATH], name[64];
	int r;

	snprintf(path, sizeof(path), "events/%s/%s/format", l->system[1], l->event[1]);
	r = source_read(l->live.source, path, &text, &l->live.err);
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(l->keys[1], ",."), l->keys[1]);
	if (!r && text.data && !decode_format_parse(l->system[1], text.data, text.len, NULL, &format, NULL))
		field = decode_format_find(format, name);
	l->known = true;
	l->is_text = field && field->is_array && field->is_string;
	l->is_signed = field && field->is_signed;
	/* A kernel wants the size and the sign of what it is given. */
	snprintf(l->type, sizeof(l->type), "%s%u", l->is_signed ? "s" : "u",
		 field && (field->size == 1 || field->size == 2 || field->size == 4) ? field->size * 8 : 64);
	decode_format_free(format);
	buf_fini(&text);
	return r;
}

/* ---- Looking ---- */

static int read_hist(struct latency *l, const char *system, const char *event, struct buf *text)
{
	char path[LATENCY_PATH];

	snprintf(path, sizeof(path), "instances/%s/events/%s/%s/hist", l->live.instance, system, event);
	return source_read(l->live.source, path, text, &l->live.err);
}

/* Histogram number `which` of it; hist_text_fini() is due whatever comes of it. */
static int take_hist(struct latency *l, struct hist_text *hist, const struct buf *text, unsigned int which)
{
	int r = hist_text_read(hist, text->data ? text->data : "", which);

	return r ? err_set(&l->live.err, r, "a histogram of %s is gone, or cannot be read", l->live.instance) : 0;
}

/* "~ 1024-1151", "~ 2^37", "63": the lowest, or of a power of two, which is its highest, that. */
static uint64_t value_of(const char *key)
{
	key += strspn(key, "~ ");
	if (!strncmp(key, "2^", 2)) {
		unsigned long power = strtoul(key + 2, NULL, 10);

		return power < 64 ? (1ull << power) - 1 : UINT64_MAX;
	}
	return strtoull(key, NULL, 10);
}

/* The name of a task by its number, as far as the tree remembers it. */
static void put_task(char *task, size_t size, const char *names, uint64_t pid)
{
	size_t len = 0;

	while (names && *names && strtoull(names, NULL, 10) != pid) {
		names += strcspn(names, "\n");
		names += *names == '\n';
	}
	names = names ? strchr(names, ' ') : NULL;
	if (pid && names && (len = strcspn(++names, "\n")))
		snprintf(task, size, "%.*s-%" PRIu64, len < 16 ? (int)len : 16, names, pid);
	else
		snprintf(task, size, "%s-%" PRIu64, pid ? "<...>" : "<idle>", pid);
}

/* "max: 5596015  key: 18  common_pid: 66": the largest of each power of two was kept, also when its record was overwritten. */
static void take_kept(struct latency *l, char *below, const char *names)
{
	struct latency_one one = { .ns = hist_text_number(below, "max") };
	char *key = strstr(below, "key: "), *pid = strstr(below, "common_pid: ");

	if (!key || !pid || pid < key)
		return;
	if (one.ns > l->sums.max)
		l->sums.max = one.ns;
	put_task(one.task, sizeof(one.task), names, hist_text_number(below, "common_pid"));
	*pid = '\0';
	key += 5 + strspn(key + 5, " ");
	for (size_t len = strlen(key); len && key[len - 1] == ' ';)
		key[--len] = '\0';
	if (l->is_signed && !l->is_text)
		snprintf(one.key, sizeof(one.key), "%" PRId64, (int64_t)strtoull(key, NULL, 10));
	else
		snprintf(one.key, sizeof(one.key), "%.63s", key);
	latency_add(&l->sums, &one);
}

/* The first of the synthetic event: sums, and the largest. */
static int look_at_sums(struct latency *l, const struct buf *text)
{
	struct buf names = BUF_INIT;
	struct hist_text hist;
	int r = take_hist(l, &hist, text, 0);

	source_read(l->live.source, "saved_cmdlines", &names, NULL);
	l->sums.total = 0;
	l->sums.matched = hist.hits + hist.drops;
	for (size_t i = 0; !r && i < hist.nrows; i++) {
		if (hist.rows[i].values[0])
			l->sums.total += strtoull(hist.rows[i].values[0], NULL, 10);
		if (hist.rows[i].below)
			take_kept(l, hist.rows[i].below, names.data);
	}
	hist_text_fini(&hist);
	buf_fini(&names);
	return r;
}

/* The others: a power of two each. */
static int look_at_spread(struct latency *l, const struct buf *text)
{
	int r = 0;

	memset(l->sums.spread, 0, sizeof(l->sums.spread));
	for (unsigned int which = 1; !r && which <= LINES; which++) {
		struct hist_text hist;

		r = take_hist(l, &hist, text, which);
		for (size_t i = 0; !r && i < hist.nrows; i++)
			if (hist.rows[i].keys[0])
				l->sums.spread[table_spread_index(value_of(hist.rows[i].keys[0]))] += hist.rows[i].hits;
		hist_text_fini(&hist);
	}
	return r;
}

static int look_at_ends(struct latency *l)
{
	struct buf text = BUF_INIT;
	struct hist_text hist = { 0 };
	int r = read_hist(l, l->system[0], l->event[0], &text);

	if (!r)
		r = take_hist(l, &hist, &text, 0);
	l->sums.starts = hist.hits + hist.drops;
	l->sums.evicted = hist.drops;
	hist_text_fini(&hist);
	buf_reset(&text);
	if (!r)
		r = read_hist(l, l->system[1], l->event[1], &text);
	/* Those that met a start, and had no row of their own left. */
	if (!r)
		r = take_hist(l, &hist, &text, 0);
	l->sums.evicted += hist.drops;
	hist_text_fini(&hist);
	if (!r)
		r = take_hist(l, &hist, &text, 1);
	l->sums.ends = hist.hits + hist.drops;
	hist_text_fini(&hist);
	buf_fini(&text);
	return r;
}

int latency_files_look(struct latency *l)
{
	struct buf text = BUF_INIT;
	int r = read_hist(l, "synthetic", l->synth, &text);

	if (!r)
		r = look_at_sums(l, &text);
	if (!r)
		r = look_at_spread(l, &text);
	buf_fini(&text);
	return r ? r : look_at_ends(l);
}
