/*
 * runtime/unwind: see unwind.h.
 *
 *   pc --rules kept--> rule                             the same few places come again and again
 *      --table (.eh_frame_hdr), by bisection--> FDE --> CIE's program, FDE's program up to pc --> row --> rule
 *
 * A rule is what nearly all rows come down to: the caller's stack pointer (CFA) is so far from the stack or frame pointer,
 * frame pointer and return address were saved so far from there. It fits into a word. Rows that do not (expressions) are
 * worked out each time.
 */
#include "runtime/unwind.h"

#include <string.h>

#include "runtime/bytes.h"
#include "runtime/local.h"

#if defined(__has_feature)
#define HAS_FEATURE(x) __has_feature(x)
#else
#define HAS_FEATURE(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || HAS_FEATURE(address_sanitizer) || defined(__SANITIZE_THREAD__) || \
	HAS_FEATURE(thread_sanitizer)
#define RAW __attribute__((no_sanitize("address"), no_sanitize("thread"), noinline))
#else
#define RAW
#endif

#define STEPS_MAX 4096		/* instructions of a program */
#define SAVED_MAX 4		/* rows that a program sets aside */

enum {
	ENCODED_ABSOLUTE = 0x00,
	ENCODED_UDATA2 = 0x02,
	ENCODED_UDATA4 = 0x03,
	ENCODED_UDATA8 = 0x04,
	ENCODED_SDATA2 = 0x0a,
	ENCODED_SDATA4 = 0x0b,
	ENCODED_SDATA8 = 0x0c,
	ENCODED_PCREL = 0x10,
	ENCODED_DATAREL = 0x30,
	ENCODED_OMITTED = 0xff,
	ENCODED_TABLE = ENCODED_DATAREL | ENCODED_SDATA4,
};

/* A pointer in one of the forms that tables have them in. Indirect ones are none of code. */
static uintptr_t take_encoded(struct bytes *bytes, uint32_t form, bool plain)
{
	uintptr_t here = (uintptr_t)bytes->at, value;

	switch (form & 0x0f) {
	case ENCODED_ABSOLUTE:
		value = (uintptr_t)take(bytes, sizeof(uintptr_t));
		break;
	case ENCODED_UDATA2:
		value = (uintptr_t)take(bytes, 2);
		break;
	case ENCODED_UDATA4:
		value = (uintptr_t)take(bytes, 4);
		break;
	case ENCODED_SDATA2:
		value = (uintptr_t)(int16_t)take(bytes, 2);
		break;
	case ENCODED_SDATA4:
		value = (uintptr_t)(intptr_t)(int32_t)take(bytes, 4);
		break;
	case ENCODED_UDATA8:
	case ENCODED_SDATA8:
		value = (uintptr_t)take(bytes, 8);
		break;
	default:
		bytes->bad = true;
		return 0;
	}
	if (plain || !value)
		return value;
	if ((form & 0x70) == ENCODED_PCREL)
		return value + here;
	if (form & 0x70)
		bytes->bad = true;
	return value;
}

/* ---- From a place to its FDE ---- */

struct fde {
	uintptr_t start, end;	/* of the code */
	struct bytes first, program;	/* the CIE's instructions, and its own */
	uint64_t code_align;
	int64_t data_align;
};

/* A CIE or FDE from its length on; what follows that. */
static struct bytes entry_at(const struct module *module, uintptr_t at)
{
	struct bytes bytes = bytes_at(module, at);
	uint64_t len = take(&bytes, 4);

	/* The 64-bit form is nobody's in .eh_frame. */
	if (!len || len == UINT32_MAX || len > (uint64_t)(bytes.end - bytes.at))
		bytes.bad = true;
	else
		bytes.end = bytes.at + len;
	return bytes;
}

static bool read_cie(const struct module *module, uintptr_t at, struct fde *fde, uint32_t *form, bool *sized)
{
	struct bytes bytes = entry_at(module, at);
	const char *letters;
	uint64_t version, id = take(&bytes, 4), len;

	version = take(&bytes, 1);
	letters = (const char *)bytes.at;
	while (take(&bytes, 1))
		;
	if (bytes.bad || id || (version != 1 && version != 3))
		return false;
	fde->code_align = take_unsigned(&bytes);
	fde->data_align = take_signed(&bytes);
	if ((version == 1 ? take(&bytes, 1) : take_unsigned(&bytes)) != FRAME_RA)
		return false;
	*form = ENCODED_ABSOLUTE;
	*sized = *letters == 'z';
	if (*letters && !*sized)
		return false;
	len = *sized ? take_unsigned(&bytes) : 0;
	fde->first = bytes;
	skip(&fde->first, len);
	for (letters += *sized; *letters; letters++) {
		if (*letters == 'R')
			*form = (uint32_t)take(&bytes, 1);
		else if (*letters == 'L')
			take(&bytes, 1);
		else if (*letters == 'P')
			take_encoded(&bytes, (uint32_t)take(&bytes, 1), true);
		else if (*letters != 'S' && *letters != 'B')
			return false;
	}
	return !bytes.bad && !fde->first.bad;
}

static bool read_fde(const struct module *module, uintptr_t at, struct fde *fde)
{
	struct bytes bytes = entry_at(module, at);
	uintptr_t here = (uintptr_t)bytes.at;
	uint64_t back = take(&bytes, 4);
	uint32_t form;
	bool sized;

	if (bytes.bad || !back || !read_cie(module, here - (uintptr_t)back, fde, &form, &sized))
		return false;
	fde->start = take_encoded(&bytes, form, false);
	fde->end = fde->start + take_encoded(&bytes, form, true);
	if (sized)
		skip(&bytes, take_unsigned(&bytes));
	fde->program = bytes;
	return !bytes.bad;
}

/* The table's entry for pc: where its function begins and where its FDE is. */
static bool look_up(const struct module *module, uintptr_t pc, uintptr_t *start, uintptr_t *fde)
{
	uintptr_t head = (uintptr_t)module->frames;
	struct bytes bytes = bytes_at(module, head);
	uint64_t version = take(&bytes, 1), frames_form = take(&bytes, 1), count_form = take(&bytes, 1);
	uint64_t form = take(&bytes, 1), low = 0, high, count;
	int32_t entry[2];

	if (bytes.bad || version != 1 || form != ENCODED_TABLE || count_form == ENCODED_OMITTED)
		return false;
	take_encoded(&bytes, (uint32_t)frames_form, true);
	count = take_encoded(&bytes, (uint32_t)count_form, true);
	if (bytes.bad || !count || count > (uint64_t)(bytes.end - bytes.at) / sizeof(entry))
		return false;
	high = count;
	/* The last one that begins at pc or before. */
	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;

		memcpy(entry, bytes.at + middle * sizeof(entry), sizeof(entry));
		if (head + (uintptr_t)(intptr_t)entry[0] <= pc)
			low = middle;
		else
			high = middle;
	}
	memcpy(entry, bytes.at + low * sizeof(entry), sizeof(entry));
	*start = head + (uintptr_t)(intptr_t)entry[0];
	*fde = head + (uintptr_t)(intptr_t)entry[1];
	return *start <= pc;
}

static bool has_tables(const struct module *module)
{
	return LOAD_ACQUIRE(module->frames) || runtime_frames_index(module);
}

uintptr_t runtime_unwind_function(const struct module *module, uintptr_t pc)
{
	uintptr_t start, fde;

	return module && has_tables(module) && look_up(module, pc, &start, &fde) ? start : 0;
}

bool runtime_unwind_fde(const struct module *module, uintptr_t at, uintptr_t *start)
{
	struct fde fde;

	if (!read_fde(module, at, &fde))
		return false;
	*start = fde.start;
	return fde.end > fde.start;
}

/* ---- From a program to a row ---- */

enum how { SAME, UNDEFINED, AT_OFFSET, VALUE_OFFSET, IN_REGISTER, AT_EXPRESSION, VALUE_EXPRESSION };

/* One register's: `value` is an offset from the CFA, a register, or where in the tables an expression is. */
struct where {
	int32_t how, value;
};

struct row {
	int32_t reg;		/* the CFA: this one's value and `offset`; -1: expression `offset` */
	int32_t offset;
	struct where fp, ra;
};

struct run {
	const struct module *module;
	const struct fde *fde;
	uintptr_t at;		/* the code that the row is of */
	struct row row, first;
	struct row saved[SAVED_MAX];
	uint32_t nsaved;
	bool bad;
};

static void set(struct run *run, uint64_t reg, int32_t how, int64_t value)
{
	if (value != (int32_t)value)
		run->bad = true;
	if (reg == FRAME_FP)
		run->row.fp = (struct where){ how, (int32_t)value };
	else if (reg == FRAME_RA)
		run->row.ra = (struct where){ how, (int32_t)value };
}

static void set_cfa(struct run *run, int64_t reg, int64_t offset)
{
	if (reg < -1 || reg >= FRAME_REGS || offset != (int32_t)offset)
		run->bad = true;
	run->row.reg = (int32_t)reg;
	run->row.offset = (int32_t)offset;
}

static void restore(struct run *run, uint64_t reg)
{
	if (reg == FRAME_FP)
		run->row.fp = run->first.fp;
	else if (reg == FRAME_RA)
		run->row.ra = run->first.ra;
}

/* Where an expression is; `bytes` goes on behind it. */
static int64_t take_expression(const struct run *run, struct bytes *bytes)
{
	uintptr_t at = (uintptr_t)bytes->at;

	skip(bytes, take_unsigned(bytes));
	return (int64_t)(at - run->module->frames_start);
}

static void save_row(struct run *run)
{
	if (run->nsaved < SAVED_MAX)
		run->saved[run->nsaved++] = run->row;
	else
		run->bad = true;
}

static void restore_row(struct run *run)
{
	if (run->nsaved)
		run->row = run->saved[--run->nsaved];
	else
		run->bad = true;
}

/* Instructions that say of which code the row is. False: it is none of them. */
static bool advance(struct run *run, uint32_t op, struct bytes *bytes)
{
	uint64_t by;

	if (op >> 6 == 1)
		by = op & 0x3f;
	else if (op >= 0x02 && op <= 0x04)
		by = take(bytes, 1u << (op - 2));
	else
		return false;
	run->at += (uintptr_t)(by * run->fde->code_align);
	return true;
}

/* Those of the CFA. */
static bool define(struct run *run, uint32_t op, struct bytes *bytes)
{
	int64_t data = run->fde->data_align, reg;

	switch (op) {
	case 0x0c:	/* def_cfa */
		reg = (int64_t)take_unsigned(bytes);
		set_cfa(run, reg, (int64_t)take_unsigned(bytes));
		return true;
	case 0x0d:	/* def_cfa_register */
		set_cfa(run, (int64_t)take_unsigned(bytes), run->row.offset);
		return true;
	case 0x0e:	/* def_cfa_offset */
		set_cfa(run, run->row.reg, (int64_t)take_unsigned(bytes));
		return true;
	case 0x0f:	/* def_cfa_expression */
		set_cfa(run, -1, take_expression(run, bytes));
		return true;
	case 0x12:	/* def_cfa_sf */
		reg = (int64_t)take_unsigned(bytes);
		set_cfa(run, reg, take_signed(bytes) * data);
		return true;
	case 0x13:	/* def_cfa_offset_sf */
		set_cfa(run, run->row.reg, take_signed(bytes) * data);
		return true;
	}
	return false;
}

/* The rest: of registers. */
static void place(struct run *run, uint32_t op, struct bytes *bytes)
{
	int64_t data = run->fde->data_align;
	uint64_t reg = op < 0x40 ? take_unsigned(bytes) : op & 0x3f;

	switch (op < 0x40 ? op : op & 0xc0) {
	case 0x80:	/* offset */
	case 0x05:	/* offset_extended */
		set(run, reg, AT_OFFSET, (int64_t)take_unsigned(bytes) * data);
		break;
	case 0xc0:	/* restore */
	case 0x06:	/* restore_extended */
		restore(run, reg);
		break;
	case 0x07:
		set(run, reg, UNDEFINED, 0);
		break;
	case 0x08:
		set(run, reg, SAME, 0);
		break;
	case 0x09:
		set(run, reg, IN_REGISTER, (int64_t)take_unsigned(bytes));
		break;
	case 0x10:
		set(run, reg, AT_EXPRESSION, take_expression(run, bytes));
		break;
	case 0x11:	/* offset_extended_sf */
		set(run, reg, AT_OFFSET, take_signed(bytes) * data);
		break;
	case 0x14:	/* val_offset */
		set(run, reg, VALUE_OFFSET, (int64_t)take_unsigned(bytes) * data);
		break;
	case 0x15:	/* val_offset_sf */
		set(run, reg, VALUE_OFFSET, take_signed(bytes) * data);
		break;
	case 0x16:
		set(run, reg, VALUE_EXPRESSION, take_expression(run, bytes));
		break;
	case 0x2f:	/* GNU_negative_offset_extended */
		set(run, reg, AT_OFFSET, -(int64_t)take_unsigned(bytes) * data);
		break;
	default:
		run->bad = true;
	}
}

/* Runs until the row would be of code behind pc. */
static bool execute(struct run *run, struct bytes bytes, uintptr_t pc)
{
	for (int steps = 0; bytes.at < bytes.end; steps++) {
		uint32_t op = (uint32_t)take(&bytes, 1);

		if (advance(run, op, &bytes)) {
			if (run->at > pc)
				return !bytes.bad && !run->bad;
		} else if (op == 0x0a) {
			save_row(run);
		} else if (op == 0x0b) {
			restore_row(run);
		} else if (op == 0x2e) {
			take_unsigned(&bytes);	/* GNU_args_size */
		} else if (op && op != 0x2d && !define(run, op, &bytes)) {
			/* 0x2d: the return address is signed, or not any more: frame_address() takes all for signed. */
			place(run, op, &bytes);
		}
		if (bytes.bad || run->bad || steps == STEPS_MAX)
			return false;
	}
	return true;
}

static bool find_row(const struct module *module, uintptr_t pc, struct row *row)
{
	struct run run = { .module = module };
	uintptr_t start, at;
	struct fde fde;

	if (!look_up(module, pc, &start, &at) || !read_fde(module, at, &fde) || pc < fde.start || pc >= fde.end)
		return false;
	run.fde = &fde;
	run.at = fde.start;
	if (!execute(&run, fde.first, UINTPTR_MAX))
		return false;
	run.first = run.row;
	if (!execute(&run, fde.program, pc))
		return false;
	*row = run.row;
	return true;
}

/* ---- Rules kept ---- */

/*
 * A word: bit 0 there is one, 1 the CFA is from the frame pointer, 2 that was saved, 3 so was the return address, 4 nobody
 * called; the CFA's offset from bit 8, the frame pointer's from 32, the return address's from 48.
 */
enum { RULE = 1, RULE_FROM_FP = 2, RULE_FP_SAVED = 4, RULE_RA_SAVED = 8, RULE_END = 16 };

/* Two words that make up the key: whoever sees halves of two stores sees a key that is nobody's. */
#define RULES 1024u
static struct {
	uint64_t rule, mixed;
} rules[RULES];

/* Where a signal interrupted is another row than where a call returns to. */
static uint64_t rule_key(const struct module *module, uintptr_t pc, bool exact)
{
	return (uint64_t)pc ^ (uint64_t)module->number << 52 ^ (uint64_t)exact << 51;
}

static uint32_t rule_place(uintptr_t pc)
{
	return (uint32_t)((uint64_t)pc * 0x9e3779b97f4a7c15ull >> 54) % RULES;
}

static uint64_t rule_find(const struct module *module, uintptr_t pc, bool exact)
{
	uint32_t i = rule_place(pc);
	uint64_t rule = LOAD(rules[i].rule);

	return (rule ^ LOAD(rules[i].mixed)) == rule_key(module, pc, exact) ? rule : 0;
}

static void rule_keep(const struct module *module, uintptr_t pc, bool exact, uint64_t rule)
{
	uint32_t i = rule_place(pc);

	STORE(rules[i].mixed, rule ^ rule_key(module, pc, exact));
	STORE(rules[i].rule, rule);
}

static bool is_small(const struct where *where, int32_t max)
{
	return where->how == SAME || where->how == UNDEFINED ||
	       (where->how == AT_OFFSET && where->value < max && where->value >= -max);
}

/* 0: it does not fit. */
static uint64_t rule_of(const struct row *row)
{
	uint64_t rule = RULE;

	if ((row->reg != FRAME_SP && row->reg != FRAME_FP) || row->offset != row->offset << 8 >> 8 ||
	    !is_small(&row->fp, 1 << 15) || !is_small(&row->ra, 1 << 15))
		return 0;
	rule |= row->reg == FRAME_FP ? RULE_FROM_FP : 0;
	rule |= row->fp.how == AT_OFFSET ? RULE_FP_SAVED | (uint64_t)(uint16_t)row->fp.value << 32 : 0;
	rule |= row->ra.how == AT_OFFSET ? RULE_RA_SAVED | (uint64_t)(uint16_t)row->ra.value << 48 : 0;
	rule |= row->ra.how == UNDEFINED ? RULE_END : 0;
	return rule | (uint64_t)((uint32_t)row->offset & 0xffffff) << 8;
}

static void rule_to_row(uint64_t rule, struct row *row)
{
	*row = (struct row){
		.reg = rule & RULE_FROM_FP ? FRAME_FP : FRAME_SP,
		.offset = (int32_t)(uint32_t)rule >> 8,
		.fp = { rule & RULE_FP_SAVED ? AT_OFFSET : SAME, (int16_t)(rule >> 32) },
		.ra = { rule & RULE_RA_SAVED ? AT_OFFSET : rule & RULE_END ? UNDEFINED : SAME, (int16_t)(rule >> 48) },
	};
}

/* ---- A step ---- */

static bool value_of(struct unwind *unwind, const struct module *module, const struct where *where, uint32_t reg,
		     uintptr_t cfa, uintptr_t *value)
{
	switch (where->how) {
	case SAME:
		*value = unwind->reg[reg];
		return unwind->known >> reg & 1;
	case AT_OFFSET:
		return runtime_stack_load(&unwind->stack, cfa + (uintptr_t)(intptr_t)where->value, value);
	case VALUE_OFFSET:
		*value = cfa + (uintptr_t)(intptr_t)where->value;
		return true;
	case IN_REGISTER:
		if (where->value < 0 || where->value >= FRAME_REGS)
			return false;
		*value = unwind->reg[where->value];
		return unwind->known >> where->value & 1;
	case AT_EXPRESSION:
		return runtime_expression(unwind, module, where->value, cfa, value) &&
		       runtime_stack_load(&unwind->stack, *value, value);
	case VALUE_EXPRESSION:
		return runtime_expression(unwind, module, where->value, cfa, value);
	}
	return false;
}

/* The caller's frame. A stack grows: only a function that keeps its return address in a register may have none of its own. */
static enum unwind_step enter(struct unwind *unwind, uintptr_t sp, uintptr_t pc, uintptr_t fp, bool fp_known)
{
	uintptr_t before = unwind->reg[FRAME_SP];
	bool leaf = unwind->exact && sp == before;

	pc = func_true_return(frame_address(pc));
	if (!pc || (sp <= before && !leaf) || sp % sizeof(uintptr_t))
		return UNWIND_END;
	unwind->reg[FRAME_SP] = sp;
	unwind->reg[FRAME_FP] = fp;
	unwind->known = 1ull << FRAME_SP | (fp_known ? 1ull << FRAME_FP : 0);
	unwind->pc = pc;
	unwind->exact = false;
	return UNWIND_CALLER;
}

static enum unwind_step step_row(struct unwind *unwind, const struct module *module, const struct row *row)
{
	uintptr_t cfa, pc, fp = 0;
	bool fp_known;

	if (row->ra.how == UNDEFINED)
		return UNWIND_END;
	if (row->reg < 0) {
		if (!runtime_expression(unwind, module, row->offset, 0, &cfa))
			return UNWIND_END;
	} else {
		if (!(unwind->known >> row->reg & 1))
			return UNWIND_END;
		cfa = unwind->reg[row->reg] + (uintptr_t)(intptr_t)row->offset;
	}
	if (!value_of(unwind, module, &row->ra, FRAME_RA, cfa, &pc))
		return UNWIND_END;
	fp_known = value_of(unwind, module, &row->fp, FRAME_FP, cfa, &fp);
	return enter(unwind, cfa, pc, fp, fp_known);
}

/* No tables: the frame pointer, if that is what it is, points to the caller's, and behind that is the return address. */
static enum unwind_step step_pointer(struct unwind *unwind)
{
	uintptr_t at = unwind->reg[FRAME_FP], fp, pc;

	if (!(unwind->known >> FRAME_FP & 1) || at < unwind->reg[FRAME_SP] || at % sizeof(at) ||
	    !runtime_stack_load(&unwind->stack, at, &fp) ||
	    !runtime_stack_load(&unwind->stack, at + sizeof(at), &pc))
		return UNWIND_END;
	return enter(unwind, at + 2 * sizeof(at), pc, fp, true);
}

/* Does a handler return to `from`? Which of the codes it is, or -1. */
static RAW int signal_code_at(const struct module *module, uintptr_t from)
{
	static const struct {
		uint8_t len, code[9];
	} codes[] = FRAME_SIGNAL_CODES;

	for (uint32_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		const unsigned char *at = (const unsigned char *)from;
		uint32_t n = 0;

		if (module && (from < module->start || from > module->end || module->end - from < codes[i].len))
			continue;
		while (n < codes[i].len && at[n] == codes[i].code[n])
			n++;
		if (n == codes[i].len)
			return (int)i;
	}
	return -1;
}

/* The same of a handler that is about to return, in the middle of it. Of what is nobody's only the beginning is known to be there. */
static int signal_code(const struct module *module, uintptr_t pc)
{
	static const uint8_t places[] = FRAME_SIGNAL_PLACES;
	int code = -1;

	for (uint32_t i = 0; i < (module ? sizeof(places) / sizeof(places[0]) : 1) && code < 0; i++)
		code = signal_code_at(module, pc - places[i]);
	return code;
}

/* What the kernel saved is the frame: on another stack, maybe. */
static enum unwind_step step_signal(struct unwind *unwind, int code)
{
	uintptr_t pointer, at = frame_saved(code, unwind->reg[FRAME_SP], &pointer), base = 0, value[FRAME_REGS];
	uintptr_t pc;

	if (pointer && !runtime_stack_load(&unwind->stack, pointer, &base))
		return UNWIND_END;
	at += base;
	for (uint32_t i = 0; i < FRAME_REGS; i++)
		if (!runtime_stack_load(&unwind->stack, at + (uintptr_t)frame_saved_word[i] * sizeof(at), &value[i]))
			return UNWIND_END;
	memcpy(unwind->reg, value, sizeof(value));
	pc = value[FRAME_REGS - 1];
	if (!pc)
		return UNWIND_END;
	unwind->known = (1ull << FRAME_REGS) - 1;
	unwind->pc = pc;
	unwind->exact = true;
	runtime_stack_at(&unwind->stack, unwind->reg[FRAME_SP]);
	return UNWIND_INTERRUPTED;
}

enum unwind_step runtime_unwind(struct unwind *unwind, const struct module *module)
{
	/* A return address may be the first of another function, when the call was the last thing of this one. */
	uintptr_t pc = unwind->exact ? unwind->pc : unwind->pc - 1;
	uint64_t rule;
	struct row row;
	int code;

	/* Some emulators have handlers return to a place of their own. */
	if (!module) {
		code = runtime_is_mapped(unwind->pc, unwind->pc + 16) ? signal_code(NULL, unwind->pc) : -1;
		return code < 0 ? step_pointer(unwind) : step_signal(unwind, code);
	}
	rule = rule_find(module, unwind->pc, unwind->exact);
	if (rule) {
		rule_to_row(rule, &row);
		return step_row(unwind, module, &row);
	}
	code = signal_code(module, unwind->pc);
	if (code >= 0)
		return step_signal(unwind, code);
	if (!has_tables(module) || !find_row(module, pc, &row))
		return step_pointer(unwind);
	rule = rule_of(&row);
	if (rule)
		rule_keep(module, unwind->pc, unwind->exact, rule);
	return step_row(unwind, module, &row);
}
