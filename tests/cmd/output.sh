#!/bin/sh
# Where output goes when it cannot go: full disks, closed pipes, no stdout at all.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"

want 0 start
for i in 1 2 3; do
	want 0 write trace_marker "mark $i"
done
want 0 show
[ "$(grep -c 'tracing_mark_write: mark' "$out")" -eq 3 ] || fail "no marks"

for cmd in help 'help start' --version 'cat trace' 'cat .' 'show' 'show --json' 'cat tracing_on'; do
	# Words of a command line.
	# shellcheck disable=SC2086
	"$RINGSIDE" $cmd >/dev/full 2>"$err"
	[ $? -eq 1 ] || fail "$cmd >/dev/full is no failure"
	[ "$(wc -l <"$err")" -eq 1 ] && grep -q 'standard output' "$err" || fail "$cmd >/dev/full"

	# shellcheck disable=SC2086
	"$RINGSIDE" $cmd >&- 2>"$err"
	[ $? -eq 1 ] || fail "$cmd >&- is no failure"

	# A reader that is gone before the first byte.
	# shellcheck disable=SC2086
	{ sleep 0.05; "$RINGSIDE" $cmd 2>"$err"; echo $? >"$out"; } | :
	[ "$(cat "$out")" = 0 ] && [ ! -s "$err" ] || fail "$cmd | : is not quiet"
done

# A command without standard descriptors does not write words into the directory.
"$RINGSIDE" write nosuch 1 <&- >&- 2>&-
[ $? -eq 1 ] || fail "nosuch is no failure"
want 0 cat tracing_on
says 1

# No colour where there is no terminal, nor where it is not wanted.
refuse 1 cat nosuch -- nosuch
! grep -q "$(printf '\033')" "$err" || fail "colour in a file"
if command -v script >/dev/null; then
	for no in '' 1; do
		NO_COLOR=$no TERM=xterm script -qec "'$RINGSIDE' cat nosuch" /dev/null \
			</dev/null >"$out" 2>"$err"
		if grep -q "$(printf '\033')" "$out"; then
			[ -z "$no" ] || fail "NO_COLOR is not honoured"
		else
			[ -n "$no" ] || fail "no colour on a terminal"
		fi
	done
fi

# What programs record cannot drive a terminal.
want 0 write trace_marker "$(printf 'evil \033[31m')"
if command -v script >/dev/null; then
	NO_COLOR=1 TERM=xterm script -qec "'$RINGSIDE' --no-pager show" /dev/null </dev/null \
		>"$out" 2>"$err"
	grep -q evil "$out" || fail "the mark is not there"
	! grep -q "$(printf '\033')" "$out" || fail "an escape sequence came through"
fi
exit 0
