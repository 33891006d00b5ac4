/*
 * trigger/lower_hist: a histogram -> struct hook_hist: one program with a root for everything that it computes, and the
 * references of all of them to others' variables. See lower.h. Pure.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trigger/lower_local.h"

struct lower_terms {
	struct lowering *low;
	const struct lower_item *item;
	const struct spec_hist *hist;
	struct program_build *build;
	struct hook_var refs[HOOK_REFS_MAX];
	uint32_t nrefs;
	uint32_t ntexts;	/* variables and references that are more than a number */
	bool failed;		/* a variable that is no more, or too many of them */
};

/* Who sets the variable; its number there in *number. */
static const struct lower_item *setter(const struct lower_terms *terms, const struct spec_term *term, uint32_t *number)
{
	const struct lowering *low = terms->low;

	for (size_t i = 0; i < low->n; i++) {
		const struct lower_item *item = &low->items[i];
		const struct spec_hist *hist = item->trigger && item->trigger->kind == SPEC_HIST ? item->trigger->hist : NULL;

		if (!hist || item->item->buffer != terms->item->item->buffer)
			continue;
		if (term->var_serial ? item->item->serial != term->var_serial
				     : strcmp(term->system, item->item->system) || strcmp(term->event, item->item->event))
			continue;
		for (*number = 0; *number < hist->nvars; ++*number)
			if (!strcmp(hist->vars[*number].name, term->name))
				return item;
	}
	return NULL;
}

static bool is_long(uint8_t form)
{
	return form == HOOK_TEXT || form == HOOK_STACK;
}

static bool same_ref(const struct hook_var *a, const struct hook_var *b)
{
	return a->own == b->own && a->number == b->number && a->seed == b->seed;
}

/* Its number among the program's $variables. A value that goes into an expression is taken by that. */
static uint32_t ref_number(struct lower_terms *terms, const struct spec_term *term, bool once)
{
	const struct lower_item *item;
	struct hook_var ref;
	uint32_t number;

	if (term->is_own) {
		for (number = 0; number < terms->hist->nvars; number++)
			if (!strcmp(terms->hist->vars[number].name, term->name))
				break;
		ref = (struct hook_var){ .own = 1, .number = (uint8_t)number, .form = term->form };
		terms->failed |= number == terms->hist->nvars;
	} else {
		item = setter(terms, term, &number);
		if (!item) {
			terms->failed = true;
			return 0;
		}
		lower_hist_var(item->trigger->hist, item->item->cells, number, &ref);
		ref.once = once;
		ref.root = item->trigger->hist->nkeys;
	}
	for (uint32_t i = 0; i < terms->nrefs; i++) {
		if (!same_ref(&terms->refs[i], &ref))
			continue;
		terms->refs[i].once |= ref.once;
		return i;
	}
	if (terms->nrefs == HOOK_REFS_MAX) {
		terms->failed = true;
		return 0;
	}
	terms->ntexts += !ref.own && is_long(ref.form);
	terms->refs[terms->nrefs] = ref;
	return terms->nrefs++;
}

static uint32_t root_of(struct lower_terms *terms, const struct spec_term *term, bool in_math)
{
	struct program_build *build = terms->build;
	uint32_t root, other;

	switch (term->what) {
	case SPEC_FIELD:
		root = term->how == SPEC_STRING ? program_build_string(build, term->name) :
						  program_build_field(build, term->name, lower_class(term->form));
		break;
	case SPEC_TIMESTAMP:
		root = program_build_moment(build, PROGRAM_TIME);
		if (term->how == SPEC_USECS)
			root = program_build_math(build, '/', false, root, program_build_num(build, 1000));
		break;
	case SPEC_CPU:
		root = program_build_moment(build, PROGRAM_CPU);
		break;
	case SPEC_STACK:
		root = program_build_moment(build, PROGRAM_STACK);
		break;
	case SPEC_COMM:
		root = program_build_moment(build, PROGRAM_COMM);
		break;
	case SPEC_VAR:
		other = ref_number(terms, term, in_math);
		root = program_build_var(build, other, lower_class(term->form));
		break;
	case SPEC_MATH:
		root = root_of(terms, term->a, true);
		other = root_of(terms, term->b, true);
		root = program_build_math(build, term->op, false, root, other);
		break;
	case SPEC_NEG:
		root = program_build_neg(build, root_of(terms, term->a, true));
		break;
	case SPEC_HITCOUNT:
		return program_build_num(build, 1);
	default:
		return program_build_num(build, term->number);
	}
	if (term->how == SPEC_LOG2)
		root = program_build_log2(build, root);
	else if (term->how == SPEC_BUCKETS && term->what != SPEC_VAR)
		root = program_build_bucket(build, root, term->number ? term->number : 1);
	return root;
}

static uint32_t put_keys(struct lower_terms *terms, struct hook_hist *to)
{
	struct hook_key keys[HOOK_KEYS_MAX];
	uint32_t hash_size;

	lower_hist_keys(terms->hist, keys, &hash_size);
	to->nkeys = (uint16_t)terms->hist->nkeys;
	for (uint32_t i = 0; i < terms->hist->nkeys; i++) {
		const struct spec_term *key = terms->hist->keys[i];

		keys[i].root = root_of(terms, key, false);
		/* Each program has its functions elsewhere; only there is it known which ones they are. */
		if (key->how == SPEC_SYM || key->how == SPEC_SYM_OFFSET)
			keys[i].root = program_build_symbol(terms->build, keys[i].root);
	}
	return lower_put(terms->low, keys, terms->hist->nkeys * sizeof(*keys));
}

static uint32_t put_vals(struct lower_terms *terms, struct hook_hist *to)
{
	uint32_t roots[HOOK_VALS_MAX];

	to->nvals = (uint16_t)terms->hist->nvals;
	for (uint32_t i = 0; i < terms->hist->nvals; i++) {
		roots[i] = root_of(terms, terms->hist->vals[i], false);
		if (terms->hist->vals[i]->how == SPEC_QUANTILES)
			to->spreads |= (uint16_t)(1u << i);
	}
	return lower_put(terms->low, roots, terms->hist->nvals * sizeof(*roots));
}

static uint32_t put_vars(struct lower_terms *terms, struct hook_hist *to)
{
	struct hook_var vars[HOOK_VARS_MAX];

	to->nvars = (uint16_t)terms->hist->nvars;
	for (uint32_t i = 0; i < terms->hist->nvars; i++) {
		lower_hist_var(terms->hist, terms->item->item->cells, i, &vars[i]);
		vars[i].root = root_of(terms, terms->hist->vars[i].value, false);
		terms->ntexts += is_long(vars[i].form);
	}
	return lower_put(terms->low, vars, terms->hist->nvars * sizeof(*vars));
}

static const struct lower_item *find_synth(const struct lowering *low, const char *name)
{
	for (size_t i = 0; i < low->n; i++)
		if (low->items[i].synth && !strcmp(low->items[i].synth->name, name))
			return &low->items[i];
	return NULL;
}

/* The record of a synthetic event, a field for each parameter. */
static uint32_t put_emit(struct lower_terms *terms, const struct spec_action *action)
{
	const struct lower_item *synth = find_synth(terms->low, action->synth);
	struct hook_field fields[HOOK_EMIT_MAX] = { { 0 } };
	struct hook_emit emit = { 0 };

	if (!synth || synth->synth->nfields < action->nparams) {
		terms->failed = true;
		return 0;
	}
	emit.event = synth->item->event_id;
	emit.nfields = (uint16_t)action->nparams;
	for (uint32_t i = 0; i < synth->synth->nfields; i++) {
		const struct spec_field *field = &synth->synth->fields[i];
		uint32_t end = (uint32_t)(field->offset + field->size + 3) & ~3u;

		if (end > emit.fixed)
			emit.fixed = (uint16_t)end;
		if (i >= action->nparams)
			continue;
		fields[i].offset = field->offset;
		fields[i].size = field->size;
		fields[i].form = field->form;
		fields[i].root = root_of(terms, action->params[i], false);
	}
	emit.fields = lower_put(terms->low, fields, action->nparams * sizeof(*fields));
	return lower_put(terms->low, &emit, sizeof(emit));
}

static uint32_t put_saves(struct lower_terms *terms, const struct spec_action *action)
{
	uint32_t roots[HOOK_EMIT_MAX];

	for (uint32_t i = 0; i < action->nparams; i++)
		roots[i] = root_of(terms, action->params[i], false) | (uint32_t)action->params[i]->form << 24;
	return lower_put(terms->low, roots, action->nparams * sizeof(*roots));
}

static uint32_t put_actions(struct lower_terms *terms, struct hook_hist *to)
{
	struct hook_action actions[HOOK_ACTIONS_MAX] = { { 0 } };
	uint32_t first = 0;
	uint8_t track = 0;

	to->nactions = (uint16_t)terms->hist->nactions;
	for (uint32_t i = 0; i < terms->hist->nactions; i++) {
		const struct spec_action *from = terms->hist->actions[i];
		struct hook_action *action = &actions[i];

		action->handler = (uint8_t)from->handler;
		action->doing = (uint8_t)from->doing;
		if (from->handler != HOOK_ONMATCH) {
			action->track = track++;
			action->value = from->value ? root_of(terms, from->value, false) : PROGRAM_NOTHING;
		}
		if (from->doing == HOOK_DO_TRACE) {
			action->emit = put_emit(terms, from);
		} else if (from->doing == HOOK_DO_SAVE) {
			action->nsaves = (uint8_t)from->nparams;
			action->first = first;
			action->saves = put_saves(terms, from);
			first += from->nparams;
		} else {
			action->word = terms->item->item->snapshots;
		}
	}
	return lower_put(terms->low, actions, terms->hist->nactions * sizeof(*actions));
}

uint32_t lower_hist(struct lowering *low, const struct lower_item *item)
{
	struct lower_terms terms = { .low = low, .item = item, .hist = item->trigger->hist };
	struct hook_hist hist = { .table = item->item->table, .pause = item->item->pause };
	size_t before = low->code->len;
	uint32_t at = 0;

	terms.build = program_build_new();
	if (!terms.build) {
		low->failed = low->failed ? low->failed : -ENOMEM;
		return 0;
	}
	lower_hist_shape(terms.hist, low->parts, &hist.shape);
	hist.keys = put_keys(&terms, &hist);
	hist.vals = put_vals(&terms, &hist);
	hist.vars = put_vars(&terms, &hist);
	hist.actions = put_actions(&terms, &hist);
	hist.nrefs = (uint16_t)terms.nrefs;
	hist.refs = lower_put(low, terms.refs, terms.nrefs * sizeof(*terms.refs));
	hist.program = lower_program(low, terms.build);
	if (!terms.failed && terms.ntexts <= HOOK_TEXTS_MAX)
		at = lower_put(low, &hist, sizeof(hist));
	else
		low->code->len = before;
	program_build_free(terms.build);
	return at;
}
