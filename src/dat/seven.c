/*
 * dat/seven: see seven.h.
 */
#include "dat/seven.h"

#include <errno.h>
#include <string.h>

static const char *const names[DAT_NR_IDS] = {
	[DAT_DONE] = "options",
	[DAT_STRINGS] = "strings",
	[DAT_HEADER_INFO] = "headers",
	[DAT_FTRACE_EVENTS] = "ftrace events",
	[DAT_EVENT_FORMATS] = "events format",
	[DAT_KALLSYMS] = "kallsyms",
	[DAT_PRINTK] = "printk",
	[DAT_CMDLINES] = "command lines",
	[DAT_BTF] = "BTF",
	[DAT_MODULES] = "modules",
};

const char *seven_name(enum dat_id id)
{
	return names[id] ? names[id] : "";
}

void seven_start(struct buf *out, bool big_endian, uint8_t long_size, uint32_t page_size,
		 const struct pack *pack)
{
	const char *name = pack ? pack_called(pack) : "none", *version = pack ? pack_version(pack) : "";

	buf_add(out, "\027\010\104tracing7", 12);
	seven_word(out, 1, big_endian, big_endian);
	seven_word(out, 1, long_size, big_endian);
	seven_word(out, 4, page_size, big_endian);
	buf_add(out, name, strlen(name) + 1);
	buf_add(out, version, strlen(version) + 1);
}

void seven_head(uint8_t head[SEVEN_HEAD], enum dat_id id, bool packed, uint32_t name, uint64_t size,
		bool big_endian)
{
	dat_store(head, 2, id, big_endian);
	dat_store(head + 2, 2, packed ? SEVEN_PACKED : 0, big_endian);
	dat_store(head + 4, 4, name, big_endian);
	dat_store(head + SEVEN_SIZE_AT, 8, size, big_endian);
}

void seven_word(struct buf *out, uint32_t size, uint64_t value, bool big_endian)
{
	uint8_t bytes[8];

	dat_store(bytes, size, value, big_endian);
	buf_add(out, bytes, size);
}

void seven_option(struct buf *out, enum dat_id id, const void *value, size_t len, bool big_endian)
{
	seven_word(out, 2, id, big_endian);
	seven_word(out, 4, len, big_endian);
	if (len)
		buf_add(out, value, len);
}

size_t seven_prefix(enum dat_id id)
{
	switch (id) {
	case DAT_KALLSYMS:
	case DAT_PRINTK:
		return 4;
	case DAT_CMDLINES:
		return 8;
	default:
		return 0;
	}
}

int seven_piece(struct buf *out, struct pack *pack, const void *bytes, size_t len, bool big_endian)
{
	size_t room = pack_bound(pack, len);
	char *to = buf_room(out, 8 + room);
	long n;

	if (!to)
		return -ENOMEM;
	n = pack_shrink(pack, bytes, len, to + 8, room);
	if (n < 0)
		return (int)n;
	if ((uint64_t)n > UINT32_MAX || len >> 16 >> 16)
		return -EFBIG;
	dat_store(to, 4, (uint64_t)n, big_endian);
	dat_store(to + 4, 4, len, big_endian);
	out->len += 8 + (size_t)n;
	out->data[out->len] = '\0';
	return 0;
}
