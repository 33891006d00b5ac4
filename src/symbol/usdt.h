/*
 * symbol/usdt: the notes by which an ELF file tells of probes that it has itself (.note.stapsdt), as sys/sdt.h and
 * ringside/probe.h write them.
 *
 * In: a file that may hold anything. Out: where each probe is, the word that counts its listeners, and its arguments in words of
 * the probe grammar, of x86-64.
 */
#ifndef SYMBOL_USDT_H
#define SYMBOL_USDT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct usdt_note {
	const char *provider, *name;	/* names as C has them */
	const char *args;	/* as in the note: "-4@%edi 8@%rsi" */
	uint64_t address;	/* of the instruction, in the memory image */
	uint64_t offset;	/* in the file */
	uint64_t semaphore;	/* its offset in the file; 0: there is none */
};

struct usdt;
/* -ENODATA: there are none. */
int usdt_open(struct usdt **out, const char *path, struct err *err);
void usdt_close(struct usdt *usdt);
/* The i-th, by provider, name and address; NULL behind the last. */
const struct usdt_note *usdt_at(const struct usdt *usdt, size_t i);
/* " arg1=%di:s32 arg2=..."; what no probe can fetch is left out: the number of those. */
int usdt_put_args(const struct usdt *usdt, const struct usdt_note *note, struct buf *out);

#endif
