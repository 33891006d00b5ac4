#!/bin/sh
# On a terminal long output goes through a pager and a trace has colours; elsewhere neither is there.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"

command -v script >/dev/null || {
	echo "skip: no script(1), which makes a terminal"
	exit 77
}
unset NO_COLOR PAGER RINGSIDE_PAGER LESS
TERM=xterm
export TERM
escape=$(printf '\033')

# A pager that leaves a trace of itself.
cat >"$RINGSIDE_SCRATCH/pager" <<'END'
#!/bin/sh
echo "paged $LESS"
cat
END
chmod +x "$RINGSIDE_SCRATCH/pager"

# Runs the command on a terminal; what came out is in $out: terminal STATUS COMMAND...
terminal() {
	status=$1
	shift
	script -qec "'$RINGSIDE' $*" /dev/null </dev/null >"$out" 2>"$err"
	got=$?
	[ $got -eq "$status" ] || fail "ringside $* on a terminal: exit $got, not $status"
}

paged() {
	grep -q '^paged' "$out" || fail "no pager"
}

unpaged() {
	! grep -q '^paged' "$out" || fail "a pager"
}

want 0 start
want 0 write trace_marker 'a mark'
export PAGER="$RINGSIDE_SCRATCH/pager"
for cmd in show 'cat trace' 'cat .' 'list -C' help 'help show' 'show --help' stat snapshot; do
	terminal 0 "$cmd"
	paged
	terminal 0 "$cmd --no-pager"
	unpaged
	# shellcheck disable=SC2086
	want 0 $cmd
	unpaged
	! grep -q "$escape" "$out" || fail "colour in a file"
done
terminal 0 show
grep -q '^paged FRX' "$out" || fail "less is not told to let colours through"
terminal 0 show -p --timeout 0
unpaged
want 0 write trace_marker 'a mark'
terminal 0 cat tracing_on
TERM=dumb terminal 0 show
unpaged
! grep -q "$escape" "$out" || fail "colour on a dumb terminal"

# The person's choice comes first; none is a choice.
RINGSIDE_PAGER="sed s/^/mine:/" terminal 0 show
unpaged
grep -q '^mine:' "$out" || fail "not RINGSIDE_PAGER"
for none in '' cat; do
	RINGSIDE_PAGER=$none terminal 0 show
	unpaged
done

# A pager that cannot be run, and one that has seen enough.
RINGSIDE_PAGER=/no/such/pager terminal 1 show
grep -q 'the pager .*/no/such/pager.* cannot be run' "$out" || fail "no words on the pager"
RINGSIDE_PAGER=true terminal 0 show
! grep -q ringside: "$out" || fail "words on a pager that left"

# An error is told without a pager.
terminal 1 cat nosuch
unpaged
grep -q 'ringside:.* nosuch' "$out" || fail "no words"

# Colours: names bold, times dim, comments dim.
terminal 0 show --no-pager
grep -q "${escape}\[2m *[0-9]*\.[0-9]*${escape}\[0m: ${escape}\[1mtracing_mark_write${escape}\[0m: a mark" \
	"$out" || fail "no colours in a trace"
grep -q "^${escape}\[2m# tracer: nop${escape}\[0m" "$out" || fail "the header is not dim"
NO_COLOR=1 terminal 0 show --no-pager
! grep -q "$escape" "$out" || fail "NO_COLOR is not honoured"
terminal 0 show --no-pager --json
! grep -q "$escape" "$out" || fail "colour in JSON"
terminal 0 show -p --timeout 0
grep -q "${escape}\[1mtracing_mark_write${escape}\[0m" "$out" || fail "no colours when followed"

# Without colour the text is the same.
NO_COLOR=1 terminal 0 cat trace --no-pager
tr -d '\r' <"$out" >"$out.plain"
terminal 0 show --no-pager
sed "s/${escape}\[[0-9]*m//g" "$out" | tr -d '\r' | cmp -s - "$out.plain" || fail "colour changes the text"
. "$RINGSIDE_SOURCE/tests/cmd/tree.sh"
printf '%s\n' 'CPU:1 [LOST 12 EVENTS]' 'not a line of events [12]' \
	' odd [001] co-12      [000] .....   123.000001: shop_order: [001] x: y' \
	'            prog-12      [001] d.h1. 99: func <-parent' >"$tree/trace"
terminal 0 --tracefs "$tree" show --no-pager
cat >"$out.want" <<'END'
E[31mCPU:1 [LOST 12 EVENTS]E[0m
not a line of events [12]
 odd [001] co-12      [000] .....   E[2m123.000001E[0m: E[1mshop_orderE[0m: [001] x: y
            prog-12      [001] d.h1. E[2m99E[0m: func <-parent
END
tr -d '\r' <"$out" | sed "s/$escape/E/g" | cmp -s - "$out.want" || fail "colours of special lines"
exit 0
