/*
 * A hosted writer may be killed anywhere, and the ring goes on.
 *
 * Stepped: a child writes one event, or answers the host, under single steps, and is killed before its n-th instruction, for every n (every
 * third in the short form) until it is through. What it leaves is read by the host's reader, from the beginning and by one that had read all before; then a survivor writes on
 * in the same ring, through several pages, and all is read again. Nothing is torn, none is there twice, times are right, and what is missing is
 * told: the event that was being written, or nothing.
 *
 * Stormed: processes that share rings, by a lock that goes with them, are killed at random and replaced; the reader reads meanwhile.
 *
 *   hosted_kill [KILLS]
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "hosted_lab.h"

static struct lab lab;

/* ---- stepped: the scenes ---- */

#define PAGES 4u
#define SHIFT 9u
#define STEPS_MAX 20000u
#define LONG_AGO_NS 150000000 /* more than an event's own time has bits for */
#define EVENTS_MAX 4096u

enum op { WRITE, TICK };

struct step_scene {
	const char *name;
	enum op op;
	uint32_t words;	    /* of the record */
	enum { FRESH, HALF, FULL } fill;
	uint32_t flags;
	uint32_t asked;	    /* by the host; 1: a reset */
	bool late;	    /* a long time after the last event */
	bool unread;	    /* a ring that refuses has no page left */
	bool refused;	    /* so the event does not come to be */
	bool dead;	    /* somebody had died there before */
};

/* What the child and the parent share. */
struct bench {
	volatile uint32_t phase; /* 1 while the operation runs, 2 when it is done */
	uint32_t seq;		 /* the next event's */
	uint64_t ended[EVENTS_MAX]; /* when an event had been written; 0: not known */
};
static struct bench *bench;

/* What a reader found. */
struct found {
	uint32_t next; /* sequence number expected; `any`: or later */
	bool any;
	uint32_t seen[EVENTS_MAX];
};
static uint32_t doubt; /* the event that the child writes, if it does */

static uint32_t room_left(void)
{
	struct ringside_fw_ring *ring = lab.fw.rings;
	unsigned char *page = (unsigned char *)lab.base + ring->pages + ((ring->tail & ring->mask) << SHIFT);
	uintptr_t commit;

	memcpy(&commit, page + 8, sizeof(commit));
	return remote_target_page_room(&lab.target) - (uint32_t)commit;
}

static void emit(uint32_t words)
{
	struct record record;
	uint32_t seq = bench->seq;

	CHECK(seq < EVENTS_MAX, "too many events");
	record_fill(&record, 0, seq, 0, words);
	ringside_fw_hosted_write(&lab.fw, 0, &record, words);
	bench->ended[seq] = lab_now();
	bench->seq++;
}

static void see_stepped(struct watch *watch, const struct record *record, uint32_t index, uint64_t ts)
{
	struct found *found = watch->data;
	uint32_t seq = record->seq, next = found->next;

	(void)index;
	CHECK(seq < bench->seq && (seq == next || (seq > next && found->any) || (seq == next + 1 && next == doubt)),
	      "%s: event %u where %u belongs", watch->where, seq, next);
	CHECK(ts <= bench->ended[seq], "%s: event %u was written by %llu, not at %llu", watch->where, seq,
	      (unsigned long long)bench->ended[seq], (unsigned long long)ts);
	found->any = lab.fw.rings[0].flags & RINGSIDE_FW_DISCARD;
	found->next = seq + 1;
	found->seen[seq]++;
}

static struct watch watch_of(struct found *found, const char *where)
{
	return (struct watch){ .lab = &lab, .where = where, .see = see_stepped, .data = found };
}

static void consume(const struct watch *watch)
{
	lab.fw.rings[0].consumed = watch->cursor.number;
}

static bool is_filled(const struct step_scene *scene, const struct watch *watch)
{
	const struct ringside_fw_ring *ring = lab.fw.rings;

	if (scene->fill == FRESH)
		return true;
	if (scene->unread && scene->fill == FULL)
		return ring->count > watch->cursor.count;
	if (scene->unread && ring->tail - ring->consumed < PAGES - 1)
		return false;
	/* More than a lap, so that every page holds something old. */
	return ring->tail > 2 * PAGES && room_left() < (scene->fill == FULL ? 4 + scene->words * 4 : (1u << SHIFT) / 2);
}

static void fill(const struct step_scene *scene, struct watch *watch)
{
	while (!is_filled(scene, watch)) {
		emit(RECORD_MIN);
		while (watch_page(watch))
			;
		if (!scene->unread || lab.fw.rings[0].tail <= 2 * PAGES)
			consume(watch);
	}
}

static void set_up(const struct step_scene *scene, struct watch *watch)
{
	struct ringside_fw_hosted_how how = {
		.nr_rings = 1, .nr_pages = PAGES, .page_shift = SHIFT, .nr_events = LAB_EVENTS, .flags = scene->flags, .on = 1,
	};
	struct ringside_fw_ring *ring = lab.fw.rings;
	struct timespec nap = { .tv_nsec = scene->late ? LONG_AGO_NS : 1000000 };

	memset(lab.base, 0, lab.size);
	memset(bench, 0, sizeof(*bench));
	CHECK(!ringside_fw_hosted_init(lab.base, lab.size, &how), "init");
	while (watch_page(watch))
		;
	fill(scene, watch);
	if (scene->asked)
		ring->asked = (ring->asked + 2) | (scene->asked & 1);
	if (scene->late || scene->dead)
		nanosleep(&nap, NULL);
	/* It had set the time, and not come to the event. */
	if (scene->dead) {
		ring->time = lab_now();
		ring->writing = 1;
	}
}

/* ---- stepped: the child ---- */

static void operate(const struct step_scene *scene, const struct record *record)
{
	if (scene->op == TICK)
		ringside_fw_hosted_tick(&lab.fw, 0);
	else
		ringside_fw_hosted_write(&lab.fw, 0, record, scene->words);
}

static void wait_for(pid_t pid)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status) && (WSTOPSIG(status) == SIGTRAP || WSTOPSIG(status) == SIGSTOP),
	      "the child: status %#x", (unsigned)status);
}

/* A child that has not begun yet. */
static pid_t start(const struct step_scene *scene, const struct record *record)
{
	pid_t pid = fork();

	CHECK(pid >= 0, "%s", strerror(errno));
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		bench->phase = 1;
		operate(scene, record);
		bench->phase = 2;
		_exit(0);
	}
	wait_for(pid);
	return pid;
}

/* Kills before instruction n of the operation: is there one? */
static bool kill_at(const struct step_scene *scene, const struct record *record, uint32_t n)
{
	pid_t pid = start(scene, record);
	uint32_t i = 0;
	int status;

	while (bench->phase == 0 || (bench->phase == 1 && i < n)) {
		i += bench->phase == 1;
		CHECK(!ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), "%s", strerror(errno));
		wait_for(pid);
	}
	CHECK(i < STEPS_MAX, "%s: no end after %u steps", scene->name, i);
	kill(pid, SIGKILL);
	CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status), "the child: status %#x", (unsigned)status);
	return bench->phase == 1;
}

/* ---- stepped: what it leaves ---- */

/* All that is there, from the oldest on. */
static void read_anew(struct found *found, const char *where)
{
	struct watch watch = watch_of(found, where);

	*found = (struct found){ .any = true };
	while (watch_page(&watch))
		;
}

/* Where the host was answered, it is so: by the time, and nothing old is there. */
static void check_answer(const struct step_scene *scene, const struct found *found, uint64_t begun, const char *where)
{
	const struct ringside_fw_ring *ring = lab.fw.rings;

	if (!scene->asked || ring->answered != ring->asked)
		return;
	CHECK(ring->answer >= begun && ring->answer <= lab_now(), "%s: answered at another time", where);
	for (uint32_t seq = 0; scene->asked & 1 && seq < doubt; seq++)
		CHECK(!found->seen[seq], "%s: event %u outlived the reset", where, seq);
}

/* In the same ring, short and long, until everything old is gone. */
static void survive(const struct step_scene *scene, struct watch *watch)
{
	static const uint32_t words[] = { RECORD_MIN, 50, 30, RECORD_MIN, 100, 8, 40, 29, 28, 100, RECORD_MIN };

	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		emit(words[i]);
		while (watch_page(watch))
			;
		if (scene->flags & RINGSIDE_FW_DISCARD)
			consume(watch);
	}
	CHECK(lab.fw.rings[0].answered == lab.fw.rings[0].asked, "%s: nobody answered", watch->where);
	CHECK(!lab.fw.rings[0].writing, "%s: the survivor has not told that it is through", watch->where);
}

/* The reader that was there before misses what it was told is lost, and perhaps one that died before it was counted. */
static void check_missing(const struct step_scene *scene, const struct watch *watch, uint32_t from, bool done)
{
	const struct found *found = watch->data;
	uint32_t missing = 0, told = (uint32_t)watch->lost + lab.fw.rings[0].count - watch->cursor.count;

	/* What a reset throws away is not lost, and what comes then has room. */
	if (scene->asked & 1) {
		from = doubt + 1;
		told = 0;
	}
	for (uint32_t seq = from; seq < bench->seq; seq++)
		missing += !found->seen[seq];
	CHECK(missing == told || (!done && !found->seen[doubt] && missing == told + 1), "%s: %u events are missing, %u are told to be",
	      watch->where, missing, told);
}

/* What is there before the child begins. Where that takes a long time, it is done once. */
struct scenery {
	void *memory;
	struct bench bench;
	struct found found;
	struct watch watch;
};

static void prepare(const struct step_scene *scene, struct scenery *kept, struct watch *watch)
{
	struct found *found = watch->data;

	if (scene->late && kept->memory) {
		memcpy(lab.base, kept->memory, lab.size);
		memcpy(bench, &kept->bench, sizeof(*bench));
		*found = kept->found;
		kept->watch.where = watch->where;
		*watch = kept->watch;
		return;
	}
	set_up(scene, watch);
	if (!scene->late)
		return;
	kept->memory = malloc(lab.size);
	CHECK(kept->memory, "memory");
	memcpy(kept->memory, lab.base, lab.size);
	memcpy(&kept->bench, bench, sizeof(*bench));
	kept->found = *found;
	kept->watch = *watch;
}

/* True until n is past the last instruction. */
static bool check_kill(const struct step_scene *scene, struct scenery *kept, uint32_t n)
{
	static struct found old, anew;
	struct record record;
	struct watch watch;
	char where[128];
	uint64_t begun;
	uint32_t from;
	bool more;

	snprintf(where, sizeof(where), "%s, killed before instruction %u", scene->name, n);
	old = (struct found){ 0 };
	doubt = UINT32_MAX;
	watch = watch_of(&old, where);
	prepare(scene, kept, &watch);
	from = old.next;
	doubt = bench->seq;
	bench->seq += scene->op == WRITE;
	record_fill(&record, 0, doubt, 0, scene->words);
	begun = lab_now();
	more = kill_at(scene, &record, n);
	bench->ended[doubt] = lab_now();

	read_anew(&anew, where);
	check_answer(scene, &anew, begun, where);
	while (watch_page(&watch))
		;
	CHECK(anew.seen[doubt] == old.seen[doubt] && anew.seen[doubt] <= 1, "%s: two readers see different things", where);
	CHECK(more || scene->op == TICK || old.seen[doubt] == !scene->refused, "%s: done, but not so", where);
	survive(scene, &watch);
	check_missing(scene, &watch, from, !more);
	read_anew(&anew, where);
	CHECK(anew.seen[bench->seq - 1] == 1, "%s: what the survivor wrote last is not there", where);
	return more;
}

static const struct step_scene step_scenes[] = {
	{ .name = "write", .words = 8, .fill = HALF },
	{ .name = "write, first of all", .words = 8, .fill = FRESH },
	{ .name = "write, long", .words = 40, .fill = HALF },
	{ .name = "write, late", .words = 8, .fill = HALF, .late = true },
	{ .name = "switch", .words = 8, .fill = FULL },
	{ .name = "switch, long", .words = 60, .fill = FULL },
	{ .name = "switch, refusing", .words = 8, .fill = FULL, .flags = RINGSIDE_FW_DISCARD },
	{ .name = "refused", .words = 8, .fill = FULL, .flags = RINGSIDE_FW_DISCARD, .unread = true,
	  .refused = true },
	{ .name = "too long", .words = 200, .fill = HALF, .refused = true },
	{ .name = "reset, write", .words = 8, .fill = HALF, .asked = 1 },
	{ .name = "reset, write, full", .words = 8, .fill = FULL, .flags = RINGSIDE_FW_DISCARD, .unread = true, .asked = 1 },
	{ .name = "reset", .op = TICK, .words = 8, .fill = HALF, .asked = 1 },
	{ .name = "time asked", .op = TICK, .words = 8, .fill = HALF, .asked = 2 },
	{ .name = "time asked, write", .words = 8, .fill = HALF, .asked = 2 },
	{ .name = "after a death", .words = 8, .fill = HALF, .dead = true },
	{ .name = "after a death, refused", .words = 8, .fill = FULL, .flags = RINGSIDE_FW_DISCARD, .unread = true,
	  .refused = true, .dead = true },
	{ .name = "after a death, no page", .words = 8, .fill = HALF, .flags = RINGSIDE_FW_DISCARD, .unread = true,
	  .refused = true, .dead = true },
	{ .name = "after a death, time asked", .op = TICK, .words = 8, .fill = HALF, .asked = 2, .dead = true },
	{ .name = "after a death, reset", .words = 8, .fill = HALF, .asked = 1, .dead = true },
};

static void step_all(uint32_t stride)
{
	unsigned long boundaries = 0;

	lab_open(&lab, 1, PAGES, SHIFT, 0);
	for (unsigned i = 0; i < sizeof(step_scenes) / sizeof(step_scenes[0]); i++) {
		static struct scenery kept;
		uint32_t n = 0;

		while (check_kill(&step_scenes[i], &kept, n))
			n += stride;
		boundaries += n / stride;
		free(kept.memory);
		kept.memory = NULL;
		printf("%-28s %5u instructions\n", step_scenes[i].name, n);
	}
	printf("killed before %lu instructions\n", boundaries);
	lab_close(&lab);
}

/* ---- stormed ---- */

#define PROCESSES 4u
#define RINGS 2u

struct shared {
	uint32_t stop;
	struct {
		uint32_t begun;	 /* events, each before it is written */
		uint32_t busy;	 /* one is under way */
		uint32_t deaths; /* as many of them were cut short, at most */
	} ring[RINGS];
};
static struct shared *shared;

/* A lock of the kernel's, which goes with its process, and leaves nobody asleep. */
static void set_lock(uint32_t ring, short type)
{
	struct flock lock = { .l_type = type, .l_whence = SEEK_SET, .l_start = ring, .l_len = 1 };

	while (fcntl(lab.fd, F_SETLKW, &lock))
		CHECK(errno == EINTR, "%s", strerror(errno));
}

static void lock(uint32_t ring)
{
	set_lock(ring, F_WRLCK);
	/* Whoever dies between these counts one too many. */
	if (shared->ring[ring].busy) {
		__atomic_fetch_add(&shared->ring[ring].deaths, 1, __ATOMIC_SEQ_CST);
		__atomic_store_n(&shared->ring[ring].busy, 0, __ATOMIC_SEQ_CST);
	}
}

static void write_one(uint32_t ring, uint32_t process, uint32_t words)
{
	struct record record;
	uint32_t seq;

	lock(ring);
	seq = shared->ring[ring].begun;
	__atomic_store_n(&shared->ring[ring].busy, 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&shared->ring[ring].begun, seq + 1, __ATOMIC_SEQ_CST);
	record_fill(&record, process, seq, shared->ring[ring].deaths, words);
	ringside_fw_hosted_write(&lab.fw, ring, &record, words);
	__atomic_store_n(&shared->ring[ring].busy, 0, __ATOMIC_SEQ_CST);
	set_lock(ring, F_UNLCK);
}

/* It maps the file for itself: somewhere else than others do. */
static pid_t start_process(uint32_t process)
{
	uint64_t state = (uint64_t)lab_now() << 8 | (process + 1);
	pid_t pid = fork();
	void *base;

	CHECK(pid >= 0, "%s", strerror(errno));
	if (pid)
		return pid;
	base = mmap(NULL, lab.size, PROT_READ | PROT_WRITE, MAP_SHARED, lab.fd, 0);
	CHECK(base != MAP_FAILED && base != lab.base && !ringside_fw_hosted_open(&lab.fw, base, lab.size), "opening it again");
	while (!__atomic_load_n(&shared->stop, __ATOMIC_RELAXED)) {
		uint32_t drawn = draw(&state);

		write_one(drawn % RINGS, process, RECORD_MIN + drawn / RINGS % 60);
	}
	_exit(0);
}

struct storm_sight {
	uint32_t next;
	uint32_t gone; /* that were begun, and never counted */
};

static void see_stormed(struct watch *watch, const struct record *record, uint32_t index, uint64_t ts)
{
	struct storm_sight *sight = watch->data;
	uint32_t gone = record->seq - index;

	(void)ts;
	CHECK(record->seq >= sight->next, "%s: ring %u: event %u comes after %u", watch->where, watch->ring, record->seq, sight->next);
	sight->next = record->seq + 1;
	/* Where some may have been refused, it is the page's first event whose place is known. */
	if (lab.target.rings[watch->ring].discard && !watch->first)
		return;
	CHECK(record->seq >= index && gone >= sight->gone && gone <= record->other,
	      "%s: ring %u: event %u is the ring's %u; %u died by then, and %u were missing before", watch->where, watch->ring, record->seq,
	      index, record->other, sight->gone);
	sight->gone = gone;
}

static void read_storm(struct watch *watch, bool all)
{
	for (uint32_t i = 0; i < RINGS; i++) {
		for (int n = 0; (all || n < 4) && watch_page(&watch[i]); n++)
			;
		lab.fw.rings[i].consumed = watch[i].cursor.number;
	}
}

static void account_storm(const struct watch *watch)
{
	const struct storm_sight *sight = watch->data;
	uint32_t count = lab.fw.rings[watch->ring].count, begun = shared->ring[watch->ring].begun, deaths = shared->ring[watch->ring].deaths;
	uint32_t refused = count - watch->cursor.count;

	CHECK(watch->events + watch->lost + refused == count, "%s: ring %u: %llu seen and %llu lost of %u", watch->where, watch->ring,
	      (unsigned long long)watch->events, (unsigned long long)watch->lost + refused, count);
	CHECK(begun >= count && begun - count >= sight->gone && begun - count <= deaths, "%s: ring %u counts %u of %u, and %u died",
	      watch->where, watch->ring, count, begun, deaths);
	CHECK(lab.target.rings[watch->ring].discard || !refused, "%s: ring %u refused %u", watch->where, watch->ring, refused);
	printf("    ring %u: %u begun, %u of them when their writer died: %llu seen, %llu lost\n", watch->ring, begun, deaths,
	       (unsigned long long)watch->events, (unsigned long long)watch->lost + refused);
}

static unsigned long storm(const char *name, uint32_t shift, uint32_t flags, unsigned kills)
{
	struct storm_sight sight[RINGS] = { { 0 } };
	uint64_t state = 88172645463325252ull;
	struct watch watch[RINGS];
	pid_t process[PROCESSES];
	unsigned long deaths = 0;

	lab_open(&lab, RINGS, 8, shift, flags);
	memset(shared, 0, sizeof(*shared));
	for (uint32_t i = 0; i < RINGS; i++) {
		watch[i] = (struct watch){ .lab = &lab, .ring = i, .where = name, .see = see_stormed, .data = &sight[i] };
		CHECK(!watch_page(&watch[i]), "%s: a new ring holds something", name);
	}
	for (uint32_t i = 0; i < PROCESSES; i++)
		process[i] = start_process(i);
	for (unsigned killed = 0; killed < kills; killed++) {
		uint32_t victim = draw(&state) % PROCESSES;
		struct timespec nap = { .tv_nsec = draw(&state) % 1000000 };

		for (uint32_t reads = draw(&state) % 32; reads; reads--)
			read_storm(watch, false);
		nanosleep(&nap, NULL);
		kill(process[victim], SIGKILL);
		CHECK(waitpid(process[victim], NULL, 0) == process[victim], "%s", strerror(errno));
		process[victim] = start_process(victim);
	}
	__atomic_store_n(&shared->stop, 1, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < PROCESSES; i++) {
		int status;

		CHECK(waitpid(process[i], &status, 0) == process[i] && WIFEXITED(status) && !WEXITSTATUS(status), "%s: a writer: %#x", name,
		      (unsigned)status);
	}
	printf("%s: %u killed\n", name, kills);
	for (uint32_t i = 0; i < RINGS; i++) {
		/* Whoever died last is found, too. */
		write_one(i, PROCESSES, RECORD_MIN);
		read_storm(watch, true);
		account_storm(&watch[i]);
		deaths += shared->ring[i].deaths;
	}
	lab_close(&lab);
	return deaths;
}

/* A stop and a step are two switches of context: on one CPU they cost half. */
static cpu_set_t stay(void)
{
	cpu_set_t set, before;
	int cpu = sched_getcpu();

	CPU_ZERO(&set);
	CPU_SET(cpu < 0 ? 0 : cpu, &set);
	sched_getaffinity(0, sizeof(before), &before);
	sched_setaffinity(0, sizeof(set), &set);
	return before;
}

int main(int argc, char **argv)
{
	unsigned kills = argc > 1 ? (unsigned)atoi(argv[1]) : getenv("RINGSIDE_LONG") ? 10000 : 400;
	unsigned long deaths = 0;
	cpu_set_t cpus;

	setvbuf(stdout, NULL, _IONBF, 0);
	bench = mmap(NULL, sizeof(*bench), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(bench != MAP_FAILED && shared != MAP_FAILED, "memory");
	cpus = stay();
	step_all(getenv("RINGSIDE_LONG") ? 1 : 3);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	deaths += storm("512 bytes", 9, 0, kills);
	deaths += storm("4096 bytes", 12, 0, kills);
	deaths += storm("512 bytes, refusing", 9, RINGSIDE_FW_DISCARD, kills);
	CHECK(deaths, "nobody died while writing: this proves nothing");
	return 0;
}
