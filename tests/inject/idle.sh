#!/bin/sh
# A program that gets what time the others leave, and they leave little: it is attached to and detached from, which takes as long as
# it takes, and it is not disturbed.

. "$RINGSIDE_SOURCE/tests/inject/stage.sh"
build target || { cat "$dir/errors"; exit 1; }
chrt -i 0 true 2>/dev/null || { echo 'nobody can be made to run last'; exit 77; }

busy=
i=0
while [ "$i" -lt "$(nproc)" ]; do
	sh -c 'while :; do :; done' &
	busy="$busy $!"
	i=$((i + 1))
done
# shellcheck disable=SC2064,SC2086
trap "kill $busy" EXIT
begin chrt -i 0 "$dir/target" fork
for i in 1 2 3 4 5 6 7 8; do
	# Not in the time there is, maybe: then it is refused.
	"$RINGSIDE" attach "$target" 2>>"$dir/refused"
	"$RINGSIDE" detach "$target" 2>>"$dir/refused"
	kill -0 "$target" || break
done
if [ -s "$dir/refused" ] && grep -v -e 'Try again$' -e 'cannot be stopped for a moment' "$dir/refused"; then
	fail 'refused by other words'
fi
finish idle
exit "$bad"
