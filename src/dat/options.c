/*
 * dat/options: what the options of a file say. One that makes no sense costs a warning and nothing
 * else; one that is not known costs nothing: writers may know more than we do.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dat/local.h"

int dat_add_option(struct dat *dat, uint16_t id, const void *data, uint32_t len, uint64_t at,
		   struct err *err)
{
	size_t cap = dat->cap_options ? dat->cap_options * 2 : 32;
	struct dat_option *more;
	uint8_t *copy;

	if (dat->nr_options == DAT_OPTIONS_MAX)
		return dat_bad(dat, err, -EBADMSG, at, "more than %d options", DAT_OPTIONS_MAX);
	if (len > DAT_LIST_MAX - dat->option_bytes)
		return dat_bad(dat, err, -EBADMSG, at, "options of more than %zu bytes", DAT_LIST_MAX);
	if (dat->nr_options == dat->cap_options) {
		more = realloc(dat->options, cap * sizeof(*more));
		if (!more)
			return err_set(err, -ENOMEM, "out of memory");
		dat->options = more;
		dat->cap_options = cap;
	}
	copy = malloc((size_t)len + 1);
	if (!copy)
		return err_set(err, -ENOMEM, "out of memory");
	memcpy(copy, data, len);
	copy[len] = '\0';
	dat->option_bytes += len;
	dat->options[dat->nr_options++] = (struct dat_option){ id, len, copy, at, 0 };
	return 0;
}

void dat_place_option(struct dat *dat, uint64_t section)
{
	dat->options[dat->nr_options - 1].section = section;
}

void dat_count_cpus(struct dat *dat)
{
	for (size_t i = 0; i < dat->nr_options; i++) {
		const struct dat_option *o = &dat->options[i];
		uint32_t nr;

		if (o->id != DAT_CPUCOUNT || o->len < 4)
			continue;
		nr = (uint32_t)dat_word(dat, o->data, 4);
		if (nr <= DAT_CPUS_MAX)
			dat->info.nr_cpus = nr;
		else
			dat_warn(dat, "%s: at offset %llu: a machine of %u CPUs", dat->path,
				 (unsigned long long)o->at, nr);
	}
}

/* "local [mono] boot": the one in brackets. */
static const char *chosen_clock(struct dat_option *o)
{
	char *open = strchr((char *)o->data, '['), *close = open ? strchr(open, ']') : NULL;

	return close ? strndup(open + 1, (size_t)(close - open - 1)) : strdup((char *)o->data);
}

static void add_tsc2nsec(struct dat *dat, struct scan *s)
{
	dat->info.tsc2nsec.mult = (uint32_t)scan_word(s, 4);
	dat->info.tsc2nsec.shift = (uint32_t)scan_word(s, 4);
	dat->info.tsc2nsec.offset = scan_word(s, 8);
	dat->info.tsc2nsec.is_set = !s->torn && dat->info.tsc2nsec.shift < 64;
}

static bool add_guest(struct dat *dat, struct scan *s)
{
	struct dat_guest guest = { .name = scan_string(s) }, *more;
	uint32_t max = 0;
	int32_t *pids;

	guest.traceid = scan_word(s, 8);
	guest.nr_cpus = (uint32_t)scan_word(s, 4);
	if (s->torn || guest.nr_cpus > (size_t)(s->end - s->p) / 8)
		return false;
	pids = calloc(guest.nr_cpus ? guest.nr_cpus : 1, sizeof(*pids));
	more = realloc(dat->guests, (dat->nr_guests + 1) * sizeof(*more));
	if (more)
		dat->guests = more;
	if (!pids || !more) {
		free(pids);
		return false;
	}
	for (uint32_t i = 0; i < guest.nr_cpus; i++) {
		uint32_t cpu = (uint32_t)scan_word(s, 4);
		int32_t pid = (int32_t)scan_word(s, 4);

		if (cpu < guest.nr_cpus)
			pids[cpu] = pid;
		max = cpu > max ? cpu : max;
	}
	guest.pids = pids;
	dat->guests[dat->nr_guests++] = guest;
	return max < guest.nr_cpus || !guest.nr_cpus;
}

static void free_shift(struct dat_shift *shift)
{
	for (uint32_t i = 0; shift && i < shift->nr_cpus; i++)
		free(shift->cpus[i].samples);
	if (shift)
		free(shift->cpus);
	free(shift);
}

/* Samples of one CPU lie column by column; the fractions of all come behind them, and may be missing. */
static bool shift_samples(struct scan *s, struct dat_shift *shift, uint32_t cpu)
{
	uint32_t nr = (uint32_t)scan_word(s, 4);
	struct dat_shift_sample *samples;

	if (s->torn || nr > (size_t)(s->end - s->p) / 24)
		return false;
	samples = calloc(nr ? nr : 1, sizeof(*samples));
	if (!samples)
		return false;
	shift->cpus[cpu].samples = samples;
	shift->cpus[cpu].nr = nr;
	for (uint32_t i = 0; i < nr; i++)
		samples[i].time = (int64_t)scan_word(s, 8);
	for (uint32_t i = 0; i < nr; i++)
		samples[i].offset = (int64_t)scan_word(s, 8);
	for (uint32_t i = 0; i < nr; i++)
		samples[i].scale = (int64_t)scan_word(s, 8);
	return true;
}

static void shift_fractions(struct scan *s, struct dat_shift *shift)
{
	for (uint32_t cpu = 0; cpu < shift->nr_cpus; cpu++)
		for (uint32_t i = 0; i < shift->cpus[cpu].nr && s->p != s->end; i++)
			shift->cpus[cpu].samples[i].fraction = (int64_t)scan_word(s, 8);
}

static bool add_shift(struct dat *dat, struct scan *s)
{
	struct dat_shift *shift = calloc(1, sizeof(*shift));
	uint32_t nr;

	if (!shift)
		return false;
	shift->peer = scan_word(s, 8);
	shift->interpolate = scan_word(s, 4) & 1;
	nr = (uint32_t)scan_word(s, 4);
	if (s->torn || nr > (size_t)(s->end - s->p) / 4)
		goto fail;
	shift->cpus = calloc(nr ? nr : 1, sizeof(*shift->cpus));
	if (!shift->cpus)
		goto fail;
	for (; shift->nr_cpus < nr; shift->nr_cpus++)
		if (!shift_samples(s, shift, shift->nr_cpus))
			goto fail;
	shift_fractions(s, shift);
	free_shift(dat->shift);
	dat->shift = shift;
	return true;
fail:
	free_shift(shift);
	return false;
}

static bool apply(struct dat *dat, struct dat_option *o)
{
	struct scan s = { dat, o->data, o->data + o->len, false };
	struct dat_info *info = &dat->info;

	switch (o->id) {
	case DAT_DATE:
		info->date = strtoull((const char *)o->data, NULL, 0) * 1000;
		break;
	case DAT_OFFSET:
		info->offset = strtoll((const char *)o->data, NULL, 0);
		break;
	case DAT_CLOCK:
		free((void *)info->clock);
		info->clock = chosen_clock(o);
		break;
	case DAT_UNAME:
		info->uname = (const char *)o->data;
		break;
	case DAT_VERSION:
		info->writer = (const char *)o->data;
		info->mixed = strstr(info->writer, DAT_MIXED);
		break;
	case DAT_TRACEID:
		info->traceid = scan_word(&s, 8);
		info->has_traceid = !s.torn;
		break;
	case DAT_TSC2NSEC:
		add_tsc2nsec(dat, &s);
		return info->tsc2nsec.is_set;
	case DAT_GUEST:
		return add_guest(dat, &s);
	case DAT_TIME_SHIFT:
		return add_shift(dat, &s);
	case DAT_PROCMAPS:
		return !dat_add_maps(dat, o);
	}
	return !s.torn;
}

void dat_apply_options(struct dat *dat)
{
	for (size_t i = 0; i < dat->nr_options; i++)
		if (!apply(dat, &dat->options[i]))
			dat_warn(dat, "%s: at offset %llu: an option %u that makes no sense", dat->path,
				 (unsigned long long)dat->options[i].at, dat->options[i].id);
}

void dat_free_options(struct dat *dat)
{
	for (size_t i = 0; i < dat->nr_options; i++)
		free((void *)dat->options[i].data);
	free(dat->options);
	for (size_t i = 0; i < dat->nr_guests; i++)
		free((void *)dat->guests[i].pids);
	free(dat->guests);
	free_shift(dat->shift);
	free((void *)dat->info.clock);
}

const struct dat_guest *dat_guest(const struct dat *dat, size_t i)
{
	return i < dat->nr_guests ? &dat->guests[i] : NULL;
}

const struct dat_shift *dat_shift(const struct dat *dat)
{
	return dat->shift;
}
