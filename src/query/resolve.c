/*
 * query/resolve: whose are the names of a statement, and do they fit together?
 */
#include <errno.h>
#include <string.h>

#include "query/tree.h"

static int find_event(struct sql_event *event, const struct sql_world *world, struct err *err)
{
	const char *dot = strchr(event->text, '.');
	const struct decode_format *other;
	char system[SQL_NAME_MAX];

	if (dot && (size_t)(dot - event->text) < sizeof(system)) {
		memcpy(system, event->text, (size_t)(dot - event->text));
		system[dot - event->text] = '\0';
		event->format = world->event(world->arg, system, dot + 1, 0);
	} else if (!dot) {
		event->format = world->event(world->arg, NULL, event->text, 0);
	}
	if (!event->format)
		return err_set_at(err, -ENOENT, event->pos, "there is no event '%s'", event->text);
	other = dot ? NULL : world->event(world->arg, NULL, event->text, 1);
	if (other)
		return err_set_at(err, -EINVAL, event->pos, "there are %s.%s and %s.%s: say which", event->format->system,
				  event->format->name, other->system, other->name);
	return 0;
}

static bool is_text(const char *text, size_t len, const char *what)
{
	return what && strlen(what) == len && !memcmp(text, what, len);
}

/* Do the `len` bytes before the field's name mean this event? */
static bool means(const struct sql_event *event, const char *text, size_t len)
{
	const char *system = event->format->system;
	size_t n = strlen(system);

	return is_text(text, len, event->alias) || is_text(text, len, event->text) ||
	       is_text(text, len, event->format->name) ||
	       (len > n && !memcmp(text, system, n) && text[n] == '.' && is_text(text + n + 1, len - n - 1, event->format->name));
}

/* What a word is that is no field: moments have names of their own, in statements and in histograms. */
static bool is_moment(struct sql_node *node, const char *name)
{
	static const struct {
		const char *name;
		enum sql_kind kind;
		bool usecs;
	} moments[] = {
		{ "TIMESTAMP", SQL_TIME, false }, { "TIMESTAMP_USECS", SQL_TIME, true },
		{ "common_timestamp", SQL_TIME, false }, { "common_timestamp.usecs", SQL_TIME, true },
		{ "STACKTRACE", SQL_STACK, false }, { "common_stacktrace", SQL_STACK, false },
		{ "CPU", SQL_CPU, false }, { "cpu", SQL_CPU, false }, { "common_cpu", SQL_CPU, false },
		{ "COMM", SQL_COMM, false }, { "common_comm", SQL_COMM, false },
	};

	for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++) {
		if (!strcmp(name, moments[i].name)) {
			node->kind = moments[i].kind;
			node->usecs = moments[i].usecs;
			return true;
		}
	}
	return false;
}

static bool is_delta(struct sql_node *node)
{
	node->usecs = !strcmp(node->text, "TIMESTAMP_DELTA_USECS");
	if (!node->usecs && strcmp(node->text, "TIMESTAMP_DELTA") != 0)
		return false;
	node->kind = SQL_DELTA;
	return true;
}

/* The event is known: is there such a field? */
static int find_field(const struct sql_tree *tree, struct sql_node *node, const char *name, struct err *err)
{
	const struct decode_format *format = tree->events[node->side].format;

	node->field = decode_format_find(format, name);
	if (node->field || is_moment(node, name))
		return 0;
	return err_set_at(err, -ENOENT, node->pos, "event %s.%s has no field '%s'", format->system, format->name, name);
}

/* A name without an event: of the only one, or of the only one that has it. */
static int find_bare(const struct sql_tree *tree, struct sql_node *node, struct err *err)
{
	bool in_first = decode_format_find(tree->events[0].format, node->text);
	bool in_second = tree->is_join && decode_format_find(tree->events[1].format, node->text);

	if (tree->is_join && is_delta(node))
		return 0;
	if (tree->is_join && in_first == in_second) {
		if (!in_first && !is_moment(node, node->text))
			return err_set_at(err, -ENOENT, node->pos, "neither event has a field '%s'", node->text);
		return err_set_at(err, -EINVAL, node->pos, "'%s' is in both events: say of which", node->text);
	}
	node->side = in_second;
	return find_field(tree, node, node->text, err);
}

/* `event.field`, `system.event.field`, `alias.field`, `field`. */
static int find_name(const struct sql_tree *tree, struct sql_node *node, struct err *err)
{
	const char *dot = strrchr(node->text, '.');
	size_t len = dot ? (size_t)(dot - node->text) : 0;
	bool first, second;

	if (!dot)
		return find_bare(tree, node, err);
	first = means(&tree->events[0], node->text, len);
	second = tree->is_join && means(&tree->events[1], node->text, len);
	if (first && second)
		return err_set_at(err, -EINVAL, node->pos, "'%.*s' is both events: give them names with AS", (int)len, node->text);
	if (!first && !second)
		return err_set_at(err, -ENOENT, node->pos, "'%.*s' is not among the events of this statement", (int)len,
				  node->text);
	node->side = second;
	return find_field(tree, node, dot + 1, err);
}

/* All names below a node. Depth is bounded by the parser. */
static int find_names(const struct sql_tree *tree, struct sql_node *node, struct err *err)
{
	int r = node->kind == SQL_NAME ? find_name(tree, node, err) : 0;

	if (!r && node->a)
		r = find_names(tree, node->a, err);
	if (!r && node->b)
		r = find_names(tree, node->b, err);
	return r;
}

static bool is_string(const struct sql_node *node)
{
	return node->kind == SQL_COMM || node->kind == SQL_TEXT || (node->field && node->field->is_string);
}

/* Can numbers be made of it? */
static int check_math(const struct sql_node *node, bool inside, struct err *err)
{
	int r = 0;

	if (inside && (is_string(node) || node->kind == SQL_STACK || (node->field && node->field->is_array)))
		return err_set_at(err, -EINVAL, node->pos, "'%s' is no number to calculate with", node->text);
	if (node->kind != SQL_MATH)
		return 0;
	r = check_math(node->a, true, err);
	return r ? r : check_math(node->b, true, err);
}

static int check_compare(const struct sql_node *node, struct err *err)
{
	const struct sql_node *a = node->a, *b = node->b;

	if (a->kind == SQL_TIME || a->kind == SQL_STACK || a->kind == SQL_DELTA)
		return err_set_at(err, -EOPNOTSUPP, a->pos, "records cannot be told by '%s'", a->text);
	if (b->side >= 0 && b->side != a->side)
		return err_set_at(err, -EOPNOTSUPP, b->pos, "a field can only be compared with one of the same event");
	if (is_string(a) != is_string(b))
		return err_set_at(err, -EINVAL, b->pos, is_string(a) ? "'%s' is a text and needs one in quotes" :
				  "'%s' is no text", a->text);
	if (is_string(a) && strcmp(node->op, "==") && strcmp(node->op, "!=") && strcmp(node->op, "~"))
		return err_set_at(err, -EINVAL, node->pos, "texts are compared by ==, != and ~");
	if (!is_string(a) && !strcmp(node->op, "~"))
		return err_set_at(err, -EINVAL, node->pos, "~ is for texts");
	return 0;
}

static int check_where(const struct sql_node *node, struct err *err)
{
	int r = 0;

	if (node->kind == SQL_COMPARE)
		return check_compare(node, err);
	if (node->a)
		r = check_where(node->a, err);
	return !r && node->b ? check_where(node->b, err) : r;
}

/* The first of the two belongs to the first event, whatever order they were written in. */
static int check_match(struct sql_match *match, struct err *err)
{
	struct sql_node *swap = match->a;

	if (match->a->side == match->b->side)
		return err_set_at(err, -EINVAL, match->pos, "a match needs a field of either event");
	if (match->a->side == 1) {
		match->a = match->b;
		match->b = swap;
	}
	if (!match->a->field != !match->b->field || is_string(match->a) != is_string(match->b) ||
	    (match->a->field && !is_string(match->a) && match->a->field->is_signed != match->b->field->is_signed &&
	     !(match->a->field->size == match->b->field->size && match->a->field->size == 8)))
		return err_set_at(err, -EINVAL, match->pos, "'%s' and '%s' are not of one kind", match->a->text,
				  match->b->text);
	if (match->a->kind == SQL_TIME || match->a->kind == SQL_STACK)
		return err_set_at(err, -EOPNOTSUPP, match->pos, "'%s' is nothing to match by", match->a->text);
	return 0;
}

static int resolve_items(struct sql_tree *tree, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < tree->nitems && !r; i++) {
		r = find_names(tree, tree->items[i].value, err);
		if (!r)
			r = check_math(tree->items[i].value, false, err);
	}
	return r;
}

int sql_resolve(struct sql_tree *tree, const struct sql_world *world, struct err *err)
{
	int r = find_event(&tree->events[0], world, err);

	if (!r && tree->is_join)
		r = find_event(&tree->events[1], world, err);
	if (!r)
		r = resolve_items(tree, err);
	for (size_t i = 0; i < tree->nmatches && !r; i++) {
		r = find_names(tree, tree->matches[i].a, err);
		if (!r)
			r = find_names(tree, tree->matches[i].b, err);
		if (!r)
			r = check_match(&tree->matches[i], err);
	}
	if (!r && tree->where)
		r = find_names(tree, tree->where, err);
	if (!r && tree->where)
		r = check_where(tree->where, err);
	return r;
}
