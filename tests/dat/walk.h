/*
 * All that can be asked of a trace file, asked: by tests of damaged files and by the fuzzers. What
 * comes of it is counted; a crash, a hang or a refusal without words is what they look for.
 */
#ifndef TESTS_DAT_WALK_H
#define TESTS_DAT_WALK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dat/dat.h"
#include "insist.h"
#include "replay/replay.h"

struct walk_count {
	int opened;			/* 0, or what dat_open returned */
	uint64_t records;		/* by replay_next() */
	uint32_t lanes;			/* with a first and a last record */
	uint64_t put;			/* by replay_run() */
	uint64_t warnings;
	uint64_t sum;			/* of all bytes seen: so that all are */
	struct err err;
};

/* A file may have as many as it likes: that many are looked at. */
#define WALK_MAX 100000

static inline void walk_bytes(struct walk_count *n, const void *bytes, size_t len)
{
	const uint8_t *p = bytes;

	for (size_t i = 0; i < len; i++)
		n->sum += p[i];
}

static inline void walk_text(struct walk_count *n, const char *text)
{
	if (text)
		walk_bytes(n, text, strlen(text));
}

static inline void walk_parts(struct dat *dat, struct walk_count *n)
{
	static const enum dat_id ids[] = { DAT_STRINGS, DAT_HEADER_INFO, DAT_FTRACE_EVENTS,
					   DAT_EVENT_FORMATS, DAT_KALLSYMS, DAT_PRINTK, DAT_CMDLINES,
					   DAT_BTF, DAT_MODULES };
	struct dat_part part;

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		struct err err = ERR_INIT;

		if (dat_part_open(dat, ids[i], &part, &err)) {
			CHECK(*err.text, "part %d is refused without words", ids[i]);
			continue;
		}
		walk_bytes(n, part.data, part.len);
		dat_part_close(&part);
	}
}

static inline void walk_names(struct dat *dat, struct walk_count *n)
{
	const char *system, *name;
	struct decode_symbol symbol;
	uint64_t addr;
	int pid;

	for (size_t i = 0; i < WALK_MAX && dat_symbol_at(dat, i, &addr, &symbol); i++) {
		walk_text(n, symbol.name);
		walk_text(n, symbol.module);
	}
	dat_symbol(dat, 1, 0xffffffff81000000, &symbol);
	for (size_t i = 0; i < WALK_MAX && dat_printk_at(dat, i, &addr, &name); i++)
		walk_text(n, name);
	for (size_t i = 0; i < WALK_MAX && dat_comm_at(dat, i, &pid, &name); i++)
		walk_text(n, name);
	for (size_t i = 0; i < dat_nr_events(dat) && i < WALK_MAX; i++) {
		struct err err = ERR_INIT;
		size_t len;

		dat_event_name(dat, i, &system, &name, NULL);
		walk_text(n, system);
		walk_text(n, name);
		dat_event_text(dat, i, &len);
		if (!dat_event_format(dat, i, &err))
			CHECK(*err.text, "the format of %s is refused without words", name);
	}
}

static inline void walk_options(struct dat *dat, struct walk_count *n)
{
	const struct dat_shift *shift = dat_shift(dat);
	const struct dat_section *section;
	struct err err = ERR_INIT;
	struct buf names = BUF_INIT;
	const struct dat_option *o;
	const struct dat_buffer *b;
	const struct dat_guest *g;
	const struct dat_map *m;

	walk_text(n, dat_info(dat)->clock);
	walk_text(n, dat_info(dat)->uname);
	walk_text(n, dat_info(dat)->writer);
	walk_text(n, dat_info(dat)->compressor);
	walk_text(n, dat_info(dat)->compressor_version);
	for (size_t i = 0; (section = dat_section(dat, i)); i++)
		CHECK(section->at < dat_info(dat)->size, "a section at %llu", (unsigned long long)section->at);
	CHECK(!dat_strings(dat, &names, &err) || *err.text, "strings are refused without words");
	walk_bytes(n, names.data, names.len);
	buf_fini(&names);
	for (size_t i = 0; (o = dat_option(dat, i)); i++)
		walk_bytes(n, o->data, (size_t)o->len + 1);
	for (size_t i = 0; (b = dat_buffer(dat, i)); i++) {
		walk_text(n, b->name);
		walk_text(n, b->clock);
		for (uint32_t c = 0; c < b->nr_cpus; c++)
			CHECK(b->cpus[c].cpu >= 0 && b->cpus[c].offset <= dat_info(dat)->size &&
			      b->cpus[c].size <= dat_info(dat)->size - b->cpus[c].offset,
			      "CPU %d at %llu lies outside the file", b->cpus[c].cpu,
			      (unsigned long long)b->cpus[c].offset);
	}
	for (size_t i = 0; (g = dat_guest(dat, i)); i++) {
		walk_text(n, g->name);
		walk_bytes(n, g->pids, g->nr_cpus * sizeof(*g->pids));
	}
	for (size_t i = 0; (m = dat_map(dat, i)); i++)
		walk_text(n, m->path);
	dat_map_find(dat, 22, 0x1000);
	for (uint32_t i = 0; shift && i < shift->nr_cpus; i++)
		walk_bytes(n, shift->cpus[i].samples,
			   shift->cpus[i].nr * sizeof(*shift->cpus[i].samples));
}

static inline bool walk_next(void *arg, struct decode_moment *out)
{
	const struct replay_record *rec = arg;
	struct replay_record next;

	if (!replay_peek(rec, &next))
		return false;
	*out = (struct decode_moment){ .format = dat_format(next.lane->file, next.id),
				       .rec = next.data, .len = next.len, .ts = next.ts };
	return out->format;
}

static inline void walk_take(void *arg)
{
	replay_take(arg);
}

/* As the kernel prints it, as trace-cmd does, and as a plugin does. */
static inline void walk_print(struct walk_count *n, const struct replay_record *rec,
			      const struct decode_plugins *plugins, struct buf *out)
{
	struct decode_ctx ctx = { .arg = rec->lane->file, .symbol = dat_symbol,
				  .printk = dat_printk, .comm = dat_comm };
	const struct decode_format *format = dat_format(rec->lane->file, rec->id);
	const struct decode_plugin *plugin = format ? decode_plugins_find(plugins, format) : NULL;
	struct decode_moment moment = { .format = format, .rec = rec->data, .len = rec->len,
					.ts = rec->ts, .cpu = rec->lane->cpu, .ctx = &ctx,
					.carry = replay_carry(rec), .next = walk_next,
					.take = walk_take, .arg = (void *)(uintptr_t)rec };

	walk_bytes(n, rec->data, rec->len);
	buf_reset(out);
	if (format) {
		decode_print(format, rec->data, rec->len, &ctx, out);
		decode_print_fields(format, rec->data, rec->len, &ctx, out);
		ctx.flags = DECODE_TEP;
		decode_print(format, rec->data, rec->len, &ctx, out);
		decode_print_fields(format, rec->data, rec->len, &ctx, out);
	}
	if (plugin)
		decode_plugin_print(plugin, &moment, out);
	walk_text(n, replay_comm(rec, 22));
}

/* At most `max` records; returns how many. */
static inline uint64_t walk_records(struct replay *replay, struct walk_count *n, uint64_t max)
{
	struct replay_record rec, next;
	struct err err = ERR_INIT;
	struct buf out = BUF_INIT;
	struct decode_plugins *plugins;
	uint64_t nr = 0;
	int r = 0;

	CHECK(!decode_plugins_new(&plugins, 0), "no memory");
	while (nr < max && (r = replay_next(replay, &rec, &err)) == 1) {
		nr++;
		walk_print(n, &rec, plugins, &out);
		if (nr % 3 == 0 && replay_peek(&rec, &next)) {
			walk_bytes(n, next.data, next.len);
			if (nr % 9 == 0)
				replay_take(&rec);
		}
	}
	CHECK(nr == max || r >= 0 || *err.text, "records end without words");
	if (nr < max && !r)
		CHECK(replay_next(replay, &rec, &err) <= 0, "there is a record behind the end");
	buf_fini(&out);
	decode_plugins_free(plugins);
	return nr;
}

static inline void walk_record(void *arg, void *own, const struct replay_record *rec,
			       struct buf *out)
{
	(void)own;
	walk_bytes(arg, rec->data, rec->len);
	buf_printf(out, "%llu\n", (unsigned long long)rec->ts);
}

static inline void walk_pass(void *arg, const struct replay_record *rec)
{
	walk_bytes(arg, rec->data, rec->len);
	if (rec->len > 7)
		replay_learn(rec, rec->data[4], "learned", 7);
}

static inline bool walk_joins(void *arg, const struct replay_record *last,
			      const struct replay_record *next)
{
	walk_bytes(arg, last->data, last->len);
	walk_bytes(arg, next->data, next->len);
	return last->ts % 3 == 0;
}

static inline int walk_put(void *arg, const char *bytes, size_t len)
{
	struct walk_count *n = arg;

	for (size_t i = 0; i < len; i++)
		n->put += bytes[i] == '\n';
	return 0;
}

static inline void walk_run(struct dat *dat, struct walk_count *n)
{
	static const uint8_t marks[65536] = { [1] = 1, [300] = 1 };
	const uint8_t *const passes[] = { marks };
	struct replay_job job = { .arg = n, .passes = passes, .pass = walk_pass,
				  .joins = walk_joins, .record = walk_record, .put = walk_put };
	struct replay_times times = { .shift = true, .offset = 3 };
	struct err err = ERR_INIT;
	struct replay *replay;

	CHECK(!replay_new(&replay), "no memory");
	if (replay_add(replay, dat, &times, NULL, NULL, &err) || replay_run(replay, &job, 1, &err))
		CHECK(*err.text, "a run ends without words");
	replay_free(replay);
}

static inline void walk_replay(struct dat *dat, struct walk_count *n)
{
	struct err err = ERR_INIT;
	struct replay *replay;
	uint64_t first, last, middle = 1500;

	CHECK(!replay_new(&replay), "no memory");
	if (replay_add(replay, dat, NULL, NULL, NULL, &err)) {
		CHECK(*err.text, "a file is refused without words");
		replay_free(replay);
		return;
	}
	n->records = walk_records(replay, n, UINT64_MAX);
	for (size_t i = 0; i < 8 && replay_lane(replay, i); i++)
		if (replay_lane_ends(replay, i, &first, &last)) {
			middle = first + (last - first) / 2;
			n->lanes++;
		}
	for (int i = 0; i < 4; i++) {
		uint64_t to = i == 0 ? middle : i == 1 ? 0 : i == 2 ? UINT64_MAX : middle - 1;

		if (i == 3)
			replay_until(replay, middle + 100);
		if (replay_seek(replay, to, &err))
			CHECK(*err.text, "a seek ends without words");
		else
			walk_records(replay, n, i == 3 ? UINT64_MAX : 50);
	}
	for (size_t i = 0; replay_warning(replay, i); i++)
		n->warnings++;
	replay_free(replay);
}

static inline void walk_file(const char *path, struct walk_count *n)
{
	struct dat *dat;

	*n = (struct walk_count){ .err = ERR_INIT };
	n->opened = dat_open(&dat, path, &n->err);
	if (n->opened) {
		CHECK(!dat, "a file that was refused is open");
		CHECK(*n->err.text && strlen(n->err.text) < sizeof(n->err.text), "refused without words");
		return;
	}
	for (size_t i = 0; dat_warning(dat, i); i++)
		n->warnings++;
	walk_options(dat, n);
	walk_names(dat, n);
	walk_parts(dat, n);
	walk_replay(dat, n);
	walk_run(dat, n);
	dat_close(dat);
}

#endif
