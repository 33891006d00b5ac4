/*
 * hook: runs what hangs on an event: filter, triggers, histograms, what they cause.
 *
 * In: a record, and a *bound* hook: a hook of the state whose programs were linked with the event's layout. Out: whether the
 * record is to be recorded, counts in tables, and calls to the host for all that only it can do. The host is the runtime of
 * a traced program, or a reader of trace files. Any thread, any handler; bytes may change under it, see program/program.h.
 */
#ifndef HOOK_HOOK_H
#define HOOK_HOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hist/table.h"
#include "layout/hook.h"
#include "program/program.h"
#include "program/quick.h"

/* The code area of a state, or of anything like it. */
struct hook_code {
	const unsigned char *at;
	uint32_t size;
};

/* One program of a hook, linked for one event: where its places begin in `fields`. */
struct hook_link {
	uint32_t program;	/* offset in the code area */
	uint16_t first;		/* of its places in `fields` */
	uint16_t uses;		/* program_uses() */
};

/* A hook's at most: a condition and what it computes for each act, and the filter. */
#define HOOK_LINKS_MAX (2 * HOOK_ACTS_MAX + 1)

/* What bound hooks share: the caller's memory, and how much of it is taken. */
struct hook_room {
	struct program_field *fields;
	uint32_t nfields, fields_max;
	struct hook_link *links;
	uint32_t nlinks, links_max;
};

/* A histogram that counts by one number, whatever the event, and no more: all that it takes. parts 0: there is none. */
struct hook_tally {
	uint64_t table;
	struct table_shape shape;
	struct program_field key;
	uint32_t pause;
	uint32_t reserved;
};

/* One hook bound to one event's layout. Made by hook_bind(), within memory of the caller's. */
struct hook_bound {
	uint32_t event;		/* id */
	uint32_t next;		/* the host's: chains those of one event */
	uint64_t buffer;	/* bit; 0: whichever, an event probe's */
	uint64_t sound;		/* bit: that act can be run */
	uint32_t filter;	/* offset, 0 none; UINT32_MAX: cannot be linked, nothing passes */
	uint32_t filter_size;
	uint32_t acts, nacts;
	uint32_t soft;		/* word, 0 none */
	uint32_t links;		/* the first of `nlinks` in the room */
	uint16_t nlinks;
	uint16_t first;		/* of the filter's places */
	uint16_t uses;		/* what of the moment the filter looks at */
	uint8_t before, after;	/* are there acts of these kinds? */
	struct hook_tally tally;	/* instead of the acts behind the record */
};

/*
 * Verifies everything that the hook reaches in the code area, and links it with the layout. Acts that cannot be linked or
 * make no sense are left out when they run. -ENOSPC when there is no room.
 */
int hook_bind(struct hook_bound *bound, const struct state_hook *hook, const struct hook_code *code, uint32_t event,
	      const char *body, size_t body_len, const struct hist_tables *tables, struct hook_room *room);

/* One emit alone, of records with that layout: a probe's at an instruction. -EINVAL: it cannot be run. */
int hook_bind_emit(struct hook_bound *bound, uint32_t emit, const struct hook_code *code, const char *body, size_t body_len,
		   const struct hist_tables *tables, struct hook_room *room);

/* Of act number `act`: the event that a probe makes, 0 when it is none. */
uint32_t hook_probe_event(const struct hook_bound *bound, const struct hook_code *code, uint32_t act);

struct hook_host;

/* What the host does; host->arg is its own. */
struct hook_calls {
	uint64_t (*now)(const struct hook_host *host, uint64_t buffer);	/* by that buffer's clock */
	const char *(*comm)(const struct hook_host *host);
	uint32_t (*stack)(const struct hook_host *host, uint64_t *addresses, uint32_t max);
	/* A record of another event. Room for common fields is at its beginning. */
	void (*emit)(const struct hook_host *host, uint32_t event, void *record, uint32_t len);
	/* Does anybody want that event? NULL: yes. */
	bool (*wants)(const struct hook_host *host, uint32_t event);
	/* Memory for one record, HOOK_STAGE_SIZE bytes, as runtime_stage_get(); NULL: none now. */
	void *(*stage)(const struct hook_host *host);
	void (*unstage)(const struct hook_host *host, void *stage);
	/* A stack trace record in that buffer, behind the event's. */
	void (*write_stack)(const struct hook_host *host, uint64_t buffer);
	/* Sets aside what the buffer holds. False: not now. */
	bool (*snapshot)(const struct hook_host *host, uint64_t buffer);
	uint32_t (*peek)(void *to, uint64_t address, uint32_t len, bool text);
	uint64_t (*symbol)(uint64_t address);	/* NULL: as it is */
	/* An event that could not be put together is lost in the target's buffers. */
	void (*lose)(const struct hook_host *host, uint32_t event);
};

struct hook_host {
	const struct hook_calls *calls;
	struct hook_code code;
	const struct program_field *fields;
	uint32_t room;		/* of fields */
	uint32_t links_max;
	const struct hook_link *links;
	struct hist_tables tables;
	uint64_t *words;	/* TABLE_WORDS of them, atomic */
	const uint32_t *place;	/* counts how often the memory of code, fields and bound hooks was used; NULL: it stays */
	uint32_t place_was;	/* when this run began */
	int32_t cpu;
	int32_t pid;
	uint32_t depth;		/* events that caused this one */
	void *arg;
};

#define HOOK_STAGE_SIZE HOOK_RECORD_MAX

/* Whether the record is to be recorded, as far as the filter is concerned. */
bool hook_passes(const struct hook_host *host, const struct hook_bound *bound, const void *record, uint32_t len);

/* `tally` is the caller's copy, and was looked at since: nothing changes it. */
void hook_count(const struct hook_tally *tally, const struct hist_tables *tables, const uint64_t *words, uint32_t cpu,
		const void *record, uint32_t len);

/* What hook_bind_emit() has bound. */
void hook_emit_one(const struct hook_host *host, const struct hook_bound *bound, uint32_t emit, const void *record, uint32_t len);

/* Triggers that act before the record is written, and those behind it (see ftrace: traceoff, stacktrace and conditional
 * ones follow the record). False: the memory of it was used again before any of them did, and all of it may be done anew. */
bool hook_before(const struct hook_host *host, const struct hook_bound *bound, const void *record, uint32_t len);
bool hook_after(const struct hook_host *host, const struct hook_bound *bound, const void *record, uint32_t len);

#endif
