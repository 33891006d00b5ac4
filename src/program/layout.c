/*
 * program/layout: the end of building: a tree of truths becomes tests in their order, behind the values, and jumps take the
 * place of && || and !; see build.c and code.h. The tool's.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "program/build.h"

#define ALIGN8(n) (((n) + 7) & ~(size_t)7)

/* Hands a truth's ways out down to its parts. */
static void lead(struct program_build *build, const struct truth *t)
{
	struct truth *a = &build->truths[t->a], *b = &build->truths[t->b];

	a->yes = t->kind == TRUTH_NOT ? t->no : t->yes;
	a->no = t->kind == TRUTH_NOT ? t->yes : t->no;
	if (t->kind == TRUTH_NOT)
		return;
	b->yes = t->yes;
	b->no = t->no;
	if (t->kind == TRUTH_AND)
		a->yes = b->entry;
	else
		a->no = b->entry;
}

/*
 * Walks down from the root, first parts first, and lists the tests in the order in which they are tried. Truths that are
 * still to be walked wait on a stack: there are never more of them than truths.
 */
static int order_tests(struct program_build *build)
{
	uint32_t *waiting = malloc(build->ntruths * sizeof(*waiting)), n = 0;

	build->ntests = 0;
	free(build->order);
	build->order = malloc(build->ntruths * sizeof(*build->order));
	if (!waiting || !build->order) {
		free(waiting);
		return -ENOMEM;
	}
	build->truths[build->root].yes = TRUTH_PASS;
	build->truths[build->root].no = TRUTH_FAIL;
	waiting[n++] = build->root;
	while (n) {
		uint32_t i = waiting[--n];
		struct truth *t = &build->truths[i];

		if (t->kind == TRUTH_TEST) {
			t->number = (uint16_t)(build->nvalues + build->ntests);
			build->order[build->ntests++] = i;
			continue;
		}
		lead(build, t);
		if (t->kind != TRUTH_NOT)
			waiting[n++] = t->b;
		waiting[n++] = t->a;
	}
	free(waiting);
	return 0;
}

static uint16_t jump(const struct program_build *build, uint32_t to)
{
	return to == TRUTH_PASS ? CODE_PASS : to == TRUTH_FAIL ? CODE_FAIL : build->truths[to].number;
}

static uint16_t start(const struct program_build *build)
{
	const struct truth *root;

	if (build->root == PROGRAM_NOTHING)
		return CODE_PASS;
	root = &build->truths[build->root];
	if (root->kind == TRUTH_KNOWN)
		return root->known ? CODE_PASS : CODE_FAIL;
	return build->truths[root->entry].number;
}

static bool has_text(uint8_t op)
{
	return op == CODE_TEXT || op == CODE_TEST_TEXT || op == CODE_TEST_COMM || op == CODE_GLOB || op == CODE_CPUS;
}

static void put_code(struct buf *out, struct code code, uint32_t texts)
{
	if (has_text(code.op))
		code.num += texts;
	buf_add(out, &code, sizeof(code));
}

static void put_tests(const struct program_build *build, struct buf *out, uint32_t texts)
{
	for (uint32_t i = 0; i < build->ntests; i++) {
		const struct truth *t = &build->truths[build->order[i]];
		struct code code = t->code;

		code.go[1] = jump(build, t->yes);
		code.go[0] = jump(build, t->no);
		put_code(out, code, texts);
	}
}

static size_t names_size(const struct program_build *build)
{
	size_t size = 0;

	for (uint32_t i = 0; i < build->nfields; i++)
		size += strlen(build->fields[i].name) + 1;
	return size;
}

static void put_fields(const struct program_build *build, struct buf *out, uint32_t names)
{
	for (uint32_t i = 0; i < build->nfields; i++) {
		struct code_field field = { .name = names, .class = build->fields[i].class };

		buf_add(out, &field, sizeof(field));
		names += (uint32_t)strlen(build->fields[i].name) + 1;
	}
	for (uint32_t i = 0; i < build->nfields; i++)
		buf_add(out, build->fields[i].name, strlen(build->fields[i].name) + 1);
}

/* Each test has its own budget. */
static bool costs_too_much(const struct program_build *build)
{
	for (uint32_t i = 0; i < build->ntests; i++) {
		const struct truth *t = &build->truths[build->order[i]];
		int operands = code_operands(t->code.op);
		uint32_t steps = operands ? build->values[t->code.a].steps : 0;

		steps += operands > 1 ? build->values[t->code.b].steps : 0;
		if (steps > build_max_steps(build))
			return true;
	}
	return false;
}

/* The head says where all the rest is going to lie. */
static struct code_head lay_out(const struct program_build *build)
{
	uint32_t ncode = build->nvalues + build->ntests;
	struct code_head head = { .magic = CODE_MAGIC, .ncode = (uint16_t)ncode, .nfields = (uint16_t)build->nfields };

	head.flags = build->for_files ? CODE_FOR_FILES : 0;
	head.start = start(build);
	head.fields = (uint32_t)(ncode * sizeof(struct code));
	head.texts = head.fields + build->nfields * (uint32_t)sizeof(struct code_field);
	head.size = (uint32_t)(ALIGN8(head.texts + names_size(build)) + ALIGN8(build->texts.len));
	return head;
}

static void pad(struct buf *out, size_t from)
{
	while (!buf_failed(out) && (out->len - from) % 8)
		buf_putc(out, '\0');
}

int program_build_finish(struct program_build *build, struct buf *out)
{
	size_t from = out->len;
	struct code_head head;
	uint32_t texts;

	if (!build || build->error)
		return build ? build->error : -ENOMEM;
	if (build->root != PROGRAM_NOTHING && build->truths[build->root].kind != TRUTH_KNOWN && order_tests(build))
		return -ENOMEM;
	if (build->nvalues + build->ntests >= CODE_MAX)
		return -E2BIG;
	head = lay_out(build);
	texts = head.size - (uint32_t)ALIGN8(build->texts.len);
	if (costs_too_much(build) || head.size > (build->for_files ? CODE_MAX * sizeof(struct code) : PROGRAM_SIZE_MAX))
		return -E2BIG;
	buf_add(out, &head, sizeof(head));
	for (uint32_t i = 1; i < build->nvalues; i++)
		put_code(out, build->values[i].code, texts);
	put_tests(build, out, texts);
	put_fields(build, out, head.texts);
	pad(out, from);
	buf_add(out, build->texts.data ? build->texts.data : "", build->texts.len);
	pad(out, from);
	return buf_failed(out) ? -ENOMEM : 0;
}
