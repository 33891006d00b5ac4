/*
 * hist/show: see show.h. Rows come in, text goes out; pure.
 *
 * What a row's bytes say is checked where it is read: a text may lack its end, a stack claim more addresses than there are.
 */
#include "hist/show.h"

#include <inttypes.h>
#include <string.h>

#include "trigger/lower.h"

#define BAR 20
#define COMM 16

/* How a histogram's rows are read. */
struct view {
	const struct spec_hist *hist;
	const struct hist_names *names;
	struct hook_key keys[HOOK_KEYS_MAX];
	uint64_t total[HOOK_VALS_MAX];
	uint64_t max[HOOK_VALS_MAX];
};

static void view_init(struct view *view, const struct spec_hist *hist, const struct hist_names *names)
{
	uint32_t hash_size;

	memset(view, 0, sizeof(*view));
	view->hist = hist;
	view->names = names;
	lower_hist_keys(hist, view->keys, &hash_size);
}

/* ---- Names ---- */

static void put_term(const struct spec_term *term, struct buf *out)
{
	if (!term)
		return;
	switch (term->what) {
	case SPEC_MATH:
		put_term(term->a, out);
		buf_putc(out, (char)term->op);
		put_term(term->b, out);
		return;
	case SPEC_NEG:
		buf_puts(out, "-(");
		put_term(term->a, out);
		buf_putc(out, ')');
		return;
	case SPEC_TIMESTAMP:
		buf_puts(out, term->how == SPEC_USECS ? "common_timestamp.usecs" : "common_timestamp");
		return;
	default:
		hist_term_show(term, out);
	}
}

void hist_term_show(const struct spec_term *term, struct buf *out)
{
	switch (term->what) {
	case SPEC_HITCOUNT:
		buf_puts(out, "hitcount");
		return;
	case SPEC_TIMESTAMP:
		buf_puts(out, "common_timestamp");
		return;
	case SPEC_CPU:
		buf_puts(out, term->name[0] ? term->name : "common_cpu");
		return;
	case SPEC_STACK:
		buf_puts(out, "common_stacktrace");
		return;
	case SPEC_COMM:
		buf_puts(out, "common_comm");
		return;
	case SPEC_NUMBER:
		buf_printf(out, "%" PRIu64, term->number);
		return;
	case SPEC_VAR:
		buf_printf(out, "$%s", term->name);
		return;
	case SPEC_MATH:
	case SPEC_NEG:
		put_term(term, out);
		return;
	case SPEC_FIELD:
		buf_puts(out, term->name);
	}
}

/* ---- Keys ---- */

static uint64_t number_at(const unsigned char *at)
{
	uint64_t number;

	memcpy(&number, at, 8);
	return number;
}

/* From `start` on, what was put is to be at least `width` wide. */
static void pad(struct buf *out, size_t start, size_t width)
{
	while (!buf_failed(out) && out->len - start < width)
		buf_putc(out, ' ');
}

static void put_symbol(const struct view *view, uint64_t address, bool offset, struct buf *out)
{
	const struct hist_names *names = view->names;

	if (!names || !names->symbol || !names->symbol(names->arg, address, offset, out))
		buf_printf(out, "0x%" PRIx64, address);
}

static void put_padded_symbol(const struct view *view, uint64_t address, bool offset, struct buf *out)
{
	size_t start;

	buf_printf(out, "[%" PRIx64 "] ", address);
	start = out->len;
	put_symbol(view, address, offset, out);
	pad(out, start, offset ? 55 : 45);
}

static void put_execname(const struct view *view, const struct hook_key *key, const unsigned char *at, struct buf *out)
{
	const struct hist_names *names = view->names;
	uint64_t pid = number_at(at);
	const char *comm = key->with_comm ? (const char *)at + 8 : "";

	if (!comm[0] && names && names->comm)
		comm = names->comm(names->arg, (int32_t)pid);
	buf_printf(out, "%-16.*s[%10" PRIu64 "]", COMM, comm && comm[0] ? comm : "<...>", pid);
}

static void put_syscall(const struct view *view, uint64_t number, struct buf *out)
{
	const struct hist_names *names = view->names;
	const char *name = names && names->syscall ? names->syscall(names->arg, number) : hist_syscall(number);

	buf_printf(out, "%-30s[%3" PRIu64 "]", name ? name : "unknown_syscall", number);
}

static void put_stack(const struct view *view, const unsigned char *at, struct buf *out)
{
	uint64_t n = number_at(at);

	for (uint64_t i = 0; i < n && i < TABLE_STACK_MAX; i++) {
		buf_puts(out, "         ");
		put_symbol(view, number_at(at + 8 + 8 * i), true, out);
		buf_putc(out, '\n');
	}
}

static void put_real(const unsigned char *at, struct buf *out)
{
	double real;

	memcpy(&real, at, sizeof(real));
	buf_printf(out, "%10g", real);
}

static void put_plain(const struct hook_key *key, const unsigned char *at, struct buf *out)
{
	if (key->form == HOOK_TEXT)
		buf_printf(out, "%-50.*s", (int)key->size, (const char *)at);
	else if (key->form == HOOK_REAL)
		put_real(at, out);
	else
		buf_printf(out, "%10" PRIu64, number_at(at));
}

/* What stands behind the colon. */
static void put_key(const struct view *view, const struct hist_row *row, uint32_t i, struct buf *out)
{
	const struct spec_term *term = view->hist->keys[i];
	const struct hook_key *key = &view->keys[i];
	const unsigned char *at = row->key + key->at;
	uint64_t number = number_at(at);

	if (key->form == HOOK_STACK) {
		put_stack(view, at, out);
		return;
	}
	switch (term->how) {
	case SPEC_HEX:
		buf_printf(out, "%" PRIx64, number);
		return;
	case SPEC_SYM:
	case SPEC_SYM_OFFSET:
		put_padded_symbol(view, number, term->how == SPEC_SYM_OFFSET, out);
		return;
	case SPEC_EXECNAME:
		put_execname(view, key, at, out);
		return;
	case SPEC_SYSCALL:
		put_syscall(view, number, out);
		return;
	case SPEC_LOG2:
		buf_printf(out, "~ 2^%-2" PRIu64, number);
		return;
	case SPEC_BUCKETS:
		buf_printf(out, "~ %" PRIu64 "-%" PRIu64, number, number + term->number - 1);
		return;
	default:
		put_plain(key, at, out);
	}
}

static void put_keys(const struct view *view, const struct hist_row *row, struct buf *out)
{
	bool lines = false;

	buf_puts(out, "{ ");
	for (uint32_t i = 0; i < view->hist->nkeys; i++) {
		const struct spec_term *term = view->hist->keys[i];
		bool stack = view->keys[i].form == HOOK_STACK;

		buf_puts(out, i ? ", " : "");
		hist_term_show(term, out);
		/* As the kernel has it: the stack of a field begins in the same line. */
		if (stack)
			buf_puts(out, term->what == SPEC_STACK ? ":\n" : ".stacktrace");
		else
			buf_puts(out, ": ");
		put_key(view, row, i, out);
		lines |= stack;
	}
	buf_puts(out, lines ? "}" : " }");
}

void hist_show_key(const struct hist_row *row, const struct spec_hist *hist, uint32_t key, const struct hist_names *names,
		   struct buf *out)
{
	struct view view;

	view_init(&view, hist, names);
	if (key < hist->nkeys && key < HOOK_KEYS_MAX)
		put_key(&view, row, key, out);
}

/* ---- Values ---- */

uint64_t hist_value(const struct hist_row *row, const struct spec_hist *hist, uint32_t val)
{
	return hist->vals[val]->what == SPEC_HITCOUNT ? row->hits : row->vals[val];
}

const uint64_t *hist_spread(const struct hist_row *row, const struct spec_hist *hist, uint32_t val)
{
	uint32_t before = 0;

	for (uint32_t i = 0; i < val; i++)
		before += hist->vals[i]->how == SPEC_QUANTILES;
	return hist->vals[val]->how == SPEC_QUANTILES ? row->spreads + (size_t)before * TABLE_SPREAD : NULL;
}

uint64_t hist_quantile(const uint64_t *spread, uint32_t share)
{
	uint64_t n = 0, rank, sum = 0;
	uint32_t i;

	for (i = 0; i < TABLE_SPREAD; i++)
		n += spread[i];
	rank = n / 100000 * share + (n % 100000 * share + 99999) / 100000;
	for (i = 0; i < TABLE_SPREAD; i++) {
		sum += spread[i];
		if (sum && sum >= rank)
			return table_spread_high(i);
	}
	return 0;
}

/* Hundredths of a percent, counted as the kernel does; UINT32_MAX of something in nothing. */
static uint32_t share_of(uint64_t val, uint64_t total)
{
	if (!total)
		return val ? UINT32_MAX : 0;
	if (val < UINT64_MAX / 10000)
		return (uint32_t)(val * 10000 / total);
	total /= 10000;
	return total ? (uint32_t)(val / total) : UINT32_MAX;
}

static void put_share(uint64_t val, uint64_t total, struct buf *out)
{
	uint32_t share = share_of(val, total);

	if (share == UINT32_MAX)
		buf_puts(out, " (%):[ERROR]");
	else
		buf_printf(out, " (%%): %3u.%02u", share / 100, share % 100);
}

static void put_bar(uint64_t val, uint64_t max, struct buf *out)
{
	uint32_t share = share_of(val, max), n = share < 10000 ? share * BAR / 10000 : BAR;
	char bar[BAR + 1];

	memset(bar, ' ', BAR);
	memset(bar, '#', n);
	bar[BAR] = '\0';
	buf_printf(out, ": %20s", share == UINT32_MAX ? "[ERROR]" : bar);
}

static void put_quantiles(const uint64_t *spread, struct buf *out)
{
	static const struct {
		const char *name;
		uint32_t share;
	} shown[] = { { "p50", 50000 }, { "p90", 90000 }, { "p99", 99000 }, { "p99.9", 99900 } };

	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
		buf_printf(out, " %s: %10" PRIu64, shown[i].name, hist_quantile(spread, shown[i].share));
}

static void put_value(const struct view *view, const struct hist_row *row, uint32_t i, struct buf *out)
{
	const struct spec_term *term = view->hist->vals[i];
	uint64_t val = hist_value(row, view->hist, i);

	/* The kernel sums expressions up and shows nothing of it. */
	if (term->how != SPEC_QUANTILES && (term->what == SPEC_MATH || term->what == SPEC_NEG))
		return;
	buf_puts(out, "  ");
	hist_term_show(term, out);
	switch (term->how) {
	case SPEC_PERCENT:
		put_share(val, view->total[i], out);
		return;
	case SPEC_GRAPH:
		put_bar(val, view->max[i], out);
		return;
	case SPEC_QUANTILES:
		put_quantiles(hist_spread(row, view->hist, i), out);
		return;
	case SPEC_HEX:
		buf_printf(out, ": %10" PRIx64, val);
		return;
	default:
		buf_printf(out, ": %10" PRIu64, val);
	}
}

/* ---- What onmax() and onchange() keep ---- */

static bool tracks(const struct spec_action *action)
{
	return action->handler == HOOK_ONMAX || action->handler == HOOK_ONCHANGE;
}

static void put_saved(const struct spec_action *action, const struct table_save *saves, struct buf *out)
{
	for (uint32_t i = 0; i < action->nparams; i++) {
		const struct spec_term *param = action->params[i];

		buf_puts(out, "  ");
		hist_term_show(param, out);
		if (param->form == HOOK_TEXT)
			buf_printf(out, ": %-32.*s", (int)sizeof(saves[i].text), saves[i].text);
		else
			buf_printf(out, ": %10" PRIu64, saves[i].number);
	}
}

/* A histogram has one save() at most. */
static const struct spec_action *find_save(const struct spec_hist *hist)
{
	for (uint32_t i = 0; i < hist->nactions; i++)
		if (tracks(hist->actions[i]) && hist->actions[i]->doing == HOOK_DO_SAVE)
			return hist->actions[i];
	return NULL;
}

static void put_tracks(const struct view *view, const struct table_shape *shape, const struct hist_row *row, struct buf *out)
{
	const struct spec_action *save = find_save(view->hist);
	uint32_t track = 0;

	for (uint32_t i = 0; i < view->hist->nactions && track < shape->ntracks; i++) {
		const struct spec_action *action = view->hist->actions[i];

		if (!tracks(action))
			continue;
		if (action->doing != HOOK_DO_SNAPSHOT) {
			buf_printf(out, "\n\t%s: %10" PRIu64, action->handler == HOOK_ONMAX ? "max" : "changed",
				   row->tracks[track].value);
			/* With every one of them: the kernel does not ask whose it is. */
			if (save && save->nparams <= shape->nsaves)
				put_saved(save, row->saves, out);
		}
		track++;
	}
}

/* The row that the snapshot was taken for: the largest of all, or the last. */
static const struct hist_row *snapshot_row(const struct hist_rows *rows, enum hook_handler handler, uint32_t track)
{
	const struct hist_row *best = NULL;

	for (uint32_t i = 0; i < rows->nrows; i++) {
		const struct table_track *now = &rows->rows[i].tracks[track];
		const struct table_track *then = best ? &best->tracks[track] : NULL;

		if (!now->is_set)
			continue;
		if (!best || (handler == HOOK_ONMAX ? now->value > then->value : now->is_set > then->is_set))
			best = &rows->rows[i];
	}
	return best;
}

static void put_snapshots(const struct view *view, const struct hist_rows *rows, struct buf *out)
{
	uint32_t track = 0;

	for (uint32_t i = 0; i < view->hist->nactions && track < rows->shape.ntracks; i++) {
		const struct spec_action *action = view->hist->actions[i];
		const struct hist_row *row;

		if (!tracks(action))
			continue;
		row = action->doing == HOOK_DO_SNAPSHOT ? snapshot_row(rows, action->handler, track) : NULL;
		if (row) {
			buf_printf(out, "\nSnapshot taken (see tracing/snapshot).  Details:\n\ttriggering value { %s($%s) }:"
					" %10" PRIu64 "\ttriggered by event with key: ",
				   action->handler == HOOK_ONMAX ? "onmax" : "onchange", action->value->name,
				   row->tracks[track].value);
			put_keys(view, row, out);
			buf_putc(out, '\n');
		}
		track++;
	}
}

/* ---- All of it ---- */

static void put_row(const struct view *view, const struct hist_rows *rows, const struct hist_row *row, struct buf *out)
{
	put_keys(view, row, out);
	if (!view->hist->nohitcount)
		buf_printf(out, " hitcount: %10" PRIu64, row->hits);
	for (uint32_t i = 0; i < view->hist->nvals; i++)
		put_value(view, row, i, out);
	put_tracks(view, &rows->shape, row, out);
	buf_putc(out, '\n');
}

static void sum_up(struct view *view, const struct hist_rows *rows)
{
	for (uint32_t r = 0; r < rows->nrows; r++)
		for (uint32_t i = 0; i < view->hist->nvals; i++) {
			uint64_t val = hist_value(&rows->rows[r], view->hist, i);

			view->total[i] += val;
			view->max[i] = val > view->max[i] ? val : view->max[i];
		}
}

void hist_show(const struct hist_rows *rows, const struct spec_hist *hist, const char *info, const struct hist_names *names,
	       struct buf *out)
{
	struct view view;

	view_init(&view, hist, names);
	sum_up(&view, rows);
	buf_printf(out, "# event histogram\n#\n# trigger info: %s\n#\n\n", info);
	for (uint32_t i = 0; i < rows->nrows; i++)
		put_row(&view, rows, &rows->rows[i], out);
	put_snapshots(&view, rows, out);
	buf_printf(out, "\nTotals:\n    Hits: %" PRIu64 "\n    Entries: %u\n    Dropped: %" PRIu64 "\n", rows->hits,
		   rows->nrows, rows->drops);
}
