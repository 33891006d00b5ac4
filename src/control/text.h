/*
 * control/text: rows of a buffer as the text that its trace options ask for.
 */
#ifndef CONTROL_TEXT_H
#define CONTROL_TEXT_H

#include "base/buf.h"
#include "control/rows.h"

struct control_text {
	struct control_rows *rows;
	uint32_t flags;		/* BUFFER_* */
	uint32_t clock;
	bool peeks;		/* `trace`: says where a CPU's older events were overwritten, and not what was lost then */
	uint64_t n;		/* rows so far */
};

void control_text_init(struct control_text *text, const struct state_buffer *buffer,
		       struct control_rows *rows, bool peeks);
/* What stands at the top of `trace`. */
void control_text_head(const struct control_text *text, struct buf *out);
/* A row, and before it what is to be said about those that are missing. */
void control_text_row(struct control_text *text, struct buf *out, const struct control_row *row);

#endif
