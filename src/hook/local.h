/*
 * hook/local: what the files of this room share. Nothing here trusts what it reads from the code area: see hook.h.
 */
#ifndef HOOK_LOCAL_H
#define HOOK_LOCAL_H

#include <string.h>

#include "hook/hook.h"

#define LOAD(word) __atomic_load_n(&(word), __ATOMIC_RELAXED)

/* Bytes of the code area, or NULL. Offset 0 is nothing. */
static inline const void *code_at(const struct hook_code *code, uint32_t offset, uint64_t size)
{
	return offset && offset <= code->size && size <= code->size - offset ? code->at + offset : NULL;
}

static inline bool code_copy(const struct hook_code *code, uint32_t offset, uint32_t n, void *to, size_t size)
{
	const unsigned char *from = code_at(code, offset, ((uint64_t)n + 1) * size);

	if (!from)
		return false;
	memcpy(to, from + n * size, size);
	return true;
}

/* Is what was read from code, fields and bound hooks so far what was bound? Asked before anything is done about it. */
static inline bool is_sound(const struct hook_host *host)
{
	/* Partner: the fence behind the count in runtime/view.c. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return !host->place || LOAD(*host->place) == host->place_was;
}

static inline uint64_t *word_at(const struct hook_host *host, uint32_t number)
{
	return number && number < TABLE_WORDS && host->words ? &host->words[number] : NULL;
}

/* What follows the record: see hook.h. */
static inline bool hook_act_is_before(const struct hook_act *act)
{
	return !act->cond && act->kind != HOOK_TRACEOFF && act->kind != HOOK_STACKTRACE && act->kind != HOOK_HIST &&
	       act->kind != HOOK_EMIT;
}

/* A program and how it is linked with the event. */
struct linked {
	const void *program;
	uint32_t size;
	uint32_t uses;
	const struct program_field *fields;
};

/* run.c */
bool hook_find_program(const struct hook_host *host, const struct hook_bound *bound, uint32_t offset,
		       struct linked *linked);
void hook_input(const struct hook_host *host, const struct linked *linked, uint64_t buffer, const void *record, uint32_t len,
		struct program_input *in);

/* hist.c. False: it was found unsound before anything was done. */
bool hook_hist_run(const struct hook_host *host, const struct hook_bound *bound, uint32_t at, const void *record,
		   uint32_t len);

/* emit.c: the record that struct hook_emit at `at` tells of; `linked` and `in` are of a histogram, or NULL. */
void hook_emit_run(const struct hook_host *host, const struct hook_bound *bound, uint32_t at, const void *record, uint32_t len,
		   const struct linked *linked, const struct program_input *in);

#endif
