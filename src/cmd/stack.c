/*
 * cmd/stack: the deepest stack that was seen: of programs, or of the kernel, whose stack tracer is this one's model.
 *
 *	stack_tracer_enabled | command ... | stack_trace | as it was
 *
 * There is one for the whole source. The kernel has its switch among its settings: source/files leads there.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/interrupt.h"
#include "cmd/live.h"
#include "cmd/pager.h"
#include "cmd/planner.h"
#include "cmd/setup.h"

#define SWITCH "stack_tracer_enabled"

static const struct opt stack_opts[] = {
	{ 0, "start", NULL, "switch it on" },
	{ 0, "stop", NULL, "switch it off; what was seen stays" },
	{ 0, "reset", NULL, "forget how deep it was: from now on any stack is the deepest" },
	LIVE_OPTS,
	{ 0, NULL, NULL, NULL },
};

struct stack {
	struct live live;
	struct planner planner;
	struct setup *setup;	/* what is changed while a command lasts */
};

/* As many lines as there is room for: the innermost frames come first. */
static int draw(struct live *live, uint32_t width, uint32_t height, struct buf *out)
{
	struct buf text = BUF_INIT;
	uint32_t lines = 0;
	int r = source_read(live->source, "stack_trace", &text, &live->err);

	(void)width;
	for (const char *at = r ? NULL : text.data; at && *at && (!height || lines < height); lines++) {
		size_t len = strcspn(at, "\n");

		len += at[len] == '\n';
		buf_add(out, at, len);
		at += len;
	}
	buf_fini(&text);
	return r;
}

static int print(struct live *live, const struct opts *opts)
{
	struct buf out = BUF_INIT;
	int r = draw(live, 0, 0, &out);

	if (!r)
		r = pager_show(opts, &out, &live->err);
	buf_fini(&out);
	return r;
}

static int put(struct live *live, const char *file, const char *text)
{
	return source_write(live->source, file, text, strlen(text), false, &live->err);
}

static bool is_on(struct live *live)
{
	struct buf text = BUF_INIT;
	bool on = !source_read(live->source, SWITCH, &text, NULL) && text.data && *text.data == '1';

	buf_fini(&text);
	return on;
}

/* One thing, at once. */
static int act(struct stack *stack, const struct opts *opts)
{
	struct live *live = &stack->live;
	int r;

	if (opts_value(opts, "start")) {
		/* Who was killed would else have it taken away again by whoever comes next. */
		r = setup_sweep(live->source, &live->err);
		r = r < 0 ? r : put(live, SWITCH, "1");
		if (!r && !live->quiet)
			cmd_say_unreached(live->source);
	} else if (opts_value(opts, "stop")) {
		r = put(live, SWITCH, "0");
	} else if (opts_value(opts, "reset")) {
		r = put(live, "stack_max_size", "0");
	} else {
		r = print(live, opts);
	}
	return r ? cmd_fail(&live->err) : CMD_DONE;
}

static int begin(struct stack *stack, const struct opts *opts)
{
	struct live *live = &stack->live;
	int r = setup_sweep(live->source, &live->err);

	/* One who was killed has left it on: not any more. */
	if (r >= 0 && is_on(live))
		return err_set(&live->err, -EBUSY, "stacks are measured there already: `ringside stack` shows the deepest, "
			       "`ringside stack --stop` ends it");
	if (r >= 0)
		r = live->control ? planner_start(&stack->planner, live->source, opts, live->quiet, &live->err) : 0;
	if (!r)
		r = setup_lend(&stack->setup, live->source, &live->err);
	if (!r)
		r = put(live, "stack_max_size", "0");
	if (!r)
		r = setup_put(stack->setup, SWITCH, "1", false, &live->err);
	if (!r && !live->quiet)
		cmd_say_unreached(live->source);
	return r;
}

static int measure(struct stack *stack, const struct opts *opts)
{
	struct err err = ERR_INIT;
	int status;

	interrupt_catch();
	status = begin(stack, opts) ? cmd_fail(&stack->live.err) : live_run(&stack->live);
	if (stack->setup && setup_undo(stack->setup, &err))
		cmd_say("%s", err.text);
	setup_close(stack->setup);
	planner_end(&stack->planner);
	return status;
}

static int run(const struct opts *opts)
{
	struct stack stack = { .live = { .err = ERR_INIT, .draw = draw } };
	struct live *live = &stack.live;
	int actions = !!opts_value(opts, "start") + !!opts_value(opts, "stop") + !!opts_value(opts, "reset");
	bool measures = opts->nargs || opts_value(opts, "for");
	int status;

	if (actions + measures > 1)
		return cmd_misuse(&cmd_stack, "stack: one thing at a time: --start, --stop, --reset, or a command or --for");
	status = live_ask(live, &cmd_stack, opts, 0);
	if (status)
		return status;
	if (cmd_open(&live->source, opts, measures || opts_value(opts, "start"), &live->err)) {
		status = cmd_fail(&live->err);
	} else {
		live->control = source_control(live->source);
		status = measures ? measure(&stack, opts) : act(&stack, opts);
	}
	live_close(live);
	return status;
}

const struct cmd cmd_stack = {
	.name = "stack",
	.synopsis = "[--start | --stop | --reset]\n"
		    "       ringside stack [--for TIME] [-q] [--] [COMMAND [ARGUMENT]...]",
	.summary = "show the deepest stack",
	.text = "Prints the deepest stack that was seen while the stack tracer was on: of programs, where\n"
		"functions are entered, or with --kernel of the kernel: each frame with the depth there\n"
		"and what it takes. With a command, or a time, the tracer is on for as long, and forgets\n"
		"first what it saw before.\n",
	.opts = stack_opts,
	.arg = "COMMAND",
	.args_max = -1,
	.verbatim = -1,
	.run = run,
};
