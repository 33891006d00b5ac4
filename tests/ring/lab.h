/*
 * A set of rings without a directory or a runtime: what tests of the ring write to and read from.
 *
 * The file is a memfd, so that readers can pread what writers store through the mapping, across fork too.
 */
#ifndef TESTS_RING_LAB_H
#define TESTS_RING_LAB_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/cursor.h"
#include "insist.h"
#include "ring/arch.h"
#include "ring/read.h"
#include "ring/write.h"

struct lab {
	int fd;
	unsigned char *base;
	uint64_t size;
	uint32_t ncpu, npages, page_size;
	uint64_t *published;		/* in the file's first page */
	struct overflow_slot *slots;	/* there too */
	struct ring_ref *refs;		/* 3 * ncpu */
};

#define LAB_SET 8192u

static inline struct ring_head *lab_head(const struct lab *lab, uint32_t ring)
{
	return (void *)(lab->base + set_ring_offset(LAB_SET, ring, lab->ncpu, lab->npages, lab->page_size));
}

/* Puts a ring at its beginning, `tail` being the first page's word. */
static inline void lab_ring_init(struct lab *lab, uint32_t ring, uint64_t tail, uint64_t nr, uint64_t ts)
{
	struct ring_head *head = lab_head(lab, ring);
	struct ring_stream *streams = (void *)((char *)head + RING_STREAMS_OFFSET);

	memset(head, 0, sizeof(*head));
	head->tail = tail;
	head->made = 1;
	head->slot[0] = (struct ring_slot){ .tag = ring_pos(tail, 0), .ts = ts, .nr = nr };
	head->slot[1].tag = ~ring_pos(tail, 0);
	head->consumed = ring_pos(tail, 0);
	head->read[0] = (struct ring_read){ .pos = ring_pos(tail, 0), .nr = nr };
	head->read[1].pos = ~ring_pos(tail, 0);
	head->cpu = ring;
	head->npages = lab->npages;
	head->page_size = lab->page_size;
	head->ncpu = lab->ncpu;
	for (uint32_t i = 0; i < lab->ncpu; i++) {
		streams[i].consumed = ring_pos(tail, 0);
		streams[i].read[0] = (struct ring_read){ .pos = ring_pos(tail, 0), .nr = nr };
		streams[i].read[1].pos = ~ring_pos(tail, 0);
	}
	lab->refs[ring].first[(uint32_t)tail & RING_INDEX_MASK] = nr;
}

static inline void lab_ref_init(struct lab *lab, uint32_t ring, uint32_t flags)
{
	unsigned char *at = (unsigned char *)lab_head(lab, ring);

	lab->refs[ring] = (struct ring_ref){
		.head = (void *)at,
		.pages = at + ring_pages_offset(lab->ncpu, lab->npages),
		.first = (void *)(at + ring_head_size(lab->ncpu)),
		.npages = lab->npages,
		.data_size = lab->page_size - PAGE_HEAD_SIZE,
		.page_shift = (uint32_t)__builtin_ctz(lab->page_size),
		.flags = flags,
		.mult = 1ull << 32,
	};
}

static inline void lab_open(struct lab *lab, uint32_t ncpu, uint32_t npages, uint32_t page_size, uint32_t flags)
{
	lab->ncpu = ncpu;
	lab->npages = npages;
	lab->page_size = page_size;
	lab->size = LAB_SET + set_size(ncpu, npages, page_size);
	lab->fd = memfd_create("lab", MFD_CLOEXEC);
	CHECK(lab->fd >= 0 && !ftruncate(lab->fd, (off_t)lab->size), "%s", strerror(errno));
	lab->base = mmap(NULL, lab->size, PROT_READ | PROT_WRITE, MAP_SHARED, lab->fd, 0);
	CHECK(lab->base != MAP_FAILED, "%s", strerror(errno));
	lab->published = (void *)lab->base;
	lab->slots = (void *)(lab->base + 512);
	lab->refs = aligned_alloc(64, 3 * ncpu * sizeof(*lab->refs));
	for (uint32_t i = 0; i < 3 * ncpu; i++) {
		lab_ref_init(lab, i, flags);
		lab_ring_init(lab, i, 0, 0, 0);
	}
}

static inline void lab_close(struct lab *lab)
{
	munmap(lab->base, lab->size);
	close(lab->fd);
	free(lab->refs);
}

static inline struct ring_op lab_op(const struct lab *lab, const void *payload, uint32_t len)
{
	struct ring_op op = {
		.refs = lab->refs, .published = lab->published, .generation = *lab->published, .ncpu = lab->ncpu,
	};

	ring_op_payload(&op, payload, len);
	return op;
}

static inline struct ring_source lab_source(const struct lab *lab, uint32_t ring)
{
	return (struct ring_source){
		.fd = lab->fd, .ncpu = lab->ncpu, .npages = lab->npages, .page_size = lab->page_size,
		.offset = set_ring_offset(LAB_SET, ring, lab->ncpu, lab->npages, lab->page_size),
	};
}

static inline void lab_cursor(const struct lab *lab, uint32_t ring, struct cursor *cursor)
{
	struct ring_source source = lab_source(lab, ring);

	CHECK(!cursor_open(cursor, &source, offsetof(struct ring_head, consumed), offsetof(struct ring_head, read)),
	      "cursor");
}

/* libc's rseq area of this thread, NULL where there is none. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

static inline struct ring_rseq *lab_rseq(void)
{
	char *tp;

	if (!&__rseq_size || !__rseq_size)
		return NULL;
#if defined(__x86_64__)
	__asm__("movq %%fs:0, %0" : "=r"(tp));
#elif defined(__i386__)
	__asm__("movl %%gs:0, %0" : "=r"(tp));
#else
	tp = __builtin_thread_pointer();
#endif
	return (void *)(tp + __rseq_offset);
}

/* A stand-in for it: CPU 0, never preempted. For single-stepping, which real sections never survive. */
static inline struct ring_rseq *lab_fake_rseq(void)
{
	static struct ring_rseq fake;

	return &fake;
}

#endif
