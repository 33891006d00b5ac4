/*
 * hist/bars: see bars.h. Pure.
 *
 *	item  name        hits     amount
 *	   3  even         200     501000 |############################
 *
 * All cells of the rows that are shown are made first, so that columns are as wide as the widest of them and no wider.
 */
#include "hist/bars.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX (HOOK_KEYS_MAX + 1 + 4 * HOOK_VALS_MAX)
#define BAR_MIN 10u
#define CELL_MIN 8u

static const struct {
	const char *name;
	uint32_t share;
} quantiles[] = { { "p50", 50000 }, { "p90", 90000 }, { "p99", 99000 }, { "p99.9", 99900 } };

struct column {
	bool left;		/* a text */
	uint32_t width;
};

/* Cells lie one after the other, each with a NUL; those of the head first. */
struct table {
	const struct spec_hist *hist;
	const struct hist_names *names;
	struct column columns[COLUMNS_MAX];
	uint32_t ncolumns;
	struct buf cells;
	uint32_t at;		/* column of the next cell */
};

uint32_t hist_columns(const char *text, size_t len)
{
	uint32_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += ((unsigned char)text[i] & 0xc0) != 0x80;
	return n;
}

/* What a terminal would obey is no text. */
static void end_cell(struct table *table, size_t start)
{
	struct column *column = &table->columns[table->at];
	uint32_t width;

	for (size_t i = start; !buf_failed(&table->cells) && i < table->cells.len; i++)
		if ((unsigned char)table->cells.data[i] < ' ' || table->cells.data[i] == 0x7f)
			table->cells.data[i] = '?';
	width = buf_failed(&table->cells) ? 0 : hist_columns(table->cells.data + start, table->cells.len - start);
	column->width = width > column->width ? width : column->width;
	buf_putc(&table->cells, '\0');
	if (++table->at > table->ncolumns)
		table->ncolumns = table->at;
}

static void put_cell(struct table *table, const char *text)
{
	size_t start = table->cells.len;

	buf_puts(&table->cells, text);
	end_cell(table, start);
}

static bool is_number(const struct spec_term *term)
{
	return term->form == HOOK_NUMBER && (term->how == SPEC_PLAIN || term->how == SPEC_HEX || term->how == SPEC_USECS);
}

static void put_head(struct table *table)
{
	const struct spec_hist *hist = table->hist;

	for (uint32_t i = 0; i < hist->nkeys; i++) {
		size_t start = table->cells.len;

		table->columns[table->at].left = !is_number(hist->keys[i]) && hist->keys[i]->how != SPEC_STRING;
		hist_term_show(hist->keys[i], &table->cells);
		end_cell(table, start);
	}
	if (!hist->nohitcount)
		put_cell(table, "hits");
	for (uint32_t i = 0; i < hist->nvals; i++) {
		bool many = hist->vals[i]->how == SPEC_QUANTILES;

		for (size_t q = 0; q < (many ? sizeof(quantiles) / sizeof(quantiles[0]) : 1); q++) {
			size_t start = table->cells.len;

			hist_term_show(hist->vals[i], &table->cells);
			if (many)
				buf_printf(&table->cells, " %s", quantiles[q].name);
			else if (hist->vals[i]->how == SPEC_PERCENT)
				buf_puts(&table->cells, " %");
			end_cell(table, start);
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
static void put_key(struct table *table, const struct hist_row *row, uint32_t i)
{
	const struct spec_term *term = table->hist->keys[i];
	size_t start = table->cells.len;
	struct buf text = BUF_INIT;
	char *at, *save = NULL;

	if (is_number(term) && term->how == SPEC_PLAIN && term->is_signed) {
		buf_printf(&table->cells, "%" PRId64, (int64_t)key_number(row, table->hist, i));
		end_cell(table, start);
		return;
	}
	hist_show_key(row, table->hist, i, table->names, &text);
	buf_putc(&text, '\0');
	if (!buf_failed(&text)) {
		for (at = strtok_r(text.data, "\n", &save); at; at = strtok_r(NULL, "\n", &save)) {
			at += strspn(at, " ");
			for (size_t len = strlen(at); len && at[len - 1] == ' ';)
				at[--len] = '\0';
			buf_puts(&table->cells, table->cells.len > start ? " < " : "");
			buf_puts(&table->cells, at);
		}
	}
	buf_fini(&text);
	/* Of a .string the rows tell what it is. */
	if (term->how == SPEC_STRING && !buf_failed(&table->cells) &&
	    !hist_is_number(table->cells.data + start, table->cells.len - start))
		table->columns[table->at].left = true;
	end_cell(table, start);
}

static void put_value(struct table *table, const struct hist_rows *rows, const struct hist_row *row, uint32_t i)
{
	const struct spec_term *term = table->hist->vals[i];
	uint64_t val = hist_value(row, table->hist, i), total = 0;
	size_t start = table->cells.len;

	if (term->how == SPEC_QUANTILES) {
		for (size_t q = 0; q < sizeof(quantiles) / sizeof(quantiles[0]); q++) {
			start = table->cells.len;
			buf_printf(&table->cells, "%" PRIu64,
				   hist_quantile(hist_spread(row, table->hist, i), quantiles[q].share));
			end_cell(table, start);
		}
		return;
	}
	if (term->how == SPEC_PERCENT) {
		for (uint32_t r = 0; r < rows->nrows; r++)
			total += hist_value(&rows->rows[r], table->hist, i);
		buf_printf(&table->cells, "%.2f", total ? (double)val * 100 / (double)total : 0.0);
	} else if (term->how == SPEC_HEX) {
		buf_printf(&table->cells, "%" PRIx64, val);
	} else if (term->is_signed) {
		buf_printf(&table->cells, "%" PRId64, (int64_t)val);
	} else {
		buf_printf(&table->cells, "%" PRIu64, val);
	}
	end_cell(table, start);
}

static void put_row(struct table *table, const struct hist_rows *rows, const struct hist_row *row)
{
	char hits[32];

	table->at = 0;
	for (uint32_t i = 0; i < table->hist->nkeys; i++)
		put_key(table, row, i);
	if (!table->hist->nohitcount) {
		snprintf(hits, sizeof(hits), "%" PRIu64, row->hits);
		put_cell(table, hits);
	}
	for (uint32_t i = 0; i < table->hist->nvals; i++)
		put_value(table, rows, row, i);
}

/* ---- Drawing ---- */

void hist_bar(uint64_t val, uint64_t max, uint32_t room, struct buf *out)
{
	uint32_t n = max ? (uint32_t)((double)val * room / (double)max + 0.5) : 0;

	n = n > room ? room : !n && val && room ? 1 : n;
	while (n--)
		buf_putc(out, '#');
}

/* What the bars are of: the first value whose rows can be told by it. */
static uint64_t measure(const struct hist_row *row, const struct spec_hist *hist)
{
	return hist->nvals ? hist_value(row, hist, 0) : row->hits;
}

static uint32_t sum_widths(const struct table *table)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < table->ncolumns; i++)
		sum += table->columns[i].width + 2;
	return sum;
}

/* Texts give way to the bar, the widest first. */
static void squeeze(struct table *table, uint32_t width)
{
	while (sum_widths(table) + BAR_MIN > width) {
		struct column *widest = NULL;

		for (uint32_t i = 0; i < table->ncolumns; i++)
			if (table->columns[i].left && (!widest || table->columns[i].width > widest->width))
				widest = &table->columns[i];
		if (!widest || widest->width <= CELL_MIN)
			return;
		widest->width--;
	}
}

/* As much of a cell as its column has room for; one that is cut ends in two dots. */
static void draw_cell(const struct column *column, const char *text, struct buf *out)
{
	uint32_t columns = hist_columns(text, strlen(text)), room = column->width, used = 0;
	size_t len = 0;

	if (!column->left)
		buf_printf(out, "%*s", (int)(room > columns ? room - columns : 0), "");
	while (text[len] && (columns <= room || used < room - 2)) {
		used += ((unsigned char)text[len] & 0xc0) != 0x80;
		len++;
		while (((unsigned char)text[len] & 0xc0) == 0x80)
			len++;
	}
	buf_add(out, text, len);
	if (columns > room)
		buf_puts(out, "..");
	else if (column->left)
		buf_printf(out, "%*s", (int)(room - columns), "");
	buf_puts(out, "  ");
}

static const char *draw_line(const struct table *table, const char *cell, struct buf *out)
{
	for (uint32_t i = 0; i < table->ncolumns; i++, cell += strlen(cell) + 1)
		draw_cell(&table->columns[i], cell, out);
	return cell;
}

/* No blanks at the end of a line, and nothing behind its width. */
static void end_line(struct buf *out, size_t start, uint32_t width)
{
	while (!buf_failed(out) && hist_columns(out->data + start, out->len - start) > width)
		out->len--;
	while (!buf_failed(out) && out->len > start && out->data[out->len - 1] == ' ')
		out->len--;
	buf_putc(out, '\n');
}

static void draw(const struct table *table, const struct hist_rows *rows, uint32_t n, uint32_t width, struct buf *out)
{
	uint32_t taken = sum_widths(table), room = width > taken + 1 ? width - taken - 1 : 0;
	const char *cell = table->cells.data;
	uint64_t max = 0;
	size_t start = out->len;

	for (uint32_t i = 0; i < rows->nrows; i++) {
		uint64_t val = measure(&rows->rows[i], table->hist);

		max = val > max ? val : max;
	}
	cell = draw_line(table, cell, out);
	end_line(out, start, width);
	for (uint32_t i = 0; i < n; i++) {
		start = out->len;
		cell = draw_line(table, cell, out);
		if (room >= BAR_MIN / 2) {
			buf_putc(out, '|');
			hist_bar(measure(&rows->rows[i], table->hist), max, room, out);
		}
		end_line(out, start, width);
	}
}

void hist_bars(const struct hist_rows *rows, const struct spec_hist *hist, const struct hist_names *names, uint32_t width,
	       uint32_t max_rows, struct buf *out)
{
	struct table table = { .hist = hist, .names = names, .cells = BUF_INIT };
	uint32_t n = max_rows && rows->nrows > max_rows ? max_rows : rows->nrows;

	put_head(&table);
	for (uint32_t i = 0; i < n; i++)
		put_row(&table, rows, &rows->rows[i]);
	squeeze(&table, width);
	if (buf_failed(&table.cells))
		buf_puts(out, "out of memory\n");
	else
		draw(&table, rows, n, width, out);
	buf_fini(&table.cells);
	if (n < rows->nrows)
		buf_printf(out, "... and %u more rows\n", rows->nrows - n);
	buf_printf(out, "%" PRIu64 " hits, %u rows", rows->hits, rows->nrows);
	if (rows->drops)
		buf_printf(out, ", %" PRIu64 " hits for which there was no row left", rows->drops);
	buf_putc(out, '\n');
}
