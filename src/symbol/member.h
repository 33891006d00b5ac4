/*
 * symbol/member: where a path of C leads to, by the types of debug information. Within this room.
 */
#ifndef SYMBOL_MEMBER_H
#define SYMBOL_MEMBER_H

#include "base/buf.h"
#include "symbol/dwarf.h"

/* The steps of `path` from place `at` on, each -> or . and a name, from a value of that type: MEMBER of layout/prototype.h. */
void dwarf_member(struct dwarf *dwarf, uint64_t type, const char *path, size_t at, struct buf *out);

#endif
