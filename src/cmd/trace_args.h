/*
 * cmd/trace_args: a system call as people write it: `openat(AT_FDCWD, "/etc/passwd", O_RDONLY) = 3`.
 *
 * In: numbers as they were in registers, and what pointers pointed to, as far as it was recorded. Out: text. Nothing of it is
 * trusted: bytes are shown as strings in quotes, with all else escaped.
 */
#ifndef CMD_TRACE_ARGS_H
#define CMD_TRACE_ARGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "layout/calls.h"

/* What an argument pointed to. */
struct trace_data {
	uint32_t size;		/* of all there was */
	uint32_t len;		/* of what is here; 0: it is not known */
	uint8_t bytes[CALLS_DATA_MAX];
};

struct trace_call {
	uint64_t number;
	uint64_t args[CALLS_ARGS];
	uint64_t ts;		/* when it began */
	int64_t result;
	bool begun;		/* its beginning was shown already */
	bool untimed;		/* its end was seen late: nobody knows how long it took */
	struct trace_data *data[CALLS_ARGS];	/* NULL: none */
};

/* `limit`: bytes of a buffer that are shown. */
void trace_put_call(struct buf *out, const struct trace_call *call, uint32_t limit);
/* In two parts: what is known before it ends, which is all before the first argument that it fills, and the rest. */
void trace_put_begun(struct buf *out, const struct trace_call *call, uint32_t limit);
void trace_put_resumed(struct buf *out, const struct trace_call *call, uint32_t limit);
/* A number whose kind is one of the letters in trace_args.c; an address if that is none of numbers. */
void trace_put_number(struct buf *out, char kind, uint64_t value);
/* SIGINT, of its number. */
void trace_put_signal(struct buf *out, uint64_t signal);
/* What it returned, in the kernel's way: a negative number is an errno. */
void trace_put_result(struct buf *out, const struct trace_call *call);
/* Its name, or a made one. */
void trace_put_name(struct buf *out, uint64_t number);

/* Is the call of that name in a list of names and classes, separated by commas: open,close,file,%network; !LIST: not? False for
 * words that are neither, which `wrong` then names. */
bool trace_list_check(const char *list, const char **wrong, size_t *len);
bool trace_list_has(const char *list, uint64_t number);

#endif
