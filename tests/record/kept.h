/*
 * What tests of record/meta share: a sink that keeps what is put, and a trace file made of it.
 */
#ifndef TESTS_RECORD_KEPT_H
#define TESTS_RECORD_KEPT_H

#include "control/program.h"
#include "dat/write.h"
#include "record/meta.h"
#include "source/source.h"

#define KEPT_OPTIONS 4096

struct kept {
	struct buf sections[DAT_NR_IDS];
	int puts[DAT_NR_IDS];		/* since kept_reset() */
	struct {
		enum dat_id id;
		struct buf value;
	} options[KEPT_OPTIONS];
	int noptions;
	int fail;			/* what the sink says */
};

static inline int kept_section(void *ctx, enum dat_id id, const void *payload, size_t len)
{
	struct kept *kept = ctx;

	if (kept->fail)
		return kept->fail;
	buf_reset(&kept->sections[id]);
	buf_add(&kept->sections[id], payload, len);
	kept->puts[id]++;
	return 0;
}

static inline int kept_option(void *ctx, enum dat_id id, const void *value, size_t len)
{
	struct kept *kept = ctx;

	if (kept->fail)
		return kept->fail;
	CHECK(kept->noptions < KEPT_OPTIONS, "too many options");
	kept->options[kept->noptions].id = id;
	buf_add(&kept->options[kept->noptions++].value, value, len);
	return 0;
}

static inline struct record_sink kept_sink(struct kept *kept)
{
	return (struct record_sink){ kept_section, kept_option, kept };
}

/* The sections that were put since the last time, as bits; counts anew. */
static inline uint32_t kept_puts(struct kept *kept)
{
	uint32_t bits = 0;

	for (int id = 0; id < DAT_NR_IDS; id++) {
		CHECK(kept->puts[id] <= 1, "section %d is put %d times", id, kept->puts[id]);
		bits |= (uint32_t)kept->puts[id] << id;
		kept->puts[id] = 0;
	}
	return bits;
}

static inline void kept_fini(struct kept *kept)
{
	for (int id = 0; id < DAT_NR_IDS; id++)
		buf_fini(&kept->sections[id]);
	for (int i = 0; i < kept->noptions; i++)
		buf_fini(&kept->options[i].value);
}

/* In the scratch directory. */
static inline const char *path_of(const char *name)
{
	static char path[1024];

	snprintf(path, sizeof(path), "%s/%s", getenv("RINGSIDE_SCRATCH") ? getenv("RINGSIDE_SCRATCH") : ".", name);
	return path;
}

static inline struct dat_write *kept_begin(struct kept *kept, int version, const char *path, uint32_t ncpu)
{
	const struct dat_write_buffer top = { .name = "", .clock = "local" };
	struct dat_write_how how = { .version = version,
				     .long_size = sizeof(long),
				     .page_size = 4096,
				     .nr_cpus = ncpu,
				     .buffers = &top,
				     .nr_buffers = 1 };
	struct err err = ERR_INIT;
	struct dat_write *w;

	how.big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	CHECK(!dat_write_open(&w, path, &how, &err), "%s", err.text);
	for (int id = DAT_HEADER_INFO; id <= DAT_CMDLINES; id++)
		if (kept->sections[id].data)
			CHECK(!dat_write_section(w, (enum dat_id)id, kept->sections[id].data, kept->sections[id].len),
			      "section %d", id);
	for (int i = 0; i < kept->noptions; i++)
		CHECK(!dat_write_option(w, kept->options[i].id, kept->options[i].value.data,
					kept->options[i].value.len), "option %d", kept->options[i].id);
	return w;
}

static inline void kept_end(struct dat_write *w)
{
	struct err err = ERR_INIT;

	CHECK(!dat_write_finish(w, &err), "%s", err.text);
	dat_write_close(w);
}

static inline struct source *source_of(const char *tracefs)
{
	struct source_how how = { .tracefs = tracefs, .create = true };
	struct source *source;
	struct err err = ERR_INIT;

	CHECK(!source_open(&source, &how, &err), "%s", err.text);
	return source;
}

static inline struct record_meta *meta_of(struct source *source)
{
	struct record_meta *meta;
	struct err err = ERR_INIT;

	CHECK(!record_meta_open(&meta, source, NULL, &err), "%s", err.text);
	return meta;
}

static inline void meta_put(struct record_meta *meta, struct kept *kept)
{
	struct record_sink sink = kept_sink(kept);
	struct err err = ERR_INIT;

	CHECK(!record_meta_put(meta, &sink, &err), "%s", err.text);
}

#endif
