#!/bin/bash
# The function tracers, as a talk shows them. Of all functions they are switched on in minutes here, so a -l stands in some lines.
. room
cd "$RINGSIDE_SCRATCH" || exit 1

# What is traced comes faster than it can be printed: stopped, it has an end.
want ringside start -b 200 -p function -l '*lock*' -n '*clock*'
ls / >ls
want ringside stop
want ringside show
has '^# tracer: function$'
has '^# entries-in-buffer/entries-written: [0-9]+/[0-9]+ +#P:2$'
all_are ': [a-zA-Z0-9_.]*lock[a-zA-Z0-9_.]* <-'
hasnt ': [a-zA-Z0-9_.]*clock[a-zA-Z0-9_.]* <-'
has ': mutex_unlock <-'
want ringside reset

# Every function.
want ringside start -b 200 -p function
want ringside stop
want ringside show
[ "$(sed -n 's/.*: \([a-z_0-9.]*\) <-.*/\1/p' "$out" | sort -u | wc -l)" -ge 100 ] || fail "not many functions"
want ringside reset

want ringside start -p function_graph -l 'vfs_*' -l do_sys_openat2
ls / >ls
want ringside stop
want ringside show
has '^# tracer: function_graph$'
has '^# CPU  DURATION                  FUNCTION CALLS$'
has '^ [01]\) +\| +do_sys_openat2\(\) \{$'
has '^ [01]\) +[!#*$@+]? *[0-9.]+ us +\| +vfs_open\(\);$'
has '^ [01]\) +[!#*$@+]? *[0-9.]+ us +\|  \}$'
want ringside reset

# What is set stands for the recording. In the kernel's patterns [^c] is one of ^ and c.
want ringside set -n '*[^c]lock*'
want ringside cat set_ftrace_notrace
all_are clock
want ringside record -q --top -p function_graph -l '*lock*' ls /
want ringside report
has ' ls-[0-9]+ +\[00[01]\] .* funcgraph_entry: .*\| +mutex_unlock\('
hasnt '\| +[a-zA-Z0-9_.]*clock[a-zA-Z0-9_.]*\('
want ringside reset

# Until Ctrl-C, which those in the background only hear with job control.
set -m
command ringside --kernel record -q -p function -l '*lock*' -n '*[^c]lock*' >"$out" 2>"$err" &
recorder=$!
until grep -qx 1 $tracing/instances/*/tracing_on 2>"$RINGSIDE_SCRATCH/none"; do
	kill -0 $recorder || fail "no recorder"
	sleep 0.1
done
ls / >ls
kill -INT $recorder
wait $recorder || fail "record: exit $?"
want ringside report
has ' ls-[0-9]+ .* function: +mutex_unlock'
hasnt 'function: +[a-zA-Z0-9_.]*clock'
want ringside report -O parent
all_are '^CPU|^cpus=|function: +[a-zA-Z0-9_.]+ <-- [a-zA-Z0-9_.]+'
left
