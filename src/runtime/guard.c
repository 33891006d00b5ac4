/*
 * runtime/guard: the calls of the program that would break a promise of ours, seen on their way to libc.
 *
 *   vfork, posix_spawn, clone   a child that shares this thread's TLS but not its rseq registration: sections would run on
 *                               unprotected, so events go to overflow rings until the parent is back
 *   prctl, pthread_setname_np   a thread's name is kept, so that nobody has to ask for it
 *   prctl, syscall              a program that installs a seccomp filter may be killed for any system call we make later
 *   sigaction, signal           SIGBUS, and maybe SIGTRAP, have a handler of ours before the program's
 *   sigprocmask, pthread_sigmask, and the masks of handlers: a fault whose signal is held off ends the program, so these
 *                               never are
 *
 * Everything else passes through. Each wrapper may be called before the constructor has run and from signal handlers.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/local.h"
#include "runtime/module.h"
#include "runtime/runtime.h"
#include "runtime/signal.h"

#define EXPORT __attribute__((visibility("default")))

typedef int spawn_fn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		     const posix_spawnattr_t *attr, char *const argv[], char *const envp[]);
typedef int prctl_fn(int option, ...);
typedef long syscall_fn(long number, ...);
typedef int sigaction_fn(int signo, const struct sigaction *act, struct sigaction *old);
typedef sighandler_t signal_fn(int signo, sighandler_t handler);
typedef int mask_fn(int how, const sigset_t *set, sigset_t *old);
typedef int setname_fn(pthread_t thread, const char *name);
typedef int clone_fn(int (*fn)(void *), void *stack, int flags, void *arg, ...);

static struct {
	spawn_fn *posix_spawn, *posix_spawnp;
	prctl_fn *prctl;
	syscall_fn *syscall;
	sigaction_fn *sigaction;
	signal_fn *signal;
	mask_fn *sigprocmask, *pthread_sigmask;
	clone_fn *clone;
	setname_fn *pthread_setname_np;
} real;

static void *next(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

void runtime_guard_init(void)
{
	runtime.asked = dlsym(RTLD_DEFAULT, "sigaction") == (void *)(uintptr_t)&sigaction;
	real.posix_spawn = (spawn_fn *)next("posix_spawn");
	real.posix_spawnp = (spawn_fn *)next("posix_spawnp");
	real.prctl = (prctl_fn *)next("prctl");
	real.syscall = (syscall_fn *)next("syscall");
	real.sigaction = (sigaction_fn *)next("sigaction");
	real.signal = (signal_fn *)next("signal");
	real.sigprocmask = (mask_fn *)next("sigprocmask");
	real.pthread_sigmask = (mask_fn *)next("pthread_sigmask");
	real.clone = (clone_fn *)next("clone");
	real.pthread_setname_np = (setname_fn *)next("pthread_setname_np");
}

/* For calls that come before the constructor. NULL in a program that is linked statically: there is no next one. */
#define REAL(name) (real.name ? real.name : (__typeof__(real.name))next(#name))

/* What is left then: other names of libc's for the same, and the system call itself. */
#if defined(__GLIBC__)
extern sigaction_fn __sigaction;
extern clone_fn __clone;
#else
extern sigaction_fn __sigaction __attribute__((weak));
extern clone_fn __clone __attribute__((weak));
#endif
extern spawn_fn __posix_spawn __attribute__((weak)), __posix_spawnp __attribute__((weak));
__attribute__((visibility("hidden"))) long runtime_raw_syscall(long number, long a, long b, long c, long d, long e, long f);

#if defined(__x86_64__)
__asm__(".pushsection .text\n"
	".hidden runtime_raw_syscall\n"
	".globl runtime_raw_syscall\n"
	".type runtime_raw_syscall, @function\n"
	"runtime_raw_syscall:\n"
	"	movq %rdi, %rax\n"
	"	movq %rsi, %rdi\n"
	"	movq %rdx, %rsi\n"
	"	movq %rcx, %rdx\n"
	"	movq %r8, %r10\n"
	"	movq %r9, %r8\n"
	"	movq 8(%rsp), %r9\n"
	"	syscall\n"
	"	ret\n"
	".size runtime_raw_syscall, . - runtime_raw_syscall\n"
	".popsection\n");
#elif defined(__i386__)
__asm__(".pushsection .text\n"
	".hidden runtime_raw_syscall\n"
	".globl runtime_raw_syscall\n"
	".type runtime_raw_syscall, @function\n"
	"runtime_raw_syscall:\n"
	"	pushl %ebp\n"
	"	pushl %edi\n"
	"	pushl %esi\n"
	"	pushl %ebx\n"
	"	movl 20(%esp), %eax\n"
	"	movl 24(%esp), %ebx\n"
	"	movl 28(%esp), %ecx\n"
	"	movl 32(%esp), %edx\n"
	"	movl 36(%esp), %esi\n"
	"	movl 40(%esp), %edi\n"
	"	movl 44(%esp), %ebp\n"
	"	int $0x80\n"
	"	popl %ebx\n"
	"	popl %esi\n"
	"	popl %edi\n"
	"	popl %ebp\n"
	"	ret\n"
	".size runtime_raw_syscall, . - runtime_raw_syscall\n"
	".popsection\n");
#elif defined(__aarch64__)
__asm__(".pushsection .text\n"
	".hidden runtime_raw_syscall\n"
	".globl runtime_raw_syscall\n"
	".type runtime_raw_syscall, %function\n"
	"runtime_raw_syscall:\n"
	"	mov x8, x0\n"
	"	mov x0, x1\n"
	"	mov x1, x2\n"
	"	mov x2, x3\n"
	"	mov x3, x4\n"
	"	mov x4, x5\n"
	"	mov x5, x6\n"
	"	svc #0\n"
	"	ret\n"
	".size runtime_raw_syscall, . - runtime_raw_syscall\n"
	".popsection\n");
#elif defined(__arm__)
__asm__(".pushsection .text\n"
	".syntax unified\n"
	".arm\n"
	".balign 4\n"
	".hidden runtime_raw_syscall\n"
	".globl runtime_raw_syscall\n"
	".type runtime_raw_syscall, %function\n"
	"runtime_raw_syscall:\n"
	"	push {r4, r5, r7, lr}\n"
	"	mov r7, r0\n"
	"	mov r0, r1\n"
	"	mov r1, r2\n"
	"	mov r2, r3\n"
	"	ldr r3, [sp, #16]\n"
	"	ldr r4, [sp, #20]\n"
	"	ldr r5, [sp, #24]\n"
	"	svc #0\n"
	"	pop {r4, r5, r7, pc}\n"
	".size runtime_raw_syscall, . - runtime_raw_syscall\n"
	".popsection\n");
#endif

static long call_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	syscall_fn *fn = REAL(syscall);
	long ret;

	if (fn)
		return fn(number, a, b, c, d, e, f);
	ret = runtime_raw_syscall(number, a, b, c, d, e, f);
	if (ret >= 0 || ret < -4095)
		return ret;
	errno = (int)-ret;
	return -1;
}

static int call_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d)
{
	prctl_fn *fn = REAL(prctl);

	return fn ? fn(option, a, b, c, d) : (int)call_syscall(SYS_prctl, option, (long)a, (long)b, (long)c, (long)d, 0);
}

static int call_sigaction(int signo, const struct sigaction *act, struct sigaction *old)
{
	sigaction_fn *fn = REAL(sigaction);

	if (!fn)
		fn = __sigaction;
	return fn(signo, act, old);
}

/* The kernel knows 64 signals, libc's sets have room for more. */
static int call_sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	mask_fn *fn = REAL(sigprocmask);

	if (fn)
		return fn(how, set, old);
	if (old)
		sigemptyset(old);
	return (int)call_syscall(SYS_rt_sigprocmask, how, (long)set, (long)old, 8, 0, 0);
}

/* Without a way on, a child cannot be had: libc has no other name for these in a static program. */
static int call_spawn(spawn_fn *fn, spawn_fn *other, pid_t *pid, const char *path,
		      const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attr, char *const argv[],
		      char *const envp[])
{
	pid_t child = 0;
	int ret;

	if (!fn)
		fn = other;
	if (!fn)
		return ENOSYS;
	runtime_life_forking();
	runtime_guard_enter();
	ret = fn(&child, path, actions, attr, argv, envp);
	runtime_guard_leave();
	runtime_life_forked(ret ? 0 : child);
	if (!ret && pid)
		*pid = child;
	return ret;
}

EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	return call_spawn(REAL(posix_spawn), __posix_spawn, pid, path, actions, attr, argv, envp);
}

EXPORT int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
			const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	return call_spawn(REAL(posix_spawnp), __posix_spawnp, pid, file, actions, attr, argv, envp);
}

/*
 * Variadic for their callers, not for us: whoever passes fewer arguments leaves the rest undefined, and undefined they are passed
 * on, as libc does. On these CPUs both kinds of call look the same.
 */
#define EXPORT_AS(name) __asm__(name) EXPORT
int guard_clone(int (*fn)(void *), void *stack, int flags, void *arg, void *ptid, void *tls, void *ctid)
	EXPORT_AS("clone");
int guard_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d) EXPORT_AS("prctl");
long guard_syscall(long number, long a, long b, long c, long d, long e, long f) EXPORT_AS("syscall");

int guard_clone(int (*fn)(void *), void *stack, int flags, void *arg, void *ptid, void *tls, void *ctid)
{
	bool shares = flags & CLONE_VM && !(flags & CLONE_SETTLS);
	clone_fn *real_clone = REAL(clone);
	int ret;

	runtime_life_forking();
	if (shares)
		runtime_guard_enter();
	ret = (real_clone ? real_clone : __clone)(fn, stack, flags, arg, ptid, tls, ctid);
	/* A child that runs beside us keeps using our TLS: we stay guarded. */
	if (shares && (ret < 0 || flags & CLONE_VFORK))
		runtime_guard_leave();
	runtime_life_forked(ret);
	return ret;
}

/* vfork's child returns on our stack: the return address has to survive in a register. */
#if defined(__x86_64__)
__asm__(".pushsection .text\n"
	".globl vfork\n"
	".type vfork, @function\n"
	"vfork:\n"
	"	.cfi_startproc\n"
	"	endbr64\n"
	"	subq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	call runtime_vfork_enter\n"
	"	addq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	popq %rdi\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	.cfi_register %rip, %rdi\n"
	"	movl $58, %eax\n"
	"	syscall\n"
	"	pushq %rdi\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_offset %rip, -8\n"
	"	testl %eax, %eax\n"
	"	jnz 1f\n"
	"	subq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	call runtime_life_born\n"
	"	addq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	xorl %eax, %eax\n"
	"	ret\n"
	"1:	movl %eax, %edi\n"
	"	jmp runtime_vfork_parent\n"
	"	.cfi_endproc\n"
	".size vfork, . - vfork\n"
	".popsection\n");
#elif defined(__i386__)
__asm__(".pushsection .text\n"
	".globl vfork\n"
	".type vfork, @function\n"
	"vfork:\n"
	"	.cfi_startproc\n"
	"	subl $12, %esp\n"
	"	.cfi_adjust_cfa_offset 12\n"
	"	call runtime_vfork_enter\n"
	"	addl $12, %esp\n"
	"	.cfi_adjust_cfa_offset -12\n"
	"	popl %ecx\n"
	"	.cfi_adjust_cfa_offset -4\n"
	"	.cfi_register %eip, %ecx\n"
	"	movl $190, %eax\n"
	"	int $0x80\n"
	"	pushl %ecx\n"
	"	.cfi_adjust_cfa_offset 4\n"
	"	.cfi_offset %eip, -4\n"
	"	testl %eax, %eax\n"
	"	jnz 1f\n"
	"	subl $12, %esp\n"
	"	.cfi_adjust_cfa_offset 12\n"
	"	call runtime_life_born\n"
	"	addl $12, %esp\n"
	"	.cfi_adjust_cfa_offset -12\n"
	"	xorl %eax, %eax\n"
	"	ret\n"
	"1:	subl $8, %esp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	pushl %eax\n"
	"	.cfi_adjust_cfa_offset 4\n"
	"	call runtime_vfork_parent\n"
	"	addl $12, %esp\n"
	"	.cfi_adjust_cfa_offset -12\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size vfork, . - vfork\n"
	".popsection\n");
#elif defined(__aarch64__)
/* No vfork system call: clone with SIGCHLD, CLONE_VM and CLONE_VFORK. x30 survives it. */
__asm__(".pushsection .text\n"
	".globl vfork\n"
	".type vfork, %function\n"
	"vfork:\n"
	"	.cfi_startproc\n"
	"	hint #34\n"
	"	stp x29, x30, [sp, #-16]!\n"
	"	.cfi_adjust_cfa_offset 16\n"
	"	.cfi_rel_offset x29, 0\n"
	"	.cfi_rel_offset x30, 8\n"
	"	bl runtime_vfork_enter\n"
	"	ldp x29, x30, [sp], #16\n"
	"	.cfi_adjust_cfa_offset -16\n"
	"	.cfi_restore x29\n"
	"	.cfi_restore x30\n"
	"	mov x0, #0x4111\n"
	"	mov x1, xzr\n"
	"	mov x2, xzr\n"
	"	mov x3, xzr\n"
	"	mov x4, xzr\n"
	"	mov x8, #220\n"
	"	svc #0\n"
	"	cbnz w0, 1f\n"
	"	stp x29, x30, [sp, #-16]!\n"
	"	.cfi_adjust_cfa_offset 16\n"
	"	.cfi_rel_offset x29, 0\n"
	"	.cfi_rel_offset x30, 8\n"
	"	bl runtime_life_born\n"
	"	ldp x29, x30, [sp], #16\n"
	"	.cfi_adjust_cfa_offset -16\n"
	"	.cfi_restore x29\n"
	"	.cfi_restore x30\n"
	"	mov x0, #0\n"
	"	ret\n"
	"1:	b runtime_vfork_parent\n"
	"	.cfi_endproc\n"
	".size vfork, . - vfork\n"
	".popsection\n");
#else
/* What may be done in its child can be done in any. */
pid_t vfork(void)
{
	return fork();
}
#endif

__attribute__((visibility("hidden"), used)) void runtime_vfork_enter(void);
__attribute__((visibility("hidden"), used)) pid_t runtime_vfork_parent(int ret);

void runtime_vfork_enter(void)
{
	runtime_life_forking();
	runtime_guard_enter();
}

pid_t runtime_vfork_parent(int ret)
{
	runtime_guard_leave();
	if (ret < 0) {
		errno = -ret;
		return -1;
	}
	return ret;
}

/* No system call of ours from here on. Once locked, always locked: a filter cannot be taken back. */
static bool lock_up(void)
{
	/* What can be mapped later only with system calls. */
	if (LOAD(runtime.attached) && !LOAD(runtime.locked)) {
		runtime_view_settle();
		/* And what has to be looked up. */
		runtime_modules_learn(true);
		runtime_comm();
	}
	return !__atomic_exchange_n(&runtime.locked, 1, __ATOMIC_SEQ_CST);
}

/* The CPU's counter is off limits, in strict mode too. Said before it is, since a new view may take system calls. */
static void set_timeless(uint32_t timeless)
{
#if defined(__x86_64__) || defined(__i386__)
	STORE(runtime.timeless, timeless);
	if (LOAD(runtime.attached))
		runtime_view_settle();
#else
	(void)timeless;
#endif
}

int guard_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d)
{
	uint32_t before = LOAD(runtime.timeless);
	bool stopping = (option == PR_SET_SECCOMP && a == SECCOMP_MODE_STRICT) ||
			(option == PR_SET_TSC && a == PR_TSC_SIGSEGV);
	bool locking;
	int ret;

	if (stopping)
		set_timeless(1);
	locking = option == PR_SET_SECCOMP && lock_up();
	ret = call_prctl(option, a, b, c, d);
	if (locking)
		runtime_lock_end(ret != 0);
	if (stopping && ret)
		set_timeless(before);
	if (option == PR_SET_NAME && !ret)
		runtime_thread_renamed();
	return ret;
}

/* Of a thread that is alive, as whoever names it promises. 0: not known. */
static int32_t tid_of(pthread_t thread)
{
	if (runtime.tid_offset < 0)
		return 0;
	return *(const int32_t *)(const void *)((const char *)thread + runtime.tid_offset);
}

/* Without libc's, in a static program: as libc does it. */
static int set_name(pthread_t thread, const char *name)
{
	char path[40] = "/proc/self/task/", digits[12], *at = path + strlen(path);
	size_t len = strlen(name);
	long tid, fd;
	int n = 0;
	bool whole;

	if (len > 15)
		return ERANGE;
	if (pthread_equal(thread, pthread_self()))
		return call_prctl(PR_SET_NAME, (unsigned long)name, 0, 0, 0) ? errno : 0;
	if (runtime.tid_offset < 0)
		return ENOSYS;
	tid = tid_of(thread);
	for (long rest = tid; rest > 0; rest /= 10)
		digits[n++] = (char)('0' + rest % 10);
	while (n)
		*at++ = digits[--n];
	memcpy(at, "/comm", 6);
	fd = call_syscall(SYS_openat, AT_FDCWD, (long)path, O_RDWR | O_CLOEXEC, 0, 0, 0);
	if (fd < 0)
		return errno;
	whole = call_syscall(SYS_write, fd, (long)name, (long)len, 0, 0, 0) == (long)len;
	n = errno;
	call_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
	return whole ? 0 : n;
}

EXPORT int pthread_setname_np(pthread_t thread, const char *name)
{
	setname_fn *fn = REAL(pthread_setname_np);
	int saved = errno, ret = fn ? fn(thread, name) : set_name(thread, name);

	errno = saved;
	if (!ret && pthread_equal(thread, pthread_self()))
		runtime_thread_renamed();
	else if (!ret)
		runtime_other_renamed(tid_of(thread), name);
	return ret;
}

long guard_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	uint32_t before = LOAD(runtime.timeless);
	bool stopping = number == SYS_seccomp && a == SECCOMP_SET_MODE_STRICT;
	bool locking;
	long ret;

	if (number == SYS_prctl)
		return guard_prctl((int)a, (unsigned long)b, (unsigned long)c, (unsigned long)d, (unsigned long)e);
	if (stopping)
		set_timeless(1);
	locking = number == SYS_seccomp && (a == SECCOMP_SET_MODE_STRICT || a == SECCOMP_SET_MODE_FILTER) && lock_up();
	ret = call_syscall(number, a, b, c, d, e, f);
	if (locking)
		runtime_lock_end(runtime_lock_failed(ret, (uint64_t)b));
	if (stopping && ret)
		set_timeless(before);
	return ret;
}

EXPORT int sigaction(int signo, const struct sigaction *act, struct sigaction *old)
{
	struct sigaction copy;

	if (runtime_signal_ours(signo))
		return runtime_signal_program(signo, act, old);
	if (act) {
		copy = *act;
		if (runtime_signal_strip(&copy.sa_mask))
			act = &copy;
	}
	return call_sigaction(signo, act, old);
}

/* `set`, or `copy` of it, without those of ours that would be held off. */
static const sigset_t *without_ours(int how, const sigset_t *set, sigset_t *copy)
{
	if (!set || how == SIG_UNBLOCK)
		return set;
	*copy = *set;
	return runtime_signal_strip(copy) ? copy : set;
}

EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	sigset_t copy;

	return call_sigprocmask(how, without_ours(how, set, &copy), old);
}

EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	mask_fn *fn = REAL(pthread_sigmask);
	sigset_t copy;

	set = without_ours(how, set, &copy);
	if (fn)
		return fn(how, set, old);
	return call_sigprocmask(how, set, old) ? errno : 0;
}

EXPORT sighandler_t signal(int signo, sighandler_t handler)
{
	signal_fn *fn = REAL(signal);
	struct sigaction act, old;

	if (fn && (handler == SIG_ERR || !runtime_signal_ours(signo)))
		return fn(signo, handler);
	memset(&act, 0, sizeof(act));
	act.sa_handler = handler;
	act.sa_flags = SA_RESTART;
	sigemptyset(&act.sa_mask);
	return sigaction(signo, &act, &old) ? SIG_ERR : old.sa_handler;
}
