#!/bin/sh
# remote: adds, lists and removes; what cannot be added is refused with words that say why, and leaves nothing behind.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"
. "$RINGSIDE_SOURCE/tests/remote/room.sh"
cd "$RINGSIDE_SCRATCH" || exit 1
other=
trap 'kill $board $other 2>/dev/null' EXIT

build_board board 64
start_board ./board file ram rings=2 pages=4 hz=19200000

# ---- how it is called ----

# What is wrong with the line, its usage, and nothing done: misused TEXT WORD...
misused() {
	text=$1
	shift
	want 2 remote "$@"
	grep -qF -e "$text" "$err" || fail "remote $*: does not say '$text'"
	grep -q '^usage: ringside remote add NAME --mem FILE' "$err" || fail "remote $*: does not say how"
}
misused 'something is missing'
misused 'add, list or remove' show
misused 'takes no name' list board
misused 'for add' list --mem ram
misused 'takes a NAME' add
misused 'takes a NAME' remove
misused 'needs --mem' add board
misused 'needs --mem' add board --elf board
misused 'needs --mem' add board --mem ''
misused 'needs --mem' add board --mem @0
misused 'for add' remove board --elf board
misused 'too much' add board more --mem ram
misused 'no option' add -x --mem ram
[ ! -e "$RINGSIDE_DIR" ] || fail "it has made a directory"

# ---- names ----

long=$(printf %031d 0)
for name in '' . .. .x a/b ../x 'a b' a: "$(printf 'a\nb')" ünï "0$long"; do
	refuse 1 remote add "$name" --mem ram -- 'is no name for a remote: letters, digits, _ - and . inside, 31 at most'
done
refuse 1 remote add test --mem ram -- "there is a remote 'test' already"
want 0 remote add "$long" --mem ram
want 0 remote remove "$long"
want 0 remote add a.B_c-1 --mem ram
want 0 remote remove a.B_c-1

# ---- memories ----

cant() {
	text=$1
	shift
	refuse 1 remote add board "$@" -- "$text"
}
mkfifo fifo
: >empty
head -c 100000 /dev/zero >zeros
cp ram damaged
printf x | dd of=damaged bs=1 seek=30 conv=notrunc 2>/dev/null
head -c 300 ram >cut
head -c 40 ram >start
cat ram ram >two
size=$(stat -c %s ram)
cant 'nofile: No such file' --mem nofile
cant 'nofile: No such file' --mem nofile@0
cant 'Is a directory' --mem .
cant 'neither a file nor a device' --mem fifo
cant 'a device is not searched: say where the header is' --mem /dev/zero
cant 'no header of a tracing memory at 0' --mem /dev/zero@0
cant 'empty: is empty' --mem empty
cant 'there is no header of a tracing memory' --mem zeros
cant 'there is no header of a tracing memory at 0x100' --mem zeros@0x100
cant 'there is no header of a tracing memory at 0x8' --mem ram@8
cant 'the memory ends before the end of a header' --mem zeros@99990
cant 'the memory ends before the end of a header' --mem ram@18446744073709551608
for at in '' x -8 0x 8x 18446744073709551616 +0 ' 0'; do
	cant 'what is behind @ is no offset' --mem "ram@$at"
done
# A file may have one in its name, and is meant if it is there.
for name in r@m ram@16; do
	cp ram $name
	for at in '' @0; do
		want 0 remote add at --mem $name$at
		want 0 remote list
		grep -qx "  memory  $(realpath $name) @0" "$out" || fail "not the file $name"
		want 0 remote remove at
	done
	rm $name
done
cant 'the only header, at 0, is damaged: its checksum is wrong' --mem damaged
cant 'the header at 0 is damaged: its checksum is wrong' --mem damaged@0
cant 'not in this memory' --mem cut
cant 'there is no header' --mem start
cant "there are 2 headers of tracing memories: say which, @0 @$(printf '%#x' "$size")" --mem two

# ---- ELF files ----

# What a firmware's ELF file is to the command: where the memory is, and what its events are called.
elf() {
	cat >"$1.c"
	# shellcheck disable=SC2086
	$CC "$1.c" -o "$1" || fail "$1.c"
}
elf elsewhere <<'END2'
__asm__(".globl ringside_fw\n.set ringside_fw, 4096\n");
int main(void) { return 0; }
END2
elf silent <<'END2'
__asm__(".globl ringside_fw\n.set ringside_fw, 0\n");
int main(void) { return 0; }
END2
elf garbage <<'END2'
__asm__(".globl ringside_fw\n.set ringside_fw, 0\n");
__attribute__((section("ringside_events"))) const char garbage[400] = { 77, 1, 2, 3 };
int main(void) { return garbage[0]; }
END2
elf many <<'END2'
__asm__(".globl ringside_fw\n.set ringside_fw, 0\n"
	".section ringside_events\n.set n, 0\n.rept 5000\n"
	".short 296, n, 4, 0\n.ascii \"e\"\n.byte 65 + n % 16, 65 + n / 16 % 16, 65 + n / 256 % 16, 65 + n / 4096\n.zero 27\n.ascii \"\\\"x\\\"\"\n.zero 253\n"
	".set n, n + 1\n.endr\n.text\n");
int main(void) { return 0; }
END2
strip -o stripped board
head -c 3000 board >cut_elf
cant 'nofile: No such file' --mem ram --elf nofile
cant 'no regular file' --mem ram --elf .
cant 'no ELF file' --mem ram --elf empty
cant 'no ELF file' --mem ram --elf ram
cant 'cut short' --mem ram --elf cut_elf
cant 'there is no symbol ringside_fw: was it linked with ringside_fw.c, and not stripped?' --mem ram --elf stripped
cant 'that says that it is at 0x1000: the target was not started, or runs another firmware' --mem ram --elf elsewhere
cant 'elsewhere is not what runs there: its memory is at 0x1000' --mem ram@0 --elf elsewhere
cant 'the texts of events are damaged' --mem ram --elf garbage
cant 'there are more than 4096 events' --mem ram --elf many
odd_name=$(printf 'a\nserved 1')
cp board "$odd_name"
cant 'a path with a newline in it' --mem ram --elf "$odd_name"
cp ram "$odd_name"
cant 'a path with a newline in it' --mem "$odd_name"

# Nothing of all that is kept.
want 0 remote list
says 'test
  state   no buffer is loaded'
[ -z "$(ls "$RINGSIDE_DIR/remotes" 2>/dev/null)" ] || fail "something is left: $(ls "$RINGSIDE_DIR/remotes")"

# Nor when it could not be written; and of what somebody left who was killed meanwhile the next one knows nothing.
if (trap '' XFSZ && ulimit -f 1 && exec "$RINGSIDE" remote add board --mem ram --elf board) 2>"$err"; then
	fail "what cannot be written is added"
fi
grep -q 'remotes/board cannot be written' "$err" || fail "not what is wrong"
[ ! -e "$RINGSIDE_DIR/remotes/board" ] || fail "something is left: $(ls "$RINGSIDE_DIR/remotes/board")"
want 0 remote add board --mem ram --elf board
cp "$RINGSIDE_DIR/remotes/board/texts" texts
want 0 remote remove board
mkdir "$RINGSIDE_DIR/remotes/board"
cp texts "$RINGSIDE_DIR/remotes/board"
want 0 remote add board --mem ram
want 0 remote list
grep -q '^  events  without names' "$out" || fail "its events have the names of another one's"
want 0 remote remove board

# ---- added, listed, removed ----

want 0 remote add board --mem ram --elf board
[ ! -s "$out" ] && [ ! -s "$err" ] || fail "add says something"
want 0 remote add second --mem "two@$size"
want 0 remote add silent --mem ram --elf silent
cant "there is a remote 'board' already" --mem ram
want 0 remote list
[ "$(grep -v '^  ' "$out" | tr '\n' ' ')" = 'board second silent test ' ] || fail "not in their order"
grep -qx "  memory  $(realpath ram) @0" "$out" || fail "not where it is"
grep -qx "  memory  $(realpath two) @$(printf '%#x' "$size")" "$out" || fail "not where in it"
grep '^  elf ' "$out" >elves
printf '  elf     %s\n' "$(realpath board)" "$(realpath silent)" | cmp -s - elves || fail "not where its names came from"
[ "$(grep -cx "          which may be another build's: not both have a build ID" "$out")" -eq 2 ] || fail "they are taken for certain"
sed -n '/^board$/,/^second$/p' "$out" >board_only
for line in '  state   unloaded, tracing is off, started 1 time' '  buffer  2 CPUs, 4 pages of 4096 bytes each, the newest stay' \
	'  words   [a-z]*-endian, [36][24] bits' '  events  3' '  clock   19200000 Hz, 64 bits, matched to [0-9]* [num]\{0,1\}s'; do
	grep -qx "$line" board_only || fail "board has no line '$line'"
done
sed -n '/^second$/,/^silent$/p' "$out" | grep -q '^  clock .*, not matched: ' || fail "what nobody writes to is matched"
[ "$(grep -c '^  events  without names: ' "$out")" -eq 2 ] || fail "two have no names"
# Neither the ELF file nor the directory that it was done in is needed any more.
mv board moved
(cd / && "$RINGSIDE" cat remotes/board/events/board/selftest/format) >"$out" || fail "its texts are gone"
grep -q '^name: selftest$' "$out" || fail "not its texts"
mv moved board

# What is being read is not removed; what nobody reads is, also while it is on.
want 0 write remotes/board/tracing_on 1
take_out remotes/board/trace_pipe /dev/null "$RINGSIDE" cat -f remotes/board/trace_pipe
refuse 1 remote remove board -- "somebody takes events out of remote 'board'"
kill $other
wait $other 2>/dev/null
other=
want 0 remote remove board
refuse 1 remote remove board -- "there is no remote 'board'"
# On it stays if somebody wanted that, but not if it was a recorder that was killed.
want 0 remote add board --mem ram --elf board
want 0 cat remotes/board/tracing_on remotes/board/events/enable
says '1
0'
want 0 write remotes/board/tracing_on 0
# The ID is that of the inner shell.
# shellcheck disable=SC2016
"$RINGSIDE" record --remote board -o killed.dat sh -c 'echo $$ >begun; exec sleep 60' >/dev/null 2>&1 8>&- 9<&- &
other=$!
tries=0
until [ -s begun ]; do
	tries=$((tries + 1))
	[ $tries -lt 1000 ] || fail "no recording begins"
	sleep 0.02
done
tell emit 0 1 1
[ "$answer" = ok ] || fail "it is not on while it is recorded"
kill -KILL $other "$(cat begun)"
wait $other 2>/dev/null
other=
want 0 remote remove board
tell emit 0 2 2
[ "$answer" = off ] || fail "what a recorder had switched on stays on when it is removed"
refuse 1 remote remove ../board -- "there is no remote '../board'"
refuse 1 remote remove test -- "the remote 'test' is built in"
want 0 cat remotes
says 'second/
silent/
test/'

# What can only be read is its own affair to reset, and is empty behind it.
mine=
# Whoever may do anything may write there, too.
[ "$(id -u)" -ne 0 ] || mine='setpriv --inh-caps=-all --bounding-set=-dac_override'
want 0 write remotes/silent/tracing_on 1
tell emit 0 3 9
chmod 444 ram
# Words.
# shellcheck disable=SC2086
$mine "$RINGSIDE" reset >"$out" 2>"$err" && [ ! -s "$err" ] || fail "reset, where a memory can only be read"
want 0 cat remotes/silent/tracing_on
says 1
want 0 cat remotes/silent/trace
[ ! -s "$out" ] || fail "reset, where a memory can only be read: not empty"
chmod 644 ram

# Of one whose memory is not there any more it is told what is wrong; it can be removed.
rm two
want 0 remote list
sed -n '/^second$/,/^silent$/p' "$out" | grep -q '^  state .*two: No such file or directory$' || fail "not what is wrong"
refuse 1 cat remotes/second/trace -- 'No such file or directory'
want 0 remote remove second
end_board
want 0 remote remove silent
[ -z "$(ls "$RINGSIDE_DIR/remotes")" ] || fail "something is left: $(ls "$RINGSIDE_DIR/remotes")"

# The words of the manual, and of the help.
want 0 remote --help
grep -q 'ringside remote add board --mem' "$out" || fail "no help"
page=$RINGSIDE_SOURCE/doc/man/ringside-remote.1
for word in 'Cm add' 'Cm list' 'Cm remove' 'Fl -elf' 'Fl -mem' '31 at most' 'is not searched' 'UNKNOWN id='; do
	grep -qF -e "$word" "$page" || fail "the manual has no '$word'"
done
# Of a kernel's tree they are the kernel's own.
for words in '--kernel' '--tracefs .'; do
	# Words.
	# shellcheck disable=SC2086
	want 1 remote list $words
	grep -q "^ringside: a kernel's remotes are its own" "$err" || fail "no words: $words"
done
exit 0
