/*
 * runtime/frames: an index of call frame tables for a program that is linked statically and has none, as .eh_frame_hdr is one.
 *
 * Made when a stack is first walked, from the program's file, which tells where its .eh_frame is; in a signal handler too. Until it
 * is there, and where the file cannot be read, frame pointers have to do. Large programs get none.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/local.h"
#include "runtime/unwind.h"

#define ENTRIES_MAX 65536u
#define NAME ".eh_frame"

enum { INDEX_NONE, INDEX_MAKING, INDEX_READY, INDEX_FAILED };

/* The bytes of an .eh_frame_hdr: places relative to its beginning. Untouched where nobody needs it. */
static struct {
	uint8_t version, frames_form, count_form, form;
	uint32_t frames;
	uint32_t count;
	int32_t entry[ENTRIES_MAX][2];
} frames_index;
static uint32_t state;

static bool read_at(long fd, void *to, size_t len, uint64_t offset)
{
#if defined(__i386__)
	return syscall(SYS_pread64, fd, to, len, (long)offset, 0L) == (long)len;
#else
	return syscall(SYS_pread64, fd, to, len, (long)offset) == (long)len;
#endif
}

/* Where the section of that name is in memory. */
static bool find_section(long fd, ElfW(Shdr) *section)
{
	char name[sizeof(NAME)];
	ElfW(Ehdr) head;
	ElfW(Shdr) names;

	if (!read_at(fd, &head, sizeof(head), 0) || memcmp(head.e_ident, ELFMAG, SELFMAG) ||
	    head.e_shentsize != sizeof(*section) ||
	    !read_at(fd, &names, sizeof(names), head.e_shoff + (uint64_t)head.e_shstrndx * sizeof(names)))
		return false;
	for (uint32_t i = 1; i < head.e_shnum; i++)
		if (read_at(fd, section, sizeof(*section), head.e_shoff + (uint64_t)i * sizeof(*section)) &&
		    section->sh_flags & SHF_ALLOC && read_at(fd, name, sizeof(name), names.sh_offset + section->sh_name) &&
		    !memcmp(name, NAME, sizeof(name)))
			return true;
	return false;
}

static bool locate(struct module *part, uintptr_t load)
{
	ElfW(Shdr) section;
	long fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/exe", O_RDONLY | O_CLOEXEC);
	bool found = fd >= 0 && find_section(fd, &section);

	if (fd >= 0)
		syscall(SYS_close, fd);
	if (!found)
		return false;
	part->frames_start = load + section.sh_addr;
	part->frames_end = part->frames_start + section.sh_size;
	return true;
}

static bool is_before(uint32_t a, uint32_t b)
{
	return frames_index.entry[a][0] < frames_index.entry[b][0];
}

static void swap(uint32_t a, uint32_t b)
{
	int32_t one[2];

	memcpy(one, frames_index.entry[a], sizeof(one));
	memcpy(frames_index.entry[a], frames_index.entry[b], sizeof(one));
	memcpy(frames_index.entry[b], one, sizeof(one));
}

static void sink(uint32_t at, uint32_t n)
{
	for (uint32_t child; (child = 2 * at + 1) < n; at = child) {
		if (child + 1 < n && is_before(child, child + 1))
			child++;
		if (!is_before(at, child))
			return;
		swap(at, child);
	}
}

/* In place, and no worse for what is sorted already. */
static void sort(uint32_t n)
{
	for (uint32_t i = n / 2; i--;)
		sink(i, n);
	while (n > 1) {
		swap(0, --n);
		sink(0, n);
	}
}

static bool fill(const struct module *part)
{
	uintptr_t at = part->frames_start;
	uint32_t n = 0, len;

	while (part->frames_end - at > sizeof(len)) {
		uintptr_t start;

		memcpy(&len, (const void *)at, sizeof(len));
		if (len > part->frames_end - at - sizeof(len))
			return false;
		if (len && runtime_unwind_fde(part, at, &start)) {
			if (n == ENTRIES_MAX)
				return false;
			frames_index.entry[n][0] = (int32_t)(start - (uintptr_t)&frames_index);
			frames_index.entry[n++][1] = (int32_t)(at - (uintptr_t)&frames_index);
		}
		at += sizeof(len) + len;
	}
	sort(n);
	frames_index.count = n;
	return n > 0;
}

static bool make(const struct module *module)
{
	struct module part = { 0 };
	int saved = errno;
	bool made = !LOAD(runtime.locked) && locate(&part, module->load) && part.frames_start >= module->start &&
		    part.frames_end <= module->end && fill(&part);

	/* Version 1; numbers of 4 bytes; places of 4 bytes, signed, relative to this. */
	frames_index.version = 1;
	frames_index.frames_form = frames_index.count_form = 0x03;
	frames_index.form = 0x3b;
	errno = saved;
	return made;
}

bool runtime_frames_index(const struct module *module)
{
	struct module *its = (struct module *)(uintptr_t)module;
	uintptr_t own = (uintptr_t)&frames_index, entry = (uintptr_t)getauxval(AT_ENTRY);
	uint32_t none = INDEX_NONE;

	/* Only of the program, and if this is a part of it. */
	if (own < module->start || own >= module->end || entry < module->start || entry >= module->end)
		return false;
	if (__atomic_compare_exchange_n(&state, &none, INDEX_MAKING, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		STORE_RELEASE(state, make(module) ? INDEX_READY : INDEX_FAILED);
	if (LOAD_ACQUIRE(state) != INDEX_READY)
		return false;
	STORE(its->frames_start, its->start);
	STORE(its->frames_end, its->end);
	/* Partner: has_tables() in runtime/unwind.c. */
	STORE_RELEASE(its->frames, (const unsigned char *)&frames_index);
	return true;
}
