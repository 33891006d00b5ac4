/*
 * runtime/view: private, checked pictures of the published state, so that the hot path trusts what it follows.
 *
 * A view is built in a free place by whichever thread first notices that the published word has moved, in a signal handler
 * too, and put in force by one compare-and-swap. The one before is retired, and its place used again only when no section
 * and no other writer of this process can be using it: membarrier aborts the sections, `holders` counts the others.
 *
 *   FREE -> BUILDING (claimed) -> READY (in force) -> RETIRED -> BUILDING ...
 *              `-> FREE (somebody else was faster)
 */
#include <errno.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/glob.h"
#include "layout/hook.h"
#include "runtime/local.h"

bool runtime_view_init(void)
{
	size_t refs = (size_t)STATE_BUFFERS_MAX * 2 * runtime.ncpu * sizeof(struct ring_ref);
	size_t size = (sizeof(struct view) + 64 + refs + 4095) & ~(size_t)4095;
	size_t whole = size * RUNTIME_VIEWS + RUNTIME_STAGES * 4096;
	unsigned char *all;

	if (!runtime_affordable(RLIMIT_DATA, whole))
		return false;
	all = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (all == MAP_FAILED)
		return false;
	for (int i = 0; i < RUNTIME_VIEWS; i++) {
		runtime.views[i] = (struct view *)(void *)(all + size * (size_t)i);
		/* Right behind the struct, on a line of its own. */
		runtime.views[i]->refs = (struct ring_ref *)(((uintptr_t)(runtime.views[i] + 1) + 63) & ~(uintptr_t)63);
	}
	runtime.stages = all + size * RUNTIME_VIEWS;
	return true;
}

/* Nothing at all lies anywhere. */
static bool fits(uint32_t offset, uint64_t count, size_t each, uint32_t size)
{
	return !count || (offset % 8 == 0 && offset >= sizeof(struct state_head) && offset + count * each <= size);
}

static bool ranges_fit(const struct state_head *state, uint32_t size)
{
	uint64_t buffers = (uint64_t)state->nbuffers * sizeof(struct state_buffer);
	uint64_t rules = (uint64_t)state->nrules * sizeof(struct state_rule);
	uint64_t pids = (uint64_t)state->npids * sizeof(struct state_pid);

	return state->nbuffers <= STATE_BUFFERS_MAX && state->buffers % 8 == 0 &&
	       state->buffers >= sizeof(*state) && state->rules >= sizeof(*state) &&
	       state->buffers + buffers <= size && state->rules + rules <= size &&
	       state->pids % 8 == 0 && state->pids >= sizeof(*state) && state->pids + pids <= size &&
	       fits(state->hooks, state->nhooks, sizeof(struct state_hook), size) &&
	       fits(state->probes, state->nprobes, sizeof(struct state_probe), size) &&
	       fits(state->items, state->nitems, sizeof(struct state_item), size) &&
	       fits(state->funcs, state->nfuncs, sizeof(struct state_func), size) &&
	       fits(state->calls, state->calls != 0, sizeof(struct state_calls), size) &&
	       fits(state->measure, state->measure != 0, sizeof(struct state_measure), size) &&
	       fits(state->code, state->code_size, 1, size);
}

/* Copies the state that `published` names. False when it is not whole: it was replaced under us, or is garbage. */
static bool copy_state(uint64_t published, struct state_head *state)
{
	const struct state_head *there = runtime_state_peek(published);
	uint32_t size, crc;

	if (!there)
		return false;
	size = LOAD(there->size);
	if (size < sizeof(*state) || size > CONTROL_STATE_MAX)
		return false;
	memcpy(state, there, size);
	crc = state->crc;
	state->crc = 0;
	return state->published == published && state->size == size && crc32c(0, state, size) == crc &&
	       ranges_fit(state, size);
}

static const struct state_buffer *state_buffers(const struct state_head *state)
{
	return (const void *)((const char *)state + state->buffers);
}

static bool shape_ok(const struct state_set *set)
{
	uint32_t size = set->page_size;

	return set->offset && set->offset % 4096 == 0 && size >= PAGE_SIZE_MIN && size <= PAGE_SIZE_MAX &&
	       !(size & (size - 1)) && set->npages >= RING_NPAGES_MIN && set->npages <= RING_NPAGES_MAX;
}

static bool by_counter(const struct view *view, const struct state_set *set)
{
	return set->clock.flags & TRACE_CLOCK_BY_COUNTER && !view->timeless;
}

static void fill_ref(const struct view *view, struct ring_ref *ref, unsigned char *ring, const struct state_set *set,
		     uint32_t flags, bool off)
{
	struct ring_head *head = (struct ring_head *)(void *)ring;

	*ref = (struct ring_ref){
		.head = !off && LOAD(head->made) ? head : NULL,
		.pages = ring + ring_pages_offset(runtime.ncpu, set->npages),
		.first = (uint64_t *)(void *)(ring + ring_head_size(runtime.ncpu)),
		.npages = ring_npages(LOAD(head->npages), set->npages),
		.data_size = set->page_size - PAGE_HEAD_SIZE,
		.page_shift = (uint32_t)__builtin_ctz(set->page_size),
		.flags = (flags & BUFFER_OVERWRITE ? RING_REF_OVERWRITE : 0) |
			 (by_counter(view, set) ? RING_REF_COUNTER : 0) | (off ? RING_REF_OFF : 0),
		.mult = set->clock.mult,
		.counter0 = set->clock.counter0,
		.ns0 = set->clock.ns0,
	};
}

/* How often triggers have swapped the buffer since its state was published. */
static uint32_t turns(uint32_t side, uint32_t nspares)
{
	uint64_t n = side && side < TABLE_WORDS ? LOAD(runtime_words()[side]) : 0;

	return n < nspares ? (uint32_t)n : nspares;
}

/* The set that takes what comes: the live one, or the spare that a trigger's snapshot put in its place. */
static const struct state_set *set_in_use(struct view *view, uint32_t b, const struct state_buffer *from)
{
	struct view_buffer *buffer = &view->buffer[b];

	buffer->side = from->side;
	buffer->nspares = from->nspares < STATE_SPARES ? from->nspares : STATE_SPARES;
	buffer->turned = turns(buffer->side, buffer->nspares);
	if (buffer->side)
		view->switched |= 1ull << b;
	return buffer->turned ? &from->spares[buffer->turned - 1] : &from->live;
}

/* Does every buffer still write to the set that it did when the view was made? */
static bool sides_hold(const struct view *view)
{
	for (uint64_t mask = view->switched & ~VIEW_SPECIAL; mask; mask &= mask - 1) {
		const struct view_buffer *buffer = &view->buffer[__builtin_ctzll(mask)];

		if (turns(LOAD(buffer->side), LOAD(buffer->nspares)) != LOAD(buffer->turned))
			return false;
	}
	return true;
}

/* True when the buffer can be written to. */
static bool fill_buffer(struct view *view, uint32_t b, const struct state_buffer *from)
{
	struct view_buffer *buffer = &view->buffer[b];
	const struct state_set *set = set_in_use(view, b, from);
	unsigned char *base;

	buffer->born = from->born;
	buffer->flags = from->flags;
	buffer->tracer_flags = from->tracer_flags;
	buffer->clock = set->offset ? set->clock.id : from->clock;
	buffer->by_counter = 0;
	buffer->off = from->off < TABLE_WORDS ? from->off : 0;
	if (buffer->off || from->flags & BUFFER_STACKTRACE)
		view->switched |= 1ull << b;
	if (!from->born || !buffer_takes(from) || !shape_ok(set))
		return false;
	base = runtime_rings_reach(set->offset, runtime.tells ? set_size(runtime.ncpu, set->npages, set->page_size) :
								set_written_size(runtime.ncpu, set->npages, set->page_size));
	if (!base) {
		view->unreachable |= 1ull << b;
		return false;
	}
	buffer->refs = view->refs + (size_t)b * 2 * runtime.ncpu;
	buffer->wakes = &((struct set_head *)(void *)base)->wakes;
	buffer->by_counter = by_counter(view, set);
	for (uint32_t i = 0; i < 2 * runtime.ncpu; i++)
		fill_ref(view, &buffer->refs[i],
			 base + set_ring_offset(0, i, runtime.ncpu, set->npages, set->page_size), set, from->flags,
			 i < runtime.ncpu && buffer_cpu_off(from, i));
	return true;
}

/* The bounds hold in any case: the place may be used again while somebody looks who did not hold the view. */
static const void *table(const struct state_head *state, uint32_t offset, uint32_t count, size_t size, uint32_t *n)
{
	*n = offset % 8 == 0 && offset <= CONTROL_STATE_MAX && count <= (CONTROL_STATE_MAX - offset) / size ? count : 0;
	return (const char *)state + (*n ? offset : 0);
}

/* The buffers in which the rules switch this event on. The last rule that matches decides. */
static uint64_t rules_mask(const struct state_head *state, const char *system, const char *name)
{
	uint32_t n;
	const struct state_rule *rule = table(state, LOAD(state->rules), LOAD(state->nrules), sizeof(*rule), &n);
	uint64_t mask = 0;

	for (uint32_t i = 0; i < n; i++, rule++) {
		if (rule->buffer >= STATE_BUFFERS_MAX || rule->system[sizeof(rule->system) - 1] ||
		    rule->event[sizeof(rule->event) - 1])
			continue;
		if (!glob_match(rule->system, system) || !glob_match(rule->event, name))
			continue;
		if (rule->on)
			mask |= 1ull << rule->buffer;
		else
			mask &= ~(1ull << rule->buffer);
	}
	return mask;
}

/* Under runtime_hooks_lock(), or nobody else knows the view yet. */
static void fill_event(struct view *view, uint32_t id)
{
	const struct state_head *state = (const struct state_head *)view->copy;
	char system[REGISTRY_NAME_MAX + 1], name[REGISTRY_NAME_MAX + 1];
	uint32_t related;
	uint64_t mask = 0;

	if ((state->nrules || state->nhooks) && runtime_event_names(id, system, name, &related))
		mask = runtime_hooks_bind(view, id, system, name, rules_mask(state, system, name) & view->usable);
	else
		STORE(view->hooks[id], 0);
	/* Behind the hooks. Partner: writers who find more than the top buffer in it. */
	STORE_RELEASE(view->mask[id], mask);
}

/* A synthetic event or a probe. */
static bool is_made(const struct state_item *item)
{
	return (item->kind == STATE_ITEM_SYNTH || item->kind == STATE_ITEM_PROBE) && item->event_id >= EVENT_ID_FIRST &&
	       item->event_id < EVENT_ID_END && !item->system[sizeof(item->system) - 1] &&
	       !item->event[sizeof(item->event) - 1];
}

/* Events that no program brings: hooks make them. All masks come first, since probes look at them; then the hooks, from the last
 * one on: a probe comes behind what it hangs on, and is awake for what hangs on it in turn. */
static void fill_made(struct view *view)
{
	const struct state_head *state = (const struct state_head *)view->copy;
	uint32_t n, i;
	const struct state_item *item = table(state, LOAD(state->items), LOAD(state->nitems), sizeof(*item), &n);

	view->nprobes = LOAD(state->nprobes) < STATE_PROBES_MAX ? LOAD(state->nprobes) : STATE_PROBES_MAX;
	memset(view->probe_state, VIEW_PROBE_NEW, view->nprobes);
	for (i = 0; i < view->nmade; i++) {
		view->mask[view->made[i]] = 0;
		view->hooks[view->made[i]] = 0;
	}
	view->nmade = 0;
	for (i = 0; i < n && view->nmade < STATE_ITEMS_MAX; i++) {
		if (!is_made(&item[i]))
			continue;
		view->made[view->nmade++] = (uint16_t)item[i].event_id;
		view->mask[item[i].event_id] = rules_mask(state, item[i].system, item[i].event) & view->usable;
	}
	while (i--) {
		uint32_t id = item[i].event_id;

		if (is_made(&item[i]))
			view->mask[id] = runtime_hooks_bind(view, id, item[i].system, item[i].event, view->mask[id]);
	}
}

static void fill_call(struct view *view, uint32_t id)
{
	if (id < EVENT_ID_FIRST || id >= EVENT_ID_END || view->ncalled == sizeof(view->called) / sizeof(view->called[0]))
		return;
	view->called[view->ncalled++] = (uint16_t)id;
	fill_event(view, id);
}

/* System calls and allocations, which no program brings either. */
static void fill_calls(struct view *view)
{
	const struct state_head *state = (const struct state_head *)view->copy;
	const struct state_calls *calls = (const void *)((const char *)state + state->calls);

	for (uint32_t i = 0; i < view->ncalled; i++) {
		view->mask[view->called[i]] = 0;
		view->hooks[view->called[i]] = 0;
	}
	view->ncalled = 0;
	STORE(view->calls, state->calls && !view->asleep ? calls : NULL);
	if (!view->asleep) {
		fill_call(view, state->kmalloc);
		fill_call(view, state->kfree);
	}
	if (!view->calls)
		return;
	fill_call(view, calls->raw_enter);
	fill_call(view, calls->raw_exit);
	for (uint32_t i = 0; i < CALLS_MAX; i++) {
		fill_call(view, calls->enter[i]);
		fill_call(view, calls->exit[i]);
	}
	fill_call(view, calls->data_id);
	fill_call(view, calls->generate_id);
	fill_call(view, calls->deliver_id);
}

/* Behind all of what may go there. */
static void fill_lone(struct view *view)
{
	uint64_t all = 0, buffer;
	uint32_t b;

	for (uint32_t i = 0; i < view->nmade; i++)
		all |= view->mask[view->made[i]];
	for (uint32_t i = 0; i < view->ncalled; i++)
		all |= view->mask[view->called[i]];
	buffer = all & ~VIEW_SPECIAL;
	view->lone = (struct view_lone){ 0 };
	if (!buffer || buffer & (buffer - 1) || buffer & view->switched || view->unreachable)
		return;
	b = (uint32_t)__builtin_ctzll(buffer);
	if (!view->buffer[b].by_counter)
		return;
	view->lone.choosy = view->choosy & buffer;
	view->lone.mask = view->lone.choosy ? buffer | VIEW_SPECIAL : buffer;
	view->lone.refs = view->buffer[b].refs;
}

const struct state_hook *runtime_view_hooks(const struct view *view, uint32_t *n)
{
	const struct state_head *state = (const struct state_head *)view->copy;
	uint32_t count = view->asleep ? 0 : LOAD(state->nhooks);

	return table(state, LOAD(state->hooks), count, sizeof(struct state_hook), n);
}

const struct state_probe *runtime_view_probes(const struct view *view, uint32_t *n)
{
	const struct state_head *state = (const struct state_head *)view->copy;

	return table(state, LOAD(state->probes), LOAD(state->nprobes), sizeof(struct state_probe), n);
}

const struct state_pid *runtime_view_pids(const struct view *view, uint32_t *n)
{
	const struct state_head *state = (const struct state_head *)view->copy;

	return table(state, LOAD(state->pids), LOAD(state->npids), sizeof(struct state_pid), n);
}

uint64_t runtime_view_unreachable(const struct view *view, uint32_t id)
{
	const struct state_head *state = (const struct state_head *)view->copy;
	char system[REGISTRY_NAME_MAX + 1], name[REGISTRY_NAME_MAX + 1];
	uint32_t related;

	if (id < EVENT_ID_FIRST)
		return view->unreachable & 1;
	if (!runtime_event_names(id, system, name, &related))
		return 0;
	return rules_mask(state, system, name) & view->unreachable;
}

/* Masks of the events that became known since they were last filled in. */
static void fill_events(struct view *view)
{
	uint32_t nknown = __atomic_load_n(&runtime.nknown, __ATOMIC_SEQ_CST);

	for (uint32_t i = view->nfilled; i < nknown; i++)
		fill_event(view, LOAD(runtime.known[i]));
	view->nfilled = nknown;
}

/* Buffers that name threads to take events of, or functions, or not to take them of: by lists of the first kind or the second. */
static uint64_t choosy(const struct view *view, uint32_t only, uint32_t not)
{
	uint32_t n;
	const struct state_pid *pid = runtime_view_pids(view, &n);
	uint64_t mask = 0;

	for (uint32_t i = 0; i < n; i++)
		if (pid[i].buffer < STATE_BUFFERS_MAX && (pid[i].kind == only || pid[i].kind == not))
			mask |= 1ull << pid[i].buffer;
	return mask;
}

/* Marks go to the top buffer, printf there or where somebody wants it instead; and both where copies are wanted. */
static void fill_builtin(struct view *view)
{
	uint32_t top = view->nbuffers ? view->buffer[0].flags : 0;
	uint64_t dest = 1, marks = 0, prints = 0;

	for (uint32_t b = 0; b < view->nbuffers; b++) {
		if (view->buffer[b].flags & BUFFER_PRINTK_DEST)
			dest = 1ull << b;
		if (!(view->buffer[b].flags & BUFFER_COPY_MARKERS))
			continue;
		prints |= 1ull << b;
		if (view->buffer[b].flags & BUFFER_MARKERS)
			marks |= 1ull << b;
	}
	for (uint32_t id = 0; id < EVENT_ID_BUILTIN_END; id++) {
		view->mask[id] = 0;
		view->hooks[id] = 0;
	}
	marks = view->usable & (marks | (top & BUFFER_MARKERS ? 1 : 0));
	prints = top & BUFFER_TRACE_PRINTK ? view->usable & (prints | dest) : 0;
	view->mask[EVENT_ID_PRINT] = runtime_hooks_bind(view, EVENT_ID_PRINT, "ftrace", "print", marks);
	view->mask[EVENT_ID_BPRINT] = runtime_hooks_bind(view, EVENT_ID_BPRINT, "ftrace", "bprint", prints);
	view->nameless = view->nbuffers && !(top & BUFFER_RECORD_CMD);
}

/* Has the buffer lines of that kind? */
static bool has_lines(const struct state_head *state, uint32_t b, uint32_t kind)
{
	uint32_t n;
	const struct state_func *func = table(state, LOAD(state->funcs), LOAD(state->nfuncs), sizeof(*func), &n);

	for (uint32_t i = 0; i < n; i++)
		if (func[i].buffer == b && func[i].kind == kind)
			return true;
	return false;
}

/* Only records, with times from the counter; where records tell them, too, in nanoseconds. */
static bool is_plain(const struct view *view, uint32_t b, const struct state_buffer *from)
{
	return !(view->switched & 1ull << b) && view->buffer[b].by_counter &&
	       (view->buffer[b].clock != TRACE_CLOCK_X86_TSC || from->tracer != TRACER_GRAPH) &&
	       !(from->tracer_flags & TRACER_FLAG_FUNC_STACK);
}

static void fill_functions(struct view *view)
{
	const struct state_head *state = (const struct state_head *)view->copy;
	const struct state_buffer *from = state_buffers(state);
	bool barred = false;

	view->functions = view->graphs = view->func_args = view->func_only = view->graph_rooted = 0;
	view->func_refs = NULL;
	view->graph_thresh = view->nbuffers ? from[0].thresh : 0;
	view->graph_depth = view->nbuffers ? from[0].graph_depth : 0;
	for (uint32_t b = 0; b < view->nbuffers; b++) {
		const uint64_t bit = 1ull << b & view->usable;

		if (from[b].tracer == TRACER_FUNCTION)
			view->functions |= bit;
		else if (from[b].tracer == TRACER_GRAPH)
			view->graphs |= bit;
		if (tracer_wants_args(from[b].tracer, from[b].tracer_flags))
			view->func_args |= bit;
		if ((view->functions | view->graphs) == bit && bit && is_plain(view, b, &from[b])) {
			view->func_only = bit;
			view->func_refs = view->buffer[b].refs;
		}
		if (has_lines(state, b, STATE_FUNC_ROOT))
			view->graph_rooted |= bit;
		barred |= has_lines(state, b, STATE_FUNC_NOT_ROOT);
	}
	if (view->func_only != (view->functions | view->graphs)) {
		view->func_only = 0;
		view->func_refs = NULL;
	}
	view->graph_only = view->func_only & view->graphs & ~view->func_choosy && !view->graph_rooted && !barred &&
			   !view->graph_thresh && !view->graph_depth ? view->func_only : VIEW_SPECIAL;
}

/* Behind the hooks, which know the tables. */
static void fill_measure(struct view *view)
{
	const struct state_head *state = (const struct state_head *)view->copy;
	const struct state_measure *from = (const void *)((const char *)state + state->measure);
	const struct state_buffer *top = state_buffers(state);
	struct view_measure *measure = &view->measure;
	struct table_shape shape;

	*measure = (struct view_measure){ .tables = view->host.tables };
	if (!state->measure || !view->nbuffers || view->asleep)
		return;
	shape = table_profile_shape(from->parts, from->elements);
	if (top->profile && from->parts <= SEGMENT_NCPU_MAX && from->elements <= 1u << 20 &&
	    hist_shape_fits(&measure->tables, from->profile, &shape)) {
		measure->profile = from->profile;
		measure->parts = from->parts;
		measure->elements = from->elements;
		measure->rooted = has_lines(state, 0, STATE_FUNC_ROOT);
	}
	measure->clock = view->timeless || from->mult <= VIEW_CLOCK_THREAD ? VIEW_CLOCK_MONO : from->mult;
	if (!(top->tracer_flags & TRACER_FLAG_SLEEP_TIME))
		measure->clock = VIEW_CLOCK_THREAD;
	if (from->deep && from->deepest >= TABLES_DATA_OFFSET && from->deepest % 4096 == 0 &&
	    from->deepest <= measure->tables.size && measure->tables.size - from->deepest >= sizeof(struct table_deepest))
		measure->deepest = (struct table_deepest *)(void *)(measure->tables.base + from->deepest);
}

static void fill(struct view *view)
{
	const struct state_head *state = (const struct state_head *)view->copy;

	view->timeless = LOAD(runtime.timeless);
	view->asleep = LOAD(runtime.asleep);
	view->usable = view->unreachable = view->switched = 0;
	view->nbuffers = state->nbuffers;
	view->choosy = choosy(view, STATE_PID_ONLY, STATE_PID_NOT);
	view->func_choosy = choosy(view, STATE_PID_FUNC_ONLY, STATE_PID_FUNC_NOT);
	for (uint32_t b = 0; b < view->nbuffers; b++)
		if (fill_buffer(view, b, &state_buffers(state)[b]) && !view->asleep)
			view->usable |= 1ull << b;
	if (view->asleep)
		view->unreachable = 0;
	runtime_hooks_init(view);
	fill_made(view);
	fill_builtin(view);
	fill_functions(view);
	fill_measure(view);
	fill_calls(view);
	fill_lone(view);
	view->published_at = &runtime.control->published;
	view->ncpu = runtime.ncpu;
	view->fast = view->usable & 1 && view->buffer[0].by_counter ? view->buffer[0].refs : NULL;
	view->nfilled = 0;
	fill_events(view);
}

static bool claim(struct view *view, uint32_t from)
{
	return __atomic_compare_exchange_n(&view->state, &from, VIEW_BUILDING, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

static bool is_free(struct view *view)
{
	return LOAD(view->state) == VIEW_RETIRED && !__atomic_load_n(&view->holders, __ATOMIC_SEQ_CST);
}

/* One that was never used, else the one that was retired first and that nobody holds. Not one of the state in force, of which
 * there are several when snapshots turn sides: who began with it would not find its generation gone. */
static struct view *claim_view(void)
{
	uint64_t published = LOAD_ACQUIRE(runtime.control->published);
	struct view *oldest = NULL;

	for (int i = 0; i < RUNTIME_VIEWS; i++)
		if (LOAD(runtime.views[i]->state) == VIEW_FREE && claim(runtime.views[i], VIEW_FREE))
			return runtime.views[i];
	for (int i = 0; i < RUNTIME_VIEWS; i++) {
		struct view *view = runtime.views[i];

		if (is_free(view) && LOAD(view->published) != published && (!oldest || (int32_t)(view->number - oldest->number) < 0))
			oldest = view;
	}
	/* Sections that began with it are aborted by this. Who has not begun yet finds its generation gone. */
	if (oldest && !LOAD(runtime.locked))
		syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ, 0, 0);
	return oldest && is_free(oldest) && claim(oldest, VIEW_RETIRED) ? oldest : NULL;
}

/* The state in force, and the word that names it. False: nothing was published yet, or garbage. */
static bool take_state(struct state_head *state, uint64_t *published)
{
	for (int tries = 0; tries < 16; tries++) {
		/* Partner: the tool's store of `published` behind the state it names. */
		*published = LOAD_ACQUIRE(runtime.control->published);
		if (*published && copy_state(*published, state))
			return true;
		if (*published == LOAD_ACQUIRE(runtime.control->published))
			break;
	}
	return false;
}

bool runtime_state_copy(struct state_head *to)
{
	uint64_t published;

	return take_state(to, &published);
}

static void build(struct view *view)
{
	uint64_t published;

	/* Who runs hooks of the view before sees that its memory is used again, before it is. Partner: is_sound(). */
	__atomic_add_fetch(&view->place, 1, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	/* Nothing is on until somebody publishes anew. */
	if (!take_state((struct state_head *)view->copy, &published))
		memset(view->copy, 0, sizeof(struct state_head));
	fill(view);
	/* Last: a thread that has held this place since before takes its old word, which is in force no more, or this one
	 * and all of the view. Partner: the loads of `published` in runtime/write.c. */
	STORE_RELEASE(view->published, published);
}

/* Was it made for a process in the condition that this one is in? */
static bool suits(const struct view *view)
{
	return LOAD(view->timeless) == LOAD(runtime.timeless) && LOAD(view->asleep) == LOAD(runtime.asleep);
}

/* One of the state in force that was in force before: who goes to sleep and wakes up comes back to it. */
static struct view *claim_again(void)
{
	uint64_t published = LOAD_ACQUIRE(runtime.control->published);

	for (int i = 0; i < RUNTIME_VIEWS; i++) {
		struct view *view = runtime.views[i];

		if (LOAD(view->published) != published || !suits(view) || !sides_hold(view) || !claim(view, VIEW_RETIRED))
			continue;
		if (LOAD(view->published) == published && suits(view) && sides_hold(view))
			return view;
		STORE_RELEASE(view->state, VIEW_RETIRED);
	}
	return NULL;
}

static struct view *replace(struct view *old)
{
	static uint32_t number;
	struct view *again = claim_again(), *view = again ? again : claim_view();

	if (!view)
		return NULL;
	if (!again)
		build(view);
	STORE(view->state, VIEW_READY);
	if (!__atomic_compare_exchange_n(&wiped.view, &old, view, false, __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE)) {
		STORE_RELEASE(view->state, again ? VIEW_RETIRED : VIEW_FREE);
		return old;
	}
	if (LOAD(view->nfilled) != __atomic_load_n(&runtime.nknown, __ATOMIC_SEQ_CST) && runtime_hooks_lock(view)) {
		fill_events(view);
		runtime_hooks_unlock(view);
	}
	if (old) {
		old->number = __atomic_add_fetch(&number, 1, __ATOMIC_RELAXED);
		STORE_RELEASE(old->state, VIEW_RETIRED);
	}
	return view;
}

/* Is the view of the state in force, whichever sides it has? */
static bool is_current(const struct view *view)
{
	return view && LOAD(view->published) == LOAD_ACQUIRE(runtime.control->published) &&
	       suits(view);
}

struct view *runtime_view_refresh(void)
{
	struct view *old = LOAD_ACQUIRE(wiped.view);
	uint64_t before;
	uintptr_t own;

	if (!LOAD(runtime.attached))
		return NULL;
	if (is_current(old) && sides_hold(old))
		return old;
	/* A handler that never returns here would keep the place for good. */
	own = runtime_own_begin();
	runtime_signals_hold(&before);
	old = replace(old);
	runtime_signals_restore(&before);
	runtime_own_end(own);
	if (old)
		return old;
	/* No place for one with the sides of now: what comes goes to the sides of before, until the next state. */
	old = LOAD_ACQUIRE(wiped.view);
	return is_current(old) ? old : NULL;
}

struct view *runtime_view_settle(void)
{
	struct view *view = runtime_view_refresh();

	for (int tries = 0; !view && tries < 1000 && LOAD(runtime.attached); tries++) {
		if (!LOAD(runtime.locked))
			sched_yield();
		view = runtime_view_refresh();
	}
	return view;
}

uint64_t runtime_view_know(uint32_t id)
{
	struct view *view;

	if (runtime.is_known[id / 8] & 1u << id % 8) {
		view = runtime_view_settle();
		return view ? LOAD(view->mask[id]) : 0;
	}
	if (runtime.nknown == RUNTIME_EVENTS_MAX)
		return 0;
	runtime.known[runtime.nknown] = id;
	/* A builder either sees the new count or its view is seen here: both sides store, then load. */
	__atomic_store_n(&runtime.nknown, runtime.nknown + 1, __ATOMIC_SEQ_CST);
	/* Behind that: a child forked in between does it again. */
	runtime.is_known[id / 8] |= 1u << id % 8;
	do {
		view = runtime_view_settle();
		if (!view || !runtime_hooks_lock(view))
			return 0;
		fill_event(view, id);
		runtime_hooks_unlock(view);
	} while (__atomic_load_n(&wiped.view, __ATOMIC_SEQ_CST) != view);
	return LOAD(view->mask[id]);
}

bool runtime_view_wants(const struct view *view, const char *system, const char *name)
{
	const struct state_head *state = (const struct state_head *)view->copy;
	uint32_t n;
	const struct state_hook *hook = table(state, LOAD(state->hooks), LOAD(state->nhooks), sizeof(*hook), &n);

	if (rules_mask(state, system, name))
		return true;
	for (uint32_t i = 0; i < n; i++)
		if (!strncmp(hook[i].system, system, sizeof(hook->system)) &&
		    !strncmp(hook[i].event, name, sizeof(hook->event)))
			return true;
	return false;
}
