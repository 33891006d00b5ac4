/*
 * cmd/switches_local: what the files of the process that tells of switches share.
 *
 *   switches_perf.c    the kernel's records, of each CPU in order  ->  struct seen
 *   switches_tasks.c   threads: their names and priorities, whose programs are attached, how long they waited for a CPU
 *   switches_tell.c    struct seen, of all CPUs by time  ->  records of events
 */
#ifndef CMD_SWITCHES_LOCAL_H
#define CMD_SWITCHES_LOCAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/map.h"
#include "control/control.h"
#include "runtime/runtime.h"

/* ---- the kernel's records ---- */

/* Of one moment in this order. WAKE is no record of the kernel's. */
enum seen_kind { SEEN_OUT, SEEN_FORK, SEEN_NAME, SEEN_WAKE, SEEN_IN, SEEN_LOST, SEEN_NOTHING };

struct seen {
	uint64_t raw;		/* CLOCK_MONOTONIC_RAW */
	uint32_t cpu;
	uint8_t kind;
	bool flag;		/* OUT: it could have run on; NAME: it has executed another program */
	bool prev_flag;
	int32_t tid, tgid;
	int32_t prev_tid, prev_tgid;	/* IN: whose OUT came right before, 0: nobody's; and its flag. FORK: who made it */
	uint64_t lost;		/* LOST */
	char comm[16];		/* NAME */
};

struct seen_list {
	struct seen *at;
	size_t n, cap;
};

struct perf_cpu {
	int fd;			/* -1: the CPU is off */
	unsigned char *map;
};

struct perf {
	struct perf_cpu *cpu;
	uint32_t ncpu;
	uint32_t data_size;	/* of a buffer */
	struct perf_watch {
		int32_t tgid;
		int fd;
	} *watch;
	size_t nwatch, cap;
};

/* One more, all zeros; NULL: there is no memory, or far too many. */
struct seen *seen_add(struct seen_list *list);

/* A buffer for each CPU. -errno: of a kernel that has no such thing, or not for us. */
int perf_open(struct perf *perf, uint32_t ncpu);
void perf_close(struct perf *perf);
/* A thread, and all threads and processes that it will make. */
int perf_watch(struct perf *perf, int32_t tgid, int32_t tid);
/* The process is gone. What its children inherited goes with it: they are watched by themselves. */
void perf_unwatch(struct perf *perf, int32_t tgid);
/* All that is there is added to the list. */
void perf_take(struct perf *perf, struct seen_list *list);

/* ---- threads ---- */

enum { TASK_UNKNOWN, TASK_ON, TASK_OFF, TASK_PREEMPTED };

struct task {
	int32_t tid, tgid;
	char comm[16];
	int32_t prio;
	bool asked;		/* /proc was */
	bool asked_name;	/* and the registry, whether it told its name */
	uint8_t where;		/* TASK_* */
	uint64_t since;		/* raw */
	uint32_t cpu;		/* that was of */
	uint64_t waited, runs;	/* of schedstat; runs 0: never read */
	uint32_t ins;		/* how often it came, in what was taken last */
};

struct program {
	int32_t tgid;
	bool attached;
	bool gone;
	bool there;		/* in the last look at /proc */
	bool watched;
	int64_t born;		/* mono_ms(): when it was first seen, or executed another program */
	int64_t looked;		/* when it was last looked whether it is attached */
	int32_t family[RUNTIME_TOLD_FAMILY + 1];	/* itself first, ends with 0 */
};

struct tasks {
	struct map tasks, programs;	/* by number */
	const struct control *control;
	pid_t root;
	bool launched;		/* by us: all that it starts is meant, attached or not */
	long last_pid;		/* that the kernel gave away, when /proc was last looked through */
	int64_t young_until;	/* some may still attach */
	int64_t swept;		/* when all were looked at */
};

void tasks_fini(struct tasks *tasks);
struct task *tasks_get(struct tasks *tasks, int32_t tid, int32_t tgid);
struct program *tasks_program(struct tasks *tasks, int32_t tgid);
bool tasks_attached(struct tasks *tasks, struct task *task);
/* A process that was just made: whom it descends from. */
void tasks_fork(struct tasks *tasks, int32_t tgid, int32_t parent);
/* How long the thread waited before it last ran, if that can be told; 0. */
uint64_t tasks_waited(struct task *task);
/* Looks for programs that are attached now and were not, and has them watched. */
void tasks_find(struct tasks *tasks, struct perf *perf);

/* ---- telling ---- */

enum { TELL_SWITCH, TELL_WAKING, TELL_WAKEUP, TELL_EVENTS };

#define TELL_MOMENTS 16

struct tell {
	uint32_t id[TELL_EVENTS];
	uint32_t ncpu;
	struct tasks *tasks;
	struct seen_list list;	/* not told yet, by time */
	uint64_t told;		/* raw: all before is */
	struct runtime_moment moment[TELL_MOMENTS];	/* latest last */
	uint32_t nmoments;
};

int tell_init(struct tell *tell, struct control *control, struct tasks *tasks);
void tell_fini(struct tell *tell);
void tell_moment(struct tell *tell, const struct runtime_moment *now);
/* Tells all up to that raw time; says that it is all: and for `ever`. */
void tell_until(struct tell *tell, uint64_t raw, bool ever);
/* Nobody has waited for what is there: it is lost. */
void tell_lose(struct tell *tell);
bool tell_wanted(const struct tell *tell);
/* The same of those that are told with the time of before. */
bool tell_wants_wakes(const struct tell *tell);
/* By time, once each, with what is known of those who came. Behind perf_take(), which has added them from number `from` on. */
void tell_settle(struct tell *tell, size_t from);

#endif
