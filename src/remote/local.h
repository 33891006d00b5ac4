/*
 * remote/local: what the files of the room share. Private to it.
 */
#ifndef REMOTE_LOCAL_H
#define REMOTE_LOCAL_H

#include <sys/types.h>

#include "remote/remote.h"
#include "remote/ring.h"

#define KEPT_MAGIC 0x31544d52474e4952ull	/* "RINGRMT1" */
#define KEPT_EVENTS 1024u

/* The file `state`: what outlives whoever reads, and what a buffer that is not loaded is to begin with. CRC-32C tells what is whole. */
struct kept_ring {
	struct remote_cursor cursor;
	uint64_t reserved[2];
	uint32_t more;
	uint32_t cpu;
	uint32_t ring;
	uint32_t crc;		/* of all before */
};
struct kept {
	uint64_t magic;
	uint32_t boots;		/* of the target that the cursors are of */
	uint32_t nr_rings;
	uint32_t on;
	uint32_t size_kb;
	uint64_t dev, ino;	/* of the file that its memory was in then */
	uint64_t reserved[2];
	uint32_t enable[KEPT_EVENTS / 32];
	uint32_t mark;		/* that was in it, or 0 */
	uint32_t crc;
};
_Static_assert(sizeof(struct kept_ring) == 64 && sizeof(struct kept) == 192, "the file state");

/* Bytes of that file that are locked: by who changes something, shared by who takes events out, by the one who does
 * so of a ring, by the one who writes to it, of the built-in one, and by who has switched it on for a while. */
enum { LOCK_CHANGE = 1 << 20, LOCK_READERS, LOCK_RING, LOCK_RING_WRITE = LOCK_RING + TARGET_RINGS_MAX,
       LOCK_LOAN = LOCK_RING_WRITE + TARGET_RINGS_MAX };

#define REMOTE_KB_MAX (1u << 20)

/* What the kernel calls callbacks: each returns 0 or -errno with words. */
struct remote_kind {
	/* A buffer of about that size, whose memory is then open. */
	int (*load_trace_buffer)(struct remote *remote, uint64_t kb, struct err *err);
	void (*unload_trace_buffer)(struct remote *remote);
	int (*enable_tracing)(struct remote *remote, bool on, struct err *err);
	int (*enable_event)(struct remote *remote, uint32_t id, bool on, struct err *err);
	bool enable_early;	/* that is wanted also while nothing is loaded */
	/* Of `n` rings. */
	int (*reset)(struct remote *remote, uint32_t first, uint32_t n, struct err *err);
	/* Pages before `number` were read; whoever makes pages may make more. */
	int (*swap_reader_page)(struct remote *remote, uint32_t ring, uint32_t number);
	/* Is there a buffer that others loaded? Opens its memory. 0, -ENOENT: none. */
	int (*find)(struct remote *remote, struct err *err);
	/* Is what is open the buffer that is loaded? NULL: it always is. */
	bool (*is_same)(struct remote *remote);
	/* For who waits for events: 0, or -errno with words, when none will come any more. NULL: who knows? */
	int (*alive)(struct remote *remote, struct err *err);
};
extern const struct remote_kind remote_kind_memory, remote_kind_test, remote_kind_served;

struct remote {
	char name[REMOTE_NAME_MAX + 1];
	const struct remote_kind *kind;
	int root;		/* the tracing directory; the caller's */
	int dir;		/* remotes/NAME; -1: nothing was ever kept of it */
	int state;		/* the file there */
	char *path;		/* of the memory */
	char *elf;		/* the file that texts came from */
	uint64_t at;		/* of the header */
	struct decode_abi abi;	/* and, like the number of CPUs, as of when it was added */
	uint32_t nr_cpus;
	uint32_t build;		/* of the ELF file, 0: unknown */
	uint32_t texts_size;
	bool there;		/* memory and target are */
	uint64_t life;		/* counts how often that came true */
	struct err trouble;	/* why not */
	struct remote_memory memory;
	struct remote_target target;
	struct remote_texts texts;
	uint64_t sought_at;	/* when it was last seen whether the path still names this memory */
	uint32_t pipes;		/* readers of this handle that hold the lock of readers */
	bool borrowed;		/* by this handle */
	uint32_t *hailed;	/* what each ring was asked to see whether somebody is there; NULL: nothing */
	/* Of one that is served. */
	pid_t server;		/* who began that, in his own count of processes */
	int line;		/* the connection to who does; -1: none yet */
	uint64_t deaf_until;	/* he did not answer: so long he is not asked again */
	uint64_t buffer;	/* the number of the one that is open */
	uint32_t *swapped;	/* the page of each ring that was told of last */
};

/* One that has nothing yet. */
struct remote *remote_new(int root, const char *name);

bool remote_store_is_name(const char *name);
/* store.c: what lies in the directory. The folder of a remote, made if `create`; -errno. */
int remote_store_open(int dir, const char *name, bool create);
/* What was added is read. */
int remote_store_load(struct remote *remote, struct err *err);
/* The folder and the file `state`, if they are not there yet. */
int remote_store_make(struct remote *remote, struct err *err);
int remote_store_save(struct remote *remote, const void *texts, size_t len, struct err *err);
int remote_store_remove(int dir, const char *name, struct err *err);
/* Other files there. */
int remote_store_read(struct remote *remote, const char *file, struct buf *out, size_t max);
int remote_store_write(struct remote *remote, const char *file, const void *bytes, size_t len, struct err *err);
/* A descriptor that keeps all others from bringing and removing remotes until it is given back; -errno. */
int remote_store_lock_all(int dir);
void remote_store_unlock_all(int lock);
/* Zeros, and -ENOENT, when nothing was kept yet, or is whole. */
int remote_store_kept(struct remote *remote, struct kept *kept);
int remote_store_keep(struct remote *remote, const struct kept *kept, struct err *err);
void remote_store_cursor(struct remote *remote, uint32_t ring, struct remote_cursor *cursor);
int remote_store_set_cursor(struct remote *remote, uint32_t ring, const struct remote_cursor *cursor, struct err *err);
/* The CPU of a ring when its cursor was kept last. */
uint32_t remote_store_cpu(const struct remote *remote, uint32_t ring);
/* F_RDLCK, F_WRLCK or F_UNLCK of a byte; -EAGAIN: somebody else has it, and, if we are to wait, for long. */
int remote_store_lock(struct remote *remote, off_t byte, int type, bool wait);
/* Has anybody else one there? Who asks takes none. */
bool remote_store_is_locked(struct remote *remote, off_t byte);

/* Reads the header of the memory that is open. */
int remote_attach(struct remote *remote, struct err *err);
void remote_detach(struct remote *remote);
/* 0 when there is a buffer, whose header was just looked at. -ENOENT and no words in `trouble`: it is not loaded. */
int remote_look(struct remote *remote, struct err *err);
bool remote_is_empty(struct remote *remote);
/* Takes its buffer away, if it is of no use: off, empty, and nobody reads it. */
void remote_drop(struct remote *remote);
/* Loads it, if it is not. */
int remote_need(struct remote *remote, struct err *err);
/* Are the cursors that are kept of this life of the target? Those of another one are forgotten, and this one is marked; by one at a time. */
bool remote_is_settled(struct remote *remote);
int remote_settle(struct remote *remote, struct err *err);
/* It could not be marked then. Can it now, or has somebody else done so? */
bool remote_is_marked_late(struct remote *remote);
/* The ring of a CPU, or -ENODEV. */
int remote_ring_of(const struct remote *remote, uint32_t cpu);

/* loan.c: what somebody who died had switched on goes off. */
void remote_take_back(struct remote *remote);

/* mapped.c: words of the memory that the host writes. */
int remote_store_word(struct remote *remote, uint64_t at, uint32_t value, struct err *err);
int remote_word_enable_tracing(struct remote *remote, bool on, struct err *err);
int remote_word_enable_event(struct remote *remote, uint32_t id, bool on, struct err *err);
int remote_word_reset(struct remote *remote, uint32_t first, uint32_t n, struct err *err);
/* Is there a target that can be told something, and says something? Asks, and waits for a moment; has it, since? */
bool remote_word_hail(struct remote *remote);
bool remote_word_is_heard(struct remote *remote);
int remote_word_swap(struct remote *remote, uint32_t ring, uint32_t number);
/* Another number for the target to answer. */
int remote_ask(struct remote *remote, uint32_t ring, bool reset, uint32_t *asked, struct err *err);
bool remote_answered(struct remote *remote, uint32_t ring, uint32_t asked, struct remote_look *look);

/* test.c */
int remote_test_open(struct remote *remote, struct err *err);

#endif
