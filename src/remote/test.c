/*
 * remote/test: the built-in remote, as the kernel has one: an event, `selftest`, and a file that records it. Its memory is a file of the
 * tracing directory, there while it is loaded, and its firmware is whoever writes to `write_event`, with the hosted writer of fw/.
 *
 * One process at a time writes to a ring: under a lock of the file `state`. An own descriptor has it, so that threads keep apart, too.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fw/hosted.h"
#include "remote/local.h"

#define SELFTEST 1
#define PAGE_SHIFT 12
#define TEST_EVENTS 32

struct selftest {
	uint16_t remote_event_id;
	uint64_t id;
};

#define TEXT_BYTES (sizeof(struct ringside_fw_text) + sizeof(struct ringside_fw_field))

__extension__ static const struct ringside_fw_text text = {
	.bytes = TEXT_BYTES, .id = SELFTEST, .size = sizeof(struct selftest), .nr_fields = 1, .name = "selftest",
	.print = "\"id=%llu\", REC->id",
	.fields = { { .align = _Alignof(uint64_t), .size = 8, .type = "u64", .name = "id" } },
};

static int find(struct remote *remote, struct err *err)
{
	int fd = remote->dir < 0 ? -1 : openat(remote->dir, "memory", O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	int r;

	/* Nothing is wrong: it is not loaded. */
	if (fd < 0)
		return -ENOENT;
	r = remote_memory_take(&remote->memory, fd, true, err);
	return r ? r : remote_attach(remote, err);
}

static bool is_same(struct remote *remote)
{
	struct stat st;

	return !fstat(remote->memory.fd, &st) && st.st_nlink;
}

/* Of each CPU that a directory may have, as the kernel's. */
static uint32_t count_cpus(void)
{
	long n = sysconf(_SC_NPROCESSORS_CONF);

	return n < 1 ? 1 : n > (long)TARGET_RINGS_MAX ? TARGET_RINGS_MAX : (uint32_t)n;
}

static int make_memory(struct remote *remote, int fd, uint64_t kb)
{
	struct ringside_fw_hosted_how how = { .nr_rings = count_cpus(), .nr_pages = 2, .page_shift = PAGE_SHIFT, .nr_events = TEST_EVENTS };
	struct kept kept;
	size_t size;
	void *map;
	int r;

	while ((uint64_t)how.nr_pages << PAGE_SHIFT < kb * 1024 && how.nr_pages < RINGSIDE_FW_HOSTED_PAGES)
		how.nr_pages *= 2;
	size = ringside_fw_hosted_size(&how);
	if (posix_fallocate(fd, 0, (off_t)size))
		return -ENOSPC;
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	r = ringside_fw_hosted_init(map, size, &how);
	if (!r) {
		struct ringside_fw_hosted fw;

		remote_store_kept(remote, &kept);
		r = ringside_fw_hosted_open(&fw, map, size);
		if (!r)
			memcpy(fw.control->enable, kept.enable, TEST_EVENTS / 8);
	}
	munmap(map, size);
	return r;
}

static int load(struct remote *remote, uint64_t kb, struct err *err)
{
	char name[32];
	int fd, r;

	snprintf(name, sizeof(name), ".memory.%d", (int)getpid());
	fd = openat(remote->dir, name, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_set(err, -errno, "a buffer cannot be made: %s", strerror(errno));
	r = make_memory(remote, fd, kb ? kb : REMOTE_USUAL_KB);
	if (!r && renameat(remote->dir, name, remote->dir, "memory"))
		r = -errno;
	close(fd);
	if (r) {
		unlinkat(remote->dir, name, 0);
		return err_set(err, r, "a buffer cannot be made: %s", strerror(-r));
	}
	return find(remote, err);
}

static void unload(struct remote *remote)
{
	struct kept kept;

	remote_store_kept(remote, &kept);
	kept.boots = 0;
	remote_store_keep(remote, &kept, NULL);
	unlinkat(remote->dir, "memory", 0);
	remote_detach(remote);
}

/* This process is the target: it answers itself. */
static int tick(struct remote *remote, uint32_t ring, const struct selftest *record, struct err *err)
{
	struct ringside_fw_hosted fw;
	size_t size = (size_t)remote->memory.size;
	void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, remote->memory.fd, 0);
	int r = map == MAP_FAILED ? -errno : ringside_fw_hosted_open(&fw, map, size);

	if (!r && ring >= fw.nr_rings)
		r = -ENODEV;
	if (!r && record && (!fw.control->on || !ringside_fw_hosted_is_on(&fw, SELFTEST)))
		r = -ENODEV;
	if (!r)
		r = remote_store_lock(remote, LOCK_RING_WRITE + (off_t)ring, F_WRLCK, true);
	if (!r && record)
		ringside_fw_hosted_write(&fw, ring, record, sizeof(*record) / 4);
	else if (!r)
		ringside_fw_hosted_tick(&fw, ring);
	if (!r)
		remote_store_lock(remote, LOCK_RING_WRITE + (off_t)ring, F_UNLCK, false);
	if (map != MAP_FAILED)
		munmap(map, size);
	return r ? err_set(err, r, "%s", r == -ENODEV ? "tracing is off, or the event" : strerror(-r)) : 0;
}

static int reset(struct remote *remote, uint32_t first, uint32_t n, struct err *err)
{
	uint32_t asked;
	int r = 0;

	for (uint32_t ring = first; !r && ring < first + n; ring++) {
		r = remote_ask(remote, ring, true, &asked, err);
		r = r ? r : tick(remote, ring, NULL, err);
	}
	return r;
}

const struct remote_kind remote_kind_test = {
	.load_trace_buffer = load,
	.unload_trace_buffer = unload,
	.enable_tracing = remote_word_enable_tracing,
	.enable_event = remote_word_enable_event,
	.reset = reset,
	.swap_reader_page = remote_word_swap,
	.find = find,
	.is_same = is_same,
};

int remote_test_open(struct remote *remote, struct err *err)
{
	remote->kind = &remote_kind_test;
	remote->nr_cpus = count_cpus();
	if (remote->dir >= 0) {
		int r = remote_store_make(remote, err);

		if (r)
			return r;
	}
	return remote_texts_parse(&remote->texts, remote->name, &text, TEXT_BYTES, &remote->abi, err);
}

int remote_write_test(struct remote *remote, uint32_t cpu, uint64_t id, struct err *err)
{
	struct selftest record = { .remote_event_id = SELFTEST, .id = id };

	if (remote->kind != &remote_kind_test)
		return err_set(err, -ENOENT, "only the remote '" REMOTE_TEST "' has that");
	if (remote_look(remote, NULL))
		return err_set(err, -ENODEV, "tracing is off");
	return tick(remote, cpu, &record, err);
}
