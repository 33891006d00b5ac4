/*
 * runtime/lend: how libringside-control finds the runtime of a program that is traced itself.
 *
 * What is lent is a table of functions, of one version: a library of another version goes without.
 */
#ifndef RUNTIME_LEND_H
#define RUNTIME_LEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RUNTIME_LOAN 1u

/* Each is the function of runtime.h with that name. */
struct runtime_loan {
	bool (*is_at)(const char *path);
	int (*write_to)(uint32_t b, uint64_t born, uint32_t id, void *record, size_t len, int32_t tid);
	void (*tell_name)(int32_t tid, int32_t tgid, uint32_t start, const char comm[16]);
};

/* NULL: not of that version. Absent where the program has no libringside. */
__attribute__((visibility("default"))) const struct runtime_loan *ringside_runtime_lend(uint32_t version);

#endif
