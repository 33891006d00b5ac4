/*
 * What a system call of the program leaves behind in the runtime: nothing, whether a handler jumps out of the middle of it, the kernel
 * refuses it, or its child makes children itself.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "insist.h"

#if defined(__x86_64__) && !defined(__ILP32__)

#include <sched.h>

#include "sys/local.h"

static jmp_buf out;

static void jump(void *unused)
{
	(void)unused;
	longjmp(out, 1);
}

static __attribute__((noinline)) void jump_out_of_own(void)
{
	const uintptr_t own = runtime_own_begin();

	jump(NULL);
	runtime_own_end(own);
}

/* Deeper than what was left, and written all over. */
static __attribute__((noinline)) bool is_own_below(void)
{
	volatile char room[16384];

	/* Right below the return address, where compilers may leave a gap, these are saved. */
	__asm__ volatile("" : : : "rbx", "r12", "r13", "r14", "r15");
	for (size_t i = 0; i < sizeof(room); i++)
		room[i] = (char)i;
	return func_is_within((uintptr_t)room);
}

static __attribute__((noinline)) void is_own(void)
{
	uintptr_t own;

	own = runtime_own_begin();
	CHECK(is_own_below(), "what the runtime does is taken for the program's");
	{
		const uintptr_t inner = runtime_own_begin();

		CHECK(is_own_below(), "and within that");
		runtime_own_end(inner);
	}
	CHECK(is_own_below(), "and behind it");
	runtime_own_end(own);
	CHECK(!is_own_below(), "what the program does is taken for the runtime's");
}

static void jumped_out(void)
{
	if (!setjmp(out))
		jump_out_of_own();
	CHECK(!is_own_below(), "a jump left its mark");
	is_own();
	if (!setjmp(out))
		func_aside(jump, NULL);
	CHECK(!is_own_below(), "a jump left its mark aside");
	is_own();
}

static void fail_there(void *unused)
{
	(void)unused;
	errno = ENOENT;
}

static void errno_stays(void)
{
	errno = EXDEV;
	CHECK(func_aside(fail_there, NULL) && errno == EXDEV, "errno is %d", errno);
}

/* Of each a handler jumps out before the call is made. */
static void vforks_jumped_out_of(void)
{
	struct calls_frame call = { .number = SYS_vfork };

	for (int i = 0; i < 3 * (int)SYS_VFORKS; i++)
		CHECK(sys_special(&call) == SYS_VFORK, "vfork %d gives %ld", i, (long)call.result);
	call.result = -EAGAIN;
	sys_vforked(&call);
	CHECK(!sys_self.nvforks && !runtime_self.guard, "%u vforks and %u guards are left", sys_self.nvforks, runtime_self.guard);
}

static void clone_refused(void)
{
	char stack[4096];
	struct calls_frame call = { .number = SYS_clone, .args = { CLONE_VM | CLONE_THREAD, (uintptr_t)stack + sizeof(stack) } };

	CHECK(sys_special(&call) == SYS_CLONE && runtime_self.guard == 1, "there is no guard");
	call.result = -EINVAL;
	sys_special_end(&call);
	CHECK(!runtime_self.guard, "a guard is left");
}

/* Its child has our thread-local memory, and makes two of its own: one it waits for, one that it is killed in. */
static void child_makes_children(void)
{
	char stack[4096];
	const struct calls_frame waits = {
		.number = SYS_clone, .args = { CLONE_VM | CLONE_VFORK, (uintptr_t)stack + sizeof(stack) },
	};
	struct calls_frame call = waits, inner = waits;

	CHECK(sys_special(&call) == SYS_CLONE && sys_special(&inner) == SYS_CLONE && runtime_self.guard == 2, "no guards");
	inner.result = 100;
	sys_special_end(&inner);
	CHECK(runtime_self.guard == 1, "the child's child's guard is left");
	inner = waits;
	sys_special(&inner);
	call.result = 101;
	sys_special_end(&call);
	CHECK(!runtime_self.guard, "guards are left");
}

/* Who was taken for the runtime has seen our handler, and puts it back. */
static void handler_put_back(void)
{
	struct kernel_action act = { .handler = (uintptr_t)jump }, ours = { .handler = (uintptr_t)sys_deliver }, seen = { 0 };
	struct calls_frame call = { .number = SYS_rt_sigaction, .args = { SIGUSR1, (uintptr_t)&act, 0, sizeof(act.mask) } };

	sys_delivers = true;
	CHECK(sys_special(&call) == SYS_DONE && !call.result, "no handler");
	call.args[1] = (uintptr_t)&ours;
	call.args[2] = (uintptr_t)&seen;
	CHECK(sys_special(&call) == SYS_DONE && !call.result && seen.handler == (uintptr_t)jump, "another handler");
	CHECK(sys_handlers[SIGUSR1].handler == (uintptr_t)jump, "our own handler is taken for the program's");
	act.handler = (uintptr_t)fail_there;
	call.args[1] = (uintptr_t)&act;
	CHECK(sys_special_own(&call) == SYS_DONE_SILENT && seen.handler == (uintptr_t)jump, "a handler that interrupts us sees ours");
	CHECK(sys_handlers[SIGUSR1].handler == (uintptr_t)fail_there, "and sets its own past us");
	sys_delivers = false;
}

int main(void)
{
	func_vectors_init();
	jumped_out();
	errno_stays();
	vforks_jumped_out_of();
	clone_refused();
	child_makes_children();
	handler_put_back();
	return 0;
}

#else

int main(void)
{
	puts("system calls are seen on x86-64 alone");
	return 77;
}

#endif
