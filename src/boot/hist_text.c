/*
 * boot/hist_text: the text of a histogram, as its file shows it, by keys; and values in quotes.
 *
 *	hist : PART : PART ... if FILTER	parts are told apart by colons outside of brackets
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "boot/local.h"

struct keys {
	struct buf *out;
	const char *indent;
	const char *all;	/* the trigger */
	unsigned int seen[3];	/* handlers of each kind so far */
	bool has_keys;
};

bool boot_put_value(const char *value, struct buf *out)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
	bool has_double = strchr(value, '"'), has_single = strchr(value, '\'');
	size_t len = strlen(value);

	for (const char *at = value; *at; at++)
		if (!isprint((unsigned char)*at) && !isspace((unsigned char)*at))
			return false;
	if (len && strspn(value, plain) == len) {
		buf_puts(out, value);
	} else if (!has_double || !has_single) {
		buf_printf(out, "%c%s%c", has_double ? '\'' : '"', value, has_double ? '\'' : '"');
	} else {
		/* Without any it may have both, if they do not come first. */
		if (strchr("\"' ", *value) || value[len - 1] == ' ' || strpbrk(value, ",;#}\n"))
			return false;
		buf_puts(out, value);
	}
	return true;
}

/* Where what begins at `text` ends: at `stop` outside of brackets. */
static size_t span(const char *text, size_t len, char stop)
{
	int depth = 0;

	for (size_t i = 0; i < len; i++) {
		depth += strchr("([", text[i]) != NULL;
		depth -= strchr(")]", text[i]) != NULL;
		if (depth <= 0 && text[i] == stop)
			return i;
	}
	return len;
}

static bool put_value(struct keys *keys, const char *text, size_t len)
{
	struct buf value = BUF_INIT;
	bool said;

	buf_add(&value, text, len);
	buf_puts(&value, "");
	said = !buf_failed(&value) && boot_put_value(value.data, keys->out);
	buf_fini(&value);
	return said;
}

/* Items with commas between them, and the end of the line. */
static bool put_items(struct keys *keys, const char *text, size_t len)
{
	for (size_t at = 0, n; at <= len; at += n + 1) {
		n = span(text + at, len - at, ',');
		if (!put_value(keys, text + at, n))
			return false;
		if (at + n < len)
			buf_puts(keys->out, ", ");
	}
	buf_putc(keys->out, '\n');
	return true;
}

static bool put_part(struct keys *keys, const struct hist_part *part, const char *text, size_t len)
{
	keys->has_keys |= part == &hist_parts[0];
	if (part->usual && strlen(part->usual) == len && !memcmp(part->usual, text, len))
		return true;
	buf_printf(keys->out, "%s%s = ", keys->indent, part->key);
	return put_items(keys, text, len);
}

/* NAME=EXPRESSION, perhaps several with commas between them. */
static bool put_variables(struct keys *keys, const char *text, size_t len)
{
	for (size_t at = 0, n; at <= len; at += n + 1) {
		const char *var = text + at;
		size_t name = 0;

		n = span(var, len - at, ',');
		while (name < n && (isalnum((unsigned char)var[name]) || var[name] == '_'))
			name++;
		if (!name || name == n || var[name] != '=')
			return false;
		buf_printf(keys->out, "%svar.%.*s = ", keys->indent, (int)name, var);
		if (!put_value(keys, var + name + 1, n - name - 1))
			return false;
		buf_putc(keys->out, '\n');
	}
	return true;
}

static const char *const handlers[] = { "onmatch", "onmax", "onchange" };

#define NHANDLERS (sizeof(handlers) / sizeof(handlers[0]))

static bool has_several(const struct keys *keys, const char *handler)
{
	size_t len = strlen(handler);
	unsigned int n = 0;

	for (const char *at = keys->all; (at = strstr(at, handler)); at += len)
		n += at[-1] == ':' && at[len] == '(';
	return n > 1;
}

/* HANDLER(SUBJECT).ACTION(ARGUMENTS); an action that is none of the usual ones is the name of the event that trace() makes. */
static bool put_handler(struct keys *keys, size_t h, const char *text, size_t len)
{
	const char *end = text + len - 1, *subject = text + strlen(handlers[h]) + 1;
	const char *close = memchr(subject, ')', (size_t)(end - subject)), *action = close ? close + 2 : end;
	const char *open = action < end ? memchr(action, '(', (size_t)(end - action)) : NULL;
	size_t name = open ? (size_t)(open - action) : 0, more;
	char at[32];
	bool usual;

	if (!open || close[1] != '.' || *end != ')' || !name)
		return false;
	more = (size_t)(end - open - 1);
	usual = (name == 5 && !memcmp(action, "trace", name)) || (name == 4 && !memcmp(action, "save", name));
	snprintf(at, sizeof(at), "%s", handlers[h]);
	if (has_several(keys, handlers[h]))
		snprintf(at, sizeof(at), "%s.%u", handlers[h], ++keys->seen[h]);
	buf_printf(keys->out, "%s%s.%s = ", keys->indent, at, h ? "var" : "event");
	if (!put_value(keys, subject, (size_t)(close - subject)))
		return false;
	buf_putc(keys->out, '\n');
	if (name == 8 && !memcmp(action, "snapshot", name)) {
		buf_printf(keys->out, "%s%s.snapshot\n", keys->indent, at);
		return !more;
	}
	buf_printf(keys->out, "%s%s.%.*s = ", keys->indent, at, usual ? (int)name : 5, usual ? action : "trace");
	if (!usual) {
		if (!put_value(keys, action, name))
			return false;
		buf_puts(keys->out, more ? ", " : "\n");
	}
	return more ? put_items(keys, open + 1, more) : !usual;
}

static bool is(const char *text, size_t len, const char *word)
{
	return strlen(word) == len && !memcmp(text, word, len);
}

static bool put_any(struct keys *keys, const char *text, size_t len)
{
	size_t word = span(text, len, '=');

	for (size_t i = 0; word < len && i < HIST_PARTS; i++)
		if (is(text, word, hist_parts[i].word) || is(text, word, hist_parts[i].key))
			return put_part(keys, &hist_parts[i], text + word + 1, len - word - 1);
	for (size_t h = 0; h < NHANDLERS; h++)
		if (len > strlen(handlers[h]) + 1 && !strncmp(text, handlers[h], strlen(handlers[h])) &&
		    text[strlen(handlers[h])] == '(')
			return put_handler(keys, h, text, len);
	if (is(text, len, "pause") || is(text, len, "continue") || is(text, len, "clear")) {
		buf_printf(keys->out, "%s%.*s\n", keys->indent, (int)len, text);
		return true;
	}
	/* It is shown wherever there are times, and is this one if nothing is said. */
	if (is(text, len, "clock=global"))
		return true;
	return word < len && !is(text, word, "clock") && put_variables(keys, text, len);
}

/* One line, whose brackets are closed: else it is none that a source shows. */
static bool is_whole(const char *text, size_t len)
{
	int depth = 0;

	for (size_t i = 0; i < len; i++) {
		depth += strchr("([", text[i]) != NULL;
		depth -= strchr(")]", text[i]) != NULL;
		if (depth < 0 || (unsigned char)text[i] < ' ')
			return false;
	}
	return !depth;
}

bool boot_hist_keys(const char *trigger, const char *indent, struct buf *out)
{
	const char *filter = strstr(trigger, " if "), *at;
	size_t len = filter ? (size_t)(filter - trigger) : strlen(trigger), start = out->len;
	struct keys keys = { .out = out, .indent = indent, .all = trigger };
	bool said = !strncmp(trigger, "hist:", 5) && is_whole(trigger, len);

	for (at = trigger + 5; said && at <= trigger + len;) {
		size_t n = span(at, (size_t)(trigger + len - at), ':');

		said = n && put_any(&keys, at, n);
		at += n + 1;
	}
	if (said && filter) {
		buf_printf(out, "%sfilter = ", indent);
		said = boot_put_value(filter + 4, out);
		buf_putc(out, '\n');
	}
	if (said && keys.has_keys)
		return true;
	out->len = start;
	if (out->data)
		out->data[start] = '\0';
	return false;
}

/* Does it set that variable? */
static bool has_var(const char *trigger, const char *name, size_t len)
{
	for (const char *at = trigger; (at = strpbrk(at, ":,")); at++)
		if (!strncmp(at + 1, name, len) && at[1 + len] == '=')
			return true;
	return false;
}

bool boot_hist_needs(const char *trigger, const char *other, const char *system, const char *event)
{
	char match[160];
	int n = snprintf(match, sizeof(match), "onmatch(%.64s.%.64s)", system, event);

	if (strncmp(trigger, "hist:", 5) || strncmp(other, "hist:", 5))
		return false;
	if (n < (int)sizeof(match) && strstr(trigger, match))
		return true;
	for (const char *at = trigger; (at = strchr(at, '$')); at++) {
		size_t len = 0;

		while (isalnum((unsigned char)at[1 + len]) || at[1 + len] == '_')
			len++;
		if (len && !has_var(trigger, at + 1, len) && has_var(other, at + 1, len))
			return true;
	}
	return false;
}
