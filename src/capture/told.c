/*
 * capture/told: see told.h. Words are read by system calls, since the file may be cut off at any time.
 *
 *   teller                                          reader
 *     all up to T into the rings                      set.told_mono, rings.told_mono: is the set told to? is the teller alive?
 *     set.told_mono <- T, set.told <- T (each set)    until <- set.told
 *     rings.told_mono <- T                            looks into the rings: all up to `until` is there
 */
#include "capture/told.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "base/mono.h"
#include "capture/lanes.h"
#include "capture/stream.h"

#define LOOK_NS 1000000

static struct flock teller_byte(short type)
{
	return (struct flock){
		.l_type = type, .l_whence = SEEK_SET, .l_start = offsetof(struct rings_head, told_mono), .l_len = 1,
	};
}

int told_lock(int rings)
{
	struct flock lock = teller_byte(F_WRLCK);

	if (!fcntl(rings, F_OFD_SETLK, &lock))
		return 0;
	return errno == EAGAIN || errno == EACCES ? -EBUSY : -errno;
}

static void nap(void)
{
	nanosleep(&(struct timespec){ 0, LOOK_NS }, NULL);
}

uint64_t told_wishes(int rings)
{
	uint64_t wishes;

	return pread(rings, &wishes, sizeof(wishes), offsetof(struct rings_head, told_wishes)) == sizeof(wishes) ? wishes : 0;
}

int told_take_over(int rings)
{
	const uint64_t end = mono_ns() + TOLD_PATIENCE_NS, wishes = told_wishes(rings) + 1;
	int r = told_lock(rings);

	if (r == -EBUSY && pwrite(rings, &wishes, sizeof(wishes), offsetof(struct rings_head, told_wishes)) != sizeof(wishes))
		return r;
	while (r == -EBUSY && mono_ns() < end) {
		nap();
		r = told_lock(rings);
	}
	return r;
}

static bool is_alive(int rings)
{
	struct flock lock = teller_byte(F_WRLCK);

	return !fcntl(rings, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK;
}

/* Up to when all is told, of any set; false: there is nobody who would tell more. */
static bool told_to(int rings, uint64_t *mono)
{
	return pread(rings, mono, sizeof(*mono), offsetof(struct rings_head, told_mono)) == sizeof(*mono) && *mono &&
	       (int64_t)(mono_ns() - *mono) < (int64_t)TOLD_PATIENCE_NS && is_alive(rings);
}

void told_settle(int rings)
{
	uint64_t now = mono_ns(), told;

	/* Whatever the words say: not for ever. */
	while (told_to(rings, &told) && told < now && mono_ns() - now < TOLD_PATIENCE_NS)
		nap();
}

void told_hold(int rings, uint64_t set)
{
	struct set_head head = { .told = 1 };

	if (told_to(rings, &head.told_mono))
		(void)!pwrite(rings, &head, sizeof(head), (off_t)set);
}

void stream_reader_limit(const struct stream *stream, struct reader *reader)
{
	struct set_head head;
	uint64_t told;

	reader->until = UINT64_MAX;
	if (pread(stream->rings, &head, sizeof(head), (off_t)reader->set.offset) != sizeof(head) || !head.told)
		return;
	reader->told = true;
	if (told_to(stream->rings, &told) && (int64_t)(told - head.told_mono) < (int64_t)TOLD_BEHIND_NS)
		reader->until = head.told;
}

void stream_limit(struct stream *stream)
{
	for (uint32_t i = 0; i < stream->nreaders; i++)
		stream_reader_limit(stream, &stream->reader[i]);
}

void stream_settle(struct stream *stream)
{
	stream->opened = mono_ns();
}

static bool is_limited(const struct stream *stream)
{
	for (uint32_t i = 0; i < stream->nreaders; i++)
		if (stream->reader[i].until != UINT64_MAX)
			return true;
	return false;
}

/* What comes after that a reader gets when it asks again. */
bool stream_limit_wait(struct stream *stream)
{
	const uint64_t now = mono_ns();
	uint64_t told;

	if (!stream->opened || !is_limited(stream))
		return false;
	while (is_limited(stream) && told_to(stream->rings, &told) && told < stream->opened && mono_ns() - now < TOLD_PATIENCE_NS) {
		nap();
		stream_limit(stream);
	}
	stream->opened = 0;
	return true;
}
