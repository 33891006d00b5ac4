/*
 * ringside/print.h: lines of text in the trace, cheap and cheaper.
 *
 * All of it is recorded whenever tracing is on; no event has to be switched on for it.
 *
 * All of it may be used in any thread and in signal handlers; marks that have to be formatted, and
 * formats marked below, take what vsnprintf takes.
 */
#ifndef RINGSIDE_PRINT_H
#define RINGSIDE_PRINT_H

#include <stdarg.h>

#include <ringside/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Writes a line of text, event ftrace:print, as a write to the file trace_marker would: a newline
 * is added when there is none. What is too long for a record is cut.
 */
RINGSIDE_API void ringside_mark(const char *text);

/* The same, formatted on the spot. */
RINGSIDE_API void ringside_markf(const char *format, ...) __attribute__((format(printf, 1, 2)));
RINGSIDE_API void ringside_vmarkf(const char *format, va_list args)
	__attribute__((format(printf, 1, 0)));

/*
 * ringside_printf(FORMAT, ...): as printf, into the trace, event ftrace:bprint. FORMAT is a string
 * literal. It is stored once; a call records where it is and its arguments in binary form, and
 * formatting is left to whoever reads. The line begins with the name of the calling function. While
 * tracing is off, a call is two loads and a branch.
 *
 * A newline at the end of FORMAT may be left out. Formats with %m, %n, wide characters, long
 * doubles or numbered arguments work, but are formatted on the spot.
 */
#define ringside_printf(...) \
	do { \
		RINGSIDE_FORMAT_SITE(RINGSIDE_FIRST(__VA_ARGS__)) \
		if (RINGSIDE_UNLIKELY(ringside_format_wanted(ringside_site))) { \
			ringside_format_write(ringside_site, __VA_ARGS__); \
			/* Not a tail call: its return address tells where the site is. */ \
			__asm__ volatile(""); \
		} \
	} while (0)

#define RINGSIDE_FIRST(...) RINGSIDE_FIRST_(__VA_ARGS__, 0)
#define RINGSIDE_FIRST_(first, ...) first

#define RINGSIDE_FORMAT_ARGS 30

/* A site of ringside_printf. */
struct ringside_format {
	const uint32_t *hint;	/* -> not 0: somebody wants it, or it has to be registered */
	uint32_t fresh;		/* what `hint` points to before */
	uint32_t abi;
	const char *format;
	const char *function;
	uint64_t address;	/* stands for the format in records */
	uint64_t bias;		/* from an address in this process to one that all understand */
	uint8_t state;
	uint8_t as_text;	/* is formatted on the spot */
	uint8_t nkinds;
	uint8_t kinds[RINGSIDE_FORMAT_ARGS];	/* what the arguments are */
};

/* For the macro above. */
RINGSIDE_API void ringside_format_register(struct ringside_format *const *from,
					   struct ringside_format *const *to);
RINGSIDE_API void ringside_format_write(struct ringside_format *site, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

RINGSIDE_INLINE int ringside_format_wanted(const struct ringside_format *site)
{
	const volatile uint32_t *hint = *(const uint32_t *const volatile *)&site->hint;

	return *hint != 0;
}

#ifdef __cplusplus
} /* extern "C" */

/*
 * The site belongs to a class that is local to the function, which may be inline or a template, and
 * registers itself with the initializers of the program or library. Hidden, so that it is no reason
 * for the loader to keep a library for ever.
 */
template <class Here> struct __attribute__((visibility("hidden"))) ringside_format_site {
	static bool start()
	{
		struct ringside_format *const pointer = &site;

		ringside_format_register(&pointer, &pointer + 1);
		return true;
	}
	static struct ringside_format site;
	static bool started;
};
template <class Here> struct ringside_format ringside_format_site<Here>::site = {
	&site.fresh, 1, RINGSIDE_ABI, Here::format(), Here::function(), 0, 0, 0, 0, 0, { 0 }
};
template <class Here> bool ringside_format_site<Here>::started = start();

#define RINGSIDE_FORMAT_SITE(text) \
	constexpr const char *ringside_function = __func__; \
	struct ringside_here { \
		static constexpr const char *format() { return text; } \
		static constexpr const char *function() { return ringside_function; } \
	}; \
	struct ringside_format *ringside_site = &ringside_format_site<ringside_here>::site; \
	(void)&ringside_format_site<ringside_here>::started;

#else

/* Pointers to the sites of a program or library lie side by side, for a constructor to find. */
extern struct ringside_format *const __start_ringside_formats[]
	__attribute__((weak, visibility("hidden")));
extern struct ringside_format *const __stop_ringside_formats[]
	__attribute__((weak, visibility("hidden")));

#ifndef RINGSIDE_INSIDE	/* the library itself has none */
static __attribute__((constructor(103), unused)) void ringside_format_start(void)
{
	ringside_format_register(__start_ringside_formats, __stop_ringside_formats);
}
#endif

#define RINGSIDE_FORMAT_SITE(text) \
	static struct ringside_format ringside_object = { \
		&ringside_object.fresh, 1, RINGSIDE_ABI, text, __func__, 0, 0, 0, 0, 0, { 0 } \
	}; \
	static struct ringside_format *const ringside_pointer \
		__attribute__((section("ringside_formats"), used)) = &ringside_object; \
	struct ringside_format *ringside_site = &ringside_object;

#endif

#endif
