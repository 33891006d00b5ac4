/*
 * What Linux 6.12 printed, kept in tests/data: raw pages, and the text of the `trace` file made from them under one set of
 * options after the other.
 *
 * A file is a row of parts, each "LENGTH NAME\n", as many bytes, "\n":
 *
 *   head		tracer, entries, written, CPUs, release, preemption model, the latency's CPU,
 *			when the buffer was cleared, whether the clock counts ticks
 *   format SYSTEM	the format text of an event
 *   comms, tgids	saved_cmdlines, saved_tgids
 *   symbols		address, size, name, module of what records point to
 *   strings		address, text: of printk_formats, and strings that the kernel could read
 *   page CPU		a page as far as it is filled
 *   look OPTIONS	the text
 */
#ifndef TESTS_REPORT_KEPT_H
#define TESTS_REPORT_KEPT_H

#include <inttypes.h>
#include <stdio.h>

#include "recorded.h"

#define KEPT_CPUS 2

struct part {
	const char *name, *data;
	size_t len;
};

struct kept {
	struct buf file;
	struct part parts[64];
	int nr_parts;
	struct decode_format *formats[65536];
	struct stream streams[KEPT_CPUS];
	struct rows rows;
	struct report_trace_head head;
	char tracer[32], release[64], model[32];
	bool ticks;
};

static inline void kept_parts(struct kept *k, const char *name)
{
	const char *source = getenv("RINGSIDE_SOURCE");
	char path[1024], *at, *end;
	FILE *f;

	if (*name == '/')
		snprintf(path, sizeof(path), "%s", name);
	else
		snprintf(path, sizeof(path), "%s/tests/data/%s", source ? source : ".", name);
	f = fopen(path, "re");
	CHECK(f && buf_room(&k->file, 1 << 20), "%s", path);
	k->file.len = fread(k->file.data, 1, (1 << 20) - 1, f);
	fclose(f);
	at = k->file.data;
	end = at + k->file.len;
	while (at < end) {
		struct part *part = &k->parts[k->nr_parts++];

		CHECK(k->nr_parts <= (int)(sizeof(k->parts) / sizeof(k->parts[0])), "%s", path);
		part->len = strtoul(at, &at, 10);
		part->name = at + 1;
		at = memchr(at, '\n', (size_t)(end - at));
		CHECK(at && part->len < (size_t)(end - at - 1), "part %d", k->nr_parts);
		*at++ = '\0';
		part->data = at;
		at += part->len;
		CHECK(*at == '\n', "%s", part->name);
		*at++ = '\0';
	}
}

/* The word that a part's name begins with, and what follows it. */
static inline const char *kept_after(const struct part *part, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(part->name, word, n) || (part->name[n] && part->name[n] != ' '))
		return NULL;
	return part->name + n + (part->name[n] == ' ');
}

/* The line of a part that begins with a number (in base 10 or 16) for which `fits` says yes. */
static inline const char *kept_line(const struct kept *k, const char *name, int base, uint64_t want,
			     bool (*fits)(uint64_t n, const char *rest, uint64_t want))
{
	for (int i = 0; i < k->nr_parts; i++) {
		const char *line = kept_after(&k->parts[i], name) ? k->parts[i].data : "";

		for (; *line; line = strchr(line, '\n') + 1) {
			char *rest;
			uint64_t n = strtoull(line, &rest, base);

			if (fits(n, rest, want))
				return line;
		}
	}
	return NULL;
}

static inline bool kept_equal(uint64_t n, const char *rest, uint64_t want)
{
	(void)rest;
	return n == want;
}

static inline bool kept_within(uint64_t n, const char *rest, uint64_t want)
{
	return want - n < strtoull(rest, NULL, 16);
}

static inline const char *kept_comm(void *arg, int pid)
{
	const char *line = kept_line(arg, "comms", 10, (uint64_t)pid, kept_equal);
	static char name[32];

	return line && sscanf(line, "%*d %31[^\n]", name) == 1 ? name : NULL;
}

static inline int kept_tgid(void *arg, int pid)
{
	const char *line = kept_line(arg, "tgids", 10, (uint64_t)pid, kept_equal);
	int id;

	return line && sscanf(line, "%*d %d", &id) == 1 ? id : 0;
}

static inline bool kept_symbol(void *arg, int pid, uint64_t addr, struct decode_symbol *out)
{
	const char *line = kept_line(arg, "symbols", 16, addr, kept_within);
	static char copy[256], name[128], module[64];
	uint64_t start;
	int n;

	(void)pid;
	if (!line)
		return false;
	snprintf(copy, sizeof(copy), "%.*s", (int)strcspn(line, "\n"), line);
	n = sscanf(copy, "%" SCNx64 " %" SCNx64 " %127s %63s", &start, &out->size, name, module);
	out->name = name;
	out->module = n == 4 ? module : NULL;
	out->offset = addr - start;
	return n >= 3;
}

/* Only line breaks come escaped in these. */
static inline bool kept_string(void *arg, uint64_t addr, struct decode_printk *out)
{
	const char *line = kept_line(arg, "strings", 16, addr, kept_equal);
	static char text[256];
	char *nl;

	if (!line || sscanf(line, "%*x %255[^\n]", text) != 1)
		return false;
	nl = strstr(text, "\\n");
	if (nl)
		strcpy(nl, "\n");
	out->text = text;
	return true;
}

static inline void kept_format(struct kept *k, const struct part *part, const char *system)
{
	struct decode_format *format;
	struct err err = ERR_INIT;

	CHECK(!decode_format_parse(system, part->data, part->len, NULL, &format, &err), "%s",
	      err.text);
	k->formats[format->id] = format;
}

static inline void kept_page(struct kept *k, const struct part *part, int cpu)
{
	char *room = buf_room(&k->streams[cpu].pages, SUBBUF);

	CHECK(room && part->len <= SUBBUF, "%zu bytes", part->len);
	memset(room, 0, SUBBUF);
	memcpy(room, part->data, part->len);
	k->streams[cpu].pages.len += SUBBUF;
}

static inline void kept_head(struct kept *k, const struct part *part, uint64_t *start)
{
	int ticks;

	CHECK(sscanf(part->data,
		     "%31s %" SCNu64 " %" SCNu64 " %u %63s %31s %d %" SCNu64 " %d", k->tracer,
		     &k->head.entries, &k->head.written, &k->head.cpus, k->release, k->model,
		     &k->head.latency.cpu, start, &ticks) == 9,
	      "%s", part->data);
	k->head.tracer = k->tracer;
	k->head.release = k->release;
	k->head.model = k->model;
	k->ticks = ticks;
}

static inline void kept_load(struct kept *k, const char *name)
{
	uint64_t start = 0;
	const char *rest;

	kept_parts(k, name);
	for (int i = 0; i < k->nr_parts; i++) {
		if (kept_after(&k->parts[i], "head"))
			kept_head(k, &k->parts[i], &start);
		else if ((rest = kept_after(&k->parts[i], "format")))
			kept_format(k, &k->parts[i], rest);
		else if ((rest = kept_after(&k->parts[i], "page")))
			kept_page(k, &k->parts[i], *rest - '0');
	}
	rows_merge(&k->rows, k->streams, KEPT_CPUS, k->formats);
	CHECK(k->rows.nr == k->head.entries, "%zu records", k->rows.nr);
	for (size_t i = 0; i < k->rows.nr; i++)
		k->rows.row[i].start = start;
}

static inline struct decode_ctx kept_ctx(struct kept *k)
{
	return (struct decode_ctx){.arg = k, .symbol = kept_symbol, .printk = kept_string, .comm = kept_comm, .tgid = kept_tgid};
}

/* 1 and what differs on the screen when that is not the kept text. */
static inline int kept_compare(const struct part *part, const char *options, const struct buf *out)
{
	size_t at = 0, line = 0;

	while (at < out->len && at < part->len && out->data[at] == part->data[at])
		if (out->data[at++] == '\n')
			line = at;
	if (at == out->len && at == part->len)
		return 0;
	printf("look '%s', byte %zu\n--- theirs\n%.*s\n--- ours\n%.*s\n", options, at,
	       (int)strcspn(part->data + line, "\n"), part->data + line, (int)strcspn(out->data + line, "\n"),
	       out->data + line);
	return 1;
}

/* Every look of a file; 0 when `print` makes the same of all. */
static inline int kept_file(const char *name, void (*print)(struct kept *k, const char *options, struct buf *out))
{
	static const struct kept none;
	static struct kept k;
	struct buf out = BUF_INIT;
	int differ = 0, n = 0;

	k = none;
	kept_load(&k, name);
	for (int i = 0; i < k.nr_parts; i++) {
		const char *options = kept_after(&k.parts[i], "look");

		if (!options)
			continue;
		buf_reset(&out);
		print(&k, options, &out);
		differ += kept_compare(&k.parts[i], options, &out);
		n++;
	}
	printf("%s: %d of %d texts are the same\n", name, n - differ, n);
	buf_fini(&out);
	rows_fini(&k.rows);
	for (int i = 0; i < KEPT_CPUS; i++)
		buf_fini(&k.streams[i].pages);
	for (int i = 0; i < 65536; i++)
		decode_format_free(k.formats[i]);
	buf_fini(&k.file);
	return differ || !n;
}

#endif
