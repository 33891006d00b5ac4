/*
 * cmd/profile_files: the profile of functions in a tree of files, the kernel's above all: trace_stat/functionN, added up.
 */
#ifndef CMD_PROFILE_FILES_H
#define CMD_PROFILE_FILES_H

#include "control/measure.h"
#include "source/source.h"

struct profile_files {
	struct control_profile profile;	/* without addresses */
	char **names;			/* of its rows; the kernel cuts them at 30 letters */
	bool has_times;			/* else functions were only counted */
	bool is_self;			/* times are without what a function calls: the option graph-time is off */
};

int profile_files_read(struct profile_files *files, struct source *source, struct err *err);
void profile_files_fini(struct profile_files *files);

#endif
