/*
 * symbol/debug_place: what a person writes for a place in a program, and what needs no debug information to be done with it.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "base/near.h"
#include "symbol/debug_place.h"
#include "symbol/functions.h"

void debug_place_fini(struct debug_place *place)
{
	free(place->function);
	free(place->file);
	free(place->pattern);
	*place = (struct debug_place){ 0 };
}

static char *copy(const char *text, size_t len)
{
	return len ? strndup(text, len) : NULL;
}

/* A number, to its end. */
static bool read_number(const char *text, uint64_t max, uint64_t *out)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*out = strtoull(text, &end, 0);
	return !errno && !*end && *out <= max;
}

/* What stands behind a name: `at` is at its first character. */
static int read_rest(struct debug_place *place, const char *text, const char *at, struct err *err)
{
	const int pos = (int)(at - text);
	uint64_t number;

	switch (*at) {
	case '\0':
		return 0;
	case ';':
		place->pattern = copy(at + 1, strlen(at + 1));
		return place->pattern ? 0 : err_set_at(err, -EINVAL, pos, "%.100s: which pattern? FUNCTION;PATTERN", text);
	case '%':
		if (strcmp(at, "%return"))
			return err_set_at(err, -EINVAL, pos, "%.100s: behind %% only `return` can stand", text);
		place->returns = true;
		return 0;
	case '+':
		if (!read_number(at + 1, UINT32_MAX, &place->offset))
			return err_set_at(err, -EINVAL, pos, "%.100s: '%.40s' is no offset: FUNCTION+BYTES", text, at + 1);
		place->has_offset = true;
		return 0;
	default:
		if (!read_number(at + 1, INT32_MAX, &number))
			return err_set_at(err, -EINVAL, pos, "%.100s: '%.40s' is no line: FUNCTION:LINE or FILE:LINE", text,
					  at + 1);
		place->has_line = true;
		place->line = (uint32_t)number;
		return 0;
	}
}

/* A name with a point in it is a file's; compilers put points into functions' names only behind something else. */
static bool is_file(const char *name)
{
	const char *dot = strrchr(name, '.');

	return strchr(name, '/') ||
	       (dot && dot != name && strlen(dot) <= 5 && !strpbrk(name, "*?[") && isalpha((unsigned char)dot[1]) &&
		strcmp(dot, ".cold") && strcmp(dot, ".isra") && strcmp(dot, ".part"));
}

/* "@FILE", of which nothing but the end counts. */
static int read_of_file(struct debug_place *place, const char *text, const char **at, struct err *err)
{
	size_t len = strcspn(*at + 1, "+%:;");

	place->file = copy(*at + 1, len);
	if (!place->file)
		return err_set_at(err, -EINVAL, (int)(*at - text), "%.100s: which file? FUNCTION@FILE", text);
	*at += len + 1;
	return 0;
}

static int check(const struct debug_place *place, const char *text, struct err *err)
{
	if (place->function)
		return 0;
	if (place->returns || place->has_offset)
		return err_set(err, -EINVAL, "%.100s: a file has no %s", text,
			       place->returns ? "return" : "offsets that could be meant");
	if (!place->pattern && (!place->has_line || !place->line))
		return err_set(err, -EINVAL, "%.100s: which line of the file? FILE:LINE, from 1 on", text);
	return 0;
}

int debug_place_parse(struct debug_place *place, const char *text, struct err *err)
{
	const char *at = text + strcspn(text, "@+%:;");
	int r = 0;

	*place = (struct debug_place){ 0 };
	if (!strncmp(text, "0x", 2) && read_number(text, UINT64_MAX, &place->address)) {
		place->has_address = true;
		return 0;
	}
	/* Operators of C++ are no separators. */
	while (at[0] == ':' && at[1] == ':')
		at += 2 + strcspn(at + 2, "@+%:;");
	place->function = copy(text, (size_t)(at - text));
	if (!place->function)
		return err_set_at(err, -EINVAL, 0, "'%.100s' names no function and no file", text);
	if (is_file(place->function)) {
		place->file = place->function;
		place->function = NULL;
	} else if (*at == '@') {
		r = read_of_file(place, text, &at, err);
	}
	if (!r)
		r = read_rest(place, text, at, err);
	if (!r)
		r = check(place, text, err);
	if (r)
		debug_place_fini(place);
	return r;
}

/* ---- sources ---- */

int debug_source_open(struct lines *source, const char *file, const char *dir, char *path, size_t size)
{
	int r = -ENOENT;

	if (!dir) {
		snprintf(path, size, "%s", file);
		return lines_open(source, file);
	}
	for (const char *base = file; r && base; base = strchr(base, '/')) {
		base += *base == '/';
		snprintf(path, size, "%s/%s", dir, base);
		r = lines_open(source, path);
	}
	return r;
}

/* ---- points ---- */

int debug_points_add(struct debug_points *points, const struct debug_point *point, const char *name)
{
	struct debug_point *more;

	for (size_t i = 0; i < points->n; i++)
		if (points->all[i].address == point->address && !strcmp(points->all[i].name, name))
			return 0;
	if (points->n == DEBUG_POINTS_MAX)
		return -E2BIG;
	more = reallocarray(points->all, points->n + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	points->all = more;
	more[points->n] = *point;
	more[points->n].name = strdup(name);
	return more[points->n].name ? (points->n++, 0) : -ENOMEM;
}

static int compare(const void *a, const void *b)
{
	const struct debug_point *x = a, *y = b;

	return x->address != y->address ? (x->address < y->address ? -1 : 1) : strcmp(x->name, y->name);
}

int debug_points_end(struct debug_points *points, int r, struct err *err)
{
	if (r)
		debug_points_fini(points);
	else if (points->n)
		qsort(points->all, points->n, sizeof(*points->all), compare);
	if (r == -E2BIG)
		return err_set(err, r, "these are more than %u places", DEBUG_POINTS_MAX);
	return r == -ENOMEM ? err_set(err, r, "out of memory") : r;
}

void debug_points_fini(struct debug_points *points)
{
	for (size_t i = 0; i < points->n; i++)
		free(points->all[i].name);
	free(points->all);
	*points = (struct debug_points){ 0 };
}

/* ---- symbols ---- */

/* "name@VERSION" is "name". */
static bool is_named(const struct function *function, const char *pattern, char *name, size_t size)
{
	size_t len = strcspn(function->name, "@");

	if (!len || len >= size)
		return false;
	memcpy(name, function->name, len);
	name[len] = '\0';
	return glob_match(pattern, name);
}

static int add_symbol(struct debug_points *points, const struct function *function, const struct debug_place *place,
		      const char *name, struct err *err)
{
	struct debug_point point = { .address = function->address + place->offset, .entry = !place->offset };

	if (place->offset && place->offset >= function->size)
		return err_set(err, -ERANGE, "%.100s has only %llu bytes", name, (unsigned long long)function->size);
	return debug_points_add(points, &point, name);
}

static void see_names(struct near *near, const struct functions *functions)
{
	char name[SYMBOL_NAME_MAX + 1];

	for (size_t i = 0; i < functions->n; i++)
		if (is_named(&functions->all[i], "*", name, sizeof(name)))
			near_see(near, name);
}

void debug_near_symbols(struct near *near, const char *path)
{
	struct functions functions;

	if (!functions_init(&functions, &(struct symbol_file){ .path = path }, NULL))
		see_names(near, &functions);
	functions_fini(&functions);
}

/* Nobody is called so: what to do instead. */
static int no_function(const struct functions *functions, const char *path, const char *asked, struct err *err)
{
	struct near near = { .to = asked };
	const char *best;

	see_names(&near, functions);
	best = near_best(&near);
	if (functions->stripped && !functions->n)
		return err_set(err, -ENOENT, "%.200s has no function %.100s: it is stripped of all names, and only "
			       "0xADDRESS is left",
			       path, asked);
	return err_set(err, -ENOENT, "%.200s has no function %.100s%s%s%s: %s", path, asked, best ? " (did you mean '" : "",
		       best ? best : "", best ? "'?)" : "",
		       functions->stripped ? "it is stripped, and -F lists what is left" : "-F lists those that it has");
}

int debug_points_by_symbols(struct debug_points *points, const char *path, const struct debug_place *place, struct err *err)
{
	struct functions functions;
	char name[SYMBOL_NAME_MAX + 1];
	bool chosen = false;
	int r = functions_init(&functions, &(struct symbol_file){ .path = path }, err);

	*points = (struct debug_points){ 0 };
	if (r)
		return r;
	for (size_t i = 0; !r && place->function && i < functions.n; i++) {
		if (!is_named(&functions.all[i], place->function, name, sizeof(name)))
			continue;
		if (functions.all[i].chooses)
			chosen = true;
		else
			r = add_symbol(points, &functions.all[i], place, name, err);
	}
	if (!r && !points->n && chosen)
		r = err_set(err, -EOPNOTSUPP,
			    "%.100s of %.200s is chosen out of several when a program starts (IFUNC): name one of those, which "
			    "-F '*%.60s*' may list",
			    place->function, path, place->function);
	if (!r && !points->n)
		r = no_function(&functions, path, place->function ? place->function : place->file, err);
	functions_fini(&functions);
	return debug_points_end(points, r, err);
}

bool debug_is_chosen(const char *path, const char *name)
{
	struct functions functions;
	char own[SYMBOL_NAME_MAX + 1];
	bool is = false;

	if (!functions_init(&functions, &(struct symbol_file){ .path = path }, NULL))
		for (size_t i = 0; !is && i < functions.n; i++)
			is = functions.all[i].chooses && is_named(&functions.all[i], name, own, sizeof(own));
	functions_fini(&functions);
	return is;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Files call things what they like. */
static void put_line(struct buf *out, const char *name)
{
	for (; *name; name++)
		buf_putc(out, (unsigned char)*name <= ' ' || *name == 0x7f ? '_' : *name);
	buf_putc(out, '\n');
}

int debug_names_by_symbols(struct buf *out, const char *path, const char *pattern, struct err *err)
{
	struct functions functions;
	char name[SYMBOL_NAME_MAX + 1], **all;
	size_t n = 0;
	int r = functions_init(&functions, &(struct symbol_file){ .path = path }, err);

	if (r)
		return r;
	if (!functions.n && functions.stripped) {
		functions_fini(&functions);
		return err_set(err, -ENODATA, "%.300s has no names of functions: it is stripped", path);
	}
	all = calloc(functions.n + 1, sizeof(*all));
	for (size_t i = 0; all && i < functions.n; i++)
		if (is_named(&functions.all[i], pattern ? pattern : "*", name, sizeof(name)))
			all[n++] = strdup(name);
	for (size_t i = 0; i < n; i++)
		r = all[i] ? r : -ENOMEM;
	if (all && !r)
		qsort(all, n, sizeof(*all), compare_names);
	for (size_t i = 0; all && !r && i < n; i++)
		if (!i || strcmp(all[i], all[i - 1]))
			put_line(out, all[i]);
	for (size_t i = 0; i < n; i++)
		free(all[i]);
	if (!all || r || buf_failed(out))
		r = err_set(err, -ENOMEM, "out of memory");
	free(all);
	functions_fini(&functions);
	return r;
}
