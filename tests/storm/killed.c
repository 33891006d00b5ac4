/*
 * A tool that is killed at any moment of its writes to control files, hundreds of times. Each time the state afterwards is the one
 * before the write or the one behind it, in all its parts, no lock stays, and programs record what that state says: nothing
 * more and nothing less, although nobody has come since to put anything right. In the end the memory of sets that were
 * never finished is found again.
 *
 *	killed [KILLS]
 */
#include "storm/storm.h"

/* What the tool writes; texts that stand together go together. */
static const char *const event_text[] = { "test:steady\ntest:a\ntest:b\n", "test:c\ntest:steady\ntest:d\n" };
static const char *const event_shown[] = { "test:a\ntest:b\ntest:steady\n", "test:c\ntest:d\ntest:steady\n" };
static const char *const pid_text[] = { "900001 900002\n", "900003 900004 900005\n" };
static const char *const pid_shown[] = { "900001\n900002\n", "900003\n900004\n900005\n" };
static const char *const filter_text[] = { "who >= 0", "seq >= 0" };
static const char *const filter_shown[] = { "who >= 0\n", "seq >= 0\n" };
static const char *const trigger_text[] = { "hist:keys=who:size=128", "hist:keys=seq:size=256" };
static const char *const trigger_shown[] = { "hist:keys=who:vals=hitcount:sort=hitcount:size=128 [active]\n",
					     "hist:keys=seq:vals=hitcount:sort=hitcount:size=256 [active]\n" };
static const char *const clock_text[] = { "local", "mono" };
static const char *const size_text[] = { "64", "300" };
static const char *const page_text[] = { "4", "8" };
static const char *const bit_text[] = { "0", "1" };

/* All that the writes change. The last two: 0 none, 1 it is there, 2 + i: with event_text[i]. */
struct model {
	uint32_t events, pids, filter, trigger, clock, overwrite, snapshot, npages, page_size, instance;
};

static struct {
	struct model before, behind;	/* the write that is under way */
	uint64_t writes;
} *shared;

static struct control *control;
static struct note_event letter[4];

enum { SET_EVENT, SET_PIDS, SET_FILTER, SET_TRIGGER, SET_CLOCK, SET_OVERWRITE, SET_SIZE, SET_PAGE, SNAPSHOT, INSTANCE, INSTANCE_EVENTS, OPS };

static const char *const op_path[OPS] = {
	"set_event", "set_event_notrace_pid", "events/test/a/filter", "events/test/b/trigger", "trace_clock", "options/overwrite", "buffer_size_kb",
	"buffer_subbuf_size_kb", "snapshot", "instances/x", "instances/x/set_event",
};

/* What the state is after a write of choice `i`. The text to write, NULL: mkdir or rmdir. */
static const char *apply(struct model *model, uint32_t op, uint32_t i)
{
	uint32_t size = i ? 8192 : 4096;
	uint64_t kb;

	switch (op) {
	case SET_EVENT:
		model->events = i;
		return event_text[i];
	case SET_PIDS:
		model->pids = i;
		return pid_text[i];
	case SET_FILTER:
		model->filter = i;
		return filter_text[i];
	case SET_TRIGGER:
		model->trigger = i;
		return trigger_text[i];
	case SET_CLOCK:
		model->clock = i;
		return clock_text[i];
	case SET_OVERWRITE:
		model->overwrite = i;
		return bit_text[i];
	case SET_SIZE:
		model->npages = (uint32_t)control_pages_from_kb((uint64_t)atoi(size_text[i]), model->page_size);
		return size_text[i];
	case SET_PAGE:
		if (size != model->page_size) {
			kb = control_kb_from_pages(model->npages, model->page_size);
			model->npages = (uint32_t)control_pages_from_kb(kb, size);
			model->page_size = size;
			model->snapshot = 0;
		}
		return page_text[i];
	case SNAPSHOT:
		model->snapshot = i;
		return bit_text[i];
	case INSTANCE_EVENTS:
		model->instance = 2 + i;
		return event_text[i];
	default:
		model->instance = !model->instance;
		return NULL;
	}
}

/* ---- the tool ---- */

static uint32_t draw_op(uint64_t *dice, const struct model *model)
{
	uint32_t op = draw(dice) % OPS;

	return op == INSTANCE_EVENTS && !model->instance ? (uint32_t)INSTANCE : op;
}

static void tool_life(uint32_t number)
{
	uint64_t dice = (number + 1) * 0x9e3779b97f4a7c15ull;
	struct control *mine = tool_open();

	for (;;) {
		struct model model = shared->before;
		uint32_t op = draw_op(&dice, &model);
		const char *text = apply(&model, op, draw(&dice) % 2);
		struct err err = ERR_INIT;
		int r;

		shared->behind = model;
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		if (text)
			r = tree_write(mine, op_path[op], text, strlen(text), TREE_TRUNC, &err);
		else if (model.instance)
			r = tree_mkdir(mine, op_path[op], &err);
		else
			r = tree_rmdir(mine, op_path[op], &err);
		CHECK(!r || r == -EBUSY, "%s", err.text);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		if (!r)
			shared->before = model;
		shared->writes++;
	}
}

/* The same as a command, which also dies while it starts and ends. */
static void command_life(uint32_t number)
{
	uint64_t dice = (number + 1) * 0x9e3779b97f4a7c15ull;
	struct model model = shared->before;
	uint32_t op = draw_op(&dice, &model);
	const char *text;

	if (op == INSTANCE)
		op = SET_EVENT;
	text = apply(&model, op, draw(&dice) % 2);
	shared->behind = model;
	shared->writes++;
	execl(getenv("RINGSIDE"), "ringside", "write", op_path[op], text, (char *)NULL);
	_exit(127);
}

/* ---- what became of it ---- */

/* Which of the texts the file shows. */
static uint32_t which(const char *path, const char *const *texts)
{
	struct buf out = BUF_INIT;
	struct err err = ERR_INIT;
	uint32_t i;

	CHECK(!tree_read(control, path, &out, &err), "%s", err.text);
	for (i = 0; i < 2; i++)
		if (!strcmp(out.data ? out.data : "", texts[i]))
			break;
	CHECK(i < 2, "%s is half-applied: %s", path, out.data);
	buf_fini(&out);
	return i;
}

static uint32_t instance_now(void)
{
	struct buf out = BUF_INIT;
	uint32_t now = 0;
	int r = tree_read(control, "instances/x/set_event", &out, NULL);

	CHECK(!r || r == -ENOENT, "instances/x: %s", strerror(-r));
	if (!r)
		now = out.len ? 2 + which("instances/x/set_event", event_shown) : 1;
	buf_fini(&out);
	return now;
}

/* The state as its parts tell it, which have to agree with each other. */
static struct model look(void)
{
	const struct state_buffer *buffer = &control->state.buffers[0];
	struct model model = { 0 };

	model.events = which("set_event", event_shown);
	model.pids = which("set_event_notrace_pid", pid_shown);
	model.filter = which("events/test/a/filter", filter_shown);
	model.trigger = which("events/test/b/trigger", trigger_shown);
	model.instance = instance_now();
	tool_refresh(control);
	model.clock = buffer->clock == TRACE_CLOCK_MONO;
	model.overwrite = !!(buffer->flags & BUFFER_OVERWRITE);
	model.snapshot = buffer->snapshot.offset != 0;
	model.npages = buffer->npages;
	model.page_size = buffer->page_size;
	CHECK(buffer->live.page_size == buffer->page_size && buffer->live.npages == buffer->npages &&
	      buffer->live.clock.id == buffer->clock, "the rings are not what the buffer says");
	return model;
}

static void report(const char *what, const struct model *model)
{
	fprintf(stderr, "%s: events %u pids %u filter %u trigger %u clock %u overwrite %u snapshot %u pages %u of %u "
		"instance %u\n", what, model->events, model->pids, model->filter, model->trigger, model->clock,
		model->overwrite, model->snapshot, model->npages, model->page_size, model->instance);
}

static void check_state(bool ended)
{
	struct model model = look();
	bool before = !memcmp(&model, &shared->before, sizeof(model));
	bool behind = !memcmp(&model, &shared->behind, sizeof(model));

	if (!behind && (!before || ended)) {
		report("before", &shared->before);
		report("behind", &shared->behind);
		report("now", &model);
		CHECK(false, "the write is half-applied%s", ended ? ", and its tool was content" : "");
	}
	shared->before = shared->behind = model;
}

struct heard {
	uint32_t seq, times[5];
};

static void hear(const struct seen *seen, void *ctx)
{
	struct heard *heard = ctx;

	if (seen->who != STORM_WRITERS || seen->seq != heard->seq)
		return;
	for (uint32_t i = 0; i < 4; i++)
		heard->times[i] += seen->id == letter[i].id;
	heard->times[4] += seen->id == steady.id;
}

/* A program records what the state says, before anybody comes to change it once more. */
static void check_effect(uint32_t seq)
{
	struct heard heard = { .seq = seq };
	struct buf hist = BUF_INIT;

	read_all(control, true, NULL, NULL, NULL);
	for (uint32_t i = 0; i < 4; i++)
		note_write(&letter[i], STORM_WRITERS, seq, NOTE_MIN);
	note_write(&steady, STORM_WRITERS, seq, NOTE_MIN);
	read_all(control, true, hear, &heard, NULL);
	for (uint32_t i = 0; i < 4; i++)
		CHECK(heard.times[i] == (i / 2 == shared->before.events), "event '%c' was recorded %u times, set_event says %u",
		      'a' + i, heard.times[i], i / 2 == shared->before.events);
	CHECK(heard.times[4] == 1, "an event that is always on was recorded %u times", heard.times[4]);
	CHECK(!tree_read(control, "events/test/b/hist", &hist, NULL) && !strstr(hist.data, "Hits: 0\n"), "nothing is counted: %s",
	      hist.data);
	buf_fini(&hist);
}

/* ---- the whole ---- */

static void write_slowly(uint32_t number)
{
	for (uint32_t seq = 0; !storm_stopped(); seq++) {
		note_write(&steady, number, seq, NOTE_MIN);
		__atomic_store_n(&storm->written[number], seq + 1, __ATOMIC_RELEASE);
		pause_us(200);
	}
}

/* True: it had ended by itself, and well. */
static bool run_and_kill(uint32_t number, uint64_t *dice)
{
	bool command = number % 8 == 7 && getenv("RINGSIDE");
	pid_t pid = storm_start(command ? command_life : tool_life, number);
	int status;

	pause_us(draw(dice) % (command ? 12000 : 8000));
	kill(pid, SIGKILL);
	CHECK(waitpid(pid, &status, 0) == pid, "%s", strerror(errno));
	CHECK(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : command && !WEXITSTATUS(status), "the tool ended by itself: %x",
	      status);
	return !WIFSIGNALED(status);
}

static void set_up(void)
{
	static const char *const name[] = { "a", "b", "c", "d" };

	storm = shared_memory(sizeof(*storm));
	shared = shared_memory(sizeof(*shared));
	control = tool_open();
	steady = note_event("steady");
	for (uint32_t i = 0; i < 4; i++)
		letter[i] = note_event(name[i]);
	shared->before.page_size = 4096;
	for (uint32_t op = 0; op <= SNAPSHOT; op++) {
		const char *text = apply(&shared->before, op, 0);
		struct err err = ERR_INIT;

		CHECK(!tree_write(control, op_path[op], text, strlen(text), TREE_TRUNC, &err), "%s", err.text);
	}
	shared->before = shared->behind = look();
}

int main(int argc, char **argv)
{
	uint32_t kills = argc > 1 ? (uint32_t)atoi(argv[1]) : 400, ended = 0, unfinished = 0;
	uint64_t dice = 0xda3e39cb94b95bdbull;
	struct err err = ERR_INIT;
	pid_t writer;

	set_up();
	writer = storm_start(write_slowly, 0);
	for (uint32_t i = 0; i < kills; i++) {
		bool well = run_and_kill(i, &dice);

		ended += well;
		storm_no_locks(control);
		check_state(well);
		unfinished += storm_leaked(control) && !control->state.nlimbo;
		check_effect(i);
	}
	storm_stop();
	expect_exit(writer, STORM_PATIENCE_S, "a program");
	printf("%u kills (%u came too late), %llu writes, %u times sets were left unfinished, %llu notes\n", kills, ended,
	       (unsigned long long)shared->writes, unfinished, (unsigned long long)storm_written());
	CHECK(storm_written(), "the program did not go on");
	if (shared->before.instance)
		CHECK(!tree_rmdir(control, "instances/x", &err), "%s", err.text);
	storm_tidy(control);
	control_close(control);
	return 0;
}
