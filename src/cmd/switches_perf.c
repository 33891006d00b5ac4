/*
 * cmd/switches_perf: see switches_local.h.
 *
 * An event that counts nothing and has context-switch records, for each thread and CPU, and one buffer for each CPU into which all of
 * that CPU's go: so they lie there in order of time. The buffer belongs to an event of our own, which has no records.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cmd/switches_local.h"

/* Pages of data: what an ordinary user may lock is half a megabyte a CPU. */
#define PAGES_MAX 64u
#define PAGES_MIN 4u
#define RECORD_MAX 512u
#define SEEN_MAX (1u << 20)

/* Behind each record, as sample_type asks for. */
struct sample_id {
	uint32_t tgid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
};

static int event_open(pid_t tid, uint32_t cpu, bool records)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
		.sample_id_all = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.use_clockid = 1,
		/* Runs evenly, as the CPU's counter does. */
		.clockid = CLOCK_MONOTONIC_RAW,
		.inherit = records,
		.context_switch = records,
		.comm = records,
		.comm_exec = records,
		.task = records,
	};
	long fd = syscall(SYS_perf_event_open, &attr, tid, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static int buffer_open(struct perf *perf, uint32_t cpu)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct perf_cpu *to = &perf->cpu[cpu];
	void *map = MAP_FAILED;

	to->fd = event_open(0, cpu, false);
	if (to->fd < 0)
		return to->fd == -ENODEV ? 0 : to->fd;
	for (uint32_t n = perf->data_size ? perf->data_size / (uint32_t)page : PAGES_MAX; map == MAP_FAILED && n >= PAGES_MIN; n /= 2) {
		map = mmap(NULL, (n + 1) * page, PROT_READ | PROT_WRITE, MAP_SHARED, to->fd, 0);
		/* All have the size that the first one got. */
		if (map != MAP_FAILED)
			perf->data_size = n * (uint32_t)page;
		else if (perf->data_size)
			break;
	}
	if (map == MAP_FAILED)
		return -errno;
	to->map = map;
	return 0;
}

int perf_open(struct perf *perf, uint32_t ncpu)
{
	struct rlimit files;
	int r = 0;

	*perf = (struct perf){ .cpu = calloc(ncpu, sizeof(*perf->cpu)), .ncpu = ncpu };
	if (!perf->cpu)
		return -ENOMEM;
	/* A descriptor for each thread and CPU. */
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	for (uint32_t cpu = 0; cpu < ncpu; cpu++)
		perf->cpu[cpu].fd = -1;
	for (uint32_t cpu = 0; !r && cpu < ncpu; cpu++)
		r = buffer_open(perf, cpu);
	return r;
}

void perf_close(struct perf *perf)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < perf->nwatch; i++)
		close(perf->watch[i].fd);
	for (uint32_t cpu = 0; perf->cpu && cpu < perf->ncpu; cpu++) {
		if (perf->cpu[cpu].map)
			munmap(perf->cpu[cpu].map, page + perf->data_size);
		if (perf->cpu[cpu].fd >= 0)
			close(perf->cpu[cpu].fd);
	}
	free(perf->watch);
	free(perf->cpu);
}

static bool has_room(struct perf *perf)
{
	struct perf_watch *more;

	if (perf->nwatch < perf->cap)
		return true;
	more = realloc(perf->watch, (perf->cap + 64) * sizeof(*more));
	if (!more)
		return false;
	perf->watch = more;
	perf->cap += 64;
	return true;
}

int perf_watch(struct perf *perf, int32_t tgid, int32_t tid)
{
	int r = 0;

	for (uint32_t cpu = 0; !r && cpu < perf->ncpu; cpu++) {
		int fd;

		if (!perf->cpu[cpu].map)
			continue;
		fd = has_room(perf) ? event_open(tid, cpu, true) : -ENOMEM;
		if (fd < 0)
			return fd;
		if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, perf->cpu[cpu].fd))
			r = -errno;
		perf->watch[perf->nwatch++] = (struct perf_watch){ tgid, fd };
	}
	return r;
}

void perf_unwatch(struct perf *perf, int32_t tgid)
{
	size_t kept = 0;

	for (size_t i = 0; i < perf->nwatch; i++) {
		if (perf->watch[i].tgid == tgid)
			close(perf->watch[i].fd);
		else
			perf->watch[kept++] = perf->watch[i];
	}
	perf->nwatch = kept;
}

struct seen *seen_add(struct seen_list *list)
{
	struct seen *more;
	size_t cap;

	if (list->n == list->cap) {
		cap = list->cap ? 2 * list->cap : 1024;
		more = cap <= SEEN_MAX ? realloc(list->at, cap * sizeof(*more)) : NULL;
		if (!more)
			return NULL;
		list->at = more;
		list->cap = cap;
	}
	return memset(&list->at[list->n++], 0, sizeof(*list->at));
}

/* One record, whole and in our own memory. */
static void take_one(const struct perf *perf, struct seen_list *list, const unsigned char *record, const struct perf_event_header *head)
{
	const unsigned char *body = record + sizeof(*head);
	struct sample_id id;
	struct seen *seen;

	if (head->size < sizeof(*head) + sizeof(id))
		return;
	memcpy(&id, record + head->size - sizeof(id), sizeof(id));
	if (head->type != PERF_RECORD_SWITCH && head->type != PERF_RECORD_COMM && head->type != PERF_RECORD_FORK &&
	    head->type != PERF_RECORD_LOST)
		return;
	seen = id.cpu < perf->ncpu ? seen_add(list) : NULL;
	if (!seen)
		return;
	*seen = (struct seen){ .raw = id.time, .cpu = id.cpu, .tid = (int32_t)id.tid, .tgid = (int32_t)id.tgid };
	if (head->type == PERF_RECORD_SWITCH) {
		seen->kind = head->misc & PERF_RECORD_MISC_SWITCH_OUT ? SEEN_OUT : SEEN_IN;
		seen->flag = head->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
	} else if (head->type == PERF_RECORD_FORK) {
		/* tgid, parent's tgid, tid, parent's tid: the sample is the parent's. */
		seen->kind = SEEN_FORK;
		memcpy(&seen->tgid, body, 4);
		memcpy(&seen->prev_tgid, body + 4, 4);
		memcpy(&seen->tid, body + 8, 4);
		memcpy(&seen->prev_tid, body + 12, 4);
	} else if (head->type == PERF_RECORD_COMM) {
		/* pid, tid, then the name. */
		seen->kind = SEEN_NAME;
		seen->flag = head->misc & PERF_RECORD_MISC_COMM_EXEC;
		memcpy(seen->comm, body + 8, head->size - sizeof(*head) - sizeof(id) - 8 < sizeof(seen->comm) - 1 ?
		       head->size - sizeof(*head) - sizeof(id) - 8 : sizeof(seen->comm) - 1);
	} else {
		/* id, how many. */
		seen->kind = SEEN_LOST;
		memcpy(&seen->lost, body + 8, sizeof(seen->lost));
	}
}

/* The shortest that each has: what is shorter is not ours. */
static bool is_whole(const struct perf_event_header *head)
{
	size_t need = sizeof(*head) + sizeof(struct sample_id);

	need += head->type == PERF_RECORD_SWITCH ? 0 : 16;
	return head->size >= need;
}

static void copy_out(const struct perf *perf, const unsigned char *data, uint64_t at, void *to, size_t len)
{
	const size_t from = (size_t)(at % perf->data_size), first = perf->data_size - from < len ? perf->data_size - from : len;

	memcpy(to, data + from, first);
	memcpy((unsigned char *)to + first, data, len - first);
}

static void take_cpu(struct perf *perf, struct perf_cpu *from, struct seen_list *list)
{
	struct perf_event_mmap_page *page = (void *)from->map;
	const unsigned char *data = from->map + sysconf(_SC_PAGESIZE);
	unsigned char record[RECORD_MAX];
	/* Partner: the kernel's store behind the records. */
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), tail = page->data_tail;

	while (tail < head) {
		struct perf_event_header what;

		copy_out(perf, data, tail, &what, sizeof(what));
		if (what.size < sizeof(what))
			break;
		if (what.size <= sizeof(record) && is_whole(&what)) {
			copy_out(perf, data, tail, record, what.size);
			take_one(perf, list, record, &what);
		}
		tail += what.size;
	}
	__atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
}

void perf_take(struct perf *perf, struct seen_list *list)
{
	for (uint32_t cpu = 0; cpu < perf->ncpu; cpu++)
		if (perf->cpu[cpu].map)
			take_cpu(perf, &perf->cpu[cpu], list);
}
