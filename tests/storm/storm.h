/*
 * What the storms of control share: writers in processes of their own, a consumer that takes nothing on trust and counts, a look
 * at what is left when all is over, and a mount to come in by.
 *
 * Everything is started by the test and dies with it. Writers are never killed here, so that a note is in the sums, once, or it
 * is a failure.
 */
#ifndef TESTS_STORM_STORM_H
#define TESTS_STORM_STORM_H

#include "runtime/trace.h"

#include <dirent.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "control/reclaim.h"
#include "control/tree.h"
#include "mount/place.h"

#define STORM_WRITERS 3u
#define STORM_PATIENCE_S 120u	/* for whoever gets hardly any time on a busy machine */

struct storm {
	uint32_t stop;			/* writers and those who change things */
	uint32_t done;			/* nothing more will come */
	uint64_t consumer_at;		/* the published word that the consumer has taken in */
	uint64_t written[STORM_WRITERS];
	uint64_t read, lost, pages;	/* by the consumer, when it has ended */
};

static struct storm *storm;
static struct note_event steady;

static inline bool storm_stopped(void)
{
	return __atomic_load_n(&storm->stop, __ATOMIC_RELAXED);
}

static inline void storm_stop(void)
{
	__atomic_store_n(&storm->stop, 1, __ATOMIC_SEQ_CST);
}

/* A child that runs `life` and goes with us. */
static inline pid_t storm_start(void (*life)(uint32_t number), uint32_t number)
{
	pid_t parent = getpid(), pid = fork();

	CHECK(pid >= 0, "%s", strerror(errno));
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == parent)
		life(number);
	exit(0);
}

/* ---- writers ---- */

static inline void storm_write(uint32_t number)
{
	uint64_t dice = (number + 1) * 0x9e3779b97f4a7c15ull;
	uint32_t seq = 0;

	while (!storm_stopped()) {
		note_write(&steady, number, seq, NOTE_MIN + draw(&dice) % 8 * 4);
		__atomic_store_n(&storm->written[number], ++seq, __ATOMIC_RELEASE);
		/* Not so fast that nothing but losses is left to test. */
		if (seq % 64 == 0)
			pause_us(50);
	}
}

static inline uint64_t storm_written(void)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < STORM_WRITERS; i++)
		sum += __atomic_load_n(&storm->written[i], __ATOMIC_ACQUIRE);
	return sum;
}

/* ---- notes, each of which may come once ---- */

struct once {
	uint8_t *bits[STORM_WRITERS];
	uint32_t size[STORM_WRITERS];
};

static inline void once_see(struct once *once, uint32_t who, uint32_t seq)
{
	uint32_t size;

	CHECK(who < STORM_WRITERS, "nobody is %u", who);
	/* Written, or being written: the count is stored behind the note. */
	CHECK(seq <= __atomic_load_n(&storm->written[who], __ATOMIC_ACQUIRE), "who %u has not written %u", who, seq);
	size = once->size[who];
	if (seq / 8 >= size) {
		uint32_t more = (seq / 8 + 65536) * 2;

		once->bits[who] = realloc(once->bits[who], more);
		CHECK(once->bits[who], "out of memory");
		memset(once->bits[who] + size, 0, more - size);
		once->size[who] = more;
	}
	CHECK(!(once->bits[who][seq / 8] & 1u << seq % 8), "who %u seq %u comes twice", who, seq);
	once->bits[who][seq / 8] |= (uint8_t)(1u << seq % 8);
}

static inline void once_fini(struct once *once)
{
	for (uint32_t i = 0; i < STORM_WRITERS; i++)
		free(once->bits[i]);
	memset(once, 0, sizeof(*once));
}

/* ---- the consumer of the top buffer ---- */

struct storm_consumer {
	struct control *control;
	struct stream **stream;
	struct reading *reading;
	struct once once;
	uint64_t pages;
	unsigned char *page;
};

static inline void storm_consumer_see(const struct seen *seen, void *ctx)
{
	once_see(ctx, seen->who, seen->seq);
}

/* One CPU of the consumer gets to know the buffer, or what became of it. */
static inline void storm_consumer_tell(struct storm_consumer *consumer, uint32_t cpu)
{
	const struct control *control = consumer->control;
	const struct state_buffer *buffer = &control->state.buffers[0];
	struct err err = ERR_INIT;
	int r;

	/* What was read counts as read before its set can go. */
	if (consumer->stream[cpu])
		stream_accept(consumer->stream[cpu]);
	r = consumer->stream[cpu] ? stream_update(consumer->stream[cpu], buffer, &err) :
				    stream_open(&consumer->stream[cpu], control->dir.fd[SEGMENT_RINGS], buffer,
						control->dir.ncpu, cpu, true, &err);
	CHECK(!r, "%s", err.text);
	consumer->reading[cpu].each = storm_consumer_see;
	consumer->reading[cpu].ctx = &consumer->once;
}

/* Sets are locked first; after that the state must still be the same, so that what is locked is in use (control/reclaim). */
static inline void storm_consumer_follow(struct storm_consumer *consumer)
{
	struct control *control = consumer->control;

	while (!consumer->stream[0] || !control_state_current(&control->state, &control->dir)) {
		uint32_t clock = control->state.buffers[0].clock;

		tool_refresh(control);
		for (uint32_t cpu = 0; cpu < control->dir.ncpu; cpu++) {
			storm_consumer_tell(consumer, cpu);
			/* Times of two clocks do not compare. */
			if (clock != control->state.buffers[0].clock)
				consumer->reading[cpu].last_ts = 0;
		}
	}
	__atomic_store_n(&storm->consumer_at, control->state.published, __ATOMIC_SEQ_CST);
}

static inline bool storm_consumer_look(struct storm_consumer *consumer)
{
	bool any = false;

	storm_consumer_follow(consumer);
	for (uint32_t cpu = 0; cpu < consumer->control->dir.ncpu; cpu++) {
		struct stream *stream = consumer->stream[cpu];
		struct stream_page info;
		int r = 1;

		for (int n = 0; n < 64 && r; n++) {
			r = stream_next(stream, consumer->page, &info);
			CHECK(r >= 0, "cpu %u: %s", cpu, strerror(-r));
			if (!r)
				break;
			read_page(&consumer->reading[cpu], cpu, consumer->page, stream_page_size(stream), &info);
			consumer->pages++;
			any = true;
		}
	}
	return any;
}

/* Reads until nothing more will come and all has come. */
static inline void storm_consume(uint32_t number)
{
	struct storm_consumer consumer = { .control = tool_open(), .page = malloc(PAGE_SIZE_MAX) };
	uint32_t ncpu = consumer.control->dir.ncpu;
	bool done;

	(void)number;
	consumer.stream = calloc(ncpu, sizeof(*consumer.stream));
	consumer.reading = calloc(ncpu, sizeof(*consumer.reading));
	do {
		done = __atomic_load_n(&storm->done, __ATOMIC_SEQ_CST);
		while (storm_consumer_look(&consumer))
			;
		if (!done)
			stream_wait_any(consumer.stream, ncpu, 20);
	} while (!done);
	for (uint32_t cpu = 0; cpu < ncpu; cpu++) {
		stream_accept(consumer.stream[cpu]);
		stream_close(consumer.stream[cpu]);
		storm->read += consumer.reading[cpu].events;
		storm->lost += consumer.reading[cpu].lost;
	}
	storm->pages = consumer.pages;
	once_fini(&consumer.once);
	free(consumer.stream);
	free(consumer.reading);
	free(consumer.page);
	control_close(consumer.control);
}

/* Waits until the consumer knows the state that is published now. */
static inline void storm_await_consumer(struct control *control)
{
	uint64_t end = now_ns() + STORM_PATIENCE_S * 1000000000ull;

	tool_refresh(control);
	while (__atomic_load_n(&storm->consumer_at, __ATOMIC_SEQ_CST) >> CONTROL_PLACE_BITS <
	       control_state_generation(&control->state)) {
		CHECK(now_ns() < end, "the consumer does not come to know of a change");
		pause_us(200);
	}
}

/* ---- what is left ---- */

/* Events of a set that no reader took or was told of. */
static inline uint64_t storm_unread(const struct control *control, const struct state_set *set)
{
	uint64_t sum = 0, *unread;

	if (!set->offset)
		return 0;
	unread = calloc(control->dir.ncpu, sizeof(*unread));
	CHECK(!control_set_unread(control, set, unread), "a set makes no sense");
	for (uint32_t cpu = 0; cpu < control->dir.ncpu; cpu++)
		sum += unread[cpu];
	free(unread);
	return sum;
}

static inline uint64_t storm_buffer_unread(struct control *control, uint32_t b)
{
	const struct state_buffer *buffer = &control->state.buffers[b];
	uint64_t sum;

	tool_refresh(control);
	sum = storm_unread(control, &buffer->live);
	for (uint32_t i = 0; i < buffer->nretired; i++)
		sum += storm_unread(control, &buffer->retired[i]);
	return sum;
}

/* Events that found no set to be counted in. */
static inline uint64_t storm_refused(const struct control *control)
{
	struct registry_head head;

	CHECK(pread(control->dir.fd[SEGMENT_REGISTRY], &head, sizeof(head), 0) == sizeof(head), "registry");
	return head.refused;
}

/* Does anybody hold a lock on the directory's files? Asked through descriptors of our own. */
static inline void storm_no_locks(const struct control *control)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = openat(control->dir.dir, "control", O_RDWR | O_CLOEXEC);

	CHECK(fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB), "control is still locked");
	close(fd);
	fd = openat(control->dir.dir, "rings", O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0 && !fcntl(fd, F_OFD_GETLK, &lock), "%s", strerror(errno));
	CHECK(lock.l_type == F_UNLCK, "rings are still locked, at %lld", (long long)lock.l_start);
	close(fd);
}

static inline bool storm_in_set(const struct control *control, const struct state_set *set, uint64_t at, uint64_t *end)
{
	if (!set->offset || at < set->offset || at >= set->offset + control_set_size(set, control->dir.ncpu))
		return false;
	*end = set->offset + control_set_size(set, control->dir.ncpu);
	return true;
}

/* Is that byte of the rings file in use by the state, and until where? */
static inline bool storm_in_use(const struct control *control, uint64_t at, uint64_t *end)
{
	const struct control_state *state = &control->state;

	*end = rings_data_offset(control->dir.ncpu);
	if (at < *end)
		return true;
	for (uint32_t b = 0; b < state->nbuffers; b++) {
		const struct state_buffer *buffer = &state->buffers[b];

		if (storm_in_set(control, &buffer->live, at, end) || storm_in_set(control, &buffer->snapshot, at, end))
			return true;
		for (uint32_t i = 0; i < buffer->nretired; i++)
			if (storm_in_set(control, &buffer->retired[i], at, end))
				return true;
	}
	return false;
}

/* Memory of the rings file that no set in use accounts for. */
static inline uint64_t storm_leaked(const struct control *control)
{
	int fd = control->dir.fd[SEGMENT_RINGS];
	uint64_t leaked = 0;
	off_t data = 0;

	while ((data = lseek(fd, data, SEEK_DATA)) >= 0) {
		off_t hole = lseek(fd, data, SEEK_HOLE);

		while (data < hole) {
			uint64_t end;

			if (storm_in_use(control, (uint64_t)data, &end)) {
				data = (off_t)end < hole ? (off_t)end : hole;
			} else {
				leaked += 4096;
				data += 4096;
			}
		}
	}
	return leaked;
}

/* Nothing is left behind: no instances, no locks, no memory that no state names. */
static inline void storm_tidy(struct control *control)
{
	uint64_t end = now_ns() + STORM_PATIENCE_S * 1000000000ull;
	struct buf names = BUF_INIT;
	struct err err = ERR_INIT;

	CHECK(!tree_list(control, "instances", &names, &err), "%s", err.text);
	CHECK(!names.len, "instances stay: %s", names.data);
	buf_fini(&names);
	/* What was given up is given back by a transaction, when no thread can use it any more. */
	do {
		CHECK(now_ns() < end, "what was given up is never given back");
		tool_begin(control);
		tool_commit(control);
	} while (control->state.nlimbo);
	CHECK(!storm_leaked(control), "%llu bytes of rings are nobody's", (unsigned long long)storm_leaked(control));
	storm_no_locks(control);
}

/* ---- a mount ---- */

struct storm_mount {
	char path[PATH_MAX];
	pid_t pid, owner;
};

static struct storm_mount *storm_mounted;

/* However the test ends, what is below its directory can be removed. */
static inline void storm_mount_abandon(void)
{
	if (!storm_mounted->pid || storm_mounted->owner != getpid())
		return;
	kill(storm_mounted->pid, SIGTERM);
	waitpid(storm_mounted->pid, NULL, 0);
}

/* Leaves the test with 77 where there can be none. */
static inline void storm_mount_open(struct storm_mount *mount)
{
	const char *tool = getenv("RINGSIDE"), *scratch = getenv("RINGSIDE_SCRATCH");
	uint64_t end = now_ns() + STORM_PATIENCE_S * 1000000000ull;
	struct place_identity identity;
	int status;

	if (!tool || !scratch)
		skip("RINGSIDE or RINGSIDE_SCRATCH is not set: nothing to mount with, or nowhere");
	if (access("/dev/fuse", R_OK | W_OK))
		skip("/dev/fuse cannot be had");
	snprintf(mount->path, sizeof(mount->path), "%s/mnt", scratch);
	CHECK(!mkdir(mount->path, 0700), "%s: %s", mount->path, strerror(errno));
	mount->owner = getpid();
	storm_mounted = mount;
	atexit(storm_mount_abandon);
	mount->pid = fork();
	if (!mount->pid) {
		/* It ends in good order then, and takes the mount away. */
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		execl(tool, "ringside", "mount", "-f", mount->path, (char *)NULL);
		_exit(127);
	}
	while (!place_is_ours(mount->path) || place_ask(mount->path, &identity)) {
		if (waitpid(mount->pid, &status, WNOHANG) == mount->pid)
			skip("`ringside mount` cannot mount here");
		CHECK(now_ns() < end, "the mount does not come");
		pause_us(1000);
	}
}

static inline void storm_mount_close(struct storm_mount *mount)
{
	if (!mount->pid)
		return;
	kill(mount->pid, SIGTERM);
	expect_exit(mount->pid, STORM_PATIENCE_S, "the mount");
	mount->pid = 0;
	CHECK(!rmdir(mount->path), "%s: %s", mount->path, strerror(errno));
}

/* Where a path of the tree is; until the next one is asked for. */
static inline const char *storm_mount_path(const struct storm_mount *mount, const char *path)
{
	static char whole[2 * PATH_MAX];

	snprintf(whole, sizeof(whole), "%s/%.*s", mount->path, PATH_MAX - 2, path);
	return whole;
}

/* As `> path` does it; -errno. */
static inline int storm_mount_write(const struct storm_mount *mount, const char *path, const char *text)
{
	int fd = open(storm_mount_path(mount, path), O_WRONLY | O_TRUNC | O_CLOEXEC), r = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		r = -errno;
	if (close(fd) && !r)
		r = -errno;
	return r;
}

/* As `cat path`; -errno, also in the middle. */
static inline int storm_mount_read(const struct storm_mount *mount, const char *path, struct buf *out)
{
	int fd = open(storm_mount_path(mount, path), O_RDONLY | O_CLOEXEC);
	static char piece[65536];
	ssize_t n;

	if (fd < 0)
		return -errno;
	while ((n = read(fd, piece, sizeof(piece))) > 0)
		buf_add(out, piece, (size_t)n);
	n = n < 0 ? -errno : 0;
	close(fd);
	return (int)n;
}

/* ---- the text of `trace` ---- */

struct storm_text {
	uint64_t *notes;	/* who << 32 | seq, as they come */
	uint64_t *last;		/* microseconds, of each CPU */
	uint32_t ncpu;
	uint64_t lines, gaps;
};

static inline int storm_text_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static inline void storm_text_line(struct storm_text *text, const char *line)
{
	unsigned long long seconds, lost;
	unsigned cpu, micros, who, seq;
	char comm[17], flags[8];
	int pid, end = 0;

	if (*line == '#')
		return;
	if (sscanf(line, "CPU:%u [LOST %llu EVENTS]%n", &cpu, &lost, &end) == 2 && end && !line[end]) {
		text->gaps++;
		return;
	}
	CHECK(sscanf(line, " %16[^-]-%d [%u] %7s %llu.%6u: steady: who=%u seq=%u%n", comm, &pid, &cpu, flags, &seconds,
		     &micros, &who, &seq, &end) == 8 && end && !line[end], "no line of a trace: '%s'", line);
	CHECK(cpu < text->ncpu, "CPU %u: '%s'", cpu, line);
	CHECK(seconds * 1000000 + micros >= text->last[cpu], "time goes back: '%s'", line);
	text->last[cpu] = seconds * 1000000 + micros;
	CHECK(who < STORM_WRITERS && seq <= __atomic_load_n(&storm->written[who], __ATOMIC_ACQUIRE),
	      "was never written: '%s'", line);
	text->notes[text->lines++] = (uint64_t)who << 32 | seq;
}

/* One whole reading: every line is one, times do not go back on a CPU, no event comes twice. Its lines. */
static inline uint64_t storm_text_check(struct buf *all, uint32_t ncpu, uint64_t *gaps)
{
	struct storm_text text = { .ncpu = ncpu, .last = calloc(ncpu, sizeof(uint64_t)) };
	char *line, *next;

	/* No line of it has less than 32 bytes. */
	text.notes = calloc(all->len / 32 + 1, sizeof(uint64_t));
	CHECK(!buf_failed(all) && all->len && all->data[all->len - 1] == '\n', "a trace that ends in the middle of a line");
	for (line = all->data; *line; line = next) {
		next = strchr(line, '\n');
		*next++ = '\0';
		storm_text_line(&text, line);
	}
	qsort(text.notes, text.lines, sizeof(uint64_t), storm_text_compare);
	for (uint64_t i = 1; i < text.lines; i++)
		CHECK(text.notes[i] != text.notes[i - 1], "who %u seq %u comes twice", (uint32_t)(text.notes[i] >> 32),
		      (uint32_t)text.notes[i]);
	free(text.notes);
	free(text.last);
	if (gaps)
		*gaps += text.gaps;
	return text.lines;
}

#endif
