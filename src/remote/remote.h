/*
 * remote: rings that firmware, a hypervisor or another program writes into memory that we can look at, as the kernel's tracing remotes.
 *
 * A tracing directory knows its remotes by name: remotes/NAME/ there says where the memory is, and keeps what the kernel keeps of one: how
 * far it was read, and what is on while there is no buffer. Whoever opens one finds the same; locks on the file `state` keep those apart
 * who change or take something out. Nothing runs between two commands.
 *
 *   kind        load_trace_buffer         enable_tracing, enable_event, reset, swap_reader_page
 *   memory      finds the header          control words in the memory
 *   test        makes a buffer            the same: this process is the writer, too
 *   served      asks who registered it    and so does each of these
 *
 * A buffer is loaded by tracing_on and by who takes events out, and unloaded when it is off, empty and nobody does. One thread a handle.
 */
#ifndef REMOTE_REMOTE_H
#define REMOTE_REMOTE_H

#include <sys/types.h>

#include "base/buf.h"
#include "remote/target.h"
#include "remote/texts.h"

#define REMOTE_NAME_MAX 31
#define REMOTE_TEST "test"
#define REMOTE_USUAL_KB 7u	/* the kernel's */

struct remote;

/* `dir` is a descriptor of the tracing directory. -ENOENT: there is none of that name. One whose memory is not to be had opens, too. */
int remote_open(struct remote **out, int dir, const char *name, struct err *err);
/* The same without a look at the memory, which may take a while: for its events. */
int remote_open_blind(struct remote **out, int dir, const char *name, struct err *err);
/* For its CPUs: of one that a program brings they are known without asking that. */
int remote_open_cpus(struct remote **out, int dir, const char *name, struct err *err);
void remote_close(struct remote *remote);
bool remote_exists(int dir, const char *name);
/* Names, sorted, a line each; the built-in one among them. */
int remote_list(int dir, struct buf *out, struct err *err);

struct remote_place {
	const char *memory;	/* the file or device */
	const uint64_t *at;	/* where in it the header is; NULL: it is looked for */
	const char *elf;	/* NULL: events have no names */
};
/* -EEXIST. The memory has to be there, with a header in it. */
int remote_add(int dir, const char *name, const struct remote_place *place, struct err *err);
/* -EBUSY: somebody takes its events out. */
int remote_remove(int dir, const char *name, struct err *err);

const char *remote_name(const struct remote *remote);
/* Where its memory is, NULL of the built-in one; where in it the header is; whether the target can be told anything. */
const char *remote_path(const struct remote *remote);
/* The ELF file that the names of its events came from, or NULL; and was there a build ID in both, which was the same? */
const char *remote_elf_path(const struct remote *remote);
bool remote_is_certain(const struct remote *remote);
uint64_t remote_at(const struct remote *remote);
bool remote_is_writable(const struct remote *remote);
/* The process that brought it, 0 of all others; and did that end without taking it away? */
pid_t remote_server(const struct remote *remote);
bool remote_is_gone(struct remote *remote);
const struct remote_texts *remote_texts(const struct remote *remote);
/* As last seen; NULL when there is no buffer now, and *why (if asked) tells what is wrong, or that nothing is loaded. */
const struct remote_target *remote_target(const struct remote *remote, struct err *why);
/* CPUs that it has, or had. A CPU's number may be beyond their count. */
uint32_t remote_cpus(const struct remote *remote);
uint32_t remote_cpu(const struct remote *remote, uint32_t i);
/* How it lays out words. */
const struct decode_abi *remote_abi(const struct remote *remote);

/* ---- the kernel's files ---- */

int remote_tracing_on(struct remote *remote, bool *on, struct err *err);
int remote_enable_tracing(struct remote *remote, bool on, struct err *err);
int remote_event_is_on(struct remote *remote, uint32_t id, bool *on, struct err *err);
int remote_enable_event(struct remote *remote, uint32_t id, bool on, struct err *err);
bool remote_is_loaded(struct remote *remote);
/* Of each CPU: what it has, or is to have. */
int remote_size(struct remote *remote, uint64_t *kb, bool *loaded, struct err *err);
/* Is there a ring that keeps the oldest events and has no room, so that what comes is refused? */
bool remote_is_full(struct remote *remote);
/* -EBUSY while it is loaded; -EINVAL of one whose buffer is what it is. */
int remote_set_size(struct remote *remote, uint64_t kb, struct err *err);
/* `cpu` -1: all. -ENODEV: there is no such CPU. */
int remote_reset(struct remote *remote, int cpu, struct err *err);
/* Of the built-in one: records event selftest on that CPU. -ENODEV: it is off. */
int remote_write_test(struct remote *remote, uint32_t cpu, uint64_t id, struct err *err);

/*
 * Tracing on, and of its events those that are wanted: one each, in the order of remote_texts(), NULL: all. What of that was off before goes off
 * with remote_give_back(), and if this process is killed, when the remote is opened next. -EBUSY: somebody else has done so.
 */
int remote_borrow(struct remote *remote, const bool *wanted, struct err *err);
void remote_give_back(struct remote *remote);
/* It stays on. */
void remote_keep(struct remote *remote);

/* ---- events ---- */

/* Loads the buffer, if it is not, and keeps it loaded; how many CPUs there are is known then. So often as held it is to be released. */
int remote_hold(struct remote *remote, struct err *err);
void remote_release(struct remote *remote);

struct remote_reader;

struct remote_row {
	uint32_t cpu;
	uint64_t ts;		/* ticks of the target */
	const void *data;	/* the record; NULL: none, only what follows is told */
	uint32_t len;
	uint64_t lost;		/* events before it */
	bool restarted;		/* before it, the target began anew */
};

struct remote_how {
	int cpu;		/* -1: all, in order of time */
	bool consume;		/* they are gone then; loads the buffer */
	bool once;		/* what is there now, and no more */
};

/* Does somebody else take events out, of whatever CPU? */
bool remote_is_read(struct remote *remote);
/* -ENODEV: there is no such CPU. -EBUSY: somebody else takes these events out. */
int remote_reader_open(struct remote_reader **out, struct remote *remote, const struct remote_how *how, struct err *err);
void remote_reader_close(struct remote_reader *reader);
/* 1 and a row, which stays until the next call; 0: nothing now; -errno with words. */
int remote_reader_next(struct remote_reader *reader, struct remote_row *row, struct err *err);
/* What was handed out is taken out, for everybody. */
int remote_reader_accept(struct remote_reader *reader, struct err *err);
/* The same of one CPU's, but for the last one. */
int remote_reader_accept_but_last(struct remote_reader *reader, struct err *err);
/* Events that were refused behind the last one: no event comes that could tell of them. 0 while there is something to read. */
uint64_t remote_reader_refused(struct remote_reader *reader);
/* Is the next row, if one comes, the first since the target began anew? */
bool remote_reader_restarted(const struct remote_reader *reader);
/* What is there now, and no more, so that it comes to an end; and what makes no sense is an error at once. */
void remote_reader_last(struct remote_reader *reader);
/* Events that are there and were not accepted. */
uint64_t remote_reader_left(struct remote_reader *reader);
/* Is there something to be had by reading, if only words? */
bool remote_reader_ready(struct remote_reader *reader);

/* ---- time ---- */

/* So many ticks in nanoseconds, by the rate that the target says it has. */
uint64_t remote_ns(const struct remote_target *target, uint64_t ticks);

#endif
