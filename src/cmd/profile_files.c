/*
 * cmd/profile_files: see profile_files.h.
 *
 *	  Function                               Hit    Time            Avg             s^2
 *	  --------                               ---    ----            ---             ---
 *	  schedule                             22943    1994458.7 us    86.931 us       7551.2 us
 *
 * Times are microseconds, and s^2 is the variance, of square microseconds: from it comes the sum of squares, which can be added up.
 */
#include "cmd/profile_files.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"

/* Of one function on all CPUs. */
struct sum {
	uint64_t hits;
	uint64_t ns;
	long double squares;	/* of nanoseconds */
};

/* "1994458.706": microseconds, with up to three decimals, as nanoseconds. */
static uint64_t to_ns(const char *text)
{
	char *end;
	uint64_t ns = strtoull(text, &end, 10) * 1000;

	if (*end == '.')
		for (uint64_t unit = 100; unit && *++end >= '0' && *end <= '9'; unit /= 10)
			ns += unit * (uint64_t)(*end - '0');
	return ns;
}

static int take_row(struct map *sums, const char *line)
{
	char name[64], time[32] = "0", average[32] = "0", variance[32] = "0";
	struct sum *sum;
	uint64_t hits, ns;

	if (sscanf(line, " %63s %" SCNu64 " %31s us %31s us %31s us", name, &hits, time, average, variance) < 2)
		return 0;
	sum = map_get(sums, name, strlen(name) + 1, sizeof(*sum));
	if (!sum)
		return -ENOMEM;
	ns = to_ns(time);
	sum->hits += hits;
	sum->ns += ns;
	if (hits)
		sum->squares += (long double)to_ns(variance) * 1000 * (long double)(hits - 1) +
				(long double)ns * (long double)ns / (long double)hits;
	return 0;
}

/* One CPU's. Two lines are its head. */
static int take_file(struct profile_files *files, struct map *sums, char *text)
{
	char *save = NULL, *line = strtok_r(text, "\n", &save);
	int r = 0;

	files->has_times |= line && strstr(line, "Time");
	line = line ? strtok_r(NULL, "\n", &save) : NULL;
	while (!r && line && (line = strtok_r(NULL, "\n", &save)))
		r = take_row(sums, line);
	return r;
}

static void put_row(struct control_profile_row *row, const struct sum *sum, bool self, bool timed)
{
	const int at = self ? PROFILE_SELF_SQUARES : PROFILE_TIME_SQUARES;
	const long double word = 18446744073709551616.0L;

	row->hits = sum->hits;
	row->vals[PROFILE_TIMED] = timed ? sum->hits : 0;
	row->vals[self ? PROFILE_SELF : PROFILE_TIME] = sum->ns;
	row->vals[at + 1] = (uint64_t)(sum->squares / word);
	row->vals[at] = (uint64_t)(sum->squares - (long double)row->vals[at + 1] * word);
}

static int put_rows(struct profile_files *files, const struct map *sums)
{
	struct control_profile *profile = &files->profile;
	const struct map_entry **all = NULL;
	int r = map_list(sums, &all);

	profile->rows = calloc(sums->nr + 1, sizeof(*profile->rows));
	files->names = calloc(sums->nr + 1, sizeof(*files->names));
	if (!profile->rows || !files->names)
		r = -ENOMEM;
	for (size_t i = 0; !r && i < sums->nr; i++) {
		files->names[i] = strdup(all[i]->key);
		r = files->names[i] ? 0 : -ENOMEM;
		put_row(&profile->rows[i], all[i]->value, files->is_self, files->has_times);
		profile->n++;
	}
	free(all);
	return r;
}

int profile_files_read(struct profile_files *files, struct source *source, struct err *err)
{
	struct buf names = BUF_INIT, text = BUF_INIT;
	struct map sums = MAP_INIT;
	char path[128], *save = NULL;
	int r;

	*files = (struct profile_files){ .has_times = false };
	r = source_read(source, "options/graph-time", &text, NULL);
	files->is_self = !r && text.data && *text.data == '0';
	r = source_list(source, "trace_stat", &names, err);
	for (char *name = !r && names.data ? strtok_r(names.data, "\n", &save) : NULL; !r && name; name = strtok_r(NULL, "\n", &save)) {
		if (strncmp(name, "function", 8) || strspn(name + 8, "0123456789") != strlen(name + 8))
			continue;
		snprintf(path, sizeof(path), "trace_stat/%.80s", name);
		buf_reset(&text);
		r = source_read(source, path, &text, err);
		if (!r && text.data && take_file(files, &sums, text.data))
			r = err_set(err, -ENOMEM, "out of memory");
	}
	if (!r && put_rows(files, &sums))
		r = err_set(err, -ENOMEM, "out of memory");
	map_fini(&sums);
	buf_fini(&names);
	buf_fini(&text);
	if (r)
		profile_files_fini(files);
	return r;
}

void profile_files_fini(struct profile_files *files)
{
	for (size_t i = 0; files->names && i < files->profile.n; i++)
		free(files->names[i]);
	free(files->names);
	control_profile_fini(&files->profile);
	*files = (struct profile_files){ .has_times = false };
}
