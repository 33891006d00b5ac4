/*
 * remote/mapped: remotes whose memory is somewhere to be seen: what the kernel does by callbacks is done by words in it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mono.h"
#include "fw/layout.h"
#include "remote/local.h"

/* A target that runs answers at its next event, or tick. One that does not has its ring emptied by us alone. */
#define ANSWER_NS 20000000ull
#define ANSWER_NAP_US 50
/* Who waits asks each millisecond. */
#define SEEK_NS 50000000ull

int remote_store_word(struct remote *remote, uint64_t at, uint32_t value, struct err *err)
{
	unsigned char word[4];
	/* Where there is no header any more lies what is somebody else's. */
	int r = remote_target_check_header(&remote->target, &remote->memory, err);

	if (r)
		return r;
	for (int i = 0; i < 4; i++)
		word[remote->target.abi.big_endian ? 3 - i : i] = (unsigned char)(value >> i * 8);
	r = remote_memory_store(&remote->memory, at, word);
	if (r == -EROFS)
		return err_set(err, r, "the memory of remote '%s' can only be read", remote->name);
	return r ? err_set(err, r, "the memory of remote '%s' cannot be written: %s", remote->name, strerror(-r)) : 0;
}

static int find(struct remote *remote, struct err *err)
{
	int r = remote_memory_open(&remote->memory, remote->path, err);

	return r ? r : remote_attach(remote, err);
}

static int load(struct remote *remote, uint64_t kb, struct err *err)
{
	(void)kb;
	return find(remote, err);
}

/* The memory is the target's. */
static void unload(struct remote *remote)
{
	(void)remote;
}

int remote_word_enable_tracing(struct remote *remote, bool on, struct err *err)
{
	return remote_store_word(remote, remote->target.control + offsetof(struct ringside_fw_control, on), on, err);
}

int remote_word_enable_event(struct remote *remote, uint32_t id, bool on, struct err *err)
{
	uint64_t at = remote->target.control + offsetof(struct ringside_fw_control, enable) + id / 32 * 4;
	unsigned char word[4];
	uint32_t bits;
	int r = remote_memory_word(&remote->memory, at, word, 4);

	if (r)
		return err_set(err, r, "the memory cannot be read: %s", strerror(-r));
	bits = (uint32_t)decode_abi_load(word, 4, remote->target.abi.big_endian);
	bits = (bits & ~(1u << id % 32)) | (uint32_t)on << id % 32;
	return remote_store_word(remote, at, bits, err);
}

int remote_ask(struct remote *remote, uint32_t ring, bool reset, uint32_t *asked, struct err *err)
{
	struct remote_look look;
	int r = remote_ring_look(&remote->target, &remote->memory, ring, &look);

	if (r)
		return err_set(err, r, "the memory cannot be read: %s", strerror(-r));
	*asked = ((look.asked | 1) + 1) | reset;
	return remote_store_word(remote, remote->target.rings[ring].at + offsetof(struct ringside_fw_ring, asked), *asked, err);
}

bool remote_answered(struct remote *remote, uint32_t ring, uint32_t asked, struct remote_look *look)
{
	return !remote_ring_look(&remote->target, &remote->memory, ring, look) && look->answered == asked;
}

/* Each its own question, whose number is left in `asked`. */
static int ask_rings(struct remote *remote, uint32_t first, uint32_t n, bool reset, uint32_t *asked, struct err *err)
{
	int r = asked ? 0 : err_set(err, -ENOMEM, "out of memory");

	for (uint32_t i = 0; !r && i < n; i++)
		r = remote_ask(remote, first + i, reset, &asked[i], err);
	return r;
}

int remote_word_reset(struct remote *remote, uint32_t first, uint32_t n, struct err *err)
{
	struct remote_look look;
	uint32_t *asked;
	uint64_t until;
	int r;

	/* What can only be read is empty when we say so. */
	if (!remote->memory.writable)
		return 0;
	asked = malloc(n * sizeof(*asked));
	r = ask_rings(remote, first, n, true, asked, err);
	until = mono_ns() + ANSWER_NS;
	for (uint32_t i = 0; !r && i < n; i++)
		while (!remote_answered(remote, first + i, asked[i], &look) && mono_ns() < until)
			usleep(ANSWER_NAP_US);
	free(asked);
	return r;
}

bool remote_word_hail(struct remote *remote)
{
	uint64_t until = mono_ns() + ANSWER_NS;

	free(remote->hailed);
	remote->hailed = remote->memory.writable ? malloc(remote->target.nr_rings * sizeof(*remote->hailed)) : NULL;
	if (!remote->hailed || ask_rings(remote, 0, remote->target.nr_rings, false, remote->hailed, NULL)) {
		free(remote->hailed);
		remote->hailed = NULL;
		return false;
	}
	while (!remote_word_is_heard(remote) && mono_ns() < until)
		usleep(ANSWER_NAP_US);
	return remote_word_is_heard(remote);
}

bool remote_word_is_heard(struct remote *remote)
{
	struct remote_look look;

	/* Or something else that somebody asked behind that. */
	for (uint32_t i = 0; remote->hailed && i < remote->target.nr_rings; i++)
		if (!remote_ring_look(&remote->target, &remote->memory, i, &look) && (int32_t)(look.answered - remote->hailed[i]) >= 0)
			return true;
	return false;
}

int remote_word_swap(struct remote *remote, uint32_t ring, uint32_t number)
{
	if (!remote->memory.writable || !remote->target.rings[ring].discard)
		return 0;
	return remote_store_word(remote, remote->target.rings[ring].at + offsetof(struct ringside_fw_ring, consumed), number, NULL);
}

/* A machine that starts may put another file in the place of the one that it had: that one is read then. */
static int alive(struct remote *remote, struct err *err)
{
	uint64_t now = mono_ns();
	struct stat ours, there;

	(void)err;
	if (now - remote->sought_at < SEEK_NS)
		return 0;
	remote->sought_at = now;
	if (!remote->memory.device && !fstat(remote->memory.fd, &ours) && !stat(remote->path, &there) &&
	    (ours.st_ino != there.st_ino || ours.st_dev != there.st_dev))
		remote_detach(remote);
	return 0;
}

const struct remote_kind remote_kind_memory = {
	.load_trace_buffer = load,
	.unload_trace_buffer = unload,
	.enable_tracing = remote_word_enable_tracing,
	.enable_event = remote_word_enable_event,
	.reset = remote_word_reset,
	.swap_reader_page = remote_word_swap,
	.find = find,
	.alive = alive,
};
