/*
 * A firmware to be looked at: a loop on each core, interrupts over it, and a word in memory by which the host rings. See README.md.
 */
#include "board.h"

#define REMOTE_EVENT_INCLUDE_FILE board_events.h
#include "define_remote_events.h"

#define TURNS_EACH 1024u	/* turns of the loop, until it tells how long they took */
#define BUCKETS 16u

struct board_mailbox board_mailbox __attribute__((section(".mailbox")));

/* What a core counts. Nobody else writes it, and an interrupt only what is its own. */
static struct {
	uint32_t loop, turns, bell;
	uint32_t irq[BOARD_IRQS];
	uint32_t bucket[BUCKETS];
} counts[BOARD_CORES];

void firmware_irq(uint32_t irq, uint32_t work)
{
	uint32_t seq = counts[port_cpu()].irq[irq]++;

	trace_irq_entry((u16)irq, seq);
	while (work--)
		__asm__ volatile("");
	trace_irq_exit((u16)irq, seq);
}

/* Has the host written something else? The answer comes behind the event. */
static void look_at_mailbox(uint32_t cpu)
{
	uint32_t value = board_mailbox.value;

	if (value == board_mailbox.seen)
		return;
	trace_doorbell(counts[cpu].bell++, value);
	port_barrier();
	board_mailbox.seen = value;
}

static void tell_turns(uint32_t cpu)
{
	uint32_t *b = counts[cpu].bucket;

	trace_turns(counts[cpu].turns++, b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14],
		    b[15]);
	for (uint32_t i = 0; i < BUCKETS; i++)
		*(volatile uint32_t *)&b[i] = 0;
}

static void count_turn(uint32_t cpu, uint32_t ticks)
{
	uint32_t i = 0;

	while (ticks && i < BUCKETS - 1) {
		ticks >>= 1;
		i++;
	}
	counts[cpu].bucket[i]++;
	if (counts[cpu].loop % TURNS_EACH == 0)
		tell_turns(cpu);
}

static uint32_t next_state(uint32_t state)
{
	state ^= state << 13;
	state ^= state >> 17;
	return state ^ state << 5;
}

void firmware_run(void)
{
	uint32_t cpu = port_cpu(), state = cpu + 1, before = (uint32_t)port_clock(), now;

	for (;;) {
		state = next_state(state);
		trace_loop(counts[cpu].loop++, state);
		if (cpu == 0)
			look_at_mailbox(cpu);
		now = (uint32_t)port_clock();
		count_turn(cpu, now - before);
		before = now;
		if (counts[cpu].loop % BOARD_TURNS)
			continue;
		ringside_fw_tick();
		board_wait();
	}
}

void firmware_main(void)
{
	board_init();
	/* What was rung before a restart was not for us. */
	board_mailbox.seen = board_mailbox.value;
	ringside_fw_init();
	trace_boot();
	board_start();
	firmware_run();
}
