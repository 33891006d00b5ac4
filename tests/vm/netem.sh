#!/bin/bash
# netem.sh ROUNDS CUT KIND... - bad lines as a kernel makes them, in the reference machine: for each KIND a board and a listener in network
# namespaces of their own, all at once, ROUNDS times; lines are cut for CUT seconds. What became of it is left in /out for tests/net/netem.py.
set -u
rounds=$1 cut=$2
shift 2
insmod /lib/modules/veth.ko
insmod /lib/modules/sch_netem.ko || {
	echo 'this kernel has no sch_netem'
	exit 77
}

# The line's two ends: bad KIND WORD...
bad() {
	kind=$1
	shift
	ip netns exec "b-$kind" tc qdisc replace dev line root netem "$@"
	ip netns exec "s-$kind" tc qdisc replace dev line root netem "$@"
}

# All boards are the same one, and all listeners.
make_keys() {
	RINGSIDE_KEYS=/tmp/station ringside trust board "$(RINGSIDE_KEYS=/tmp/board ringside key)"
	RINGSIDE_KEYS=/tmp/board ringside trust 10.9.0.2 "$(RINGSIDE_KEYS=/tmp/station ringside key)"
}

# Until a file has that: await FILE WORDS. Processes are slow here.
await() {
	until [[ $(<"$1") == *"$2"* ]]; do
		sleep 0.2
	done
}

# A line: make KIND NUMBER.
make() {
	ip netns add "b-$1" && ip netns add "s-$1" || exit 1
	ip link add "b$2" type veth peer name "s$2"
	for end in b s; do
		ip link set "$end$2" netns "$end-$1" name line
		ip -n "$end-$1" link set line up
	done
	ip -n "b-$1" addr add 10.9.0.1/24 dev line
	ip -n "s-$1" addr add 10.9.0.2/24 dev line
}

listen() {
	: >"/tmp/$kind/listener.log"
	RINGSIDE_KEYS=/tmp/station ip netns exec "s-$kind" ringside listen -d "/tmp/$kind/store" --at 10.9.0.2 2>"/tmp/$kind/listener.log" &
	listener=$!
	await "/tmp/$kind/listener.log" 10.9.0.2
}

# What happens while it records.
disturb() {
	case $kind in
	cut)
		bad "$kind" loss 100%
		sleep "$cut"
		bad "$kind" delay 1ms
		;;
	half-open)
		# Its end is not heard.
		bad "$kind" loss 100%
		kill -KILL $listener
		wait $listener 2>/dev/null
		cat "/tmp/$kind/listener.log" >"/tmp/$kind/station.log"
		sleep 1
		listen
		bad "$kind" delay 1ms
		;;
	esac
}

run() {
	kind=$1 number=$2
	RANDOM=$((number * 100 + ${#kind}))
	mkdir -p "/tmp/$kind"
	case $kind in
	delay) bad "$kind" delay $((20 + RANDOM % 80))ms $((RANDOM % 20))ms ;;
	loss) bad "$kind" delay 2ms loss $((1 + RANDOM % 8))% ;;
	reorder) bad "$kind" delay $((5 + RANDOM % 20))ms reorder $((10 + RANDOM % 30))% 50% ;;
	rate) bad "$kind" rate 1mbit ;;
	*) bad "$kind" delay 1ms ;;
	esac
	: >"/tmp/$kind/station.log"
	listen
	RINGSIDE_DIR=/tmp/$kind/trace RINGSIDE_KEYS=/tmp/board ip netns exec "b-$kind" \
		ringside record -b 512 -e ticks -i -N 10.9.0.2 --spool 256K ticks 60000 50000 >"/tmp/$kind/board.log" 2>&1 </dev/null &
	recorder=$!
	await "/tmp/$kind/listener.log" 'records to'
	sleep 1.$((RANDOM % 10))
	disturb
	wait $recorder
	status=$?
	kill $listener
	wait $listener 2>/dev/null
	echo "ended $status" >>"/tmp/$kind/board.log"
	cp "/tmp/$kind/board.log" "/out/$number-$kind.log"
	cat "/tmp/$kind/station.log" "/tmp/$kind/listener.log" >"/out/$number-$kind.station"
	cp "/tmp/$kind"/store/board/*.dat "/out/$number-$kind.dat"
	rm -r "/tmp/$kind/store"
}

make_keys
nr=0
for kind; do
	mkdir -p "/tmp/$kind"
	make "$kind" $((nr++))
done
for ((i = 0; i < rounds; i++)); do
	for kind; do
		run "$kind" $i &
	done
	wait
done
