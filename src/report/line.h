/*
 * report/line: pieces that lines of more than one kind are made of. Private to the room.
 */
#ifndef REPORT_LINE_H
#define REPORT_LINE_H

#include "decode/sink.h"
#include "layout/page.h"
#include "report/trace.h"

/* comm-pid [cpu] flags time: what stands before the text, in the way that the options ask for. */
void report_line_columns(struct buf *out, const struct report_row *row, const struct decode_ctx *ctx, unsigned int flags);

/* What every record begins with; zeros for what it is too short for. */
struct record_head report_line_head(const struct report_row *row);

/* irqs-off, need-resched, interrupt, depths: five characters. */
void report_line_flags(struct sink *s, const struct record_head *head);

/* `+ ! # * @ $` for more than 10 microseconds, 100, ..., a second; a blank for less. `us`: what a microsecond counts. */
char report_line_mark(uint64_t time, uint64_t us);

/* The name of a task, or what stands for one. */
const char *report_line_comm(const struct decode_ctx *ctx, int pid);

/* What options ask of the decoder comes on top of what the caller, who may be nobody, asks of it. */
struct decode_ctx report_line_ctx(const struct decode_ctx *ctx, unsigned int flags);

/* What latency-format has at the top: the latency, whose it was. */
void report_head_latency(struct buf *out, const struct report_trace_head *head);

#endif
