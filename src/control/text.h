/*
 * control/text: rows of a buffer as the text that its tracer and its trace options ask for.
 */
#ifndef CONTROL_TEXT_H
#define CONTROL_TEXT_H

#include "base/buf.h"
#include "control/rows.h"
#include "report/graph.h"

struct control_text {
	struct control_rows *rows;
	const struct state_buffer *buffer;	/* its options and clock, as they are by now */
	const struct state_buffer *top;
	bool peeks;		/* `trace`: says where a CPU's older events were overwritten, and not what was lost then */
	uint64_t n;		/* rows so far */
	/* latency-format tells how long it was until the next: a row waits for that. */
	struct control_row held;
	struct buf held_data;
	bool holding;
	/* The beginning of a call waits for a look at what follows on its CPU. */
	struct buf entry_data;
	struct report_graph *graph;	/* NULL until function_graph is the tracer */
	uint64_t started[SEGMENT_NCPU_MAX / 64];	/* bit: an ordinary line of that CPU was printed */
};

/* `top` is the buffer that has the options which instances do not have. */
void control_text_init(struct control_text *text, const struct state_buffer *buffer,
		       const struct state_buffer *top, struct control_rows *rows, bool peeks);
void control_text_fini(struct control_text *text);

/* What stands at the top of `trace`; `empty`: nothing of it is to be shown here. */
void control_text_head(const struct control_text *text, struct buf *out, bool empty);
/*
 * A row, and before it what is to be said about those that are missing. How many rows are in the text by that: the end of a
 * call that calls nothing stands in the line of its beginning, and was taken from the rows. Or -errno.
 */
int control_text_row(struct control_text *text, struct buf *out, const struct control_row *row, struct err *err);
/* There are no more. */
void control_text_end(struct control_text *text, struct buf *out);

#endif
