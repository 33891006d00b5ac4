/*
 * inject/local: what is asked of the process that does it.
 */
#ifndef INJECT_LOCAL_H
#define INJECT_LOCAL_H

#include <limits.h>
#include <sys/types.h>

#include "inject/image.h"
#if defined(__x86_64__)
#include "inject/x86_64/borrow.h"
#endif

enum inject_what { INJECT_ATTACH, INJECT_POKE, INJECT_DETACH };

struct inject_ask {
	pid_t pid;
	enum inject_what what;
	char dir[PATH_MAX];	/* an absolute path without links */
};

#endif
