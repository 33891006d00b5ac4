#!/bin/sh
# Probes by name: every way to write a place and an argument, what is made of it, where debug information is looked for, what is said
# where there is none, and what is refused. That values are what they should be is told by probe_gdb.py and probe_perf.py.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"
. "$RINGSIDE_SOURCE/tests/cmd/tree.sh"

[ "$(uname -m)" = x86_64 ] || skip "probes are for x86-64"

cd "$RINGSIDE_SCRATCH" || exit 1
# The compiler alone: a sanitizer would change the program that is looked at.
cc=${CC%% *}
source=$RINGSIDE_SOURCE/tests/cmd/probe_shop.c
"$cc" -O0 -g "$source" -o shop 2>"$err" || fail "the shop does not compile"
[ "$(readelf -h shop | grep -c ELF64)" -eq 1 ] || skip "not for 64-bit code"
shop=$(realpath shop)

# The offset of a symbol: code is where it says in these files.
at() {
	nm "${2:-shop}" | awk -v name="$1" '$3 == name { sub(/^0*/, "", $1); print "0x" $1 }'
}

# Without debug information: symbols alone, and a word about the rest.
cp shop bare
strip -g bare
want 0 probe -x bare -D 'shop_place $arg1'
says "p:probe_bare/shop_place $RINGSIDE_SCRATCH/bare:$(at shop_place) arg1=%di"
# By the ABI's places, which every uprobe_events takes: it has no $arg1.
want 0 probe -x bare -D 'shop_place $arg6:u32 text=+0(+8($arg2)):string $arg7 $arg8:s64'
says "p:probe_bare/shop_place $RINGSIDE_SCRATCH/bare:$(at shop_place) arg6=%r9:u32 text=+0(+8(%si)):string arg7=+8(%sp) arg8=+16(%sp):s64"
refuse 1 probe -x bare -D 'shop_place+4 $arg1' -- '$arg1' 'first instruction'
refuse 1 probe -x bare -D 'shop_place $arg0' -- '$arg1'
refuse 1 probe -x bare -D 'shop_place $arg*' -- '$params'
refuse 1 probe -x bare -D 'shop_place%return $arg1' -- 'gone' 'kprobe_events'
refuse 1 probe -x bare --tracefs "$tree" -D 'shop_place%return +0($arg1)' -- 'gone'
! grep -q kprobe_events "$err" || fail "what the kernel does not have"
want 0 probe -x bare -D 'shop_place+4'
says "p:probe_bare/shop_place $RINGSIDE_SCRATCH/bare:$(printf '0x%x' $(($(at shop_place) + 4)))"
want 0 probe -x bare -D 'shop_place%return' '$retval' 'x=+8(%di):u64' '%sp' 'many=\5'
says "r:probe_bare/shop_place__return $RINGSIDE_SCRATCH/bare:$(at shop_place) retval=\$retval x=+8(%di):u64 sp=%sp many=\\5"
want 0 probe -x bare -F 'shop*'
says 'shop_place'
cat >waits.c <<'END'
#include <unistd.h>
int waits(void) { return alarm(60) || write(1, "\n", 1) < 0 || pause(); }
int main(void) { return waits(); }
END
"$cc" -O0 waits.c -o waits && mkfifo up || exit 1
./waits >up &
read -r _ <up
want 0 probe -P $! -F 'wait?'
kill $!
says waits
refuse 1 probe -P x -F -- "'x'"
refuse 1 probe -F -- -x
refuse 1 probe -x bare -D 'shop_place order' -- 'debug information' '$arg1'
refuse 1 probe -x bare -D shop_place:3 -- 'debug information'
refuse 1 probe -x bare -D probe_shop.c:90 -- 'debug information'
refuse 1 probe -x bare -V shop_place -- 'debug information'
refuse 1 probe -x bare -L shop_place -- 'debug information'
refuse 1 probe -x bare -D shop_place+100000 -- 'has only' bytes
refuse 1 probe -x bare -D nosuch -- 'has no function nosuch' -F
refuse 1 probe -x bare -D shop_plcae -- "did you mean"
grep -q "'shop_place'" "$err" || fail "not the nearest"
refuse 1 probe -x bare -D '' -- 'which place'
refuse 1 probe -x bare '' -- 'which place'
refuse 1 probe -x bare -a '' -- 'which place'
refuse 1 probe -x bare -D -a main -a '' -- 'which place'
# Of what has no names at all.
cp bare stripped && strip stripped || exit 1
refuse 1 probe -x stripped -D shop_place -- 'no function shop_place' stripped 0xADDRESS
refuse 1 probe -x stripped -F -- stripped
want 0 probe -x stripped -D "$(at shop_place)"
# Another machine's file (EM_AARCH64).
cp shop arm && printf '\267' | dd of=arm bs=1 seek=18 conv=notrunc 2>"$err" || exit 1
for how in -D -V -L -a; do
	refuse 1 probe -x arm $how shop_place -- 'is for aarch64, which this machine does not run'
done
want 0 probe -x arm -F 'shop_pl*'
says 'shop_place'
refuse 1 probe -x nosuch -D main -- nosuch 'No such file'
refuse 1 probe -x "$source" -D main -- probe_shop.c
refuse 1 probe -x . -D main -- regular
refuse 1 probe -D main -- -x
refuse 1 probe -P 999999999 -D main -- 999999999
refuse 1 probe -P x -D main -- "'x'"
cp bare 'with blanks'
refuse 1 probe -x "with blanks" -D main -- blanks
: >empty
refuse 1 probe -x empty -D main -- empty
"$RINGSIDE" probe -x shop -V main 2>&1 | grep -q 'not built in' && exit 0
refuse 1 probe -x bare -D shop_place:3 -- 'debug information' -g

# Where debug information is looked for: beside the file by its name there, and what debuginfod clients have fetched.
objcopy --only-keep-debug shop shop.debug && cp shop linked && strip -g linked && objcopy --add-gnu-debuglink=shop.debug linked || exit 1
want 0 probe -x linked -D 'many:4 all'
grep -q 'all=-[0-9]*(%[bs]p):s64$' "$out" || fail "not by its link"
mkdir .debug && mv shop.debug .debug/
want 0 probe -x linked -D 'many:4 all'
mkdir -p cache && id=$(readelf -n shop | sed -n 's/.*Build ID: //p')
mkdir "cache/$id" && mv .debug/shop.debug "cache/$id/debuginfo"
refuse 1 probe -x linked -D 'many:4 all' -- 'debug information'
DEBUGINFOD_CACHE_PATH=$PWD/cache
export DEBUGINFOD_CACHE_PATH
want 0 probe -x linked -D 'many:4 all'
unset DEBUGINFOD_CACHE_PATH
mkdir -p home/.cache/debuginfod_client && mv "cache/$id" home/.cache/debuginfod_client/
HOME=$PWD/home XDG_CACHE_HOME='' "$RINGSIDE" probe -x linked -D 'many:4 all' >"$out" 2>"$err" || fail "not in the cache"
# Another file's is not taken for it.
"$cc" -O1 -g "$source" -o other && objcopy --only-keep-debug other shop.debug || exit 1
refuse 1 probe -x linked -D 'many:4 all' -- 'debug information'
rm -f shop.debug

# Places.
want 0 probe -x shop -D shop_place
says "p:probe_shop/shop_place $shop:$(at shop_place)"
want 0 probe -x shop -D shop_place:0
says "p:probe_shop/shop_place $shop:$(at shop_place)"
want 0 probe -x shop -D "$(printf '0x%x' "$(at shop_place)")"
says "p:probe_shop/shop_place $shop:$(at shop_place)"
want 0 probe -x shop -D 'shop:ev=shop_place@probe_shop.c+4'
says "p:shop/ev $shop:$(printf '0x%x' $(($(at shop_place) + 4)))"
row=$(grep -n 'placed++;' "$source" | cut -d: -f1)
first=$(grep -n 'shop_place(struct order' "$source" | cut -d: -f1)
want 0 probe -x shop -D "probe_shop.c:$row"
sed 's/^p:[^ ]* //' "$out" >by_file
grep -q '^p:probe_shop/shop_place ' "$out" || fail "named for something else"
want 0 probe -x shop -D "shop_place:$((row - first))"
grep -q "^p:probe_shop/shop_place_L$((row - first)) " "$out" || fail "named for something else"
sed 's/^p:[^ ]* //' "$out" | cmp -s - by_file || fail "by file and by function are two places"
want 0 probe -x shop -D 'shop_place;placed++;'
sed 's/^p:[^ ]* //' "$out" | cmp -s - by_file || fail "by pattern it is another place"
want 0 probe -x shop -D 'one=probe_shop.c;*placed++*'
sed 's/^p:[^ ]* //' "$out" | cmp -s - by_file || fail "by pattern in a file it is another place"
want 0 probe -x shop -D 'ma*y'
says "p:probe_shop/many $shop:$(at many)"
want 0 probe -x shop -D -a main -a 'many a' -a 'x=both%return $retval'
[ "$(cut -d' ' -f1 "$out" | tr '\n' ' ')" = 'p:probe_shop/main p:probe_shop/many r:probe_shop/x ' ] || fail "three definitions"
grep -q ' retval=$retval:s32$' "$out" || fail "what is returned has no type"
want 0 probe -x shop -D 'shop_place%return $retval->customer->name:string r=$retval'
grep -q ' name=+0(+8(+8($retval))):string r=$retval:x64$' "$out" || fail "behind what is returned"
# A function that is nowhere but inlined, and in several places.
"$cc" -O2 -g "$source" -o fast || exit 1
want 0 probe -x fast -D weigh
[ "$(grep -c '^p:probe_fast/weigh ' "$out")" -ge 1 ] || fail "inlined instances"
refuse 1 probe -x fast -D weigh%return -- inlined
refuse 1 probe -x fast -D weigh+4 -- inlined

# Parameters by number, as debug information says that they are passed; the probe stays at the first instruction for them.
cat >given.c <<'END'
__attribute__((noinline)) long given(int a, double r, long b, char c, int d, short e, void *f, int seventh, long eighth, float x)
{ return a + b + c + d + e + (f != 0) + seventh + eighth + (long)(r + x); }
int main(int argc, char **argv) { return given(argc, 2., 3, 4, 5, 6, argv, 77, 88, 9.f) == 0; }
END
"$cc" -g -O0 given.c -o given || exit 1
want 0 probe -x given -D 'given $arg1 $arg3:s64 $arg7 $arg8:s32 $arg9'
says "p:probe_given/given $RINGSIDE_SCRATCH/given:$(at given given) arg1=%di arg3=%si:s64 arg7=%r9 arg8=+8(%sp):s32 arg9=+16(%sp)"
[ ! -s "$err" ] || fail "the probe was moved"
refuse 1 probe -x given -D 'given $arg2' -- 'parameter 2' 'no general register'
want 1 probe -x given -D 'given a $arg1'
grep -q 'first instruction,' "$err" || fail "behind the first instructions they may be gone"

# By another name than debug information has, and in another file than it is.
cat >alias.c <<'END'
int inner_name(int count) { return count + 1; }
int other_name(int count) __attribute__((alias("inner_name")));
int main(int argc, char **argv) { (void)argv; return other_name(argc) == 99; }
END
"$cc" -g -O2 -fno-inline alias.c -o alias || exit 1
want 0 probe -x alias -D 'other_name count'
says "p:probe_alias/other_name $RINGSIDE_SCRATCH/alias:$(at inner_name alias) count=%di:s32"
want 0 probe -x alias -D other_name:0
want 0 probe -x alias -V other_name
grep -q 'int	count' "$out" || fail "variables by another name"
want 0 probe -x alias -L other_name
grep -q 'return count + 1' "$out" || fail "lines by another name"
refuse 1 probe -x alias -D inner_name@nope.c -- 'is in' alias.c 'not in nope.c'
refuse 1 probe -x alias -D iner_name -- 'did you mean' -F
grep -q "'inner_name'" "$err" || fail "not the nearest"
refuse 1 probe -x alias -V othername -- 'did you mean'
grep -q "'other_name'" "$err" || fail "not the nearest of symbols"

# What is nowhere, and what has no members and no such element.
cat >sums.c <<'END'
struct order { long number; int items[4]; int grid[2][3]; int more[1]; };
volatile int sink;
__attribute__((noinline)) int sums(struct order *order, int n)
{
	int sum = 0, twice = 0;

	for (int i = 0; i < n; i++)
		sum += order->items[i];
	twice = n + 3;
	sink = sum;
	if (n > 3) {
		sink = n;
	}
	(void)twice;
	/* No code from here on. */
	return sum;

}
int main(int argc, char **argv) { struct order order = { 1, { argc }, { { 0 } }, { 0 } }; (void)argv; return sums(&order, argc) == 99; }
END
"$cc" -g -O2 sums.c -o sums || exit 1
refuse 1 probe -x sums -D 'sums n->x' -- int 'no members'
refuse 1 probe -x sums -D 'sums n.x' -- int 'no members'
refuse 1 probe -x sums -D 'sums%return $retval->sum' -- int 'no members'
refuse 1 probe -x sums -D 'sums order->items->x' -- 'int[4]' 'no members'
refuse 1 probe -x sums -D 'sums order->items[4]' -- 'has 4 elements'
refuse 1 probe -x sums -D 'sums order->items[-1]' -- 'has 4 elements'
refuse 1 probe -x sums -D 'sums order->grid[2][0]' -- 'has 2 elements'
refuse 1 probe -x sums -D 'sums order->grid[1][3]' -- 'has 3 elements'
want 0 probe -x sums -D 'sums order->items[3]' 'order->grid[1][2]' 'order->more[7]'
# A sum of others, where the compiler keeps it as no more than that.
line=0
while [ $line -lt 12 ]; do
	line=$((line + 1))
	"$RINGSIDE" probe -x sums -D "sums:$line twice" >"$out" 2>"$err" && continue
	grep -q 'is computed' "$err" || continue
	grep -q 'no place here that a probe can read' "$err" && grep -q -e -V "$err" || fail "not what to do"
	"$RINGSIDE" probe -x sums -V "sums:$line" >"$out"
	grep -q '	twice	(no value here)' "$out" || fail "-V takes a sum for a value"
done
# Its source to the last brace, also where that has no code.
want 0 probe -x sums -L sums
[ "$(tail -n 1 "$out")" = '         }' ] || fail "not to its last brace"
grep -q 'No code from here on' "$out" || fail "not what is before the brace"
[ "$(grep -c '' "$out")" -eq 17 ] || fail "more than the function"
want 0 probe -x sums -L sums:0-5
[ "$(grep -c '' "$out")" -eq 7 ] || fail "more than was asked for"
refuse 1 probe -x sums -L sums:50 -- 'line 50' 'sums'
refuse 1 probe -x sums -L sums.c:500 -- 'has only'

# Arguments.
want 0 probe -x shop -D 'many:4 $params'
grep -q ' a=[^ ]*:s32 b=[^ ]*:s64 c=[^ ]*:char d=[^ ]*:u8 e=[^ ]*:s16 f=[^ ]*:x64 seventh=[^ ]*:s32 eighth=[^ ]*:s64$' "$out" || fail "types"
want 0 probe -x shop -D 'many:4 $vars'
grep -q ' eighth=[^ ]* all=[^ ]*:s64$' "$out" || fail "all variables"
place=shop_place:$((row - first))
want 0 probe -x shop -D "$place" 'order->customer->name:string' 'other=order->customer->friend->name:string'
fail_if_not() { grep -Eq "$1" "$out" || fail "$2"; }
want 0 probe -x shop -D "$place" 'order->customer->id' 'customer->id' 'n=customer->id' 'letter:u' 'count:x' 'customer:u64'
fail_if_not ' id=[^ ]*:s32 customer_id=[^ ]*:s32 n=[^ ]*:s32 letter=[^ ]*:u8 count=[^ ]*:x32 customer=[^ ]*:u64$' "names and types"
want 0 probe -x shop -D "$place" 'order->customer->flags.level' 'order->code' 'order->matrix[1][2]' 'order->items[2].fragile' 'own=placed' 'order->state'
fail_if_not ' level=[^ ]*:b5@1/32 code=[^ ]*:char\[12\] matrix=[^ ]*:s32 fragile=[^ ]*:u8 own=@\+0x[0-9a-f]+:s32 state=[^ ]*:s32$' "members"

want 0 probe -x shop -D "$place" 'customer->flags.level:u32' 'few=customer->flags.level:u' 'customer->flags.balance:u8'
fail_if_not ' level=[^ ]*:b5@1/32 few=[^ ]*:b5@1/32 balance=[^ ]*:b8@6/32$' "bits with a type"
for type in s s32 x x32 char 'b4@0/32' 'u8[2]' symbol; do
	refuse 1 probe -x shop -D "$place customer->flags.level:$type" -- '5 bits' type
done
# Of a struct in a register the first member is a word; another is some bits of it. Clang tells of none at a function's entry.
if command -v gcc >/dev/null; then
	gcc -O2 -g "$source" -o held || exit 1
	want 0 probe -x held -D 'both pair.left pair.right l=pair.left:x32 u=pair.left:u r=pair.right:u32'
	fail_if_not ' left=%di:s32 right=%di:b32@32/64 l=%di:x32 u=%di:u32 r=%di:b32@32/64$' "members in a register"
	refuse 1 probe -x held -D 'both pair.right:s32' -- '32 bits' type
fi

# In C++: names with what they are in, base classes, references.
if command -v g++ >/dev/null; then
	cat >counter.cc <<'END'
namespace shop {
struct base { int number; virtual ~base() {} };
struct other { long second; };
struct shared { int all; };
class counter : public base, public other, public virtual shared {
public:
	int count;
	const char *name;
	int place(int n, const int &ref);
};
__attribute__((noinline)) int counter::place(int n, const int &ref) { count += n + ref; return count; }
}
int main(int argc, char **)
{
	shop::counter c;
	c.count = 1, c.number = 2, c.second = 4, c.name = "x", c.all = 5;
	return c.place(argc, argc) == 99;
}
END
	g++ -O2 -g counter.cc -o counter 2>"$err" || fail "counter does not compile"
	want 0 probe -x counter -D 'shop::counter::place this->count this->second this->name:string n ref'
	says "p:probe_counter/place $RINGSIDE_SCRATCH/counter:$(at _ZN4shop7counter5placeEiRKi counter) count=+24(%di):s32 second=+16(%di):s64 name=+0(+32(%di)):string n=%si:s32 ref=+0(%dx):s32"
	want 0 probe -x counter -D _ZN4shop7counter5placeEiRKi
	want 0 probe -x counter -D '*::counter::pl*'
	refuse 1 probe -x counter -D shop::place -- 'no function shop::place'
	refuse 1 probe -x counter -D 'place this->all' -- "no member 'all'" count
fi

# Refused, each in words that help.
p="probe -x $shop -D"
refuse 1 $p "$place nosuch" -- "no variable 'nosuch'" -V
refuse 1 $p "$place order.number" -- pointer '->'
refuse 1 $p "$place order->nosuch" -- "no member 'nosuch'" number
refuse 1 $p "$place order->customer" "order->number->x" -- 'no pointer' 'no members'
refuse 1 $p "$place order->customer->flags->vip" -- 'no pointer' 'write a point'
refuse 1 $p "$place order->code.x" -- 'no struct'
refuse 1 $p "$place order->customer->flags" -- struct vip
refuse 1 $p "$place order->items" -- 'items[0]'
refuse 1 $p "$place order->matrix" -- dimensions
refuse 1 $p "$place order->matrix[1]" -- dimensions
refuse 1 $p "$place order->code[x]" -- number
refuse 1 $p "$place order->hidden->x" -- members
refuse 1 $p "$place count:string" -- text
refuse 1 $p "$place order:string" -- char
refuse 1 $p "$place count:u33" -- 'u33' u64
refuse 1 $p "$place own" -- thread
refuse 1 $p "$place order->" -- member
refuse 1 $p "$place order+4" -- understood
refuse 1 $p "$place 5" -- '\5'
refuse 1 $p "$place a=count a=count" -- "called 'a'"
refuse 1 $p "$place 1a=count" -- "'1a'"
refuse 1 $p "$place a=" -- nothing
refuse 1 $p "$place \$retval" -- '%return'
refuse 1 $p "shop_place%return count" -- 'gone' 'entry'
refuse 1 $p shop_place%nosuch -- return
refuse 1 $p shop_place:x -- "'x'" LINE
refuse 1 $p shop_place+x -- "'x'"
refuse 1 $p shop_place:9999 -- 9999 -L
refuse 1 $p probe_shop.c:99999 -- 99999
refuse 1 $p nosuch.c:4 -- nosuch.c
refuse 1 $p probe_shop.c -- 'which line'
refuse 1 $p 'shop_place;' -- pattern
refuse 1 $p 'shop_place;nosuch' -- nosuch
refuse 1 $p 'a-b=shop_place' -- 'a-b'
refuse 1 $p 'a b:c=shop_place' -- a
refuse 1 $p 0x1 -- 'no code'
refuse 1 $p 'sdt_shop:order' -- 'no probes of its own'
refuse 1 $p "$place order->customer->friend->friend->friend->friend->friend->friend->friend->friend->friend->id" -- longer
refuse 2 probe -x "$shop" -- 'which place'
refuse 2 probe -d -- 'which probes'
refuse 2 probe -V -L main -- 'at a time'
refuse 2 probe -x "$shop" -P 1 main -- 'not both'

# What can be probed.
want 0 probe -x shop -V "$place"
fail_if_not '^Available variables at shop_place:' "its head"
for v in 'struct order\*	order' 'unsigned int	count' 'char\*\*	words' '_Bool	large' 'float	rate' 'struct customer\*	customer'; do
	fail_if_not "^		$v\$" "no $v"
done
want 0 probe -x shop -L shop_place
head -n 1 "$out" | grep -q "^<shop_place@$source:0>\$" || fail "its head"
fail_if_not "^ +$((row - first))  	placed\+\+;\$" "placed++ cannot be probed"
fail_if_not '^         	\}$' "a brace can be"
want 0 probe -x shop -L "shop_place:$((row - first))-$((row - first + 1))"
[ "$(grep -c . "$out")" -eq 3 ] || fail "not two lines"
want 0 probe -x shop -L "probe_shop.c:$row-$row"
[ "$(tail -n 1 "$out")" = "$(printf '%7d  \tplaced++;' "$row")" ] || fail "not that line"
refuse 1 probe -x shop -L nosuch -- nosuch
refuse 1 probe -x shop -L main:5-x -- x
refuse 1 probe -x shop -L main:9-3 -- behind
mkdir moved && cp "$source" moved/gone.c && (cd moved && "$cc" -g gone.c -o gone) && mv moved/gone.c . || exit 1
refuse 1 probe -x moved/gone -L many -- gone.c --source
want 0 probe -x moved/gone -L many --source .
refuse 1 probe -x moved/gone -D 'many;all*' -- gone.c --source
want 0 probe -x moved/gone -D 'many;all+=*' --source .
# What is named is looked at, and nothing else.
refuse 1 probe -x moved/gone -D 'many;all+=*' --source moved -- gone.c 'not in moved'
refuse 1 probe -x shop -L many --source /nonexistent -- probe_shop.c 'not in /nonexistent'

# Source that is no text: nothing is read without an end, or waited for; lines are where they are whatever bytes they have.
for file in /dev/zero "$PWD/up" "$PWD"; do
	printf '#line 1 "%s"\nint main(void)\n{\n\treturn 0;\n}\n' "$file" >strange.c
	"$cc" -g strange.c -o strange || exit 1
	refuse 1 probe -x strange -L main -- "$file" --source
	refuse 1 probe -x strange -D 'main;return*' -- "$file"
done
printf 'int main(void)\n{ /* \0 */\n\treturn 0;\n}\n' >nul.c
"$cc" -g -w nul.c -o nul || exit 1
want 0 probe -x nul -L main
fail_if_not '^ +2  	return 0;$' "lines behind a NUL are counted otherwise"
want 0 probe -x nul -D 'main:2'
sed 's/^p:[^ ]* //' "$out" >by_line
want 0 probe -x nul -D 'main;return*'
sed 's/^p:[^ ]* //' "$out" | cmp -s - by_line || fail "a pattern behind a NUL is at another place"

# Many functions are named, of which -L shows the first; and what a file calls them does not steer a terminal.
seq 5000 | sed 's/.*/int f&(void) { return &; }/' >thousands.c
"$cc" -g -shared -fPIC thousands.c -o thousands.so || exit 1
want 0 probe -x ./thousands.so -L 'f*'
refuse 1 probe -x ./thousands.so -D 'thousands.c;int*' -- '4096 lines'
refuse 1 probe -x ./thousands.so -D 'f*' -- '4096 places'
objcopy --redefine-sym "many=ma$(printf '\033')[2Jny" bare steering || exit 1
want 0 probe -x steering -F 'ma*ny'
says 'ma_[2Jny'

# What chooses a function is not that function.
cat >choose.c <<'END'
static int one(void) { return 1; }
static int (*resolve(void))(void) { return one; }
int chosen(void) __attribute__((ifunc("resolve")));
int main(void) { return chosen() != 1; }
END
if "$cc" choose.c -o choose 2>/dev/null; then
	refuse 1 probe -x choose -D chosen -- IFUNC -F
	want 0 probe -x choose -D one
fi

# Written to the tree's file, listed and removed: lines appended, names that are taken refused or numbered.
: >"$tree/uprobe_events"
t="--tracefs $tree"
# shellcheck disable=SC2086
{
want 0 probe $t -x shop 'shop_place:5 count'
fail_if_not 'probe_shop:shop_place_L5 \(on shop_place:5 in .*/shop with count\)' "what was added"
refuse 1 probe $t -x "$shop" 'shop_place:5 count' -- 'already' -d -f
want 0 probe $t -f -x shop 'shop_place:5 count'
want 0 probe $t -x shop 'mine:way=both%return' '$retval'
want 0 cat $t uprobe_events
[ "$(sed 's/ .*//' "$out" | tr '\n' ' ')" = 'p:probe_shop/shop_place_L5 p:probe_shop/shop_place_L5_1 r:mine/way ' ] || fail "what is there"
want 0 probe $t -x bare -D 'main $arg1 $arg2:u32'
fail_if_not ' arg1=%di arg2=%si:u32$' "arguments for the kernel"
want 0 probe $t -l
fail_if_not '^  probe_shop:shop_place_L5 +\(on shop_place:5@probe_shop.c in .*/shop with count\)$' "the first"
fail_if_not '^  mine:way +\(on both%return@probe_shop.c in .*/shop with retval\)$' "the last"
want 0 probe $t -l 'mine:*'
[ "$(grep -c . "$out")" -eq 1 ] || fail "more than one"
want 0 probe $t -d 'shop_pl*' mine:way
want 0 cat $t uprobe_events
[ "$(tail -n 3 "$out" | tr '\n' ' ')" = '-:probe_shop/shop_place_L5 -:probe_shop/shop_place_L5_1 -:mine/way ' ] || fail "not removed"
refuse 1 probe $t -d 'nosuch*' -- 'nosuch*' -l
}
exit 0
