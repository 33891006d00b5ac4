/*
 * hist/bars: rows of a histogram as a picture for people: columns, and a bar for each row.
 */
#ifndef HIST_BARS_H
#define HIST_BARS_H

#include "hist/show.h"

/*
 * Lines of at most `width` columns, each with its newline: a head, rows in their order, how much there is in all. Of more
 * than `max_rows` rows those behind are only counted; 0: all are shown. Bars are of the first value, or of the hits.
 */
void hist_bars(const struct hist_rows *rows, const struct spec_hist *hist, const struct hist_names *names, uint32_t width,
	       uint32_t max_rows, struct buf *out);

/* A bar of `val` among at most `max`, in `room` columns, without blanks behind it. Something is never nothing. */
void hist_bar(uint64_t val, uint64_t max, uint32_t room, struct buf *out);

/* Columns that a text takes on a terminal, as far as it is UTF-8 of single width. */
uint32_t hist_columns(const char *text, size_t len);

#endif
