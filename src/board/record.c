/*
 * board/record: in place of what a recording has of remotes, threads, symbols, old files and stock peers.
 */
#include <errno.h>

#include "agent/compat.h"
#include "record/local.h"
#include "record/movers.h"
#include "record/old.h"
#include "record/stock.h"
#include "record/tap.h"
#include "symbol/symbol.h"

/* ---- remotes ---- */

const struct tap_kind tap_remotes;

static int no_remotes(struct err *err)
{
	return err_set(err, -EOPNOTSUPP, "remotes are not in a board's ringside");
}

const char *remote_name(const struct remote *remote)
{
	return "";
}

int record_remotes_open(struct record *record, struct tap *tap, const struct record_buffer *buffers, size_t i, struct err *err)
{
	return no_remotes(err);
}

void record_remotes_close(struct tap *tap)
{
}

void record_remotes_last(struct record *record)
{
}

void record_remotes_end(struct record *record)
{
}

int record_remotes_begin(struct record *record, const struct record_clock *shown, struct err *err)
{
	return 0;
}

int record_remotes_cpus(const struct remote *remote, struct err *err)
{
	return no_remotes(err);
}

int record_remotes_wait(const struct record *record)
{
	return -1;
}

bool record_remote_clock(const struct record *record, size_t i, struct buf *out, uint64_t *error)
{
	return false;
}

void record_apart_formats(const struct record_meta *meta, struct buf *out, uint32_t *nsystems)
{
}

int record_meta_add_remote(struct record_meta *meta, const struct record_buffer *buffers, size_t i, struct err *err)
{
	return no_remotes(err);
}

/* ---- threads that take a kernel's pages: a board has few CPUs, and the recorder takes them itself ---- */

struct movers *movers_begin(struct hose **hoses, size_t nr)
{
	return NULL;
}

void movers_end(struct movers *movers)
{
}

pid_t movers_tid(const struct movers *movers, size_t i)
{
	return 0;
}

const uint32_t *movers_bell(const struct movers *movers)
{
	return NULL;
}

void movers_hush(struct movers *movers)
{
}

/* ---- the rest of the file ---- */

void record_prototypes_look(struct record_part *part)
{
}

int record_prototypes_put(struct record_part *part, struct buf *out, struct err *err)
{
	return 0;
}

/* Addresses of functions are shown as numbers. */
int symbol_put_functions(struct buf *out, const struct symbol_file *file, struct err *err)
{
	return 0;
}

int record_old_make(const char *path, struct err *err)
{
	return err_set(err, -EOPNOTSUPP, "files of version 6 are not in a board's ringside");
}

/* ---- stock peers ---- */

int stock_talk(struct spool *spool, int fd, int life, const struct greet_how *how)
{
	return -EOPNOTSUPP;
}

bool compat_speaks(int fd, int ms)
{
	return false;
}

int compat_run_agent(int fd, const struct admit_how *how)
{
	return 1;
}
