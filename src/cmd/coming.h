/*
 * cmd/coming: the events that a command is going to bring, as far as its file tells: each site of an event leaves a note there.
 * Libraries are not looked at. Reads, and changes nothing.
 */
#ifndef CMD_COMING_H
#define CMD_COMING_H

#include "cmd/events.h"

/* Those of that name; none where a system has it, too. The caller frees *found. */
size_t coming_events(const char *program, const char *event, struct events_wish **found);

#endif
