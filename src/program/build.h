/*
 * program/build: a program while it is put together, between build.c and layout.c. Private to the room.
 */
#ifndef PROGRAM_BUILD_H
#define PROGRAM_BUILD_H

#include "program/code.h"

enum truth_kind { TRUTH_KNOWN, TRUTH_TEST, TRUTH_NOT, TRUTH_AND, TRUTH_OR };

struct truth {
	uint8_t kind;
	bool known;		/* TRUTH_KNOWN: which */
	bool used;		/* part of another */
	uint16_t number;	/* TRUTH_TEST: of its instruction */
	uint32_t a, b;
	uint32_t entry;		/* the test to begin with, a truth */
	uint32_t yes, no;	/* where to go on: a truth, or CODE_PASS, CODE_FAIL beyond all of them */
	struct code code;
};
#define TRUTH_PASS UINT32_MAX
#define TRUTH_FAIL (UINT32_MAX - 1)

struct value {
	struct code code;
	uint8_t class;		/* enum program_class */
	uint32_t steps;		/* values that are looked at for it */
};

struct program_build {
	int error;
	bool for_files;
	struct value *values;
	uint32_t nvalues, values_cap;	/* number 0 is the head's */
	struct truth *truths;
	uint32_t ntruths, truths_cap;
	uint32_t root;
	struct {
		char *name;
		uint8_t class;
	} fields[PROGRAM_FIELDS_MAX];
	uint32_t nfields;
	struct buf texts;
	uint32_t *order;	/* truths that are tests, as they are tried */
	uint32_t ntests;
};

static inline uint32_t build_max_steps(const struct program_build *build)
{
	return build->for_files ? CODE_FILE_STEPS_MAX : CODE_STEPS_MAX;
}

#endif
