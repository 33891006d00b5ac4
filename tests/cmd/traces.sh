# What tests of trace files share: Debian's trace-cmd is the other reader. Read with `.` behind
# room.sh.

command -v trace-cmd >/dev/null || { echo "trace-cmd is not there"; exit 77; }
data=$RINGSIDE_SOURCE/tests/data/dat
work=$RINGSIDE_SCRATCH/work
mkdir "$work"
cd "$work" || exit 1

"$RINGSIDE" convert -i "$data/graph.v7.dat" probe.dat >"$out" 2>"$err" ||
	! grep -q 'this build cannot' "$err" || { echo "this build knows no zstd"; exit 77; }
rm -f probe.dat

# A file made by hand: made [-b] KIND FILE
made() {
	/usr/bin/python3 "$RINGSIDE_SOURCE/tests/dat/make.py" "$@" || fail "make.py $*"
}

# What trace-cmd reads in a file, or in several: report OUT FILE...
# With raw=-R each event for itself, where it else draws some of them together.
raw=
report() {
	to=$1 line=
	shift
	for file; do
		line="$line -i $file"
	done
	# The names have no blanks, and raw is an option or nothing.
	# shellcheck disable=SC2086
	trace-cmd report -t $raw $line >"$to" 2>"$err" || fail "trace-cmd cannot read $*"
	[ ! -s "$err" ] || fail "trace-cmd complains about $*"
}

# All that trace-cmd can check of a file is right.
sound() {
	trace-cmd dump -v -i "$1" >"$out" 2>"$err" || fail "trace-cmd does not take $1"
	grep -q 'is a valid trace-cmd file' "$out" || fail "trace-cmd does not find $1 valid"
	trace-cmd dump --all -i "$1" >"$out" 2>"$err" || fail "trace-cmd cannot dump $1"
	[ ! -s "$err" ] || fail "trace-cmd complains about $1"
}

same() {
	diff "$1" "$2" >"$out" || fail "$3"
}

# Nothing but these is in the directory.
only() {
	printf '%s\n' "$@" | LC_ALL=C sort >want.list
	# No name has a blank in it.
	# shellcheck disable=SC2012
	ls | grep -v '\.list$' | LC_ALL=C sort >got.list
	same want.list got.list "other files than $*"
	rm -f want.list got.list
}
