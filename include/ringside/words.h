/*
 * ringside/words.h: what each word of RINGSIDE_EVENT becomes at each place of the declaration.
 *
 * Part of ringside/event.h. RINGSIDE_PLACE(word(...)) is RINGSIDE_PLACE_word(...): a place to a
 * block, a word to a line.
 */
#ifndef RINGSIDE_WORDS_H
#define RINGSIDE_WORDS_H

#include <ringside/abi.h>

/* Parameters of trace_SYSTEM_NAME. */
#define RINGSIDE_PARAM(x) RINGSIDE_PARAM_##x
#define RINGSIDE_PARAM_field(type, name) , type name
#define RINGSIDE_PARAM_symbols(type, name, ...) , type name
#define RINGSIDE_PARAM_flags(type, name, ...) , type name
#define RINGSIDE_PARAM_array(type, name, n) , const type *name
#define RINGSIDE_PARAM_string(name) , const char *name
#define RINGSIDE_PARAM_string_n(name) , const char *name, size_t name##_len
#define RINGSIDE_PARAM_sequence(type, name) , const type *name, size_t name##_count
#define RINGSIDE_PARAM_bitmask(name) , const unsigned long *name, size_t name##_bits
#define RINGSIDE_PARAM_print(...)

/* The same, handed on. */
#define RINGSIDE_NAME(x) RINGSIDE_NAME_##x
#define RINGSIDE_NAME_field(type, name) , name
#define RINGSIDE_NAME_symbols(type, name, ...) , name
#define RINGSIDE_NAME_flags(type, name, ...) , name
#define RINGSIDE_NAME_array(type, name, n) , name
#define RINGSIDE_NAME_string(name) , name
#define RINGSIDE_NAME_string_n(name) , name, name##_len
#define RINGSIDE_NAME_sequence(type, name) , name, name##_count
#define RINGSIDE_NAME_bitmask(name) , name, name##_bits
#define RINGSIDE_NAME_print(...)

/* The same as members; the library finds a length right behind its pointer. */
#define RINGSIDE_ARG(x) RINGSIDE_ARG_##x
#define RINGSIDE_ARG_field(type, name) type name;
#define RINGSIDE_ARG_symbols(type, name, ...) type name;
#define RINGSIDE_ARG_flags(type, name, ...) type name;
#define RINGSIDE_ARG_array(type, name, n) const type *name;
#define RINGSIDE_ARG_string(name) const char *name;
#define RINGSIDE_ARG_string_n(name) const char *name; size_t name##_len;
#define RINGSIDE_ARG_sequence(type, name) const type *name; size_t name##_count;
#define RINGSIDE_ARG_bitmask(name) const unsigned long *name; size_t name##_bits;
#define RINGSIDE_ARG_print(...)

/* Members of the record; a dynamic part is a word there, its length << 16 | its offset. */
#define RINGSIDE_MEMBER(x) RINGSIDE_MEMBER_##x
#define RINGSIDE_MEMBER_field(type, name) type name __attribute__((aligned(sizeof(type))));
#define RINGSIDE_MEMBER_symbols(type, name, ...) RINGSIDE_MEMBER_field(type, name)
#define RINGSIDE_MEMBER_flags(type, name, ...) RINGSIDE_MEMBER_field(type, name)
#define RINGSIDE_MEMBER_array(type, name, n) type name[n] __attribute__((aligned(sizeof(type))));
#define RINGSIDE_MEMBER_string(name) uint32_t name;
#define RINGSIDE_MEMBER_string_n(name) uint32_t name;
#define RINGSIDE_MEMBER_sequence(type, name) uint32_t name;
#define RINGSIDE_MEMBER_bitmask(name) uint32_t name;
#define RINGSIDE_MEMBER_print(...)

/* What the arguments of print() are to the compiler. */
#define RINGSIDE_TEXTS(x) RINGSIDE_TEXTS_##x
#define RINGSIDE_TEXTS_field(type, name) , type name
#define RINGSIDE_TEXTS_symbols(type, name, ...) , const char *name
#define RINGSIDE_TEXTS_flags(type, name, ...) , const char *name
#define RINGSIDE_TEXTS_array(type, name, n) , const char *name
#define RINGSIDE_TEXTS_string(name) , const char *name
#define RINGSIDE_TEXTS_string_n(name) , const char *name
#define RINGSIDE_TEXTS_sequence(type, name) , const char *name, size_t name##_count
#define RINGSIDE_TEXTS_bitmask(name) , const char *name
#define RINGSIDE_TEXTS_print(...)

#define RINGSIDE_CHECK(x) RINGSIDE_CHECK_##x
#define RINGSIDE_CHECK_field(type, name) (void)name; RINGSIDE_ASSERT_TYPE(type, name)
#define RINGSIDE_CHECK_symbols(type, name, ...) (void)name; RINGSIDE_ASSERT_TYPE(type, name)
#define RINGSIDE_CHECK_flags(type, name, ...) (void)name; RINGSIDE_ASSERT_TYPE(type, name)
#define RINGSIDE_CHECK_array(type, name, n) (void)name; RINGSIDE_ASSERT_TYPE(type, name)
#define RINGSIDE_CHECK_string(name) (void)name;
#define RINGSIDE_CHECK_string_n(name) (void)name;
#define RINGSIDE_CHECK_sequence(type, name) \
	(void)name; (void)name##_count; RINGSIDE_ASSERT_TYPE(type, name)
#define RINGSIDE_CHECK_bitmask(name) (void)name;
#define RINGSIDE_CHECK_print(...) if (0) ringside_print_check(__VA_ARGS__);

#define RINGSIDE_PRINT(x) RINGSIDE_PRINT_##x
#define RINGSIDE_PRINT_field(type, name)
#define RINGSIDE_PRINT_symbols(type, name, ...)
#define RINGSIDE_PRINT_flags(type, name, ...)
#define RINGSIDE_PRINT_array(type, name, n)
#define RINGSIDE_PRINT_string(name)
#define RINGSIDE_PRINT_string_n(name)
#define RINGSIDE_PRINT_sequence(type, name)
#define RINGSIDE_PRINT_bitmask(name)
#define RINGSIDE_PRINT_print(...) RINGSIDE_TEXT(__VA_ARGS__)

/* Tables of names, for the rows below. */
#define RINGSIDE_NAMES(x) RINGSIDE_NAMES_##x
#define RINGSIDE_NAMES_field(type, name)
#define RINGSIDE_NAMES_symbols(type, name, ...) \
	static const struct ringside_symbol ringside_names_##name[] = { __VA_ARGS__, { 0, 0 } };
#define RINGSIDE_NAMES_flags(type, name, ...) RINGSIDE_NAMES_symbols(type, name, __VA_ARGS__)
#define RINGSIDE_NAMES_array(type, name, n)
#define RINGSIDE_NAMES_string(name)
#define RINGSIDE_NAMES_string_n(name)
#define RINGSIDE_NAMES_sequence(type, name)
#define RINGSIDE_NAMES_bitmask(name)
#define RINGSIDE_NAMES_print(...)

/* Rows of the table of fields. */
#define RINGSIDE_ROW_(kind, type, name, n, names, size, from) { \
	#name, #type, names, offsetof(ringside_type, name), offsetof(ringside_from, name), n, \
	kind, size, RINGSIDE_CLASS(type), RINGSIDE_SIGNED(type), \
	sizeof(from), RINGSIDE_CLASS(from), RINGSIDE_SIGNED(from), 0 },
#define RINGSIDE_FROM(name) __typeof__(((ringside_from *)0)->name)

#define RINGSIDE_ROW(x) RINGSIDE_ROW_##x
#define RINGSIDE_ROW_field(type, name) \
	RINGSIDE_ROW_(RINGSIDE_FIELD, type, name, 1, 0, sizeof(type), RINGSIDE_FROM(name))
#define RINGSIDE_ROW_symbols(type, name, ...) \
	RINGSIDE_ROW_(RINGSIDE_SYMBOLS, type, name, 1, ringside_names_##name, sizeof(type), \
		      RINGSIDE_FROM(name))
#define RINGSIDE_ROW_flags(type, name, ...) \
	RINGSIDE_ROW_(RINGSIDE_FLAGS, type, name, 1, ringside_names_##name, sizeof(type), \
		      RINGSIDE_FROM(name))
#define RINGSIDE_ROW_array(type, name, n) \
	RINGSIDE_ROW_(RINGSIDE_ARRAY, type, name, n, 0, sizeof(type), type)
#define RINGSIDE_ROW_string(name) RINGSIDE_ROW_(RINGSIDE_STRING, char, name, 1, 0, 1, char)
#define RINGSIDE_ROW_string_n(name) RINGSIDE_ROW_(RINGSIDE_STRING_N, char, name, 1, 0, 1, char)
#define RINGSIDE_ROW_sequence(type, name) \
	RINGSIDE_ROW_(RINGSIDE_SEQUENCE, type, name, 1, 0, sizeof(type), type)
#define RINGSIDE_ROW_bitmask(name) \
	RINGSIDE_ROW_(RINGSIDE_BITMASK, unsigned long, name, 1, 0, sizeof(long), unsigned long)
#define RINGSIDE_ROW_print(...)

/* Variables that show the arguments to USDT tools, and how large they are. */
#ifdef __cplusplus
template <class T> constexpr T ringside_show(T value)
{
	return value;
}
RINGSIDE_INLINE uint32_t ringside_show(float value)
{
	return static_cast<uint32_t>(ringside_bits(&value, sizeof(value)));
}
RINGSIDE_INLINE uint64_t ringside_show(double value)
{
	return ringside_bits(&value, sizeof(value));
}
#define RINGSIDE_SHOWN(name) auto ringside_u_##name = ringside_show(name)
#else
#define RINGSIDE_SHOWN(name) __extension__ __auto_type ringside_u_##name = _Generic(name, \
	float: (uint32_t)ringside_bits(&name, 4), double: ringside_bits(&name, 8), default: name)
#endif

#define RINGSIDE_VIEW(x) RINGSIDE_VIEW_##x
#define RINGSIDE_VIEW_field(type, name) \
	enum { ringside_s_##name = \
	       RINGSIDE_SIGNED(type) && RINGSIDE_CLASS(type) != RINGSIDE_FLOAT ? \
	       (int)sizeof(type) : -(int)sizeof(type) }; \
	RINGSIDE_SHOWN(name); \
	(void)ringside_u_##name;
#define RINGSIDE_VIEW_symbols(type, name, ...) RINGSIDE_VIEW_field(type, name)
#define RINGSIDE_VIEW_flags(type, name, ...) RINGSIDE_VIEW_field(type, name)
#define RINGSIDE_VIEW_array(type, name, n)
#define RINGSIDE_VIEW_string(name)
#define RINGSIDE_VIEW_string_n(name)
#define RINGSIDE_VIEW_sequence(type, name)
#define RINGSIDE_VIEW_bitmask(name)
#define RINGSIDE_VIEW_print(...)

#define RINGSIDE_SHOW(x) RINGSIDE_SHOW_##x
#define RINGSIDE_SHOW_field(type, name) , (ringside_s_##name, ringside_u_##name)
#define RINGSIDE_SHOW_symbols(type, name, ...) , (ringside_s_##name, ringside_u_##name)
#define RINGSIDE_SHOW_flags(type, name, ...) , (ringside_s_##name, ringside_u_##name)
#define RINGSIDE_SHOW_array(type, name, n) , (-(int)sizeof(void *), name)
#define RINGSIDE_SHOW_string(name) , (-(int)sizeof(void *), name)
#define RINGSIDE_SHOW_string_n(name) RINGSIDE_SHOW_string(name) RINGSIDE_SHOW_string(name##_len)
#define RINGSIDE_SHOW_sequence(type, name) \
	RINGSIDE_SHOW_string(name) RINGSIDE_SHOW_string(name##_count)
#define RINGSIDE_SHOW_bitmask(name) RINGSIDE_SHOW_string(name) RINGSIDE_SHOW_string(name##_bits)
#define RINGSIDE_SHOW_print(...)

/* How long the dynamic parts are: ringside_n_NAME, in bytes, elements or words. */
#define RINGSIDE_MEASURE(x) RINGSIDE_MEASURE_##x
#define RINGSIDE_MEASURE_field(type, name)
#define RINGSIDE_MEASURE_symbols(type, name, ...)
#define RINGSIDE_MEASURE_flags(type, name, ...)
#define RINGSIDE_MEASURE_array(type, name, n)
#define RINGSIDE_MEASURE_string(name) \
	name = name ? name : "(null)"; \
	size_t ringside_n_##name = strlen(name); \
	ringside_len += ringside_room(ringside_n_##name + 1, 1);
#define RINGSIDE_MEASURE_string_n(name) \
	name##_len = name ? name##_len : 6; \
	name = name ? name : "(null)"; \
	size_t ringside_n_##name = name##_len; \
	ringside_len += ringside_room(ringside_n_##name, 1) + 4;
#define RINGSIDE_MEASURE_sequence(type, name) \
	size_t ringside_n_##name = name ? name##_count : 0; \
	ringside_len += ringside_room(ringside_n_##name, sizeof(type));
#define RINGSIDE_MEASURE_bitmask(name) \
	size_t ringside_n_##name = name ? name##_bits / 64 + !!(name##_bits % 64) : 0; \
	ringside_len += ringside_room(ringside_n_##name, 8);
#define RINGSIDE_MEASURE_print(...)

/* The words of the fixed part. */
#define RINGSIDE_FIX(x) RINGSIDE_FIX_##x
#define RINGSIDE_FIX_field(type, name) \
	ringside_put(ringside_record, offsetof(ringside_type, name), &name, sizeof(type));
#define RINGSIDE_FIX_symbols(type, name, ...) RINGSIDE_FIX_field(type, name)
#define RINGSIDE_FIX_flags(type, name, ...) RINGSIDE_FIX_field(type, name)
#define RINGSIDE_FIX_array(type, name, n)
#define RINGSIDE_FIX_(name, size) \
	ringside_put_word(ringside_record, offsetof(ringside_type, name), \
			  (uint32_t)(ringside_len | (size) << 16)); \
	ringside_len += ringside_round(size);
#define RINGSIDE_FIX_string(name) RINGSIDE_FIX_(name, ringside_n_##name + 1)
#define RINGSIDE_FIX_string_n(name) RINGSIDE_FIX_(name, ringside_n_##name + 1)
#define RINGSIDE_FIX_sequence(type, name) RINGSIDE_FIX_(name, ringside_n_##name * sizeof(type))
#define RINGSIDE_FIX_bitmask(name) RINGSIDE_FIX_(name, ringside_n_##name * 8)
#define RINGSIDE_FIX_print(...)

/* The bytes of all that is no word, after the words, so that those can be gathered in registers. */
#define RINGSIDE_FILL(x) RINGSIDE_FILL_##x
#define RINGSIDE_FILL_field(type, name)
#define RINGSIDE_FILL_symbols(type, name, ...)
#define RINGSIDE_FILL_flags(type, name, ...)
#define RINGSIDE_FILL_array(type, name, n) \
	ringside_put_array(ringside_record, offsetof(ringside_type, name), name, \
			   sizeof(type) * (n), RINGSIDE_CLASS(type));
#define RINGSIDE_FILL_(name, from, size, room) \
	ringside_put_bytes((char *)ringside_record + ringside_to, (const char *)(from), size); \
	ringside_to += ringside_round(room);
#define RINGSIDE_FILL_string(name) \
	RINGSIDE_FILL_(name, name, ringside_n_##name, ringside_n_##name + 1)
#define RINGSIDE_FILL_string_n(name) \
	RINGSIDE_FILL_(name, name, ringside_n_##name, ringside_n_##name + 1)
#define RINGSIDE_FILL_sequence(type, name) \
	RINGSIDE_FILL_(name, name, ringside_n_##name * sizeof(type), \
		       ringside_n_##name * sizeof(type))
#define RINGSIDE_FILL_bitmask(name) \
	ringside_put_bits((char *)ringside_record + ringside_to, name, name##_bits, \
			  ringside_n_##name); \
	ringside_to += ringside_n_##name * 8;
#define RINGSIDE_FILL_print(...)

/* A custom event's fields have to be what they are in the event whose sites it rides on. */
#define RINGSIDE_PICK(x) RINGSIDE_PICK_##x
#define RINGSIDE_PICK_field(type, name) \
	{ type ringside_v = (type)ringside_args->name; (void)ringside_v; }
#define RINGSIDE_PICK_symbols(type, name, ...) RINGSIDE_PICK_field(type, name)
#define RINGSIDE_PICK_flags(type, name, ...) RINGSIDE_PICK_field(type, name)
#define RINGSIDE_PICK_array(type, name, n) \
	{ const type *ringside_v = ringside_args->name; (void)ringside_v; } \
	RINGSIDE_STATIC_ASSERT(sizeof(ringside_base->name) >= sizeof(type) * (n), \
			       #name " is shorter than that");
#define RINGSIDE_PICK_(type, name) \
	{ const type *ringside_v = ringside_args->name; (void)ringside_v; } \
	{ const uint32_t *ringside_v = &ringside_base->name; (void)ringside_v; }
#define RINGSIDE_PICK_string(name) RINGSIDE_PICK_(char, name)
#define RINGSIDE_PICK_string_n(name) RINGSIDE_PICK_(char, name) (void)ringside_args->name##_len;
#define RINGSIDE_PICK_sequence(type, name) \
	RINGSIDE_PICK_(type, name) (void)ringside_args->name##_count;
#define RINGSIDE_PICK_bitmask(name) \
	RINGSIDE_PICK_(unsigned long, name) (void)ringside_args->name##_bits;
#define RINGSIDE_PICK_print(...)

#endif
