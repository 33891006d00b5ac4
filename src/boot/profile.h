/*
 * boot/profile: what a bootconfig says about tracing: keys in, a list of steps out, in the order in which they are to be taken.
 *
 *	ftrace.[instance.NAME.]KEY	as boot-time tracing of the kernel has them
 *	ftrace.[instance.NAME.]FILE	files of the tree that it has no key for
 *	kernel.PARAMETER		parameters of the kernel's command line that are about tracing
 *
 * Nothing is known here of the tree that it is for: whether that has such files, events and words is found out by others. What no
 * tree could have is refused, with the place of the key as the `pos` of the error. Steps point into the config.
 */
#ifndef BOOT_PROFILE_H
#define BOOT_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "boot/config.h"

/* In the order in which they are taken; those of one kind in the order of the text. */
enum boot_act {
	BOOT_OTHER,	/* a key that is not about tracing, or nothing before the next start of a kernel: left out */
	BOOT_MAKE,	/* the instance */
	BOOT_STOP,	/* tracing_on */
	BOOT_DEFINE,	/* the line `text` in `file`, which brings the event */
	BOOT_PAGES,	/* `text` into `file`: how large they are, before how many */
	BOOT_SIZE,	/* `text` into `file`: what most likely fails */
	BOOT_WORD,	/* `text` into `file` */
	BOOT_OPTION,	/* `text`, with no before it if not `on` */
	BOOT_SNAPSHOT,	/* room for one */
	BOOT_LIST,	/* lines of `text` instead of what `file` has */
	BOOT_COMMAND,	/* what functions set off, FUNCTION:COMMAND[:COUNT], beside what `file` has */
	BOOT_FILTER,	/* `text`, of the event, or of all of the system if there is none */
	BOOT_TRIGGER,	/* `text`, of the event */
	BOOT_CLOCK,	/* behind histograms that go by time, which choose one */
	BOOT_EVENT,	/* `text`: SYSTEM:EVENT, patterns, or a name that may be either; `on` or off */
	BOOT_TRACER,
	BOOT_SYSCTL,	/* `text` into `file` of the kernel's own settings */
	BOOT_START,	/* tracing_on */
};

struct boot_step {
	enum boot_act act;
	char *instance;		/* NULL: the top buffer */
	char *system;		/* NULL: any that has the event */
	char *event;
	char *file;		/* below the buffer */
	char *text;
	bool on;
	const struct boot_node *node;	/* the key, or the value that it is of */
	size_t number;		/* in the order of the text */
};

struct boot_profile {
	struct boot_step *steps;
	size_t n;
	size_t cap;
};

int boot_profile_make(struct boot_profile *profile, const struct boot_config *config, struct err *err);
void boot_profile_fini(struct boot_profile *profile);

/* ---- both ways ---- */

/*
 * The text of a histogram as its keys under `hist`: "keys = a, b", lines with `indent` before them. False: they could not say all of it.
 * boot_profile_make() makes a text of such keys that means the same.
 */
bool boot_hist_keys(const char *trigger, const char *indent, struct buf *out);

/* Is a trigger to be made after another one, which is on that event: does it take variables of it, or match it? */
bool boot_hist_needs(const char *trigger, const char *other, const char *system, const char *event);

/* A value in quotes, if it needs any. False: it has both kinds of them, or bytes beyond ASCII, and cannot be said at all. */
bool boot_put_value(const char *value, struct buf *out);

#endif
