# shellcheck shell=sh disable=SC2034
# Sourced by the tests of this room: programs run untraced, and with their system calls traced in two ways: by signals alone, since no
# plan is there, and by patched places, with handlers of ours before the program's.

. "$RINGSIDE_SOURCE/tests/func/stage.sh"

TRACERS='signals patches'
own=$RINGSIDE_SOURCE/tests/sys

# As untraced, and never a word of ours: traced NAME WAY COMMAND...
traced() {
	name=$1 tracer=$2
	shift 2
	if [ "$tracer" = signals ]; then
		rm -rf "$RINGSIDE_DIR"
		set -- -e '*:sys_enter' -e '*:sys_exit' "$@"
	else
		set -- -e raw_syscalls -e syscalls -e signal "$@"
	fi
	timeout -k 5 "${LIMIT:-120}" "$RINGSIDE" record -q -b 8192 -o "$dir/trace.dat" "$@" >"$dir/got.out" 2>"$dir/got.err" </dev/null
	got=$?
	sed -i '/^ringside: .* events, .* lost$/d' "$dir/got.err"
	[ "$got" -eq "$want" ] || fail "$name, $tracer: exit $got, untraced $want: $(tail -n 3 "$dir/got.err")"
	for file in out err; do
		plain "$dir/want.$file" >"$dir/a"
		plain "$dir/got.$file" >"$dir/b"
		cmp -s "$dir/a" "$dir/b" || fail "$name, $tracer: std$file differs: $(diff "$dir/a" "$dir/b" | head -n 5)"
	done
	[ -s "$dir/trace.dat" ] || fail "$name, $tracer: nothing recorded"
}
