/*
 * expr/filter: see filter.h. Text → names (names.c) and a tree (parse.c); tree and format → a
 * program for each event (compile.c), found by the event's number, run on its records (run.c).
 */
#include "expr/filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "expr/names.h"
#include "expr/compile.h"

/* A record's number of its event has 16 bits. */
#define IDS_MAX (1u << 16)

/* One text. Its programs point into its tree. */
struct rule {
	struct rule *next;
	struct tree tree;
};

/* One text's program for one event. */
struct entry {
	struct entry *next;	/* for the same event, of another text */
	const struct rule *rule;
	struct expr_program *program;
};

struct filter {
	unsigned int flags;
	struct rule *rules, **last_rule;
	struct entry **by_id;
	uint32_t nr_ids;
	size_t nr_code;
	bool asks_comm;
};

int filter_new(struct filter **out, unsigned int flags)
{
	struct filter *filter = calloc(1, sizeof(*filter));

	*out = filter;
	if (!filter)
		return -ENOMEM;
	filter->flags = flags;
	filter->last_rule = &filter->rules;
	return 0;
}

static void free_entries(struct entry *entry)
{
	struct entry *next;

	for (; entry; entry = next) {
		next = entry->next;
		expr_program_free(entry->program);
		free(entry);
	}
}

static void free_rule(struct rule *rule)
{
	if (!rule)
		return;
	expr_tree_free(&rule->tree);
	free(rule);
}

void filter_free(struct filter *filter)
{
	struct rule *rule, *next;

	if (!filter)
		return;
	for (uint32_t id = 0; id < filter->nr_ids; id++)
		free_entries(filter->by_id[id]);
	for (rule = filter->rules; rule; rule = next) {
		next = rule->next;
		free_rule(rule);
	}
	free(filter->by_id);
	free(filter);
}

/* A text on its way in: nothing of it is in the filter before all of it is known to be good. */
struct adding {
	struct filter *filter;
	const struct filter_world *world;
	struct rule *rule;
	struct fate *fates;
	bool *picked;
	struct entry *entries;
	uint32_t nr_ids;
	size_t nr_code;
	struct err *err;
};

static int compile_event(struct adding *add, const struct decode_format *format)
{
	struct entry *entry;
	int ret;

	/* No record can be of such an event. */
	if (!format || format->id >= IDS_MAX)
		return 0;
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return err_set(add->err, -ENOMEM, "out of memory");
	entry->next = add->entries;
	entry->rule = add->rule;
	add->entries = entry;
	ret = expr_compile(&add->rule->tree, format,
			   add->filter->flags & FILTER_UNSIGNED ? COMPILE_UNSIGNED : 0, add->fates,
			   &entry->program);
	if (ret)
		return err_set(add->err, ret, ret == -E2BIG ? "the filter is too large" : "out of memory");
	if (format->id >= add->nr_ids)
		add->nr_ids = format->id + 1;
	add->nr_code += entry->program->bytes.len / FILTER_CODE_SIZE;
	if (add->filter->nr_code + add->nr_code > FILTER_CODE_MAX)
		return err_set(add->err, -E2BIG, "the filter is too large for so many events");
	return 0;
}

static const char *lack_words(uint8_t lack)
{
	switch (lack) {
	case LACK_FIELD:
		return "is a field of none of these events";
	case LACK_RIGHT_FIELD:
		return "is a field of none of these events; text is written in quotes";
	case LACK_NUMBER:
		return "is no number";
	case LACK_WHOLE:
		return "is no whole number";
	case LACK_TEXT:
		return "is a number and has no text";
	default:
		return "is text, which can be compared with ==, !=, =~, !~ and ~";
	}
}

/*
 * A comparison that none of the events can answer is a mistake, unless all that is missing is the
 * field: then it is false, as trace-cmd has it, if nobody wants it stricter.
 */
static int check_fates(const struct adding *add)
{
	const struct tree *tree = &add->rule->tree;
	uint8_t allowed = add->filter->flags & FILTER_STRICT ? LACK_NOTHING : LACK_FIELD;

	for (uint32_t i = 1; i < tree->nr; i++) {
		const struct fate *fate = &add->fates[i];
		bool is_truth = tree->nodes[i].kind >= TREE_TRUTH_FIRST;
		const struct tree_node *culprit = &tree->nodes[fate->culprit];

		if (!is_truth || fate->lives || fate->lack <= allowed)
			continue;
		return err_set_at(add->err, -EBADMSG, (int)culprit->pos, "%s %s",
				  culprit->kind == TREE_NAME ? culprit->text.p : "this",
				  lack_words(fate->lack));
	}
	return 0;
}

static int compile_all(struct adding *add)
{
	int ret = 0;

	/* One more, for a tree of no nodes. */
	add->fates = calloc(add->rule->tree.nr + 1u, sizeof(*add->fates));
	if (!add->fates)
		return err_set(add->err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < add->world->nr && !ret; i++)
		if (add->picked[i])
			ret = compile_event(add, add->world->format(add->world->arg, i));
	return ret ? ret : check_fates(add);
}

static int parse(struct adding *add, const char *text)
{
	size_t len = strlen(text);
	const char *colon = strchr(text, ':');
	int ret;

	if (len > FILTER_TEXT_MAX)
		return err_set(add->err, -E2BIG, "the filter is too long");
	add->rule = calloc(1, sizeof(*add->rule));
	add->picked = calloc(add->world->nr + 1, sizeof(*add->picked));
	if (!add->rule || !add->picked)
		return err_set(add->err, -ENOMEM, "out of memory");
	ret = expr_names_pick(text, colon ? (size_t)(colon - text) : len, add->world, add->picked,
			      add->err);
	if (!ret && colon)
		ret = expr_tree_parse(&add->rule->tree, text, (size_t)(colon - text) + 1, len,
				      add->err);
	return ret;
}

static int grow_ids(struct adding *add)
{
	struct filter *filter = add->filter;
	struct entry **by_id;

	if (add->nr_ids <= filter->nr_ids)
		return 0;
	by_id = realloc(filter->by_id, add->nr_ids * sizeof(*by_id));
	if (!by_id)
		return err_set(add->err, -ENOMEM, "out of memory");
	memset(by_id + filter->nr_ids, 0, (add->nr_ids - filter->nr_ids) * sizeof(*by_id));
	filter->by_id = by_id;
	filter->nr_ids = add->nr_ids;
	return 0;
}

static void apply(struct adding *add)
{
	struct filter *filter = add->filter;
	struct entry *entry;

	while ((entry = add->entries)) {
		struct entry **to = &filter->by_id[entry->program->format->id];

		add->entries = entry->next;
		while (*to)
			to = &(*to)->next;
		entry->next = NULL;
		*to = entry;
		filter->asks_comm |= entry->program->asks_comm;
	}
	filter->nr_code += add->nr_code;
	*filter->last_rule = add->rule;
	filter->last_rule = &add->rule->next;
	add->rule = NULL;
}

int filter_add(struct filter *filter, const char *text, const struct filter_world *world,
	       struct err *err)
{
	struct adding add = { .filter = filter, .world = world, .err = err };
	int ret = parse(&add, text);

	if (!ret)
		ret = compile_all(&add);
	if (!ret)
		ret = grow_ids(&add);
	if (!ret)
		apply(&add);
	free_entries(add.entries);
	free_rule(add.rule);
	free(add.fates);
	free(add.picked);
	return ret;
}

enum filter_verdict filter_match(const struct filter *filter, const struct decode_format *format,
				 const void *rec, size_t len, int cpu, uint64_t ts,
				 const struct decode_ctx *ctx)
{
	struct expr_record record = { .rec = rec, .len = len, .ts = ts, .cpu = cpu, .ctx = ctx };
	const struct entry *entry = format->id < filter->nr_ids ? filter->by_id[format->id] : NULL;

	if (!entry)
		return FILTER_NONE;
	for (; entry; entry = entry->next)
		if (expr_run(entry->program, &record))
			return FILTER_MATCH;
	return FILTER_MISS;
}

bool filter_shows(const struct filter *wanted, const struct filter *unwanted,
		  const struct decode_format *format, const void *rec, size_t len, int cpu,
		  uint64_t ts, const struct decode_ctx *ctx)
{
	if (wanted && filter_match(wanted, format, rec, len, cpu, ts, ctx) != FILTER_MATCH)
		return false;
	return !unwanted || filter_match(unwanted, format, rec, len, cpu, ts, ctx) != FILTER_MATCH;
}

bool filter_asks_comm(const struct filter *filter)
{
	return filter->asks_comm;
}

static void describe_event(const struct entry *entry, struct buf *out)
{
	const struct decode_format *format = entry->program->format;

	buf_printf(out, " '%s: ", format->name);
	if (expr_describe(&entry->rule->tree, format, out))
		out->failed = true;
	buf_puts(out, "'\n");
}

void filter_describe(const struct filter *filter, struct buf *out)
{
	for (const struct rule *rule = filter->rules; rule; rule = rule->next)
		for (uint32_t id = 0; id < filter->nr_ids; id++)
			for (const struct entry *e = filter->by_id[id]; e; e = e->next)
				if (e->rule == rule)
					describe_event(e, out);
}
