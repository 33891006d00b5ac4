/*
 * boot/hist: hist.[N.]: a histogram by keys, and the text of the trigger that it stands for. hist_text.c has the other way.
 *
 *	keys = pid; var.ts0 = common_timestamp				hist:keys=pid:ts0=common_timestamp
 *	onmatch { event = sched.sched_waking; trace = lat, pid, $us }	:onmatch(sched.sched_waking).trace(lat,pid,$us)
 */
#include <string.h>

#include "boot/local.h"

static const char *const hist_keys[] = { "keys", "values", "sort", "size", "name", "var", "pause", "continue", "clear", "onmatch",
					 "onmax", "onchange", "filter", NULL };

const struct hist_part hist_parts[HIST_PARTS] = {
	{ "keys", "keys", NULL },
	{ "values", "vals", "hitcount" },
	{ "sort", "sort", "hitcount" },
	{ "size", "size", "2048" },
	{ "name", "name", NULL },
};

static bool is_number(const char *text)
{
	return *text && strspn(text, "0123456789") == strlen(text);
}

/* Is it one of those without a value? */
static const char *control_word(const char *text)
{
	if (!strcmp(text, "pause") || !strcmp(text, "continue") || !strcmp(text, "clear"))
		return text;
	return NULL;
}

/* People put blanks into expressions, which a trigger does not have. */
static void put_closed(struct buf *text, const char *value)
{
	for (; *value; value++)
		if (*value != ' ')
			buf_putc(text, *value);
}

static void put_list(struct buf *text, const struct boot_node *node)
{
	for (const struct boot_node *value = node->value; value; value = value->next) {
		put_closed(text, value->text);
		if (value->next)
			buf_putc(text, ',');
	}
}

/* ---- what is done at some moment ---- */

static const char *const handler_keys[] = { "event", "var", "trace", "save", "snapshot", NULL };

/* What it is about: one event of a match, one variable of the others. */
static int put_subject(struct make *make, const struct boot_node *node, const char *handler, struct buf *text)
{
	bool match = !strcmp(handler, "onmatch");
	const struct boot_node *key = boot_find(node, match ? "event" : "var");
	const struct boot_node *wrong = boot_find(node, match ? "var" : "event");
	const char *subject;
	int r = wrong ? make_refuse(make, wrong, "%s has no such key", handler) : 0;

	if (!r && !key)
		r = make_refuse(make, node, "'%s' is missing", match ? "event" : "var");
	if (!r)
		r = make_one(make, key, &subject);
	if (!r)
		buf_printf(text, ":%s(%s%s)", handler, !match && *subject != '$' ? "$" : "", subject);
	return r;
}

static int put_action(struct make *make, const struct boot_node *node, struct buf *text)
{
	const struct boot_node *trace = boot_find(node, "trace"), *save = boot_find(node, "save");
	const struct boot_node *snapshot = boot_find(node, "snapshot"), *list = trace ? trace : save;
	int r;

	if (!trace + !save + !snapshot != 2)
		return make_refuse(make, node, "it does one of these: trace, save, snapshot");
	if (snapshot) {
		r = make_flag(make, snapshot);
		buf_puts(text, ".snapshot()");
		return r;
	}
	r = make_some(make, list);
	buf_printf(text, ".%s(", list->text);
	put_list(text, list);
	buf_puts(text, ")");
	return r;
}

static int put_handler(struct make *make, const struct boot_node *node, const char *handler, struct buf *text)
{
	int r = node->value ? make_refuse(make, node->value, "it has no value, but keys below it") : 0;

	for (const struct boot_node *key = node->child; !r && key; key = key->next) {
		size_t i = 0;

		while (handler_keys[i] && strcmp(handler_keys[i], key->text))
			i++;
		if (!handler_keys[i] && !is_number(key->text))
			return make_unknown(make, key, handler_keys);
	}
	if (!r)
		r = put_subject(make, node, handler, text);
	return r ? r : put_action(make, node, text);
}

/* Itself, those of its numbers, or both. */
static int put_handlers(struct make *make, const struct boot_node *node, struct buf *text)
{
	bool own = !node->child;
	int r = 0;

	for (const struct boot_node *child = node->child; child; child = child->next)
		own |= !is_number(child->text);
	if (own)
		r = put_handler(make, node, node->text, text);
	for (const struct boot_node *child = node->child; !r && child; child = child->next)
		if (is_number(child->text))
			r = put_handler(make, child, node->text, text);
	return r;
}

/* ---- keys to text ---- */

static int put_vars(struct make *make, const struct boot_node *node, struct buf *text)
{
	const char *expression;
	int r = node->value ? make_refuse(make, node->value, "it has no value, but names of variables below it") : 0;

	for (const struct boot_node *var = node->child; !r && var; var = var->next) {
		r = make_one(make, var, &expression);
		if (!r) {
			buf_printf(text, ":%s=", var->text);
			put_closed(text, expression);
		}
	}
	return r;
}

static int put_key(struct make *make, const struct boot_node *node, struct buf *text)
{
	int r;

	for (size_t i = 0; i < HIST_PARTS; i++)
		if (!strcmp(node->text, hist_parts[i].key)) {
			r = make_some(make, node);
			buf_printf(text, ":%s=", hist_parts[i].word);
			put_list(text, node);
			return r;
		}
	if (control_word(node->text)) {
		r = make_flag(make, node);
		buf_printf(text, ":%s", node->text);
		return r;
	}
	if (!strcmp(node->text, "var"))
		return put_vars(make, node, text);
	if (!strcmp(node->text, "filter"))
		return 0;
	return put_handlers(make, node, text);
}

static int check_words(struct make *make, const struct boot_node *node)
{
	int controls = 0;

	for (const struct boot_node *key = node->child; key; key = key->next) {
		size_t i = 0;

		while (hist_keys[i] && strcmp(hist_keys[i], key->text))
			i++;
		if (!hist_keys[i] && !is_number(key->text))
			return make_unknown(make, key, hist_keys);
		controls += control_word(key->text) != NULL;
		if (controls > 1)
			return make_refuse(make, key, "one of pause, continue and clear");
	}
	if (!boot_find(node, "keys"))
		return make_refuse(make, node, "a histogram has keys");
	return 0;
}

static int make_hist(struct make *make, const struct boot_node *node, const char *system, const char *event)
{
	struct boot_step step = { .act = BOOT_TRIGGER, .system = (char *)system, .event = (char *)event };
	const struct boot_node *filter = boot_find(node, "filter");
	struct buf text = BUF_INIT;
	const char *condition;
	int r = check_words(make, node);

	buf_puts(&text, "hist");
	for (const struct boot_node *key = node->child; !r && key; key = key->next)
		if (!is_number(key->text))
			r = put_key(make, key, &text);
	if (!r && filter) {
		r = make_one(make, filter, &condition);
		if (!r)
			buf_printf(&text, " if %s", condition);
	}
	step.text = text.data;
	if (!r)
		r = buf_failed(&text) ? make_no_memory(make) : make_step(make, node, &step);
	buf_fini(&text);
	return r;
}

int make_hists(struct make *make, const struct boot_node *node, const char *system, const char *event)
{
	bool own = !node->child;
	int r = node->value ? make_refuse(make, node->value, "it has no value, but keys below it") : 0;

	for (const struct boot_node *child = node->child; child; child = child->next)
		own |= !is_number(child->text);
	if (!r && own)
		r = make_hist(make, node, system, event);
	for (const struct boot_node *child = node->child; !r && child; child = child->next)
		if (is_number(child->text))
			r = make_hist(make, child, system, event);
	return r;
}
