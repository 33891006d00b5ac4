#!/bin/sh
# What the libraries show to the world: names that begin with ringside_, the calls of libc that the
# runtime stands in for, and none else, in both forms; the shared one needs libc alone, has its soname, and can be neither unloaded nor bound
# late.

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

dynamic=$(readelf -d "$so")
# The loader itself may be named, for its thread-local support; it is a part of libc.
expect 'libraries that it needs' \
	"$(echo "$dynamic" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -v '^ld-linux' | tr '\n' ' ')" \
	'libc.so.6 '
expect 'soname' "$(echo "$dynamic" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')" 'libringside.so.0'
for flag in NODELETE NOW; do
	echo "$dynamic" | grep -q "FLAGS_1.*$flag" || {
		echo "FAIL the shared library lacks the flag $flag"
		bad=1
	}
done
if echo "$dynamic" | grep -q TEXTREL; then
	echo 'FAIL the shared library needs its text relocated'
	bad=1
fi
if readelf -lW "$so" | grep -q 'GNU_STACK.*RWE'; then
	echo 'FAIL the shared library asks for an executable stack'
	bad=1
fi
exit $bad
