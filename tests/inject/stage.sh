# shellcheck shell=sh disable=SC2034
# Sourced by the tests of this room: targets that are started, attached to, and asked how it was.

set -u
dir=$RINGSIDE_SCRATCH
bad=0

case $(uname -m) in
x86_64) ;;
*) echo "processes that run already are reached on x86-64 alone"; exit 77 ;;
esac

fail() {
	echo "FAIL $*"
	bad=1
}

# build NAME [OPTION...]: the target. $CC is a command with options.
build() {
	name=$1
	shift
	# shellcheck disable=SC2086
	$CC -D_GNU_SOURCE -O1 "$RINGSIDE_SOURCE/tests/inject/target.c" -o "$dir/$name" "$@" -lpthread -ldl 2>"$dir/errors"
}

# begin PROGRAM [ARGUMENT...]: $parent is what was started, $target what it says its number is.
begin() {
	rm -f "$dir/said"
	"$@" >"$dir/said" 2>&1 &
	parent=$!
	until [ -s "$dir/said" ] || ! kill -0 "$parent" 2>/dev/null; do sleep 0.01; done
	target=$(head -1 "$dir/said")
}

# finish WHAT: it was not disturbed.
finish() {
	kill -TERM "$parent" 2>/dev/null
	wait "$parent"
	status=$?
	[ "$status" = 0 ] || fail "$1: the program ends with $status: $(tail -n +2 "$dir/said" | head -3)"
}

# Is anybody tracing a thread of it?
tracer_of() {
	sed -n 's/^TracerPid:[[:space:]]*//p' "/proc/$1"/task/*/status 2>/dev/null | grep -v '^0$' | head -1
}
