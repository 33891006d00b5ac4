/*
 * control/state: see state.h. Called by the tool only, from one thread at a time.
 *
 * What is read was written by another process and may hold anything: every count, offset and string
 * is checked before it is used, and a state that fails any check is refused as a whole. It may also
 * be replaced while it is read; then its checksum or its own copy of `published` does not fit, the
 * published word has moved, and reading starts over.
 */
#include "control/state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"
#include "control/file.h"
#include "control/state_func.h"
#include "layout/calls.h"
#include "layout/hook.h"
#include "layout/probe.h"

#define READ_TRIES 1000
#define CONTROL_RESERVE (CONTROL_FIRST_STATE + 32768u)

bool control_geometry_valid(uint32_t npages, uint32_t page_size)
{
	return npages >= RING_NPAGES_MIN && npages <= RING_NPAGES_MAX &&
	       page_size >= PAGE_SIZE_MIN && page_size <= PAGE_SIZE_MAX &&
	       !(page_size & (page_size - 1));
}

uint64_t control_pages_from_kb(uint64_t kb, uint32_t page_size)
{
	uint64_t data = page_size - PAGE_HEAD_SIZE;
	uint64_t pages;

	if (kb > UINT64_MAX / 2048)
		return UINT64_MAX;
	pages = (kb * 1024 + data - 1) / data;
	return pages < RING_NPAGES_MIN ? RING_NPAGES_MIN : pages;
}

uint64_t control_kb_from_pages(uint64_t npages, uint32_t page_size)
{
	return npages * (page_size - PAGE_HEAD_SIZE) / 1024;
}

void control_buffer_default(struct state_buffer *buffer, uint64_t born)
{
	*buffer = (struct state_buffer){
		.flags = BUFFER_DEFAULT,
		.page_size = PAGE_SIZE_MIN,
		.npages = (uint32_t)control_pages_from_kb(CONTROL_SIZE_KB_DEFAULT, PAGE_SIZE_MIN),
		.born = born,
		.clock = TRACE_CLOCK_LOCAL,
		.percent = STATE_PERCENT_DEFAULT,
		.tracer_flags = TRACER_FLAGS_DEFAULT,
	};
}

static void items_drop(struct control_state *state)
{
	for (uint32_t i = 0; i < state->nitems; i++)
		free(state->items[i].text);
	state->nitems = 0;
	state->items_mark++;
}

void control_state_default(struct control_state *state)
{
	state->nbuffers = 1;
	state->nrules = 0;
	state->nlimbo = 0;
	state->npids = 0;
	state->cmdlines = 0;
	/* Serials go on: tags of variables that somebody still holds are never anybody else's. */
	items_drop(state);
	state_funcs_drop(state);
	state->ntable_limbo = 0;
	state->measure = (struct state_measure){ 0 };
	buf_reset(&state->hooks);
	buf_reset(&state->probes);
	buf_reset(&state->calls);
	buf_reset(&state->code);
	state->kmalloc = state->kfree = 0;
	memset(state->buffers, 0, sizeof(state->buffers));
	control_buffer_default(&state->buffers[0], STATE_BORN_TOP);
}

void control_state_fini(struct control_state *state)
{
	free(state->rules);
	free(state->pids);
	items_drop(state);
	free(state->items);
	free(state->table_limbo);
	state_funcs_drop(state);
	free(state->funcs);
	buf_fini(&state->hooks);
	buf_fini(&state->probes);
	buf_fini(&state->calls);
	buf_fini(&state->code);
	memset(state, 0, sizeof(*state));
}

int control_state_table_limbo(struct control_state *state)
{
	if (!state->table_limbo)
		state->table_limbo = calloc(STATE_TABLE_LIMBO_MAX, sizeof(*state->table_limbo));
	return state->table_limbo ? 0 : -ENOMEM;
}

int control_state_buffer(const struct control_state *state, const char *name)
{
	for (uint32_t i = 0; i < state->nbuffers; i++)
		if (state->buffers[i].born && !strcmp(state->buffers[i].name, name))
			return (int)i;
	return -1;
}

static int rules_reserve(struct control_state *state, uint32_t count)
{
	uint32_t cap = state->rules_cap ? state->rules_cap : 16;
	struct state_rule *rules;

	while (cap < count)
		cap *= 2;
	if (cap == state->rules_cap)
		return 0;
	rules = realloc(state->rules, cap * sizeof(*rules));
	if (!rules)
		return -ENOMEM;
	state->rules = rules;
	state->rules_cap = cap;
	return 0;
}

struct state_rule *control_state_rule_add(struct control_state *state)
{
	struct state_rule *rule;

	if (state->nrules >= CONTROL_RULES_MAX || rules_reserve(state, state->nrules + 1))
		return NULL;
	rule = &state->rules[state->nrules++];
	memset(rule, 0, sizeof(*rule));
	return rule;
}

static int pids_reserve(struct control_state *state, uint32_t count)
{
	uint32_t cap = state->pids_cap ? state->pids_cap : 16;
	struct state_pid *pids;

	while (cap < count)
		cap *= 2;
	if (cap == state->pids_cap)
		return 0;
	pids = realloc(state->pids, cap * sizeof(*pids));
	if (!pids)
		return -ENOMEM;
	state->pids = pids;
	state->pids_cap = cap;
	return 0;
}

static int pid_compare(const struct state_pid *a, const struct state_pid *b)
{
	if (a->buffer != b->buffer)
		return a->buffer < b->buffer ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return a->tid < b->tid ? -1 : a->tid > b->tid;
}

int control_state_pid_add(struct control_state *state, uint32_t buffer, uint32_t kind, int32_t tid)
{
	struct state_pid pid = { (uint16_t)buffer, (uint16_t)kind, tid };
	uint32_t at = 0;

	while (at < state->npids && pid_compare(&state->pids[at], &pid) < 0)
		at++;
	if (at < state->npids && !pid_compare(&state->pids[at], &pid))
		return 0;
	if (state->npids == STATE_PIDS_MAX)
		return -ENOSPC;
	if (pids_reserve(state, state->npids + 1))
		return -ENOMEM;
	memmove(&state->pids[at + 1], &state->pids[at], (state->npids - at) * sizeof(pid));
	state->pids[at] = pid;
	state->npids++;
	return 0;
}

void control_state_pids_clear(struct control_state *state, uint32_t buffer, uint32_t kind)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < state->npids; i++)
		if (state->pids[i].buffer != buffer || state->pids[i].kind != kind)
			state->pids[kept++] = state->pids[i];
	state->npids = kept;
}

static int items_reserve(struct control_state *state, uint32_t count)
{
	uint32_t cap = state->items_cap ? state->items_cap : 16;
	struct control_item *items;

	while (cap < count)
		cap *= 2;
	if (cap == state->items_cap)
		return 0;
	items = realloc(state->items, cap * sizeof(*items));
	if (!items)
		return -ENOMEM;
	state->items = items;
	state->items_cap = cap;
	return 0;
}

struct control_item *control_state_item_add(struct control_state *state, const char *text, size_t len)
{
	struct control_item *item;
	char *copy;

	if (state->nitems >= STATE_ITEMS_MAX || items_reserve(state, state->nitems + 1))
		return NULL;
	copy = malloc(len + 1);
	if (!copy)
		return NULL;
	memcpy(copy, text, len);
	copy[len] = '\0';
	item = &state->items[state->nitems++];
	memset(item, 0, sizeof(*item));
	item->text = copy;
	item->item.serial = state->serial = state->serial ? state->serial : 1;
	state->serial++;
	state->items_mark++;
	return item;
}

void control_state_item_remove(struct control_state *state, uint32_t i)
{
	free(state->items[i].text);
	state->nitems--;
	memmove(&state->items[i], &state->items[i + 1], (state->nitems - i) * sizeof(*state->items));
	state->items_mark++;
}

static bool terminated(const char *text, size_t size)
{
	return memchr(text, '\0', size) != NULL;
}

static bool set_valid(const struct state_set *set, uint32_t ncpu)
{
	if (!set->offset)
		return true;
	return control_geometry_valid(set->npages, set->page_size) && set->offset % 4096 == 0 &&
	       set->offset >= rings_data_offset(ncpu) && set->offset < CONTROL_RINGS_MAX &&
	       control_set_size(set, ncpu) <= CONTROL_RINGS_MAX - set->offset;
}

static bool buffer_valid(const struct state_buffer *buffer, uint32_t ncpu)
{
	if (!buffer->born)
		return true;
	if (buffer->percent > 100 || buffer->clock > TRACE_CLOCK_X86_TSC || buffer->tracer >= TRACERS)
		return false;
	if (!terminated(buffer->name, sizeof(buffer->name)) ||
	    buffer->nretired > STATE_RETIRED_MAX || buffer->nspares > STATE_SPARES ||
	    buffer->side >= TABLE_WORDS || buffer->side_next >= TABLE_WORDS ||
	    buffer->off >= TABLE_WORDS ||
	    !control_geometry_valid(buffer->npages, buffer->page_size) ||
	    !set_valid(&buffer->live, ncpu) || !set_valid(&buffer->snapshot, ncpu))
		return false;
	for (uint32_t i = 0; i < buffer->nretired; i++)
		if (!buffer->retired[i].offset || !set_valid(&buffer->retired[i], ncpu))
			return false;
	for (uint32_t i = 0; i < buffer->nspares; i++)
		if (!buffer->spares[i].offset || !set_valid(&buffer->spares[i], ncpu))
			return false;
	return true;
}

static bool limbo_valid(const struct state_limbo *limbo, uint32_t ncpu)
{
	return limbo->offset % 4096 == 0 && limbo->size % 4096 == 0 && limbo->size &&
	       limbo->offset >= rings_data_offset(ncpu) && limbo->offset < CONTROL_RINGS_MAX &&
	       limbo->size <= CONTROL_RINGS_MAX - limbo->offset;
}

static bool extent_valid(uint64_t offset, uint64_t size)
{
	if (!offset)
		return !size;
	return offset % 4096 == 0 && size % 4096 == 0 && offset >= TABLES_DATA_OFFSET && size <= TABLES_SIZE_MAX &&
	       offset <= TABLES_SIZE_MAX - size;
}

static bool item_valid(const struct state_item *item)
{
	return item->kind >= STATE_ITEM_FILTER && item->kind <= STATE_ITEM_OFF && item->serial &&
	       terminated(item->system, sizeof(item->system)) && terminated(item->event, sizeof(item->event)) &&
	       item->count < TABLE_WORDS && item->pause < TABLE_WORDS && item->snapshots < TABLE_WORDS &&
	       extent_valid(item->table, item->table_size) && extent_valid(item->cells, item->cells_size);
}

static bool measure_valid(const struct state_measure *measure, uint32_t ncpu)
{
	const struct table_shape shape = table_profile_shape(measure->parts, measure->elements);

	if (!extent_valid(measure->profile, measure->profile_size) || !extent_valid(measure->deepest, measure->deepest_size) ||
	    !extent_valid(measure->touched, measure->touched_size))
		return false;
	if (measure->profile && (measure->parts < ncpu || measure->parts > SEGMENT_NCPU_MAX || !measure->elements ||
				 measure->elements > 1u << 20 || measure->profile_size != table_size(&shape)))
		return false;
	return (!measure->deepest || measure->deepest_size == TABLE_DEEPEST_SIZE) &&
	       (!measure->touched || measure->touched_size == TABLE_TOUCHED_SIZE);
}

/* Are `count` things of `size` bytes inside the state, at a place where they may be? */
static bool table_inside(const struct state_head *head, uint32_t offset, uint32_t count,
			 size_t size)
{
	return offset >= sizeof(*head) && offset <= head->size && offset % 8 == 0 &&
	       count <= (head->size - offset) / size;
}

static bool is_buffer(const struct control_state *state, uint32_t i)
{
	return i < state->nbuffers && state->buffers[i].born;
}

static const char *check(const struct control_state *state, uint32_t ncpu)
{
	for (uint32_t i = 0; i < state->nbuffers; i++)
		if (!buffer_valid(&state->buffers[i], ncpu))
			return "an impossible buffer";
	if (state->buffers[0].name[0] || !state->buffers[0].born)
		return "no top buffer";
	for (uint32_t i = 0; i < state->nrules; i++) {
		const struct state_rule *rule = &state->rules[i];

		if (!is_buffer(state, rule->buffer) ||
		    !terminated(rule->system, sizeof(rule->system)) ||
		    !terminated(rule->event, sizeof(rule->event)))
			return "an impossible rule";
	}
	for (uint32_t i = 0; i < state->nlimbo; i++)
		if (!limbo_valid(&state->limbo[i], ncpu))
			return "impossible free space";
	for (uint32_t i = 0; i < state->npids; i++)
		if (!is_buffer(state, state->pids[i].buffer) || state->pids[i].kind > STATE_PID_FUNC_NOT ||
		    (i && pid_compare(&state->pids[i - 1], &state->pids[i]) >= 0))
			return "an impossible list of threads";
	for (uint32_t i = 0; i < state->nitems; i++)
		if (!item_valid(&state->items[i].item) || !is_buffer(state, state->items[i].item.buffer))
			return "an impossible item";
	for (uint32_t i = 0; i < state->nfuncs; i++)
		if (!state_func_valid(&state->funcs[i].func) || !is_buffer(state, state->funcs[i].func.buffer))
			return "an impossible line about functions";
	for (uint32_t i = 0; i < state->ntable_limbo; i++)
		if (!state->table_limbo[i].offset || !extent_valid(state->table_limbo[i].offset, state->table_limbo[i].size))
			return "impossible free tables";
	if (!measure_valid(&state->measure, ncpu))
		return "an impossible profile";
	return NULL;
}

/* Items with their texts, which end with a NUL where they say so. */
static const char *take_items(struct control_state *state, const struct state_head *head, const char *bytes)
{
	items_drop(state);
	if (items_reserve(state, head->nitems))
		return "no memory for it";
	for (uint32_t i = 0; i < head->nitems; i++) {
		struct control_item *to = &state->items[i];
		const char *text;

		memcpy(&to->item, bytes + head->items + i * sizeof(to->item), sizeof(to->item));
		if (to->item.text < sizeof(*head) || to->item.text >= head->size ||
		    to->item.text_len >= head->size - to->item.text)
			return "an impossible text";
		text = bytes + to->item.text;
		if (strnlen(text, to->item.text_len + 1u) != to->item.text_len)
			return "a text without end";
		to->text = strdup(text);
		if (!to->text)
			return "no memory for it";
		state->nitems++;
	}
	return NULL;
}

/* What was made of them: the tool looks at names only. */
static const char *take_hooks(struct control_state *state, const struct state_head *head, const char *bytes)
{
	buf_reset(&state->hooks);
	buf_reset(&state->probes);
	buf_reset(&state->code);
	buf_add(&state->hooks, bytes + head->hooks, head->nhooks * sizeof(struct state_hook));
	buf_add(&state->probes, bytes + head->probes, head->nprobes * sizeof(struct state_probe));
	buf_add(&state->code, bytes + head->code, head->code_size);
	buf_reset(&state->calls);
	if (head->calls)
		buf_add(&state->calls, bytes + head->calls, sizeof(struct state_calls));
	state->kmalloc = head->kmalloc;
	state->kfree = head->kfree;
	if (buf_failed(&state->calls) || buf_failed(&state->hooks) || buf_failed(&state->probes) || buf_failed(&state->code))
		return "no memory for it";
	for (uint32_t i = 0; i < head->nhooks; i++) {
		const struct state_hook *hook = (const struct state_hook *)(const void *)state->hooks.data + i;

		if (!terminated(hook->system, sizeof(hook->system)) || !terminated(hook->event, sizeof(hook->event)))
			return "an impossible hook";
	}
	return NULL;
}

/* Takes the state over from the bytes that were read, or tells what is wrong with them. */
static const char *take(struct control_state *state, const struct state_head *head,
			const char *bytes, uint32_t ncpu)
{
	const char *wrong;

	if (!head->nbuffers || head->nbuffers > STATE_BUFFERS_MAX ||
	    head->nrules > CONTROL_RULES_MAX || head->nlimbo > STATE_LIMBO_MAX ||
	    head->npids > STATE_PIDS_MAX || head->nitems > STATE_ITEMS_MAX || head->ntable_limbo > STATE_TABLE_LIMBO_MAX ||
	    head->nfuncs > STATE_FUNCS_MAX)
		return "impossible counts";
	if (!table_inside(head, head->buffers, head->nbuffers, sizeof(struct state_buffer)) ||
	    !table_inside(head, head->rules, head->nrules, sizeof(struct state_rule)) ||
	    !table_inside(head, head->limbo, head->nlimbo, sizeof(struct state_limbo)) ||
	    !table_inside(head, head->pids, head->npids, sizeof(struct state_pid)) ||
	    !table_inside(head, head->hooks, head->nhooks, sizeof(struct state_hook)) ||
	    !table_inside(head, head->probes, head->nprobes, sizeof(struct state_probe)) ||
	    !table_inside(head, head->code, head->code_size, 1) ||
	    !table_inside(head, head->items, head->nitems, sizeof(struct state_item)) ||
	    !table_inside(head, head->table_limbo, head->ntable_limbo, sizeof(struct state_limbo)) ||
	    !table_inside(head, head->funcs, head->nfuncs, sizeof(struct state_func)) ||
	    (head->calls && !table_inside(head, head->calls, 1, sizeof(struct state_calls))) ||
	    (head->measure && !table_inside(head, head->measure, 1, sizeof(struct state_measure))))
		return "impossible offsets";
	if (rules_reserve(state, head->nrules) || pids_reserve(state, head->npids) ||
	    (head->ntable_limbo && control_state_table_limbo(state)))
		return "no memory for it";
	state->nbuffers = head->nbuffers;
	state->nrules = head->nrules;
	state->nlimbo = head->nlimbo;
	state->npids = head->npids;
	state->cmdlines = head->cmdlines;
	memcpy(state->buffers, bytes + head->buffers, head->nbuffers * sizeof(struct state_buffer));
	memcpy(state->rules, bytes + head->rules, head->nrules * sizeof(struct state_rule));
	memcpy(state->limbo, bytes + head->limbo, head->nlimbo * sizeof(struct state_limbo));
	if (head->npids)
		memcpy(state->pids, bytes + head->pids, head->npids * sizeof(struct state_pid));
	state->serial = head->serial;
	state->ntable_limbo = head->ntable_limbo;
	if (head->ntable_limbo)
		memcpy(state->table_limbo, bytes + head->table_limbo, head->ntable_limbo * sizeof(struct state_limbo));
	state->measure = (struct state_measure){ 0 };
	if (head->measure)
		memcpy(&state->measure, bytes + head->measure, sizeof(state->measure));
	wrong = take_items(state, head, bytes);
	if (!wrong)
		wrong = state_funcs_take(state, head, bytes);
	if (!wrong)
		wrong = take_hooks(state, head, bytes);
	return wrong ? wrong : check(state, ncpu);
}

/* One try at the state that `published` names. NULL, or what is wrong. */
static const char *read_published(struct control_state *state, const struct segment_dir *dir,
				  uint64_t published)
{
	uint64_t place = (published & CONTROL_PLACE_MASK) * 4096;
	struct state_head head;
	const char *wrong;
	uint32_t crc;
	char *bytes;

	if (place < CONTROL_FIRST_STATE || place > CONTROL_SIZE_MAX - CONTROL_STATE_MAX)
		return "an impossible place";
	if (control_file_read(dir, SEGMENT_CONTROL, &head, sizeof(head), place, NULL))
		return "it is cut short";
	if (head.published != published || head.size < sizeof(head) ||
	    head.size > CONTROL_STATE_MAX)
		return "an impossible header";
	bytes = malloc(head.size);
	if (!bytes)
		return "no memory for it";
	if (control_file_read(dir, SEGMENT_CONTROL, bytes, head.size, place, NULL)) {
		free(bytes);
		return "it is cut short";
	}
	/* From here on only the second copy counts: the first may be of another moment. */
	crc = head.crc;
	memcpy(&head, bytes, sizeof(head));
	memset(bytes + offsetof(struct state_head, crc), 0, sizeof(crc));
	if (head.published != published || head.crc != crc || crc32c(0, bytes, head.size) != crc)
		wrong = "its checksum does not fit";
	else
		wrong = take(state, &head, bytes, dir->ncpu);
	free(bytes);
	state->published = published;
	state->place = place;
	state->place_size = head.size;
	return wrong;
}

static int published_word(const struct segment_dir *dir, uint64_t *word, struct err *err)
{
	return control_file_read(dir, SEGMENT_CONTROL, word, sizeof(*word),
				 offsetof(struct control_head, published), err);
}

bool control_state_current(const struct control_state *state, const struct segment_dir *dir)
{
	uint64_t word;

	return !published_word(dir, &word, NULL) && word == state->published;
}

int control_state_read(struct control_state *state, const struct segment_dir *dir, struct err *err)
{
	const char *wrong = NULL;
	uint64_t published;
	int r;

	for (int i = 0; i < READ_TRIES; i++) {
		r = published_word(dir, &published, err);
		if (r)
			return r;
		if (!published) {
			state->published = state->place = state->place_size = 0;
			control_state_default(state);
			return 0;
		}
		wrong = read_published(state, dir, published);
		if (!wrong)
			return 0;
		/* Wrong only if it is still what is published; else it was overtaken. */
		state->published = published;
		if (control_state_current(state, dir))
			break;
	}
	control_state_default(state);
	return err_set(err, -EUCLEAN,
		       "%s/control: is damaged (%s): `ringside reset` makes it usable again",
		       dir->path, wrong);
}

static uint64_t align(uint64_t bytes)
{
	return (bytes + 4095) & ~4095ull;
}

static uint64_t later(uint64_t end, uint64_t offset, uint64_t size)
{
	return offset + size > end ? offset + size : end;
}

static uint32_t tables_reach(const struct control_state *state)
{
	const struct state_measure *measure = &state->measure;
	uint64_t end = TABLES_DATA_OFFSET;

	end = later(end, measure->profile, measure->profile_size);
	end = later(end, measure->deepest, measure->deepest_size);
	end = later(end, measure->touched, measure->touched_size);

	for (uint32_t i = 0; i < state->nitems; i++) {
		const struct state_item *item = &state->items[i].item;

		end = later(end, item->table, item->table_size);
		end = later(end, item->cells, item->cells_size);
	}
	return (uint32_t)((end + 4095) / 4096);
}

/* Where everything goes; the head says so. */
static void lay_out(const struct control_state *state, struct state_head *head)
{
	head->nbuffers = state->nbuffers;
	head->nrules = state->nrules;
	head->nlimbo = state->nlimbo;
	head->npids = state->npids;
	head->cmdlines = state->cmdlines;
	head->nhooks = (uint32_t)(state->hooks.len / sizeof(struct state_hook));
	head->nprobes = (uint32_t)(state->probes.len / sizeof(struct state_probe));
	head->code_size = (uint32_t)(state->code.len + 7) & ~7u;
	head->nitems = state->nitems;
	head->serial = state->serial;
	head->ntable_limbo = state->ntable_limbo;
	head->tables = tables_reach(state);
	head->buffers = sizeof(*head);
	head->rules = head->buffers + state->nbuffers * (uint32_t)sizeof(struct state_buffer);
	head->limbo = head->rules + state->nrules * (uint32_t)sizeof(struct state_rule);
	head->pids = head->limbo + state->nlimbo * (uint32_t)sizeof(struct state_limbo);
	head->hooks = head->pids + state->npids * (uint32_t)sizeof(struct state_pid);
	head->probes = head->hooks + head->nhooks * (uint32_t)sizeof(struct state_hook);
	head->code = head->probes + head->nprobes * (uint32_t)sizeof(struct state_probe);
	head->items = head->code + head->code_size;
	head->table_limbo = head->items + state->nitems * (uint32_t)sizeof(struct state_item);
	head->nfuncs = state->nfuncs;
	head->funcs = head->table_limbo + state->ntable_limbo * (uint32_t)sizeof(struct state_limbo);
	head->measure = head->funcs + state->nfuncs * (uint32_t)sizeof(struct state_func);
	head->size = head->measure + (uint32_t)sizeof(struct state_measure);
	head->calls = state->calls.len ? head->size : 0;
	head->size += (uint32_t)state->calls.len;
	head->kmalloc = state->kmalloc;
	head->kfree = state->kfree;
}

/* Texts lie behind all else. Where theirs end. */
static uint32_t put_items(const struct control_state *state, const struct state_head *head, uint32_t at, char *bytes)
{
	for (uint32_t i = 0; i < state->nitems; i++) {
		struct state_item item = state->items[i].item;

		item.text = at;
		item.text_len = (uint32_t)strlen(state->items[i].text);
		memcpy(bytes + head->items + i * sizeof(item), &item, sizeof(item));
		memcpy(bytes + at, state->items[i].text, item.text_len + 1u);
		at += item.text_len + 1;
	}
	return at;
}

/* Lays the state out as bytes to be stored at `place`; the caller frees them. */
static char *serialise(const struct control_state *state, struct state_head *head)
{
	uint32_t texts;
	char *bytes;

	lay_out(state, head);
	texts = head->size;
	for (uint32_t i = 0; i < state->nitems; i++)
		head->size += (uint32_t)strlen(state->items[i].text) + 1;
	head->size += state_funcs_texts(state);
	head->size = (head->size + 7) & ~7u;
	bytes = calloc(1, head->size);
	if (!bytes)
		return NULL;
	memcpy(bytes + head->buffers, state->buffers,
	       state->nbuffers * sizeof(struct state_buffer));
	if (state->nrules)
		memcpy(bytes + head->rules, state->rules,
		       state->nrules * sizeof(struct state_rule));
	memcpy(bytes + head->limbo, state->limbo, state->nlimbo * sizeof(struct state_limbo));
	if (state->npids)
		memcpy(bytes + head->pids, state->pids, state->npids * sizeof(struct state_pid));
	if (head->nhooks)
		memcpy(bytes + head->hooks, state->hooks.data, head->nhooks * sizeof(struct state_hook));
	if (head->nprobes)
		memcpy(bytes + head->probes, state->probes.data, head->nprobes * sizeof(struct state_probe));
	if (state->code.len)
		memcpy(bytes + head->code, state->code.data, state->code.len);
	if (state->ntable_limbo)
		memcpy(bytes + head->table_limbo, state->table_limbo, state->ntable_limbo * sizeof(struct state_limbo));
	memcpy(bytes + head->measure, &state->measure, sizeof(state->measure));
	if (head->calls)
		memcpy(bytes + head->calls, state->calls.data, state->calls.len);
	state_funcs_put(state, head, put_items(state, head, texts, bytes), bytes);
	return bytes;
}

/* First fit around the current state, which must stay whole until the new one is published. */
static uint64_t find_place(const struct control_state *state, uint32_t size)
{
	uint64_t after = align(state->place + state->place_size);

	if (!state->place || CONTROL_FIRST_STATE + align(size) <= state->place)
		return CONTROL_FIRST_STATE;
	return after < CONTROL_FIRST_STATE ? CONTROL_FIRST_STATE : after;
}

/* Memory for states to come, so that tracing can be stopped when the file system is full. */
static void reserve(const struct segment_dir *dir)
{
	uint64_t size;

	if (!control_file_size(dir, SEGMENT_CONTROL, &size, NULL) && size < CONTROL_RESERVE)
		(void)control_file_back(dir, SEGMENT_CONTROL, size, CONTROL_RESERVE - size, NULL);
}

int control_state_publish(struct control_state *state, const struct segment_dir *dir,
			  struct err *err)
{
	struct state_head head = { 0 };
	uint64_t generation = (control_state_generation(state) + 1) &
			      (UINT64_MAX >> CONTROL_PLACE_BITS);
	uint64_t place;
	char *bytes;
	int r;

	bytes = serialise(state, &head);
	if (!bytes)
		return err_set(err, -ENOMEM, "out of memory");
	place = find_place(state, head.size);
	if (head.size > CONTROL_STATE_MAX || place > CONTROL_SIZE_MAX - CONTROL_STATE_MAX) {
		free(bytes);
		return err_set(err, -ENOSPC, "%s/control: no room for %u patterns, %u filters and triggers and %u lines "
			       "about functions: use wider ones or fewer", dir->path, head.nrules, head.nitems, head.nfuncs);
	}
	head.published = generation << CONTROL_PLACE_BITS | place / 4096;
	memcpy(bytes, &head, sizeof(head));
	head.crc = crc32c(0, bytes, head.size);
	memcpy(bytes, &head, sizeof(head));

	r = control_file_grow(dir, SEGMENT_CONTROL, place + align(head.size), err);
	if (!r)
		r = control_file_back(dir, SEGMENT_CONTROL, place, align(head.size), err);
	if (!r)
		reserve(dir);
	if (!r)
		r = control_file_write(dir, SEGMENT_CONTROL, bytes, head.size, place, err);
	free(bytes);
	if (!r)
		r = control_file_publish(dir, SEGMENT_CONTROL, &head.published,
					 sizeof(head.published),
					 offsetof(struct control_head, published), err);
	if (r)
		return r;
	state->published = head.published;
	state->place = place;
	state->place_size = head.size;
	return 0;
}
