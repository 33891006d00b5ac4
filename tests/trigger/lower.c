/*
 * Lowering: specs become hooks and code that a program can bind, variables meet their references, what cannot be lowered any
 * more is left out, and what is new and wrong is refused.
 */
#include "insist.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hook/hook.h"
#include "trigger/lower.h"

#define BODY                                                                                       \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"                               \
	"\tfield:int num;\toffset:8;\tsize:4;\tsigned:1;\n"                                        \
	"\tfield:char who[16];\toffset:12;\tsize:16;\tsigned:0;\n\n"                               \
	"print fmt: \"num=%d\", REC->num\n"

#define NMAX 8

static struct decode_format *format;
static struct state_item items[NMAX];
static struct lower_item all[NMAX];
static size_t n;

static const struct decode_format *world_event(void *arg, const char *system, const char *name)
{
	(void)arg;
	return !strcmp(system, "test") && (!strcmp(name, "one") || !strcmp(name, "two")) ? format : NULL;
}

static const struct spec_hist *world_hist(void *arg, uint32_t number, const char **system, const char **event)
{
	(void)arg;
	for (size_t i = 0; i < n; i++) {
		if (!all[i].trigger || !all[i].trigger->hist || number--)
			continue;
		*system = items[i].system;
		*event = items[i].event;
		return all[i].trigger->hist;
	}
	return NULL;
}

static const struct spec_synth *world_synth(void *arg, const char *name)
{
	(void)arg;
	for (size_t i = 0; i < n; i++)
		if (all[i].synth && !strcmp(all[i].synth->name, name))
			return all[i].synth;
	return NULL;
}

static bool world_clock(void *arg, const char *name)
{
	(void)arg;
	return !strcmp(name, "global");
}

static const struct spec_world world = {
	.event = world_event, .hist = world_hist, .synth = world_synth, .clock = world_clock,
};

static struct state_item *add(enum state_item_kind kind, const char *event, const char *text)
{
	struct state_item *item = &items[n];

	*item = (struct state_item){ .kind = (uint8_t)kind, .serial = (uint32_t)n + 1, .pause = 1 + (uint32_t)n };
	snprintf(item->system, sizeof(item->system), kind == STATE_ITEM_SYNTH ? "synthetic" : "test");
	snprintf(item->event, sizeof(item->event), "%s", event);
	all[n] = (struct lower_item){ .item = item, .text = text };
	n++;
	return item;
}

static void add_trigger(const char *event, const char *text)
{
	struct spec_error error = SPEC_ERROR_INIT;
	struct spec_trigger *trigger;
	struct table_shape shape;
	struct state_item *item;
	int r = spec_trigger_parse(&trigger, &world, "test", event, text, strlen(text), &error);

	CHECK(!r, "%s: %s", text, error.text);
	item = add(STATE_ITEM_TRIGGER, event, text);
	all[n - 1].trigger = trigger;
	spec_error_fini(&error);
	if (!trigger->hist)
		return;
	trigger->hist->serial = item->serial;
	lower_hist_shape(trigger->hist, 4, &shape);
	item->table = TABLES_DATA_OFFSET + n * (64u << 20);
	item->cells = item->table + (32u << 20);
	CHECK(table_size(&shape) <= 32u << 20 && lower_hist_cells(trigger->hist) <= 32u << 20, "%s is large", text);
}

static void add_synth(const char *name, const char *text, uint32_t id)
{
	struct spec_error error = SPEC_ERROR_INIT;
	struct spec_synth *synth;
	bool remove;

	CHECK(!spec_synth_parse(&synth, &remove, &world, false, text, strlen(text), &error), "%s: %s", text, error.text);
	add(STATE_ITEM_SYNTH, name, text)->event_id = id;
	all[n - 1].synth = synth;
	spec_error_fini(&error);
}

/* The hook on that event, bound as a program would. */
static struct hook_bound bind(const struct buf *hooks, const struct buf *code, const char *event)
{
	static struct program_field fields[HOOK_LINKS_MAX * PROGRAM_FIELDS_MAX];
	static struct hook_link links[HOOK_LINKS_MAX];
	struct hook_room room = {
		.fields = fields, .fields_max = HOOK_LINKS_MAX * PROGRAM_FIELDS_MAX, .links = links, .links_max = HOOK_LINKS_MAX,
	};
	const struct state_hook *hook = (const struct state_hook *)(const void *)hooks->data;
	struct hook_code in = { (const unsigned char *)code->data, (uint32_t)code->len };
	struct hist_tables tables = { (unsigned char *)fields, TABLES_SIZE_MAX };	/* nothing of it is touched */
	struct hook_bound bound = { .nacts = UINT32_MAX };

	for (size_t i = 0; i < hooks->len / sizeof(*hook); i++)
		if (!strcmp(hook[i].event, event))
			CHECK(!hook_bind(&bound, &hook[i], &in, 0x4001, BODY, strlen(BODY), &tables, &room),
			      "%s cannot be bound", event);
	return bound;
}

static const void *code_at(const struct buf *code, uint32_t at, size_t size)
{
	CHECK(at && at % 8 == 0 && at + size <= code->len, "%u is outside", at);
	return code->data + at;
}

static const struct hook_act *act_at(const struct buf *hooks, const struct buf *code, uint32_t hook, uint32_t act)
{
	const struct state_hook *of = (const struct state_hook *)(const void *)hooks->data + hook;

	CHECK(act < of->nacts, "%u acts", of->nacts);
	return (const struct hook_act *)code_at(code, of->acts, of->nacts * sizeof(struct hook_act)) + act;
}

static void everything(struct buf *hooks, struct buf *code)
{
	const struct hook_hist *first, *second;
	const struct hook_var *var, *ref;
	const struct hook_action *action;
	const struct hook_emit *emit;
	struct spec_error error = SPEC_ERROR_INIT;

	add_synth("lat", "lat u64 delta; char who[16]", 0x4005);
	add_trigger("one", "hist:keys=num:ts=common_timestamp");
	add_trigger("two", "hist:keys=num,common_pid.execname:vals=num:d=common_timestamp-$ts:onmatch(test.one).trace(lat,$d,who)");
	add_trigger("two", "traceoff:3 if num > 4");
	add(STATE_ITEM_OFF, "", "")->count = 100;
	items[n - 1].system[0] = '\0';
	add(STATE_ITEM_FILTER, "two", "who == \"me\"");
	items[3].count = 101;
	CHECK(!lower(all, n, &world, 4, hooks, NULL, code, &error), "%s", error.text);
	CHECK(hooks->len == 2 * sizeof(struct state_hook), "%zu hooks", hooks->len / sizeof(struct state_hook));
	CHECK(bind(hooks, code, "one").sound == 1 && bind(hooks, code, "two").sound == 3, "all acts are sound");
	CHECK(bind(hooks, code, "two").filter, "it has a filter");

	/* The newest first, but for histograms. */
	CHECK(act_at(hooks, code, 1, 0)->kind == HOOK_TRACEOFF && act_at(hooks, code, 1, 0)->flags == HOOK_ACT_COUNTED, "acts");
	first = code_at(code, act_at(hooks, code, 0, 0)->hist, sizeof(*first));
	second = code_at(code, act_at(hooks, code, 1, 1)->hist, sizeof(*second));
	CHECK(first->nvars == 1 && second->nrefs >= 1 && second->nactions == 1, "variables");
	var = code_at(code, first->vars, sizeof(*var));
	ref = code_at(code, second->refs, sizeof(*ref));
	CHECK(ref->cells == var->cells && ref->seed == var->seed && ref->ncells == var->ncells && ref->once && !ref->own &&
	      ref->root == 1, "the reference is to that variable, and takes it");
	action = code_at(code, second->actions, sizeof(*action));
	emit = code_at(code, action->emit, sizeof(*emit));
	CHECK(emit->event == 0x4005 && emit->nfields == 2, "event %u", emit->event);
	spec_error_fini(&error);
}

static void keys(void)
{
	const struct spec_hist *hist = all[2].trigger->hist;
	struct hook_key key[HOOK_KEYS_MAX];
	struct table_shape shape;
	uint32_t hash_size;

	CHECK(lower_hist_keys(hist, key, &hash_size) == 32 && hash_size == 16, "a name is no part of the hash");
	CHECK(key[0].at == 0 && key[1].at == 8 && key[1].with_comm, "and lies last");
	lower_hist_shape(hist, 4, &shape);
	CHECK(shape.parts == 4 && shape.elements == 2048 && shape.slots >= 4096 && shape.element_size == shape.key_at + 32, "shape");
}

/* Old items that make no sense now are left out; a new one is refused. */
static void broken(void)
{
	struct buf hooks = BUF_INIT, code = BUF_INIT;
	struct spec_error error = SPEC_ERROR_INIT;

	add(STATE_ITEM_FILTER, "one", "nosuch == 1");
	CHECK(lower(all, n, &world, 4, &hooks, NULL, &code, &error) == -EINVAL && error.message, "it is refused");
	spec_error_fini(&error);
	error = (struct spec_error)SPEC_ERROR_INIT;
	buf_reset(&hooks);
	buf_reset(&code);
	all[n - 1].is_old = true;
	CHECK(!lower(all, n, &world, 4, &hooks, NULL, &code, &error), "it is left out");
	spec_error_fini(&error);
	buf_fini(&hooks);
	buf_fini(&code);
}

/* What programs have no place for is refused with words: that it is accepted and never acts is what must not be. */
static void refuse(const char *text, int want, const char *words)
{
	struct buf hooks = BUF_INIT, code = BUF_INIT;
	struct spec_error error = SPEC_ERROR_INIT;
	int r;

	add_trigger("one", text);
	r = lower(all, n, &world, 4, &hooks, NULL, &code, &error);
	CHECK(r == want && (words ? error.message && !strcmp(error.message, words) : !error.message), "%s: %d, '%s'", text, r,
	      error.message ? error.message : "");
	spec_trigger_free((struct spec_trigger *)all[--n].trigger);
	spec_error_fini(&error);
	buf_fini(&hooks);
	buf_fini(&code);
}

static void limits(void)
{
	struct spec_error error = SPEC_ERROR_INIT;
	struct buf large = BUF_INIT;
	struct spec_synth *synth;
	bool remove;

	refuse("hist:keys=num:a=who,b=who,c=who,d=who,e=who,f=who:size=128", 0, NULL);
	refuse("hist:keys=num:a=who,b=who,c=who,d=who,e=who,f=who,g=who:size=128", -EINVAL, "Too many variables in one histogram");
	buf_puts(&large, "large");
	for (int i = 0; i < 15; i++)
		buf_printf(&large, " char a%d[16];", i);
	CHECK(!spec_synth_parse(&synth, &remove, &world, false, large.data, large.len, &error), "%s", error.text);
	spec_synth_free(synth);
	buf_puts(&large, " char b[16]");
	CHECK(spec_synth_parse(&synth, &remove, &world, false, large.data, large.len, &error) == -E2BIG &&
	      !strcmp(error.message, "Event too big (too many fields?)"), "a record that has no room");
	spec_error_fini(&error);
	buf_fini(&large);
}

int main(void)
{
	static const char text[] = "name: one\nID: 16385\nformat:\n" BODY;
	struct buf hooks = BUF_INIT, code = BUF_INIT;

	CHECK(!decode_format_parse("test", text, strlen(text), NULL, &format, NULL), "format");
	everything(&hooks, &code);
	keys();
	broken();
	limits();
	for (size_t i = 0; i < n; i++) {
		if (all[i].trigger)
			spec_trigger_free((struct spec_trigger *)all[i].trigger);
		if (all[i].synth)
			spec_synth_free((struct spec_synth *)all[i].synth);
	}
	decode_format_free(format);
	buf_fini(&hooks);
	buf_fini(&code);
	return 0;
}
