#!/bin/sh
# Our file, their readers: recordings of many kinds, read by trace-cmd (report, dump, split, convert), by a program of
# libtracecmd, and by the library of KernelShark. What they see is what we see, to the byte where they print.
#
# What they cannot read, and how that is gone around, stands where it happens.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"

command -v trace-cmd >/dev/null || { echo "trace-cmd is not installed"; exit 77; }
[ "$RINGSIDE_ZSTD" = 1 ] || { echo "this build packs nothing"; exit 77; }

program busy <"$RINGSIDE_SOURCE/tests/record/busy.c"
dir=$RINGSIDE_SCRATCH/files
mkdir "$dir"
busy="$RINGSIDE_SCRATCH/busy 3 120 tick wide mark other"

# take NAME OPTION...: a recording of everything that busy can do.
take() {
	name=$1
	shift
	# The command line is split on purpose.
	# shellcheck disable=SC2086
	want 0 record -q -o "$dir/$name.dat" "$@" $busy
	[ ! -s "$err" ] || fail "record $*: it says something"
}

take plain
take packed --compression zstd
take any --compression any
take six --file-version 6
take instances -e busy -B one -e other -B two -e busy:tick
take instances_six --file-version 6 -e busy -B one -e other -B two -e busy:tick
take instances_only --compression zstd -B one -e other -B two -e busy
take pages_8 --subbuf-size 8
take pages_16 --subbuf-size 16 --compression zstd
take pages_32 --subbuf-size 32 --file-version 6
take pages_64 --subbuf-size 64
take pages_mixed --subbuf-size 64 -e busy -B one --subbuf-size 8 -e other
take mono -C mono
take local -C local
take counter -C counter
take tsc -C x86-tsc
take date --date
take later --ts-offset 1000000000
take earlier -C mono --ts-offset -5000
take maps --proc-map

# Threads enough; only the newest events; and losses: the recorder sleeps while the rings run over.
want 0 record -q -o "$dir/threads.dat" "$RINGSIDE_SCRATCH/busy" 200 10
want 0 record -q -o "$dir/newest.dat" -m 32 "$RINGSIDE_SCRATCH/busy" 2 10000
want 0 record -o "$dir/lost.dat" -b 32 sh -c \
	'kill -STOP $PPID; "$1" 2 4000; kill -CONT $PPID; "$1" 2 100' sh "$RINGSIDE_SCRATCH/busy"
grep -q ' events, .* [1-9][0-9]* lost$' "$err" || fail "nothing is lost"
want 0 report "$dir/lost.dat"
grep -q '^CPU:[0-9]* \[[1-9][0-9]* EVENTS DROPPED\]$' "$out" || fail "no place where events were lost"

# ---- trace-cmd report: every line, in several layouts ----

/usr/bin/python3 "$RINGSIDE_SOURCE/tests/report/same.py" --few "$dir"/*.dat >"$out" 2>"$err"
status=$?
if [ $status -eq 77 ]; then
	cat "$out"
	exit 77
fi
[ $status -eq 0 ] || fail "trace-cmd report prints something else"

# Nothing is without a name, and all of it is there: 120 of 7 kinds in 3 threads, and what busy says last.
for name in plain six pages_8 pages_64 date tsc; do
	trace-cmd report "$dir/$name.dat" >"$out" 2>"$err" || fail "trace-cmd report $name"
	! grep -qF '<...>' "$out" || fail "$name: a thread without a name"
	[ "$(grep -v ': sched_process_' "$out" | grep -c ' busy/[012]-.*: .* ')" -eq 2520 ] || fail "$name: not all are there"
	grep -q ' busy-[0-9]* .* all: *count=360$' "$out" || fail "$name: the last one is not there"
done

# While it is recorded: soon after busy has ended all is there, and the same for both. What is on its way when one of them
# looks may be there for the other, and names are told now and then. (Of a packed file the last page of each CPU comes when it is
# full, or in the end.)
for how in '' '-m 1000' '-B one -O copy_trace_marker' '--file-version 6'; do
	rm -f "$dir/growing"
	# shellcheck disable=SC2016,SC2086
	want 0 record -q -o "$dir/growing" $how sh -c 'file=$1 out=$2 i=0
		shift 2
		"$@"
		until trace-cmd report "$file" >"$out.theirs" 2>/dev/null &&
			[ "$(grep -vc "^cpus=\|: sched_process_" "$out.theirs")" -eq 2521 ] && grep -q " all: *count=360$" "$out.theirs" &&
			"$RINGSIDE" report --layout 3.2 "$file" >"$out.ours" && cmp -s "$out.theirs" "$out.ours"; do
			i=$((i + 1))
			[ $i -lt 400 ] || exit 1
			sleep 0.05
		done' sh "$dir/growing" "$out" $busy
done
rm "$dir/growing"

# ---- trace-cmd dump: every section, as we read it ----

for file in "$dir"/*.dat; do
	trace-cmd dump -v "$file" >"$out" 2>"$err" || fail "trace-cmd dump -v $file"
	for part in --all --summary --options --flyrecord; do
		trace-cmd dump $part "$file" >"$out.theirs" 2>"$err" || fail "trace-cmd dump $part $file"
		want 0 dump $part "$file"
		cmp "$out.theirs" "$out" >"$err" 2>&1 || fail "dump $part $file: trace-cmd says something else"
	done
done

# ---- trace-cmd convert and split: read again, it says the same ----

for name in plain packed six instances instances_only pages_64 counter date threads; do
	trace-cmd report "$dir/$name.dat" >"$out.want" 2>/dev/null
	for version in 6 7; do
		trace-cmd convert -i "$dir/$name.dat" -o "$dir/converted" --file-version $version \
			>"$out" 2>"$err" || fail "trace-cmd convert $name to $version"
		trace-cmd report "$dir/converted" >"$out.got" 2>"$err"
		cmp "$out.want" "$out.got" >"$err" 2>&1 || fail "trace-cmd convert $name to $version: lines differ"
		want 0 report --layout 3.2 "$dir/converted"
		cmp "$out.want" "$out" >"$err" 2>&1 || fail "$name as version $version: our lines differ"
	done
done

# Cut by its times, each half has its lines, and there is no third.
trace-cmd report -t "$dir/mono.dat" 2>/dev/null | sed 1d >"$out.want"
middle=$(sed -n '1000s/.*\] *\([0-9.]*\): .*/\1/p' "$out.want")
for half in '' "$middle"; do
	# The end comes behind the beginning.
	# shellcheck disable=SC2086
	trace-cmd split -i "$dir/mono.dat" -o "$dir/half" ${half:-0 $middle} >"$out" 2>"$err" || fail "trace-cmd split"
	trace-cmd report -t "$dir/half.1" 2>>"$err" | sed 1d >>"$out.got.halves"
	rm "$dir/half.1"
done
sort -u "$out.got.halves" >"$out.got"
sort -u "$out.want" | cmp - "$out.got" >"$err" 2>&1 || fail "the halves are not the whole"

# ---- libtracecmd and KernelShark ----

$CC -O1 -I"$RINGSIDE_SOURCE/include" "$RINGSIDE_SOURCE/tests/record/as_ringside.c" -o "$RINGSIDE_SCRATCH/as_ringside" \
	-L"$RINGSIDE_BUILD" -lringside-dat -Wl,-rpath,"$RINGSIDE_BUILD" || fail "as_ringside does not compile"

# theirs NAME PACKAGE...: a program with somebody else's library, if that is installed.
theirs() {
	name=$1
	shift
	pkg-config --exists "$@" 2>/dev/null || {
		missing="$missing $1"
		return 1
	}
	# shellcheck disable=SC2046
	$CC -O1 $(pkg-config --cflags "$@") "$RINGSIDE_SOURCE/tests/record/$name.c" -o "$RINGSIDE_SCRATCH/$name" \
		$(pkg-config --libs "$@") >"$out" 2>"$err" || fail "$name does not compile"
}

missing=
if theirs as_tracecmd libtracecmd libtraceevent; then
	for file in "$dir"/*.dat; do
		"$RINGSIDE_SCRATCH/as_tracecmd" "$file" >"$out.theirs" 2>"$err" || fail "libtracecmd: $file"
		"$RINGSIDE_SCRATCH/as_ringside" "$file" >"$out" 2>"$err" || fail "libringside-dat: $file"
		[ -s "$out" ] || fail "$file is empty"
		cmp "$out.theirs" "$out" >"$err" 2>&1 || fail "$file: libtracecmd reads something else"
	done
fi

# KernelShark has a row of its own for a place where events were lost, and 15 bits for the number of an event: it knows no
# names for larger ones.
if theirs as_kernelshark libkshark; then
	for file in "$dir"/*.dat; do
		"$RINGSIDE_SCRATCH/as_kernelshark" "$file" >"$out.rows" 2>"$err" || fail "KernelShark: $file"
		"$RINGSIDE_SCRATCH/as_ringside" "$file" |
			awk '{ print $1, $2, $3, $4, $5, $6 < 32768 ? $7 : "?" }' >"$out"
		grep -v ' missed_events$' "$out.rows" | cmp - "$out" >"$err" 2>&1 ||
			fail "$file: KernelShark loads something else"
	done
fi
[ -z "$missing" ] || { echo "all but:$missing is not installed"; exit 77; }
