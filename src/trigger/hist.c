/*
 * trigger/hist: the line of a histogram -> struct spec_hist; see hist.h for the order in which things are looked at, which
 * decides what is refused first.
 */
#include "trigger/hist.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SIZE_BITS_MIN 7
#define SIZE_BITS_MAX 17
#define SIZE_DEFAULT 2048u

static bool is_one_of(const char *text, const char *a, const char *b)
{
	return !strcmp(text, a) || !strcmp(text, b);
}

/* ---- The line, cut at its colons ---- */

static int read_size(struct hist_read *read, const char *text)
{
	uint64_t rows;
	int ret = read_number(text, &rows);

	if (ret)
		return read_refuse_silently(read->error, ret, "size is no number: %.40s", text);
	/* Rounded up to a power of two before it is looked at: 65 will do. */
	if (rows <= 1u << (SIZE_BITS_MIN - 1) || rows > 1u << SIZE_BITS_MAX)
		return read_refuse_silently(read->error, -EINVAL, "size is from 128 to 131072");
	read->hist->size = 1u << SIZE_BITS_MIN;
	while (read->hist->size < rows)
		read->hist->size *= 2;
	return 0;
}

static int read_assignment(struct hist_read *read, char *piece)
{
	char *value;

	if ((value = read_after(piece, "key=")) || (value = read_after(piece, "keys="))) {
		read->keys = value;
	} else if ((value = read_after(piece, "val=")) || (value = read_after(piece, "vals=")) ||
		   (value = read_after(piece, "values="))) {
		read->vals = value;
	} else if ((value = read_after(piece, "sort="))) {
		read->sort = value;
	} else if ((value = read_after(piece, "name="))) {
		if (!read_copy_name(read->hist->name, value))
			return read_refuse_silently(read->error, -EINVAL, "the name is too long");
	} else if ((value = read_after(piece, "clock="))) {
		value = read_strip(value);
		if (strlen(value) >= sizeof(read->hist->clock))
			return read_refuse(read->error, -EINVAL, "Couldn't set trace_clock", value);
		strcpy(read->hist->clock, value);
	} else if ((value = read_after(piece, "size="))) {
		return read_size(read, value);
	} else {
		if (read->nassigns == HOOK_VARS_MAX)
			return read_refuse(read->error, -EINVAL, "Too many variables defined", piece);
		read->assigns[read->nassigns++] = piece;
	}
	return 0;
}

static int read_word(struct hist_read *read, char *piece)
{
	struct spec_hist *hist = read->hist;

	if (is_one_of(piece, "nohitcount", "NOHC"))
		hist->nohitcount = true;
	else if (!strcmp(piece, "pause"))
		hist->pause = true;
	else if (is_one_of(piece, "cont", "continue"))
		hist->cont = true;
	else if (!strcmp(piece, "clear"))
		hist->clear = true;
	else if (!read_after(piece, "onmatch(") && !read_after(piece, "onmax(") && !read_after(piece, "onchange("))
		return read_refuse_silently(read->error, -EINVAL, "what is this: %.80s", piece);
	else if (read->nactions == HOOK_ACTIONS_MAX)
		return read_refuse_silently(read->error, -EINVAL, "too many actions");
	else
		read->actions[read->nactions++] = piece;
	return 0;
}

static int cut_line(struct hist_read *read, char *line)
{
	char *piece;
	int ret = 0;

	read->hist->size = SIZE_DEFAULT;
	while (!ret && (piece = strsep(&line, ":")) != NULL) {
		char *equals = strchr(piece, '=');

		if (equals && !equals[1])
			ret = read_refuse(read->error, -EINVAL, "Empty assignment", piece);
		else if (equals)
			ret = read_assignment(read, piece);
		else
			ret = read_word(read, piece);
	}
	if (!ret && !read->keys)
		ret = read_refuse_silently(read->error, -EINVAL, "a histogram needs keys=");
	return ret;
}

/* ---- Variables ---- */

static int cut_defs(struct hist_read *read)
{
	for (uint32_t i = 0; i < read->nassigns; i++) {
		char *list = read->assigns[i], *expr;

		while ((expr = strsep(&list, ",")) != NULL) {
			char *name = strsep(&expr, "=");

			if (!expr)
				return read_refuse(read->error, -EINVAL, "Malformed assignment", name);
			if (read->ndefs == HOOK_VARS_MAX)
				return read_refuse(read->error, -EINVAL, "Too many variables defined", name);
			/* Kept apart from what is cut up when it is read: $name may stand for it. */
			read->defs[read->ndefs].name = name;
			read->defs[read->ndefs].expr = read_dup(read->mem, expr, strlen(expr));
			if (!read->defs[read->ndefs++].expr)
				return -ENOMEM;
		}
	}
	return 0;
}

/* The name of the task, kept with the variable. */
static void make_text_of_execname(struct spec_term *term)
{
	term->form = HOOK_TEXT;
	term->is_signed = 0;
	term->size = 16;
	term->width = TABLE_TEXT_MAX;
	term->type = "char[]";
}

static int read_var(struct hist_read *read, const struct hist_def *def)
{
	struct spec_var *var = &read->hist->vars[read->hist->nvars];
	char *text = read_dup(read->mem, def->expr, strlen(def->expr));
	struct hist_owner owner;
	int ret;

	if (!text)
		return -ENOMEM;
	if (!read->remove && (hist_own_var(read, def->name) >= 0 ||
			      hist_event_sets(read, read->system, read->event, def->name, &owner)))
		return read_refuse(read->error, -EINVAL, "Variable already defined", def->name);
	if (!read_copy_name(var->name, def->name))
		return read_refuse_silently(read->error, -EINVAL, "the name of a variable is too long");
	/* The kernel would take it, and nobody could tell it from a modifier. */
	if (strchr(def->name, '.'))
		return read_refuse_silently(read->error, -EINVAL, "the name of a variable has a point in it");
	ret = hist_read_expr(read, text, HIST_AS_VAR, &var->value);
	if (ret)
		return ret;
	switch (var->value->how) {
	case SPEC_GRAPH:
	case SPEC_PERCENT:
	case SPEC_BUCKETS:
	case SPEC_LOG2:
		return read_refuse(read->error, -EINVAL, "Invalid field modifier", text);
	case SPEC_EXECNAME:
		make_text_of_execname((struct spec_term *)var->value);
		break;
	default:
		break;
	}
	read->hist->nvars++;
	return 0;
}

/* ---- Values ---- */

static int read_val(struct hist_read *read, char *text)
{
	const struct spec_term **val = &read->hist->vals[read->hist->nvals];
	int ret = hist_read_expr(read, text, 0, val);

	if (ret)
		return ret;
	switch ((*val)->how) {
	case SPEC_BUCKETS:
	case SPEC_LOG2:
	case SPEC_SYM:
	case SPEC_SYM_OFFSET:
	case SPEC_SYSCALL:
	case SPEC_STACKTRACE:
	case SPEC_STRING:
		return read_refuse(read->error, -EINVAL, "Invalid field modifier", text);
	default:
		if ((*val)->form == HOOK_STACK)
			return read_refuse(read->error, -EINVAL, "Invalid field modifier", text);
		read->hist->nvals++;
		return 0;
	}
}

/* The hits are there anyhow: named once, they are no value of their own. */
static int read_vals(struct hist_read *read)
{
	char *list = read->vals, *text;
	bool hits = false;
	int ret = 0;

	while (!ret && (text = strsep(&list, ",")) != NULL) {
		if (!hits && !strcmp(text, "hitcount"))
			hits = true;
		else if (read->hist->nvals == HOOK_VALS_MAX)
			ret = read_refuse_silently(read->error, -EINVAL, "too many values");
		else
			ret = read_val(read, text);
	}
	if (!read->hist->nvals && read->hist->nohitcount)
		ret = read_refuse(read->error, -ENOENT, "Non-hitcount value is required for 'nohitcount'", NULL);
	return ret;
}

/* ---- Keys ---- */

static bool has_refs(const struct spec_term *term)
{
	return term && (term->what == SPEC_VAR || has_refs(term->a) || has_refs(term->b));
}

static uint32_t key_size(const struct spec_term *key)
{
	return ((key->size + 7u) & ~7u) + (key->how == SPEC_EXECNAME ? 16 : 0);
}

static int read_keys(struct hist_read *read)
{
	struct spec_hist *hist = read->hist;
	char *list = read->keys, *text;
	uint32_t size = 0;

	while ((text = strsep(&list, ",")) != NULL) {
		char stack[] = "common_stacktrace";
		int ret;

		if (hist->nkeys == HOOK_KEYS_MAX)
			return read_refuse_silently(read->error, -EINVAL, "too many keys");
		ret = hist_read_expr(read, strcmp(text, "stacktrace") ? text : stack, HIST_AS_KEY, &hist->keys[hist->nkeys]);
		if (ret)
			return ret;
		if (has_refs(hist->keys[hist->nkeys]))
			return read_refuse(read->error, -EINVAL, "Using variable references in keys not supported", text);
		size += key_size(hist->keys[hist->nkeys++]);
		if (size > HOOK_KEY_MAX)
			return read_refuse_silently(read->error, -EINVAL, "keys are too large together");
	}
	return 0;
}

/* ---- Sort ---- */

static int read_direction(struct hist_read *read, const char *text, bool *descending)
{
	*descending = text && !strcmp(text, "descending");
	if (text && !*descending && strcmp(text, "ascending"))
		return read_refuse(read->error, -EINVAL, "Invalid sort modifier", text);
	return 0;
}

static bool is_named(const struct spec_term *term, const char *name)
{
	struct buf shown = BUF_INIT;
	bool same;

	hist_echo_name(term, &shown);
	same = !buf_failed(&shown) && !strcmp(shown.data ? shown.data : "", name);
	buf_fini(&shown);
	return same;
}

/* What a sort can be by, one after the other; NULL behind the last. Hits are meant by neither number. */
static const struct spec_term *sortable(const struct spec_hist *hist, uint32_t i, struct spec_sort *sort)
{
	sort->val = i < hist->nvals ? (int)i : -1;
	sort->key = i < hist->nvals ? -1 : (int)(i - hist->nvals);
	if (i < hist->nvals)
		return hist->vals[i];
	return i - hist->nvals < hist->nkeys ? hist->keys[i - hist->nvals] : NULL;
}

static bool find_sorted(const struct spec_hist *hist, const char *name, struct spec_sort *sort)
{
	const struct spec_term *term;

	if (!strcmp(name, "hitcount")) {
		sort->key = sort->val = -1;
		return true;
	}
	for (uint32_t i = 0; (term = sortable(hist, i, sort)) != NULL; i++) {
		if (is_named(term, name))
			return true;
	}
	return false;
}

/* As listings show it, with modifiers and points in it: what stands behind, or NULL. */
static const char *find_shown(const struct spec_hist *hist, const char *text, struct spec_sort *sort)
{
	const struct spec_term *term;

	for (uint32_t i = 0; (term = sortable(hist, i, sort)) != NULL; i++) {
		struct buf shown = BUF_INIT;
		const char *rest = NULL;

		/* Those two have a name of their own that is not what is shown. */
		if (term->what == SPEC_CPU || (term->what == SPEC_HITCOUNT && term->how == SPEC_PLAIN))
			continue;
		hist_echo_term(term, false, &shown);
		if (!buf_failed(&shown) && shown.len && !strncmp(text, shown.data, shown.len))
			rest = text + shown.len;
		buf_fini(&shown);
		if (rest && (!*rest || !strcmp(rest, ".descending") || !strcmp(rest, ".ascending")))
			return *rest ? rest + 1 : rest;
	}
	return NULL;
}

static int read_sort(struct hist_read *read, char *way, struct spec_sort *sort)
{
	const char *rest = find_shown(read->hist, way, sort);
	char *name;

	if (rest) {
		sort->descending = !strcmp(rest, "descending");
		return 0;
	}
	name = strsep(&way, ".");
	if (!*name)
		return read_refuse(read->error, -EINVAL, "Empty sort field", "sort=");
	if (!find_sorted(read->hist, name, sort))
		return read_refuse(read->error, -EINVAL, "Sort field must be a key or a val", name);
	return read_direction(read, way, &sort->descending);
}

static int read_sorts(struct hist_read *read)
{
	struct spec_hist *hist = read->hist;
	char *list = read->sort, *way;

	if (!list) {
		hist->sorts[hist->nsorts++] = (struct spec_sort){ -1, -1, false };
		return 0;
	}
	hist_change_dash(list, 'X', '-');
	while ((way = strsep(&list, ",")) != NULL) {
		int ret;

		if (!*way)
			return read_refuse(read->error, -EINVAL, "Empty sort field", "sort=");
		if (hist->nsorts == 1 && list)
			return read_refuse(read->error, -EINVAL, "Too many sort fields (Max = 2)", "sort=");
		ret = read_sort(read, way, &hist->sorts[hist->nsorts]);
		if (ret)
			return ret;
		hist->nsorts++;
	}
	return 0;
}

/* ---- All of it ---- */

static int check_clock(struct hist_read *read)
{
	struct spec_hist *hist = read->hist;

	if (!hist->uses_time) {
		hist->clock[0] = '\0';
		return 0;
	}
	if (!hist->clock[0])
		strcpy(hist->clock, "global");
	if (read->world->clock && !read->world->clock(read->world->arg, hist->clock))
		return read_refuse(read->error, -EINVAL, "Couldn't set trace_clock", hist->clock);
	return 0;
}

/* Pausing, continuing and clearing what is there needs nothing of what its actions do. */
static bool changes_old(struct hist_read *read)
{
	const struct spec_hist *hist = read->hist;
	struct spec_error error = SPEC_ERROR_INIT;
	uint32_t old;
	bool changes = (hist->pause || hist->cont || hist->clear) &&
		       hist_meet(hist, read->world, read->system, read->event, &old, &error) == 1;

	spec_error_fini(&error);
	return changes;
}

int hist_read_line(struct hist_read *read, char *line)
{
	int ret = cut_line(read, line);

	if (!ret)
		ret = hist_read_actions(read);
	if (!ret)
		ret = cut_defs(read);
	if (!ret)
		ret = read_vals(read);
	for (uint32_t i = 0; !ret && i < read->ndefs; i++) {
		read->own_refs = true;
		ret = read_var(read, &read->defs[i]);
	}
	read->own_refs = false;
	if (!ret)
		ret = read_keys(read);
	if (!ret)
		ret = read_sorts(read);
	/* What variables stand for is not known to actions. */
	read->ndefs = 0;
	if (!ret && !read->remove && !changes_old(read))
		ret = hist_make_actions(read);
	if (!ret)
		ret = check_clock(read);
	return ret;
}
