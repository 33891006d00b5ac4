#!/bin/sh
# Stack traces of events in a program that has the runtime in a library, in itself, or is linked statically as a whole, with and
# without frame pointers: they begin with the function that recorded the event, whatever kind of event it was.

set -u
so=$RINGSIDE_BUILD
source=$RINGSIDE_SOURCE
dir=$RINGSIDE_SCRATCH
bad=0

fail() {
	echo "FAIL $*"
	bad=1
}

# The names of the first stack behind the first line with $1, in one line.
stack_of() {
	awk -v what="$1" '
		/<stack trace>/ { if (seen) on = 1; next }
		/^ => / { if (on) printf "%s ", $2; next }
		on { exit }
		index($0, what) { seen = 1 }' "$dir/text"
}

expect() {
	case $(stack_of "$2") in
	"$3"*) ;;
	*) fail "$1, $2: \"$(stack_of "$2")\", not \"$3...\"" ;;
	esac
}

try() {
	what=$1
	shift
	# $CC is a command with options.
	# shellcheck disable=SC2086
	$CC -I "$source/include" "$source/tests/runtime/stack_traced.c" -o "$dir/traced" "$@" 2>"$dir/errors" || {
		echo "no $what: $(head -1 "$dir/errors")"
		return
	}
	"$dir/traced" || fail "$what: ends with $?"
	"$RINGSIDE" reset >/dev/null
	for event in order long_order defined; do
		"$RINGSIDE" write "events/shop/$event/trigger" stacktrace || fail "$what: no trigger"
		"$RINGSIDE" write "events/shop/$event/enable" 1 || fail "$what: no event"
	done
	"$dir/traced" || fail "$what: ends with $?"
	"$RINGSIDE" cat trace >"$dir/text"
	expect "$what" 'order: item=1' 'by_site main '
	expect "$what" 'long_order: customer=' 'by_long_site main '
	expect "$what" 'defined: item=1' 'by_definition main '
	case $(stack_of 'order: item=2') in
	'by_site by_callback '*' through_libc main '*) ;;
	*) fail "$what, through libc: \"$(stack_of 'order: item=2')\"" ;;
	esac
}

# All of them find the library here.
export LD_LIBRARY_PATH="$so"
try 'shared library' -O2 -L "$so" -lringside
try 'shared library without frame pointers' -O2 -fomit-frame-pointer -L "$so" -lringside
try 'part of the program' -O2 -fomit-frame-pointer "$so/libringside.a"
try 'static program' -O2 -fomit-frame-pointer -static "$so/libringside.a"
try 'shared library, not optimized' -O0 -L "$so" -lringside
exit $bad
