#!/bin/sh
# What `meson install` lays down is enough for a stranger: pkg-config finds it, a program compiles
# against each library in its shared and in its static form, and runs; the man pages are there.

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
