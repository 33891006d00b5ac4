/*
 * program/verify: whether bytes are a program; see program.h and code.h. In traced programs: no memory, any thread or signal
 * handler. The bytes come from shared memory and may be anything; each is read once.
 */
#include <string.h>

#include "program/code.h"

static bool within(uint64_t at, uint64_t len, uint64_t size)
{
	return at <= size && len <= size - at;
}

uint32_t program_size(const void *program, size_t room)
{
	const struct code_head *head = program;
	uint32_t size;

	if (room < sizeof(*head) || CODE_GET(head->magic) != CODE_MAGIC)
		return 0;
	size = CODE_GET(head->size);
	return size >= sizeof(*head) && size <= room && size <= PROGRAM_SIZE_MAX ? size : 0;
}

static bool verify_head(const struct code_head *head, size_t size)
{
	size_t names = head->nfields * sizeof(struct code_field);

	return head->magic == CODE_MAGIC && head->size == size && !head->flags && head->nfields <= PROGRAM_FIELDS_MAX &&
	       head->ncode && head->ncode <= size / sizeof(struct code) &&
	       head->fields == head->ncode * sizeof(struct code) && within(head->fields, names, size) &&
	       head->texts == head->fields + names &&
	       ((head->start && head->start < head->ncode) || head->start == CODE_PASS || head->start == CODE_FAIL);
}

static bool verify_names(const struct code_head *head, const char *bytes, size_t size)
{
	const struct code_field *fields = (const void *)(bytes + head->fields);

	for (uint32_t i = 0; i < head->nfields; i++) {
		uint32_t name = CODE_GET(fields[i].name);

		if (CODE_GET(fields[i].class) > PROGRAM_EITHER || name >= size || !memchr(bytes + name, '\0', size - name))
			return false;
	}
	return true;
}

/* Operands lie before, are values, and of less depth. */
static bool verify_operand(const struct code *code, const struct code *c, uint32_t i, uint32_t operand)
{
	uint8_t op;

	if (!operand || operand >= i)
		return false;
	op = CODE_GET(code[operand].op);
	if (op == CODE_NONE || op >= CODE_TEST_FIRST)
		return false;
	return CODE_GET(c->op) >= CODE_TEST_FIRST || CODE_GET(code[operand].depth) < CODE_GET(c->depth);
}

static bool is_jump(const struct code *code, uint32_t ncode, uint32_t from, uint32_t to)
{
	if (to == CODE_PASS || to == CODE_FAIL)
		return true;
	return to > from && to < ncode && CODE_GET(code[to].op) >= CODE_TEST_FIRST;
}

/* What is particular to one operation. */
static bool verify_own(const struct code_head *head, const struct code *c, size_t size)
{
	switch (CODE_GET(c->op)) {
	case CODE_FIELD:
	case CODE_TEST_FIELD:
	case CODE_TEST_WIDE:
		return CODE_GET(c->field) < head->nfields;
	case CODE_TEST_TEXT:
		return CODE_GET(c->field) < head->nfields && within(CODE_GET(c->num), CODE_GET(c->len), size);
	case CODE_TEXT:
	case CODE_TEST_COMM:
	case CODE_GLOB:
		return within(CODE_GET(c->num), CODE_GET(c->len), size);
	case CODE_CPUS:
		return within(CODE_GET(c->num), CODE_GET(c->len) * 8ull, size);
	case CODE_NONE:
	case CODE_NAME_OF:
	case CODE_PATTERN:
		return false;
	default:
		return true;
	}
}

static bool verify_code(const struct code_head *head, const struct code *code, uint32_t i, size_t size)
{
	const struct code *c = &code[i];
	uint8_t op = CODE_GET(c->op);
	int operands = code_operands(op);

	if (op >= CODE_OPS || CODE_GET(c->depth) >= CODE_DEPTH_MAX || !verify_own(head, c, size))
		return false;
	if (operands > 0 && !verify_operand(code, c, i, CODE_GET(c->a)))
		return false;
	if (operands > 1 && !verify_operand(code, c, i, CODE_GET(c->b)))
		return false;
	return op < CODE_TEST_FIRST ||
	       (is_jump(code, head->ncode, i, CODE_GET(c->go[1])) && is_jump(code, head->ncode, i, CODE_GET(c->go[0])));
}

bool program_verify(const void *program, size_t size)
{
	const struct code *code = code_at(program);
	struct code_head head;

	if (size < sizeof(head) || size > PROGRAM_SIZE_MAX || size % 8 || (uintptr_t)program % 8)
		return false;
	head = code_head_read(program);
	if (!verify_head(&head, size) || !verify_names(&head, program, size))
		return false;
	for (uint32_t i = 1; i < head.ncode; i++)
		if (!verify_code(&head, code, i, size))
			return false;
	return head.start >= head.ncode || CODE_GET(code[head.start].op) >= CODE_TEST_FIRST;
}

uint32_t program_uses(const void *program, size_t size)
{
	const struct code *code = code_at(program);
	struct code_head head = code_head_read(program);
	uint32_t uses = 0;

	for (uint32_t i = 1; i < head.ncode && (i + 1ull) * sizeof(*code) <= size; i++) {
		switch (CODE_GET(code[i].op)) {
		case CODE_TIME:
			uses |= 1u << PROGRAM_TIME;
			break;
		case CODE_COMM:
			uses |= 1u << PROGRAM_COMM;
			break;
		case CODE_STACK:
			uses |= 1u << PROGRAM_STACK;
			break;
		case CODE_CPU:
		case CODE_CPUS:
			uses |= 1u << PROGRAM_CPU;
			break;
		default:
			break;
		}
	}
	return uses;
}
