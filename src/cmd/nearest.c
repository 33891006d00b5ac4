/*
 * cmd/nearest: see nearest.h.
 */
#include "cmd/nearest.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "control/named.h"

#define NAME_MAX_HERE 64
#define FAR 3		/* letters that are missing, too many or others: so many are no slip */

static size_t least(size_t a, size_t b, size_t c)
{
	const size_t less = a < b ? a : b;

	return less < c ? less : c;
}

/* How many letters have to be put in, taken out or changed. A row of the table for each letter of `a`. */
static size_t distance(const char *a, const char *b)
{
	const size_t len = strlen(b);
	size_t row[NAME_MAX_HERE + 1];

	if (len > NAME_MAX_HERE || strlen(a) > NAME_MAX_HERE)
		return FAR;
	for (size_t i = 0; i <= len; i++)
		row[i] = i;
	for (size_t n = 1; *a; a++, n++) {
		size_t corner = row[0];

		row[0] = n;
		for (size_t i = 1; i <= len; i++) {
			const size_t above = row[i];

			row[i] = least(above + 1, row[i - 1] + 1, corner + (*a != b[i - 1]));
			corner = above;
		}
	}
	return row[len];
}

void nearest_offer(struct nearest *nearest, const char *system, const char *event)
{
	const size_t far = distance(nearest->event, event) + (nearest->system ? distance(nearest->system, system) : 0);

	if (far >= FAR || 2 * far > strlen(event) || (nearest->near_event && far >= nearest->distance))
		return;
	nearest->near_system = system;
	nearest->near_event = event;
	nearest->distance = far;
}

const char *nearest_words(const struct nearest *nearest, char text[160])
{
	*text = '\0';
	if (nearest->near_event)
		snprintf(text, 160, "; the nearest is %.60s:%.64s", nearest->near_system, nearest->near_event);
	return text;
}

int nearest_judge(const struct nearest *nearest, struct err *err)
{
	char words[160];
	bool calls = nearest->system && (!strcmp(nearest->system, "syscalls") || !strcmp(nearest->system, "raw_syscalls"));

	if (!nearest->system || !control_named_system(nearest->system))
		return 0;
	err_set(err, -ENOENT, "there is no event %.60s:%.64s%s", nearest->system, nearest->event, nearest_words(nearest, words));
	return calls ? -ENOENT : 1;
}
