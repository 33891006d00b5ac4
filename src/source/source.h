/*
 * source: any tree that looks like the kernel's tracefs, whoever provides it.
 *
 * Commands and the control library speak to a source and do not care which: a tracing directory, reached
 * in this process through control/tree, or files under a directory: a mount of ours, the kernel's tracefs.
 * Paths are relative to the tree's root. Errors are the tree's own, with words that begin with the path.
 * One thread at a time.
 */
#ifndef SOURCE_SOURCE_H
#define SOURCE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "control/control.h"

struct source;

/* Where it is: `tracefs` if given, else the kernel's if `kernel`, else the tracing directory `dir` (NULL: the usual one). */
struct source_how {
	const char *dir;
	const char *tracefs;
	bool kernel;
	bool create;	/* make the tracing directory if there is none */
	bool escape;	/* control characters that programs recorded are shown as \n, \x1b */
};

int source_open(struct source **out, const struct source_how *how, struct err *err);
void source_close(struct source *source);

/* For people: "/run/user/1000/ringside", "/sys/kernel/tracing". */
const char *source_name(const struct source *source);

/* The tracing directory's handle, for what only that has; NULL of other sources. */
struct control *source_control(struct source *source);

/* Is it a running kernel's, and not a mount of ours, or a copy? */
bool source_is_kernel(const struct source *source);

/* What a command has to be told to mean it, for words that name one: " --kernel", or "". */
const char *source_option(const struct source *source);

typedef int source_put(void *ctx, const void *bytes, size_t len);

bool source_exists(struct source *source, const char *path);
/* The whole text; of a file that is followed, what is there now. */
int source_read(struct source *source, const char *path, struct buf *out, struct err *err);
int source_pump(struct source *source, const char *path, source_put *put, void *ctx, struct err *err);
/*
 * A file that is followed, as it comes, until `put` or `over` says so (-errno of `put` is handed on;
 * `over` is asked at least ten times a second and after each piece) or until it ends.
 */
int source_follow(struct source *source, const char *path, source_put *put,
		  bool (*over)(void *ctx), void *ctx, struct err *err);

/*
 * A descriptor of a file of binary data, which does not block and is yours to close. -EOPNOTSUPP of a tracing directory, which
 * has other ways to its rings.
 */
int source_raw(struct source *source, const char *path, struct err *err);

/* What was read by such a descriptor, if it is text: as source_follow() would hand it on. */
int source_shown(const struct source *source, const char *bytes, size_t len, source_put *put, void *ctx);

/* As `> path`, or `>> path` if `append`. */
int source_write(struct source *source, const char *path, const char *text, size_t len, bool append,
		 struct err *err);

/* Names, sorted, one a line; directories end in '/'. */
int source_list(struct source *source, const char *path, struct buf *out, struct err *err);

int source_mkdir(struct source *source, const char *path, struct err *err);
/* An instance of a kernel goes with the triggers in it that would hold it. */
int source_rmdir(struct source *source, const char *path, struct err *err);

/*
 * Takes all triggers away of the events in a buffer: "" for the top one, "instances/NAME/"; `system`, "NAME/": only of its events.
 * Those that are left are an error, with the words of the first.
 */
int source_drop_triggers(struct source *source, const char *buffer, const char *system, struct err *err);

#endif
