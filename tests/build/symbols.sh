#!/bin/sh
# What the libraries show to the world. libringside: names that begin with ringside_, the calls of libc that the runtime stands in
# for, and none else, in both forms; libringside-control: exactly what its header declares. The shared ones need libc alone, have
# their sonames, and can be neither unloaded nor bound late.

set -u
so=$RINGSIDE_BUILD/libringside.so
a=$RINGSIDE_BUILD/libringside.a
bad=0

expect() {
	if [ "$2" != "$3" ]; then
		echo "FAIL $1: \"$2\", where \"$3\" was expected"
		bad=1
	fi
}

guarded='clone|posix_spawn|posix_spawnp|prctl|pthread_sigmask|sigaction|signal|sigprocmask|syscall|vfork'
public="^_*ringside_|^($guarded)\$"
expect 'names that the shared library exports' \
	"$(nm -D --defined-only "$so" | awk '{ print $NF }' | grep -Ev "$public" | tr '\n' ' ')" ''
expect 'names that the archive exports' \
	"$(nm -g --defined-only "$a" | awk 'NF > 2 { print $NF }' | grep -Ev "$public" | tr '\n' ' ')" ''
expect 'public names, one list in both' \
	"$(nm -D --defined-only "$so" | awk '{ print $NF }' | sort | tr '\n' ' ')" \
	"$(nm -g --defined-only "$a" | awk 'NF > 2 { print $NF }' | sort | tr '\n' ' ')"
[ "$(nm -D --defined-only "$so" | grep -c ringside_)" -gt 0 ] || {
	echo 'FAIL the shared library exports nothing'
	bad=1
}

# What every shared library of ours is like: dynamic FILE SONAME.
dynamic() {
	lines=$(readelf -d "$1")
	# The loader itself may be named, for its thread-local support; it is a part of libc.
	expect "libraries that $2 needs" \
		"$(echo "$lines" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -v '^ld-linux' | tr '\n' ' ')" \
		'libc.so.6 '
	expect 'soname' "$(echo "$lines" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')" "$2"
	for flag in NODELETE NOW; do
		echo "$lines" | grep -q "FLAGS_1.*$flag" || {
			echo "FAIL $2 lacks the flag $flag"
			bad=1
		}
	done
	if echo "$lines" | grep -q TEXTREL; then
		echo "FAIL $2 needs its text relocated"
		bad=1
	fi
	if readelf -lW "$1" | grep -q 'GNU_STACK.*RWE'; then
		echo "FAIL $2 asks for an executable stack"
		bad=1
	fi
}
dynamic "$so" libringside.so.0

control=$RINGSIDE_BUILD/libringside-control
dynamic "$control.so" libringside-control.so.0
declared=$(grep -o 'ringside_control_[a-z_]*(' "$RINGSIDE_SOURCE/include/ringside/control.h" |
	tr -d '(' | sort -u | tr '\n' ' ')
expect 'names that libringside-control.so exports' \
	"$(nm -D --defined-only "$control.so" | awk '{ print $NF }' | sort | tr '\n' ' ')" "$declared"
expect 'names that libringside-control.a exports' \
	"$(nm -g --defined-only "$control.a" | awk 'NF > 2 { print $NF }' | sort | tr '\n' ' ')" "$declared"
exit $bad
