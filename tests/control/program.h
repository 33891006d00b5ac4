/*
 * What tests of the tree share beside room.h: the traced program's side, an event `test:item` that carries a number, and
 * files of the tree that are open.
 */
#ifndef TESTS_CONTROL_PROGRAM_H
#define TESTS_CONTROL_PROGRAM_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "control/room.h"
#include "layout/page.h"
#include "runtime/runtime.h"

/* ---- the traced program ---- */

#define ITEM_COMMON                                                                                \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define ITEM_BODY ITEM_COMMON "\tfield:int n;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"n=%d\", REC->n\n"

struct item {
	uint32_t id;
	const uint32_t *hint;
};

static inline struct item item_bring(const char *name)
{
	struct item item;
	int r = runtime_event_intern("test", name, ITEM_BODY, strlen(ITEM_BODY), 0, &item.id, &item.hint);

	CHECK(!r, "test:%s cannot be brought: %s", name, strerror(-r));
	return item;
}

/* As an event's site does it. */
static inline void item_emit(const struct item *item, int32_t n)
{
	struct {
		struct record_head head;
		int32_t n;
	} record = { .n = n };

	if (__atomic_load_n(item->hint, __ATOMIC_RELAXED))
		runtime_write(item->id, &record, sizeof(record));
}

static inline void item_emit_many(const struct item *item, int32_t from, int32_t to)
{
	for (; from < to; from++)
		item_emit(item, from);
}

/* ---- CPUs ---- */

/* The i-th CPU that this process may run on, or -1. */
static inline int cpu_at(int i)
{
	static cpu_set_t home;
	static bool known;

	if (!known)
		CHECK(!sched_getaffinity(0, sizeof(home), &home), "affinity");
	known = true;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &home) && !i--)
			return cpu;
	return -1;
}

static inline void cpu_pin(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	CHECK(!sched_setaffinity(0, sizeof(one), &one), "cannot run on CPU %d", cpu);
}

/* ---- children ---- */

/* A child that does not outlive the test. 0 in the child. */
static inline pid_t child_fork(void)
{
	pid_t parent = getpid(), pid = fork();

	CHECK(pid >= 0, "%s", strerror(errno));
	if (!pid && (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent))
		_exit(99);
	return pid;
}

static inline void child_expect(pid_t pid)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid, "%s", strerror(errno));
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status), "the child ended with %#x", status);
}

static inline void refuse_rseq(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rseq, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(code[0]), code };

	CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0),
	      "%s", strerror(errno));
}

enum { ROLE_RSEQ, ROLE_RSEQ_OWN, ROLE_RSEQ_NONE };

/* Starts this program again, as `role` with one more argument: with libc's rseq, with the runtime's own, or without any. */
static inline pid_t role_start(const char *role, const char *arg, int rseq)
{
	pid_t pid = child_fork();

	if (pid)
		return pid;
	if (rseq != ROLE_RSEQ)
		setenv("GLIBC_TUNABLES", "glibc.pthread.rseq=0", 1);
	if (rseq == ROLE_RSEQ_NONE)
		refuse_rseq();
	execl("/proc/self/exe", "traced", role, arg, (char *)NULL);
	_exit(127);
}

/* ---- text ---- */

/* Lines that have `what` in them. */
static inline int count_of(const char *text, const char *what)
{
	int n = 0;

	for (; text && (text = strstr(text, what)); n++) {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return n;
}

/* A file's lines that have `what` in them. */
static inline int count_in(struct control *control, const char *path, const char *what)
{
	char *text = room_read(control, path);
	int n = count_of(text, what);

	free(text);
	return n;
}

/* The text less its comments; in place. */
static inline char *without_head(char *text)
{
	char *to = text, *line = text, *next;

	for (; *line; line = next) {
		next = strchr(line, '\n');
		next = next ? next + 1 : line + strlen(line);
		if (*line == '#')
			continue;
		memmove(to, line, (size_t)(next - line));
		to += next - line;
	}
	*to = '\0';
	return text;
}

/* Every `n=N` of the text is one more than that before; gives how many there are. */
static inline int items_follow(const char *text, int32_t from)
{
	int n = 0;

	for (; (text = strstr(text, " n=")); n++, text++)
		CHECK(atoi(text + 3) == from + n, "n=%d follows n=%d", atoi(text + 3), from + n - 1);
	return n;
}

/* As `>> path`. */
static inline void room_append(struct control *control, const char *path, const char *text, int want)
{
	struct err err = ERR_INIT;
	int r = tree_write(control, path, text, strlen(text), 0, &err);

	CHECK(r == want, "%s <- '%.40s': %d (%s), not %d", path, text, r, err.text, want);
}

/* A number behind a word of a file: `entries: 12`. */
static inline uint64_t number_in(struct control *control, const char *path, const char *what)
{
	char *text = room_read(control, path), *at = strstr(text, what);
	uint64_t value;

	CHECK(at, "%s has no '%s': %s", path, what, text);
	value = strtoull(at + strlen(what), NULL, 10);
	free(text);
	return value;
}

/* ---- files that are open ---- */

static inline struct control *room_again(struct control *control)
{
	struct err err = ERR_INIT;
	struct control *again;
	int r = control_again(&again, control, &err);

	CHECK(!r, "%s", err.text);
	return again;
}

static inline struct tree_file *file_open(struct control *control, const char *path, unsigned int flags)
{
	struct err err = ERR_INIT;
	struct tree_file *file;
	int r = tree_open(&file, control, path, flags, &err);

	CHECK(!r, "%s", err.text);
	return file;
}

static inline void file_refused(struct control *control, const char *path, unsigned int flags, int want)
{
	struct err err = ERR_INIT;
	struct tree_file *file;
	int r = tree_open(&file, control, path, flags, &err);

	CHECK(r == want, "%s: opens with %d (%s), not %d", path, r, err.text, want);
	CHECK(strstr(err.text, path), "'%s' does not name %s", err.text, path);
}

static inline void file_close(struct tree_file *file)
{
	struct err err = ERR_INIT;
	int r = tree_close(file, &err);

	CHECK(!r, "%s", err.text);
}

/* What a read of one byte gives. */
static inline int file_try(struct tree_file *file)
{
	struct err err = ERR_INIT;
	char byte;

	return (int)tree_file_read(file, &byte, 1, 0, &err);
}

/* All that there is now, read in pieces of `step` bytes; the caller frees it. `last`: what the last read gave. */
static inline char *file_drain(struct tree_file *file, size_t step, size_t *len, int *last)
{
	struct buf out = BUF_INIT;
	char *piece = malloc(step);
	struct err err = ERR_INIT;
	ssize_t n;

	buf_puts(&out, "");
	while ((n = tree_file_read(file, piece, step, out.len, &err)) > 0)
		buf_add(&out, piece, (size_t)n);
	CHECK(n == 0 || n == -EAGAIN, "%s", err.text);
	if (len)
		*len = out.len;
	if (last)
		*last = (int)n;
	free(piece);
	return buf_take(&out);
}

/* So many whole lines, read byte by byte, behind those in `out`. */
static inline void file_lines(struct tree_file *file, int lines, struct buf *out)
{
	struct err err = ERR_INIT;
	char byte = 0;

	while (lines) {
		ssize_t n = tree_file_read(file, &byte, 1, 0, &err);

		CHECK(n == 1, "a line ends with %zd (%s)", n, err.text);
		buf_putc(out, byte);
		lines -= byte == '\n';
	}
}

static inline void file_write(struct tree_file *file, const char *text, int want)
{
	struct err err = ERR_INIT;
	ssize_t n = tree_file_write(file, text, strlen(text), NULL, &err);

	CHECK(n == (want ? want : (ssize_t)strlen(text)), "'%.40s' gives %zd (%s)", text, n, err.text);
}

static inline void room_mkdir(struct control *control, const char *path, int want)
{
	struct err err = ERR_INIT;
	int r = tree_mkdir(control, path, &err);

	CHECK(r == want, "mkdir %s: %d (%s), not %d", path, r, err.text, want);
	CHECK(!r || err.text[0], "mkdir %s is refused without words", path);
}

static inline void room_rmdir(struct control *control, const char *path, int want)
{
	struct err err = ERR_INIT;
	int r = tree_rmdir(control, path, &err);

	CHECK(r == want, "rmdir %s: %d (%s), not %d", path, r, err.text, want);
	CHECK(!r || err.text[0], "rmdir %s is refused without words", path);
}

#endif
