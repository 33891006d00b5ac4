/*
 * Handlers that trace and then jump away for good, out of whatever they interrupted: an event in a section, one on its way to
 * an overflow ring, a long one, a view being built, an event being registered. However often that happens, every later event
 * finds its way.
 */
#include "runtime/trace.h"

#include <pthread.h>
#include <setjmp.h>

#include "runtime/local.h"

#define JUMPS 1500
#define JUMPS_MIN 100	/* however long that takes */
#define ROUNDS 50u

static struct ledger *ledger;
static struct note_event event;
static sigjmp_buf back;
static uint32_t handler_who;
static volatile sig_atomic_t armed;
static uint32_t jumps;

static void on_timer(int signo)
{
	(void)signo;
	if (!armed)
		return;
	ledger_say(ledger, handler_who, &event, NOTE_MIN);
	jumps++;
	siglongjmp(back, 1);
}

static void *flip(void *arg)
{
	struct control *control = arg;

	for (int i = 0; armed < 2; i++) {
		tool_enable(control, "other", "jump", i % 2);
		pause_us(500);
	}
	return NULL;
}

/* Each kind of thing that can be jumped out of. Their notes may come or not. */
static void do_things(uint32_t who)
{
	static uint32_t n;
	struct note_event again;
	char name[32];

	for (;;) {
		n++;
		switch (n % 4) {
		case 0:
			note_write(&event, who, n, NOTE_MIN);
			break;
		case 1:
			note_write_long(&event, who, n, 1000);
			break;
		case 2:
			runtime_guard_enter();
			note_write(&event, who, n, NOTE_MIN + 8);
			runtime_guard_leave();
			break;
		default:
			snprintf(name, sizeof(name), "jump%u", n % 512);
			note_intern(&again, "test", name);
		}
	}
}

static void see(const struct seen *seen, void *ctx)
{
	uint64_t *count = ctx;

	if (seen->who >= 1000)
		count[seen->who - 1000]++;
}

int main(void)
{
	struct control *control = tool_start(2000), *other = tool_open();
	struct sigaction act = { .sa_handler = on_timer };
	struct itimerspec every = { { 0, 300000 }, { 0, 300000 } };
	struct sigevent tell = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM };
	uint64_t count[3] = { 0 }, lost, end;
	struct note_event late;
	pthread_t flipper;
	timer_t timer;

	ledger = shared_memory(sizeof(*ledger));
	event = note_event("jump");
	handler_who = ledger_join(ledger);
	sigaction(SIGALRM, &act, NULL);
	tell._sigev_un._tid = gettid();
	CHECK(!pthread_create(&flipper, NULL, flip, other), "pthread_create");
	CHECK(!timer_create(CLOCK_MONOTONIC, &tell, &timer), "%s", strerror(errno));
	timer_settime(timer, 0, &every, NULL);
	end = now_ns() + 8000000000ull;
	sigsetjmp(back, 1);
	/* Whoever was jumped out of was guarded, perhaps. */
	runtime_self.guard = 0;
	armed = 1;
	if (jumps < JUMPS_MIN || (jumps < JUMPS && now_ns() < end))
		do_things(999);
	armed = 0;
	timer_delete(timer);
	armed = 2;
	pthread_join(flipper, NULL);

	/* Nothing may be in use any more: more long ones than there are stages, an event that is new, and short ones. */
	CHECK(!note_intern(&late, "test", "late"), "nothing can be registered any more");
	for (uint32_t i = 0; i < ROUNDS; i++) {
		note_write_long(&event, 1000, i, 2000);
		note_write(&late, 1001, i, NOTE_MIN);
		tool_enable(control, "other", "late", i % 2);
		note_write(&event, 1002, i, NOTE_MIN);
	}
	read_all(control, false, see, count, &lost);
	printf("%u jumps, afterwards %llu long, %llu new, %llu short of %u each\n", jumps, (unsigned long long)count[0],
	       (unsigned long long)count[1], (unsigned long long)count[2], ROUNDS);
	CHECK(count[0] == ROUNDS && count[1] == ROUNDS && count[2] == ROUNDS, "events are lost for good");
	control_close(other);
	control_close(control);
	return 0;
}
