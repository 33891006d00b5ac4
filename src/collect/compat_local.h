/*
 * collect/compat_local: a recording in trace-cmd's protocol, whoever called whom: compat.c, where it is sent to us, and compat_drive.c,
 * where we have it made. Private to these and to what they share.
 */
#ifndef COLLECT_COMPAT_LOCAL_H
#define COLLECT_COMPAT_LOCAL_H

#include <poll.h>

#include "base/buf.h"
#include "collect/compat.h"
#include "dat/live.h"
#include "decode/abi.h"
#include "layout/tracecmd.h"
#include "net/desk.h"

struct compat_cpu {
	int door, fd;		/* -1: not (any more) */
	uint8_t *page;
	uint32_t have;
};

struct compat {
	int fd, line;
	struct dat_live *live;
	struct compat_cpu *cpus;
	struct pollfd *fds;
	uint32_t nr_cpus, page_size;
	bool udp, fifo, closed;
	bool cut;		/* it was closed without a word */
	bool old;		/* version 1 */
	int meta, file;		/* files: the beginning as it came; the recording */
	uint64_t meta_len, told_len;
	int64_t meta_at;	/* of old: when some of it came last */
	struct decode_abi abi;
	uint64_t events, lost;
	bool lost_more;
	struct buf in;		/* of the control connection */
	char name[256];
	struct err err;
};

/* compat_words.c: bytes and messages. compat_fill(): 1, 0 nothing now, -ECONNRESET at the end; compat_next(): a message that is whole, 1. */
int compat_nonsense(struct compat *compat, const char *what);
int compat_put(struct compat *compat, const void *bytes, size_t len);
int compat_fill(struct compat *compat);
int compat_await(struct compat *compat, size_t len);
int compat_await_string(struct compat *compat, char *text, size_t size);
void compat_drop(struct compat *compat, size_t len);
int compat_say(struct compat *compat, enum tracecmd_msg cmd, const void *own, uint32_t own_len, const void *rest, uint32_t len);
int compat_next(struct compat *compat, struct tracecmd_head *head);
bool compat_wants_stream(const char *at, size_t len);

/*
 * compat_take.c: ports, the file, pages. compat_check_shape() also makes room for the CPUs; compat_open_ports() hands out the ports as text,
 * a NUL behind each.
 */
int compat_check_shape(struct compat *compat);
int compat_check_order(struct compat *compat);
int compat_find_file(struct compat *compat);
int compat_open_ports(struct compat *compat, char **list, size_t *len);
int compat_take_meta(struct compat *compat, const void *bytes, size_t len);
int compat_copy_meta(struct compat *compat, const struct dat *dat);
int compat_begin_file(struct compat *compat);
int compat_take_doors(struct compat *compat);
int compat_take_pages(struct compat *compat, uint32_t i);
struct desk_ask compat_about(const struct compat *compat, enum desk_kind kind);
void compat_note(struct compat *compat, enum desk_kind kind);
bool compat_is_over(const struct compat *compat, int64_t moved_at);
void compat_fini(struct compat *compat);

/* compat_old.c: `cpus` is the first word. */
int compat_greet_old(struct compat *compat, const char *cpus);
int compat_take_old(struct compat *compat);
/* compat_look_old(): when nothing came for a while it may be all; compat_tell_old(): it is. */
void compat_look_old(struct compat *compat);
int compat_tell_old(struct compat *compat);

/* compat.c: whatever has come. 1: pages were among it. */
int compat_look(struct compat *compat, int ms);

#endif
