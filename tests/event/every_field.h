/*
 * One event with every kind of field, shared by a C program, a C++ program and a reader's test. The
 * types have one size on every machine, so the text and the bytes are the same on all.
 */
#ifndef TESTS_EVENT_EVERY_FIELD_H
#define TESTS_EVENT_EVERY_FIELD_H

#include <inttypes.h>
#include <ringside/event.h>
#ifndef __cplusplus
#include <stdbool.h>
#endif

enum colour { RED = 1, GREEN = 2, ODD = 100 };
enum signed_enum { MINUS = -3, PLUS = 3 };

#define PRICE_UNIT 100
#define HOW_GIFT 1u

RINGSIDE_EVENT(every, field,
	field(bool, flag),
	field(char, letter),
	field(signed char, sc),
	field(unsigned char, uc),
	field(short, s),
	field(unsigned short, us),
	field(int, i),
	field(unsigned int, ui),
	field(long long, ll),
	field(unsigned long long, ull),
	field(int8_t, i8),
	field(uint16_t, u16),
	field(int32_t, i32),
	field(uint64_t, u64),
	field(float, f),
	field(double, d),
	field(enum colour, plain),
	field(enum signed_enum, minus),
	symbols(enum colour, named, {RED, "red"}, {GREEN, "gr\"een"}, {ODD, "odd"}),
	flags(unsigned, how, {HOW_GIFT, "gift"}, {2, "express"}, {1u << 31, "top"}),
	array(uint8_t, mac, 6),
	array(short, shorts, 3),
	array(char, comm, 16),
	string(text),
	string_n(piece),
	sequence(int, lines),
	sequence(uint8_t, bytes),
	bitmask(cpus),
	print("%d %d %s %s %s %s %zu %" PRIu64 " x%%" "y %s %s %d \"q\" %s", i, letter, named, how, text,
	      piece, lines_count, u64, mac, comm, (int)REC->named + PRICE_UNIT * 2,
	      lines))

#define EVERY_FIELD_TEXT \
	"\tfield:bool flag;\toffset:8;\tsize:1;\tsigned:0;\n" \
	"\tfield:char letter;\toffset:9;\tsize:1;\tsigned:" CHAR_SIGN ";\n" \
	"\tfield:signed char sc;\toffset:10;\tsize:1;\tsigned:1;\n" \
	"\tfield:unsigned char uc;\toffset:11;\tsize:1;\tsigned:0;\n" \
	"\tfield:short s;\toffset:12;\tsize:2;\tsigned:1;\n" \
	"\tfield:unsigned short us;\toffset:14;\tsize:2;\tsigned:0;\n" \
	"\tfield:int i;\toffset:16;\tsize:4;\tsigned:1;\n" \
	"\tfield:unsigned int ui;\toffset:20;\tsize:4;\tsigned:0;\n" \
	"\tfield:long long ll;\toffset:24;\tsize:8;\tsigned:1;\n" \
	"\tfield:unsigned long long ull;\toffset:32;\tsize:8;\tsigned:0;\n" \
	"\tfield:int8_t i8;\toffset:40;\tsize:1;\tsigned:1;\n" \
	"\tfield:uint16_t u16;\toffset:42;\tsize:2;\tsigned:0;\n" \
	"\tfield:int32_t i32;\toffset:44;\tsize:4;\tsigned:1;\n" \
	"\tfield:uint64_t u64;\toffset:48;\tsize:8;\tsigned:0;\n" \
	"\tfield:float f;\toffset:56;\tsize:4;\tsigned:1;\n" \
	"\tfield:double d;\toffset:64;\tsize:8;\tsigned:1;\n" \
	"\tfield:enum colour plain;\toffset:72;\tsize:4;\tsigned:0;\n" \
	"\tfield:enum signed_enum minus;\toffset:76;\tsize:4;\tsigned:1;\n" \
	"\tfield:enum colour named;\toffset:80;\tsize:4;\tsigned:0;\n" \
	"\tfield:unsigned how;\toffset:84;\tsize:4;\tsigned:0;\n" \
	"\tfield:uint8_t mac[6];\toffset:88;\tsize:6;\tsigned:0;\n" \
	"\tfield:short shorts[3];\toffset:94;\tsize:6;\tsigned:1;\n" \
	"\tfield:char comm[16];\toffset:100;\tsize:16;\tsigned:" CHAR_SIGN ";\n" \
	"\tfield:__data_loc char[] text;\toffset:116;\tsize:4;\tsigned:0;\n" \
	"\tfield:__data_loc char[] piece;\toffset:120;\tsize:4;\tsigned:0;\n" \
	"\tfield:__data_loc int[] lines;\toffset:124;\tsize:4;\tsigned:1;\n" \
	"\tfield:__data_loc uint8_t[] bytes;\toffset:128;\tsize:4;\tsigned:0;\n" \
	"\tfield:__data_loc unsigned long[] cpus;\toffset:132;\tsize:4;\tsigned:0;\n" \
	"\n" \
	"print fmt: \"%d %d %s %s %s %s %zu %" PRIu64 " x%%y %s %s %d \\\"q\\\" %s\", REC->i, " \
	"REC->letter, __print_symbolic(REC->named, { 1, \"red\" }, { 2, \"gr\\\"een\" }, " \
	"{ 100, \"odd\" }), __print_flags(REC->how, \"|\", { 0x1, \"gift\" }, { 0x2, \"express\" }, " \
	"{ 0x80000000, \"top\" }), __get_str(text), __get_str(piece), " \
	"(__get_dynamic_array_len(lines) / 4), REC->u64, __print_array(REC->mac, 6, 1), REC->comm, " \
	"(int)REC->named + 100 * 2, __print_array(__get_dynamic_array(lines), " \
	"__get_dynamic_array_len(lines) / 4, 4)"

#ifdef __CHAR_UNSIGNED__
#define CHAR_SIGN "0"
#else
#define CHAR_SIGN "1"
#endif

static const uint8_t every_mac[6] = { 1, 2, 3, 4, 5, 6 };
static const short every_shorts[3] = { -1, 2, -3 };
static const int every_lines[3] = { 10, -20, 30 };
static const uint8_t every_bytes[5] = { 9, 8, 7, 6, 5 };

/* 70 bits, of which 0, 5 and 69 are set, and one behind the end that must not be recorded. */
#ifdef __LP64__
static const unsigned long every_cpus[2] = { 0x21, 0x20 | 0x40 };
#else
static const unsigned long every_cpus[3] = { 0x21, 0, 0x20 | 0x40 };
#endif

#define EVERY_TRACE() \
	trace_every_field(true, 'z', -5, 250, -1234, 54321, -70000, 4000000000u, \
			  -5000000000ll, 18000000000000000000ull, -8, 65000, -3, \
			  0x123456789abcdef0ull, 1.5f, -2.25, GREEN, MINUS, ODD, 1u << 31 | 1, \
			  every_mac, every_shorts, "sh", "some text", "piece of it", 5, \
			  every_lines, 3, every_bytes, 5, every_cpus, 70)

#endif
