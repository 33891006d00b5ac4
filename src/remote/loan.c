/*
 * remote/loan: a remote that is switched on for a while, and off again by who did that, or, if he was killed, by who opens it next.
 *
 *   lock | the file `lent`: what was off | on ...... off, unless it is kept | no file | unlock
 *
 * The lock goes with its holder: a file `lent` without one is of somebody who died. It is a line for tracing_on, and one for each event, its ID.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "remote/local.h"

#define LENT "lent"
#define LENT_MAX 65536

/* Off, whatever the file names. A remote that is not there to be told now may be later. */
static void end_loan(struct remote *remote)
{
	struct buf text = BUF_INIT;
	int r = remote_store_read(remote, LENT, &text, LENT_MAX);
	char *save, *line = r ? NULL : strtok_r(text.data, "\n", &save);

	if (line && !strcmp(line, "on")) {
		r = remote_enable_tracing(remote, false, NULL);
		line = strtok_r(NULL, "\n", &save);
	}
	/* One that has no such event any more has none that is on. */
	for (; !r && line; line = strtok_r(NULL, "\n", &save))
		remote_enable_event(remote, (uint32_t)strtoul(line, NULL, 10), false, NULL);
	if (!r)
		unlinkat(remote->dir, LENT, 0);
	buf_fini(&text);
}

/* What is to be switched on, as the file has it. */
static int find_off(struct remote *remote, const bool *wanted, struct buf *off, struct err *err)
{
	const struct remote_texts *texts = &remote->texts;
	bool on;
	int r = remote_tracing_on(remote, &on, err);

	if (!r && !on)
		buf_puts(off, "on\n");
	for (uint32_t i = 0; !r && i < texts->nr; i++) {
		r = remote_event_is_on(remote, texts->events[i].id, &on, err);
		if (!r && !on && (!wanted || wanted[i]))
			buf_printf(off, "%" PRIu16 "\n", texts->events[i].id);
	}
	return !r && buf_failed(off) ? err_set(err, -ENOMEM, "out of memory") : r;
}

/* Events before tracing: all begin at once. */
static int begin_loan(struct remote *remote, struct buf *off, struct err *err)
{
	char *save, *line = strtok_r(off->data, "\n", &save);
	bool on = line && !strcmp(line, "on");
	int r = 0;

	for (line = on ? strtok_r(NULL, "\n", &save) : line; !r && line; line = strtok_r(NULL, "\n", &save))
		r = remote_enable_event(remote, (uint32_t)strtoul(line, NULL, 10), true, err);
	return r || !on ? r : remote_enable_tracing(remote, true, err);
}

int remote_borrow(struct remote *remote, const bool *wanted, struct err *err)
{
	struct buf off = BUF_INIT;
	int r = remote_store_make(remote, err);

	if (r)
		return r;
	if (remote_store_lock(remote, LOCK_LOAN, F_WRLCK, true))
		return err_set(err, -EBUSY, "somebody else has switched it on for a while");
	remote->borrowed = true;
	end_loan(remote);
	r = find_off(remote, wanted, &off, err);
	if (!r && off.len) {
		r = remote_store_write(remote, LENT, off.data, off.len, err);
		if (!r)
			r = begin_loan(remote, &off, err);
	}
	if (r)
		remote_give_back(remote);
	buf_fini(&off);
	return r;
}

static void let_go(struct remote *remote)
{
	remote->borrowed = false;
	remote_store_lock(remote, LOCK_LOAN, F_UNLCK, false);
}

void remote_give_back(struct remote *remote)
{
	if (!remote->borrowed)
		return;
	end_loan(remote);
	let_go(remote);
}

void remote_keep(struct remote *remote)
{
	if (!remote->borrowed)
		return;
	unlinkat(remote->dir, LENT, 0);
	let_go(remote);
}

void remote_take_back(struct remote *remote)
{
	if (remote->dir < 0 || remote->state < 0 || faccessat(remote->dir, LENT, F_OK, 0) ||
	    remote_store_lock(remote, LOCK_LOAN, F_WRLCK, false))
		return;
	end_loan(remote);
	remote_store_lock(remote, LOCK_LOAN, F_UNLCK, false);
}
