/*
 * control/plans_bring: a file that no program brought yet, with the libraries that it would be loaded with, into the registry.
 *
 * Which ones these are the program's own loader tells, asked as ldd asks it: so names are what programs will find them under. What
 * the file names as its loader is run only if it is one. A process is started for it and waited for.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/glob.h"
#include "base/mono.h"
#include "control/named.h"
#include "control/plans.h"
#include "symbol/elf.h"

#define LIST_MS 10000
#define LIST_MAX (1u << 20)

extern char **environ;

/* As the runtime puts it together: runtime/registry.c. */
static int intern(struct control *control, const char *path, const struct elf *elf, bool program, struct err *err)
{
	unsigned char id[ELF_BUILD_ID_MAX];
	struct registry_elf_blob head = { .path_len = (uint16_t)strlen(path), .program = program };
	struct buf blob = BUF_INIT;
	uint32_t slot;
	int r;

	head.build_id_len = (uint16_t)elf_build_id(elf, id);
	buf_add(&blob, &head, sizeof(head));
	buf_add(&blob, id, head.build_id_len);
	buf_add(&blob, path, head.path_len + 1u);
	r = control_named_elf(&control->dir, &blob, &slot, err);
	buf_fini(&blob);
	return r;
}

static int intern_library(struct control *control, const char *path, struct err *err)
{
	struct elf elf;
	int fd = elf_file(path), r;

	if (fd < 0)
		return 0;
	r = elf_open(&elf, fd, NULL) ? 0 : intern(control, path, &elf, false, err);
	elf_close(&elf);
	close(fd);
	return r;
}

/* ---- asking the loader ---- */

static bool is_loader(const char *path)
{
	return glob_match("/lib*/ld-linux*.so.?", path) || glob_match("/lib/ld-musl-*.so.1", path);
}

static int loader_start(const char *loader, const char *path, int *from, pid_t *pid)
{
	char *args[] = { (char *)loader, (char *)"--list", (char *)path, NULL };
	posix_spawn_file_actions_t actions;
	int ends[2], r;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	r = posix_spawn_file_actions_init(&actions);
	if (!r) {
		r = posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
		if (!r)
			r = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
		if (!r)
			r = posix_spawn(pid, loader, &actions, NULL, args, environ);
		posix_spawn_file_actions_destroy(&actions);
	}
	close(ends[1]);
	if (r)
		close(ends[0]);
	*from = ends[0];
	return -r;
}

/* All that it says, while that is no more than is reasonable. */
static void loader_hear(int from, struct buf *text)
{
	int64_t deadline = mono_ms() + LIST_MS;
	struct pollfd ready = { .fd = from, .events = POLLIN };

	while (text->len < LIST_MAX) {
		int64_t left = deadline - mono_ms();
		char *room = buf_room(text, 4096);
		ssize_t n;

		if (left <= 0 || !room || (poll(&ready, 1, (int)left) < 0 && errno != EINTR))
			return;
		n = ready.revents ? read(from, room, 4096) : 0;
		if (n > 0)
			text->len += (size_t)n;
		else if (ready.revents && (!n || errno != EINTR))
			return;
	}
}

static int loader_ask(const char *loader, const char *path, struct buf *text, struct err *err)
{
	pid_t pid;
	int from = -1, status, r = loader_start(loader, path, &from, &pid);

	if (r)
		return err_set(err, r, "%.300s: cannot be run: %s", loader, strerror(-r));
	loader_hear(from, text);
	close(from);
	/* It has ended, but for one that has no end. */
	kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	buf_putc(text, '\0');
	return buf_failed(text) ? err_set(err, -ENOMEM, "out of memory") : 0;
}

/* "NAME => PATH (0xADDRESS)", or "PATH (0xADDRESS)". */
static char *line_path(char *line)
{
	char *arrow = strstr(line, " => "), *end;

	line = arrow ? arrow + 4 : line + strspn(line, " \t");
	end = strstr(line, " (0x");
	if (end)
		*end = '\0';
	return end && *line == '/' ? line : NULL;
}

static int intern_needed(struct control *control, const char *loader, const char *path, struct err *err)
{
	struct buf text = BUF_INIT;
	char *rest, *line;
	int r;

	if (!is_loader(loader))
		return 0;
	r = loader_ask(loader, path, &text, err);
	for (line = r ? NULL : strtok_r(text.data, "\n", &rest); !r && line; line = strtok_r(NULL, "\n", &rest)) {
		const char *library = line_path(line);

		if (library)
			r = intern_library(control, library, err);
	}
	buf_fini(&text);
	return r;
}

/* ---- the file itself ---- */

static int bring(struct control *control, const char *path, const struct elf *elf, struct err *err)
{
	const bool program = !elf->soname && (elf->type == ET_EXEC || elf->pie || elf->interp);
	int r = intern(control, path, elf, program, err);

	return !r && program && elf->interp ? intern_needed(control, elf->interp, path, err) : r;
}

int control_plans_bring(struct control *control, const char *path, struct err *err)
{
	struct err why = ERR_INIT;
	char *real = realpath(path, NULL);
	struct elf elf;
	int fd, r;

	if (!real)
		return err_set(err, -errno, "%.300s: %s", path, strerror(errno));
	fd = elf_file(real);
	if (fd < 0) {
		free(real);
		return err_set(err, fd, "%.300s: %s", path, fd == -ENOEXEC ? "is no ELF file" : strerror(-fd));
	}
	r = elf_open(&elf, fd, &why);
	if (r)
		err_set(err, r, "%.300s %s", path, why.text);
	else
		r = bring(control, real, &elf, err);
	elf_close(&elf);
	close(fd);
	free(real);
	return r ? r : control_plans_file(control, err);
}

int control_plans_library(struct control *control, const char *path, struct err *err)
{
	int r = intern_library(control, path, err);

	return r ? r : control_plans_file(control, err);
}
