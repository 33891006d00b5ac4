/*
 * hist/bars: rows of a histogram as a picture for people: columns, and a bar for each row.
 */
#ifndef HIST_BARS_H
#define HIST_BARS_H

#include "hist/cells.h"
#include "hist/show.h"
#include "hist/text.h"

/*
 * Lines of at most `width` columns, each with its newline: a head, rows in their order, how much there is in all. Of more
 * than `max_rows` rows those behind are only counted; 0: all are shown. Bars are of the first value, or of the hits.
 */
void hist_bars(const struct hist_rows *rows, const struct spec_hist *hist, const struct hist_names *names, uint32_t width,
	       uint32_t max_rows, struct buf *out);

/* The same of one that was read as text. */
void hist_bars_text(const struct hist_text *hist, uint32_t width, uint32_t max_rows, struct buf *out);

#endif
