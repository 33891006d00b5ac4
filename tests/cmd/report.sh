#!/bin/sh
# What `ringside report` has beyond trace-cmd's, and its layout of today; that the rest is the same is
# for tests/report/same.py.

. "$RINGSIDE_SOURCE/tests/cmd/room.sh"
data=$RINGSIDE_SOURCE/tests/data/dat
work=$RINGSIDE_SCRATCH/report
mkdir -p "$work"
cd "$work" || exit 1

report() {
	"$RINGSIDE" report "$@"
}

mixed=$data/mixed.v7.dat
want 0 report "$mixed"
[ ! -s "$err" ] || fail "words about a sound file"
cp "$out" all
[ "$(wc -l <all)" -eq 9675 ] || fail "not all lines"

# The column of flags stands between the CPU and the time, and only there the layouts differ; and where
# trace-cmd calculates wrongly, as it does for flags of timers.
want 0 report "$mixed" --to 6.7223
says 'cpus=2
              sh-149   [000] .....     6.719489: sys_exit:             NR 1 = 1
              sh-149   [000] d.h2.     6.722274: hrtimer_expire_entry: hrtimer=0xff1b7232fd826418 now=6560112055 function=tick_nohz_handler/0x0'
report --layout 3.2 "$mixed" | sed '/ timer_start: /s/ flags=.*//' >old
sed 's/\] [dX.][N.][hHs.][0-9a-f.][0-9a-f.] /] /; / timer_start: /s/ flags=.*//' all | cmp -s - old ||
	fail "layouts differ in more than the flags"
grep -q ' timer_start: .* flags=P$' all || fail "wrong flags of timers"

# However many threads: the same bytes.
for j in 1 2 3 16; do
	for file in mixed graph instances; do
		report -j $j "$data/$file.v7.dat" >"$file.$j" || fail "-j $j $file"
		cmp -s "$file.1" "$file.$j" || fail "-j $j prints something else for $file"
	done
done

# From, to and tail are pieces of the whole.
sed 1d all >events
awk '$4 + 0 >= 7.1 && $4 + 0 <= 7.2' events >wanted
report --from 7.1 --to 7.2 "$mixed" | sed 1d | awk '$4 + 0 > 7.1 && $4 + 0 < 7.2' >got
awk '$4 + 0 > 7.1 && $4 + 0 < 7.2' wanted | cmp -s - got || fail "--from and --to"
[ -s got ] || fail "nothing between 7.1 and 7.2"
for n in 1 7 500 9674 20000; do
	tail -n $n events >wanted
	report --tail $n "$mixed" | sed 1d | cmp -s - wanted || fail "--tail $n"
done
grep sched_switch: events | tail -n 3 >wanted
report --tail 3 -F sched_switch "$mixed" | sed 1d | cmp -s - wanted || fail "--tail with a filter"
want 0 report --from 100 "$mixed"
says 'cpus=2'

# A row an event, that programs can read.
/usr/bin/python3 - "$RINGSIDE" "$data" <<'PY' || fail "JSON or CSV"
import csv, io, json, subprocess, sys
ringside, data = sys.argv[1:]
def run(*args):
    return subprocess.run([ringside, "report", *args], stdout=subprocess.PIPE, check=True).stdout.decode()
for name, nr in (("mixed", 9674), ("graph", 314), ("instances", 3881)):
    path = f"{data}/{name}.v7.dat"
    rows = [json.loads(line) for line in run("--json", path).splitlines()]
    table = list(csv.DictReader(io.StringIO(run("--csv", path))))
    assert len(rows) == nr, (name, len(rows))
    keys = {"ts", "cpu", "pid", "comm", "system", "event", "buffer", "fields"}
    assert all(set(row) == keys for row in rows)
    # Of functions that end at once CSV has one row, as the text has one line.
    assert len(table) == (235 if name == "graph" else nr), (name, len(table))
    assert all(set(row) == {"ts", "cpu", "pid", "comm", "system", "event", "buffer", "file", "text"} for row in table)
    assert [row["ts"] for row in rows] == sorted(row["ts"] for row in rows)
    if name != "graph":
        for row, cells in zip(rows, table):
            assert str(row["ts"]) == cells["ts"] and row["event"] == cells["event"] and row["buffer"] == cells["buffer"]
two = [json.loads(line) for line in run("--json", "-i", f"{data}/mixed.v7.dat", "-i", f"{data}/graph.v7.dat").splitlines()]
assert len(two) == 9674 + 314 and {row["file"] for row in two} == {f"{data}/mixed.v7.dat", f"{data}/graph.v7.dat"}
switch = next(row for row in two if row["event"] == "sched_switch")
assert isinstance(switch["fields"]["prev_pid"], int) and isinstance(switch["fields"]["prev_comm"], str)
PY

# A loss stands where it happened, and the sum at the end on stderr.
/usr/bin/python3 "$RINGSIDE_SOURCE/tests/report/make_dat.py" lost lost.dat >/dev/null || fail "make_dat.py"
want 0 report lost.dat
counted=$(sed -n 's/^CPU:[0-9]* \[\([0-9]*\) EVENTS DROPPED\]$/\1/p' "$out" | awk '{ n += $1 } END { printf "%.0f", n }')
places=$(grep -c '^CPU:[0-9]* \[EVENTS DROPPED\]$' "$out")
[ "$counted" -gt 0 ] || fail "no loss in a file with losses"
grep -q "^ringside: $counted events were lost, and more in $places places" "$err" || fail "the sum of losses"
want 0 report -q lost.dat
[ ! -s "$err" ] || fail "-q is not quiet"

# Filters say what they understood, and where they could not.
want 0 report -T -F 'sched_switch: prev_pid == 0' "$mixed"
says " 'sched_switch: prev_pid == 0'"
refuse 1 report -F no_such_event "$mixed" -- no_such_event
refuse 1 report -F 'sched_switch: prev_pid ==' "$mixed" -- "ends"
report -F 'sys_exit: ret < 0' "$mixed" | sed 1d >got
grep 'sys_exit:.* = -' events | cmp -s - got || fail "errors of system calls"

# An offset is added to times of whichever kind, and a long one stands by itself.
report --raw-ts "$mixed" | sed 1d | awk '{ for (i = 1; i <= NF; i++) if ($i ~ /^[0-9]+:$/) { printf "%.0f\n", $i + 1e14; next } }' >want
report --raw-ts "$mixed" --ts-offset 100000000000000 | sed 1d | sed -n 's/.*\. \([0-9]\{12,\}\): .*/\1/p' >got
[ -s got ] && cmp -s want got || fail "--raw-ts and --ts-offset: $(diff want got | head -4)"

# Wrong inputs.
refuse 1 report none.dat -- 'none.dat: No such file'
refuse 1 report / -- 'is a directory'
echo 'no trace' >text.dat
refuse 1 report text.dat -- 'text.dat: not a trace file'
: >empty.dat
refuse 1 report empty.dat -- 'empty.dat: not a trace file'
refuse 1 report --from x "$mixed" -- '--from x: a time in seconds is needed'
refuse 1 report --ts-offset 5 -i "$mixed" -- 'behind the file'
for wrong in '--layout 4' '--cpu x' '--pid 1,x' '--bogus'; do
	# shellcheck disable=SC2086
	want 2 report $wrong "$mixed"
	[ ! -s "$out" ] && [ -s "$err" ] || fail "report $wrong is not refused in words"
done
head -c 1400000 "$mixed" >cut.dat
"$RINGSIDE" report cut.dat >"$out" 2>"$err"
grep -q 'cut.dat: .*1400000' "$err" || fail "a file that was cut off has no words with the offset"
