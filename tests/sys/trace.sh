#!/bin/sh
# `ringside trace`: lines as strace has them, times, lists of calls, counts, children, processes that run already; what is wrong is said.
. "$RINGSIDE_SOURCE/tests/sys/stage.sh"

line() {
	grep -qE -- "$1" "$dir/ours" || fail "no line '$1' in: $(tail -n 12 "$dir/ours")"
}

printf 'one "two"\tthree\n' >"$dir/text"
"$RINGSIDE" trace -q -o "$dir/ours" cat text missing >"$dir/got.out" 2>/dev/null
[ $? -eq 1 ] || fail "the exit status is not passed on"
cmp -s text got.out || fail "cat printed something else"
line '^openat\(AT_FDCWD, "text", O_RDONLY\) +\= [0-9]+$'
line '^openat\(AT_FDCWD, "missing", O_RDONLY\) +\= -1 ENOENT \(No such file or directory\)$'
line '^newfstatat\([0-9], "", \{st_mode=S_IFREG\|0[0-7]*, st_size=16, ...\}, AT_EMPTY_PATH\) += 0$'
line '^mmap\(NULL, [0-9]+, PROT_READ, MAP_PRIVATE, [0-9]+, 0\) += 0x[0-9a-f]+$'
line '^close\(1\) +\= 0$'
head -n 1 ours | grep -qE '^execve\("/[a-z/]*/cat", \["cat", "text", "missing"\], 0x[0-9a-f]+\) = 0$' || fail "the first line: $(head -n 1 ours)"
line '^exit_group\(1\) +\= \?$'
line '^\+\+\+ exited with 1 \+\+\+$'

# shellcheck disable=SC2016
"$RINGSIDE" trace -q -o "$dir/ours" -s 8 sh -c 'printf "abc\\ndefghijkl" >out; kill -USR1 $$; mkdir -m 750 new' 2>/dev/null
[ $? -eq 138 ] || fail "a signal is not passed on"
line 'write\(1, "abc\\ndefg"\.\.\., 13\) += 13$'
line 'kill\([0-9]+, SIGUSR1\)  *= \?$'
line '^\+\+\+ killed by SIGUSR1 \+\+\+$'
"$RINGSIDE" trace -q -o "$dir/ours" mkdir -m 750 new
line '^mkdir\("new", 0750\) += 0$'

# Whose it is, when there are several.
# shellcheck disable=SC2016
"$RINGSIDE" trace -q -o "$dir/ours" sh -c 'cat text; cat text' >/dev/null
line '^(\[pid +[0-9]+\] )?(clone|vfork|fork|clone3)\('
line '^\[pid +[0-9]+\] openat\(AT_FDCWD, "text", O_RDONLY\)'
line 'execve\("/[a-z/]*cat", \["cat", "text"\], 0x[0-9a-f]+\)'
[ "$(grep -c 'openat(.*"text"' ours)" -eq 2 ] || fail "not both children: $(grep -c 'openat(.*"text"' ours)"

# Times.
"$RINGSIDE" trace -q -tt -T -o "$dir/ours" -e trace=nanosleep,clock_nanosleep sleep 0.1
line '^[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6} clock_nanosleep\(CLOCK_REALTIME, 0, \{tv_sec=0, tv_nsec=100000000\}, (NULL|0x[0-9a-f]+)\) += 0 <0\.[1-9][0-9]{5}>$'
"$RINGSIDE" trace -q -r -o "$dir/ours" true
line '^ +0\.[0-9]{6} exit_group'

# Lists.
"$RINGSIDE" trace -q -e trace=file,close -o "$dir/ours" cat text >/dev/null
grep -vqE '^(openat|newfstatat|close|execve|access|readlink|faccessat)\(' ours && fail "more than was asked for: $(grep -vE '^(openat|close)' ours | head -n 3)"
"$RINGSIDE" trace -q -e 'trace=!close' -o "$dir/ours" cat text >/dev/null
grep -q '^close(' ours && fail "!close has close"
"$RINGSIDE" trace -q -e '!openat,%memory' -o "$dir/ours" cat text >/dev/null
grep -qE '^(openat|mmap|brk)\(' ours && fail "!openat,%memory has these: $(grep -E '^(openat|mmap|brk)' ours | head -n 3)"
line '^close\('
for class in file network process memory signal desc; do
	"$RINGSIDE" trace -q -e "trace=%$class" -o "$dir/ours" true || fail "there is no class %$class"
done
for wrong in '-e trace=nonsense' '-e trace=%nonsense' '-S nothing' '-S calls' '-c -T' '-c -r' '-ctt' '-c -s 9' '-s x' '--for soon' ''; do
	# shellcheck disable=SC2086
	"$RINGSIDE" trace $wrong ${wrong:+true} >out 2>&1
	[ $? -eq 2 ] || fail "trace $wrong: not refused: $(cat out)"
done
for wrong in abc 12,abc -5 0 '1,' ',1' '' 99999999999; do
	timeout 20 "$RINGSIDE" trace -P "$wrong" >out 2>&1
	[ $? -eq 2 ] || fail "-P '$wrong': not refused: $(cat out)"
	grep -qF -- "-P '$wrong': numbers of processes are needed" out || fail "-P '$wrong': $(cat out)"
done
for word in -s -f -q --for; do
	"$RINGSIDE" trace -S calls true 2>&1 | grep -q "^usage: .*\[$word" || fail "the usage has no $word"
done
"$RINGSIDE" trace -q ./nowhere >out 2>&1 && fail "a program that is not there"

# Counts.
"$RINGSIDE" trace -q -c -S calls -o "$dir/ours" sh -c 'cat text missing' >/dev/null 2>&1
line '^% time +seconds +usecs/call +calls +errors syscall$'
line '^ *[0-9.]+ +0\.[0-9]{6} +[0-9]+ +[0-9]+ +[1-9][0-9]* openat$'
line '^100.00 +[0-9.]+ +[0-9]+ +[0-9]+ +[0-9]+ total$'
# The shell and cat: as many as there are lines.
line '^ *[0-9.]+ +0\.0{6} +0 +2 +execve$'

# One that runs already, and on.
sleep 100 &
sleeper=$!
# shellcheck disable=SC2086
$CC -w -O2 -x c -o ticks - <<'END' || exit 1
#include <unistd.h>
int main(void)
{
	for (int i = 0; i < 3000; i++) {
		usleep(10000);
		access("/tick", 0);
	}
	return 0;
}
END
./ticks &
ticks=$!
timeout -s INT 3 "$RINGSIDE" trace -q -P "$ticks" -o "$dir/ours" >out 2>&1
line '^access\("/tick", F_OK\) += -1 ENOENT'
kill -0 "$ticks" 2>/dev/null || fail "it ended"

# Strace's letter, for a while, and more than one: who ends does not end it for the other.
./ticks &
others=$!
sleep 0.1 &
timeout 20 "$RINGSIDE" trace -q -p "$ticks" -P "$!,$others" --for 3s -o "$dir/ours" >out 2>&1 || fail "-p: $(cat out)"
line "^\[pid +$ticks\] access\(\"/tick\", F_OK\) += -1 ENOENT"
line "^\[pid +$others\] access\(\"/tick\", F_OK\) += -1 ENOENT"
kill -0 "$ticks" 2>/dev/null || fail "it ended"
kill "$ticks" "$others" "$sleeper"

# For so long, and the program runs on.
for how in '' -c; do
	rm -f number
	# shellcheck disable=SC2016,SC2086
	timeout 20 "$RINGSIDE" trace -q $how --for 500ms -o "$dir/ours" sh -c 'echo $$ >number; exec sleep 1000' || fail "--for $how: $?"
	while [ ! -s number ]; do sleep 0.1; done
	kill "$(cat number)" || fail "--for $how: the program was ended"
	[ -s ours ] || fail "--for $how: nothing is shown"
done

# Nothing stays behind.
"$RINGSIDE" stat >out 2>&1
grep -q 'trace-' out && fail "an instance is left: $(grep trace- out)"
exit "$bad"
