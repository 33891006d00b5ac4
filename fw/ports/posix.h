/*
 * A port for programs: fw/hosted.c is compiled with it. What a port has: cortex-m3.h.
 *
 * The memory is a mapping, its sizes are known at run time, and all addresses in it count from its first byte: header | rings | control words
 * | pages. The ring of core n is the n-th; who writes says which core that is. What an interrupt is elsewhere is a signal here. A program with
 * another clock defines PORT_CLOCK_OWN, and all of the first two lines, before this.
 */
#ifndef RINGSIDE_PORT_POSIX_H
#define RINGSIDE_PORT_POSIX_H

#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#define PORT_HOSTED 1

#ifndef PORT_CLOCK_OWN
#define PORT_CLOCK_BITS 64
#define PORT_CLOCK_HZ 1000000000u
static inline uint64_t port_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * PORT_CLOCK_HZ + (uint64_t)now.tv_nsec;
}
#define PORT_CLOCK_EARLY() ((void)0)
#endif

typedef sigset_t port_irq_t;

static inline port_irq_t port_irq_save(void)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	return before;
}

static inline void port_irq_restore(port_irq_t irq)
{
	pthread_sigmask(SIG_SETMASK, &irq, NULL);
}

/* Loads before it stay there, too: a page that its reader has let go is written behind that. */
static inline void port_barrier(void)
{
	atomic_thread_fence(memory_order_acq_rel);
}

static inline struct ringside_fw_header *port_header(const struct ringside_fw_ring *ring)
{
	return (struct ringside_fw_header *)((uintptr_t)(ring - ring->cpu) - sizeof(struct ringside_fw_header));
}

/* These are in the memory: hosted.c has looked at them. */
#define PORT_PAGES_FROM(ring) ((uintptr_t)port_header(ring) + (uintptr_t)(ring)->pages - (uintptr_t)(ring))
#define PORT_MASK(ring) ((ring)->mask)
#define PORT_PAGE_SHIFT(ring) (port_header(ring)->page_shift)

#endif
