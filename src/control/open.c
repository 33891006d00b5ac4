/*
 * control/open: files of the tree that are open, and reading and writing all of one at once.
 *
 *   text nodes   the whole text is made when it is first read, and again when it is read from 0 again
 *   flows        text is made as it is asked for; `base` is the offset of its first byte that is still here
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "control/errors.h"
#include "control/table.h"
#include "control/tree.h"

#define NEWS_MS 20
#define WORD_MAX 4096

struct tree_file {
	struct node_request request;
	const struct node *node;
	char *path;
	unsigned int flags;	/* TREE_* that it was opened with */
	bool made;		/* text nodes: out holds the text */
	void *flow;
	bool flowing;		/* flow is open */
	bool ended;
	uint64_t base;		/* offset of out's first byte */
	size_t given;		/* followed files: bytes of out that were read */
	struct buf word;	/* files of words: what the last write did not end */
	uint64_t read_mark;	/* of nodes that have one: as of the text that is here, */
	uint64_t poll_mark;	/* and as of the last question */
};

static bool is_followed(const struct node *node)
{
	return node->flow && node->flow->wait;
}

bool tree_is_followed(const struct tree_file *file)
{
	return is_followed(file->node);
}

/* Tells people, and the error log, what was refused. */
static void refuse(struct node_request *request, const struct node *node, const char *path, struct err *err)
{
	if (node->flags & NODE_SPEC)
		control_errors_add_spec(request);
	else if (!(node->flags & NODE_QUIET))
		control_errors_add(request, path, err);
	err_prefix(err, "%.200s: ", path);
}

static int write_node(struct node_request *request, const struct node *node, const char *path,
		      struct err *err)
{
	struct err own = ERR_INIT;
	int r;

	err = err ? err : &own;
	request->taken = request->len;
	r = node->write(request, err);
	if (r)
		refuse(request, node, path, err);
	spec_error_fini(&request->error);
	request->error = (struct spec_error)SPEC_ERROR_INIT;
	return r;
}

/* Does it begin when it is opened? Who takes events out keeps others from it, who pauses keeps them from coming. */
static bool begins_at_open(const struct tree_file *file)
{
	return is_followed(file->node) ||
	       (file->node->flow && node_buffer(&file->request)->flags & BUFFER_PAUSE_ON_TRACE);
}

static int may(const struct node *node, const char *path, unsigned int flags, struct err *err)
{
	if (flags & TREE_READ && !node_reads(node))
		return err_set(err, -EACCES, "%.200s: can only be written", path);
	if (flags & (TREE_WRITE | TREE_TRUNC) && !node_writes(node))
		return err_set(err, -EACCES, "%.200s: can only be read", path);
	return 0;
}

static int flow_start(struct tree_file *file, struct err *err)
{
	int r;

	if (file->flowing)
		return 0;
	r = node_refresh(&file->request, err);
	if (!r)
		r = file->node->flow->open(&file->request, &file->flow, err);
	file->flowing = !r;
	file->ended = false;
	return r;
}

static void flow_stop(struct tree_file *file)
{
	if (file->flowing)
		file->node->flow->close(&file->request, file->flow);
	file->flowing = false;
	buf_reset(&file->request.out);
	file->base = 0;
	file->given = 0;
}

/* O_TRUNC as an action: the same as writing nothing. */
static int truncate(struct tree_file *file, struct err *err)
{
	int r;

	file->request.text = "";
	file->request.len = 0;
	file->request.trunc = true;
	r = write_node(&file->request, file->node, file->path, err);
	file->request.trunc = false;
	return r;
}

int tree_open(struct tree_file **out, struct control *control, const char *path, unsigned int flags,
	      struct err *err)
{
	struct tree_file *file = calloc(1, sizeof(*file));
	int r;

	if (!file)
		return err_set(err, -ENOMEM, "out of memory");
	file->flags = flags;
	file->request.control = control;
	file->request.out = (struct buf)BUF_INIT;
	file->word = (struct buf)BUF_INIT;
	file->path = strdup(path);
	r = file->path ? node_find(&file->request, path, &file->node, err)
		       : err_set(err, -ENOMEM, "out of memory");
	if (!r)
		r = may(file->node, path, flags, err);
	if (!r && flags & TREE_TRUNC && file->node->flags & NODE_AT_OPEN)
		r = truncate(file, err);
	file->request.trunc = !r && flags & TREE_TRUNC && file->node->flags & NODE_WORDS;
	if (!r && flags & TREE_READ && begins_at_open(file)) {
		r = flow_start(file, err);
		if (r)
			err_prefix(err, "%.200s: ", path);
	}
	/* News are what comes from here on. */
	if (!r && flags & TREE_READ && node_mark_of(file->node))
		node_mark_of(file->node)(&file->request, &file->poll_mark);
	if (r) {
		free(file->path);
		free(file);
		return r;
	}
	*out = file;
	return 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || !c;
}

static int write_text(struct tree_file *file, const char *text, size_t len, struct err *err)
{
	int r;

	file->request.text = text;
	file->request.len = len;
	r = write_node(&file->request, file->node, file->path, err);
	if (!r)
		file->request.trunc = false;
	return r;
}

/* Whole words only; the rest waits for what comes. */
static int write_words(struct tree_file *file, const char *text, size_t len, struct err *err)
{
	size_t end = len;
	int r = 0;

	while (end && !is_blank(text[end - 1]))
		end--;
	if (end) {
		buf_add(&file->word, text, end);
		r = buf_failed(&file->word) ? err_set(err, -ENOMEM, "out of memory")
					    : write_text(file, file->word.data, file->word.len, err);
		buf_reset(&file->word);
	}
	/* What was refused is not gone on with. */
	if (!r && file->word.len + len - end > WORD_MAX)
		r = err_set(err, -EINVAL, "%.200s: '%.40s...' is too long for a word", file->path, text + end);
	if (r)
		buf_reset(&file->word);
	else
		buf_add(&file->word, text + end, len - end);
	return r;
}

/* The end of the last word, or of a file that was only to be emptied. */
static int end_words(struct tree_file *file, struct err *err)
{
	int r = 0;

	if (file->word.len)
		r = write_text(file, file->word.data, file->word.len, err);
	if (file->request.trunc) {
		int end = truncate(file, r ? NULL : err);

		r = r ? r : end;
	}
	buf_fini(&file->word);
	return r;
}

int tree_close(struct tree_file *file, struct err *err)
{
	int r = 0;

	flow_stop(file);
	if (file->flags & TREE_WRITE && file->node->flags & NODE_AT_CLOSE)
		r = write_node(&file->request, file->node, file->path, err);
	if (file->node->flags & NODE_WORDS)
		r = end_words(file, err);
	buf_fini(&file->request.out);
	free(file->path);
	free(file);
	return r;
}

/* Makes text until there are bytes behind `offset`. 1, 0 at the end, -errno. */
static int text_reach(struct tree_file *file, uint64_t offset, size_t len, struct err *err)
{
	struct buf *out = &file->request.out;
	int r;

	if (!file->node->flow) {
		if (!offset || !file->made) {
			buf_reset(out);
			file->made = false;
			r = node_refresh(&file->request, err);
			/* The mark first: what comes between is news. */
			if (!r && node_mark_of(file->node))
				node_mark_of(file->node)(&file->request, &file->read_mark);
			if (!r)
				r = file->node->read(&file->request, err);
			if (r)
				return r;
			file->made = true;
		}
		return offset < out->len;
	}
	if (offset < file->base || (!offset && file->flowing && out->len))
		flow_stop(file);
	r = flow_start(file, err);
	while (!r && !file->ended && file->base + out->len <= offset) {
		file->base += out->len;
		buf_reset(out);
		r = file->node->flow->more(&file->request, file->flow, len, err);
		file->ended = !r;
		r = r < 0 ? r : 0;
	}
	return r ? r : offset < file->base + out->len;
}

/* Followed files: what is left of what was made, else more. */
static int follow_reach(struct tree_file *file, size_t len, struct err *err)
{
	struct buf *out = &file->request.out;
	int r;

	if (file->given < out->len)
		return 1;
	buf_reset(out);
	file->given = 0;
	r = node_refresh(&file->request, err);
	return r ? r : file->node->flow->more(&file->request, file->flow, len, err);
}

ssize_t tree_file_read(struct tree_file *file, void *bytes, size_t len, uint64_t offset,
		       struct err *err)
{
	struct buf *out = &file->request.out;
	bool followed = is_followed(file->node);
	size_t at, n;
	int r;

	if (!(file->flags & TREE_READ))
		return err_set(err, -EBADF, "%.200s: was not opened for reading", file->path);
	if (!len)
		return 0;
	r = followed ? follow_reach(file, len, err) : text_reach(file, offset, len, err);
	if (r >= 0 && buf_failed(out))
		r = err_set(err, -ENOMEM, "out of memory");
	if (r <= 0) {
		if (r < 0 && r != -EAGAIN)
			err_prefix(err, "%.200s: ", file->path);
		return r;
	}
	at = followed ? file->given : (size_t)(offset - file->base);
	n = out->len - at < len ? out->len - at : len;
	memcpy(bytes, out->data + at, n);
	if (followed)
		file->given += n;
	return (ssize_t)n;
}

bool tree_is_polled(const struct tree_file *file)
{
	return is_followed(file->node) || node_mark_of(file->node);
}

bool tree_has_news(struct tree_file *file, bool for_good)
{
	uint64_t mark = 0;
	bool news;

	if (!node_mark_of(file->node) || node_refresh(&file->request, NULL) || !node_mark_of(file->node)(&file->request, &mark))
		return false;
	news = mark != file->poll_mark;
	if (for_good)
		file->poll_mark = mark;
	return news;
}

/* Nobody tells when a program counts: it is looked at again and again, for as long as somebody waits. */
static int wait_for_news(struct tree_file *file, int timeout_ms)
{
	struct timespec nap = { 0, NEWS_MS * 1000000 };

	while (!tree_has_news(file, false)) {
		if (timeout_ms <= 0)
			return 0;
		if (nanosleep(&nap, NULL))
			return -EINTR;
		timeout_ms -= NEWS_MS;
	}
	return 1;
}

int tree_wait(struct tree_file *file, int timeout_ms, struct err *err)
{
	int r;

	if (node_mark_of(file->node))
		return wait_for_news(file, timeout_ms);
	if (!file->flowing || !is_followed(file->node) || file->given < file->request.out.len)
		return 1;
	r = node_refresh(&file->request, err);
	return r ? r : file->node->flow->wait(&file->request, file->flow, timeout_ms, err);
}

int tree_map(struct tree_file *file, int fd, struct err *err)
{
	int r;

	if (!file->node->flow || !file->node->flow->map || !file->flowing)
		return err_set(err, -ENODEV, "%.200s: cannot be mapped", file->path);
	r = node_refresh(&file->request, err);
	return r ? r : file->node->flow->map(&file->request, file->flow, fd, err);
}

int tree_map_turn(struct tree_file *file, struct err *err)
{
	int r;

	if (!file->node->flow || !file->node->flow->turn || !file->flowing)
		return err_set(err, -ENODEV, "%.200s: cannot be mapped", file->path);
	r = node_refresh(&file->request, err);
	return r ? r : file->node->flow->turn(&file->request, file->flow, err);
}

bool tree_ready(struct tree_file *file)
{
	uint64_t mark = 0;

	if (node_mark_of(file->node))
		return node_refresh(&file->request, NULL) || !node_mark_of(file->node)(&file->request, &mark) ||
		       mark != file->read_mark;
	if (!file->flowing || !is_followed(file->node) || file->given < file->request.out.len)
		return true;
	return !node_refresh(&file->request, NULL) &&
	       file->node->flow->ready(&file->request, file->flow);
}

ssize_t tree_file_write(struct tree_file *file, const char *text, size_t len,
			const struct tree_caller *caller, struct err *err)
{
	int r;

	if (!(file->flags & TREE_WRITE))
		return err_set(err, -EBADF, "%.200s: was not opened for writing", file->path);
	if (file->node->flags & NODE_AT_CLOSE)
		return (ssize_t)len;
	if (file->node->flags & NODE_WORDS) {
		r = write_words(file, text, len, err);
		return r ? r : (ssize_t)len;
	}
	file->request.text = text;
	file->request.len = len;
	file->request.caller = caller;
	r = write_node(&file->request, file->node, file->path, err);
	file->request.caller = NULL;
	return r ? r : (ssize_t)file->request.taken;
}

/* ---- all of a file at once ---- */

static int pump_flow(struct node_request *request, const struct node_flow *flow, struct err *err)
{
	void *state;
	int r;

	request->once = true;
	r = flow->open(request, &state, err);
	if (r)
		return r;
	do {
		r = flow->more(request, state, 65536, err);
		if (r > 0) {
			int flushed = node_flush(request);

			r = flushed ? flushed : r;
		}
	} while (r > 0);
	flow->close(request, state);
	return r == -EAGAIN ? 0 : r;
}

static int read_request(struct node_request *request, const char *path, struct err *err)
{
	const struct node *node;
	int r;

	r = node_find(request, path, &node, err);
	if (!r)
		r = may(node, path, TREE_READ, err);
	if (r)
		return r;
	r = node->flow ? pump_flow(request, node->flow, err) : node->read(request, err);
	if (r)
		err_prefix(err, "%.200s: ", path);
	if (!r && buf_failed(&request->out))
		r = err_set(err, -ENOMEM, "out of memory");
	return r;
}

int tree_read(struct control *control, const char *path, struct buf *out, struct err *err)
{
	struct node_request request = { .control = control, .out = *out };
	int r = read_request(&request, path, err);

	*out = request.out;
	return r;
}

int tree_pump(struct control *control, const char *path, tree_put *put, void *ctx, struct err *err)
{
	struct node_request request = { .control = control, .out = BUF_INIT, .put = put, .ctx = ctx };
	int r = read_request(&request, path, err);

	if (!r)
		r = node_flush(&request);
	buf_fini(&request.out);
	return r;
}

int tree_write(struct control *control, const char *path, const char *text, size_t len,
	       unsigned int flags, struct err *err)
{
	struct node_request request = { .control = control, .text = text, .len = len,
					.trunc = flags & TREE_TRUNC };
	const struct node *node;
	int r;

	r = node_find(&request, path, &node, err);
	if (!r)
		r = may(node, path, TREE_WRITE, err);
	if (r)
		return r;
	/* Long markers are taken piece by piece. */
	do {
		r = write_node(&request, node, path, err);
		request.text += request.taken;
		request.len -= request.taken;
	} while (!r && request.len && request.taken);
	buf_fini(&request.out);
	return r;
}
