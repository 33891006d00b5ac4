#!/bin/sh
# What the writer takes of a Cortex-M3: of its code, of its RAM, and of instructions for an event, as `./do bench firmware` measures it. All of
# these are the same every time.
cd "$RINGSIDE_SOURCE" || exit 1
rows="$RINGSIDE_SCRATCH/rows"

fail() {
	echo "FAIL: $*" >&2
	exit 1
}

# at_most NAME NUMBER
at_most() {
	value=$(awk -v name="$1" '$1 == name { print $2 }' "$rows")
	[ -n "$value" ] || fail "$1 was not measured"
	echo "$1 $value"
	awk -v value="$value" -v most="$2" 'BEGIN { exit !(value > 0 && value <= most) }' || fail "$1 is $value and not $2 at most"
}

command -v arm-none-eabi-gcc >/dev/null || {
	echo "arm-none-eabi-gcc is not installed"
	exit 77
}
bench/firmware/measure sizes "$RINGSIDE_SCRATCH" >"$rows" || fail "sizes are not measured"
at_most fw_m3_write_bytes 256
at_most fw_m3_whole_bytes 1024
at_most fw_m3_ring_ram_bytes 64

command -v qemu-system-arm >/dev/null || {
	echo "qemu-system-arm is not installed: sizes are right, instructions were not counted"
	exit 77
}
bench/firmware/measure instructions "$RINGSIDE_SCRATCH" >"$rows" || fail "instructions are not counted"
at_most fw_m3_event_16_instructions 100
at_most fw_m3_event_4_instructions 100
# One that is off is a bit that is looked at.
at_most fw_m3_event_off_instructions 5
