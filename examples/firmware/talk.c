/*
 * A program that talks to a board: rings, waits until it was heard, and traces both.
 *
 *	talk RAMFILE [TIMES]		7 times, or so often; 0: for ever
 *
 * RAMFILE is what the board has for RAM. Between an event `send` and its `answered` there is the board's `doorbell` with the same value.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <ringside/event.h>

#include "layout.h"

RINGSIDE_EVENT(talk, send,
	field(uint32_t, value),
	print("value=%u", value))

RINGSIDE_EVENT(talk, answered,
	field(uint32_t, value),
	print("value=%u", value))

/* See board.h: the mailbox, and what is traced behind it. */
#define MAILBOX_AT (1 << 20)
#define PATIENCE_S 20

struct shared {
	volatile uint32_t value;
	volatile uint32_t seen;
	uint32_t reserved[14];
	struct ringside_fw_header header;
};

static struct shared *open_shared(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	struct shared *shared = MAP_FAILED;
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st) && st.st_size < MAILBOX_AT + (off_t)sizeof(*shared)) {
		fprintf(stderr, "talk: %s is too short to be a board's RAM\n", path);
		exit(1);
	}
	if (fd >= 0)
		shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, MAILBOX_AT);
	if (shared == MAP_FAILED) {
		fprintf(stderr, "talk: %s: %s\n", path, strerror(errno));
		exit(1);
	}
	return shared;
}

/* A word of the board's, or for it. */
static uint32_t board_word(const struct shared *shared, uint32_t value)
{
	return shared->header.order == RINGSIDE_FW_ORDER ? value : __builtin_bswap32(value);
}

static void doze(long us)
{
	struct timespec pause = { .tv_nsec = us * 1000 };

	nanosleep(&pause, NULL);
}

static int talk(struct shared *shared, uint32_t value)
{
	time_t until = time(NULL) + PATIENCE_S;

	trace_talk_send(value);
	shared->value = board_word(shared, value);
	while (board_word(shared, shared->seen) != value) {
		if (time(NULL) > until) {
			fprintf(stderr, "talk: nobody answers to %u\n", value);
			return 1;
		}
		doze(20);
	}
	trace_talk_answered(value);
	return 0;
}

int main(int argc, char **argv)
{
	struct shared *shared;
	uint32_t times, value;

	if (argc != 2 && argc != 3) {
		fprintf(stderr, "usage: talk RAMFILE [TIMES]\n");
		return 2;
	}
	shared = open_shared(argv[1]);
	times = argc == 3 ? (uint32_t)strtoul(argv[2], NULL, 0) : 7;
	/* What was rung last is not rung again. */
	value = board_word(shared, shared->seen);
	for (uint32_t i = 0; !times || i < times; i++) {
		if (talk(shared, ++value))
			return 1;
		doze(2000);
	}
	return 0;
}
