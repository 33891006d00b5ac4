# shellcheck shell=sh disable=SC2034
# Sourced by the tests of this room: programs run untraced and traced, and nobody can tell which was which.

set -u
dir=$RINGSIDE_SCRATCH
cases=$RINGSIDE_SOURCE/tests/func
bad=0
skipped=

case $(uname -m) in
x86_64) ;;
*) echo "functions are patched on x86-64 alone"; exit 77 ;;
esac
"$RINGSIDE" start -e all 2>/dev/null && "$RINGSIDE" list -t >"$dir/tracers" && "$RINGSIDE" reset || exit 1
grep -qx function_graph "$dir/tracers" || { echo "this build has no function_graph"; exit 77; }
cd "$dir" || exit 1
# No core files, and no daemon that fetches symbols.
ulimit -c 0
unset DEBUGINFOD_URLS
# Debian's own programs, whatever else there is.
PATH=/usr/bin:/bin:/usr/sbin:/sbin:$PATH

fail() {
	echo "FAIL $*"
	bad=1
}

# The test went without this, and says so; its exit status is still about the rest.
without() {
	echo "without $*"
}

# have PROGRAM: or it is left out.
have() {
	command -v "$1" >/dev/null 2>&1 && return 0
	without "$1: it is not installed"
	return 1
}

# Times, process numbers and addresses differ from run to run.
plain() {
	sed -E 's/in [0-9.]+ ?m?s(ec)?//g; s/[0-9]+(\.[0-9]+)? (sec|min)[a-z]*//g' "$1"
}

# What a traced run said and did is what the untraced one did, in $want and want.*: as_untraced HOW
as_untraced() {
	sed -i '/^ringside: .* events, .* lost$/d' "$dir/got.err"
	[ "$got" -eq "$want" ] || fail "$1: exit $got, untraced $want: $(tail -n 3 "$dir/got.err")"
	for file in out err; do
		plain "$dir/want.$file" >"$dir/a"
		plain "$dir/got.$file" >"$dir/b"
		cmp -s "$dir/a" "$dir/b" || fail "$1: std$file differs: $(diff "$dir/a" "$dir/b" | head -n 5)"
	done
	[ -s "$dir/trace.dat" ] || fail "$1: nothing recorded"
}

# As untraced, and never a word of ours on stderr but the sum in the end: traced NAME TRACER COMMAND...
traced() {
	name=$1 tracer=$2
	shift 2
	# shellcheck disable=SC2086
	timeout -k 5 "${LIMIT:-120}" "$RINGSIDE" record -q -p "$tracer" ${HOW--m 2048} -o "$dir/trace.dat" "$@" \
		>"$dir/got.out" 2>"$dir/got.err" </dev/null
	got=$?
	as_untraced "$name, $tracer"
}

# same NAME COMMAND...: FRESH, when set, is run before each.
same() {
	name=$1
	shift
	${FRESH-:}
	"$@" >"$dir/want.out" 2>"$dir/want.err" </dev/null
	want=$?
	for tracer in ${TRACERS-function function_graph}; do
		${FRESH-:}
		traced "$name" "$tracer" "$@"
	done
}

# compile NAME OPTION...: the hard one. $CC is a command with options.
compile() {
	name=$1
	shift
	# shellcheck disable=SC2086
	$CC -w "$@" "$cases/hard.c" -o "$dir/$name" -pthread -ldl 2>"$dir/errors"
}

# Is every word of the report that was asked for there? recorded FUNCTION...
recorded() {
	"$RINGSIDE" report -i "$dir/trace.dat" >"$dir/report" 2>/dev/null
	for function; do
		grep -q "$function" "$dir/report" || fail "$name, $tracer: no $function in the recording"
	done
}
