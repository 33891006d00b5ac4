/*
 * symbol/debug_fetch: an expression of C over variables -> what a probe fetches.
 *
 *   order->customer->name:string     %di                    where `order` is
 *                                    +8(%di)                what `customer` is, behind the pointer
 *                                    +0(+8(%di))            what `name` is
 *                                    +0(+0(+8(%di))):string the text there
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/debug_local.h"
#include "symbol/dwarf_numbers.h"
#include "symbol/fetch.h"

struct fetch {
	struct debug *debug;
	const struct debug_point *point;
	const char *text;	/* the whole expression */
	const char *at;		/* in it */
	struct debug_where where;
	struct debug_die of;	/* what has the type, by DW_AT_type */
	bool element;		/* `of` is an array of several dimensions, of which `dimensions` were indexed */
	uint32_t dimensions;
	uint32_t bits, shift, unit;	/* a bit field in `unit` bytes; bits 0: none */
	char name[DEBUG_NAME_MAX];
	struct err *err;
};

static int refuse(struct fetch *fetch, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static int refuse(struct fetch *fetch, int code, const char *fmt, ...)
{
	char words[300];
	va_list ap;

	/* What was not found may be there. */
	if (!fetch->debug->steps)
		return debug_words(fetch->debug, code, fetch->err);
	va_start(ap, fmt);
	vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	return err_set_at(fetch->err, code, (int)(fetch->at - fetch->text), "%.100s: %s", fetch->text, words);
}

static void take_name(struct fetch *fetch, const char *name, size_t len)
{
	if (len >= sizeof(fetch->name))
		len = sizeof(fetch->name) - 1;
	memcpy(fetch->name, name, len);
	fetch->name[len] = '\0';
}

/* ---- steps ---- */

static int64_t *last_add(struct debug_sum *sum)
{
	return &sum->add[sum->nloads];
}

static int add_offset(struct fetch *fetch, int64_t offset)
{
	int64_t *add = last_add(&fetch->where.sum);

	if (__builtin_add_overflow(*add, offset, add))
		return refuse(fetch, -ERANGE, "that is too far away");
	return 0;
}

/* Of what is spread over several places, the one that has what the steps so far have led to. */
static int gather(struct fetch *fetch)
{
	struct debug_where *where = &fetch->where;
	const struct debug_piece *piece = NULL;
	uint64_t from = (uint64_t)where->offset, size;
	struct debug_die type;

	if (!where->npieces)
		return 0;
	if (!debug_type_peel(fetch->debug, &fetch->of, &type) || !debug_type_size(fetch->debug, &type, &size) || !size)
		return refuse(fetch, -EOPNOTSUPP, "it is in several pieces");
	for (uint32_t i = 0; !piece && i < where->npieces; i++)
		if (from >= where->pieces[i].at && from - where->pieces[i].at + size <= where->pieces[i].size)
			piece = &where->pieces[i];
	if (!piece)
		return refuse(fetch, -EOPNOTSUPP, "it is in several pieces");
	if (!piece->known)
		return refuse(fetch, -ENODATA, "it has no value here: this part of it was optimised away");
	from -= piece->at;
	where->sum = piece->sum;
	where->in_memory = piece->in_memory;
	where->npieces = 0;
	where->offset = 0;
	if (where->in_memory)
		return add_offset(fetch, (int64_t)from);
	if (!from)
		return 0;
	if (where->sum.base != DEBUG_REGISTER || where->sum.nloads || where->sum.add[0] || from + size > 8)
		return refuse(fetch, -EOPNOTSUPP, "it is a part of a value that is computed" DEBUG_UNREADABLE);
	fetch->bits = (uint32_t)size * 8;
	fetch->shift = (uint32_t)from * 8;
	fetch->unit = 8;
	return 0;
}

/* What it would point to is known, though the pointer is nowhere. */
static int follow_to_target(struct fetch *fetch)
{
	struct debug_where *where = &fetch->where;
	int64_t offset = where->offset;
	struct debug_die target = where->target;
	int r = debug_where_at(fetch->debug, fetch->point, &target, where, fetch->err);

	if (r)
		return r;
	if (!where->in_memory)
		return refuse(fetch, -EOPNOTSUPP, "what it points to was optimised away");
	return add_offset(fetch, offset);
}

/* From something to what it points to: its value is an address. */
static int follow(struct fetch *fetch)
{
	struct debug_where *where = &fetch->where;
	int r = gather(fetch);

	if (r)
		return r;
	if (fetch->bits)
		return refuse(fetch, -EOPNOTSUPP, "the pointer is a part of a register");
	if (where->pointed)
		return follow_to_target(fetch);
	if (where->in_memory) {
		if (where->sum.nloads == DEBUG_LOADS_MAX)
			return refuse(fetch, -E2BIG, "too many pointers");
		where->sum.add[++where->sum.nloads] = 0;
	}
	where->in_memory = true;
	return 0;
}

static bool is_struct(uint32_t tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_union_type || tag == DW_TAG_class_type;
}

static bool is_reference(uint32_t tag)
{
	return tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type;
}

/* A member, also of members without names and of base classes: where it is, from the beginning of the outermost. */
static bool find_member(struct fetch *fetch, const struct debug_die *type, const char *name, size_t len, int depth, int64_t *at,
			struct debug_die *member)
{
	struct debug_die die, inner;
	int64_t offset;

	if (depth > 8 || !debug_dw_child(type, &die))
		return false;
	do {
		uint32_t tag = debug_dw_tag(&die);
		const char *own = debug_dw_text(fetch->debug->dw, &die, DW_AT_name);

		if (!debug_step(fetch->debug))
			return false;
		if (tag != DW_TAG_member && tag != DW_TAG_inheritance)
			continue;
		if (debug_dw_member(&die, &offset))
			continue;
		/* No memory is so large. */
		if (offset < 0 || offset >> 47)
			continue;
		if (own && tag == DW_TAG_member && !strncmp(own, name, len) && !own[len]) {
			*at += offset;
			*member = die;
			return true;
		}
		if (own && tag == DW_TAG_member)
			continue;
		*at += offset;
		if (debug_type_peel(fetch->debug, &die, &inner) && find_member(fetch, &inner, name, len, depth + 1, at, member))
			return true;
		*at -= offset;
	} while (debug_dw_sibling(&die, &die));
	return false;
}

/* "id, name, bits": what there is. */
static void put_members(struct debug *debug, const struct debug_die *type, struct buf *out)
{
	struct debug_die die;
	int left = 12;

	if (!debug_dw_child(type, &die))
		return;
	do {
		const char *name = debug_dw_text(debug->dw, &die, DW_AT_name);

		if (debug_dw_tag(&die) != DW_TAG_member || !name)
			continue;
		buf_printf(out, "%s%.40s", out->len ? ", " : "", left ? name : "...");
	} while (left-- && debug_dw_sibling(&die, &die));
}

/* Either of the two ways that debug information tells of it, as the bits of a word of memory. */
static int take_bits(struct fetch *fetch, const struct debug_die *member, const struct debug_die *type)
{
	static const char strange[] = "a bit field that is told of in a strange way";
	int64_t bits, first, own;
	uint64_t size;

	if (!debug_dw_number(member, DW_AT_bit_size, &bits))
		return 0;
	if (!debug_type_size(fetch->debug, type, &size) || !size || size > 8 || bits <= 0 || bits > 64)
		return refuse(fetch, -EOPNOTSUPP, strange);
	if (debug_dw_number(member, DW_AT_data_bit_offset, &first)) {
		/* Counted from the beginning of the struct; the member has no other place. */
	} else if (debug_dw_number(member, DW_AT_bit_offset, &first)) {
		if (debug_dw_number(member, DW_AT_byte_size, &own) && own > 0 && own <= 8)
			size = (uint64_t)own;
		first = first < 0 || first > 64 ? -1 : (int64_t)size * 8 - first - bits;
	} else {
		first = 0;
	}
	if (first < 0 || first > INT32_MAX)
		return refuse(fetch, -EOPNOTSUPP, strange);
	fetch->unit = (uint32_t)size;
	fetch->shift = (uint32_t)first % (uint32_t)(size * 8);
	fetch->bits = (uint32_t)bits;
	if (fetch->shift + fetch->bits > fetch->unit * 8)
		return refuse(fetch, -EOPNOTSUPP, "a bit field that is not within one word");
	return add_offset(fetch, first / (int64_t)(size * 8) * (int64_t)size);
}

/* Of a struct that is in a register: the bits of it. */
static int take_part(struct fetch *fetch, int64_t offset, const struct debug_die *type)
{
	uint64_t size;

	if (fetch->where.sum.base != DEBUG_REGISTER || fetch->where.sum.nloads || fetch->where.sum.add[0])
		return refuse(fetch, -EOPNOTSUPP, "its struct is nowhere as a whole");
	if (!debug_type_size(fetch->debug, type, &size) || !size || size > 8 || offset < 0 || offset > 8 - (int64_t)size)
		return refuse(fetch, -EOPNOTSUPP, "it is not in the register that has its struct");
	if (fetch->bits) {
		fetch->shift += (uint32_t)offset * 8;
	} else if (offset) {
		fetch->bits = (uint32_t)size * 8;
		fetch->shift = (uint32_t)offset * 8;
	}
	fetch->unit = 8;
	return 0;
}

static int take_member(struct fetch *fetch, const struct debug_die *member, const struct debug_die *type, int64_t offset)
{
	int r = 0;

	if (fetch->where.npieces) {
		fetch->where.offset += offset;
		return debug_dw_has(member, DW_AT_bit_size)
			       ? refuse(fetch, -EOPNOTSUPP, "a bit field of a struct that is in several pieces") : 0;
	}
	if (fetch->where.in_memory)
		r = add_offset(fetch, offset);
	if (!r)
		r = take_bits(fetch, member, type);
	if (!r && !fetch->where.in_memory)
		r = take_part(fetch, offset, type);
	return r;
}

/* Said with its type: "int", "char[12]", "int*". */
static int no_members(struct fetch *fetch)
{
	struct buf type = BUF_INIT;
	int r;

	debug_type_put(fetch->debug, &fetch->of, &type);
	r = refuse(fetch, -EINVAL, "'%s' is no struct and no pointer to one: it is of type '%.60s', and has no members",
		   fetch->name, type.data ? type.data : "?");
	buf_fini(&type);
	return r;
}

static int step_member(struct fetch *fetch, bool arrow)
{
	struct debug_die type, member, of_member;
	struct buf names = BUF_INIT;
	size_t len;
	int64_t offset = 0;
	int r = 0;

	fetch->at += arrow ? 2 : 1;
	len = fetch_word(fetch->at);
	if (!len)
		return refuse(fetch, -EINVAL, "which member?");
	if (!debug_type_peel(fetch->debug, &fetch->of, &type))
		return refuse(fetch, -EINVAL, "'%s' has no type that could have members", fetch->name);
	if (is_reference(debug_dw_tag(&type))) {
		r = follow(fetch);
		if (r || !debug_type_peel(fetch->debug, &type, &type))
			return r ? r : refuse(fetch, -EINVAL, "'%s' has no members", fetch->name);
	}
	if (!is_struct(debug_dw_tag(&type)) && debug_dw_tag(&type) != DW_TAG_pointer_type)
		return no_members(fetch);
	if (arrow != (debug_dw_tag(&type) == DW_TAG_pointer_type))
		return refuse(fetch, -EINVAL,
			      arrow ? "'%s' is no pointer: write a point before '%.*s'"
				    : "'%s' is a pointer: write -> before '%.*s'",
			      fetch->name, (int)len, fetch->at);
	if (arrow) {
		r = follow(fetch);
		if (r)
			return r;
		if (!debug_type_peel(fetch->debug, &type, &type))
			return refuse(fetch, -EINVAL, "'%s' points to anything: it has no members", fetch->name);
	}
	if (!is_struct(debug_dw_tag(&type)))
		return no_members(fetch);
	if (!find_member(fetch, &type, fetch->at, len, 0, &offset, &member)) {
		put_members(fetch->debug, &type, &names);
		r = refuse(fetch, -EINVAL,
			   names.len ? "'%s' has no member '%.*s'; it has %.150s" : "'%s' has no member '%.*s'%.1s", fetch->name,
			   (int)len, fetch->at, names.len ? names.data : "");
		buf_fini(&names);
		return r;
	}
	if (!debug_type_peel(fetch->debug, &member, &of_member))
		return refuse(fetch, -EINVAL, "'%.*s' has no type", (int)len, fetch->at);
	r = take_member(fetch, &member, &of_member, offset);
	fetch->of = member;
	take_name(fetch, fetch->at, len);
	fetch->at += len;
	return r;
}

/* Of an array of several dimensions the first that is left: it has `count` elements (-1: nobody knows), and each has `rest` of the last. */
static bool next_dimension(struct fetch *fetch, const struct debug_die *array, int64_t *count, uint64_t *rest)
{
	struct debug_die die;
	uint32_t i = 0;
	uint64_t n;
	bool told;

	*rest = 1;
	*count = -1;
	if (!debug_dw_child(array, &die))
		return false;
	do {
		if (debug_dw_tag(&die) != DW_TAG_subrange_type)
			continue;
		told = debug_type_elements(&die, &n);
		if (i == fetch->dimensions && told)
			*count = (int64_t)n;
		if (i++ <= fetch->dimensions)
			continue;
		if (!told || __builtin_mul_overflow(*rest, n, rest))
			return false;
	} while (debug_dw_sibling(&die, &die));
	fetch->element = i > fetch->dimensions + 1;
	return i > fetch->dimensions;
}

static int step_index(struct fetch *fetch)
{
	struct debug_die type, element;
	uint64_t size = 0, rest = 1;
	int64_t index, count = -1;
	char *end;
	int r = 0;

	errno = 0;
	index = strtoll(fetch->at + 1, &end, 0);
	if (end == fetch->at + 1 || *end != ']' || errno || index > INT32_MAX || index < INT32_MIN)
		return refuse(fetch, -EINVAL, "[ ] needs a number");
	if (!debug_type_peel(fetch->debug, &fetch->of, &type))
		return refuse(fetch, -EINVAL, "'%s' is no array", fetch->name);
	if (debug_dw_tag(&type) == DW_TAG_pointer_type) {
		r = follow(fetch);
	} else if (debug_dw_tag(&type) != DW_TAG_array_type || !next_dimension(fetch, &type, &count, &rest)) {
		return refuse(fetch, -EINVAL, "'%s' is no array and no pointer", fetch->name);
	} else if (count > 1 && (index < 0 || index >= count)) {
		/* Behind one element, or none, there may be more than was declared. */
		return refuse(fetch, -ERANGE, "'%s' has %" PRId64 " elements, from [0] to [%" PRId64 "]", fetch->name, count,
			      count - 1);
	} else if (!fetch->where.in_memory) {
		return refuse(fetch, -EOPNOTSUPP, "its array is not in memory");
	}
	if (!r && (!debug_type_peel(fetch->debug, &type, &element) || !debug_type_size(fetch->debug, &element, &size)))
		return refuse(fetch, -EINVAL, "nobody knows how large what '%s' points to is", fetch->name);
	if (!r && (__builtin_mul_overflow(rest, size, &size) || size > INT32_MAX))
		return refuse(fetch, -ERANGE, "that is too far away");
	if (!r)
		r = add_offset(fetch, index * (int64_t)size);
	if (fetch->element) {
		fetch->dimensions++;
	} else {
		fetch->of = type;
		fetch->dimensions = 0;
	}
	fetch->at = end + 1;
	return r;
}

static int steps(struct fetch *fetch)
{
	int r = 0;

	for (uint32_t n = 0; !r && *fetch->at && *fetch->at != ':'; n++) {
		if (n == 32 || fetch->bits)
			return refuse(fetch, -EINVAL, n == 32 ? "too many steps" : "'%s' has no members", fetch->name);
		if (*fetch->at == '[')
			r = step_index(fetch);
		else if (fetch->element)
			r = refuse(fetch, -EINVAL, "'%s' has more dimensions", fetch->name);
		else if (*fetch->at == '.')
			r = step_member(fetch, false);
		else if (fetch->at[0] == '-' && fetch->at[1] == '>')
			r = step_member(fetch, true);
		else
			r = refuse(fetch, -EINVAL, "'%.20s' is not understood: VARIABLE, .MEMBER, ->MEMBER, [INDEX] or :TYPE",
				   fetch->at);
	}
	return r;
}

/* ---- types ---- */

/* A text is at an address: that of an array, or what a pointer points to. */
static int string_type(struct fetch *fetch, const char *type, struct buf *out)
{
	struct debug_die peeled;
	int r = 0;

	if (!debug_type_peel(fetch->debug, &fetch->of, &peeled))
		return refuse(fetch, -EINVAL, "'%s' has no type", fetch->name);
	if (debug_dw_tag(&peeled) == DW_TAG_pointer_type)
		r = follow(fetch);
	else if (debug_dw_tag(&peeled) != DW_TAG_array_type)
		return refuse(fetch, -EINVAL, "'%s' is no text: neither char* nor an array of char", fetch->name);
	if (!r && !debug_type_is_char(fetch->debug, &peeled))
		return refuse(fetch, -EINVAL, "'%s' is not of char", fetch->name);
	if (!r && !fetch->where.in_memory)
		return refuse(fetch, -EOPNOTSUPP, "the text is not in memory");
	buf_printf(out, ":%s", type);
	return r;
}

static int whole_struct(struct fetch *fetch, const struct debug_die *type)
{
	struct buf names = BUF_INIT;
	int r;

	put_members(fetch->debug, type, &names);
	r = refuse(fetch, -EINVAL, "'%s' is a struct: name a member of it (%.150s) or give a type", fetch->name,
		   names.len ? names.data : "none");
	buf_fini(&names);
	return r;
}

static int array_type(struct fetch *fetch, const struct debug_die *type, struct buf *out)
{
	uint64_t n = debug_type_count(fetch->debug, type), rest;
	int64_t count;
	char word[8];

	if (fetch->dimensions || fetch->element || (next_dimension(fetch, type, &count, &rest) && fetch->element))
		return refuse(fetch, -EINVAL, "'%s' has more dimensions", fetch->name);
	if (!debug_type_word(fetch->debug, type, word))
		return refuse(fetch, -EINVAL, "'%s' is an array of what is no number: name an element, %s[0]", fetch->name,
			      fetch->name);
	if (!n || n > FETCH_ARRAY_MAX)
		return refuse(fetch, -EINVAL, "'%s' has %s elements: name one, %s[0], or give a type, :%s[%d]", fetch->name,
			      n ? "too many" : "nobody knows how many", fetch->name, word, FETCH_ARRAY_MAX);
	if (!fetch->where.in_memory)
		return refuse(fetch, -EOPNOTSUPP, "the array is not in memory");
	buf_printf(out, ":%s[%d]", word, (int)n);
	return 0;
}

/* Probes fetch bits of a word without a sign, and with a width of their own: other types mean something else. */
static int bits_type(struct fetch *fetch, const char *type, struct buf *out)
{
	uint32_t width = type[1] ? (uint32_t)atoi(type + 1) : 64;

	if (type[0] != 'u' || strchr(type, '['))
		return refuse(fetch, -EOPNOTSUPP,
			      "'%s' is %u bits of a word, which are fetched without a sign: leave the type out", fetch->name,
			      fetch->bits);
	fetch_put_bits(out, width < fetch->bits ? width : fetch->bits, fetch->shift, fetch->unit);
	return 0;
}

/* By itself, of what the debug information says; `sign`: one of u, s, x in place of its own. */
static int own_type(struct fetch *fetch, char sign, struct buf *out)
{
	struct debug_die type;
	char word[8];

	if (!debug_type_peel(fetch->debug, &fetch->of, &type))
		return refuse(fetch, -EINVAL, "'%s' has no type", fetch->name);
	if (debug_dw_tag(&type) == DW_TAG_array_type)
		return array_type(fetch, &type, out);
	if (is_struct(debug_dw_tag(&type)))
		return whole_struct(fetch, &type);
	if (fetch->bits)
		return bits_type(fetch, "u64", out);
	if (!debug_type_word(fetch->debug, &fetch->of, word))
		return refuse(fetch, -EINVAL, "'%s' is of a type that is no number of 1, 2, 4 or 8 bytes", fetch->name);
	if (sign && !strcmp(word, "char"))
		snprintf(word, sizeof(word), "%c8", sign);
	else if (sign)
		word[0] = sign;
	buf_printf(out, ":%s", word);
	return 0;
}

static bool is_whole_struct(const struct fetch *fetch)
{
	struct debug_die type;

	return debug_type_peel(fetch->debug, &fetch->of, &type) && is_struct(debug_dw_tag(&type));
}

/* A reference is what it refers to. */
static int through_reference(struct fetch *fetch)
{
	struct debug_die type;
	int r;

	if (!debug_type_peel(fetch->debug, &fetch->of, &type) || !is_reference(debug_dw_tag(&type)))
		return 0;
	r = follow(fetch);
	fetch->of = type;
	return r;
}

static int put_type(struct fetch *fetch, struct buf *out)
{
	const char *type = *fetch->at ? fetch->at + 1 : NULL;
	bool sign = type && type[0] && !type[1] && strchr("usx", type[0]);
	int r = through_reference(fetch);

	/* A whole struct is asked for a member before it is asked where it is. */
	if (!r && !is_whole_struct(fetch))
		r = gather(fetch);
	if (r)
		return r;
	if (!type)
		return own_type(fetch, 0, out);
	if (!strcmp(type, "string") || !strcmp(type, "ustring"))
		return string_type(fetch, type, out);
	if (!sign && !fetch_is_value(type))
		return refuse(fetch, -EINVAL, "'%.40s' is no type: " FETCH_TYPES, type);
	if (fetch->bits)
		return bits_type(fetch, type, out);
	if (sign)
		return own_type(fetch, type[0], out);
	buf_printf(out, ":%s", type);
	return 0;
}

/* ---- text ---- */

static const char *const registers[] = {
	"ax", "dx", "cx", "bx", "si", "di", "bp", "sp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
};

/* What is read last is the value itself. */
static int put_sum(struct fetch *fetch, struct buf *out)
{
	struct debug_sum sum = fetch->where.sum;
	struct buf inner = BUF_INIT;
	uint32_t from = 0;

	if (fetch->where.npieces)
		return refuse(fetch, -EOPNOTSUPP, "it is in several pieces");
	if (fetch->where.pointed)
		return refuse(fetch, -EOPNOTSUPP, "the pointer itself was optimised away, and only what it points to is left");
	if (debug_where_is_sum(&fetch->where))
		return refuse(fetch, -EOPNOTSUPP, "its value is computed" DEBUG_UNREADABLE);
	if (fetch->where.in_memory) {
		if (sum.nloads == DEBUG_LOADS_MAX)
			return refuse(fetch, -E2BIG, "too many pointers");
		sum.add[++sum.nloads] = 0;
	}
	switch (sum.base) {
	case DEBUG_NUMBER:
		if (sum.nloads)
			return refuse(fetch, -EOPNOTSUPP, "it is behind a pointer that is a fixed number");
		buf_printf(&inner, "\\%" PRId64, sum.add[0]);
		break;
	case DEBUG_ADDRESS:
		if (!sum.nloads)
			return refuse(fetch, -EOPNOTSUPP, "it is an address, which differs from process to process");
		/* This is read already. */
		buf_printf(&inner, "@+%#" PRIx64,
			   debug_dw_offset_near(fetch->debug->dw, sum.number + (uint64_t)sum.add[0], fetch->point->address));
		from = 1;
		break;
	case DEBUG_RETVAL:
		buf_puts(&inner, "$retval");
		break;
	default:
		buf_printf(&inner, "%%%s", registers[sum.number & 15]);
	}
	fetch_put_loads(out, inner.data ? inner.data : "", sum.add + from, sum.nloads - from, 0);
	buf_fini(&inner);
	return 0;
}

/* ---- all together ---- */

static int begin_retval(struct fetch *fetch)
{
	fetch->where = (struct debug_where){ .sum = { .base = DEBUG_RETVAL } };
	fetch->of = fetch->point->function;
	take_name(fetch, "retval", 6);
	fetch->at += 7;
	if (!fetch->point->described || !debug_dw_has(&fetch->of, DW_AT_type))
		return refuse(fetch, -EINVAL, "the function returns nothing");
	return 0;
}

static int begin(struct fetch *fetch)
{
	size_t len = fetch_word(fetch->at);
	struct debug_die variable;
	struct err why = ERR_INIT;
	int r;

	if (!strncmp(fetch->at, "$retval", 7) && !fetch_word(fetch->at + 7))
		return begin_retval(fetch);
	if (!len || isdigit((unsigned char)*fetch->at))
		return refuse(fetch, -EINVAL, "which variable?");
	if (!debug_variable_at(fetch->debug, fetch->point, fetch->at, len, &variable))
		return refuse(fetch, -ENOENT, "there is no variable '%.*s' at %.60s: -V lists those that are", (int)len,
			      fetch->at, fetch->point->name);
	r = debug_where_at(fetch->debug, fetch->point, &variable, &fetch->where, &why);
	if (r)
		return refuse(fetch, r, "%s", why.text);
	fetch->of = variable;
	take_name(fetch, fetch->at, len);
	fetch->at += len;
	return 0;
}

int debug_argument(struct debug *debug, const struct debug_point *point, const char *text, struct debug_arg *arg, struct err *err)
{
	struct fetch fetch = { .debug = debug, .point = point, .text = text, .at = text, .err = err };
	struct buf type = BUF_INIT;
	int r = begin(&fetch);

	*arg = (struct debug_arg){ .body = BUF_INIT };
	if (!r)
		r = steps(&fetch);
	if (!r)
		r = put_type(&fetch, &type);
	if (!r)
		r = put_sum(&fetch, &arg->body);
	if (!r && type.data)
		buf_puts(&arg->body, type.data);
	if (!r && (buf_failed(&type) || buf_failed(&arg->body)))
		r = err_set(err, -ENOMEM, "out of memory");
	if (!r && arg->body.len > FETCH_MAX)
		r = refuse(&fetch, -E2BIG, "'%.80s' is longer than a probe takes (%d bytes)", arg->body.data, FETCH_MAX);
	memcpy(arg->name, fetch.name, sizeof(arg->name));
	buf_fini(&type);
	if (r)
		debug_arg_fini(arg);
	return r;
}

void debug_arg_fini(struct debug_arg *arg)
{
	buf_fini(&arg->body);
}
