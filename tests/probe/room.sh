# What tests of probes share. Read with `.`.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"

with_functions
cd "$RINGSIDE_SCRATCH" || exit 1
library=$RINGSIDE_BUILD/libringside.so.0

# The offset of a function in its file: offset FILE FUNCTION
offset() {
	readelf -lW "$1" | awk '/LOAD.* R E / { print strtonum($2), strtonum($3); exit }' >load
	read -r load_offset load_address <load
	printf '0x%x' $((0x$(nm "$1" | awk -v name="$2" '$3 == name { print $1 }') - load_address + load_offset))
}

# Writes a line, or several, to a file of the tree: put FILE TEXT
put() {
	want 0 write -a "$1" "$2"
}

# What the records of an event say, times and tasks left out: records EVENT
records() {
	"$RINGSIDE" cat trace | sed -n "s/^.*: $1: //p"
}

# The records of an event are just these, addresses aside: recorded EVENT TEXT
recorded() {
	records "$1" | sed -E 's/\((0x)?[0-9a-f]+ <- (0x)?[0-9a-f]+\) */(<-) /; s/^\((0x)?[0-9a-f]+\) */() /' >"$out"
	printf '%s\n' "$2" | cmp -s - "$out" || {
		printf '%s\n' "$2" >"$err"
		fail "records of $1 are not those on stderr here"
	}
}

# A program that is traced: run COMMAND...
run() {
	LD_PRELOAD=$library timeout 60 "$@" >"$out" 2>"$err" || fail "$*: exit $?"
}

shop() {
	# CC is a command line.
	# shellcheck disable=SC2086
	$CC -O2 -g -fcf-protection "$RINGSIDE_SOURCE/tests/probe/shop.c" -o shop -pthread || exit 1
}
