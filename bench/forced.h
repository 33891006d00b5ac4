/*
 * What bench/force and its programs share: a page of memory, by a file that the first of them makes.
 */
#ifndef BENCH_FORCED_H
#define BENCH_FORCED_H

#include <limits.h>
#include <linux/futex.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FORCED_PROGRAMS 200u

struct forced {
	uint32_t ready;		/* programs that are attached and wait */
	uint32_t round;		/* grows: each program calls its event's site once */
	uint32_t done;		/* programs that have done so */
};

static inline struct forced *forced_map(int fd)
{
	return mmap(NULL, sizeof(struct forced), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

static inline void forced_wait(uint32_t *word, uint32_t value)
{
	syscall(SYS_futex, word, FUTEX_WAIT, value, NULL, NULL, 0);
}

static inline void forced_wake(uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

#endif
