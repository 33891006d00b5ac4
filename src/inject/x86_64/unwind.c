/*
 * inject/x86_64/unwind: see unwind.h.
 *
 *   RIP --.eh_frame_hdr, by bisection--> FDE --> CIE's program, FDE's program up to RIP --> where the caller's registers are
 *
 * Tables are copied out piece by piece. Expressions, which only the linkage table and a few hand-written functions have, are left
 * alone: the walk is then lost, and whoever asked has to make do without.
 */
#include "inject/x86_64/unwind.h"

#if defined(__x86_64__)

#include <string.h>
#include <ucontext.h>

#include "base/sevens.h"

#define ENTRY_MAX 8192u		/* bytes of an FDE or CIE */
#define STEPS_MAX 4096
#define SAVED_MAX 8
#define ENCODED_TABLE 0x3bu	/* relative to the header, signed, four bytes: the only form that linkers make */

void frame_of(struct frame *frame, const struct user_regs_struct *regs)
{
	*frame = (struct frame){
		.reg = { regs->rax, regs->rdx, regs->rcx, regs->rbx, regs->rsi, regs->rdi, regs->rbp, regs->rsp, regs->r8,
			 regs->r9, regs->r10, regs->r11, regs->r12, regs->r13, regs->r14, regs->r15, regs->rip },
		.known = (1u << FRAME_REGS) - 1,
		.exact = true,
	};
}

/* ---- bytes of a table ---- */

struct entry {
	uint8_t bytes[ENTRY_MAX];
	uint64_t address;	/* of the first of them */
	uint32_t at, end;
	bool bad;
};

static uint64_t take(struct entry *entry, uint32_t size)
{
	uint64_t value = 0;

	if (entry->bad || size > entry->end - entry->at) {
		entry->bad = true;
		return 0;
	}
	memcpy(&value, entry->bytes + entry->at, size);
	entry->at += size;
	return value;
}

static struct sevens take_sevens(struct entry *entry)
{
	struct sevens sevens = { 0 };

	while (sevens_add(&sevens, take(entry, 1)) && !entry->bad)
		;
	return sevens;
}

static uint64_t take_unsigned(struct entry *entry)
{
	return take_sevens(entry).value;
}

static int64_t take_signed(struct entry *entry)
{
	const struct sevens sevens = take_sevens(entry);

	return sevens_signed(&sevens);
}

static void skip(struct entry *entry, uint64_t n)
{
	if (n > entry->end - entry->at)
		entry->bad = true;
	else
		entry->at += (uint32_t)n;
}

/* A pointer in one of the forms that code is given in; `relative` to where it stands if its form says so. */
static uint64_t take_pointer(struct entry *entry, uint32_t form, bool relative)
{
	uint64_t here = entry->address + entry->at, value;

	switch (form & 0x0f) {
	case 0x03:
		value = take(entry, 4);
		break;
	case 0x0b:
		value = (uint64_t)(int64_t)(int32_t)take(entry, 4);
		break;
	case 0x00:
	case 0x04:
	case 0x0c:
		value = take(entry, 8);
		break;
	default:
		entry->bad = true;
		return 0;
	}
	if (form & 0xe0)
		entry->bad = true;
	return relative && form & 0x10 ? value + here : value;
}

/* A CIE or an FDE, behind its length. */
static bool entry_read(struct entry *entry, const struct image *image, uint64_t address)
{
	uint32_t len;

	if (!target_read(image, address, &len, sizeof(len)) || len < 4 || len > ENTRY_MAX)
		return false;
	*entry = (struct entry){ .address = address + sizeof(len), .end = len };
	return target_read(image, entry->address, entry->bytes, len);
}

/* ---- from a place to its row ---- */

enum how { SAME, UNDEFINED, AT_OFFSET, VALUE_OFFSET, IN_REGISTER, NOT_KNOWN };

struct row {
	uint32_t cfa_reg;	/* FRAME_REGS: an expression */
	int64_t cfa_offset;
	struct {
		enum how how;
		int64_t value;
	} reg[FRAME_REGS];
};

struct run {
	struct entry cie, fde;
	uint64_t start, size;	/* of the code */
	uint64_t code_align, at;
	int64_t data_align;
	uint32_t form;
	bool sized, bad;
	struct row row, first, saved[SAVED_MAX];
	uint32_t nsaved;
};

/* One of the augmentation; what follows letters that are not known is skipped. */
static void read_letter(struct run *run, char letter)
{
	if (letter == 'R')
		run->form = (uint32_t)take(&run->cie, 1);
	else if (letter == 'P')
		take_pointer(&run->cie, (uint32_t)take(&run->cie, 1) & 0x0f, false);
	else if (letter == 'L')
		take(&run->cie, 1);
}

static bool read_cie(struct run *run)
{
	struct entry *cie = &run->cie;
	const char *letters;
	uint64_t version, len, program;

	take(cie, 4);
	version = take(cie, 1);
	letters = (const char *)cie->bytes + cie->at;
	while (take(cie, 1))
		;
	if (cie->bad || (version != 1 && version != 3) || (*letters && *letters != 'z'))
		return false;
	run->code_align = take_unsigned(cie);
	run->data_align = take_signed(cie);
	if ((version == 1 ? take(cie, 1) : take_unsigned(cie)) != FRAME_RIP)
		return false;
	run->sized = *letters == 'z';
	len = run->sized ? take_unsigned(cie) : 0;
	program = cie->at + len;
	for (letters += run->sized; *letters == 'R' || *letters == 'P' || *letters == 'L' || *letters == 'S'; letters++)
		read_letter(run, *letters);
	if (program > cie->end)
		return false;
	cie->at = (uint32_t)program;
	return !cie->bad;
}

static bool read_fde(struct run *run, const struct image *image, uint64_t address)
{
	uint64_t here, back;

	if (!entry_read(&run->fde, image, address))
		return false;
	here = run->fde.address;
	back = take(&run->fde, 4);
	if (!back || !entry_read(&run->cie, image, here - back) || !read_cie(run))
		return false;
	run->start = take_pointer(&run->fde, run->form, true);
	run->size = take_pointer(&run->fde, run->form & 0x0f, false);
	if (run->sized)
		skip(&run->fde, take_unsigned(&run->fde));
	return !run->fde.bad;
}

/* The FDE of the last function that begins at `pc` or before. */
static uint64_t look_up(const struct image *image, uint64_t table, uint64_t pc)
{
	uint32_t count, low = 0, high;
	int32_t pair[2];
	uint8_t head[4];

	/* How the pointer to .eh_frame and the count are written: four bytes each, as all linkers do. */
	if (!target_read(image, table, head, sizeof(head)) || head[0] != 1 || (head[1] & 0x0f) != 0x0b || head[2] != 0x03 ||
	    head[3] != ENCODED_TABLE || !target_read(image, table + 8, &count, sizeof(count)) || !count)
		return 0;
	for (high = count; high - low > 1;) {
		uint32_t middle = low + (high - low) / 2;

		if (!target_read(image, table + 12 + middle * 8ull, pair, sizeof(pair)))
			return 0;
		if (table + (uint64_t)(int64_t)pair[0] <= pc)
			low = middle;
		else
			high = middle;
	}
	return target_read(image, table + 12 + low * 8ull, pair, sizeof(pair)) ? table + (uint64_t)(int64_t)pair[1] : 0;
}

static void set(struct run *run, uint64_t reg, enum how how, int64_t value)
{
	if (reg < FRAME_REGS) {
		run->row.reg[reg].how = how;
		run->row.reg[reg].value = value;
	}
}

static void set_cfa(struct run *run, uint64_t reg, int64_t offset)
{
	run->row.cfa_reg = reg < FRAME_REGS ? (uint32_t)reg : FRAME_REGS;
	run->row.cfa_offset = offset;
}

/* Instructions that define the CFA. False: it is none of them. */
static bool define(struct run *run, uint32_t op, struct entry *entry)
{
	uint64_t reg;

	switch (op) {
	case 0x0c:	/* def_cfa */
		reg = take_unsigned(entry);
		set_cfa(run, reg, (int64_t)take_unsigned(entry));
		return true;
	case 0x0d:	/* def_cfa_register */
		set_cfa(run, take_unsigned(entry), run->row.cfa_offset);
		return true;
	case 0x0e:	/* def_cfa_offset */
		run->row.cfa_offset = (int64_t)take_unsigned(entry);
		return true;
	case 0x0f:	/* def_cfa_expression */
		skip(entry, take_unsigned(entry));
		set_cfa(run, FRAME_REGS, 0);
		return true;
	case 0x12:	/* def_cfa_sf */
		reg = take_unsigned(entry);
		set_cfa(run, reg, take_signed(entry) * run->data_align);
		return true;
	case 0x13:	/* def_cfa_offset_sf */
		run->row.cfa_offset = take_signed(entry) * run->data_align;
		return true;
	}
	return false;
}

/* Those that say where a register is. */
static void place(struct run *run, uint32_t op, struct entry *entry)
{
	uint64_t reg = op < 0x40 ? take_unsigned(entry) : op & 0x3f;

	switch (op < 0x40 ? op : op & 0xc0) {
	case 0x80:	/* offset */
	case 0x05:	/* offset_extended */
		set(run, reg, AT_OFFSET, (int64_t)take_unsigned(entry) * run->data_align);
		break;
	case 0xc0:	/* restore */
	case 0x06:	/* restore_extended */
		if (reg < FRAME_REGS)
			run->row.reg[reg] = run->first.reg[reg];
		break;
	case 0x07:
		set(run, reg, UNDEFINED, 0);
		break;
	case 0x08:
		set(run, reg, SAME, 0);
		break;
	case 0x09:
		set(run, reg, IN_REGISTER, (int64_t)take_unsigned(entry));
		break;
	case 0x10:	/* expression */
	case 0x16:	/* val_expression */
		skip(entry, take_unsigned(entry));
		set(run, reg, NOT_KNOWN, 0);
		break;
	case 0x11:	/* offset_extended_sf */
		set(run, reg, AT_OFFSET, take_signed(entry) * run->data_align);
		break;
	case 0x14:	/* val_offset */
		set(run, reg, VALUE_OFFSET, (int64_t)take_unsigned(entry) * run->data_align);
		break;
	case 0x15:	/* val_offset_sf */
		set(run, reg, VALUE_OFFSET, take_signed(entry) * run->data_align);
		break;
	default:
		run->bad = true;
	}
}

static bool advance(struct run *run, uint32_t op, struct entry *entry)
{
	if (op >> 6 == 1)
		run->at += (op & 0x3f) * run->code_align;
	else if (op >= 0x02 && op <= 0x04)
		run->at += take(entry, 1u << (op - 2)) * run->code_align;
	else
		return false;
	return true;
}

static void execute(struct run *run, struct entry *entry, uint64_t pc)
{
	for (int steps = 0; entry->at < entry->end && !entry->bad && !run->bad; steps++) {
		uint32_t op = (uint32_t)take(entry, 1);

		if (advance(run, op, entry)) {
			if (run->at > pc)
				return;
		} else if (op == 0x0a) {	/* remember_state */
			run->bad |= run->nsaved == SAVED_MAX;
			if (!run->bad)
				run->saved[run->nsaved++] = run->row;
		} else if (op == 0x0b) {	/* restore_state */
			run->bad |= !run->nsaved;
			if (!run->bad)
				run->row = run->saved[--run->nsaved];
		} else if (op == 0x2e) {	/* GNU_args_size */
			take_unsigned(entry);
		} else if (op && !define(run, op, entry)) {
			place(run, op, entry);
		}
		run->bad |= steps == STEPS_MAX;
	}
	run->bad |= entry->bad;
}

static bool find_row(struct run *run, const struct image *image, uint64_t table, uint64_t pc)
{
	uint64_t fde = look_up(image, table, pc);

	if (!fde || !read_fde(run, image, fde) || pc < run->start || pc - run->start >= run->size)
		return false;
	run->at = run->start;
	execute(run, &run->cie, UINT64_MAX);
	run->first = run->row;
	execute(run, &run->fde, pc);
	return !run->bad;
}

/* ---- a step ---- */

static bool is_known(const struct frame *frame, uint64_t reg)
{
	return reg < FRAME_REGS && frame->known >> reg & 1;
}

/* The caller's value of a register. */
static bool value_of(const struct image *image, const struct frame *frame, const struct row *row, uint32_t reg, uint64_t cfa,
		     uint64_t *value)
{
	int64_t rule = row->reg[reg].value;

	switch (row->reg[reg].how) {
	case SAME:
		*value = frame->reg[reg];
		return is_known(frame, reg);
	case AT_OFFSET:
		return target_read(image, cfa + (uint64_t)rule, value, sizeof(*value));
	case VALUE_OFFSET:
		*value = cfa + (uint64_t)rule;
		return true;
	case IN_REGISTER:
		if (!is_known(frame, (uint64_t)rule))
			return false;
		*value = frame->reg[rule];
		return true;
	default:
		return false;
	}
}

static enum frame_step step(const struct image *image, struct frame *frame, const struct row *row)
{
	struct frame caller = { .exact = false };
	uint64_t cfa;

	if (row->reg[FRAME_RIP].how == UNDEFINED)
		return FRAME_END;
	if (!is_known(frame, row->cfa_reg))
		return FRAME_LOST;
	cfa = frame->reg[row->cfa_reg] + (uint64_t)row->cfa_offset;
	for (uint32_t i = 0; i < FRAME_REGS; i++)
		if (value_of(image, frame, row, i, cfa, &caller.reg[i]))
			caller.known |= 1u << i;
	/* A stack grows. */
	if (!is_known(&caller, FRAME_RIP) || cfa <= frame->reg[FRAME_RSP])
		return FRAME_LOST;
	caller.reg[FRAME_RIP] = target_true_return(image, caller.reg[FRAME_RIP]);
	caller.reg[FRAME_RSP] = cfa;
	caller.known |= 1u << FRAME_RSP;
	*frame = caller;
	return caller.reg[FRAME_RIP] ? FRAME_CALLER : FRAME_END;
}

/* In front of it, the kernel's ucontext, which ends with a mask of 64 bits. */
#define SIGNAL_INFO_AT (offsetof(ucontext_t, uc_sigmask) + 8)

/*
 * mov $15, %rax; syscall: what a signal's handler returns to. The kernel's ucontext is then on top of the stack, and still is behind it,
 * for who was sent a signal for the call.
 */
static bool is_signal_return(const struct image *image, uint64_t address)
{
	static const uint8_t code[] = { 0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05 };
	static const uint8_t places[] = { 0, 7, sizeof(code) };
	uint8_t bytes[sizeof(code)];

	for (uint32_t i = 0; i < sizeof(places); i++)
		if (target_read(image, address - places[i], bytes, sizeof(bytes)) && !memcmp(bytes, code, sizeof(code)))
			return true;
	return false;
}

static enum frame_step step_signal(const struct image *image, struct frame *frame)
{
	static const int8_t words[FRAME_REGS] = {
		REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
		REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP,
	};
	gregset_t saved;
	int32_t sig;

	if (!target_read(image, frame->reg[FRAME_RSP] + offsetof(ucontext_t, uc_mcontext.gregs), saved, sizeof(saved)) ||
	    !target_read(image, frame->reg[FRAME_RSP] + SIGNAL_INFO_AT, &sig, sizeof(sig)))
		return FRAME_LOST;
	for (uint32_t i = 0; i < FRAME_REGS; i++)
		frame->reg[i] = (uint64_t)saved[words[i]];
	frame->known = (1u << FRAME_REGS) - 1;
	frame->exact = true;
	frame->signal = sig;
	return FRAME_INTERRUPTED;
}

enum frame_step frame_next(const struct image *image, struct frame *frame)
{
	uint64_t rip = frame->reg[FRAME_RIP];
	const struct target_file *file = target_at(image, rip);
	struct run run = { .nsaved = 0 };

	if (is_signal_return(image, rip))
		return step_signal(image, frame);
	/* A return address may be the first of another function, when the call was the last thing of this one. */
	if (!file || !file->frames || !find_row(&run, image, file->frames, frame->exact ? rip : rip - 1))
		return FRAME_LOST;
	return step(image, frame, &run.row);
}

#endif
