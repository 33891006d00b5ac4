/*
 * cmd/opts: the one option parser. In: a command line and tables of options. Out: what it says, as a
 * list, or a line of words about what is wrong with it. Nothing is done before all of it is read.
 */
#ifndef CMD_OPTS_H
#define CMD_OPTS_H

#include "base/err.h"

/* A table ends with an entry without a word. */
struct opt {
	char letter;		/* -x, or 0 */
	const char *word;	/* --word */
	const char *arg;	/* name of its argument, NULL when it takes none */
	const char *help;
};

struct opts_item {
	const struct opt *opt;	/* NULL: not an option */
	const char *value;
};

struct opts {
	struct opts_item *items;
	int nitems;
	int nargs;		/* of the items, those that are no options */
};

/*
 * Options may stand anywhere before `--`. The argument numbered `verbatim` (from 1; 0: none) is taken as
 * it is, whatever it begins with; -1: everything behind the first argument is. The tables must outlive the result; strings are
 * those of argv.
 */
int opts_parse(struct opts *opts, int argc, char **argv, const struct opt *table,
	       const struct opt *common, int verbatim, struct err *err);
void opts_fini(struct opts *opts);

/* Was --word given? The last one counts; its value, or "" for those that take none. NULL: no. */
const char *opts_value(const struct opts *opts, const char *word);

/* The i-th argument that is no option, or NULL. */
const char *opts_arg(const struct opts *opts, int i);

/* Those from the i-th on, as a program takes them: the array, which ends with NULL, is the caller's to free. */
int opts_command(const struct opts *opts, int i, char ***argv, struct err *err);

#endif
