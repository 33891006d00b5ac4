# What tests of the command share. Read with `.`; RINGSIDE, RINGSIDE_DIR and RINGSIDE_SCRATCH are set.

out=$RINGSIDE_SCRATCH/out
err=$RINGSIDE_SCRATCH/err

fail() {
	echo "--- stdout:"; tail -n 20 "$out"
	echo "--- stderr:"; tail -n 12 "$err"
	echo "FAIL: $*"
	exit 1
}

# It cannot run here, because of this.
skip() {
	echo "skip: $*"
	exit 77
}

# Runs the command and wants this exit status; what it says is in $out and $err.
want() {
	status=$1
	shift
	"$RINGSIDE" "$@" >"$out" 2>"$err"
	got=$?
	[ "$got" -eq "$status" ] || fail "ringside $*: exit $got, not $status"
}

# Leaves a test about functions where none are traced: by what the tool was built for, and whoever it runs on.
with_functions() {
	"$RINGSIDE" start -e all && "$RINGSIDE" list -t >"$out" && "$RINGSIDE" reset || exit 1
	[ "$(uname -m)" = x86_64 ] && grep -qx function "$out" && return
	echo "this build traces no functions"
	exit 77
}

# As want, and nothing but one line of words, which holds all of the given texts:
# refuse STATUS COMMAND... -- TEXT...
refuse() {
	status=$1 line=
	shift
	n=$#
	while [ "$1" != -- ]; do
		line="$line '$1'"
		shift
		n=$((n - 1))
		[ $n -gt 0 ] || fail "refuse: no --"
	done
	shift
	eval "want $status $line"
	[ ! -s "$out" ] || fail "ringside$line: something on stdout"
	[ "$(grep -c '^ringside: ' "$err")" -eq 1 ] || fail "ringside$line: not one line of words"
	for text; do
		grep -qF -e "$text" "$err" || fail "ringside$line: does not say '$text'"
	done
}

# The last command's stdout is just this.
says() {
	printf '%s\n' "$1" | cmp -s - "$out" || fail "stdout is not '$1'"
}

# A program that traces, from a source on stdin: program NAME
program() {
	cat >"$RINGSIDE_SCRATCH/$1.c"
	# CC is a command line.
	# shellcheck disable=SC2086
	$CC -O1 -I"$RINGSIDE_SOURCE/include" "$RINGSIDE_SCRATCH/$1.c" -o "$RINGSIDE_SCRATCH/$1" \
		-L"$RINGSIDE_BUILD" -lringside -Wl,-rpath,"$RINGSIDE_BUILD" || {
		echo "FAIL: $1 does not compile"
		exit 1
	}
}

# Until a command succeeds; it is a failure when it never does: until_it COMMAND...
until_it() {
	tries=0
	until "$@"; do
		tries=$((tries + 1))
		[ $tries -lt 3000 ] || fail "never: $*"
		sleep 0.02
	done
}
