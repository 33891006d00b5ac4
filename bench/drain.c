/*
 * Consumes a directory's top buffer as fast as it is filled, keeps nothing, and tells what it saw when it is told to end.
 *
 *	drain DIR
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "capture/stream.h"
#include "control/control.h"

const int ringside_no_attach = 1;
static volatile sig_atomic_t stop;

static void on_term(int signo)
{
	(void)signo;
	stop = 1;
}

int main(int argc, char **argv)
{
	struct err err = ERR_INIT;
	struct control *control;
	struct stream *stream[64];
	unsigned long long events = 0, lost = 0;
	uint32_t ncpu;
	char *page;

	signal(SIGTERM, on_term);
	if (argc != 2 || control_open(&control, argv[1], false, &err) || control_refresh(control, &err)) {
		fprintf(stderr, "drain: %s\n", err.text);
		return 1;
	}
	ncpu = control->dir.ncpu < 64 ? control->dir.ncpu : 64;
	for (uint32_t i = 0; i < ncpu; i++) {
		if (stream_open(&stream[i], control->dir.fd[SEGMENT_RINGS], &control->state.buffers[0],
				control->dir.ncpu, i, true, &err)) {
			fprintf(stderr, "drain: %s\n", err.text);
			return 1;
		}
	}
	page = malloc(stream_page_size(stream[0]));
	while (!stop) {
		struct stream_page info;
		int any = 0;

		for (uint32_t i = 0; i < ncpu; i++) {
			while (stream_next(stream[i], page, &info) > 0) {
				events += info.events;
				lost += info.lost;
				any = 1;
			}
		}
		if (!any)
			stream_wait_any(stream, ncpu, 100);
	}
	for (uint32_t i = 0; i < ncpu; i++)
		stream_close(stream[i]);
	printf("drained %llu lost %llu\n", events, lost);
	free(page);
	control_close(control);
	return 0;
}
