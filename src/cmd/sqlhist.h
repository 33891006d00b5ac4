/*
 * cmd/sqlhist: what the command's two halves have in common: sqlhist.c asks the tree, sqlhist_file.c a trace file.
 */
#ifndef CMD_SQLHIST_H
#define CMD_SQLHIST_H

#include "base/err.h"
#include "query/sql.h"

/* Answers a statement from a trace file. An exit status. */
int sqlhist_file(const char *path, const char *statement, const struct sql_options *options);

/* Tells what was refused, with a caret below its place. CMD_FAILED. */
int sqlhist_refused(const char *statement, const struct err *err);

#endif
