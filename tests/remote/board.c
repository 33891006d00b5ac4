/*
 * A target that tests of remotes talk to: fw's writer in a process of its own, with a clock that is not the host's. It does what it is told by
 * lines on stdin, answers each with one on stdout, and in between looks at what the host asks, about each millisecond.
 *
 *	board file FILE [WORD=NUMBER...]	its memory is that file; one that is there already is gone on with
 *	board serve NAME [WORD=NUMBER...]	a remote that it brings by <ringside/remote.h>, if compiled with BOARD_SERVES
 *	rings= pages= shift= flags= on= hz=	as in fw/hosted.h
 *	ppm= offset=				how much faster than hz its counter really is, and what it begins with
 *	quiet=1					it looks at nothing while it is not told to
 *
 *	emit CPU FROM TO	events selftest id=FROM to TO: "ok", or "off" as soon as they are not wanted
 *	stamps CPU N US		so many events stamp, so far apart: "ok FIRST"
 *	begin			starts again, as after a reset of the hardware: "ok"
 *	large CPU		an event as large as a page of 32 bits has room for, if compiled with BOARD_LARGE: "ok"
 *	stand MS		stands still for so long, and so does its counter, as in a debugger: "ok"
 *	late			did its counter come round unseen, because this process did not run? "ok", "late"
 *
 * It is the ELF file of its events, too.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define RINGSIDE_FW_HOSTED
#include "fw/hosted.h"
#include "fw/remote_events.h"

/* Where an ELF file of firmware has them. */
#define TEXT __attribute__((section(RINGSIDE_FW_TEXTS), aligned(4)))
TEXT extern const struct ringside_fw_text remote_event_selftest, remote_event_stamp, remote_event_silent;
#include "board_events.h"
#define REMOTE_EVENT_INCLUDE_FILE board_events.h
#include "fw/define_remote_events.h"
#ifdef BOARD_LARGE
#define LARGE_SIZE 4060
__extension__ TEXT const struct ringside_fw_text remote_event_large = {
	.bytes = sizeof(struct ringside_fw_text) + sizeof(struct ringside_fw_field), .id = 4, .size = LARGE_SIZE, .nr_fields = 1,
	.name = "large", .print = "\"id=%llu\", REC->id", .fields = { { .align = 8, .size = 8, .type = "u64", .name = "id" } },
};
#endif
__asm__(".globl ringside_fw\n.set ringside_fw, 0\n");

static struct board {
	struct ringside_fw_hosted_how how;
	struct ringside_fw_hosted fw;
	void *memory;		/* NULL: none is loaded */
	size_t size;
	pthread_mutex_t lock;	/* of one that is served: it may go */
	bool quiet;
} board = { .how = { .nr_rings = 2, .nr_pages = 8, .page_shift = 12, .nr_events = 32, .tick_hz = 1000000000 },
	    .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- the clock: the library's buffers have the host's ---- */

static double ticks_per_ns;
static uint64_t offset, stood, seen_at[RINGSIDE_FW_HOSTED_RINGS];
static uint32_t now_ring;
static volatile uint32_t *stamped;	/* the words of an event that are to have the host's time */
static bool late;

#ifndef BOARD_SERVES
static uint64_t host_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#if BOARD_BITS == 64
uint64_t port_clock(void)
#else
uint32_t port_clock(void)
#endif
{
	static uint64_t began;
	uint64_t now = host_ns();
	double ticks;

	if (!began)
		began = now;
	ticks = (double)(now - began - stood) * ticks_per_ns;
	if (stamped)
		memcpy((void *)stamped, &now, sizeof(now));
	/* Each ring carries the counter on by itself. */
	if (BOARD_BITS < 64 && seen_at[now_ring] && (double)(now - seen_at[now_ring]) * ticks_per_ns > 0.9 * (double)(1ull << BOARD_BITS % 64))
		late = true;
	seen_at[now_ring] = now;
	return
#if BOARD_BITS < 64
		((1u << (BOARD_BITS - 1)) * 2u - 1u) &
#endif
		(offset + (uint64_t)ticks);
}
#endif

/* ---- what it is told ---- */

static void look(void)
{
	pthread_mutex_lock(&board.lock);
	for (now_ring = 0; board.memory && now_ring < board.how.nr_rings; now_ring++)
		ringside_fw_hosted_tick(&board.fw, now_ring);
	pthread_mutex_unlock(&board.lock);
}

static bool emit(uint32_t cpu, uint64_t id)
{
	bool on;

	pthread_mutex_lock(&board.lock);
	now_ring = cpu;
	on = board.memory && board.fw.control->on && ringside_fw_hosted_is_on(&board.fw, 1);
	if (on)
		trace_selftest(&board.fw, cpu, id);
	pthread_mutex_unlock(&board.lock);
	return on;
}

static void stamp(uint32_t cpu, uint32_t number)
{
	union {
		struct remote_event_format_stamp event;
		uint32_t words[sizeof(struct remote_event_format_stamp) / 4];
	} record = { .event = { .remote_event_id = 2, .number = number } };

	pthread_mutex_lock(&board.lock);
	now_ring = cpu;
	stamped = &record.words[offsetof(struct remote_event_format_stamp, host) / 4];
	if (board.memory && ringside_fw_hosted_is_on(&board.fw, 2))
		ringside_fw_hosted_write(&board.fw, cpu, record.words, sizeof(record) / 4);
	stamped = NULL;
	pthread_mutex_unlock(&board.lock);
}

#ifdef BOARD_LARGE
static void write_large(uint32_t cpu)
{
	static uint32_t record[LARGE_SIZE / 4] = { 4 };

	now_ring = cpu;
	ringside_fw_hosted_write(&board.fw, cpu, record, LARGE_SIZE / 4);
}
#endif

static int begin(void)
{
	int r;

	memset(seen_at, 0, sizeof(seen_at));
	r = ringside_fw_hosted_init(board.memory, board.size, &board.how);
	return r ? r : ringside_fw_hosted_open(&board.fw, board.memory, board.size);
}

static void nap(unsigned long us)
{
	struct timespec time = { .tv_sec = (time_t)(us / 1000000), .tv_nsec = (long)(us % 1000000) * 1000 };

	nanosleep(&time, NULL);
}

static void obey(const char *line)
{
	static uint32_t number;
	unsigned long cpu, from, to;

	if (sscanf(line, "emit %lu %lu %lu", &cpu, &from, &to) == 3) {
		while (from <= to && emit((uint32_t)cpu, from))
			from++;
		printf("%s\n", from > to ? "ok" : "off");
	} else if (sscanf(line, "stamps %lu %lu %lu", &cpu, &from, &to) == 3) {
		printf("ok %" PRIu32 "\n", number);
		while (from--) {
			stamp((uint32_t)cpu, number++);
			if (to)
				nap(to);
			if (!board.quiet)
				look();
		}
	} else if (!strncmp(line, "begin", 5)) {
		printf("%s\n", begin() ? "failed" : "ok");
#ifdef BOARD_LARGE
	} else if (sscanf(line, "large %lu", &cpu) == 1) {
		write_large((uint32_t)cpu);
		printf("ok\n");
#endif
#ifndef BOARD_SERVES
	} else if (sscanf(line, "stand %lu", &from) == 1) {
		stood -= host_ns();
		nap(from * 1000);
		stood += host_ns();
		printf("ok\n");
#endif
	} else if (!strncmp(line, "late", 4)) {
		printf("%s\n", late ? "late" : "ok");
	} else {
		printf("what?\n");
	}
	fflush(stdout);
}

static void serve_lines(void)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	char line[256];
	size_t len = 0;

	for (;;) {
		if (poll(&in, 1, board.quiet ? -1 : 1) > 0) {
			ssize_t n = read(STDIN_FILENO, line + len, 1);

			if (n <= 0)
				return;
			len += 1;
			if (line[len - 1] == '\n' || len == sizeof(line) - 1) {
				line[len] = '\0';
				obey(line);
				len = 0;
			}
		} else {
			look();
		}
	}
}

/* ---- where its memory is ---- */

static int open_file(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	board.size = ringside_fw_hosted_size(&board.how);
	if (fd < 0 || !board.size || ftruncate(fd, (off_t)board.size))
		return -1;
	board.memory = mmap(NULL, board.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return board.memory == MAP_FAILED ? -1 : begin();
}

#ifdef BOARD_SERVES
#include <ringside/remote.h>

static struct ringside_control_remote_buffer loaded;

static int load(unsigned long size, struct ringside_control_remote_buffer *buffer, void *priv)
{
	struct ringside_control_remote_how how = { .size = size, .nr_cpus = board.how.nr_rings, .nr_events = 32,
						   .page_size = 1u << board.how.page_shift };
	int r = ringside_control_remote_alloc_buffer(buffer, &how);

	(void)priv;
	pthread_mutex_lock(&board.lock);
	if (!r)
		r = ringside_fw_hosted_open(&board.fw, buffer->memory, buffer->size);
	if (!r) {
		loaded = *buffer;
		board.memory = buffer->memory;
		board.size = buffer->size;
	}
	pthread_mutex_unlock(&board.lock);
	return r;
}

static void unload(const struct ringside_control_remote_buffer *buffer, void *priv)
{
	(void)priv;
	pthread_mutex_lock(&board.lock);
	board.memory = NULL;
	pthread_mutex_unlock(&board.lock);
	ringside_control_remote_free_buffer(buffer);
}

static int serve(const char *name)
{
	static const struct ringside_control_remote_callbacks callbacks = { .load_trace_buffer = load, .unload_trace_buffer = unload };
	static const struct ringside_fw_text *const events[] = { &remote_event_selftest, &remote_event_stamp, &remote_event_silent };
	struct ringside_control_remote *remote;
	struct ringside_control *tree;

	if (ringside_control_open(&tree, NULL, RINGSIDE_CONTROL_CREATE))
		return -1;
	return ringside_control_remote_register(&remote, tree, name, &callbacks, NULL, events, 3);
}
#else
static int serve(const char *name)
{
	(void)name;
	return -1;
}
#endif

static bool take_word(const char *word, double *ppm)
{
	const char *value = strchr(word, '=');
	struct ringside_fw_hosted_how *how = &board.how;

	if (!value++)
		return false;
#define IS(name) (!strncmp(word, name "=", sizeof(name)))
	if (IS("rings"))
		how->nr_rings = (uint32_t)atoi(value);
	else if (IS("pages"))
		how->nr_pages = (uint32_t)atoi(value);
	else if (IS("shift"))
		how->page_shift = (uint32_t)atoi(value);
	else if (IS("flags"))
		how->flags = (uint32_t)atoi(value);
	else if (IS("on"))
		how->on = (uint32_t)atoi(value);
	else if (IS("hz"))
		how->tick_hz = strtoull(value, NULL, 0);
	else if (IS("ppm"))
		*ppm = atof(value);
	else if (IS("offset"))
		offset = strtoull(value, NULL, 0);
	else if (IS("quiet"))
		board.quiet = atoi(value);
	else
		return false;
	return true;
}

int main(int argc, char **argv)
{
	double ppm = 0;
	int r;

	for (int i = 3; i < argc; i++)
		if (!take_word(argv[i], &ppm)) {
			fprintf(stderr, "board: %s?\n", argv[i]);
			return 2;
		}
	if (argc < 3)
		return 2;
	ticks_per_ns = (double)board.how.tick_hz / 1e9 * (1 + ppm / 1e6);
	r = strcmp(argv[1], "serve") ? open_file(argv[2]) : serve(argv[2]);
	if (r) {
		fprintf(stderr, "board: %s: %d, %s\n", argv[2], r, strerror(errno));
		return 1;
	}
	/* It is there. */
	puts("ok");
	fflush(stdout);
	serve_lines();
	return 0;
}
