/*
 * Probes in code, lowered: where they are, what is known of them, and that both ways to their record tell the same: the copies of
 * registers, and the program that looks at a struct probe_hit as if it were a record. What cannot be is refused with words.
 */
#include "insist.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layout/probe.h"
#include "program/program.h"
#include "trigger/lower.h"

static int places(void *arg, const char *module, const char *name)
{
	(void)arg;
	return module ? -ENOENT : !strcmp(name, "f");
}

static const char *prototype(void *arg, const char *module, const char *name)
{
	(void)arg, (void)module, (void)name;
	return "i4(i4@0 item,f8 price,p@1 who,s24 all,u1@2)";
}

static const struct decode_format *no_event(void *arg, const char *system, const char *name)
{
	(void)arg, (void)system, (void)name;
	return NULL;
}

static bool a_symbol(void *arg, const char *name, uint64_t *start, uint64_t *end)
{
	(void)arg, (void)name;
	*start = *end = 1;
	return true;
}

static const struct spec_world world = { .event = no_event, .places = places, .prototype = prototype, .function = a_symbol };

struct lowered {
	struct spec_probe *probe;
	struct buf probes, code;
	struct state_probe point;
	struct spec_error error;
};

static int lower_line(struct lowered *lowered, const char *line, bool is_old)
{
	struct state_item item = {
		.kind = STATE_ITEM_PROBE, .serial = 7, .event_id = 0x4007, .table = 8192, .table_size = 4096,
		.system = "kprobes", .event = "x",
	};
	struct lower_item one = { .item = &item, .text = line, .is_old = is_old };
	struct buf hooks = BUF_INIT;
	int r;

	*lowered = (struct lowered){ .probes = BUF_INIT, .code = BUF_INIT, .error = SPEC_ERROR_INIT };
	r = spec_probe_parse(&lowered->probe, &world, 'd', line, strlen(line), &lowered->error);
	CHECK(!r, "%s: %s", line, lowered->error.text);
	one.probe = lowered->probe;
	r = lower(&one, 1, &world, 1, &hooks, &lowered->probes, &lowered->code, &lowered->error);
	CHECK(!hooks.len, "%s: hangs on an event", line);
	buf_fini(&hooks);
	if (lowered->probes.len)
		memcpy(&lowered->point, lowered->probes.data, sizeof(lowered->point));
	return r;
}

static void drop(struct lowered *lowered)
{
	spec_probe_free(lowered->probe);
	buf_fini(&lowered->probes);
	buf_fini(&lowered->code);
	spec_error_fini(&lowered->error);
}

static const void *at(const struct lowered *lowered, uint32_t offset, size_t size)
{
	CHECK(offset && offset % 8 == 0 && offset + size <= lowered->code.len, "%u is outside", offset);
	return lowered->code.data + offset;
}

static uint32_t peek(void *to, uint64_t address, uint32_t len, bool text)
{
	(void)text;
	memcpy(to, (const void *)(uintptr_t)address, len);
	return len;
}

/* What its program makes of a hit; of numbers only. */
static void by_program(const struct lowered *lowered, const struct probe_hit *hit, unsigned char *record)
{
	static const char body[] = PROBE_HIT_FORMAT;
	const struct hook_emit *emit = at(lowered, lowered->point.emit, sizeof(*emit));
	const struct hook_field *fields = at(lowered, emit->fields, emit->nfields * sizeof(*fields));
	const void *program = at(lowered, emit->program, 8);
	const uint32_t size = program_size(program, lowered->code.len - emit->program);
	struct program_field places_of[PROGRAM_FIELDS_MAX];
	struct program_input in;

	CHECK(size && program_verify(program, size), "no program");
	CHECK(program_link(program, size, body, sizeof(body) - 1, places_of) >= 0, "it asks for what a hit does not have");
	program_input_open(&in, hit, sizeof(*hit), places_of);
	in.peek = peek;
	for (uint32_t i = 0; i < emit->nfields; i++) {
		const uint64_t value = program_number(program, size, fields[i].root, &in);

		CHECK(fields[i].offset + fields[i].size <= emit->fixed, "field %u is outside", i);
		memcpy(record + fields[i].offset, &value, fields[i].size);
	}
}

static void by_copies(const struct lowered *lowered, const struct probe_hit *hit, unsigned char *record)
{
	const struct probe_copy *copy = at(lowered, lowered->point.quick, lowered->point.nquick * sizeof(*copy));

	for (uint32_t i = 0; i < lowered->point.nquick; i++, copy++) {
		CHECK(copy->to + copy->size <= lowered->point.size && copy->from + copy->size <= sizeof(*hit), "copy %u", i);
		memcpy(record + copy->to, copy->is_number ? (const void *)&copy->number : (const char *)hit + copy->from, copy->size);
	}
}

/* Every register has a value of its own. */
static struct probe_hit some_hit(void)
{
	struct probe_hit hit;
	uint64_t *words = (uint64_t *)(void *)&hit;

	for (size_t i = 0; i < sizeof(hit) / 8; i++)
		words[i] = 0x8182838485868700ull + i * 0x0101010101010101ull;
	return hit;
}

static uint64_t word_at(const unsigned char *record, uint32_t offset)
{
	uint64_t value;

	memcpy(&value, record + offset, sizeof(value));
	return value;
}

static void quick(const char *line, uint32_t flags, uint32_t n, uint32_t size)
{
	unsigned char copied[256] = { 0 }, made[256] = { 0 };
	struct probe_hit hit = some_hit();
	struct lowered lowered;

	CHECK(!lower_line(&lowered, line, false), "%s: %s", line, lowered.error.text);
	CHECK(lowered.point.flags == (flags | PROBE_QUICK), "%s: flags %x", line, lowered.point.flags);
	CHECK(lowered.point.nquick == n && lowered.point.size == size, "%s: %u copies, %u bytes", line, lowered.point.nquick,
	      lowered.point.size);
	CHECK(lowered.point.event == 0x4007 && lowered.point.serial == 7 && lowered.point.counts == 8192, "%s: whose it is", line);
	by_copies(&lowered, &hit, copied);
	by_program(&lowered, &hit, made);
	CHECK(!memcmp(copied, made, sizeof(made)), "%s: both ways differ", line);
	CHECK(word_at(made, 8) == hit.ip, "%s: the address", line);
	drop(&lowered);
}

static void copies(void)
{
	quick("p:x f", 0, 1, 16);
	quick("p:x f a=%ax b=%r15:u32 c=%di:s16 d=%sp:x8 e=%flags", 0, 6, 40);
	quick("p:x f a=\\5 b=\\-1:s8 c=%ip d=$stack", 0, 5, 44);
	quick("r:x f $retval a=%bx", PROBE_RETURNS, 4, 36);
	quick("r:x f a=$arg1 who", PROBE_RETURNS | PROBE_SAVES, 4, 40);
	quick("f:x f item who", 0, 3, 28);
	quick("f:x f%return r=$retval:u8", PROBE_RETURNS, 3, 28);
	quick("p:x /bin/sh:0x10 a=%cx", PROBE_RAW, 2, 24);
}

/* Where parameters are is what the prototype says: real numbers and structures have no register for arguments. */
static void parameters(void)
{
	static const uint64_t text = 0x6f656c6c6f;
	const uint64_t stack[] = { (uintptr_t)&text, 99 };
	struct probe_hit hit = some_hit();
	unsigned char record[256] = { 0 };
	struct spec_error error = SPEC_ERROR_INIT;
	struct spec_probe *probe;
	struct lowered lowered;

	hit.si = (uintptr_t)&text;
	hit.sp = (uintptr_t)stack;
	CHECK(!lower_line(&lowered, "p:x f item who t=+0(who):u32 b=+0(who):b4@4/8 c=+0(+0($stack)):x16 d=$stack1", false), "%s",
	      lowered.error.text);
	CHECK(!(lowered.point.flags & PROBE_QUICK), "memory is no register");
	by_program(&lowered, &hit, record);
	CHECK((uint32_t)word_at(record, 16) == (uint32_t)hit.di && word_at(record, 20) == hit.si, "parameters");
	CHECK((uint32_t)word_at(record, 28) == (uint32_t)text && (uint8_t)word_at(record, 32) == 6, "what they point to");
	CHECK((uint16_t)word_at(record, 33) == (uint16_t)text && word_at(record, 35) == 99, "the stack");
	drop(&lowered);
	CHECK(spec_probe_parse(&probe, &world, 'd', "p:x f price", 11, &error) == -EOPNOTSUPP && error.text[0], "a real number");
	CHECK(spec_probe_parse(&probe, &world, 'd', "p:x f a=$arg4", 13, &error) == -EOPNOTSUPP && error.text[0], "a structure");
	CHECK(!spec_probe_parse(&probe, &world, 'd', "p:x f a=$arg5 b=$arg7", 21, &error), "%s", error.text);
	CHECK(!strcmp(probe->args[0].fetch->name, "dx") && probe->args[1].fetch->what == FETCH_PEEK &&
	      probe->args[1].fetch->offset == 8, "the third register, the first on the stack");
	spec_probe_free(probe);
	CHECK(spec_probe_parse(&probe, &world, 'd', "r:x f a=$arg7", 13, &error) == -EINVAL && error.text[0], "gone when it returns");
	spec_error_fini(&error);
}

static void places_in_files(void)
{
	unsigned char record[256] = { 0 };
	struct probe_hit hit = some_hit();
	struct lowered lowered;
	uint64_t there = 77;

	CHECK(!lower_line(&lowered, "p:x m.so:g+4", false), "%s", lowered.error.text);
	CHECK(!strcmp(at(&lowered, lowered.point.file, 5), "m.so") && !strcmp(at(&lowered, lowered.point.symbol, 2), "g") &&
	      lowered.point.offset == 4, "a function of a file that is to come");
	drop(&lowered);
	/* @+OFFSET is as far from the instruction as in the file. */
	CHECK(!lower_line(&lowered, "p:x /bin/sh:0x20(0x100) a=@+0x30", false), "%s", lowered.error.text);
	CHECK(!strcmp(at(&lowered, lowered.point.file, 8), "/bin/sh") && !lowered.point.symbol && lowered.point.offset == 0x20 &&
	      lowered.point.semaphore == 0x100, "an offset in a file");
	hit.ip = (uintptr_t)&there - 0x10;
	by_program(&lowered, &hit, record);
	CHECK(word_at(record, 16) == 77, "what lies in the file's memory");
	drop(&lowered);
}

static void refuse(const char *line)
{
	struct lowered lowered;
	int r = lower_line(&lowered, line, false);

	CHECK(r == -EOPNOTSUPP && lowered.error.message && !lowered.probes.len, "%s: %d, '%s'", line, r, lowered.error.text);
	drop(&lowered);
	/* What was taken once costs nobody else's. */
	r = lower_line(&lowered, line, true);
	CHECK(!r && !lowered.probes.len, "%s: %d", line, r);
	drop(&lowered);
}

int main(void)
{
	copies();
	parameters();
	places_in_files();
	refuse("p:x f a=%di:symstr");
	refuse("p:x 0x1000");
	refuse("p:x f a=+0(%di):u8[64] b=+0(%di):u8[64] c=+0(%di):u8[64] d=+0(%di):u8[64] e=+0(%di):u8[64] f=+0(%di):u8[64] "
	       "g=+0(%di):u8[64] h=+0(%di):u8[64]");
	return 0;
}
