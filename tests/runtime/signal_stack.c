/*
 * Events from signal handlers that have 2 KiB of stack besides the kernel's own frame: a thread's first event, one that finds a
 * new generation, one that goes to an overflow ring, and one that interrupts another in a section (R8). Below the stack
 * lies a page that nobody may touch.
 */
#include "runtime/trace.h"

#include <pthread.h>
#include <sys/auxv.h>

#include "runtime/local.h"

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

static struct ledger *ledger;
static struct note_event event;
static __thread uint32_t handler_who;

static void on_signal(int signo)
{
	int saved = errno;

	if (signo == SIGUSR2)
		runtime_guard_enter();
	ledger_say(ledger, handler_who, &event, NOTE_SMALL);
	if (signo == SIGUSR2)
		runtime_guard_leave();
	errno = saved;
}

static size_t stack_size(void)
{
	size_t frame = getauxval(AT_MINSIGSTKSZ);

	return (frame > 2048 ? frame : 2048) + 2048;
}

/* A stack whose end is right above a page that faults. */
static void small_stack(void)
{
	size_t size = (stack_size() + 4095) & ~(size_t)4095;
	char *at = mmap(NULL, size + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t stack = { .ss_sp = at + 4096, .ss_size = stack_size() };

	CHECK(at != MAP_FAILED && !mprotect(at, 4096, PROT_NONE), "%s", strerror(errno));
	CHECK(!sigaltstack(&stack, NULL), "%s", strerror(errno));
}

static void *thread_life(void *arg)
{
	struct control *control = arg;
	uint32_t who;

	handler_who = ledger_join(ledger);
	small_stack();
	/* The thread's first event of all, then one in a new generation, then one without sections. */
	raise(SIGUSR1);
	if (control)
		tool_enable(control, "other", "signal", handler_who % 2);
	raise(SIGUSR1);
	raise(SIGUSR2);
	if (control)
		tool_enable(control, "other", "signal", !(handler_who % 2));
	raise(SIGUSR2);
	who = ledger_join(ledger);
	for (int i = 0; i < 3000; i++)
		ledger_say(ledger, who, &event, NOTE_MIN);
	return NULL;
}

static void *aim(void *arg)
{
	pthread_t *target = arg;

	for (int i = 0; i < 500; i++) {
		if (pthread_kill(*target, i % 8 ? SIGUSR1 : SIGUSR2))
			break;
		pause_us(20);
	}
	return NULL;
}

static void *target_life(void *arg)
{
	uint32_t who = ledger_join(ledger);

	handler_who = ledger_join(ledger);
	small_stack();
	*(volatile int *)arg = 1;
	for (int i = 0; i < 200000 && *(volatile int *)arg != 2; i++)
		ledger_say(ledger, who, &event, NOTE_MIN + i % 8 * 4);
	return NULL;
}

int main(void)
{
	struct control *control = tool_start(4000);
	struct sigaction act = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };
	static volatile int state;
	pthread_t thread, aimer;

	ledger = shared_memory(sizeof(*ledger));
	event = note_event("signal");
	/* One at a time: the stack has room for one of the kernel's frames. */
	sigaddset(&act.sa_mask, SIGUSR1);
	sigaddset(&act.sa_mask, SIGUSR2);
	sigaction(SIGUSR1, &act, NULL);
	sigaction(SIGUSR2, &act, NULL);
	for (int i = 0; i < 20; i++) {
		CHECK(!pthread_create(&thread, NULL, thread_life, control), "pthread_create");
		pthread_join(thread, NULL);
	}
	CHECK(!pthread_create(&thread, NULL, target_life, (void *)&state), "pthread_create");
	while (!state)
		pause_us(100);
	CHECK(!pthread_create(&aimer, NULL, aim, &thread), "pthread_create");
	pthread_join(aimer, NULL);
	state = 2;
	pthread_join(thread, NULL);
	ledger_verify(ledger, control, false);
	control_close(control);
	return 0;
}
