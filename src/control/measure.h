/*
 * control/measure: what functions of the directory's programs are measured with (struct state_measure), and what came of it.
 */
#ifndef CONTROL_MEASURE_H
#define CONTROL_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "control/control.h"
#include "layout/table.h"

/* In a transaction, before functions are traced for the first time: what touched_functions tells from. */
int control_touched_make(struct control *control, struct err *err);
/* The bits of table_touched_bit(), TABLE_TOUCHED_SIZE bytes that the caller frees; NULL: there are none, or an error. */
unsigned char *control_touched_read(const struct control *control, struct err *err);

/* In a transaction: functions are counted and timed from now on, from zero; or no more, which leaves the numbers. */
int control_profile_switch(struct control *control, bool on, struct err *err);

struct control_profile_row {
	uint64_t address;
	uint64_t hits;
	uint64_t vals[PROFILE_VALS];
};

struct control_profile {
	struct control_profile_row *rows;	/* in no order, one for each function */
	size_t n;
	uint64_t drops;		/* calls that could not be counted */
};

#define CONTROL_PROFILE_ALL UINT32_MAX
/* Of calls that began on that CPU, or on all. */
int control_profile_read(struct control_profile *profile, const struct control *control, uint32_t cpu, struct err *err);
void control_profile_fini(struct control_profile *profile);

/* Of its calls: what one takes, and the variance of that, in nanoseconds; `self` without what it calls. 0 if too few ended. */
uint64_t control_profile_average(const struct control_profile_row *row, bool self);
long double control_profile_variance(const struct control_profile_row *row, bool self);
/* The standard deviation: its root. */
uint64_t control_profile_deviation(const struct control_profile_row *row, bool self);

#endif
