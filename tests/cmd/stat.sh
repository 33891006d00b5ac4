#!/bin/sh
# stat: one page on what is not as always.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"
. "$RINGSIDE_SOURCE/tests/cmd/tree.sh"

tells() {
	for text; do
		grep -qF -e "$text" "$out" || fail "stat does not tell '$text'"
	done
}

hides() {
	for text; do
		! grep -qF -e "$text" "$out" || fail "stat tells '$text'"
	done
}

program waiter <<'END'
#include <ringside/ringside.h>
#include <unistd.h>

RINGSIDE_EVENT(shop, order, field(int, item))
RINGSIDE_EVENT(shop, pay, field(int, item))
RINGSIDE_EVENT(till, open, field(int, n))
RINGSIDE_EVENT(till, shut, field(int, n))

/* Tells that it is attached, then waits for its input to end. */
int main(void)
{
	char c;

	trace_shop_order(1);
	if (write(1, "x", 1) != 1)
		return 1;
	while (read(0, &c, 1) > 0)
		;
	return 0;
}
END

refuse 1 stat -- "$RINGSIDE_DIR"
want 0 start -p nop
want 0 stat
tells "Tracing directory: $RINGSIDE_DIR" 'Tracing is enabled' 'Memory in use: ' 'Attached programs: none' \
	'Buffer size in kilobytes (per cpu): '
hides Tracer Clock Events Patterns Options Filters Lost Instance CPUs Threads

# Who is attached is there while it lives.
mkfifo "$RINGSIDE_SCRATCH/in" "$RINGSIDE_SCRATCH/ready"
"$RINGSIDE_SCRATCH/waiter" <"$RINGSIDE_SCRATCH/in" >"$RINGSIDE_SCRATCH/ready" &
waiter=$!
exec 3>"$RINGSIDE_SCRATCH/in"
head -c 1 "$RINGSIDE_SCRATCH/ready" >/dev/null
want 0 stat
tells "    $waiter waiter"
hides 'programs: none'
exec 3>&-
wait $waiter
want 0 stat
tells 'Attached programs: none'

# What is set.
want 0 start -e shop -e till:open -O nooverwrite -C mono -M 1 -P 12
want 0 stop
want 0 stat
tells 'Tracing is disabled' 'shop (all 2)' 'till:open' 'shop:* on' 'nooverwrite' 'Clock: mono' \
	'CPUs that are traced: ' 'Threads whose events are taken:' '    12'
hides 'till:shut' 'till (all'
want 0 start -B side -e till
want 0 stat
tells 'Instance: side' 'till (all 2)'
want 0 stat -B side
tells 'Instance: side' 'Tracing is enabled'
hides 'Tracing is disabled' 'Tracing directory' nooverwrite
want 0 stat -t -B side
tells 'Tracing is disabled' 'Instance: side'
want 0 reset -d
want 0 stat
hides Tracer Clock Events Patterns Options Filters Lost Instance CPUs Threads

# Losses are told for each CPU.
want 0 start -b 8
i=0
while [ $i -lt 40 ]; do
	printf '%04000d\n' $i
	i=$((i + 1))
done >"$RINGSIDE_SCRATCH/long"
cpu=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
while read -r line; do
	taskset -c "$cpu" "$RINGSIDE" write trace_marker "$line" || fail "marker"
done <"$RINGSIDE_SCRATCH/long"
want 0 stat
tells 'Lost events:' "cpu$cpu: " ' overwritten, 0 dropped'

# Of files, whatever they say.
printf '%s\n' shop:order shop:pay web:hit >"$tree/set_event"
echo 'item > 3' >"$tree/events/web/hit/filter"
echo 'stacktrace:unlimited' >"$tree/events/shop/pay/trigger"
echo function >"$tree/current_tracer"
printf '%s\n' 'overrun: 12' 'commit overrun: 3' 'dropped events: 4' >"$tree/per_cpu/cpu1/stats"
tree_buffer "$tree/instances/blue"
echo 0 >"$tree/instances/blue/tracing_on"
want 0 --tracefs "$tree" stat
tells "Tracing tree: $tree" 'Tracer: function' 'shop (all 2)' '    web:hit' 'web:hit item > 3' \
	'shop:pay stacktrace:unlimited' 'cpu1: 12 overwritten, 7 dropped' 'Instance: blue' \
	'Tracing is disabled'
hides 'Memory in use' 'Attached' 'cpu0:'
exit 0
