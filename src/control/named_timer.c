/*
 * control/named_timer: events of signals and timers, and of any system call.
 */
#include "control/named.h"

/* As symbols: the kernel does not give their values away in its formats. */
#define MODE_PRINT \
	"__print_symbolic(REC->mode, { HRTIMER_MODE_ABS, \"ABS\" }, { HRTIMER_MODE_REL, \"REL\" }, " \
	"{ HRTIMER_MODE_ABS_PINNED, \"ABS|PINNED\" }, { HRTIMER_MODE_REL_PINNED, \"REL|PINNED\" }, " \
	"{ HRTIMER_MODE_ABS_SOFT, \"ABS|SOFT\" }, { HRTIMER_MODE_REL_SOFT, \"REL|SOFT\" }, " \
	"{ HRTIMER_MODE_ABS_PINNED_SOFT, \"ABS|PINNED|SOFT\" }, { HRTIMER_MODE_REL_PINNED_SOFT, \"REL|PINNED|SOFT\" }, " \
	"{ HRTIMER_MODE_ABS_HARD, \"ABS|HARD\" }, { HRTIMER_MODE_REL_HARD, \"REL|HARD\" }, " \
	"{ HRTIMER_MODE_ABS_PINNED_HARD, \"ABS|PINNED|HARD\" }, { HRTIMER_MODE_REL_PINNED_HARD, \"REL|PINNED|HARD\" })"

#define HRTIMER "void * hrtimer"
#define HRTIMER_PRINT "\"hrtimer=%p\", REC->hrtimer"
#define HRTIMER_NEW "void * hrtimer; clockid_t clockid; enum hrtimer_mode mode"
#define HRTIMER_NEW_PRINT \
	"\"hrtimer=%p clockid=%s mode=%s\", REC->hrtimer, __print_symbolic(REC->clockid, { 0, \"CLOCK_REALTIME\" }, " \
	"{ 1, \"CLOCK_MONOTONIC\" }, { 7, \"CLOCK_BOOTTIME\" }, { 11, \"CLOCK_TAI\" }), " MODE_PRINT

#define TIMER "void * timer"
#define TIMER_PRINT "\"timer=%p\", REC->timer"

const struct named_event named_timer[] = {
	{ "hrtimer_cancel", HRTIMER, HRTIMER_PRINT },
	{ "hrtimer_expire_entry",
	  "void * hrtimer; s64 now; void * function",
	  "\"hrtimer=%p function=%ps now=%llu\", REC->hrtimer, REC->function, (unsigned long long) REC->now" },
	{ "hrtimer_expire_exit", HRTIMER, HRTIMER_PRINT },
	/* The name of hrtimer_setup before Linux 6.15. */
	{ "hrtimer_init", HRTIMER_NEW, HRTIMER_NEW_PRINT },
	{ "hrtimer_setup", HRTIMER_NEW, HRTIMER_NEW_PRINT },
	{ "hrtimer_start",
	  "void * hrtimer; void * function; s64 expires; s64 softexpires; enum hrtimer_mode mode; bool was_armed",
	  "\"hrtimer=%p function=%ps expires=%llu softexpires=%llu mode=%s was_armed=%d\", REC->hrtimer, REC->function, "
	  "(unsigned long long) REC->expires, (unsigned long long) REC->softexpires, " MODE_PRINT ", REC->was_armed" },
	{ "itimer_expire",
	  "int which; pid_t pid; unsigned long long now",
	  "\"which=%d pid=%d now=%llu\", REC->which, (int) REC->pid, REC->now" },
	{ "itimer_state",
	  "int which; unsigned long long expires; long value_sec; long value_nsec; long interval_sec; long interval_nsec",
	  "\"which=%d expires=%llu it_value=%ld.%06ld it_interval=%ld.%06ld\", REC->which, REC->expires, "
	  "REC->value_sec, REC->value_nsec / 1000L, REC->interval_sec, REC->interval_nsec / 1000L" },
	{ "timer_cancel", TIMER, TIMER_PRINT },
	{ "timer_expire_entry",
	  "void * timer; unsigned long now; void * function; unsigned long baseclk",
	  "\"timer=%p function=%ps now=%lu baseclk=%lu\", REC->timer, REC->function, REC->now, REC->baseclk" },
	{ "timer_expire_exit", TIMER, TIMER_PRINT },
	{ "timer_init", TIMER, TIMER_PRINT },
	{ "timer_start",
	  "void * timer; void * function; unsigned long expires; unsigned long bucket_expiry; unsigned long now; "
	  "unsigned int flags",
	  "\"timer=%p function=%ps expires=%lu [timeout=%ld] bucket_expiry=%lu cpu=%u idx=%u flags=%s\", REC->timer, "
	  "REC->function, REC->expires, (long)REC->expires - REC->now, REC->bucket_expiry, REC->flags & 0x0003FFFF, "
	  "REC->flags >> 22, __print_flags(REC->flags & (0x00040000 | 0x00080000 | 0x00100000 | 0x00200000), \"|\", "
	  "{ 0x00040000, \"M\" }, { 0x00080000, \"D\" }, { 0x00100000, \"P\" }, { 0x00200000, \"I\" })" },
	{ NULL, NULL, NULL },
};

const struct named_event named_signal[] = {
	{ "signal_deliver",
	  "int sig; int errno; int code; unsigned long sa_handler; unsigned long sa_flags",
	  "\"sig=%d errno=%d code=%d sa_handler=%lx sa_flags=%lx\", REC->sig, REC->errno, REC->code, REC->sa_handler, "
	  "REC->sa_flags" },
	{ "signal_generate",
	  "int sig; int errno; int code; char comm[16]; pid_t pid; int group; int result",
	  "\"sig=%d errno=%d code=%d comm=%s pid=%d grp=%d res=%d\", REC->sig, REC->errno, REC->code, REC->comm, "
	  "REC->pid, REC->group, REC->result" },
	{ NULL, NULL, NULL },
};

/* What arguments of system calls point to: struct record_call_data. */
const struct named_event named_ringside[] = {
	{ "call_data", "long id; int arg; unsigned int size; string data", "\"NR %ld arg %d: %u bytes\", REC->id, REC->arg, REC->size" },
	{ NULL, NULL, NULL },
};

const struct named_event named_raw_syscalls[] = {
	{ "sys_enter",
	  "long id; unsigned long args[6]",
	  "\"NR %ld (%lx, %lx, %lx, %lx, %lx, %lx)\", REC->id, REC->args[0], REC->args[1], REC->args[2], REC->args[3], "
	  "REC->args[4], REC->args[5]" },
	{ "sys_exit", "long id; long ret", "\"NR %ld = %ld\", REC->id, REC->ret" },
	{ NULL, NULL, NULL },
};
