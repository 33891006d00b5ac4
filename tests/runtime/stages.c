/*
 * Memory for long records, which handlers jump away from for good: before each instruction of getting it and putting it back, and
 * out of handlers that have it, on stacks of their own above and below the thread's. All of it can be had again afterwards, and
 * whoever has it is not disturbed.
 */
#include "runtime/trace.h"

#include <pthread.h>
#include <setjmp.h>

#include "runtime/local.h"

#define TRAP_FLAG 0x100u
#define STEPS_MAX 100000u
#define STACK_SIZE ((size_t)256 << 10)

static sigjmp_buf back;

/* As many as there are, each in a frame of its own. */
static __attribute__((noinline)) void take_all(uint32_t n, const char *after, uint32_t step)
{
	void *stage = runtime_stage_get();

	CHECK(stage, "after %s %u: only %u of %u stages can be had", after, step, RUNTIME_STAGES - n, RUNTIME_STAGES);
	if (n > 1)
		take_all(n - 1, after, step);
	runtime_stage_put(stage);
}

/* Below whatever looks for it afterwards: a frame that is above one's own may be somebody's yet. */
static __attribute__((noinline)) void go_deeper(void (*fn)(void))
{
	char room[4096];

	__asm__ volatile("" : : "r"(room) : "memory");
	fn();
	__asm__ volatile("" : : "r"(room) : "memory");
}

/* ---- At each instruction ---- */

#if defined(__x86_64__) || defined(__i386__)

static volatile uint32_t steps, steps_end;

static void set_stepping(bool on)
{
#if defined(__x86_64__)
	unsigned long long flags = __builtin_ia32_readeflags_u64() & ~(unsigned long long)TRAP_FLAG;

	__builtin_ia32_writeeflags_u64(flags | (on ? TRAP_FLAG : 0));
#else
	unsigned int flags = __builtin_ia32_readeflags_u32() & ~TRAP_FLAG;

	__builtin_ia32_writeeflags_u32(flags | (on ? TRAP_FLAG : 0));
#endif
}

/* The kernel has switched stepping off for handlers: who jumps away runs on as usual. */
static void on_step(int signo)
{
	(void)signo;
	if (++steps == steps_end)
		siglongjmp(back, 1);
}

static void step_through(void)
{
	void *stage;

	set_stepping(true);
	stage = runtime_stage_get();
	if (stage)
		runtime_stage_put(stage);
	set_stepping(false);
}

/* False: there are not that many. */
static bool jump_at(uint32_t step)
{
	steps = 0;
	steps_end = step;
	if (sigsetjmp(back, 1))
		return true;
	go_deeper(step_through);
	return false;
}

/* `left`: what one leaves the next one finds. */
static uint32_t jump_everywhere(bool left)
{
	uint32_t step = 1;

	while (step < STEPS_MAX && jump_at(step)) {
		if (!left)
			take_all(RUNTIME_STAGES, "a jump at instruction", step);
		step++;
	}
	CHECK(step < STEPS_MAX, "no end of it");
	take_all(RUNTIME_STAGES, "jumps at all instructions up to", step);
	return step;
}

static void check_steps(void)
{
	struct sigaction act = { .sa_handler = on_step };

	sigaction(SIGTRAP, &act, NULL);
	printf("%u instructions\n", jump_everywhere(false));
	jump_everywhere(true);
}

#else

static void check_steps(void)
{
}

#endif

/* ---- Out of handlers ---- */

static void *volatile held;

static void on_jump(int signo)
{
	(void)signo;
	held = runtime_stage_get();
	siglongjmp(back, 1);
}

static void on_use(int signo)
{
	void *stage = runtime_stage_get();

	(void)signo;
	CHECK(stage && stage != held, "a stage that somebody has");
	take_all(RUNTIME_STAGES - 2, "a signal", 0);
	runtime_stage_put(stage);
}

static void use_and_jump(void)
{
	held = runtime_stage_get();
	CHECK(held, "no stage");
	raise(SIGUSR2);
	raise(SIGUSR1);
}

/* Twice as often as there are stages. */
static void jump_from_handlers(const char *where)
{
	for (volatile uint32_t round = 0; round < 2 * RUNTIME_STAGES; round++)
		if (!sigsetjmp(back, 1))
			go_deeper(use_and_jump);
	take_all(RUNTIME_STAGES, where, 0);
}

static void *thread_life(void *other)
{
	stack_t stack = { .ss_sp = other, .ss_size = STACK_SIZE };

	CHECK(!sigaltstack(&stack, NULL), "%s", strerror(errno));
	jump_from_handlers((char *)other > (char *)&stack ? "handlers on a stack above" : "handlers on a stack below");
	return NULL;
}

/* A thread's stack between two for its handlers. */
static void check_stacks(int flags)
{
	char *at = mmap(NULL, 3 * STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct sigaction use = { .sa_handler = on_use, .sa_flags = flags };
	struct sigaction jump = { .sa_handler = on_jump, .sa_flags = flags };
	pthread_attr_t attr;
	pthread_t thread;

	CHECK(at != MAP_FAILED, "%s", strerror(errno));
	sigaction(SIGUSR1, &jump, NULL);
	sigaction(SIGUSR2, &use, NULL);
	for (size_t i = 0; i < 2; i++) {
		pthread_attr_init(&attr);
		CHECK(!pthread_attr_setstack(&attr, at + STACK_SIZE, STACK_SIZE), "a stack of our own");
		CHECK(!pthread_create(&thread, &attr, thread_life, at + 2 * i * STACK_SIZE), "pthread_create");
		pthread_join(thread, NULL);
		pthread_attr_destroy(&attr);
	}
	munmap(at, 3 * STACK_SIZE);
}

int main(void)
{
	struct control *control = tool_start(64);
	struct note_event event = note_event("stages");

	note_write(&event, 0, 0, NOTE_MIN);
	check_steps();
	check_stacks(0);
	check_stacks(SA_ONSTACK);
	control_close(control);
	return 0;
}
