/*
 * query/texts: a statement whose names are known -> lines.
 *
 * What a JOIN selects becomes variables. Those of the first event are kept under its histogram's key (__arg_...); the
 * second event's histogram, which has the matching key, makes its own of them (__NAME_...) and hands these on:
 *
 *   dynamic_events  s:NAME type field; ...
 *   first event     hist:keys=K:__arg_R_2=field,...
 *   second event    hist:keys=K:__NAME_R_1=$__arg_R_2,...:onmatch(first).NAME($__NAME_R_1,...)
 *
 * R tells this statement's variables from those of others; the numbers behind it count all of them up.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"
#include "query/tree.h"

#define VARIABLE_MAX 128

struct texts {
	const struct sql_tree *tree;
	const struct sql_options *options;
	struct err *err;
	const char *name;	/* of the synthetic event */
	uint32_t random;	/* R */
	uint32_t count;
	struct buf synth;	/* fields, each with a semicolon */
	struct buf first, second;	/* variables, separated by commas */
	struct buf params;	/* of the action */
	struct buf keys[2];
	struct buf filters[2];
	char tracked[VARIABLE_MAX];	/* the variable that -m or -c names */
};

/* ---- Filters ---- */

static void put_value(const struct sql_node *node, struct buf *out);

/* Behind the first of several, and where no parentheses were written, the right side of an && is in its own. */
static void put_truth(const struct sql_node *node, bool in_group, struct buf *out)
{
	switch (node->kind) {
	case SQL_AND:
		put_truth(node->a, in_group, out);
		buf_puts(out, in_group ? "&&" : "&&(");
		put_truth(node->b, in_group, out);
		buf_puts(out, in_group ? "" : ")");
		break;
	case SQL_OR:
		put_truth(node->a, in_group, out);
		buf_puts(out, "||");
		put_truth(node->b, in_group, out);
		break;
	case SQL_NOT:
		buf_puts(out, node->a->kind == SQL_GROUP ? "!" : "!(");
		put_truth(node->a, true, out);
		buf_puts(out, node->a->kind == SQL_GROUP ? "" : ")");
		break;
	case SQL_GROUP:
		buf_putc(out, '(');
		put_truth(node->a, true, out);
		buf_putc(out, ')');
		break;
	default:
		put_value(node->a, out);
		buf_printf(out, strcmp(node->op, "~") ? " %s " : "%s", node->op);
		put_value(node->b, out);
		break;
	}
}

/* The event that a condition is about; -1: about both. */
static int side_of(const struct sql_node *node)
{
	int a, b;

	if (node->kind == SQL_COMPARE)
		return node->a->side;
	a = side_of(node->a);
	b = node->b ? side_of(node->b) : a;
	return a == b ? a : -1;
}

/* Conditions that hold together part into those of either event. */
static int put_filters(struct texts *texts, const struct sql_node *node)
{
	int side = side_of(node), r;
	bool further;

	if (side < 0 && node->kind == SQL_GROUP)
		return put_filters(texts, node->a);
	if (node->kind == SQL_AND && (side < 0 || texts->tree->is_join)) {
		r = put_filters(texts, node->a);
		return r ? r : put_filters(texts, node->b);
	}
	if (side < 0)
		return err_set_at(texts->err, -EOPNOTSUPP, node->pos,
				  "conditions on both events can only be joined by && at the outermost");
	further = texts->filters[side].len;
	buf_puts(&texts->filters[side], further ? "&&(" : "");
	put_truth(node, further, &texts->filters[side]);
	buf_puts(&texts->filters[side], further ? ")" : "");
	if (buf_failed(&texts->filters[side]))
		return -ENOMEM;
	return 0;
}

/* ---- Values ---- */

static const char *moment_name(const struct sql_node *node)
{
	switch (node->kind) {
	case SQL_TIME: return node->usecs ? "common_timestamp.usecs" : "common_timestamp";
	case SQL_STACK: return "common_stacktrace";
	case SQL_CPU: return "common_cpu";
	case SQL_COMM: return "common_comm";
	default: return node->field ? node->field->name : "";
	}
}

static void put_value(const struct sql_node *node, struct buf *out)
{
	if (node->kind == SQL_NUMBER) {
		buf_printf(out, "%s%" PRIu64, node->op, node->number);
	} else if (node->kind == SQL_TEXT) {
		const char *quote = strchr(node->text, '"') ? "'" : "\"";

		buf_printf(out, "%s%s%s", quote, node->text, quote);
	} else {
		/* In filters these are called otherwise. */
		buf_puts(out, node->kind == SQL_CPU ? "CPU" : node->kind == SQL_COMM ? "COMM" : moment_name(node));
	}
}

/* The next variable's name, with or without the name of what it holds. */
static void new_variable(struct texts *texts, const char *name, char out[VARIABLE_MAX])
{
	/* Names of variables are as long as those of fields and no longer. */
	snprintf(out, VARIABLE_MAX, "__%.40s_%" PRIu32 "_%" PRIu32, name, texts->random, ++texts->count);
}

static void add_variable(struct buf *to, const char *variable, const char *value)
{
	buf_printf(to, "%s%s=%s", to->len ? "," : "", variable, value);
}

/* A variable of the first event that holds that value, for the second to use. */
static void keep_first(struct texts *texts, const struct sql_node *node, struct buf *out)
{
	char variable[VARIABLE_MAX];

	new_variable(texts, "arg", variable);
	add_variable(&texts->first, variable, moment_name(node));
	buf_printf(out, "$%s", variable);
}

static int binds(const struct sql_node *node)
{
	return node->kind != SQL_MATH ? 2 : *node->op == '*' || *node->op == '/';
}

static void put_math(struct texts *texts, const struct sql_node *node, struct buf *out);

/* Expressions have no parentheses: what needs some becomes a variable of its own. */
static void put_operand(struct texts *texts, const struct sql_node *node, bool apart, struct buf *out)
{
	char variable[VARIABLE_MAX];
	struct buf inner = BUF_INIT;

	if (!apart) {
		put_math(texts, node, out);
		return;
	}
	put_math(texts, node, &inner);
	new_variable(texts, "arg", variable);
	add_variable(&texts->second, variable, inner.data ? inner.data : "");
	buf_printf(out, "$%s", variable);
	buf_fini(&inner);
}

static void put_math(struct texts *texts, const struct sql_node *node, struct buf *out)
{
	if (node->kind == SQL_MATH) {
		put_operand(texts, node->a, binds(node->a) < binds(node), out);
		buf_putc(out, *node->op);
		put_operand(texts, node->b, binds(node->b) <= binds(node), out);
	} else if (node->kind == SQL_NUMBER) {
		buf_printf(out, "%s%" PRIu64, node->op, node->number);
	} else if (node->side == 0 && texts->tree->is_join) {
		keep_first(texts, node, out);
	} else {
		buf_puts(out, moment_name(node));
	}
}

/* ---- Types of a synthetic event's fields ---- */

static bool has_word(const char *type, const char *word)
{
	const char *at = strstr(type, word);

	return at && !strcmp(at, word);
}

static const char *number_type(const struct decode_field *field)
{
	static const char *const by_size[][2] = { { "u16", "s16" }, { "u32", "s32" }, { "u64", "s64" } };

	if (has_word(field->type, "pid_t") || has_word(field->type, "gfp_t") || has_word(field->type, "bool"))
		return has_word(field->type, "pid_t") ? "pid_t" : has_word(field->type, "gfp_t") ? "gfp_t" : "bool";
	if (field->size == 1)
		return field->is_signed ? "char" : "unsigned char";
	return by_size[field->size == 2 ? 0 : field->size == 4 ? 1 : 2][field->is_signed];
}

/* Of a calculation: what its fields are if they are of one type, else the widest. */
static const char *math_type(const struct sql_node *node)
{
	const char *a, *b;

	if (node->kind == SQL_NUMBER)
		return NULL;
	if (node->kind != SQL_MATH)
		return node->field ? number_type(node->field) : node->kind == SQL_CPU ? "s32" : "u64";
	a = math_type(node->a);
	b = math_type(node->b);
	if (!a || !b)
		return a ? a : b;
	if (!strcmp(a, b))
		return a;
	return *a == 's' || *b == 's' || *a == 'p' || *b == 'p' || *node->op == '-' ? "s64" : "u64";
}

static int put_type(struct texts *texts, const struct sql_node *node, const char *name)
{
	const struct decode_field *field = node->field;
	struct buf *out = &texts->synth;

	if (node->kind == SQL_STACK)
		buf_printf(out, " unsigned long[] %s;", name);
	else if (node->kind == SQL_COMM)
		buf_printf(out, " char %s[16];", name);
	else if (field && field->is_string && field->place == DECODE_INLINE)
		buf_printf(out, " char %s[%u];", name, field->size);
	else if (field && field->is_string)
		buf_printf(out, " char %s[];", name);
	else if (field && (field->is_array || field->kind == DECODE_OPAQUE || field->kind == DECODE_FLOAT) &&
		 !(field->size <= 8 && !field->is_array && field->kind != DECODE_FLOAT))
		return err_set_at(texts->err, -EOPNOTSUPP, node->pos, "a synthetic event has no field of type %s", field->type);
	else
		buf_printf(out, " %s %s;", node->kind == SQL_DELTA ? "u64" : math_type(node) ? math_type(node) : "s64", name);
	return 0;
}

/* ---- A JOIN ---- */

static const char *item_name(const struct sql_item *item)
{
	if (item->name)
		return item->name;
	if (item->value->kind == SQL_TIME)
		return item->value->usecs ? "common_timestamp_usecs" : "common_timestamp";
	return moment_name(item->value);
}

static int check_name(struct texts *texts, size_t i)
{
	const struct sql_item *item = &texts->tree->items[i];
	const char *name = item_name(item);
	int pos = item->name ? item->name_pos : item->value->pos;

	if (item->cast || item->counter)
		return err_set_at(texts->err, -EOPNOTSUPP, item->value->pos,
				  "a JOIN makes an event and no histogram: CAST when you select from %s", texts->name);
	if (item->value->kind == SQL_COUNT)
		return err_set_at(texts->err, -EOPNOTSUPP, item->value->pos,
				  "a JOIN makes an event and no histogram: COUNT when you select from %s", texts->name);
	if (!*name)
		return err_set_at(texts->err, -EINVAL, pos, "what is calculated needs a name: AS name");
	for (size_t k = 0; k < i; k++) {
		if (!strcmp(item_name(&texts->tree->items[k]), name))
			return err_set_at(texts->err, -EEXIST, pos, "two fields would be called '%s': name one with AS", name);
	}
	return 0;
}

static void put_delta(struct texts *texts, const struct sql_node *node, struct buf *out)
{
	const struct sql_node time = { .kind = SQL_TIME, .usecs = node->usecs };

	buf_printf(out, "%s-", moment_name(&time));
	keep_first(texts, &time, out);
}

static int put_item(struct texts *texts, size_t i)
{
	const struct sql_item *item = &texts->tree->items[i];
	const struct sql_node *value = item->value;
	const char *name = item_name(item);
	char variable[VARIABLE_MAX];
	struct buf text = BUF_INIT;
	bool is_math = value->kind == SQL_MATH || value->kind == SQL_DELTA;
	int r = check_name(texts, i);

	if (!r)
		r = put_type(texts, value, name);
	if (r)
		return r;
	/* The numbers count in the order in which libtracefs gives them. */
	if (!is_math)
		new_variable(texts, item->name || value->side == 0 ? name : "arg", variable);
	if (value->kind == SQL_DELTA)
		put_delta(texts, value, &text);
	else
		put_math(texts, value, &text);
	if (is_math)
		new_variable(texts, name, variable);
	add_variable(&texts->second, variable, text.data ? text.data : "");
	buf_printf(&texts->params, "%s$%s", texts->params.len ? "," : "", variable);
	if ((texts->options->max && !strcmp(texts->options->max, name)) ||
	    (texts->options->change && !strcmp(texts->options->change, name)))
		memcpy(texts->tracked, variable, sizeof(variable));
	r = buf_failed(&text) ? -ENOMEM : 0;
	buf_fini(&text);
	return r;
}

/* What happens: the synthetic event, or what the options say. */
static int put_actions(struct texts *texts, struct buf *out)
{
	const struct sql_options *options = texts->options;
	const char *on = options->max ? "onmax" : "onchange", *params = texts->params.data ? texts->params.data : "";
	const char *tracked = options->max ? options->max : options->change;
	const struct decode_format *first = texts->tree->events[0].format;

	if (!tracked) {
		buf_printf(out, ":onmatch(%s.%s).%s(%s)", first->system, first->name, texts->name, params);
		return 0;
	}
	if (!*texts->tracked)
		return err_set(texts->err, -ENOENT, "'%s' is not selected", tracked);
	if (options->save)
		buf_printf(out, ":%s($%s).save(%s)", on, texts->tracked, options->save);
	/* Before a snapshot, so that it is in there. */
	if (options->trace || (!options->save && !options->snapshot))
		buf_printf(out, ":%s($%s).%s(%s)", on, texts->tracked, texts->name, params);
	if (options->snapshot)
		buf_printf(out, ":%s($%s).snapshot()", on, texts->tracked);
	return 0;
}

static int add_line(struct sql_lines *lines, enum sql_what what, const char *system, const char *event, struct buf *file,
		    struct buf *text, struct buf *undo)
{
	struct sql_line *line = realloc(lines->line, (lines->n + 1) * sizeof(*line));

	if (!line)
		return -ENOMEM;
	lines->line = line;
	line += lines->n++;
	line->what = what;
	snprintf(line->system, sizeof(line->system), "%s", system);
	snprintf(line->event, sizeof(line->event), "%s", event);
	line->file = buf_take(file);
	line->text = buf_take(text);
	line->undo = buf_take(undo);
	return line->file && line->text && line->undo ? 0 : -ENOMEM;
}

/* A histogram on one of the events; `what` has all but the word and the condition. */
static int add_hist(struct sql_lines *lines, struct texts *texts, int side, const struct buf *what)
{
	const struct decode_format *format = texts->tree->events[side].format;
	const char *instance = texts->options->instance;
	struct buf file = BUF_INIT, text = BUF_INIT, undo = BUF_INIT;

	if (instance && *instance)
		buf_printf(&file, "instances/%s/", instance);
	buf_printf(&file, "events/%s/%s/trigger", format->system, format->name);
	buf_printf(&text, "hist:%s", what->data ? what->data : "");
	if (texts->filters[side].len)
		buf_printf(&text, " if %s", texts->filters[side].data);
	buf_printf(&undo, "!%s", text.data ? text.data : "");
	return buf_failed(what) ? -ENOMEM :
	       add_line(lines, !texts->tree->is_join ? SQL_ANSWER : side ? SQL_SECOND : SQL_FIRST, format->system,
			format->name, &file, &text, &undo);
}

static int add_synth(struct sql_lines *lines, struct texts *texts)
{
	struct buf file = BUF_INIT, text = BUF_INIT, undo = BUF_INIT;

	buf_puts(&file, "dynamic_events");
	buf_printf(&text, "s:%s%s", texts->name, texts->synth.data ? texts->synth.data : "");
	buf_printf(&undo, "-:synthetic/%s", texts->name);
	return buf_failed(&texts->synth) ? -ENOMEM :
	       add_line(lines, SQL_SYNTH, "synthetic", texts->name, &file, &text, &undo);
}

static int check_saves(struct texts *texts)
{
	const struct decode_format *format = texts->tree->events[1].format;
	char field[SQL_NAME_MAX];

	for (const char *at = texts->options->save; at; at = *at ? at + 1 : NULL) {
		size_t len = strcspn(at, ",");

		snprintf(field, sizeof(field), "%.*s", (int)len, at);
		if (!decode_format_find(format, field))
			return err_set(texts->err, -ENOENT, "event %s.%s has no field '%s' to save", format->system,
				       format->name, field);
		at += len;
	}
	return 0;
}

static int check_options(struct texts *texts)
{
	const struct sql_options *options = texts->options;

	if (options->max && options->change)
		return err_set(texts->err, -EINVAL, "one of a new maximum and a change can be waited for");
	if (!options->max && !options->change && (options->snapshot || options->trace || options->save))
		return err_set(texts->err, -EINVAL, "to take a snapshot, trace or save, say when: a new maximum, or a change");
	if (!texts->tree->is_join && (options->max || options->change))
		return err_set(texts->err, -EINVAL, "there is nothing to wait for without a JOIN");
	return texts->tree->is_join ? check_saves(texts) : 0;
}

static int join(struct sql_lines *lines, struct texts *texts)
{
	struct buf what = BUF_INIT;
	int r = 0;

	for (size_t i = 0; i < texts->tree->nitems && !r; i++)
		r = put_item(texts, i);
	for (size_t i = 0; i < texts->tree->nmatches && !r; i++) {
		buf_printf(&texts->keys[0], "%s%s", i ? "," : "keys=", moment_name(texts->tree->matches[i].a));
		buf_printf(&texts->keys[1], "%s%s", i ? "," : "keys=", moment_name(texts->tree->matches[i].b));
	}
	if (!r)
		r = add_synth(lines, texts);
	buf_puts(&what, texts->keys[0].data ? texts->keys[0].data : "");
	if (texts->first.len)
		buf_printf(&what, ":%s", texts->first.data);
	if (!r)
		r = add_hist(lines, texts, 0, &what);
	buf_reset(&what);
	buf_printf(&what, "%s:%s", texts->keys[1].data ? texts->keys[1].data : "", texts->second.data ? texts->second.data : "");
	if (!r)
		r = put_actions(texts, &what);
	if (!r)
		r = add_hist(lines, texts, 1, &what);
	if (buf_failed(&texts->first) || buf_failed(&texts->second) || buf_failed(&texts->params))
		r = -ENOMEM;
	buf_fini(&what);
	return r;
}

/* ---- A histogram ---- */

static int check_cast(struct texts *texts, const struct sql_item *item)
{
	const struct sql_node *value = item->value;

	if (!item->cast || (!strcmp(item->cast, "string") && value->field && value->field->is_string))
		return 0;
	if (value->kind == SQL_COUNT || value->kind == SQL_STACK || value->kind == SQL_COMM ||
	    (value->field && value->field->is_string))
		return err_set_at(texts->err, -EINVAL, value->pos, "only numbers can be cast");
	if (!strcmp(item->cast, "execname") && !(value->field && !strcmp(value->field->name, "common_pid")))
		return err_set_at(texts->err, -EINVAL, value->pos, "only common_pid can be cast to a task's name");
	if (value->kind == SQL_MATH)
		return err_set_at(texts->err, -EOPNOTSUPP, value->pos, "what is calculated cannot be cast");
	return 0;
}

static int put_column(struct texts *texts, size_t i, struct buf *vals)
{
	const struct sql_item *item = &texts->tree->items[i];
	struct buf *out = item->counter ? vals : &texts->keys[0];
	int r = check_cast(texts, item);

	if (r)
		return r;
	if (item->value->kind == SQL_COUNT)
		return 0;
	for (size_t k = 0; k < i; k++) {
		const struct sql_item *other = &texts->tree->items[k];

		if (other->counter == item->counter && item->value->field && other->value->field == item->value->field)
			return err_set_at(texts->err, -EEXIST, item->value->pos, "'%s' is selected twice", item->value->text);
	}
	buf_puts(out, out->len ? "," : item->counter ? ":vals=" : "keys=");
	put_math(texts, item->value, out);
	if (item->cast)
		buf_printf(out, ".%s", item->cast);
	return 0;
}

static int put_sorts(struct texts *texts, struct buf *out)
{
	for (size_t i = 0; i < texts->tree->nsorts; i++) {
		const struct sql_sort *sort = &texts->tree->sorts[i];
		bool found = !strcmp(sort->text, "hitcount");

		for (size_t k = 0; k < texts->tree->nitems && !found; k++) {
			const struct sql_item *item = &texts->tree->items[k];

			found = !strcmp(sort->text, moment_name(item->value)) || (item->name && !strcmp(sort->text, item->name));
			if (found)
				buf_printf(out, "%s%s", i ? "," : ":sort=", moment_name(item->value));
		}
		if (!found)
			return err_set_at(texts->err, -ENOENT, sort->pos, "'%s' is not selected", sort->text);
		if (!strcmp(sort->text, "hitcount"))
			buf_printf(out, "%shitcount", i ? "," : ":sort=");
		buf_puts(out, sort->descending ? ".descending" : "");
	}
	return 0;
}

static int histogram(struct sql_lines *lines, struct texts *texts)
{
	struct buf what = BUF_INIT, vals = BUF_INIT;
	int r = 0;

	for (size_t i = 0; i < texts->tree->nitems && !r; i++)
		r = put_column(texts, i, &vals);
	if (!r && !texts->keys[0].len)
		r = err_set_at(texts->err, -EINVAL, texts->tree->items[0].value->pos,
			       "a histogram needs something to count by, besides what it sums");
	buf_printf(&what, "%s%s", texts->keys[0].data ? texts->keys[0].data : "", vals.data ? vals.data : "");
	if (!r)
		r = put_sorts(texts, &what);
	if (!r)
		r = buf_failed(&vals) ? -ENOMEM : add_hist(lines, texts, 0, &what);
	buf_fini(&what);
	buf_fini(&vals);
	return r;
}

int sql_texts(struct sql_lines *lines, const struct sql_tree *tree, const char *name, const struct sql_options *options,
	      struct err *err)
{
	struct texts texts = { .tree = tree, .options = options, .err = err, .name = name };
	int r;

	texts.random = crc32c(crc32c(0, name, strlen(name) + 1), tree->statement + tree->begin, tree->end - tree->begin);
	r = check_options(&texts);
	if (!r && tree->is_join && tree->nsorts)
		r = err_set_at(err, -EOPNOTSUPP, tree->sorts[0].pos, "a JOIN makes an event, which has no order but time");
	if (!r && tree->where)
		r = put_filters(&texts, tree->where);
	if (!r)
		r = tree->is_join ? join(lines, &texts) : histogram(lines, &texts);
	buf_fini(&texts.synth);
	buf_fini(&texts.first);
	buf_fini(&texts.second);
	buf_fini(&texts.params);
	for (int i = 0; i < 2; i++) {
		buf_fini(&texts.keys[i]);
		buf_fini(&texts.filters[i]);
	}
	return r == -ENOMEM ? err_set(err, -ENOMEM, "out of memory") : r;
}
