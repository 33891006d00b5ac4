#!/bin/sh
# hist: what trace-cmd counts, where it counts right, and who called whom.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"
. "$RINGSIDE_SOURCE/tests/cmd/traces.sh"

made_here() {
	/usr/bin/python3 "$RINGSIDE_SOURCE/tests/cmd/made.py" "$1" "$1.dat" || fail "made.py $1"
}

# In the order of counts; what came equally often is in no order in trace-cmd's.
sorted() {
	counts=$(sed -n 's/^  %.* #\([0-9]*\)$/\1/p' "$out")
	[ -n "$counts" ] || fail "nothing was counted"
	printf '%s\n' "$counts" | sort -c -r -n || fail "not in order"
}

trace-cmd hist -P -i "$data/mixed.v7.dat" | LC_ALL=C sort >theirs.text
want 0 hist -P -i "$data/mixed.v7.dat"
sorted
LC_ALL=C sort "$out" | cmp -s - theirs.text || fail "hist -P: not as trace-cmd counts"
want 0 hist -P "$data/mixed.v7.dat"
LC_ALL=C sort "$out" | cmp -s - theirs.text || fail "hist -P FILE"

# trace-cmd gives tasks that ran several programs the name of any of these.
unnamed() {
	sed 's/^\(  %[0-9.]*  ([0-9]*)\) [^ ]*  */\1 /' | LC_ALL=C sort
}
trace-cmd hist -i "$data/mixed.v7.dat" | unnamed >theirs.text
want 0 hist -i "$data/mixed.v7.dat"
sorted
unnamed <"$out" | cmp -s - theirs.text || fail "hist: not as trace-cmd counts"
grep -q '^  %3.89  (149) sh  *mm_page_alloc #376$' "$out" || fail "the shell's pages"

# trace-cmd counts instances one on top of the other; here all are together, or one is chosen.
want 0 hist -P -i "$data/instances.v7.dat"
grep -q '^  %49.45 <all pids>  *sys_enter #1919$' "$out" || fail "all instances"
want 0 hist -P -B rare -i "$data/instances.v7.dat"
grep -q '^  %55.81 <all pids>  *sched_process_fork #24$' "$out" || fail "one instance"
! grep -q sys_enter "$out" || fail "another instance"
want 0 hist -P -B none -i "$data/instances.v7.dat"
[ ! -s "$out" ] || fail "no instance"

# All functions of a graph are counted, those that return nowhere, too.
want 0 hist -P -i "$data/graph.v7.dat"
sorted
n=$(sed -n 's/^  %.* #\([0-9]*\)$/\1/p' "$out" | awk '{ n += $1 } END { print n }')
[ "$n" -eq 167 ] || fail "$n instead of 167 functions and switches"

made_here functions
want 0 hist -P functions.dat
says '  %40.00 <all pids>                       vfs_read #4
         |
         --- vfs_read
            |
            |--%100.00-- do_two  # 4
                         |
                         |--%75.00-- do_one  # 3
                                    __x64_sys_read

  %30.00 <all pids>                      vfs_write #3
         |
         --- vfs_write
          do_one
          __x64_sys_read

  %10.00 <all pids>                         do_one #1
         |
         --- do_one
          __x64_sys_read

  %10.00 <all pids>                         do_two #1
         |
         --- do_two
          do_one
          __x64_sys_read

  %10.00 <all pids>                       schedule #1
         |
         --- schedule
          do_idle'

made_here stacks
want 0 hist stacks.dat
says '  %40.00  (10) shell                      sys_enter #4
         |
         --- *sys_enter*
            |
            |--%100.00-- do_one  # 4
                       do_two
                         |
                         |--%75.00-- vfs_read  # 3
                         |          schedule
                         |
                         |--%25.00-- vfs_write  # 1
                                    schedule

  %40.00  (10) shell                       sys_exit #4
         |
         --- *sys_exit*

  %10.00  (11) worker                      sys_enter #1
         |
         --- *sys_enter*

  %10.00  (11) worker                       sys_exit #1
         |
         --- *sys_exit*
          do_one
          schedule'

made_here calls
want 0 hist -P calls.dat
says '  %36.36 <all pids>                         do_two #4
         |
         --- do_two
            |
            |--%50.00-- do_one  # 2
            |
            |--%50.00-- vfs_read  # 2
                       do_one

  %27.27 <all pids>                      sys_enter #3
         |
         --- *sys_enter*
            |
            |--%66.67-- do_two  # 2
                       do_one

  %18.18 <all pids>                         do_one #2
         |
         --- do_one

  %18.18 <all pids>                       vfs_read #2
         |
         --- vfs_read
          do_one'

refuse 2 hist --nosuch -- --nosuch
refuse 2 hist -i a b -- 'one file'
refuse 1 hist -- trace.dat
echo hello >not.dat
refuse 1 hist not.dat -- 'not a trace file'
# Of a file that is cut off what is there is counted, and there are words about the rest.
want 0 convert --file-version 6 -i "$data/mixed.v7.dat" six.dat
head -c 7400000 six.dat >cut.dat
want 0 hist -P cut.dat
[ -s "$err" ] || fail "nothing is said of a cut file"
sorted
exit 0
