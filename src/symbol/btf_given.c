/*
 * symbol/btf_given: where a function of the kernel has its parameters when it begins, by their types. See btf_fetch.h.
 *
 * $argN of a probe is a register, and behind the last of those a word of the stack, whatever the N-th parameter is: a struct that is
 * passed by its value takes two of them, or none. So what is called by its name is counted here.
 */
#include <stdio.h>
#include <string.h>

#include "symbol/btf_fetch.h"

#define WORD 8u

/* Of each kind of processor: registers in their order, and the word of the stack that the first has that is in none. */
static const struct abi {
	const char *machine;
	uint8_t nregs, stack;
	bool structs;		/* by value as x86-64 has them: two registers, or the stack */
	const char *regs[8];
} abis[] = {
	{ "x86_64", 6, 1, true, { "di", "si", "dx", "cx", "r8", "r9" } },
	{ "aarch64", 8, 0, false, { "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7" } },
};

struct given {
	const struct abi *abi;
	bool numbered;
	uint32_t regs, stacked;	/* words that are taken */
	const char *why;	/* of one before nobody knows where it is: of none from there on */
};

static void put_register(const struct given *given, uint32_t reg, char out[BTF_NAME_MAX + 1])
{
	if (given->numbered)
		snprintf(out, BTF_NAME_MAX + 1, "$arg%u", reg + 1);
	else
		snprintf(out, BTF_NAME_MAX + 1, "%%%s", given->abi->regs[reg]);
}

/* One or two words, in registers if there are so many left. */
static void place_words(struct given *given, uint32_t n, struct btf_root *root)
{
	if (n == 1)
		root->number = (given->regs < given->abi->nregs ? given->regs : given->abi->nregs + given->stacked) + 1;
	if (given->regs + n <= given->abi->nregs) {
		for (uint32_t i = 0; i < n; i++)
			put_register(given, given->regs++, root->fetch[i]);
		return;
	}
	if (n == 1 && given->numbered)
		snprintf(root->fetch[0], sizeof(root->fetch[0]), "$arg%u", root->number);
	else
		snprintf(root->fetch[0], sizeof(root->fetch[0]), n == 1 ? "$stack%u" : "$stack",
			 given->abi->stack + given->stacked);
	root->in_memory = n > 1;
	root->offset = n > 1 ? WORD * (given->abi->stack + given->stacked) : 0;
	given->stacked += n;
}

static void place(struct given *given, const struct btf *btf, uint32_t type, struct btf_root *root)
{
	struct btf_type peeled;
	uint64_t size;
	bool whole;

	if (given->why) {
		root->why = given->why;
		return;
	}
	if (!btf_peel(btf, type, &peeled, NULL) || !btf_size(btf, type, &size) || size > UINT16_MAX) {
		root->why = given->why = "nobody knows how large a parameter is, and where those behind it are";
		return;
	}
	whole = peeled.kind == BTF_STRUCT || peeled.kind == BTF_UNION;
	if (whole && !given->abi->structs) {
		root->why = given->why = "a struct is passed by its value, and where those behind it are is not known on this processor";
		return;
	}
	if (!size && whole)
		root->why = "it is a struct of nothing";
	else if (size <= 2 * WORD)
		place_words(given, size > WORD ? 2 : 1, root);
	else {
		snprintf(root->fetch[0], sizeof(root->fetch[0]), "$stack");
		root->in_memory = true;
		root->offset = WORD * (given->abi->stack + given->stacked);
		given->stacked += (uint32_t)((size + WORD - 1) / WORD);
	}
}

static const struct abi *abi_of(const char *machine)
{
	for (size_t i = 0; i < sizeof(abis) / sizeof(abis[0]); i++)
		if (!strcmp(abis[i].machine, machine))
			return &abis[i];
	return NULL;
}

bool btf_put_slot(char out[BTF_NAME_MAX + 1], const char *machine, uint32_t slot, bool numbered)
{
	struct given given = { .numbered = numbered, .abi = abi_of(machine) };
	struct btf_root root = { .in_memory = false };

	if (!given.abi && !numbered)
		return false;
	if (numbered) {
		put_register(&given, slot, out);
		return true;
	}
	given.regs = slot < given.abi->nregs ? slot : given.abi->nregs;
	given.stacked = slot - given.regs;
	place_words(&given, 1, &root);
	memcpy(out, root.fetch[0], sizeof(root.fetch[0]));
	return true;
}

bool btf_put_roots(struct btf_scope *scope, uint32_t id, const char *machine, bool numbered)
{
	struct given given = { .numbered = numbered, .abi = abi_of(machine) };
	struct btf_type prototype;
	const char *name;
	uint32_t type;

	if (!given.abi || !btf_prototype(scope->btf, id, &prototype))
		return false;
	for (uint32_t i = 0; scope->n < BTF_ROOTS_MAX && btf_parameter(scope->btf, &prototype, i, &name, &type); i++) {
		struct btf_root *root = &scope->roots[scope->n];

		/* What follows "..." has no name. */
		if (!type && i == prototype.n - 1)
			break;
		*root = (struct btf_root){ .type = { type, 0 } };
		place(&given, scope->btf, type, root);
		if (!*name)
			continue;
		snprintf(root->name, sizeof(root->name), "%s", name);
		scope->n++;
	}
	return true;
}
