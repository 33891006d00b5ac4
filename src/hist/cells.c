/*
 * hist/cells: see cells.h. Pure.
 */
#include "hist/cells.h"

#include <stdio.h>
#include <string.h>

#define BAR_MIN 10u
#define CELL_MIN 8u

uint32_t hist_columns(const char *text, size_t len)
{
	uint32_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += ((unsigned char)text[i] & 0xc0) != 0x80;
	return n;
}

/* What a terminal would obey is no text. */
void hist_cells_end(struct hist_cells *cells, size_t start)
{
	uint32_t width;

	for (size_t i = start; !buf_failed(&cells->texts) && i < cells->texts.len; i++)
		if ((unsigned char)cells->texts.data[i] < ' ' || cells->texts.data[i] == 0x7f)
			cells->texts.data[i] = '?';
	width = buf_failed(&cells->texts) ? 0 : hist_columns(cells->texts.data + start, cells->texts.len - start);
	if (width > cells->columns[cells->at].width)
		cells->columns[cells->at].width = width;
	buf_putc(&cells->texts, '\0');
	if (cells->at + 1 < HIST_CELLS_COLUMNS)
		cells->at++;
	if (cells->at > cells->ncolumns)
		cells->ncolumns = cells->at;
}

void hist_cells_put(struct hist_cells *cells, const char *text)
{
	size_t start = cells->texts.len;

	buf_puts(&cells->texts, text);
	hist_cells_end(cells, start);
}

void hist_cells_row(struct hist_cells *cells, uint64_t val)
{
	buf_add(&cells->bars, &val, sizeof(val));
	cells->at = 0;
}

void hist_cells_head(struct hist_cells *cells)
{
	cells->at = 0;
}

void hist_cells_fini(struct hist_cells *cells)
{
	buf_fini(&cells->texts);
	buf_fini(&cells->bars);
}

/* ---- Drawing ---- */

void hist_bar(uint64_t val, uint64_t max, uint32_t room, struct buf *out)
{
	uint32_t n = max ? (uint32_t)((double)val * room / (double)max + 0.5) : 0;

	n = n > room ? room : !n && val && room ? 1 : n;
	while (n--)
		buf_putc(out, '#');
}

static uint32_t sum_widths(const struct hist_cells *cells)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < cells->ncolumns; i++)
		sum += cells->columns[i].width + 2;
	return sum;
}

/* Texts give way to the bar, the widest first. */
static void squeeze(struct hist_cells *cells, uint32_t width)
{
	while (sum_widths(cells) + BAR_MIN > width) {
		uint32_t widest = cells->ncolumns;

		for (uint32_t i = 0; i < cells->ncolumns; i++)
			if (cells->columns[i].left &&
			    (widest == cells->ncolumns || cells->columns[i].width > cells->columns[widest].width))
				widest = i;
		if (widest == cells->ncolumns || cells->columns[widest].width <= CELL_MIN)
			return;
		cells->columns[widest].width--;
	}
}

/* As much of a cell as its column has room for; one that is cut ends in two dots. */
static void draw_cell(const char *text, bool left, uint32_t room, struct buf *out)
{
	uint32_t columns = hist_columns(text, strlen(text)), used = 0;
	size_t len = 0;

	if (!left)
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
	else if (left)
		buf_printf(out, "%*s", (int)(room - columns), "");
	buf_puts(out, "  ");
}

static const char *draw_line(const struct hist_cells *cells, const char *cell, struct buf *out)
{
	for (uint32_t i = 0; i < cells->ncolumns; i++, cell += strlen(cell) + 1)
		draw_cell(cell, cells->columns[i].left, cells->columns[i].width, out);
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

void hist_cells_draw(struct hist_cells *cells, uint64_t max, uint32_t width, struct buf *out)
{
	const char *cell = cells->texts.data;
	size_t start = out->len;
	uint32_t taken, room;

	if (buf_failed(&cells->texts) || buf_failed(&cells->bars)) {
		buf_puts(out, "out of memory\n");
		return;
	}
	squeeze(cells, width);
	taken = sum_widths(cells);
	room = width > taken + 1 ? width - taken - 1 : 0;
	cell = draw_line(cells, cell, out);
	end_line(out, start, width);
	for (size_t i = 0; i < cells->bars.len / sizeof(uint64_t); i++) {
		uint64_t val;

		memcpy(&val, cells->bars.data + i * sizeof(val), sizeof(val));
		start = out->len;
		cell = draw_line(cells, cell, out);
		if (room >= BAR_MIN / 2) {
			buf_putc(out, '|');
			hist_bar(val, max, room, out);
		}
		end_line(out, start, width);
	}
}
