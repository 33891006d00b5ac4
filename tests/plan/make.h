/*
 * Files that tests of plans make for themselves.
 */
#ifndef TESTS_PLAN_MAKE_H
#define TESTS_PLAN_MAKE_H

#include <stdio.h>
#include <stdlib.h>

#include "insist.h"

static const char *place;	/* of the test's files */

/* A file of that text there, and what a command makes of it. */
static inline void make(const char *file, const char *text, const char *command)
{
	char line[1024];
	FILE *f;

	snprintf(line, sizeof(line), "%s/%s", place, file);
	f = fopen(line, "w");
	CHECK(f && fputs(text, f) >= 0 && !fclose(f), "%s", line);
	snprintf(line, sizeof(line), "cd %s && %s", place, command);
	CHECK(!system(line), "%s", line);
}

#endif
