/*
 * program/run: one program on one record, between the values (value.c) and the tests (run.c). Private to the room.
 */
#ifndef PROGRAM_RUN_H
#define PROGRAM_RUN_H

#include "program/code.h"
#include "program/load.h"

/* "0x" and the digits of 64 bits. */
#define RUN_HEX_MAX 18u

struct run {
	const void *program;
	const struct program_input *in;
	uint32_t size;
	uint16_t steps;		/* that are left */
	uint8_t depth;
	bool for_files;
	bool missing;		/* something could not be had */
	bool is_unsigned;	/* something has no sign in all of its 64 bits */
};

/* The program has room for instruction `i`. None is longer than CODE_MAX of them, so CODE_PASS and CODE_FAIL are outside. */
static inline bool run_is_code(uint32_t i, size_t size)
{
	return i < size / sizeof(struct code);
}

static inline void run_open(struct run *run, const void *program, size_t size, const struct program_input *in)
{
	const struct code_head *head = program;

	run->program = program;
	run->in = in;
	run->size = (uint32_t)size;
	/* Bytes that change must not make a traced program use more of its stack: it has no names. */
	run->for_files = in->names && CODE_GET(head->flags) & CODE_FOR_FILES;
	run->steps = run->for_files ? CODE_FILE_STEPS_MAX : CODE_STEPS_MAX;
	run->depth = run->for_files ? CODE_FILE_DEPTH_MAX : CODE_DEPTH_MAX;
	run->missing = false;
	run->is_unsigned = false;
}

/*
 * Operand `i` of instruction `user`, which lies within the program. What cannot be had is 0 and `missing`, or no text; what is
 * peeked at lies in `scratch`.
 */
uint64_t run_whole(struct run *run, uint32_t user, uint32_t i);
double run_real(struct run *run, uint32_t user, uint32_t i);
struct program_text run_text(struct run *run, uint32_t user, uint32_t i, char *scratch, uint32_t scratch_size);

struct program_text run_comm(const struct program_input *in);
/* `len` bytes of the program at `at`, or NULL. */
const char *run_literal(const struct run *run, uint64_t at, uint32_t len);

#endif
