/*
 * cmd/scope: which buffers a command line is about.
 *
 * A scope is one of them with the options that belong to it: those before the first -B are the top
 * buffer's, those behind a -B that instance's. The top buffer is left alone by a line that begins with
 * a -B, as in trace-cmd.
 *
 *	-b 100 -B web -e http -B db -e sql	top: -b 100	web: -e http	db: -e sql
 */
#ifndef CMD_SCOPE_H
#define CMD_SCOPE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "cmd/opts.h"
#include "source/source.h"

#define SCOPE_PATH 512

struct scope {
	const char *instance;	/* NULL: the top buffer */
	int first, end;		/* its items of the command line */
};

struct scopes {
	struct scope *scope;
	int n;
	struct buf names;	/* of instances that were found in the source */
};

/* The -B that commands about several buffers have. */
#define SCOPE_OPT { 'B', "instance", "INSTANCE", "about this instance; again for more" }

/*
 * What the line says, options in their scopes. `table` are the options that concern a buffer: with one
 * of them before the first -B the top buffer is meant, too. -EINVAL: a name that no instance can have.
 */
int scopes_split(struct scopes *scopes, const struct opts *opts, const struct opt *table,
		 struct err *err);

/*
 * The buffers that -B, --all (every instance, and the top one if `all_has_top`) and --top name; without
 * any of them the top one. All of them are there, or it is -ENOENT with words.
 */
int scopes_choose(struct scopes *scopes, const struct opts *opts, struct source *source,
		  bool all_has_top, struct err *err);

/* Every buffer that there is, the top one first. */
int scopes_all(struct scopes *scopes, struct source *source, struct err *err);

void scopes_fini(struct scopes *scopes);

/* Is the instance there? -ENOENT, with words on how to come by it. */
int scope_check(const struct scope *scope, struct source *source, struct err *err);

/* Is the item an option of that word? */
bool scope_is(const struct opts_item *item, const char *word);

/* The path of one of its files. */
const char *scope_path(char path[SCOPE_PATH], const struct scope *scope, const char *file);

int scope_read(const struct scope *scope, struct source *source, const char *file, struct buf *out,
	       struct err *err);
int scope_write(const struct scope *scope, struct source *source, const char *file,
		const char *text, bool append, struct err *err);
bool scope_has(const struct scope *scope, struct source *source, const char *file);

/* The whole of a command that writes a text into one file of each buffer it is about. An exit status. */
int scope_write_each(const struct opts *opts, bool all_has_top, const char *file, const char *text);

#endif
