#!/bin/sh
# Members of what parameters point to, by debug information, in the kernel's grammar: NAME->MEMBER.MEMBER of any function that has some.
# Of nested structures, unions and structures without a name, bits, texts, what another unit defines, and of what is returned; as old
# and new compilers tell it. What is not there is refused where the kernel's caret is, and the line means the same when the file is gone.
. "$RINGSIDE_SOURCE/tests/probe/room.sh"

# The records of an event, their places aside: say EVENT TEXT
say() {
	records "$1" | sed 's/^([^)]*) //' >"$out"
	says "$2"
}

cat >desk.h <<'END'
struct purse;
struct customer {
	const char *name;
	char town[12];
	struct purse *purse;
};
typedef struct customer customer_type;
struct order {
	long id;
	struct { short row, shelf; } where;
	union { unsigned int colour; unsigned char mark; };
	unsigned int kind : 3, left : 7, : 4, paid : 1;
	signed char grade;
	const customer_type *customer;
	struct order *next;
};
long desk_take(struct order *order, int n);
struct order *desk_next(struct order *order);
struct purse *desk_purse(long cents);
END
cat >desk.c <<'END'
#include "desk.h"

#define FUNCTION __attribute__((noinline, noclone))

FUNCTION long desk_take(struct order *order, int n)
{
	__asm__ volatile("" : : : "memory");
	return order->id + n;
}

FUNCTION struct order *desk_next(struct order *order)
{
	__asm__ volatile("" : : : "memory");
	return order->next;
}

int main(void)
{
	struct customer ann = { "ann", "Aachen", desk_purse(1234) };
	struct order last = { .id = 9, .customer = &ann };
	struct order first = { .id = 7, .where = { -3, 12 }, .colour = 0xa1b2c3d4, .kind = 5, .left = 101, .paid = 1, .grade = -2,
			       .customer = &ann, .next = &last };

	/* The compiler may know that nobody looks. */
	__asm__ volatile("" : : "r"(&ann), "r"(&last), "r"(&first) : "memory");
	return desk_take(&first, 3) + desk_next(&first)->id != 19;
}
END
cat >purse.c <<'END'
#include "desk.h"

struct purse {
	int coins[3];
	long cents;
};

struct purse *desk_purse(long cents)
{
	static struct purse purse;

	purse.cents = cents;
	return &purse;
}
END

for version in 5 4; do
	# CC is a command line.
	# shellcheck disable=SC2086
	$CC -O1 -gdwarf-$version desk.c purse.c -o desk$version || exit 1
	want 0 reset
	run ./desk$version
	want 0 list -f 'desk_*'
	put kprobe_events "p:take desk$version:desk_take id=order->id row=order->where.row shelf=order->where.shelf:x16 colour=order->colour:x32 \
mark=order->mark kind=order->kind left=order->left paid=order->paid grade=order->grade \
who=order->customer->name:string town=order->customer->town:string cents=order->customer->purse->cents deep=+0(order->customer->name):string n"
	put dynamic_events "f:next desk$version:desk_next%return id=\$retval->id who=\$retval->customer->name:string"
	want 0 cat dynamic_events
	grep -q "^p:kprobes/take desk$version:desk_take id=order->id row=order->where.row " "$out" || fail "the line reads otherwise"
	want 0 cat events/kprobes/take/format
	for text in 's64 id;' 's16 row;' 'u16 shelf;' 'u32 colour;' 'u8 mark;' 's8 grade;' '__data_loc char[] who;' 's64 cents;' 's32 n;'; do
		grep -qF "field:$text" "$out" || fail "its format does not say '$text'"
	done
	want 0 write events/kprobes/enable 1
	want 0 write events/fprobes/enable 1
	want 0 clear
	run ./desk$version
	say take 'id=7 row=-3 shelf=0xc colour=0xa1b2c3d4 mark=212 kind=5 left=101 paid=1 grade=-2 who="ann" town="Aachen" cents=1234 deep="ann" n=3'
	say next 'id=9 who="ann"'
done

# ---- what is refused ----

# What is wrong is at the place of a text in the line: caret MESSAGE TEXT
caret() {
	refuse 1 write -a dynamic_events "f:bad desk4:desk_take $2" -- ''
	want 0 cat error_log
	tail -n 3 "$out" >last
	grep -qF "error: $1" last || fail "$2: it does not say '$1'"
	awk -v text="$3" '/Command: / { at = index($0, text) } END { exit index($0, "^") != at }' last || fail "$2: the caret is elsewhere"
}
caret 'This field is not found.' 'order->nothing' nothing
caret 'This field is not found.' 'order->customer->nothing' nothing
caret 'This field is not found.' 'order->where.nothing' nothing
caret 'This is not a pointer to union/structure.' 'n->id' 'id'
caret 'This is not a pointer to union/structure.' 'order->id->row' row
caret 'This is not a pointer to union/structure.' 'order->where->row' row
caret 'This is not a pointer to union/structure.' 'order->customer.name' name
caret "Failed to parse single hyphen. Forgot '>'?" 'order->customer-name' -name
caret 'This type does not fit for string.' 'order->id:string' order

# ---- for ever ----

mv desk4 gone
"$RINGSIDE" cat dynamic_events >before
want 0 write -a dynamic_events 'e:open syscalls/sys_enter_openat'
want 0 cat dynamic_events
grep -v '^e:' "$out" | cmp -s before - || fail "lines are others since the file is gone"
mv gone desk4
want 0 clear
run ./desk4
say next 'id=9 who="ann"'
exit 0
