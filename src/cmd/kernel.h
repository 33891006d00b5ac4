/*
 * cmd/kernel: what the running kernel tells of itself beside its tracefs: which functions it has, of what types, and which of them
 * may not be probed. Each part is read when it is asked for, and whatever cannot be had has words why.
 */
#ifndef CMD_KERNEL_H
#define CMD_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "cmd/opts.h"
#include "source/source.h"
#include "symbol/btf.h"
#include "symbol/kallsyms.h"

#define KERNEL_BLACKLIST "/sys/kernel/debug/kprobes/blacklist"

struct kernel {
	struct source *source;		/* or NULL: its tree cannot be had */
	const char *btf_file;		/* in place of the kernel's own; then nothing is known but what is in there */
	struct buf readme;
	struct {
		struct buf text;
		struct kallsyms_symbol *all;	/* code, as the kernel lists it */
		size_t n;
		bool asked;
		struct err why;		/* code: they cannot be read */
	} symbols;
	struct {
		uint64_t (*all)[2];	/* from, to */
		size_t n;
		bool asked;
	} blacklist;
	struct btf *btf, *module;
	char module_name[64];
	bool btf_asked;
	struct err btf_why;
};

/* Is the source the kernel's own tree, by whatever option? */
bool kernel_is_meant(const struct opts *opts);
/* `source` is borrowed, and may be NULL. */
void kernel_init(struct kernel *kernel, struct source *source, const struct opts *opts);
void kernel_fini(struct kernel *kernel);

/* Does its README have that text? Of a tree without one it is taken to know everything. */
bool kernel_knows(struct kernel *kernel, const char *text);

/* Functions; false and kernel->symbols.why. */
bool kernel_read_symbols(struct kernel *kernel);
/* The address of its code's first byte, 0: not told. */
uint64_t kernel_text(struct kernel *kernel);
bool kernel_is_blacklisted(struct kernel *kernel, const struct kallsyms_symbol *symbol);

/* Types of a module, with the kernel's own (NULL: those alone); NULL and kernel->btf_why. */
const struct btf *kernel_btf(struct kernel *kernel, const char *module);

#endif
