/*
 * R11, R14: where an event goes is decided inside the section, by the CPU and the generation of
 * that moment.
 *
 * A CPU that is none (no rseq, one that failed to register, one beyond the rings), or that has no
 * ring yet, leads nowhere; a generation that is not the current one is stale. Either way nothing is
 * touched, and the overflow ring takes the event. Every CPU's events are in its own ring and in no
 * other.
 */
#include <sched.h>

#include "ring/audit.h"
#include "fast.h"

#define NCPU 3u
#define NPAGES 4u

static struct lab lab;
static unsigned char *before;

/* One event as `rs` and `op` say: by the section for the common case, or the whole way. */
static enum ring_result put(struct ring_rseq *rs, struct ring_op *op, bool fast)
{
#ifdef SECTION_FAST
	struct ring_near near = {.generation = RING_NEAR_NONE};

	if (fast)
		return fast_write(rs, &near, op);
#endif
	(void)fast;
	return ring_write(rs, op);
}

static void check_untouched(uint32_t cpu, enum ring_result want, const char *what)
{
	struct record record;
	struct ring_op op;

	for (uint32_t len = RECORD_MIN; len <= 2000; len += 992) {
		for (int fast = 0; fast < 2; fast++) {
			struct ring_rseq area = { .cpu_id = cpu, .cpu_id_start = 1, .flags = 5 };
			enum ring_result result;

			if (fast && len > EVENT_LEN_MAX_SHORT)
				continue;
			record_fill(&record, 0, len, 0);
			op = lab_op(&lab, &record, len);
			op.generation = 4;
			memcpy(before, lab.base, lab.size);
			result = put(&area, &op, fast);
			CHECK(fast ? result != RING_DONE : result == want, "R11: %s: result %d",
			      what, result);
			CHECK(!memcmp(before, lab.base, lab.size), "R11: %s: something was stored",
			      what);
			CHECK(area.cpu_id == cpu && area.cpu_id_start == 1 && area.flags == 5,
			      "R11: %s: the rseq area was changed", what);
		}
	}
}

static void no_place(void)
{
	static const uint32_t none[] = { UINT32_MAX, UINT32_MAX - 1, NCPU,    NCPU + 1,
					 1u << 31,   1u << 16,	     1u << 26 };
	struct ring_ref *ref = &lab.refs[1];
	struct ring_head *head = ref->head;

	for (unsigned i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		check_untouched(none[i], RING_NOWHERE, "a CPU that is none");
	/* The overflow rings lie behind those of the CPUs: nobody comes to them by a number. */
	check_untouched(2 * NCPU - 1, RING_NOWHERE, "an overflow ring's number");
	ref->head = NULL;
	check_untouched(1, RING_NOWHERE, "a CPU without a ring");
	ref->head = head;
}

/* R14: also a generation that is earlier, or differs in one bit. */
static void no_generation(void)
{
	for (unsigned bit = 0; bit < 64; bit++) {
		*lab.published = 4 ^ 1ull << bit;
		for (uint32_t cpu = 0; cpu < NCPU; cpu++)
			check_untouched(cpu, RING_STALE, "R14: another generation");
	}
	*lab.published = 4;
}

/* cpu_id_start is not ours to go by. */
static void every_place(void)
{
	uint32_t ids[NCPU] = { 0 };

	for (uint32_t i = 0; i < 3000; i++) {
		uint32_t cpu = i * 7 % NCPU, len = RECORD_MIN + i % 40 * 4;
		struct ring_rseq rs = { .cpu_id = cpu, .cpu_id_start = (cpu + 1) % NCPU };
		struct record record;
		struct ring_op op;

		record_fill(&record, ids[cpu], len, 1000 + i);
		op = lab_op(&lab, &record, len);
		op.ts = 1000 + i;
		CHECK(ring_write(&rs, &op) == RING_DONE && op.cpu == cpu,
		      "R11: CPU %u's event went to %u", cpu, op.cpu);
		ids[cpu]++;
	}
	for (uint32_t ring = 0; ring < 2 * NCPU; ring++) {
		struct audit audit = { .lab = &lab, .ring = ring, .where = "every place" };

		audit_ring(&audit);
		CHECK(audit.nr == (ring < NCPU ? ids[ring] : 0), "R11: ring %u has %llu events",
		      ring, (unsigned long long)audit.nr);
	}
}

/* The kernel's own word for the CPU we are on, as it sends us about. */
static void real_place(void)
{
	struct ring_rseq *rs = lab_rseq();
	uint32_t ncpu = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	cpu_set_t all, one;
	struct record record;

	if (!rs || (int32_t)rs->cpu_id < 0 || ncpu > 64 ||
	    sched_getaffinity(0, sizeof(all), &all)) {
		printf("libc has not registered rseq: real CPUs were not tried\n");
		return;
	}
	lab_open(&lab, ncpu, NPAGES, 4096, RING_REF_OVERWRITE | RING_REF_COUNTER);
	for (uint32_t i = 0; i < 200; i++) {
		uint32_t cpu = i % ncpu;
		struct ring_op op;

		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		if (!CPU_ISSET(cpu, &all) || sched_setaffinity(0, sizeof(one), &one))
			continue;
		record_fill(&record, 0, RECORD_MIN, 0);
		op = lab_op(&lab, &record, RECORD_MIN);
		CHECK(ring_write(rs, &op) == RING_DONE && op.cpu == cpu,
		      "R11: on CPU %u, written to %u", cpu, op.cpu);
	}
	sched_setaffinity(0, sizeof(all), &all);
	lab_close(&lab);
}

int main(void)
{
	lab_open(&lab, NCPU, NPAGES, 4096, RING_REF_OVERWRITE);
	*lab.published = 4;
	before = malloc(lab.size);
	CHECK(before, "memory");
	no_place();
	no_generation();
	every_place();
	free(before);
	lab_close(&lab);
	real_place();
	return 0;
}
