#!/bin/sh
# The one entry to everything: ./do VERB [ARGUMENT...]. `./do help` lists the verbs.
#
# A verb first installs the Debian packages it misses, by name; it says so on stderr, and says and
# does nothing when all are there. Then it builds with Meson into build/ and does its work. Words
# of this script go to stderr, so that stdout belongs to what the verb runs.

set -eu
cd "$(dirname "$0")"
# Debian's own meson and python come first, whatever else the person has put in the PATH.
PATH=/usr/bin:/bin:/usr/sbin:/sbin:$PATH
export PATH

pkgs_build='gcc libc6-dev meson ninja-build pkg-config libfuse3-dev fuse3
	libzstd-dev zlib1g-dev libzydis-dev libdw-dev libssl-dev'
pkgs_quick="$pkgs_build g++ mandoc python3"
# gcc-12-multilib and not gcc-multilib: the latter cannot be installed beside a cross compiler.
pkgs_check="$pkgs_quick clang libclang-rt-14-dev gcc-12-multilib valgrind spin
	gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-arm-linux-gnueabihf libc6-dev-armhf-cross gcc-arm-none-eabi gcc-riscv64-unknown-elf
	qemu-user qemu-system-arm qemu-system-misc qemu-system-x86 e2fsprogs cpio busybox-static
	trace-cmd libtraceevent1-plugin libtraceevent-dev libtracefs-dev libtracecmd-dev libkshark-dev libjson-c-dev linux-source-6.12 xz-utils gawk uftrace nginx-light wrk
	bpftrace bpftool gdb clang-format zsh linux-perf systemtap-sdt-dev
	sqlite3 git golang-go musl-tools libjemalloc2 strace libpython3.11-testsuite python3-greenlet procps iproute2"
pkgs_bench="$pkgs_build uftrace lttng-tools liblttng-ust-dev python3 trace-cmd libtraceevent1-plugin
	gcc-arm-none-eabi gcc-riscv64-unknown-elf gcc-aarch64-linux-gnu qemu-system-arm python3-barectf"
pkgs_fuzz="$pkgs_build clang libclang-rt-14-dev"
pkgs_vm="$pkgs_build qemu-system-x86 cpio xz-utils busybox-static trace-cmd libtraceevent1-plugin"
pkgs_board="$pkgs_build gcc-arm-linux-gnueabihf libc6-dev-armhf-cross gcc-aarch64-linux-gnu libc6-dev-arm64-cross"
pkgs_prove="$pkgs_build clang libclang-rt-14-dev spin valgrind g++ python3"

say() {
	echo "do: $*" >&2
}

die() {
	say "$*"
	exit 1
}

usage() {
	cat <<-'EOF'
	usage: ./do VERB [ARGUMENT...]

	  demo                   trace an example shop, kill it, and show that nothing is lost
	  build                  build/ringside, build/libringside.so, build/libringside.a
	  check quick            the inner loop: one build and the fast tests, under two minutes
	  check                  everything that has to hold before a change lands
	  check long             the same, with the tests that take long in their full form
	  bench [NAME] [--json]  what an event costs, beside other tracers
	  fuzz [SECONDS]         feed random bytes to everything that reads bytes of others
	  board [ARCH...]        for small boards: build/board/ARCH/ringside, static, and libringside.a: armhf, arm64, amd64
	  vm [COMMAND...]        boot Debian's 6.12 kernel, with all of ftrace, and run COMMAND or a shell in it
	  prove                  seed faults into the source and see that the checks catch each one
	  help                   this text

	A verb installs the Debian packages that it misses, with sudo where needed.
	EOF
}

# Those of the named packages that are not installed.
missing() {
	for p in "$@"; do
		case $(dpkg-query -W -f '${db:Status-Abbrev}' "$p" 2>/dev/null) in
		ii*) ;;
		*) printf '%s ' "$p" ;;
		esac
	done
}

need() {
	if ! command -v dpkg-query >/dev/null; then
		say "not a Debian system: these have to be there: $*"
		return 0
	fi
	todo=$(missing "$@")
	[ -n "$todo" ] || return 0
	root=
	if [ "$(id -u)" -ne 0 ]; then
		command -v sudo >/dev/null || die "please install, as root: $todo"
		root='sudo'
	fi
	say "installing ${root:+with sudo }the Debian packages: $todo"
	# $root and $todo are lists of words.
	# shellcheck disable=SC2086
	{
		$root apt-get -qq update &&
		$root env DEBIAN_FRONTEND=noninteractive \
			apt-get -qq -y --no-install-recommends install $todo
	} >&2 </dev/null || die "apt-get could not install: $todo"
}

# Quiet while it goes well; the whole story when it does not.
build() {
	mkdir -p build
	if [ ! -f build/build.ninja ]; then
		CC=gcc meson setup build -Dtests=false >build/setup.log 2>&1 || {
			cat build/setup.log >&2
			die "meson could not set up build/"
		}
	fi
	ninja -C build >build/ninja.log 2>&1 || {
		grep -v '^\[[0-9]*/[0-9]*\] ' build/ninja.log >&2 || :
		die "the build failed"
	}
}

# Hand over to a part's own program, with what is left of the command line.
run() {
	[ -x "$1" ] || die "$1 is missing"
	exec "$@"
}

verb=${1-}
[ $# -eq 0 ] || shift
# The package lists are lists of words.
# shellcheck disable=SC2086
case $verb in
build)
	need $pkgs_build
	build
	say "built build/ringside, build/libringside.so and build/libringside.a"
	;;
demo)
	need $pkgs_build
	build
	run examples/demo "$@"
	;;
check)
	case "$*" in
	'' | long) need $pkgs_check ;;
	quick) need $pkgs_quick ;;
	*) usage >&2; exit 2 ;;
	esac
	run tests/check "$@"
	;;
bench)
	need $pkgs_bench
	build
	run bench/run "$@"
	;;
fuzz)
	need $pkgs_fuzz
	build
	run fuzz/run "$@"
	;;
board)
	need $pkgs_board
	[ $# -gt 0 ] || set -- armhf arm64 amd64
	for arch; do
		tools/board "$arch"
		say "built build/board/$arch/ringside: $(wc -c <"build/board/$arch/ringside") bytes"
	done
	;;
vm)
	need $pkgs_vm
	build
	run tests/vm/shell "$@"
	;;
prove)
	need $pkgs_prove
	build
	run tests/prove/run "$@"
	;;
help|-h|--help)
	usage
	;;
*)
	usage >&2
	exit 2
	;;
esac
