/*
 * Histograms out of the kernel's own text: every one of tests/data/hist-6.12 has its rows, with all their keys and values, and
 * counts as much as it says; texts that only look like a row's end are none.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hist/bars.h"
#include "insist.h"

static char *read_all(const char *name)
{
	FILE *file = fopen(name, "re");
	char *text = calloc(1, 1 << 20);

	CHECK(file && text && fread(text, 1, (1 << 20) - 1, file) > 1000, "%s", name);
	fclose(file);
	return text;
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (const char *at = strstr(text, what); at; at = strstr(at + 1, what))
		n++;
	return n;
}

/* One section: what was written, and what the file showed, which may be several histograms. */
static size_t check_section(const char *name, const char *text)
{
	struct hist_text hist;
	size_t rows = 0, n = 0;
	int r;

	while (!(r = hist_text_read(&hist, text, (unsigned int)n))) {
		uint64_t hits = 0;

		for (size_t i = 0; i < hist.nrows; i++) {
			for (unsigned int k = 0; k < hist.nkeys; k++)
				CHECK(hist.rows[i].keys[k], "%s: row %zu has no %s", name, i, hist.keys[k].text);
			/* Of a sum that is calculated the kernel shows nothing. */
			for (unsigned int v = 0; v < hist.nvalues; v++)
				CHECK(hist.rows[i].values[v] || strpbrk(hist.values[v].text, "+-"), "%s: row %zu has no %s", name, i,
				      hist.values[v].text);
			hits += hist.rows[i].hits;
		}
		CHECK(hits == hist.hits || !strcmp(name, "nohit"), "%s: %" PRIu64 " of %" PRIu64, name, hits, hist.hits);
		rows += hist.nrows;
		hist_text_fini(&hist);
		n++;
	}
	CHECK(r == -ENOENT, "%s: %d", name, r);
	hist_text_fini(&hist);
	CHECK(rows == count(text, "\n{ "), "%s: %zu rows of %zu", name, rows, count(text, "\n{ "));
	CHECK(n == count(text, "# event histogram\n"), "%s: %zu histograms", name, n);
	return n;
}

static void check_kernel(char *text)
{
	size_t n = 0, sections = 0;

	for (char *at = strstr(text, "== "), *next; at; at = next) {
		char *end = strchr(at, '\n');

		next = strstr(at + 1, "\n== ");
		if (next)
			*next++ = '\0';
		*end = '\0';
		n += check_section(at + 3, end + 1);
		sections++;
	}
	CHECK(sections > 50 && n >= sections - 5, "%zu sections, %zu histograms", sections, n);
}

static const char shown[] =
	"# event histogram\n#\n# trigger info: hist:keys=who,common_stacktrace:vals=hitcount,hitcount.percent,cents.hex:m=cents"
	":sort=hitcount:size=2048:onmax($m).save(item) [active]\n#\n\n"
	"{ who: a, } hitcount: 3  cents: 4, common_stacktrace:\n"
	"         first+0x1/0x2\n"
	"         second+0x1/0x2\n"
	"} hitcount:          5  hitcount (%):  71.42  cents:         ff\n"
	"\tmax:        200  item:          7\n"
	"{ who: b                    , common_stacktrace:\n"
	"         first+0x1/0x2\n"
	"} hitcount:          2  hitcount (%):  28.57  cents:          a\n"
	"\nTotals:\n    Hits: 7\n    Entries: 2\n    Dropped: 2\n";

static void check_row(void)
{
	struct hist_text hist;

	CHECK(!hist_text_read(&hist, shown, 0), "not read");
	CHECK(hist.nrows == 2 && hist.nkeys == 2 && hist.nvalues == 2, "%zu rows", hist.nrows);
	CHECK(hist.hits == 7 && hist.drops == 2, "totals");
	CHECK(!strcmp(hist.values[0].text, "hitcount") && !strcmp(hist.values[0].how, "percent"), "%s", hist.values[0].how);
	CHECK(!strcmp(hist.values[1].how, "hex"), "%s", hist.values[1].how);
	CHECK(!strcmp(hist.rows[0].keys[0], "a, } hitcount: 3  cents: 4"), "'%s'", hist.rows[0].keys[0]);
	CHECK(strstr(hist.rows[0].keys[1], "second+0x1/0x2"), "'%s'", hist.rows[0].keys[1]);
	CHECK(hist.rows[0].hits == 5 && !strcmp(hist.rows[0].values[0], "71.42") && !strcmp(hist.rows[0].values[1], "ff"), "'%s'",
	      hist.rows[0].values[1]);
	CHECK(hist_text_number(hist.rows[0].below, "max") == 200 && hist_text_number(hist.rows[0].below, "item") == 7, "'%s'",
	      hist.rows[0].below);
	CHECK(hist.rows[1].hits == 2 && !hist.rows[1].below && !strcmp(hist.rows[1].keys[0], "b"), "'%s'", hist.rows[1].keys[0]);
	hist_text_fini(&hist);
	CHECK(hist_text_read(&hist, shown, 1) == -ENOENT, "a second one");
	hist_text_fini(&hist);
	CHECK(hist_text_read(&hist, "# event histogram\n# nothing\n", 0) == -EBADMSG, "something out of nothing");
	hist_text_fini(&hist);
}

/* Bars of numbers with a sign, which the text does not show: what is below zero has none, and does not make others short. */
static void check_bars(void)
{
	static const char text[] =
		"# event histogram\n#\n# trigger info: hist:keys=id:vals=hitcount,ret:sort=hitcount:size=2048 [active]\n#\n\n"
		"{ id:          1 } hitcount:          2  ret:         10\n"
		"{ id:          2 } hitcount:          1  ret: 18446744073709551614\n"
		"{ id:          3 } hitcount:          1  ret:          5\n"
		"\nTotals:\n    Hits: 4\n    Entries: 3\n    Dropped: 0\n";
	struct buf out = BUF_INIT;
	struct hist_text hist;

	CHECK(!hist_text_read(&hist, text, 0), "not read");
	hist.values[0].is_signed = true;
	hist_bars_text(&hist, 25, 0, &out);
	CHECK(!strcmp(out.data, "id  hits  ret\n"
				" 1     2   10  |#########\n"
				" 2     1   -2  |\n"
				" 3     1    5  |#####\n"
				"4 hits, 3 rows\n"), "%s", out.data);
	hist_text_fini(&hist);
	buf_fini(&out);
}

int main(void)
{
	char name[4096], *text;

	CHECK(getenv("RINGSIDE_SOURCE"), "RINGSIDE_SOURCE is not set");
	snprintf(name, sizeof(name), "%s/tests/data/hist-6.12", getenv("RINGSIDE_SOURCE"));
	text = read_all(name);
	check_kernel(text);
	free(text);
	check_row();
	check_bars();
	return 0;
}
