/*
 * control/sets: see sets.h. Called in transactions only, so nobody else allocates meanwhile.
 *
 * Used room is what the state names: sets in use and limbo. The rest of the file is free, first
 * fit, and is made to read as zeros before it is used: whoever died while it built a set may have
 * left bytes there. The rings' heads get memory at once, because programs store to them without
 * asking; the pages get theirs from the first program that writes on that CPU.
 */
#include "control/sets.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "capture/told.h"
#include "control/clock.h"
#include "control/file.h"

struct extent {
	uint64_t offset;
	uint64_t end;
};

#define EXTENTS_MAX (STATE_BUFFERS_MAX * (2 + STATE_RETIRED_MAX + STATE_SPARES) + STATE_LIMBO_MAX)

static void extent_add(struct extent *extents, size_t *n, const struct state_set *set,
		       uint32_t ncpu)
{
	if (set->offset)
		extents[(*n)++] = (struct extent){ set->offset,
						   set->offset + control_set_size(set, ncpu) };
}

static int extent_compare(const void *a, const void *b)
{
	const struct extent *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static size_t extents_used(const struct control *control, struct extent *extents)
{
	const struct control_state *state = &control->state;
	uint32_t ncpu = control->dir.ncpu;
	size_t n = 0;

	for (uint32_t i = 0; i < state->nbuffers; i++) {
		const struct state_buffer *buffer = &state->buffers[i];

		extent_add(extents, &n, &buffer->live, ncpu);
		extent_add(extents, &n, &buffer->snapshot, ncpu);
		for (uint32_t j = 0; j < buffer->nretired; j++)
			extent_add(extents, &n, &buffer->retired[j], ncpu);
		for (uint32_t j = 0; j < buffer->nspares; j++)
			extent_add(extents, &n, &buffer->spares[j], ncpu);
	}
	for (uint32_t i = 0; i < state->nlimbo; i++)
		extents[n++] = (struct extent){ state->limbo[i].offset,
						state->limbo[i].offset + state->limbo[i].size };
	qsort(extents, n, sizeof(*extents), extent_compare);
	return n;
}

/* First fit; 0 when the file would become too long. */
static uint64_t find_room(const struct control *control, uint64_t size)
{
	struct extent extents[EXTENTS_MAX];
	size_t n = extents_used(control, extents);
	uint64_t at = rings_data_offset(control->dir.ncpu);

	for (size_t i = 0; i < n; i++) {
		if (extents[i].offset >= at && extents[i].offset - at >= size)
			break;
		if (extents[i].end > at)
			at = extents[i].end;
	}
	return size <= CONTROL_RINGS_MAX && at <= CONTROL_RINGS_MAX - size ? at : 0;
}

/* Gives back what memory there is between two bytes of the file. Where that cannot be done it is found by the next set. */
static void sweep(const struct control *control, uint64_t from, uint64_t to)
{
	int fd = control->dir.fd[SEGMENT_RINGS];
	off_t data = from < to ? lseek(fd, (off_t)from, SEEK_DATA) : -1;

	if (data >= 0 && (uint64_t)data < to)
		(void)!fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, data,
				 (off_t)to - data);
}

void control_sets_sweep(const struct control *control)
{
	struct extent extents[EXTENTS_MAX];
	size_t n = extents_used(control, extents);
	uint64_t at = rings_data_offset(control->dir.ncpu), size;

	if (control_file_size(&control->dir, SEGMENT_RINGS, &size, NULL))
		return;
	for (size_t i = 0; i < n; i++) {
		sweep(control, at, extents[i].offset);
		if (extents[i].end > at)
			at = extents[i].end;
	}
	sweep(control, at, size);
}

/* Is there memory for the rings of every CPU that is online, and for all heads? */
static int check_space(const struct control *control, uint32_t npages, uint32_t page_size,
		       struct err *err)
{
	uint32_t ncpu = control->dir.ncpu;
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t need, room;
	struct statvfs fs;

	if (online < 1 || online > (long)ncpu)
		online = ncpu;
	need = SET_HEAD_SIZE + 3ull * ncpu * ring_align((uint64_t)npages * 8) +
	       ncpu * (4096 + 2 * ring_head_size(ncpu)) + (uint64_t)online * npages * page_size;
	if (fstatvfs(control->dir.fd[SEGMENT_RINGS], &fs))
		return 0;
	room = (uint64_t)fs.f_bavail * fs.f_frsize;
	/* A file system without a limit of its own tells 0 blocks. */
	if (!fs.f_blocks || need <= room)
		return 0;
	return err_set(err, -ENOSPC, "%s/rings: needs %llu KiB and the file system has %llu: make "
		       "room or use a smaller buffer", control->dir.path,
		       (unsigned long long)(need / 1024), (unsigned long long)(room / 1024));
}

/* The first bytes of ring `i`: empty, at position 0, nothing read. */
static void head_init(unsigned char *bytes, uint32_t i, uint32_t ncpu, uint32_t npages,
		      uint32_t page_size)
{
	struct ring_head *head = (struct ring_head *)(void *)bytes;
	struct ring_stream *streams = (struct ring_stream *)(void *)(bytes + RING_STREAMS_OFFSET);

	memset(bytes, 0, ring_head_size(ncpu));
	head->slot[0].tag = ring_pos(0, 0);
	head->slot[1].tag = UINT64_MAX;
	head->read[0].pos = ring_pos(0, 0);
	head->read[1].pos = UINT64_MAX;
	head->cpu = i % ncpu;
	head->npages = npages;
	head->page_size = page_size;
	head->ncpu = ncpu;
	for (uint32_t cpu = 0; i >= ncpu && cpu < ncpu; cpu++) {
		streams[cpu].read[0].pos = ring_pos(0, 0);
		streams[cpu].read[1].pos = UINT64_MAX;
	}
}

/*
 * Memory for what programs store to without asking: a ring's head and its first[]. A CPU's own ring
 * has no streams, so the rest of its head stays a hole.
 */
static int ring_back(const struct control *control, const struct state_set *set, uint32_t i,
		     uint64_t at, uint64_t head_size, struct err *err)
{
	const struct segment_dir *dir = &control->dir;
	uint64_t used = i < dir->ncpu ? 4096 : head_size;
	int r = control_file_back(dir, SEGMENT_RINGS, at, used, err);

	return r ? r : control_file_back(dir, SEGMENT_RINGS, at + head_size,
					 ring_align((uint64_t)set->npages * 8), err);
}

static int rings_init(const struct control *control, const struct state_set *set,
		      const struct control_set_plan *plan, struct err *err)
{
	const struct segment_dir *dir = &control->dir;
	uint32_t ncpu = dir->ncpu;
	size_t size = ring_head_size(ncpu);
	unsigned char *bytes = aligned_alloc(64, size);
	int r;

	if (!bytes)
		return err_set(err, -ENOMEM, "out of memory");
	r = control_file_back(dir, SEGMENT_RINGS, set->offset, SET_HEAD_SIZE, err);
	for (uint32_t i = 0; !r && i < 3 * ncpu; i++) {
		uint64_t at = set_ring_offset(set->offset, i, ncpu, set->npages, set->page_size);

		head_init(bytes, i, ncpu,
			  plan->cpu_npages && i < ncpu ? plan->cpu_npages[i] : set->npages,
			  set->page_size);
		if (plan->lost && i < ncpu)
			((struct ring_head *)(void *)bytes)->refused = plan->lost[i];
		r = ring_back(control, set, i, at, size, err);
		if (!r)
			r = control_file_write(dir, SEGMENT_RINGS, bytes, i < ncpu ? 4096 : size, at,
					       err);
	}
	free(bytes);
	return r;
}

int control_set_make(struct control *control, struct state_set *set,
		     const struct control_set_plan *plan, struct err *err)
{
	const struct segment_dir *dir = &control->dir;
	uint64_t size = set_size(dir->ncpu, plan->npages, plan->page_size);
	struct state_set made = { .npages = plan->npages, .page_size = plan->page_size };
	uint64_t old_size;
	int r;

	if (!control_geometry_valid(plan->npages, plan->page_size))
		return err_set(err, -EINVAL, "a ring cannot have %u pages of %u bytes", plan->npages,
			       plan->page_size);
	r = check_space(control, plan->npages, plan->page_size, err);
	if (r)
		return r;
	made.offset = find_room(control, size);
	if (!made.offset)
		return err_set(err, -ENOSPC, "%s/rings: would become too large: use a smaller buffer",
			       dir->path);
	r = control_file_size(dir, SEGMENT_RINGS, &old_size, err);
	if (!r)
		r = control_file_grow(dir, SEGMENT_RINGS, made.offset + size, err);
	if (!r && made.offset < old_size)
		r = control_file_punch(dir, SEGMENT_RINGS, made.offset,
				       (old_size < made.offset + size ? old_size : made.offset + size) -
				       made.offset, err);
	if (!r)
		r = rings_init(control, &made, plan, err);
	if (r)
		return r;
	told_hold(dir->fd[SEGMENT_RINGS], made.offset);
	control_clock_make(&made.clock, plan->clock, dir, plan->before);
	made.generation = control_state_generation(&control->state) + 1;
	*set = made;
	return 0;
}

bool control_set_shape(const struct control *control, const struct state_set *set,
		       uint32_t *cpu_npages)
{
	bool differ = false;

	for (uint32_t cpu = 0; cpu < control->dir.ncpu; cpu++) {
		uint64_t at = set_ring_offset(set->offset, cpu, control->dir.ncpu, set->npages,
					      set->page_size);
		uint32_t said = 0;

		control_file_read(&control->dir, SEGMENT_RINGS, &said, sizeof(said),
				  at + offsetof(struct ring_head, npages), NULL);
		cpu_npages[cpu] = ring_npages(said, set->npages);
		differ |= cpu_npages[cpu] != cpu_npages[0];
	}
	return differ;
}

int control_set_lock(const struct control *control, const struct state_set *set)
{
	/* All bytes that consumers lock one of: see capture/stream. */
	struct flock lock = {
		.l_type = F_WRLCK,
		.l_whence = SEEK_SET,
		.l_start = (off_t)set->offset,
		.l_len = SET_HEAD_SIZE,
	};

	return fcntl(control->dir.fd[SEGMENT_RINGS], F_OFD_SETLK, &lock) ? -EAGAIN : 0;
}

/* A ring's head with what follows it, and the number that its next event will have. */
struct tally {
	unsigned char *bytes;
	const struct ring_head *head;
	const struct ring_stream *streams;
	uint64_t next;
	uint64_t end;		/* the position behind its last event */
};

static bool tally_read(struct tally *tally, const struct control *control,
		       const struct state_set *set, uint32_t ring)
{
	uint32_t ncpu = control->dir.ncpu;
	uint64_t at = set_ring_offset(set->offset, ring, ncpu, set->npages, set->page_size);
	const struct ring_head *head = (const void *)tally->bytes;
	struct page_head page;
	uint64_t index;

	tally->head = head;
	tally->streams = (const void *)(tally->bytes + RING_STREAMS_OFFSET);
	if (control_file_read(&control->dir, SEGMENT_RINGS, tally->bytes, ring_head_size(ncpu), at,
			      NULL))
		return false;
	index = head->tail & RING_INDEX_MASK;
	at += ring_pages_offset(ncpu, set->npages) + index * set->page_size;
	if (index >= set->npages ||
	    control_file_read(&control->dir, SEGMENT_RINGS, &page, sizeof(page), at, NULL))
		return false;
	tally->end = ring_pos(head->tail, page.commit & PAGE_COMMIT_MASK);
	for (int i = 0; i < 2; i++) {
		if (head->slot[i].tag == tally->end) {
			tally->next = head->slot[i].nr + head->dropped;
			return true;
		}
	}
	return false;
}

/* Events before `next` that the reader who wrote these records has not been told of. */
static uint64_t untold(const struct tally *tally, uint64_t consumed,
		       const struct ring_read records[2])
{
	for (int i = 0; i < 2; i++)
		if (records[i].pos == consumed && records[i].nr <= tally->next)
			return tally->next - records[i].nr;
	return tally->next;
}

/* Of the events that found no way into any ring, those that no reader was told of. */
static uint64_t untold_refused(const struct ring_head *head)
{
	for (int i = 0; i < 2; i++)
		if (head->read[i].pos == head->consumed && head->read[i].refused <= head->refused)
			return head->refused - head->read[i].refused;
	return head->refused;
}

int control_set_unread(const struct control *control, const struct state_set *set, uint64_t *unread)
{
	uint32_t ncpu = control->dir.ncpu;
	struct tally tally = { .bytes = aligned_alloc(64, ring_head_size(ncpu)) };
	int r = tally.bytes ? 0 : -ENOMEM;

	for (uint32_t cpu = 0; !r && cpu < ncpu; cpu++) {
		unread[cpu] = 0;
		r = tally_read(&tally, control, set, cpu) ? 0 : -EUCLEAN;
		if (!r)
			unread[cpu] = untold(&tally, tally.head->consumed, tally.head->read) +
				      untold_refused(tally.head);
		if (!r)
			r = tally_read(&tally, control, set, ncpu + cpu) ? 0 : -EUCLEAN;
		if (!r)
			unread[cpu] += untold(&tally, tally.streams[cpu].consumed,
					      tally.streams[cpu].read);
		if (!r)
			r = tally_read(&tally, control, set, 2 * ncpu + cpu) ? 0 : -EUCLEAN;
		if (!r)
			unread[cpu] += untold(&tally, tally.streams[0].consumed, tally.streams[0].read);
	}
	free(tally.bytes);
	return r;
}

/* Has every CPU's stream come to the end of the overflow ring? */
static bool overflow_consumed(const struct control *control, const struct state_set *set,
			      struct tally *tally, uint32_t i)
{
	uint32_t ncpu = control->dir.ncpu;

	if (!tally_read(tally, control, set, ncpu + i))
		return false;
	for (uint32_t cpu = 0; cpu < ncpu; cpu++)
		if (untold(tally, tally->streams[cpu].consumed, tally->streams[cpu].read))
			return false;
	return true;
}

/* The same of what was told late: one CPU's stream reads it. */
static bool told_consumed(const struct control *control, const struct state_set *set,
			  struct tally *tally, uint32_t cpu)
{
	return tally_read(tally, control, set, 2 * control->dir.ncpu + cpu) &&
	       !untold(tally, tally->streams[0].consumed, tally->streams[0].read);
}

bool control_set_consumed(const struct control *control, const struct state_set *set)
{
	uint32_t ncpu = control->dir.ncpu;
	struct tally tally = { .bytes = aligned_alloc(64, ring_head_size(ncpu)) };
	bool consumed = tally.bytes != NULL;

	for (uint32_t i = 0; consumed && i < ncpu; i++)
		consumed = tally_read(&tally, control, set, i) &&
			   !untold(&tally, tally.head->consumed, tally.head->read) &&
			   !untold_refused(tally.head) &&
			   overflow_consumed(control, set, &tally, i) &&
			   told_consumed(control, set, &tally, i);
	free(tally.bytes);
	return consumed;
}

bool control_set_emptied(const struct control *control, const struct state_set *set)
{
	uint32_t ncpu = control->dir.ncpu;
	struct tally tally = { .bytes = aligned_alloc(64, ring_head_size(ncpu)) };
	bool emptied = tally.bytes != NULL;

	for (uint32_t i = 0; emptied && i < ncpu; i++) {
		emptied = tally_read(&tally, control, set, i) && tally.head->consumed == tally.end;
		emptied = emptied && tally_read(&tally, control, set, ncpu + i);
		for (uint32_t cpu = 0; emptied && cpu < ncpu; cpu++)
			emptied = tally.streams[cpu].consumed == tally.end;
		emptied = emptied && tally_read(&tally, control, set, 2 * ncpu + i) &&
			  tally.streams[0].consumed == tally.end;
	}
	free(tally.bytes);
	return emptied;
}
