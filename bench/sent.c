/*
 * Sends pages that lie in memory to a listener, as a recorder does, by its spool and its courier, and prints: bytes, and nanoseconds until the
 * listener had all of them in its file. Then it waits for the end of its input, and the recording ends.
 *
 *	sent HOST:PORT KEYS tls|plain MEGABYTES
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mono.h"
#include "net/courier.h"
#include "record/dest.h"

#define PAGE 4096u
#define SPOOL ((size_t)8 << 20)
/* What a recorder has at hand at once. */
#define RUN 64
#define PAGES 4096u

const int ringside_no_attach = 1;

static void fail(const struct err *err)
{
	fprintf(stderr, "sent: %s\n", err->text);
	exit(1);
}

static bool never(void *ctx)
{
	(void)ctx;
	return false;
}

/* Pages that no two of are the same, and that nobody could pack. */
static uint8_t *make_pages(void)
{
	uint8_t *pages = malloc((size_t)PAGES * PAGE);
	uint64_t state = 1;

	for (size_t i = 0; pages && i < (size_t)PAGES * PAGE; i += sizeof(state)) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		memcpy(pages + i, &state, sizeof(state));
	}
	return pages;
}

static void send_pages(struct dest *dest, const uint8_t *pages, uint64_t count, struct err *err)
{
	for (uint64_t done = 0; done < count;) {
		uint64_t room = dest->kind->room(dest) / PAGE, from = done % PAGES, n = RUN;
		struct iovec iov;

		n = n < count - done ? n : count - done;
		n = n < PAGES - from ? n : PAGES - from;
		n = n < room ? n : room;
		if (!n) {
			dest->kind->wait(dest, 100);
		} else {
			iov = (struct iovec){ (uint8_t *)(uintptr_t)pages + from * PAGE, n * PAGE };
			if (!dest->kind->write(dest, 0, (uint32_t)(done / RUN % 2), &iov, 1) &&
			    !dest->kind->accept(dest, 0, (uint32_t)(done / RUN % 2), false))
				done += n;
		}
		if (dest->kind->failed(dest, err))
			fail(err);
	}
}

int main(int argc, char **argv)
{
	const struct dat_write_buffer buffer = { .name = "", .clock = "local" };
	const struct dat_live_how how = { .page_size = PAGE, .nr_cpus = 2, .buffers = &buffer, .nr_buffers = 1 };
	struct caller_how to = { .keys = argc > 2 ? argv[2] : "" };
	const struct dest_sums sums = { 0 };
	struct courier courier;
	struct err err = ERR_INIT;
	struct spool spool;
	struct dest *dest;
	uint8_t *pages = make_pages();
	uint64_t count, began;

	if (argc != 5 || !pages)
		return 2;
	to.tls = !strcmp(argv[3], "tls");
	count = strtoull(argv[4], NULL, 0) * ((1u << 20) / PAGE);
	if (address_parse(&to.to, argv[1], 0, &err) || spool_init(&spool, SPOOL, &err) || courier_start(&courier, &spool, &to, NULL, &err) ||
	    dest_far_open(&dest, &spool, &how, never, NULL, &err))
		fail(&err);
	while (spool_state(&spool) == SPOOL_CALLING)
		spool_wait(&spool, SIZE_MAX, SPOOL_CALLING, 100);
	began = mono_ns();
	send_pages(dest, pages, count, &err);
	while (spool_left(&spool)) {
		spool_wait(&spool, SPOOL, spool_state(&spool), 100);
		if (dest->kind->failed(dest, &err))
			fail(&err);
	}
	printf("%" PRIu64 " %" PRIu64 "\n", count * PAGE, mono_ns() - began);
	fflush(stdout);
	while (getchar() != EOF)
		;
	if (dest->kind->finish(dest, &sums, &err))
		fail(&err);
	waitpid(courier.pid, NULL, 0);
	return 0;
}
