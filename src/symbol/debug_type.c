/*
 * symbol/debug_type: types in debug information, as a declaration has them and as a probe fetches them.
 */
#include <stdio.h>
#include <string.h>

#include "symbol/debug_local.h"
#include "symbol/dwarf_numbers.h"

static bool is_thin(uint32_t tag)
{
	return tag == DW_TAG_const_type || tag == DW_TAG_volatile_type || tag == DW_TAG_restrict_type ||
	       tag == DW_TAG_atomic_type;
}

bool debug_type_peel(struct debug *debug, const struct debug_die *of, struct debug_die *type)
{
	(void)debug;
	if (!debug_dw_ref(of, DW_AT_type, type))
		return false;
	for (int i = 0; i < DEBUG_DEPTH; i++) {
		uint32_t tag = debug_dw_tag(type);

		if (!is_thin(tag) && tag != DW_TAG_typedef)
			return true;
		if (!debug_dw_ref(type, DW_AT_type, type))
			return false;
	}
	return false;
}

static bool is_pointer(uint32_t tag)
{
	return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type;
}

static void put_name(struct debug *debug, struct buf *out, const char *kind, const struct debug_die *type)
{
	const char *name = debug_dw_text(debug->dw, type, DW_AT_name);

	buf_printf(out, "%s%s", kind, name ? name : "{...}");
}

bool debug_type_elements(const struct debug_die *dimension, uint64_t *n)
{
	int64_t first = 0, last, count;

	if (!debug_dw_number(dimension, DW_AT_count, &count)) {
		debug_dw_number(dimension, DW_AT_lower_bound, &first);
		if (!debug_dw_number(dimension, DW_AT_upper_bound, &last) || __builtin_sub_overflow(last, first, &count) ||
		    __builtin_add_overflow(count, 1, &count))
			return false;
	}
	*n = (uint64_t)count;
	return count >= 0 && count <= UINT32_MAX;
}

static void put_dimensions(const struct debug_die *array, struct buf *out)
{
	struct debug_die die;
	uint64_t n;
	int bound = 16;

	if (!debug_dw_child(array, &die))
		return;
	do {
		if (debug_dw_tag(&die) != DW_TAG_subrange_type)
			continue;
		if (debug_type_elements(&die, &n))
			buf_printf(out, "[%llu]", (unsigned long long)n);
		else
			buf_puts(out, "[]");
	} while (bound-- && debug_dw_sibling(&die, &die));
}

/* What comes behind the name of what they point to, last first. */
void debug_type_put(struct debug *debug, const struct debug_die *of, struct buf *out)
{
	struct debug_die type = *of, arrays[4];
	char marks[DEBUG_DEPTH];
	size_t nmarks = 0, narrays = 0;
	bool more = debug_dw_ref(&type, DW_AT_type, &type);

	for (int i = 0; more && i < DEBUG_DEPTH; i++, more = debug_dw_ref(&type, DW_AT_type, &type)) {
		uint32_t tag = debug_dw_tag(&type);

		if (is_pointer(tag)) {
			marks[nmarks++] = tag == DW_TAG_pointer_type ? '*' : '&';
		} else if (tag == DW_TAG_array_type && narrays < 4) {
			marks[nmarks++] = '[';
			arrays[narrays++] = type;
		} else if (!is_thin(tag)) {
			break;
		}
	}
	switch (more ? debug_dw_tag(&type) : 0) {
	case 0:
		buf_puts(out, "void");
		break;
	case DW_TAG_structure_type:
		put_name(debug, out, "struct ", &type);
		break;
	case DW_TAG_union_type:
		put_name(debug, out, "union ", &type);
		break;
	case DW_TAG_enumeration_type:
		put_name(debug, out, "enum ", &type);
		break;
	case DW_TAG_class_type:
		put_name(debug, out, "class ", &type);
		break;
	case DW_TAG_subroutine_type:
		buf_puts(out, "(function)");
		break;
	default:
		put_name(debug, out, "", &type);
	}
	while (nmarks--) {
		if (marks[nmarks] == '[')
			put_dimensions(&arrays[--narrays], out);
		else
			buf_putc(out, marks[nmarks]);
	}
}

uint64_t debug_type_count(struct debug *debug, const struct debug_die *array)
{
	struct debug_die die;
	uint64_t n;

	(void)debug;
	if (!debug_dw_child(array, &die))
		return 0;
	do {
		if (debug_dw_tag(&die) != DW_TAG_subrange_type)
			continue;
		return debug_type_elements(&die, &n) ? n : 0;
	} while (debug_dw_sibling(&die, &die));
	return 0;
}

bool debug_type_size(struct debug *debug, const struct debug_die *type, uint64_t *size)
{
	struct debug_die at = *type;
	uint64_t times = 1;
	int64_t n;

	for (int i = 0; i < DEBUG_DEPTH; i++) {
		if (debug_dw_number(&at, DW_AT_byte_size, &n) && n >= 0 && n <= UINT32_MAX) {
			*size = (uint64_t)n * times;
			return true;
		}
		if (is_pointer(debug_dw_tag(&at))) {
			*size = 8 * times;
			return true;
		}
		/* One dimension; those of more are taken apart before anybody asks. */
		if (debug_dw_tag(&at) == DW_TAG_array_type) {
			times *= debug_type_count(debug, &at);
			if (!times || times > UINT32_MAX)
				return false;
		}
		if (!debug_type_peel(debug, &at, &at))
			return false;
	}
	return false;
}

bool debug_type_is_char(struct debug *debug, const struct debug_die *of)
{
	struct debug_die type;
	int64_t encoding, size;

	/* What is behind void* may well be a text. */
	if (!debug_type_peel(debug, of, &type))
		return true;
	return debug_dw_tag(&type) == DW_TAG_base_type && debug_dw_number(&type, DW_AT_byte_size, &size) && size == 1 &&
	       debug_dw_number(&type, DW_AT_encoding, &encoding) && encoding != DW_ATE_boolean;
}

static char style_of(struct debug *debug, const struct debug_die *type, int64_t size)
{
	const char *name = debug_dw_text(debug->dw, type, DW_AT_name);
	int64_t encoding;

	if (!debug_dw_number(type, DW_AT_encoding, &encoding))
		return 'u';
	if (size == 1 && name && !strcmp(name, "char"))
		return 'c';
	if (encoding == DW_ATE_signed || encoding == DW_ATE_signed_char)
		return 's';
	return encoding == DW_ATE_float || encoding == DW_ATE_complex_float || encoding == DW_ATE_imaginary_float ||
	       encoding == DW_ATE_decimal_float ? 'x' : 'u';
}

bool debug_type_word(struct debug *debug, const struct debug_die *of, char word[8])
{
	struct debug_die type, under;
	int64_t size = 8;
	char style = 'x';
	uint32_t tag;

	if (!debug_type_peel(debug, of, &type))
		return false;
	tag = debug_dw_tag(&type);
	if (tag == DW_TAG_base_type || tag == DW_TAG_enumeration_type) {
		if (!debug_dw_number(&type, DW_AT_byte_size, &size))
			return false;
		if (tag == DW_TAG_enumeration_type && debug_type_peel(debug, &type, &under))
			type = under;
		style = style_of(debug, &type, size);
	} else if (!is_pointer(tag)) {
		return false;
	}
	if (size != 1 && size != 2 && size != 4 && size != 8)
		return false;
	if (style == 'c')
		snprintf(word, 8, "char");
	else
		snprintf(word, 8, "%c%d", style, (int)size * 8);
	return true;
}
