/*
 * hist/cells: a table for people: a head, rows of cells, and behind each row a bar.
 *
 *	item  name        hits     amount
 *	   3  even         200     501000 |############################
 *
 * All cells are made first, so that columns are as wide as the widest of them and no wider; texts give way to the bar.
 */
#ifndef HIST_CELLS_H
#define HIST_CELLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

#define HIST_CELLS_COLUMNS 64

struct hist_cells {
	struct {
		bool left;		/* a text */
		uint32_t width;
	} columns[HIST_CELLS_COLUMNS];
	uint32_t ncolumns;
	uint32_t at;		/* column of the next cell */
	struct buf texts;	/* one after the other, each with a NUL; those of the head first */
	struct buf bars;	/* a uint64_t of each row */
};

#define HIST_CELLS_INIT { .texts = BUF_INIT, .bars = BUF_INIT }

/* The next cell of a line. Or piece by piece: added to `texts`, which was `start` long before. */
void hist_cells_put(struct hist_cells *cells, const char *text);
void hist_cells_end(struct hist_cells *cells, size_t start);
/* The cells before this were a row, with a bar as long as `val` is. */
void hist_cells_row(struct hist_cells *cells, uint64_t val);
/* The cells before this were the head. */
void hist_cells_head(struct hist_cells *cells);

/* Lines of at most `width` columns, each with its newline; the longest bar is of `max`. */
void hist_cells_draw(struct hist_cells *cells, uint64_t max, uint32_t width, struct buf *out);
void hist_cells_fini(struct hist_cells *cells);

/* A bar of `val` among at most `max`, in `room` columns, without blanks behind it. Something is never nothing. */
void hist_bar(uint64_t val, uint64_t max, uint32_t room, struct buf *out);

/* Columns that a text takes on a terminal, as far as it is UTF-8 of single width. */
uint32_t hist_columns(const char *text, size_t len);

#endif
