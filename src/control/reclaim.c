/*
 * control/reclaim: see reclaim.h. Only in transactions.
 *
 * Who may still write to a set that the published state does not name?
 *
 *   (a) a thread in a section that compared the generation before it changed. It was on a CPU and
 *       has not been off it since: when our own thread runs on that CPU, that section is aborted.
 *   (b) the owner of an overflow slot, or of a keeper, that looked at the generation before it changed. It is gone
 *       when the slot is free, was taken anew, or its owner is dead. Taking a slot is followed by a
 *       full barrier and a look at the generation, and we look at the slots after publishing: so
 *       whoever takes one after our look sees the new generation.
 *   (c) a consuming reader, which stores how far it has come. It locks a byte of the set's head
 *       (capture/stream), and after that looks whether the set is still in use; we look at the locks
 *       after publishing.
 */
#include "control/reclaim.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/mono.h"
#include "control/file.h"
#include "control/sets.h"

#define LIMBO_AGE_NS 10000000000ull
#define OWNER_WAIT_MS 100

int control_limbo_add_extent(struct control *control, uint64_t offset, uint64_t size,
			     struct err *err)
{
	struct control_state *state = &control->state;
	struct state_limbo *limbo;

	/* Neighbours share an entry: the younger age holds for both. */
	for (uint32_t i = 0; i < state->nlimbo; i++) {
		limbo = &state->limbo[i];
		if (limbo->offset + limbo->size != offset && offset + size != limbo->offset)
			continue;
		limbo->offset = limbo->offset < offset ? limbo->offset : offset;
		limbo->size += size;
		goto stamp;
	}
	if (state->nlimbo == STATE_LIMBO_MAX)
		return err_set(err, -EBUSY, "%s/rings: too much was given up that a program or a "
			       "reader may still use: try again in 10 s", control->dir.path);
	limbo = &state->limbo[state->nlimbo++];
	limbo->offset = offset;
	limbo->size = size;
stamp:
	limbo->generation = control_state_generation(state);
	limbo->mono = mono_ns();
	return 0;
}

int control_limbo_add(struct control *control, struct state_set *set, struct err *err)
{
	int r = 0;

	if (set->offset)
		r = control_limbo_add_extent(control, set->offset,
					     control_set_size(set, control->dir.ncpu), err);
	if (!r)
		memset(set, 0, sizeof(*set));
	return r;
}

int control_limbo_take(struct control *control, const struct state_set *set)
{
	struct control_state *state = &control->state;
	uint64_t at = set->offset, size = control_set_size(set, control->dir.ncpu);

	for (uint32_t i = 0; i < state->nlimbo; i++) {
		struct state_limbo *limbo = &state->limbo[i], behind = *limbo;
		uint64_t end = limbo->offset + limbo->size;

		if (at < limbo->offset || at + size > end)
			continue;
		if (at > limbo->offset && at + size < end && state->nlimbo == STATE_LIMBO_MAX)
			return -ENOSPC;
		behind.offset = at + size;
		behind.size = end - behind.offset;
		limbo->size = at - limbo->offset;
		if (!limbo->size)
			*limbo = behind.size ? behind : state->limbo[--state->nlimbo];
		else if (behind.size)
			state->limbo[state->nlimbo++] = behind;
		return 0;
	}
	return -ENOENT;
}

static bool cpu_online(uint32_t cpu)
{
	char path[80];
	FILE *file;
	int c;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%" PRIu32 "/online", cpu);
	file = fopen(path, "re");
	/* The file is missing where a CPU cannot be taken offline. */
	if (!file)
		return errno == ENOENT;
	c = fgetc(file);
	fclose(file);
	return c != '0';
}

/* (a): runs on every CPU that a program can run on. False when one of them cannot be visited. */
static bool visit_cpus(uint32_t ncpu)
{
	size_t size = CPU_ALLOC_SIZE(SEGMENT_NCPU_MAX);
	cpu_set_t *home = CPU_ALLOC(SEGMENT_NCPU_MAX);
	cpu_set_t *one = CPU_ALLOC(SEGMENT_NCPU_MAX);
	bool all = home && one && !sched_getaffinity(0, size, home);

	for (uint32_t cpu = 0; all && cpu < ncpu; cpu++) {
		CPU_ZERO_S(size, one);
		CPU_SET_S(cpu, size, one);
		if (!sched_setaffinity(0, size, one))
			continue;
		all = !cpu_online(cpu);
	}
	if (home)
		sched_setaffinity(0, size, home);
	CPU_FREE(home);
	CPU_FREE(one);
	return all;
}

/* Start time of a thread as its owner word has it, 0 when it does not run. */
static uint32_t thread_start(uint32_t tid)
{
	unsigned long long start = 0;
	char path[64], text[1024], *p, how = 0;
	size_t n;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/stat", tid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	n = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[n] = '\0';
	/* The name may hold anything: fields count from the last parenthesis. */
	p = strrchr(text, ')');
	if (!p || sscanf(p + 1, " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
			 "%*s %*s %*s %*s %llu", &how, &start) != 2)
		return 0;
	/* Dead and not buried yet: its parent may take its time. */
	if (how == 'Z' || how == 'X')
		return 0;
	return (uint32_t)start ? (uint32_t)start : 1;
}

static bool owner_dead(uint64_t owner)
{
	uint32_t start = thread_start((uint32_t)(owner >> 32));

	return !start || ((uint32_t)owner && start != (uint32_t)owner);
}

static bool slot_read(const struct control *control, uint32_t i, struct overflow_slot *slot)
{
	uint64_t at = offsetof(struct rings_head, slot) + (uint64_t)i * sizeof(*slot);

	return !control_file_read(&control->dir, SEGMENT_RINGS, slot, sizeof(*slot), at, NULL);
}

/* (b) for one slot: waits a moment for a live owner. */
static bool slot_passed(const struct control *control, uint32_t i, int *patience_ms)
{
	struct timespec pause = { 0, 1000000 };
	struct overflow_slot first, now;

	if (!slot_read(control, i, &first))
		return false;
	if (!first.owner || owner_dead(first.owner))
		return true;
	for (; *patience_ms > 0; (*patience_ms)--) {
		nanosleep(&pause, NULL);
		if (!slot_read(control, i, &now))
			return false;
		if (now.owner != first.owner || now.taken != first.taken)
			return true;
	}
	return owner_dead(first.owner);
}

bool control_quiesce(const struct control *control, bool old_enough)
{
	int patience_ms = OWNER_WAIT_MS;

	if (!visit_cpus(control->dir.ncpu)) {
		if (!old_enough)
			return false;
		/* Best effort: no section lasts for as long as it has been. */
		syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	}
	atomic_thread_fence(memory_order_seq_cst);
	for (uint32_t i = 0; i < control->dir.ncpu + RING_KEEPERS; i++)
		if (!slot_passed(control, i, &patience_ms))
			return false;
	return true;
}

/* (c): has nobody locked any byte of that part of the file? */
static bool is_unlocked(const struct control *control, const struct state_limbo *limbo)
{
	struct flock lock = {
		.l_type = F_WRLCK,
		.l_whence = SEEK_SET,
		.l_start = (off_t)limbo->offset,
		.l_len = (off_t)limbo->size,
	};

	return !fcntl(control->dir.fd[SEGMENT_RINGS], F_OFD_GETLK, &lock) && lock.l_type == F_UNLCK;
}

static bool free_extent(const struct control *control, const struct state_limbo *limbo,
			uint64_t file_size)
{
	uint64_t end = limbo->offset + limbo->size;

	if (!is_unlocked(control, limbo))
		return false;
	end = end < file_size ? end : file_size;
	return limbo->offset >= end || !control_file_punch(&control->dir, SEGMENT_RINGS,
							   limbo->offset, end - limbo->offset, NULL);
}

void control_reclaim(struct control *control)
{
	struct control_state *state = &control->state;
	uint64_t now = mono_ns();
	bool old_enough = true;
	uint32_t kept = 0;
	uint64_t size;

	if (!state->nlimbo || control_file_size(&control->dir, SEGMENT_RINGS, &size, NULL))
		return;
	for (uint32_t i = 0; i < state->nlimbo; i++)
		if (now - state->limbo[i].mono < LIMBO_AGE_NS)
			old_enough = false;
	if (!control_quiesce(control, old_enough))
		return;
	for (uint32_t i = 0; i < state->nlimbo; i++)
		if (!free_extent(control, &state->limbo[i], size))
			state->limbo[kept++] = state->limbo[i];
	if (kept == state->nlimbo)
		return;
	/* Another generation, which differs in nothing that a program looks at. */
	state->nlimbo = kept;
	control_state_publish(state, &control->dir, NULL);
}

void control_retire_consumed(struct control *control)
{
	struct control_state *state = &control->state;
	bool quiet = false;

	for (uint32_t i = 0; i < state->nbuffers; i++) {
		struct state_buffer *buffer = &state->buffers[i];
		uint32_t kept = 0;

		for (uint32_t j = 0; j < buffer->nretired; j++) {
			/* Only what nobody adds to any more can be read to its end. */
			if (!quiet && !(quiet = control_quiesce(control, false)))
				return;
			if (control_set_consumed(control, &buffer->retired[j]) &&
			    !control_limbo_add(control, &buffer->retired[j], NULL))
				continue;
			buffer->retired[kept++] = buffer->retired[j];
		}
		memset(&buffer->retired[kept], 0,
		       (buffer->nretired - kept) * sizeof(struct state_set));
		buffer->nretired = kept;
	}
}
