/*
 * trigger/filter: a filter on its way from text to program. Private to the room.
 */
#ifndef TRIGGER_FILTER_H
#define TRIGGER_FILTER_H

#include "program/program.h"
#include "trigger/spec.h"

struct filter_reader {
	const struct spec_world *world;
	const struct decode_format *format;	/* NULL: not known yet, and all names are believed */
	const char *text;			/* NUL-terminated, without blanks behind */
	struct program_build *build;
	struct spec_error *error;
};

/*
 * One comparison that begins at text + at. Returns how many characters it has, and its truth; or -errno, refused. What is
 * scanned when something is wrong is where the caret goes, counted from one behind `at`.
 */
int filter_read_pred(struct filter_reader *reader, size_t at, uint32_t *truth);

/* CPUs as the kernel lists them ("0-3,7", "0-7:1/2", "all") into a set of FILTER_CPUS bits; false: that is no list. */
#define FILTER_CPUS 1024u
#define FILTER_CPU_WORDS (FILTER_CPUS / 64)
bool filter_read_cpus(const char *text, size_t len, uint64_t words[FILTER_CPU_WORDS]);

#endif
