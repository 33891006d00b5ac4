/*
 * func/select: which functions the state wants, and for what. Patterns of the state against names; see struct state_func.
 */
#include <string.h>
#include <sys/mman.h>

#include "base/glob.h"
#include "func/point.h"

#if defined(__x86_64__) && !defined(__ILP32__)

static const struct state_func *lines_of(const struct state_head *state)
{
	return (const void *)((const char *)state + state->funcs);
}

static const struct state_measure *measure_of(const struct state_head *state)
{
	return state->measure ? (const void *)((const char *)state + state->measure) : NULL;
}

/* A text of the state; NULL: it does not end there. */
static const char *text_of(const struct state_head *state, uint32_t offset)
{
	const char *text = (const char *)state + offset;

	if (offset < sizeof(*state) || offset >= state->size || !memchr(text, '\0', state->size - offset))
		return NULL;
	return text;
}

/* A look at the state where it lies: it may change meanwhile, but then whoever changed it tells us. */
bool func_may_be_wanted(void)
{
	uint64_t published = LOAD_ACQUIRE(runtime.control->published), offset = (published & CONTROL_PLACE_MASK) * 4096;
	const struct state_head *state = (const void *)((const char *)runtime.control + offset);
	const struct state_buffer *buffer;
	uint32_t n, at, measure;

	if (!published || offset < CONTROL_FIRST_STATE || offset > runtime.control_window - CONTROL_STATE_MAX)
		return false;
	n = LOAD(state->nbuffers);
	at = LOAD(state->buffers);
	measure = LOAD(state->measure);
	if (LOAD(state->nfuncs) || LOAD(state->calls) || LOAD(state->nprobes) || LOAD(state->kmalloc) || LOAD(state->kfree) ||
	    n > STATE_BUFFERS_MAX || at % 8 || at > CONTROL_STATE_MAX - STATE_BUFFERS_MAX * sizeof(*buffer) ||
	    measure % 8 || measure > CONTROL_STATE_MAX - sizeof(struct state_measure))
		return true;
	if (measure && LOAD(((const struct state_measure *)(const void *)((const char *)state + measure))->deep))
		return true;
	buffer = (const void *)((const char *)state + at);
	for (uint32_t b = 0; b < n; b++)
		if (LOAD(buffer[b].tracer) || LOAD(buffer[b].profile))
			return true;
	return false;
}

bool func_select_begin(struct func_selection *selection)
{
	struct state_head *state = mmap(NULL, CONTROL_STATE_MAX, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct state_buffer *buffers;

	*selection = (struct func_selection){ 0 };
	if (state == MAP_FAILED)
		return false;
	if (!runtime_state_copy(state)) {
		munmap(state, CONTROL_STATE_MAX);
		return false;
	}
	selection->state = state;
	buffers = (const void *)((const char *)state + state->buffers);
	for (uint32_t i = 0; i < state->nfuncs; i++)
		selection->acts |= lines_of(state)[i].kind == STATE_FUNC_ACT;
	selection->profile = state->nbuffers && buffers[0].profile && measure_of(state);
	selection->deep = measure_of(state) && measure_of(state)->deep;
	for (uint32_t b = 0; b < state->nbuffers; b++) {
		if (!buffers[b].born || !buffers[b].live.offset)
			continue;
		if (buffers[b].tracer == TRACER_FUNCTION)
			selection->functions |= 1ull << b;
		if (buffers[b].tracer == TRACER_GRAPH)
			selection->graphs |= 1ull << b;
		if (tracer_wants_args(buffers[b].tracer, buffers[b].tracer_flags))
			selection->args |= 1ull << b;
	}
	selection->points = func_points_any(selection);
	selection->calls = state->calls && sys_thunk;
	func_allocator_select(selection);
	return true;
}

void func_select_end(struct func_selection *selection)
{
	if (selection->state)
		munmap((void *)(uintptr_t)selection->state, CONTROL_STATE_MAX);
	selection->state = NULL;
}

static bool matches(const struct state_head *state, const struct state_func *line, const char *name, const char *module)
{
	const char *pattern = text_of(state, line->name), *file = line->module ? text_of(state, line->module) : NULL;

	if (!pattern || (line->module && !file))
		return false;
	return glob_match(pattern, name) && (!file || glob_match(file, module));
}

void func_select(const struct func_selection *selection, const char *name, const char *module, struct func_wanted *wanted)
{
	const struct state_head *state = selection->state;
	const struct state_func *line = lines_of(state);
	const uint64_t rooted = selection->graphs | selection->profile;
	uint64_t in[STATE_FUNC_DEEP + 1] = { 0 }, has[STATE_FUNC_DEEP + 1] = { 0 }, all;

	for (uint32_t i = 0; i < state->nfuncs; i++, line++) {
		uint64_t bit = line->buffer < STATE_BUFFERS_MAX ? 1ull << line->buffer : 0;

		if (line->kind < STATE_FUNC_ONLY || line->kind > STATE_FUNC_DEEP)
			continue;
		has[line->kind] |= bit;
		if (!matches(state, line, name, module))
			continue;
		if (line->flags & STATE_FUNC_OUT)
			in[line->kind] &= ~bit;
		else
			in[line->kind] |= bit;
	}
	all = (~has[STATE_FUNC_ONLY] | in[STATE_FUNC_ONLY]) & ~in[STATE_FUNC_NOT];
	*wanted = (struct func_wanted){
		.function = selection->functions & all,
		.graph = selection->graphs & all,
		.root = rooted & in[STATE_FUNC_ROOT],
		.not_root = rooted & in[STATE_FUNC_NOT_ROOT],
		.acts = in[STATE_FUNC_ACT],
		.profile = selection->profile && all & 1,
		.deep = selection->deep && (~has[STATE_FUNC_DEEP] | in[STATE_FUNC_DEEP]) & 1,
		.args = (selection->functions | selection->graphs) & selection->args & all,
	};
}

#endif
