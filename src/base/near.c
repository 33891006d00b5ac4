/*
 * base/near: see near.h.
 */
#include "base/near.h"

#include <string.h>

unsigned int near_distance(const char *a, const char *b)
{
	unsigned int rows[3][NEAR_MAX + 1], n = (unsigned int)strnlen(b, NEAR_MAX + 1), *last = rows[0];

	if (strnlen(a, NEAR_MAX + 1) > NEAR_MAX || n > NEAR_MAX)
		return 99;
	for (unsigned int j = 0; j <= n; j++)
		last[j] = j;
	for (unsigned int i = 1; a[i - 1]; i++) {
		unsigned int *row = rows[i % 3], *before = rows[(i + 1) % 3];

		row[0] = i;
		for (unsigned int j = 1; j <= n; j++) {
			row[j] = last[j - 1] + (a[i - 1] != b[j - 1]);
			row[j] = row[j - 1] + 1 < row[j] ? row[j - 1] + 1 : row[j];
			row[j] = last[j] + 1 < row[j] ? last[j] + 1 : row[j];
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < row[j])
				row[j] = before[j - 2] + 1;
		}
		last = row;
	}
	return last[n];
}

void near_see(struct near *near, const char *name)
{
	size_t len = strnlen(name, NEAR_MAX + 1), own = strnlen(near->to, NEAR_MAX + 1);
	unsigned int distance;

	/* Most are too long or too short to be worth a look. */
	if (len > NEAR_MAX || !len || len * 3 < own * 2 || own * 3 < len * 2)
		return;
	distance = near_distance(near->to, name);
	if (*near->best && distance >= near->distance)
		return;
	near->distance = distance;
	memcpy(near->best, name, len + 1);
}

const char *near_best(const struct near *near)
{
	return *near->best && near->distance * 3 <= strlen(near->best) ? near->best : NULL;
}
