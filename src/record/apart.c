/*
 * record/apart: what remotes bring to a file: numbers that no program and no kernel has there, and the formats of their events.
 *
 * Records of remotes begin with an ID alone; in the file they begin as all others do, so fields lie a little further on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/local.h"

/* Directories deal theirs from below, and kernels from below those. */
#define FIRST_ID 0xf000u
/* The most that a kernel gives to threads. */
#define FIRST_PID (1 << 22)

int record_apart_numbers(const struct record_buffer *buffers, size_t i, struct record_apart *apart)
{
	*apart = (struct record_apart){ .remote = buffers[i].remote, .first_id = FIRST_ID, .pid = FIRST_PID + 1 };
	for (size_t before = 0; before < i; before++) {
		if (!buffers[before].remote)
			continue;
		apart->first_id += remote_texts(buffers[before].remote)->nr + 1;
		apart->pid++;
	}
	return apart->first_id + remote_texts(apart->remote)->nr > UINT16_MAX ? -EOVERFLOW : 0;
}

int record_meta_add_remote(struct record_meta *meta, const struct record_buffer *buffers, size_t i, struct err *err)
{
	struct record_apart *more = realloc(meta->aparts, (meta->nr_aparts + 1) * sizeof(*more));

	if (!more)
		return err_set(err, -ENOMEM, "out of memory");
	meta->aparts = more;
	return record_apart_numbers(buffers, i, &more[meta->nr_aparts++]);
}

/* A text behind its length. */
static void add_text(struct buf *out, const struct buf *text)
{
	uint64_t len = text->len;

	buf_add(out, &len, sizeof(len));
	buf_add(out, text->data, text->len);
}

/* Of events that the ELF file does not name, or that make no sense. */
static void put_unknown(uint32_t id, struct buf *out)
{
	buf_printf(out, "name: unknown\nID: %u\nformat:\n" RECORD_HEAD_FORMAT
		   "\tfield:unsigned short id;\toffset:8;\tsize:2;\tsigned:0;\n\nprint fmt: \"id=%%u\", REC->id\n", id);
}

void record_apart_formats(const struct record_meta *meta, struct buf *out, uint32_t *nsystems)
{
	for (size_t i = 0; i < meta->nr_aparts; i++) {
		const struct record_apart *apart = &meta->aparts[i];
		const struct remote_texts *texts = remote_texts(apart->remote);
		const char *system = remote_name(apart->remote);
		uint32_t n = texts->nr + 1;
		struct buf text = BUF_INIT;

		buf_add(out, system, strlen(system) + 1);
		buf_add(out, &n, sizeof(n));
		for (uint32_t e = 0; e <= texts->nr; e++, buf_reset(&text)) {
			if (e < texts->nr)
				remote_texts_format(&texts->events[e], apart->first_id + e, RECORD_APART_SHIFT, &text);
			else
				put_unknown(apart->first_id + e, &text);
			add_text(out, &text);
		}
		++*nsystems;
		buf_fini(&text);
	}
}
