#!/bin/sh
# convert: what trace-cmd reads in a file it also reads in each of its conversions, and the other
# way round; nothing is left where it fails.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"
. "$RINGSIDE_SOURCE/tests/cmd/traces.sh"

# Wrongly used, nothing is made.
refuse 2 convert -- "new file's name"
refuse 2 convert -o a b -- "'a' or 'b'"
refuse 2 convert -o '' -- "new file's name"
refuse 2 convert --file-version 5 a -- '6 and 7'
refuse 2 convert --file-version 66 a -- '6 and 7'
refuse 1 convert a -- trace.dat 'No such file'
refuse 1 convert -i none.dat a -- none.dat
refuse 1 convert -i "$RINGSIDE_SOURCE/README.md" a -- README.md
refuse 1 convert -i "$data/graph.v7.dat" --compression lzma a -- lzma
refuse 1 convert -i "$data/graph.v7.dat" --file-version 6 --compression zstd a -- 'version 6'
refuse 1 convert -i "$data/graph.v7.dat" no/such/place -- no/such/place
refuse 1 convert -i "$data/graph.v7.dat" /dev/null -- /dev/null
refuse 1 convert -i "$data/graph.v7.dat" . -- 'no regular file'
[ -z "$(ls)" ] || fail "something was made"

# There is no room: words, and what was there before stays.
echo before >full.dat
(
	ulimit -f 64
	"$RINGSIDE" convert -i "$data/graph.v7.dat" full.dat --compression none
) >"$out" 2>"$err" && fail "it has room"
grep -q 'cannot write .*full.dat: File too large' "$err" || fail "it does not say that it is full"
[ "$(cat full.dat)" = before ] || fail "the old file is gone"
only full.dat
rm full.dat

for name in mixed graph instances; do
	file=$data/$name.v7.dat
	report "$name.text" "$file"
	for how in 6:none 7:none 7:zstd 7:any; do
		want 0 convert -i "$file" -o new.dat --file-version ${how%:*} \
			--compression ${how#*:}
		[ ! -s "$err" ] || fail "$name to $how: something is said"
		sound new.dat
		report new.text new.dat
		same "$name.text" new.text "$name as $how reads otherwise"
		# And back: over the file itself.
		want 0 convert -i new.dat new.dat
		sound new.dat
		report new.text new.dat
		same "$name.text" new.text "$name as $how and back reads otherwise"
	done
	# Version 6 as trace-cmd writes it, into ours.
	trace-cmd convert -i "$file" -o six.dat --file-version 6 >"$out" 2>&1 || fail "trace-cmd"
	want 0 convert -i six.dat new.dat
	report new.text new.dat
	if [ $name = instances ]; then
		# trace-cmd 3.1.6 leaves out the instances; ours has what there is.
		report "$name.text" six.dat
	fi
	same "$name.text" new.text "$name of version 6 by trace-cmd reads otherwise"
done

# Debian's trace-cmd has no zlib: back to something that it can read.
if "$RINGSIDE" convert -i "$data/mixed.v7.dat" z.dat --compression zlib 2>"$err"; then
	want 0 convert -i z.dat new.dat --compression none
	sound new.dat
	report new.text new.dat
	same mixed.text new.text "mixed by way of zlib reads otherwise"
else
	grep -q 'this build cannot' "$err" || fail "zlib"
fi

# The other byte order stays what it is.
made -b lost big.dat
report big.text big.dat
for version in 6 7; do
	want 0 convert -i big.dat new.dat --file-version $version
	sound new.dat
	report new.text new.dat
	same big.text new.text "big end first, version $version"
done

# A text that a latency tracer left. (trace-cmd takes its first bytes for a clock in files of
# version 6 that name their clocks, its own too: ours name none beside a text.)
want 0 convert -i "$data/graph.v7.dat" six.dat --file-version 6
python3 - six.dat latency.dat <<'END' || fail "python"
import sys
data = open(sys.argv[1], "rb").read()
data = data[:data.rindex(b"flyrecord\0")] + b"latency  \0# tracer: wakeup\n#\nline two\n"
open(sys.argv[2], "wb").write(data)
END
want 0 convert -i latency.dat seven.dat
want 0 convert -i seven.dat six.dat --file-version 6
for file in seven.dat six.dat; do
	report new.text $file
	printf 'cpus=2\n# tracer: wakeup\n#\nline two\n\n' | diff - new.text >"$out" ||
		fail "the text in $file"
done
