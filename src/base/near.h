/*
 * base/near: what somebody may have meant who wrote a name that there is not.
 */
#ifndef BASE_NEAR_H
#define BASE_NEAR_H

#define NEAR_MAX 60u	/* letters of names that are compared */

/* How many letters have to be changed, added, left out or swapped with the next to make one of the other; at most 99. */
unsigned int near_distance(const char *a, const char *b);

/* Of many names, shown one after another, the nearest to one; begins as { .to = NAME }. */
struct near {
	const char *to;
	unsigned int distance;	/* of `best`, if that is not "" */
	char best[NEAR_MAX + 1];
};

void near_see(struct near *near, const char *name);

/* NULL: none is so near that it could be meant. */
const char *near_best(const struct near *near);

#endif
