/*
 * trigger/filter_cpus: lists of CPUs, as the kernel reads them; see filter.h. Pure.
 *
 *   list = { ',' or blank } region { ... }    region = 'all' | first [ '-' last [ ':' used '/' group ] ]
 *
 * A number may be N: the last CPU of this machine.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trigger/filter.h"
#include "trigger/read.h"

struct region {
	uint32_t first, last, used, group;
};

static uint32_t last_cpu(void)
{
	long n = sysconf(_SC_NPROCESSORS_CONF);

	return n > 0 && n <= (long)FILTER_CPUS ? (uint32_t)n - 1 : 0;
}

static bool is_end(const char *p, const char *end)
{
	return p == end || *p == ',' || read_is_blank(*p);
}

static bool read_cpu(const char **p, const char *end, uint32_t *out)
{
	uint32_t n = 0;

	if (*p < end && **p == 'N') {
		++*p;
		*out = last_cpu();
		return true;
	}
	if (*p == end || **p < '0' || **p > '9')
		return false;
	for (; *p < end && **p >= '0' && **p <= '9'; ++*p) {
		n = n * 10 + (uint32_t)(**p - '0');
		if (n > FILTER_CPUS)
			return false;
	}
	*out = n;
	return true;
}

static bool take(const char **p, const char *end, char c)
{
	if (*p == end || **p != c)
		return false;
	++*p;
	return true;
}

static bool read_region(const char **p, const char *end, struct region *r)
{
	bool is_all = end - *p >= 3 && !strncasecmp(*p, "all", 3);

	*r = (struct region){ .last = last_cpu(), .used = 1, .group = 1 };
	if (is_all) {
		*p += 3;
	} else {
		if (!read_cpu(p, end, &r->first))
			return false;
		r->last = r->first;
		if (is_end(*p, end))
			return true;
		if (!take(p, end, '-') || !read_cpu(p, end, &r->last))
			return false;
	}
	if (is_end(*p, end))
		return true;
	return take(p, end, ':') && read_cpu(p, end, &r->used) && take(p, end, '/') && read_cpu(p, end, &r->group) &&
	       is_end(*p, end);
}

bool filter_read_cpus(const char *text, size_t len, uint64_t words[FILTER_CPU_WORDS])
{
	const char *p = text, *end = text + len;
	struct region r;

	memset(words, 0, FILTER_CPU_WORDS * sizeof(*words));
	for (;;) {
		while (p < end && is_end(p, end))
			p++;
		if (p == end)
			return true;
		if (!read_region(&p, end, &r) || r.first > r.last || !r.group || r.used > r.group || r.last >= FILTER_CPUS)
			return false;
		for (uint32_t cpu = r.first; cpu <= r.last; cpu++)
			if ((cpu - r.first) % r.group < r.used)
				words[cpu / 64] |= 1ull << cpu % 64;
	}
}
