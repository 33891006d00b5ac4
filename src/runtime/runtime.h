/*
 * runtime: life in the traced program. The door for event/: what is known of this process, and the way to the rings.
 *
 * All of it is safe when there is no tracing directory: interning fails, hints stay 0, writes do nothing.
 * Functions marked [any] may run in any thread and in signal handlers; the others take no lock that a handler could
 * hold, but allocate from the registry and belong into constructors, dlopen and ordinary code.
 */
#ifndef RUNTIME_RUNTIME_H
#define RUNTIME_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longest record, common fields included, that fits into a page of any size in any ring. A multiple of 8. */
#define RUNTIME_RECORD_MAX 4048u

/* The word that event sites test while the process has no directory: always 0. */
extern const uint32_t runtime_hint_off;

/* For the tool, which is no traced program by itself: joins the directory at `path`. -EALREADY when it has; -EBUSY when it
 * has joined another: one directory a process. */
int runtime_attach(const char *path);
/* For the tool: is that the directory? */
bool runtime_is_at(const char *path);

/* For the tool: the name of a thread that it writes for. */
void runtime_tell_name(int32_t tid, int32_t tgid, uint32_t start, const char comm[16]);

/*
 * Makes an event known: `body` is its format text from the first field line (the common fields) to the end of the print
 * format. `related` is the id of the event whose sites this one rides on, or 0. Gives the id and the word to test.
 * When it returns, enables that hold for this event are in force. -errno leaves both untouched.
 */
int runtime_event_intern(const char *system, const char *name, const char *body, size_t body_len,
			 uint32_t related, uint32_t *id, const uint32_t **hint);

/* The hint word of one of ftrace's own events (layout/page.h), runtime_hint_off when not attached. */
const uint32_t *runtime_builtin_hint(uint32_t id);

/* Makes a printf format known; gives the address that stands for it in records. */
int runtime_format_intern(uint64_t ip, const char *func, const char *format, uint64_t *address);

/* An address of this process as an address of the directory's symbol space; the ELF file is made known on the way.
 * 0 when it belongs to no ELF file. */
uint64_t runtime_symbol_address(const void *address);

/*
 * [any] The addresses of the symbol space that this thread's stack consists of, innermost first: up to `max`, `skip` of them
 * left out, and the runtime's own. Code that is in no ELF file is there by its address in this process. How many.
 */
uint32_t runtime_stack(uint64_t *addresses, uint32_t max, uint32_t skip);

/* [any] This thread's name, as the kernel has it; "" when it cannot be had. Stays until the next question of this thread. */
const char *runtime_comm(void);

/*
 * [any] Writes a record to every buffer in which event `id` is on. `record` has room for the common fields, which this
 * fills in; `len` is a multiple of 4, at least 8, at most RUNTIME_RECORD_MAX. Loses it, counted, where there is no way.
 */
void runtime_write(uint32_t id, void *record, size_t len);

/*
 * For the tool: writes a record to the buffer in place `b` of the state alone, on or not, if it is still the one that was
 * `born` then. `tid` stands in the record as who wrote it, 0: this thread. -ENODEV: another buffer; -EBADF: it takes
 * nothing, or not here, or there is no room.
 */
int runtime_write_to(uint32_t b, uint64_t born, uint32_t id, void *record, size_t len, int32_t tid);

/* ---- for the tool that tells of other programs' events after they happened (capture/told.h) ---- */

#define RUNTIME_CLOCKS 9	/* TRACE_CLOCK_* */

/* A moment by all clocks. */
struct runtime_moment {
	uint64_t raw;		/* CLOCK_MONOTONIC_RAW */
	uint64_t mono;
	uint64_t counter;	/* the CPU's */
	uint64_t clock[RUNTIME_CLOCKS];
};
void runtime_moment_now(struct runtime_moment *moment);
/* The moment of that raw time; `a` and `b` are known, and best right before and behind it. */
void runtime_moment_between(const struct runtime_moment *a, const struct runtime_moment *b, uint64_t raw, struct runtime_moment *out);

#define RUNTIME_TOLD_FAMILY 16
struct runtime_told {
	struct runtime_moment at;
	uint32_t cpu;
	int32_t tid;		/* whose it is; 0: nobody knows */
	int32_t other;		/* another thread that it is about, or 0: lists of threads may name either */
	const int32_t *family;	/* of these: their processes, and those that they descend from; ends with 0 */
	const char *comm;
};

/* Behind runtime_attach(): this process tells. */
void runtime_teller(void);
/* The same as runtime_write(), of another thread at another time. Times never go back from one call to the next. */
void runtime_tell(const struct runtime_told *told, uint32_t id, void *record, size_t len);
/* So many were not learnt of on that CPU. */
void runtime_tell_lost(uint32_t id, uint32_t cpu, uint64_t n);
/* Does anybody want that event? */
bool runtime_tell_wanted(uint32_t id);
/* All before that moment is told, in all buffers that have one of these events. UINT64_MAX for `ever`: and there is no more to come. */
void runtime_told_until(const struct runtime_moment *moment, const uint32_t *ids, uint32_t n, bool ever);

/* [any] Room for one record of up to RUNTIME_RECORD_MAX bytes, aligned to 8, for events too large for the stack of
 * somebody else's thread. NULL when all are in use: the caller then calls runtime_lose(id). */
void *runtime_stage_get(void);
void runtime_stage_put(void *stage);

/* [any] Counts an event that could not be put together. */
void runtime_lose(uint32_t id);

#endif
