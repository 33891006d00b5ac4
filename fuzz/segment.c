/*
 * Any bytes in the four files of a tracing directory, while a program writes into it and the tool
 * reads it: nobody crashes, reads or writes out of bounds, or hangs. The input is a list of patches
 * to a sound directory:
 *
 *   region (1 byte) | offset in it (2 bytes) | length (1 byte) | that many bytes | ...
 *
 * After each input the directory is put back as it was.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/control.h"
#include "control/enable.h"
#include "control/tree.h"
#include "layout/registry.h"
#include "layout/ring.h"
#include "runtime/local.h"
#include "runtime/runtime.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const int ringside_no_attach = 1;

#define REGION_MAX 32768u

static struct region {
	enum segment_kind kind;
	uint64_t offset;
	uint32_t size;
	uint8_t sound[REGION_MAX];
} regions[20];
static unsigned nregions;
static struct control *control;
static char path[64];
static uint32_t id;

static void add(enum segment_kind kind, uint64_t offset, uint32_t size)
{
	struct region *region = &regions[nregions++];

	*region = (struct region){ .kind = kind, .offset = offset, .size = size };
	if (pread(control->dir.fd[kind], region->sound, size, (off_t)offset) != (ssize_t)size)
		abort();
}

static void emit(void)
{
	uint64_t record[8] = { 0 };

	for (int i = 0; i < 20; i++)
		runtime_write(id, record, 8 + (size_t)i % 14 * 4);
}

static void add_regions(void)
{
	const struct state_set *set = &control->state.buffers[0].live;
	uint32_t ncpu = control->dir.ncpu;

	add(SEGMENT_CONTROL, 0, 8192);
	add(SEGMENT_REGISTRY, 0, 4096);
	add(SEGMENT_REGISTRY, REGISTRY_EVENTS_OFFSET, 4096);
	add(SEGMENT_REGISTRY, REGISTRY_TASKS_OFFSET, 4096);
	add(SEGMENT_REGISTRY, REGISTRY_HEAP_OFFSET, 4096);
	add(SEGMENT_RINGS, 0, 4096);
	add(SEGMENT_TABLES, 0, 4096);
	add(SEGMENT_RINGS, set->offset, SET_HEAD_SIZE);
	for (uint32_t i = 0; i < 3 * ncpu && i < 6; i++) {
		uint64_t ring = set_ring_offset(set->offset, i, ncpu, set->npages, set->page_size);

		add(SEGMENT_RINGS, ring, 1024);
		add(SEGMENT_RINGS, ring + ring_pages_offset(ncpu, set->npages), 8192);
	}
}

static void clean_up(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", path);
	if (system(command))
		return;
}

static void set_up(void)
{
	static const char body[] = "\tfield:int value;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"%d\", REC->value\n";
	const uint32_t *hint;
	struct err err = ERR_INIT;

	snprintf(path, sizeof(path), "/dev/shm/ringside-fuzz.%d", (int)getpid());
	atexit(clean_up);
	if (control_open(&control, path, true, &err) || control_begin(control, &err) ||
	    control_enable(control, 0, "*", "*", true, &err) || control_commit(control, &err) ||
	    runtime_attach(path) || runtime_event_intern("fuzz", "event", body, strlen(body), 0, &id, &hint)) {
		fprintf(stderr, "no directory to fuzz: %s\n", err.text);
		exit(1);
	}
	emit();
	if (control_refresh(control, &err))
		abort();
	add_regions();
}

/* One file an input: each reads most of the directory. */
static void look(unsigned which)
{
	static const char *const files[] = { "trace", "available_events", "events/enable", "saved_cmdlines",
					     "printk_formats", "per_cpu/cpu0/stats", "per_cpu/cpu0/trace",
					     "events/fuzz/event/format", "buffer_size_kb", "set_event" };
	struct buf text = BUF_INIT;
	struct err err = ERR_INIT;

	if (tree_read(control, files[which % (sizeof(files) / sizeof(files[0]))], &text, &err) < 0 && !err.text[0])
		abort();
	buf_fini(&text);
}

static void restore(void)
{
	for (unsigned i = 0; i < nregions; i++)
		if (pwrite(control->dir.fd[regions[i].kind], regions[i].sound, regions[i].size,
			   (off_t)regions[i].offset) < 0)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned which = size ? data[0] : 0;

	if (!control)
		set_up();
	while (size >= 4) {
		const struct region *region = &regions[data[0] % nregions];
		uint32_t at = (data[1] | (uint32_t)data[2] << 8) % region->size, n = data[3];

		data += 4;
		size -= 4;
		if (n > size)
			n = (uint32_t)size;
		if (n > region->size - at)
			n = region->size - at;
		if (pwrite(control->dir.fd[region->kind], data, n, (off_t)(region->offset + at)) < 0)
			abort();
		data += n;
		size -= n;
	}
	emit();
	look(which);
	restore();
	return 0;
}
