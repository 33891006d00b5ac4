/*
 * hook/emit: the record of a synthetic event or a probe, put together out of another event's, in staged memory.
 *
 *   common 8 | fields | dynamic parts, each at a multiple of 4
 */
#include "hook/local.h"

struct making {
	unsigned char *record;
	uint32_t fixed;
	uint32_t at;		/* where the next dynamic part goes */
	const struct linked *linked;
	const struct program_input *in;
};

static const char fault[] = HOOK_FAULT;

static void put_number(struct making *making, const struct hook_field *field, uint64_t value)
{
	unsigned char *to = making->record + field->offset;

	switch (field->size) {
	case 1:
		*to = (unsigned char)value;
		break;
	case 2:
		memcpy(to, &(uint16_t){ (uint16_t)value }, 2);
		break;
	case 4:
		memcpy(to, &(uint32_t){ (uint32_t)value }, 4);
		break;
	case 8:
		memcpy(to, &value, 8);
		break;
	default:
		break;
	}
}

static void put_real(struct making *making, const struct hook_field *field, double value)
{
	float small = (float)value;

	if (field->size == sizeof(small))
		memcpy(making->record + field->offset, &small, sizeof(small));
	else if (field->size == sizeof(value))
		memcpy(making->record + field->offset, &value, sizeof(value));
}

/* What is peeked at lies where dynamic parts go next: it may be in its place already. */
static struct program_text read_text(const struct making *making, uint32_t root)
{
	return program_text(making->linked->program, making->linked->size, root, making->in,
			    (char *)making->record + making->at, HOOK_STAGE_SIZE - making->at);
}

static struct program_text read_string(const struct making *making, uint32_t root)
{
	struct program_text text = read_text(making, root);

	if (!text.at)
		return (struct program_text){ fault, sizeof(fault) - 1 };
	text.len = (uint32_t)strnlen(text.at, text.len);
	return text;
}

static void put_text(struct making *making, const struct hook_field *field)
{
	struct program_text text = read_string(making, field->root);

	if (!field->size)
		return;
	if (text.len > field->size - 1u)
		text.len = field->size - 1u;
	memcpy(making->record + field->offset, text.at, text.len);
}

/* `left`: dynamic parts that are still to come. */
static void put_part(struct making *making, const struct hook_field *field, uint32_t left)
{
	bool is_text = field->form == HOOK_FIELD_DYN_TEXT;
	struct program_text text = is_text ? read_string(making, field->root) : read_text(making, field->root);
	uint32_t room = HOOK_STAGE_SIZE - making->at - left * 4, loc;

	if (is_text && text.len > room - 1)
		text.len = room - 1;
	else if (!is_text)
		text.len = text.at ? (text.len < room ? text.len : room) & ~7u : 0;
	if (text.len)
		memmove(making->record + making->at, text.at, text.len);
	if (is_text)
		making->record[making->at + text.len++] = '\0';
	memset(making->record + making->at + text.len, 0, -text.len & 3);
	loc = making->at | text.len << 16;
	memcpy(making->record + field->offset, &loc, sizeof(loc));
	making->at += (text.len + 3) & ~3u;
}

static bool is_part(const struct hook_field *field)
{
	return field->form == HOOK_FIELD_DYN_TEXT || field->form == HOOK_FIELD_DYN_STACK;
}

static void put_field(struct making *making, const struct hook_field *field, uint32_t left)
{
	uint64_t value = 0;
	uint32_t size = is_part(field) ? 4 : field->size;

	if (field->offset < 8 || field->offset > making->fixed || size > making->fixed - field->offset)
		return;
	switch (field->form) {
	case HOOK_FIELD_NUMBER:
		if (!program_fetch(making->linked->program, making->linked->size, field->root, making->in, &value))
			value = 0;
		put_number(making, field, value);
		break;
	case HOOK_FIELD_REAL:
		put_real(making, field,
			 program_real(making->linked->program, making->linked->size, field->root, making->in));
		break;
	case HOOK_FIELD_TEXT:
		put_text(making, field);
		break;
	case HOOK_FIELD_DYN_TEXT:
	case HOOK_FIELD_DYN_STACK:
		put_part(making, field, left);
		break;
	default:
		break;
	}
}

/* False: what was read is not what was bound. */
static bool fill(const struct hook_host *host, const struct hook_emit *emit, struct making *making)
{
	uint32_t n = emit->nfields < HOOK_EMIT_MAX ? emit->nfields : HOOK_EMIT_MAX;
	struct hook_field field;
	uint32_t parts = 0;

	for (uint32_t i = 0; i < n; i++)
		parts += code_copy(&host->code, emit->fields, i, &field, sizeof(field)) && is_part(&field);
	if (making->fixed < 8 || making->fixed % 4 || making->fixed + 4 * parts > HOOK_STAGE_SIZE)
		return false;
	memset(making->record, 0, making->fixed);
	making->at = making->fixed;
	for (uint32_t i = 0; i < n; i++) {
		if (!code_copy(&host->code, emit->fields, i, &field, sizeof(field)))
			return false;
		if (is_part(&field) && !parts--)
			return false;
		put_field(making, &field, parts);
	}
	return is_sound(host);
}

/* Never inlined: the host tells stages of one thread by their frames. */
static __attribute__((noinline)) void make(const struct hook_host *host, const struct hook_emit *emit,
					   const struct linked *linked, const struct program_input *in)
{
	struct making making = { .fixed = emit->fixed, .linked = linked, .in = in };

	making.record = host->calls->stage(host);
	if (!making.record) {
		host->calls->lose(host, emit->event);
		return;
	}
	if (fill(host, emit, &making))
		host->calls->emit(host, emit->event, making.record, making.at);
	host->calls->unstage(host, making.record);
}

static __attribute__((noinline)) void make_with_stack(const struct hook_host *host, const struct hook_emit *emit,
						      const struct linked *linked, struct program_input *in)
{
	uint64_t stack[TABLE_STACK_MAX];

	in->nstack = host->calls->stack(host, stack, TABLE_STACK_MAX);
	in->stack = stack;
	make(host, emit, linked, in);
}

void hook_emit_run(const struct hook_host *host, const struct hook_bound *bound, uint32_t at, const void *record, uint32_t len,
		   const struct linked *linked, const struct program_input *in)
{
	struct program_input own;
	struct linked other;
	struct hook_emit emit;

	if (!code_copy(&host->code, at, 0, &emit, sizeof(emit)) || !is_sound(host))
		return;
	if (host->calls->wants && !host->calls->wants(host, emit.event))
		return;
	if (!emit.program && linked) {
		make(host, &emit, linked, in);
		return;
	}
	if (!hook_find_program(host, bound, emit.program, &other))
		return;
	hook_input(host, &other, bound->buffer, record, len, &own);
	if (in) {
		own.vars = in->vars;
		own.nvars = in->nvars;
		own.texts = in->texts;
	}
	if (other.uses & 1u << PROGRAM_STACK)
		make_with_stack(host, &emit, &other, &own);
	else
		make(host, &emit, &other, &own);
}

void hook_emit_one(const struct hook_host *host, const struct hook_bound *bound, uint32_t emit, const void *record, uint32_t len)
{
	hook_emit_run(host, bound, emit, record, len, NULL, NULL);
}
