/*
 * record/old: a recording as version 6 has it.
 *
 * That version tells everything before its pages, and a recorder learns of it meanwhile. So it is recorded as version 7, which
 * is what a recorder that is killed leaves, and written anew in the end.
 */
#ifndef RECORD_OLD_H
#define RECORD_OLD_H

#include "base/err.h"

/* Puts version 6 of the file in its place. */
int record_old_make(const char *path, struct err *err);

#endif
