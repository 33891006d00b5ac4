/*
 * base/mono: the time that nobody sets.
 */
#ifndef BASE_MONO_H
#define BASE_MONO_H

#include <stdint.h>
#include <time.h>

static inline uint64_t mono_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline int64_t mono_ms(void)
{
	return (int64_t)(mono_ns() / 1000000);
}

#endif
