/*
 * cmd/probe_show: what can be probed, and what is: variables, source lines, functions, events.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/glob.h"
#include "cmd/probe_local.h"
#include "control/stamp.h"
#include "symbol/debug_place.h"
#include "symbol/lines.h"
#include "symbol/symbol.h"

#define SOURCE_LINE_MAX 4096
#define END_MAX 200u	/* lines without code at a function's end */

/* Text of files goes to a terminal without what could steer it. */
static void put_plain(struct buf *out, const char *text)
{
	for (; *text; text++)
		buf_putc(out, (unsigned char)*text < ' ' && *text != '\t' ? '?' : *text == 0x7f ? '?' : *text);
}

static int need_debug(const struct probe_file *file, struct err *err)
{
	int r = probe_file_own(file, err);

	if (r)
		return r;
	if (file->debug)
		return 0;
	return err_set(err, file->why.code ? file->why.code : -ENODATA, "%.300s (%s)", file->why.text, probe_file_hint(file));
}

/* ---- variables ---- */

static int put_variables(struct buf *out, struct debug *debug, struct debug_point *point, struct err *err)
{
	struct buf where = BUF_INIT;
	struct debug_variables variables;
	int r = debug_variables_find(&variables, debug, point, err);

	if (r)
		return r;
	buf_puts(out, "\t@<");
	debug_point_put(debug, point, &where);
	put_plain(out, where.data ? where.data : "");
	buf_puts(out, ">\n");
	for (size_t i = 0; i < variables.n; i++) {
		buf_puts(out, "\t\t");
		put_plain(out, variables.all[i].type);
		buf_putc(out, '\t');
		put_plain(out, variables.all[i].name);
		if (variables.all[i].function) {
			buf_puts(out, "\t(of ");
			put_plain(out, variables.all[i].function);
			buf_putc(out, ')');
		}
		buf_puts(out, variables.all[i].here ? "\n" : "\t(no value here)\n");
	}
	if (!variables.n)
		buf_puts(out, "\t\t(no variables)\n");
	debug_variables_fini(&variables);
	buf_fini(&where);
	return 0;
}

int probe_show_file_variables(struct buf *out, const struct opts *opts, const char *text, struct err *err)
{
	struct debug_place place;
	struct debug_points points = { 0 };
	struct probe_file file = { .why = ERR_INIT };
	int r = debug_place_parse(&place, text, err);

	if (!r)
		r = probe_file_open(&file, opts, &place, err);
	if (!r)
		r = need_debug(&file, err);
	if (!r)
		r = debug_points_find(&points, file.debug, &place, err);
	if (!r)
		buf_printf(out, "Available variables at %s\n", text);
	for (size_t i = 0; !r && i < points.n; i++)
		r = put_variables(out, file.debug, &points.all[i], err);
	debug_points_fini(&points);
	probe_file_close(&file);
	debug_place_fini(&place);
	return r;
}

/* ---- source lines ---- */

/* FUNCTION[:FROM[-TO]] or FILE[:FROM[-TO]]: the end is cut off, for what reads places. */
static int read_range(char *text, uint32_t *to, struct err *err)
{
	char *colon = strrchr(text, ':'), *mark, *end;
	unsigned long number;

	*to = 0;
	if (!colon || (colon > text && colon[-1] == ':'))
		return 0;
	mark = strpbrk(colon, "-+");
	if (!mark)
		return 0;
	number = strtoul(mark + 1, &end, 10);
	if (end == mark + 1 || *end || number > INT32_MAX)
		return err_set(err, -EINVAL, "'%s' is no line: FUNCTION:FROM-TO", mark + 1);
	*to = (uint32_t)number;
	if (*mark == '+') {
		*to += (uint32_t)strtoul(colon + 1, NULL, 10);
		if (number)
			--*to;
	}
	*mark = '\0';
	return 0;
}

static void put_line(struct buf *out, const struct debug_lines *lines, uint32_t n, const char *line, bool colour)
{
	bool probed = n <= lines->last && lines->probed[n - lines->first];

	if (probed)
		buf_printf(out, "%s%7u%s  ", colour ? "\033[32m" : "", n - lines->base, colour ? "\033[0m" : "");
	else
		buf_puts(out, colour ? "\033[2m         " : "         ");
	put_plain(out, line);
	buf_puts(out, colour && !probed ? "\033[0m\n" : "\n");
}

/* The last lines of a function may have no code: up to a brace that begins a line, if that comes before anything else does. */
static void put_end(struct buf *out, const struct debug_lines *lines, struct lines *source, bool colour)
{
	char line[SOURCE_LINE_MAX] = "";
	struct buf more = BUF_INIT;
	uint32_t n = lines->last;

	while (n++ < lines->last + END_MAX && lines_next(source, line, sizeof(line))) {
		put_line(&more, lines, n, line, colour);
		if (*line && !strchr(" \t#", *line))
			break;
		*line = '\0';
	}
	if (*line == '}' && more.data)
		buf_puts(out, more.data);
	buf_fini(&more);
}

static uint32_t put_source(struct buf *out, const struct debug_lines *lines, struct lines *source, bool colour)
{
	char line[SOURCE_LINE_MAX] = "";
	uint32_t n = 1;

	for (; n <= lines->last && lines_next(source, line, sizeof(line)); n++)
		if (n >= lines->first)
			put_line(out, lines, n, line, colour);
	if (n > lines->last && lines->to_end && *line != '}')
		put_end(out, lines, source, colour);
	return n - 1;
}

static int put_lines(struct buf *out, const struct debug_lines *lines, const char *dir, struct err *err)
{
	char path[4096];
	struct lines source;
	uint32_t n;
	int r = debug_source_open(&source, lines->file, dir, path, sizeof(path));

	if (r && dir)
		return err_set(err, -ENOENT, "the source %.200s is not in %.200s", lines->file, dir);
	if (r)
		return err_set(err, -ENOENT, "the source %.300s cannot be read: --source DIR names where it is", lines->file);
	buf_puts(out, "<");
	if (lines->function)
		buf_printf(out, "%s@", lines->function);
	put_plain(out, path);
	buf_printf(out, ":%u>\n", lines->first - lines->base);
	n = put_source(out, lines, &source, cmd_colour(STDOUT_FILENO));
	lines_close(&source);
	return n < lines->first ? err_set(err, -ERANGE, "%.300s has only %u lines", path, n) : 0;
}

int probe_show_lines(struct buf *out, const struct opts *opts, const char *text, struct err *err)
{
	struct debug_place place = { 0 };
	struct debug_lines lines = { 0 };
	struct probe_file file = { .why = ERR_INIT };
	char *copy = strdup(text);
	uint32_t to;
	int r = copy ? read_range(copy, &to, err) : err_set(err, -ENOMEM, "out of memory");

	if (!r)
		r = debug_place_parse(&place, copy, err);
	if (!r && (place.returns || place.has_offset || place.pattern || place.has_address))
		r = err_set(err, -EINVAL, "%s: FUNCTION[:FROM[-TO]] or FILE:FROM[-TO]", text);
	if (!r)
		r = probe_file_open(&file, opts, &place, err);
	if (!r)
		r = need_debug(&file, err);
	if (!r)
		r = debug_lines_find(&lines, file.debug, &place, to, err);
	if (!r)
		r = put_lines(out, &lines, opts_value(opts, "source"), err);
	debug_lines_fini(&lines);
	debug_place_fini(&place);
	probe_file_close(&file);
	free(copy);
	return r;
}

/* ---- functions ---- */

int probe_show_functions(struct buf *out, const struct opts *opts, const char *glob, struct err *err)
{
	struct probe_file file;
	int r = probe_file_open(&file, opts, NULL, err);

	if (r)
		return r;
	r = debug_names_by_symbols(out, file.path, glob, err);
	probe_file_close(&file);
	return r;
}

/* ---- events ---- */

int probe_definitions(struct source *source, struct buf *out, struct err *err)
{
	int r = 0;

	if (source_exists(source, "dynamic_events"))
		return source_read(source, "dynamic_events", out, err);
	if (source_exists(source, "kprobe_events"))
		r = source_read(source, "kprobe_events", out, err);
	if (!r && source_exists(source, "uprobe_events"))
		r = source_read(source, "uprobe_events", out, err);
	return r;
}

/* PATH:OFFSET[%return][(SEMAPHORE)] */
static void read_path(struct probe_line *line)
{
	char *colon = strrchr(line->place, ':'), *end;

	if (!strchr("pr", line->kind) || !strchr(line->place, '/') || !colon)
		return;
	line->offset = strtoull(colon + 1, &end, 16);
	if (end == colon + 1)
		return;
	*colon = '\0';
	line->path = line->place;
}

bool probe_line_read(struct probe_line *line, char *text)
{
	char *at, *slash;

	*line = (struct probe_line){ .kind = text[0], .returns = text[0] == 'r' };
	if (!text[0] || !strchr("prfte", text[0]) || !(at = strchr(text, ':')))
		return false;
	line->group = at + 1;
	slash = strchr(at, '/');
	at = strchr(at, ' ');
	if (!slash || !at || slash > at)
		return false;
	*slash = *at = '\0';
	line->name = slash + 1;
	line->place = at + 1;
	line->args = strchr(line->place, ' ');
	if (line->args)
		*line->args++ = '\0';
	read_path(line);
	return true;
}

/* "place:3@shop.c", or what symbols tell, or just where in the file. */
static void put_where(struct buf *out, struct probe_file *file, const struct probe_line *line, bool stale)
{
	struct buf where = BUF_INIT, source = BUF_INIT;
	struct symbol_table *table = NULL;
	struct symbol_function function;
	uint64_t address;

	/* What is there now has nothing to do with it. */
	if (stale || !file->path || !probe_file_address(file, line->offset, &address)) {
		buf_printf(out, "0x%" PRIx64, line->offset);
		return;
	}
	if (file->debug && debug_describe(file->debug, address, &where, &source) && where.data) {
		put_plain(out, where.data);
		buf_puts(out, line->returns ? "%return" : "");
		if (source.data) {
			const char *slash = strrchr(source.data, '/');

			buf_putc(out, '@');
			put_plain(out, slash ? slash + 1 : source.data);
		}
	} else if (!symbol_table_open(&table, &(struct symbol_file){ .path = file->path }, NULL) &&
		   symbol_table_at(table, address, &function)) {
		buf_puts(out, function.name);
		buf_puts(out, line->returns ? "%return" : "");
		if (address != function.address)
			buf_printf(out, "+%" PRIu64, address - function.address);
	} else {
		buf_printf(out, "0x%" PRIx64, line->offset);
	}
	symbol_table_close(table);
	buf_fini(&where);
	buf_fini(&source);
}

/* A place of the kernel that is counted from the first byte of its code, because others are called alike. */
static void put_place(struct buf *out, const struct probe_line *line, struct kernel *kernel)
{
	uint64_t offset = !strncmp(line->place, "_stext+", 7) ? strtoull(line->place + 7, NULL, 10) : 0;
	const struct kallsyms_symbol *found = NULL;
	uint64_t text = offset ? kernel_text(kernel) : 0;

	for (size_t i = 0; text && i < kernel->symbols.n; i++)
		if (kernel->symbols.all[i].address <= text + offset && (!found || kernel->symbols.all[i].address > found->address))
			found = &kernel->symbols.all[i];
	if (found && text + offset == found->address)
		buf_printf(out, "%s", found->name);
	else if (found)
		buf_printf(out, "%s+%" PRIu64, found->name, text + offset - found->address);
	else
		buf_puts(out, line->place);
	buf_puts(out, line->returns ? "%return" : "");
}

static void put_event(struct buf *out, struct probe_file *file, const struct probe_line *line, struct kernel *kernel, bool stale)
{
	char name[160];

	snprintf(name, sizeof(name), "%s:%s", line->group, line->name);
	buf_printf(out, "  %-30s (on ", name);
	if (line->path) {
		put_where(out, file, line, stale);
		buf_printf(out, " in %s", line->path);
	} else {
		buf_puts(out, line->kind == 'e' ? "event " : line->kind == 't' ? "tracepoint " : "");
		put_place(out, line, kernel);
	}
	if (line->args && *line->args && strncmp(line->args, "if ", 3))
		buf_puts(out, " with");
	for (char *save, *arg = line->args ? strtok_r(line->args, " ", &save) : NULL; arg; arg = strtok_r(NULL, " ", &save)) {
		if (!strcmp(arg, "if") && line->kind == 'e') {
			buf_printf(out, " if %s", save);
			break;
		}
		buf_printf(out, " %.*s", (int)strcspn(arg, "="), arg);
	}
	buf_puts(out, stale ? ") (the file has changed since: set it again)\n" : ")\n");
}

static int put_events(struct buf *out, struct source *source, const struct opts *opts, const char *only, const char *glob, struct err *err)
{
	struct probe_file file = { .why = ERR_INIT };
	struct probe_line line;
	struct buf text = BUF_INIT;
	struct control *control = source_control(source);
	struct kernel kernel;
	int r = probe_definitions(source, &text, err);

	kernel_init(&kernel, NULL, opts);
	if (!r && control)
		r = control_refresh(control, err);
	for (char *save, *at = r || !text.data ? NULL : strtok_r(text.data, "\n", &save); at; at = strtok_r(NULL, "\n", &save)) {
		char name[160];

		if (!probe_line_read(&line, at))
			continue;
		snprintf(name, sizeof(name), "%s:%s", line.group, line.name);
		if ((only && (!line.path || strcmp(only, line.path))) || (glob && !glob_match(glob, name)))
			continue;
		if (line.path && (!file.path || strcmp(file.path, line.path))) {
			probe_file_close(&file);
			probe_file_open_path(&file, line.path, NULL);
		}
		put_event(out, &file, &line, &kernel,
			  line.path && control && file.path && control_probe_is_stale(control, line.group, line.name, file.path));
	}
	kernel_fini(&kernel);
	probe_file_close(&file);
	buf_fini(&text);
	return r;
}

int probe_show_events(struct buf *out, const struct opts *opts, const char *glob, struct err *err)
{
	struct probe_file file = { .why = ERR_INIT };
	struct source *source;
	int r = 0;

	if (opts_value(opts, "exec"))
		r = probe_file_open(&file, opts, NULL, err);
	if (!r && file.path)
		r = probe_list_usdt(out, file.path, glob, false, false, err);
	if (!r) {
		/* Where nothing is traced yet there are no events, and a file's own probes are there all the same. */
		r = cmd_open(&source, opts, false, file.path ? NULL : err);
		if (r && file.path)
			r = 0;
		else if (!r) {
			r = put_events(out, source, opts, file.path, glob, err);
			source_close(source);
		}
	}
	probe_file_close(&file);
	return r;
}
