#!/bin/sh
# ringside profile: functions of a command, of what runs, of some only; and everything as it was.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"

with_functions

cd "$RINGSIDE_SCRATCH" || exit 1
cat >plain.c <<'END'
#include <stdio.h>
#include <unistd.h>

#define FUNCTION __attribute__((noinline))
static volatile int sink;
FUNCTION int alpha(int n) { sink += n; return sink; }
FUNCTION int beta(int n) { return alpha(n) + alpha(n + 1) + 1; }
FUNCTION int gamma_(int n) { usleep(1000); return n + sink; }

int main(int argc, char **argv)
{
	(void)argv;
	for (int i = 0; i < 50; i++)
		beta(i);
	gamma_(1);
	puts("plain");
	for (int i = 0; argc > 1 && !access("run", F_OK); i++)
		gamma_(i);
	return 3;
}
END
# shellcheck disable=SC2086
$CC -O1 plain.c -o plain || fail "plain does not compile"

refuse 1 profile -- "no functions were profiled"
refuse 2 profile --sort color ./plain -- color
refuse 2 profile --top x ./plain -- --top
refuse 2 profile --for never -- never
refuse 1 profile -l no_such_function ./plain -- no_such_function
refuse 1 profile ./no_such_program -- no_such_program
want 0 cat set_ftrace_filter function_profile_enabled
says "#### all functions enabled ####
0"

# The command's output, then the table; its exit status is passed on.
want 3 profile --module plain ./plain
[ "$(head -n 1 "$out")" = plain ] || fail "the command says nothing"
grep -qx '      Hits        Total us         Self us          Avg us          Dev us          Max us  Function' "$out" ||
	fail "no head"
grep -q '^       100 .*  alpha$' "$out" && grep -q '^        50 .*  beta$' "$out" || fail "not all calls"
! grep -q 'libc' "$out" || fail "another module's functions"
want 3 profile -q ./plain
grep -q '  puts \[libc\.so\.6\]$' "$out" || fail "functions of libraries are missing"
# The last one can be seen again, in another order.
want 3 profile -l alpha -l beta -l gamma_ ./plain
want 0 profile --sort hits
[ "$(sed 1d "$out" | awk '{ printf "%s ", $NF }')" = "alpha beta gamma_ " ] || fail "not by hits"
want 0 profile --sort name --top 2
[ "$(sed 1d "$out" | awk '{ printf "%s ", $NF }')" = "alpha beta " ] || fail "not by name"
for key in total:2 self:3 avg:4 dev:5 max:6; do
	want 0 profile --sort "${key%:*}"
	sed 1d "$out" | awk -v c="${key#*:}" '{ if (NR > 1 && $c > last) exit 1; last = $c }' || fail "not by ${key%:*}"
done
want 0 profile --sort total
grep -q gamma_ "$out" || fail "what takes long is missing"
want 0 profile --json --sort name
python3 -c '
import json, sys
rows = [json.loads(line) for line in sys.stdin]
assert [r["function"] for r in rows] == ["alpha", "beta", "gamma_"], rows
assert all(set(r) == {"function", "hits", "timed", "total_ns", "self_ns", "avg_ns", "dev_ns", "self_avg_ns", "self_dev_ns",
	"max_ns"} for r in rows), rows
assert rows[0]["hits"] == 100 and rows[1]["timed"] == 50, rows
assert rows[1]["total_ns"] == rows[1]["self_ns"] + rows[0]["total_ns"], rows' <"$out" || fail "JSON"
want 3 profile --json -l puts ./plain
grep -q '^{"function":"puts","module":"libc.so.6","hits":1,' "$out" || fail "a module in JSON"
# Some functions, and not others; and below some.
want 3 profile -l 'a*' -l 'b*' -n beta --module plain ./plain
grep -q ' alpha$' "$out" && ! grep -q ' beta$\| main$' "$out" || fail "-n"
want 3 profile -g beta --module plain ./plain
grep -q ' alpha$' "$out" && grep -q ' beta$' "$out" && ! grep -q 'gamma_\|main' "$out" || fail "-g"

# Filters that somebody else wrote are there again.
want 0 write set_ftrace_filter 'alph?'
want 0 write set_ftrace_notrace beta
want 3 profile -l beta -n alpha -g beta ./plain
! grep -q ' alpha$\| main$' "$out" || fail "other functions"
want 0 cat set_ftrace_filter set_ftrace_notrace set_graph_function function_profile_enabled
says "alpha
beta
#### all functions enabled ####
0"
want 3 profile ./plain
[ "$(sed -n '3,$p' "$out" | awk '{ printf "%s ", $NF }')" = "alpha " ] || fail "filters of the tree do not count"
want 0 write set_ftrace_filter ''
want 0 write set_ftrace_notrace ''

# Whoever profiles is not disturbed.
want 0 write function_profile_enabled 1
refuse 1 profile ./plain -- "already"
want 0 cat function_profile_enabled
says 1
want 0 write function_profile_enabled 0

# What runs, for a while.
: >run
LD_PRELOAD=$RINGSIDE_BUILD/libringside.so.0 ./plain run >plain.out &
pid=$!
n=0
until [ -s plain.out ] || [ $n -gt 100 ] || grep -q libringside /proc/$pid/maps; do n=$((n + 1)); sleep 0.1; done
want 0 profile --json --module plain --for 500ms
hits=$(sed -n 's/^{"function":"gamma_","hits":\([0-9]*\),.*/\1/p' "$out")
[ "${hits:-0}" -gt 0 ] || fail "it runs, but nothing was counted"
want 0 cat set_ftrace_filter function_profile_enabled
says "#### all functions enabled ####
0"
rm run
wait $pid
[ $? -eq 3 ] || fail "it does not end as it should"
