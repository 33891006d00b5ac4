/*
 * cmd/cmd: see cmd.h: what commands say, and what they are about.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool cmd_colour(int fd)
{
	const char *no = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	return !(no && *no) && term && *term && strcmp(term, "dumb") && isatty(fd);
}

static void say(const char *fmt, va_list ap)
{
	const char *before = cmd_colour(STDERR_FILENO) ? "\033[1;31m" : "";
	const char *after = *before ? "\033[0m" : "";
	char text[1024];

	vsnprintf(text, sizeof(text), fmt, ap);
	/* Names in it come from people and from programs. */
	for (char *p = text; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	fprintf(stderr, "%sringside:%s %s\n", before, after, text);
}

void cmd_say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
}

int cmd_fail(const struct err *err)
{
	if (err->code == -EPIPE)
		return CMD_DONE;
	cmd_say("%s", err->text);
	return CMD_FAILED;
}

int cmd_misuse(const struct cmd *cmd, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
	if (cmd)
		fprintf(stderr, "usage: ringside %s%s%s\n", cmd->name, *cmd->synopsis ? " " : "",
			cmd->synopsis);
	else
		fprintf(stderr, "`ringside help` lists the commands\n");
	return CMD_MISUSED;
}

int cmd_put(const void *bytes, size_t len, struct err *err)
{
	const char *at = bytes;

	while (len) {
		ssize_t n = write(STDOUT_FILENO, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_set(err, -errno, "cannot write to standard output: %s",
				       strerror(errno));
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

int cmd_read(const char *path, struct buf *out, struct err *err)
{
	int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	ssize_t n = 1;

	if (fd < 0)
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	while (n > 0 && out->len < CMD_READ_MAX) {
		char *to = buf_room(out, 4096);

		n = to ? read(fd, to, 4096) : -1;
		out->len += n > 0 ? (size_t)n : 0;
	}
	if (n > 0)
		n = err_set(err, -EFBIG, "%s: is too large", path);
	else if (n < 0)
		err_set(err, errno ? -errno : -ENOMEM, "%s: %s", path, strerror(errno));
	if (fd != STDIN_FILENO)
		close(fd);
	buf_puts(out, "");
	return n < 0 ? err->code : 0;
}

int cmd_open(struct source **out, const struct opts *opts, bool create, struct err *err)
{
	struct source_how how = {
		.dir = opts_value(opts, "dir"),
		.tracefs = opts_value(opts, "tracefs"),
		.kernel = opts_value(opts, "kernel") != NULL,
		.create = create,
		.escape = isatty(STDOUT_FILENO),
	};

	if (how.dir && !*how.dir)
		return err_set(err, -EINVAL, "--dir needs the path of a directory");
	if (how.tracefs && !*how.tracefs)
		return err_set(err, -EINVAL, "--tracefs needs the path of a directory");
	return source_open(out, &how, err);
}

int cmd_open_directory(struct control **out, const struct opts *opts, bool create, struct err *err)
{
	const char *dir = opts_value(opts, "dir");

	if (opts_value(opts, "kernel") || opts_value(opts, "tracefs"))
		return err_set(err, -EINVAL, "this is about tracing directories, and not about files that "
			       "are mounted already");
	if (dir && !*dir)
		return err_set(err, -EINVAL, "--dir needs the path of a directory");
	return control_open(out, dir, create, err);
}

bool cmd_parse_cpu(const char *text, int *cpu)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || n > 1000000)
		return false;
	*cpu = (int)n;
	return true;
}

int cmd_check_cpu(struct source *source, int cpu, struct err *err)
{
	struct buf names = BUF_INIT;
	int last = -1, r = 0;
	bool found = false;

	if (!source_list(source, "per_cpu", &names, NULL) && names.data) {
		for (char *save, *name = strtok_r(names.data, "\n", &save); name;
		     name = strtok_r(NULL, "\n", &save)) {
			int n;

			if (sscanf(name, "cpu%d", &n) != 1)
				continue;
			found |= n == cpu;
			last = n > last ? n : last;
		}
	}
	if (last >= 0 && !found)
		r = err_set(err, -ENXIO, "there is no CPU %d: the last one is %d", cpu, last);
	buf_fini(&names);
	return r;
}

void cmd_say_unreached(struct source *source)
{
	const struct control *control = source_control(source);

	if (control && control->unreached > 0)
		cmd_say("%d program%s that run%s already go%s on as before: %s", control->unreached,
			control->unreached > 1 ? "s" : "", control->unreached > 1 ? "" : "s", control->unreached > 1 ? "" : "es",
			control->why_unreached.text);
}
