/*
 * library/lines: records as lines, kept from one reading and compared with another.
 */
#ifndef LIBRARY_LINES_H
#define LIBRARY_LINES_H

#include "library/lab.h"

#define LINES_MAX 200

static char *lines[LINES_MAX];
static int nlines;

static int keep_line(const struct ringside_control_record *record, void *context)
{
	(void)context;
	CHECK(nlines < LINES_MAX, "too many");
	lines[nlines++] = strdup(ringside_control_record_line(record));
	return 0;
}

static int same_line(const struct ringside_control_record *record, void *context)
{
	int *n = context;

	CHECK(*n < nlines, "too many");
	CHECK(!strcmp(lines[*n], ringside_control_record_line(record)), "%d:\n%s\n%s", *n, lines[*n],
	      ringside_control_record_line(record));
	++*n;
	return 0;
}

#endif
