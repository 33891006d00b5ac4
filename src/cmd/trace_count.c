/*
 * cmd/trace_count: see trace_count.h.
 */
#include "cmd/trace_count.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/trace_args.h"
#include "control/calls.h"

static const char *const sorts[] = { "time", "calls", "errors", "name" };

int trace_sort_find(const char *name)
{
	for (int i = 0; i < (int)(sizeof(sorts) / sizeof(sorts[0])); i++)
		if (!strcmp(sorts[i], name))
			return i;
	return -1;
}

void trace_count_add(struct trace_counts *counts, uint64_t number, int64_t result, uint64_t ns)
{
	struct trace_count *count = &counts->each[number < CALLS_MAX ? number : CALLS_MAX];

	count->number = number;
	count->calls++;
	count->errors += result < 0 && result >= -4095;
	count->ns += ns;
}

static int by_name(const struct trace_count *a, const struct trace_count *b)
{
	const char *one = control_call_name(a->number), *other = control_call_name(b->number);

	return strcmp(one ? one : "", other ? other : "");
}

static int more(uint64_t a, uint64_t b)
{
	return a < b ? 1 : a > b ? -1 : 0;
}

static int by_time(const void *a, const void *b)
{
	const struct trace_count *one = a, *other = b;
	int r = more(one->ns, other->ns);

	return r ? r : by_name(one, other);
}

static int by_calls(const void *a, const void *b)
{
	const struct trace_count *one = a, *other = b;
	int r = more(one->calls, other->calls);

	return r ? r : by_name(one, other);
}

static int by_errors(const void *a, const void *b)
{
	const struct trace_count *one = a, *other = b;
	int r = more(one->errors, other->errors);

	return r ? r : by_name(one, other);
}

static int by_names(const void *a, const void *b)
{
	return by_name(a, b);
}

static void put_row(struct buf *out, const struct trace_count *count, uint64_t all)
{
	buf_printf(out, "%6.2f %11.6f %11" PRIu64 " %9" PRIu64 " ", all ? 100.0 * (double)count->ns / (double)all : 0,
		   (double)count->ns / 1e9, count->ns / count->calls / 1000, count->calls);
	if (count->errors)
		buf_printf(out, "%9" PRIu64 " ", count->errors);
	else
		buf_printf(out, "%9s ", "");
	trace_put_name(out, count->number);
	buf_putc(out, '\n');
}

void trace_count_put(struct buf *out, const struct trace_counts *counts, enum trace_sort sort)
{
	static int (*const orders[])(const void *a, const void *b) = { by_time, by_calls, by_errors, by_names };
	static const char line[] = "------ ----------- ----------- --------- --------- ----------------\n";
	struct trace_count *rows = calloc(CALLS_MAX + 1, sizeof(*rows)), sum = { 0 };
	size_t n = 0;

	for (size_t i = 0; rows && i <= CALLS_MAX; i++) {
		const struct trace_count *count = &counts->each[i];

		if (!count->calls)
			continue;
		rows[n++] = *count;
		sum.calls += count->calls;
		sum.errors += count->errors;
		sum.ns += count->ns;
	}
	if (rows)
		qsort(rows, n, sizeof(*rows), orders[sort]);
	buf_puts(out, "% time     seconds  usecs/call     calls    errors syscall\n");
	buf_puts(out, line);
	for (size_t i = 0; i < n; i++)
		put_row(out, &rows[i], sum.ns);
	buf_puts(out, line);
	buf_printf(out, "100.00 %11.6f %11" PRIu64 " %9" PRIu64 " %9" PRIu64 " total\n", (double)sum.ns / 1e9,
		   sum.calls ? sum.ns / sum.calls / 1000 : 0, sum.calls, sum.errors);
	free(rows);
}
