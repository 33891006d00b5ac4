/*
 * net/jail: see jail.h.
 */
#include "net/jail.h"

#include <errno.h>
#include <grp.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#define NOBODY 65534
/* Beside what it has: a file or two that it is given. */
#define FILES_MAX 64

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#elif defined(__arm__)
#define ARCH AUDIT_ARCH_ARM
#elif defined(__i386__)
#define ARCH AUDIT_ARCH_I386
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCH AUDIT_ARCH_RISCV64
#endif

#ifdef ARCH
/* Not all processors have all of them. */
static const unsigned short allowed[] = {
	__NR_read, __NR_write, __NR_readv, __NR_writev, __NR_pread64, __NR_pwrite64, __NR_preadv, __NR_pwritev, __NR_close,
	__NR_fallocate, __NR_copy_file_range, __NR_ppoll, __NR_brk, __NR_munmap, __NR_mremap, __NR_madvise, __NR_futex,
	__NR_clock_gettime, __NR_getrandom, __NR_getpid, __NR_gettid, __NR_exit, __NR_exit_group, __NR_rt_sigreturn,
	__NR_rt_sigprocmask, __NR_restart_syscall, __NR_nanosleep, __NR_clock_nanosleep, __NR_sendmsg, __NR_recvmsg, __NR_tgkill, __NR_dup, __NR_accept4, __NR_setsockopt,
	__NR_sigaltstack, __NR_sched_yield, __NR_fsync, __NR_fdatasync, __NR_shutdown, __NR_getrusage,
#ifdef __NR_poll
	__NR_poll,
#endif
#ifdef __NR_recv
	__NR_recv, __NR_send,
#endif
	__NR_recvfrom, __NR_sendto,
#ifdef __NR_ftruncate
	__NR_ftruncate,
#endif
#ifdef __NR_ftruncate64
	__NR_ftruncate64,
#endif
#ifdef __NR_fstat
	__NR_fstat,
#endif
#ifdef __NR_newfstatat
	__NR_newfstatat,	/* libc asks so about a descriptor */
#endif
#ifdef __NR_fstat64
	__NR_fstat64,
#endif
#ifdef __NR_lseek
	__NR_lseek,
#endif
#ifdef __NR__llseek
	__NR__llseek,
#endif
#ifdef __NR_gettimeofday
	__NR_gettimeofday,
#endif
#ifdef __NR_clock_gettime64
	__NR_clock_gettime64, __NR_ppoll_time64, __NR_futex_time64, __NR_clock_nanosleep_time64,
#endif
};

static const unsigned short calling[] = { __NR_socket, __NR_connect, __NR_getpeername };

/* Asked by what also runs outside, which can do without an answer. */
static const unsigned short refused[] = {
	__NR_sysinfo,
#ifdef __NR_prlimit64
	__NR_prlimit64,
#endif
#ifdef __NR_getrlimit
	__NR_getrlimit,
#endif
#ifdef __NR_ugetrlimit
	__NR_ugetrlimit,
#endif
};

/* Memory that can be run is refused; of these two the third argument says so. */
#ifdef __NR_mmap2
#define MMAP __NR_mmap2
#else
#define MMAP __NR_mmap
#endif

#define NR_ALLOWED (sizeof(allowed) / sizeof(allowed[0]))
#define NR_CALLING (sizeof(calling) / sizeof(calling[0]))
#define NR_REFUSED (sizeof(refused) / sizeof(refused[0]))
/* Behind both lists: MMAP, mprotect, kill, load, PROT_EXEC, allow, refuse. */
#define ALLOW 5
#define REFUSE 6
#define WORD(field) (unsigned int)offsetof(struct seccomp_data, field)

/* The half of an argument that flags are in. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define LOW 4
#else
#define LOW 0
#endif

static int filter(bool calls)
{
	struct sock_filter code[NR_ALLOWED + NR_CALLING + NR_REFUSED + 16];
	struct sock_fprog program = { .filter = code };
	size_t all = NR_ALLOWED + (calls ? NR_CALLING : 0);
	unsigned short n = 0;

	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, WORD(arch));
	code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, WORD(nr));
	for (size_t i = 0; i < all; i++)
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, i < NR_ALLOWED ? allowed[i] : calling[i - NR_ALLOWED],
							 (unsigned char)(all - i - 1 + NR_REFUSED + ALLOW), 0);
	for (size_t i = 0; i < NR_REFUSED; i++)
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, refused[i],
							 (unsigned char)(NR_REFUSED - i - 1 + REFUSE), 0);
	code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MMAP, 2, 0);
	code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_mprotect, 1, 0);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, WORD(args[2]) + LOW);
	code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 1, 0);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	program.len = n;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) ? -errno : 0;
}
#else
static int filter(bool calls)
{
	(void)calls;
	return -ENOSYS;
}
#endif

static void limit(int what, rlim_t most)
{
	struct rlimit now;

	if (getrlimit(what, &now) || now.rlim_cur < most)
		return;
	now.rlim_cur = now.rlim_max = most;
	setrlimit(what, &now);
}

int jail_enter(size_t memory, bool calls, struct err *err)
{
	int r;

	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_NOFILE, FILES_MAX);
	limit(RLIMIT_NPROC, 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(RINGSIDE_SANITIZED)
	limit(RLIMIT_DATA, memory);
#else
	(void)memory;
#endif
	if (!geteuid() && (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY)))
		return err_set(err, -errno, "root's rights cannot be given up: %s", strerror(errno));
	prctl(PR_SET_DUMPABLE, 0);
	r = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -errno : filter(calls);
	/* A kernel that has no filters still has the rest. */
	if (r == -EINVAL || r == -ENOSYS)
		r = 0;
	return r ? err_set(err, r, "the system calls of who listens cannot be limited: %s", strerror(-r)) : 0;
}
