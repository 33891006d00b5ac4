#!/bin/sh
# record as people use trace-cmd: each option at least once, in lines as they are typed, with programs that know of us and
# with others. What comes out is in the file; nothing else is, and nothing is left behind.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"

program busy <"$RINGSIDE_SOURCE/tests/record/busy.c"
cd "$RINGSIDE_SCRATCH" || exit 1
PATH=$RINGSIDE_SCRATCH:$PATH
file=trace.dat
line=

# Buffers and events are as if nobody had recorded.
clean() {
	want 0 list -B
	[ ! -s "$out" ] || fail "$line: buffers are left"
	want 0 cat set_event
	[ ! -s "$out" ] || fail "$line: events are on"
}

# rec OPTION... [COMMAND]...: a recording that goes well, in trace.dat, of which lines are in $out.lines.
rec() {
	rm -f $file
	want 0 record -q "$@"
	[ ! -s "$err" ] || fail "record $*: it says something"
	line="record $*"
	clean
	want 0 report $file
	cp "$out" "$out.lines"
}

# has COUNT EVENT [COUNT EVENT]...: of these, so many, and of no others but those that every program has: processes, calls, memory.
has() {
	all=0
	while [ $# -gt 0 ]; do
		[ "$(grep -c ": $2: " "$out.lines")" -eq "$1" ] || fail "$line: not $1 of $2: $(cat "$out.lines")"
		all=$((all + $1))
		shift 2
	done
	others='^cpus=\|: sched_\|: sys_\|: signal_\|: kmalloc: \|: kfree: '
	[ "$(grep -vc "$others" "$out.lines")" -eq $all ] || fail "$line: others, too: $(cat "$out.lines")"
}

# may OPTION... [COMMAND]...: recorded, or refused in a line of words with nothing done. For what is not there yet.
may() {
	rm -f $file
	"$RINGSIDE" record -q "$@" >"$out" 2>"$err"
	case $? in
	0) [ -s $file ] || fail "record $*: no file" ;;
	1)
		[ "$(grep -c '^ringside: ' "$err")" -eq 1 ] || fail "record $*: not one line of words"
		[ ! -e $file ] || fail "record $*: refused, and a file is there"
		;;
	*) fail "record $*: what is that?" ;;
	esac
	clean
}

# ---- which events ----

rec -e busy busy 1 3 tick other
has 3 tick
rec -e busy:tick busy 1 3 tick other
has 3 tick
rec -e tock busy 1 3 tick other
has 3 tock
rec -e 'b*' -e 'other:t?ck' busy 1 3 tick other
has 3 tick 3 tock
rec -e '*:t?ck' busy 1 3 tick other
has 3 tick 3 tock
rec -e all busy 1 3 tick other
has 3 tick 3 tock 1 all
rec busy 1 3 tick other
has 3 tick 3 tock 1 all
rec -e all -v -e other busy 1 3 tick other
has 3 tick 1 all
rec -e busy -e done busy 1 3 tick other
has 3 tick 1 all
rec -a -e tick -O nooverwrite -b 100 --subbuf-size 8 -C mono --no-filter busy 1 3 tick other
has 3 tick
rec -s 1000 --poll --nosplice --cmdlines-size 4096 --tsc2nsec --temp /tmp -e tick busy 1 3
has 3 tick
rec -i -e no_such_event -e tick busy 1 3
has 3 tick
rec -p nop -e tick busy 1 3
has 3 tick
rec -p nop busy 1 3 tick mark
has 6 print 6 bprint

# An event that nobody has brought yet is worth a word, and comes all the same.
rm -f $file
want 0 record -e never:seen busy 1 1
grep -q 'never:seen' "$err" || fail "no word about it"

# ---- filters, triggers, functions: there, or refused in words ----

may -e busy:tick -f 'n > 1' busy 1 3
may -e busy:tick -f 'n > 1' -f 'n < 3' busy 1 3
may -e busy:tick -R 'traceoff:1' busy 1 3
may -T -e tick busy 1 3
may -p function -l 'ip_rcv*' busy 1 3
may -p function -n '*[^c]lock*' busy 1 3
may -p function -l '*lock*' -n '*clock*' --func-stack busy 1 3
may -p function_graph -g main --max-graph-depth 2 busy 1 3
may -p function --module libc.so.6 busy 1 3
may -O sym-userobj -e tick busy 1 3
refuse 2 record -f 'n > 1' -e busy:tick busy -- '-f'
refuse 1 record -p no_such_tracer busy -- no_such_tracer 'list -t'
refuse 1 record -C no_such_clock busy -- no_such_clock 'list -C'
refuse 1 record -O no_such_option busy -- no_such_option 'list -o'
refuse 1 record --compression lz4 busy -- lz4 zstd
refuse 2 record --file-version 8 busy -- 8 '6 and 7'
refuse 2 record --file-version 6 --compression zlib busy -- 'version 6'
refuse 2 record -b many busy -- '-b'
refuse 2 record --subbuf-size x busy -- '--subbuf-size'
refuse 2 record -M 0xzz busy -- '-M'
refuse 2 record -P abc busy -- '-P'
refuse 2 record -r 100 busy -- '-r'
refuse 2 record -c busy -- '-c'
refuse 2 record -F -- '--only-command'
refuse 2 record --keep 3 busy -- '--keep' '--rotate'
refuse 2 record --no-such-option busy -- '--no-such-option'
clean
[ ! -e $file ] || fail "refused, and a file is there"

# ---- whose events ----

rec -F busy 1 3
has 3 tick 1 all
rec -F sh -c 'busy 1 3; true'
has
rec -F -c sh -c 'busy 1 3; (busy 1 4 & wait)'
has 7 tick 2 all
rec -e tick -F -c busy 4 5
has 20 tick
rec -e tick -F busy 4 5
has

# Programs that run already, and wait.
for i in 1 2 3; do
	mkfifo go$i
	sh -c 'read go <go$1; exec busy 1 $1' sh $i &
	eval "pid$i=\$!"
done
# Behind the echo somebody has to see them end: they are not the recorder's children.
# shellcheck disable=SC2154
rec -e tick -P "$pid1,$pid2" sh -c 'for i in 1 2 3; do echo >go$i; done
	while kill -0 $1 || kill -0 $2 || kill -0 $3; do sleep 0.02; done 2>/dev/null' sh "$pid1" "$pid2" "$pid3" &
recorder=$!
wait "$pid1" "$pid2" "$pid3"
wait $recorder || exit 1
want 0 report $file
cp "$out" "$out.lines"
has 3 tick

# One CPU of several.
if [ "$(getconf _NPROCESSORS_ONLN)" -gt 1 ] && taskset -c 0 true 2>/dev/null; then
	rec -e tick -M 1 taskset -c 0 busy 1 3
	has 3 tick
	rec -e tick -M 2 taskset -c 0 busy 1 3
	has
fi
rec -e tick -M -1 busy 1 3
has 3 tick

# ---- several buffers ----

rec -e tick -B one -e tock busy 1 3 tick other
has 3 tick 3 tock
[ "$(grep -c '^one: .*: tock: ' "$out.lines")" -eq 3 ] || fail "not in their buffer"
rec -B one -e tick -B two -e tick -b 200 -B three -e tock busy 1 3 tick other
has 6 tick 3 tock

# One that is there stays, with its settings.
want 0 start -B web -e done -b 400 -C mono
want 0 cat instances/web/buffer_size_kb
kb=$(cat "$out")
want 0 record -q -e tick -B web -e tock -b 100 -O nooverwrite busy 1 3 tick other
want 0 report -B web $file
cp "$out" "$out.lines"
line='-B web'
has 3 tock 1 all
want 0 list -B
says web
want 0 cat instances/web/buffer_size_kb
says "$kb"
want 0 cat instances/web/set_event
says done:all
want 0 cat instances/web/options/overwrite
says 1
want 0 cat instances/web/trace_clock
grep -q '\[mono\]' "$out" || fail "the clock is not what it was"
refuse 1 record -C x86-tsc -e tick -B web -e tock busy -- mono x86-tsc 'one file'
want 0 set -v -B web

# The top one, which somebody has started.
want 0 start -e tick
want 0 record -q --top -e tock busy 1 3 tick other
want 0 report $file
cp "$out" "$out.lines"
has 3 tick 3 tock
want 0 cat set_event
says busy:tick
want 0 cat tracing_on
says 1
want 0 reset

# -k: it stays, is off, and is named.
rm -f $file
want 0 record -k busy 1 3
kept=$(sed -n 's/.*the instance \(record-[0-9]*\) stays.*/\1/p' "$err")
want 0 list -B
says "$kept"
want 0 cat "instances/$kept/tracing_on"
says 0
# Also when others record: neither it nor one that wants what programs print is anybody's left-over.
want 0 set -B prints -O copy_trace_marker
want 0 record -q busy 1 3
want 0 list -B
printf '%s\n' "$kept" prints | sort | cmp -s - "$out" || fail "a recording removed what is not its own"
want 0 set -v -B prints
want 0 set -v -B "$kept"
clean

# ---- the file ----

rm -f $file
want 0 record -q -o elsewhere.dat busy 1 3
[ -s elsewhere.dat ] && [ ! -e $file ] || fail "not where -o says"
for how in '--compression any' '--compression none' '--compression zstd' '--compression zlib' '--file-version 6' \
	'--file-version 7' '-m 100' '-C global' '-C counter' '-C tsc2nsec' '--proc-map'; do
	[ "$RINGSIDE_ZSTD" = 1 ] || case $how in *zstd | *zlib | *any) continue ;; esac
	# shellcheck disable=SC2086
	rec $how busy 2 500 tick
	has 1000 tick 1 all
done
want 0 dump --options $file
grep -q "/busy$" "$out" || fail "no map of the program"
# On one CPU a short command has often ended before its recorder runs again.
for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
	taskset -c 0 "$RINGSIDE" record -q --proc-map -o $file true || fail "a short command"
	want 0 dump --options $file
	grep -q "/true$" "$out" || fail "no map of a short command"
done

now=$(date +%s)
rec --date busy 1 1
then=$(sed -n 's/.*\] [^ ]* *\([0-9]*\)\..*tick: .*/\1/p' "$out.lines")
[ "$then" -ge $((now - 2)) ] && [ "$then" -le $(($(date +%s) + 2)) ] || fail "$now, it says $then"
rec -C mono busy 1 1
before=$(sed -n 's/.*\] [^ ]* *\([0-9]*\)\..*tick: .*/\1/p' "$out.lines")
rec -C mono --ts-offset 1000000000000000 busy 1 1
after=$(sed -n 's/.*\] [^ ]* *\([0-9]*\)\..*tick: .*/\1/p' "$out.lines")
[ "$after" -ge $((before + 1000000)) ] && [ "$after" -lt $((before + 1001000)) ] || fail "$before, then $after"

# Files that follow each other have all events between them, each once.
rm -f $file
want 0 record -q -e tick -C mono --rotate 100k busy 1 40000
n=$(ls $file.* | wc -l)
[ "$n" -gt 1 ] || fail "$n files"
# shellcheck disable=SC2046
for f in $(ls $file.* | sort -t. -k3n) $file; do
	want 0 report "$f"
	sed -n 's/.*tick: .* n=//p' "$out"
done | sort -n >"$out.ticks"
seq 0 39999 | cmp - "$out.ticks" >"$err" 2>&1 || fail "not all of them, or not once"
rm -f $file*
want 0 record -q -e tick --rotate 100k --keep 2 busy 1 40000
[ "$(ls $file.* | wc -l)" -eq 2 ] || fail "not 2 are kept"
rm -f $file*
want 0 record -q -e tick --rotate 10ms sh -c 'for i in 1 2 3; do busy 1 1; sleep 0.1; done'
[ -e $file.1 ] || fail "no other file with the time"
rm -f $file*

# ---- commands ----

rec -e tick -- busy 1 2
has 2 tick
rec -e tick sh -c 'busy 1 2; exec busy 1 "$1"' -e 3 -o nothing
has 5 tick
[ ! -e nothing ] || fail "options of the command were taken for ours"
may -r 10 busy 1 3
want 3 record -q sh -c 'exit 3'
want 137 record -q sh -c 'kill -KILL $$'
want 143 record -q sh -c 'kill -TERM $$'
echo precious >$file
refuse 1 record no-such-program-anywhere -- no-such-program-anywhere PATH
refuse 1 record ./no-such-program -- ./no-such-program
[ "$(cat $file)" = precious ] || fail "the file of before is gone"
clean

# Not a byte more or less than without us: a program, a script, one of Python, one that is linked statically.
printf '#!/bin/sh\necho "$# $1"; echo oops >&2; exit 4\n' >script
chmod +x script
printf '#include <stdio.h>\nint main(int n, char **v) { printf("%%d %%s\\n", n, v[1]); return 5; }\n' >static.c
# shellcheck disable=SC2086
$CC -static static.c -o static 2>/dev/null || cp script static
cat >"seen.py" <<'END'
import sys
print(len(sys.argv), sys.argv[1])
sys.exit(6)
END
for command in ./script ./static '/usr/bin/python3 seen.py' 'ls -d' 'grep -c root /etc/passwd'; do
	# shellcheck disable=SC2086
	$command / >plain.out 2>plain.err
	status=$?
	# shellcheck disable=SC2086
	want $status record -q $command /
	cmp plain.out "$out" && cmp plain.err "$err" || fail "$command says something else when it is recorded"
done
want 0 record -q sh -c 'grep -q libringside /proc/$$/maps'

# Two at once, each with its own and only its own. Both are on when one opens the gate for the other.
rm -f ./*.dat
mkfifo gate
"$RINGSIDE" record -q -o first.dat -e tick sh -c 'read go <gate; busy 2 5000 tick other' &
first=$!
want 0 record -q -o second.dat -e tock sh -c 'echo >gate; busy 2 5000 tick other'
wait $first || fail "the first one"
for which in 'first tick tock' 'second tock tick'; do
	# shellcheck disable=SC2086
	set -- $which
	want 0 report "$1.dat"
	[ "$(grep -c ": $2: " "$out")" -ge 10000 ] || fail "$1 has not its own"
	! grep -q ": $3: " "$out" || fail "$1 has what is not its own"
done
clean

# Many that live for a moment only: all are there, with their names.
rec -e tick sh -c 'i=0; while [ $i -lt 250 ]; do busy 1 1 & busy 1 1 & busy 1 1 & busy 1 2; i=$((i + 1)); done; wait'
has 1250 tick
[ "$(grep -c ' busy-[0-9]* ' "$out.lines")" -eq 1250 ] || fail "names are missing"
[ "$(grep -o ' busy-[0-9]* ' "$out.lines" | sort -u | wc -l)" -ge 900 ] || fail "not a thousand programs"

# ---- in the background, and until somebody says so ----

for signal in INT TERM; do
	rm -f $file
	want 0 record --daemonize -e tick
	pid=$(cat $file.pid)
	busy 1 3
	kill -$signal "$pid"
	i=0
	while kill -0 "$pid" 2>/dev/null && [ $i -lt 500 ]; do
		sleep 0.02
		i=$((i + 1))
	done
	[ ! -e $file.pid ] || fail "the file with its number is left"
	want 0 report $file
	cp "$out" "$out.lines"
	line="--daemonize, SIG$signal"
	has 3 tick
	clean
done

# ---- as somebody else ----

[ "$(id -u)" -eq 0 ] && id nobody >/dev/null 2>&1 || exit 0
chmod 755 .
mkdir library his
cp "$RINGSIDE_BUILD/libringside.so.0" library
chown nobody his
chmod 700 his
LD_LIBRARY_PATH=$RINGSIDE_SCRATCH/library RINGSIDE_LIBRARY=$RINGSIDE_SCRATCH/library/libringside.so.0
export LD_LIBRARY_PATH RINGSIDE_LIBRARY
rm -f $file
want 0 record -q --dir "$RINGSIDE_SCRATCH/his" --user nobody -e tick sh -c 'id -un; echo $HOME; busy 1 3'
sed -n 1p "$out" | grep -qx nobody || fail "not as that user"
want 0 report $file
cp "$out" "$out.lines"
line='--user nobody'
has 3 tick
refuse 1 record --user no-such-user-here busy -- no-such-user-here
# A set-user-ID program gets no library, and is none the worse for it.
printf '#include <stdio.h>\n#include <unistd.h>\nint main(void) { printf("%%d\\n", (int)geteuid()); return 0; }\n' >suid.c
# shellcheck disable=SC2086
$CC suid.c -o suid && chmod 4755 suid
"$RINGSIDE" record -q --dir "$RINGSIDE_SCRATCH/his" --user nobody ./suid >"$out" 2>"$err" || fail "a set-user-ID program"
[ ! -s "$err" ] || fail "a set-user-ID program: something is said"
