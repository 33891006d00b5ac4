#!/bin/sh
# What the compiler says to declarations: nothing to good ones, however many warnings are on, and
# something to each kind of mistake.

set -u
cd "$RINGSIDE_SCRATCH" || exit 1
bad=0

case $CC in
gcc|cc) cxx=g++ ;;
clang) cxx=clang++ ;;
*) cxx= ;;
esac
command -v "${cxx:-none}" >/dev/null || cxx=

# $CC is a command with options.
# shellcheck disable=SC2086
compile() {
	file=$1
	shift
	case $file in
	*.cc) how="$cxx -std=c++17" ;;
	*) how="$CC -std=c11 -Wstrict-prototypes -Wmissing-prototypes" ;;
	esac
	$how -Wall -Wextra -Wpedantic -Wshadow -Wundef -Wformat=2 -Wconversion -Werror \
		-I"$RINGSIDE_SOURCE/include" -c "$file" -o out.o "$@" >log 2>&1
}

begin='#include <ringside/ringside.h>
struct thing { int a, b; };
enum kind { ONE = 1, TWO };
RINGSIDE_EVENT(t, base, field(int, a), string(s), sequence(int, l), array(char, c, 8))'

good() {
	for file in good.c ${cxx:+good.cc}; do
		printf '%s\n%s\n' "$begin" "$1" >$file
		for options in -O0 '-O2 -fPIC' '-O3 -fno-pic'; do
			# shellcheck disable=SC2086
			compile $file $options || {
				echo "FAIL $file $options: $1"
				head -n 20 log
				bad=1
			}
		done
	done
}

wrong() {
	for file in wrong.c ${cxx:+wrong.cc}; do
		printf '%s\n%s\n' "$begin" "$1" >$file
		if compile $file -O1; then
			echo "FAIL $file is accepted: $1"
			bad=1
		elif ! grep -qE "$2" log; then
			echo "FAIL $file: nothing of \"$2\" in:"
			head -n 20 log
			bad=1
		fi
	done
}

good ''
good 'RINGSIDE_EVENT(t, empty, print("nothing at all"))'
good 'RINGSIDE_EVENT(t, e, symbols(enum kind, k, {ONE, "one"}, {TWO, "two"}), field(const void *, p),
	field(float, f), bitmask(m), string_n(n), flags(unsigned long long, how, {1, "a"}),
	print("%s %p %f %s %s %s %d", k, p, (double)f, m, n, how, (int)REC->k))'
good 'RINGSIDE_CUSTOM_EVENT(t, base, rider, string(s), field(double, a), array(char, c, 4))'
good 'void f(int x);
void f(int x) { ringside_printf("%d %s\n", x, "text"); ringside_mark("x"); trace_t_base(x, 0, 0, 0, "c"); }'
good 'RINGSIDE_EVENT(t, most,
	field(int, a), field(int, b), field(int, c), field(int, d), field(int, e), field(int, f),
	field(int, g), field(int, h), field(int, i), field(int, j), field(int, k), field(int, l),
	string_n(m), string_n(n), string_n(o), string_n(p), string_n(q), string_n(r), string_n(s),
	string_n(t), string_n(u), string_n(v), string_n(w), string_n(x), string_n(y), string_n(z),
	string_n(ab), string_n(ac), string_n(ad), string_n(ae), string_n(af), string_n(ag))'

wrong 'RINGSIDE_EVENT(t, e, field(int, a), print("%s", a))' 'W(error=)?format'
wrong 'RINGSIDE_EVENT(t, e, string(s), print("%d", s))' 'W(error=)?format'
wrong 'RINGSIDE_EVENT(t, e, field(int, a), print("%d %d", a))' 'W(error=)?format'
wrong 'RINGSIDE_EVENT(t, e, field(int, a), print("%d", b))' 'undeclared|not declared'
wrong 'RINGSIDE_EVENT(t, e, field(struct thing, a))' 'cannot be recorded'
wrong 'RINGSIDE_EVENT(t, e, field(long double, a))' 'cannot be recorded'
wrong 'RINGSIDE_EVENT(t, e, array(int, a, 2000))' 'too long'
wrong 'RINGSIDE_EVENT(t, e, feild(int, a))' 'feild'
wrong 'void f(void); void f(void) { trace_t_base("a", 0, 0, 0, 0); }' 'int|invalid conversion'
wrong 'void f(void); void f(void) { trace_t_base(1, 0, 0); }' 'too few arguments|no matching function'
wrong 'RINGSIDE_CUSTOM_EVENT(t, base, r, field(int, x))' 'x'
wrong 'RINGSIDE_CUSTOM_EVENT(t, base, r, string(a))' 'a'
wrong 'RINGSIDE_CUSTOM_EVENT(t, base, r, string(c))' 'pointer|cannot convert|cannot initialize'
wrong 'RINGSIDE_CUSTOM_EVENT(t, base, r, sequence(short, l))' 'pointer|cannot convert|cannot initialize'
wrong 'RINGSIDE_CUSTOM_EVENT(t, base, r, array(char, c, 9))' 'shorter than that'
wrong 'void f(const char *t); void f(const char *t) { ringside_printf(t); }' 'constant|format|usable'
wrong 'void f(void); void f(void) { ringside_printf("%d", "text"); }' 'W(error=)?format'
exit $bad
