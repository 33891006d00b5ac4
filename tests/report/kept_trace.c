/*
 * What Linux 6.12 printed of events (kept.h), and we print: the same bytes.
 *
 * Debian's kernel wrote them in a virtual machine, hash-ptr off: markers, a function, tasks that sleep, stacks, and from modules
 * made for this the words of trace_printk() and trace_puts() and an event with a field of every kind. Nobody can see when it
 * cleared the buffer; `head` has the middle of the few nanoseconds that fit its times.
 */
#include "kept.h"

static void print(struct kept *k, const char *options, struct buf *out)
{
	unsigned int flags = look_flags(options) | (k->ticks ? REPORT_TICKS : 0);
	struct decode_ctx ctx = kept_ctx(k);

	report_trace_header(out, &k->head, flags);
	for (size_t i = 0; i < k->rows.nr; i++)
		report_trace_line(out, &k->rows.row[i], &ctx, flags);
}

int main(void)
{
	int trace = kept_file("trace-6.12", print), ticks = kept_file("ticks-6.12", print);

	return trace || ticks;
}
