/*
 * runtime/guard: the calls of the program that would break a promise of ours, seen on their way to libc.
 *
 *   vfork, posix_spawn, clone   a child that shares this thread's TLS but not its rseq registration: sections would run on
 *                               unprotected, so events go to overflow rings until the parent is back
 *   prctl, syscall              a program that installs a seccomp filter may be killed for any system call we make later
 *   sigaction, signal           SIGBUS has a handler of ours before the program's
 *
 * Everything else passes through. Each wrapper may be called before the constructor has run and from signal handlers.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/local.h"
#include "runtime/signal.h"

#define EXPORT __attribute__((visibility("default")))

typedef int spawn_fn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		     const posix_spawnattr_t *attr, char *const argv[], char *const envp[]);
typedef int prctl_fn(int option, ...);
typedef long syscall_fn(long number, ...);
typedef int sigaction_fn(int signo, const struct sigaction *act, struct sigaction *old);
typedef int clone_fn(int (*fn)(void *), void *stack, int flags, void *arg, ...);

static struct {
	spawn_fn *posix_spawn, *posix_spawnp;
	prctl_fn *prctl;
	syscall_fn *syscall;
	sigaction_fn *sigaction;
	clone_fn *clone;
} real;

static void *next(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

void runtime_guard_init(void)
{
	real.posix_spawn = (spawn_fn *)next("posix_spawn");
	real.posix_spawnp = (spawn_fn *)next("posix_spawnp");
	real.prctl = (prctl_fn *)next("prctl");
	real.syscall = (syscall_fn *)next("syscall");
	real.sigaction = (sigaction_fn *)next("sigaction");
	real.clone = (clone_fn *)next("clone");
}

/* For calls that come before the constructor. */
#define REAL(name) (real.name ? real.name : (__typeof__(real.name))next(#name))

EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	int ret;

	runtime_guard_enter();
	ret = REAL(posix_spawn)(pid, path, actions, attr, argv, envp);
	runtime_guard_leave();
	return ret;
}

EXPORT int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
			const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	int ret;

	runtime_guard_enter();
	ret = REAL(posix_spawnp)(pid, file, actions, attr, argv, envp);
	runtime_guard_leave();
	return ret;
}

EXPORT int clone(int (*fn)(void *), void *stack, int flags, void *arg, ...)
{
	bool shares = flags & CLONE_VM && !(flags & CLONE_SETTLS);
	void *more[3];
	va_list ap;
	int ret;

	va_start(ap, arg);
	for (int i = 0; i < 3; i++)
		more[i] = va_arg(ap, void *);
	va_end(ap);
	if (shares)
		runtime_guard_enter();
	ret = REAL(clone)(fn, stack, flags, arg, more[0], more[1], more[2]);
	/* A child that runs beside us keeps using our TLS: we stay guarded. */
	if (shares && (ret < 0 || flags & CLONE_VFORK))
		runtime_guard_leave();
	return ret;
}

/* vfork's child returns on our stack: the return address has to survive in a register. */
#if defined(__x86_64__)
__asm__(".pushsection .text\n"
	".globl vfork\n"
	".type vfork, @function\n"
	"vfork:\n"
	"	endbr64\n"
	"	subq $8, %rsp\n"
	"	call runtime_guard_enter\n"
	"	addq $8, %rsp\n"
	"	popq %rdi\n"
	"	movl $58, %eax\n"
	"	syscall\n"
	"	pushq %rdi\n"
	"	testl %eax, %eax\n"
	"	jnz 1f\n"
	"	ret\n"
	"1:	movl %eax, %edi\n"
	"	jmp runtime_vfork_parent\n"
	".size vfork, . - vfork\n"
	".popsection\n");
#elif defined(__i386__)
__asm__(".pushsection .text\n"
	".globl vfork\n"
	".type vfork, @function\n"
	"vfork:\n"
	"	subl $12, %esp\n"
	"	call runtime_guard_enter\n"
	"	addl $12, %esp\n"
	"	popl %ecx\n"
	"	movl $190, %eax\n"
	"	int $0x80\n"
	"	pushl %ecx\n"
	"	testl %eax, %eax\n"
	"	jnz 1f\n"
	"	ret\n"
	"1:	subl $8, %esp\n"
	"	pushl %eax\n"
	"	call runtime_vfork_parent\n"
	"	addl $12, %esp\n"
	"	ret\n"
	".size vfork, . - vfork\n"
	".popsection\n");
#elif defined(__aarch64__)
/* No vfork system call: clone with SIGCHLD, CLONE_VM and CLONE_VFORK. x30 survives it. */
__asm__(".pushsection .text\n"
	".globl vfork\n"
	".type vfork, %function\n"
	"vfork:\n"
	"	hint #34\n"
	"	stp x29, x30, [sp, #-16]!\n"
	"	bl runtime_guard_enter\n"
	"	ldp x29, x30, [sp], #16\n"
	"	mov x0, #0x4111\n"
	"	mov x1, xzr\n"
	"	mov x2, xzr\n"
	"	mov x3, xzr\n"
	"	mov x4, xzr\n"
	"	mov x8, #220\n"
	"	svc #0\n"
	"	cbnz w0, 1f\n"
	"	ret\n"
	"1:	b runtime_vfork_parent\n"
	".size vfork, . - vfork\n"
	".popsection\n");
#endif

__attribute__((visibility("hidden"), used)) pid_t runtime_vfork_parent(int ret);

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
	return !__atomic_exchange_n(&runtime.locked, 1, __ATOMIC_SEQ_CST);
}

EXPORT int prctl(int option, ...)
{
	bool locking = option == PR_SET_SECCOMP && lock_up();
	unsigned long arg[4];
	va_list ap;
	int ret;

	va_start(ap, option);
	for (int i = 0; i < 4; i++)
		arg[i] = va_arg(ap, unsigned long);
	va_end(ap);
	ret = REAL(prctl)(option, arg[0], arg[1], arg[2], arg[3]);
	if (locking && ret)
		STORE(runtime.locked, 0);
	if (option == PR_SET_NAME && !ret)
		runtime_thread_renamed();
	return ret;
}

EXPORT long syscall(long number, ...)
{
	long arg[6], ret;
	bool locking;
	va_list ap;

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		arg[i] = va_arg(ap, long);
	va_end(ap);
	locking = number == SYS_seccomp &&
		  (arg[0] == SECCOMP_SET_MODE_STRICT || arg[0] == SECCOMP_SET_MODE_FILTER) && lock_up();
	ret = REAL(syscall)(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
	if (locking && ret)
		STORE(runtime.locked, 0);
	return ret;
}

EXPORT int sigaction(int signo, const struct sigaction *act, struct sigaction *old)
{
	if (signo == SIGBUS && LOAD(runtime.attached))
		return runtime_signal_program(act, old);
	return REAL(sigaction)(signo, act, old);
}

EXPORT sighandler_t signal(int signo, sighandler_t handler)
{
	struct sigaction act, old;

	memset(&act, 0, sizeof(act));
	act.sa_handler = handler;
	act.sa_flags = SA_RESTART;
	sigemptyset(&act.sa_mask);
	return sigaction(signo, &act, &old) ? SIG_ERR : old.sa_handler;
}
