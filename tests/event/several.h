/* Events of a header that two files of a program include. */
#ifndef TESTS_EVENT_SEVERAL_H
#define TESTS_EVENT_SEVERAL_H

#include <ringside/event.h>
#include <ringside/print.h>

RINGSIDE_EVENT(several, files, field(int, file), string(name));
RINGSIDE_CUSTOM_EVENT(several, files, files_small, field(char, file));

static inline void several_print(int file)
{
	ringside_printf("file %d", file);
}

struct ringside_event *several_other(void);

#endif
