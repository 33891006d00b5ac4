/*
 * dat/live: a trace file of version 7 that grows while it is recorded and can be opened at any moment.
 *
 * In: sections and options as they become known, pages as they arrive, in any order. Out: a file that says at each
 * moment what it holds: whoever kills the writer finds all that was accepted. No page is moved while recording, and
 * none is copied in the end where the file system can close up holes.
 *
 *	dat_live_open
 *	dat_live_section, dat_live_option ...	what the pages need to be understood
 *	dat_live_publish			now the file has its name
 *	as they come:
 *		dat_live_write, dat_live_accept		pages
 *		dat_live_section ... dat_live_publish	what has become known since
 *	dat_live_finish				closed up, as small as its data
 *	dat_live_close				without the line before: left as it is, and it opens
 *
 * After a failure to write every call returns it again, and dat_live_failed() has its words; dat_live_finish() still
 * closes up what was accepted before. Calls that make no sense are -EINVAL and change nothing. One thread at a time.
 *
 * Others may read the file while it grows. Closing up moves what is in it: a reader that has it open then has to open it
 * again.
 */
#ifndef DAT_LIVE_H
#define DAT_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/err.h"
#include "dat/dat.h"
#include "dat/write.h"

struct dat_live;

struct dat_live_how {
	uint32_t page_size;
	uint32_t nr_cpus;
	const char *compression;	/* as in struct dat_write_how */
	const struct dat_write_buffer *buffers;	/* the top one first; no texts */
	size_t nr_buffers;
	/* Of each CPU the newest pages of at least so many bytes, and not many more; 0: all. Not with compression. */
	uint64_t keep;
	uint8_t long_size;	/* of the machine that it is about; 0: this one's */
};

/* Checks all of `how` before anything is made. The strings in it need not outlive the call. */
int dat_live_open(struct dat_live **out, const char *path, const struct dat_live_how *how, struct err *err);
void dat_live_close(struct dat_live *live);

/*
 * The same for whoever can open nothing: `fd` is an empty file that has its name already, open for reading and writing, and is taken
 * also when it fails. `name` is for words.
 */
int dat_live_adopt(struct dat_live **out, int fd, const char *name, const struct dat_live_how *how, struct err *err);
/*
 * One that was left behind, to go on with, as a file that is not packed and has no window. -EBADMSG when it is none such; what was
 * written and not accepted is gone. dat_live_lane() tells what it has.
 */
int dat_live_resume(struct dat_live **out, int fd, const char *name, struct err *err);
/* One that shows nothing yet: whoever made it came no further. */
bool dat_live_is_blank(int fd);
/* Bytes of a CPU's data that count. */
uint64_t dat_live_lane(const struct dat_live *live, size_t buffer, uint32_t cpu);
/* What it is for. 0: there is no such buffer. */
uint32_t dat_live_cpus(const struct dat_live *live);
uint32_t dat_live_page_size(const struct dat_live *live, size_t buffer);
/* The last page of it may change again, as after dat_live_accept_open(). -EINVAL: it has none. */
int dat_live_reopen(struct dat_live *live, size_t buffer, uint32_t cpu);
/* Of its pages only the first ones count from now on, so many bytes. */
int dat_live_trim(struct dat_live *live, size_t buffer, uint32_t cpu, uint64_t bytes);
/* So many of them, which lie there: 0 or -errno. */
int dat_live_read(const struct dat_live *live, size_t buffer, uint32_t cpu, uint64_t from, void *bytes, size_t len);

/*
 * One of HEADER_INFO .. CMDLINES, and in a packed file BTF and MODULES, with the payload that dat_write_section() takes.
 * A second one of an ID replaces the first.
 */
int dat_live_section(struct dat_live *live, enum dat_id id, const void *payload, size_t len);

/* As dat_write_option(). Each call adds one. */
int dat_live_option(struct dat_live *live, enum dat_id id, const void *value, size_t len);
/* Takes back all options of that ID, to tell them anew; DAT_DONE: all of them. */
void dat_live_forget(struct dat_live *live, enum dat_id id);

/* From now on the file tells of the sections and options so far. */
int dat_live_publish(struct dat_live *live);

/*
 * Whole pages behind those that were accepted. They do not count yet, and the next call writes over them: the caller
 * may find that what it handed out was no good. The pages may lie in memory that is mapped from a file which another
 * program cuts off: that is -EFAULT, and no failure of the file. Neither is -ENOSPC of several pages: there may be room
 * for fewer.
 */
int dat_live_write(struct dat_live *live, size_t buffer, uint32_t cpu, const struct iovec *pages, int n);
/*
 * The same from a pipe that holds whole pages, without a copy where the device can take them as they lie. -EINVAL, with nothing
 * taken out of the pipe: this file cannot be written so; packed ones never can. After a failure the pages that were written
 * whole count.
 */
int dat_live_splice(struct dat_live *live, size_t buffer, uint32_t cpu, int pipe, size_t len);
/* All that was last written for this CPU counts from now on. Of packed data it is packed together: better many pages. */
int dat_live_accept(struct dat_live *live, size_t buffer, uint32_t cpu);
/*
 * The same, but the last page of it was not full yet: what is written next takes its place. Packed data waits for full
 * pages, or for the end.
 */
int dat_live_accept_open(struct dat_live *live, size_t buffer, uint32_t cpu);

/* Bytes of all CPUs' data in the file. */
uint64_t dat_live_bytes(const struct dat_live *live);

/* 0, or the first failure and its words. */
int dat_live_failed(const struct dat_live *live, struct err *err);

/* Publishes what is pending and closes up. Returns an earlier failure, too; the file is whole all the same. */
int dat_live_finish(struct dat_live *live, struct err *err);

/* Is it a file that grows, or was left while it did? */
bool dat_live_grows(const struct dat *dat);
/* Whether it may have been moved since it was opened, what was read of it with that: for who reads while it is written. */
bool dat_live_moved(const struct dat *dat);

/*
 * Closes up a file that was left by a writer that did not come to it. 1, 0 when there was nothing to do, -errno:
 * -EBUSY when it is still being written.
 */
int dat_live_close_up(const char *path, struct err *err);

#endif
