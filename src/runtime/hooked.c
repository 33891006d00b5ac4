/*
 * runtime/hooked: the way of an event that something hangs on; and what hooks ask of a traced program.
 *
 *   for each hook:   first triggers -> filter -> soft? off? -> section -> the other triggers
 *
 * Any thread, any signal handler. The view is not held: all of it may change as soon as its generation is gone. So nothing is
 * done before that was looked at, behind whatever was read; once a buffer's part has begun, view->place tells whether the
 * memory is still the same, and it is for five generations more. `writing` keeps what was done when another view goes on.
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime/local.h"
#include "runtime/module.h"
#include "runtime/runtime.h"

#define STACK_MAX 48u
#define PROBE_TRIES 1000

struct run {
	struct thread *thread;
	struct view *view;
	uint64_t generation;
	struct writing *writing;
	uint64_t ts;		/* of the record, once it lies in the buffer that hooks run for; else 0 */
	uint64_t before;	/* when somebody asked before that, by the clock of buffer `before_of`; 0: nobody did */
	uint32_t before_of;
};

static uint32_t number_of(uint64_t buffer)
{
	return buffer ? (uint32_t)__builtin_ctzll(buffer) : 0;
}

static uint64_t now(const struct hook_host *host, uint64_t buffer)
{
	struct run *run = host->arg;
	uint32_t b = number_of(buffer) % STATE_BUFFERS_MAX;
	const struct view_buffer *from = &run->view->buffer[b];
	const struct ring_ref *refs = run->view->refs + (size_t)b * 2 * runtime.ncpu;

	/* So that what is computed now and what somebody computes from the trace is the same. */
	if (run->ts)
		return run->ts;
	/* An event has one time for all that hangs on it. */
	if (!run->before || run->before_of != b) {
		run->before = runtime_buffer_time(from, &refs[(uint32_t)host->cpu < runtime.ncpu ? host->cpu : 0]);
		run->before_of = b;
	}
	return run->before;
}

static const char *comm(const struct hook_host *host)
{
	(void)host;
	return runtime_self.told ? runtime_self.told->comm : runtime_comm();
}

static uint32_t stack(const struct hook_host *host, uint64_t *addresses, uint32_t max)
{
	(void)host;
	return runtime_self.told ? 0 : runtime_stack(addresses, max, 0);
}

static bool is_event(uint32_t id)
{
	return id >= EVENT_ID_FIRST && id < EVENT_ID_END;
}

static bool wants(const struct hook_host *host, uint32_t event)
{
	const struct run *run = host->arg;

	return is_event(event) && LOAD(run->view->mask[event]);
}

static void lose(const struct hook_host *host, uint32_t event)
{
	(void)host;
	if (is_event(event))
		runtime_lose(event);
}

static void emit(const struct hook_host *host, uint32_t event, void *record, uint32_t len)
{
	const struct run *run = host->arg;
	struct writing writing = {
		.id = event, .record = record, .len = len, .tid = run->writing->tid, .depth = host->depth + 1,
	};

	if (host->depth >= HOOK_DEPTH_MAX)
		lose(host, event);
	else if (is_event(event))
		runtime_write_slowly(&writing);
}

static void *stage(const struct hook_host *host)
{
	(void)host;
	return runtime_stage_get();
}

static void unstage(const struct hook_host *host, void *at)
{
	(void)host;
	runtime_stage_put(at);
}

static bool is_off(const struct view *view, uint32_t b)
{
	return runtime_view_off(view) >> b & 1;
}

void runtime_write_stack(struct thread *thread, struct view *view, uint64_t generation, uint32_t b, int32_t pid, uint64_t top)
{
	uint32_t n = top != 0;
	struct {
		struct record_head head;
		uint32_t size, reserved;
		uint64_t caller[STACK_MAX];
	} record = { .head = { .type = EVENT_ID_KERNEL_STACK, .pid = pid } };

	/* What is told late has no stack any more. */
	if (!(view->usable & 1ull << b) || is_off(view, b) || thread->told)
		return;
	record.caller[0] = top;
	n += runtime_stack(record.caller + n, STACK_MAX - n, 0);
	record.size = n < STACK_MAX ? n : STACK_MAX;
	runtime_write_buffer(thread, view, generation, b, &record, offsetof(__typeof__(record), caller) + record.size * 8,
			     NULL);
}

static void write_stack(const struct hook_host *host, uint64_t buffer)
{
	const struct run *run = host->arg;

	runtime_write_stack(run->thread, run->view, run->generation, number_of(buffer), host->pid, 0);
}

static bool snapshot(const struct hook_host *host, uint64_t buffer)
{
	const struct run *run = host->arg;

	return runtime_snapshot(run->view, number_of(buffer));
}

/*
 * An address of the symbol space is of a file, wherever that is in this process. Two pieces, so that what lies in the first page is
 * had when the second is not there. A text that goes on where nothing is to be read is none, as for whoever is given it.
 */
static uint32_t peek(void *to, uint64_t address, uint32_t len, bool text)
{
	struct iovec local = { to, len }, there[2];
	int saved = errno;
	uint32_t first;
	const char *end;
	long n;

	if (address >= SYMBOL_SPACE_BASE)
		address = runtime_module_place(address);
	if (LOAD(runtime.locked) || address > UINTPTR_MAX - len || !address || !len)
		return 0;
	first = 4096 - (uint32_t)(address & 4095);
	first = first < len ? first : len;
	there[0] = (struct iovec){ (void *)(uintptr_t)address, first };
	there[1] = (struct iovec){ (void *)(uintptr_t)(address + first), len - first };
	n = syscall(SYS_process_vm_readv, (long)LOAD(runtime.pid), &local, 1ul, there, first < len ? 2ul : 1ul, 0ul);
	errno = saved;
	if (n <= 0)
		return 0;
	end = text ? memchr(to, '\0', (size_t)n) : NULL;
	if (text && !end && n < (long)len)
		return 0;
	return end ? (uint32_t)(end - (const char *)to) + 1 : (uint32_t)n;
}

/* What somebody put into the symbol space already stays there. */
static uint64_t symbol(uint64_t address)
{
	return address > UINTPTR_MAX || address >= SYMBOL_SPACE_BASE ? address :
	       runtime_module_address(runtime_module((uintptr_t)address), (uintptr_t)address);
}

static const struct hook_calls calls = {
	.now = now, .comm = comm, .stack = stack, .emit = emit, .wants = wants, .stage = stage, .unstage = unstage,
	.write_stack = write_stack, .snapshot = snapshot, .peek = peek, .symbol = symbol, .lose = lose,
};

void runtime_hooks_init(struct view *view)
{
	const struct state_head *state = (const struct state_head *)view->copy;

	view->nbound = 0;
	view->room = (struct hook_room){
		.fields = view->fields, .fields_max = VIEW_FIELDS_MAX, .links = view->links, .links_max = VIEW_LINKS_MAX,
	};
	STORE(view->binding, 0);
	view->host = (struct hook_host){
		.calls = &calls,
		.code = { (const unsigned char *)state + (state->code_size ? state->code : 0), state->code_size },
		.fields = view->fields,
		.room = VIEW_FIELDS_MAX,
		.links = view->links,
		.links_max = VIEW_LINKS_MAX,
		.tables = runtime_tables_reach((uint64_t)state->tables * 4096),
		.words = runtime_words(),
		.place = &view->place,
	};
}

/* False: the view is stale. What it says in any other case is of its generation. */
static bool host_init(struct hook_host *host, struct run *run)
{
	struct thread *thread = run->thread;
	uint32_t cpu = thread->guard ? UINT32_MAX : LOAD(thread->rs->cpu_id);

	*host = run->view->host;
	host->place_was = LOAD(run->view->place);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	host->cpu = (int32_t)(cpu < runtime.ncpu ? cpu : runtime_current_cpu());
	host->pid = ((const struct record_head *)run->writing->record)->pid;
	host->depth = run->writing->depth;
	host->arg = run;
	return !runtime_gone(run->generation);
}

/* What was marked is what conditions compare with, not the newline that a marker ends with. */
static void find_newline(struct writing *writing)
{
	char *text = (char *)writing->record + sizeof(struct record_head) + 8, *end = (char *)writing->record + writing->len;

	if (writing->id != EVENT_ID_PRINT || writing->len <= sizeof(struct record_head) + 8)
		return;
	while (end > text && !end[-1])
		end--;
	if (end > text && end[-1] == '\n')
		writing->newline = end - 1;
}

static void hide_newline(const struct writing *writing, bool hide)
{
	if (writing->newline)
		*writing->newline = hide ? '\0' : '\n';
}

static enum ring_result write_seen(struct run *run, const struct hook_host *host, const struct hook_bound *bound, bool on)
{
	struct writing *writing = run->writing;
	uint64_t bit = bound->buffer, soft = LOAD(bound->soft);
	enum ring_result result;
	bool off;

	if (bound->before && !(writing->begun & bit)) {
		if (runtime_gone(run->generation) || !hook_before(host, bound, writing->record, writing->len))
			return RING_STALE;
		writing->begun |= bit;
	}
	off = is_off(run->view, number_of(bit));
	result = off ? RING_DROPPED : RING_DONE;
	on = on && !off && hook_passes(host, bound, writing->record, writing->len) &&
	     (!soft || (soft < TABLE_WORDS && LOAD(host->words[soft])));
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (runtime_gone(run->generation))
		return RING_STALE;
	if (on) {
		hide_newline(writing, false);
		result = runtime_write_buffer(run->thread, run->view, run->generation, number_of(bit), writing->record,
					      writing->len, &run->ts);
		hide_newline(writing, true);
		if (result == RING_DONE && LOAD(run->view->buffer[number_of(bit)].flags) & BUFFER_STACKTRACE)
			runtime_write_stack(run->thread, run->view, run->generation, number_of(bit), host->pid, 0);
	}
	if (result == RING_STALE)
		return result;
	writing->done |= bit;
	if (!hook_after(host, bound, writing->record, writing->len)) {
		writing->owed |= bit;
		return RING_STALE;
	}
	return result;
}

/* Under another view: what could not be done behind the record. */
static enum ring_result write_owed(const struct hook_host *host, const struct hook_bound *bound, struct writing *writing)
{
	uint64_t bit = bound->buffer;

	if (!hook_after(host, bound, writing->record, writing->len))
		return RING_STALE;
	writing->owed &= ~bit;
	return RING_DONE;
}

/* An event and what hangs on it in one buffer. `on`: whether it is to be recorded there. */
static enum ring_result write_one(struct run *run, const struct hook_host *host, const struct hook_bound *bound, bool on)
{
	enum ring_result result;

	run->ts = 0;
	find_newline(run->writing);
	hide_newline(run->writing, true);
	result = run->writing->owed & bound->buffer ? write_owed(host, bound, run->writing) :
						      write_seen(run, host, bound, on);
	hide_newline(run->writing, false);
	return result;
}

static const struct hook_bound *bound_at(const struct view *view, uint32_t number)
{
	return &view->bound[number % VIEW_HOOKS_MAX];
}

static uint32_t first_of(const struct view *view, uint32_t id)
{
	return view_number(LOAD_ACQUIRE(view->hooks[id]));
}

bool runtime_write_hooked(struct thread *thread, struct view *view, uint64_t generation, struct writing *writing)
{
	struct run run = { thread, view, generation, writing, 0, 0, 0 };
	uint32_t at = first_of(view, writing->id);
	uint64_t mask = LOAD(view->mask[writing->id]) & view->usable, skip = writing->begun & VIEW_SPECIAL;
	struct hook_host host;

	if (!at)
		return true;
	if (!host_init(&host, &run))
		return false;
	if (view->choosy)
		skip |= view->choosy & ~runtime_chosen(view, thread);
	for (uint32_t n = 0; at && n < VIEW_HOOKS_MAX; n++) {
		const struct hook_bound *bound = bound_at(view, at);
		uint64_t bit = bound->buffer;

		at = LOAD(bound->next);
		if (!bit && !(skip & VIEW_SPECIAL)) {
			if (runtime_gone(generation))
				return false;
			if (!hook_after(&host, bound, writing->record, writing->len))
				return false;
			writing->begun |= VIEW_SPECIAL;
		} else if (bit && !(bit & ((writing->done & ~writing->owed) | skip)) &&
			   write_one(&run, &host, bound, mask & bit) == RING_STALE) {
			return false;
		}
	}
	return true;
}

enum ring_result runtime_write_hooked_to(struct thread *thread, struct view *view, uint64_t generation, uint32_t b,
					 struct writing *writing)
{
	struct run run = { thread, view, generation, writing, 0, 0, 0 };
	uint32_t at = first_of(view, writing->id);
	const struct hook_bound *found = NULL;
	struct hook_host host;

	for (uint32_t n = 0; at && n < VIEW_HOOKS_MAX && !found; n++) {
		const struct hook_bound *bound = bound_at(view, at);

		at = LOAD(bound->next);
		found = bound->buffer == 1ull << b ? bound : NULL;
	}
	if (found) {
		if (!host_init(&host, &run))
			return RING_STALE;
		return write_one(&run, &host, found, true);
	}
	/* It was written, and what hung on it is gone. */
	if (writing->done >> b & 1)
		return RING_DONE;
	if (is_off(view, b))
		return runtime_gone(generation) ? RING_STALE : RING_DROPPED;
	return runtime_write_buffer(thread, view, generation, b, writing->record, writing->len, NULL);
}

/* ---- Probes ---- */

static const char hit_format[] = PROBE_HIT_FORMAT;

/* Where the state has it; a view's place may be used again while one looks. */
static const struct state_probe *find_probe(const struct view *view, uint32_t serial, uint32_t *index)
{
	uint32_t n;
	const struct state_probe *all = runtime_view_probes(view, &n);

	n = n < view->nprobes ? n : view->nprobes;
	if (*index < n && LOAD(all[*index].serial) == serial)
		return &all[*index];
	for (*index = 0; *index < n; ++*index)
		if (LOAD(all[*index].serial) == serial)
			return &all[*index];
	return NULL;
}

/* Bound when it is first needed: most of many are never come by. */
static bool bind_probe(struct view *view, uint32_t index, uint32_t emit)
{
	uint8_t state = LOAD_ACQUIRE(view->probe_state[index]);

	if (state != VIEW_PROBE_NEW)
		return state == VIEW_PROBE_BOUND;
	if (!runtime_hooks_lock(view))
		return false;
	state = LOAD(view->probe_state[index]);
	if (state == VIEW_PROBE_NEW) {
		state = hook_bind_emit(&view->probe_bound[index], emit, &view->host.code, hit_format, sizeof(hit_format) - 1,
				       &view->host.tables, &view->room) ? VIEW_PROBE_BAD : VIEW_PROBE_BOUND;
		/* Partner: the load above. */
		STORE_RELEASE(view->probe_state[index], state);
	}
	runtime_hooks_unlock(view);
	return state == VIEW_PROBE_BOUND;
}

bool runtime_write_probe(uint32_t serial, uint32_t index, struct probe_hit *hit)
{
	struct thread *thread = &runtime_self;

	for (int tries = 0; tries < PROBE_TRIES; tries++) {
		struct view *view = runtime_view_refresh();
		struct writing writing = { .record = hit, .len = sizeof(*hit) };
		struct run run = { thread, view, view ? LOAD_ACQUIRE(view->published) : 0, &writing, 0, 0, 0 };
		const struct state_probe *probe = view ? find_probe(view, serial, &index) : NULL;
		struct hook_host host;
		uint32_t emit;

		if (view && !probe)
			return false;
		emit = probe ? LOAD(probe->emit) : 0;
		hit->head = (struct record_head){ .pid = thread->guard ? runtime_thread_tid() : thread->tid };
		if (!view || !host_init(&host, &run))
			continue;
		if (!bind_probe(view, index, emit))
			return false;
		hook_emit_one(&host, &view->probe_bound[index], emit, hit, sizeof(*hit));
		return true;
	}
	return false;
}

enum hook_verdict runtime_judge(const struct view *view, uint32_t id, const void *record, size_t len,
				struct hook_tally *tally)
{
	uint32_t number = LOAD_ACQUIRE(view->hooks[id]), filter, size, first;
	struct program_input in;
	const struct hook_bound *bound;

	if (!(number & VIEW_SIMPLE))
		return HOOK_VERDICT_NONE;
	bound = bound_at(view, view_number(number));
	*tally = bound->tally;
	filter = LOAD(bound->filter);
	if (!filter)
		return HOOK_VERDICT_PASS;
	size = LOAD(bound->filter_size);
	first = LOAD(bound->first);
	/* The place was used again; or there is no such filter, and nothing passes. */
	if (filter % 8 || filter >= view->host.code.size || size > view->host.code.size - filter ||
	    first + PROGRAM_FIELDS_MAX > VIEW_FIELDS_MAX)
		return HOOK_VERDICT_NONE;
	program_input_open(&in, record, (uint32_t)len, view->fields + first);
	in.peek = peek;
	in.symbol = symbol;
	return program_test(view->host.code.at + filter, size, &in) ? HOOK_VERDICT_PASS : HOOK_VERDICT_REJECT;
}
