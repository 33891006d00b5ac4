/*
 * The rseq area that libc has registered for the calling thread, for tests that run sections
 * without the runtime.
 */
#ifndef TESTS_RING_AREA_H
#define TESTS_RING_AREA_H

#include <stdbool.h>
#include <sys/rseq.h>

#include "ring/core.h"

static inline struct ring_rseq *rseq_area(void)
{
	char *tp;

#if defined(__x86_64__)
	__asm__("movq %%fs:0, %0" : "=r"(tp));
#elif defined(__i386__)
	__asm__("movl %%gs:0, %0" : "=r"(tp));
#else
	tp = __builtin_thread_pointer();
#endif
	return (struct ring_rseq *)(void *)(tp + __rseq_offset);
}

/* False under old kernels, valgrind, qemu-user, and where a tunable says so. */
static inline bool rseq_registered(void)
{
	return __rseq_size && (int32_t)rseq_area()->cpu_id >= 0;
}

#endif
