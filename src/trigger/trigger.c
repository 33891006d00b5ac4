/*
 * trigger/trigger: one line of an event's `trigger` file -> struct spec_trigger, and back.
 *
 *   [!]command[:parameters][ if condition]
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trigger/hist.h"

/* What the kernel calls a page: no line is longer. */
#define LINE_MAX_BYTES 4095

struct trigger_box {
	struct spec_trigger trigger;	/* first: it is what others see */
	struct read_mem mem;
};

static const struct command {
	const char *name;
	enum spec_trigger_kind kind;
	int type;		/* two of one type exclude each other on an event */
	bool targets;
} commands[] = {
	{ "traceon", SPEC_TRACEON, 1, false },
	{ "traceoff", SPEC_TRACEOFF, 1, false },
	{ "snapshot", SPEC_SNAPSHOT, 2, false },
	{ "stacktrace", SPEC_STACKTRACE_TRIGGER, 3, false },
	{ "enable_event", SPEC_ENABLE_EVENT, 4, true },
	{ "disable_event", SPEC_DISABLE_EVENT, 4, true },
	{ "enable_hist", SPEC_ENABLE_HIST, 5, true },
	{ "disable_hist", SPEC_DISABLE_HIST, 5, true },
	{ "hist", SPEC_HIST, 6, false },
};

static const struct command *command_of(enum spec_trigger_kind kind)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (commands[i].kind == kind)
			return &commands[i];
	}
	return NULL;
}

static const struct command *command_named(const char *name)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	}
	return NULL;
}

/* ---- Conditions ---- */

/* "if CONDITION" -> CONDITION. */
static int read_condition(struct trigger_box *box, char *text, struct spec_error *error)
{
	char *word = strsep(&text, " \t");

	if (strcmp(word, "if") || !text)
		return read_refuse_silently(error, -EINVAL, "expected a number, or if and a condition: %.80s", word);
	box->trigger.filter = read_dup(&box->mem, text, strlen(text));
	return box->trigger.filter ? 0 : -ENOMEM;
}

/* The word `if` that the condition of a histogram begins with; NULL: none. Blanks before it are allowed everywhere. */
static int find_if(char *line, char **found, struct spec_error *error)
{
	size_t len = strlen(line);

	for (char *p = line; (p = strstr(p, "if")) != NULL; p++) {
		if (p == line)
			return read_refuse_silently(error, -EINVAL, "a condition and nothing else");
		if (p[-1] != ' ' && p[-1] != '\t')
			continue;
		if (p + 3 >= line + len)
			return read_refuse_silently(error, -EINVAL, "no condition behind if");
		if (p[2] != ' ' && p[2] != '\t')
			continue;
		*found = p;
		return 0;
	}
	*found = NULL;
	return 0;
}

/* ---- Commands ---- */

static int read_count(struct spec_trigger *trigger, char *text, struct spec_error *error)
{
	char *number;
	int ret;

	if (!text)
		return 0;
	number = strsep(&text, ":");
	ret = read_number(number, &trigger->count);
	if (ret || trigger->count > INT64_MAX)
		return read_refuse_silently(error, ret ? ret : -ERANGE, "how often is a number: %.40s", number);
	trigger->counted = true;
	return 0;
}

/* traceon[:N][ if ...]. What removes needs to say neither, and both are shown differently from how they are written. */
static int read_plain(struct trigger_box *box, char *rest, struct spec_error *error)
{
	char *count = NULL;
	int ret;

	if (box->trigger.remove || !rest)
		return 0;
	if (isdigit((unsigned char)rest[0])) {
		count = strsep(&rest, " \t");
		rest = rest ? read_skip_blanks(rest) : NULL;
	}
	ret = read_count(&box->trigger, count, error);
	return ret || !rest || !*rest ? ret : read_condition(box, rest, error);
}

/* enable_event:system:event[:N][ if ...] */
static int read_target(struct trigger_box *box, const struct spec_world *world, char *rest, struct spec_error *error)
{
	struct spec_trigger *trigger = &box->trigger;
	char *text, *system, *event;
	int ret;

	if (!rest)
		return read_refuse_silently(error, -EINVAL, "which event? system:event is missing");
	text = strsep(&rest, " \t");
	system = strsep(&text, ":");
	if (!text)
		return read_refuse_silently(error, -EINVAL, "which event of %.80s?", system);
	event = strsep(&text, ":");
	if (!read_copy_name(trigger->target_system, system) || !read_copy_name(trigger->target_event, event) ||
	    (!world->anything && !(world->event && world->event(world->arg, system, event))))
		return read_refuse_silently(error, -EINVAL, "there is no event %.60s:%.60s", system, event);
	if (trigger->remove)
		return 0;
	ret = read_count(trigger, text, error);
	rest = rest ? read_skip_blanks(rest) : NULL;
	return ret || !rest || !*rest ? ret : read_condition(box, rest, error);
}

static int read_hist(struct trigger_box *box, const struct spec_world *world, const char *system, const char *event,
		     char *line, struct spec_error *error)
{
	struct hist_read read = { .world = world, .mem = &box->mem, .error = error, .system = system, .event = event };
	char *condition = NULL;
	int ret;

	if (!line)
		return read_refuse_silently(error, -EINVAL, "a histogram needs keys=");
	buf_reset(&error->command);
	buf_printf(&error->command, "hist:%s", line);
	read.hist = box->trigger.hist = read_alloc(&box->mem, sizeof(*read.hist));
	if (!read.hist || buf_failed(&error->command))
		return -ENOMEM;
	read.remove = box->trigger.remove;
	read.format = world->event ? world->event(world->arg, system, event) : NULL;
	if (!read.format && !world->anything)
		return read_refuse_silently(error, -ENOENT, "there is no event %.60s:%.60s", system, event);
	ret = find_if(line, &condition, error);
	if (ret)
		return ret;
	if (condition) {
		condition[-1] = '\0';
		ret = read_condition(box, read_strip(condition), error);
		if (ret)
			return ret;
		line = read_strip(line);
		read.hist->filter = box->trigger.filter;
	}
	hist_change_dash(line, '-', 'X');
	return hist_read_line(&read, line);
}

static int read_line(struct trigger_box *box, const struct spec_world *world, const char *system, const char *event,
		     char *line, struct spec_error *error)
{
	const struct command *command;
	char *name;

	line = read_strip(line);
	name = strsep(&line, ": \t");
	if (line)
		line = read_skip_blanks(line);
	if (line && !*line)
		line = NULL;
	box->trigger.remove = name[0] == '!';
	command = command_named(name + box->trigger.remove);
	if (!command)
		return read_refuse_silently(error, -EINVAL, "no trigger is called %.80s", name + box->trigger.remove);
	box->trigger.kind = command->kind;
	if (command->kind == SPEC_HIST)
		return read_hist(box, world, system, event, line, error);
	return command->targets ? read_target(box, world, line, error) : read_plain(box, line, error);
}

int spec_trigger_parse(struct spec_trigger **out, const struct spec_world *world, const char *system, const char *event,
		       const char *text, size_t len, struct spec_error *error)
{
	struct trigger_box *box = calloc(1, sizeof(*box));
	char *line;
	int ret;

	*out = NULL;
	read_begin(error, text, len, "hist:%s:%s", system, event);
	if (!box)
		return -ENOMEM;
	line = read_dup(&box->mem, text, len);
	if (!line)
		ret = -ENOMEM;
	else if (len > LINE_MAX_BYTES || memchr(text, '\0', len))
		ret = read_refuse_silently(error, -EINVAL, "a line of %zu bytes is no trigger", len);
	else
		ret = read_line(box, world, system, event, line, error);
	if (box->mem.failed)
		ret = -ENOMEM;
	if (ret) {
		error->code = ret;
		spec_trigger_free(&box->trigger);
		return ret;
	}
	*out = &box->trigger;
	return read_accept(error);
}

void spec_trigger_free(struct spec_trigger *trigger)
{
	struct trigger_box *box = (struct trigger_box *)trigger;

	if (!box)
		return;
	read_mem_fini(&box->mem);
	free(box);
}

/* ---- What is shown, and what is the same ---- */

void spec_trigger_show(const struct spec_trigger *trigger, uint64_t count, bool paused, struct buf *out)
{
	const struct command *command = command_of(trigger->kind);

	if (trigger->kind == SPEC_HIST) {
		hist_echo(trigger->hist, paused, out);
		return;
	}
	buf_puts(out, command->name);
	if (command->targets)
		buf_printf(out, ":%s:%s", trigger->target_system, trigger->target_event);
	if (trigger->counted)
		buf_printf(out, ":count=%" PRIu64, count);
	else
		buf_puts(out, ":unlimited");
	if (trigger->filter)
		buf_printf(out, " if %s", trigger->filter);
}

bool spec_trigger_same(const struct spec_trigger *a, const struct spec_trigger *b)
{
	const struct command *one = command_of(a->kind), *other = command_of(b->kind);

	if (one->type != other->type)
		return false;
	if (a->kind == SPEC_HIST)
		return spec_hist_same(a->hist, b->hist);
	return !strcmp(a->target_system, b->target_system) && !strcmp(a->target_event, b->target_event);
}

bool spec_trigger_clash(const struct spec_trigger *a, const struct spec_trigger *b)
{
	return spec_trigger_same(a, b);
}

int spec_hist_meet(const struct spec_hist *hist, const struct spec_world *world, const char *system, const char *event,
		   const char *text, size_t len, uint32_t *old, struct spec_error *error)
{
	size_t begin = 0;

	while (begin < len && read_is_blank(text[begin]))
		begin++;
	while (len > begin && read_is_blank(text[len - 1]))
		len--;
	read_begin(error, text + begin, len - begin, "hist:%s:%s", system, event);
	return hist_meet(hist, world, system, event, old, error);
}
