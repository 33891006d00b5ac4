/*
 * Hooks made by hand, run with a host that only notes what it is asked: filters, triggers and their order, counts, histograms with
 * variables, references and actions, records of other events; and all of it while any of its bytes change.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "hook/hook.h"
#include "insist.h"

#define CELLS 64u
#define EVENT 0x4000u
#define SYNTH 0x4001u

static const char body[] = "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
			   "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
			   "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
			   "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
			   "\tfield:int number;\toffset:8;\tsize:4;\tsigned:1;\n"
			   "\tfield:__data_loc char[] name;\toffset:12;\tsize:4;\tsigned:0;\n\nprint fmt: \"\"\n";

struct record {
	uint16_t type;
	uint8_t flags, preempt;
	int32_t pid;
	int32_t number;
	uint32_t name;
	char text[24];
};

/* ---- The host ---- */

static char notes[4096];
static uint64_t stage_memory[4][HOOK_STAGE_SIZE / 8 + 1];
static uint32_t staged;
static uint64_t time_now = 1000;
static unsigned char made[HOOK_STAGE_SIZE];
static uint32_t made_len, made_count;

static void note(const char *what)
{
	strncat(notes, what, sizeof(notes) - strlen(notes) - 1);
}

static uint64_t now(const struct hook_host *host, uint64_t buffer)
{
	(void)host;
	(void)buffer;
	return time_now;
}

static const char *comm(const struct hook_host *host)
{
	(void)host;
	return "tester";
}

static uint32_t stack(const struct hook_host *host, uint64_t *addresses, uint32_t max)
{
	(void)host;
	for (uint32_t i = 0; i < 3 && i < max; i++)
		addresses[i] = 0x1000 + i;
	return max < 3 ? max : 3;
}

static void emit(const struct hook_host *host, uint32_t event, void *record, uint32_t len)
{
	(void)host;
	CHECK(len % 4 == 0 && len >= 8 && len <= sizeof(made), "a record of %u", len);
	if (event == SYNTH) {
		memcpy(made, record, len);
		made_len = len;
		made_count++;
	}
	note("emit ");
}

static void *stage(const struct hook_host *host)
{
	(void)host;
	return staged < 4 ? stage_memory[staged++] : NULL;
}

static void unstage(const struct hook_host *host, void *at)
{
	(void)host;
	CHECK(staged && at == stage_memory[staged - 1], "stages come back in order");
	staged--;
}

static void write_stack(const struct hook_host *host, uint64_t buffer)
{
	(void)host;
	CHECK(buffer, "buffer");
	note("stack ");
}

static bool snapshot(const struct hook_host *host, uint64_t buffer)
{
	(void)host;
	(void)buffer;
	note("snapshot ");
	return true;
}

static uint32_t peek(void *to, uint64_t address, uint32_t len, bool text)
{
	static const char there[] = "peeked";

	if (address != 0x5000)
		return 0;
	len = len < sizeof(there) ? len : (uint32_t)sizeof(there);
	memcpy(to, there, len);
	(void)text;
	return len;
}

static void lose(const struct hook_host *host, uint32_t event)
{
	(void)host;
	(void)event;
	note("lose ");
}

static const struct hook_calls calls = {
	.now = now, .comm = comm, .stack = stack, .emit = emit, .stage = stage, .unstage = unstage,
	.write_stack = write_stack, .snapshot = snapshot, .peek = peek, .lose = lose,
};

/* ---- What hangs ---- */

static struct buf code = BUF_INIT;
static struct hist_tables tables;
static uint64_t *words;
static struct program_field fields[1024];
static struct hook_link links[256];
static struct hook_room room = { .fields = fields, .fields_max = 1024, .links = links, .links_max = 256 };
static uint32_t place;

static uint32_t put(const void *bytes, size_t size)
{
	uint32_t at = (uint32_t)code.len;

	buf_add(&code, bytes, size);
	while (code.len % 8)
		buf_putc(&code, '\0');
	return at;
}

static uint32_t finish(struct program_build *build)
{
	uint32_t at = (uint32_t)code.len;

	CHECK(!program_build_finish(build, &code), "a program");
	program_build_free(build);
	return at;
}

static uint32_t compare(uint16_t op, uint64_t num)
{
	struct program_build *build = program_build_new();

	program_build_is(build, program_build_compare(build, op, 0, program_build_field(build, "number", PROGRAM_INT),
						      program_build_num(build, num)));
	return finish(build);
}

static void fresh(void)
{
	buf_reset(&code);
	buf_add(&code, "\0\0\0\0\0\0\0", 8);
	memset(tables.base, 0, (size_t)tables.size);
	room.nfields = room.nlinks = 0;
	notes[0] = '\0';
	made_count = staged = 0;
	place = 1;
}

static struct hook_host host_now(void)
{
	return (struct hook_host){
		.calls = &calls, .code = { (unsigned char *)code.data, (uint32_t)code.len }, .fields = fields, .room = 1024,
		.links = links, .links_max = 256, .tables = tables, .words = words, .place = &place, .place_was = 1, .cpu = 1, .pid = 42,
	};
}

static struct hook_bound bind(uint32_t filter, const struct hook_act *acts, uint32_t n)
{
	struct state_hook hook = { .filter = filter, .nacts = n };
	struct hook_bound bound;
	struct hook_code area;

	hook.acts = n ? put(acts, n * sizeof(*acts)) : 0;
	area = (struct hook_code){ (unsigned char *)code.data, (uint32_t)code.len };
	CHECK(!hook_bind(&bound, &hook, &area, EVENT, body, strlen(body), &tables, &room), "bind");
	return bound;
}

static struct record record_of(int32_t number, const char *name)
{
	struct record record = { .type = EVENT, .pid = 42, .number = number, .name = 16 };

	snprintf(record.text, sizeof(record.text), "%s", name);
	record.name |= (uint32_t)(strlen(record.text) + 1) << 16;
	return record;
}

static void run(const struct hook_bound *bound, int32_t number, const char *name)
{
	struct record record = record_of(number, name);
	struct hook_host host = host_now();

	hook_before(&host, bound, &record, sizeof(record));
	note("| ");
	hook_after(&host, bound, &record, sizeof(record));
	CHECK(!staged, "a stage was kept");
}

/* Memory that was used again since the run began: nothing is done about it, and the host is told so. */
static void check_used_again(const struct hook_bound *bound)
{
	struct hook_host host = host_now();
	struct record record = record_of(1, "x");

	notes[0] = '\0';
	place = 2;
	CHECK(!hook_before(&host, bound, &record, sizeof(record)) && !hook_after(&host, bound, &record, sizeof(record)),
	      "it is said to be done");
	CHECK(!notes[0], "'%s' was done all the same", notes);
	place = 1;
	CHECK(hook_before(&host, bound, &record, sizeof(record)) && hook_after(&host, bound, &record, sizeof(record)),
	      "it is said not to be done");
}

static bool passes(const struct hook_bound *bound, int32_t number)
{
	struct record record = record_of(number, "x");
	struct hook_host host = host_now();

	return hook_passes(&host, bound, &record, sizeof(record));
}

static struct table_shape shape_of(uint32_t key_size, uint32_t nvals, uint32_t ntracks, uint32_t nsaves)
{
	uint32_t at = 8 + 8 * nvals + 16 * ntracks + 64 * nsaves;

	return (struct table_shape){
		.parts = 1, .slots = 64, .elements = 32, .element_size = at + key_size, .nvals = nvals, .ntracks = ntracks,
		.nsaves = nsaves, .key_at = at, .key_size = key_size,
	};
}

static uint64_t *row_of(const struct table_shape *shape, const void *key, uint32_t size)
{
	unsigned char bytes[512] = { 0 };

	memcpy(bytes, key, size);
	return hist_find(&tables, TABLES_DATA_OFFSET, shape, 0, bytes, shape->key_size);
}

/* ---- Tests ---- */

static void filters(void)
{
	struct hook_bound bound, none;

	fresh();
	bound = bind(compare('>', 10), NULL, 0);
	none = bind(0, NULL, 0);
	CHECK(passes(&bound, 11) && !passes(&bound, 10) && !passes(&bound, -1), "number > 10");
	CHECK(passes(&none, 0), "no filter");
	/* What is no program, or of another event's fields: nothing passes. */
	bound = bind(16, NULL, 0);
	CHECK(bound.filter == UINT32_MAX && !passes(&bound, 11), "garbage");
}

static void order(void)
{
	const struct hook_act acts[] = {
		{ .kind = HOOK_STACKTRACE }, { .kind = HOOK_SNAPSHOT },
		{ .kind = HOOK_STACKTRACE, .cond = 0 }, { .kind = HOOK_SNAPSHOT, .flags = HOOK_ACT_COUNTED, .count = 5 },
	};
	struct hook_bound bound;

	fresh();
	words[5] = 1;
	bound = bind(0, acts, 4);
	run(&bound, 1, "x");
	run(&bound, 1, "x");
	CHECK(!strcmp(notes, "snapshot snapshot | stack stack snapshot | stack stack "), "%s", notes);
	CHECK(!words[5], "counted down");
	check_used_again(&bound);
}

static void switches(void)
{
	struct hook_act act = { .kind = HOOK_TRACEOFF, .flags = HOOK_ACT_COUNTED, .count = 5, .target = 6 };
	struct hook_bound off, on, bad;

	fresh();
	words[5] = 2;
	off = bind(0, &act, 1);
	act = (struct hook_act){ .kind = HOOK_TRACEON, .target = 6 };
	act.cond = compare('=' << 8 | '=', 7);
	on = bind(0, &act, 1);
	act = (struct hook_act){ .kind = HOOK_TRACEOFF, .target = TABLE_WORDS };
	bad = bind(0, &act, 1);
	run(&off, 1, "x");
	CHECK(words[6] == 1 && words[5] == 1, "off: %llu, %llu left", (unsigned long long)words[6],
	      (unsigned long long)words[5]);
	run(&off, 1, "x");
	CHECK(words[5] == 1, "it changed nothing");
	run(&on, 6, "x");
	CHECK(words[6] == 1, "not if");
	run(&on, 7, "x");
	CHECK(!words[6], "on");
	run(&off, 1, "x");
	run(&on, 7, "x");
	run(&off, 1, "x");
	CHECK(!words[6] && !words[5], "used up");
	run(&bad, 1, "x");
}

static void counting(void)
{
	struct table_shape shape = shape_of(24 + 16, 1, 0, 0);
	struct program_build *build = program_build_new();
	uint32_t number = program_build_field(build, "number", PROGRAM_INT);
	struct hook_key keys[] = {
		{ .root = program_build_field(build, "name", PROGRAM_TEXT), .at = 0, .size = 16, .form = HOOK_TEXT },
		{ .root = program_build_field(build, "common_pid", PROGRAM_INT), .at = 16, .size = 8, .with_comm = 1 },
	};
	struct hook_hist hist = { .table = TABLES_DATA_OFFSET, .shape = shape, .nkeys = 2, .nvals = 1, .pause = 9 };
	struct hook_act act = { .kind = HOOK_HIST };
	struct { char name[16]; uint64_t pid; } key = { "ann", 42 };
	struct hook_bound bound;
	uint64_t *row;

	fresh();
	hist.program = finish(build);
	hist.keys = put(keys, sizeof(keys));
	hist.vals = put(&number, sizeof(number));
	act.hist = put(&hist, sizeof(hist));
	bound = bind(0, &act, 1);
	CHECK(bound.sound == 1, "bound");
	place = 2;
	run(&bound, 5, "ann");
	place = 1;
	run(&bound, 5, "ann");
	run(&bound, -2, "ann");
	run(&bound, 1, "bob");
	words[9] = 1;
	run(&bound, 100, "ann");
	shape.key_size = 24;	/* as much of it is compared */
	row = row_of(&shape, &key, sizeof(key));
	CHECK(row[0] == 2 && row[1] == 3, "%llu hits, sum %llu", (unsigned long long)row[0], (unsigned long long)row[1]);
	CHECK(!strcmp((char *)row + 16 + 24, "tester"), "the task's name");
}

static struct hook_bound hang_start(uint64_t cells)
{
	struct table_shape shape = shape_of(8, 0, 0, 0);
	struct program_build *build = program_build_new();
	struct hook_key key = { .root = program_build_field(build, "number", PROGRAM_INT), .size = 8 };
	struct hook_var vars[] = {
		{ .cells = cells, .ncells = CELLS, .root = program_build_moment(build, PROGRAM_TIME), .seed = 11 },
		{ .cells = cells + table_cells_size(CELLS, 0), .ncells = CELLS, .form = HOOK_TEXT, .seed = 12,
		  .root = program_build_field(build, "name", PROGRAM_TEXT) },
	};
	struct hook_hist hist = { .table = TABLES_DATA_OFFSET, .shape = shape, .nkeys = 1, .nvars = 2 };
	struct hook_act act = { .kind = HOOK_HIST };

	hist.program = finish(build);
	hist.keys = put(&key, sizeof(key));
	hist.vars = put(vars, sizeof(vars));
	act.hist = put(&hist, sizeof(hist));
	return bind(0, &act, 1);
}

/* lat = now - $start; onmatch: an event of it and of the name; onmax: saved, with the name of the end's event. */
static struct hook_bound hang_end(uint64_t cells, uint64_t table, struct table_shape *shape)
{
	struct program_build *build = program_build_new();
	uint32_t lat = program_build_math(build, '-', false, program_build_moment(build, PROGRAM_TIME),
					  program_build_var(build, 0, PROGRAM_INT));
	uint32_t own = program_build_var(build, 2, PROGRAM_INT);
	struct hook_key key = { .root = program_build_field(build, "number", PROGRAM_INT), .size = 8 };
	struct hook_var var = { .cells = cells + 4 * table_cells_size(CELLS, 1), .ncells = CELLS, .root = lat, .seed = 13 };
	struct hook_var refs[] = {
		{ .cells = cells, .ncells = CELLS, .once = 1, .seed = 11 },
		{ .cells = cells + table_cells_size(CELLS, 0), .ncells = CELLS, .form = HOOK_TEXT, .once = 1, .seed = 12 },
		{ .own = 1, .number = 0 },
	};
	struct hook_field out[] = {
		{ .offset = 8, .size = 8, .form = HOOK_FIELD_NUMBER, .root = own },
		{ .offset = 16, .size = 4, .form = HOOK_FIELD_DYN_TEXT, .root = program_build_var(build, 1, PROGRAM_TEXT) },
		{ .offset = 20, .size = 8, .form = HOOK_FIELD_TEXT,
		  .root = program_build_peek_text(build, program_build_num(build, 0x6000), 0) },
		{ .offset = 28, .size = 4, .form = HOOK_FIELD_DYN_TEXT,
		  .root = program_build_peek_text(build, program_build_num(build, 0x5000), 0) },
	};
	struct hook_emit emits = { .event = SYNTH, .nfields = 4, .fixed = 32 };
	uint32_t saves = program_build_field(build, "name", PROGRAM_TEXT) | HOOK_TEXT << 24;
	struct hook_action actions[2] = {
		{ .handler = HOOK_ONMATCH, .doing = HOOK_DO_TRACE },
		{ .handler = HOOK_ONMAX, .doing = HOOK_DO_SAVE, .value = own, .nsaves = 1 },
	};
	struct hook_hist hist = { .table = table, .nkeys = 1, .nvars = 1, .nrefs = 3, .nactions = 2 };
	struct hook_act act = { .kind = HOOK_HIST };

	*shape = hist.shape = shape_of(8, 0, 1, 1);
	hist.program = finish(build);
	hist.keys = put(&key, sizeof(key));
	hist.vars = put(&var, sizeof(var));
	hist.refs = put(refs, sizeof(refs));
	emits.fields = put(out, sizeof(out));
	actions[0].emit = put(&emits, sizeof(emits));
	actions[1].saves = put(&saves, sizeof(saves));
	hist.actions = put(actions, sizeof(actions));
	act.hist = put(&hist, sizeof(hist));
	return bind(0, &act, 1);
}

static void check_made(uint64_t lat, const char *name)
{
	uint64_t value;
	uint32_t loc;

	memcpy(&value, made + 8, 8);
	CHECK(value == lat, "lat=%llu", (unsigned long long)value);
	memcpy(&loc, made + 16, 4);
	CHECK(!strcmp((char *)made + (loc & 0xffff), name) && loc >> 16 == strlen(name) + 1, "name");
	CHECK(!strcmp((char *)made + 20, "(fault)"), "memory that cannot be read");
	memcpy(&loc, made + 28, 4);
	CHECK(!strcmp((char *)made + (loc & 0xffff), "peeked"), "memory that can");
}

static void latency(void)
{
	uint64_t cells = TABLES_DATA_OFFSET + (256 << 10), table = TABLES_DATA_OFFSET + (128 << 10), key = 7, *row;
	struct hook_bound start, end;
	struct table_shape shape;
	struct table_track track;

	fresh();
	start = hang_start(cells);
	end = hang_end(cells, table, &shape);
	CHECK(start.sound == 1 && end.sound == 1, "bound");
	run(&end, 7, "nobody");
	CHECK(!made_count, "nothing was started");
	time_now = 1000;
	run(&start, 7, "ann");
	time_now = 1500;
	run(&end, 8, "other");
	CHECK(!made_count, "another key");
	run(&end, 7, "first");
	CHECK(made_count == 1, "%u events", made_count);
	check_made(500, "ann");
	run(&end, 7, "again");
	CHECK(made_count == 1, "a value is taken once");
	run(&start, 7, "bob");
	time_now = 1600;
	run(&end, 7, "second");
	CHECK(made_count == 2, "%u events", made_count);
	check_made(100, "bob");
	row = hist_find(&tables, table, &shape, 0, &key, 8);
	/* Those that found nothing are no rows. */
	CHECK(row[0] == 2, "%llu hits", (unsigned long long)row[0]);
	memcpy(&track, row + 1, sizeof(track));
	CHECK(track.value == 500 && track.is_set && !(track.seq & 1), "max %llu", (unsigned long long)track.value);
	CHECK(!strcmp((char *)(row + 3) + 8, "first"), "saved with the largest");
}

/* The place is used again: nothing is done any more. */
static void gone(void)
{
	uint64_t cells = TABLES_DATA_OFFSET + (256 << 10);
	struct hook_act act = { .kind = HOOK_STACKTRACE };
	struct hook_bound start, stack_too;

	fresh();
	start = hang_start(cells);
	stack_too = bind(0, &act, 1);
	place = 2;
	run(&start, 7, "ann");
	run(&stack_too, 7, "ann");
	CHECK(!strcmp(notes, "| | "), "%s", notes);
	for (uint64_t i = TABLES_DATA_OFFSET; i < tables.size; i++)
		CHECK(!tables.base[i], "a byte of a table at %llu", (unsigned long long)i);
}

/* Any bytes of code, fields and bound hooks, changed after they were bound: it ends, and stays within what it was given. */
static void changed(void)
{
	uint64_t cells = TABLES_DATA_OFFSET + (256 << 10), table = TABLES_DATA_OFFSET + (128 << 10);
	uint64_t dice = 88172645463325252ull;
	struct table_shape shape;

	for (int round = 0; round < 500; round++) {
		struct hook_bound bound[2];
		/* Of its own, so that a tool finds whoever reads behind it. */
		char *copy;
		struct buf whole;

		fresh();
		bound[0] = hang_start(cells);
		bound[1] = hang_end(cells, table, &shape);
		copy = malloc(code.len);
		memcpy(copy, code.data, code.len);
		whole = code;
		code.data = copy;
		/* What is read is of another place from now on. */
		place = 2;
		for (int i = 0; i < 8; i++) {
			dice ^= dice << 13;
			dice ^= dice >> 7;
			dice ^= dice << 17;
			if (i % 4 == 3)
				((unsigned char *)&bound[dice % 2])[dice / 2 % sizeof(bound[0])] = (unsigned char)(dice >> 40);
			else
				copy[dice % code.len] = (char)(dice >> 40);
		}
		run(&bound[0], 7, "ann");
		run(&bound[1], 7, "bob");
		passes(&bound[round % 2], round);
		free(copy);
		code = whole;
	}
}

int main(void)
{
	tables.size = TABLES_DATA_OFFSET + (1 << 20);
	tables.base = mmap(NULL, (size_t)tables.size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(tables.base != MAP_FAILED, "mmap");
	words = ((struct tables_head *)(void *)tables.base)->words;
	filters();
	order();
	switches();
	counting();
	latency();
	gone();
	changed();
	buf_fini(&code);
	return 0;
}
