/*
 * query/sql: a SELECT about events -> the lines that make the tracing directory answer it.
 *
 *	SELECT what FROM event [WHERE ...]				a histogram of the event
 *	SELECT what FROM event JOIN event ON a.f = b.g [WHERE ...]	a synthetic event, and a histogram on either event
 *
 * In: the statement, and formats of the events that it names. Out: lines with the files that they are written to, in
 * their order, and lines that undo them. Pure; nothing is written anywhere. The lines are those of libtracefs, so that
 * what was learnt there holds here, but for the numbers in variables' names: these come from the statement, and the same
 * statement is always the same lines.
 */
#ifndef QUERY_SQL_H
#define QUERY_SQL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "decode/format.h"

#define SQL_NAME_DEFAULT "Anonymous"

/* The events there are. */
struct sql_world {
	void *arg;
	/* The nth event of that name, in that system or (NULL) in any; NULL behind the last. Lives as long as the world. */
	const struct decode_format *(*event)(void *arg, const char *system, const char *name, unsigned int nth);
};

/* What a JOIN does when two events belong together. Nothing set: the synthetic event happens. */
struct sql_options {
	const char *name;	/* of the synthetic events, separated by commas; NULL: SQL_NAME_DEFAULT */
	const char *instance;	/* histograms belong to it; NULL or "": to the top */
	const char *max;	/* only when the selected thing of this name is larger than ever for its key, */
	const char *change;	/* or another than the last: one of the two */
	bool snapshot;		/* then: set the buffer aside instead of the synthetic event; needs one of the two */
	bool trace;		/* let the synthetic event happen all the same, before that */
	const char *save;	/* and keep these fields of the second event, separated by commas; needs one of the two */
};

enum sql_what {
	SQL_SYNTH,		/* the synthetic event of a JOIN */
	SQL_FIRST, SQL_SECOND,	/* the histograms on its events */
	SQL_ANSWER,		/* the histogram of a statement without one */
};

struct sql_line {
	enum sql_what what;
	char *file;		/* below the tracing directory's root */
	char *text;
	char *undo;		/* written to the same file, takes it back */
	char system[64];	/* the event that it makes or hangs on */
	char event[64];
};

struct sql_lines {
	struct sql_line *line;
	size_t n;
	struct decode_format **synths;	/* formats of synthetic events that it makes: later statements may be about them */
	size_t nsynths;
};

/*
 * One statement, or several with semicolons between them: a later one may be about the synthetic event of an earlier.
 * 0 and lines, to be freed; -EINVAL: it is no such statement, -ENOENT: no such event or field, -EEXIST: a name that is
 * taken, -EOPNOTSUPP: what histograms cannot do, -ENOMEM. err->pos: where in the statement, -1 when an option is refused.
 */
int sql_translate(struct sql_lines *lines, const struct sql_world *world, const char *statement,
		  const struct sql_options *options, struct err *err);
void sql_lines_fini(struct sql_lines *lines);

/* The line as a shell takes it, `prefix` before the file: echo '...' >> file */
void sql_line_show(const struct sql_line *line, const char *prefix, struct buf *out);

/* What was refused: the line of the statement with a caret below it, where there is one. */
void sql_error_show(const char *statement, const struct err *err, struct buf *out);

#endif
