/*
 * control/poke: see poke.h.
 */
#include "control/poke.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "inject/inject.h"

static uint32_t add_text(uint32_t sum, const char *text)
{
	return text ? crc32c(sum, text, strlen(text) + 1) : sum + 1;
}

/* Does it matter to code, as its buffer is now? */
static bool is_in_use(const struct control_state *state, const struct state_func *func)
{
	uint32_t tracer = state->buffers[func->buffer].tracer;

	if (func->kind == STATE_FUNC_ACT || (state->buffers[func->buffer].profile && func->kind != STATE_FUNC_DEEP))
		return true;
	if (func->kind == STATE_FUNC_DEEP)
		return state->measure.deep;
	return func->kind == STATE_FUNC_ONLY || func->kind == STATE_FUNC_NOT ? tracer != TRACER_NOP : tracer == TRACER_GRAPH;
}

uint64_t control_traced(const struct control_state *state)
{
	bool any = state->measure.deep;
	uint32_t sum = any;

	for (uint32_t b = 0; b < state->nbuffers; b++) {
		const struct state_buffer *buffer = &state->buffers[b];
		uint64_t what[] = {
			b, buffer->born, buffer->tracer, buffer->profile, tracer_wants_args(buffer->tracer, buffer->tracer_flags),
		};

		if (!buffer->born || (buffer->tracer == TRACER_NOP && !buffer->profile))
			continue;
		sum = crc32c(sum, what, sizeof(what));
		any = true;
	}
	for (uint32_t i = 0; i < state->nfuncs; i++) {
		const struct state_func *func = &state->funcs[i].func;
		uint32_t what[] = { func->buffer, func->kind, func->flags };

		if (!is_in_use(state, func))
			continue;
		sum = crc32c(sum, what, sizeof(what));
		sum = add_text(add_text(sum, state->funcs[i].name), state->funcs[i].module);
		any = true;
	}
	return any ? 1ull << 32 | sum : 0;
}

/* A grandchild, so that nobody has to wait for it. */
static void poke_aside(const struct control *control)
{
	pid_t child = fork();

	if (!child) {
		if (!fork())
			inject_poke_all(control->dir.path, NULL);
		_exit(0);
	}
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
}

void control_poke(struct control *control)
{
	bool same = control_traced(&control->state) == control->traced && !control->retell;

	control->retell = false;
	if (same)
		return;
	control->unreached = 0;
	control->why_unreached = (struct err)ERR_INIT;
	if (control->aside)
		poke_aside(control);
	else
		control->unreached = inject_poke_all(control->dir.path, &control->why_unreached);
}
