/*
 * hook/run: the filter of an event and its triggers, in their order. See hook.h for who calls and what changes underneath.
 *
 * Each act is read, its condition asked, and only then, if all that was read is what was bound, something is done.
 */
#include "hook/local.h"

bool hook_find_program(const struct hook_host *host, const struct hook_bound *bound, uint32_t offset, struct linked *linked)
{
	uint32_t at = LOAD(bound->links), n = LOAD(bound->nlinks);
	const struct hook_link *link;

	if (at > host->links_max || n > host->links_max - at)
		return false;
	for (link = host->links + at; n; n--, link++) {
		uint32_t first = LOAD(link->first);

		if (LOAD(link->program) != offset)
			continue;
		linked->program = code_at(&host->code, offset, 8);
		if (!linked->program || offset % 8 || first + PROGRAM_FIELDS_MAX > host->room)
			return false;
		linked->size = program_size(linked->program, host->code.size - offset);
		linked->uses = link->uses;
		linked->fields = host->fields + first;
		return linked->size != 0;
	}
	return false;
}

/* Stacks are up to the caller: they need room. */
void hook_input(const struct hook_host *host, const struct linked *linked, uint64_t buffer, const void *record, uint32_t len,
		struct program_input *in)
{
	*in = (struct program_input){
		.rec = record, .len = len, .cpu = host->cpu, .fields = linked->fields, .peek = host->calls->peek,
		.symbol = host->calls->symbol,
	};
	if (linked->uses & 1u << PROGRAM_TIME)
		in->ts = host->calls->now(host, buffer);
	if (linked->uses & 1u << PROGRAM_COMM)
		in->comm = host->calls->comm(host);
}

bool hook_passes(const struct hook_host *host, const struct hook_bound *bound, const void *record, uint32_t len)
{
	uint32_t filter = LOAD(bound->filter), first = LOAD(bound->first);
	struct linked linked = { .size = LOAD(bound->filter_size), .uses = bound->uses };
	struct program_input in;

	if (!filter)
		return true;
	linked.program = filter % 8 ? NULL : code_at(&host->code, filter, linked.size);
	if (!linked.program || first + PROGRAM_FIELDS_MAX > host->room)
		return false;
	linked.fields = host->fields + first;
	hook_input(host, &linked, bound->buffer, record, len, &in);
	return program_test(linked.program, linked.size, &in);
}

static bool holds(const struct hook_host *host, const struct hook_bound *bound, uint32_t cond, const void *record,
		  uint32_t len)
{
	struct program_input in;
	struct linked linked;

	if (!cond)
		return true;
	if (!hook_find_program(host, bound, cond, &linked))
		return false;
	hook_input(host, &linked, bound->buffer, record, len, &in);
	return program_test(linked.program, linked.size, &in);
}

/* May it act, as far as its count is concerned? One less then. */
static bool take_count(const struct hook_host *host, const struct hook_act *act)
{
	uint64_t *word = word_at(host, act->count), now;

	if (!(act->flags & HOOK_ACT_COUNTED))
		return true;
	if (!word)
		return false;
	now = LOAD(*word);
	while (now)
		if (__atomic_compare_exchange_n(word, &now, now - 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return true;
	return false;
}

static void give_count(const struct hook_host *host, const struct hook_act *act)
{
	uint64_t *word = word_at(host, act->count);

	if (act->flags & HOOK_ACT_COUNTED && word)
		__atomic_fetch_add(word, 1, __ATOMIC_RELAXED);
}

/* Counts only if it changes something: of several at once one does. */
static void switch_word(const struct hook_host *host, const struct hook_act *act, uint64_t value)
{
	uint64_t *word = word_at(host, act->target), before;

	if (!word)
		return;
	before = LOAD(*word);
	if (!before == !value || !take_count(host, act))
		return;
	before = __atomic_exchange_n(word, value, __ATOMIC_RELAXED);
	if (!before == !value)
		give_count(host, act);
}

/* False: nothing was done, see hook_hist_run(). */
static bool run_act(const struct hook_host *host, const struct hook_bound *bound, const struct hook_act *act,
		    const void *record, uint32_t len)
{
	switch (act->kind) {
	case HOOK_TRACEON:
	case HOOK_DISABLE_EVENT:
	case HOOK_ENABLE_HIST:
		switch_word(host, act, 0);
		break;
	case HOOK_TRACEOFF:
	case HOOK_ENABLE_EVENT:
	case HOOK_DISABLE_HIST:
		switch_word(host, act, 1);
		break;
	case HOOK_SNAPSHOT:
		if (take_count(host, act) && !host->calls->snapshot(host, bound->buffer))
			give_count(host, act);
		break;
	case HOOK_STACKTRACE:
		if (take_count(host, act))
			host->calls->write_stack(host, bound->buffer);
		break;
	case HOOK_HIST:
		return hook_hist_run(host, bound, act->hist, record, len);
	case HOOK_EMIT:
		hook_emit_run(host, bound, act->hist, record, len, NULL, NULL);
		break;
	default:
		break;
	}
	return true;
}

static bool run_acts(const struct hook_host *host, const struct hook_bound *bound, bool before, const void *record,
		     uint32_t len)
{
	uint32_t n = LOAD(bound->nacts);
	uint64_t sound = bound->sound;
	struct hook_act act;
	bool ran = false;

	n = n < HOOK_ACTS_MAX ? n : HOOK_ACTS_MAX;
	for (uint32_t i = 0; i < n; i++) {
		if (!(sound >> i & 1) || !code_copy(&host->code, bound->acts, i, &act, sizeof(act)) ||
		    hook_act_is_before(&act) != before || !holds(host, bound, act.cond, record, len))
			continue;
		if (!is_sound(host) || !run_act(host, bound, &act, record, len))
			return ran;
		ran = true;
	}
	return ran || is_sound(host);
}

bool hook_before(const struct hook_host *host, const struct hook_bound *bound, const void *record, uint32_t len)
{
	return bound->before ? run_acts(host, bound, true, record, len) : is_sound(host);
}

bool hook_after(const struct hook_host *host, const struct hook_bound *bound, const void *record, uint32_t len)
{
	struct hook_tally tally;

	if (!bound->after)
		return is_sound(host);
	if (!bound->tally.shape.parts)
		return run_acts(host, bound, false, record, len);
	tally = bound->tally;
	if (!is_sound(host))
		return false;
	hook_count(&tally, &host->tables, host->words, (uint32_t)host->cpu, record, len);
	return true;
}
