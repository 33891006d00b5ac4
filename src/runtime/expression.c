/*
 * runtime/expression: the small programs that call frame tables have where a register and an offset are not enough: in stubs of
 * linkage tables, in functions that align their stack, in what libc has below signal handlers. See unwind.h for who may run this.
 */
#include "runtime/bytes.h"
#include "runtime/unwind.h"

#define WORDS_MAX 16	/* on its stack */

struct machine {
	struct unwind *unwind;
	struct bytes bytes;
	uintptr_t word[WORDS_MAX];
	uint32_t n;
	bool bad;
};

static void push(struct machine *machine, uintptr_t word)
{
	if (machine->n < WORDS_MAX)
		machine->word[machine->n++] = word;
	else
		machine->bad = true;
}

static uintptr_t pop(struct machine *machine)
{
	if (machine->n)
		return machine->word[--machine->n];
	machine->bad = true;
	return 0;
}

static void push_register(struct machine *machine, uint64_t reg)
{
	intptr_t offset = (intptr_t)take_signed(&machine->bytes);

	/* The place counts as a register in the stubs that call into libraries. */
	if (reg == FRAME_RA && FRAME_RA != 30)
		push(machine, machine->unwind->pc + (uintptr_t)offset);
	else if (reg < FRAME_REGS && machine->unwind->known >> reg & 1)
		push(machine, machine->unwind->reg[reg] + (uintptr_t)offset);
	else
		machine->bad = true;
}

static void push_memory(struct machine *machine)
{
	uintptr_t word = 0;

	if (!runtime_stack_load(&machine->unwind->stack, pop(machine), &word))
		machine->bad = true;
	push(machine, word);
}

static void push_constant(struct machine *machine, uint32_t op)
{
	/* const1u, const1s, const2u ... const8s, constu, consts */
	uint32_t size = 1u << ((op - 0x08) / 2);
	uint64_t value = op == 0x10   ? take_unsigned(&machine->bytes)
			 : op == 0x11 ? (uint64_t)take_signed(&machine->bytes)
				      : take(&machine->bytes, size);

	if (op < 0x10 && op & 1 && size < 8)
		value = (uint64_t)((int64_t)(value << (64 - 8 * size)) >> (64 - 8 * size));
	push(machine, (uintptr_t)value);
}

static void combine(struct machine *machine, uint32_t op)
{
	uintptr_t b = pop(machine), a = pop(machine), bits = sizeof(a) * 8;

	switch (op) {
	case 0x1a:
		return push(machine, a & b);
	case 0x1c:
		return push(machine, a - b);
	case 0x1e:
		return push(machine, a * b);
	case 0x21:
		return push(machine, a | b);
	case 0x22:
		return push(machine, a + b);
	case 0x24:
		return push(machine, b < bits ? a << b : 0);
	case 0x25:
		return push(machine, b < bits ? a >> b : 0);
	case 0x26:
		return push(machine, (uintptr_t)((intptr_t)a >> (b < bits ? b : bits - 1)));
	case 0x27:
		return push(machine, a ^ b);
	case 0x29:
		return push(machine, a == b);
	case 0x2a:
		return push(machine, (intptr_t)a >= (intptr_t)b);
	case 0x2b:
		return push(machine, (intptr_t)a > (intptr_t)b);
	case 0x2c:
		return push(machine, (intptr_t)a <= (intptr_t)b);
	case 0x2d:
		return push(machine, (intptr_t)a < (intptr_t)b);
	case 0x2e:
		return push(machine, a != b);
	}
	machine->bad = true;
}

static void evaluate_one(struct machine *machine, uint32_t op)
{
	uintptr_t a;

	if (op >= 0x08 && op <= 0x11)
		push_constant(machine, op);
	else if (op >= 0x30 && op <= 0x4f)
		push(machine, op - 0x30);
	else if (op >= 0x70 && op <= 0x8f)
		push_register(machine, op - 0x70);
	else if (op == 0x92)
		push_register(machine, take_unsigned(&machine->bytes));
	else if (op == 0x06)
		push_memory(machine);
	else if (op == 0x23)
		push(machine, pop(machine) + (uintptr_t)take_unsigned(&machine->bytes));
	else if (op == 0x12 || op == 0x14) {
		a = op == 0x12 ? 1 : 2;	/* dup, over */
		push(machine, machine->n >= a ? machine->word[machine->n - a] : (machine->bad = true, 0));
	} else if (op != 0x96)
		combine(machine, op);
}

bool runtime_expression(struct unwind *unwind, const struct module *module, int32_t at, uintptr_t initial, uintptr_t *value)
{
	struct machine machine = { .unwind = unwind };
	uint64_t len;

	machine.bytes = bytes_at(module, module->frames_start + (uintptr_t)at);
	len = take_unsigned(&machine.bytes);
	if (machine.bytes.bad || len > (uint64_t)(machine.bytes.end - machine.bytes.at))
		return false;
	machine.bytes.end = machine.bytes.at + len;
	if (initial)
		push(&machine, initial);
	while (machine.bytes.at < machine.bytes.end && !machine.bad && !machine.bytes.bad)
		evaluate_one(&machine, (uint32_t)take(&machine.bytes, 1));
	*value = pop(&machine);
	return !machine.bad && !machine.bytes.bad;
}
