/*
 * boot/local: what the files that make steps of keys share. Private to them.
 */
#ifndef BOOT_LOCAL_H
#define BOOT_LOCAL_H

#include "boot/profile.h"

struct make {
	struct boot_profile *profile;
	const struct boot_config *config;
	const char *instance;	/* whose keys are looked at, NULL: the top buffer's */
	struct err *err;
};

/* The key of the node is refused; words behind it. Returns -EINVAL. */
int make_refuse(struct make *make, const struct boot_node *node, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int make_no_memory(struct make *make);

/* One more step, which has the texts copied; NULL where there are none. */
int make_step(struct make *make, const struct boot_node *node, const struct boot_step *step);

/* Is there one of these words, and what is it most likely meant to be? Ends with NULL; returns -EINVAL. */
int make_unknown(struct make *make, const struct boot_node *node, const char *const *words);

/* What keys have: one value and no more; none, or a word for yes; any number; no keys below it. -EINVAL. */
int make_one(struct make *make, const struct boot_node *node, const char **text);
int make_flag(struct make *make, const struct boot_node *node);
int make_some(struct make *make, const struct boot_node *node);
int make_leaf(struct make *make, const struct boot_node *node);
/* 0 or 1, or a word for either. */
int make_switch(struct make *make, const struct boot_node *node, bool *on);

/* Values of a list as `text`; `commas`: they may be many in one value, as on a command line. */
typedef int make_each(struct make *make, const struct boot_node *value, const char *text);
int make_values(struct make *make, const struct boot_node *node, bool commas, make_each *each);

/* Steps that several keys have. */
int make_word(struct make *make, const struct boot_node *node, const char *file);
int make_size(struct make *make, const struct boot_node *node, const char *file);
int make_list(struct make *make, const struct boot_node *node, const char *file, bool commas);
int make_tracer(struct make *make, const struct boot_node *node);
int make_clock(struct make *make, const struct boot_node *node);
int make_option(struct make *make, const struct boot_node *node, const char *text);
int make_event(struct make *make, const struct boot_node *node, const char *text);
int make_snapshot(struct make *make, const struct boot_node *node);
int make_on(struct make *make, const struct boot_node *node, bool on);

/* define.c: a line that brings an event: its name out of it. */
int make_define(struct make *make, const struct boot_node *node, const char *file, const char *line);

/* event.c: what is below `event`. */
int make_events(struct make *make, const struct boot_node *node);
/* hist.c: what is below `event.GROUP.EVENT.hist`. */
int make_hists(struct make *make, const struct boot_node *node, const char *system, const char *event);

/* Lists and words of a histogram: what the keys call them, and the trigger. */
#define HIST_PARTS 5
struct hist_part {
	const char *key;
	const char *word;
	const char *usual;	/* what it is if it is not there; NULL: nothing */
};
extern const struct hist_part hist_parts[HIST_PARTS];

/* kernel.c */
int make_kernel(struct make *make, const struct boot_node *node);

#endif
