/*
 * control/stamp: see stamp.h.
 */
#include "control/stamp.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol/elf.h"

static void put_build_id(struct buf *out, const unsigned char *id, uint32_t len)
{
	buf_puts(out, "b");
	for (uint32_t i = 0; i < len; i++)
		buf_printf(out, "%02x", id[i]);
}

void control_stamp_put(struct buf *out, const char *path)
{
	unsigned char id[ELF_BUILD_ID_MAX];
	int fd = elf_file(path);
	struct stat st;
	struct elf elf;
	uint32_t len;

	if (fd < 0)
		return;
	if (!elf_open(&elf, fd, NULL)) {
		len = elf_build_id(&elf, id);
		if (len)
			put_build_id(out, id, len);
		else if (!fstat(fd, &st))
			buf_printf(out, "s%lld %lld.%09ld", (long long)st.st_size, (long long)st.st_mtim.tv_sec,
				   (long)st.st_mtim.tv_nsec);
	}
	elf_close(&elf);
	close(fd);
}

/* The n-th line of a text, from 0 on; its length is 0 where there is none. */
static const char *line_of(const char *text, int n, size_t *len)
{
	for (; n && *text; n--) {
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	*len = strcspn(text, "\n");
	return text;
}

/* Of an item's text (probe_world.h). */
static bool is_stale(const char *text, const char *file)
{
	size_t path_len, stamp_len;
	const char *path = line_of(text, 1, &path_len), *stamp = line_of(text, 5, &stamp_len);
	struct buf name = BUF_INIT, now = BUF_INIT;
	bool stale = false;

	buf_add(&name, path, path_len);
	buf_putc(&name, '\0');
	if (path_len && stamp_len && !buf_failed(&name) && (!file || !strcmp(file, name.data))) {
		control_stamp_put(&now, name.data);
		stale = now.len && !buf_failed(&now) && (now.len != stamp_len || memcmp(now.data, stamp, stamp_len));
	}
	buf_fini(&name);
	buf_fini(&now);
	return stale;
}

bool control_probe_is_stale(const struct control *control, const char *system, const char *event, const char *file)
{
	bool stale = false;

	for (uint32_t i = 0; !stale && i < control->state.nitems; i++) {
		const struct control_item *one = &control->state.items[i];

		stale = one->item.kind == STATE_ITEM_PROBE && !strcmp(one->item.system, system) &&
			!strcmp(one->item.event, event) && is_stale(one->text, file);
	}
	return stale;
}
