/*
 * cmd/trace_args: see trace_args.h.
 */
#include "cmd/trace_args.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include "control/calls.h"
#include "control/named.h"

/* ---- Bytes ---- */

static void put_byte(struct buf *out, uint8_t c, bool digit_next)
{
	static const char letters[] = "\n\t\r\v\f\\\"", names[] = "ntrvf\\\"";
	const char *at = c ? strchr(letters, c) : NULL;

	if (at)
		buf_printf(out, "\\%c", names[at - letters]);
	else if (c >= ' ' && c < 0x7f)
		buf_putc(out, (char)c);
	else
		buf_printf(out, digit_next ? "\\%03o" : "\\%o", c);
}

static void put_quoted(struct buf *out, const uint8_t *bytes, uint32_t len, bool more)
{
	buf_putc(out, '"');
	for (uint32_t i = 0; i < len; i++)
		put_byte(out, bytes[i], i + 1 < len && bytes[i + 1] >= '0' && bytes[i + 1] <= '9');
	buf_puts(out, more ? "\"..." : "\"");
}

/* A text with its NUL, or cut off before it. */
static void put_text(struct buf *out, const struct trace_data *data)
{
	bool whole = data->len && !data->bytes[data->len - 1];

	put_quoted(out, data->bytes, data->len - whole, !whole);
}

static void put_buffer(struct buf *out, const struct trace_data *data, uint32_t limit)
{
	uint32_t len = data->len < limit ? data->len : limit;

	put_quoted(out, data->bytes, len, len < data->size);
}

static void put_texts(struct buf *out, const struct trace_data *data)
{
	buf_putc(out, '[');
	for (uint32_t at = 0; at < data->len;) {
		uint32_t n = (uint32_t)strnlen((const char *)data->bytes + at, data->len - at);

		if (at)
			buf_puts(out, ", ");
		put_quoted(out, data->bytes + at, n, false);
		at += n + 1;
	}
	buf_putc(out, ']');
}

static uint64_t word(const struct trace_data *data, uint32_t at, uint32_t size)
{
	uint64_t value = 0;

	if (at + size <= data->len)
		memcpy(&value, data->bytes + at, size);
	return value;
}

static void put_stat(struct buf *out, const struct trace_data *data)
{
	struct stat st;

	if (data->len < sizeof(st)) {
		buf_puts(out, "{...}");
		return;
	}
	memcpy(&st, data->bytes, sizeof(st));
	buf_puts(out, "{st_mode=");
	trace_put_number(out, 'E', st.st_mode & S_IFMT);
	buf_printf(out, "|%#04o, ", st.st_mode & 07777);
	if (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode))
		buf_printf(out, "st_rdev=%#lx, ...}", (unsigned long)st.st_rdev);
	else
		buf_printf(out, "st_size=%lld, ...}", (long long)st.st_size);
}

static void put_sigset(struct buf *out, uint64_t set)
{
	int n = 0, count = __builtin_popcountll(set);
	bool most = count > 32;

	if (most)
		set = ~set;
	buf_puts(out, most ? "~[" : "[");
	for (uint32_t i = 0; i < 64; i++)
		if (set >> i & 1) {
			struct buf name = BUF_INIT;

			trace_put_signal(&name, i + 1);
			buf_printf(out, "%s%s", n++ ? " " : "", name.data && !strncmp(name.data, "SIG", 3) ? name.data + 3 : "?");
			buf_fini(&name);
		}
	buf_putc(out, ']');
}

static void put_action(struct buf *out, const struct trace_data *data)
{
	uint64_t handler = word(data, 0, 8);

	buf_puts(out, "{sa_handler=");
	if (handler <= 1)
		buf_puts(out, handler ? "SIG_IGN" : "SIG_DFL");
	else
		buf_printf(out, "%#" PRIx64, handler);
	buf_puts(out, ", sa_mask=");
	put_sigset(out, word(data, 24, 8));
	buf_puts(out, ", sa_flags=");
	trace_put_number(out, 'a', word(data, 8, 8));
	buf_putc(out, '}');
}

static void put_address(struct buf *out, const struct trace_data *data)
{
	char text[INET6_ADDRSTRLEN] = "";
	uint32_t family = (uint32_t)word(data, 0, 2);

	buf_puts(out, "{sa_family=");
	trace_put_number(out, 'K', family);
	if (family == AF_UNIX) {
		uint32_t n = data->len > 2 ? data->len - 2 : 0;

		buf_puts(out, ", sun_path=");
		put_quoted(out, data->bytes + 2, n && data->bytes[2] ? (uint32_t)strnlen((const char *)data->bytes + 2, n) : n, false);
	} else if (family == AF_INET && data->len >= 8) {
		inet_ntop(AF_INET, data->bytes + 4, text, sizeof(text));
		buf_printf(out, ", sin_port=htons(%u), sin_addr=inet_addr(\"%s\")", data->bytes[2] << 8 | data->bytes[3], text);
	} else if (family == AF_INET6 && data->len >= 24) {
		inet_ntop(AF_INET6, data->bytes + 8, text, sizeof(text));
		buf_printf(out, ", sin6_port=htons(%u), sin6_addr=\"%s\"", data->bytes[2] << 8 | data->bytes[3], text);
	}
	buf_putc(out, '}');
}

static void put_status(struct buf *out, uint64_t value)
{
	int status = (int)value;

	if (WIFEXITED(status))
		buf_printf(out, "[{WIFEXITED(s) && WEXITSTATUS(s) == %d}]", WEXITSTATUS(status));
	else if (WIFSIGNALED(status)) {
		buf_puts(out, "[{WIFSIGNALED(s) && WTERMSIG(s) == ");
		trace_put_signal(out, (uint64_t)WTERMSIG(status));
		buf_puts(out, "}]");
	} else {
		buf_printf(out, "[%#x]", status);
	}
}

/* ---- Arguments ---- */

/*
 * A letter for each argument. d number, u without sign, x hexadecimal, p address, D directory's descriptor, o mode, s text, b bytes,
 * v texts; the others are structures, above, and flags, in trace_names.c.
 */
static const struct {
	const char *name, *args;
} shapes[] = {
	{ "access", "sA" }, { "alarm", "u" }, { "arch_prctl", "Rp" }, { "bind", "djd" }, { "brk", "p" }, { "chdir", "s" }, { "chmod", "so" },
	{ "clock_gettime", "kN" }, { "clock_nanosleep", "kdnp" }, { "clone", "Lpppp" }, { "close", "d" }, { "connect", "djd" },
	{ "creat", "so" }, { "dup", "d" }, { "dup2", "dd" }, { "dup3", "ddf" }, { "execve", "svp" }, { "exit", "d" }, { "exit_group", "d" },
	{ "faccessat", "DsA" }, { "faccessat2", "DsAT" }, { "fchmod", "do" }, { "fchmodat", "Dso" }, { "fcntl", "dCx" }, { "fstat", "dt" },
	{ "ftruncate", "du" }, { "futex", "pFdppx" }, { "getcwd", "su" }, { "getdents64", "dpu" }, { "getrandom", "bux" },
	{ "getrlimit", "rl" }, { "ioctl", "dIp" }, { "kill", "dS" }, { "link", "ss" }, { "linkat", "DsDsT" }, { "lseek", "ddW" },
	{ "lstat", "st" }, { "madvise", "puV" }, { "mkdir", "so" }, { "mkdirat", "Dso" }, { "mmap", "puPMdx" }, { "mprotect", "puP" },
	{ "mremap", "puuxp" }, { "munmap", "pu" }, { "nanosleep", "np" }, { "newfstatat", "DstT" }, { "open", "sOo" },
	{ "openat", "DsOo" }, { "pipe", "i" }, { "pipe2", "if" }, { "pread64", "dbuu" }, { "prlimit64", "drll" },
	{ "pselect6", "dppppp" }, { "pwrite64", "dbuu" }, { "read", "dbu" }, { "readlink", "sbu" }, { "readlinkat", "Dsbu" },
	{ "recvfrom", "dbuGpp" }, { "rename", "ss" }, { "renameat", "DsDs" }, { "renameat2", "DsDsx" }, { "rmdir", "s" },
	{ "rt_sigaction", "Sgpu" }, { "rt_sigprocmask", "Hmmu" }, { "rt_sigreturn", "" }, { "sendto", "dbuGjd" },
	{ "set_robust_list", "pu" }, { "socket", "KYd" }, { "socketpair", "KYdi" }, { "stat", "st" }, { "statfs", "sp" },
	{ "statx", "DsTxp" }, { "symlink", "ss" }, { "symlinkat", "sDs" }, { "tgkill", "ddS" }, { "tkill", "dS" },
	{ "truncate", "su" }, { "unlink", "s" }, { "unlinkat", "DsT" }, { "utimensat", "DspT" }, { "wait4", "dwBp" },
	{ "write", "dbu" }, { "umask", "o" }, { "getxattr", "sspu" }, { "lgetxattr", "sspu" },
};

static const char *shape_of(const char *name)
{
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		if (!strcmp(shapes[i].name, name))
			return shapes[i].args;
	return NULL;
}

/* Of others the kernel's declarations tell how many there are, and which are addresses. */
static void declared_shape(uint64_t number, char shape[CALLS_ARGS + 1])
{
	uint32_t n = 0;

	for (const char *const *call = named_syscalls; *call; call++) {
		char name[REGISTRY_NAME_MAX + 1];
		const char *at;

		snprintf(name, sizeof(name), "%.*s", (int)named_syscall_name(*call), *call);
		if (control_call_number(name) != (int)number)
			continue;
		at = *call + named_syscall_name(*call) + 1;
		while (n < CALLS_ARGS && *at && *at != ')') {
			size_t len = strcspn(at, ",)");
			bool is_int = !strncmp(at, "int ", 4) || !strncmp(at, "pid_t ", 6) || !strncmp(at, "unsigned int fd", 15) ||
				      !strncmp(at, "unsigned long fd", 16);

			shape[n++] = memchr(at, '*', len) ? 'p' : is_int ? 'd' : 'x';
			at += len;
			at += strspn(at, ", ");
		}
		break;
	}
	shape[n] = '\0';
}

/* What it points to; false: it is not known. */
static bool put_pointed(struct buf *out, char kind, const struct trace_data *data, uint32_t limit)
{
	if (!data || !data->len)
		return false;
	switch (kind) {
	case 's':
		put_text(out, data);
		return true;
	case 'b':
		put_buffer(out, data, limit);
		return true;
	case 'v':
		put_texts(out, data);
		return true;
	case 't':
		put_stat(out, data);
		return true;
	case 'n':
	case 'N':
		buf_printf(out, "{tv_sec=%" PRId64 ", tv_nsec=%" PRId64 "}", (int64_t)word(data, 0, 8), (int64_t)word(data, 8, 8));
		return true;
	case 'l':
		buf_printf(out, "{rlim_cur=%" PRId64 ", rlim_max=%" PRId64 "}", (int64_t)word(data, 0, 8), (int64_t)word(data, 8, 8));
		return true;
	case 'i':
		buf_printf(out, "[%d, %d]", (int)word(data, 0, 4), (int)word(data, 4, 4));
		return true;
	case 'm':
		put_sigset(out, word(data, 0, 8));
		return true;
	case 'g':
		put_action(out, data);
		return true;
	case 'j':
		put_address(out, data);
		return true;
	case 'w':
		put_status(out, word(data, 0, 4));
		return true;
	default:
		return false;
	}
}

void trace_put_name(struct buf *out, uint64_t number)
{
	const char *name = control_call_name(number);

	if (name)
		buf_puts(out, name);
	else
		buf_printf(out, "syscall_%#" PRIx64, number);
}

/* open without O_CREAT has no mode, and what asks for flags no argument. */
static bool is_absent(const char *shape, const struct trace_call *call, uint32_t i)
{
	if (i && shape[i - 1] == 'C' && (call->args[i - 1] == F_GETFD || call->args[i - 1] == F_GETFL))
		return true;
	return i && shape[i] == 'o' && shape[i - 1] == 'O' && !(call->args[i - 1] & (O_CREAT | 020000000));
}

/* Looked for once: there are many to look through. */
static const char *known_shape(uint64_t number)
{
	static char declared[CALLS_MAX][1 + CALLS_ARGS + 1];
	const char *name = control_call_name(number), *own = name ? shape_of(name) : NULL;

	if (own || !name)
		return own ? own : "xxxxxx";
	if (!declared[number][0]) {
		declared[number][0] = 1;
		declared_shape(number, declared[number] + 1);
	}
	return declared[number] + 1;
}

static void find_shape(const struct trace_call *call, char shape[CALLS_ARGS + 1])
{
	snprintf(shape, CALLS_ARGS + 1, "%s", known_shape(call->number));
	for (uint32_t i = 0; shape[i]; i++)
		if (is_absent(shape, call, i))
			shape[i] = '\0';
}

static void put_argument(struct buf *out, char kind, const struct trace_call *call, uint32_t i, uint32_t limit)
{
	if (put_pointed(out, kind, call->data[i], limit))
		return;
	/* Nothing was read or written. */
	if (kind == 'b' && call->args[i] && call->result == 0)
		buf_puts(out, "\"\"");
	else
		trace_put_number(out, kind, call->args[i]);
}

static void put_arguments(struct buf *out, const struct trace_call *call, const char *shape, uint32_t from, uint32_t limit)
{
	for (uint32_t i = from; shape[i]; i++) {
		if (i > from)
			buf_puts(out, ", ");
		put_argument(out, shape[i], call, i, limit);
	}
}

void trace_put_call(struct buf *out, const struct trace_call *call, uint32_t limit)
{
	char shape[CALLS_ARGS + 1];

	find_shape(call, shape);
	trace_put_name(out, call->number);
	buf_putc(out, '(');
	put_arguments(out, call, shape, 0, limit);
	buf_putc(out, ')');
}

/* The first argument that the call fills; without one how many there are. */
static uint32_t first_filled(const struct trace_call *call, const char *shape)
{
	const char *name = control_call_name(call->number);
	const uint32_t data = name ? control_call_data(name) : 0;
	uint32_t i = 0;

	while (shape[i] && (data >> 4 * i & 0xf) < CALL_DATA_OUT)
		i++;
	return i;
}

void trace_put_begun(struct buf *out, const struct trace_call *call, uint32_t limit)
{
	char shape[CALLS_ARGS + 1];
	uint32_t end;
	bool more;

	find_shape(call, shape);
	end = first_filled(call, shape);
	more = end && shape[end];
	shape[end] = '\0';
	trace_put_name(out, call->number);
	buf_putc(out, '(');
	put_arguments(out, call, shape, 0, limit);
	if (more)
		buf_puts(out, ", ");
}

void trace_put_resumed(struct buf *out, const struct trace_call *call, uint32_t limit)
{
	char shape[CALLS_ARGS + 1];

	find_shape(call, shape);
	buf_puts(out, "<... ");
	trace_put_name(out, call->number);
	buf_puts(out, " resumed>");
	put_arguments(out, call, shape, first_filled(call, shape), limit);
	buf_putc(out, ')');
}

static const char *errno_name(int number)
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 32)
	return strerrorname_np(number);
#else
	(void)number;
	return NULL;
#endif
}

void trace_put_result(struct buf *out, const struct trace_call *call)
{
	const char *name = control_call_name(call->number), *error;
	bool address = name && (!strcmp(name, "mmap") || !strcmp(name, "brk") || !strcmp(name, "mremap") || !strcmp(name, "shmat"));

	if (call->result < 0 && call->result >= -4095) {
		error = errno_name((int)-call->result);
		if (error)
			buf_printf(out, "-1 %s (%s)", error, strerror((int)-call->result));
		else
			buf_printf(out, "-1 errno %d (%s)", (int)-call->result, strerror((int)-call->result));
	} else {
		buf_printf(out, address ? "%#" PRIx64 : "%" PRId64, call->result);
	}
}
