/*
 * cmd/save_local: what the files of save share. Private to them.
 */
#ifndef CMD_SAVE_LOCAL_H
#define CMD_SAVE_LOCAL_H

#include <stdbool.h>

#include "base/buf.h"
#include "cmd/events.h"
#include "cmd/scope.h"

struct save {
	struct source *source;
	struct control *control;	/* of a tracing directory; NULL: files */
	struct scopes scopes;
	struct events events;
	struct buf out;
	const char *indent;		/* before the keys of the buffer that is being written */
	bool untold;			/* something could not be said, and a line said so */
};

/* A file's text without its last newline, or NULL; yours to free. */
char *save_text(struct save *save, const struct scope *scope, const char *file);

/* `KEY = VALUE`. One that no value can be is told to the person, and left out. */
void save_put(struct save *save, const char *key, const char *operator, const char *value);

/* The same with as many as there are lines in the text; nothing if there are none. */
void save_put_lines(struct save *save, const char *key, const char *text);

/* save_events.c: probes and synthetic events, which are the whole source's. */
void save_put_dynamic(struct save *save);
/* Which events are on in a buffer, and what hangs on them. */
void save_put_events(struct save *save, const struct scope *scope);
void save_put_conditions(struct save *save, const struct scope *scope);

#endif
