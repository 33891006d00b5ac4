#!/bin/sh
# What the libraries show to the world. libringside: names that begin with ringside_, the calls of libc that the runtime stands in
# for, and none else, in both forms; libringside-control and libringside-dat: exactly what their headers declare. The shared ones
# need libc alone (the last one compressors, too), have their sonames, and are not bound late; those that traced programs may have
# cannot be unloaded.

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

guarded='_Exit|_exit|clone|posix_spawn|posix_spawnp|prctl|pthread_setname_np|pthread_sigmask|sigaction|signal'
guarded="$guarded|sigprocmask|syscall|vfork"
# An archive has no second one behind it.
shared='pthread_create'
public="^_*ringside_|^($guarded)\$"
expect 'names that the shared library exports' \
	"$(nm -D --defined-only "$so" | awk '{ print $NF }' | grep -Ev "$public|^$shared\$" | tr '\n' ' ')" ''
expect 'names that the archive exports' \
	"$(nm -g --defined-only "$a" | awk 'NF > 2 { print $NF }' | grep -Ev "$public" | tr '\n' ' ')" ''
expect 'public names, one list in both' \
	"$(nm -D --defined-only "$so" | awk '{ print $NF }' | grep -v "^$shared\$" | sort | tr '\n' ' ')" \
	"$(nm -g --defined-only "$a" | awk 'NF > 2 { print $NF }' | sort | tr '\n' ' ')"
[ "$(nm -D --defined-only "$so" | grep -c ringside_)" -gt 0 ] || {
	echo 'FAIL the shared library exports nothing'
	bad=1
}

# What every shared library of ours is like: dynamic FILE SONAME LIBRARIES FLAG...
dynamic() {
	file=$1 soname=$2 libraries=$3
	shift 3
	lines=$(readelf -d "$file")
	# The loader itself may be named, for its thread-local support; it is a part of libc.
	expect "libraries that $soname needs" \
		"$(echo "$lines" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -Ev "^ld-linux|$libraries" | tr '\n' ' ')" \
		'libc.so.6 '
	expect 'soname' "$(echo "$lines" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')" "$soname"
	for flag in "$@"; do
		echo "$lines" | grep -q "FLAGS_1.*$flag" || {
			echo "FAIL $soname lacks the flag $flag"
			bad=1
		}
	done
	if echo "$lines" | grep -q TEXTREL; then
		echo "FAIL $soname needs its text relocated"
		bad=1
	fi
	if readelf -lW "$file" | grep -q 'GNU_STACK.*RWE'; then
		echo "FAIL $soname asks for an executable stack"
		bad=1
	fi
}

# Exactly the names that headers declare, in both forms: exports LIBRARY PREFIX HEADER...
exports() {
	library=$1 prefix=$2
	shift 2
	declared=$(cd "$RINGSIDE_SOURCE/include/ringside" && grep -oh "$prefix[a-z_]*(" "$@" | tr -d '(' | sort -u | tr '\n' ' ')
	expect "names that $library.so exports" \
		"$(nm -D --defined-only "$RINGSIDE_BUILD/$library.so" | awk '{ print $NF }' | sort | tr '\n' ' ')" "$declared"
	expect "names that $library.a exports" \
		"$(nm -g --defined-only "$RINGSIDE_BUILD/$library.a" | awk 'NF > 2 { print $NF }' | sort | tr '\n' ' ')" "$declared"
}

dynamic "$so" libringside.so.0 '^$' NODELETE NOW
dynamic "$RINGSIDE_BUILD/libringside-control.so" libringside-control.so.0 '^$' NODELETE NOW
exports libringside-control ringside_control_ control.h remote.h
dynamic "$RINGSIDE_BUILD/libringside-dat.so" libringside-dat.so.0 '^libzstd\.so|^libz\.so' NOW
exports libringside-dat ringside_dat_ dat.h
exit $bad
