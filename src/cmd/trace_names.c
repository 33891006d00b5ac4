/*
 * cmd/trace_names: numbers in arguments of system calls as people write them: flags, signals, modes. See trace_args.h.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmd/trace_args.h"

struct flag {
	uint64_t value;
	const char *name;
};
#define FLAG(name) { name, #name }
#define END { 0, NULL }

static const struct flag open_flags[] = {
	FLAG(O_WRONLY), FLAG(O_RDWR), FLAG(O_CREAT), FLAG(O_EXCL), FLAG(O_NOCTTY), FLAG(O_TRUNC), FLAG(O_APPEND), FLAG(O_NONBLOCK),
	FLAG(O_SYNC), FLAG(O_DSYNC), FLAG(O_ASYNC), FLAG(O_DIRECT), { 0100000, "O_LARGEFILE" }, FLAG(O_DIRECTORY), FLAG(O_NOFOLLOW),
	FLAG(O_NOATIME), FLAG(O_CLOEXEC), FLAG(O_PATH), END,
};
static const struct flag prot_flags[] = { FLAG(PROT_READ), FLAG(PROT_WRITE), FLAG(PROT_EXEC), END };
static const struct flag map_flags[] = {
	FLAG(MAP_SHARED), FLAG(MAP_PRIVATE), FLAG(MAP_FIXED), FLAG(MAP_ANONYMOUS), FLAG(MAP_GROWSDOWN), { 0x800, "MAP_DENYWRITE" },
	FLAG(MAP_LOCKED), FLAG(MAP_NORESERVE), FLAG(MAP_POPULATE), FLAG(MAP_NONBLOCK), FLAG(MAP_STACK), FLAG(MAP_HUGETLB),
	{ 0x100000, "MAP_FIXED_NOREPLACE" }, END,
};
static const struct flag access_flags[] = { FLAG(R_OK), FLAG(W_OK), FLAG(X_OK), END };
static const struct flag at_flags[] = {
	FLAG(AT_SYMLINK_NOFOLLOW), FLAG(AT_REMOVEDIR), FLAG(AT_SYMLINK_FOLLOW), FLAG(AT_NO_AUTOMOUNT), FLAG(AT_EMPTY_PATH), END,
};
static const struct flag clone_flags[] = {
	FLAG(CLONE_VM), FLAG(CLONE_FS), FLAG(CLONE_FILES), FLAG(CLONE_SIGHAND), FLAG(CLONE_PTRACE), FLAG(CLONE_VFORK),
	FLAG(CLONE_PARENT), FLAG(CLONE_THREAD), FLAG(CLONE_NEWNS), FLAG(CLONE_SYSVSEM), FLAG(CLONE_SETTLS), FLAG(CLONE_PARENT_SETTID),
	FLAG(CLONE_CHILD_CLEARTID), FLAG(CLONE_UNTRACED), FLAG(CLONE_CHILD_SETTID), FLAG(CLONE_NEWUSER), FLAG(CLONE_NEWPID), END,
};
static const struct flag wait_flags[] = { FLAG(WNOHANG), FLAG(WUNTRACED), FLAG(WCONTINUED), FLAG(WEXITED), END };
static const struct flag pipe_flags[] = { FLAG(O_CLOEXEC), FLAG(O_NONBLOCK), FLAG(O_DIRECT), END };
static const struct flag message_flags[] = {
	FLAG(MSG_OOB), FLAG(MSG_PEEK), FLAG(MSG_DONTWAIT), FLAG(MSG_NOSIGNAL), FLAG(MSG_WAITALL), FLAG(MSG_MORE), FLAG(MSG_TRUNC), END,
};
static const struct flag action_flags[] = {
	FLAG(SA_NOCLDSTOP), FLAG(SA_NOCLDWAIT), FLAG(SA_SIGINFO), FLAG(SA_ONSTACK), FLAG(SA_RESTART), FLAG(SA_NODEFER),
	{ 0x80000000u, "SA_RESETHAND" }, { 0x04000000, "SA_RESTORER" }, END,
};
/* Of these one is meant. */
static const struct flag whences[] = { FLAG(SEEK_SET), FLAG(SEEK_CUR), FLAG(SEEK_END), { 3, "SEEK_DATA" }, { 4, "SEEK_HOLE" }, END };
static const struct flag hows[] = { FLAG(SIG_BLOCK), FLAG(SIG_UNBLOCK), FLAG(SIG_SETMASK), END };
static const struct flag clocks[] = {
	FLAG(CLOCK_REALTIME), FLAG(CLOCK_MONOTONIC), FLAG(CLOCK_PROCESS_CPUTIME_ID), FLAG(CLOCK_THREAD_CPUTIME_ID),
	FLAG(CLOCK_MONOTONIC_RAW), FLAG(CLOCK_BOOTTIME), END,
};
static const struct flag commands[] = {
	FLAG(F_DUPFD), FLAG(F_GETFD), FLAG(F_SETFD), FLAG(F_GETFL), FLAG(F_SETFL), FLAG(F_GETLK), FLAG(F_SETLK), FLAG(F_SETLKW),
	FLAG(F_DUPFD_CLOEXEC), { 36, "F_OFD_GETLK" }, { 37, "F_OFD_SETLK" }, END,
};
static const struct flag families[] = {
	FLAG(AF_UNSPEC), FLAG(AF_UNIX), FLAG(AF_INET), FLAG(AF_INET6), FLAG(AF_NETLINK), FLAG(AF_PACKET), END,
};
static const struct flag limits[] = {
	FLAG(RLIMIT_CPU), FLAG(RLIMIT_FSIZE), FLAG(RLIMIT_DATA), FLAG(RLIMIT_STACK), FLAG(RLIMIT_CORE), FLAG(RLIMIT_RSS),
	{ 6, "RLIMIT_NPROC" }, { 7, "RLIMIT_NOFILE" }, FLAG(RLIMIT_MEMLOCK), FLAG(RLIMIT_AS), END,
};
static const struct flag advices[] = {
	FLAG(MADV_NORMAL), FLAG(MADV_RANDOM), FLAG(MADV_SEQUENTIAL), FLAG(MADV_WILLNEED), FLAG(MADV_DONTNEED), FLAG(MADV_FREE),
	FLAG(MADV_HUGEPAGE), FLAG(MADV_NOHUGEPAGE), FLAG(MADV_DONTDUMP), END,
};
static const struct flag futex_operations[] = {
	{ 0, "FUTEX_WAIT" }, { 1, "FUTEX_WAKE" }, { 128, "FUTEX_WAIT_PRIVATE" }, { 129, "FUTEX_WAKE_PRIVATE" },
	{ 137, "FUTEX_WAIT_BITSET_PRIVATE" }, { 393, "FUTEX_WAIT_BITSET_PRIVATE|FUTEX_CLOCK_REALTIME" }, { 6, "FUTEX_LOCK_PI" }, END,
};
static const struct flag requests[] = {
	{ 0x5401, "TCGETS" }, { 0x5402, "TCSETS" }, { 0x5403, "TCSETSW" }, { 0x5404, "TCSETSF" }, { 0x540f, "TIOCGPGRP" },
	{ 0x5410, "TIOCSPGRP" }, { 0x5413, "TIOCGWINSZ" }, { 0x5414, "TIOCSWINSZ" }, { 0x541b, "FIONREAD" }, { 0x5421, "FIONBIO" },
	{ 0x5450, "FIONCLEX" }, { 0x5451, "FIOCLEX" }, END,
};
static const struct flag socket_types[] = {
	FLAG(SOCK_STREAM), FLAG(SOCK_DGRAM), FLAG(SOCK_RAW), FLAG(SOCK_SEQPACKET), END,
};
static const struct flag socket_flags[] = { FLAG(SOCK_NONBLOCK), FLAG(SOCK_CLOEXEC), END };
static const struct flag codes[] = { { 0x1001, "ARCH_SET_GS" }, { 0x1002, "ARCH_SET_FS" }, { 0x1003, "ARCH_GET_FS" }, END };
static const struct flag file_types[] = {
	FLAG(S_IFREG), FLAG(S_IFDIR), FLAG(S_IFCHR), FLAG(S_IFBLK), FLAG(S_IFIFO), FLAG(S_IFLNK), FLAG(S_IFSOCK), END,
};
static const struct flag signals[] = {
	FLAG(SIGHUP), FLAG(SIGINT), FLAG(SIGQUIT), FLAG(SIGILL), FLAG(SIGTRAP), FLAG(SIGABRT), FLAG(SIGBUS), FLAG(SIGFPE), FLAG(SIGKILL),
	FLAG(SIGUSR1), FLAG(SIGSEGV), FLAG(SIGUSR2), FLAG(SIGPIPE), FLAG(SIGALRM), FLAG(SIGTERM), { 16, "SIGSTKFLT" }, FLAG(SIGCHLD),
	FLAG(SIGCONT), FLAG(SIGSTOP), FLAG(SIGTSTP), FLAG(SIGTTIN), FLAG(SIGTTOU), FLAG(SIGURG), FLAG(SIGXCPU), FLAG(SIGXFSZ),
	FLAG(SIGVTALRM), FLAG(SIGPROF), FLAG(SIGWINCH), FLAG(SIGIO), { 30, "SIGPWR" }, FLAG(SIGSYS), END,
};

static void put_flags(struct buf *out, const struct flag *flags, uint64_t value, const char *none)
{
	bool first = true;

	for (; flags->name; flags++) {
		if (!flags->value || (value & flags->value) != flags->value)
			continue;
		buf_printf(out, "%s%s", first ? "" : "|", flags->name);
		value &= ~flags->value;
		first = false;
	}
	if (value)
		buf_printf(out, "%s%#" PRIx64, first ? "" : "|", value);
	else if (first)
		buf_puts(out, none);
}

static void put_one_of(struct buf *out, const struct flag *flags, uint64_t value)
{
	for (; flags->name; flags++)
		if (flags->value == value) {
			buf_puts(out, flags->name);
			return;
		}
	buf_printf(out, "%#" PRIx64, value);
}

void trace_put_signal(struct buf *out, uint64_t value)
{
	if (value >= 32 && value <= 64)
		buf_printf(out, "SIGRT_%u", (unsigned int)value - 32);
	else if (value)
		put_one_of(out, signals, value);
	else
		buf_putc(out, '0');
}

static void put_pointer(struct buf *out, uint64_t value)
{
	if (value)
		buf_printf(out, "%#" PRIx64, value);
	else
		buf_puts(out, "NULL");
}

static void put_clone(struct buf *out, uint64_t value)
{
	put_flags(out, clone_flags, value & ~0xffull, "0");
	if (value & 0xff) {
		buf_putc(out, '|');
		trace_put_signal(out, value & 0xff);
	}
}

static void put_socket_type(struct buf *out, uint64_t value)
{
	const uint64_t flags = value & (SOCK_NONBLOCK | SOCK_CLOEXEC);

	put_one_of(out, socket_types, value & ~flags);
	if (flags) {
		buf_putc(out, '|');
		put_flags(out, socket_flags, flags, "0");
	}
}

static void put_open(struct buf *out, uint64_t value)
{
	if (!(value & O_ACCMODE))
		buf_puts(out, (value & ~(uint64_t)O_ACCMODE) ? "O_RDONLY|" : "O_RDONLY");
	if (value)
		put_flags(out, open_flags, value & ~0100000ull, "");
}

static const struct flag *choices(char kind)
{
	return kind == 'W' ? whences : kind == 'H' ? hows : kind == 'k' ? clocks : kind == 'C' ? commands : kind == 'K' ? families :
	       kind == 'r' ? limits : kind == 'V' ? advices : kind == 'F' ? futex_operations : kind == 'I' ? requests :
	       kind == 'R' ? codes : kind == 'E' ? file_types : NULL;
}

static const struct flag *combinations(char kind)
{
	return kind == 'P' ? prot_flags : kind == 'M' ? map_flags : kind == 'T' ? at_flags : kind == 'B' ? wait_flags :
	       kind == 'f' ? pipe_flags : kind == 'G' ? message_flags : kind == 'a' ? action_flags : NULL;
}

void trace_put_number(struct buf *out, char kind, uint64_t value)
{
	if (choices(kind))
		put_one_of(out, choices(kind), kind == 'F' ? value & 0xffffffff : value);
	else if (combinations(kind))
		put_flags(out, combinations(kind), value & 0xffffffff, kind == 'P' ? "PROT_NONE" : "0");
	else if (kind == 'A')
		put_flags(out, access_flags, value, "F_OK");
	else if (kind == 'O')
		put_open(out, value & 0xffffffff);
	else if (kind == 'Y')
		put_socket_type(out, value & 0xffffffff);
	else if (kind == 'L')
		put_clone(out, value);
	else if (kind == 'S')
		trace_put_signal(out, value & 0xffffffff);
	else if (kind == 'D' && (int)value == AT_FDCWD)
		buf_puts(out, "AT_FDCWD");
	else if (kind == 'd' || kind == 'D')
		buf_printf(out, "%" PRId64, value >> 32 && value >> 32 != 0xffffffff ? (int64_t)value : (int64_t)(int32_t)value);
	else if (kind == 'u')
		buf_printf(out, "%" PRIu64, value);
	else if (kind == 'o')
		buf_printf(out, value & 0xffff ? "%#03o" : "%03o", (unsigned int)value & 0xffff);
	else if (kind == 'x')
		buf_printf(out, "%#" PRIx64, value);
	else
		put_pointer(out, value);
}
