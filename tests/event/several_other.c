/* The other file of several.c. */
#include "event/several.h"

struct ringside_event *several_other(void)
{
	trace_several_files(2, "other");
	several_print(2);
	return &ringside_event_several_files;
}
