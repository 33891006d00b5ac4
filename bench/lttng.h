/*
 * The bench's events as LTTng-UST tracepoints: the same fields.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "lttng.h"

#if !defined(BENCH_LTTNG_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_LTTNG_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(bench, plain,
	LTTNG_UST_TP_ARGS(int, value),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, value, value)))

LTTNG_UST_TRACEPOINT_EVENT(bench, text,
	LTTNG_UST_TP_ARGS(int, value, const char *, name),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, value, value) lttng_ust_field_string(name, name)))

#endif

#include <lttng/tracepoint-event.h>
