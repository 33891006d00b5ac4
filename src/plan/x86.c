/*
 * plan/x86: see x86.h. Zydis decodes without memory of its own, and tells where in an instruction its numbers are.
 */
#include "plan/x86.h"

#include <string.h>

#include <Zydis/Zydis.h>

#define FLAG_BITS (ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_AF | ZYDIS_CPUFLAG_ZF | ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_OF)

static uint8_t flags_of(ZydisAccessedFlagsMask mask)
{
	static const ZydisAccessedFlagsMask bits[] = { ZYDIS_CPUFLAG_CF, ZYDIS_CPUFLAG_PF, ZYDIS_CPUFLAG_AF,
						       ZYDIS_CPUFLAG_ZF, ZYDIS_CPUFLAG_SF, ZYDIS_CPUFLAG_OF };
	uint8_t flags = 0;

	for (unsigned int i = 0; mask & FLAG_BITS && i < sizeof(bits) / sizeof(bits[0]); i++)
		if (mask & bits[i])
			flags |= (uint8_t)(1u << i);
	return flags;
}

/* One that counts to zero leaves the flags as they were. */
static bool may_skip(const ZydisDecodedInstruction *in)
{
	return in->meta.category == ZYDIS_CATEGORY_SHIFT || in->meta.category == ZYDIS_CATEGORY_ROTATE ||
	       in->meta.category == ZYDIS_CATEGORY_STRINGOP;
}

static void flags(struct x86 *x86, const ZydisDecodedInstruction *in)
{
	const ZydisAccessedFlags *access = in->cpu_flags;

	if (!access)
		return;
	x86->reads = flags_of(access->tested);
	if (!may_skip(in))
		x86->writes = flags_of(access->modified | access->set_0 | access->set_1 | access->undefined);
}

/* Intel's processors and AMD's do not agree on what a short operand means to a branch. */
static bool is_narrow(const ZydisDecodedInstruction *in)
{
	return in->attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE && !(in->attributes & ZYDIS_ATTRIB_HAS_REX && in->raw.rex.W);
}

static uint8_t branch_kind(const ZydisDecodedInstruction *in)
{
	const bool one = in->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT, two = in->opcode_map == ZYDIS_OPCODE_MAP_0F;
	const uint8_t op = in->opcode;

	if (is_narrow(in) || in->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
		return X86_ODD;
	if ((one && op >= 0x70 && op <= 0x7f) || (two && op >= 0x80 && op <= 0x8f))
		return X86_JCC;
	if (one && (op == 0xe8 || (op == 0xff && in->raw.modrm.reg == 2)))
		return X86_CALL;
	if (one && (op == 0xe9 || op == 0xeb || (op == 0xff && in->raw.modrm.reg == 4)))
		return X86_JMP;
	if (one && op >= 0xe0 && op <= 0xe3)
		return X86_LOOP;
	return one && (op == 0xc3 || op == 0xc2) ? X86_RET : X86_ODD;
}

static uint8_t kind_of(const ZydisDecodedInstruction *in)
{
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_INT3:
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_HLT:
		return X86_STOP;
	default:
		break;
	}
	switch (in->meta.category) {
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_RET:
		return branch_kind(in);
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
		return X86_NOP;
	default:
		return in->raw.imm[0].is_relative ? X86_ODD : X86_PLAIN;
	}
}

/* A place in memory that counts from the instruction's end. */
static void near_place(struct x86 *x86, const ZydisDecodedInstruction *in)
{
	if (!(in->attributes & ZYDIS_ATTRIB_HAS_MODRM) || in->raw.modrm.mod || in->raw.modrm.rm != 5 || in->raw.disp.size != 32)
		return;
	if (in->address_width != 64) {
		x86->kind = X86_ODD;
		return;
	}
	x86->near_at = in->raw.disp.offset;
	x86->to = in->raw.disp.value + in->length;
}

static void numbers(struct x86 *x86, const ZydisDecodedInstruction *in)
{
	for (int i = 0; i < 2; i++)
		if (in->raw.imm[i].size >= 32 && !in->raw.imm[i].is_relative)
			x86->numbers[0] = in->raw.imm[i].value.u;
	if (in->raw.disp.size >= 32 && !x86->near_at)
		x86->numbers[1] = (uint64_t)in->raw.disp.value;
}

/* ---- The stack ---- */

enum { SP = 4, BP = 5 };

static bool has_rex(const ZydisDecodedInstruction *in)
{
	return in->attributes & ZYDIS_ATTRIB_HAS_REX;
}

/* Is it this register that the instruction has in ModRM's first and last part? */
static bool is_reg(const ZydisDecodedInstruction *in, uint8_t number)
{
	return in->raw.modrm.reg == number && !(has_rex(in) && in->raw.rex.R);
}

static bool is_rm(const ZydisDecodedInstruction *in, uint8_t number)
{
	return in->raw.modrm.mod == 3 && in->raw.modrm.rm == number && !(has_rex(in) && in->raw.rex.B);
}

static void base_of(struct x86 *x86, const ZydisDecodedInstruction *in)
{
	const bool other = has_rex(in) && in->raw.rex.B;

	if (in->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY || in->raw.modrm.mod == 3 || other)
		return;
	if (in->raw.modrm.rm == SP && in->raw.sib.base == SP && in->raw.sib.index == 4 && !(has_rex(in) && in->raw.rex.X))
		x86->base = X86_BASE_STACK;
	else if (in->raw.modrm.rm == BP && in->raw.modrm.mod)
		x86->base = X86_BASE_FRAME;
	x86->disp = in->raw.disp.value;
}

static void moves(struct x86 *x86, int64_t bytes)
{
	x86->stack = bytes == (int32_t)bytes ? X86_STACK_MOVES : X86_STACK_LOST;
	x86->moves = (int32_t)bytes;
}

static void stack_of(struct x86 *x86, const ZydisDecodedInstruction *in)
{
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
	case ZYDIS_MNEMONIC_PUSHFQ:
		moves(x86, 8);
		break;
	case ZYDIS_MNEMONIC_POP:
	case ZYDIS_MNEMONIC_POPFQ:
		moves(x86, -8);
		break;
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_ADD:
		if (is_rm(in, SP) && in->raw.imm[0].size)
			moves(x86, in->mnemonic == ZYDIS_MNEMONIC_SUB ? in->raw.imm[0].value.s : -in->raw.imm[0].value.s);
		else if (is_rm(in, SP))
			x86->stack = X86_STACK_LOST;
		break;
	case ZYDIS_MNEMONIC_LEA:
		if (is_reg(in, SP) && x86->base == X86_BASE_STACK)
			moves(x86, -x86->disp);
		else if (is_reg(in, SP))
			x86->stack = X86_STACK_LOST;
		break;
	case ZYDIS_MNEMONIC_MOV:
		if ((in->opcode == 0x89 && is_reg(in, SP) && is_rm(in, BP)) || (in->opcode == 0x8b && is_reg(in, BP) && is_rm(in, SP)))
			x86->stack = X86_STACK_FRAMES;
		else if ((in->opcode == 0x89 && is_rm(in, SP)) || (in->opcode == 0x8b && is_reg(in, SP)))
			x86->stack = X86_STACK_LOST;
		break;
	case ZYDIS_MNEMONIC_AND:
	case ZYDIS_MNEMONIC_XCHG:
		if (is_rm(in, SP) || is_reg(in, SP))
			x86->stack = X86_STACK_LOST;
		break;
	case ZYDIS_MNEMONIC_LEAVE:
	case ZYDIS_MNEMONIC_ENTER:
		x86->stack = X86_STACK_LOST;
		break;
	default:
		break;
	}
}

bool x86_decode(struct x86 *x86, const void *bytes, size_t room)
{
	ZydisDecodedInstruction in;
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, bytes, room, &in)))
		return false;
	*x86 = (struct x86){ .len = in.length, .kind = kind_of(&in), .lea = in.mnemonic == ZYDIS_MNEMONIC_LEA,
			      .syscall = in.mnemonic == ZYDIS_MNEMONIC_SYSCALL };
	x86->condition = in.opcode & 15;
	near_place(x86, &in);
	if (in.raw.imm[0].is_relative) {
		x86->direct = true;
		x86->to = in.raw.imm[0].value.s + in.length;
	} else if (in.attributes & ZYDIS_ATTRIB_HAS_MODRM) {
		x86->modrm_at = in.raw.modrm.offset;
		x86->by_stack = in.raw.modrm.mod != 3 ? !x86->near_at
						      : in.raw.modrm.rm == 4 && !(in.attributes & ZYDIS_ATTRIB_HAS_REX && in.raw.rex.B);
		base_of(x86, &in);
	}
	stack_of(x86, &in);
	flags(x86, &in);
	numbers(x86, &in);
	return true;
}
