/*
 * ringside/usdt.h: the note by which perf, bpftrace, gdb and SystemTap find a site.
 *
 * Part of ringside/event.h and ringside/probe.h. A note of type 3 in .note.stapsdt names the address of a nop, the
 * provider (the event's system), the probe (the event's name), the event's semaphore, which those
 * tools count up while they are attached, and where up to 12 arguments are at that moment:
 * "-4@%edi 8@%rsi", the size, negative when signed, and the place. Strings, arrays, sequences and
 * bitmasks are pointers there; float and double are their bits.
 */
#ifndef RINGSIDE_USDT_H
#define RINGSIDE_USDT_H

#include <ringside/abi.h>
#include <ringside/map.h>

#if defined(__x86_64__) || defined(__i386__) || defined(__aarch64__)
#define RINGSIDE_USDT_ARCH 1
#else
#define RINGSIDE_USDT_ARCH 0
#endif

/* A value of 8 bytes has no single register in 32-bit code, so all of them are in memory there. */
#ifdef __LP64__
#define RINGSIDE_USDT_PLACE "nor"
#define RINGSIDE_USDT_ADDRESS ".8byte "
#else
#define RINGSIDE_USDT_PLACE "m"
#define RINGSIDE_USDT_ADDRESS ".4byte "
#endif

/* One instruction of 5 bytes: a jump fits in its place, so that no trap is needed to be called from there. */
#if defined(__x86_64__)
#define RINGSIDE_USDT_NOP ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00"
#else
#define RINGSIDE_USDT_NOP "nop"
#endif

/* Where nop and note stay together when the linker drops one of several copies of a function. */
#define RINGSIDE_USDT_NOTE(system, name, semaphore, args) \
	"990:\t" RINGSIDE_USDT_NOP "\n" \
	"\t.pushsection .note.stapsdt,\"?\",%%note\n" \
	"\t.balign 4\n" \
	"\t.4byte 992f-991f, 994f-993f, 3\n" \
	"991:\t.asciz \"stapsdt\"\n" \
	"992:\t.balign 4\n" \
	"993:\t" RINGSIDE_USDT_ADDRESS "990b\n" \
	"\t" RINGSIDE_USDT_ADDRESS "_.stapsdt.base\n" \
	"\t" RINGSIDE_USDT_ADDRESS semaphore "\n" \
	"\t.asciz \"" system "\"\n" \
	"\t.asciz \"" name "\"\n" \
	"\t.asciz \"" args "\"\n" \
	"994:\t.balign 4\n" \
	"\t.popsection\n" \
	"\t.ifndef _.stapsdt.base\n" \
	"\t.pushsection .stapsdt.base,\"aG\",%%progbits,.stapsdt.base,comdat\n" \
	"\t.weak _.stapsdt.base\n" \
	"\t.hidden _.stapsdt.base\n" \
	"_.stapsdt.base:\t.space 1\n" \
	"\t.size _.stapsdt.base, 1\n" \
	"\t.popsection\n" \
	"\t.endif\n"

/* An argument is (size, value): a constant, negative when unsigned since %n turns the sign, and a
 * variable of an integer or pointer type. */
#define RINGSIDE_USDT_IN(n, size, value) \
	[ringside_s##n] "n"(size), [ringside_a##n] RINGSIDE_USDT_PLACE(value)
#define RINGSIDE_USDT_IN_(n, arg) RINGSIDE_USDT_IN__(n, RINGSIDE_USDT_OPEN arg)
#define RINGSIDE_USDT_IN__(...) RINGSIDE_USDT_IN(__VA_ARGS__)
#define RINGSIDE_USDT_OPEN(...) __VA_ARGS__

/* How many arguments follow the 0: those beyond the 12th are left out. */
#define RINGSIDE_USDT_COUNT(...) RINGSIDE_MANY_(__VA_ARGS__, 12, 12, 12, 12, 12, 12, 12, 12, 12, \
	12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, \
	12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, \
	11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0)

/* The template for so many arguments, the first of which has the highest number. */
#define RINGSIDE_USDT_T0 ""
#define RINGSIDE_USDT_T1 "%n[ringside_s1]@%[ringside_a1]"
#define RINGSIDE_USDT_T2 "%n[ringside_s2]@%[ringside_a2] " RINGSIDE_USDT_T1
#define RINGSIDE_USDT_T3 "%n[ringside_s3]@%[ringside_a3] " RINGSIDE_USDT_T2
#define RINGSIDE_USDT_T4 "%n[ringside_s4]@%[ringside_a4] " RINGSIDE_USDT_T3
#define RINGSIDE_USDT_T5 "%n[ringside_s5]@%[ringside_a5] " RINGSIDE_USDT_T4
#define RINGSIDE_USDT_T6 "%n[ringside_s6]@%[ringside_a6] " RINGSIDE_USDT_T5
#define RINGSIDE_USDT_T7 "%n[ringside_s7]@%[ringside_a7] " RINGSIDE_USDT_T6
#define RINGSIDE_USDT_T8 "%n[ringside_s8]@%[ringside_a8] " RINGSIDE_USDT_T7
#define RINGSIDE_USDT_T9 "%n[ringside_s9]@%[ringside_a9] " RINGSIDE_USDT_T8
#define RINGSIDE_USDT_T10 "%n[ringside_s10]@%[ringside_a10] " RINGSIDE_USDT_T9
#define RINGSIDE_USDT_T11 "%n[ringside_s11]@%[ringside_a11] " RINGSIDE_USDT_T10
#define RINGSIDE_USDT_T12 "%n[ringside_s12]@%[ringside_a12] " RINGSIDE_USDT_T11

/* And its operands; what comes after the last is dropped. */
#define RINGSIDE_USDT_I0(zero)
#define RINGSIDE_USDT_I1(a, ...) RINGSIDE_USDT_IN_(1, a)
#define RINGSIDE_USDT_I2(a, ...) RINGSIDE_USDT_IN_(2, a), RINGSIDE_USDT_I1(__VA_ARGS__)
#define RINGSIDE_USDT_I3(a, ...) RINGSIDE_USDT_IN_(3, a), RINGSIDE_USDT_I2(__VA_ARGS__)
#define RINGSIDE_USDT_I4(a, ...) RINGSIDE_USDT_IN_(4, a), RINGSIDE_USDT_I3(__VA_ARGS__)
#define RINGSIDE_USDT_I5(a, ...) RINGSIDE_USDT_IN_(5, a), RINGSIDE_USDT_I4(__VA_ARGS__)
#define RINGSIDE_USDT_I6(a, ...) RINGSIDE_USDT_IN_(6, a), RINGSIDE_USDT_I5(__VA_ARGS__)
#define RINGSIDE_USDT_I7(a, ...) RINGSIDE_USDT_IN_(7, a), RINGSIDE_USDT_I6(__VA_ARGS__)
#define RINGSIDE_USDT_I8(a, ...) RINGSIDE_USDT_IN_(8, a), RINGSIDE_USDT_I7(__VA_ARGS__)
#define RINGSIDE_USDT_I9(a, ...) RINGSIDE_USDT_IN_(9, a), RINGSIDE_USDT_I8(__VA_ARGS__)
#define RINGSIDE_USDT_I10(a, ...) RINGSIDE_USDT_IN_(10, a), RINGSIDE_USDT_I9(__VA_ARGS__)
#define RINGSIDE_USDT_I11(a, ...) RINGSIDE_USDT_IN_(11, a), RINGSIDE_USDT_I10(__VA_ARGS__)
#define RINGSIDE_USDT_I12(a, ...) RINGSIDE_USDT_IN_(12, a), RINGSIDE_USDT_I11(__VA_ARGS__)

/* RINGSIDE_USDT(system, name, semaphore, 0, (size, value), ...): three strings first. */
#if RINGSIDE_USDT_ARCH
#define RINGSIDE_USDT(system, name, semaphore, ...) \
	RINGSIDE_USDT_(RINGSIDE_USDT_COUNT(__VA_ARGS__), system, name, semaphore, __VA_ARGS__, 0)
#define RINGSIDE_USDT_(n, system, name, semaphore, zero, ...) \
	__asm__ volatile(RINGSIDE_USDT_NOTE(system, name, semaphore, \
					    RINGSIDE_CAT(RINGSIDE_USDT_T, n)) \
			 :: RINGSIDE_CAT(RINGSIDE_USDT_I, n)(__VA_ARGS__))
#else
#define RINGSIDE_USDT(system, name, semaphore, ...) ((void)0)
#endif

#endif
