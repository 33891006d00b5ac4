#!/bin/sh
# Probes in programs that run already: whoever records, by whatever command and buffer, comes by them, whether the program has the
# runtime or gets it now; and a program that began while nothing was switched on has them when it is.
# Variables in quotes are those of probes; functions are called by name.
# shellcheck disable=SC2016,SC2317
. "$RINGSIDE_SOURCE/tests/probe/room.sh"

cat >loop.c <<'END'
#include <ringside/probe.h>
#include <unistd.h>

int sum, listened;

__attribute__((noinline)) int step(int n)
{
	sum += n;
	__asm__ volatile(".globl middle\nmiddle:" : : : "memory");
	return sum * 3;
}

/* A byte for each round: who waits for a few knows that some were run from the first to the last step. */
int main(void)
{
	for (int i = 0;; i++) {
		step(i);
		RINGSIDE_PROBE(loop, tick, i);
		if (RINGSIDE_PROBE_ENABLED(loop, tick))
			listened++;
		if (write(1, "x", 1) != 1)
			return 1;
		usleep(2000);
	}
}
END
# Until the loop has come round a few times: rounds FILE
cat >rounds <<'END'
#!/bin/sh
end=$(($(wc -c <"$1") + 5))
until [ "$(wc -c <"$1")" -ge "$end" ]; do
	sleep 0.01
done
END
chmod +x rounds
# shellcheck disable=SC2086
$CC -O2 -g -I"$RINGSIDE_SOURCE/include" loop.c -o loop || exit 1

loops=
trap 'kill $loops 2>/dev/null' EXIT

# A loop of its own for each way: begin [NAME=VALUE]
begin() {
	: >steps
	env "$@" ./loop >>steps &
	loop=$!
	loops="$loops $loop"
	./rounds steps
}
end() {
	kill -0 "$loop" || fail "$1: the loop is gone"
	kill "$loop"
	wait "$loop" 2>/dev/null
}

# The recording has records of an event of the loop: holds FILE EVENT WAY
holds() {
	"$RINGSIDE" report -i "$1" >"$out" 2>"$err" || fail "$3: cannot be read"
	[ "$(grep -c " loop-$loop .*: $2: " "$out")" -ge 4 ] || fail "$3: no records of $2"
}

# By `record`, while the loop comes round: by_record WAY EVENT OPTION...
by_record() {
	way=$1 event=$2
	shift 2
	timeout 60 "$RINGSIDE" record -o way.dat "$@" -- ./rounds steps >"$out" 2>"$err" || fail "$way: exit $?"
	holds way.dat "$event" "$way"
}

# It is true soon: soon COMMAND...
soon() {
	tries=600
	until "$@"; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || return 1
		sleep 0.05
	done
}
has_some() {
	"$RINGSIDE" report -i "$1" 2>/dev/null | grep -c ": step: " | grep -qvx '[0-4]'
}
has_lines() {
	[ "$(grep -c ": step: " "$1")" -ge 5 ]
}

want 0 probe -x ./loop 'step n'

# The program has nothing of us yet.
begin
by_record 'record -P' step -e probe_loop:step -P "$loop"
by_record 'record -P again' step -e probe_loop:step -P "$loop"
end 'record -P'
for how in --top '-B mine' '-F' '-c' '-B one -e probe_loop:step -B two'; do
	begin
	# A list of options.
	# shellcheck disable=SC2086
	by_record "$how" step $how -e probe_loop:step -P "$loop"
	end "$how"
done

begin
rm way.dat
timeout 60 "$RINGSIDE" record -o way.dat -e probe_loop:step -P "$loop" 2>"$err" &
recorder=$!
soon has_some way.dat || fail 'record until SIGINT: nothing came'
kill -INT $recorder
wait $recorder || fail "record until SIGINT: exit $?"
holds way.dat step 'record until SIGINT'

: >lines
timeout 60 "$RINGSIDE" stream -e probe_loop:step -P "$loop" >lines 2>"$err" &
streamer=$!
soon has_lines lines || fail 'stream: nothing came'
kill -INT $streamer
wait $streamer || fail "stream: exit $?"
end stream

# It has the runtime: attached to, preloaded, or from an earlier recording.
begin
want 0 attach "$loop"
by_record 'attach, record' step -e probe_loop:step
by_record 'attach, record -P' step -e probe_loop:step -P "$loop"
: >lines
timeout 60 "$RINGSIDE" stream -e probe_loop:step >lines 2>"$err" &
streamer=$!
soon has_lines lines || fail 'attach, stream: nothing came'
kill -INT $streamer
wait $streamer || fail "attach, stream: exit $?"
end attach

begin LD_PRELOAD="$library"
by_record 'preloaded, record' step -e probe_loop:step
by_record 'preloaded, record -P' step -e probe_loop:step -P "$loop"
by_record 'preloaded, all events' step
end preloaded

: >steps
"$RINGSIDE" record -q -o first.dat -e nothing_of_that_name sh -c 'echo $$ >pid; exec ./loop' >>steps 2>"$err" &
recorder=$!
./rounds steps
loop=$(cat pid)
loops="$loops $loop"
by_record 'while another records it' step -e probe_loop:step
kill -INT $recorder
wait $recorder || fail "the first recorder: exit $?"
by_record 'behind an earlier recording' step -e probe_loop:step
by_record 'behind an earlier recording, -P' step -e probe_loop:step -P "$loop"
kill "$loop"

# Lines of the files, at a function, within one, at its return, at notes of the file; what hangs on one.
begin
want 0 attach "$loop"
put kprobe_events 'p:mine/entry loop:step n=$arg1'
put uprobe_events "p:mine/middle $RINGSIDE_SCRATCH/loop:$(offset loop middle)"
put uprobe_events "r:mine/back $RINGSIDE_SCRATCH/loop:$(offset loop step) value=\$retval"
put dynamic_events 'e:mine/behind mine.entry n=$n'
want 0 probe -x ./loop sdt_loop:tick
for event in entry middle back behind; do
	by_record "mine:$event" $event -e mine:$event -P "$loop"
done
by_record 'a note' tick -e sdt_loop:tick -P "$loop"
by_record 'all of one system' back -e mine -P "$loop"
end lines

# Nothing is left in the program when nobody wants it: its code is that of its file.
begin
by_record 'before it is as it was' step -e probe_loop:step -P "$loop"
code() {
	address=$(awk -v path="$RINGSIDE_SCRATCH/loop" '$6 == path && $2 ~ /x/ { split($1, at, "-"); print at[1], $3; exit }' \
		"/proc/$loop/maps")
	dd if="/proc/$loop/mem" bs=1 count=16 skip=$((0x${address% *} - 0x${address#* } + $1)) 2>/dev/null | od -An -tx1
}
[ "$(code "$(offset loop step)")" = "$(dd if=loop bs=1 count=16 skip="$(($(offset loop step)))" 2>/dev/null | od -An -tx1)" ] ||
	fail 'something is left in the code'
end 'as it was'

# A program begins while nothing is switched on.
want 0 start -e probe_loop:step
want 0 write tracing_on 0
want 0 clear
begin LD_PRELOAD="$library"
[ -z "$(records step)" ] || fail 'records, and it is off'
want 0 write tracing_on 1
./rounds steps
[ "$(records step | wc -l)" -ge 4 ] || fail 'switched on behind its start: no records'
end 'switched off'
want 0 reset
exit 0
