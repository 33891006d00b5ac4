#!/bin/sh
# report --profile: times, stacks and their order, hooks, groups, files with instances.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"
. "$RINGSIDE_SOURCE/tests/cmd/traces.sh"

/usr/bin/python3 "$RINGSIDE_SOURCE/tests/cmd/made.py" stacks stacks.dat || fail "made.py"

# Lines of a task are sorted: trace-cmd has them in any order.
sections() {
	awk '/^(task|group|Global)/ { head = $0 } { print head "\t" $0 }' | LC_ALL=C sort
}
for how in '' -G; do
	# how is an option or nothing.
	# shellcheck disable=SC2086
	trace-cmd report --profile $how "$data/mixed.v7.dat" | sections >theirs.text
	# shellcheck disable=SC2086
	want 0 report --profile $how "$data/mixed.v7.dat"
	sections <"$out" | cmp -s - theirs.text || fail "--profile $how: not as trace-cmd has it"
done

# What took longest comes first, and what has no time behind all that has one.
awk '/^(task|Global)/ { total = 0; untimed = 0 }
	/^  Event/ && match($0, /Total: [0-9]+/) {
		t = substr($0, RSTART + 7, RLENGTH - 7) + 0
		if (total && t > total || untimed)
			exit bad = 1
		total = t
		next
	}
	/^  Event/ { untimed = 1 }
	END { exit bad }' "$out" || fail "not in order"

want 0 report --profile stacks.dat
grep -qx 'task: worker-11' "$out" || fail "the other task"
[ "$(grep -c '^              100% (1) time:2000 ' "$out")" -eq 4 ] || fail "stacks"
# A stack belongs to what came right before it, which here is the end of a call.
! grep -q 'do_one (0xffffffff81000120)' "$out" || fail "a stack of something else"

# All calls together, by a value that they have in common.
want 0 report --profile -H 'sys_enter,common_pid/sys_exit,common_pid,g' stacks.dat
[ "$(grep -c '^              100% (1) time:2000 ' "$out")" -eq 4 ] || fail "stacks, beside a hook"
grep -q '^  Event: sys_enter:10 (4) Total: 8000 Avg: 2000 ' "$out" || fail "a hook"
grep -q '^              100% (4) time:8000 ' "$out" || fail "stacks in one tree"
grep -q '^                |   75% (3) time:6000 ' "$out" || fail "a branch"
grep -q '^                    25% (1) time:2000 ' "$out" || fail "the other branch"

want 0 report --profile --by-comm "$data/mixed.v7.dat"
[ "$(grep -c '^group: sh$' "$out")" -eq 1 ] && ! grep -q '^task' "$out" || fail "groups"
# trace-cmd gives up on instances.
want 0 report --profile "$data/instances.v7.dat"
grep -q '^  Event: sys_enter:59 ' "$out" || fail "instances"

refuse 1 report --profile -H x stacks.dat -- 'a hook is'
refuse 1 report --profile -H 'sys_enter,id/sys_exit,id,z' stacks.dat -- 'a hook is'
refuse 1 report --profile -H 'sys_enter,none/sys_exit,id' stacks.dat -- 'no field none'
exit 0
