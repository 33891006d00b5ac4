/*
 * An event, one instruction at a time: wherever a signal finds the thread that writes it, an unwinder finds the way out, as it must
 * when the thread is cancelled there, a handler throws, or a profiler asks for its stack. Sections are never met in the
 * middle, for a signal aborts them: what is met are the ways in and out, and where they abort to.
 */
#include "runtime/trace.h"

#include <ucontext.h>
#include <unwind.h>

#define TRAP_FLAG 0x100

static struct note_event event;
static volatile unsigned steps, lost;
static volatile int stepping;
static uintptr_t lost_at;

#if defined(__x86_64__) || defined(__i386__)
#ifdef __x86_64__
#define PC REG_RIP
#define TRAP_ON "pushfq; orq %0, (%%rsp); popfq"
#else
#define PC REG_EIP
#define TRAP_ON "pushfl; orl %0, (%%esp); popfl"
#endif

/* The frame to be found from everywhere; without a red zone below it to push on. */
static __attribute__((noinline)) void stepped(uint32_t seq, uint32_t len)
{
	char room[256];

	__asm__ volatile("" : : "r"(room) : "memory");
	stepping = 1;
	/* The first step is the one after these. */
	__asm__ volatile(TRAP_ON : : "i"(TRAP_FLAG) : "cc", "memory");
	if (len > NOTE_SMALL)
		note_write_long(&event, 1, seq, len);
	else
		note_write(&event, 1, seq, len);
	stepping = 0;
	__asm__ volatile("" : : "r"(room) : "memory");
}

static _Unwind_Reason_Code look(struct _Unwind_Context *context, void *arg)
{
	int *found = arg;

	if (_Unwind_FindEnclosingFunction((void *)_Unwind_GetIP(context)) == (void *)stepped)
		*found = 1;
	return _URC_NO_REASON;
}

/* The compiler's own "where am I?" is in no table where the C library's startup files brought it: mov (%esp), %REG; ret. */
static bool in_thunk(const unsigned char *pc)
{
	const unsigned char *at = *pc == 0xc3 ? pc - 3 : pc;

	return sizeof(void *) == 4 && at[0] == 0x8b && (at[1] & 0xc7) == 0x04 && at[2] == 0x24 && at[3] == 0xc3 &&
	       !_Unwind_FindEnclosingFunction((void *)(uintptr_t)pc);
}

static void step(int sig, siginfo_t *info, void *context)
{
	ucontext_t *at = context;
	uintptr_t pc = (uintptr_t)at->uc_mcontext.gregs[PC];
	int found = 0;

	(void)sig, (void)info;
	if (!stepping) {
		at->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
		return;
	}
	steps++;
	_Unwind_Backtrace(look, &found);
	if (!found && !in_thunk((const unsigned char *)pc) && !lost++)
		lost_at = pc;
}

static void walk(void)
{
	struct sigaction act = { .sa_sigaction = step, .sa_flags = SA_SIGINFO };

	CHECK(!sigaction(SIGTRAP, &act, NULL), "%s", strerror(errno));
	/* The long ones fill pages, which are left and entered. */
	for (uint32_t i = 0; i < 24; i++)
		stepped(i, i % 3 ? 1200 : NOTE_MIN);
}
#else
static void walk(void)
{
	skip("nobody steps this CPU");
}
#endif

int main(void)
{
	struct control *control = tool_start(100);
	uint64_t events;

	event = note_event("stepped");
	walk();
	events = read_all(control, false, NULL, NULL, NULL);
	CHECK(events == 24, "of 24 events %llu are there", (unsigned long long)events);
	CHECK(steps > 24 * 100, "%u steps", steps);
	CHECK(!lost, "no way out of %u of %u steps, first at %#lx, %#lx behind runtime_write()", lost, steps,
	      (unsigned long)lost_at, (unsigned long)(lost_at - (uintptr_t)runtime_write));
	control_close(control);
	return 0;
}
