/*
 * inject/x86_64/still: see still.h.
 */
#include "inject/x86_64/still.h"

#if defined(__x86_64__)

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layout/stopped.h"

#define HOLD_NS 3000000000ull

static bool is_held(const struct still *still, const struct borrow *borrow, pid_t tid)
{
	if (tid == borrow->tracee.tid)
		return true;
	for (uint32_t i = 0; i < still->n; i++)
		if (still->others[i]->tid == tid)
			return true;
	return false;
}

static int hold(struct still *still, pid_t pid, pid_t tid, uint64_t deadline)
{
	struct tracee *tracee;
	int r;

	if (still->n == still->room) {
		uint32_t room = still->room ? 2 * still->room : 16;
		struct tracee **more = realloc(still->others, room * sizeof(*more));

		if (!more || room > STOPPED_MAX) {
			still->others = more ? more : still->others;
			return more ? -E2BIG : -ENOMEM;
		}
		still->others = more;
		still->room = room;
	}
	tracee = calloc(1, sizeof(*tracee));
	if (!tracee)
		return -ENOMEM;
	/* On a busy machine it takes a while until each of many threads has had its turn, and stops. */
	do
		r = tracee_stop(tracee, pid, tid);
	while (r == -EAGAIN && tracee_deadline(0) < deadline);
	if (r) {
		free(tracee);
		/* It has just ended. */
		return r == -ESRCH ? 0 : r;
	}
	still->others[still->n++] = tracee;
	return 1;
}

/* Stops those that are not; how many. */
static int hold_all(struct still *still, const struct borrow *borrow, bool parents, uint64_t deadline)
{
	pid_t pid = borrow->tracee.pid;
	struct dirent *entry;
	char path[64];
	int new = 0, r = 0;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	if (!tasks)
		return -ESRCH;
	while (r >= 0 && (entry = readdir(tasks))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid <= 0 || is_held(still, borrow, tid) || (!parents && tracee_is_parent(pid, tid)))
			continue;
		r = hold(still, pid, tid, deadline);
		new += r > 0;
	}
	closedir(tasks);
	return r < 0 ? r : new;
}

static struct stopped_thread describe(const struct tracee *tracee)
{
	return (struct stopped_thread){
		.tid = tracee->tid, .ip = tracee->regs.rip, .sp = tracee->regs.rsp, .bp = tracee->regs.rbp,
		.r11 = tracee->regs.r11,
	};
}

int still_begin(struct still *still, struct borrow *borrow, struct err *err)
{
	const uint64_t deadline = tracee_deadline(HOLD_NS);
	struct stopped_thread *list;
	int r = 0;

	*still = (struct still){ 0 };
	/* Until there is none that another has just started. */
	for (int parents = 0; parents <= 1 && r >= 0; parents++)
		do
			r = hold_all(still, borrow, parents, deadline);
		while (r > 0);
	list = r ? NULL : calloc(still->n + 1, sizeof(*list));
	if (list) {
		list[0] = describe(&borrow->tracee);
		for (uint32_t i = 0; i < still->n; i++)
			list[i + 1] = describe(still->others[i]);
		still->list = borrow_list(borrow, list, (still->n + 1) * sizeof(*list));
	}
	if (!r && !still->list)
		r = list ? -EFAULT : -ENOMEM;
	free(list);
	if (r) {
		still_end(still);
		return err_set(err, r, "the threads of process %d cannot be stopped for a moment: %s", (int)borrow->tracee.pid,
			       strerror(-r));
	}
	return 0;
}

void still_end(struct still *still)
{
	/* Parents first. */
	while (still->n) {
		struct tracee *last = still->others[--still->n];

		tracee_let_go(last);
		free(last);
	}
	free(still->others);
	*still = (struct still){ 0 };
}

#endif
