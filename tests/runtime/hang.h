/*
 * What tests hang on events by hand: programs, triggers and histograms as bytes of a state, and room for tables.
 */
#ifndef TESTS_RUNTIME_HANG_H
#define TESTS_RUNTIME_HANG_H

#include "control/file.h"
#include "layout/hook.h"
#include "program/program.h"
#include "runtime/trace.h"

#include <sys/stat.h>

struct hang {
	struct buf hooks;
	struct buf code;
	uint64_t tables;	/* where the next table goes */
};

static inline void hang_init(struct hang *hang)
{
	*hang = (struct hang){ .hooks = BUF_INIT, .code = BUF_INIT, .tables = TABLES_DATA_OFFSET };
	/* Offset 0 is nothing. */
	buf_add(&hang->code, "\0\0\0\0\0\0\0", 8);
}

/* Bytes of the code area; gives their offset. */
static inline uint32_t hang_put(struct hang *hang, const void *bytes, size_t size)
{
	uint32_t at = (uint32_t)hang->code.len;

	buf_add(&hang->code, bytes, size);
	while (hang->code.len % 8)
		buf_add(&hang->code, "", 1);
	return at;
}

static inline uint32_t hang_program(struct hang *hang, struct program_build *build)
{
	uint32_t at = (uint32_t)hang->code.len;

	CHECK(!program_build_finish(build, &hang->code), "a program");
	program_build_free(build);
	return at;
}

/* "field op num", or "" for any. */
static inline uint32_t hang_compare(struct hang *hang, const char *field, uint16_t op, uint64_t num)
{
	struct program_build *build = program_build_new();

	program_build_is(build, program_build_compare(build, op, 0, program_build_field(build, field, PROGRAM_INT),
						      program_build_num(build, num)));
	return hang_program(hang, build);
}

static inline void hang_hook(struct hang *hang, uint16_t buffer, const char *system, const char *event, uint32_t filter,
			     const struct hook_act *acts, uint32_t nacts)
{
	struct state_hook hook = { .buffer = buffer, .filter = filter, .nacts = nacts };

	if (nacts)
		hook.acts = hang_put(hang, acts, nacts * sizeof(*acts));
	snprintf(hook.system, sizeof(hook.system), "%s", system);
	snprintf(hook.event, sizeof(hook.event), "%s", event);
	buf_add(&hang->hooks, &hook, sizeof(hook));
}

/* Where so many bytes of the tables file are this histogram's. */
static inline uint64_t hang_room(struct hang *hang, struct control *control, uint64_t size)
{
	uint64_t at = hang->tables;
	struct err err = ERR_INIT;

	CHECK(!control_file_grow(&control->dir, SEGMENT_TABLES, at + size, &err) &&
	      !control_file_back(&control->dir, SEGMENT_TABLES, 0, at + size, &err) , "%s", err.text);
	hang->tables += size;
	return at;
}

static inline struct table_shape hang_shape(uint32_t parts, uint32_t elements, uint32_t key_size, uint32_t nvals,
					    uint32_t ntracks, uint32_t nsaves)
{
	uint32_t key_at = 8 + 8 * nvals + 16 * ntracks + 64 * nsaves;

	return (struct table_shape){
		.parts = parts, .slots = 2 * elements, .elements = elements, .element_size = key_at + key_size,
		.nvals = nvals, .ntracks = ntracks, .nsaves = nsaves, .key_at = key_at, .key_size = key_size,
	};
}

/* A histogram on one field, counted in `table`. */
static inline uint32_t hang_hist(struct hang *hang, const char *field, uint64_t table, const struct table_shape *shape)
{
	struct program_build *build = program_build_new();
	struct hook_key key = { .root = program_build_field(build, field, PROGRAM_INT), .size = 8 };
	struct hook_hist hist = { .table = table, .shape = *shape, .nkeys = 1 };

	hist.program = hang_program(hang, build);
	hist.keys = hang_put(hang, &key, sizeof(key));
	return hang_put(hang, &hist, sizeof(hist));
}

static inline void hang_publish(struct hang *hang, struct control *control)
{
	tool_begin(control);
	buf_reset(&control->state.hooks);
	buf_reset(&control->state.code);
	buf_add(&control->state.hooks, hang->hooks.data, hang->hooks.len);
	buf_add(&control->state.code, hang->code.data, hang->code.len);
	tool_commit(control);
	buf_fini(&hang->hooks);
	buf_fini(&hang->code);
}

/* The tables file as the tool sees it. */
static inline unsigned char *hang_tables(struct control *control)
{
	struct stat st;
	void *at;

	CHECK(!fstat(control->dir.fd[SEGMENT_TABLES], &st), "fstat");
	at = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, control->dir.fd[SEGMENT_TABLES], 0);
	CHECK(at != MAP_FAILED, "%s", strerror(errno));
	return at;
}

/* Hits in the row of a number, and all hits; drops. */
struct counted {
	uint64_t hits, all, drops, rows;
};

static inline struct counted hang_count(const unsigned char *table, const struct table_shape *shape, uint64_t key)
{
	struct counted counted = { 0 };

	for (uint32_t p = 0; p < shape->parts; p++) {
		const unsigned char *part = table + p * table_part_size(shape);
		const uint64_t *slots = (const void *)(part + sizeof(struct table_part));
		const unsigned char *elements = part + sizeof(struct table_part) + 8ull * shape->slots;

		counted.drops += ((const struct table_part *)(const void *)part)->drops;
		for (uint32_t i = 0; i < shape->slots; i++) {
			const unsigned char *element = elements;
			uint64_t hits, number;

			if (!slots[i])
				continue;
			element += ((uint32_t)slots[i] - 1ull) * shape->element_size;
			memcpy(&hits, element, 8);
			memcpy(&number, element + shape->key_at, 8);
			counted.rows++;
			counted.all += hits;
			if (number == key)
				counted.hits += hits;
		}
	}
	return counted;
}

#endif
