/*
 * query/apply: statements about a tree: the formats that it has, and lines written to it.
 */
#ifndef QUERY_APPLY_H
#define QUERY_APPLY_H

#include "query/sql.h"
#include "source/source.h"

/* The events of a tree, whose formats are read when they are asked for. NULL: no memory. The source stays the caller's. */
struct sql_tree_world;
struct sql_tree_world *sql_tree_world_new(struct source *source);
void sql_tree_world_free(struct sql_tree_world *tree);
const struct sql_world *sql_tree_world(const struct sql_tree_world *tree);

/* Told of what was written and could not be taken back. */
typedef void sql_left(const char *file, const char *text);

/*
 * Writes all lines, and makes the instance (NULL or "": the top) before them if there is none. If one is refused, those
 * before it are taken back, and the instance if it was made. `left` may be NULL.
 */
int sql_apply(const struct sql_lines *lines, struct source *source, const char *instance, sql_left *left, struct err *err);

#endif
