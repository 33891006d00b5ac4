/*
 * cmd/stream_text: see stream_text.h.
 *
 * A round takes a piece of each buffer's trace_pipe, which is in order by itself, and prints the whole lines of all of them by their
 * times. A line that has none, of a stack or of a loss, goes with the one before it.
 */
#include "cmd/stream_text.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/line.h"
#include "cmd/scope.h"

#define PIECE 65536
#define WAIT_MS 100

struct pipe {
	const char *title;
	struct buf lines;	/* not printed yet; the last may be cut */
	size_t at;		/* in them */
	double time;		/* of the line there */
};

struct stream_text {
	struct source *source;
	struct pager *pager;
	size_t n, prefix;
	struct pipe *pipe;
	struct pollfd *fd;	/* -1: it has ended */
	struct buf out;
	char piece[PIECE];
};

int stream_text_open(struct stream_text **out, struct source *source, struct pager *pager, size_t max, struct err *err)
{
	struct stream_text *text = calloc(1, sizeof(*text));

	*out = text;
	if (text) {
		*text = (struct stream_text){ .source = source, .pager = pager, .pipe = calloc(max, sizeof(*text->pipe)),
					      .fd = calloc(max, sizeof(*text->fd)), .out = BUF_INIT };
		if (text->pipe && text->fd)
			return 0;
	}
	return err_set(err, -ENOMEM, "out of memory");
}

void stream_text_close(struct stream_text *text)
{
	if (!text)
		return;
	for (size_t i = 0; i < text->n; i++) {
		buf_fini(&text->pipe[i].lines);
		if (text->fd[i].fd >= 0)
			close(text->fd[i].fd);
	}
	buf_fini(&text->out);
	free(text->pipe);
	free(text->fd);
	free(text);
}

int stream_text_add(struct stream_text *text, const char *instance, const char *title, struct err *err)
{
	const struct scope scope = { .instance = instance };
	char path[SCOPE_PATH];
	int fd = source_raw(text->source, scope_path(path, &scope, "trace_pipe"), err);

	if (fd < 0)
		return fd;
	text->pipe[text->n] = (struct pipe){ .title = title, .lines = BUF_INIT };
	text->fd[text->n++] = (struct pollfd){ .fd = fd, .events = POLLIN };
	if (strlen(title) > text->prefix)
		text->prefix = strlen(title);
	return 0;
}

/* ---- one round ---- */

static int keep_piece(void *ctx, const void *bytes, size_t len)
{
	struct buf *lines = ctx;

	buf_add(lines, bytes, len);
	return buf_failed(lines) ? -ENOMEM : 0;
}

/* A piece of each: 1 when there was one, 0, -errno. */
static int take(struct stream_text *text, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < text->n && r >= 0; i++) {
		ssize_t n = text->fd[i].fd < 0 ? -1 : read(text->fd[i].fd, text->piece, PIECE);

		if (n > 0) {
			r = source_shown(text->source, text->piece, (size_t)n, keep_piece, &text->pipe[i].lines) ? -ENOMEM : 1;
		} else if (text->fd[i].fd >= 0 && (!n || (errno != EAGAIN && errno != EINTR))) {
			if (n)
				r = err_set(err, -errno, "%s: trace_pipe cannot be read: %s", source_name(text->source), strerror(errno));
			close(text->fd[i].fd);
			text->fd[i].fd = -1;
		}
	}
	return r == -ENOMEM ? err_set(err, r, "out of memory") : r;
}

/* `comm-1  [001] d..2.  106.440087: name: ...`, with flags or without; of some clocks a plain number. */
static bool read_time(const char *line, const char *end, double *time)
{
	const char *at = line;
	char *stop;

	while ((at = memchr(at, '[', (size_t)(end - at)))) {
		size_t digits = strspn(++at, "0123456789");

		if (digits >= 3 && !strncmp(at + digits, "] ", 2)) {
			at += digits + 2;
			break;
		}
	}
	for (int word = 0; at && word < 2; word++) {
		at += strspn(at, " ");
		*time = strtod(at, &stop);
		if (stop > at && *stop == ':' && stop < end)
			return true;
		at += strcspn(at, " \n");
	}
	return false;
}

/* The end of the line that the pipe is at, and its time; NULL: there is no whole one. `last`: also one without an end. */
static const char *line_of(struct pipe *pipe, bool last)
{
	const char *line, *end;
	double time;

	/* A pipe that nothing came from has no place, either. */
	if (pipe->at == pipe->lines.len)
		return NULL;
	line = pipe->lines.data + pipe->at;
	end = memchr(line, '\n', pipe->lines.len - pipe->at);
	if (!end)
		return last ? pipe->lines.data + pipe->lines.len : NULL;
	if (read_time(line, end, &time))
		pipe->time = time;
	return end + 1;
}

/* Of equals the one that was printed last: what is below its line belongs to that. */
static struct pipe *earliest(struct stream_text *text, struct pipe *before, bool last)
{
	struct pipe *best = NULL;

	for (size_t i = 0; i < text->n; i++) {
		struct pipe *pipe = &text->pipe[i];

		if (line_of(pipe, last) && (!best || pipe->time < best->time || (pipe->time == best->time && pipe == before)))
			best = pipe;
	}
	return best;
}

/* What is not printed yet goes to the front. */
static void drop_printed(struct pipe *pipe)
{
	if (!pipe->at)
		return;
	pipe->lines.len -= pipe->at;
	memmove(pipe->lines.data, pipe->lines.data + pipe->at, pipe->lines.len + 1);
	pipe->at = 0;
}

static int merge(struct stream_text *text, bool last, struct err *err)
{
	buf_reset(&text->out);
	for (struct pipe *pipe = NULL; (pipe = earliest(text, pipe, last));) {
		const char *line = pipe->lines.data + pipe->at;
		const size_t len = (size_t)(line_of(pipe, last) - line);

		line_prefix(&text->out, text->prefix, pipe->title);
		buf_add(&text->out, line, len);
		pipe->at += len;
	}
	for (size_t i = 0; i < text->n; i++)
		drop_printed(&text->pipe[i]);
	if (buf_failed(&text->out))
		return err_set(err, -ENOMEM, "out of memory");
	return text->out.len ? pager_put(text->pager, text->out.data, text->out.len) : 0;
}

static int print(struct stream_text *text, bool last, struct err *err)
{
	struct buf *lines = &text->pipe->lines;
	int r;

	if (text->n != 1)
		return merge(text, last, err);
	/* The only one is in order, as it comes. */
	r = lines->len ? pager_put(text->pager, lines->data, lines->len) : 0;
	buf_reset(lines);
	return r;
}

/* ---- all of them ---- */

static bool all_ended(const struct stream_text *text)
{
	for (size_t i = 0; i < text->n; i++)
		if (text->fd[i].fd >= 0)
			return false;
	return true;
}

int stream_text_follow(struct stream_text *text, bool (*over)(void *arg), void *arg, struct err *err)
{
	int r = 0;

	while (r >= 0 && !over(arg) && !all_ended(text)) {
		r = take(text, err);
		if (r > 0)
			r = print(text, false, err);
		else if (!r && poll(text->fd, (nfds_t)text->n, WAIT_MS) < 0 && errno != EINTR)
			r = err_set(err, -errno, "%s: cannot be waited for: %s", source_name(text->source), strerror(errno));
	}
	return r < 0 ? r : 0;
}

int stream_text_rest(struct stream_text *text, struct err *err)
{
	int r;

	while ((r = take(text, err)) > 0) {
		r = print(text, false, err);
		if (r)
			return r;
	}
	return r ? r : print(text, true, err);
}
