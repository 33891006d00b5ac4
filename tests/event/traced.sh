#!/bin/sh
# Events of every kind from programs in C and C++, with the shared and the static library, through
# the real rings and out of the command again as text. All four bring the same event, so one id.

set -eu
cd "$RINGSIDE_SCRATCH"

cat >prog.c <<'EOF'
#include "event/every_field.h"
#include <ringside/print.h>
enum level { LOW = -1, HIGH = 1 };
RINGSIDE_EVENT(every, more,
	field(float, f),
	field(double, d),
	field(short, s),
	symbols(enum level, level, {LOW, "low"}, {HIGH, "high"}),
	bitmask(cpus))
RINGSIDE_CUSTOM_EVENT(every, field, part, field(int, u64), string(text))
int main(void)
{
	static const unsigned long cpus[1] = { 0x11 };

	EVERY_TRACE();
	trace_every_more(1.5f, -0.25, -7, LOW, cpus, 5);
	ringside_printf("%s %d %.1f %c", "printed", -1, 2.5, 'x');
	ringside_mark("marked");
	return 0;
}
EOF
cp prog.c prog.cc

fail() {
	echo "FAIL $*"
	exit 1
}

build() {
	"$@" -O2 -g -Wall -Wextra -Werror -I"$RINGSIDE_SOURCE/include" -I"$RINGSIDE_SOURCE/tests"
}
# $CC is a command with options.
# shellcheck disable=SC2086
{
	build $CC -std=gnu11 prog.c -o shared -L"$RINGSIDE_BUILD" -Wl,-rpath,"$RINGSIDE_BUILD" -lringside
	build $CC -std=gnu11 prog.c -o static "$RINGSIDE_BUILD/libringside.a"
}
programs='shared static'
case $CC in
gcc|cc) cxx=g++ ;;
clang) cxx=clang++ ;;
*) cxx= ;;
esac
if [ -n "$cxx" ] && command -v $cxx >/dev/null; then
	build $cxx -std=c++17 prog.cc -o shared_cc -L"$RINGSIDE_BUILD" -Wl,-rpath,"$RINGSIDE_BUILD" -lringside
	build $cxx -std=c++17 prog.cc -o static_cc "$RINGSIDE_BUILD/libringside.a"
	programs="$programs shared_cc static_cc"
fi

"$RINGSIDE" start -e every 2>/dev/null
n=0
for p in $programs; do
	./$p || fail "$p ended with $?"
	n=$((n + 1))
done
"$RINGSIDE" show >out
# What precedes a text: name-pid [cpu] flags time:
for line in 'field: -70000 122 odd gift|top some text piece 3 1311768467463790320 x%y {0x1,0x2,0x3,0x4,0x5,0x6} sh 300 "q" {0xa,0xffffffec,0x1e}' \
	'part: u64=-1698898192 text=some text' \
	'more: f=1.5 d=-0.25 s=-7 level=low cpus=00000000,00000011' \
	'main: printed -1 2.5 x' \
	'tracing_mark_write: marked'; do
	[ "$(grep -cF ": $line" out)" = $n ] || fail "not $n times \"$line\" in: $(cat out)"
done
[ "$(grep -c '^ ' out)" = $((n * 5)) ] || fail "more than that: $(cat out)"
[ "$("$RINGSIDE" list -e '^every:' | sort | tr '\n' ' ')" = 'every:field every:more every:part ' ] ||
	fail "events: $("$RINGSIDE" list -e '^every:')"

# Only the rider: what it rides on costs no room.
"$RINGSIDE" reset
"$RINGSIDE" start -e every:part
./shared
[ "$("$RINGSIDE" show | grep -c 'part: u64=-1698898192')" = 1 ] || fail "the rider alone: $("$RINGSIDE" show)"
[ "$("$RINGSIDE" show | grep -c 'field:')" = 0 ] || fail "what it rides on came, too: $("$RINGSIDE" show)"
