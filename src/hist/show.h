/*
 * hist/show: rows of a histogram as the kernel's `hist` file shows them, and parts of that for other pictures.
 */
#ifndef HIST_SHOW_H
#define HIST_SHOW_H

#include "base/buf.h"
#include "hist/table.h"
#include "trigger/spec.h"

/* Names for numbers. All may be NULL. */
struct hist_names {
	void *arg;
	/* "name+0x12/0x34 [module]", or without the offset. False: unknown. */
	bool (*symbol)(void *arg, uint64_t address, bool offset, struct buf *out);
	/* "sys_read"; NULL: hist_syscall() is asked. */
	const char *(*syscall)(void *arg, uint64_t number);
	const char *(*comm)(void *arg, int32_t pid);
};

/* What a system call of this machine is called in the kernel: "sys_newstat". NULL: there is none of that number. */
const char *hist_syscall(uint64_t number);

/* In the order that the histogram is sorted by, and where that does not say, by their keys. The kernel has no order there. */
void hist_sort(struct hist_rows *rows, const struct spec_hist *hist);
/* Digits of a whole number, with or without a minus. */
bool hist_is_number(const char *text, size_t len);

/* One block of `hist`: "# event histogram" to "Dropped: n", of sorted rows. `info`: what `trigger` shows of it. Between two
 * blocks are two empty lines, which the caller puts. */
void hist_show(const struct hist_rows *rows, const struct spec_hist *hist, const char *info, const struct hist_names *names,
	       struct buf *out);

/* The name of a key or value, as it stands before the colon: "common_pid", "fd+offset". */
void hist_term_show(const struct spec_term *term, struct buf *out);
/* One key of a row alone, as it stands behind the colon, padded: "sh              [      4242]". */
void hist_show_key(const struct hist_row *row, const struct spec_hist *hist, uint32_t key, const struct hist_names *names,
		   struct buf *out);
/* Value number `val` of a row: a sum, or its hits. */
uint64_t hist_value(const struct hist_row *row, const struct spec_hist *hist, uint32_t val);
/* The distribution of value `val`, which has .quantiles; else NULL. */
const uint64_t *hist_spread(const struct hist_row *row, const struct spec_hist *hist, uint32_t val);
/*
 * The value that `share` hundred-thousandths of all counted are not above: the upper end of its range, so less than 12.5 %
 * above what it really was and never below. 0 of nothing.
 */
uint64_t hist_quantile(const uint64_t *spread, uint32_t share);

#endif
