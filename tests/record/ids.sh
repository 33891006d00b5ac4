#!/bin/sh
# A kernel that numbers ftrace's own records otherwise than a tracing directory does, and lays some out differently, in one file
# with programs: each record is read by its own format. The kernel is made up: a tree of files.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"
cd "$RINGSIDE_SCRATCH" || exit 1

fields='	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;
'

# NAME ID FIELDS PRINT
format() {
	mkdir -p "tree/events/ftrace/$1"
	printf 'name: %s\nID: %s\nformat:\n%s\n%s\nprint fmt: %s\n' "$1" "$2" "$fields" "$3" "$4" >"tree/events/ftrace/$1/format"
}

mkdir -p tree/per_cpu/cpu0 tree/events/made/up
"$RINGSIDE" write tracing_on 1
"$RINGSIDE" cat events/header_page >tree/events/header_page
"$RINGSIDE" cat events/header_event >tree/events/header_event
: >tree/trace
: >tree/set_event
: >tree/printk_formats
: >tree/saved_cmdlines
echo 1 >tree/tracing_on
echo '[mono]' >tree/trace_clock
echo nop >tree/current_tracer
echo nop >tree/available_tracers
echo made:up >tree/available_events
printf 'entries: 0\noverrun: 0\nread events: 0\n' >tree/per_cpu/cpu0/stats
printf 'name: up\nID: 400\nformat:\n%s\n	field:int n;	offset:8;	size:4;	signed:1;\n\nprint fmt: "n=%%d", REC->n\n' "$fields" \
	>tree/events/made/up/format
# The same layout with another number; another layout; a number that is somebody else's.
format print 7 '	field:unsigned long ip;	offset:8;	size:8;	signed:0;
	field:char buf[];	offset:16;	size:0;	signed:0;
' '"%ps: %s", (void *)REC->ip, REC->buf'
format raw_data 30 '	field:unsigned long id;	offset:8;	size:8;	signed:0;
	field:char buf[];	offset:16;	size:0;	signed:0;
' '"id:%04x", REC->id'
format timerlat 18 '	field:unsigned int seqnum;	offset:8;	size:4;	signed:0;
' '"%u", REC->seqnum'
format other 5 '	field:unsigned int what;	offset:8;	size:4;	signed:0;
' '"what=%u", REC->what'
# One page of the kernel: records 5 (other), 7 (print) and 400 (made:up), by pid 77.
/usr/bin/python3 - <<'PY'
import struct, time
ts = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
def event(payload, delta):
    payload += b"\0" * (-len(payload) % 4)
    return struct.pack("<I", len(payload) // 4 | delta << 5) + payload
head = lambda id: struct.pack("<HBBi", id, 0, 0, 77)
data = event(head(5) + struct.pack("<I", 42), 0) + event(head(7) + struct.pack("<Q", 0) + b"from the kernel\n\0", 1000) + \
    event(head(400) + struct.pack("<i", 43), 1000)
page = struct.pack("<QQ", ts, len(data)) + data
open("tree/per_cpu/cpu0/trace_pipe_raw", "wb").write(page.ljust(4096, b"\0"))
PY
cat >marks.sh <<'END'
"$RINGSIDE" write trace_marker 'from a program'
"$RINGSIDE" write trace_marker_raw EEEErawbytes
END
want 0 record -q -C mono -O markers --tracefs tree -C mono -e made:up --top -o both.dat sh marks.sh
want 0 report both.dat
for line in 'kernel: .*-77 .* other: *what=42' 'kernel: .*-77 .* print: .*from the kernel' 'kernel: .*-77 .* up: *n=43' \
	'print: .*from a program' 'raw_data: *# 45454545 72 61 77'; do
	grep -q "$line" "$out" || fail "no line '$line'"
done
! grep -v '^cpus' "$out" | grep -q 'UNKNOWN\|FAILED' || fail "something cannot be read"
# Numbers are those of the kernel, and for what it has not, ones that it does not use.
want 0 dump --ftrace-events both.dat
for pair in 'print 7' 'raw_data 30' 'timerlat 18' 'other 5'; do
	awk -v name="${pair% *}" -v id="${pair#* }" '$1 == "name:" { n = $2 } $1 == "ID:" && n == name && $2 == id { found = 1 } END { exit !found }' \
		"$out" || fail "no $pair"
done
awk '$1 == "ID:" && seen[$2]++ { bad = 1 } END { exit bad }' "$out" || fail "a number is there twice"
exit 0
