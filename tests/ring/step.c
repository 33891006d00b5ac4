/*
 * R7: SIGKILL at every instruction of a write leaves nothing to repair.
 *
 * A child does one operation on shared rings under single steps; after n of them it is killed, for
 * n from 0 until it is through, each time on rings that were put back to what they were. What it
 * leaves is audited (R1, R4, R5: whole events, one slot in force, time in order), read as a reader
 * would, and then a survivor writes through both paths, taking the dead one's overflow slot, and
 * all is audited again.
 *
 * The child's rseq area is one of our own, which the kernel does not know: real sections never come
 * through single steps. It says which section runs, and so whether what readers see changed by the
 * last instruction of one (R2). Nothing but a ring's own words may change (R3).
 */
#include <elf.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "ring/audit.h"
#include "fast.h"

#define NPAGES 4u
#define PAGE 4096u
#define STEPS_MAX 20000u

enum { SECTION = 0, TWIN = 1 }; /* which ring, too: there is one CPU */

/* What the tracer and the child share beside the rings. */
struct bench {
	volatile uint32_t phase; /* 1 while the operation runs, 2 when it is done */
	volatile uint32_t result;
	struct ring_rseq rs;
};

struct scene {
	const char *name;
	uint32_t path; /* SECTION or TWIN */
	uint32_t len;  /* of the payload */
	uint64_t gap;  /* time since the event before */
	uint32_t tail; /* page index at which to be, with a page that is ... */
	enum { FRESH, HALF, FULL } fill;
	bool discard, unread; /* unread: so that the event is dropped */
	bool counter;	      /* the section reads the clock */
	bool fast;	      /* the section for the common case */
	bool dead_owner;      /* the overflow slot belongs to somebody who died */
	bool broken; /* the ring's words made no sense before: only what survivors write counts */
	uint32_t stride; /* kill at every so many instructions */
	uint32_t stores; /* by how many stores a reader's view changes */
};

static struct lab lab;
static struct bench *bench;
static unsigned char *snapshot;
static uint64_t clock_now;
static unsigned long boundaries;

static bool owner_dead(uint64_t owner)
{
	return kill((pid_t)(owner >> 32), 0) && errno == ESRCH;
}

/* What the section for the common case leaves to others is not for us. */
static enum ring_result by_fast(struct ring_op *op)
{
#ifdef SECTION_FAST
	struct ring_near near = {.generation = RING_NEAR_NONE};

	return fast_write(&bench->rs, &near, op);
#else
	return ring_write(&bench->rs, op);
#endif
}

static enum ring_result by_twin(struct ring_op *op, uint64_t me)
{
	int slot = ring_overflow_take(lab.slots, lab.ncpu, 0, me, owner_dead);
	enum ring_result result;

	if (slot < 0)
		return RING_NOWHERE;
	result = ring_twin_write(&lab.refs[lab.ncpu + (uint32_t)slot], op, 0);
	ring_overflow_release(&lab.slots[slot]);
	return result;
}

static uint64_t me(void)
{
	return (uint64_t)getpid() << 32 | 1;
}

static struct audit audit_of(uint32_t path, const struct scene *scene, const char *where)
{
	return (struct audit){ .lab = &lab,
			       .ring = path,
			       .twin = path == TWIN,
			       .dropping = scene->discard,
			       .where = where };
}

/* The next event of a ring: its id is its number. */
static enum ring_result emit(uint32_t path, uint32_t len, uint64_t gap)
{
	static struct record record;
	const struct scene none = { 0 };
	struct audit audit = audit_of(path, &none, "emit");
	const struct ring_slot *slot = audit_slot(&audit);
	bool counter = lab.refs[path].flags & RING_REF_COUNTER;
	struct ring_op op;

	clock_now += gap;
	record_fill(&record, (uint32_t)slot->nr, len, counter ? 0 : clock_now);
	op = lab_op(&lab, &record, len);
	op.ts = clock_now;
	return path == TWIN ? by_twin(&op, me()) : ring_write(lab_fake_rseq(), &op);
}

/* ---- the scene ---- */

static uint32_t room(uint32_t path)
{
	const struct ring_head *head = lab_head(&lab, path);
	const struct page_head *page = (void *)(lab.refs[path].pages +
						(head->tail & RING_INDEX_MASK) * PAGE);

	return PAGE - PAGE_HEAD_SIZE - (uint32_t)page->commit;
}

static void reader_to(uint32_t path, uint64_t tail)
{
	struct ring_head *head = lab_head(&lab, path);
	struct ring_stream *stream = (void *)((char *)head + RING_STREAMS_OFFSET);

	head->consumed = ring_pos(tail, 0);
	stream->consumed = ring_pos(tail, 0);
}

static void fill(uint32_t path, const struct scene *scene, unsigned odd)
{
	struct ring_head *head = lab_head(&lab, path);
	uint32_t need = 4 + (scene->len + 4 > EVENT_LEN_MAX_SHORT ? 4 : 0) + scene->len +
			(path == TWIN ? 4 : 0);
	uint32_t most = scene->fill == HALF ? PAGE / 2 : need;

	if (scene->fill != FRESH) {
		/* More than a lap, so that every page holds something old. */
		while (head->tail < (RING_LAP | scene->tail))
			CHECK(emit(path, 64, 5) == RING_DONE, "filling");
		while (room(path) >= (most > 80 ? most : 80))
			CHECK(emit(path, RECORD_MIN, 5) == RING_DONE, "filling");
		if (room(path) >= need && scene->fill == FULL)
			CHECK(emit(path,
				   room(path) - need + 8 > RECORD_MIN ? room(path) - need + 8
								      : RECORD_MIN,
				   5) == RING_DONE,
			      "filling");
	}
	/* Both slots in force in turn. */
	if (odd && scene->fill != FRESH) {
		CHECK(emit(path, RECORD_MIN, 5) == RING_DONE, "filling");
	} else if (odd) {
		head->slot[1] = head->slot[0];
		head->slot[0].tag = ~head->slot[0].tag;
	}
}

static void set_up(const struct scene *scene, unsigned odd)
{
	uint32_t flags = scene->counter ? RING_REF_COUNTER : 0;
	struct ring_head *head = lab_head(&lab, scene->path);
	struct ring_source source = lab_source(&lab, scene->path);

	clock_now = 1000;
	memset(lab.base, 0, lab.size);
	for (uint32_t i = 0; i < 2; i++) {
		lab_ref_init(&lab, i, flags | RING_REF_OVERWRITE);
		/* Slow, so that it is the same way through the section at each kill. */
		lab.refs[i].counter0 = section_counter();
		lab.refs[i].mult = 1u << 12;
		lab_ring_init(&lab, i, 0, 0, 0);
	}
	fill(scene->path, scene, odd);
	if (scene->fill != FRESH)
		CHECK(head->tail == (RING_LAP | scene->tail), "the scene was missed: tail %llx",
		      (unsigned long long)head->tail);
	if (scene->discard)
		lab.refs[scene->path].flags &= ~(uint32_t)RING_REF_OVERWRITE;
	reader_to(scene->path, scene->unread ? ring_page_oldest(&source, head->tail) : head->tail);
	if (scene->broken) {
		head->slot[0].tag = head->slot[1].tag = 12345;
		head->tail |= odd ? RING_INDEX_MASK : 0;
	}
}

/* ---- the child ---- */

static pid_t start(const struct scene *scene, struct ring_op *op)
{
	uint64_t self;
	int status;
	pid_t pid;

	memcpy(lab.base, snapshot, lab.size);
	memset(bench, 0, sizeof(*bench));
	pid = fork();
	CHECK(pid >= 0, "%s", strerror(errno));
	if (!pid) {
		self = me();
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		bench->phase = 1;
		bench->result = scene->path == TWIN ? by_twin(op, self)
				: scene->fast	    ? by_fast(op)
						    : ring_write(&bench->rs, op);
		bench->phase = 2;
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status), "the child: status %#x",
	      (unsigned)status);
	return pid;
}

static void finish(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status), "the child: status %#x",
	      (unsigned)status);
}

#if defined(__x86_64__)
#define IP(regs) ((regs).rip)
#elif defined(__i386__)
#define IP(regs) ((regs).eip)
#else
#define IP(regs) ((regs).pc)
#endif

static unsigned long where_is(pid_t pid, unsigned long go_to)
{
	struct user_regs_struct regs;
	struct iovec iov = { &regs, sizeof(regs) };

	CHECK(!ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &iov), "%s", strerror(errno));
	if (go_to) {
		IP(regs) = (__typeof__(IP(regs)))go_to;
		CHECK(!ptrace(PTRACE_SETREGSET, pid, (void *)NT_PRSTATUS, &iov), "%s",
		      strerror(errno));
	}
	return (unsigned long)IP(regs);
}

static void go_on(pid_t pid, bool step)
{
	int status;

	CHECK(!ptrace(step ? PTRACE_SINGLESTEP : PTRACE_CONT, pid, NULL, NULL), "%s",
	      strerror(errno));
	CHECK(waitpid(pid, &status, 0) == pid, "%s", strerror(errno));
	CHECK(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP, "the child: status %#x",
	      (unsigned)status);
}

/* ---- getting to the n-th instruction ---- */

static struct {
	unsigned long ip;
	bool once; /* comes up nowhere else on the way */
} trace[STEPS_MAX];
static uint32_t ntrace;

/* Steps through all of it once. Later children do the same, instruction for instruction. */
static void record_trace(const struct scene *scene, struct ring_op *op)
{
	pid_t pid = start(scene, op);

	while (bench->phase == 0)
		go_on(pid, true);
	for (ntrace = 0; bench->phase == 1; ntrace++) {
		CHECK(ntrace < STEPS_MAX, "R7: %s: no end after %u steps", scene->name, ntrace);
		trace[ntrace].ip = where_is(pid, 0);
		go_on(pid, true);
	}
	finish(pid);
	for (uint32_t i = 0; i < ntrace; i++) {
		trace[i].once = true;
		for (uint32_t j = 0; j < ntrace && trace[i].once; j++)
			trace[i].once = i == j || trace[i].ip != trace[j].ip;
	}
}

/* Runs to trace[n], which must come up once, by a breakpoint there. */
static void run_to(pid_t pid, uint32_t n)
{
	void *at = (void *)trace[n].ip;
	unsigned long word = (unsigned long)ptrace(PTRACE_PEEKTEXT, pid, at, NULL);
#if defined(__aarch64__)
	unsigned long trap = (word & ~0xfffffffful) | 0xd4200000;
#else
	unsigned long trap = (word & ~0xfful) | 0xcc;
#endif

	/* On the way to the operation the same code may run: then over it and on. */
	for (;;) {
		CHECK(!ptrace(PTRACE_POKETEXT, pid, at, (void *)trap), "%s", strerror(errno));
		go_on(pid, false);
		CHECK(!ptrace(PTRACE_POKETEXT, pid, at, (void *)word), "%s", strerror(errno));
		where_is(pid, trace[n].ip);
		if (bench->phase)
			break;
		go_on(pid, true);
	}
}

/* Kills right before instruction n; past the last one the operation is done. */
static void kill_at(const struct scene *scene, struct ring_op *op, uint32_t n)
{
	pid_t pid = start(scene, op);
	uint32_t i = n < ntrace ? n : ntrace - 1;

	while (i && !trace[i].once)
		i--;
	if (trace[i].once)
		run_to(pid, i);
	else
		while (bench->phase == 0)
			go_on(pid, true);
	for (; i < n; i++)
		go_on(pid, true);
	CHECK(n == ntrace ? bench->phase == 2 : where_is(pid, 0) == trace[n].ip,
	      "%s: off the way at %u", scene->name, n);
	finish(pid);
}

/* ---- what it leaves ---- */

/* All that a reader's view is made of. */
struct view {
	uint64_t tail, commit[NPAGES], dropped;
};

static struct view view_of(uint32_t path)
{
	const struct ring_head *head = lab_head(&lab, path);
	struct view view = { .tail = head->tail, .dropped = head->dropped };

	for (uint32_t i = 0; i < NPAGES; i++) {
		const struct page_head *page = (void *)(lab.refs[path].pages + i * PAGE);

		/* The page before the oldest in reach is nobody's. */
		if (((head->tail + 1) & RING_INDEX_MASK) % NPAGES != i)
			view.commit[i] = page->commit;
	}
	return view;
}

/* R2: the section's descriptor says where its end is. */
static void check_store(unsigned long ip, const char *where)
{
	const struct {
		uint32_t version, flags;
		uint64_t start, size, abort;
	} *cs = (void *)(uintptr_t)bench->rs.rseq_cs;

	CHECK(cs, "R2: %s: visible without a section", where);
	CHECK(ip == cs->start + cs->size, "R2: %s: visible before the section's last instruction",
	      where);
}

/* R3: words of readers and of the geometry are not the writer's. */
static void check_foreign(const struct scene *scene, const char *where)
{
	size_t at = (size_t)((unsigned char *)lab_head(&lab, scene->path) - lab.base);
	size_t from = at + offsetof(struct ring_head, consumed), to = at + ring_head_size(lab.ncpu);
	size_t other = (size_t)((unsigned char *)lab_head(&lab, !scene->path) - lab.base);

	CHECK(!memcmp(lab.base + from, snapshot + from, to - from),
	      "R3: %s: a foreign word was written", where);
	CHECK(!memcmp(lab.base + other, snapshot + other, ring_stride(1, NPAGES, PAGE)),
	      "R3: %s: the other ring was written", where);
}

/* Pages as a reader gets them: those in reach as they are, and no others. */
static void check_copies(uint32_t path, const char *where)
{
	struct ring_source source = lab_source(&lab, path);
	uint64_t tail = lab_head(&lab, path)->tail, first;
	unsigned char copy[PAGE];

	for (int64_t i = -1; i <= (int64_t)NPAGES; i++) {
		uint64_t page = ring_page_step(&source, tail, -i);
		const struct page_head *now = (void *)(lab.refs[path].pages +
						       (page & RING_INDEX_MASK) * PAGE);
		int ret = ring_page_copy(&source, page, copy, &first);

		CHECK(ret == (i >= 0 && i <= (int64_t)NPAGES - 2), "R9: %s: page %lld back: %d",
		      where, (long long)i, ret);
		CHECK(!ret || !memcmp(copy, now, PAGE_HEAD_SIZE + now->commit),
		      "R9: %s: the copy differs", where);
	}
}

/* After its own operation a thread may meet a slot that a dead one holds; nobody else's. */
static void check_survivor(const struct scene *scene, const char *where)
{
	uint32_t sizes[] = { RECORD_MIN, 200, 2000, 1000, 60, 1900, RECORD_MIN };

	for (uint32_t path = SECTION; path <= TWIN; path++) {
		struct audit audit = audit_of(path, scene, where);
		struct ring_head *head = lab_head(&lab, path);

		for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			enum ring_result result;

			if (scene->broken && path == scene->path && i == 0) {
				/* Nothing to go by yet: the first event heals. */
				struct record record;
				struct ring_op op;

				record_fill(&record, 0, RECORD_MIN, 0);
				op = lab_op(&lab, &record, RECORD_MIN);
				result = path == TWIN ? by_twin(&op, me())
						      : ring_write(lab_fake_rseq(), &op);
			} else {
				result = emit(path, sizes[i], 1000);
			}
			if (result == RING_DROPPED && scene->discard) {
				reader_to(path, head->tail);
				result = emit(path, sizes[i], 1000);
			}
			CHECK(result == RING_DONE, "R7: %s: the survivor's write gives %d", where,
			      result);
		}
		if (!scene->broken || path != scene->path)
			audit_ring(&audit);
	}
	CHECK(!lab.slots[0].owner, "R10: %s: the slot is still held", where);
}

/* ---- a scene from its first instruction to its last ---- */

static void check_end(const struct scene *scene, const struct audit *audit, uint64_t nr,
		      const char *where)
{
	enum ring_result want = scene->unread ? RING_DROPPED : RING_DONE;

	CHECK(bench->result == want, "%s: result %u", where, bench->result);
	if (!scene->broken)
		CHECK(audit->nr == nr + !scene->unread && audit->dropped == scene->unread,
		      "R6: %s: done, but not counted", where);
}

/* What a kill before instruction n leaves; *stores: changes that readers saw so far. */
static void check_kill(const struct scene *scene, struct ring_op *op, uint32_t n, uint64_t nr,
		       struct view *before, uint32_t *stores, const char *where)
{
	struct audit audit = audit_of(scene->path, scene, where);
	struct view after;

	kill_at(scene, op, n);
	boundaries += n < ntrace;
	check_foreign(scene, where);
	if (!scene->broken) {
		audit_ring(&audit);
		check_copies(scene->path, where);
		CHECK(audit.nr - nr <= 1, "R6: %s: %lld more events", where,
		      (long long)(audit.nr - nr));
	}
	after = view_of(scene->path);
	if (memcmp(before, &after, sizeof(after))) {
		++*stores;
		if (scene->path == SECTION && !scene->stride)
			check_store(n < ntrace ? trace[n].ip : 0, where);
	}
	*before = after;
	if (n == ntrace)
		check_end(scene, &audit, nr, where);
	clock_now = op->ts;
	check_survivor(scene, where);
}

static void run(const struct scene *scene, unsigned odd)
{
	static struct record record;
	char where[128];
	struct audit audit = audit_of(scene->path, scene, where);
	uint32_t n = 0, stores = 0, stride = scene->stride ? scene->stride : 1;
	struct view view;
	struct ring_op op;

	set_up(scene, odd);
	snprintf(where, sizeof(where), "%s, before", scene->name);
	if (!scene->broken)
		audit_ring(&audit);
	record_fill(&record, (uint32_t)audit.nr, scene->len,
		    scene->counter ? 0 : clock_now + scene->gap);
	op = lab_op(&lab, &record, scene->len);
	op.ts = clock_now + scene->gap;
	if (scene->dead_owner)
		lab.slots[0].owner = (uint64_t)0x3fffffff << 32 | 7;
	memcpy(snapshot, lab.base, lab.size);
	view = view_of(scene->path);
	record_trace(scene, &op);
	for (;;) {
		snprintf(where, sizeof(where), "%s, killed before instruction %u", scene->name, n);
		check_kill(scene, &op, n, audit.nr, &view, &stores, where);
		if (n == ntrace)
			break;
		n = n + stride < ntrace ? n + stride : ntrace;
	}
	CHECK(scene->stride || stores == scene->stores,
	      "R2: %s: %u stores changed what readers see", scene->name, stores);
	if (!odd)
		printf("%-32s %5u instructions\n", scene->name, ntrace);
}

/* clang-format off: a table */
static const struct scene scenes[] = {
	{ .name = "write", .len = 24, .gap = 7, .fill = HALF, .stores = 1 },
	{ .name = "write, smallest", .len = 16, .gap = 7, .fill = HALF, .tail = 2, .stores = 1 },
	{ .name = "write, own clock", .len = 20, .fill = HALF, .counter = true, .stores = 1 },
	{ .name = "write, fast", .len = 20, .fill = HALF, .counter = true, .fast = true,
	  .stores = 1 },
	{ .name = "write, fast and longest", .len = 112, .fill = HALF, .counter = true,
	  .fast = true, .stores = 1 },
	{ .name = "write, first in page", .len = 24, .gap = 7, .fill = FRESH, .stores = 1 },
	{ .name = "write, long", .len = 200, .gap = 7, .fill = HALF, .tail = 1, .stores = 1 },
	{ .name = "write, longest, sampled", .len = RING_PAYLOAD_MAX, .gap = 7, .fill = FULL,
	  .stride = 401 },
	{ .name = "extend", .len = 24, .gap = 1ull << 27, .fill = HALF, .stores = 1 },
	{ .name = "extend, long", .len = 120, .gap = (1ull << 59) - 1, .fill = HALF, .stores = 1 },
	{ .name = "extend, too long for one", .len = 24, .gap = 1ull << 59, .fill = HALF,
	  .stores = 2 },
	{ .name = "switch", .len = 64, .gap = 7, .fill = FULL, .tail = 1, .stores = 2 },
	{ .name = "switch, wrap", .len = 64, .gap = 7, .fill = FULL, .tail = 3, .stores = 2 },
	{ .name = "switch, discard", .len = 64, .gap = 7, .fill = FULL, .tail = 1, .discard = true,
	  .stores = 2 },
	{ .name = "drop", .len = 64, .fill = FULL, .tail = 1, .discard = true, .unread = true,
	  .stores = 1 },
	{ .name = "heal", .len = 64, .fill = HALF, .broken = true, .stores = 2 },

	{ .name = "overflow", .path = TWIN, .len = 24, .gap = 7, .fill = HALF, .stores = 1 },
	{ .name = "overflow, stolen slot", .path = TWIN, .len = 24, .gap = 7, .fill = HALF,
	  .dead_owner = true, .stores = 1 },
	{ .name = "overflow, first in page", .path = TWIN, .len = 24, .gap = 1ull << 60,
	  .fill = FRESH, .stores = 1 },
	{ .name = "overflow, long", .path = TWIN, .len = 132, .gap = 7, .fill = HALF, .tail = 1,
	  .stores = 1 },
	{ .name = "overflow, extend", .path = TWIN, .len = 24, .gap = 1ull << 27, .fill = HALF,
	  .stores = 1 },
	{ .name = "overflow, extend too long", .path = TWIN, .len = 24, .gap = 1ull << 59,
	  .fill = HALF, .stores = 2 },
	{ .name = "overflow, switch", .path = TWIN, .len = 64, .gap = 7, .fill = FULL, .tail = 1,
	  .stores = 2 },
	{ .name = "overflow, switch, wrap", .path = TWIN, .len = 64, .gap = 7, .fill = FULL,
	  .tail = 3, .stores = 2 },
	{ .name = "overflow, switch, discard", .path = TWIN, .len = 64, .fill = FULL, .tail = 1,
	  .discard = true, .stores = 2 },
	{ .name = "overflow, drop", .path = TWIN, .len = 64, .fill = FULL, .tail = 1,
	  .discard = true, .unread = true, .stores = 1 },
	{ .name = "overflow, heal", .path = TWIN, .len = 64, .fill = HALF, .broken = true,
	  .stores = 2 },
};
/* clang-format on */

/* A stop and a step are two switches of context: on one CPU they cost half. */
static void stay(void)
{
	cpu_set_t set;
	int cpu = sched_getcpu();

	CPU_ZERO(&set);
	CPU_SET(cpu < 0 ? 0 : cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

int main(void)
{
	stay();
	setvbuf(stdout, NULL, _IONBF, 0);
	lab_open(&lab, 1, NPAGES, PAGE, RING_REF_OVERWRITE);
	snapshot = malloc(lab.size);
	bench = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(snapshot && bench != MAP_FAILED, "memory");
	for (unsigned i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++)
		for (unsigned odd = 0; odd < 2; odd++)
			run(&scenes[i], odd);
	printf("R7: killed at %lu instructions, nothing to repair\n", boundaries);
	return 0;
}
