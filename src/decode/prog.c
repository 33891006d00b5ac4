/*
 * decode/prog: compiles a print format: the format string here, its arguments in parse.c and
 * call.c.
 *
 *   "item=%s n=%d", __get_str(item), REC->n  -->  "item=" %s(OP_BYTES)  " n=" %d(OP_LOAD)
 */
#include "decode/prog.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode/compile.h"
#include "decode/eval.h"

uint32_t prog_fail(struct compiler *c, const char *why)
{
	if (!c->ret)
		c->ret = err_set_at(c->err, -EBADMSG, (int)(c->lex.at - c->lex.text),
				    "print format: %s", why);
	return 0;
}

/* Room for one more in an array of *cap. */
static bool grow(struct compiler *c, void **array, uint32_t nr, uint32_t *cap, size_t size)
{
	uint32_t more = *cap ? *cap * 2 : 16;
	void *p;

	if (c->ret)
		return false;
	if (nr < *cap)
		return true;
	p = realloc(*array, more * size);
	if (!p) {
		c->ret = err_set(c->err, -ENOMEM, "out of memory");
		return false;
	}
	*array = p;
	*cap = more;
	return true;
}

static bool constant(const struct compiler *c, uint32_t node)
{
	uint8_t op = c->prog->nodes[node].op;

	return !node || op == OP_NUM || op == OP_DOUBLE;
}

/* Puts a constant in place of the newest node, whose operands are the constants right before it. */
static uint32_t fold(struct compiler *c, uint32_t at)
{
	struct node *n = &c->prog->nodes[at];
	struct value v;

	if (n->op < OP_CAST || n->op > OP_COND || !constant(c, n->a) || !constant(c, n->b) ||
	    !constant(c, n->c))
		return at;
	v = decode_eval(&(struct frame){ .prog = c->prog, .format = c->format }, at);
	c->prog->nr_nodes = n->a + 1;
	c->prog->nodes[n->a] = (struct node){
		.op = v.what == VALUE_DOUBLE ? OP_DOUBLE : OP_NUM,
		.depth = 1,
		.type = n->type,
		.num = v.num,
	};
	return c->prog->nr_nodes - 1;
}

uint32_t prog_node(struct compiler *c, struct node node)
{
	struct decode_prog *p = c->prog;
	const uint32_t operands[] = { node.a, node.b, node.c };

	if (!grow(c, (void **)&p->nodes, p->nr_nodes, &c->cap_nodes, sizeof(*p->nodes)))
		return 0;
	node.depth = 1;
	for (int i = 0; i < 3; i++)
		if (operands[i] && p->nodes[operands[i]].depth >= node.depth)
			node.depth = (uint8_t)(p->nodes[operands[i]].depth + 1);
	if (node.depth > PROG_DEPTH_MAX)
		return prog_fail(c, "too deeply nested");
	p->nodes[p->nr_nodes] = node;
	return fold(c, p->nr_nodes++);
}

bool prog_name(struct compiler *c, struct name name)
{
	struct decode_prog *p = c->prog;

	if (!grow(c, (void **)&p->names, p->nr_names, &c->cap_names, sizeof(*p->names)))
		return false;
	p->names[p->nr_names++] = name;
	return true;
}

bool prog_string(struct compiler *c, struct text *out)
{
	char *start = c->prog->strings + c->strings_used;
	size_t len = 0;

	if (c->lex.word != LEX_STRING) {
		prog_fail(c, "expected a string");
		return false;
	}
	for (; c->lex.word == LEX_STRING; decode_lex_next(&c->lex))
		len += decode_lex_string(&c->lex, start + len);
	c->strings_used += len;
	*out = (struct text){ start, (uint32_t)len };
	return true;
}

bool prog_expect(struct compiler *c, int word, const char *why)
{
	if (c->ret)
		return false;
	if (c->lex.word != word) {
		prog_fail(c, why);
		return false;
	}
	decode_lex_next(&c->lex);
	return true;
}

bool prog_word_is(const struct compiler *c, const char *name)
{
	return c->lex.word == LEX_NAME && strlen(name) == c->lex.len &&
	       !memcmp(c->lex.at, name, c->lex.len);
}

static uint32_t argument(struct compiler *c)
{
	if (!prog_expect(c, ',', "fewer arguments than conversions"))
		return 0;
	return prog_expr(c);
}

bool prog_is_memory(const struct compiler *c, uint32_t at)
{
	const struct node *n = &c->prog->nodes[at];

	switch (n->op) {
	case OP_STRING:
	case OP_RANGE:
	case OP_BYTES:
		return true;
	case OP_CAST:
	case OP_ADD:
	case OP_SUB:
		return n->type.kind == DECODE_POINTER && prog_is_memory(c, n->a);
	case OP_COND:
		return prog_is_memory(c, n->b) || prog_is_memory(c, n->c);
	default:
		return n->op >= OP_MADE_FIRST;
	}
}

static bool add_piece(struct compiler *c, struct piece piece)
{
	struct decode_prog *p = c->prog;
	bool number = piece.conv.kind && !strchr("sp", piece.conv.kind);

	if (piece.conv.flags & CONV_STAR_WIDTH)
		piece.width = argument(c);
	if (piece.conv.flags & CONV_STAR_PREC)
		piece.prec = argument(c);
	if (piece.conv.kind)
		piece.value = argument(c);
	if (!c->ret && ((number && prog_is_memory(c, piece.value)) ||
			prog_is_memory(c, piece.width) || prog_is_memory(c, piece.prec)))
		prog_fail(c, "text where a number is to be printed");
	if (!grow(c, (void **)&p->pieces, p->nr_pieces, &c->cap_pieces, sizeof(*p->pieces)))
		return false;
	p->pieces[p->nr_pieces++] = piece;
	return true;
}

/*
 * Cuts the format string at its conversions; the lexer stands behind the string, where their
 * arguments follow.
 */
static void cut_pieces(struct compiler *c, struct text text)
{
	const char *p = text.p, *from = p, *end = p + text.len;
	struct piece piece = { 0 };
	size_t n;

	while (p < end) {
		if (*p != '%' || !(n = conv_parse(p, end, &c->format->abi, &piece.conv))) {
			p++;
			continue;
		}
		piece.text = (struct text){ from, (uint32_t)(p - from) };
		if (piece.conv.kind == '%') {
			piece.text.len++;
			piece.conv = (struct conv){ 0 };
		}
		if (!add_piece(c, piece))
			return;
		from = p += n;
	}
	piece.conv = (struct conv){ 0 };
	piece.text = (struct text){ from, (uint32_t)(end - from) };
	add_piece(c, piece);
}

int decode_prog_compile(const struct decode_format *format, const struct decode_prog **out,
			struct err *err)
{
	struct compiler c = { .format = format, .err = err };
	size_t len = strlen(format->print_fmt);
	struct text text;

	*out = NULL;
	if (!len)
		return err_set_at(err, -EBADMSG, 0, "print format: none");
	c.prog = calloc(1, sizeof(*c.prog));
	if (!c.prog || !(c.prog->strings = malloc(len + 1))) {
		free(c.prog);
		return err_set(err, -ENOMEM, "out of memory");
	}
	decode_lex_open(&c.lex, format->print_fmt, len, &format->abi);
	/* Number 0 means none. */
	prog_node(&c, (struct node){ .op = OP_NUM, .type = prog_int });
	if (prog_string(&c, &text))
		cut_pieces(&c, text);
	if (c.ret) {
		decode_prog_free(c.prog);
		return c.ret;
	}
	*out = c.prog;
	return 0;
}

void decode_prog_free(const struct decode_prog *prog)
{
	if (!prog)
		return;
	free(prog->pieces);
	free(prog->nodes);
	free(prog->names);
	free(prog->strings);
	free((void *)prog);
}
