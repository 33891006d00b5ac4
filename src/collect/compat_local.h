/*
 * collect/compat_local: a recording in trace-cmd's protocol, whoever called whom: compat.c, where it is sent to us, and compat_drive.c,
 * where we have it made. Private to the two.
 */
#ifndef COLLECT_COMPAT_LOCAL_H
#define COLLECT_COMPAT_LOCAL_H

#include <poll.h>

#include "base/buf.h"
#include "collect/compat.h"
#include "dat/live.h"
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
	bool udp, closed;
	bool old;		/* version 1 */
	int meta, file;		/* files: the beginning as it came; the recording */
	uint64_t meta_len, pages;
	struct buf in;		/* of the control connection */
	char name[256];
	struct err err;
};


/* compat.c */
int compat_put(struct compat *compat, const void *bytes, size_t len);
int compat_fill(struct compat *compat);
int compat_await(struct compat *compat, size_t len);
void compat_drop(struct compat *compat, size_t len);
int compat_check_shape(struct compat *compat);
int compat_find_file(struct compat *compat);
int compat_take_meta(struct compat *compat, const void *bytes, size_t len);
int compat_begin_file(struct compat *compat);
int compat_take_pages(struct compat *compat, uint32_t i);
int compat_say(struct compat *compat, enum tracecmd_msg cmd, const void *own, uint32_t own_len, const void *rest, uint32_t len);
int compat_next(struct compat *compat, struct tracecmd_head *head);
void compat_note(struct compat *compat, enum desk_kind kind);
bool compat_is_fed(const struct compat *compat);
int compat_look(struct compat *compat, int ms);
int compat_nonsense(struct compat *compat, const char *what);

#endif
