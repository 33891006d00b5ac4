/*
 * cmd/units: see units.h.
 */
#include "cmd/units.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A number with one of these letters or words behind it. False: it is none, or too large. */
struct unit {
	const char *word;
	uint64_t factor;
};

static bool parse(const char *text, const struct unit *units, uint64_t *value)
{
	char *end;
	double number;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	number = strtod(text, &end);
	for (; units->word; units++)
		if (!strcmp(end, units->word))
			break;
	if (!units->word || errno || number * (double)units->factor >= 9e18)
		return false;
	*value = (uint64_t)(number * (double)units->factor);
	return true;
}

static const struct unit times[] = {
	{ "", 1000000000 }, { "s", 1000000000 }, { "ms", 1000000 }, { "us", 1000 }, { "ns", 1 },
	{ "m", 60000000000 }, { "min", 60000000000 }, { "h", 3600000000000 }, { "d", 86400000000000 },
	{ NULL, 0 },
};

static const struct unit sizes[] = {
	{ "k", 1 << 10 }, { "K", 1 << 10 }, { "KB", 1 << 10 }, { "kB", 1 << 10 }, { "KiB", 1 << 10 },
	{ "M", 1 << 20 }, { "MB", 1 << 20 }, { "MiB", 1 << 20 },
	{ "G", 1 << 30 }, { "GB", 1 << 30 }, { "GiB", 1 << 30 },
	{ "T", 1ull << 40 }, { "TB", 1ull << 40 }, { "TiB", 1ull << 40 },
	{ NULL, 0 },
};

static const struct unit kilobytes[] = { { "", 1 << 10 }, { NULL, 0 } };

bool units_time(const char *text, uint64_t *ns)
{
	return parse(text, times, ns);
}

bool units_size(const char *text, uint64_t *bytes)
{
	return parse(text, sizes, bytes);
}

bool units_kilobytes(const char *text, uint64_t *bytes)
{
	return parse(text, kilobytes, bytes);
}
