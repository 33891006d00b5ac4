/*
 * ringside/map.h: loops for the preprocessor. Part of ringside/event.h; programs use none of it.
 *
 * RINGSIDE_MAP(m, a, b, c) becomes m(a) m(b) m(c), for up to 32 things. RINGSIDE_LIST(0, a, b)
 * becomes a, b, and RINGSIDE_LIST(0) becomes void: parameter lists whose elements bring their own
 * commas.
 */
#ifndef RINGSIDE_MAP_H
#define RINGSIDE_MAP_H

#define RINGSIDE_CAT(a, b) RINGSIDE_CAT_(a, b)
#define RINGSIDE_CAT_(a, b) a##b
#define RINGSIDE_TEXT(...) RINGSIDE_TEXT_(__VA_ARGS__)
#define RINGSIDE_TEXT_(...) #__VA_ARGS__

/* How many things there are, 1 to 32. */
#define RINGSIDE_COUNT(...) RINGSIDE_COUNT_(__VA_ARGS__, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, \
	22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define RINGSIDE_COUNT_(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, \
	_17, _18, _19, _20, _21, _22, _23, _24, _25, _26, _27, _28, _29, _30, _31, _32, n, ...) n

#define RINGSIDE_MAP(m, ...) \
	RINGSIDE_CAT(RINGSIDE_MAP_, RINGSIDE_COUNT(__VA_ARGS__))(m, __VA_ARGS__)
#define RINGSIDE_MAP_1(m, x) m(x)
#define RINGSIDE_MAP_2(m, x, ...) m(x) RINGSIDE_MAP_1(m, __VA_ARGS__)
#define RINGSIDE_MAP_3(m, x, ...) m(x) RINGSIDE_MAP_2(m, __VA_ARGS__)
#define RINGSIDE_MAP_4(m, x, ...) m(x) RINGSIDE_MAP_3(m, __VA_ARGS__)
#define RINGSIDE_MAP_5(m, x, ...) m(x) RINGSIDE_MAP_4(m, __VA_ARGS__)
#define RINGSIDE_MAP_6(m, x, ...) m(x) RINGSIDE_MAP_5(m, __VA_ARGS__)
#define RINGSIDE_MAP_7(m, x, ...) m(x) RINGSIDE_MAP_6(m, __VA_ARGS__)
#define RINGSIDE_MAP_8(m, x, ...) m(x) RINGSIDE_MAP_7(m, __VA_ARGS__)
#define RINGSIDE_MAP_9(m, x, ...) m(x) RINGSIDE_MAP_8(m, __VA_ARGS__)
#define RINGSIDE_MAP_10(m, x, ...) m(x) RINGSIDE_MAP_9(m, __VA_ARGS__)
#define RINGSIDE_MAP_11(m, x, ...) m(x) RINGSIDE_MAP_10(m, __VA_ARGS__)
#define RINGSIDE_MAP_12(m, x, ...) m(x) RINGSIDE_MAP_11(m, __VA_ARGS__)
#define RINGSIDE_MAP_13(m, x, ...) m(x) RINGSIDE_MAP_12(m, __VA_ARGS__)
#define RINGSIDE_MAP_14(m, x, ...) m(x) RINGSIDE_MAP_13(m, __VA_ARGS__)
#define RINGSIDE_MAP_15(m, x, ...) m(x) RINGSIDE_MAP_14(m, __VA_ARGS__)
#define RINGSIDE_MAP_16(m, x, ...) m(x) RINGSIDE_MAP_15(m, __VA_ARGS__)
#define RINGSIDE_MAP_17(m, x, ...) m(x) RINGSIDE_MAP_16(m, __VA_ARGS__)
#define RINGSIDE_MAP_18(m, x, ...) m(x) RINGSIDE_MAP_17(m, __VA_ARGS__)
#define RINGSIDE_MAP_19(m, x, ...) m(x) RINGSIDE_MAP_18(m, __VA_ARGS__)
#define RINGSIDE_MAP_20(m, x, ...) m(x) RINGSIDE_MAP_19(m, __VA_ARGS__)
#define RINGSIDE_MAP_21(m, x, ...) m(x) RINGSIDE_MAP_20(m, __VA_ARGS__)
#define RINGSIDE_MAP_22(m, x, ...) m(x) RINGSIDE_MAP_21(m, __VA_ARGS__)
#define RINGSIDE_MAP_23(m, x, ...) m(x) RINGSIDE_MAP_22(m, __VA_ARGS__)
#define RINGSIDE_MAP_24(m, x, ...) m(x) RINGSIDE_MAP_23(m, __VA_ARGS__)
#define RINGSIDE_MAP_25(m, x, ...) m(x) RINGSIDE_MAP_24(m, __VA_ARGS__)
#define RINGSIDE_MAP_26(m, x, ...) m(x) RINGSIDE_MAP_25(m, __VA_ARGS__)
#define RINGSIDE_MAP_27(m, x, ...) m(x) RINGSIDE_MAP_26(m, __VA_ARGS__)
#define RINGSIDE_MAP_28(m, x, ...) m(x) RINGSIDE_MAP_27(m, __VA_ARGS__)
#define RINGSIDE_MAP_29(m, x, ...) m(x) RINGSIDE_MAP_28(m, __VA_ARGS__)
#define RINGSIDE_MAP_30(m, x, ...) m(x) RINGSIDE_MAP_29(m, __VA_ARGS__)
#define RINGSIDE_MAP_31(m, x, ...) m(x) RINGSIDE_MAP_30(m, __VA_ARGS__)
#define RINGSIDE_MAP_32(m, x, ...) m(x) RINGSIDE_MAP_31(m, __VA_ARGS__)

/* 1 for one thing, 2 for more of them, up to 65: a field brings two parameters at most. */
#define RINGSIDE_MANY(...) RINGSIDE_MANY_(__VA_ARGS__, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, \
	2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, \
	2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 0)
#define RINGSIDE_MANY_(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, \
	_17, _18, _19, _20, _21, _22, _23, _24, _25, _26, _27, _28, _29, _30, _31, _32, _33, \
	_34, _35, _36, _37, _38, _39, _40, _41, _42, _43, _44, _45, _46, _47, _48, _49, _50, \
	_51, _52, _53, _54, _55, _56, _57, _58, _59, _60, _61, _62, _63, _64, _65, n, ...) n

#define RINGSIDE_LIST(...) RINGSIDE_CAT(RINGSIDE_LIST_, RINGSIDE_MANY(__VA_ARGS__))(__VA_ARGS__)
#define RINGSIDE_LIST_1(zero) void
#define RINGSIDE_LIST_2(zero, ...) __VA_ARGS__

/* The same for the arguments of a call: nothing stays nothing. */
#define RINGSIDE_PASS(...) RINGSIDE_CAT(RINGSIDE_PASS_, RINGSIDE_MANY(__VA_ARGS__))(__VA_ARGS__)
#define RINGSIDE_PASS_1(zero)
#define RINGSIDE_PASS_2(zero, ...) __VA_ARGS__

#endif
