/*
 * symbol/debug_find: functions and source lines -> addresses.
 *
 * A function is in as many places as it was inlined to, and in one of its own when it has code. A line is where the line table
 * has a row for it that begins a statement.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "base/near.h"
#include "symbol/debug_local.h"
#include "symbol/debug_place.h"
#include "symbol/dwarf_numbers.h"
#include "symbol/lines.h"

#define SOURCE_LINE_MAX 4096

/* ---- functions ---- */

struct search {
	const struct debug_place *place;
	struct debug_points *points;
	struct err *err;
	/* Lines that are looked for: of these files. */
	struct wanted {
		char *file;
		uint32_t line, end;	/* from its first to its last, of a pattern */
	} *wanted;
	size_t nwanted;
	bool seen;		/* such a function is there, at least by name */
	char *elsewhere;	/* it is, but in this file */
};

/* shop::counter::place: the last word is the name, and what is before it is looked at only if that is right. */
static bool is_qualified(struct debug *debug, const struct debug_die *die, const char *name, const char *pattern)
{
	const char *last = pattern;
	struct buf whole = BUF_INIT;
	bool is;

	for (const char *at = pattern; (at = strstr(at, "::")); at += 2)
		last = at + 2;
	if (last == pattern || !glob_match(last, name))
		return false;
	debug_dw_put_scopes(debug->dw, die, &whole);
	buf_puts(&whole, name);
	is = !buf_failed(&whole) && glob_match(pattern, whole.data);
	buf_fini(&whole);
	return is;
}

static bool is_called(struct debug *debug, const struct debug_die *die, const char *pattern)
{
	const char *name = debug_dw_text(debug->dw, die, DW_AT_name),
		   *linkage = debug_dw_text(debug->dw, die, DW_AT_linkage_name);

	return (name && (glob_match(pattern, name) || is_qualified(debug, die, name, pattern))) ||
	       (linkage && glob_match(pattern, linkage));
}

static bool is_asked_for(struct search *search, struct debug *debug, const struct debug_die *die)
{
	const struct debug_place *place = search->place;
	const char *file;
	uint32_t line;

	if (!is_called(debug, die, place->function))
		return false;
	if (!place->file)
		return true;
	if (!debug_dw_declared(die, &file, &line))
		return false;
	if (!debug_file_is(file, place->file) && !search->elsewhere)
		search->elsewhere = strdup(file);
	return debug_file_is(file, place->file);
}

static int see_entry(void *arg, struct debug *debug, const struct debug_seen *seen)
{
	struct search *search = arg;
	const struct debug_place *place = search->place;
	struct debug_point point = { .described = true, .unit = seen->unit, .function = seen->die };
	uint64_t end;

	if (!is_asked_for(search, debug, &seen->die))
		return 0;
	search->seen = true;
	/* Neither returns, nor has bytes that could be counted. */
	if ((place->returns || place->has_offset) && seen->inlined) {
		search->points->inlined++;
		return 0;
	}
	if (!debug_dw_entry(&seen->die, &point.address))
		return 0;
	if (place->offset && debug_dw_end(&seen->die, point.address, &end) && place->offset >= end - point.address)
		return err_set(search->err, -ERANGE, "%.100s has only %llu bytes", debug_name(debug, &seen->die),
			       (unsigned long long)(end - point.address));
	point.address += place->offset;
	point.entry = !seen->inlined && !place->offset;
	return debug_points_add(search->points, &point, debug_name(debug, &seen->die));
}

/* ---- lines ---- */

static uint32_t end_line(struct debug *debug, const struct debug_die *unit, const struct debug_die *die, const char *file,
			 uint32_t line);

static int want(struct search *search, const char *file, uint32_t line, uint32_t end)
{
	struct wanted *more;

	for (size_t i = 0; i < search->nwanted; i++)
		if (search->wanted[i].line == line && !strcmp(search->wanted[i].file, file)) {
			if (search->wanted[i].end < end)
				search->wanted[i].end = end;
			return 0;
		}
	if (search->nwanted == DEBUG_POINTS_MAX)
		return err_set(search->err, -E2BIG, "these are more than %u lines", DEBUG_POINTS_MAX);
	more = reallocarray(search->wanted, search->nwanted + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	search->wanted = more;
	more[search->nwanted] = (struct wanted){ strdup(file), line, end };
	return more[search->nwanted].file ? (search->nwanted++, 0) : -ENOMEM;
}

/* Which lines of which files are meant by one of a function. */
static int see_declared(void *arg, struct debug *debug, const struct debug_seen *seen)
{
	struct search *search = arg;
	const struct debug_place *place = search->place;
	const char *file;
	uint32_t line;

	if (!is_asked_for(search, debug, &seen->die))
		return 0;
	search->seen = true;
	if (!debug_dw_declared(&seen->die, &file, &line) || line > INT32_MAX - place->line)
		return 0;
	if (place->pattern)
		return want(search, file, line, end_line(debug, &seen->unit, &seen->die, file, line));
	return want(search, file, line + place->line, line + place->line);
}

/* The functions at an address, from the outermost to that which variables are looked for in. */
struct at {
	const char *asked;	/* the innermost of this name, if there is one */
	const char *file;	/* else the one that has this line, or the innermost of all */
	uint32_t line, first;
	struct debug_point *point;
	bool found, asked_found;
	const char *name;
};

/* Is it written around that line? Of several, the one that begins last. */
static bool has_line(struct at *at, const struct debug_die *die)
{
	const char *file;
	uint32_t line;

	if (!at->file || !debug_dw_declared(die, &file, &line) || strcmp(file, at->file) || line > at->line || line < at->first)
		return false;
	at->first = line;
	return true;
}

static int see_at(void *arg, struct debug *debug, const struct debug_seen *seen)
{
	struct at *at = arg;
	bool is = at->asked ? is_called(debug, &seen->die, at->asked) : has_line(at, &seen->die);

	if (!seen->inlined && !at->asked_found)
		at->name = debug_name(debug, &seen->die);
	if (at->asked_found && !is)
		return 0;
	at->point->function = seen->die;
	at->point->described = true;
	at->found = true;
	if (is) {
		at->asked_found = true;
		at->name = debug_name(debug, &seen->die);
	}
	return 0;
}

static int add_line(struct search *search, struct debug *debug, const struct debug_die *unit, uint64_t address,
		    const struct wanted *wanted)
{
	struct debug_point point = { .address = address, .unit = *unit };
	struct at at = { .asked = search->place->function, .point = &point };
	uint64_t entry;
	int r;

	if (wanted) {
		at.file = wanted->file;
		at.line = wanted->line;
	}
	r = debug_each_function(debug, unit, &address, see_at, &at);
	if (r)
		return r;
	if (at.found && debug_dw_tag(&point.function) == DW_TAG_subprogram && debug_dw_entry(&point.function, &entry))
		point.entry = entry == address;
	return debug_points_add(search->points, &point, at.name ? at.name : "");
}

static bool is_wanted(const struct wanted *wanted, const char *file, uint32_t line)
{
	return line == wanted->line && !strcmp(file, wanted->file);
}

static int add_rows(struct search *search, struct debug *debug, const struct debug_die *unit)
{
	size_t n = debug_dw_rows(unit);
	struct debug_row row;
	int r = 0;

	for (size_t i = 0; !r && i < n && debug_step(debug); i++) {
		if (!debug_dw_row(unit, i, &row) || !row.statement || row.end || !row.address)
			continue;
		for (size_t j = 0; !r && j < search->nwanted; j++)
			if (is_wanted(&search->wanted[j], row.file, row.line)) {
				r = add_line(search, debug, unit, row.address, &search->wanted[j]);
				break;
			}
	}
	return r;
}

/* A call that was inlined is on its line even if the line table does not say so; so is a function on its first. */
static int see_call(void *arg, struct debug *debug, const struct debug_seen *seen)
{
	struct search *search = arg;
	const char *file;
	uint32_t line;
	uint64_t entry;
	int r = 0;

	if (!(seen->inlined ? debug_dw_called(&seen->die, &file, &line) : debug_dw_declared(&seen->die, &file, &line)) ||
	    !debug_dw_entry(&seen->die, &entry))
		return 0;
	for (size_t j = 0; !r && j < search->nwanted; j++)
		if (is_wanted(&search->wanted[j], file, line))
			r = add_line(search, debug, &seen->unit, entry, &search->wanted[j]);
	return r;
}

static int add_lines(struct search *search, struct debug *debug)
{
	struct debug_die unit;
	void *cursor = NULL;
	int r = 0;

	while (!r && debug_dw_unit(debug->dw, &cursor, &unit) && debug_step(debug)) {
		r = add_rows(search, debug, &unit);
		if (!r && !search->points->n)
			r = debug_each_function(debug, &unit, NULL, see_call, search);
	}
	return r;
}

/* Every file of that name, as the line tables spell it. */
static int want_files(struct search *search, struct debug *debug, uint32_t line, uint32_t end)
{
	struct debug_die unit;
	void *cursor = NULL;
	int r = 0;

	while (!r && debug_dw_unit(debug->dw, &cursor, &unit) && debug_step(debug)) {
		size_t n = debug_dw_rows(&unit);
		const char *last = NULL;
		struct debug_row row;

		for (size_t i = 0; !r && i < n && debug_step(debug); i++) {
			if (!debug_dw_row(&unit, i, &row) || row.file == last)
				continue;
			last = row.file;
			if (debug_file_is(row.file, search->place->file)) {
				search->seen = true;
				r = want(search, row.file, line, end);
			}
		}
	}
	return r;
}

/* What is around an inlined function shares addresses with it, and so seems to be of it: one ends before the next begins. */
static int see_next(void *arg, struct debug *debug, const struct debug_seen *seen)
{
	struct search *search = arg;
	const char *file;
	uint32_t line;

	(void)debug;
	if (!debug_dw_declared(&seen->die, &file, &line))
		return 0;
	for (size_t i = 0; i < search->nwanted; i++) {
		struct wanted *wanted = &search->wanted[i];

		if (line > wanted->line && line <= wanted->end && !strcmp(file, wanted->file))
			wanted->end = line - 1;
	}
	return 0;
}

/* ---- patterns ---- */

static void without_blanks(char *text)
{
	char *to = text;

	for (; *text; text++)
		if (!isspace((unsigned char)*text))
			*to++ = *text;
	*to = '\0';
}

/* Replaces a stretch of lines by those of the source that match. */
static int match_lines(struct search *search, const char *dir, const struct wanted *stretch, const char *pattern,
		       struct search *out)
{
	char line[SOURCE_LINE_MAX], path[SOURCE_LINE_MAX];
	struct lines source;
	int r = debug_source_open(&source, stretch->file, dir, path, sizeof(path));

	if (r && dir)
		return err_set(search->err, -ENOENT, "the source %.200s is not in %.200s, and a pattern needs it", stretch->file, dir);
	if (r)
		return err_set(search->err, -ENOENT, "the source %.300s cannot be read, and a pattern needs it: --source DIR names "
			       "where it is", stretch->file);
	for (uint32_t n = 1; !r && n <= stretch->end && lines_next(&source, line, sizeof(line)); n++) {
		without_blanks(line);
		if (n >= stretch->line && glob_match(pattern, line))
			r = want(out, stretch->file, n, n);
	}
	lines_close(&source);
	return r;
}

static int match_pattern(struct search *search, const char *dir)
{
	char *pattern = strdup(search->place->pattern);
	struct search out = { .err = search->err };
	int r = pattern ? 0 : -ENOMEM;

	if (pattern)
		without_blanks(pattern);
	for (size_t i = 0; !r && i < search->nwanted; i++)
		r = match_lines(search, dir, &search->wanted[i], pattern, &out);
	free(pattern);
	for (size_t i = 0; i < search->nwanted; i++)
		free(search->wanted[i].file);
	free(search->wanted);
	search->wanted = out.wanted;
	search->nwanted = out.nwanted;
	return r;
}

/* ---- all together ---- */

static int by_line(struct search *search, struct debug *debug)
{
	const struct debug_place *place = search->place;
	int r;

	if (place->function)
		r = debug_each_function(debug, NULL, NULL, see_declared, search);
	else
		r = want_files(search, debug, place->pattern ? 1 : place->line, place->pattern ? INT32_MAX : place->line);
	if (!r && place->pattern && place->function)
		r = debug_each_function(debug, NULL, NULL, see_next, search);
	if (!r && place->pattern)
		r = match_pattern(search, debug->sources);
	if (!r && search->nwanted)
		r = add_lines(search, debug);
	return r;
}

static int by_address(struct search *search, struct debug *debug)
{
	struct debug_die unit;

	if (!debug_unit_at(debug, search->place->address, &unit))
		return err_set(search->err, -ENOENT, "%#llx: no code is known there", (unsigned long long)search->place->address);
	return add_line(search, debug, &unit, search->place->address, NULL);
}

static int see_name(void *arg, struct debug *debug, const struct debug_seen *seen)
{
	near_see(arg, debug_name(debug, &seen->die));
	return 0;
}

/* Symbols may have it all the same: one that debug information does not tell of, or that is chosen when a program starts. */
static int unknown_function(const struct search *search, struct debug *debug)
{
	const char *asked = search->place->function, *best;
	struct near near = { .to = asked };
	struct debug_points points;
	struct err why = ERR_INIT;
	int r = debug_points_by_symbols(&points, debug->path, &(struct debug_place){ .function = search->place->function }, &why);

	if (!r) {
		debug_points_fini(&points);
		return err_set(search->err, -ENOENT, "debug information of %.200s does not tell of %.100s", debug->path, asked);
	}
	if (r != -ENOENT)
		return err_set(search->err, r, "%s", why.text);
	debug_each_function(debug, NULL, NULL, see_name, &near);
	debug_near_symbols(&near, debug->path);
	best = near_best(&near);
	return err_set(search->err, -ENOENT, "debug information of %.200s knows no function %.100s%s%s%s: -F lists functions",
		       debug->path, asked, best ? " (did you mean '" : "", best ? best : "", best ? "'?)" : "");
}

static int not_found(const struct search *search, struct debug *debug)
{
	const struct debug_place *place = search->place;

	if (search->points->inlined)
		return err_set(search->err, -ENOENT, "%.100s is inlined wherever it is used, and %s", place->function,
			       place->returns ? "does not return" : "has no first byte that could be counted from");
	if (!search->seen && search->elsewhere)
		return err_set(search->err, -ENOENT, "%.100s is in %.200s, not in %.100s", place->function, search->elsewhere,
			       place->file);
	if (!search->seen && place->function)
		return unknown_function(search, debug);
	if (!search->seen)
		return err_set(search->err, -ENOENT, "debug information of %.200s knows no source file %.100s", debug->path,
			       place->file);
	if (place->pattern)
		return err_set(search->err, -ENOENT, "no line of %.100s that has code is like '%.100s'",
			       place->function ? place->function : place->file, place->pattern);
	return err_set(search->err, -ENOENT, "there is no code for line %u of %.100s: -L lists those that have some", place->line,
		       place->function ? place->function : place->file);
}

static void search_fini(struct search *search)
{
	for (size_t i = 0; i < search->nwanted; i++)
		free(search->wanted[i].file);
	free(search->wanted);
	free(search->elsewhere);
}

static int find_points(struct debug_points *points, struct debug *debug, const struct debug_place *place, struct err *err)
{
	struct search search = { .place = place, .points = points, .err = err };
	int r;

	*points = (struct debug_points){ 0 };
	if (place->has_address)
		r = by_address(&search, debug);
	else if (place->pattern || (place->has_line && (place->line || !place->function)))
		r = by_line(&search, debug);
	else
		r = debug_each_function(debug, NULL, NULL, see_entry, &search);
	r = debug_words(debug, r, err);
	if (!r && !points->n)
		r = not_found(&search, debug);
	search_fini(&search);
	return debug_points_end(points, r, err);
}

/* By the name that was asked for, not by that of debug information. */
static int find_alias(struct debug_points *points, struct debug *debug, const struct debug_place *real, const char *asked,
		      struct err *err)
{
	int r = find_points(points, debug, real, err);

	for (size_t i = 0; !r && i < points->n; i++) {
		char *name = strcmp(points->all[i].name, real->function) ? NULL : strdup(asked);

		if (name) {
			free(points->all[i].name);
			points->all[i].name = name;
		}
	}
	return r;
}

int debug_points_find(struct debug_points *points, struct debug *debug, const struct debug_place *place, struct err *err)
{
	struct err why = ERR_INIT;
	struct debug_place real;
	int r = find_points(points, debug, place, &why);

	if (r == -ENOENT && debug_alias(debug, place, &real)) {
		if (strcmp(real.function, place->function))
			r = find_alias(points, debug, &real, place->function, err);
		else
			err_set(err, r, "%s", why.text);
		debug_place_fini(&real);
		return r;
	}
	return r ? err_set(err, r, "%s", why.text) : 0;
}

/* ---- lines that can be probed ---- */

static uint32_t end_line(struct debug *debug, const struct debug_die *unit, const struct debug_die *die, const char *file,
			 uint32_t line)
{
	size_t n = debug_dw_rows(unit);
	struct debug_row row;
	uint32_t end = line;

	for (size_t i = 0; i < n && debug_step(debug); i++)
		if (debug_dw_row(unit, i, &row) && row.statement && !row.end && row.line > end && !strcmp(row.file, file) &&
		    debug_dw_has_pc(die, row.address))
			end = row.line;
	return end;
}

static int lines_of(const struct search *search, struct debug_lines *lines, uint32_t to, struct err *err)
{
	const struct debug_place *place = search->place;
	const struct wanted *wanted = search->wanted;

	lines->file = strdup(wanted->file);
	if (!lines->file)
		return err_set(err, -ENOMEM, "out of memory");
	if (place->function) {
		lines->base = wanted->line;
		lines->first = wanted->line + (place->has_line ? place->line : 0);
		lines->last = to ? wanted->line + to : wanted->end;
	} else {
		lines->first = place->line ? place->line : 1;
		lines->last = to ? to : place->line ? place->line + 20 : wanted->end;
	}
	lines->to_end = place->function && !to;
	if (lines->last < lines->first && lines->to_end)
		return err_set(err, -ERANGE, "line %u is behind %.100s, whose last line with code is %u", place->line,
			       place->function, lines->last - lines->base);
	if (lines->last < lines->first || lines->last - lines->first > 1000000)
		return err_set(err, -ERANGE, "line %u is behind line %u", lines->first - lines->base, lines->last - lines->base);
	lines->probed = calloc(lines->last - lines->first + 1, sizeof(*lines->probed));
	return lines->probed ? 0 : err_set(err, -ENOMEM, "out of memory");
}

static void mark(struct debug_lines *lines, const char *file, uint32_t line)
{
	if (line >= lines->first && line <= lines->last && !strcmp(file, lines->file))
		lines->probed[line - lines->first] = true;
}

static int see_marked(void *arg, struct debug *debug, const struct debug_seen *seen)
{
	const char *file;
	uint32_t line;

	(void)debug;
	if (debug_dw_declared(&seen->die, &file, &line))
		mark(arg, file, line);
	if (seen->inlined && debug_dw_called(&seen->die, &file, &line))
		mark(arg, file, line);
	return 0;
}

static int mark_all(struct debug *debug, struct debug_lines *lines)
{
	struct debug_die unit;
	void *cursor = NULL;

	while (debug_dw_unit(debug->dw, &cursor, &unit) && debug_step(debug)) {
		size_t n = debug_dw_rows(&unit);
		struct debug_row row;

		for (size_t i = 0; i < n && debug_step(debug); i++)
			if (debug_dw_row(&unit, i, &row) && row.statement && !row.end && row.address)
				mark(lines, row.file, row.line);
	}
	return debug_each_function(debug, NULL, NULL, see_marked, lines);
}

/* The first function of that name, and its end: the last one of all its instances. */
static int see_first(void *arg, struct debug *debug, const struct debug_seen *seen)
{
	struct search *search = arg;
	const char *file;
	uint32_t line;

	if (!is_asked_for(search, debug, &seen->die) || !debug_dw_declared(&seen->die, &file, &line))
		return 0;
	search->seen = true;
	if (search->nwanted && !is_wanted(search->wanted, file, line))
		return 0;
	return want(search, file, line, end_line(debug, &seen->unit, &seen->die, file, line));
}

static int find_lines(struct debug_lines *lines, struct debug *debug, const struct debug_place *place, uint32_t to,
		      struct err *err)
{
	struct debug_points points = { 0 };
	struct search search = { .place = place, .points = &points, .err = err };
	int r;

	*lines = (struct debug_lines){ 0 };
	r = place->function ? debug_each_function(debug, NULL, NULL, see_first, &search)
			    : want_files(&search, debug, 1, INT32_MAX);
	r = debug_words(debug, r, err);
	if (!r && !search.nwanted)
		r = not_found(&search, debug);
	if (!r && place->function)
		r = debug_each_function(debug, NULL, NULL, see_next, &search);
	if (!r)
		r = lines_of(&search, lines, to, err);
	if (!r && place->function) {
		lines->function = strdup(place->function);
		r = lines->function ? 0 : err_set(err, -ENOMEM, "out of memory");
	}
	if (!r)
		r = debug_words(debug, mark_all(debug, lines), err);
	search_fini(&search);
	if (r)
		debug_lines_fini(lines);
	return r;
}

int debug_lines_find(struct debug_lines *lines, struct debug *debug, const struct debug_place *place, uint32_t to,
		     struct err *err)
{
	struct err why = ERR_INIT;
	struct debug_place real;
	int r = find_lines(lines, debug, place, to, &why);

	if (r == -ENOENT && debug_alias(debug, place, &real)) {
		if (strcmp(real.function, place->function)) {
			r = find_lines(lines, debug, &real, to, err);
			debug_place_fini(&real);
			return r;
		}
		debug_place_fini(&real);
	}
	return r ? err_set(err, r, "%s", why.text) : 0;
}

void debug_lines_fini(struct debug_lines *lines)
{
	free(lines->file);
	free(lines->function);
	free(lines->probed);
	*lines = (struct debug_lines){ 0 };
}
