#!/bin/sh
# The writer and the examples compile without a warning for each kind of processor that has a port, with both compilers, however
# much they optimize; what comes of it needs no library, and the events' texts take no memory on the target.
fail() {
	echo "FAIL: $*"
	exit 1
}

firmware=$RINGSIDE_SOURCE/examples/firmware
fw=$RINGSIDE_SOURCE/fw
out=$RINGSIDE_SCRATCH
strict='-Wall -Wextra -Wpedantic -Wshadow -Wundef -Wstrict-prototypes -Wmissing-prototypes -Wvla -Werror'
for tool in arm-none-eabi-gcc aarch64-linux-gnu-gcc riscv64-unknown-elf-gcc clang; do
	command -v $tool >/dev/null || { echo "skip: $tool is not installed"; exit 77; }
done

# compile FOLDER COMPILER OPTION...: each file by itself.
compile() {
	folder=$1
	shift
	for source in "$fw/ringside_fw.c" "$firmware/main.c" "$firmware/$folder/board.c"; do
		for level in -Os -O2 ${RINGSIDE_LONG:+-O0 -O1 -O3}; do
			# $strict is a list of words.
			# shellcheck disable=SC2086
			"$@" $level -std=c11 -ffreestanding $strict -DRINGSIDE_FW_PORT='"port.h"' -I"$firmware/$folder" -I"$firmware" -I"$fw" \
				-c "$source" -o "$out/part.o" || fail "$* $level $source"
		done
	done
}

for core in m0plus m3 m4 m7 m33; do
	compile mps2-an385 arm-none-eabi-gcc -mcpu=cortex-$core -mthumb
	compile mps2-an385 clang --target=arm-none-eabi -mcpu=cortex-$core -mthumb
done
compile mps2-an385 arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -mbig-endian
for order in little big; do
	compile aarch64-virt aarch64-linux-gnu-gcc -DRINGSIDE_FW_RINGS=2 -mgeneral-regs-only -mstrict-align -m$order-endian
done
compile aarch64-virt clang -DRINGSIDE_FW_RINGS=2 --target=aarch64-none-elf -mgeneral-regs-only -mstrict-align
compile aarch64-virt clang -DRINGSIDE_FW_RINGS=2 --target=aarch64_be-none-elf -mgeneral-regs-only -mstrict-align
compile riscv32-virt riscv64-unknown-elf-gcc -march=rv32imac_zicsr -mabi=ilp32
compile riscv32-virt clang --target=riscv32-unknown-elf -march=rv32imac -mabi=ilp32

for compiler in g++ clang++; do
	$compiler -std=c++17 -Wall -Wextra -pedantic-errors -Werror -I"$RINGSIDE_SOURCE" -c "$RINGSIDE_SOURCE/tests/remote/in_cpp_bare.cc" \
		-o "$out/part.o" || fail "C++ with $compiler"
done

# link BOARD READELF: the whole of it by its script, which is where a library would be missed.
link() {
	board=$1 readelf=$2
	shift 2
	"$firmware/build" "$board" "$out" -Werror "$@" || fail "$board is not built"
	elf=$out/$board.elf
	$readelf -SW "$elf" | awk '$2 == "ringside_events" || $3 == "ringside_events" { found = 1; for (i = 1; i < NF; i++) if ($i == "PROGBITS") flags = $(i + 5) }
		END { exit !(found && flags !~ /A/) }' || fail "$board: the texts of events are loaded, or not there"
	[ -z "$($readelf -sW "$elf" | awk '$7 == "UND" && $8 != ""')" ] || fail "$board: something is undefined"
}

unset FIRMWARE_CC
link mps2-an385 arm-none-eabi-readelf
link mps2-an385-m0plus arm-none-eabi-readelf
link aarch64-virt aarch64-linux-gnu-readelf
link aarch64-virt-be aarch64-linux-gnu-readelf
link riscv32-virt riscv64-unknown-elf-readelf
"$firmware/build" aarch64-virt "$out" -DRINGSIDE_FW_RINGS=1 2>/dev/null && fail "two cores with one ring"
"$firmware/run" aarch64-virt "$out/nothing.elf" "$out/ram" 2>"$out/words" && fail "no firmware runs"
grep -q 'there is no .*/nothing.elf' "$out/words" && [ ! -e "$out/ram" ] || fail "without firmware: $(cat "$out/words")"
FIRMWARE_CC='clang --target=arm-none-eabi --ld-path=/usr/bin/arm-none-eabi-ld'
export FIRMWARE_CC
link mps2-an385 arm-none-eabi-readelf
FIRMWARE_CC='clang --target=aarch64-linux-gnu'
link aarch64-virt aarch64-linux-gnu-readelf -Wno-unused-command-line-argument
FIRMWARE_CC='clang --target=riscv32-unknown-elf --ld-path=/usr/bin/riscv64-unknown-elf-ld'
link riscv32-virt riscv64-unknown-elf-readelf -Wl,-m,elf32lriscv
