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

bool x86_decode(struct x86 *x86, const void *bytes, size_t room)
{
	ZydisDecodedInstruction in;
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, bytes, room, &in)))
		return false;
	*x86 = (struct x86){ .len = in.length, .kind = kind_of(&in), .lea = in.mnemonic == ZYDIS_MNEMONIC_LEA };
	x86->condition = in.opcode & 15;
	near_place(x86, &in);
	if (in.raw.imm[0].is_relative) {
		x86->direct = true;
		x86->to = in.raw.imm[0].value.s + in.length;
	} else if (in.attributes & ZYDIS_ATTRIB_HAS_MODRM) {
		x86->modrm_at = in.raw.modrm.offset;
		x86->by_stack = in.raw.modrm.mod != 3 ? !x86->near_at
						      : in.raw.modrm.rm == 4 && !(in.attributes & ZYDIS_ATTRIB_HAS_REX && in.raw.rex.B);
	}
	flags(x86, &in);
	numbers(x86, &in);
	return true;
}
