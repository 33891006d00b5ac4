/*
 * decode/block: a record of the blk tracer, the way the kernel prints it:
 *
 *   259,0    Q  WS 16900 + 392 [kworker/u8:0]
 *
 * device, action, what kind of request it is, sector and number of sectors, task. See special.h.
 */
#include "decode/special.h"

#include "decode/conv.h"

/* Of the action word the low half is what happened, the high half a bit for each kind. */
enum { PLUG = 9, UNPLUG = 10, UNPLUG_TIMER = 11, SPLIT = 13, REMAP = 15 };
enum {
	KIND_WRITE = 2, KIND_FLUSH = 4, KIND_SYNC = 8,
	KIND_AHEAD = 1 << 11, KIND_META = 1 << 12, KIND_DISCARD = 1 << 13, KIND_FUA = 1 << 15,
};

static const char *const actions[] = { "?", "Q", "M", "F", "G", "S", "R", "D", "C", "P", "U", "UT",
				       "I", "X", "B", "A", "?", "?" };

static uint64_t word(const struct frame *f, uint32_t offset, uint32_t size)
{
	if (offset + size > f->len)
		return 0;
	return decode_abi_load(f->rec + offset, size, f->format->abi.big_endian);
}

static void put_device(struct sink *s, uint32_t device)
{
	static const struct conv major = { .kind = 'u', .size = 4, .width = 3, .prec = -1 };
	static const struct conv minor = { .kind = 'u', .size = 4, .width = 3, .prec = -1,
					   .flags = CONV_LEFT };

	conv_int(s, &major, device >> 20, false);
	sink_putc(s, ',');
	conv_int(s, &minor, device & 0xfffff, false);
}

static void put_kind(struct sink *s, uint32_t kind, uint32_t bytes)
{
	size_t mark = sink_used(s);

	if (kind & KIND_FLUSH)
		sink_putc(s, 'F');
	sink_putc(s, kind & KIND_DISCARD ? 'D' : kind & KIND_WRITE ? 'W' : bytes ? 'R' : 'N');
	if (kind & KIND_FUA)
		sink_putc(s, 'F');
	if (kind & KIND_AHEAD)
		sink_putc(s, 'A');
	if (kind & KIND_SYNC)
		sink_putc(s, 'S');
	if (kind & KIND_META)
		sink_putc(s, 'M');
	sink_adjust(s, mark, 3, -1, false);
}

static void put_task(const struct frame *f, struct sink *s)
{
	const char *comm = f->ctx->comm ? f->ctx->comm(f->ctx->arg, f->pid) : NULL;

	sink_putc(s, '[');
	sink_puts(s, comm ? comm : f->pid ? "<...>" : "<idle>");
	sink_putc(s, ']');
}

/* What a remapped or split request has behind it is big-endian, wherever it was written. */
static void put_pdu(const struct frame *f, uint32_t action, struct sink *s)
{
	const uint8_t *pdu = f->rec + f->format->own[2]->offset;
	bool there = f->format->own[2]->offset + 24u <= f->len;

	if (action == REMAP && there) {
		uint32_t device = (uint32_t)decode_abi_load(pdu, 4, true);

		sink_puts(s, " <- (");
		sink_dec(s, device >> 20);
		sink_putc(s, ',');
		sink_dec(s, device & 0xfffff);
		sink_puts(s, ") ");
		sink_dec(s, decode_abi_load(pdu + 8, 8, true));
	} else if (action == SPLIT && f->format->own[2]->offset + 8u <= f->len) {
		sink_puts(s, " / ");
		sink_dec(s, decode_abi_load(pdu, 8, true));
	}
}

static void put_what(const struct frame *f, uint32_t action, struct sink *s)
{
	uint64_t sector = word(f, f->format->own[0]->offset, 8);
	uint32_t sectors = (uint32_t)word(f, f->format->own[0]->offset + 8, 4) >> 9;
	bool remap = action == REMAP;

	if (action == PLUG || action == UNPLUG || action == UNPLUG_TIMER) {
		put_task(f, s);
		if (action != PLUG && f->format->own[2]->offset + 8u <= f->len) {
			sink_putc(s, ' ');
			sink_dec(s, decode_abi_load(f->rec + f->format->own[2]->offset, 8, true));
		}
		return;
	}
	sink_dec(s, sector);
	if (sectors && action != SPLIT) {
		sink_puts(s, " + ");
		sink_dec(s, sectors);
	}
	put_pdu(f, action, s);
	if (!remap) {
		sink_putc(s, ' ');
		put_task(f, s);
	}
}

void decode_print_block(const struct frame *f, struct sink *s)
{
	uint32_t word_of_action = (uint32_t)word(f, f->format->own[1]->offset, 4);
	uint32_t action = word_of_action & 0xffff;
	size_t mark;

	put_device(s, (uint32_t)word(f, f->format->own[0]->offset + 20, 4));
	sink_putc(s, ' ');
	mark = sink_used(s);
	sink_puts(s, actions[action < sizeof(actions) / sizeof(actions[0]) ? action : 0]);
	sink_adjust(s, mark, 2, -1, false);
	sink_putc(s, ' ');
	put_kind(s, word_of_action >> 16, (uint32_t)word(f, f->format->own[0]->offset + 8, 4));
	sink_putc(s, ' ');
	put_what(f, action, s);
}
