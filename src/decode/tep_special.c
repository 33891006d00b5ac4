/*
 * decode/tep_special: chooses how libtraceevent prints a record, and prints those of ftrace's own
 * records that it does not print by their format; see tep.h.
 */
#include "decode/tep.h"

void tep_print(const struct frame *f, struct sink *s)
{
	if (f->tep && !f->tep->calls)
		tep_run(f, s);
	else
		tep_failed(f, s);
}
