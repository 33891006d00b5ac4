/*
 * boot/kernel: kernel.*: parameters of the kernel's command line that are about tracing. They are about the top buffer, and as on a
 * command line their lists have commas in them. Other parameters are nothing to us.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/near.h"
#include "boot/local.h"

static const struct parameter {
	const char *name;
	enum { WORD, SIZE, LIST, TRACER, CLOCK, EVENTS, OPTIONS, TRIGGERS, INSTANCE, PROBES, SNAPSHOT, SWITCH, SYSCTL, START } kind;
	const char *file;
} parameters[] = {
	{ "ftrace", TRACER, NULL },
	{ "ftrace_filter", LIST, "set_ftrace_filter" },
	{ "ftrace_notrace", LIST, "set_ftrace_notrace" },
	{ "ftrace_graph_filter", LIST, "set_graph_function" },
	{ "ftrace_graph_notrace", LIST, "set_graph_notrace" },
	{ "ftrace_graph_max_depth", WORD, "max_graph_depth" },
	/* As the kernel's document calls them. */
	{ "fgraph_filters", LIST, "set_graph_function" },
	{ "fgraph_notraces", LIST, "set_graph_notrace" },
	{ "fgraph_max_depth", WORD, "max_graph_depth" },
	{ "trace_event", EVENTS, NULL },
	{ "trace_trigger", TRIGGERS, NULL },
	{ "trace_options", OPTIONS, NULL },
	{ "trace_clock", CLOCK, NULL },
	{ "trace_buf_size", SIZE, "buffer_size_kb" },
	{ "trace_instance", INSTANCE, NULL },
	{ "kprobe_event", PROBES, NULL },
	{ "alloc_snapshot", SNAPSHOT, NULL },
	{ "tracing_thresh", WORD, "tracing_thresh" },
	{ "stacktrace", SWITCH, "stack_tracer_enabled" },
	{ "stacktrace_filter", LIST, "stack_trace_filter" },
	{ "ftrace_dump_on_oops", SYSCTL, "ftrace_dump_on_oops" },
	{ "dump_on_oops", SYSCTL, "ftrace_dump_on_oops" },
	{ "traceoff_on_warning", SYSCTL, "traceoff_on_warning" },
	{ "tp_printk", SYSCTL, "tracepoint_printk" },
	{ "tp_printk_stop_on_boot", START, NULL },
	{ "ftrace_boot_snapshot", START, NULL },
	{ "traceoff_after_boot", START, NULL },
};

#define NPARAMETERS (sizeof(parameters) / sizeof(parameters[0]))

static int leave_out(struct make *make, const struct boot_node *node, const char *why)
{
	return make_step(make, node, &(struct boot_step){ .act = BOOT_OTHER, .text = (char *)why });
}

/* EVENT.TRIGGER [if FILTER] */
static int make_trigger(struct make *make, const struct boot_node *node, const char *text)
{
	struct boot_step step = { .act = BOOT_TRIGGER };
	const char *dot = strchr(text, '.');
	char event[64];

	if (!dot || dot == text || !dot[1] || (size_t)(dot - text) >= sizeof(event))
		return make_refuse(make, node, "'%.60s' is not EVENT.TRIGGER", text);
	snprintf(event, sizeof(event), "%.*s", (int)(dot - text), text);
	step.event = event;
	step.text = (char *)dot + 1;
	return make_step(make, node, &step);
}

/* NAME[^FLAG]...[,EVENT]... */
static int make_instance(struct make *make, const struct boot_node *node)
{
	char *text = strdup(node->text), *save, *flags, *word;
	int r = text ? 0 : make_no_memory(make);

	word = r ? NULL : strtok_r(text, ",", &save);
	if (!r && !word)
		r = make_refuse(make, node, "the name of an instance is missing");
	if (!r && strchr(word, '@')) {
		free(text);
		return leave_out(make, node, "is about memory that is kept for it when the kernel starts");
	}
	flags = r ? NULL : strchr(word, '^');
	if (flags)
		*flags++ = '\0';
	if (!r && (!*word || strpbrk(word, "/ .")))
		r = make_refuse(make, node, "an instance cannot have the name '%.60s'", word);
	make->instance = word;
	if (!r)
		r = make_step(make, node, &(struct boot_step){ .act = BOOT_MAKE });
	while (!r && flags) {
		char *next = strchr(flags, '^');

		if (next)
			*next++ = '\0';
		if (!strcmp(flags, "traceoff"))
			r = make_on(make, node, false);
		else if (!strcmp(flags, "traceprintk") || !strcmp(flags, "printk") || !strcmp(flags, "trace_printk"))
			r = make_option(make, node, "trace_printk_dest");
		else
			r = make_refuse(make, node, "there is no flag '%.60s'", flags);
		flags = next;
	}
	while (!r && (word = strtok_r(NULL, ",", &save)))
		r = make_event(make, node, word);
	make->instance = NULL;
	free(text);
	return r;
}

/* Lines with ; between them and commas instead of blanks. The kernel switches them on. */
static int make_probe(struct make *make, const struct boot_node *node)
{
	char *text = strdup(node->text), *save = NULL, name[160];
	int r = text ? 0 : make_no_memory(make);

	for (char *line = r ? NULL : strtok_r(text, ";", &save); !r && line; line = strtok_r(NULL, ";", &save)) {
		const struct boot_step *step;

		for (char *at = line; *at; at++)
			if (*at == ',')
				*at = ' ';
		r = make_define(make, node, "kprobe_events", line);
		if (r)
			break;
		step = &make->profile->steps[make->profile->n - 1];
		snprintf(name, sizeof(name), "%.70s:%.70s", step->system, step->event);
		r = make_event(make, node, name);
	}
	free(text);
	return r;
}

static int each_value(struct make *make, const struct boot_node *node, int (*each)(struct make *, const struct boot_node *))
{
	int r = make_some(make, node);

	for (const struct boot_node *value = node->value; !r && value; value = value->next)
		r = each(make, value);
	return r;
}

/* Without a value it is 1; names of modes are numbers there. */
static int make_sysctl(struct make *make, const struct boot_node *node, const struct parameter *parameter)
{
	struct boot_step step = { .act = BOOT_SYSCTL, .file = (char *)parameter->file, .text = "1" };
	const struct boot_node *value = node->value;
	int r = make_leaf(make, node);

	if (!r && value && value->next)
		r = make_refuse(make, value->next, "there is one value, and no more");
	if (value && value->len)
		step.text = !strcmp(value->text, "orig_cpu") ? "2" : !strcmp(value->text, "on") ? "1" :
			    !strcmp(value->text, "off") ? "0" : (char *)value->text;
	return r ? r : make_step(make, node, &step);
}

static int make_parameter(struct make *make, const struct boot_node *node, const struct parameter *parameter)
{
	int r;

	switch (parameter->kind) {
	case WORD:
		return make_word(make, node, parameter->file);
	case SIZE:
		return make_size(make, node, parameter->file);
	case LIST:
		return make_list(make, node, parameter->file, true);
	case TRACER:
		return make_tracer(make, node);
	case CLOCK:
		return make_clock(make, node);
	case EVENTS:
		return make_values(make, node, true, make_event);
	case OPTIONS:
		return make_values(make, node, true, make_option);
	case TRIGGERS:
		return make_values(make, node, true, make_trigger);
	case INSTANCE:
		return each_value(make, node, make_instance);
	case PROBES:
		return each_value(make, node, make_probe);
	case SYSCTL:
		return make_sysctl(make, node, parameter);
	case START:
		return leave_out(make, node, "is about the start of a kernel");
	case SNAPSHOT:
		r = make_flag(make, node);
		return r ? r : make_snapshot(make, node);
	default:
		r = make_flag(make, node);
		return r ? r : make_step(make, node, &(struct boot_step){ .act = BOOT_WORD, .file = (char *)parameter->file, .text = "1" });
	}
}

/* Is it about tracing, or spelt nearly like one that is? Then somebody means something by it. */
static bool is_meant(const char *text, const char *const *words)
{
	static const char *const begins[] = { "trace_", "ftrace_", "fgraph_", "tracing_" };
	struct near near = { .to = text };

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (!strncmp(text, begins[i], strlen(begins[i])))
			return true;
	for (; *words; words++)
		near_see(&near, *words);
	/* A slip, and no more: there is pause_on_oops beside dump_on_oops. */
	return near_best(&near) && near.distance <= 2;
}

int make_kernel(struct make *make, const struct boot_node *node)
{
	const char *words[NPARAMETERS + 1] = { NULL };
	int r = 0;

	for (size_t i = 0; i < NPARAMETERS; i++)
		words[i] = parameters[i].name;
	for (const struct boot_node *child = node->child; !r && child; child = child->next) {
		size_t i = 0;

		while (i < NPARAMETERS && strcmp(child->text, words[i]))
			i++;
		if (i < NPARAMETERS)
			r = make_parameter(make, child, &parameters[i]);
		else if (is_meant(child->text, words))
			r = make_unknown(make, child, words);
		else
			r = leave_out(make, child, "is not about tracing");
	}
	return r;
}
