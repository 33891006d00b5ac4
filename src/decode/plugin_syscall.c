/*
 * decode/plugin_syscall: futex calls as trace-cmd's plugin prints them; see handler.h.
 */
#include "decode/handler.h"

enum { UADDR, OP, VAL, UTIME, UADDR2, VAL3 };

/* What an operation uses, in the order that it is told. */
enum { USE_VAL = 1, USE_COUNT = 2, USE_TIME = 4, USE_VAL2 = 8, USE_UADDR2 = 16, USE_VAL3 = 32 };

#define REQUEUE (USE_COUNT | USE_VAL2 | USE_UADDR2)

static const struct {
	const char *name;
	unsigned int uses;
} ops[] = {
	{ "WAIT", USE_VAL | USE_TIME },
	{ "WAKE", USE_COUNT },
	{ "FD", USE_COUNT },
	{ "REQUEUE", REQUEUE },
	{ "CMP_REQUEUE", REQUEUE | USE_VAL3 },
	{ "WAKE_OP", REQUEUE | USE_VAL3 },
	{ "LOCK_PI", USE_TIME },
	{ "UNLOCK_PI", 0 },
	{ "TRYLOCK_PI", 0 },
	{ "WAIT_BITSET", USE_VAL | USE_TIME | USE_VAL3 },
	{ "WAKE_BITSET", USE_COUNT | USE_VAL3 },
	{ "WAIT_REQUEUE_PI", USE_VAL | USE_TIME | USE_UADDR2 | USE_VAL3 },
	{ "CMP_REQUEUE_PI", REQUEUE | USE_VAL3 },
};

#define PRIVATE 128u
#define CLOCK_REALTIME 256u

static void put_hex(const struct handling *h, const char *name, int field)
{
	sink_puts(h->s, name);
	sink_hex(h->s, handler_num(h, field), 8);
}

static void put_dec(const struct handling *h, const char *name, int field)
{
	sink_puts(h->s, name);
	sink_dec(h->s, handler_num(h, field));
}

static enum handled print_futex(const struct handling *h)
{
	uint64_t op = handler_num(h, OP), plain = op & ~(uint64_t)(PRIVATE | CLOCK_REALTIME);
	unsigned int uses;

	if (plain >= sizeof(ops) / sizeof(ops[0]))
		return HANDLED_FIRST;
	uses = ops[plain].uses;
	sink_puts(h->s, "op=FUTEX_");
	sink_puts(h->s, ops[plain].name);
	sink_puts(h->s, op & PRIVATE ? "|FUTEX_PRIVATE_FLAG" : "");
	sink_puts(h->s, op & CLOCK_REALTIME ? "|FUTEX_CLOCK_REALTIME" : "");
	put_hex(h, " uaddr=0x", UADDR);
	if (uses & USE_VAL)
		put_hex(h, " val=0x", VAL);
	if (uses & USE_COUNT)
		put_dec(h, " val=", VAL);
	if (uses & USE_TIME)
		put_hex(h, " utime=0x", UTIME);
	if (uses & USE_VAL2)
		put_dec(h, " val2=", UTIME);
	if (uses & USE_UADDR2)
		put_hex(h, " uaddr2=0x", UADDR2);
	if (uses & USE_VAL3)
		put_hex(h, " val3=0x", VAL3);
	return HANDLED;
}

const struct handler syscall_handlers[] = {
	{ "syscalls", "sys_enter_futex", { "uaddr", "op", "val", "utime", "uaddr2", "val3" },
	  print_futex, NULL },
	{ NULL, NULL, { NULL }, NULL, NULL },
};
