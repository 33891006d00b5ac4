/*
 * cmd/setup_effects: what triggers, and commands of functions, change beside themselves: they switch events of others on and off
 * and make room for a snapshot, and leave it so when they are taken away. All of that is kept before.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/setup_local.h"

/* [FUNCTION:]enable_event:SYSTEM:EVENT[:COUNT][ if FILTER] */
static int keep_switched(struct setup *setup, int s, const char *text, struct err *err)
{
	static const char word[] = "able_event:";
	const char *system = strstr(text, word), *event = system ? strchr(system += strlen(word), ':') : NULL;
	char file[256];

	if (!event)
		return 0;
	snprintf(file, sizeof(file), "events/%.*s/%.*s/enable", (int)(event - system < 80 ? event - system : 80), system,
		 (int)strcspn(event + 1, ": \n"), event + 1);
	return setup_keep(setup, s, file, KEEP_WORD, err);
}

/* Room that was there before stays. */
static int keep_snapshot(struct setup *setup, int s, const char *text, struct err *err)
{
	const char *word = strstr(text, "snapshot");
	struct buf now = BUF_INIT;
	int r = 0;

	if (!word || setup_made(setup, s) || (word > text && word[-1] != ':' && word[-1] != '.'))
		return 0;
	if (!scope_read(setup_scope(setup, s), setup->source, "snapshot", &now, NULL) && now.data && strstr(now.data, "Snapshot is freed"))
		r = setup_keep_writing(setup, s, "snapshot", "0", err);
	buf_fini(&now);
	return r;
}

int setup_keep_effects(struct setup *setup, int s, const char *text, struct err *err)
{
	int r = keep_switched(setup, s, text, err);

	return r ? r : keep_snapshot(setup, s, text, err);
}
