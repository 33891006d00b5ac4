/*
 * boot/event: event.[GROUP.[EVENT.]]: what is on, and what hangs on it.
 */
#include <string.h>

#include "boot/local.h"

/* In the order of their numbers. */
static const char *const keys[] = { "enable", "filter", "actions", "probes", "fields", "hist", NULL };

enum { ENABLE, FILTER, ACTIONS, PROBES, FIELDS, HIST };

static int make_filter(struct make *make, const struct boot_node *node, const struct boot_step *of)
{
	struct boot_step step = *of;
	const char *text;
	int r = make_one(make, node, &text);

	step.act = BOOT_FILTER;
	step.text = (char *)text;
	return r ? r : make_step(make, node->value, &step);
}

static int make_actions(struct make *make, const struct boot_node *node, const struct boot_step *of)
{
	struct boot_step step = *of;
	int r = make_some(make, node);

	step.act = BOOT_TRIGGER;
	for (const struct boot_node *value = node->value; !r && value; value = value->next) {
		step.text = (char *)value->text;
		r = *value->text && *value->text != '!' ? make_step(make, value, &step)
							  : make_refuse(make, value, "'%.60s' is no action", value->text);
	}
	return r;
}

/* Several places may bring one event. */
static int make_probes(struct make *make, const struct boot_node *node, const struct boot_step *of)
{
	struct boot_step step = { .act = BOOT_DEFINE, .system = of->system, .event = of->event, .file = "kprobe_events" };
	struct buf line = BUF_INIT;
	int r = make_some(make, node);

	if (!r && strcmp(of->system, "kprobes"))
		r = make_refuse(make, node, "probes are of the group kprobes; ftrace.dynamic_events takes lines for others");
	for (const struct boot_node *value = node->value; !r && value; value = value->next) {
		buf_reset(&line);
		buf_printf(&line, "p:%s/%s %s", of->system, of->event, value->text);
		step.text = line.data;
		if (!value->len)
			r = make_refuse(make, value, "a probe is missing");
		else
			r = buf_failed(&line) ? make_no_memory(make) : make_step(make, value, &step);
	}
	buf_fini(&line);
	return r;
}

static int make_fields(struct make *make, const struct boot_node *node, const struct boot_step *of)
{
	struct boot_step step = { .act = BOOT_DEFINE, .system = of->system, .event = of->event, .file = "synthetic_events" };
	struct buf line = BUF_INIT;
	int r = make_some(make, node);

	if (!r && strcmp(of->system, "synthetic"))
		r = make_refuse(make, node, "fields are of events in the group synthetic");
	buf_puts(&line, of->event);
	for (const struct boot_node *value = node->value; !r && value; value = value->next)
		buf_printf(&line, " %s%s", value->text, value->next ? ";" : "");
	step.text = line.data;
	if (!r)
		r = buf_failed(&line) ? make_no_memory(make) : make_step(make, node, &step);
	buf_fini(&line);
	return r;
}

/* SYSTEM:EVENT */
static int enable(struct make *make, const struct boot_node *node, const char *system, const char *event)
{
	struct buf name = BUF_INIT;
	int r = make_flag(make, node);

	buf_printf(&name, "%s:%s", system, event);
	if (!r)
		r = buf_failed(&name) ? make_no_memory(make) : make_event(make, node, name.data);
	buf_fini(&name);
	return r;
}

static int make_of_event(struct make *make, const struct boot_node *node, const struct boot_step *of)
{
	size_t key = 0;

	while (keys[key] && strcmp(node->text, keys[key]))
		key++;
	switch (key) {
	case ENABLE:
		return enable(make, node, of->system, of->event);
	case FILTER:
		return make_filter(make, node, of);
	case ACTIONS:
		return make_actions(make, node, of);
	case PROBES:
		return make_probes(make, node, of);
	case FIELDS:
		return make_fields(make, node, of);
	case HIST:
		return make_hists(make, node, of->system, of->event);
	default:
		return make_unknown(make, node, keys);
	}
}

static int make_group(struct make *make, const struct boot_node *group)
{
	int r = group->value ? make_refuse(make, group->value, "it has no value, but keys below it") : 0;

	if (!r && !group->child)
		r = make_refuse(make, group, "what of these events? enable, or one of them");
	for (const struct boot_node *event = group->child; !r && event; event = event->next) {
		const struct boot_step of = { .system = (char *)group->text, .event = (char *)event->text };

		if (!strcmp(event->text, "enable") && !event->child) {
			r = enable(make, event, group->text, "*");
			continue;
		}
		/* As the file of that name: of all events of the group that have its fields. */
		if (!strcmp(event->text, "filter") && !event->child) {
			r = make_filter(make, event, &(struct boot_step){ .system = (char *)group->text });
			continue;
		}
		if (event->value || !event->child)
			return make_refuse(make, event, "what of this event? enable, filter, actions, hist");
		for (const struct boot_node *node = event->child; !r && node; node = node->next)
			r = make_of_event(make, node, &of);
	}
	return r;
}

int make_events(struct make *make, const struct boot_node *node)
{
	int r = node->value ? make_refuse(make, node->value, "it has no value, but keys below it") : 0;

	for (const struct boot_node *group = node->child; !r && group; group = group->next)
		r = !strcmp(group->text, "enable") && !group->child ? enable(make, group, "*", "*") : make_group(make, group);
	return r;
}
