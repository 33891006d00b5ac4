/*
 * plan/looks: see looks.h. What __builtin_return_address(0) becomes is a load from where the stack pointer was when the function
 * began. How far that has gone since is counted from the first instruction on, as far as one follows the other; from the frame pointer
 * of a function that has one it is known everywhere.
 */
#include "plan/looks.h"

#include "plan/x86.h"

struct depth {
	int64_t down;		/* bytes that the stack pointer is below the return address */
	bool known;
	bool framed;		/* the frame pointer is right below the return address */
};

static bool touches(const struct depth *depth, const struct x86 *x86)
{
	if (x86->lea || x86->kind == X86_NOP)
		return false;
	if (x86->base == X86_BASE_FRAME)
		return depth->framed && x86->disp == 8;
	if (!depth->known)
		return false;
	/* It takes it off the stack, but not to return. */
	if (x86->stack == X86_STACK_MOVES && x86->moves == -8 && !depth->down && !x86->lea)
		return true;
	return x86->base == X86_BASE_STACK && x86->disp == depth->down;
}

static void follow(struct depth *depth, const struct x86 *x86)
{
	switch (x86->stack) {
	case X86_STACK_MOVES:
		depth->down += x86->moves;
		break;
	case X86_STACK_FRAMES:
		depth->framed |= depth->known && depth->down == 8;
		break;
	case X86_STACK_LOST:
		depth->known = false;
		break;
	default:
		break;
	}
	if (x86->kind == X86_RET || x86->kind == X86_JMP || x86->kind == X86_STOP)
		depth->known = false;
}

bool looks_back(const struct image *image, uint64_t address, uint64_t size)
{
	const struct image_text *text = image_text(image, address);
	struct depth depth = { .known = true };
	uint64_t end = text && size <= text->end - address ? address + size : text ? text->end : 0;
	struct x86 x86;

	for (uint64_t at = address; text && at < end; at += x86.len) {
		if (!x86_decode(&x86, text->bytes + (at - text->start), text->end - at))
			return false;
		if (touches(&depth, &x86))
			return true;
		follow(&depth, &x86);
		if (!depth.known && !depth.framed)
			return false;
	}
	return false;
}
