#!/bin/sh
# `ringside record` of what cannot be: each line that is wrong, each file that cannot be written, each directory that goes away
# under it. There is one line of words, the file opens, the command goes on and its status is told, and nothing stays on.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"

files=$RINGSIDE_SCRATCH/files
file=$files/t.dat
mkdir "$files"

# Numbers, some at a time, so many or until it is told that it is enough; then 4. How many there were is in $count.
program slow <<'EOF'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <ringside/ringside.h>

RINGSIDE_EVENT(numbers, number, field(long, nr), print("nr=%ld", nr))

int main(int argc, char **argv)
{
	long n = atol(argv[1]), i = 0;
	FILE *count;

	while (argc > 3 ? access(argv[2], F_OK) : i < n) {
		trace_numbers_number(++i);
		if (i % 10 == 0)
			usleep(500);
	}
	count = argc > 3 ? fopen(argv[3], "w") : NULL;
	if (count) {
		fprintf(count, "%ld\n", i);
		fclose(count);
	}
	return 4;
}
EOF
slow=$RINGSIDE_SCRATCH/slow
enough=$RINGSIDE_SCRATCH/enough
count=$RINGSIDE_SCRATCH/count

# Nothing is on, no instance is there, and of files only these: clean [NAME...]
clean() {
	want 0 list -B
	[ ! -s "$out" ] || fail "an instance is left"
	want 0 cat set_event
	[ ! -s "$out" ] || fail "events are on"
	want 0 stat
	grep -vE '^(Tracing directory|Memory in use|Attached|    )' "$out" >"$RINGSIDE_SCRATCH/now"
	cmp -s "$RINGSIDE_SCRATCH/fresh" "$RINGSIDE_SCRATCH/now" || fail "the directory is not as it was"
	[ "$(ls -A "$files")" = "$*" ] || fail "files: '$(ls -A "$files")', not '$*'"
	rm -rf "$files"
	mkdir "$files"
}

# How many numbers the file has, without a hole, from the first.
numbers() {
	"$RINGSIDE" report "$1" >"$out" 2>"$err" || fail "$1 does not open"
	sed -n 's/.* nr=//p' "$out" >"$RINGSIDE_SCRATCH/list"
	n=$(wc -l <"$RINGSIDE_SCRATCH/list")
	[ "$n" -eq 0 ] || seq "$n" | cmp -s - "$RINGSIDE_SCRATCH/list" || fail "$1: numbers are missing"
	if command -v trace-cmd >/dev/null; then
		trace-cmd report "$1" >"$out" 2>"$err" || fail "trace-cmd does not open $1"
		[ "$(grep -c ' nr=' "$out")" -eq "$n" ] || fail "$1: trace-cmd counts otherwise"
	fi
}

# A recording in the background of this script, that has begun: begin OPTION...
begin() {
	rm -f "$file" "$enough" "$count"
	"$RINGSIDE" record -i -F -o "$file" "$@" "$slow" 0 "$enough" "$count" >"$out" 2>"$err" &
	recorder=$!
	for _ in $(seq 400); do
		"$RINGSIDE" report "$file" 2>/dev/null | grep -q ' nr=' && return
		sleep 0.05
	done
	fail "record $*: nothing is recorded"
}

# Until it has said that.
await() {
	for _ in $(seq 400); do
		grep -qF -e "$1" "$err" && return
		sleep 0.05
	done
	fail "the recorder does not say '$1'"
}

# It ends by itself with the program's status, and has all numbers or, with `some`, the first of them: ends all|some
ends() {
	: >"$enough"
	wait $recorder
	got=$?
	[ $got -eq 4 ] || fail "the recorder ended with $got, not 4"
	numbers "$file"
	[ "$n" -gt 0 ] || fail "nothing was recorded"
	[ "$1" = some ] || [ "$n" -eq "$(cat "$count")" ] || fail "$n numbers, not $(cat "$count")"
}

"$slow" 1
want 0 stat
grep -vE '^(Tracing directory|Memory in use|Attached|    )' "$out" >"$RINGSIDE_SCRATCH/fresh"

# ---- lines ----

refuse 2 record -o '' true -- -o
refuse 2 record -o "$file" -m 100 --rotate 1M true -- --max-size --rotate
refuse 2 record -o "$file" -m 100 --compression zstd true -- --max-size --compression
refuse 2 record -o "$file" -m 0 true -- -m "'0'"
refuse 2 record -o "$file" -m 1k true -- -m "'1k'"
refuse 2 record -o "$file" --flight --rotate 1M true -- --flight --rotate
refuse 2 record -o "$file" --flight -m 1 true -- --flight --max-size
refuse 2 record -o "$file" --flight -k true -- --flight --keep-buffers
refuse 2 record -o "$file" --flight --daemonize -- --flight --daemonize
refuse 2 record -o "$file" --flight --on '' true -- --on
refuse 2 record -o "$file" --flight --on death -- --on death
refuse 2 record -o "$file" --keep 2 true -- --keep --rotate
refuse 2 record -o "$file" --rotate 1M --keep none true -- --keep none
refuse 2 record -o "$file" --rotate 0 true -- --rotate "'0'"
refuse 2 record -o "$file" --rotate often true -- --rotate often
refuse 2 record -o "$file" --rotate 1e99M true -- --rotate
refuse 2 record -o "$file" --rotate -5M true -- --rotate
refuse 2 record -o "$file" --before 1s true -- --before --flight
refuse 2 record -o "$file" --on death true -- --on --flight
refuse 2 record -o "$file" -F -- --only-command
refuse 2 record -o "$file" --user root -- --user
refuse 2 record -o "$file" -c true -- -c
refuse 2 record -o "$file" --daemonize true -- --daemonize
refuse 2 record -o "$file" --file-version 6 --compression zstd true -- 'version 6'
refuse 2 record -o "$file" --file-version 5 true -- 5
refuse 2 record -o "$file" --file-version 66 true -- 66
refuse 2 record -o "$file" --ts-offset soon true -- --ts-offset soon
refuse 2 record -o "$file" -B ../x true -- ../x
refuse 2 record -o "$file" -B '' true -- -B
refuse 2 record -o "$file" -B x -B x true -- twice
refuse 2 record -o "$file" -M zz true -- zz
refuse 1 record -o "$file" -C sundial true -- sundial
refuse 1 record -o "$file" -p nothing-like-it true -- nothing-like-it
refuse 1 record -o "$file" --compression squeeze true -- squeeze
refuse 1 record -o "$file" -b 99999999999 true -- KiB

# No such event: of system calls nobody can bring one, of other systems that are known programs may.
refuse 1 record -o "$file" -e syscalls:sys_enter_opnat true -- 'no event syscalls:sys_enter_opnat' \
	'nearest is syscalls:sys_enter_openat'
refuse 1 record -o "$file" -e 'raw_syscalls:nosuch*' true -- 'no event raw_syscalls:nosuch*'
! grep -q nearest "$err" || fail 'nothing is near'
refuse 1 hist syscalls:sys_ext_read --keys common_pid true -- 'nearest is syscalls:sys_exit_read'
want 0 record -o "$file" -e kmem:kmaloc -e sched:nosuch true
grep -q 'there is no event kmem:kmaloc; the nearest is kmem:kmalloc: it is on for programs that bring one' "$err" ||
	fail 'no word about kmaloc'
grep -q 'there is no event sched:nosuch: ' "$err" || fail 'no word about nosuch'
want 0 record -i -o "$file" -e syscalls:sys_enter_opnat true
! grep -q nearest "$err" || fail 'unknown events are to be ignored'
want 0 record -o "$file" -e sys_enter_opnat true
grep -q 'brought sys_enter_opnat yet.*; the nearest is syscalls:sys_enter_openat$' "$err" || fail 'no word about a bare name'
rm "$file"

# Nobody is there.
refuse 1 record -o "$file" -e sched -P 999999999 touch "$file.ran" -- 'there is no process 999999999'
refuse 1 record -o "$file" -e sched -P 999999999,999999998 -- 'there is no process 99999999'
refuse 1 stream -P 999999999 touch "$file.ran" -- 'there is no process 999999999'
refuse 1 stream -P 999999999 -- 'there is no process 999999999'
if [ "$(uname -m)" = x86_64 ]; then
	refuse 1 trace -P 999999999 -- 'there is no process 999999999'
fi
[ ! -e "$file.ran" ] || fail 'the command was run'

refuse 1 record -o "$file" --user nobody-has-that-name true -- nobody-has-that-name
clean

# A word about what nobody brings, and on it goes.
want 4 record -o "$file" -e nobody:knows "$slow" 100
[ "$(grep -c nobody:knows "$err")" -eq 1 ] || fail "an unknown event is not told once"
numbers "$file"
[ "$n" -eq 0 ] || fail "what was not asked for is there"
clean t.dat

# ---- commands ----

# What cannot run does not cost the last recording.
echo mine >"$file"
echo data >"$RINGSIDE_SCRATCH/data"
refuse 1 record -o "$file" no-such-program -- no-such-program
refuse 1 record -o "$file" /no/such/program -- /no/such/program
refuse 1 record -o "$file" "$RINGSIDE_SCRATCH/data" -- "$RINGSIDE_SCRATCH/data"
refuse 1 record -o "$file" "$RINGSIDE_SCRATCH" -- "$RINGSIDE_SCRATCH"
[ "$(cat "$file")" = mine ] || fail "the file that was there is gone"
clean t.dat
# Where only running it shows that, there is no file either.
printf '#!/no/such/interpreter\n' >"$RINGSIDE_SCRATCH/script"
chmod +x "$RINGSIDE_SCRATCH/script"
refuse 1 record -o "$file" "$RINGSIDE_SCRATCH/script" -- "$RINGSIDE_SCRATCH/script"
clean
# Children of the shell that became the recorder are none of its own.
(sleep 60 & echo $! >"$RINGSIDE_SCRATCH/child"; exec timeout 20 sh -c 'exec "$RINGSIDE" record -C sundial') 2>"$err"
[ $? -eq 1 ] || fail "it waited for somebody else"
kill "$(cat "$RINGSIDE_SCRATCH/child")"

# ---- files ----

refuse 1 record -o "$files/no/t.dat" "$slow" 1 -- "$files/no/t.dat"
refuse 1 record -o "$files" "$slow" 1 -- "$files" regular
refuse 1 record -o /dev/full "$slow" 1 -- /dev/full regular
mkfifo "$files/fifo"
refuse 1 record -o "$files/fifo" "$slow" 1 -- "$files/fifo" regular
clean fifo
if [ "$(id -u)" -ne 0 ]; then
	chmod 500 "$files"
	refuse 1 record -o "$file" "$slow" 1 -- "$file"
	chmod 700 "$files"
	clean
fi

# A file that grows has its recorder; when that is gone it can be replaced.
begin -e numbers
"$RINGSIDE" record -o "$file" true 2>"$RINGSIDE_SCRATCH/words" && fail "two recorders have one file"
grep -q 'recording to it' "$RINGSIDE_SCRATCH/words" || fail "not told why"
ends all
want 4 record -i -F -o "$file" -e numbers "$slow" 100
numbers "$file"
[ "$n" -eq 100 ] || fail "$n numbers"
clean t.dat

# A limit on the size of files, which the directory's own keep to.
for how in none zstd; do
	(
		ulimit -f 1600
		"$RINGSIDE" record -b 64 --compression $how -o "$file" \
			sh -c "'$slow' 1000; head -c 700000 /dev/urandom | od -A n -t x1 | head -c 10; exit 3"
	) >"$out" 2>"$err"
	got=$?
	# Little enough for the limit: it must not be in the way.
	[ $got -eq 3 ] || grep -q 'File too large' "$err" || fail "limited: $got"
	[ ! -e "$file" ] || numbers "$file"
	rm -f "$file"
done
clean

# ---- descriptors ----

for how in '<&-' '>&-' '2>&-' '<&- >&- 2>&-'; do
	eval "\"$RINGSIDE\" record -i -o '$file' -e numbers '$slow' 100 $how" 2>/dev/null
	got=$?
	[ $got -eq 4 ] || fail "record $how: $got"
	numbers "$file"
	[ "$n" -eq 100 ] || fail "record $how: $n numbers"
	clean t.dat
done
# Nobody reads its words.
{
	sleep 0.1
	"$RINGSIDE" record -o "$file" -e numbers "$slow" 100
	echo $? >"$RINGSIDE_SCRATCH/status"
} 2>&1 | true
for _ in $(seq 100); do
	[ ! -s "$RINGSIDE_SCRATCH/status" ] || break
	sleep 0.05
done
[ "$(cat "$RINGSIDE_SCRATCH/status")" = 4 ] || fail "a closed pipe: $(cat "$RINGSIDE_SCRATCH/status")"
numbers "$file"
[ "$n" -eq 100 ] || fail "a closed pipe: $n numbers"
clean t.dat

# ---- signals ----

# Whenever it comes: in the end all is off. Only before the signal is caught may it kill.
for sig in INT TERM HUP; do
	for wait in 0.002 0.01 0.03 0.1; do
		timeout --foreground -s $sig $wait "$RINGSIDE" record -i -q -F -o "$file" -e numbers "$slow" 2000 >"$out" 2>"$err"
		got=$?
		[ $got -eq 124 ] || [ $got -eq 4 ] || fail "SIG$sig after $wait: $got"
		[ ! -e "$file" ] || numbers "$file"
		rm -f "$file"
		clean
	done
done
begin -q -e numbers
kill -TERM $recorder
wait $recorder || fail "SIGTERM: $?"
numbers "$file"
[ "$n" -gt 0 ] || fail "nothing was recorded"
: >"$enough"
clean t.dat

# ---- directories ----

# Without a name nobody else finds it; those who have it go on.
begin -e numbers
rm -rf "$RINGSIDE_DIR"
ends all
"$slow" 1
clean t.dat

begin -e numbers
"$RINGSIDE" reset || fail "reset"
await 'the command goes on'
grep -q 'is gone' "$err" || fail "not told why"
ends some
clean t.dat

# An instance that is recorded cannot be removed.
begin -B mine -e numbers
"$RINGSIDE" set -v -B mine 2>"$RINGSIDE_SCRATCH/words" && fail "it was removed"
grep -q 'being read' "$RINGSIDE_SCRATCH/words" || fail "not told why"
ends all
clean t.dat

for segment in rings control registry; do
	for how in none zstd; do
		begin -e numbers --compression $how
		truncate -s 100 "$RINGSIDE_DIR/$segment"
		# Some of it may never be looked at again; of the rings all is.
		[ $segment != rings ] || await 'the command goes on'
		ends some
		rm -rf "$RINGSIDE_DIR"
		"$slow" 1
		clean t.dat
	done
done
exit 0
