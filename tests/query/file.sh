#!/bin/sh
# Statements on a file that a kernel recorded, against sums that awk makes of what `report` prints.
fail() {
	echo "file.sh: $*" >&2
	exit 1
}

file=$RINGSIDE_SOURCE/tests/data/dat/mixed.v7.dat
[ -n "$RINGSIDE_ZSTD" ] || { echo "this build reads no zstd"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
"$RINGSIDE" report -t -N --no-pager -i "$file" > "$work/report" 2> /dev/null || fail "report"

# A row each: "KEY HITS [SUM]".
rows() {
	sed -n 's/^{ \(.*\) } hitcount: *\([0-9]*\) */\1 \2 /p' | sed 's/[a-z_]*: *//g; s/,//g; s/  */ /g; s/ $//' | sort
}

# How often each system call.
awk '{ for (i = 1; i < NF; i++) if ($i == "sys_enter:") n[$(i + 2)]++ } END { for (id in n) print id, n[id] }' \
	"$work/report" | sort > "$work/want"
"$RINGSIDE" sqlhist -i "$file" 'SELECT id, COUNT(*) FROM sys_enter' | rows > "$work/got"
[ "$(wc -l < "$work/want")" -gt 20 ] || fail "few system calls"
diff -u "$work/want" "$work/got" || fail "system calls"

# With a condition: those that failed.
awk '{ for (i = 1; i < NF; i++) if ($i == "sys_exit:" && $NF < 0) n[$(i + 2)]++ } END { for (id in n) print id, n[id] }' \
	"$work/report" | sort > "$work/want"
"$RINGSIDE" sqlhist -i "$file" 'SELECT id FROM sys_exit WHERE ret < 0' | rows > "$work/got"
[ -s "$work/want" ] || fail "none failed"
diff -u "$work/want" "$work/got" || fail "system calls that failed"

# How long they took: enter and exit of one task belong together, an enter is used once.
awk '
function us(text) { sub(/:$/, "", text); split(text, part, "."); return part[1] * 1000000 + int(part[2] / 1000) }
{
	for (i = 1; i < NF; i++) {
		if ($i != "sys_enter:" && $i != "sys_exit:")
			continue
		pid = $1
		sub(/.*-/, "", pid)
		if ($i == "sys_enter:") {
			begin[pid] = us($(i - 1))
			id[pid] = $(i + 2)
		} else if (pid in begin) {
			n[id[pid]]++
			sum[id[pid]] += us($(i - 1)) - begin[pid]
			delete begin[pid]
		}
	}
}
END { for (i in n) print i, n[i], sum[i] }' "$work/report" | sort > "$work/want"
"$RINGSIDE" sqlhist -i "$file" -n took 'SELECT start.id, TIMESTAMP_DELTA_USECS AS us FROM sys_enter AS start JOIN sys_exit AS end
	ON start.common_pid = end.common_pid; SELECT id, CAST(us AS _COUNTER_) FROM took' | rows > "$work/got"
diff -u "$work/want" "$work/got" || fail "times of system calls"

# What system calls block the longest: two synthetic events, one made of the other, with a condition in between.
awk '
function us(text) { sub(/:$/, "", text); split(text, part, "."); return part[1] * 1000000 + int(part[2] / 1000) }
function field(name) { return match($0, " " name "=[^ ]*") ? substr($0, RSTART + length(name) + 2, RLENGTH - length(name) - 2) : "" }
{
	for (i = 1; i < NF; i++) {
		if ($i == "sys_enter:") {
			pid = $1
			sub(/.*-/, "", pid)
			id[pid] = $(i + 2)
		} else if ($i == "sched_switch:") {
			prev = field("prev_pid")
			next_pid = field("next_pid")
			if (field("prev_state") == "S" && prev in id) {
				begin[prev] = us($(i - 1))
				blocked[prev] = id[prev]
				delete id[prev]
			}
			if (next_pid in begin) {
				n[blocked[next_pid] " " next_pid]++
				sum[blocked[next_pid] " " next_pid] += us($(i - 1)) - begin[next_pid]
				delete begin[next_pid]
			}
		}
	}
}
END { for (i in n) print i, n[i], sum[i] }' "$work/report" | sort > "$work/want"
"$RINGSIDE" sqlhist -i "$file" -n sysname,offcpu '
	SELECT start.id, end.prev_pid FROM sys_enter AS start JOIN sched_switch AS end ON start.common_pid = end.prev_pid
	WHERE end.prev_state == 1;
	SELECT start.id, end.next_comm AS comm, end.next_pid AS pid, (end.TIMESTAMP_USECS - start.TIMESTAMP_USECS) AS lat
	FROM sysname AS start JOIN sched_switch AS end ON start.prev_pid = end.next_pid;
	SELECT id, pid, CAST(lat AS _COUNTER_) FROM offcpu' | rows > "$work/got"
[ "$(wc -l < "$work/want")" -gt 5 ] || fail "few that block"
diff -u "$work/want" "$work/got" || fail "what blocks the longest"

# The largest of each, with what was saved.
"$RINGSIDE" sqlhist -i "$file" -m us -S ret 'SELECT start.id, TIMESTAMP_DELTA_USECS AS us FROM sys_enter AS start
	JOIN sys_exit AS end ON start.common_pid = end.common_pid' > "$work/got" || fail "-m"
grep -q 'max: *[1-9][0-9]* *ret: ' "$work/got" || fail "no maximum: $(head "$work/got")"

"$RINGSIDE" sqlhist -i "$file" -B nosuch 'SELECT id FROM sys_enter' 2> /dev/null && fail "a buffer that is not there"
"$RINGSIDE" sqlhist -i "$file" 'SELECT id FROM nosuch' 2> /dev/null && fail "an event that is not there"
exit 0
