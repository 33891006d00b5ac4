/*
 * cmd/probe_given: $argN of a place by its number -> where the ABI of the file has it when a function begins, in words that every
 * uprobe_events takes: those have no $argN.
 *
 *   $arg1  +0($arg2):string  ->  %di  +0(%si):string
 *
 * Debug information, where it tells of the function, tells which parameters are in no such place; else all are taken to be
 * numbers and pointers.
 */
#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/probe_local.h"
#include "symbol/prototype.h"

#define GIVEN_MAX 128u

/* Of each kind of processor: registers in their order, and where on the stack the first is that has none. */
static const struct abi {
	uint16_t machine;
	uint8_t nregs, word, stack;
	const char *regs[8];
} abis[] = {
	{ EM_X86_64, 6, 8, 8, { "di", "si", "dx", "cx", "r8", "r9" } },
	{ EM_AARCH64, 8, 8, 0, { "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7" } },
	{ EM_386, 0, 4, 4, { NULL } },
};

static const struct abi *abi_of(const struct probe_file *file)
{
	for (size_t i = 0; i < sizeof(abis) / sizeof(abis[0]); i++)
		if (abis[i].machine == file->machine)
			return &abis[i];
	return NULL;
}

/* FIRST[+COUNT]: so many are taken with these. */
static unsigned long registers_to(const char *text)
{
	char *end;
	unsigned long first = strtoul(text, &end, 10);

	return first + (*end == '+' ? strtoul(end + 1, NULL, 10) : 1);
}

/*
 * By a text of layout/prototype.h: as which number the ABI would have a parameter if all of them were numbers and pointers; 0: it
 * is in no such place, or that cannot be told.
 */
static unsigned long place_of(const char *text, unsigned long number)
{
	const char *at = strchr(text, '(');
	unsigned long taken = 0, stacked = 0, reals = 0;

	if (!at || at[1] == '?' || at[1] == ')')
		return number;
	for (unsigned long i = 1;; i++) {
		const size_t kind = strcspn(++at, "@ ,)");
		const unsigned long size = strtoul(at + 1, NULL, 10);
		const bool real = *at == 'f' && (size == 4 || size == 8);

		if (i == number && at[kind] == '@')
			return strtoul(at + kind + 1, NULL, 10) + 1;
		if (at[kind] == '@')
			taken = registers_to(at + kind + 1);
		else if (real)
			stacked += ++reals > 8;
		/* What could be in a register and is not the compiler has left out. */
		else if (!strchr("iuebp", *at) || size > 8 || taken < PROTOTYPE_REGISTERS)
			return 0;
		else
			stacked++;
		if (i == number)
			return real ? 0 : PROTOTYPE_REGISTERS + stacked;
		at = strchr(at, ',');
		/* Others than are declared may follow. */
		if (!at)
			return number;
	}
}

static unsigned long by_prototype(const struct probe_file *file, const struct debug_point *point, unsigned long number)
{
	struct prototypes *prototypes;
	struct prototype prototype;

	if (!point->described || prototypes_open(&prototypes, &(struct symbol_file){ .path = file->path }, NULL))
		return number;
	if (prototypes_at(prototypes, point->address, &prototype))
		number = place_of(prototype.text, number);
	prototypes_close(prototypes);
	return number;
}

static int put_one(struct buf *out, const struct abi *abi, unsigned long number, bool alone)
{
	unsigned long behind;

	if (number <= abi->nregs) {
		buf_printf(out, "%%%s", abi->regs[number - 1]);
		return 0;
	}
	behind = (number - 1 - abi->nregs) * abi->word + abi->stack;
	/* A word of memory that is an address would be read as one of the kernel's size. */
	if (!alone && abi->word < 8)
		return -EOPNOTSUPP;
	buf_printf(out, "+%lu(%%sp)", behind);
	return 0;
}

static int put_number(struct buf *out, const struct probe_file *file, const struct debug_point *point, unsigned long number,
		      const char *expr, struct err *err)
{
	const struct abi *abi = abi_of(file);
	unsigned long found;

	if (!abi)
		return err_set(err, -EOPNOTSUPP, "%.60s: nobody knows where parameters are on this kind of processor", expr);
	if (!number || number > GIVEN_MAX)
		return err_set(err, -EINVAL, "%.60s: parameters are $arg1 to $arg%u", expr, GIVEN_MAX);
	found = abi->machine == EM_X86_64 ? by_prototype(file, point, number) : number;
	if (!found)
		return err_set(err, -EINVAL, "%.60s: parameter %lu is in no general register: it is a real number or a structure, "
			       "or was left out by the compiler", expr, number);
	if (put_one(out, abi, found, *expr == '$'))
		return err_set(err, -EOPNOTSUPP, "%.60s: what parameters of a 32-bit program point to cannot be fetched", expr);
	return 0;
}

bool probe_is_given(const char *expr)
{
	return strstr(expr, "$arg");
}

int probe_put_given(struct buf *out, const struct probe_file *file, const struct debug_point *point, const char *expr,
		    struct err *err)
{
	const char *whole = expr, *next;
	int r = 0;

	if (!point->entry)
		return err_set(err, -ENODATA, "%.60s: parameters are where they are passed only at a function's first "
			       "instruction, and the probe is not there: name a variable or a register", expr);
	for (; !r && (next = strstr(expr, "$arg")); ) {
		char *end;
		unsigned long number = strtoul(next + 4, &end, 10);

		if (!isdigit((unsigned char)next[4]))
			return err_set(err, -EINVAL, "%.60s: $arg1 is the first parameter; $params are all of them", whole);
		buf_add(out, expr, (size_t)(next - expr));
		r = put_number(out, file, point, number, whole, err);
		expr = end;
	}
	buf_puts(out, expr);
	/* Of memory a kernel of 64 bits would read 8 bytes. */
	if (!r && file->machine == EM_386 && !strchr(whole, ':'))
		buf_puts(out, ":u32");
	return !r && buf_failed(out) ? err_set(err, -ENOMEM, "out of memory") : r;
}
