/*
 * base/copy: memcpy() for a few bytes whose number only the run knows: there the call costs more than
 * the copy.
 */
#ifndef BASE_COPY_H
#define BASE_COPY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The two may not overlap. */
static inline void copy_small(char *to, const char *from, size_t n)
{
	if (n > 32) {
		memcpy(to, from, n);
	} else if (n >= 16) {
		/* Two halves that may overlap each other cover any length between one and two of them. */
		char head[16], tail[16];

		memcpy(head, from, 16);
		memcpy(tail, from + n - 16, 16);
		memcpy(to, head, 16);
		memcpy(to + n - 16, tail, 16);
	} else if (n >= 8) {
		uint64_t head, tail;

		memcpy(&head, from, 8);
		memcpy(&tail, from + n - 8, 8);
		memcpy(to, &head, 8);
		memcpy(to + n - 8, &tail, 8);
	} else if (n >= 4) {
		uint32_t head, tail;

		memcpy(&head, from, 4);
		memcpy(&tail, from + n - 4, 4);
		memcpy(to, &head, 4);
		memcpy(to + n - 4, &tail, 4);
	} else if (n) {
		char middle = from[n / 2], last = from[n - 1];

		to[0] = from[0];
		to[n / 2] = middle;
		to[n - 1] = last;
	}
}

#endif
