/*
 * What tests of remotes that a program brings share: a board of two CPUs, which keeps a diary of what it is told, and events that are written
 * to it. They see the public header, and of the source what such a program compiles: fw/.
 */
#ifndef TESTS_LIBRARY_REMOTE_LAB_H
#define TESTS_LIBRARY_REMOTE_LAB_H

#include <dirent.h>
#include <pthread.h>
#include <ringside/remote.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>

#include "library/lab.h"

#define RINGSIDE_FW_HOSTED
#include "../../fw/remote_events.h"
#include "library/remote_board.h"

#define BOARD_CPUS 2u

struct board {
	pthread_mutex_t lock;		/* of all below, and who writes events has it */
	struct ringside_control_remote_buffer buffer;
	struct ringside_fw_hosted fw;
	bool loaded;
	unsigned int page, flags;	/* of the next buffer */
	uint64_t seq[BOARD_CPUS];
	/* What callbacks return. */
	int refuse_load, refuse_on, refuse_event, refuse_reset, refuse_swap, refuse_init;
	pthread_t registrar;
	atomic_bool held;		/* callbacks wait */
	atomic_bool going;		/* the program takes the remote away: then callbacks come in its own thread */
	bool careless;			/* no diary is kept */
	char diary[1024];
};

static inline void board_note(struct board *board, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline void board_note(struct board *board, const char *format, ...)
{
	size_t len = strlen(board->diary);
	va_list ap;

	if (board->careless)
		return;
	va_start(ap, format);
	CHECK(len + 32 < sizeof(board->diary), "the diary is full: %s", board->diary);
	len += (size_t)snprintf(board->diary + len, sizeof(board->diary) - len, "%s", len ? ", " : "");
	vsnprintf(board->diary + len, sizeof(board->diary) - len, format, ap);
	va_end(ap);
}

/* In a thread of the library's, where no handler runs; it stays there for as long as the test wants. */
static inline void board_check_thread(const struct board *board)
{
	sigset_t blocked;

	while (board->held)
		usleep(1000);
	if (board->going) {
		CHECK(pthread_equal(pthread_self(), board->registrar), "not in the thread that unregisters");
		return;
	}
	CHECK(!pthread_equal(pthread_self(), board->registrar), "in the thread that registered");
	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	CHECK(sigismember(&blocked, SIGTERM) && sigismember(&blocked, SIGUSR1) && sigismember(&blocked, SIGPIPE), "signals come in");
}

static inline int board_init(void *priv)
{
	struct board *board = priv;

	CHECK(pthread_equal(pthread_self(), board->registrar), "init() in another thread");
	CHECK(!*board->diary, "something before init()");
	board_note(board, "init");
	return board->refuse_init;
}

static inline int board_load(unsigned long size, struct ringside_control_remote_buffer *buffer, void *priv)
{
	struct board *board = priv;
	struct ringside_control_remote_how how = { .size = size, .nr_cpus = BOARD_CPUS, .page_size = board->page, .flags = board->flags };
	int r;

	board_check_thread(board);
	pthread_mutex_lock(&board->lock);
	board_note(board, "load %lu", size);
	r = board->refuse_load ? board->refuse_load : size > 64u << 20 ? -ENOSPC : ringside_control_remote_alloc_buffer(buffer, &how);
	if (!r) {
		board->buffer = *buffer;
		CHECK(!ringside_fw_hosted_open(&board->fw, buffer->memory, buffer->size), "a buffer that cannot be written to");
		board->loaded = true;
	}
	pthread_mutex_unlock(&board->lock);
	return r;
}

static inline void board_unload(const struct ringside_control_remote_buffer *buffer, void *priv)
{
	struct board *board = priv;

	board_check_thread(board);
	pthread_mutex_lock(&board->lock);
	CHECK(board->loaded && buffer->memory == board->buffer.memory && buffer->fd == board->buffer.fd, "another buffer");
	board_note(board, "unload");
	board->loaded = false;
	ringside_control_remote_free_buffer(buffer);
	pthread_mutex_unlock(&board->lock);
}

static inline int board_told(struct board *board, int r, const char *what, unsigned int number, int value)
{
	board_check_thread(board);
	CHECK(value < 0 ? number < BOARD_CPUS : number == 1 || number == 40, "%s %u", what, number);
	pthread_mutex_lock(&board->lock);
	if (value < 0)
		board_note(board, "%s %u", what, number);
	else
		board_note(board, "%s %u %d", what, number, value);
	pthread_mutex_unlock(&board->lock);
	return r;
}

static inline int board_on(bool enable, void *priv)
{
	struct board *board = priv;

	CHECK(board->loaded, "without a buffer");
	return board_told(board, board->refuse_on, "on", enable, -1);
}

static inline int board_swap(unsigned int cpu, void *priv)
{
	struct board *board = priv;

	return board_told(board, board->refuse_swap, "swap", cpu, -1);
}

static inline int board_reset(unsigned int cpu, void *priv)
{
	struct board *board = priv;

	return board_told(board, board->refuse_reset, "reset", cpu, -1);
}

static inline int board_event(unsigned short id, bool enable, void *priv)
{
	struct board *board = priv;

	return board_told(board, board->refuse_event, "event", id, enable);
}

static const struct ringside_control_remote_callbacks board_callbacks = {
	.init = board_init,
	.load_trace_buffer = board_load,
	.unload_trace_buffer = board_unload,
	.enable_tracing = board_on,
	.swap_reader_page = board_swap,
	.reset = board_reset,
	.enable_event = board_event,
};

static const struct ringside_fw_text *const board_events[] = { &remote_event_step, &remote_event_stall };
#define BOARD_EVENTS (sizeof(board_events) / sizeof(board_events[0]))

static inline struct board *board_new(void)
{
	struct board *board = calloc(1, sizeof(*board));

	CHECK(board, "memory");
	pthread_mutex_init(&board->lock, NULL);
	board->registrar = pthread_self();
	return board;
}

static inline struct ringside_control_remote *board_register(struct board *board, struct ringside_control *tree, const char *name)
{
	struct ringside_control_remote *remote;

	board->registrar = pthread_self();
	board->going = false;
	*board->diary = '\0';
	FINE(tree, ringside_control_remote_register(&remote, tree, name, &board_callbacks, board, board_events, BOARD_EVENTS));
	CHECK(remote, "no handle");
	return remote;
}

static inline void board_unregister(struct board *board, struct ringside_control_remote *remote)
{
	board->going = true;
	ringside_control_remote_unregister(remote);
}

static inline void board_free(struct board *board)
{
	CHECK(!board->loaded, "still loaded");
	pthread_mutex_destroy(&board->lock);
	free(board);
}

/* What it was told since this was asked last. */
static inline void board_said(struct board *board, const char *want)
{
	pthread_mutex_lock(&board->lock);
	CHECK(!strcmp(board->diary, want), "'%s', not '%s'", board->diary, want);
	*board->diary = '\0';
	pthread_mutex_unlock(&board->lock);
}

/* So many steps of a CPU, if anybody wants them. */
static inline void board_steps(struct board *board, uint32_t cpu, unsigned int n)
{
	pthread_mutex_lock(&board->lock);
	for (unsigned int i = 0; board->loaded && i < n; i++)
		trace_step(&board->fw, cpu, cpu, board->seq[cpu]++);
	pthread_mutex_unlock(&board->lock);
}

/* Files of remotes/NAME/. */
static inline const char *board_path(char path[256], const char *name, const char *file)
{
	snprintf(path, 256, "remotes/%s/%s", name, file);
	return path;
}

static inline void board_expect(struct ringside_control *tree, const char *name, const char *file, const char *want)
{
	char path[256];

	lab_expect(tree, NULL, board_path(path, name, file), want);
}

static inline void board_write(struct ringside_control *tree, const char *name, const char *file, const char *text)
{
	char path[256];

	FINE(tree, ringside_control_file_write(tree, NULL, board_path(path, name, file), text));
}

static inline int board_try(struct ringside_control *tree, const char *name, const char *file, const char *text)
{
	char path[256];

	return ringside_control_file_write(tree, NULL, board_path(path, name, file), text);
}

/* "cpu0/ cpu1/ ": what per_cpu has. */
static inline void board_cpus(struct ringside_control *tree, const char *name, const char *want)
{
	char path[256], all[256] = "", **names;

	FINE(tree, ringside_control_file_list(tree, NULL, board_path(path, name, "per_cpu"), &names));
	for (char **one = names; *one; one++)
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s ", *one);
	CHECK(!strcmp(all, want), "'%s', not '%s'", all, want);
	ringside_control_names_free(names);
}

/* Lines of a file that holds events; each CPU's numbers follow each other from *seq on, where that is asked. */
static inline int board_lines(struct ringside_control *tree, const char *name, const char *file, uint64_t *seq)
{
	char path[256], *text, *save;
	int n = 0;

	FINE(tree, ringside_control_file_read(tree, NULL, board_path(path, name, file), &text, NULL));
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save), n++) {
		unsigned long long number;
		unsigned int cpu;
		char *found = strstr(line, "step cpu=");

		CHECK(found && sscanf(found, "step cpu=%u seq=%llu", &cpu, &number) == 2 && cpu < BOARD_CPUS, "%s", line);
		CHECK(!seq || number == seq[cpu]++, "%s: where %llu should be", line, (unsigned long long)seq[cpu] - 1);
	}
	free(text);
	return n;
}

/* Descriptors of this process. */
static inline int lab_descriptors(void)
{
	DIR *all = opendir("/proc/self/fd");
	int n = 0;

	CHECK(all, "/proc");
	while (readdir(all))
		n++;
	closedir(all);
	return n;
}

#endif
