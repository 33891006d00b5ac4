/*
 * hook/bind: from the hooks of a state to what can be run on the records of one event.
 *
 * Everything that a hook reaches is looked at once: programs verified and linked, counts and offsets, tables and cells. Runs
 * in any thread and signal handler, and allocates nothing.
 */
#include <errno.h>

#include "hook/local.h"

struct binding {
	struct hook_bound *bound;
	const struct hook_code *code;
	const struct hist_tables *tables;
	const char *body;
	size_t body_len;
	struct hook_room *room;
	struct hook_link *links;	/* the hook's own */
	bool full;
};

/* Verifies and links the program there, if that was not done yet. */
static bool link_program(struct binding *binding, uint32_t offset)
{
	struct hook_bound *bound = binding->bound;
	struct hook_room *room = binding->room;
	const unsigned char *program = code_at(binding->code, offset, 8);
	uint32_t size;
	int n;

	for (uint32_t i = 0; i < bound->nlinks; i++)
		if (binding->links[i].program == offset)
			return true;
	if (!program || offset % 8)
		return false;
	size = program_size(program, binding->code->size - offset);
	if (!size || !program_verify(program, size))
		return false;
	if (room->nlinks == room->links_max || bound->nlinks == HOOK_LINKS_MAX || room->nfields > UINT16_MAX ||
	    room->nfields + PROGRAM_FIELDS_MAX > room->fields_max) {
		binding->full = true;
		return false;
	}
	n = program_link(program, size, binding->body, binding->body_len, room->fields + room->nfields);
	if (n < 0)
		return false;
	binding->links[bound->nlinks++] = (struct hook_link){
		.program = offset, .first = (uint16_t)room->nfields, .uses = (uint16_t)program_uses(program, size),
	};
	room->nlinks++;
	room->nfields += (uint32_t)n;
	return true;
}

static bool emit_ok(struct binding *binding, uint32_t at, bool own_program)
{
	struct hook_emit emit;

	if (!code_copy(binding->code, at, 0, &emit, sizeof(emit)) || emit.nfields > HOOK_EMIT_MAX || emit.fixed < 8 ||
	    emit.fixed > HOOK_STAGE_SIZE || emit.fixed % 4)
		return false;
	if (emit.nfields && !code_at(binding->code, emit.fields, emit.nfields * sizeof(struct hook_field)))
		return false;
	return emit.program ? link_program(binding, emit.program) : !own_program;
}

static bool keys_ok(const struct binding *binding, const struct hook_hist *hist)
{
	struct hook_key key;

	for (uint32_t i = 0; i < hist->nkeys; i++) {
		uint32_t size;

		if (!code_copy(binding->code, hist->keys, i, &key, sizeof(key)))
			return false;
		size = key.size + (key.with_comm ? 16u : 0);
		if (key.size < 8 || key.at % 8 || key.at > hist->shape.key_size || size > hist->shape.key_size - key.at)
			return false;
	}
	return true;
}

static bool vars_ok(const struct binding *binding, uint32_t at, uint32_t n, bool refs, uint32_t nvars)
{
	struct hook_var var;

	for (uint32_t i = 0; i < n; i++) {
		if (!code_copy(binding->code, at, i, &var, sizeof(var)))
			return false;
		if (refs && var.own) {
			if (var.number >= nvars)
				return false;
			continue;
		}
		if (!hist_cells_fit(binding->tables, var.cells, var.ncells, var.form == HOOK_TEXT || var.form == HOOK_STACK))
			return false;
	}
	return true;
}

static bool actions_ok(struct binding *binding, const struct hook_hist *hist)
{
	struct hook_action action;

	for (uint32_t i = 0; i < hist->nactions; i++) {
		if (!code_copy(binding->code, hist->actions, i, &action, sizeof(action)))
			return false;
		if (action.handler != HOOK_ONMATCH && action.track >= hist->shape.ntracks)
			return false;
		if (action.nsaves && (action.first > hist->shape.nsaves ||
				      action.nsaves > hist->shape.nsaves - action.first ||
				      !code_at(binding->code, action.saves, action.nsaves * 4ull)))
			return false;
		if (action.doing == HOOK_DO_TRACE && !emit_ok(binding, action.emit, false))
			return false;
	}
	return true;
}

static bool hist_ok(struct binding *binding, uint32_t at)
{
	struct hook_hist hist;

	return code_copy(binding->code, at, 0, &hist, sizeof(hist)) && hist.nkeys <= HOOK_KEYS_MAX &&
	       hist.nvals <= HOOK_VALS_MAX && hist.nvars <= HOOK_VARS_MAX && hist.nrefs <= HOOK_REFS_MAX &&
	       hist.nactions <= HOOK_ACTIONS_MAX && hist.shape.key_size <= HOOK_KEY_MAX && hist.shape.nvals >= hist.nvals &&
	       hist_shape_fits(binding->tables, hist.table, &hist.shape) &&
	       (!hist.nvals || code_at(binding->code, hist.vals, hist.nvals * 4ull)) &&
	       link_program(binding, hist.program) && keys_ok(binding, &hist) &&
	       vars_ok(binding, hist.vars, hist.nvars, false, 0) &&
	       vars_ok(binding, hist.refs, hist.nrefs, true, hist.nvars) && actions_ok(binding, &hist);
}

static bool act_ok(struct binding *binding, const struct hook_act *act)
{
	if (act->cond && !link_program(binding, act->cond))
		return false;
	switch (act->kind) {
	case HOOK_HIST:
		return hist_ok(binding, act->hist);
	case HOOK_EMIT:
		return emit_ok(binding, act->hist, true);
	default:
		return act->kind >= HOOK_TRACEON && act->kind <= HOOK_EMIT;
	}
}

static void bind_filter(struct binding *binding, const struct state_hook *hook)
{
	struct hook_bound *bound = binding->bound;

	if (!hook->filter)
		return;
	bound->filter = UINT32_MAX;
	if (!link_program(binding, hook->filter)) {
		if (hook->flags & HOOK_WIDE && !binding->full)
			bound->filter = 0;
		return;
	}
	bound->filter = hook->filter;
	bound->filter_size = program_size(binding->code->at + hook->filter, binding->code->size - hook->filter);
	bound->first = binding->links[0].first;
	bound->uses = binding->links[0].uses;
}

static void bind_acts(struct binding *binding, const struct state_hook *hook)
{
	struct hook_bound *bound = binding->bound;
	struct hook_act act;

	bound->acts = hook->acts;
	bound->nacts = hook->nacts < HOOK_ACTS_MAX ? hook->nacts : HOOK_ACTS_MAX;
	for (uint32_t i = 0; i < bound->nacts; i++) {
		if (!code_copy(binding->code, hook->acts, i, &act, sizeof(act)) || !act_ok(binding, &act))
			continue;
		bound->sound |= 1ull << i;
		if (hook_act_is_before(&act))
			bound->before = 1;
		else
			bound->after = 1;
	}
}

/* All that most histograms are. */
static void bind_tally(struct binding *binding)
{
	struct hook_bound *bound = binding->bound;
	const struct hook_code *code = binding->code;
	struct program_field field;
	struct hook_hist hist;
	struct hook_act act;
	struct hook_key key;

	if (bound->nacts != 1 || bound->sound != 1 || !code_copy(code, bound->acts, 0, &act, sizeof(act)) ||
	    act.kind != HOOK_HIST || act.cond || !code_copy(code, act.hist, 0, &hist, sizeof(hist)) || hist.nkeys != 1 ||
	    hist.nvals || hist.nvars || hist.nrefs || hist.nactions || hist.shape.key_size != 8 ||
	    !code_copy(code, hist.keys, 0, &key, sizeof(key)) || key.form != HOOK_NUMBER || key.at)
		return;
	for (uint32_t i = 0; i < bound->nlinks; i++)
		if (binding->links[i].program == hist.program &&
		    program_quick_field(code->at + hist.program, code->size - hist.program, key.root,
					binding->room->fields + binding->links[i].first, &field))
			bound->tally = (struct hook_tally){
				.table = hist.table, .shape = hist.shape, .key = field, .pause = hist.pause,
			};
}

int hook_bind(struct hook_bound *bound, const struct state_hook *hook, const struct hook_code *code, uint32_t event,
	      const char *body, size_t body_len, const struct hist_tables *tables, struct hook_room *room)
{
	struct binding binding = {
		.bound = bound, .code = code, .tables = tables, .body = body, .body_len = body_len, .room = room,
		.links = room->links + room->nlinks,
	};

	*bound = (struct hook_bound){
		.event = event,
		.buffer = hook->buffer < 63 ? 1ull << hook->buffer : 0,
		.soft = hook->flags & HOOK_SOFT ? hook->soft : 0,
		.links = room->nlinks,
	};
	bind_filter(&binding, hook);
	bind_acts(&binding, hook);
	bind_tally(&binding);
	return binding.full ? -ENOSPC : 0;
}

int hook_bind_emit(struct hook_bound *bound, uint32_t emit, const struct hook_code *code, const char *body, size_t body_len,
		   const struct hist_tables *tables, struct hook_room *room)
{
	struct binding binding = {
		.bound = bound, .code = code, .tables = tables, .body = body, .body_len = body_len, .room = room,
		.links = room->links + room->nlinks,
	};

	*bound = (struct hook_bound){ .links = room->nlinks };
	return emit_ok(&binding, emit, true) ? 0 : binding.full ? -ENOSPC : -EINVAL;
}

uint32_t hook_probe_event(const struct hook_bound *bound, const struct hook_code *code, uint32_t n)
{
	struct hook_act act;
	struct hook_emit emit;

	if (n >= HOOK_ACTS_MAX || !(bound->sound >> n & 1) || !code_copy(code, bound->acts, n, &act, sizeof(act)) ||
	    act.kind != HOOK_EMIT || !code_copy(code, act.hist, 0, &emit, sizeof(emit)))
		return 0;
	return emit.event;
}
