#!/bin/sh
# What a talk about the kernel's event probes and sqlhist shows, one example after the other, on programs: which files are opened, by an
# event probe that makes a text of openat's pointer; where there is nothing to read yet it says (fault), and the cure: a synthetic event
# that carries the pointer to the call's end, and the probe on that one. And which system call takes longest.
. "$RINGSIDE_SOURCE/tests/probe/room.sh"

# CC is a command line.
# shellcheck disable=SC2086
compile() {
	$CC -O1 "$1.c" -o "$1" || exit 1
}

# Its own records, not what its loader and its libraries did before: of files of this directory.
opened() {
	records open | sed -n "s|^$1 ||p" | grep -e "$PWD" -e fault
}

# ---- the talk's program; and one that opens what is no name ----

cat >openat.c <<END
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static const char *file = "$PWD/passwd";

int main(void)
{
	int fd;

	fd = open(file, O_RDONLY);
	if (fd < 0)
		perror(file);
	close(fd);
	return fd < 0;
}
END
cat >nowhere.c <<END
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Nothing there, nothing that may be read there, a name that goes on where there is nothing, and one that ends just before. */
int main(void)
{
	char *page = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const char *name = "$PWD/passwd";
	const size_t len = strlen(name) + 1;
	char *cut = page + 4096 - len + 1, *whole = page + 3 * 4096 - len;

	memcpy(cut, name, len - 1);
	memcpy(whole, name, len);
	mprotect(page + 4096, 4096, PROT_NONE);
	return open((const char *)16, O_RDONLY) != -1 || errno != EFAULT || open(page + 4096, O_RDONLY) != -1 || errno != EFAULT ||
	       open(cut, O_RDONLY) != -1 || errno != EFAULT || open(whole, O_RDONLY) < 0;
}
END
compile openat
compile nowhere
echo root >passwd

# ---- by an event probe ----

want 0 list -e sys_enter_openat -F
for text in 'system: syscalls' 'field:int __syscall_nr;	offset:8;	size:4;	signed:1;' 'field:int dfd;	offset:16;	size:8;	signed:0;' \
	'field:const char * filename;	offset:24;	size:8;	signed:0;'; do
	grep -qF "$text" "$out" || fail "the call's format does not say '$text'"
done
want 0 write dynamic_events 'e:open syscalls/sys_enter_openat file=+0($filename):ustring'
want 0 list -e eprobes -F --full
for text in 'system: eprobes' 'name: open' 'field:__data_loc char[] file;	offset:8;	size:4;	signed:1;'; do
	grep -qF "$text" "$out" || fail "the probe's format does not say '$text'"
done
want 0 start -e open
# The page of the name may not be there yet, which is a fault in the kernel; here it is fetched, as the call will do.
run ./openat
opened '(syscalls.sys_enter_openat)' >rows
echo "file=\"$PWD/passwd\"" | cmp -s - rows || fail "the name is not shown"
want 0 clear
run ./nowhere
opened '(syscalls.sys_enter_openat)' >rows
printf 'file=%s\n' '(fault)' '(fault)' '(fault)' "\"$PWD/passwd\"" | cmp -s - rows || fail "not three faults and a name: $(cat rows)"

# Of a program that others wrote it is what strace sees, from where the runtime is there.
if command -v strace >/dev/null; then
	want 0 clear
	run ls -l "$PWD"
	"$RINGSIDE" cat trace | sed -n 's/^ *ls-[0-9].*: open: (syscalls.sys_enter_openat) file=//p' >rows
	strace -qq -e trace=openat -o calls ls -l "$PWD" >"$out" 2>"$err"
	sed -n 's/^openat([^,]*, \("[^"]*"\),.*/\1/p' calls | tail -n "$(wc -l <rows)" >seen
	grep -qxF "\"$PWD\"" rows || fail "ls opens the directory"
	cmp -s seen rows || fail "strace sees other names: $(diff seen rows)"
fi

# ---- the cure ----

want 0 reset
want 0 list -e sys_exit_openat -F
grep -qF 'field:long ret;	offset:16;	size:8;	signed:1;' "$out" || fail "the call's end has no ret"
want 0 sqlhist -e -n myopen 'SELECT start.filename, end.ret
	FROM sys_enter_openat AS start JOIN sys_exit_openat AS end
	ON start.common_pid = end.common_pid'
want 0 list -e myopen -F
for text in 'system: synthetic' 'field:u64 filename;	offset:8;	size:8;	signed:0;' 'field:s64 ret;	offset:16;	size:8;	signed:1;'; do
	grep -qF "$text" "$out" || fail "the synthetic event's format does not say '$text'"
done
want 0 write -a dynamic_events 'e:open synthetic/myopen file=+0($filename):ustring ret=$ret'
want 0 start -e open
run ./openat
opened '(synthetic.myopen)' >rows
grep -Eqx "file=\"$PWD/passwd\" ret=0x[0-9a-f]+" rows && [ "$(wc -l <rows)" -eq 1 ] || fail "not one file that was opened: $(cat rows)"
want 0 clear
run ./nowhere
opened '(synthetic.myopen)' | sed 's/ret=0x.$/ret=FD/' >rows
printf 'file=%s\n' '(fault) ret=0xfffffffffffffff2' '(fault) ret=0xfffffffffffffff2' '(fault) ret=0xfffffffffffffff2' \
	"\"$PWD/passwd\" ret=FD" | cmp -s - rows || fail "not three EFAULT and a file: $(cat rows)"

# What is not there before a call may be there behind it, and no page fault can help: here the call itself brings it.
cat >brings.c <<END
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

int main(void)
{
	char *at = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open("$PWD/passwd", O_RDONLY);

	munmap(at, 4096);
	return mmap(at, 4096, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) != at || at[0] != 'r';
}
END
compile brings
printf 'root of all' >passwd
want 0 reset
want 0 sqlhist -e -n mymap 'SELECT start.addr, end.ret FROM sys_enter_mmap AS start JOIN sys_exit_mmap AS end
	ON start.common_pid = end.common_pid WHERE start.flags == 0x12'
want 0 write -a dynamic_events 'e:before syscalls/sys_enter_mmap text=+0($addr):ustring if flags == 0x12'
want 0 write -a dynamic_events 'e:behind synthetic/mymap text=+0($addr):ustring'
want 0 start -e before -e behind
run ./brings
recorded before '(syscalls.sys_enter_mmap) text=(fault)'
recorded behind '(synthetic.mymap) text="root of all"'

# ---- which call takes longest ----

want 0 reset
want 0 sqlhist -e -n took 'SELECT start.id, (end.TIMESTAMP_USECS - start.TIMESTAMP_USECS) AS lat FROM sys_enter AS start
	JOIN sys_exit AS end ON start.common_pid = end.common_pid'
want 0 write events/synthetic/took/trigger 'hist:keys=id.syscall,common_pid.execname:vals=lat:sort=lat'
want 0 sqlhist -e -n longest -m lat 'SELECT start.id, (end.TIMESTAMP_USECS - start.TIMESTAMP_USECS) AS lat FROM sys_enter AS start
	JOIN sys_exit AS end ON start.common_pid = end.common_pid'
want 0 record -q -e raw_syscalls -e took -e longest -o trace.dat sh -c 'cat passwd; sleep 0.5; true'
want 0 cat events/synthetic/took/hist
sed -n '/^{/p' "$out" >rows
# By the sum of what was selected, the largest last.
sed 's/.*lat: *//' rows >sums
sort -n sums | cmp -s - sums || fail "the rows are not in the order of their sums"
sed -n 's/^{ id: sys_\([a-z0-9_]*\) *\[ *[0-9]*\], common_pid: \([^ ]*\) *\[ *[0-9]*\] } hitcount: *\([0-9]*\)  lat: *\([0-9]*\)$/\1 \2 \3 \4/p' rows >short
[ "$(wc -l <short)" -eq "$(wc -l <rows)" ] || fail "a row is of another kind"
awk '$1 == "clock_nanosleep" && $2 == "sleep" && $3 == 1 && $4 >= 500000 { found = 1 } END { exit !found }' short || fail "nobody slept half a second"

# The same of the recording: from the synthetic events that it has, and, times aside, from the calls. A task's name may be another by then.
nameless() {
	sed -n 's/^\({ id: .*common_pid: \)[^ ]* */\1/p' "$1" | sort
}
want 0 sqlhist -i trace.dat 'SELECT CAST(id AS syscall), CAST(common_pid AS execname), CAST(lat AS _COUNTER_) FROM took ORDER BY lat'
nameless "$out" >again
nameless rows | cmp -s - again || fail "counted from the recording it is something else: $(nameless rows | diff - again)"
want 0 sqlhist -i trace.dat -n took2 'SELECT start.id, (end.TIMESTAMP_USECS - start.TIMESTAMP_USECS) AS lat FROM sys_enter AS start
	JOIN sys_exit AS end ON start.common_pid = end.common_pid;
	SELECT CAST(id AS syscall), CAST(common_pid AS execname), CAST(lat AS _COUNTER_) FROM took2 ORDER BY lat'
nameless "$out" | sed 's/lat:.*//' >again
nameless rows | sed 's/lat:.*//' | cmp -s - again || fail "the calls of the recording are others: $(nameless rows | diff - again)"

# The longest of each task came last of those that were longer than all before.
"$RINGSIDE" report -i trace.dat --no-pager >"$out" 2>"$err" || fail "report"
sed -n 's/^ *\(.*\)-\([0-9]*\) .* took: *id=\([0-9-]*\),* lat=\([0-9]*\)$/\2 \3 \4/p' "$out" | sort -k1,1 -k3,3n | awk '{ most[$1] = $3 }
	END { for (pid in most) print pid, most[pid] }' | sort >most
sed -n 's/^ *\(.*\)-\([0-9]*\) .* longest: *id=\([0-9-]*\),* lat=\([0-9]*\)$/\2 \3 \4/p' "$out" | awk '{ last[$1] = $3 }
	END { for (pid in last) print pid, last[pid] }' | sort >last
[ "$(wc -l <most)" -ge 3 ] && cmp -s most last || fail "the longest are others: $(diff most last)"
exit 0
