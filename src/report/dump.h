/*
 * report/dump: the forms of a record that do without its print format. Private to the room.
 */
#ifndef REPORT_DUMP_H
#define REPORT_DUMP_H

#include "layout/page.h"
#include "report/trace.h"

/* All of a record's line, its line break and columns included, by the first of bin, hex and raw. */
void report_dump_line(struct buf *out, const struct report_row *row, const struct record_head *head,
		      const struct decode_ctx *ctx, unsigned int flags);

/* "event: name=0x1 (1) name=text": what follows the columns of an ordinary line. */
void report_dump_fields(struct buf *out, const struct report_row *row,
			const struct record_head *head, const struct decode_ctx *ctx);

#endif
