#!/bin/sh
# Whoever makes a process or a thread, and however: sched_process_fork comes once for each, and so do sched_process_exit and
# sched_process_exec, by signals alone and by patched places, with and without system calls among the events.
. "$RINGSIDE_SOURCE/tests/sys/stage.sh"

# shellcheck disable=SC2086
$CC -w -D_GNU_SOURCE -O2 "$own/lives.c" -o "$dir/lives" -pthread || exit 1
n=5

# as_many WAY FORKS EXECS EXITS, of records in $dir/trace.dat
as_many() {
	"$RINGSIDE" report -i "$dir/trace.dat" >"$dir/report" 2>/dev/null
	for word in fork:$2 exec:$3 exit:$4; do
		got=$(grep -c " sched_process_${word%:*}:" "$dir/report")
		[ "$got" -eq "${word#*:}" ] || fail "$1, $how: $got of sched_process_${word%:*}, not ${word#*:}"
	done
	# None is told twice, and no parent is its own child.
	twice=$(sed -n 's/.* sched_process_fork: .* child_pid=\([0-9]*\).*/\1/p' "$dir/report" | sort | uniq -d)
	[ -z "$twice" ] || fail "$1, $how: $twice was told twice"
	! grep -E ' sched_process_fork: .* pid=([0-9]+) .*child_pid=\1$' "$dir/report" || fail "$1, $how: a parent is its own child"
}

# lives WAY FORKS EXECS EXITS: of each round; the program itself has one of the last two.
lives() {
	for how in alone calls late; do
		case $how in
		alone) set -- "$1" "$2" "$3" "$4" -e sched:sched_process_fork -e sched:sched_process_exec -e sched:sched_process_exit ;;
		calls) set -- "$1" "$2" "$3" "$4" -e sched:sched_process_fork -e sched:sched_process_exec -e sched:sched_process_exit \
			-e raw_syscalls ;;
		late)
			# Nothing is known of any code: by signals.
			rm -rf "$RINGSIDE_DIR"
			set -- "$1" "$2" "$3" "$4" -e 'sched:sched_proc*'
			;;
		esac
		way=$1 forks=$2 execs=$3 exits=$4
		shift 4
		timeout 60 "$RINGSIDE" record -q -b 8192 -o "$dir/trace.dat" "$@" ./lives "$way" $n >/dev/null 2>"$dir/got.err" ||
			fail "$way, $how: exit $?: $(cat "$dir/got.err")"
		as_many "$way" $((n * forks)) $((n * execs + 1)) $((n * exits + 1))
		set -- "$way" "$forks" "$execs" "$exits"
	done
}

for way in fork vfork clone_copy clone_vm raw_fork raw_clone raw_clone3 raw_vfork thread thread_alone; do
	lives $way 1 0 1
done
# Programs that are started: one more image, whose end is its own.
for way in spawn system popen exec; do
	lives $way 1 1 1
done
exit "$bad"
