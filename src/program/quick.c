/*
 * program/quick: see quick.h. Runs when a program is linked, in traced programs too.
 */
#include "program/quick.h"

#include "program/code.h"
#include "program/load.h"

/* All comparisons are one question: does the number lie within a range, counted round the end of all numbers? */
static bool make_range(struct program_quick *quick, uint8_t word, uint64_t num, uint64_t least, uint64_t most)
{
	uint64_t low = word & CODE_LT ? least : word & CODE_EQ ? num : num + 1;
	uint64_t high = word & CODE_GT ? most : word & CODE_EQ ? num : num - 1;

	/* All but one: from behind it round to before it. */
	if (word == CODE_NE) {
		low = num + 1;
		high = num - 1;
	}
	/* Nothing is less than the least. */
	if ((word == CODE_LT && num == least) || (word == CODE_GT && num == most))
		return false;
	quick->low = low;
	quick->span = high - low;
	return true;
}

/* `wide`: in 64 bits, else in the field's own type. */
static void make_number(struct program_quick *quick, const struct code *c, const struct program_field *f, bool wide)
{
	uint32_t shift = f->shape ? 64u - 8u * f->size : 0;
	uint64_t num = CODE_GET(c->num), fit, least = 0, most = UINT64_MAX >> shift;
	uint8_t word = CODE_GET(c->word), flags = CODE_GET(c->flags);

	/* What the runtime fills in is not there yet. */
	if (!f->shape || f->offset < 8 || flags & CODE_NOT)
		return;
	fit = f->is_signed ? (uint64_t)((int64_t)(num << shift) >> shift) : num << shift >> shift;
	/* Beyond what the field can hold, or not by its sign. */
	if (wide && (fit != num || (f->is_signed && flags & CODE_UNSIGNED)))
		return;
	if (f->is_signed) {
		least = (uint64_t)(INT64_MIN >> shift);
		most = (uint64_t)(INT64_MAX >> shift);
	}
	quick->end = (uint16_t)(f->offset + f->size);
	quick->size = (uint8_t)f->size;
	if (word == CODE_AND) {
		quick->low = num << shift >> shift;
		quick->kind = PROGRAM_QUICK_BITS;
	} else if (make_range(quick, word, fit, least, most)) {
		quick->kind = f->size == 4 ? PROGRAM_QUICK_FOUR : PROGRAM_QUICK_NUMBER;
	}
}

static void make_text(struct program_quick *quick, const struct code *c, const struct program_field *f)
{
	uint32_t len = CODE_GET(c->len);

	if (f->class != PROGRAM_TEXT || f->place != LOAD_LOC || f->offset < 8 || CODE_GET(c->flags))
		return;
	quick->end = (uint16_t)(f->offset + 4);
	/* The NUL behind a short one is part of it. */
	quick->span = len < 7 ? LOAD_FIRST(len + 1) : UINT64_MAX;
	quick->low = CODE_GET(c->more) & quick->span;
	quick->kind = PROGRAM_QUICK_TEXT;
}

void program_quick_make(const void *program, size_t size, const struct program_field *fields, struct program_quick *quick)
{
	const struct code_head *head = program;
	const struct code *c;
	uint32_t start;

	memset(quick, 0, sizeof(*quick));
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	start = size < sizeof(*head) ? UINT32_MAX : CODE_GET(head->start);
	if (!start || start >= CODE_MAX || (start + 1ull) * sizeof(*c) > size || CODE_GET(head->flags) & CODE_FOR_FILES)
		return;
	c = code_at(program) + start;
	/* One that decides nothing by itself is of no use. */
	if (CODE_GET(c->go[0]) != CODE_FAIL)
		return;
	fields += CODE_GET(c->field) % PROGRAM_FIELDS_MAX;
	if (CODE_GET(c->op) == CODE_TEST_FIELD || CODE_GET(c->op) == CODE_TEST_WIDE)
		make_number(quick, c, fields, CODE_GET(c->op) == CODE_TEST_WIDE);
	else if (CODE_GET(c->op) == CODE_TEST_TEXT)
		make_text(quick, c, fields);
#else
	(void)fields;
	(void)head;
	(void)c;
	(void)start;
#endif
}

bool program_quick_look(const struct program_quick *quick, const void *record, uint32_t len)
{
	uint32_t end = CODE_GET(quick->end), size = CODE_GET(quick->size) & 15;
	uint8_t kind = CODE_GET(quick->kind);
	uint64_t value;

	if (kind == PROGRAM_QUICK_TEXT)
		return program_quick_text(quick, record, len);
	if (kind == PROGRAM_QUICK_NONE || !size || size > 8 || end > len || end < size)
		return false;
	value = load_bytes((const unsigned char *)record + end - size, size, false);
	if (kind == PROGRAM_QUICK_BITS)
		return !(value & quick->low);
	return (value - quick->low) << (64 - 8 * size) > quick->span << (64 - 8 * size);
}

bool program_quick_field(const void *program, size_t size, uint32_t root, const struct program_field *fields,
			 struct program_field *field)
{
	const struct code *c = code_at(program);

	if (!root || root >= CODE_MAX || (root + 1ull) * sizeof(*c) > size || CODE_GET(c[root].op) != CODE_FIELD)
		return false;
	*field = fields[CODE_GET(c[root].field) % PROGRAM_FIELDS_MAX];
	return field->shape != 0;
}

uint64_t program_quick_load(const struct program_field *field, const void *record, uint32_t len)
{
	struct program_input in = { .rec = record, .len = len };
	uint64_t value;

	return load_number(field, &in, &value) ? value : 0;
}
