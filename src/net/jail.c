/*
 * net/jail: see jail.h.
 */
#include "net/jail.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/net.h>
#include <linux/seccomp.h>

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#define NOBODY 65534
/* A file or two that it is given, and of stock peers a port for each CPU. */
#define FILES_MAX 640

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
	__NR_getrandom, __NR_getpid, __NR_gettid, __NR_exit, __NR_exit_group, __NR_rt_sigreturn,
	__NR_rt_sigprocmask, __NR_restart_syscall, __NR_nanosleep, __NR_sendmsg, __NR_recvmsg, __NR_dup,
	__NR_accept4, __NR_sigaltstack, __NR_sched_yield, __NR_fsync, __NR_fdatasync, __NR_shutdown, __NR_getrusage,
	__NR_recvfrom, __NR_sendto,
#ifdef __NR_poll
	__NR_poll,
#endif
#ifdef __NR_recv
	__NR_recv, __NR_send,
#endif
#ifdef __NR_ftruncate
	__NR_ftruncate,
#endif
#ifdef __NR_ftruncate64
	__NR_ftruncate64,
#endif
#ifdef __NR_fstat
	__NR_fstat,
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
#ifdef __NR_clock_gettime
	__NR_clock_gettime, __NR_clock_nanosleep,
#elif defined(__NR_clock_gettime32)
	__NR_clock_gettime32, __NR_clock_nanosleep_time32,	/* musl calls those so */
#endif
#ifdef __NR_clock_gettime64
	__NR_clock_gettime64, __NR_ppoll_time64, __NR_futex_time64, __NR_clock_nanosleep_time64,
#endif
};

static const unsigned short calling[] = { __NR_connect, __NR_getpeername };

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

#ifdef __NR_mmap2
#define MMAP __NR_mmap2
#else
#define MMAP __NR_mmap
#endif

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define WORD(field) (unsigned int)offsetof(struct seccomp_data, field)
#define REFUSED (SECCOMP_RET_ERRNO | EPERM)

/* The half of an argument that numbers are in. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define LOW 4
#else
#define LOW 0
#endif

/*
 * Calls are asked about one after the other; what is about one call ends with an answer, so behind it the number of the call is still
 * what was loaded.
 */
struct code {
	struct sock_filter at[320];
	unsigned short n;
};

static void put(struct code *code, unsigned short what, unsigned int k, size_t yes, size_t no)
{
	code->at[code->n++] = (struct sock_filter)BPF_JUMP(what, k, (unsigned char)yes, (unsigned char)no);
}

static void load(struct code *code, unsigned int at)
{
	put(code, BPF_LD | BPF_W | BPF_ABS, at, 0, 0);
}

static void end(struct code *code, unsigned int answer)
{
	put(code, BPF_RET | BPF_K, answer, 0, 0);
}

/* What comes next, so many of them, is about that number. */
static void about(struct code *code, unsigned int number, size_t len)
{
	put(code, BPF_JMP | BPF_JEQ | BPF_K, number, 0, len);
}

static void answer(struct code *code, unsigned int number, unsigned int with)
{
	about(code, number, 1);
	end(code, with);
}

/* When the argument is one of these. */
static void allow_for(struct code *code, unsigned int call, int arg, const unsigned int *numbers, size_t n)
{
	about(code, call, 2 + 2 * n);
	load(code, WORD(args) + 8 * (unsigned int)arg + LOW);
	for (size_t i = 0; i < n; i++)
		answer(code, numbers[i], SECCOMP_RET_ALLOW);
	end(code, REFUSED);
}

/* What is said of a descriptor, and not of a path. */
static void allow_empty_path(struct code *code, unsigned int call, int arg)
{
	about(code, call, 4);
	load(code, WORD(args) + 8 * (unsigned int)arg + LOW);
	put(code, BPF_JMP | BPF_JSET | BPF_K, AT_EMPTY_PATH, 0, 1);
	end(code, SECCOMP_RET_ALLOW);
	end(code, REFUSED);
}

/* Memory that can be run, or that no limit counts. */
static void put_memory(struct code *code)
{
	about(code, __NR_mprotect, 4);
	load(code, WORD(args[2]) + LOW);
	put(code, BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 1, 0);
	end(code, SECCOMP_RET_ALLOW);
	end(code, REFUSED);
	about(code, MMAP, 7);
	load(code, WORD(args[2]) + LOW);
	put(code, BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 4, 0);
	load(code, WORD(args[3]) + LOW);
	put(code, BPF_ALU | BPF_AND | BPF_K, MAP_SHARED | MAP_ANONYMOUS, 0, 0);
	put(code, BPF_JMP | BPF_JEQ | BPF_K, MAP_SHARED | MAP_ANONYMOUS, 1, 0);
	end(code, SECCOMP_RET_ALLOW);
	end(code, REFUSED);
}

static void put_sockets(struct code *code, bool calls)
{
	static const unsigned int kinds[] = { AF_INET, AF_INET6, AF_VSOCK }, levels[] = { IPPROTO_TCP };

	allow_for(code, __NR_setsockopt, 1, levels, COUNT(levels));
	if (calls)
		allow_for(code, __NR_socket, 0, kinds, COUNT(kinds));
#ifdef __NR_socketcall
	/* All of them in one, by a number; which socket it is lies in memory. */
	static const unsigned int both[] = {
		SYS_SEND, SYS_RECV, SYS_SENDTO, SYS_RECVFROM, SYS_SHUTDOWN, SYS_SETSOCKOPT, SYS_SENDMSG, SYS_RECVMSG, SYS_ACCEPT4,
		SYS_SOCKET, SYS_CONNECT, SYS_GETPEERNAME,
	};

	allow_for(code, __NR_socketcall, 0, both, COUNT(both) - (calls ? 0 : 3));
#endif
}

static void put_all(struct code *code, bool calls)
{
	const unsigned int own = (unsigned int)getpid();

	load(code, WORD(arch));
	put(code, BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0);
	end(code, SECCOMP_RET_KILL_PROCESS);
	load(code, WORD(nr));
	for (size_t i = 0; i < COUNT(allowed); i++)
		answer(code, allowed[i], SECCOMP_RET_ALLOW);
	for (size_t i = 0; calls && i < COUNT(calling); i++)
		answer(code, calling[i], SECCOMP_RET_ALLOW);
	for (size_t i = 0; i < COUNT(refused); i++)
		answer(code, refused[i], REFUSED);
	put_memory(code);
	put_sockets(code, calls);
	/* abort(). */
	allow_for(code, __NR_tgkill, 0, &own, 1);
#ifdef __NR_newfstatat
	allow_empty_path(code, __NR_newfstatat, 3);
#endif
#ifdef __NR_fstatat64
	allow_empty_path(code, __NR_fstatat64, 3);
#endif
	allow_empty_path(code, __NR_statx, 2);
	end(code, SECCOMP_RET_KILL_PROCESS);
}

static int filter(bool calls)
{
	struct code code = { .n = 0 };
	struct sock_fprog program = { .filter = code.at };

	put_all(&code, calls);
	program.len = code.n;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) ? -errno : 0;
}

static bool knows_filters(void)
{
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) && errno == EFAULT;
}
#else
static int filter(bool calls)
{
	(void)calls;
	return -ENOSYS;
}

static bool knows_filters(void)
{
	return false;
}
#endif

static bool limit(int what, rlim_t most)
{
	struct rlimit now;

	if (getrlimit(what, &now))
		return false;
	now.rlim_max = now.rlim_max < most ? now.rlim_max : most;
	now.rlim_cur = now.rlim_cur < most ? now.rlim_cur : most;
	return !setrlimit(what, &now);
}

static bool set_limits(size_t memory)
{
	/* A sanitizer maps all there is. */
	return (SANITIZED || limit(RLIMIT_DATA, memory)) && limit(RLIMIT_CORE, 0) && limit(RLIMIT_NOFILE, FILES_MAX) && limit(RLIMIT_NPROC, 0);
}

/* The terminal is the caller's: nobody reads from it here, and nobody writes. */
static void leave_terminal(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	/* What we opened ourselves closes itself at exec. */
	for (int fd = 0; fd < 3; fd++) {
		int flags = fcntl(fd, F_GETFD);

		/* A sanitizer's words are for whoever looks for them. */
		if (SANITIZED && fd == 2)
			continue;
		if (flags >= 0 && !(flags & FD_CLOEXEC) && (null < 0 || dup2(null, fd) < 0))
			close(fd);
	}
	if (null > 2)
		close(null);
}

int jail_enter(size_t memory, bool calls, struct err *err)
{
	bool was_root = !geteuid();
	pid_t parent = getppid();
	int r;

	leave_terminal();
	if (!set_limits(memory))
		return err_set(err, -errno, "what talks to others cannot be limited: %s", strerror(errno));
	if (was_root && (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY)))
		return err_set(err, -errno, "root's rights cannot be given up: %s", strerror(errno));
	/* Whoever changes forgets what was to happen when his parent dies. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || prctl(PR_SET_DUMPABLE, 0) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return err_set(err, -errno, "the rights of what talks to others cannot be limited: %s", strerror(errno));
	if (getppid() != parent)
		return err_set(err, -ECHILD, "whoever started this is gone");
	if (!knows_filters()) {
		/* Without filters nobody still is nobody. */
		r = was_root ? 0 : -ENOSYS;
		return r ? err_set(err, r, "this kernel cannot limit system calls: whoever is not root does not talk to others here") : 0;
	}
	r = filter(calls);
	return r ? err_set(err, r, "the system calls of what talks to others cannot be limited: %s", strerror(-r)) : 0;
}
