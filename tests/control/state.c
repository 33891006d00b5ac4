/*
 * The published state: what goes in comes out, the state before stays whole, and no bytes in the
 * control file make a reader do anything but refuse.
 */
#include "control/room.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/crc32c.h"
#include "control/rules.h"

extern const int ringside_no_attach;
const int ringside_no_attach = 1;

static void check_default(void)
{
	struct control *control = room_open();
	struct err err = ERR_INIT;
	const struct state_buffer *top = &control->state.buffers[0];

	CHECK(!control_refresh(control, &err), "%s", err.text);
	CHECK(control->state.published == 0 && control->state.nbuffers == 1, "not fresh");
	CHECK(top->flags == BUFFER_DEFAULT && top->page_size == 4096, "flags %x",
	      top->flags);
	CHECK(top->npages == (1408 * 1024 + 4079) / 4080, "%u pages", top->npages);
	CHECK(!control->state.nrules && !top->live.offset, "something is on");
	control_close(control);
}

/* Publishes states of all sizes; a second handle reads each and finds the same. */
static void check_round(void)
{
	struct control *writer = room_open(), *reader = room_open();
	struct err err = ERR_INIT;
	char name[64];

	for (uint32_t n = 0; n < 300; n++) {
		room_begin(writer);
		control_rules_clear(&writer->state, 0);
		for (uint32_t i = 0; i < n * 7 % 1500; i++) {
			struct state_rule *rule = control_state_rule_add(&writer->state);

			CHECK(rule, "no room for rule %u", i);
			rule->on = 1;
			snprintf(name, sizeof(name), "s%u", i);
			strcpy(rule->system, name);
			snprintf(name, sizeof(name), "e%u", n);
			strcpy(rule->event, name);
		}
		CHECK(!control_state_publish(&writer->state, &writer->dir, &err), "%s", err.text);
		control_cancel(writer);
		CHECK(control_state_generation(&writer->state) == n + 1, "generation");
		CHECK(!control_refresh(reader, &err), "%s", err.text);
		CHECK(reader->state.published == writer->state.published, "published");
		CHECK(reader->state.nrules == writer->state.nrules, "%u rules", reader->state.nrules);
		CHECK(!reader->state.nrules ||
		      !memcmp(reader->state.rules, writer->state.rules,
			      reader->state.nrules * sizeof(struct state_rule)), "rules differ");
	}
	room_begin(writer);
	control_rules_clear(&writer->state, 0);
	while (control_state_rule_add(&writer->state))
		strcpy(writer->state.rules[writer->state.nrules - 1].system, "x");
	CHECK(control_state_publish(&writer->state, &writer->dir, &err) == -ENOSPC && err.text[0],
	      "a state without end was published");
	control_cancel(writer);
	CHECK(control_state_current(&reader->state, &reader->dir), "a refusal changed something");
	control_close(writer);
	control_close(reader);
}

/* Lines about functions, with and without a module, as many as there can be; tracers and their numbers. */
static void check_functions(void)
{
	struct control *writer = room_open(), *reader = room_open();
	const struct control_func *line;
	struct state_buffer *top;
	struct err err = ERR_INIT;
	char name[64];

	room_begin(writer);
	control_state_default(&writer->state);
	top = &writer->state.buffers[0];
	CHECK(top->tracer == TRACER_NOP && top->tracer_flags == TRACER_FLAGS_DEFAULT, "a new buffer traces");
	for (uint32_t i = 0; i < STATE_FUNCS_MAX; i++) {
		struct control_func *func;

		snprintf(name, sizeof(name), "f%u", i);
		func = control_state_func_add(&writer->state, name, i % 2 ? "m" : NULL, i % 3 ? name : "");
		CHECK(func, "no room for line %u", i);
		func->func.kind = (uint8_t)(STATE_FUNC_ONLY + i % 4);
		func->func.flags = i % 5 ? 0 : STATE_FUNC_OUT;
	}
	CHECK(!control_state_func_add(&writer->state, "f", NULL, "f"), "there is no end to them");
	control_state_func_remove(&writer->state, 0);
	line = control_state_func_add(&writer->state, "act", NULL, "act:traceoff");
	writer->state.funcs[STATE_FUNCS_MAX - 1].func = (struct state_func){
		.kind = STATE_FUNC_ACT, .act = STATE_FUNC_STORE, .count = 3, .target = 5, .value = 1,
	};
	top->tracer = TRACER_GRAPH;
	top->graph_depth = 7;
	top->thresh = 1000;
	top->profile = 1;
	CHECK(line && !control_state_pid_add(&writer->state, 0, STATE_PID_FUNC_NOT, 12), "no room");
	CHECK(!control_state_publish(&writer->state, &writer->dir, &err), "%s", err.text);
	control_cancel(writer);
	CHECK(!control_refresh(reader, &err), "%s", err.text);
	CHECK(reader->state.nfuncs == STATE_FUNCS_MAX, "%u lines", reader->state.nfuncs);
	top = &reader->state.buffers[0];
	CHECK(top->tracer == TRACER_GRAPH && top->graph_depth == 7 && top->thresh == 1000 && top->profile, "the tracer");
	CHECK(reader->state.npids == 1 && reader->state.pids[0].kind == STATE_PID_FUNC_NOT, "threads");
	for (uint32_t i = 0; i < STATE_FUNCS_MAX - 1; i++) {
		line = &reader->state.funcs[i];
		snprintf(name, sizeof(name), "f%u", i + 1);
		CHECK(!strcmp(line->name, name) && !line->module == !((i + 1) % 2) &&
		      (!line->module || !strcmp(line->module, "m")), "line %u is of %s", i, line->name);
		CHECK(!strcmp(line->text, (i + 1) % 3 ? name : ""), "line %u has the text '%s'", i, line->text);
		CHECK(line->func.kind == STATE_FUNC_ONLY + (i + 1) % 4 && !line->func.flags == !!((i + 1) % 5), "line %u", i);
	}
	line = &reader->state.funcs[STATE_FUNCS_MAX - 1];
	CHECK(line->func.act == STATE_FUNC_STORE && line->func.count == 3 && line->func.target == 5 && line->func.value == 1,
	      "act");
	room_begin(writer);
	control_state_funcs_clear(&writer->state, 0, STATE_FUNC_ONLY);
	for (uint32_t i = 0; i < writer->state.nfuncs; i++)
		CHECK(writer->state.funcs[i].func.kind != STATE_FUNC_ONLY, "one of the kind is left");
	CHECK(writer->state.nfuncs == STATE_FUNCS_MAX - STATE_FUNCS_MAX / 4 + 1, "%u are left", writer->state.nfuncs);
	control_state_funcs_clear(&writer->state, 0, 0);
	CHECK(!writer->state.nfuncs, "some are left");
	control_state_default(&writer->state);
	CHECK(!control_state_publish(&writer->state, &writer->dir, &err), "%s", err.text);
	control_cancel(writer);
	control_close(writer);
	control_close(reader);
}

/* The generation runs over; place and meaning stay. */
static void check_wrap(void)
{
	struct control *control = room_open();
	struct err err = ERR_INIT;

	room_begin(control);
	control->state.published |= ~0ull << CONTROL_PLACE_BITS;
	CHECK(!control_state_publish(&control->state, &control->dir, &err), "%s", err.text);
	CHECK(control_state_generation(&control->state) == 0, "generation does not wrap");
	control_cancel(control);
	CHECK(!control_refresh(control, &err), "%s", err.text);
	CHECK(control->state.published != 0, "0 means: nothing published");
	control_close(control);
}

/* One state on file, with rules and limbo, as bytes to play with. */
static size_t sample(struct control *control, char **bytes, uint64_t *place)
{
	struct err err = ERR_INIT;
	struct state_head head;

	room_begin(control);
	control_rules_clear(&control->state, 0);
	CHECK(!control_rules_set(&control->state, 0, "shop", "order*", true, &err), "%s", err.text);
	control_state_funcs_clear(&control->state, 0, 0);
	CHECK(control_state_func_add(&control->state, "open*", "libc*", "open*:mod:libc*"), "no room");
	control->state.funcs[0].func.kind = STATE_FUNC_ONLY;
	CHECK(control_state_func_add(&control->state, "close", NULL, "close:stacktrace"), "no room");
	control->state.funcs[1].func.kind = STATE_FUNC_ACT;
	control->state.funcs[1].func.act = STATE_FUNC_STACK;
	control->state.nlimbo = 1;
	control->state.limbo[0] = (struct state_limbo){
		.offset = rings_data_offset(control->dir.ncpu), .size = 8192,
	};
	CHECK(!control_state_publish(&control->state, &control->dir, &err), "%s", err.text);
	control_cancel(control);
	*place = control->state.place;
	CHECK(pread(control->dir.fd[SEGMENT_CONTROL], &head, sizeof(head), (off_t)*place) ==
	      (ssize_t)sizeof(head), "pread");
	*bytes = malloc(head.size);
	CHECK(*bytes && pread(control->dir.fd[SEGMENT_CONTROL], *bytes, head.size,
			      (off_t)*place) == (ssize_t)head.size, "pread");
	return head.size;
}

static void put(struct control *control, const char *bytes, size_t size, uint64_t place)
{
	CHECK(pwrite(control->dir.fd[SEGMENT_CONTROL], bytes, size, (off_t)place) == (ssize_t)size,
	      "pwrite");
}

/* Any byte wrong: refused, with words, and the state in memory is a usable one. */
static void check_flips(struct control *control, char *bytes, size_t size, uint64_t place)
{
	for (size_t i = 0; i < size; i++) {
		struct err err = ERR_INIT;

		bytes[i] ^= 0x10;
		put(control, bytes, size, place);
		CHECK(control_refresh(control, &err) == -EUCLEAN, "byte %zu: not refused", i);
		CHECK(strstr(err.text, "control"), "'%s' names no file", err.text);
		CHECK(control->state.nbuffers == 1, "byte %zu: half a state", i);
		bytes[i] ^= 0x10;
	}
	put(control, bytes, size, place);
}

/*
 * Many bytes wrong but the checksum right. Whatever is accepted must hold to the limits that the
 * rest of the room relies on.
 */
static void check_forged(struct control *control, const char *bytes, size_t size, uint64_t place)
{
	uint32_t seed = 7, accepted = 0;
	char *copy = malloc(size);

	CHECK(copy, "memory");
	for (int n = 0; n < 20000; n++) {
		struct state_head head;
		struct err err = ERR_INIT;
		uint32_t changes = 1 + room_random(&seed) % 4;
		int r;

		memcpy(copy, bytes, size);
		while (changes--) {
			uint32_t at = 16 + room_random(&seed) % (uint32_t)(size - 16);

			copy[at] = (char)(room_random(&seed) % 3 ? room_random(&seed) : 255);
		}
		memcpy(&head, copy, sizeof(head));
		head.size = (uint32_t)size;
		head.crc = 0;
		memcpy(copy, &head, sizeof(head));
		head.crc = crc32c(0, copy, size);
		memcpy(copy, &head, sizeof(head));
		put(control, copy, size, place);
		r = control_refresh(control, &err);
		CHECK(!r || r == -EUCLEAN, "%d %s", r, err.text);
		if (r)
			continue;
		accepted++;
		CHECK(control->state.nbuffers >= 1 && control->state.nbuffers <= STATE_BUFFERS_MAX,
		      "buffers");
		for (uint32_t i = 0; i < control->state.nrules; i++)
			CHECK(strnlen(control->state.rules[i].system, 60) < 60 &&
			      strnlen(control->state.rules[i].event, 64) < 64 &&
			      control->state.rules[i].buffer < control->state.nbuffers, "rule");
		for (uint32_t i = 0; i < control->state.nfuncs; i++)
			CHECK(control->state.funcs[i].name && control->state.funcs[i].text &&
			      control->state.funcs[i].func.buffer < control->state.nbuffers &&
			      control->state.funcs[i].func.count < TABLE_WORDS, "function");
		CHECK(control->state.measure.profile < TABLES_SIZE_MAX && control->state.measure.deepest < TABLES_SIZE_MAX &&
		      control->state.measure.touched < TABLES_SIZE_MAX, "measure");
		for (uint32_t i = 0; i < control->state.nbuffers; i++)
			CHECK(control->state.buffers[i].nretired <= STATE_RETIRED_MAX &&
			      control_geometry_valid(control->state.buffers[i].npages,
						     control->state.buffers[i].page_size), "buffer");
	}
	CHECK(accepted > 100 && accepted < 19900, "%u accepted: the forger is no good", accepted);
	put(control, bytes, size, place);
	free(copy);
}

/* A table of that shape, as large as that says. */
static void put_profile(struct state_measure *measure, uint32_t parts, uint32_t elements)
{
	const struct table_shape shape = table_profile_shape(parts, elements);

	measure->profile = TABLES_DATA_OFFSET;
	measure->profile_size = table_size(&shape);
	measure->parts = parts;
	measure->elements = elements;
}

/* One thing wrong at a time, checksum right: refused. */
static void check_wrong(struct control *control, const char *bytes, size_t size, uint64_t place)
{
	struct state_head good;
	char *copy = malloc(size);

	CHECK(copy, "memory");
	memcpy(&good, bytes, sizeof(good));
	for (int n = 0; n < 43; n++) {
		struct state_head head = good;
		struct state_buffer *buffer = (void *)(copy + good.buffers);
		struct state_rule *rule = (void *)(copy + good.rules);
		struct state_limbo *limbo = (void *)(copy + good.limbo);
		struct state_func *func = (void *)(copy + good.funcs);
		struct state_measure *measure = (void *)(copy + good.measure);
		struct err err = ERR_INIT;

		memcpy(copy, bytes, size);
		switch (n) {
		case 0: memset(rule->system, 'x', sizeof(rule->system)); break;
		case 1: memset(rule->event, 'x', sizeof(rule->event)); break;
		case 2: memset(buffer->name, 'x', sizeof(buffer->name)); break;
		case 3: buffer->name[0] = 'x'; break;
		case 4: rule->buffer = 1; break;
		case 5: buffer->nretired = 1; break;
		case 6: buffer->nretired = STATE_RETIRED_MAX + 1; break;
		case 7: buffer->npages = 3; break;
		case 8: buffer->page_size = 4097; break;
		case 9: buffer->live.offset = 4096; break;
		case 10: limbo->size = 0; break;
		case 11: limbo->offset = ~0ull << 12; break;
		case 12: head.nbuffers = 0; break;
		case 13: head.rules = head.size; break;
		case 14: head.buffers = 3; break;
		case 15: head.nfuncs = STATE_FUNCS_MAX + 1; break;
		case 16: head.funcs = head.size; break;
		case 17: func->name = head.size; break;
		case 18: func->name = 0; break;
		case 19: func->module = head.size; break;
		case 20: func->text = head.size + 1; break;
		case 21: func->kind = 0; break;
		case 22: func->kind = STATE_FUNC_DEEP + 1; break;
		case 23: func->buffer = 1; break;
		case 24: func->flags = 2; break;
		case 25: func->count = 1; break;
		case 26: func[1].act = 0; break;
		case 27: func[1].act = STATE_FUNC_STORE; break;
		case 28: func[1].count = TABLE_WORDS; break;
		case 29: buffer->tracer = TRACERS; break;
		case 30: memset(copy + size - 8, 'x', 8); break;
		case 31: head.measure = head.size; break;
		case 32: head.measure = 4; break;
		case 33: measure->profile = TABLES_DATA_OFFSET; break;
		case 34: measure->profile_size = 4096; break;
		case 35: put_profile(measure, control->dir.ncpu - 1, 4096); break;
		case 36: put_profile(measure, SEGMENT_NCPU_MAX * 2, 1); break;
		case 37: put_profile(measure, 4096, 0); break;
		case 38: measure->deepest = TABLES_DATA_OFFSET; measure->deepest_size = 4096; break;
		case 39: measure->touched = TABLES_DATA_OFFSET; measure->touched_size = 4096; break;
		case 40: measure->touched = 4096; measure->touched_size = TABLE_TOUCHED_SIZE; break;
		case 41: measure->deepest = TABLES_SIZE_MAX; measure->deepest_size = TABLE_DEEPEST_SIZE; break;
		default: head.nrules = UINT32_MAX; break;
		}
		head.crc = 0;
		memcpy(copy, &head, sizeof(head));
		head.crc = crc32c(0, copy, size);
		memcpy(copy, &head, sizeof(head));
		put(control, copy, size, place);
		CHECK(control_refresh(control, &err) == -EUCLEAN, "wrong thing %d is accepted", n);
	}
	put(control, bytes, size, place);
	free(copy);
}

/* The published word may be anything. */
static void check_words(struct control *control)
{
	uint64_t good = control->state.published, word;
	uint32_t seed = 3;
	off_t at = offsetof(struct control_head, published);

	for (int n = 0; n < 2000; n++) {
		struct err err = ERR_INIT;

		word = (uint64_t)room_random(&seed) << 40 ^ (uint64_t)room_random(&seed) << 20 ^
		       room_random(&seed);
		if (n % 2)
			word = good ^ 1ull << n / 2 % 64;
		if (word == good || !word)
			continue;
		CHECK(pwrite(control->dir.fd[SEGMENT_CONTROL], &word, 8, at) == 8, "pwrite");
		CHECK(control_refresh(control, &err) == -EUCLEAN, "word %llx: not refused",
		      (unsigned long long)word);
	}
	CHECK(pwrite(control->dir.fd[SEGMENT_CONTROL], &good, 8, at) == 8, "pwrite");
}

/* A cut file is refused; reset makes the directory usable again. */
static void check_cut(struct control *control)
{
	struct err err = ERR_INIT;

	CHECK(!control_refresh(control, &err), "%s", err.text);
	CHECK(!ftruncate(control->dir.fd[SEGMENT_CONTROL], (off_t)control->state.place + 20), "cut");
	CHECK(control_refresh(control, &err) == -EUCLEAN, "a cut state is not refused");
	err = (struct err)ERR_INIT;
	CHECK(control_begin(control, &err) == -EUCLEAN && !control->locked, "begin");
	err = (struct err)ERR_INIT;
	CHECK(!control_reset(control, &err), "%s", err.text);
	CHECK(!control_refresh(control, &err), "%s", err.text);
	CHECK(!control->state.nrules && control->state.nbuffers == 1, "not reset");
}

int main(void)
{
	struct control *control;
	uint64_t place;
	char *bytes;
	size_t size;

	check_default();
	check_round();
	check_functions();
	check_wrap();
	control = room_open();
	size = sample(control, &bytes, &place);
	check_flips(control, bytes, size, place);
	check_forged(control, bytes, size, place);
	check_wrong(control, bytes, size, place);
	CHECK(!control_refresh(control, NULL), "the good state is refused");
	check_words(control);
	check_cut(control);
	control_close(control);
	free(bytes);
	return 0;
}
