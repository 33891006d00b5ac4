#!/bin/sh
# What the kernel's cases for its remotes check, through the mount: of the built-in remote `test`, of one that a program brings, and of one whose
# memory is a file: the size while it is unloaded, reading with and without taking out, times that rise, what is lost, resets, loading and unloading.
. "$RINGSIDE_SOURCE/tests/mount/room.sh"
. "$RINGSIDE_SOURCE/tests/remote/room.sh"

# ---- what writes: emit CPU FROM TO; of a remote that is off it fails ----

emit_test() {
	# The number is the writer's, and so is the CPU.
	# shellcheck disable=SC2016
	taskset -c "$1" sh -c 'i=$1; while [ $i -le $2 ]; do echo $i >write_event || exit 1; i=$((i + 1)); done' sh "$2" "$3" 2>/dev/null
}

emit_board() {
	tell emit "$@"
	[ "$answer" = ok ]
}

# ---- claims ----

wrong() {
	: >"$err"
	[ -e "$out" ] || : >"$out"
	fail "$remote: $*"
}

# A text is not taken: refused WORDS TEXT FILE. (The shell's own echo does not tell why.)
refused() {
	env echo "$2" 2>"$err" >"$3" && wrong "$3 takes $2"
	grep -qF "$1" "$err" || fail "$remote: $3: $2 is not refused with '$1'"
}

is_loaded() {
	case $(cat buffer_size_kb) in
	*' (loaded)') ;;
	*) wrong "not loaded $*: $(cat buffer_size_kb)" ;;
	esac
}

is_unloaded() {
	case $(cat buffer_size_kb) in
	*' (unloaded)') ;;
	*) wrong "not unloaded $*: $(cat buffer_size_kb)" ;;
	esac
}

is_empty() {
	[ "$(wc -l <"$1")" -eq 0 ] || wrong "$1 is not empty $2"
}

# Lines of events with these numbers, each once, in their order, at times that rise: holds FROM TO FILE
holds() {
	cat "$3" >"$out"
	# Where each comes of a shell's write there is more than a microsecond between two.
	awk -v next_id="$1" -v last="$2" -v apart="$apart" '
		$1 !~ /^\[[0-9][0-9][0-9]\]$/ || $3 != "selftest" { print "line " NR ": " $0; exit 1 }
		$4 != "id=" next_id { print "line " NR " has " $4 ", not id=" next_id; exit 1 }
		{ split($2, time, "[.:]") }
		time[1] < s || (time[1] == s && time[2] < us + apart) { print "line " NR ": time goes back"; exit 1 }
		{ s = time[1]; us = time[2]; next_id++ }
		END { if (next_id != last + 1) { print "ends before " next_id; exit 1 } }
	' "$out" >"$err" || {
		head -n 20 "$out" >"$RINGSIDE_SCRATCH/head"
		out=$RINGSIDE_SCRATCH/head
		fail "$remote: $3: $(cat "$err")"
	}
}

# Takes everything out, into $taken: take [FILE]
taken=$RINGSIDE_SCRATCH/taken
take() {
	last=$(tail -n 1 "${1%trace_pipe}trace")
	cat "${1:-trace_pipe}" >"$taken" &
	cat=$!
	until_it is_taken "${1%trace_pipe}trace"
	# What it has read it has still to write.
	until_it is_written "$last"
	kill $cat
	wait $cat 2>/dev/null
}
is_taken() {
	[ "$(wc -l <"${1:-trace}")" -eq 0 ]
}
is_written() {
	[ "$(tail -n 1 "$taken")" = "$1" ]
}

# ---- cases ----

begin_case() {
	echo 0 >tracing_on && echo >trace && echo 0 >events/enable && echo "$usual" >buffer_size_kb || wrong "cannot be set up"
	echo 1 >"events/$remote/selftest/enable" && echo 1 >tracing_on || wrong "cannot be switched on"
	is_loaded 'in the beginning'
}

# So many that a ring of the usual size cannot keep the first: a page more than it has.
too_many() {
	size=$(sed -n 's/.*offset:\([0-9]*\);.*size:\([0-9]*\);.*/\1 \2/p' "events/$remote/selftest/format" | awk '{ n = $1 + $2 + 4 } END { print n }')
	many=$(((usual + 3) / 4 * 4096 / size + 4096 / size))
}

case_size() {
	first=$(echo "$cpus" | cut -d ' ' -f 1)
	$emit "$first" 1 1
	refused 'Device or resource busy' "$other" buffer_size_kb
	reads "remotes/$remote/buffer_size_kb" "$usual (loaded)"
	echo 0 >tracing_on
	is_loaded 'with an event in it'
	echo >trace
	is_unloaded 'when it is off and empty'
	for wrong_size in 0 18446744073709551615 18446744073709551616 99999999999999999999; do
		refused 'Invalid argument' $wrong_size buffer_size_kb
	done
	if [ "$sized" = no ]; then
		# The memory is the target's: it has the one size.
		refused 'Invalid argument' "$other" buffer_size_kb
		reads "remotes/$remote/buffer_size_kb" "$usual (unloaded)"
		return
	fi
	echo "$other" >buffer_size_kb || wrong "its size cannot be changed"
	reads "remotes/$remote/buffer_size_kb" "$other (unloaded)"
	echo 1 >tracing_on
	reads "remotes/$remote/buffer_size_kb" "$other (loaded)"
	# It has that size: more than the usual one keeps.
	too_many
	$emit "$first" 1 "$many"
	holds 1 "$many" trace
}

case_trace() {
	set -- $cpus
	$emit "$1" 1 8
	holds 1 8 trace
	holds 1 8 "per_cpu/cpu$1/trace"
	# Once more: it is still there, also while there is more, and when it is off.
	$emit "$1" 9 9
	holds 1 9 trace
	echo 0 >tracing_on
	holds 1 9 trace
	is_loaded 'with nine events in it'
	echo 1 >tracing_on

	# What is taken out is gone, what comes then is there.
	take
	[ "$(wc -l <"$taken")" -eq 9 ] || wrong "nine events, $(wc -l <"$taken") taken out"
	is_empty trace 'after all was taken out'
	$emit "$1" 16 32
	holds 16 32 trace

	# A reset.
	echo 0 >trace
	is_empty trace 'after a reset'
	$emit "$1" 1 8
	holds 1 8 trace

	# The first of too many are lost. Without words, here.
	too_many
	echo 0 >trace
	$emit "$1" 1 "$many"
	id=$(sed -n '1s/.*id=//p' trace)
	[ "$id" -gt 1 ] || wrong "$many events, and none is lost"
	holds "$id" "$many" trace

	echo 0 >trace
	for cpu in $cpus; do
		$emit "$cpu" $((cpu + 100)) $((cpu + 100))
	done
	for cpu in $cpus; do
		holds $((cpu + 100)) $((cpu + 100)) "per_cpu/cpu$cpu/trace"
		grep -q "^\[00$cpu\]" "per_cpu/cpu$cpu/trace" || wrong "cpu $cpu: $(cat "per_cpu/cpu$cpu/trace")"
	done
	holds 100 $((99 + $#)) trace
}

case_trace_pipe() {
	set -- $cpus
	# As they come.
	cat trace_pipe >"$taken" &
	cat=$!
	$emit "$1" 1 40
	until_it is_taken trace
	# What it has read it has still to write.
	until_it grep -q 'id=40$' "$taken"
	kill $cat
	wait $cat 2>/dev/null
	holds 1 40 "$taken"

	# What was lost is told, and what comes behind is the next one.
	too_many
	$emit "$1" 41 $((40 + many))
	take
	lost=$(sed -n "1s/^CPU:$1 \[LOST \([0-9]*\) EVENTS\]\$/\1/p" "$taken")
	[ -n "$lost" ] || wrong "$many events, and nothing is told of losses: $(head -n 1 "$taken")"
	sed 1d "$taken" >"$RINGSIDE_SCRATCH/rest"
	holds $((41 + lost)) $((40 + many)) "$RINGSIDE_SCRATCH/rest"
	# In a buffer that was just loaded just as well.
	echo 0 >tracing_on
	is_unloaded 'when all was taken out'
	echo 1 >tracing_on
	$emit "$1" 1 "$many"
	take
	lost=$(sed -n "1s/^CPU:$1 \[LOST \([0-9]*\) EVENTS\]\$/\1/p" "$taken")
	[ -n "$lost" ] || wrong "loaded anew: nothing is told of losses: $(head -n 1 "$taken")"
	sed 1d "$taken" >"$RINGSIDE_SCRATCH/rest"
	holds $((1 + lost)) "$many" "$RINGSIDE_SCRATCH/rest"

	for cpu in $cpus; do
		$emit "$cpu" $((cpu + 200)) $((cpu + 200))
	done
	for cpu in $cpus; do
		take "per_cpu/cpu$cpu/trace_pipe"
		holds $((cpu + 200)) $((cpu + 200)) "$taken"
	done
	is_empty trace 'after each CPU was read'
}

case_reset() {
	set -- $cpus
	$emit "$1" 123456 123456
	holds 123456 123456 trace
	echo >trace
	is_empty trace 'after a reset'
	$emit "$1" 7890 7890
	holds 7890 7890 trace
	# Losses go with it.
	too_many
	$emit "$1" 1 "$many"
	echo >trace
	is_empty trace 'after a reset of one that overflowed'
	$emit "$1" 7890 7890
	take
	holds 7890 7890 "$taken"

	# Of one CPU.
	for cpu in $cpus; do
		$emit "$cpu" "$cpu" "$cpu"
	done
	echo >"per_cpu/cpu$1/trace"
	is_empty "per_cpu/cpu$1/trace" 'after its reset'
	for cpu in $cpus; do
		[ "$cpu" -eq "$1" ] || holds "$cpu" "$cpu" "per_cpu/cpu$cpu/trace"
	done
	$emit "$1" 7890 7890
	holds 7890 7890 "per_cpu/cpu$1/trace"
}

is_waiting() {
	grep -q S "/proc/$cat/stat" && grep -q '(loaded)' buffer_size_kb
}

case_unloading() {
	set -- $cpus
	is_loaded 'while it is on'
	echo 0 >tracing_on
	is_unloaded 'when it is off'
	# One who waits keeps it, and no longer than he does. The buffer is gone as soon as he is.
	for i in 1 2 3 4 5; do
		cat trace_pipe >"$taken" &
		cat=$!
		until_it is_waiting
		kill $cat
		wait $cat 2>/dev/null
		is_unloaded "when its reader was killed ($i)"
	done
	# Who looks does not load it, and sees nothing.
	holds 1 0 trace
	is_unloaded 'when it was looked at'
	$emit "$1" 1 1 && wrong "an event is recorded while it is off"
	echo 1 >tracing_on
	$emit "$1" 1 1
	echo 0 >tracing_on
	$emit "$1" 2 2 && wrong "an event is recorded while it is off"
	is_loaded 'while there is an event'
	echo >trace
	is_unloaded 'when it was emptied'
	echo 1 >tracing_on
	$emit "$1" 1 1
	echo 0 >tracing_on
	take
	holds 1 1 "$taken"
	is_unloaded 'when all was taken out'
	# Off, one event: it is not recorded.
	echo 1 >tracing_on
	echo 0 >"events/$remote/selftest/enable"
	$emit "$1" 1 1 && wrong "an event is recorded that is off"
	echo 1 >events/enable
	$emit "$1" 5 5 || wrong "an event is not recorded that is on"
	holds 5 5 trace
}

# ---- remotes ----

# check REMOTE EMIT SIZE OTHER CPU... ($sized: its size can be changed; $apart: microseconds, at least, between two events)
check() {
	remote=$1 emit=$2 usual=$3 other=$4
	shift 4
	cpus=$*
	cd "$place/remotes/$remote" || fail "there is no remote $remote"
	for name in size trace trace_pipe reset unloading; do
		begin_case
		case_$name
	done
	echo 0 >tracing_on
	echo >trace
	cd "$RINGSIDE_SCRATCH" || exit 1
}

command -v taskset >/dev/null || skip 'there is no taskset here'
# Of CPUs that may be used, two at most.
here=$(taskset -cp $$ | sed 's/.*: //; s/,/ /g' | awk '{ for (i = 1; i <= NF; i++) { split($i, r, "-"); for (c = r[1]; c <= (r[2] == "" ? r[1] : r[2]); c++) print c } }' | head -n 2)
mount_tree

sized=yes apart=1
# shellcheck disable=SC2086
check test emit_test 7 1024 $here

apart=0
build_serving_board hypervisor
start_board "$RINGSIDE_SCRATCH/hypervisor" serve hypervisor rings=2
left=$board
check hypervisor emit_board 7 1024 0 1
end_board
left=

# A memory that is there anyway has the size that it has.
sized=no
build_board file 64
start_board "$RINGSIDE_SCRATCH/file" file "$RINGSIDE_SCRATCH/ram" rings=2 pages=2
left=$board
want 0 remote add board --mem "$RINGSIDE_SCRATCH/ram" --elf "$RINGSIDE_SCRATCH/file"
check board emit_board 8 1024 0 1
end_board
left=
exit 0
