# What tests of the command on the machine's own kernel share, beside room.sh. Read with `.`: $top is its tracefs, in which instances can be
# made; $mine is a name for ours, which goes away with the test, as $mine-b does. `tidy` is run before that, for what a test has more.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"

top=$(awk '$3 == "tracefs" { print $2; exit }' /proc/mounts)
[ -n "$top" ] || {
	refuse 1 --kernel list -- 'mount -t tracefs nodev /sys/kernel/tracing'
	skip "no tracefs is mounted"
}
[ "$(id -u)" -eq 0 ] || skip "not root"
grep -q '^sched:sched_switch$' "$top/available_events" || skip "this kernel has no sched_switch"
mine=ringside-test-$$
mkdir "$top/instances/$mine" 2>/dev/null && rmdir "$top/instances/$mine" || skip "no instance can be made in $top"
tidy() {
	:
}
trap 'tidy; for i in $mine $mine-b; do [ ! -d "$top/instances/$i" ] || rmdir "$top/instances/$i"; done' EXIT
