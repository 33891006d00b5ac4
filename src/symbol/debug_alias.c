/*
 * symbol/debug_alias: functions by a name that symbols have and debug information has not: malloc is __libc_malloc there.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/debug_local.h"
#include "symbol/debug_place.h"

struct found {
	uint64_t address;
	struct debug_die die;
	bool found;
};

static int see_here(void *arg, struct debug *debug, const struct debug_seen *seen)
{
	struct found *found = arg;
	uint64_t entry;

	(void)debug;
	if (seen->inlined || !debug_dw_entry(&seen->die, &entry) || entry != found->address)
		return 0;
	found->die = seen->die;
	found->found = true;
	return 1;
}

bool debug_alias(struct debug *debug, const struct debug_place *place, struct debug_place *real)
{
	struct debug_points points;
	struct found found = { 0 };
	const char *file;
	uint32_t line;

	if (!place->function || strpbrk(place->function, "*?[") ||
	    debug_points_by_symbols(&points, debug->path, &(struct debug_place){ .function = place->function }, NULL))
		return false;
	found.address = points.all[0].address;
	debug_points_fini(&points);
	debug_each_function(debug, NULL, &found.address, see_here, &found);
	if (!found.found || !*debug_name(debug, &found.die) || !debug_dw_declared(&found.die, &file, &line) ||
	    (place->file && !debug_file_is(file, place->file)))
		return false;
	*real = *place;
	real->pattern = NULL;
	real->function = strdup(debug_name(debug, &found.die));
	real->file = strdup(file);
	if (place->pattern)
		real->pattern = strdup(place->pattern);
	if (!real->function || !real->file || (place->pattern && !real->pattern)) {
		debug_place_fini(real);
		return false;
	}
	return true;
}
