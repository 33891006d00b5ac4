/*
 * symbol/btf_put: types and functions of BTF as C declares them. See btf.h.
 *
 * A declaration is made from its name outwards, which is how it is read: what comes behind the name and before it grows while
 * the type is followed to the one that it begins with.
 *
 *   handler    *handler    (*handler)(int)    void (*handler)(int)
 */
#include <string.h>

#include "symbol/btf.h"

#define STEPS_MAX 600u		/* types of one text, however they hang together */
#define TEXT_MAX 2000u
#define NEST_MAX 6u		/* functions as parameters of functions */

struct putting {
	const struct btf *btf;
	uint32_t steps, nest;
};

static void put_one(struct putting *putting, struct btf_ref ref, const char *name, struct buf *out);

static void before(struct buf *text, const char *words)
{
	struct buf more = BUF_INIT;

	buf_printf(&more, "%s%s", words, text->data ? text->data : "");
	buf_fini(text);
	*text = more;
}

/* What a pointer points to binds looser than the pointer. */
static void behind_pointer(struct buf *text, bool *pointer)
{
	if (!*pointer)
		return;
	before(text, "(");
	buf_putc(text, ')');
	*pointer = false;
}

static void put_parameters(struct putting *putting, const struct btf_type *prototype, struct buf *out)
{
	const char *name;
	uint32_t type;

	buf_putc(out, '(');
	if (!prototype->n)
		buf_puts(out, "void");
	for (uint32_t i = 0; btf_parameter(putting->btf, prototype, i, &name, &type); i++) {
		if (i)
			buf_puts(out, ", ");
		if (!type && i == prototype->n - 1) {
			buf_puts(out, "...");
		} else if (!putting->steps || out->len > TEXT_MAX || putting->nest == NEST_MAX) {
			buf_puts(out, "...");
			break;
		} else {
			putting->nest++;
			put_one(putting, (struct btf_ref){ type, 0 }, name, out);
			putting->nest--;
		}
	}
	buf_putc(out, ')');
}

static void put_base(const struct btf_type *type, bool known, struct buf *out)
{
	const char *kind = "";

	if (!known) {
		buf_puts(out, "void");
		return;
	}
	if (type->kind == BTF_STRUCT || (type->kind == BTF_FWD && !type->flag))
		kind = "struct ";
	else if (type->kind == BTF_UNION || type->kind == BTF_FWD)
		kind = "union ";
	else if (type->kind == BTF_ENUM || type->kind == BTF_ENUM64)
		kind = "enum ";
	buf_printf(out, "%s%s", kind, *type->name ? type->name : "{...}");
}

static const char *mark_of(enum btf_kind kind)
{
	return kind == BTF_CONST ? "const" : kind == BTF_VOLATILE ? "volatile" : "restrict";
}

/* One step outwards. False: it begins with this one. */
static bool step(struct putting *putting, const struct btf_type *type, struct buf *text, bool *pointer, struct buf *marks)
{
	struct btf_type next;

	switch (type->kind) {
	case BTF_PTR:
		before(text, "*");
		*pointer = true;
		return true;
	case BTF_CONST:
	case BTF_VOLATILE:
	case BTF_RESTRICT:
		/* Of the pointer, or of what all begins with. */
		if (!btf_get(putting->btf, type->type, &next) || next.kind != BTF_PTR) {
			buf_printf(marks, "%s ", mark_of(type->kind));
			return true;
		}
		if (text->len)
			before(text, " ");
		before(text, mark_of(type->kind));
		return true;
	case BTF_TYPE_TAG:
		return true;
	case BTF_ARRAY:
		behind_pointer(text, pointer);
		buf_printf(text, "[%u]", type->n);
		return true;
	case BTF_FUNC_PROTO:
		behind_pointer(text, pointer);
		put_parameters(putting, type, text);
		return true;
	default:
		return false;
	}
}

static void put_one(struct putting *putting, struct btf_ref ref, const char *name, struct buf *out)
{
	struct buf text = BUF_INIT, marks = BUF_INIT;
	struct btf_type type = { .kind = BTF_VOID };
	bool pointer = false, known;

	buf_puts(&text, name);
	for (; ref.stars && text.len < TEXT_MAX; ref.stars--) {
		before(&text, "*");
		pointer = true;
	}
	known = btf_get(putting->btf, ref.id, &type);
	while (known && text.len < TEXT_MAX && putting->steps) {
		putting->steps--;
		if (!step(putting, &type, &text, &pointer, &marks))
			break;
		known = btf_get(putting->btf, type.type, &type);
	}
	if (text.len >= TEXT_MAX || !putting->steps) {
		buf_puts(out, "...");
	} else {
		buf_puts(out, marks.data ? marks.data : "");
		put_base(&type, known, out);
		if (text.len && (*name || *text.data == '('))
			buf_putc(out, ' ');
		buf_puts(out, text.len ? text.data : "");
	}
	buf_fini(&text);
	buf_fini(&marks);
}

void btf_put(const struct btf *btf, struct btf_ref ref, const char *name, struct buf *out)
{
	struct putting putting = { .btf = btf, .steps = STEPS_MAX };

	put_one(&putting, ref, name, out);
}

void btf_put_function(const struct btf *btf, uint32_t id, struct buf *out)
{
	struct btf_type function;

	if (btf_get(btf, id, &function) && function.kind == BTF_FUNC)
		btf_put(btf, (struct btf_ref){ function.type, 0 }, function.name, out);
}
