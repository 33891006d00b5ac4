/*
 * sys/local: what the room's files share.
 */
#ifndef SYS_LOCAL_H
#define SYS_LOCAL_H

#include <assert.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "func/local.h"
#include "layout/calls.h"
#include "runtime/local.h"
#include "sys/sys.h"

/* How the thunk goes on; the numbers are in thunk.S, too. */
enum sys_way {
	SYS_RUN = 0,		/* the call, then sys_exit() */
	SYS_DONE,		/* it is done, and `result` has what came of it */
	SYS_SILENT,		/* the call and nothing else: the runtime's own; or nothing of ours is left behind it */
	SYS_SIGRETURN,
	SYS_VFORK,		/* the child has this very stack: nothing of ours may be on it */
	SYS_CLONE,		/* the child has the stack at `result`, on which lies a copy of this frame */
	SYS_CLONE3,		/* the same, by arguments at `result` */
	SYS_DONE_SILENT,	/* it is done, and nothing else is to be */
};

/* Of a call's frame. */
enum {
	SYS_NOTE_LOCKS = 1,	/* it gives up calls, and runtime.locked was set for it */
	SYS_NOTE_MEMORY = 2,	/* its child shares our memory */
	SYS_NOTE_THREAD = 4,	/* and thread pointer: there is a guard */
	SYS_NOTE_WAITS = 8,	/* and we wait for it */
};

/* Calls that are more than that: by number. */
#define SYS_SPECIALS (CALLS_MAX / 64)
extern const uint64_t sys_specials[SYS_SPECIALS] __attribute__((visibility("hidden")));
static inline bool sys_is_special(int64_t number)
{
	return (uint64_t)number < CALLS_MAX && sys_specials[number / 64] >> number % 64 & 1;
}

#define SYSCALL_SIZE 2u
#define SYS_VFORKS 8u
#define SYS_CLONE_ARGS 16u	/* words of struct clone_args that are known, and some to come */

struct sys_thread {
	bool armed;		/* its calls come to us */
	bool foreign;		/* the program has a use of its own for that */
	uint32_t nvforks;
	struct {
		uintptr_t after, sp;
		int64_t number;
		int32_t pid;	/* who is in it; 0: nobody could be asked */
		uint16_t guards;	/* that there were before */
		bool begun;	/* there is a child */
	} vforks[SYS_VFORKS];	/* that it is in: a vfork child has its parent's TLS */
	uint64_t clone_args[SYS_CLONE_ARGS];
};
extern __thread struct sys_thread sys_self __attribute__((visibility("hidden"), tls_model("initial-exec")));

/* A call that was found by a signal and is on its way to the kernel: 1; a signal of libc's has come meanwhile: that. */
extern __thread uint8_t sys_coming __attribute__((visibility("hidden"), tls_model("initial-exec")));

/* As the kernel has it. */
struct kernel_action {
	uint64_t handler, flags, restorer, mask;
};

/* thunk.S */
extern const char sys_within[] __attribute__((visibility("hidden")));
/* From the first to sys_within, and at the other, the stack pointer is at the frame of a call that has not begun, or begins again. */
extern const char sys_going[] __attribute__((visibility("hidden")));
extern const char sys_sent[] __attribute__((visibility("hidden")));
extern const char sys_restorer[] __attribute__((visibility("hidden")));
/* Between them are all system calls that are never seen. */
extern const char sys_range_begin[] __attribute__((visibility("hidden")));
extern const char sys_range_end[] __attribute__((visibility("hidden")));
/* -errno, as the kernel says it. */
long sys_raw(long number, long a, long b, long c, long d, long e, long f) __attribute__((visibility("hidden")));
/* The same by `int $0x80`: eax, ebx, ecx, edx, esi, edi, ebp. */
long sys_raw_old(const uint64_t args[7]) __attribute__((visibility("hidden")));

/* enter.c, called by the thunk. */
uint32_t sys_enter(struct calls_frame *call) __attribute__((visibility("hidden")));
void sys_exit(struct calls_frame *call) __attribute__((visibility("hidden")));
/* The signal that has come, above this thread's id; 0: none can be sent. */
uint64_t sys_send_again(void) __attribute__((visibility("hidden")));
/* Records of a call's end, in whichever process or thread. */
void sys_put_exit(int64_t number, int64_t result);
/* A copy of its arguments. */
static inline __attribute__((always_inline)) void sys_args(uint64_t to[CALLS_ARGS], const struct calls_frame *call)
{
	for (uint32_t i = 0; i < CALLS_ARGS; i++)
		to[i] = call->args[i];
}

/* special.c, with general registers only */
/* System calls are wanted, and can be had by signals: sys_dispatch() sends them to threads that asked for it. */
extern bool sys_wanted __attribute__((visibility("hidden")));
/* Never again in this process: calls at patched places are seen all the same. */
void sys_give_up(void);
extern volatile char sys_selector __attribute__((visibility("hidden")));
extern struct calls_dispatch __ringside_calls;
uint32_t sys_special(struct calls_frame *call);
/* The same of one that seems to be our own. */
uint32_t sys_special_own(struct calls_frame *call);
/* A call is over that was special. */
void sys_special_end(struct calls_frame *call);
/* Also called by the thunk: */
void sys_vforked(struct calls_frame *call) __attribute__((visibility("hidden")));
void sys_born(struct calls_frame *call) __attribute__((visibility("hidden")));
/* How many bytes of this process's memory could be had. */
uint32_t sys_peek(void *to, uint64_t from, uint32_t len);

/* While sys_delivers, sys_deliver() stands before the program's handlers, which are in the table; since calls were first seen, before
 * libc's own, by which it cancels threads. sys_cancels: now, too, whoever sets one comes to us. */
#define SYS_SIGNALS 65u
extern bool sys_delivers __attribute__((visibility("hidden")));
extern bool sys_cancels __attribute__((visibility("hidden")));
static inline bool sys_is_libcs(uint64_t signo)
{
	return signo == 32 || signo == 33;
}
extern struct kernel_action sys_handlers[SYS_SIGNALS] __attribute__((visibility("hidden")));
bool sys_may_deliver(uint64_t signo);
extern const char sys_deliver[] __attribute__((visibility("hidden")));

/* deliver.c */
/* Puts it there, or takes it away. The threads of this process stand still, or there is one. */
void sys_deliver_update(bool cancels, bool delivers);
/* Called by sys_deliver(): records that the handler begins, and says where it is. */
uint64_t sys_deliver_note(int signo, const siginfo_t *info, void *context) __attribute__((visibility("hidden")));

/* aside.c, under func_aside() */
/* An event of the kernel's names that somebody records is in recordings and lists, like those of programs. */
void sys_adopt(uint32_t id);
struct sys_record {
	uint32_t id;
	uint32_t len;
	void *record;
};
void sys_write_aside(void *record);
void sys_refresh_aside(void *unused);
/* Of each call the state under which its events are known to be brought. */
extern uint64_t sys_told[CALLS_MAX] __attribute__((visibility("hidden")));
void sys_told_aside(void *number);
void sys_arm_aside(void *unused);
void sys_keep_aside(void *unused);
void sys_born_aside(void *unused);
/* What arguments of the call point to, before it or behind it. */
struct sys_look {
	const struct calls_frame *call;
	bool behind;
};
void sys_data_aside(void *look);
/* A call that is about to send a signal. */
void sys_signal_aside(void *call);
/* A process or a thread begins, or ends: see runtime/life.c. */
enum sys_life { SYS_LIFE_FORKING, SYS_LIFE_BORN, SYS_LIFE_FORKED, SYS_LIFE_ENDS };
struct sys_living {
	enum sys_life what;
	int32_t child;
	bool whole;
};
void sys_life_aside(void *living);
struct sys_guard {
	bool enter;
};
void sys_guard_aside(void *guard);
struct sys_action {
	const void *act;	/* the kernel's struct, or NULL */
	void *old;
	long result;		/* out */
};
void sys_action_aside(void *action);

/* start.c */
/* This thread's calls come to us from now on. */
void sys_arm(void);
/* Our signal handlers, for a child that the kernel takes them away from; and in that child. */
void sys_handlers_keep(void);
void sys_handlers_bring(void);

#endif
