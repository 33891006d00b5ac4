/*
 * record/hose: see hose.h.
 */
#include "record/hose.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* What a pipe may hold for everybody; how many all hoses have together. */
#define PIPE_BYTES (1u << 20)
#define ALL_PIPES 128u

struct hose *hose_new(uint32_t cpu)
{
	struct hose *hose = calloc(1, sizeof(*hose));

	if (hose)
		*hose = (struct hose){ .cpu = cpu, .raw = -1, .stats = -1, .lock = PTHREAD_MUTEX_INITIALIZER };
	return hose;
}

void hose_lay(struct hose *hose, size_t nr_hoses)
{
	size_t fair = ALL_PIPES / (nr_hoses ? nr_hoses : 1);
	int ends[2];

	fair = fair < 2 ? 2 : fair > HOSE_PIPES ? HOSE_PIPES : fair;
	while (hose->nr < fair && !pipe2(ends, O_CLOEXEC)) {
		hose->pipe[hose->nr].in = ends[0];
		hose->pipe[hose->nr++].out = ends[1];
		fcntl(ends[1], F_SETPIPE_SZ, (int)PIPE_BYTES);
	}
}

/* A file system that has pages only by read(). */
static void cut(struct hose *hose)
{
	for (uint32_t i = 0; i < hose->nr; i++) {
		close(hose->pipe[i].in);
		close(hose->pipe[i].out);
	}
	hose->nr = 0;
}

void hose_close(struct hose *hose)
{
	if (hose->raw >= 0)
		close(hose->raw);
	if (hose->stats >= 0)
		close(hose->stats);
	cut(hose);
	pthread_mutex_destroy(&hose->lock);
	free(hose);
}

bool hose_has_pipes(struct hose *hose)
{
	bool any;

	pthread_mutex_lock(&hose->lock);
	any = hose->nr;
	pthread_mutex_unlock(&hose->lock);
	return any;
}

static size_t held(const struct hose *hose, uint32_t which)
{
	int n = 0;

	return hose->nr && !ioctl(hose->pipe[which % hose->nr].in, FIONREAD, &n) && n > 0 ? (size_t)n : 0;
}

/* Into the pipe that is filled, or behind it. */
static ssize_t fill(struct hose *hose)
{
	ssize_t n = 0;

	for (int i = 0; hose->nr && i < 2; i++) {
		do
			n = splice(hose->raw, NULL, hose->pipe[hose->last % hose->nr].out, NULL, PIPE_BYTES,
				   SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
		while (n < 0 && errno == EINTR);
		/* It may be full; the one behind the last is not, if it is there. */
		if (n > 0 || (n < 0 && errno != EAGAIN) || hose->last - hose->first + 1 >= hose->nr || !held(hose, hose->last))
			break;
		hose->last++;
	}
	if (n >= 0 || errno == EAGAIN)
		return n < 0 ? 0 : n;
	if (errno != EINVAL && errno != EOPNOTSUPP)
		return -errno;
	cut(hose);
	return 0;
}

ssize_t hose_fill(struct hose *hose)
{
	ssize_t n;

	pthread_mutex_lock(&hose->lock);
	n = fill(hose);
	pthread_mutex_unlock(&hose->lock);
	return n;
}

size_t hose_take(struct hose *hose, int *pipe)
{
	size_t len = 0;

	pthread_mutex_lock(&hose->lock);
	if (hose->nr) {
		if (hose->first == hose->last && hose->nr > 1 && held(hose, hose->last))
			hose->last++;
		*pipe = hose->pipe[hose->first % hose->nr].in;
		len = held(hose, hose->first);
	}
	pthread_mutex_unlock(&hose->lock);
	return len;
}

bool hose_give(struct hose *hose)
{
	bool more;

	pthread_mutex_lock(&hose->lock);
	if (hose->first != hose->last && !held(hose, hose->first))
		hose->first++;
	more = hose->first != hose->last;
	pthread_mutex_unlock(&hose->lock);
	return more;
}

static ssize_t read_open(struct hose *hose, unsigned char *page, uint32_t size)
{
	ssize_t n;

	if (hose->first != hose->last || held(hose, hose->first))
		return 0;
	n = fill(hose);
	if (n)
		return n < 0 ? n : 0;
	do
		n = read(hose->raw, page, size);
	while (n < 0 && errno == EINTR);
	/* A kernel has no buffer of a CPU that was never online. */
	return n < 0 && (errno == EAGAIN || errno == ENODEV) ? 0 : n < 0 ? -errno : n;
}

ssize_t hose_read_open(struct hose *hose, unsigned char *page, uint32_t size)
{
	ssize_t n;

	pthread_mutex_lock(&hose->lock);
	n = read_open(hose, page, size);
	pthread_mutex_unlock(&hose->lock);
	return n;
}
