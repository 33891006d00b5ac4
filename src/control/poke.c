/*
 * control/poke: see poke.h.
 */
#include "control/poke.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "inject/inject.h"
#include "inject/process.h"
#include "layout/calls.h"
#include "layout/probe.h"

#define ASIDE_MS 30000

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

/* What probes at instructions ask for: those that are wanted. */
static bool add_probes(const struct control_state *state, uint32_t *sum)
{
	const struct state_probe *probe = (const struct state_probe *)(const void *)state->probes.data;
	bool any = false;

	for (size_t n = state->probes.len / sizeof(*probe); n; n--, probe++) {
		if (!(probe->flags & PROBE_WANTED))
			continue;
		*sum = crc32c(*sum, &probe->serial, sizeof(probe->serial));
		any = true;
	}
	return any;
}

uint64_t control_traced(const struct control_state *state)
{
	const struct state_calls *of_calls = (const struct state_calls *)(const void *)state->calls.data;
	const bool calls = state->calls.len != 0, deliver = calls && of_calls->deliver_id;
	bool any = state->measure.deep || calls || state->kmalloc || state->kfree;
	uint32_t sum = state->measure.deep | (uint32_t)calls << 1 | (state->kmalloc ? 4u : 0u) | (state->kfree ? 8u : 0u) |
		       (uint32_t)deliver << 4;

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
	any |= add_probes(state, &sum);
	return any ? 1ull << 32 | sum : 0;
}

/*
 * Who asked for it cannot be stopped before it has its answer: all the others are told, it is held, a word says that it may have its
 * answer, and on its way back it is told, too.
 */
static void poke_and_tell(const struct control *control, int to)
{
	struct process asker;
	pid_t last = control->asker > 0 && !process_read(&asker, control->asker) ? asker.tgid : 0;
	ssize_t n;

	inject_poke_all(control->dir.path, last, NULL);
	if (last && !inject_poke_waiting(control->asker, control->dir.path, to, NULL))
		return;
	do
		n = write(to, "", 1);
	while (n < 0 && errno == EINTR);
}

/* By a grandchild, so that nobody has to wait for its end. */
static void poke_aside(const struct control *control)
{
	struct pollfd word = { .events = POLLIN };
	int ends[2];
	pid_t child;

	if (pipe2(ends, O_CLOEXEC))
		return;
	child = fork();
	if (!child) {
		if (!fork())
			poke_and_tell(control, ends[1]);
		_exit(0);
	}
	close(ends[1]);
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	word.fd = ends[0];
	while (child > 0 && poll(&word, 1, ASIDE_MS) < 0 && errno == EINTR)
		;
	close(ends[0]);
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
		control->unreached = inject_poke_all(control->dir.path, 0, &control->why_unreached);
}
