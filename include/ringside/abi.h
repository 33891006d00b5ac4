/*
 * ringside/abi.h: what declared events and libringside know of each other.
 *
 * Part of ringside/event.h. Programs do not use it by name, but the structures below are compiled
 * into them, and a newer library serves older programs: RINGSIDE_ABI counts their versions.
 */
#ifndef RINGSIDE_ABI_H
#define RINGSIDE_ABI_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define RINGSIDE_ABI 1u

/* Longest record, its 8 common bytes included; longer strings and sequences are cut. */
#define RINGSIDE_RECORD_MAX 4048u

/* Records up to this long are put together on the stack of the caller. */
#define RINGSIDE_STACK_MAX 256u

#define RINGSIDE_API __attribute__((visibility("default")))
#define RINGSIDE_INLINE static inline __attribute__((always_inline, unused))
#define RINGSIDE_UNLIKELY(x) __builtin_expect(!!(x), 0)

#ifdef __cplusplus
#define RINGSIDE_STATIC_ASSERT(what, why) static_assert(what, why)
#else
#define RINGSIDE_STATIC_ASSERT(what, why) _Static_assert(what, why)
#endif

/* What a declared field is: the words of RINGSIDE_EVENT. */
enum {
	RINGSIDE_FIELD,
	RINGSIDE_SYMBOLS,
	RINGSIDE_FLAGS,
	RINGSIDE_ARRAY,
	RINGSIDE_STRING,
	RINGSIDE_STRING_N,
	RINGSIDE_SEQUENCE,
	RINGSIDE_BITMASK,
};

/* What its elements are. */
enum {
	RINGSIDE_INT,
	RINGSIDE_FLOAT,
	RINGSIDE_POINTER,
	RINGSIDE_CHAR,
	RINGSIDE_BOOL,
	RINGSIDE_OTHER,		/* cannot be recorded */
};

/* A value and its name; a table of them ends with a NULL name. */
struct ringside_symbol {
	long long value;
	const char *name;
#ifdef __cplusplus
	template <class T> constexpr ringside_symbol(T v, const char *n)
		: value(static_cast<long long>(v)), name(n) {}
#endif
};

/* One field; a table of them ends with a NULL name. */
struct ringside_field {
	const char *name;
	const char *type;			/* as declared; of one element */
	const struct ringside_symbol *symbols;	/* RINGSIDE_SYMBOLS, RINGSIDE_FLAGS; else NULL */
	uint32_t offset;			/* in the record */
	uint32_t arg;				/* in struct ringside_args_SYSTEM_NAME */
	uint32_t count;				/* elements of an array, else 1 */
	uint8_t kind;
	uint8_t size;				/* of one element */
	uint8_t type_class;
	uint8_t is_signed;
	uint8_t arg_size;			/* the same of the argument, which may differ in */
	uint8_t arg_class;			/* an event that rides on another one's sites */
	uint8_t arg_signed;
	uint8_t reserved;
};

/*
 * An event, as its sites see it: one object in each program or library that declares it. The
 * library fills in the first half and keeps no pointer to any of it.
 */
struct ringside_event {
	const uint32_t *hint;	/* -> what is wanted: RINGSIDE_THIS, RINGSIDE_RIDER, both, or 0 */
	uint16_t semaphore;	/* USDT: how many tools are attached to its sites */
	uint16_t flags;
	uint32_t id;
	void (*write)(uint32_t id, void *record, size_t len);
	const struct ringside_field *fields;
	uint32_t nothing;	/* what `hint` points to until the event is registered: 0 */
	uint32_t abi;
	uint32_t shape;		/* of its arguments: those who ride on its sites must agree */
	uint32_t reserved0;
	const char *system;
	const char *name;
	const char *print;	/* "format", argument, ... as written; NULL for the default */
	void *rider;		/* of an event that rides: where the library keeps it */
	void *reserved1;
};

enum {
	RINGSIDE_THIS = 1,	/* this event */
	RINGSIDE_RIDER = 2,	/* one that rides on its sites */
};

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library that is in use: "0.1.0". The header's is in ringside/ringside.h. */
RINGSIDE_API const char *ringside_version(void);

/* Makes an event known. Again and again is fine. Runs in constructors. */
RINGSIDE_API void ringside_event_register(struct ringside_event *event,
					  const struct ringside_field *fields);

/* Writes the record of an event that is too large for the stack, and of those that ride on it. */
RINGSIDE_API void ringside_event_compose(const struct ringside_event *event, const void *args);

/* Makes an event known that rides on the sites of `base`, and lets go of it in destructors. */
RINGSIDE_API void ringside_custom_register(struct ringside_event *event,
					   const struct ringside_field *fields,
					   const struct ringside_event *base);
RINGSIDE_API void ringside_custom_release(struct ringside_event *event);

/* Never defined and never called: lets the compiler look at print formats. */
void ringside_print_check(const char *format, ...) __attribute__((format(printf, 1, 2)));

#ifdef __cplusplus
} /* extern "C" */

/* Written out, so that <type_traits> is not needed. */
template <class T> struct ringside_class_of {
	static constexpr int value = __is_class(T) || __is_union(T) ? RINGSIDE_OTHER : RINGSIDE_INT;
};
template <> struct ringside_class_of<char> { static constexpr int value = RINGSIDE_CHAR; };
template <> struct ringside_class_of<bool> { static constexpr int value = RINGSIDE_BOOL; };
template <> struct ringside_class_of<float> { static constexpr int value = RINGSIDE_FLOAT; };
template <> struct ringside_class_of<double> { static constexpr int value = RINGSIDE_FLOAT; };
template <class T> struct ringside_class_of<T *> { static constexpr int value = RINGSIDE_POINTER; };
template <class T> struct ringside_class_of<const T> : ringside_class_of<T> {};
template <class T> struct ringside_class_of<volatile T> : ringside_class_of<T> {};

template <class T, bool is_enum = __is_enum(T)> struct ringside_signed_of {
	static constexpr bool value = static_cast<T>(-1) < static_cast<T>(1);
};
template <class T> struct ringside_signed_of<T, true> : ringside_signed_of<__underlying_type(T)> {};
template <class T> struct ringside_signed_of<T *, false> { static constexpr bool value = false; };

#define RINGSIDE_CLASS(t) (ringside_class_of<t>::value)
#define RINGSIDE_SIGNED(t) (ringside_signed_of<t>::value)

#else

#define RINGSIDE_CLASS(t) _Generic(*(t *)0, \
	char: RINGSIDE_CHAR, _Bool: RINGSIDE_BOOL, \
	float: RINGSIDE_FLOAT, double: RINGSIDE_FLOAT, long double: RINGSIDE_FLOAT, \
	default: __builtin_classify_type(*(t *)0) == 5 ? RINGSIDE_POINTER : \
		 __builtin_classify_type(*(t *)0) <= 4 ? RINGSIDE_INT : RINGSIDE_OTHER)
#define RINGSIDE_SIGNED(t) _Generic(*(t *)0, \
	char: (char)-1 < 0, signed char: 1, short: 1, int: 1, long: 1, long long: 1, \
	float: 1, double: 1, default: 0)

#endif

/* A field of this type can be recorded. */
#define RINGSIDE_ASSERT_TYPE(type, name) \
	RINGSIDE_STATIC_ASSERT(RINGSIDE_CLASS(type) != RINGSIDE_OTHER && sizeof(type) <= 8, \
			       "field " #name ": " #type " cannot be recorded");

/* The bytes of a value of up to 8 bytes as the low end of a word, without a detour by memory. */
RINGSIDE_INLINE uint64_t ringside_bits(const void *value, size_t size)
{
	uint8_t b = 0;
	uint16_t h = 0;
	uint32_t w = 0;
	uint64_t d = 0;

	switch (size) {
	case 1:
		memcpy(&b, value, sizeof(b));
		return b;
	case 2:
		memcpy(&h, value, sizeof(h));
		return h;
	case 4:
		memcpy(&w, value, sizeof(w));
		return w;
	default:
		memcpy(&d, value, sizeof(d));
		return d;
	}
}

/*
 * Adds a value to the words of a record, which begin as zeros. With constant offsets the words stay
 * in registers until each is stored once, whole: whoever copies the record by words finds every one
 * of them in the store buffer, and padding is zero. Records beyond the stack never come here; the
 * condition keeps the compiler from seeing a store outside.
 */
RINGSIDE_INLINE void ringside_put(uint64_t *record, size_t offset, const void *value, size_t size)
{
	uint64_t bits = ringside_bits(value, size);

	if (offset >= RINGSIDE_STACK_MAX)
		return;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	record[offset / 8] |= bits << offset % 8 * 8;
#else
	(void)bits;
	memcpy((char *)record + offset, value, size);
#endif
}

RINGSIDE_INLINE void ringside_put_word(uint64_t *record, size_t offset, uint32_t word)
{
	ringside_put(record, offset, &word, sizeof(word));
}

/* A fixed array. NULL stays zeros; an array of char ends at its NUL, as a string would. */
RINGSIDE_INLINE void ringside_put_array(uint64_t *record, size_t offset, const void *from,
					size_t size, int type_class)
{
	const char *end;

	if (!from || offset + size > RINGSIDE_STACK_MAX)
		return;
	if (type_class == RINGSIDE_CHAR) {
		end = (const char *)memchr(from, 0, size);
		size = end ? (size_t)(end - (const char *)from) : size;
	}
	memcpy((char *)record + offset, from, size);
}

/* Dynamic parts begin at multiples of 4. */
RINGSIDE_INLINE size_t ringside_round(size_t size)
{
	return (size + 3) & ~(size_t)3;
}

/* What a dynamic part is to the length of a record: when it is more than fits on the stack, all of
 * that, so that sums of them neither fit nor wrap. */
RINGSIDE_INLINE size_t ringside_room(size_t count, size_t size)
{
	return count > RINGSIDE_STACK_MAX / size ? RINGSIDE_STACK_MAX + 1
						 : ringside_round(count * size);
}

RINGSIDE_INLINE uint64_t ringside_load(const char *from)
{
	uint64_t word;

	memcpy(&word, from, sizeof(word));
	return word;
}

/* The first `len` bytes, less than 8, as a word; none beyond them is touched. */
RINGSIDE_INLINE uint64_t ringside_load_short(const char *from, size_t len)
{
	uint32_t low, high;

	if (len >= 4) {
		memcpy(&low, from, 4);
		memcpy(&high, from + len - 4, 4);
		return low | (uint64_t)high << (len - 4) * 8;
	}
	if (!len)
		return 0;
	return (uint64_t)(unsigned char)from[0] |
	       (uint64_t)(unsigned char)from[len / 2] << len / 2 * 8 |
	       (uint64_t)(unsigned char)from[len - 1] << (len - 1) * 8;
}

/*
 * `len` bytes and zeros up to the next multiple of 8 and at least one, in whole words that do not
 * overlap, so that readers of words find each in one store. The record has room for one word more.
 */
RINGSIDE_INLINE void ringside_put_bytes(char *to, const char *from, size_t len)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	uint64_t word, last;
	size_t left;

	if (len < 8) {
		last = ringside_load_short(from, len);
	} else {
		last = ringside_load(from + len - 8) >> 8 >> (7 - len % 8) * 8;
		left = len;
		do {
			word = ringside_load(from);
			memcpy(to, &word, sizeof(word));
			from += 8;
			to += 8;
			left -= 8;
			/* Keeps compilers from making this a call or string instructions, and
			 * where to store from depending on the length: both are slower. */
			__asm__("" : "+r"(left), "+r"(to));
		} while (left >= 8);
	}
	memcpy(to, &last, sizeof(last));
#else
	memcpy(to, from, len);
	memset(to + len, 0, 8);
#endif
}

/* A bitmask of `words` words of 64 bits, of which the surplus ones are 0. */
RINGSIDE_INLINE void ringside_put_bits(char *to, const unsigned long *from, size_t bits,
				       size_t words)
{
	const size_t width = sizeof(long) * 8;
	uint64_t last;

	ringside_put_bytes(to, (const char *)from,
			   words ? (bits / width + !!(bits % width)) * sizeof(long) : 0);
	if (words && bits % 64) {
		memcpy(&last, to + words * 8 - 8, 8);
		last &= ((uint64_t)1 << bits % 64) - 1;
		memcpy(to + words * 8 - 8, &last, 8);
	}
}

#endif
