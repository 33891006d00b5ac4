/*
 * dat/chunk: a CPU's pages on their way into the file, for dat/write.
 *
 * Unpacked they go through as they are. Packed, a few of them together make a piece, and the number
 * of pieces, known at the end, stands before the first:
 *
 *	| number | size, unpacked size, bytes | size, unpacked size, bytes | ...
 */
#include <string.h>

#include "dat/form.h"
#include "dat/seven.h"

#define COUNT_SIZE 4

void form_packed(struct dat_write *write, const void *bytes, size_t len)
{
	int r;

	buf_reset(&write->packed);
	r = seven_piece(&write->packed, write->pack, bytes, len, write->out.big_endian);
	if (r)
		out_fail(&write->out, r);
	else
		out_bytes(&write->out, write->packed.data, write->packed.len);
}

/* The data begins with the first page: a CPU without any takes no room. */
static void begin_data(struct dat_write *write, struct form_cpu *cpu)
{
	if (!form_buffer(write)->text)
		out_align(&write->out, form_buffer(write)->page_size);
	cpu->offset = out_pos(&write->out);
	write->nr_chunks = 0;
	write->chunk_len = 0;
	if (write->pack)
		out_word(&write->out, COUNT_SIZE, 0);
}

static void put_chunk(struct dat_write *write)
{
	if (!write->chunk_len || out_failed(&write->out))
		return;
	form_packed(write, write->chunk, write->chunk_len);
	write->chunk_len = 0;
	write->nr_chunks++;
}

void form_pages(struct dat_write *write, const uint8_t *pages, size_t len)
{
	size_t room = (size_t)form_buffer(write)->page_size * FORM_CHUNK;
	struct form_cpu *cpu = &write->cpus[write->cpu];

	if (!cpu->offset)
		begin_data(write, cpu);
	if (!write->pack) {
		out_bytes(&write->out, pages, len);
		return;
	}
	while (len && !out_failed(&write->out)) {
		size_t n = room - write->chunk_len < len ? room - write->chunk_len : len;

		memcpy(write->chunk + write->chunk_len, pages, n);
		write->chunk_len += n;
		pages += n;
		len -= n;
		if (write->chunk_len == room)
			put_chunk(write);
	}
}

void form_end_cpu(struct dat_write *write)
{
	struct form_cpu *cpu = &write->cpus[write->cpu];

	if (!cpu->offset)
		return;
	put_chunk(write);
	cpu->size = out_pos(&write->out) - cpu->offset;
	if (!write->pack)
		return;
	out_patch(&write->out, cpu->offset, COUNT_SIZE, write->nr_chunks);
	/* As stock writers do: the number of pieces is not part of them. */
	cpu->size -= COUNT_SIZE;
}
