#!/bin/sh
# Events that could not be shown, or written, do not compile; what is just within the bounds does.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"

cd "$RINGSIDE_SCRATCH" || exit 1
cat >port.h <<'EOF'
#define PORT_CLOCK_BITS 64
#define PORT_SECTION
EOF
cat >texts.c <<'EOF'
#define RINGSIDE_FW_PORT "port.h"
#define RINGSIDE_FW_PAGE_SHIFT 8
#define REMOTE_EVENT_INCLUDE_FILE events.h
#include "remote_events.h"
enum color { RED };
#include "events.h"
#include "define_remote_events.h"
EOF

# compiles FIELDS ID: an event with these
compiles() {
	echo "REMOTE_EVENT(${3-event}, $2, RE_STRUCT($1), RE_PRINTK(\"nothing\"))" >events.h
	# CC is a command line.
	# shellcheck disable=SC2086
	$CC -std=c11 -I"$RINGSIDE_SOURCE/fw" -I. -c texts.c -o texts.o >"$out" 2>"$err"
}

long=a23456789012345678901234567890
compiles 're_field(u32, a)' 31 || fail "an event"
compiles "re_field(u32, ${long}1)" 31 || fail "a name of 31 letters"
compiles "re_field(u32, ${long}12)" 31 && fail "a field's name of 32 letters"
compiles 're_field(unsigned short int const volatile, a)' 31 && fail "a type of 33 letters"
compiles 're_field(u32, a)' 31 "${long}12" && fail "an event's name of 32 letters"
compiles 're_field(u32, a)' 32 && fail "an ID that has no bit"
compiles 're_field(u32 *, a) re_field(char, b) re_field(_Bool, c) re_field(enum color, d)' 1 || fail "types"
fields=
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26; do
	fields="$fields re_field(u64, f$i)"
done
many=
for i in 1 2 3 4; do
	for j in 1 2 3 4 5 6 7 8 9 a b c d e f g; do
		many="$many re_field(u8, f$i$j)"
	done
done
compiles "$many" 1 || fail "64 fields"
compiles "$many re_field(u8, more)" 1 && fail "65 fields"
compiles 're_field(struct { u64 a, b; }, a)' 1 && fail "a field that is no number"
compiles "$fields" 1 || fail "26 words of 8 bytes"
compiles "$fields re_field(u64, more)" 1 && fail "a record that no page has room for"
exit 0
