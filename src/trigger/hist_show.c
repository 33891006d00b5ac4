/*
 * trigger/hist_show: a histogram as `trigger` and the head of `hist` show it: the line that was written, with what it left
 * out filled in and literals folded.
 */
#include <inttypes.h>
#include <string.h>

#include "trigger/hist.h"

static const char *const modifier_names[] = {
	[SPEC_HEX] = "hex", [SPEC_SYM] = "sym", [SPEC_SYM_OFFSET] = "sym-offset", [SPEC_EXECNAME] = "execname",
	[SPEC_SYSCALL] = "syscall", [SPEC_LOG2] = "log2", [SPEC_BUCKETS] = "buckets", [SPEC_USECS] = "usecs",
	[SPEC_STACKTRACE] = "stacktrace", [SPEC_PERCENT] = "percent", [SPEC_GRAPH] = "graph", [SPEC_QUANTILES] = "quantiles",
	[SPEC_STRING] = "string",
};

static void show_modifier(enum spec_how how, struct buf *out)
{
	if (how != SPEC_PLAIN) {
		buf_putc(out, '.');
		buf_puts(out, modifier_names[how]);
	}
}

static void show_var(const struct spec_term *term, struct buf *out)
{
	if (term->is_full)
		buf_printf(out, "%s.%s.", term->system, term->event);
	buf_puts(out, term->name);
}

/* One side of an operator. Microseconds are told of expressions too. */
static void show_operand(const struct spec_term *term, struct buf *out)
{
	switch (term->what) {
	case SPEC_VAR:
		buf_putc(out, '$');
		show_var(term, out);
		break;
	case SPEC_NUMBER:
		buf_printf(out, "%" PRIu64, term->number);
		break;
	case SPEC_MATH:
	case SPEC_NEG:
		hist_echo_name(term, out);
		if (hist_is_usecs(term))
			buf_puts(out, ".usecs");
		break;
	default:
		buf_puts(out, term->name);
		show_modifier(term->how, out);
		if (term->how == SPEC_BUCKETS)
			buf_printf(out, "=%" PRIu64, term->number);
		break;
	}
}

/* What sort= calls it: without $ and modifiers, expressions in full. */
void hist_echo_name(const struct spec_term *term, struct buf *out)
{
	switch (term->what) {
	case SPEC_VAR:
		show_var(term, out);
		break;
	case SPEC_NUMBER:
		break;
	case SPEC_MATH:
		show_operand(term->a, out);
		buf_putc(out, (char)term->op);
		show_operand(term->b, out);
		break;
	case SPEC_NEG:
		buf_puts(out, "-(");
		if (term->a->what == SPEC_MATH || term->a->what == SPEC_NEG)
			hist_echo_name(term->a, out);
		else
			show_operand(term->a, out);
		buf_putc(out, ')');
		break;
	default:
		buf_puts(out, term->name);
		break;
	}
}

void hist_echo_term(const struct spec_term *term, bool is_key, struct buf *out)
{
	switch (term->what) {
	case SPEC_VAR:
		buf_putc(out, '$');
		show_var(term, out);
		return;
	case SPEC_NUMBER:
		buf_printf(out, "%" PRIu64, term->number);
		return;
	case SPEC_CPU:
		buf_puts(out, "common_cpu");
		break;
	default:
		hist_echo_name(term, out);
		break;
	}
	if (term->what == SPEC_FIELD && term->form == HOOK_STACK) {
		if (is_key)
			buf_puts(out, ".stacktrace");
		return;
	}
	if (term->what == SPEC_MATH || term->what == SPEC_NEG || term->what == SPEC_STACK)
		return;
	show_modifier(term->how, out);
	if (term->how == SPEC_BUCKETS)
		buf_printf(out, "=%" PRIu64, term->number);
}

static void show_vars(const struct spec_hist *hist, struct buf *out)
{
	for (uint32_t i = 0; i < hist->nvars; i++) {
		const struct spec_term *value = hist->vars[i].value;

		buf_printf(out, "%c%s=", i ? ',' : ':', hist->vars[i].name);
		hist_echo_term(value, false, out);
		/* A variable that is another one is told to be of microseconds. */
		if (value->what == SPEC_VAR)
			show_modifier(value->how, out);
	}
}

static void show_sorts(const struct spec_hist *hist, struct buf *out)
{
	buf_puts(out, ":sort=");
	for (uint32_t i = 0; i < hist->nsorts; i++) {
		const struct spec_sort *sort = &hist->sorts[i];

		buf_puts(out, i ? "," : "");
		if (sort->key >= 0)
			hist_echo_term(hist->keys[sort->key], false, out);
		else if (sort->val >= 0)
			hist_echo_term(hist->vals[sort->val], false, out);
		else
			buf_puts(out, "hitcount");
		buf_puts(out, sort->descending ? ".descending" : "");
	}
}

static void show_action(const struct spec_action *action, struct buf *out)
{
	const char *comma = "";

	if (action->handler == HOOK_ONMATCH)
		buf_printf(out, ":onmatch(%s.%s).", action->match_system, action->match_event);
	else
		buf_printf(out, ":%s($%s).", action->handler == HOOK_ONMAX ? "onmax" : "onchange", action->value->name);
	switch (action->doing) {
	case HOOK_DO_TRACE:
		if (action->legacy) {
			buf_printf(out, "%s(", action->synth);
		} else {
			buf_printf(out, "trace(%s", action->synth);
			comma = ",";
		}
		break;
	case HOOK_DO_SAVE:
		buf_puts(out, "save(");
		break;
	default:
		buf_puts(out, "snapshot(");
		break;
	}
	for (uint32_t i = 0; i < action->nparams; i++) {
		buf_printf(out, "%s%s", comma, action->param_texts[i]);
		comma = ",";
	}
	buf_putc(out, ')');
}

void hist_echo(const struct spec_hist *hist, bool paused, struct buf *out)
{
	buf_puts(out, "hist:");
	if (hist->name[0])
		buf_printf(out, "name=%s:", hist->name);
	buf_puts(out, "keys=");
	for (uint32_t i = 0; i < hist->nkeys; i++) {
		buf_puts(out, i ? "," : "");
		hist_echo_term(hist->keys[i], true, out);
	}
	buf_puts(out, hist->nohitcount ? ":vals=" : ":vals=hitcount");
	for (uint32_t i = 0; i < hist->nvals; i++) {
		buf_puts(out, i || !hist->nohitcount ? "," : "");
		hist_echo_term(hist->vals[i], false, out);
	}
	show_vars(hist, out);
	show_sorts(hist, out);
	buf_printf(out, ":size=%u", hist->size);
	if (hist->uses_time)
		buf_printf(out, ":clock=%s", hist->clock);
	buf_puts(out, hist->nohitcount ? ":nohitcount" : "");
	for (uint32_t i = 0; i < hist->nactions; i++)
		show_action(hist->actions[i], out);
	if (hist->filter)
		buf_printf(out, " if %s", hist->filter);
	buf_puts(out, paused ? " [paused]" : " [active]");
}
