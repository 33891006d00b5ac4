/*
 * symbol/debug_place: places without debug information: what symbols alone tell. See debug.h for the rest.
 */
#ifndef SYMBOL_DEBUG_PLACE_H
#define SYMBOL_DEBUG_PLACE_H

#include "symbol/debug.h"
#include "symbol/lines.h"

/* -ENOENT: no function is called so. The place has a function and maybe an offset; what else it has is not looked at. */
int debug_points_by_symbols(struct debug_points *points, const char *path, const struct debug_place *place, struct err *err);
/* Has the file a function of that name that is chosen out of several when a program starts (IFUNC)? */
bool debug_is_chosen(const char *path, const char *name);
/* Names of functions that match the pattern (NULL: any), sorted, one a line. */
int debug_names_by_symbols(struct buf *out, const char *path, const char *pattern, struct err *err);

/* A source file, by what the compiler was told; in a directory (NULL: none) with as much of its path as leads to something. */
int debug_source_open(struct lines *source, const char *file, const char *dir, char *path, size_t size);

/* Within this room: shows the names of all functions. */
struct near;
void debug_near_symbols(struct near *near, const char *path);

/* Within this room: one more, unless it is there already; then sorts them, or lets go of them when something went wrong. */
int debug_points_add(struct debug_points *points, const struct debug_point *point, const char *name);
int debug_points_end(struct debug_points *points, int r, struct err *err);

#endif
