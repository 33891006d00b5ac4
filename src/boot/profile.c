/*
 * boot/profile: see profile.h. The walk over all keys, those of a buffer, and the order of the steps.
 */
#include "boot/profile.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "boot/local.h"

/* Keys that are files of the tree by their names, which the kernel knows nothing of at its start. */
static const struct file {
	const char *name;
	enum { WORD, PAGES, LIST, SWITCH, LINES } kind;
} files[] = {
	{ "buffer_percent", WORD },
	{ "buffer_subbuf_size_kb", PAGES },
	{ "tracing_thresh", WORD },
	{ "max_graph_depth", WORD },
	{ "saved_cmdlines_size", WORD },
	{ "function_profile_enabled", SWITCH },
	{ "stack_tracer_enabled", SWITCH },
	{ "set_event_pid", LIST },
	{ "set_event_notrace_pid", LIST },
	{ "set_ftrace_pid", LIST },
	{ "set_ftrace_notrace_pid", LIST },
	{ "set_graph_function", LIST },
	{ "set_graph_notrace", LIST },
	{ "stack_trace_filter", LIST },
	{ "dynamic_events", LINES },
};

#define NFILES (sizeof(files) / sizeof(files[0]))

static int define_dynamic(struct make *make, const struct boot_node *value, const char *text)
{
	return make_define(make, value, "dynamic_events", text);
}

static int make_file(struct make *make, const struct boot_node *node, const struct file *file)
{
	struct boot_step step = { .act = file->kind == PAGES ? BOOT_PAGES : BOOT_WORD, .file = (char *)file->name };
	const char *text;
	bool on;
	int r;

	switch (file->kind) {
	case LIST:
		return make_list(make, node, file->name, false);
	case LINES:
		return make_values(make, node, false, define_dynamic);
	case SWITCH:
		r = make_switch(make, node, &on);
		step.text = !r && on ? "1" : "0";
		break;
	default:
		r = make_one(make, node, &text);
		step.text = (char *)text;
	}
	return r ? r : make_step(make, node, &step);
}

static int no_value(struct make *make, const struct boot_node *node)
{
	return node->value ? make_refuse(make, node->value, "it has no value, but keys below it") : 0;
}

/* per_cpu.cpuN.buffer_size_kb */
static int make_cpus(struct make *make, const struct boot_node *node)
{
	static const char *const words[] = { "buffer_size_kb", NULL };
	int r = no_value(make, node);

	for (const struct boot_node *cpu = node->child; !r && cpu; cpu = cpu->next) {
		const struct boot_node *file = cpu->child;
		const char *number = cpu->text + 3, *text;
		struct buf path = BUF_INIT;

		if (strncmp(cpu->text, "cpu", 3) || !*number || strspn(number, "0123456789") != strlen(number))
			return make_refuse(make, cpu, "that is no CPU: cpu0, cpu1 ...");
		r = no_value(make, cpu);
		if (!r && !file)
			r = make_refuse(make, cpu, "what of it? buffer_size_kb");
		for (; !r && file; file = file->next) {
			if (strcmp(file->text, words[0]))
				return make_unknown(make, file, words);
			buf_reset(&path);
			buf_printf(&path, "per_cpu/%s/buffer_size_kb", cpu->text);
			r = make_one(make, file, &text);
			if (!r)
				r = buf_failed(&path) ? make_no_memory(make) :
				    make_step(make, file, &(struct boot_step){ .act = BOOT_SIZE, .file = path.data, .text = (char *)text });
			if (r)
				break;
		}
		buf_fini(&path);
	}
	return r;
}

/* ftrace.filters and ftrace.notraces, below the `ftrace` of a buffer. */
static int make_functions(struct make *make, const struct boot_node *node)
{
	static const char *const words[] = { "filters", "notraces", NULL };
	int r = no_value(make, node);

	for (const struct boot_node *child = node->child; !r && child; child = child->next) {
		if (!strcmp(child->text, words[0]))
			r = make_list(make, child, "set_ftrace_filter", false);
		else if (!strcmp(child->text, words[1]))
			r = make_list(make, child, "set_ftrace_notrace", false);
		else
			r = make_unknown(make, child, words);
	}
	return r;
}

static int make_buffer(struct make *make, const struct boot_node *node);

static int make_instances(struct make *make, const struct boot_node *node)
{
	int r = no_value(make, node);

	for (const struct boot_node *child = node->child; !r && child; child = child->next) {
		make->instance = child->text;
		r = no_value(make, child);
		if (!r)
			r = make_step(make, child, &(struct boot_step){ .act = BOOT_MAKE });
		if (!r)
			r = make_buffer(make, child);
	}
	make->instance = NULL;
	return r;
}

/* Words below `ftrace`, or `ftrace.instance.NAME`, in the order of their numbers. */
static const char *const buffer_keys[] = {
	"options", "tracing_on", "trace_clock", "buffer_size", "alloc_snapshot", "cpumask", "events", "tracer", "ftrace", "event",
	"per_cpu", "instance",
};

enum { OPTIONS, TRACING_ON, CLOCK, BUFFER_SIZE, ALLOC_SNAPSHOT, CPUMASK, EVENTS, TRACER, FTRACE, EVENT, PER_CPU, INSTANCE, NKEYS };

static int unknown(struct make *make, const struct boot_node *node)
{
	const char *words[NKEYS + NFILES + 1];
	size_t n = 0;

	for (size_t i = 0; i < NKEYS; i++)
		if (i != INSTANCE || !make->instance)
			words[n++] = buffer_keys[i];
	for (size_t i = 0; i < NFILES; i++)
		words[n++] = files[i].name;
	words[n] = NULL;
	return make_unknown(make, node, words);
}

static int make_key(struct make *make, const struct boot_node *node)
{
	size_t key = 0;
	bool on;
	int r;

	for (size_t i = 0; i < NFILES; i++)
		if (!strcmp(node->text, files[i].name))
			return make_file(make, node, &files[i]);
	while (key < NKEYS && strcmp(node->text, buffer_keys[key]))
		key++;
	switch (key) {
	case OPTIONS:
		return make_values(make, node, false, make_option);
	case TRACING_ON:
		r = make_switch(make, node, &on);
		return r ? r : make_on(make, node, on);
	case CLOCK:
		return make_clock(make, node);
	case BUFFER_SIZE:
		return make_size(make, node, "buffer_size_kb");
	case ALLOC_SNAPSHOT:
		r = make_flag(make, node);
		return r ? r : make_snapshot(make, node);
	case CPUMASK:
		return make_word(make, node, "tracing_cpumask");
	case EVENTS:
		return make_values(make, node, false, make_event);
	case TRACER:
		return make_tracer(make, node);
	case FTRACE:
		return make_functions(make, node);
	case EVENT:
		return make_events(make, node);
	case PER_CPU:
		return make_cpus(make, node);
	case INSTANCE:
		return make->instance ? unknown(make, node) : make_instances(make, node);
	default:
		return unknown(make, node);
	}
}

static int make_buffer(struct make *make, const struct boot_node *node)
{
	int r = 0;

	for (const struct boot_node *child = node->child; !r && child; child = child->next)
		r = make_key(make, child);
	return r;
}

static int make_top(struct make *make, const struct boot_node *node)
{
	static const char *const words[] = { "ftrace", "kernel", "init", NULL };
	int r;

	if (strcmp(node->text, "ftrace") && strcmp(node->text, "kernel") && strcmp(node->text, "init"))
		return make_unknown(make, node, words);
	r = no_value(make, node);
	if (r)
		return r;
	if (!strcmp(node->text, "ftrace"))
		return make_buffer(make, node);
	if (!strcmp(node->text, "kernel"))
		return make_kernel(make, node);
	return make_step(make, node, &(struct boot_step){ .act = BOOT_OTHER, .text = "is for init, which is started once" });
}

/* By what they do, then as they stand in the text. */
static int compare(const void *a, const void *b)
{
	const struct boot_step *x = a, *y = b;

	if (x->act != y->act)
		return x->act < y->act ? -1 : 1;
	if (x->node->pos != y->node->pos)
		return x->node->pos < y->node->pos ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static bool needs(const struct boot_step *step, const struct boot_step *other)
{
	return step->act == BOOT_TRIGGER && other->act == BOOT_TRIGGER && step->event && other->system && other->event &&
	       !strcmp(step->instance ? step->instance : "", other->instance ? other->instance : "") &&
	       boot_hist_needs(step->text, other->text, other->system, other->event);
}

/* The first of those from `at` on that needs none of them. */
static size_t find_free(const struct boot_profile *profile, size_t at)
{
	for (size_t i = at; i < profile->n && profile->steps[i].act == BOOT_TRIGGER; i++) {
		size_t j = at;

		while (j < profile->n && (i == j || !needs(&profile->steps[i], &profile->steps[j])))
			j++;
		if (j == profile->n)
			return i;
	}
	/* They need each other: somebody else finds that out. */
	return at;
}

/* Histograms come behind those whose variables they take, wherever they stand in the text. */
static void order_triggers(struct boot_profile *profile)
{
	for (size_t i = 0; i < profile->n; i++) {
		size_t free = profile->steps[i].act == BOOT_TRIGGER ? find_free(profile, i) : i;
		struct boot_step step = profile->steps[free];

		memmove(&profile->steps[i + 1], &profile->steps[i], (free - i) * sizeof(step));
		profile->steps[i] = step;
	}
}

/* Line ends in quoted values are blanks: what is written are lines. */
static void blank_values(const struct boot_config *config)
{
	for (const struct boot_node *node = config->made; node; node = node->made)
		for (size_t i = 0; i < node->len; i++)
			if (isspace((unsigned char)node->text[i]))
				config->cut[node->pos + i] = ' ';
}

int boot_profile_make(struct boot_profile *profile, const struct boot_config *config, struct err *err)
{
	struct make make = { .profile = profile, .config = config, .err = err };
	int r = 0;

	*profile = (struct boot_profile){ 0 };
	blank_values(config);
	for (const struct boot_node *child = config->root.child; !r && child; child = child->next)
		r = make_top(&make, child);
	if (r) {
		boot_profile_fini(profile);
	} else if (profile->n) {
		qsort(profile->steps, profile->n, sizeof(*profile->steps), compare);
		order_triggers(profile);
	}
	return r;
}

void boot_profile_fini(struct boot_profile *profile)
{
	for (size_t i = 0; i < profile->n; i++) {
		struct boot_step *step = &profile->steps[i];

		free(step->instance);
		free(step->system);
		free(step->event);
		free(step->file);
		free(step->text);
	}
	free(profile->steps);
	*profile = (struct boot_profile){ 0 };
}
