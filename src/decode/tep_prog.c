/*
 * decode/tep_prog: compiles a print format into pieces; see tep.h.
 */
#include "decode/tep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct tep_chunk {
	struct tep_chunk *next;
	char text[];
};

bool tep_fail(struct tep_compiler *c)
{
	c->failed = true;
	return false;
}

static bool no_memory(struct tep_compiler *c)
{
	c->no_memory = true;
	return tep_fail(c);
}

static bool grow(struct tep_compiler *c, void **array, uint32_t nr, uint32_t *cap, size_t size)
{
	uint32_t more = *cap ? *cap * 2 : 16;
	void *p;

	if (c->failed)
		return false;
	if (nr < *cap)
		return true;
	p = realloc(*array, more * size);
	if (!p)
		return no_memory(c);
	*array = p;
	*cap = more;
	return true;
}

/* Number 0 is none, and is what is returned when there is no more. */
uint32_t tep_node_new(struct tep_compiler *c)
{
	struct tep_prog *p = c->prog;

	if (!grow(c, (void **)&p->nodes, p->nr_nodes, &c->cap_nodes, sizeof(*p->nodes)))
		return 0;
	p->nodes[p->nr_nodes] = (struct tep_node){ 0 };
	return p->nr_nodes++;
}

bool tep_name_add(struct tep_compiler *c, struct tep_name name)
{
	struct tep_prog *p = c->prog;

	if (!grow(c, (void **)&p->names, p->nr_names, &c->cap_names, sizeof(*p->names)))
		return false;
	p->names[p->nr_names++] = name;
	return true;
}

static char *chunk(struct tep_compiler *c, size_t len)
{
	struct tep_chunk *chunk = calloc(1, sizeof(*chunk) + len + 1 + TEP_TEXT_ROOM);

	if (!chunk) {
		no_memory(c);
		return NULL;
	}
	chunk->next = c->prog->chunks;
	c->prog->chunks = chunk;
	return chunk->text;
}

struct text tep_join(struct tep_compiler *c, struct text a, const char *between, struct text b)
{
	size_t n = strlen(between);
	char *p = chunk(c, a.len + n + b.len);

	if (!p)
		return (struct text){ "", 0 };
	if (a.len)
		memcpy(p, a.p, a.len);
	memcpy(p + a.len, between, n);
	if (b.len)
		memcpy(p + a.len + n, b.p, b.len);
	return (struct text){ p, (uint32_t)(a.len + n + b.len) };
}

bool tep_expect(struct tep_compiler *c, int word)
{
	if (c->failed || c->lex.word != word)
		return tep_fail(c);
	decode_lex_next(&c->lex);
	return true;
}

bool tep_is_printable(const char *p, const char *end)
{
	for (; p < end; p++)
		if ((*p < ' ' || *p > '~') && *p != '\n')
			return false;
	return true;
}

/*
 * The format string, or several in a row. Of its escapes only n, t and r mean something; any other
 * character stands for itself.
 */
static bool format_text(struct tep_compiler *c, struct text *out)
{
	char *to;
	size_t n = 0;

	if (c->lex.word != LEX_STRING)
		return tep_fail(c);
	to = chunk(c, strlen(c->format->print_fmt));
	for (; to && c->lex.word == LEX_STRING; decode_lex_next(&c->lex)) {
		const char *p = c->lex.at + 1, *end = c->lex.p - 1;

		if (!tep_is_printable(p, end))
			return tep_fail(c);
		for (; p < end; p++) {
			if (*p == '\\' && p + 1 < end) {
				p++;
				to[n++] = (char)(*p == 'n' ? '\n' : *p == 't' ? '\t' :
						 *p == 'r' ? '\r' : *p);
			} else {
				to[n++] = *p;
			}
		}
	}
	*out = (struct text){ to, (uint32_t)n };
	return to != NULL;
}

static bool is_atom(const struct tep_compiler *c, uint32_t at)
{
	return c->prog->nodes[at].kind == TEP_ATOM;
}

static struct text decimal(struct tep_compiler *c, uint64_t v)
{
	char digits[24], *p = digits + sizeof(digits);
	uint64_t rest = (int64_t)v < 0 ? 0 - v : v;

	do {
		*--p = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest);
	if ((int64_t)v < 0)
		*--p = '-';
	return tep_join(c, (struct text){ p, (uint32_t)(digits + sizeof(digits) - p) }, "",
			(struct text){ "", 0 });
}

void tep_fold(struct tep_compiler *c, uint32_t at)
{
	struct tep_node n = c->prog->nodes[at];
	struct frame f = { .format = c->format };
	uint64_t v;

	if (!at || c->failed || n.kind != TEP_OP)
		return;
	tep_fold(c, n.a);
	tep_fold(c, n.b);
	tep_fold(c, n.c);
	if (n.op == '?' || n.op == '[' || !is_atom(c, n.a) || !is_atom(c, n.b))
		return;
	f.tep = c->prog;
	v = n.op == '^' ? c->prog->nodes[n.a].num ^ c->prog->nodes[n.b].num : tep_number(&f, at);
	tep_set_atom(c, at, decimal(c, v));
	c->prog->nodes[at].num = v;
}

/*
 * A cast that keeps everything, and an array's element by a constant, are read at once: offset and
 * size are known. What they are to a %s does not change.
 */
static void read_at_once(struct tep_compiler *c, uint32_t at)
{
	struct tep_node *n = &c->prog->nodes[at];
	const struct tep_node *a = &c->prog->nodes[n->a], *b = &c->prog->nodes[n->b];
	uint32_t size;

	if (n->kind == TEP_CAST && a->size && (!n->keep || n->keep >= a->size)) {
		n->offset = a->offset;
		n->size = a->size;
	} else if (n->kind == TEP_OP && n->op == '[' && a->kind == TEP_FIELD && a->field &&
		   b->kind == TEP_ATOM && b->num < UINT16_MAX) {
		size = a->field->elem_size;
		if (size != 1 && size != 2 && size != 4 && size != 8)
			return;
		n->offset = a->field->offset + (uint32_t)b->num * size;
		n->size = (uint8_t)size;
	}
}

/*
 * All arguments, in order. What follows an argument and cannot be part of it ends the list, and one
 * word behind an operator's right side is dropped, whatever it is: libtraceevent does so.
 */
static bool arguments(struct tep_compiler *c, uint32_t **out, uint32_t *nr)
{
	uint32_t cap = 0, at;
	bool more = true;

	while (more && !c->failed) {
		at = tep_node_new(c);
		if (!at || !tep_parse_arg(c, at) ||
		    !grow(c, (void **)out, *nr, &cap, sizeof(**out)))
			return false;
		(*out)[(*nr)++] = at;
		if (tep_is_op(c->lex.word)) {
			if (!tep_parse_op(c, at))
				return false;
			tep_fold(c, at);
			more = c->lex.word != LEX_END;
		} else {
			more = c->lex.word == ',';
		}
		if (more)
			decode_lex_next(&c->lex);
	}
	return !c->failed;
}

static uint8_t piece_kind(const struct conv *conv, uint8_t star)
{
	bool plain = !conv->width && conv->prec < 0 && !(conv->flags & ~CONV_C) && !star;

	switch (conv->kind) {
	case 's':
		return TEP_PIECE_STRING;
	case 'p':
		return conv->ext[0] || star ? TEP_PIECE_POINTER : TEP_PIECE_ADDRESS;
	case 'd':
		return plain ? TEP_PIECE_SIGNED : TEP_PIECE_NUMBER;
	case 'u':
		return plain ? TEP_PIECE_UNSIGNED : TEP_PIECE_NUMBER;
	case 'x':
		return plain ? TEP_PIECE_HEX : TEP_PIECE_NUMBER;
	default:
		return TEP_PIECE_NUMBER;
	}
}

static bool add_piece(struct tep_compiler *c, struct tep_piece piece)
{
	struct tep_prog *p = c->prog;

	if (!grow(c, (void **)&p->pieces, p->nr_pieces, &c->cap_pieces, sizeof(*p->pieces)))
		return false;
	p->pieces[p->nr_pieces++] = piece;
	return true;
}

struct args {
	const uint32_t *nodes;
	uint32_t nr, next;
};

static bool add_conv(struct tep_compiler *c, struct text text, const struct tep_spec *spec,
		     struct args *args)
{
	struct tep_piece piece = { .text = text, .conv = spec->conv, .star = spec->star,
				   .spec = { text.p + text.len, (uint32_t)spec->len } };

	piece.kind = piece_kind(&piece.conv, piece.star);
	if (piece.star) {
		if (args->next == args->nr)
			return tep_fail(c);
		piece.width = args->nodes[args->next++];
	}
	if (args->next == args->nr)
		return tep_fail(c);
	piece.value = args->nodes[args->next++];
	piece.direct = c->prog->nodes[piece.value].size;
	piece.offset = c->prog->nodes[piece.value].offset;
	return add_piece(c, piece);
}

/* "%5" at the end is dropped; "%j" is text, in which ">j<" takes its place. */
static bool add_odd(struct tep_compiler *c, struct text text, char odd)
{
	const char between[] = { '>', odd, '<', '\0' };

	c->prog->odd |= odd && odd != '%';
	if (odd)
		text = tep_join(c, text, odd == '%' ? "%" : between, (struct text){ "", 0 });
	return add_piece(c, (struct tep_piece){ .text = text });
}

static bool cut_pieces(struct tep_compiler *c, struct text text, struct args *args)
{
	const char *p = text.p, *from = p, *end = p + text.len;
	struct tep_spec spec;
	struct text before;

	while (p < end) {
		if (*p != '%') {
			p++;
			continue;
		}
		before = (struct text){ from, (uint32_t)(p - from) };
		switch (tep_conv_read(p, end, &spec)) {
		case TEP_CONV:
			if (!add_conv(c, before, &spec, args))
				return false;
			break;
		case TEP_CONV_TEXT:
			if (!add_odd(c, before, spec.odd))
				return false;
			break;
		default:
			return tep_fail(c);
		}
		from = p += spec.len;
	}
	return add_piece(c, (struct tep_piece){
		.text = { from, (uint32_t)(end - from) } });
}

static const struct decode_field *field_of(const struct tep_prog *p, uint32_t piece)
{
	const struct tep_node *n = &p->nodes[p->pieces[piece].value];

	while (n->kind == TEP_CAST)
		n = &p->nodes[n->a];
	return n->kind == TEP_FIELD ? n->field : NULL;
}

/*
 * The piece that shows a field, a cast around it or not, tells how it prints among raw fields. The
 * search goes round, from behind the piece that was found last; but once that one was the very end
 * of the format, libtraceevent finds no more.
 */
static bool note_shown(struct tep_compiler *c)
{
	const struct decode_format *f = c->format;
	struct tep_prog *p = c->prog;
	uint32_t nr = p->nr_pieces - !p->pieces[p->nr_pieces - 1].text.len, from = 0, at, tries;

	p->shown = calloc(f->nr_fields + 1, sizeof(*p->shown));
	if (!p->shown)
		return no_memory(c);
	for (uint32_t i = 0; i < f->nr_fields && from < nr; i++) {
		if (f->fields[i].is_common || f->fields[i].is_array)
			continue;
		at = from;
		for (tries = 0; tries < nr && field_of(p, at) != &f->fields[i]; tries++)
			at = (at + 1) % nr;
		if (tries == nr)
			continue;
		from = at + 1;
		p->shown[i] = from;
	}
	return true;
}

/* A field whose sign would be needed, and is not seen. */
static bool loses_sign(const struct tep_prog *p, const struct tep_piece *piece)
{
	const struct tep_node *n = &p->nodes[piece->value];
	bool cast = false;

	for (; n->kind == TEP_CAST; n = &p->nodes[n->a])
		cast = true;
	if (n->kind != TEP_FIELD || !n->field || !n->field->is_signed || n->field->is_array)
		return false;
	return cast || n->size < 4 || n->size < piece->conv.size;
}

/* No operator, whose rank and sign are not those of C, no sign that is lost, and nothing that it cannot print. */
static bool is_exact(const struct tep_prog *p)
{
	if (p->odd)
		return false;
	for (uint32_t i = 0; i < p->nr_nodes; i++)
		if (p->nodes[i].kind == TEP_OP && p->nodes[i].op != '[')
			return false;
	for (uint32_t i = 0; i < p->nr_pieces; i++)
		if (p->pieces[i].kind != TEP_PIECE_TEXT && loses_sign(p, &p->pieces[i]))
			return false;
	return true;
}

static bool compile(struct tep_compiler *c)
{
	struct args args = { 0 };
	struct text text;
	uint32_t *nodes = NULL;
	bool ok;

	tep_node_new(c);
	ok = format_text(c, &text) && (c->lex.word == LEX_END || tep_expect(c, ','));
	/* Without arguments, or with all of them. */
	if (ok && c->lex.word != LEX_END)
		ok = arguments(c, &nodes, &args.nr);
	else if (ok)
		ok = c->lex.p[-1] != ',';
	/* Parts of a node come behind it, and may have parts of their own. */
	for (uint32_t i = c->prog->nr_nodes; ok && i-- > 1;)
		read_at_once(c, i);
	args.nodes = nodes;
	ok = ok && cut_pieces(c, text, &args) && note_shown(c);
	free(nodes);
	return ok && !c->failed;
}

int tep_compile(const struct decode_format *format, const struct tep_prog **out)
{
	struct tep_compiler c = { .format = format };
	size_t len = strlen(format->print_fmt);

	*out = NULL;
	if (!len)
		return 0;
	c.prog = calloc(1, sizeof(*c.prog));
	if (!c.prog)
		return -ENOMEM;
	decode_lex_open(&c.lex, format->print_fmt, len, &format->abi);
	if (compile(&c)) {
		c.prog->exact = is_exact(c.prog);
		*out = c.prog;
		return 0;
	}
	tep_free(c.prog);
	return c.no_memory ? -ENOMEM : 0;
}

void tep_free(const struct tep_prog *prog)
{
	struct tep_chunk *chunk, *next;

	if (!prog)
		return;
	for (chunk = prog->chunks; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	free(prog->shown);
	free(prog->pieces);
	free(prog->nodes);
	free(prog->names);
	free((void *)prog);
}
