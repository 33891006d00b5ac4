/*
 * ringside/define.h: events that are defined at run time, for other languages than C and C++.
 *
 *	event = ringside_define("shop", "order", "int item; double price; string customer",
 *				"\"item=%d customer=%s\", item, customer", NULL, 0);
 *	if (ringside_enabled(event)) {
 *		union ringside_value v[3] = { { .i = 42 }, { .d = 9.99 },
 *					      { .bytes = { "ann", RINGSIDE_TO_NUL } } };
 *		ringside_emit(event, v, 3);
 *	}
 *
 * An event of the same name and fields that is declared in C is the same event.
 */
#ifndef RINGSIDE_DEFINE_H
#define RINGSIDE_DEFINE_H

#include <ringside/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A defined event. It is never freed. */
struct ringside_defined;

/* The length of bytes that end with a NUL. */
#define RINGSIDE_TO_NUL ((size_t)-1)

/* One field's value, by the field's type. */
union ringside_value {
	int64_t i;		/* signed integers */
	uint64_t u;		/* unsigned ones, bool, pointers */
	double d;		/* float and double */
	struct {
		const void *data;
		size_t len;	/* bytes of a string or RINGSIDE_TO_NUL; bits; elements */
	} bytes;
};

/*
 * Defines an event, or finds the one that was defined with the same words. `fields` are separated
 * by semicolons, each a type and a name:
 *
 *	int item		a C integer type, s8 to u64, int8_t to uint64_t, size_t, bool, char,
 *				float, double, pid_t and the like
 *	void *where		any pointer
 *	u8 mac[6]		an array
 *	int lines[]		as many as there are: `len` elements at `data`
 *	string customer		text
 *	bitmask cpus		`len` bits at `data`, in words of type unsigned long
 *
 * `print` tells how the event reads: a format string in quotes and its arguments, which are C
 * expressions of field names and may use what the kernel's print formats know, such as
 * __print_symbolic(status, { 0, "new" }, { 1, "paid" }). NULL prints every field as name=value, and
 * so do arguments that make no sense, which are not checked here.
 *
 * Returns NULL when the words are wrong, with a line that says why in `error`, if there is such a
 * buffer of `error_size` bytes. Without a tracing directory the event is defined and never enabled.
 * Not for signal handlers.
 */
RINGSIDE_API struct ringside_defined *ringside_define(const char *system, const char *name,
						      const char *fields, const char *print,
						      char *error, size_t error_size);

/* Not 0 when somebody wants the event. NULL is never wanted. Any thread, any signal handler. */
RINGSIDE_API int ringside_enabled(const struct ringside_defined *event);

/* The word that ringside_enabled() looks at, for those who can do so themselves: not 0 when
 * wanted. */
RINGSIDE_API const uint32_t *ringside_enabled_word(const struct ringside_defined *event);

/*
 * Records the event, if somebody wants it, with a value for each field. Returns 0, or -EINVAL when
 * `count` is not the number of fields or `event` is NULL. Any thread, any signal handler.
 */
RINGSIDE_API int ringside_emit(const struct ringside_defined *event,
			       const union ringside_value *values, size_t count);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
