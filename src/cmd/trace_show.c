/*
 * cmd/trace_show: see trace_show.h.
 */
#include "cmd/trace_show.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/trace_open.h"

#define NR_SIGRETURN 15u
#define NR_CLONE 56u
#define NR_FORK 57u
#define NR_VFORK 58u
#define NR_EXECVE 59u
#define NR_EXIT 60u
#define NR_EXIT_GROUP 231u
#define NR_EXECVEAT 322u
#define NR_CLONE3 435u

static bool is_meant(const struct trace_show *show, uint64_t number)
{
	return !show->list || trace_list_has(show->list, number);
}

/* The beginnings of the first `n` open calls, as far as they are not shown yet: what is next happens in them. */
static void show_begun(struct trace_show *show, int32_t tid, struct trace_open *open, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (!open->calls[i].begun && is_meant(show, open->calls[i].number))
			trace_lines_begun(&show->lines, tid, &open->calls[i]);
}

/* Something else came before the end of the call that a handler returned to. */
static void show_back(struct trace_show *show, int32_t tid, struct trace_open *open)
{
	if (!open->has_back)
		return;
	open->has_back = false;
	show_begun(show, tid, open, open->n);
	trace_lines_call(&show->lines, tid, &open->back, open->back_end);
}

/* Calls from the `from`th on, before the `end`th, never end: a handler that ran in them did not return. */
static void leave(struct trace_show *show, int32_t tid, struct trace_open *open, uint32_t from, uint32_t end)
{
	if (!show->counts) {
		if (from < end)
			show_begun(show, tid, open, end);
		return;
	}
	for (uint32_t i = from; i < end; i++)
		if (is_meant(show, open->calls[i].number))
			trace_count_add(show->counts, open->calls[i].number, 0, 0);
}

static void take_last(struct trace_show *show, int32_t tid, struct trace_open *open)
{
	const struct trace_call *call = &open->calls[open->n - 1];

	leave(show, tid, open, 0, open->n - 1);
	if (show->counts || !is_meant(show, call->number))
		return;
	trace_lines_last(&show->lines, tid, call);
	trace_lines_exited(&show->lines, tid, call->ts, (uint32_t)call->args[0]);
}

int trace_show_enter(struct trace_show *show, int32_t tid, const uint64_t words[1 + CALLS_ARGS], uint64_t ts)
{
	struct trace_open *open = map_get(&show->threads, &tid, sizeof(tid), sizeof(*open));
	struct trace_call *call;

	if (!open)
		return -ENOMEM;
	show_back(show, tid, open);
	if (open->n == TRACE_OPEN_MAX) {
		leave(show, tid, open, 0, 1);
		trace_open_drop(open);
	}
	call = trace_open_add(open);
	if (!call)
		return -ENOMEM;
	call->number = words[0];
	memcpy(call->args, words + 1, sizeof(call->args));
	call->ts = ts;
	if (words[0] == NR_EXIT || words[0] == NR_EXIT_GROUP) {
		take_last(show, tid, open);
		trace_open_fini(open);
		map_remove(&show->threads, &tid, sizeof(tid));
	}
	return 0;
}

int trace_show_data(struct trace_show *show, int32_t tid, uint64_t number, uint32_t arg, const void *bytes, uint32_t len, uint32_t size)
{
	struct trace_open *open = map_find(&show->threads, &tid, sizeof(tid));
	struct trace_call *call = open ? trace_open_find(open, number) : NULL;
	struct trace_data **to = call && arg < CALLS_ARGS ? &call->data[arg] : NULL;

	if (!to)
		return 0;
	if (!*to)
		*to = calloc(1, sizeof(**to));
	if (!*to)
		return -ENOMEM;
	(*to)->size = size;
	(*to)->len = len < CALLS_DATA_MAX ? len : CALLS_DATA_MAX;
	memcpy((*to)->bytes, bytes, (*to)->len);
	return 0;
}

/* Is the call a handler's return, which is to be shown behind the end of the call it returns to? Not if that is begun again: then its
 * number is what the kernel makes of the result. */
static bool is_back(const struct trace_show *show, const struct trace_call *call, const struct trace_call *outer)
{
	return call->number == NR_SIGRETURN && outer && !outer->begun && is_meant(show, outer->number) &&
	       call->result != (int64_t)outer->number;
}

/* It ended as the innermost one. */
static void show_ended(struct trace_show *show, int32_t tid, struct trace_open *open, uint64_t ts)
{
	const struct trace_call *call = &open->calls[open->n - 1], *outer = open->n > 1 ? call - 1 : NULL;

	if (show->counts) {
		if (is_meant(show, call->number))
			trace_count_add(show->counts, call->number, call->result, ts > call->ts && !call->untimed ? ts - call->ts : 0);
		return;
	}
	if (!is_meant(show, call->number))
		return;
	if (is_back(show, call, outer)) {
		open->back = *call;
		open->back_end = ts;
		open->has_back = true;
		return;
	}
	show_begun(show, tid, open, open->n - 1);
	trace_lines_call(&show->lines, tid, call, ts);
	if (open->has_back)
		trace_lines_call(&show->lines, tid, &open->back, open->back_end);
	open->has_back = false;
}

/* In a new thread or program nothing of before goes on: its first record is the end of the call that made it. */
static bool is_first(uint64_t number, int64_t result)
{
	return !result && (number == NR_CLONE || number == NR_FORK || number == NR_VFORK || number == NR_CLONE3 || number == NR_EXECVE ||
			   number == NR_EXECVEAT);
}

void trace_show_exit(struct trace_show *show, int32_t tid, uint64_t number, int64_t result, uint64_t ts)
{
	struct trace_open *open = map_find(&show->threads, &tid, sizeof(tid));
	struct trace_call *call = open ? trace_open_find(open, number) : NULL;

	/* Not of one that began before we came, or in another program, or in the thread that made this one. */
	if (call) {
		const uint32_t at = (uint32_t)(call - open->calls);

		if (at + 1 < open->n)
			show_back(show, tid, open);
		leave(show, tid, open, at + 1, open->n);
		trace_open_cut(open, at + 1);
		call->result = result;
		call->untimed = is_first(number, result);
		show_ended(show, tid, open, ts);
		trace_open_cut(open, at);
	}
	if (open && is_first(number, result)) {
		leave(show, tid, open, 0, open->n);
		trace_open_cut(open, 0);
	}
}

/* Calls that nobody saw the end of: they wait still, or were the end of their thread. */
static void put_open(struct trace_show *show, int32_t tid, struct trace_open *open)
{
	const struct trace_call *call = open->n ? &open->calls[open->n - 1] : NULL;

	show_back(show, tid, open);
	if (!call)
		return;
	leave(show, tid, open, 0, open->n - 1);
	if (!show->counts && !call->begun && is_meant(show, call->number))
		trace_lines_last(&show->lines, tid, call);
}

int trace_show_rest(struct trace_show *show)
{
	const struct map_entry **all;

	if (map_list(&show->threads, &all))
		return -ENOMEM;
	for (size_t i = 0; i < show->threads.nr; i++) {
		int32_t tid;

		memcpy(&tid, all[i]->key, sizeof(tid));
		put_open(show, tid, all[i]->value);
	}
	free(all);
	return 0;
}

void trace_show_fini(struct trace_show *show)
{
	const struct map_entry **all;

	if (!map_list(&show->threads, &all)) {
		for (size_t i = 0; i < show->threads.nr; i++)
			trace_open_fini(all[i]->value);
		free(all);
	}
	map_fini(&show->threads);
	buf_fini(&show->lines.out);
}
