/*
 * query/run: a SELECT statement answered from a trace file, by the engine that answers it live.
 *
 *   statement -> lines (sql.h) -> specs -> hooks and code (trigger/lower.h) -> bound to the file's formats
 *   records of the file, in the order of time -> hook -> tables in memory -> rows as `hist` shows them
 *                                                     -> synthetic events, as `trace` shows them
 *
 * Everything that a live histogram would do with these records is done here, with the same code; what was lost, or not
 * recorded, is not there.
 */
#ifndef QUERY_RUN_H
#define QUERY_RUN_H

#include "dat/dat.h"
#include "query/sql.h"

struct query_ask {
	struct dat *dat;
	const char *buffer;	/* only records of this one are seen; NULL or "": the top one */
	const char *statement;
	const struct sql_options *options;
	void *arg;
	/* Text as it comes; 0, or negative to stop. */
	int (*put)(void *arg, const char *bytes, size_t len);
};

/*
 * Puts out, in their order: synthetic events that no later statement is about, one a line; then the histograms of
 * statements without JOIN, and of those whose JOIN waits for a maximum or a change, with what was saved then. Errors as of
 * sql_translate(), those of reading the file, and what put() returns. -EOPNOTSUPP: snapshots, and files of a machine of
 * another byte order.
 */
int query_run(const struct query_ask *ask, struct err *err);

#endif
