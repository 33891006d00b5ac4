/*
 * A remote's memory that anybody may write, at any moment, read as `trace`, `trace_pipe`, `record` and the files of remotes/NAME/ do: nobody
 * leaves the memory or the copy of a page, each call ends after so many looks, what is refused is told with words, times of a CPU do not
 * go back, and the host stores nothing but its own words.
 *
 * The input says what the memory is at first, and then what happens, a byte and its arguments each: the reader's calls, and changes. Some
 * come at once, some at the n-th look from now on, in the middle of a call; and the target's writer goes on by so many stores a look. As long as
 * only that one writes, nothing may be refused, and each event is there once, whole, in its place, or counted as lost.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "remote/clock.h"
#include "remote_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define READERS 2u

static uint32_t resets;

/* ---- readers ---- */

/* What is known of one CPU. */
struct seen {
	bool known;
	uint32_t thrown;	/* resets: the one who reads may be before each, or behind */
	uint32_t next;
	uint64_t ts;
};

struct reading {
	struct remote_reader *reader;
	struct remote_how how;
	struct seen cpus[RINGS_MAX];
	uint32_t life;
	bool any;		/* a row was handed out */
	uint64_t rows, changes;
};
static struct reading readings[READERS];
static struct seen accepted[RINGS_MAX];
static uint32_t accepted_life;
static struct remote *remote;

/* More than this nobody needs, whatever is there. */
static uint64_t looks_most(void)
{
	return 20000 + 200ull * made.nr_rings * (made.nr_pages + 40) * made_page_size(&made) / 16;
}

static void check_err(int r, const struct err *err)
{
	insist(r >= 0 || *err->text, "refused without words");
	insist(r >= 0 || r > -4096, "no errno");
}

static void check_sound(struct reading *reading, const struct remote_row *row)
{
	uint32_t i = row->cpu - made.cpu;
	struct seen *seen = &reading->cpus[i];
	uint32_t words = row->len / 4, seq, of;

	insist(i < made.nr_rings && words >= 3, "an event of nobody");
	seq = (uint32_t)decode_abi_load((const char *)row->data + 4, 4, made.abi.big_endian);
	of = (uint32_t)decode_abi_load((const char *)row->data + 8, 4, made.abi.big_endian);
	insist(words == record_words(seq), "an event of another length");
	for (uint32_t n = 3; n < words; n++)
		insist(decode_abi_load((const char *)row->data + n * 4, 4, made.abi.big_endian) == (seq + n) * 0x9e3779b1u, "torn");
	if (row->restarted) {
		insist(!reading->any || of > reading->life, "said to be started again");
		for (uint32_t n = 0; n < RINGS_MAX; n++)
			reading->cpus[n].known = false;
	} else {
		insist(!reading->life || of == reading->life, "another life, and nobody says so");
	}
	reading->life = of;
	insist(!seen->known || seq == seen->next + row->lost || (seen->thrown && seq >= seen->next), "losses do not add up");
	if (seen->known && seq != seen->next + row->lost)
		seen->thrown--;
	seen->known = true;
	seen->next = seq + 1;
}

static void check_row(struct reading *reading, const struct remote_row *row)
{
	volatile uint8_t sum = 0;
	uint32_t i;

	insist(row->data && row->len <= TARGET_PAGE_MAX && row->lost <= UINT32_MAX, "no row");
	for (i = 0; i < row->len; i++)
		sum = (uint8_t)(sum + ((const uint8_t *)row->data)[i]);
	if (reading->how.cpu >= 0)
		insist(row->cpu == (uint32_t)reading->how.cpu, "of another CPU");
	if (!wild)
		check_sound(reading, row);
	i = row->cpu - made.cpu;
	for (uint32_t n = 0; n < RINGS_MAX && row->restarted; n++)
		reading->cpus[n].ts = 0;
	if (i < RINGS_MAX) {
		insist(row->ts >= reading->cpus[i].ts, "time goes back");
		reading->cpus[i].ts = row->ts;
	}
	reading->any = true;
}

static void close_reader(struct reading *reading)
{
	remote_reader_close(reading->reader);
	*reading = (struct reading){ 0 };
}

static bool is_taken(const struct remote_how *how)
{
	for (uint32_t i = 0; i < READERS; i++)
		if (readings[i].reader && readings[i].how.consume && (how->cpu < 0 || readings[i].how.cpu < 0 || how->cpu == readings[i].how.cpu))
			return true;
	return false;
}

static void open_reader(struct reading *reading)
{
	struct err err = ERR_INIT;
	uint32_t how = take(1);
	int r;

	close_reader(reading);
	reading->how = (struct remote_how){ .cpu = how & 4 ? (int)(made.cpu + (how >> 4) % made.nr_rings) : -1, .consume = how & 1, .once = how & 2 };
	/* Two that take events out share none: locks would see to that, if they were of two processes. */
	if (is_taken(&reading->how))
		reading->how.consume = false;
	/* Who only looks is not told what is gone before the first that he sees. */
	if (reading->how.consume)
		memcpy(reading->cpus, accepted, sizeof(accepted));
	reading->life = accepted_life;
	reading->any = accepted_life;
	r = remote_reader_open(&reading->reader, remote, &reading->how, &err);
	check_err(r, &err);
	insist(!r == !!reading->reader, "opened, and not opened");
	reading->changes = changes;
}

/* A memory that stands still has so many rows, and no more. */
static uint64_t rows_most(const struct reading *reading)
{
	return (changes - reading->changes + 2) * made.size / 4 * 2;
}

static void read_rows(struct reading *reading)
{
	uint32_t n = 1 + take(1);
	struct remote_row row;
	int r = 1;

	while (reading->reader && n-- && r == 1) {
		struct err err = ERR_INIT;
		uint64_t before = looks;

		r = remote_reader_next(reading->reader, &row, &err);
		check_err(r, &err);
		insist(looks - before < looks_most(), "too many looks");
		if (r == 1)
			check_row(reading, &row);
		insist(r <= 1, "neither yes nor no");
		/* Whoever is faster than the reader, or starts again, may keep it from an event. */
			insist(r >= 0 || wild || there != made.size || (every && (strstr(err.text, "faster") || reading->life != life)), err.text);
		reading->rows = every ? 0 : reading->rows + 1;
		insist(reading->rows < rows_most(reading), "rows without end");
	}
}

static void accept(struct reading *reading)
{
	struct err err = ERR_INIT;

	if (!reading->reader)
		return;
	check_err(remote_reader_accept(reading->reader, &err), &err);
	if (!reading->how.consume || !reading->any)
		return;
	for (uint32_t i = 0; i < made.nr_rings; i++)
		if (reading->how.cpu < 0 || (uint32_t)reading->how.cpu == made.cpu + i)
			accepted[i] = reading->cpus[i];
	for (uint32_t i = 0; i < RINGS_MAX; i++)
		accepted[i].ts = 0;
	/* Of one that is gone meanwhile nobody knows whether it was kept. */
	accepted_life = reading->life == life ? life : 0;
	if (!accepted_life)
		memset(accepted, 0, sizeof(accepted));
}

/* ---- what else there is ---- */

static void reset(void)
{
	struct err err = ERR_INIT;
	uint32_t cpu = take(1);

	/* Asked, a target that runs answers; one that does not is waited for. */
	if (resets++ == 4 || ((wild || there != made.size) && take(1) != 1))
		return;
	every = every ? every : 1;
	steps = steps ? steps : 3;
	check_err(remote_reset(remote, cpu & 1 ? (int)(made.cpu + (cpu >> 1) % made.nr_rings) : -1, &err), &err);
	for (uint32_t i = 0; i < RINGS_MAX; i++)
		accepted[i] = (struct seen){ .thrown = accepted[i].thrown + 1 };
	for (uint32_t n = 0; n < READERS; n++)
		for (uint32_t i = 0; i < RINGS_MAX; i++)
			readings[n].cpus[i].thrown++;
	accepted_life = 0;
}

static void ask(void)
{
	struct err err = ERR_INIT;
	struct remote_clock clock;
	uint32_t what = take(1);
	struct buf text = BUF_INIT;
	uint64_t error, kb;
	bool on, loaded;

	switch (what % 6) {
	case 0:
		check_err(remote_tracing_on(remote, &on, &err), &err);
		break;
	case 1:
		check_err(remote_event_is_on(remote, what, &on, &err), &err);
		break;
	case 2:
		remote_is_loaded(remote);
		check_err(remote_size(remote, &kb, &loaded, &err), &err);
		break;
	case 3:
		if (!wild)
			return;
		check_err(remote_enable_tracing(remote, what & 64, &err), &err);
		check_err(remote_enable_event(remote, what, what & 64, &err), &err);
		break;
	case 4:
		remote_clock_init(&clock);
		for (int i = 0; i < 4; i++)
			remote_clock_look(&clock, remote);
		remote_clock_host(&clock, (uint64_t)take(4) << what % 33, &error);
		if (remote_target(remote, NULL))
			remote_clock_describe(&clock, error, remote_target(remote, NULL), &text);
		break;
	default:
		for (uint32_t i = 0; i < READERS; i++)
			if (readings[i].reader)
				remote_reader_ready(readings[i].reader);
	}
	buf_fini(&text);
}

static void search(void)
{
	struct remote_memory memory;
	struct err err = ERR_INIT;
	uint64_t at, self = made.self;
	int r;

	remote_memory_open(&memory, NULL, NULL);
	r = remote_target_find(&memory, take(1) & 1 ? &self : NULL, &at, &err);
	check_err(r, &err);
	insist(r || at <= there - sizeof(struct ringside_fw_header), "found outside of the memory");
	insist(wild || there != made.size || !r || every, "not found");
}

/* ---- an input ---- */

static int state = -1;

static void open_remote(void)
{
	remote = remote_new(-1, "fuzz");
	insist(remote, "memory");
	remote->kind = &remote_kind_memory;
	remote->path = strdup("memory");
	remote->state = fcntl(state, F_DUPFD_CLOEXEC, 0);
	remote->kind->find(remote, &remote->trouble);
}

static void set_up(void)
{
	uint32_t shape = take(1), more = take(1);

	made = (struct made){
		.abi = { .big_endian = shape & 1, .long_size = shape & 2 ? 4 : 8 }, .nr_rings = 1 + (shape >> 2 & 3) % RINGS_MAX,
		.nr_pages = 2u << (shape >> 4 & 3) % 3, .page_shift = 8 + (shape >> 6 & 1), .flags = shape >> 7 & 1,
		.nr_events = 1 + (more & 1) * 40, .clock_bits = 64, .boots = 1 + (more >> 1 & 1), .cpu = more >> 2 & 7,
		.self = more & 32 ? 0x80000000 : 0, .tick_hz = more & 64 ? 1 : 1000000000,
	};
	writable = !(more & 128);
	made_places(&made);
	made.bytes = malloc(made.size);
	insist(made.bytes, "memory");
	there = made.size;
	wild = false;
	looks = changes = 0;
	nr_later = every = steps = resets = 0;
	stores_left = 10000;
	life = 1;
	accepted_life = 0;
	memset(writers, 0, sizeof(writers));
	memset(accepted, 0, sizeof(accepted));
	made_begin(&made, 0);
	if (state < 0)
		state = memfd_create("state", MFD_CLOEXEC);
	insist(!ftruncate(state, 0), "state");
}

static void act(uint32_t op)
{
	switch (op % 12) {
	case 0:
		change();
		return;
	case 1:
		run_writer(take(1) % made.nr_rings, 40 + take(1) * 4);
		changes++;
		return;
	case 2:
		every = take(1) % 32;
		steps = take(1);
		/* The writer that never rests. */
		steps = steps > 250 ? 1000 : steps % 16;
		return;
	case 3:
		open_reader(&readings[op / 12 % READERS]);
		return;
	case 4:
	case 5:
	case 6:
		read_rows(&readings[op / 12 % READERS]);
		return;
	case 7:
		accept(&readings[op / 12 % READERS]);
		return;
	case 8:
		op / 12 % 8 ? ask() : reset();
		return;
	case 9:
		if (op / 12 % 4)
			return;
		there = take(2) % (made.size + 1);
		changes++;
		return;
	case 10:
		if (!wild && there == made.size)
			start_again();
		return;
	default:
		if (op / 12 % 2) {
			search();
			return;
		}
		for (uint32_t i = 0; i < READERS; i++)
			close_reader(&readings[i]);
		remote_close(remote);
		open_remote();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	input = data;
	input_left = size;
	set_up();
	open_remote();
	for (uint32_t n = 0; n < 200 && input_left; n++)
		act(take(1));
	for (uint32_t i = 0; i < READERS; i++)
		close_reader(&readings[i]);
	remote_close(remote);
	free(made.bytes);
	return 0;
}
