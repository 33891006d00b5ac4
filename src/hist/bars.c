/*
 * hist/bars: see bars.h. Pure.
 */
#include "hist/bars.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	uint32_t share;
} quantiles[] = { { "p50", 50000 }, { "p90", 90000 }, { "p99", 99000 }, { "p99.9", 99900 } };

_Static_assert(HOOK_KEYS_MAX + 1 + 4 * HOOK_VALS_MAX < HIST_CELLS_COLUMNS, "a column for each cell");

struct table {
	const struct spec_hist *hist;
	const struct hist_names *names;
	struct hist_cells cells;
};

static bool is_number(const struct spec_term *term)
{
	return term->form == HOOK_NUMBER && (term->how == SPEC_PLAIN || term->how == SPEC_HEX || term->how == SPEC_USECS);
}

static void put_head(struct table *table)
{
	const struct spec_hist *hist = table->hist;

	for (uint32_t i = 0; i < hist->nkeys; i++) {
		size_t start = table->cells.texts.len;

		table->cells.columns[table->cells.at].left = !is_number(hist->keys[i]) && hist->keys[i]->how != SPEC_STRING;
		hist_term_show(hist->keys[i], &table->cells.texts);
		hist_cells_end(&table->cells, start);
	}
	if (!hist->nohitcount)
		hist_cells_put(&table->cells, "hits");
	for (uint32_t i = 0; i < hist->nvals; i++) {
		bool many = hist->vals[i]->how == SPEC_QUANTILES;

		for (size_t q = 0; q < (many ? sizeof(quantiles) / sizeof(quantiles[0]) : 1); q++) {
			size_t start = table->cells.texts.len;

			hist_term_show(hist->vals[i], &table->cells.texts);
			if (many)
				buf_printf(&table->cells.texts, " %s", quantiles[q].name);
			else if (hist->vals[i]->how == SPEC_PERCENT)
				buf_puts(&table->cells.texts, " %");
			hist_cells_end(&table->cells, start);
		}
	}
}

static uint64_t key_number(const struct hist_row *row, const struct spec_hist *hist, uint32_t key)
{
	struct buf text = BUF_INIT;
	uint64_t number = 0;

	hist_show_key(row, hist, key, NULL, &text);
	if (!buf_failed(&text))
		number = strtoull(text.data, NULL, 10);
	buf_fini(&text);
	return number;
}

/* The kernel's text without the blanks that fill it up; a stack in one line, its innermost frame first. */
static void put_lines(struct buf *out, char *text)
{
	size_t start = out->len;
	char *save = NULL;

	for (char *at = strtok_r(text, "\n", &save); at; at = strtok_r(NULL, "\n", &save)) {
		at += strspn(at, " ");
		for (size_t len = strlen(at); len && at[len - 1] == ' ';)
			at[--len] = '\0';
		buf_puts(out, out->len > start ? " < " : "");
		buf_puts(out, at);
	}
}

static void put_key(struct table *table, const struct hist_row *row, uint32_t i)
{
	const struct spec_term *term = table->hist->keys[i];
	size_t start = table->cells.texts.len;
	struct buf text = BUF_INIT;

	if (is_number(term) && term->how == SPEC_PLAIN && term->is_signed) {
		buf_printf(&table->cells.texts, "%" PRId64, (int64_t)key_number(row, table->hist, i));
		hist_cells_end(&table->cells, start);
		return;
	}
	hist_show_key(row, table->hist, i, table->names, &text);
	buf_putc(&text, '\0');
	if (!buf_failed(&text))
		put_lines(&table->cells.texts, text.data);
	buf_fini(&text);
	/* Of a .string the rows tell what it is. */
	if (term->how == SPEC_STRING && !buf_failed(&table->cells.texts) &&
	    !hist_is_number(table->cells.texts.data + start, table->cells.texts.len - start))
		table->cells.columns[table->cells.at].left = true;
	hist_cells_end(&table->cells, start);
}

static void put_value(struct table *table, const struct hist_rows *rows, const struct hist_row *row, uint32_t i)
{
	const struct spec_term *term = table->hist->vals[i];
	uint64_t val = hist_value(row, table->hist, i), total = 0;
	size_t start = table->cells.texts.len;

	if (term->how == SPEC_QUANTILES) {
		for (size_t q = 0; q < sizeof(quantiles) / sizeof(quantiles[0]); q++) {
			start = table->cells.texts.len;
			buf_printf(&table->cells.texts, "%" PRIu64,
				   hist_quantile(hist_spread(row, table->hist, i), quantiles[q].share));
			hist_cells_end(&table->cells, start);
		}
		return;
	}
	if (term->how == SPEC_PERCENT) {
		for (uint32_t r = 0; r < rows->nrows; r++)
			total += hist_value(&rows->rows[r], table->hist, i);
		buf_printf(&table->cells.texts, "%.2f", total ? (double)val * 100 / (double)total : 0.0);
	} else if (term->how == SPEC_HEX) {
		buf_printf(&table->cells.texts, "%" PRIx64, val);
	} else if (term->is_signed) {
		buf_printf(&table->cells.texts, "%" PRId64, (int64_t)val);
	} else {
		buf_printf(&table->cells.texts, "%" PRIu64, val);
	}
	hist_cells_end(&table->cells, start);
}

static void put_row(struct table *table, const struct hist_rows *rows, const struct hist_row *row)
{
	char hits[32];

	for (uint32_t i = 0; i < table->hist->nkeys; i++)
		put_key(table, row, i);
	if (!table->hist->nohitcount) {
		snprintf(hits, sizeof(hits), "%" PRIu64, row->hits);
		hist_cells_put(&table->cells, hits);
	}
	for (uint32_t i = 0; i < table->hist->nvals; i++)
		put_value(table, rows, row, i);
}

/* No bar is as long as less than nothing, which without its sign would be the longest of all. */
static uint64_t length(uint64_t val, bool is_signed)
{
	return is_signed && (int64_t)val < 0 ? 0 : val;
}

/* What the bars are of: the first value whose rows can be told by it. */
static uint64_t measure(const struct hist_row *row, const struct spec_hist *hist)
{
	return hist->nvals ? length(hist_value(row, hist, 0), hist->vals[0]->is_signed) : row->hits;
}

static void put_totals(size_t rows, size_t shown, uint64_t hits, uint64_t drops, struct buf *out)
{
	if (shown < rows)
		buf_printf(out, "... and %zu more rows\n", rows - shown);
	buf_printf(out, "%" PRIu64 " hits, %zu rows", hits, rows);
	if (drops)
		buf_printf(out, ", %" PRIu64 " hits for which there was no row left", drops);
	buf_putc(out, '\n');
}

void hist_bars(const struct hist_rows *rows, const struct spec_hist *hist, const struct hist_names *names, uint32_t width,
	       uint32_t max_rows, struct buf *out)
{
	struct table table = { .hist = hist, .names = names, .cells = HIST_CELLS_INIT };
	uint32_t n = max_rows && rows->nrows > max_rows ? max_rows : rows->nrows;
	uint64_t max = 0;

	put_head(&table);
	hist_cells_head(&table.cells);
	for (uint32_t i = 0; i < rows->nrows; i++) {
		uint64_t val = measure(&rows->rows[i], hist);

		max = val > max ? val : max;
		if (i < n) {
			put_row(&table, rows, &rows->rows[i]);
			hist_cells_row(&table.cells, val);
		}
	}
	hist_cells_draw(&table.cells, max, width, out);
	hist_cells_fini(&table.cells);
	put_totals(rows->nrows, n, rows->hits, rows->drops, out);
}

/* ---- Rows that were read as text ---- */

/* The kernel prints every number as one without a sign. */
static void put_text(struct hist_cells *cells, const struct hist_text_name *name, const char *text)
{
	size_t start = cells->texts.len;
	char *copy = text ? strdup(text) : NULL;

	if (copy && name->is_signed && !*name->how && hist_is_number(copy, strlen(copy)))
		buf_printf(&cells->texts, "%" PRId64, (int64_t)strtoull(copy, NULL, 10));
	else if (copy)
		put_lines(&cells->texts, copy);
	free(copy);
	hist_cells_end(cells, start);
}

static bool is_text(const struct hist_text *hist, unsigned int key)
{
	const char *how = hist->keys[key].how;

	if (*how && strcmp(how, "hex") && strcmp(how, "usecs"))
		return true;
	for (size_t i = 0; !*how && i < hist->nrows; i++)
		if (hist->rows[i].keys[key] && !hist_is_number(hist->rows[i].keys[key], strlen(hist->rows[i].keys[key])))
			return true;
	return false;
}

static void put_text_head(struct hist_cells *cells, const struct hist_text *hist)
{
	char head[160];

	for (unsigned int i = 0; i < hist->nkeys; i++) {
		cells->columns[cells->at].left = is_text(hist, i);
		hist_cells_put(cells, hist->keys[i].text);
	}
	hist_cells_put(cells, "hits");
	for (unsigned int i = 0; i < hist->nvalues; i++) {
		snprintf(head, sizeof(head), "%.100s%s", hist->values[i].text, strcmp(hist->values[i].how, "percent") ? "" : " %");
		hist_cells_put(cells, head);
	}
	hist_cells_head(cells);
}

static uint64_t measure_text(const struct hist_text *hist, const struct hist_text_row *row)
{
	if (!hist->nvalues)
		return row->hits;
	return row->values[0] ? length(strtoull(row->values[0], NULL, strcmp(hist->values[0].how, "hex") ? 10 : 16),
				       hist->values[0].is_signed) : 0;
}

void hist_bars_text(const struct hist_text *hist, uint32_t width, uint32_t max_rows, struct buf *out)
{
	struct hist_cells cells = HIST_CELLS_INIT;
	size_t n = max_rows && hist->nrows > max_rows ? max_rows : hist->nrows;
	uint64_t max = 0;
	char hits[32];

	put_text_head(&cells, hist);
	for (size_t i = 0; i < hist->nrows; i++) {
		const struct hist_text_row *row = &hist->rows[i];
		uint64_t val = measure_text(hist, row);

		max = val > max ? val : max;
		if (i >= n)
			continue;
		for (unsigned int k = 0; k < hist->nkeys; k++)
			put_text(&cells, &hist->keys[k], row->keys[k]);
		snprintf(hits, sizeof(hits), "%" PRIu64, row->hits);
		hist_cells_put(&cells, hits);
		for (unsigned int v = 0; v < hist->nvalues; v++)
			put_text(&cells, &hist->values[v], row->values[v]);
		hist_cells_row(&cells, val);
	}
	hist_cells_draw(&cells, max, width, out);
	hist_cells_fini(&cells);
	put_totals(hist->nrows, n, hist->hits, hist->drops, out);
}
