/*
 * layout/segment: what the five files of a tracing directory begin with.
 *
 *   control    what is switched on; the tool writes it, programs map it read-only
 *   registry   what programs bring; programs write it, and the tool only its hint words
 *   rings      the pages, and the overflow slots that guard the rings of those without rseq
 *   tables     what programs count and remember for each other: layout/table.h
 *   plans      how functions can be patched; the tool writes it, programs map it read-only: layout/plan.h
 *
 * Offsets, never pointers. Whoever reads any of it treats it as hostile.
 */
#ifndef LAYOUT_SEGMENT_H
#define LAYOUT_SEGMENT_H

#include <assert.h>
#include <stdint.h>

#define SEGMENT_VERSION 7u
#define SEGMENT_MAGIC_CONTROL 0x4c525443474e4952ull	/* "RINGCTRL" in memory, little endian */
#define SEGMENT_MAGIC_REGISTRY 0x49474552474e4952ull	/* "RINGREGI" */
#define SEGMENT_MAGIC_RINGS 0x53474e5252474e52ull	/* "RNGRRNGS" */
#define SEGMENT_MAGIC_TABLES 0x4c424154474e4952ull	/* "RINGTABL" */
#define SEGMENT_MAGIC_PLANS 0x4e414c50474e4952ull	/* "RINGPLAN" */

struct segment_head {
	uint64_t magic;
	uint32_t version;
	uint32_t ncpu;		/* CPUs that this machine may have; fixed for the directory's life */
	uint64_t size;		/* bytes of the file that the layout below needs */
	uint64_t birth_mono;	/* CLOCK_MONOTONIC and TSC read together when the file was made: a base line */
	uint64_t birth_tsc;	/* to measure the TSC's rate against */
	uint64_t reserved[3];
};
static_assert(sizeof(struct segment_head) == 64, "segment header");

#define SEGMENT_NCPU_MAX 4096u

#endif
