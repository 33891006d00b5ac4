/*
 * ringside/probe.h: a place that tracers can listen at, without linking anything.
 *
 *	RINGSIDE_PROBE(shop, order, item, customer->name);
 *	...
 *	if (RINGSIDE_PROBE_ENABLED(shop, order))
 *		RINGSIDE_PROBE(shop, order, count_items(), NULL);
 *
 * A statement in C11 or C++17. While nobody listens it is a nop of 5 bytes, and whatever its arguments cost; a note in the file
 * (USDT, as SystemTap's sys/sdt.h writes it) tells Ringside, perf, bpftrace, gdb and SystemTap where it is, and where its
 * arguments are: up to 12 integers and pointers; an array is a pointer, and float and double are their bits. A listener replaces
 * the nop.
 *
 *	ringside probe -x ./shop sdt_shop:order
 *	ringside record -e sdt_shop:order ./shop
 *
 * PROVIDER and NAME are words, not strings. RINGSIDE_PROBE_ENABLED is not 0 while somebody listens, by a semaphore that those
 * tools count up; each program and library has its own.
 */
#ifndef RINGSIDE_PROBE_H
#define RINGSIDE_PROBE_H

#include <ringside/map.h>
#include <ringside/usdt.h>

#ifdef __cplusplus
#include <type_traits>
#endif

/* ---- arguments: (size, value), the size below zero when it is unsigned ---- */

#ifdef __cplusplus
template <class T>
static inline __attribute__((always_inline)) T ringside_probe_value(T value)
{
	return value;
}

template <class T>
struct ringside_probe_size {
	static constexpr int size = std::is_integral<T>::value && std::is_signed<T>::value ? int(sizeof(T)) : -int(sizeof(T));
};

/* What has to be in memory (ringside/usdt.h) is there until the statement ends. */
template <class T>
struct ringside_probe_kept {
	T value;
	T &in_memory() { return value; }
};

#ifdef __LP64__
#define RINGSIDE_PROBE_VALUE(x) ringside_probe_value(x)
#else
#define RINGSIDE_PROBE_VALUE(x) (ringside_probe_kept<decltype(ringside_probe_value(x))>{ x }.in_memory())
#endif
#define RINGSIDE_PROBE_SIZE(x) (ringside_probe_size<decltype(ringside_probe_value(x))>::size)
#else
/* A variable of its own: so arrays are pointers. */
#ifdef __LP64__
#define RINGSIDE_PROBE_VALUE(x) __extension__({ __auto_type ringside_value = (x); ringside_value; })
#else
#define RINGSIDE_PROBE_VALUE(x) \
	(*(__typeof__(__extension__({ __auto_type ringside_value = (x); ringside_value; }))[1]){ (x) })
#endif
#define RINGSIDE_PROBE_SIGN(x) _Generic((x), char: (char)-1 < 0 ? 1 : -1, signed char: 1, short: 1, int: 1, long: 1, \
	long long: 1, default: -1)
#define RINGSIDE_PROBE_SIZE(x) \
	(RINGSIDE_PROBE_SIGN(x) * (int)sizeof(__extension__({ __auto_type ringside_sized = (x); ringside_sized; })))
#endif

#define RINGSIDE_PROBE_ARG(x) , (RINGSIDE_PROBE_SIZE(x), RINGSIDE_PROBE_VALUE(x))

/* ---- semaphores ---- */

#if RINGSIDE_USDT_ARCH
#define RINGSIDE_PROBE_SEMAPHORE(symbol) \
	"\t.ifndef " symbol "\n" \
	"\t.pushsection .probes,\"awG\",%%progbits," symbol ",comdat\n" \
	"\t.weak " symbol "\n" \
	"\t.hidden " symbol "\n" \
	"\t.type " symbol ",%%object\n" \
	"\t.balign 2\n" \
	symbol ":\t.2byte 0\n" \
	"\t.size " symbol ", 2\n" \
	"\t.popsection\n" \
	"\t.endif\n"
#define RINGSIDE_PROBE_DEFINE(symbol) __asm__ volatile(RINGSIDE_PROBE_SEMAPHORE(symbol) ::)
#else
#define RINGSIDE_PROBE_DEFINE(symbol) ((void)0)
#endif

#define RINGSIDE_PROBE_SYMBOL(provider, name) "ringside_probe_" #provider "_" #name "_semaphore"

/* ---- what programs use ---- */

#if RINGSIDE_USDT_ARCH
#define RINGSIDE_PROBE_ENABLED(provider, name) __extension__({ \
	extern volatile unsigned short ringside_probe_semaphore_##provider##_##name \
		__asm__(RINGSIDE_PROBE_SYMBOL(provider, name)) __attribute__((visibility("hidden"))); \
	RINGSIDE_PROBE_DEFINE(RINGSIDE_PROBE_SYMBOL(provider, name)); \
	__builtin_expect(ringside_probe_semaphore_##provider##_##name, 0); })
#else
#define RINGSIDE_PROBE_ENABLED(provider, name) 0
#endif

/* The name is the first of the rest, so that there may be no arguments at all. */
#define RINGSIDE_PROBE(provider, ...) RINGSIDE_CAT(RINGSIDE_PROBE_, RINGSIDE_MANY(__VA_ARGS__))(provider, __VA_ARGS__)
#define RINGSIDE_PROBE_1(provider, name) RINGSIDE_PROBE_SITE(#provider, #name, RINGSIDE_PROBE_SYMBOL(provider, name), 0)
#define RINGSIDE_PROBE_2(provider, name, ...) \
	RINGSIDE_PROBE_SITE(#provider, #name, RINGSIDE_PROBE_SYMBOL(provider, name), \
			    0 RINGSIDE_MAP(RINGSIDE_PROBE_ARG, __VA_ARGS__))
#define RINGSIDE_PROBE_SITE(provider, name, symbol, ...) do { \
	RINGSIDE_PROBE_DEFINE(symbol); \
	RINGSIDE_USDT(provider, name, symbol, __VA_ARGS__); \
} while (0)

#endif
