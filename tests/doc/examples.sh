#!/bin/sh
# Every example of the man pages, and the program in README.md, does what it says: it compiles, runs
# and exits with 0.
#
# A literal block in a page is taken when the line before it says how:
#
#	.\" run: sh		run by sh -eu; `ringside` is the built command
#	.\" run: sh FILE	the same, unless FILE is not to be had on this machine
#	.\" run: py		run by python3, which finds the built library
#	.\" run: c NAME		compiled with the built libraries to ./NAME, and run
#	.\" build: c NAME	compiled only
#	.\" build: so NAME	compiled as a shared object to ./NAME
#	.\" file: NAME		a file that a program below it includes
#
# (c++ like c.) All C programs of all pages are there, as ./NAME, for the blocks of every page; the
# blocks of one page share a tracing directory and run in order; where they run lie trace.dat, a
# recording of a kernel, and host.dat and guest.dat, of a virtual machine. A literal block in a
# section EXAMPLES that is not marked is a failure.

set -u
: "${RINGSIDE_BUILD:?}" "${RINGSIDE_SOURCE:?}" "${RINGSIDE_SCRATCH:?}"
work=$RINGSIDE_SCRATCH/examples
mkdir -p "$work/bin"
bad=0 good=0

# Write each block of PAGE to OUT/NN.{sh,py,c,cc} and a line `NN HOW LANGUAGE NAME` to OUT/list.
extract() {
	awk -v out="$2" -v page="$(basename "$1")" '
	/^\.Sh / { section = $2 }
	/^\.\\" (run|build|file): / { mark = $0; next }
	/^\.(.* )?Ql [^ ]+ , [^ ]/ {
		printf "%s:%d: Ql takes all that is behind it into one quote\n", page, NR
		status = 1
	}
	/^\.Bd -literal/ {
		if (mark != "") {
			split(mark, w, " ")
			if (w[2] == "file:") {
				file = out "/" w[3]
				inside = 1
				mark = ""
				next
			}
			ext = w[3] == "c++" ? "cc" : w[3] == "so" ? "c" : w[3]
			file = sprintf("%s/%02d.%s", out, ++n, ext)
			printf "%02d %s %s %s\n", n, w[2], w[3], w[4] > (out "/list")
			inside = 1
		} else if (section == "EXAMPLES") {
			printf "%s:%d: this example is not marked as to be run\n", page, NR
			status = 1
		}
		mark = ""
		next
	}
	/^\.Ed/ { inside = 0 }
	inside {
		gsub(/\\&/, "")
		gsub(/\\-/, "-")
		gsub(/\\\(dq/, "\"")
		gsub(/\\e/, "\\")
		print > file
	}
	END { exit status }' "$1"
}

complain() {
	echo "FAIL $1"
	[ ! -f "$2" ] || sed 's/^/    /' "$2"
	bad=$((bad + 1))
}

compile() {
	case $1 in
	*.cc) cc="${CXX:-g++} -std=c++17" ;;
	*) cc="${CC:-gcc} -std=c11" ;;
	esac
	if [ "$3" = so ]; then
		$cc -Wall -Wextra -Werror -O2 -shared -fPIC -I"$RINGSIDE_SOURCE/include" -o "$2" "$1"
		return
	fi
	# To control, or to read, is not to be traced: each library only for those who include its headers.
	libs='' hosted=''
	! grep -Eq '<ringside/(control|remote)\.h>' "$1" || libs="$libs -lringside-control"
	! grep -q '<ringside/dat\.h>' "$1" || libs="$libs -lringside-dat"
	! grep '<ringside/' "$1" | grep -Eqv '/(control|dat|remote)\.h>' || libs="$libs -lringside"
	# Who writes as a firmware does compiles the writer.
	! grep -q 'RINGSIDE_FW_HOSTED' "$1" || hosted="-I$(dirname "$1") -I$RINGSIDE_SOURCE/fw $RINGSIDE_SOURCE/fw/hosted.c"
	# A compiler may come with options of its own; the libraries are a list.
	# shellcheck disable=SC2086
	$cc -Wall -Wextra -Werror -O2 -I"$RINGSIDE_SOURCE/include" -o "$2" "$1" $hosted \
		-L"$RINGSIDE_BUILD" -Wl,-rpath,"$RINGSIDE_BUILD" $libs
}

# Run one block in the page's directory: execute LANGUAGE FILE NAME.
execute() {
	case $1 in
	sh) timeout 30 sh -eu "$2" ;;
	py) timeout 30 /usr/bin/python3 "$2" ;;
	*) timeout 30 "./$3" ;;
	esac
}

for page in "$RINGSIDE_SOURCE"/doc/man/*.[1-8]; do
	dir=$work/$(basename "$page")
	mkdir "$dir"
	: >"$dir/list"
	extract "$page" "$dir" || bad=$((bad + 1))
	while read -r nr how lang name; do
		case $lang in
		c|c++|so) ;;
		*) continue ;;
		esac
		if [ -z "$name" ] || [ -e "$work/bin/$name" ]; then
			complain "$(basename "$page"): block $nr needs a name of its own" /dev/null
		elif compile "$dir/$nr".c* "$work/bin/$name" "$lang" >"$dir/$nr.out" 2>&1; then
			good=$((good + 1))
		else
			complain "$(basename "$page"): $name does not compile" "$dir/$nr.out"
		fi
	done <"$dir/list"
done

awk '/^```$/ { show = 0 } show { print } /^```c$/ { show = 1 }' \
	"$RINGSIDE_SOURCE/README.md" >"$work/readme.c"
if compile "$work/readme.c" "$work/readme" c >"$work/readme.out" 2>&1 && "$work/readme"; then
	good=$((good + 1))
else
	complain "README.md" "$work/readme.out"
fi

PATH=$RINGSIDE_BUILD:$PATH
LD_LIBRARY_PATH=$RINGSIDE_BUILD${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export PATH LD_LIBRARY_PATH
for page in "$RINGSIDE_SOURCE"/doc/man/*.[1-8]; do
	dir=$work/$(basename "$page")
	export RINGSIDE_DIR="$dir/trace"
	for f in "$work"/bin/*; do
		[ ! -e "$f" ] || ln -s "$f" "$dir/"
	done
	cd "$dir" || exit 1
	cp "$RINGSIDE_SOURCE/tests/data/dat/mixed.v7.dat" trace.dat
	/usr/bin/python3 "$RINGSIDE_SOURCE/tests/dat/make.py" told host.dat
	/usr/bin/python3 "$RINGSIDE_SOURCE/tests/dat/make.py" guest guest.dat
	while read -r nr how lang name; do
		[ "$how" = 'run:' ] || continue
		# In a shell of its own, which such a failure ends; some are there to be read only, and none is to be made by it.
		if [ "$lang" = sh ] && [ -n "$name" ] && ! { [ -d "$name" ] || { [ -e "$name" ] &&
			{ (: <>"$name") 2>/dev/null || (: <"$name") 2>/dev/null; }; }; }; then
			echo "$(basename "$page"): block $nr not run: no $name here"
			continue
		fi
		execute "$lang" "$nr.$lang" "$name" >"$nr.out" 2>&1 </dev/null
		status=$?
		if [ $status -eq 0 ]; then
			good=$((good + 1))
		else
			complain "$(basename "$page"): block $nr ended with $status" "$nr.out"
		fi
	done <list
	# What an example has left mounted would be taken for its files below.
	ringside umount >/dev/null 2>&1
done

echo "$good blocks good, $bad bad"
[ $bad -eq 0 ] && [ $good -gt 0 ]
