/*
 * hist/text: a histogram out of the text of its file: so it is the same for every tree, the kernel's included.
 */
#ifndef HIST_TEXT_H
#define HIST_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HIST_TEXT_NAMES 16

struct hist_text_name {
	char *text;		/* without what is behind its dot */
	const char *how;	/* that: "hex", "log2", "buckets=10"; "" */
	bool is_signed;		/* no text tells: set by who knows */
};

struct hist_text_row {
	char *keys[HIST_TEXT_NAMES];	/* without the blanks around them; a stack has lines */
	uint64_t hits;
	char *values[HIST_TEXT_NAMES];
	char *below;			/* what onmax() and its like keep, "max: 12  key: 5"; NULL */
};

struct hist_text {
	char *text;		/* all of it, cut into pieces */
	char *names[2];		/* of keys and values, likewise */
	struct hist_text_name keys[HIST_TEXT_NAMES];
	struct hist_text_name values[HIST_TEXT_NAMES];	/* but for the hits */
	unsigned int nkeys, nvalues;
	struct hist_text_row *rows;
	size_t nrows;
	uint64_t hits, drops;
};

/*
 * The histogram of that number (0, 1, ...) in the text, which is copied. -ENOENT: there are not so many. -EBADMSG: it is not
 * what it should be. Whatever comes of it, hist_text_fini() is due.
 */
int hist_text_read(struct hist_text *hist, const char *text, unsigned int which);
void hist_text_fini(struct hist_text *hist);

/* The number behind "NAME:" in a text like that below a row. 0 when there is none. */
uint64_t hist_text_number(const char *text, const char *name);

#endif
