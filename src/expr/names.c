/*
 * expr/names: see names.h.
 */
#include "expr/names.h"

#include <errno.h>
#include <string.h>

#include "expr/pattern.h"

/* A piece of the text. */
struct span {
	const char *p;
	size_t len;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static struct span trim(const char *p, const char *end)
{
	while (p < end && is_blank(*p))
		p++;
	while (end > p && is_blank(end[-1]))
		end--;
	return (struct span){ p, (size_t)(end - p) };
}

static int compile(const char *text, struct span name, struct pattern **out, struct err *err)
{
	int ret = expr_pattern_new(name.p, name.len, PATTERN_ANY_CASE | PATTERN_WHOLE, out, err);

	if (ret == -EBADMSG && err)
		err->pos += (int)(name.p - text);
	return ret;
}

static bool matches(const struct pattern *pattern, const char *name)
{
	return expr_pattern_match(pattern, name, strlen(name));
}

/* Without an event of its own the first name is for either. */
static bool pick(const struct filter_world *world, const struct pattern *first,
		 const struct pattern *event, bool *picked)
{
	bool any = false;

	for (size_t i = 0; i < world->nr; i++) {
		const char *system, *name;
		bool hit;

		world->name(world->arg, i, &system, &name);
		if (event)
			hit = matches(first, system) && matches(event, name);
		else
			hit = matches(first, system) || matches(first, name);
		picked[i] |= hit;
		any |= hit;
	}
	return any;
}

/* One name of the list, SYSTEM/EVENT. Of one alone, a slash on its other side is nothing. */
static int pick_item(const char *text, struct span item, const struct filter_world *world,
		     bool *picked, struct err *err)
{
	const char *end = item.p + item.len, *slash = memchr(item.p, '/', item.len);
	struct span first = trim(item.p, slash ? slash : end);
	struct span event = trim(slash ? slash + 1 : end, end);
	struct pattern *first_pattern = NULL, *event_pattern = NULL;
	int ret;

	if (memchr(event.p, '/', event.len))
		return err_set_at(err, -EBADMSG, (int)(event.p - text), "a name is SYSTEM/EVENT");
	if (!first.len) {
		first = event;
		event.len = 0;
	}
	if (!first.len)
		return err_set_at(err, -EBADMSG, (int)(item.p - text),
				  "the name of an event is missing here");
	ret = compile(text, first, &first_pattern, err);
	if (!ret && event.len)
		ret = compile(text, event, &event_pattern, err);
	if (!ret && !pick(world, first_pattern, event_pattern, picked))
		ret = err_set_at(err, -ENOENT, (int)(first.p - text), "there is no event %.*s",
				 (int)item.len, item.p);
	expr_pattern_free(first_pattern);
	expr_pattern_free(event_pattern);
	return ret;
}

int expr_names_pick(const char *text, size_t len, const struct filter_world *world, bool *picked,
		    struct err *err)
{
	const char *p = text, *end = text + len, *comma;
	int ret, nr = 0;

	do {
		if (nr++ == NAMES_MAX)
			return err_set_at(err, -E2BIG, (int)(p - text), "there are too many names");
		comma = memchr(p, ',', (size_t)(end - p));
		ret = pick_item(text, trim(p, comma ? comma : end), world, picked, err);
		p = comma ? comma + 1 : end;
	} while (!ret && comma);
	return ret;
}
