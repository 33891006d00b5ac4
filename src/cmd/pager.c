/*
 * cmd/pager: see pager.h. One thread.
 */
#include "cmd/pager.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/cmd.h"

#define PLAIN "\033[0m"
#define BOLD "\033[1m"
#define DIM "\033[2m"
#define RED "\033[31m"

static bool in_path(const char *program)
{
	const char *path = getenv("PATH");
	char *copy = strdup(path ? path : ""), *save;
	bool found = false;

	for (char *dir = copy ? strtok_r(copy, ":", &save) : NULL; dir && !found;
	     dir = strtok_r(NULL, ":", &save)) {
		char file[4096];

		snprintf(file, sizeof(file), "%s/%s", dir, program);
		found = !access(file, X_OK);
	}
	free(copy);
	return found;
}

/* The person's pager, or NULL when there is to be none. */
static const char *choose(const struct opts *opts)
{
	const char *own = getenv("RINGSIDE_PAGER"), *usual = getenv("PAGER");
	const char *term = getenv("TERM");
	const char *command = own ? own : usual;

	if (opts_value(opts, "no-pager") || !isatty(STDOUT_FILENO) || !term || !strcmp(term, "dumb"))
		return NULL;
	if (!command)
		command = in_path("less") ? "less -FRX" : "";
	return *command && strcmp(command, "cat") ? command : NULL;
}

static void run_pager(int input, const char *command)
{
	dup2(input, STDIN_FILENO);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	/* For a less that comes with no options: end at once if all fits, let colours through. */
	setenv("LESS", "FRX", 0);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

/* Starts the pager; without it the text goes straight on. */
static void start(struct pager *pager)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return;
	pager->pid = fork();
	if (!pager->pid)
		run_pager(ends[0], pager->command);
	close(ends[0]);
	if (pager->pid > 0) {
		dup2(ends[1], STDOUT_FILENO);
		/* Ctrl-C is for the pager, which tells us by closing its end. */
		signal(SIGINT, SIG_IGN);
		signal(SIGQUIT, SIG_IGN);
	} else {
		pager->pid = 0;
	}
	close(ends[1]);
}

void pager_begin(struct pager *pager, const struct opts *opts, unsigned int flags, struct err *err)
{
	const char *command = flags & PAGER_STRAIGHT ? NULL : choose(opts);

	*pager = (struct pager){
		.command = command ? strdup(command) : NULL,
		.colour = flags & PAGER_TRACE && cmd_colour(STDOUT_FILENO),
		.rest = BUF_INIT,
		.out = BUF_INIT,
		.err = err,
	};
}

/* Parts of a line of events: [CPU] FLAGS TIME: NAME: ... */
struct parts {
	const char *time, *time_end;
	const char *name, *name_end;
};

static const char *skip(const char *at, const char *end, int (*is)(int))
{
	while (at < end && is((unsigned char)*at))
		at++;
	return at;
}

static int is_name(int c)
{
	return isalnum(c) || c == '_' || c == '-' || c == '.';
}

/* Reads on behind the '[' of a CPU; false when it is not one. */
static bool read_parts(struct parts *parts, const char *at, const char *end)
{
	const char *digits = at;

	at = skip(at, end, isdigit);
	if (at - digits < 3 || end - at < 2 || at[0] != ']' || at[1] != ' ')
		return false;
	at = skip(at + 1, end, isspace);
	while (at < end && !isspace((unsigned char)*at))
		at++;
	parts->time = at = skip(at, end, isspace);
	at = skip(at, end, isdigit);
	if (at < end && *at == '.')
		at = skip(at + 1, end, isdigit);
	if (at == parts->time || end - at < 2 || at[0] != ':' || at[1] != ' ')
		return false;
	parts->time_end = at;
	parts->name = at += 2;
	parts->name_end = skip(at, end, is_name);
	if (parts->name_end == end || *parts->name_end != ':')
		parts->name_end = parts->name;
	return true;
}

static bool find_parts(struct parts *parts, const char *line, const char *end)
{
	for (const char *at = line; (at = memchr(at, '[', (size_t)(end - at)));)
		if (read_parts(parts, ++at, end))
			return true;
	return false;
}

static void put_span(struct buf *out, const char *how, const char *from, const char *to)
{
	if (from == to)
		return;
	buf_puts(out, how);
	buf_add(out, from, (size_t)(to - from));
	buf_puts(out, PLAIN);
}

/* CPU:0 [LOST 5 EVENTS], or in a report CPU:0 [5 EVENTS DROPPED], behind the name of an instance. */
static bool is_loss(const char *line, size_t len)
{
	return memmem(line, len, "CPU:", 4) &&
	       (memmem(line, len, "[LOST ", 6) || memmem(line, len, "EVENTS DROPPED]", 15));
}

static void put_line(struct buf *out, const char *line, const char *end)
{
	struct parts parts;

	if (line < end && *line == '#') {
		put_span(out, DIM, line, end);
	} else if (is_loss(line, (size_t)(end - line))) {
		put_span(out, RED, line, end);
	} else if (find_parts(&parts, line, end)) {
		buf_add(out, line, (size_t)(parts.time - line));
		put_span(out, DIM, parts.time, parts.time_end);
		buf_add(out, parts.time_end, (size_t)(parts.name - parts.time_end));
		put_span(out, BOLD, parts.name, parts.name_end);
		buf_add(out, parts.name_end, (size_t)(end - parts.name_end));
	} else {
		buf_add(out, line, (size_t)(end - line));
	}
}

static int put(struct pager *pager, const void *bytes, size_t len)
{
	if (len && pager->command && !pager->pid)
		start(pager);
	return cmd_put(bytes, len, pager->err);
}

static int flush(struct pager *pager)
{
	int r;

	if (buf_failed(&pager->out) || buf_failed(&pager->rest))
		r = err_set(pager->err, -ENOMEM, "out of memory");
	else
		r = put(pager, pager->out.data, pager->out.len);
	buf_reset(&pager->out);
	return r;
}

int pager_put(void *ctx, const void *bytes, size_t len)
{
	struct pager *pager = ctx;
	const char *at, *end, *newline;

	if (!pager->colour)
		return put(pager, bytes, len);
	buf_add(&pager->rest, bytes, len);
	if (buf_failed(&pager->rest) || !pager->rest.len)
		return flush(pager);
	at = pager->rest.data;
	end = at + pager->rest.len;
	while ((newline = memchr(at, '\n', (size_t)(end - at)))) {
		put_line(&pager->out, at, newline);
		buf_putc(&pager->out, '\n');
		at = newline + 1;
	}
	memmove(pager->rest.data, at, (size_t)(end - at));
	pager->rest.len = (size_t)(end - at);
	return flush(pager);
}

/* Lets the pager see the end of the text, and waits for its own. */
static int finish(struct pager *pager, int r)
{
	int status = 0;

	close(STDOUT_FILENO);
	open("/dev/null", O_WRONLY);
	while (waitpid(pager->pid, &status, 0) < 0 && errno == EINTR)
		;
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	if (!WIFEXITED(status) || (WEXITSTATUS(status) != 126 && WEXITSTATUS(status) != 127))
		return r;
	/* That its end of the pipe is closed is no news then. */
	*pager->err = (struct err)ERR_INIT;
	return err_set(pager->err, -ENOEXEC, "the pager '%.100s' cannot be run: --no-pager, or another one "
		       "in $RINGSIDE_PAGER", pager->command);
}

int pager_end(struct pager *pager, int r)
{
	if (!r && pager->rest.len) {
		put_line(&pager->out, pager->rest.data, pager->rest.data + pager->rest.len);
		r = flush(pager);
	}
	if (pager->pid)
		r = finish(pager, r);
	buf_fini(&pager->rest);
	buf_fini(&pager->out);
	free(pager->command);
	return r;
}

int pager_show(const struct opts *opts, const struct buf *text, struct err *err)
{
	struct pager pager;

	if (buf_failed(text))
		return err_set(err, -ENOMEM, "out of memory");
	pager_begin(&pager, opts, 0, err);
	return pager_end(&pager, pager_put(&pager, text->data ? text->data : "", text->len));
}
