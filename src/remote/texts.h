/*
 * remote/texts: the events of a firmware, from the texts in its ELF file.
 *
 * In: bytes of a section that may hold anything, and how the target lays out its words. Out: events in order of their IDs, each with
 * the `format` text that the tree shows and what decode/ makes of it. What cannot be used is refused with words.
 */
#ifndef REMOTE_TEXTS_H
#define REMOTE_TEXTS_H

#include <stdint.h>

#include "base/buf.h"
#include "decode/format.h"
#include "fw/layout.h"

struct remote_field {
	char name[RINGSIDE_FW_NAME];
	char type[RINGSIDE_FW_NAME];
	uint32_t offset, size;
	bool is_signed;
};

struct remote_event {
	uint16_t id;
	uint16_t size;		/* of a record; what follows are bytes that fill the last word */
	char name[RINGSIDE_FW_NAME];
	char print[RINGSIDE_FW_PRINT];
	struct remote_field *fields;
	uint32_t nr_fields;
	struct decode_format *format;
};

struct remote_texts {
	struct remote_event *events;
	uint32_t nr;
};

/* `system`: what events are shown under. */
int remote_texts_parse(struct remote_texts *texts, const char *system, const void *bytes, size_t len, const struct decode_abi *abi,
		       struct err *err);
void remote_texts_fini(struct remote_texts *texts);

/* NULL: there is none. */
const struct remote_event *remote_texts_id(const struct remote_texts *texts, uint32_t id);
const struct remote_event *remote_texts_name(const struct remote_texts *texts, const char *name);

/* Of an event, as the file `format` has it; if `shift` is not 0, of a record that begins as others do, with fields moved by so many bytes. */
void remote_texts_format(const struct remote_event *event, uint32_t id, uint32_t shift, struct buf *out);

/* What an ELF file knows of its firmware. */
struct remote_elf {
	char *texts;		/* the section; yours to free */
	uint64_t len;
	uint64_t address;	/* of the header */
	uint32_t build;		/* 0: unknown; as the target would read it */
	bool big_endian;
};
/* -ENOENT: it has no tracing memory. */
int remote_elf_read(struct remote_elf *elf, const char *path, struct err *err);

#endif
