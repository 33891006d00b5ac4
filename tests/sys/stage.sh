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
	as_untraced "$name, $tracer"
}
