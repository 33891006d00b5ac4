/*
 * query/tree: a statement taken apart. Private to the room.
 *
 * Nodes come from one list that goes with the statement. Names are as written until sql_resolve() has found what they
 * are of; from then on nothing changes any more.
 */
#ifndef QUERY_TREE_H
#define QUERY_TREE_H

#include <stdint.h>

#include "query/sql.h"

#define SQL_ITEMS_MAX 64
#define SQL_MATCHES_MAX 8
#define SQL_SORTS_MAX 2
#define SQL_DEPTH_MAX 64	/* of parentheses */
#define SQL_NAME_MAX 64

enum sql_kind {
	/* Values. */
	SQL_NAME,		/* text; resolved: side and field, or one of the next four */
	SQL_TIME,		/* TIMESTAMP */
	SQL_STACK,		/* STACKTRACE */
	SQL_CPU,
	SQL_COMM,
	SQL_NUMBER,		/* number; negative: op is '-' */
	SQL_TEXT,		/* text */
	SQL_MATH,		/* a op b */
	SQL_DELTA,		/* TIMESTAMP_DELTA */
	SQL_COUNT,		/* COUNT(*) */
	/* Truths. */
	SQL_COMPARE,		/* a op b: a name, and a constant or another name */
	SQL_AND, SQL_OR,	/* a, b */
	SQL_NOT,		/* a */
	SQL_GROUP,		/* (a) */
};

struct sql_node {
	enum sql_kind kind;
	int pos;		/* in the statement */
	char op[3];
	bool usecs;		/* SQL_TIME and SQL_DELTA */
	uint64_t number;
	const char *text;
	int side;		/* 0: of FROM, 1: of JOIN; -1: of none */
	const struct decode_field *field;
	struct sql_node *a, *b;
};

struct sql_event {
	const char *text;	/* as written: event, system.event */
	const char *alias;	/* NULL none */
	int pos;
	const struct decode_format *format;
};

struct sql_item {
	struct sql_node *value;
	const char *name;	/* AS; NULL none */
	int name_pos;
	const char *cast;	/* modifier without its dot, NULL none */
	bool counter;		/* a sum and no key */
};

struct sql_match {
	struct sql_node *a, *b;
	int pos;
};

struct sql_sort {
	const char *text;
	int pos;
	bool descending;
};

struct sql_memory;

struct sql_tree {
	const char *statement;	/* all of the text: positions count in it */
	size_t begin, end;	/* this one; behind its semicolon */
	struct sql_memory *memory;
	struct sql_item items[SQL_ITEMS_MAX];
	size_t nitems;
	struct sql_event events[2];
	bool is_join;
	struct sql_match matches[SQL_MATCHES_MAX];
	size_t nmatches;
	struct sql_node *where;
	struct sql_sort sorts[SQL_SORTS_MAX];
	size_t nsorts;
};

/* Memory of the tree's; NULL: there is none. */
void *sql_alloc(struct sql_tree *tree, size_t size);
void sql_tree_free(struct sql_tree *tree);

/* query/parse.c. The tree is to be freed whatever it returns. */
int sql_parse(struct sql_tree *tree, const char *statement, size_t begin, struct err *err);
/* query/resolve.c: whose are the names, and do they fit together? */
int sql_resolve(struct sql_tree *tree, const struct sql_world *world, struct err *err);
/* query/texts.c */
int sql_texts(struct sql_lines *lines, const struct sql_tree *tree, const char *name, const struct sql_options *options,
	      struct err *err);

#endif
