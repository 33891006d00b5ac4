#!/bin/sh
# The doctor: what it says of good and bad directories, programs and processes, and that what it tells to do helps.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"

d=$RINGSIDE_DIR
PATH=$RINGSIDE_BUILD:$PATH
export PATH LC_ALL=C
unset LD_LIBRARY_PATH
cd "$RINGSIDE_SCRATCH" || exit 1
kids=
# Each of these is a list of words.
# shellcheck disable=SC2086
trap '[ -z "$kids" ] || kill -9 $kids 2>/dev/null' EXIT

# A line of that mark and check is there, and holds the text: finds MARK CHECK TEXT
finds() {
	grep -qE "^$1 +$2 .*" "$out" || fail "no line: $1 $2"
	grep -E "^$1 +$2 " "$out" | grep -qF -e "$3" || fail "$1 $2 does not say '$3'"
}

# The step below the line of that mark and check.
step_of() {
	awk -v m="$1" -v c="$2" '$1 == m && $2 == c { on = 1; next }
		on && $1 == "->" { sub(/^ *-> /, ""); print; exit } { on = 0 }' "$out"
}

# Each line of stdin is a JSON object with the keys that there are.
is_json() {
	/usr/bin/python3 -c 'import json, sys
for line in sys.stdin.buffer:
    finding = json.loads(line.decode())
    assert list(finding) == ["check", "mark", "text", "step"], line
    assert finding["mark"] in ("ok", "note", "bad") and finding["text"], line'
}

# Runs the doctor in both ways and wants this exit status; every line of JSON is one, and says the same.
doctor() {
	status=$1
	shift
	want "$status" doctor --json "$@"
	[ ! -s "$err" ] || fail "words on stderr"
	cp "$out" "$out.json"
	is_json <"$out.json" || fail "no JSON"
	want "$status" doctor "$@"
	[ ! -s "$err" ] || fail "words on stderr"
	# Of mounts and programs there are others', which come and go.
	[ "$(grep -E '^(ok|note|bad) ' "$out" | grep -cvE '^[a-z]+ +(mounts|programs) ')" -eq \
		"$(grep -cvE '"check":"(mounts|programs)"' "$out.json")" ] || fail "JSON has other findings"
	[ "$(grep -c '^bad ' "$out")" -eq "$(grep -c '"mark":"bad"' "$out.json")" ] || fail "JSON has other marks"
	if [ "$status" -eq 0 ]; then
		! grep -q '^bad ' "$out" || fail "bad, but exit 0"
	else
		grep -q '^bad ' "$out" || fail "exit 1, but nothing is bad"
	fi
}

program shop <<'EOF'
#include <ringside/ringside.h>
#include <unistd.h>

RINGSIDE_EVENT(shop, order, field(int, item))
RINGSIDE_EVENT(till, pay, field(int, cents))

int main(int argc, char **argv)
{
	(void)argv;
	trace_shop_order(1);
	trace_till_pay(100);
	for (int i = 0; argc > 1 && i < 600; i++)
		usleep(100000);
	return 0;
}
EOF

# No directory: fine, but for a place where none can be made.
doctor 0
finds note directory "$d"
finds note directory 'not there yet'
finds ok kernel "$(uname -r)"
for check in rseq membarrier clock limits fuse tracefs; do
	grep -qE "^(ok|note) +$check " "$out" || fail "nothing about $check"
done
[ ! -e "$d" ] || fail "looking made a directory"
doctor 1 --dir "$d/no/such"
finds bad directory 'cannot be made'
[ "$(step_of bad directory)" = "mkdir -p $d/no" ] || fail "step: $(step_of bad directory)"
doctor 1 ./shop --dir "$d/no/such"
finds bad verdict untraced

# One that is made and not filled yet.
mkdir -m 700 "$d"
doctor 0
finds note directory empty
eval "$(step_of note directory)" 2>/dev/null || fail "step"
doctor 0
finds ok directory "$d"
want 0 reset

# A good one.
want 0 start -e shop
doctor 0
finds ok directory "$d (RINGSIDE_DIR)"
finds ok directory 'version '
finds ok attaching works
finds ok lock free
finds note events 'none of 0 known'
finds ok names 'without a source until a program brings them: '
for system in 'kmem (6 of 8)' 'sched (13 of 19)' 'timer (13 of 13)'; do
	finds ok names "$system"
done
./shop
doctor 0
finds ok events '1 of 2 known'
finds ok losses none
finds ok registry 'nothing was refused'
finds ok programs '0 attached'
! grep -q "$(printf '\033')" "$out" || fail "colour in a pipe"
want 0 write tracing_on 0
doctor 0
finds note events 'recording is off'
eval "$(step_of note events)" || fail "step"
doctor 0
finds ok events '1 of 2'

# An event that is recorded has a source.
want 0 write events/timer/timer_init/inject 'timer=1'
doctor 0
finds ok names 'timer (12 of 13)'
finds ok events '1 of 3'

# A choice of threads that was forgotten.
want 0 write set_event_pid 1
doctor 0
finds note pids 'chosen threads'
eval "$(step_of note pids)" || fail "step"
doctor 0
! grep -q '^note  *pids' "$out" || fail "pids are still chosen"

# Losses are told, with a buffer that would be large enough.
want 0 write buffer_size_kb 8
for i in 1 2 3 4 5 6 7 8 9 10; do
	want 0 write trace_marker "$(head -c 3000 /dev/zero | tr '\0' x)"
	want 0 write trace_marker "$(head -c 3000 /dev/zero | tr '\0' x)$i"
done
doctor 0
finds note losses 'overwritten'
case $(step_of note losses) in
'ringside write buffer_size_kb '*) ;;
*) fail "step: $(step_of note losses)" ;;
esac
eval "$(step_of note losses)" || fail "step"

# Damaged: what it says to do is done, and all is well.
heal() {
	doctor 1
	finds bad directory "$1"
	eval "$(step_of bad directory)" || fail "step"
	doctor 0
	want 0 start -e shop 2>/dev/null
	doctor 0
}
for file in control registry rings tables; do
	truncate -s 10 "$d/$file"
	heal "$d/$file"
	printf 'XXXXXXXX' | dd of="$d/$file" conv=notrunc 2>/dev/null
	heal "$d/$file"
	printf '\377' | dd of="$d/$file" bs=1 seek=8 conv=notrunc 2>/dev/null
	heal 'version 255'
	rm "$d/$file"
	heal "$d/$file"
done
chmod 777 "$d"
heal 'written by others'
head -c 8000 /dev/urandom | dd of="$d/control" bs=64 seek=1 conv=notrunc 2>/dev/null
heal "$d/control"
if [ "$(id -u)" -eq 0 ]; then
	chown 12345 "$d"
	doctor 1
	finds bad directory 12345
	chown 0 "$d"
fi
mv "$d" "$d.real"
ln -s "$d.real" "$d"
doctor 1
finds bad directory "$d"
rm "$d"
mv "$d.real" "$d"
doctor 0

# Rings of random bytes: some finding, no more.
cp -r "$d" "$d.good"
for i in 1 2 3; do
	head -c 300000 /dev/urandom | dd of="$d/rings" bs=4096 seek=$i conv=notrunc 2>/dev/null
	head -c 300000 /dev/urandom | dd of="$d/registry" bs=4096 seek=$i conv=notrunc 2>/dev/null
	"$RINGSIDE" doctor >"$out" 2>"$err"
	[ $? -le 1 ] && [ ! -s "$err" ] || fail "random rings"
done
rm -rf "$d"
mv "$d.good" "$d"

# A lock that somebody keeps.
/usr/bin/python3 -c 'import fcntl, sys, time
control = open(sys.argv[1], "r+b")
fcntl.flock(control, fcntl.LOCK_EX)
open("locked", "w").close()
time.sleep(60)' "$d/control" &
holder=$!
kids="$kids $holder"
while [ ! -e locked ]; do sleep 0.1; done
want 1 doctor
finds bad lock "python3 ($holder)"
[ "$(step_of bad lock)" = "kill $holder" ] || fail "step: $(step_of bad lock)"
kill -STOP $holder
want 1 doctor
finds bad lock 'stopped'
[ "$(step_of bad lock)" = "kill -CONT $holder" ] || fail "step: $(step_of bad lock)"
kill -9 $holder
wait $holder 2>/dev/null

# Limits under which no program attaches.
case $CC in
*sanitize*) ;;
*)
	(ulimit -v 300000 && "$RINGSIDE" doctor >"$out" 2>"$err") && fail "300 MB suffice"
	finds bad limits 'do not attach'
	finds bad attaching fails
	;;
esac
GLIBC_TUNABLES=glibc.pthread.rseq=0 "$RINGSIDE" doctor >"$out" 2>"$err" || fail "without glibc's rseq"
finds ok rseq 'register their own'

# A linked program, and what it says to do.
doctor 0 ./shop
finds ok program 'dynamic'
finds ok runtime libringside.so
finds ok events 'shop:order, till:pay'
[ "$(step_of ok verdict)" = 'ringside start -e shop -e till; ./shop' ] || fail "step: $(step_of ok verdict)"
step=$(step_of ok verdict)
want 0 clear
eval "$step" 2>/dev/null
want 0 show
grep -q 'pay: cents=100' "$out" || fail "the step does not trace"
mkdir 'in the way'
cp shop 'in the way/it'"'"'s shop'
doctor 0 "in the way/it's shop"
eval "$(step_of ok verdict)" || fail "a name with blanks"
doctor 0 --dir "$d" ./shop
[ "$(step_of ok verdict)" = "ringside start -e shop -e till --dir $d; RINGSIDE_DIR=$d ./shop" ] || fail "--dir"
(PATH=$PWD:$PATH && "$RINGSIDE" doctor shop >"$out" 2>"$err") || fail "not found in PATH"
finds ok program "$PWD/shop"

# The library is not where the loader looks.
mkdir away
cp -r "$RINGSIDE_BUILD"/libringside.so* away/
# CC is a command line.
# shellcheck disable=SC2086
$CC -O1 -I"$RINGSIDE_SOURCE/include" shop.c -o lost -Laway -lringside
want 1 doctor ./lost
finds bad runtime 'libringside.so.0'
finds bad verdict 'cannot be traced'
(LD_LIBRARY_PATH=$PWD/away; export LD_LIBRARY_PATH; "$RINGSIDE" doctor ./lost >"$out" 2>"$err") ||
	fail "LD_LIBRARY_PATH"
finds ok runtime "$PWD/away/libringside.so.0"
# shellcheck disable=SC2016,SC2086
$CC -O1 -I"$RINGSIDE_SOURCE/include" shop.c -o near -Laway -lringside '-Wl,-rpath,$ORIGIN/away'
doctor 0 ./near
finds ok runtime "away/libringside.so.0"

# Through a library of its own.
cat >lib.c <<'EOF'
#include <ringside/ringside.h>
RINGSIDE_EVENT(depot, fetch, field(int, n))
void fetch(void);
void fetch(void) { trace_depot_fetch(1); }
EOF
echo 'void fetch(void); int main(void) { fetch(); return 0; }' >user.c
# shellcheck disable=SC2016,SC2086
{
	$CC -O1 -fPIC -shared -I"$RINGSIDE_SOURCE/include" lib.c -o libdepot.so -L"$RINGSIDE_BUILD" -lringside \
		-Wl,-rpath,"$RINGSIDE_BUILD"
	$CC -O1 user.c -o user -Wl,--as-needed -L. -ldepot '-Wl,-rpath,$ORIGIN' \
		-Wl,-rpath-link,"$RINGSIDE_BUILD"
} || fail "does not compile"
doctor 0 ./user
finds ok runtime libdepot.so
finds ok events depot:fetch

# Static, with and without symbols, with and without the runtime; not under sanitizers, which are never static.
case $CC in
*sanitize*) ;;
*)
	# shellcheck disable=SC2086
	$CC -static -O1 -I"$RINGSIDE_SOURCE/include" shop.c "$RINGSIDE_BUILD/libringside.a" -o static ||
		fail "does not compile"
	doctor 0 ./static
	finds ok program static
	finds ok runtime 'inside'
	finds ok events 'shop:order'
	strip static
	doctor 0 ./static
	finds ok runtime 'inside'
	finds ok events 'shop:order'
	echo 'int main(void) { return 0; }' >bare.c
	# shellcheck disable=SC2086
	$CC -static bare.c -o bare
	doctor 1 ./bare
	finds bad verdict static
	[ "$(step_of bad verdict)" = 'link it with libringside.a, see ringside(3)' ] || fail "step"
	;;
esac

# Not linked; the command itself; a library; a script and one for nobody; none at all.
doctor 1 /bin/true
finds ok program /bin/true
finds bad verdict 'linked with libringside'
doctor 1 "$RINGSIDE"
finds bad verdict 'not to be traced'
doctor 1 away/libringside.so.0
finds bad program 'a library'
printf '#!/bin/sh\n./shop\n' >script
doctor 1 ./script
finds bad program 'cannot start'
eval "$(step_of bad program)"
doctor 1 ./script
finds ok script '/bin/sh'
finds bad verdict 'what the script starts'
printf '#!/usr/bin/env -S shop wait\n' >script
(PATH=$PWD:$PATH && "$RINGSIDE" doctor ./script >"$out" 2>"$err") || fail "env"
finds ok script "$PWD/shop"
finds ok verdict 'can be traced'
printf '#!/no/such/thing -x\n' >script
doctor 1 ./script
finds bad program '/no/such/thing'
printf '#!%s\n' "$PWD/script" >script
doctor 1 ./script
finds bad program 'too many scripts'
doctor 1 ./nosuch
finds bad program 'no such program'
doctor 1 nosuch-in-path
finds bad program 'in PATH'
doctor 1 /
finds bad program 'no file that could be run'
doctor 1 ''
mkfifo fifo
doctor 1 ./fifo
finds bad program 'no file that could be run'
chmod -x near
doctor 1 ./near
finds bad program 'cannot start'
[ "$(step_of bad program)" = 'chmod +x ./near' ] || fail "step: $(step_of bad program)"

# Of other machines: the first 20 bytes tell.
{
	printf '\177ELF\2\2\1\0\0\0\0\0\0\0\0\0\0\2\0\26'
	head -c 100 /dev/zero
} >foreign
chmod +x foreign
doctor 1 ./foreign
finds bad program 's390'
printf '\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\2\0\363\0' | dd of=foreign conv=notrunc 2>/dev/null
doctor 1 ./foreign
finds bad program 'riscv'

# Cut short, random, mutilated: some finding and no crash.
size=$(wc -c <shop)
for n in 0 3 4 10 19 40 63 64 100 500 $((size / 2)) $((size - 1)); do
	head -c "$n" shop >cut
	chmod +x cut
	"$RINGSIDE" doctor --json ./cut >"$out" 2>"$err"
	[ $? -le 1 ] && [ ! -s "$err" ] && [ -s "$out" ] || fail "cut at $n"
	[ "$n" -ge 500 ] || grep -q '"mark":"bad"' "$out" || fail "cut at $n is not bad"
done
head -c $((size / 4)) shop >cut
doctor 1 ./cut
finds bad program 'cut short'
head -c 10000 /dev/urandom >cut
doctor 1 ./cut
finds bad program 'no ELF file'
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	cp shop cut
	head -c 8 /dev/urandom | dd of=cut bs=1 seek=$((16 + i * 31)) conv=notrunc 2>/dev/null
	head -c 8 /dev/urandom | dd of=cut bs=1 seek=$((size - 64 * i)) conv=notrunc 2>/dev/null
	timeout 20 "$RINGSIDE" doctor --json ./cut >"$out" 2>"$err"
	[ $? -le 1 ] && [ ! -s "$err" ] && [ -s "$out" ] || fail "mutilated, $i"
	is_json <"$out" || fail "JSON, $i"
done
name=$(printf 'sh\nop"\\\377\033[31m')
cp shop "$name"
doctor 0 "./$name"
! grep -q "$(printf '\033')" "$out" || fail "a name's escape goes to the terminal"

# More rights than we have: whose directory it is.
if [ "$(id -u)" -eq 0 ]; then
	place=$PWD
	case $(findmnt -n -o OPTIONS -T . 2>/dev/null) in
	*nosuid*)
		cp shop there
		chmod 4755 there
		doctor 0 ./there
		finds note rights 'no effect here'
		place=$(mktemp -d /var/tmp/ringside-doctor.XXXXXX)
		;;
	esac
	cp shop "$place/own"
	chmod 4755 "$place/own"
	doctor 0 "$place/own"
	finds note rights 'nothing that you do not have'
	cp shop "$place/other"
	chown 12345 "$place/other"
	chmod 4755 "$place/other"
	doctor 0 "$place/other"
	finds note rights 'ignores RINGSIDE_DIR'
	case $(step_of ok verdict) in
	"sudo -u '#12345' ringside start "*) ;;
	*) fail "step: $(step_of ok verdict)" ;;
	esac
	[ "$place" = "$PWD" ] || rm -r "$place"
fi

# A process: attached, elsewhere, to what was removed, not at all, gone, dead, none.
./shop wait &
pid=$!
kids="$kids $pid"
for i in 1 2 3 4 5 6 7 8 9 10; do
	grep -q "$d/rings" /proc/$pid/maps && break
	sleep 0.2
done
doctor 0 $pid
finds ok process "shop ($pid), 1 thread"
finds ok program "$PWD/shop"
finds ok verdict "attached to $d"
[ "$(step_of ok verdict)" = 'ringside show' ] || fail "step"
doctor 0
finds ok programs "1 attached now: shop ($pid)"
doctor 1 --dir "$RINGSIDE_SCRATCH/other" $pid
finds bad verdict "attached to $d"
[ "$(step_of bad verdict)" = "ringside show --dir $d" ] || fail "step: $(step_of bad verdict)"
mv shop shop.old
doctor 0 $pid
rm shop.old
doctor 0 $pid
finds note program 'removed or replaced'
rm -rf "$d"
doctor 1 $pid
finds bad verdict 'was removed'
want 0 start -e shop 2>/dev/null
doctor 1 $pid
finds bad verdict 'was removed'
doctor 0
finds note programs 'was removed'
kill -9 $pid
wait $pid 2>/dev/null
doctor 1 $pid
finds bad process "no process $pid"
doctor 1 99999999999999999999
finds bad process 'no process'
doctor 1 0
doctor 1 $$
finds bad verdict 'neither inside it nor loaded'
RINGSIDE_DIR=/no/such/place "$PWD/in the way/it's shop" wait &
pid=$!
kids="$kids $pid"
sleep 0.5
doctor 1 $pid
finds bad verdict '/no/such/place'
sh -c 'sleep 0.2 & echo $! >zombie; exec sleep 60' &
kids="$kids $!"
for i in 1 2 3 4 5 6 7 8 9 10; do
	[ -s zombie ] && grep -q '^State:.Z' "/proc/$(cat zombie)/status" && break
	sleep 0.2
done
doctor 1 "$(cat zombie)"
finds bad process 'has ended'

# A mount whose server is gone, and one whose server does not answer. Needs root and FUSE.
mkdir mnt
if [ "$(id -u)" -eq 0 ] && [ -w /dev/fuse ] && command -v fusermount3 >/dev/null &&
	exec 9<>/dev/fuse && mount -i -t fuse -o fd=9,rootmode=40000,user_id=0,group_id=0 tracefs mnt 2>/dev/null
then
	"$RINGSIDE" doctor >"$out" 2>"$err" 9>&-
	said=$?
	exec 9>&-
	"$RINGSIDE" doctor >"$out.gone" 2>"$err"
	gone=$?
	sed -n '/^note  *mounts/{n;s/^ *-> //p;}' "$out.gone" | grep "$PWD/mnt\$" >step
	sh -e step || umount -l mnt
	[ $said -eq 0 ] || fail "a server that does not answer: $said"
	finds note mounts "$PWD/mnt does not answer"
	cp "$out.gone" "$out"
	[ $gone -eq 0 ] || fail "a server that is gone: $gone"
	finds note mounts "server of $PWD/mnt is gone"
	[ -s step ] || fail "no step"
	doctor 0
fi
exit 0
