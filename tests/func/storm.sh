#!/bin/sh
# Tracing is switched on, off and over again under programs that call, throw signals at themselves, load, fork, execute and end threads
# without a pause; some are killed, and so is whoever switches. Who was not killed is right in the end.
#
# STORM_SECONDS=N makes it longer.
. "$RINGSIDE_SOURCE/tests/func/stage.sh"

seconds=${STORM_SECONDS:-6}
threads=$(($(nproc) * 4))
library=$RINGSIDE_BUILD/libringside.so.0

# shellcheck disable=SC2086
$CC -w -O2 "$cases/storm.c" -o storm -pthread -ldl || exit 1
# shellcheck disable=SC2086
$CC -O2 -shared -fPIC "$cases/libhard.c" -o libhard.so || exit 1

random() {
	od -An -N2 -tu2 /dev/urandom | tr -d ' '
}

# One that is started again and again; what it says is in said.NAME. begin NAME COMMAND...
storms() {
	name=$1
	shift
	until [ -e over ]; do
		"$@" >>"said.$name" 2>&1
		status=$?
		case $status in
		0|137) ;;
		*) echo "ends with $status" >>"said.$name"; touch "failed.$name" ;;
		esac
	done
}

# What may fail, since it is killed or has nobody to talk to; but it may not hang.
may() {
	timeout -k 1 20 "$@" >>said.tool 2>&1
	[ $? -ne 124 ] || fail "hangs: $*"
}

"$RINGSIDE" start -e all || exit 1
storms long env LD_PRELOAD="$library" ./storm "$seconds" "$threads" &
storms short env LD_PRELOAD="$library" ./storm 0.2 2 &
storms bare ./storm 1 2 &
end=$(($(date +%s) + seconds))
while [ "$(date +%s)" -lt "$end" ]; do
	for tracer in function nop function_graph function nop function_graph; do
		case $(($(random) % 8)) in
		0)
			# Killed somewhere in the middle of it.
			"$RINGSIDE" write current_tracer "$tracer" >>said.tool 2>&1 &
			tool=$!
			sleep "0.0$(($(random) % 60 + 10))"
			kill -KILL "$tool" 2>/dev/null
			wait "$tool" 2>/dev/null
			;;
		1)
			may "$RINGSIDE" write set_ftrace_filter 'recurse leaf'
			may "$RINGSIDE" write current_tracer "$tracer"
			may "$RINGSIDE" write set_ftrace_filter ''
			;;
		2)
			victim=$(pgrep -s 0 -x storm | sed -n "$(($(random) % 3 + 1))p")
			[ -z "$victim" ] || kill -KILL "$victim" 2>/dev/null
			;;
		3)
			victim=$(pgrep -s 0 -x storm | sed -n "$(($(random) % 3 + 1))p")
			[ -z "$victim" ] || may "$RINGSIDE" attach "$victim"
			[ -z "$victim" ] || may "$RINGSIDE" detach "$victim"
			;;
		4) may "$RINGSIDE" record -q -p function_graph -m 256 -o trace.dat ./storm 0.2 4 ;;
		*) may "$RINGSIDE" write current_tracer "$tracer" ;;
		esac
	done
done
touch over
may "$RINGSIDE" write current_tracer nop
wait
for file in failed.*; do
	[ ! -e "$file" ] || fail "${file#failed.}: $(grep -v 'storm over' "said.${file#failed.}" | sort | uniq -c | head -n 3)"
done
grep -q 'storm over' said.short || fail "none came to its end"
# What a killed one left is no obstacle.
"$RINGSIDE" reset && same storm ./storm 0.3 4
exit "$bad"
