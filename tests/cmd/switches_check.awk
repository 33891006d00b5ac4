# `ringside report -t` of pair: time never goes back on a CPU; who is off the CPU writes nothing; who comes was gone.
function no(text) { print FILENAME ":" FNR ": " text ": " $0; bad = 1 }
match($0, /\[[0-9]+\] [^ ]+ +[0-9]+\.[0-9]+: /) {
	split(substr($0, RSTART, RLENGTH), part, " ")
	cpu = part[1]
	time = part[3]
	sub(/:$/, "", time)
	# Of the same length, so that they compare as texts: no number holds all digits.
	if (cpu in last && (time "") < (last[cpu] ""))
		no("time goes back")
	last[cpu] = time
	rest = substr($0, RSTART + RLENGTH)
	if (rest ~ /^turn: /) {
		match(rest, /tid=[0-9]+/)
		tid = substr(rest, RSTART + 4, RLENGTH - 4)
		if (off[tid] && !loose)
			no("written while it was off the CPU")
		turns[tid]++
	} else if (rest ~ /^sched_switch: /) {
		match(rest, /:[0-9]+ \[[0-9]+\] [A-Z]/)
		prev = substr(rest, RSTART + 1, RLENGTH)
		prev += 0
		rest = substr(rest, index(rest, "==>"))
		match(rest, /:[0-9]+ /)
		next_tid = substr(rest, RSTART + 1, RLENGTH - 2) + 0
		if (prev && off[prev])
			no("goes twice")
		if (next_tid && next_tid in off && !off[next_tid])
			no("comes twice")
		if (prev) {
			off[prev] = 1
			outs[prev]++
		}
		if (next_tid) {
			off[next_tid] = 0
			ins[next_tid]++
		}
		if (prev && next_tid)
			both++
		switches++
	}
}
END {
	for (tid in turns)
		printf "%s turns %d outs %d ins %d\n", tid, turns[tid], outs[tid], ins[tid]
	printf "switches %d both %d\n", switches, both
	exit bad
}
