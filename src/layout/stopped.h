/*
 * layout/stopped: what the tool tells a program whose threads it has stopped (src/inject, runtime/late.c): where each of them stands.
 */
#ifndef LAYOUT_STOPPED_H
#define LAYOUT_STOPPED_H

#include <assert.h>
#include <stdint.h>

struct stopped_thread {
	int32_t tid;
	uint32_t reserved;
	uint64_t ip, sp, bp;
	uint64_t r11;		/* the runtime's thunk for system calls has its return address there, before it is on the stack */
};
static_assert(sizeof(struct stopped_thread) == 40, "the same for both");

#define STOPPED_MAX 4096u

/*
 * And the other way round, in the program's `__ringside_edges`: where return addresses lead that function_graph has put in the place of
 * the callers' own. That of an address at code + i * stride is the word at data + i * stride + parent. All 0: nowhere.
 */
struct stopped_edges {
	uint64_t code, size, data, stride, parent;
};

#endif
