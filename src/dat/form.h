/*
 * dat/form: what the two versions of trace files do differently for dat/write. Private to this
 * room.
 *
 * write.c checks the order of calls and keeps what both versions need; a form puts the bytes where
 * its version has them. Forms do not report failures: the file keeps the first (out.h).
 */
#ifndef DAT_FORM_H
#define DAT_FORM_H

#include "base/buf.h"
#include "dat/out.h"
#include "dat/pack.h"
#include "dat/write.h"

/* Pages that are packed together. */
#define FORM_CHUNK 10

/* A length has 32 bits in the file; this is less than that on every machine. */
#define FORM_OPTION_MAX ((size_t)1 << 30)

/* One CPU's data in the file. */
struct form_cpu {
	uint64_t offset, size;
};

struct form_buffer {
	char *name, *clock;
	uint32_t page_size;
	bool text;
	uint64_t patch;			/* version 6: where the file says where the buffer is */
};

enum form_stage { FORM_META, FORM_BETWEEN, FORM_BUFFER, FORM_CPU, FORM_DONE };

struct dat_write {
	struct out out;
	const struct form *form;
	struct pack *pack;		/* NULL: nothing is packed */
	struct buf packed;		/* where a piece becomes smaller */
	uint8_t *chunk;			/* pages that wait to be packed together */
	size_t chunk_len, chunk_room;

	uint32_t page_size, nr_cpus;
	struct form_buffer *buffers;
	size_t nr_buffers;
	enum form_stage stage;
	uint32_t sections;		/* bits of those written */

	struct buf options;		/* encoded, not yet in the file */
	bool has_clock;			/* among the options */
	struct buf strings;		/* names of sections, version 7 */
	uint64_t next_options;		/* version 7: where the next options' place is written */

	/* The buffer at hand. */
	size_t index;			/* of the next, while there is none */
	uint64_t section;		/* version 7: its section; version 6: its table */
	struct form_cpu *cpus;		/* nr_cpus of them */
	uint32_t cpu;
	uint32_t nr_chunks;
};

struct form {
	/* What stands in the file before everything else. */
	void (*head)(struct dat_write *write, const struct dat_write_how *how);
	void (*section)(struct dat_write *write, enum dat_id id, const void *payload, size_t len);
	/* Between sections and data. */
	void (*meta_end)(struct dat_write *write);
	void (*begin)(struct dat_write *write, struct form_buffer *buffer);
	void (*end)(struct dat_write *write, struct form_buffer *buffer);
	void (*finish)(struct dat_write *write);
	bool late_options;		/* may come when data is there */
	bool packs;
	uint32_t holds;			/* bits of sections that have a place */
};

extern const struct form form_6, form_7;

static inline struct form_buffer *form_buffer(struct dat_write *write)
{
	return &write->buffers[write->index];
}

/* Is it a file that can be? With words. */
int form_check(const struct dat_write_how *how, struct err *err);

/* Adds to write->options: id, size, value. */
void form_option(struct dat_write *write, enum dat_id id, const void *value, size_t len);
void form_word(struct dat_write *write, struct buf *buf, uint32_t size, uint64_t value);

/* The payload of a section with what stands before its text. */
void form_payload(struct dat_write *write, enum dat_id id, const void *payload, size_t len);

/* chunk.c: `len` bytes as one packed piece, its two sizes before it. */
void form_packed(struct dat_write *write, const void *bytes, size_t len);
/* Data of the CPU at hand, and its end. */
void form_pages(struct dat_write *write, const uint8_t *pages, size_t len);
void form_end_cpu(struct dat_write *write);

#endif
