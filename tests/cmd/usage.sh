#!/bin/sh
# The command line: what is right, what is wrong, and how it says so.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"

# Wrongly used: exit 2, nothing on stdout, nothing is done.
refuse 2 -- 'which command'
refuse 2 nosuch -- nosuch
refuse 2 strat -- "did you mean 'start'"
refuse 2 lst -- "did you mean 'list'"
refuse 2 --nosuch -- --nosuch
refuse 2 -x -- -x
refuse 2 set extra -- extra
refuse 2 start --event -- --event
refuse 2 start -e -- -e
refuse 2 start -e '' -- SYSTEM
refuse 2 start -e a:b:c -- a:b:c
refuse 2 start -e 'a b' -- 'a b'
refuse 2 start -b -- -b
refuse 2 start -b x -- x
refuse 2 start -b 0 -- 0
refuse 2 start -b -1 -- -1
refuse 2 start -b 10x -- 10x
refuse 2 stop now -- now
refuse 2 cat -- missing
refuse 2 write -- missing
refuse 2 write tracing_on -- missing
refuse 2 write tracing_on 1 2 -- 2
refuse 2 show -c -- -c
refuse 2 show -c x -- x
refuse 2 show -c -1 -- -1
refuse 2 show --timeout 1 -- --timeout
refuse 2 show -p --timeout x -- --timeout
refuse 2 show --json=yes -- --json
refuse 2 list -e -s -- -s
refuse 2 list -e '(' -- '('
refuse 2 help nosuch -- nosuch
refuse 2 doctor a b -- b
refuse 2 doctor --json=yes -- --json
[ ! -e "$RINGSIDE_DIR" ] || fail "something was done"

# Help goes to stdout and knows every command and option.
want 0 help
grep -q '^usage: ringside' "$out" || fail "help has no usage"
for cmd in $(sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' "$out"); do
	want 0 help "$cmd"
	grep -q "^usage: ringside $cmd" "$out" || fail "help $cmd has no usage"
	mv "$out" "$out.help"
	want 0 "$cmd" --help
	cmp -s "$out" "$out.help" || fail "$cmd --help is not help $cmd"
	want 0 "$cmd" -h
	cmp -s "$out" "$out.help" || fail "$cmd -h is not help $cmd"
	n=$((${n-0} + 1))
done
[ "${n-0}" -ge 9 ] || fail "only ${n-0} commands"
want 0 --help
want 0 --version
grep -q '^ringside [0-9]' "$out" || fail "no version"

# Options stand where people put them.
want 0 start --dir "$RINGSIDE_DIR" -b64 -eshop --event=web:hit 2>/dev/null
want 0 --dir "$RINGSIDE_DIR" cat tracing_on
says 1
want 0 --dir="$RINGSIDE_DIR" cat tracing_on
want 0 cat --dir "$RINGSIDE_DIR" -- tracing_on
want 0 write tracing_on 0 --dir "$RINGSIDE_DIR"
want 0 cat tracing_on buffer_size_kb
says '0
67'
refuse 1 write tracing_on -1 -- tracing_on -1
want 1 write buffer_size_kb --
exit 0
