/*
 * library/pipes: live records of a tree of files: per_cpu/cpuN/trace_pipe_raw, page by page,
 * merged by time.
 *
 * A page is copied out of the buffer by reading it; its events are handed out one by one. Pipes
 * never block: they say EAGAIN when there is nothing, and are waited for together. The kernel's
 * are ready at a watermark (buffer_percent) only, so that a wait that ends without anything is
 * followed by another look, too. A file that is at its end may grow: it is looked at again with
 * the rest.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decode/page.h"
#include "layout/page.h"
#include "library/names.h"
#include "library/records.h"

/* So many pages without any event are as good as nothing. */
#define EMPTY_PAGES_MAX 64

/* One CPU: a page of it, and the event of that page that is next. */
struct lane {
	int fd;
	int cpu;
	unsigned char *page;
	size_t filled;		/* bytes of a page that is not whole yet */
	struct page_walk walk;
	struct page_event event;
	uint64_t lost;
	bool walking;
	bool has_event;
	bool at_end;		/* of a plain file, or of a pipe that nobody writes to */
};

struct pipes {
	struct library_names *names;
	struct decode_abi abi;
	size_t page_size;
	struct lane *lanes;
	struct pollfd *polls;
	size_t nlanes;
	bool ending;
	bool ticks;
};

static void close_pipes(struct ringside_control_records *records)
{
	struct pipes *pipes = records->state;

	for (size_t i = 0; i < pipes->nlanes; i++) {
		close(pipes->lanes[i].fd);
		free(pipes->lanes[i].page);
	}
	library_names_close(pipes->names);
	free(pipes->lanes);
	free(pipes->polls);
	free(pipes);
}

static void lose(struct lane *lane, uint64_t lost)
{
	if (lost == PAGE_LOST_UNKNOWN || lane->lost == PAGE_LOST_UNKNOWN ||
	    lane->lost + lost < lane->lost)
		lane->lost = PAGE_LOST_UNKNOWN;
	else
		lane->lost += lost;
}

/* The page in hand, as far as it was filled. */
static void begin_walk(struct pipes *pipes, struct lane *lane)
{
	lane->walking = !page_walk_init_abi(&lane->walk, lane->page, lane->filled, &pipes->abi);
	/* A page that makes no sense held something. */
	lose(lane, lane->walking ? lane->walk.lost : PAGE_LOST_UNKNOWN);
	lane->filled = 0;
}

/* 1 when there is a page to walk, 0 when not now. */
static int read_page(struct ringside_control_records *records, struct lane *lane)
{
	struct pipes *pipes = records->state;
	ssize_t n;

	if (pipes->ending && !lane->filled)
		return 0;
	do {
		n = read(lane->fd, lane->page + lane->filled, pipes->page_size - lane->filled);
		if (n > 0)
			lane->filled += (size_t)n;
	} while ((n > 0 && lane->filled < pipes->page_size) || (n < 0 && errno == EINTR));
	if (n < 0 && errno != EAGAIN)
		return err_set(&records->err, -errno, "the records of CPU %d cannot be read: %s",
			       lane->cpu, strerror(errno));
	lane->at_end = !n;
	if (lane->filled < pipes->page_size && !(lane->at_end && lane->filled))
		return 0;
	begin_walk(pipes, lane);
	return 1;
}

/* Makes sure that the lane has its next event, if there is one. */
static int fill(struct ringside_control_records *records, struct lane *lane)
{
	for (int empty = 0; !lane->has_event && empty < EMPTY_PAGES_MAX; empty++) {
		int r;

		if (lane->walking) {
			r = page_walk_next(&lane->walk, &lane->event);
			lane->has_event = r == 1;
			if (lane->has_event)
				return 0;
			lane->walking = false;
			if (r < 0)
				lose(lane, PAGE_LOST_UNKNOWN);
		}
		r = read_page(records, lane);
		if (r <= 0)
			return r;
	}
	return 0;
}

static int next(struct ringside_control_records *records, struct report_row *row, uint64_t *lost)
{
	struct pipes *pipes = records->state;
	struct lane *first = NULL;
	uint32_t id = 0;

	for (size_t i = 0; i < pipes->nlanes; i++) {
		struct lane *lane = &pipes->lanes[i];
		int r = fill(records, lane);

		if (r)
			return r;
		if (lane->has_event && (!first || lane->event.ts < first->event.ts))
			first = lane;
	}
	if (!first)
		return 0;
	if (first->event.len >= 2)
		id = (uint32_t)decode_abi_load(first->event.data, 2, pipes->abi.big_endian);
	*row = (struct report_row){
		.ts = first->event.ts,
		.cpu = first->cpu,
		.format = library_names_format(pipes->names, id),
		.data = first->event.data,
		.len = first->event.len,
	};
	*lost = first->lost;
	first->lost = 0;
	first->has_event = false;
	return 1;
}

static int wait(struct ringside_control_records *records, int timeout_ms)
{
	struct pipes *pipes = records->state;
	int r;

	for (size_t i = 0; i < pipes->nlanes; i++) {
		pipes->polls[i].fd = pipes->lanes[i].at_end ? -1 : pipes->lanes[i].fd;
		pipes->polls[i].events = POLLIN;
	}
	r = poll(pipes->polls, pipes->nlanes, timeout_ms);
	if (r < 0 && errno != EINTR)
		return err_set(&records->err, -errno, "records cannot be waited for: %s",
			       strerror(errno));
	return r < 0 ? -EINTR : r > 0;
}

static void end(struct ringside_control_records *records)
{
	((struct pipes *)records->state)->ending = true;
}

static const struct decode_ctx *names(struct ringside_control_records *records)
{
	return library_names_ctx(((struct pipes *)records->state)->names);
}

static bool ticks(struct ringside_control_records *records)
{
	return ((struct pipes *)records->state)->ticks;
}

static const struct records_kind kind = { close_pipes, next, wait, end, names, ticks };

/* ---- opening ---- */

/* The text of a file of the instance, "" when there is none. */
static void read_text(struct ringside_control_records *records, const char *file, struct buf *out)
{
	char path[PATH_MAX];

	buf_reset(out);
	buf_puts(out, "");
	if (snprintf(path, sizeof(path), "%s%s", records->prefix, file) < PATH_MAX)
		source_read(records->source, path, out, NULL);
}

/* A number behind `what` in the line of the field `name`. */
static bool header_number(const char *text, const char *name, const char *what, unsigned int *number)
{
	const char *line = text ? strstr(text, name) : NULL;
	const char *at = line ? strstr(line, what) : NULL;
	const char *end = line ? strchr(line, '\n') : NULL;

	return at && (!end || at < end) && sscanf(at + strlen(what), "%9u", number) == 1;
}

/* How pages look, and by which clock. What the tree does not say is as on this machine. */
static void learn(struct ringside_control_records *records, struct pipes *pipes)
{
	static const char *const counters[] = { "[counter]", "[uptime]", "[x86-tsc]", "[ppc-tb]",
						"[s390-tod]" };
	unsigned int commit, offset, size;
	struct buf text = BUF_INIT;

	pipes->abi = (struct decode_abi)DECODE_ABI_NATIVE;
	pipes->page_size = 4096;
	read_text(records, "events/header_page", &text);
	if (header_number(text.data, " commit;", "size:", &commit) && (commit == 4 || commit == 8))
		pipes->abi.long_size = (uint8_t)commit;
	if (header_number(text.data, " data;", "offset:", &offset) &&
	    header_number(text.data, " data;", "size:", &size) && offset == 8u + pipes->abi.long_size &&
	    size >= 8 && offset + size <= PAGE_SIZE_MAX)
		pipes->page_size = offset + size;
	read_text(records, "trace_clock", &text);
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		pipes->ticks |= text.data && strstr(text.data, counters[i]);
	buf_fini(&text);
}

static int open_lane(struct ringside_control_records *records, int root, int cpu)
{
	struct pipes *pipes = records->state;
	struct lane *lane = &pipes->lanes[pipes->nlanes];
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%sper_cpu/cpu%d/trace_pipe_raw", records->prefix, cpu);
	lane->cpu = cpu;
	lane->fd = openat(root, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (lane->fd < 0 && errno == ENOENT && records->cpu >= 0)
		return err_set(&records->err, -ENXIO, "there is no CPU %d", cpu);
	if (lane->fd < 0)
		return err_set(&records->err, -errno, "%.200s: cannot be read: %s", path,
			       strerror(errno));
	lane->page = malloc(pipes->page_size);
	pipes->nlanes++;
	return lane->page ? 0 : err_set(&records->err, -ENOMEM, "out of memory");
}

/* All CPUs, as the tree lists them, or the one that is wanted. */
static int open_lanes(struct ringside_control_records *records, int root)
{
	struct pipes *pipes = records->state;
	struct buf list = BUF_INIT;
	char path[PATH_MAX], *save;
	size_t n = 2;
	int cpu, r = 0;

	buf_puts(&list, "");
	snprintf(path, sizeof(path), "%sper_cpu", records->prefix);
	if (records->cpu < 0)
		r = source_list(records->source, path, &list, &records->err);
	for (size_t i = 0; i < list.len; i++)
		n += list.data[i] == '\n';
	pipes->lanes = calloc(n, sizeof(*pipes->lanes));
	pipes->polls = calloc(n, sizeof(*pipes->polls));
	if (!r && (buf_failed(&list) || !pipes->lanes || !pipes->polls))
		r = err_set(&records->err, -ENOMEM, "out of memory");
	if (!r && records->cpu >= 0)
		r = open_lane(records, root, records->cpu);
	for (char *name = r ? NULL : strtok_r(list.data, "\n", &save); name && !r;
	     name = strtok_r(NULL, "\n", &save))
		if (sscanf(name, "cpu%9d", &cpu) == 1 && cpu >= 0)
			r = open_lane(records, root, cpu);
	if (!r && !pipes->nlanes)
		r = err_set(&records->err, -ENXIO, "%.200s: there are no CPUs in it", path);
	buf_fini(&list);
	return r;
}

int records_pipes_open(struct ringside_control_records *records)
{
	struct pipes *pipes = calloc(1, sizeof(*pipes));
	int root, r;

	if (!pipes)
		return err_set(&records->err, -ENOMEM, "out of memory");
	records->state = pipes;
	learn(records, pipes);
	pipes->names = library_names_open(records->source, &pipes->abi);
	root = open(source_name(records->source), O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (!pipes->names)
		r = err_set(&records->err, -ENOMEM, "out of memory");
	else if (root < 0)
		r = err_set(&records->err, -errno, "%.300s: %s", source_name(records->source),
			    strerror(errno));
	else
		r = open_lanes(records, root);
	if (root >= 0)
		close(root);
	if (r)
		close_pipes(records);
	else
		records->kind = &kind;
	return r;
}
