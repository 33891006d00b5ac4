#!/bin/sh
# restore: trace files from pages and what they mean, ours and trace-cmd's by turns, and from what killed recorders left.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"
cd "$RINGSIDE_SCRATCH" || exit 1

program ticker <<'END'
#include <ringside/ringside.h>
#include <stdlib.h>

RINGSIDE_EVENT(tick, tock, field(int, n), string(words))

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1;

	for (int i = 0; i < count; i++)
		trace_tick_tock(i, "as it was");
	ringside_printf("count is %d\n", count);
	ringside_mark("done");
	return 0;
}
END

# Pages of each CPU, and what the tree itself says of them.
want 0 start -e tick
./ticker 3000
want 0 stop
want 0 show
grep -v '^#' "$out" >shown
[ "$(wc -l <shown)" -eq 3002 ] || fail "not all are in the buffer"
pages=
for cpu in $("$RINGSIDE" cat per_cpu | sed -n 's,^cpu\([0-9]*\)/,\1,p' | sort -n); do
	want 0 cat "per_cpu/cpu$cpu/trace_pipe_raw"
	cp "$out" "raw.cpu$cpu"
	pages="$pages raw.cpu$cpu"
done

# The events of a file: name of the thread, CPU and text. (show writes less than report before some texts.)
events() {
	"$RINGSIDE" report -q "$1" 2>"$err" | tail -n +2 |
		sed -E 's/^ *//; s/-[0-9]+ +(\[[0-9]+\]).* [0-9]+\.[0-9]+: +/ \1 /; s/: +/: /g' >"$2"
}
sed -E 's/^ *//; s/-[0-9]+ +(\[[0-9]+\]).* [0-9]+\.[0-9]+: +/ \1 /; s/: +/: /g
	s/ main: / bprint: main: /; s/ tracing_mark_write: / print: tracing_mark_write: /' shown >want

# At once, from the tracing directory; all of it is there, by name.
# The list is a list.
# shellcheck disable=SC2086
want 0 restore -o once.dat $pages
events once.dat got
cmp -s want got || fail "not what the tree showed: $(diff want got | head -5)"
want 0 report --version once.dat
grep -q 'ringside' "$out" || fail "no word of who made it"

# In two steps. Metadata is a trace file without events.
want 0 restore -c -o part.dat
want 0 report part.dat
says 'cpus=0'
# shellcheck disable=SC2086
want 0 restore -i part.dat -o two.dat $pages
events two.dat got
cmp -s want got || fail "in two steps: $(diff want got | head -5)"

# Of a tree of files: a copy of the few that it takes, and symbols of one's own.
mkdir -p copy/events
for file in tracing_on trace_clock printk_formats saved_cmdlines events/header_page events/header_event; do
	want 0 cat $file
	cp "$out" copy/$file
done
for event in $("$RINGSIDE" cat events/ftrace | sed -n 's,/$,,p'); do
	mkdir -p "copy/events/ftrace/$event"
	want 0 cat "events/ftrace/$event/format"
	cp "$out" "copy/events/ftrace/$event/format"
done
mkdir -p copy/events/tick/tock
want 0 cat events/tick/tock/format
cp "$out" copy/events/tick/tock/format
"$RINGSIDE" report -f once.dat | awk '{ print $1, "T", $2 }' >symbols
# shellcheck disable=SC2086
want 0 restore -t copy -k symbols -o copy.dat $pages
events copy.dat got
cmp -s want got || fail "from a copy: $(diff want got | head -5)"
rm copy/saved_cmdlines copy/printk_formats
# shellcheck disable=SC2086
want 0 restore -t copy -k symbols -o bare.dat $pages
want 0 report -q bare.dat
[ "$(grep -c '<...>-.* tock: ' "$out")" -eq 3000 ] || fail "without names"

# trace-cmd takes what we make, and we what it makes.
if command -v trace-cmd >/dev/null; then
	# shellcheck disable=SC2086
	trace-cmd restore -i part.dat -o theirs.dat $pages >"$out" 2>&1 || fail "trace-cmd does not take -c"
	events theirs.dat got
	cmp -s want got || fail "trace-cmd's of our part: $(diff want got | head -5)"
	for file in saved_cmdlines printk_formats; do
		want 0 cat $file
		cp "$out" copy/$file
	done
	trace-cmd restore -c -t "$PWD/copy" -k "$PWD/symbols" -o their_part.dat >"$out" 2>&1 || fail "trace-cmd -c"
	# shellcheck disable=SC2086
	want 0 restore -i their_part.dat -o ours.dat $pages
	events ours.dat got
	cmp -s want got || fail "ours of trace-cmd's part: $(diff want got | head -5)"
	for file in once.dat two.dat copy.dat ours.dat; do
		trace-cmd report -i $file >theirs 2>"$err" || fail "trace-cmd does not read $file"
		[ "$(grep -c ': tock: ' theirs)" -eq 3000 ] || fail "trace-cmd reads $(grep -c ': tock: ' theirs) of $file"
	done
fi

# CPUs by the numbers in their files' names, else by their order.
first=$(find . -name 'raw.cpu*' -size +1k | sort | head -n 1)
cp "$first" x.cpu5
: >x.cpu10
want 0 restore -o named.dat x.cpu10 x.cpu5
want 0 report --cpus named.dat
grep -q '5' "$out" || fail "not CPU 5: $(cat "$out")"
cp "$first" y
want 0 restore -o ordered.dat x.cpu10 y
want 0 report -q ordered.dat
grep -q '\[001\].* tock: ' "$out" || fail "not CPU 1"
head -n 1 "$out" | grep -qx 'cpus=2' || fail "not two CPUs"

# What is behind the last whole page is left out, in words.
size=$(sed -n 's/.* data;.*offset:\([0-9]*\);.*size:\([0-9]*\);.*/\1 \2/p' copy/events/header_page | awk '{ print $1 + $2 }')
head -c $((size + 100)) "$first" >torn
want 0 restore -o torn.dat torn
grep -qx 'ringside: torn: 100 bytes behind the last whole page are left out' "$err" || fail "no word of what is torn"
head -c "$size" "$first" >whole
want 0 restore -o whole.dat whole
events torn.dat got
events whole.dat want
[ -s want ] && cmp -s want got || fail "a torn file"

# Of a file with events only the rest is taken.
want 0 restore -i once.dat -o again.dat whole
grep -q 'once.dat: its own events are left out' "$err" || fail "no word of what is left out"
events again.dat got
cmp -s want got || fail "pages instead of others"

# What a killed recorder left: as small as its data, with all of it; and what is whole stays as it is.
"$RINGSIDE" record -q -o killed.dat -e tick >"$out" 2>"$err" &
recorder=$!
i=0
while [ "$("$RINGSIDE" report -q killed.dat 2>/dev/null | grep -c ': tock: ')" -lt 10000 ] && [ $i -lt 200 ]; do
	./ticker 10000
	sleep 0.05
	i=$((i + 1))
done
kill -KILL $recorder
wait $recorder 2>/dev/null
want 0 report -q killed.dat
cp "$out" before
[ "$(grep -c ': tock: ' before)" -ge 10000 ] || fail "the recording has $(wc -l <before) lines"
want 0 restore killed.dat
grep -qx 'ringside: killed.dat: closed up' "$err" || fail "no word of what was done"
want 0 report -q killed.dat
cmp -s before "$out" || fail "not what it held before"
cksum killed.dat >sum
want 0 restore killed.dat
grep -q 'nothing to restore' "$err" || fail "no word that it is whole"
cksum killed.dat | cmp -s - sum || fail "a whole file was changed"
cksum once.dat >sum
want 0 restore once.dat
cksum once.dat | cmp -s - sum || fail "a whole file was changed"

# What cannot be leaves nothing behind, and what was there.
echo before >keep.dat
refuse 2 restore -- 'which files'
refuse 2 restore -i part.dat -- 'which files'
refuse 2 restore -c -i part.dat -- -c -i
refuse 2 restore -i part.dat -t copy whole -- -i -t
refuse 2 restore -c whole -- whole
refuse 1 restore -o keep.dat nosuch -- nosuch 'No such file'
refuse 1 restore -o keep.dat . -- 'no file of pages'
refuse 1 restore -o keep.dat keep.dat -- keep.dat 'not one whole page'
refuse 1 restore -o keep.dat once.dat whole -- once.dat 'a trace file'
refuse 1 restore -o keep.dat once.dat -- once.dat 'a trace file'
refuse 1 restore -o keep.dat -t nosuch whole -- nosuch
mkdir none
refuse 1 restore -o keep.dat -t none whole -- 'no tracing tree'
refuse 1 restore -o keep.dat -k nosuch whole -- nosuch
refuse 1 restore -o keep.dat -i nosuch whole -- nosuch
refuse 1 restore -o keep.dat -i whole whole -- whole 'not a trace file'
refuse 1 restore -o nosuch/new.dat whole -- nosuch/new.dat
yes | head -c 20000 >text
refuse 1 restore -o keep.dat text -- text 'no pages'
echo 'field: char data;' >copy/events/header_page
refuse 1 restore -o keep.dat -t copy whole -- header_page
[ "$(cat keep.dat)" = before ] || fail "keep.dat was changed"
[ -z "$(find . -name 'keep.dat?*')" ] || fail "something was left: $(ls)"
exit 0
