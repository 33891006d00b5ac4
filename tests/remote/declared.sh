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
	echo "REMOTE_EVENT(${3-event}, $2, RE_STRUCT($1), RE_PRINTK(${4-\"nothing\"}));" >events.h
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
compiles 're_field(u32, a) re_field(u64, b)' 1 event '"%s %llx", __print_symbolic(__entry->a >> 1, { 1, "x" }, { 2, "y" }), __entry->b' ||
	fail "what is shown"
compiles 're_field(u32, a)' 1 event '"%u", __entry->aa' && fail "a field that is not there is shown"
compiles 're_field(u32, a)' 1 event '"%s", __print_flags(__entry->aa, "|", { 1, "x" })' && fail "flags that are not there are shown"
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

# So do sizes that there are not, and a file of other pages than the writer's is not linked.
# makes OPTION...
makes() {
	# shellcheck disable=SC2086
	$CC -std=c11 -I"$RINGSIDE_SOURCE/fw" -I. '-DRINGSIDE_FW_PORT="whole_port.h"' "$@" >"$out" 2>"$err"
}
cat >whole_port.h <<'EOF'
#include "port.h"
#define PORT_CLOCK_HZ 1
typedef int port_irq_t;
static inline uint64_t port_clock(void) { return 0; }
static inline port_irq_t port_irq_save(void) { return 0; }
static inline void port_irq_restore(port_irq_t irq) { (void)irq; }
static inline void port_barrier(void) { }
static inline uint32_t port_cpu(void) { return 0; }
EOF
cat >user.c <<'EOF'
#include "ringside_fw.h"
int main(void) { const uint32_t word = 0; ringside_fw_write(&word, 1); return 0; }
EOF
fw=$RINGSIDE_SOURCE/fw/ringside_fw.c
for how in EVENTS=65535 EVENTS=1 RINGS=1024 FLAGS=RINGSIDE_FW_DISCARD PAGE_SHIFT=12 PAGES=2; do
	makes -c "$fw" -o writer.o "-DRINGSIDE_FW_$how" || fail "$how"
done
for how in EVENTS=65536 EVENTS=0 RINGS=1025 RINGS=0 FLAGS=2 PAGE_SHIFT=7 PAGE_SHIFT=13 PAGES=1 PAGES=12; do
	makes -c "$fw" -o writer.o "-DRINGSIDE_FW_$how" && fail "$how"
done
sed -i 's/BITS 64/BITS 48/' port.h
makes -c "$fw" -o writer.o && fail "a clock of 48 bits"
sed -i 's/BITS 48/BITS 64/' port.h
for shift in 8 9; do
	makes -c "$fw" -o writer.o -DRINGSIDE_FW_PAGE_SHIFT=$shift && makes -c user.c -o user.o -DRINGSIDE_FW_PAGE_SHIFT=9 ||
		fail "pages of $shift bits"
	makes user.o writer.o -o both && [ $shift = 8 ] && fail "two kinds of pages in one program"
	[ $shift = 8 ] || [ -x both ] || fail "one kind of pages: $(cat "$err")"
done
exit 0
