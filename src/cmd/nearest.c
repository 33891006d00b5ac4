/*
 * cmd/nearest: see nearest.h.
 */
#include "cmd/nearest.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/near.h"
#include "control/named.h"

#define FAR 3		/* letters that are missing, too many or others: so many are no slip */

void nearest_offer(struct nearest *nearest, const char *system, const char *event)
{
	const unsigned int far = near_distance(nearest->event, event) + (nearest->system ? near_distance(nearest->system, system) : 0);

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
