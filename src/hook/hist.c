/*
 * hook/hist: one event counted in a histogram, with its variables and actions.
 *
 *   pause? -> key -> references -> variables -> row: hits and values -> actions
 *
 * Most histograms are a key and a count: these live on the stack. What has variables, or much of anything, works in staged
 * memory; when there is none the hit is counted as a drop. Where a reference was not set, nothing happens.
 */
#include "hook/local.h"

#define SMALL_KEY 272u

/* Staged memory of an event with variables. */
struct room {
	unsigned char key[HOOK_KEY_MAX];
	uint64_t stack[TABLE_STACK_MAX + 1];
	char scratch[TABLE_TEXT_MAX];
	uint64_t vars[HOOK_REFS_MAX];
	struct program_text texts[HOOK_REFS_MAX];
	char text[HOOK_TEXTS_MAX][TABLE_TEXT_MAX];
	uint64_t tags[HOOK_KEYS_MAX];	/* of the first key alone, of the first two ... */
};
_Static_assert(sizeof(struct room) <= HOOK_STAGE_SIZE, "fits a stage");

struct counting {
	const struct hook_host *host;
	const struct hook_bound *bound;
	const void *record;
	uint32_t len;
	struct hook_hist hist;
	struct linked linked;
	struct program_input in;
	unsigned char *key;
	char *scratch;
	uint32_t scratch_size;
	struct room *room;		/* NULL: a small one */
	uint32_t ntexts;		/* of room->text */
	uint32_t hash_size;
	uint64_t tag_base;
	bool all_set;
};

static uint64_t number_of(const struct counting *c, uint32_t root)
{
	return program_number(c->linked.program, c->linked.size, root, &c->in);
}

static struct program_text text_of(const struct counting *c, uint32_t root)
{
	return program_text(c->linked.program, c->linked.size, root, &c->in, c->scratch, c->scratch_size);
}

/* Up to `size` bytes of a form that is more than a number, zeros behind it. */
static void put_long(const struct counting *c, unsigned char *to, uint32_t size, uint8_t form, uint8_t skip, uint32_t root)
{
	struct program_text text = text_of(c, root);
	uint64_t count;

	memset(to, 0, size);
	if (!text.at || !size)
		return;
	if (form == HOOK_TEXT) {
		uint32_t len = (uint32_t)strnlen(text.at, text.len);

		memcpy(to, text.at, len < size - 1 ? len : size - 1);
		return;
	}
	count = text.len / 8;
	skip = skip < count ? skip : (uint8_t)count;
	count -= skip;
	if (size < 8 || count > (size - 8) / 8)
		count = size < 8 ? 0 : (size - 8) / 8;
	memcpy(to, &count, size < 8 ? size : 8);
	memcpy(to + 8, text.at + skip * 8u, count * 8);
}

static uint64_t real_of(const struct counting *c, uint32_t root)
{
	double real = program_real(c->linked.program, c->linked.size, root, &c->in);
	uint64_t bits;

	memcpy(&bits, &real, sizeof(bits));
	return bits;
}

/* One part of the key. Names of tasks are told, but no part of it: they have to come last. */
static bool put_key(struct counting *c, uint32_t i)
{
	uint32_t key_size = c->hist.shape.key_size, size;
	struct hook_key key;
	uint64_t value;

	if (!code_copy(&c->host->code, c->hist.keys, i, &key, sizeof(key)))
		return false;
	size = key.size + (key.with_comm ? 16u : 0);
	if (key.size < 8 || key.at > key_size || size > key_size - key.at)
		return false;
	if (key.form == HOOK_TEXT || key.form == HOOK_STACK) {
		put_long(c, c->key + key.at, key.size, key.form, key.skip, key.root);
		size = key.form == HOOK_TEXT ? (uint32_t)strnlen((char *)c->key + key.at, key.size) : key.size;
		if (c->room)
			c->room->tags[i % HOOK_KEYS_MAX] = c->tag_base = hist_hash(c->key + key.at, size, c->tag_base);
		return true;
	}
	value = key.form == HOOK_REAL ? real_of(c, key.root) : number_of(c, key.root);
	memcpy(c->key + key.at, &value, 8);
	if (c->room)
		c->room->tags[i % HOOK_KEYS_MAX] = c->tag_base = hist_hash(&value, 8, c->tag_base);
	if (key.with_comm) {
		strncpy((char *)c->key + key.at + 8, c->host->calls->comm(c->host), 16);
		if (key.at + size == key_size)
			c->hash_size = key_size - 16;
	}
	return true;
}

static bool put_keys(struct counting *c)
{
	c->hash_size = c->hist.shape.key_size;
	memset(c->key, 0, c->hist.shape.key_size);
	for (uint32_t i = 0; i < c->hist.nkeys; i++)
		if (!put_key(c, i))
			return false;
	return true;
}

/* As in the kernel, who sets a variable may have fewer keys than who refers to it: so many of the first ones count. */
static uint64_t tag_of(const struct counting *c, const struct hook_var *var, uint32_t nkeys)
{
	uint64_t base = nkeys && nkeys < c->hist.nkeys && nkeys <= HOOK_KEYS_MAX ? c->room->tags[nkeys - 1] : c->tag_base;

	return hist_hash(&base, 8, var->seed);
}

static bool is_long(uint8_t form)
{
	return form == HOOK_TEXT || form == HOOK_STACK;
}

/* A text that a reference, or an own variable, stands for; as programs want it. */
static void keep_text(struct counting *c, uint32_t ref, uint8_t form, const char *text)
{
	uint64_t count;

	if (form == HOOK_TEXT) {
		c->room->texts[ref] = (struct program_text){ text, (uint32_t)strnlen(text, TABLE_TEXT_MAX) };
		return;
	}
	memcpy(&count, text, 8);
	if (count > TABLE_STACK_MAX)
		count = 0;
	c->room->texts[ref] = (struct program_text){ text + 8, (uint32_t)count * 8 };
}

/* Others' variables. Reading one may take it away: from here on the event is under way. */
static bool resolve(struct counting *c)
{
	const struct hook_host *host = c->host;
	struct hook_var var;
	bool all = true;

	for (uint32_t i = 0; i < c->hist.nrefs; i++) {
		char *text = NULL;

		c->room->vars[i] = 0;
		c->room->texts[i] = (struct program_text){ NULL, 0 };
		if (!code_copy(&host->code, c->hist.refs, i, &var, sizeof(var)) || !is_sound(host))
			return false;
		if (var.own || !all)
			continue;
		if (is_long(var.form) && c->ntexts < HOOK_TEXTS_MAX)
			text = c->room->text[c->ntexts++];
		if (!hist_var_get(&host->tables, var.cells, var.ncells, tag_of(c, &var, var.root), var.once, &c->room->vars[i], text))
			all = false;
		else if (text)
			keep_text(c, i, var.form, text);
	}
	c->in.nvars = c->hist.nrefs;
	c->in.vars = c->room->vars;
	c->in.texts = c->room->texts;
	c->all_set = all;
	return true;
}

/* References to the histogram's own variable `number`, which was just set. */
static void set_own(struct counting *c, uint32_t number, uint8_t form, uint64_t value, const char *text)
{
	struct hook_var ref;

	for (uint32_t i = 0; i < c->hist.nrefs; i++) {
		if (!code_copy(&c->host->code, c->hist.refs, i, &ref, sizeof(ref)))
			return;
		if (!ref.own || ref.number != number)
			continue;
		c->room->vars[i] = value;
		if (text)
			keep_text(c, i, form, text);
	}
}

static bool set_var(struct counting *c, uint32_t i)
{
	const struct hook_host *host = c->host;
	struct hook_var var;
	uint64_t value = 0;
	char *text = NULL;

	if (!code_copy(&host->code, c->hist.vars, i, &var, sizeof(var)))
		return false;
	if (is_long(var.form)) {
		/* The tool refuses more of them. */
		if (c->ntexts == HOOK_TEXTS_MAX)
			return true;
		text = c->room->text[c->ntexts++];
		put_long(c, (unsigned char *)text, TABLE_TEXT_MAX, var.form, 0, var.root);
	} else {
		value = var.form == HOOK_REAL ? real_of(c, var.root) : number_of(c, var.root);
	}
	if (!is_sound(host))
		return false;
	hist_var_set(&host->tables, var.cells, var.ncells, tag_of(c, &var, 0), value, text, TABLE_TEXT_MAX);
	set_own(c, i, var.form, value, text);
	return true;
}

static bool set_vars(struct counting *c)
{
	for (uint32_t i = 0; i < c->hist.nvars; i++)
		if (!set_var(c, i))
			return false;
	return true;
}

/* The distribution of value i, behind those of the values before it. */
static void count_spread(const struct counting *c, uint64_t *row, uint32_t i, uint64_t value)
{
	uint32_t n = (uint32_t)__builtin_popcount(c->hist.spreads & ((1u << i) - 1));

	if (n < c->hist.shape.nspreads)
		__atomic_fetch_add(&row[table_spreads_at(&c->hist.shape) / 8 + n * TABLE_SPREAD + table_spread_index(value)], 1,
				   __ATOMIC_RELAXED);
}

static uint64_t *count_row(struct counting *c)
{
	uint64_t *row = hist_find(&c->host->tables, c->hist.table, &c->hist.shape, (uint32_t)c->host->cpu, c->key, c->hash_size);
	uint32_t root;

	if (!row)
		return NULL;
	__atomic_fetch_add(&row[0], 1, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < c->hist.nvals && i < c->hist.shape.nvals; i++) {
		uint64_t value;

		if (!code_copy(&c->host->code, c->hist.vals, i, &root, sizeof(root)))
			break;
		value = number_of(c, root);
		if (!is_sound(c->host))
			break;
		__atomic_fetch_add(&row[1 + i], value, __ATOMIC_RELAXED);
		if (c->hist.spreads >> i & 1)
			count_spread(c, row, i, value);
	}
	return row;
}

/* ---- Actions ---- */

static struct table_track *track_at(const struct counting *c, uint64_t *row, uint32_t n)
{
	return (struct table_track *)(void *)(row + table_tracks_at(&c->hist.shape) / 8) + n;
}

static struct table_save *save_at(const struct counting *c, uint64_t *row, uint32_t n)
{
	return (struct table_save *)(void *)(row + table_saves_at(&c->hist.shape) / 8) + n;
}

static bool is_due(const struct hook_action *action, const struct table_track *track, uint64_t value)
{
	uint64_t before = LOAD(track->value);

	return action->handler == HOOK_ONMAX ? value > before : value != before;
}

/* An owner that takes too long is taken for dead: what it saves then may be mixed with ours. */
static uint32_t track_lock(struct table_track *track)
{
	uint32_t seq = LOAD(track->seq);

	for (uint32_t spins = 0;; spins++) {
		if (seq & 1 && spins < 1000) {
			seq = LOAD(track->seq);
			continue;
		}
		if (__atomic_compare_exchange_n(&track->seq, &seq, (seq | 1) + (seq & 1 ? 2 : 0), false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return (seq | 1) + (seq & 1 ? 2 : 0);
	}
}

static void save(const struct counting *c, const struct hook_action *action, uint64_t *row)
{
	for (uint32_t i = 0; i < action->nsaves; i++) {
		struct table_save *to = save_at(c, row, action->first + i);
		struct program_text text;
		uint32_t root;

		if (!code_copy(&c->host->code, action->saves, i, &root, sizeof(root)) || !is_sound(c->host))
			return;
		if (root >> 24 == HOOK_TEXT) {
			text = text_of(c, root & 0xffffff);
			text.len = text.at ? (uint32_t)strnlen(text.at, text.len) : 0;
			text.len = text.len < sizeof(to->text) - 1 ? text.len : (uint32_t)sizeof(to->text) - 1;
			if (text.len)
				memcpy(to->text, text.at, text.len);
			memset(to->text + text.len, 0, sizeof(to->text) - text.len);
		} else {
			to->number = root >> 24 == HOOK_REAL ? real_of(c, root & 0xffffff) : number_of(c, root & 0xffffff);
		}
	}
}

/* Which snapshot this one will be: the last one is shown. */
static uint32_t snapshot_number(const struct counting *c, const struct hook_action *action)
{
	const uint64_t *word = word_at(c->host, action->word);

	return word ? (uint32_t)LOAD(*word) + 1 : 1;
}

/* True when the value is a new one. Of several at once each sees what the one before left. */
static bool track(const struct counting *c, const struct hook_action *action, uint64_t *row)
{
	struct table_track *to = track_at(c, row, action->track);
	uint64_t value = number_of(c, action->value);
	uint32_t seq;
	bool due;

	if (!is_sound(c->host) || !is_due(action, to, value))
		return false;
	seq = track_lock(to);
	due = is_due(action, to, value);
	if (due) {
		__atomic_store_n(&to->value, value, __ATOMIC_RELAXED);
		to->is_set = action->doing == HOOK_DO_SNAPSHOT ? snapshot_number(c, action) : 1;
		if (action->doing == HOOK_DO_SAVE)
			save(c, action, row);
	}
	/* Partner: readers take a track between two equal even words. */
	__atomic_compare_exchange_n(&to->seq, &seq, seq + 1, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
	return due;
}

static void act(const struct counting *c, const struct hook_action *action, uint64_t *row)
{
	uint64_t *word;

	if (action->handler != HOOK_ONMATCH) {
		if (!row || action->track >= c->hist.shape.ntracks ||
		    (action->nsaves && action->first + action->nsaves > c->hist.shape.nsaves) || !track(c, action, row))
			return;
	}
	if (action->doing == HOOK_DO_TRACE) {
		hook_emit_run(c->host, c->bound, action->emit, c->record, c->len, &c->linked, &c->in);
	} else if (action->doing == HOOK_DO_SNAPSHOT && c->host->calls->snapshot(c->host, c->bound->buffer)) {
		word = word_at(c->host, action->word);
		if (word)
			__atomic_fetch_add(word, 1, __ATOMIC_RELAXED);
	}
}

static void act_all(const struct counting *c, uint64_t *row)
{
	struct hook_action action;

	for (uint32_t i = 0; i < c->hist.nactions; i++) {
		if (!code_copy(&c->host->code, c->hist.actions, i, &action, sizeof(action)) || !is_sound(c->host))
			return;
		act(c, &action, row);
	}
}

void hook_count(const struct hook_tally *tally, const struct hist_tables *tables, const uint64_t *words, uint32_t cpu,
		const void *record, uint32_t len)
{
	uint64_t key, *row;

	if (tally->pause && tally->pause < TABLE_WORDS && LOAD(words[tally->pause]))
		return;
	key = program_quick_load(&tally->key, record, len);
	row = hist_find(tables, tally->table, &tally->shape, cpu, &key, 8);
	if (row)
		__atomic_fetch_add(&row[0], 1, __ATOMIC_RELAXED);
}

/* ---- The whole of it ---- */

/* False: unsound, and nothing was done. */
static bool count(struct counting *c)
{
	bool whole = put_keys(c);
	uint64_t *row;

	if (!is_sound(c->host))
		return false;
	if (!whole)
		return true;
	if (!c->room) {
		count_row(c);
		return true;
	}
	/* As in the kernel: what refers to something that never was is no row either. */
	if (!resolve(c) || !c->all_set || !set_vars(c))
		return true;
	row = count_row(c);
	act_all(c, row);
	return true;
}

/* Never inlined: small ones do not pay for its frame. */
static __attribute__((noinline)) bool count_small(struct counting *c)
{
	uint64_t key[SMALL_KEY / 8];
	char scratch[TABLE_TEXT_MAX];

	c->key = (unsigned char *)key;
	c->scratch = scratch;
	c->scratch_size = sizeof(scratch);
	return count(c);
}

static __attribute__((noinline)) bool count_tiny(struct counting *c)
{
	uint64_t key[4];

	c->key = (unsigned char *)key;
	c->scratch = (char *)key;
	c->scratch_size = 0;
	return count(c);
}

static __attribute__((noinline)) bool count_large(struct counting *c)
{
	const struct hook_host *host = c->host;
	bool done;

	c->room = host->calls->stage(host);
	if (!c->room) {
		hist_drop(&host->tables, c->hist.table, &c->hist.shape, (uint32_t)host->cpu);
		return true;
	}
	c->key = c->room->key;
	c->scratch = c->room->scratch;
	c->scratch_size = sizeof(c->room->scratch);
	if (c->linked.uses & 1u << PROGRAM_STACK) {
		c->in.nstack = host->calls->stack(host, c->room->stack, TABLE_STACK_MAX);
		c->in.stack = c->room->stack;
	}
	done = count(c);
	host->calls->unstage(host, c->room);
	return done;
}

static bool all_numbers(const struct counting *c)
{
	struct hook_key key;

	for (uint32_t i = 0; i < c->hist.nkeys; i++)
		if (!code_copy(&c->host->code, c->hist.keys, i, &key, sizeof(key)) || is_long(key.form))
			return false;
	return true;
}

bool hook_hist_run(const struct hook_host *host, const struct hook_bound *bound, uint32_t at, const void *record, uint32_t len)
{
	struct counting c;
	const uint64_t *pause;
	bool found;

	c.host = host;
	c.bound = bound;
	c.record = record;
	c.len = len;
	c.room = NULL;
	c.ntexts = 0;
	c.tag_base = 0;
	c.all_set = true;
	found = code_copy(&host->code, at, 0, &c.hist, sizeof(c.hist)) &&
		hook_find_program(host, bound, c.hist.program, &c.linked);
	if (!is_sound(host))
		return false;
	pause = found ? word_at(host, c.hist.pause) : NULL;
	if (!found || (pause && LOAD(*pause)))
		return true;
	hook_input(host, &c.linked, bound->buffer, record, len, &c.in);
	if (c.hist.nvars || c.hist.nrefs || c.hist.nactions || c.hist.shape.key_size > SMALL_KEY ||
	    c.linked.uses & 1u << PROGRAM_STACK)
		return count_large(&c);
	if (c.hist.shape.key_size <= 32 && all_numbers(&c))
		return count_tiny(&c);
	return count_small(&c);
}
