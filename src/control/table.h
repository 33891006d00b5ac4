/*
 * control/table: a line of the tree's table of files. Private to the room.
 */
#ifndef CONTROL_TABLE_H
#define CONTROL_TABLE_H

#include "control/node.h"

enum {
	NODE_TOP = 1,		/* not in instances */
	NODE_AT_OPEN = 2,	/* O_TRUNC is an action of its own, done at once */
	NODE_AT_CLOSE = 4,	/* what is written takes effect when the file is closed */
	NODE_QUIET = 8,		/* what it refuses is not told in error_log */
	NODE_WORDS = 32,	/* takes words: one that a write does not end goes on in the next, or ends when the file is closed.
				 * O_TRUNC is done with the first of them, or at the end: nobody sees it empty between */
	NODE_SPEC = 16,		/* the node says by itself what is told there, and how: request->error */
};

typedef int node_function(struct node_request *request, struct err *err);

/* A file is read by `read`, all of it at once, or by `flow`. */
struct node {
	const char *path;
	node_function *read;
	node_function *write;
	const struct node_flow *flow;
	unsigned int flags;
	const char *what;	/* in README */
};

/* Of texts that poll(2) tells of, histograms: what it goes by. NULL of others. */
typedef bool node_mark(struct node_request *request, uint64_t *mark);
static inline node_mark *node_mark_of(const struct node *node)
{
	return node->read == node_hist_read ? node_hist_mark : node->read == node_print_hist_read ? node_print_hist_mark : NULL;
}

static inline bool node_reads(const struct node *node)
{
	return node->read || node->flow;
}

static inline bool node_writes(const struct node *node)
{
	return node->write;
}

/* Fills in what the path says. -EISDIR for a directory. */
int node_find(struct node_request *request, const char *path, const struct node **found,
	      struct err *err);

/* All lines. */
extern const struct node control_nodes[];
extern const uint32_t control_nodes_nr;

/* The i-th line; NULL behind the last. */
const struct node *node_at(uint32_t i);

#endif
