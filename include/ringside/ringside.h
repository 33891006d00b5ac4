/*
 * ringside/ringside.h: everything that a traced program can use.
 *
 *	ringside/event.h	declare events and trace them
 *	ringside/print.h	lines of text in the trace
 *	ringside/define.h	events defined at run time
 *	ringside/probe.h	probes for any tracer, without linking anything
 *
 * A program that is linked with libringside joins the tracing directory by itself: $RINGSIDE_DIR,
 * else a directory of the user's under /run or /dev/shm. When that cannot be had, the program runs
 * as if it were not traced; nothing here ever fails, prints or ends it.
 */
#ifndef RINGSIDE_RINGSIDE_H
#define RINGSIDE_RINGSIDE_H

#define RINGSIDE_MAJOR 0
#define RINGSIDE_MINOR 1
#define RINGSIDE_PATCH 0

#include <ringside/define.h>
#include <ringside/event.h>
#include <ringside/print.h>
#include <ringside/probe.h>

#endif
