#!/bin/sh
# What `meson install` lays down is enough for a stranger: pkg-config finds it, a program compiles
# against each library in its shared and in its static form, and runs; so does one that brings a remote, with the
# firmware's writer in it, which also compiles for a firmware; the man pages are there.

set -eu
root=$RINGSIDE_SCRATCH/root
meson install -C "$RINGSIDE_BUILD" --no-rebuild --quiet --destdir "$root"

PKG_CONFIG_LIBDIR=$(dirname "$(find "$root" -name ringside.pc)")
export PKG_CONFIG_LIBDIR PKG_CONFIG_SYSROOT_DIR="$root"
libdir=$(dirname "$PKG_CONFIG_LIBDIR")
cflags=$(pkg-config --cflags ringside)
libs=$(pkg-config --libs ringside)

cd "$RINGSIDE_SCRATCH"
cat >use.c <<-'EOF'
	#include <ringside/event.h>

	RINGSIDE_EVENT(stranger, here, field(int, number));

	int main(void)
	{
		trace_stranger_here(1);
		return 0;
	}
EOF
# The flags are lists of words.
# shellcheck disable=SC2086
{
	$CC -std=c11 -Wall -Wextra -Werror $cflags use.c -o use-shared $libs
	$CC -std=c11 -Wall -Wextra -Werror $cflags use.c -o use-static "$libdir/libringside.a"
}
command=$(find "$root" -path '*/bin/ringside')
"$command" start -e stranger
LD_LIBRARY_PATH=$libdir ./use-shared
./use-static
[ "$("$command" show | grep -c 'here: number=1')" -eq 2 ] || {
	echo 'FAIL not every program was traced:'
	"$command" show
	exit 1
}
readelf -d use-shared | grep -q 'NEEDED.*libringside.so.0'
if readelf -d use-static | grep -q libringside; then
	echo 'FAIL the static program needs the shared library'
	exit 1
fi

# The same for the control library.
cat >control.c <<-'EOF'
	#include <ringside/control.h>
	#include <stdio.h>

	int main(void)
	{
		struct ringside_control *tree;
		int r = ringside_control_open(&tree, NULL, 0);

		if (!r)
			r = ringside_control_mark(tree, NULL, "installed");
		if (r)
			fprintf(stderr, "%s\n", ringside_control_error(tree));
		ringside_control_close(tree);
		return r != 0;
	}
EOF
cflags=$(pkg-config --cflags ringside-control)
libs=$(pkg-config --libs ringside-control)
# shellcheck disable=SC2086
{
	$CC -std=c11 -Wall -Wextra -Werror $cflags control.c -o control-shared $libs
	$CC -std=c11 -Wall -Wextra -Werror $cflags control.c -o control-static \
		"$libdir/libringside-control.a" -lpthread
}
LD_LIBRARY_PATH=$libdir ./control-shared
./control-static
[ "$("$command" show | grep -c 'mark_write: installed')" -eq 2 ] || {
	echo 'FAIL not every program has marked:'
	"$command" show
	exit 1
}
readelf -d control-shared | grep -q 'NEEDED.*libringside-control.so.0'
if readelf -d control-static | grep -q libringside; then
	echo 'FAIL the static program needs the shared library'
	exit 1
fi

# A program that brings a remote compiles the firmware's writer, which pkg-config knows the place of.
fwdir=$(pkg-config --variable=fwdir ringside-control)
[ "$fwdir" = "$(pkg-config --variable=fwdir ringside)" ] || {
	echo 'FAIL two places of the writer'
	exit 1
}
# Where all is under another root, not every pkg-config says so in variables.
case $fwdir in
"$root"*) ;;
*) fwdir=$root$fwdir ;;
esac
(cd "$RINGSIDE_SOURCE/fw" && find . -type f) >files
while read -r file; do
	cmp "$RINGSIDE_SOURCE/fw/$file" "$fwdir/$file"
done <files
mkdir remote
cat >remote/box_events.h <<-'EOF'
	REMOTE_EVENT(opened, 3, RE_STRUCT(re_field(u32, times)), RE_PRINTK("times=%u", __entry->times));
EOF
cat >remote/box.c <<-'EOF'
	#define RINGSIDE_FW_HOSTED
	#define REMOTE_EVENT_INCLUDE_FILE box_events.h
	#include "remote_events.h"
	#include "box_events.h"
	#include "define_remote_events.h"

	#include <ringside/remote.h>
	#include <stdio.h>

	static struct ringside_fw_hosted fw;

	static int load(unsigned long size, struct ringside_control_remote_buffer *buffer, void *priv)
	{
		struct ringside_control_remote_how how = { .size = size, .nr_cpus = 1 };
		int r = ringside_control_remote_alloc_buffer(buffer, &how);

		(void)priv;
		return r ? r : ringside_fw_hosted_open(&fw, buffer->memory, buffer->size);
	}

	static void unload(const struct ringside_control_remote_buffer *buffer, void *priv)
	{
		(void)priv;
		ringside_control_remote_free_buffer(buffer);
	}

	int main(void)
	{
		static const struct ringside_control_remote_callbacks callbacks = {
			.load_trace_buffer = load,
			.unload_trace_buffer = unload,
		};
		static const struct ringside_fw_text *const events[] = { &remote_event_opened };
		struct ringside_control_remote *remote = NULL;
		struct ringside_control *tree;
		char *text = NULL;
		int r = ringside_control_open(&tree, NULL, RINGSIDE_CONTROL_CREATE);

		if (!r)
			r = ringside_control_remote_register(&remote, tree, "box", &callbacks, NULL, events, 1);
		if (!r)
			r = ringside_control_file_write(tree, NULL, "remotes/box/events/enable", "1");
		if (!r)
			r = ringside_control_file_write(tree, NULL, "remotes/box/tracing_on", "1");
		if (!r)
			trace_opened(&fw, 0, 42);
		if (!r)
			r = ringside_control_file_read(tree, NULL, "remotes/box/trace", &text, NULL);
		puts(r ? ringside_control_error(tree) : text);
		ringside_control_remote_unregister(remote);
		ringside_control_close(tree);
		return r != 0;
	}
EOF
# shellcheck disable=SC2086
{
	$CC -std=c11 -Wall -Wextra -Werror $cflags -Iremote "-I$fwdir" remote/box.c "$fwdir/hosted.c" -o box-shared $libs
	$CC -std=c11 -Wall -Wextra -Werror $cflags -Iremote "-I$fwdir" remote/box.c "$fwdir/hosted.c" -o box-static \
		"$libdir/libringside-control.a" -lpthread
}
for form in shared static; do
	LD_LIBRARY_PATH=$libdir "./box-$form" | grep -q ': opened times=42$' || {
		echo "FAIL the $form program does not bring a remote"
		exit 1
	}
done

# And a firmware, with the same event, where there is a compiler for one.
cat >remote/firmware.c <<-'EOF'
	#define REMOTE_EVENT_INCLUDE_FILE box_events.h
	#include "remote_events.h"
	#include "box_events.h"
	#include "define_remote_events.h"

	void open_box(uint32_t times)
	{
		trace_opened(times);
	}
EOF
firmware() {
	compiler=$1 port=$2
	shift 2
	if ! command -v "$compiler" >/dev/null; then
		echo "no firmware is compiled for $port: no $compiler"
		return
	fi
	for file in "$fwdir/ringside_fw.c" remote/firmware.c; do
		"$compiler" "$@" -std=c11 -Wall -Wextra -Werror -Os -ffreestanding "-DRINGSIDE_FW_PORT=\"ports/$port.h\"" -Iremote "-I$fwdir" \
			-c "$file" -o "remote/$port-$(basename "$file" .c).o"
	done
	readelf -SW "remote/$port-firmware.o" | grep -q ringside_events || {
		echo "FAIL the firmware for $port has no texts"
		exit 1
	}
}
firmware arm-none-eabi-gcc cortex-m3 -mcpu=cortex-m3 -mthumb -DPORT_CLOCK_HZ=120000000
firmware arm-none-eabi-gcc cortex-m0plus -mcpu=cortex-m0plus -mthumb -DPORT_CLOCK_HZ=48000000
firmware aarch64-linux-gnu-gcc aarch64 -mgeneral-regs-only
firmware riscv64-unknown-elf-gcc riscv32 -march=rv32imac_zicsr -mabi=ilp32 -DPORT_CLOCK_HZ=10000000

# And for the one that reads files, in its static form with all that pkg-config says it needs.
cat >read.c <<-'EOF'
	#include <ringside/dat.h>
	#include <stdio.h>

	int main(int argc, char **argv)
	{
		struct ringside_dat *file;
		int r = ringside_dat_open(&file, argv[argc - 1]);

		printf("%s\n", r ? ringside_dat_error(file) : ringside_dat_about(file)->uname);
		ringside_dat_close(file);
		return r != 0;
	}
EOF
PKG_CONFIG_PATH=$(pkg-config --variable pc_path pkg-config)
export PKG_CONFIG_PATH
cflags=$(pkg-config --cflags ringside-dat)
libs=$(pkg-config --libs ringside-dat)
static=$(pkg-config --static --libs ringside-dat | sed "s|-lringside-dat|$libdir/libringside-dat.a|")
# shellcheck disable=SC2086
{
	$CC -std=c11 -Wall -Wextra -Werror $cflags read.c -o read-shared $libs
	$CC -std=c11 -Wall -Wextra -Werror $cflags read.c -o read-static $static
}
recorded=$RINGSIDE_SOURCE/tests/data/dat/mixed.v7.dat
for form in shared static; do
	LD_LIBRARY_PATH=$libdir "./read-$form" "$recorded" | grep -q '^Linux' || {
		echo "FAIL the $form program does not read $recorded"
		exit 1
	}
done
readelf -d read-shared | grep -q 'NEEDED.*libringside-dat.so.0'
if readelf -d read-static | grep -q libringside; then
	echo 'FAIL the static program needs the shared library'
	exit 1
fi

version=$(pkg-config --modversion ringside)
header=$(awk '/^#define RINGSIDE_(MAJOR|MINOR|PATCH) / { v = v "." $3 } END { print v }' \
	"$RINGSIDE_SOURCE/include/ringside/ringside.h")
if [ "$("$command" --version)" != "ringside $version" ] || [ "$header" != ".$version" ] ||
   [ "$(pkg-config --modversion ringside-control)" != "$version" ] ||
   [ "$(pkg-config --modversion ringside-dat)" != "$version" ]; then
	echo "FAIL header ($header), command and pkg-config do not all have version $version"
	exit 1
fi
for page in "$RINGSIDE_SOURCE"/doc/man/*.[1-8]; do
	[ -n "$(find "$root" -path "*/man?/$(basename "$page")*")" ] || {
		echo "FAIL $(basename "$page") is not installed"
		exit 1
	}
done
for header in "$RINGSIDE_SOURCE"/include/ringside/*; do
	[ -e "$(find "$root" -path "*/include/ringside/$(basename "$header")")" ] || {
		echo "FAIL $(basename "$header") is not installed"
		exit 1
	}
done
for file in bash-completion/completions/ringside zsh/site-functions/_ringside; do
	[ -s "$(find "$root" -path "*/share/$file")" ] || {
		echo "FAIL $file is not installed"
		exit 1
	}
done
