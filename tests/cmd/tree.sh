# A plain directory of files that looks like a tracefs. Read with `.` behind room.sh; $tree is its path.
# Nothing happens in it: a test sees in the files what a command wrote.

tree=$RINGSIDE_SCRATCH/tree

# Files of one buffer below $1.
tree_buffer() {
	mkdir -p "$1/per_cpu/cpu0" "$1/per_cpu/cpu1" "$1/events/shop/order" "$1/events/shop/pay" \
		"$1/events/web/hit"
	for file in set_event set_event_pid trace_marker set_ftrace_filter error_log; do
		: >"$1/$file"
	done
	echo 1 >"$1/tracing_on"
	echo nop >"$1/current_tracer"
	echo '[local] global mono' >"$1/trace_clock"
	printf '%s\n' overwrite nostacktrace noevent-fork >"$1/trace_options"
	echo 3 >"$1/tracing_cpumask"
	echo 1408 >"$1/buffer_size_kb"
	echo 2816 >"$1/buffer_total_size_kb"
	echo 0 >"$1/events/enable"
	echo '# tracer: nop' >"$1/trace"
	echo 'piped' >"$1/trace_pipe"
	echo '# snapshot' >"$1/snapshot"
	for cpu in 0 1; do
		echo "# cpu $cpu" >"$1/per_cpu/cpu$cpu/trace"
		echo "piped $cpu" >"$1/per_cpu/cpu$cpu/trace_pipe"
		echo "# snapshot $cpu" >"$1/per_cpu/cpu$cpu/snapshot"
		printf '%s\n' 'entries: 5' 'overrun: 0' 'commit overrun: 0' 'dropped events: 0' \
			>"$1/per_cpu/cpu$cpu/stats"
	done
	id=100
	for event in shop/order shop/pay web/hit; do
		id=$((id + 1))
		echo $id >"$1/events/$event/id"
		echo 0 >"$1/events/$event/enable"
		echo none >"$1/events/$event/filter"
		: >"$1/events/$event/trigger"
		cat >"$1/events/$event/format" <<-END
			name: ${event#*/}
			ID: $id
			format:
				field:unsigned short common_type;	offset:0;	size:2;	signed:0;

				field:int item;	offset:8;	size:4;	signed:1;

			print fmt: "item=%d", REC->item
		END
	done
}

tree_buffer "$tree"
mkdir "$tree/instances"
echo 'nop function' >"$tree/available_tracers"
printf '%s\n' web:hit shop:pay shop:order >"$tree/available_events"

# The file of the tree says just this.
holds() {
	[ "$(cat "$tree/$1")" = "$2" ] || fail "$1 says '$(cat "$tree/$1")', not '$2'"
}
