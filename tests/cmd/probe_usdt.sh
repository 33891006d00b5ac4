#!/bin/sh
# Notes that files carry of probes of their own: by our header and by SystemTap's they are read alike, and as readelf and perf read them;
# listed, defined with semaphores, and looked for in files of known programs; damaged ones are no probes.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"

[ "$(uname -m)" = x86_64 ] || skip "for x86-64"
cd "$RINGSIDE_SCRATCH" || exit 1
source=$RINGSIDE_SOURCE/tests/cmd/probe_notes.c
include=-I$RINGSIDE_SOURCE/include
printf '#include <sys/sdt.h>\n' >has.c

# Definitions without the places, which differ from compiler to compiler.
shape() {
	sed -E 's/ [^ ]*:0x[0-9a-f]+\(0x[0-9a-f]+\)/ PLACE(SEMAPHORE)/; s/=[^ :]*:/=:/g' "$out"
}
wanted='p:sdt_shop/none PLACE(SEMAPHORE)
p:sdt_shop/order PLACE(SEMAPHORE) arg1=:s32 arg2=:s64 arg3=:u8 arg4=:s16 arg5=:u64
p:sdt_shop/order PLACE(SEMAPHORE) arg1=:s32 arg2=:s64 arg3=:u8 arg4=:s16 arg5=:u64'

check() {
	want 0 probe -x "./$1" -l
	says 'sdt_shop:none
sdt_shop:order'
	want 0 probe -x "./$1" -D 'sdt_shop:*'
	[ "$(shape)" = "$wanted" ] || fail "$1: $(shape)"
	# The places are those that readelf tells, as far as code and data are where their offsets say.
	sed -E 's/.*:0x([0-9a-f]+)\(.*/\1/' "$out" | sort >ours
	readelf -n "$1" | sed -nE 's/.*Location: 0x0*([0-9a-f]+),.*/\1/p' | sort | cmp -s - ours || fail "$1: readelf says other places"
	"./$1" >printed || fail "$1 does not run"
	[ ! -s printed ] || fail "$1: somebody listens"
}

compilers=
for cc in gcc clang g++ clang++; do
	command -v $cc >/dev/null && compilers="$compilers $cc"
done
for cc in $compilers; do
	case $cc in
	*++) lang='-x c++ -std=c++17' ;;
	*) lang='-std=c11 -pedantic -Wno-gnu-statement-expression' ;;
	esac
	# In shared code, too; and twice in one program, whose semaphore is one.
	for how in -O0 -O2 '-O2 -fPIE -pie' '-O1 -fno-pie -no-pie -Wl,-Ttext-segment=0'; do
		# shellcheck disable=SC2086
		$cc $lang $how -Wall -Wextra -Werror "$include" "$source" -o ours-$cc 2>"$err" || fail "$cc $how: does not compile"
		check ours-$cc
		! $cc -c has.c -o has.o 2>/dev/null || {
			# shellcheck disable=SC2086
			$cc -x c -DSDT ${how} "$source" -o theirs-$cc 2>"$err" || fail "$cc $how -DSDT"
			check theirs-$cc
		}
	done
done

# A nop that a jump fits in; one semaphore, however many sites.
objdump -d ours-gcc | grep -q '0f 1f 44 00 00' || fail "no nop of 5 bytes"
[ "$(nm ours-gcc | grep -c ringside_probe_shop_order_semaphore)" -eq 1 ] || fail "not one semaphore"
! readelf -d ours-gcc | grep -q libringside || fail "something was linked"

# By its other names, and what is refused.
want 0 probe -x ./ours-gcc -D %shop:none
grep -q '^p:sdt_shop/none ' "$out" || fail "by a percent sign"
want 0 probe -x ./ours-gcc -D mine:way=%sdt_shop:none
grep -q '^p:mine/way ' "$out" || fail "by another name"
refuse 1 probe -x ./ours-gcc -D sdt_shop:nosuch -- nosuch -l
refuse 1 probe -x ./ours-gcc -D 'sdt_shop:order arg1' -- 'arguments of its own'
refuse 1 probe -x /bin/sh -D sdt_shop:order -- 'no probes of its own'

# Arguments in variables, in parts of registers, and where no probe can go.
cat >odd.c <<'END'
int number = 7;
static volatile int own;
#define NOTE(name, args) __asm__ volatile("990: nop\n.pushsection .note.stapsdt,\"\",@note\n.balign 4\n.4byte 992f-991f,994f-993f,3\n" \
	"991: .asciz \"stapsdt\"\n992: .balign 4\n993: .8byte 990b,0,0\n.asciz \"odd\"\n.asciz \"" name "\"\n.asciz \"" args "\"\n" \
	"994: .balign 4\n.popsection")
int main(void)
{
	NOTE("places", "-4@number(%rip) 1@%ah 8@$-5 2@%r9w 4@-8(%rbp) 8@(%rax) -1@%sil 4@%r15d");
	NOTE("more", "8@8(%rax,%rbx,4) 4f@%xmm0 3@%rax 8@nosuch(%rip) 8@ @ 4@%zz 8@5(%rip) 4@%ecx");
	NOTE("twice", "4@own(%rip) 8@%r008 8@%r015 8@%r8");
	NOTE("two-words", "");
	NOTE("bad name", "");
	NOTE("", "");
	return own;
}
END
printf 'static volatile int own = 5;\nint other(void) { return own; }\n' >other.c
gcc -no-pie -Wl,-Ttext-segment=0 odd.c other.c -o odd 2>"$err" || gcc odd.c other.c -o odd || fail "odd does not compile"
want 0 probe -x ./odd -l
says 'sdt_odd:more
sdt_odd:places
sdt_odd:twice
sdt_odd:two_words'
number=$(nm odd | awk '$3 == "number" { print $1 }' | sed 's/^0*//')
want 0 probe -x ./odd -D sdt_odd:places
[ "$(sed 's/^[^ ]* [^ ]* //' "$out")" = "arg1=@+0x$number:s32 arg2=%ax:b8@8/16 arg3=\\-5:u64 arg4=%r9:u16 arg5=-8(%bp):u32 arg6=+0(%ax):u64 arg7=%si:s8 arg8=%r15:u32" ] ||
	fail "other places"
want 0 probe -x ./odd -D sdt_odd:more
[ "$(sed 's/^[^ ]* [^ ]* //' "$out")" = "arg9=%cx:u32" ] || fail "what cannot be fetched"
grep -q '8 arguments are left out' "$err" || fail "left out without a word"
want 0 probe -x ./odd -D sdt_odd:twice
[ "$(sed 's/^[^ ]* [^ ]* //' "$out")" = "arg4=%r8:u64" ] || fail "one of two, or no register"

# Sections that were moved after linking: notes still tell of the places before.
objcopy --change-section-address .stapsdt.base+0x10 ours-gcc moved 2>/dev/null
before=$("$RINGSIDE" probe -x ./ours-gcc -D %shop:none | sed -E 's/.*:(0x[0-9a-f]+)\(.*/\1/')
after=$("$RINGSIDE" probe -x ./moved -D %shop:none | sed -E 's/.*:(0x[0-9a-f]+)[ (]?.*/\1/')
[ $((after - before)) -eq 16 ] || fail "moved from $before to $after"

# Damaged notes are none, whatever bytes they are.
python3=$(command -v python3) && cat >damage.py <<'END'
import os, random, subprocess, sys
whole = open("ours-gcc", "rb").read()
at = whole.find(b"stapsdt\0") - 12
assert at > 0
random.seed(3)
for i in range(150):
    bytes_ = bytearray(whole)
    for _ in range(random.choice((1, 2, 8, 40))):
        bytes_[at + random.randrange(300)] = random.choice((0, 1, 3, 4, 8, 0x7f, 0x80, 0xff, random.randrange(256)))
    open("damaged", "wb").write(bytes_)
    done = subprocess.run([os.environ["RINGSIDE"], "probe", "-x", "./damaged", "-D", "sdt_*:*"], capture_output=True, timeout=20)
    if done.returncode not in (0, 1):
        sys.exit("ends with %d: %s" % (done.returncode, done.stderr))
END
[ -z "$python3" ] || "$python3" damage.py >"$out" 2>&1 || fail "damaged notes"

# As perf reads them; it leaves out constants.
if command -v perf >/dev/null && perf probe -x ./ours-gcc -D %sdt_shop:order >perf.out 2>/dev/null && [ -s perf.out ]; then
	want 0 probe -x ./ours-gcc -D sdt_shop:order
	sed -E 's/ [a-z0-9]+=\\[^ ]*//g' "$out" | sort >ours
	sort perf.out | cmp -s - ours || fail "perf says: $(cat perf.out)"
fi

# Of programs that are known.
want 0 start
"$RINGSIDE" record -q -o x.dat -p function ./ours-gcc >/dev/null 2>&1 || exit 0
want 0 list --sdt 'shop:o*'
[ "$(cat "$out")" = "sdt_shop:order [$(realpath ours-gcc)]" ] || fail "list --sdt"
want 0 list --sdt --json 'sdt_shop:none'
says "{\"system\":\"sdt_shop\",\"event\":\"none\",\"file\":\"$(realpath ours-gcc)\"}"
want 0 probe -D sdt_shop:none
grep -q "^p:sdt_shop/none $(realpath ours-gcc):" "$out" || fail "not found among known files"
refuse 2 list --sdt -e -- --sdt
exit 0
