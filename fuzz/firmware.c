/*
 * Any bytes for a firmware's ELF file, or for the texts of its events alone: they are understood, with all that decode/ and the tree are
 * given of them, or words are said. Each text is read as each kind of machine lays out its words.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "decode/print.h"
#include "file.h"
#include "remote/texts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void insist(bool holds)
{
	if (!holds)
		abort();
}

/* What is shown of an event, and of a record that is as long as it says, or shorter. */
static void show(const struct remote_event *event, const uint8_t *bytes, size_t len)
{
	struct buf text = BUF_INIT;
	uint8_t *record = calloc(1, event->size);

	insist(record);
	memcpy(record, bytes, len < event->size ? len : event->size);
	remote_texts_format(event, event->id, 0, &text);
	remote_texts_format(event, 0xf000, 6, &text);
	decode_print(event->format, record, event->size, NULL, &text);
	decode_print(event->format, record, event->size / 2, NULL, &text);
	free(record);
	buf_fini(&text);
}

static void parse(const uint8_t *bytes, size_t len, const struct decode_abi *abi)
{
	struct remote_texts texts;
	struct err err = ERR_INIT;

	if (remote_texts_parse(&texts, "fuzz", bytes, len, abi, &err)) {
		insist(*err.text && !texts.nr && !texts.events);
		return;
	}
	for (uint32_t i = 0; i < texts.nr; i++) {
		const struct remote_event *event = &texts.events[i];

		insist(!i || event->id > texts.events[i - 1].id);
		insist(event->format && memchr(event->name, 0, sizeof(event->name)) && memchr(event->print, 0, sizeof(event->print)));
		for (uint32_t f = 0; f < event->nr_fields; f++)
			insist(event->fields[f].offset >= 2 && event->fields[f].offset + event->fields[f].size <= event->size);
		insist(remote_texts_id(&texts, event->id) == event && remote_texts_name(&texts, event->name) == event);
		if (i < 8)
			show(event, bytes, len);
	}
	insist(!remote_texts_id(&texts, 0x10000));
	remote_texts_fini(&texts);
}

static void parse_all(const uint8_t *bytes, size_t len)
{
	/* A copy of its own, so that a read past the end is seen. */
	uint8_t *copy = malloc(len ? len : 1);

	insist(copy);
	memcpy(copy, bytes, len);
	for (int kind = 0; kind < 4; kind++)
		parse(copy, len, &(struct decode_abi){ .big_endian = kind & 1, .long_size = kind & 2 ? 4 : 8 });
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct remote_elf elf;
	struct err err = ERR_INIT;
	int r;

	if (size < 4 || memcmp(data, "\177ELF", 4)) {
		parse_all(data, size);
		return 0;
	}
	file_fill(data, size);
	r = remote_elf_read(&elf, file_path, &err);
	insist(!r || *err.text);
	if (!r && elf.texts)
		parse_all((const uint8_t *)elf.texts, elf.len);
	free(elf.texts);
	return 0;
}
