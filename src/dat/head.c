/*
 * dat/head: see head.h.
 */
#include "dat/head.h"

#include <errno.h>

#include "dat/seven.h"

#define BIG (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
#define NO_NAME UINT32_MAX	/* names lie behind it */

static void put_section(struct buf *out, enum dat_id id, const struct buf *payload, struct buf *options)
{
	uint8_t head[SEVEN_HEAD], at[8];

	dat_store(at, 8, out->len, BIG);
	seven_option(options, id, at, sizeof(at), BIG);
	seven_head(head, id, false, NO_NAME, seven_prefix(id) + payload->len, BIG);
	buf_add(out, head, sizeof(head));
	if (seven_prefix(id))
		seven_word(out, (uint32_t)seven_prefix(id), payload->len, BIG);
	if (payload->len)
		buf_add(out, payload->data, payload->len);
}

int dat_head_put(const struct dat_head *head, struct buf *out)
{
	struct buf options = BUF_INIT;
	uint8_t bytes[SEVEN_HEAD];
	size_t link;

	seven_start(out, BIG, head->long_size, head->page_size, NULL);
	link = out->len;
	seven_word(out, 8, 0, BIG);
	for (int id = DAT_HEADER_INFO; id <= DAT_CMDLINES; id++)
		if (head->sections[id].data)
			put_section(out, (enum dat_id)id, &head->sections[id], &options);
	if (head->options_len)
		buf_add(&options, head->options, head->options_len);
	dat_store(bytes, 4, head->nr_cpus, BIG);
	seven_option(&options, DAT_CPUCOUNT, bytes, 4, BIG);
	dat_store(bytes, 8, 0, BIG);
	seven_option(&options, DAT_DONE, bytes, 8, BIG);
	if (!buf_failed(out))
		dat_store(out->data + link, 8, out->len, BIG);
	seven_head(bytes, DAT_DONE, false, NO_NAME, options.len, BIG);
	buf_add(out, bytes, sizeof(bytes));
	buf_add(out, options.data, options.len);
	link = buf_failed(&options) || buf_failed(out);
	buf_fini(&options);
	return link ? -ENOMEM : 0;
}
