/*
 * boot/make: what keys have in common: how many values, of what kind, and the steps that come of them.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/near.h"
#include "boot/local.h"

#define SIZE_MIN 4096u	/* bytes: the kernel makes no smaller buffer */

int make_no_memory(struct make *make)
{
	return err_set(make->err, -ENOMEM, "out of memory");
}

int make_refuse(struct make *make, const struct boot_node *node, const char *fmt, ...)
{
	struct buf words = BUF_INIT;
	va_list ap;

	boot_key(node->is_value ? node->parent : node, &words);
	buf_puts(&words, ": ");
	va_start(ap, fmt);
	buf_vprintf(&words, fmt, ap);
	va_end(ap);
	err_set_at(make->err, -EINVAL, (int)node->pos, "%s", buf_failed(&words) ? "out of memory" : words.data);
	buf_fini(&words);
	return -EINVAL;
}

int make_unknown(struct make *make, const struct boot_node *node, const char *const *words)
{
	struct near near = { .to = node->text };
	const char *best;

	for (; *words; words++)
		near_see(&near, *words);
	best = near_best(&near);
	return make_refuse(make, node, "there is no such key%s%s%s", best ? ": is '" : "", best ? best : "",
			   best ? "' meant?" : "");
}

static bool copy(char **to, const char *from)
{
	*to = from ? strdup(from) : NULL;
	return !from || *to;
}

int make_step(struct make *make, const struct boot_node *node, const struct boot_step *step)
{
	struct boot_profile *profile = make->profile;
	struct boot_step *own;

	if (profile->n == profile->cap) {
		size_t cap = profile->cap ? 2 * profile->cap : 32;

		own = realloc(profile->steps, cap * sizeof(*own));
		if (!own)
			return make_no_memory(make);
		profile->steps = own;
		profile->cap = cap;
	}
	own = &profile->steps[profile->n];
	*own = (struct boot_step){ .act = step->act, .on = step->on, .node = node, .number = profile->n++ };
	if (!copy(&own->instance, make->instance) || !copy(&own->system, step->system) || !copy(&own->event, step->event) ||
	    !copy(&own->file, step->file) || !copy(&own->text, step->text))
		return make_no_memory(make);
	return 0;
}

/* ---- values ---- */

int make_leaf(struct make *make, const struct boot_node *node)
{
	return node->child ? make_refuse(make, node->child, "there is no such key") : 0;
}

int make_some(struct make *make, const struct boot_node *node)
{
	int r = make_leaf(make, node);

	if (!r && (!node->value || (!node->value->next && !node->value->len)))
		r = make_refuse(make, node, "a value is missing");
	return r;
}

int make_one(struct make *make, const struct boot_node *node, const char **text)
{
	int r = make_some(make, node);

	if (!r && node->value->next)
		r = make_refuse(make, node->value->next, "there is one value, and no more");
	if (!r)
		*text = node->value->text;
	return r;
}

static int yes_or_no(const char *text)
{
	static const char *const yes[] = { "1", "y", "yes", "on", "true" }, *const no[] = { "0", "n", "no", "off", "false" };

	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
		if (!strcasecmp(text, yes[i]))
			return 1;
		if (!strcasecmp(text, no[i]))
			return 0;
	}
	return -1;
}

int make_flag(struct make *make, const struct boot_node *node)
{
	int r = make_leaf(make, node);

	/* The kernel takes it for a yes whatever stands behind it. */
	if (!r && node->value && (node->value->next || (node->value->len && yes_or_no(node->value->text) != 1)))
		r = make_refuse(make, node->value, "it stands there or not, and has no value");
	return r;
}

int make_switch(struct make *make, const struct boot_node *node, bool *on)
{
	const char *text;
	int r = make_one(make, node, &text);

	if (!r && yes_or_no(text) < 0)
		r = make_refuse(make, node->value, "'%.60s' is neither 0 nor 1", text);
	if (!r)
		*on = yes_or_no(text);
	return r;
}

/* Those of one value, with commas between them. */
static int split(struct make *make, const struct boot_node *value, make_each *each)
{
	char *copied = strdup(value->text), *save, *word;
	int r = copied ? 0 : make_no_memory(make);

	for (word = r ? NULL : strtok_r(copied, ",", &save); !r && word; word = strtok_r(NULL, ",", &save)) {
		size_t len;

		word += strspn(word, " ");
		len = strlen(word);
		while (len && word[len - 1] == ' ')
			word[--len] = '\0';
		r = each(make, value, word);
	}
	free(copied);
	return r;
}

int make_values(struct make *make, const struct boot_node *node, bool commas, make_each *each)
{
	int r = make_some(make, node);

	for (const struct boot_node *value = node->value; !r && value; value = value->next)
		r = commas ? split(make, value, each) : each(make, value, value->text);
	return r;
}

/* ---- steps ---- */

/* One word into a file. */
static int make_text(struct make *make, const struct boot_node *node, enum boot_act act, const char *file)
{
	struct boot_step step = { .act = act, .file = (char *)file };
	const char *text;
	int r = make_one(make, node, &text);

	step.text = (char *)text;
	return r ? r : make_step(make, node->value, &step);
}

int make_word(struct make *make, const struct boot_node *node, const char *file)
{
	return make_text(make, node, BOOT_WORD, file);
}

/* Bytes, or more with a letter behind it: what the kernel's memparse() takes, and a B. False: that is no size. */
static bool read_size(const char *text, uint64_t *bytes)
{
	static const char letters[] = "KMGTPE";
	const char *letter;
	uint64_t n;
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	n = strtoull(text, &end, 0);
	if (errno)
		return false;
	letter = *end ? strchr(letters, toupper((unsigned char)*end)) : NULL;
	for (const char *at = letters; letter && at <= letter; at++) {
		if (n > UINT64_MAX / 1024)
			return false;
		n *= 1024;
	}
	end += letter != NULL;
	end += *end == 'B' || *end == 'b';
	*bytes = n;
	return !*end;
}

int make_size(struct make *make, const struct boot_node *node, const char *file)
{
	char kb[32];
	uint64_t bytes = 0;
	const char *text;
	int r = make_one(make, node, &text);

	if (!r && !read_size(text, &bytes))
		r = make_refuse(make, node->value, "'%.60s' is no size: a number of bytes, or of K, M or G of them", text);
	else if (!r && bytes < SIZE_MIN)
		r = make_refuse(make, node->value, "a buffer has %u bytes or more", SIZE_MIN);
	if (r)
		return r;
	snprintf(kb, sizeof(kb), "%" PRIu64, bytes / 1024 + (bytes % 1024 != 0));
	return make_step(make, node->value, &(struct boot_step){ .act = BOOT_SIZE, .file = (char *)file, .text = kb });
}

/* Among functions: FUNCTION:COMMAND, but not FUNCTION:mod:MODULE. */
static bool is_command(const char *file, const char *text, size_t len)
{
	const char *colon = memchr(text, ':', len);

	return !strcmp(file, "set_ftrace_filter") && colon && strncmp(colon, ":mod:", 5);
}

static int make_command(struct make *make, const struct boot_node *value, const char *file, const char *text, size_t len)
{
	struct boot_step step = { .act = BOOT_COMMAND, .file = (char *)file, .text = strndup(text, len) };
	int r = step.text ? make_step(make, value, &step) : make_no_memory(make);

	free(step.text);
	return r;
}

int make_list(struct make *make, const struct boot_node *node, const char *file, bool commas)
{
	struct boot_step step = { .act = BOOT_LIST, .file = (char *)file };
	struct buf text = BUF_INIT;
	int r = make_some(make, node);

	for (const struct boot_node *value = node->value; !r && value; value = value->next)
		for (const char *at = value->text; !r && *at;) {
			size_t len = commas ? strcspn(at, ",") : strlen(at);

			if (is_command(file, at, len)) {
				r = make_command(make, value, file, at, len);
			} else {
				buf_add(&text, at, len);
				buf_putc(&text, '\n');
			}
			at += len + (at[len] == ',');
		}
	step.text = text.data;
	if (!r && (text.len || buf_failed(&text)))
		r = buf_failed(&text) ? make_no_memory(make) : make_step(make, node, &step);
	buf_fini(&text);
	return r;
}

int make_tracer(struct make *make, const struct boot_node *node)
{
	return make_text(make, node, BOOT_TRACER, "current_tracer");
}

int make_clock(struct make *make, const struct boot_node *node)
{
	return make_text(make, node, BOOT_CLOCK, "trace_clock");
}

int make_option(struct make *make, const struct boot_node *node, const char *text)
{
	/* No option begins with these letters by itself. */
	bool off = !strncmp(text, "no", 2);

	if (!*text || strpbrk(text, " /"))
		return make_refuse(make, node, "'%.60s' is no option", text);
	return make_step(make, node, &(struct boot_step){ .act = BOOT_OPTION, .text = (char *)text + (off ? 2 : 0), .on = !off });
}

int make_event(struct make *make, const struct boot_node *node, const char *text)
{
	bool off = *text == '!';

	text += off;
	if (!*text || strpbrk(text, " /"))
		return make_refuse(make, node, "'%.60s' is no event: SYSTEM:EVENT", text);
	return make_step(make, node, &(struct boot_step){ .act = BOOT_EVENT, .text = (char *)text, .on = !off });
}

int make_snapshot(struct make *make, const struct boot_node *node)
{
	return make_step(make, node, &(struct boot_step){ .act = BOOT_SNAPSHOT, .file = "snapshot" });
}

int make_on(struct make *make, const struct boot_node *node, bool on)
{
	return make_step(make, node, &(struct boot_step){ .act = on ? BOOT_START : BOOT_STOP, .file = "tracing_on",
							  .text = on ? "1" : "0" });
}
