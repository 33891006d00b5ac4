/*
 * cmd/coming: see coming.h.
 */
#include "cmd/coming.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor/command.h"
#include "doctor/elf.h"

struct coming {
	const char *name;
	struct events_wish *found;
	size_t n;
	bool is_system;		/* a system has that name */
};

/* One name has as many notes as sites. */
static bool is_found(const struct coming *coming, const char *system, const char *name)
{
	for (size_t i = 0; i < coming->n; i++)
		if (!strcmp(coming->found[i].system, system) && !strcmp(coming->found[i].event, name))
			return true;
	return false;
}

static void take(void *ctx, const char *system, const char *name, bool ours)
{
	struct coming *coming = ctx;
	struct events_wish *more;

	coming->is_system |= ours && !strcmp(system, coming->name);
	if (!ours || strcmp(name, coming->name) || strlen(system) >= sizeof(more->system) ||
	    strlen(name) >= sizeof(more->event) || is_found(coming, system, name))
		return;
	more = realloc(coming->found, (coming->n + 1) * sizeof(*more));
	if (!more)
		return;
	coming->found = more;
	more += coming->n++;
	*more = (struct events_wish){ .bare = false };
	strcpy(more->system, system);
	strcpy(more->event, name);
}

size_t coming_events(const char *program, const char *event, struct events_wish **found)
{
	struct coming coming = { .name = event };
	struct err err = ERR_INIT;
	char path[PATH_MAX];
	struct elf elf;
	int fd = command_find(program, path) ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;

	if (fd >= 0 && !elf_open(&elf, fd, &err)) {
		/* What a damaged file tells before it makes no sense is believed, too: it is about names only. */
		(void)elf_sites(&elf, take, &coming);
		elf_close(&elf);
	}
	if (fd >= 0)
		close(fd);
	*found = coming.found;
	/* What fields the events of a system will have is not known: there may be those that have other ones. */
	return coming.is_system ? 0 : coming.n;
}
