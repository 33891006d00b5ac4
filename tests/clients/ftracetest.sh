#!/bin/sh
# The kernel's own test suite for ftrace, unmodified, against a mount of ours.
#
# The cases come out of the package of the kernel's source (tests/clients/source). They run on the stage (tests/clients/stage), in shells that
# carry kernel_events.c, beside a program that sleeps all the time and so emits some of those events
# and calls functions of names that cases look for.
#
# ftracetest.expect says what is known to come of each case. It fails when a case does not do as
# well as written there, and tells when one does better.
#
# FTRACETEST='00basic/basic1.tc event/event-pid.tc' runs just those, with their logs.

set -eu
here=$RINGSIDE_SOURCE/tests/clients
part=tools/testing/selftests/ftrace
results=$RINGSIDE_SCRATCH/results

# Inside the stage: the suite itself, in programs that emit.
if [ "${1-}" = --on-stage ]; then
	shift
	# The runtime comes before libc, so that it sees vfork. It goes on until the stage ends it.
	preload="$RINGSIDE_BUILD/libringside.so.0 $RINGSIDE_SCRATCH/kernel_events.so"
	LD_PRELOAD=$preload "$RINGSIDE_SCRATCH/restless" &
	n=0
	# The name is there from the beginning; what the program brings prints states by another word.
	until grep -qs __print_symbolic /sys/kernel/tracing/events/sched/sched_switch/format; do
		n=$((n + 1))
		[ $n -lt 50 ] || { echo "the programs' events are not in the tree"; exit 3; }
		sleep 0.1
	done
	# Where functions are, as cases look for it, and the one piece of data. What stands for the kernel is no module.
	addresses=/sys/kernel/tracing/available_filter_functions_addrs
	banner=$(nm "$RINGSIDE_SCRATCH/kernel_events.so" | sed -n 's/^0*\([0-9a-f]\{8\}\) D linux_proc_banner$/\1/p')
	{
		sed 's/ / t /; s/ \[kernel_events\.so\]$//' $addresses
		sed -n "s/^\([0-9a-f]*\)........ vfs_read .*/\1$banner D linux_proc_banner/p" $addresses
	} | LC_ALL=C sort >"$RINGSIDE_SCRATCH/kallsyms"
	mount --bind "$RINGSIDE_SCRATCH/kallsyms" /proc/kallsyms
	export LD_PRELOAD="$preload" PATH="$RINGSIDE_SCRATCH/bin:$PATH"
	# What the cases think of themselves is in the logs; here it counts that all of them ran.
	timeout -k 5 "$limit" "$kernel/$part/ftracetest" -k -l "$RINGSIDE_SCRATCH/logs" "$@" || status=$?
	[ "${status-0}" -le 1 ] || exit "$status"
	exit 0
fi

lacks() {
	echo "$*"
	exit 77
}

kernel=$("$here/source") || lacks "the kernel's source is not there"
command -v gawk >/dev/null || lacks "gawk is missing"
[ -x "$kernel/$part/ftracetest" ] || { echo "no ftracetest in $kernel"; exit 1; }

# What /proc/version says is in the kernel's memory, too.
printf '#define BANNER "%s\\n"\n' "$(sed 's/[\\"]/\\&/g' /proc/version)" >"$RINGSIDE_SCRATCH/banner.h"

# A name that the kernel has many functions of.
cat >"$RINGSIDE_SCRATCH/name_show.c" <<'END'
__attribute__((used, noinline)) static int name_show(char *buf) { return buf[0] ? buf[1] : -1; }
END
cp "$RINGSIDE_SCRATCH/name_show.c" "$RINGSIDE_SCRATCH/name_show_too.c"

# CC is a command line.
# shellcheck disable=SC2086
$CC -std=gnu11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Werror -shared -fPIC -funsigned-char \
	-include "$RINGSIDE_SCRATCH/banner.h" -I"$RINGSIDE_SOURCE/include" "$here/kernel_events.c" "$RINGSIDE_SCRATCH/name_show.c" \
	"$RINGSIDE_SCRATCH/name_show_too.c" -o "$RINGSIDE_SCRATCH/kernel_events.so" \
	-L"$RINGSIDE_BUILD" -Wl,-rpath,"$RINGSIDE_BUILD" -lringside
cat >"$RINGSIDE_SCRATCH/restless.c" <<'END'
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Functions of names that cases look for, and a moment's sleep in the first of them. */
#define FUNCTION __attribute__((noinline, noclone))
static volatile unsigned int ticks, locked, readers;

FUNCTION void schedule(void)
{
	static const struct timespec moment = { .tv_nsec = 250000 };

	nanosleep(&moment, 0);
	ticks++;
}

FUNCTION void sched_tick(void) { ticks += 2; }
FUNCTION void mutex_lock(void) { locked = ticks; }
FUNCTION void mutex_unlock(void) { locked = 0; }
FUNCTION void rcu_read_begin(void) { readers++; }
FUNCTION void rcu_read_end(void) { readers--; }
FUNCTION void sys_restless(void) { schedule(); sched_tick(); }

FUNCTION void kernel_clone(void)
{
	pid_t child = fork();

	if (!child)
		_exit(0);
	waitpid(child, 0, 0);
}

int main(void)
{
	for (;;) {
		mutex_lock();
		rcu_read_begin();
		sys_restless();
		rcu_read_end();
		mutex_unlock();
		if (ticks % 1024 < 3)
			kernel_clone();
	}
}
END
# shellcheck disable=SC2086
$CC -O1 "$RINGSIDE_SCRATCH/restless.c" -o "$RINGSIDE_SCRATCH/restless"

# Cases that ask for ping want a program of that name that goes to sleep and is woken.
mkdir -p "$RINGSIDE_SCRATCH/bin"
cat >"$RINGSIDE_SCRATCH/ping.c" <<'END'
#include <stdlib.h>
#include <string.h>
#include <time.h>
int main(int argc, char **argv)
{
	static const struct timespec moment = { .tv_nsec = 20000000 };
	int n = 1;

	for (int i = 1; i + 1 < argc; i++)
		if (!strcmp(argv[i], "-c"))
			n = atoi(argv[i + 1]);
	while (n-- > 0)
		nanosleep(&moment, 0);
	return 0;
}
END
# shellcheck disable=SC2086
$CC -O1 "$RINGSIDE_SCRATCH/ping.c" -o "$RINGSIDE_SCRATCH/bin/ping"

# All are on one CPU, see below, and the machine has its others all the same.
printf '#!/bin/sh\nexec /usr/bin/nproc --all\n' >"$RINGSIDE_SCRATCH/bin/nproc"
chmod +x "$RINGSIDE_SCRATCH/bin/nproc"

# The kernel's modules are libraries that a program loads; theirs is the name, and the names of what is in them. modprobe comes back
# when one is there and has run, rmmod when it is gone.
mkdir "$RINGSIDE_SCRATCH/modules"
cat >"$RINGSIDE_SCRATCH/trace_printk.c" <<'END'
#include <ringside/ringside.h>
#define FUNCTION __attribute__((noinline, noclone))
#define SAY(who) \
	ringside_printf(who "This is a static string that will use trace_bputs"); \
	ringside_printf(who "This is a dynamic string that will use %s", "trace_puts"); \
	ringside_printf(who "This is a %s that will use trace_bprintk()", "format"); \
	ringside_printf(who "This is a %s that will use trace_printk()", "dynamic string")

FUNCTION void trace_printk_irq_work(void)
{
	SAY("(irq) ");
}

void work(void)
{
	SAY("");
	trace_printk_irq_work();
}
END
cat >"$RINGSIDE_SCRATCH/trace_events_sample.c" <<'END'
#include <ringside/ringside.h>
RINGSIDE_EVENT(sample, foo_bar, field(int, bar), print("foo %d", bar))
RINGSIDE_EVENT(sample, foo_bar_with_cond, field(int, bar), print("foo %d", bar))

void work(void)
{
	static int n;

	trace_sample_foo_bar(n);
	trace_sample_foo_bar_with_cond(n++);
}
END
for module in trace_printk trace_events_sample; do
	# shellcheck disable=SC2086
	$CC -std=gnu11 -O2 -g -shared -fPIC -I"$RINGSIDE_SOURCE/include" "$RINGSIDE_SCRATCH/$module.c" \
		-o "$RINGSIDE_SCRATCH/modules/$module" -L"$RINGSIDE_BUILD" -Wl,-rpath,"$RINGSIDE_BUILD" -lringside
done
cat >"$RINGSIDE_SCRATCH/insmod.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <time.h>
int main(int argc, char **argv)
{
	static const struct timespec moment = { .tv_nsec = 100000000 };
	void *module = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	void (*work)(void) = module ? (void (*)(void))dlsym(module, "work") : NULL;

	if (!work)
		return 1;
	work();
	puts("loaded");
	fclose(stdout);
	for (;;) {
		nanosleep(&moment, 0);
		work();
	}
}
END
# shellcheck disable=SC2086
$CC -O1 "$RINGSIDE_SCRATCH/insmod.c" -o "$RINGSIDE_SCRATCH/insmod"
cat >"$RINGSIDE_SCRATCH/bin/modprobe" <<'END'
#!/bin/sh
name=$(echo "$1" | tr - _)
module=$RINGSIDE_SCRATCH/modules/$name
[ -f "$module" ] || exit 1
mkfifo "$module.loaded"
"$RINGSIDE_SCRATCH/insmod" "$module" >"$module.loaded" 2>/dev/null &
echo $! >"$module.pid"
grep -q loaded <"$module.loaded"
status=$?
rm "$module.loaded"
exit $status
END
cat >"$RINGSIDE_SCRATCH/bin/rmmod" <<'END'
#!/bin/sh
module=$RINGSIDE_SCRATCH/modules/$(echo "$1" | tr - _)
pid=$(cat "$module.pid" 2>/dev/null) || exit 1
rm "$module.pid"
kill "$pid"
while kill -0 "$pid" 2>/dev/null; do
	sleep 0.05
done
END
chmod +x "$RINGSIDE_SCRATCH/bin/modprobe" "$RINGSIDE_SCRATCH/bin/rmmod"

# All cases but those that the list leaves out; or the ones that are asked for.
cd "$kernel/$part/test.d"
cases=${FTRACETEST-$(find . -name '*.tc' | sed 's|^\./||' | sort)}
expect=$here/ftracetest.expect
set --
for case in $cases; do
	! grep -q "^OUT  *$case " "$expect" || continue
	set -- "$@" "$PWD/$case"
	! grep -q "^RACES  *$case " "$expect" || set -- "$@" "$PWD/$case" "$PWD/$case"
done
[ $# -gt 0 ] || { echo "no cases to run"; exit 1; }

limit=${FTRACETEST_LIMIT-840}
export limit kernel
status=0
# On one CPU: a file of ours is a word to the server and back, thousands of times a case, and waking another CPU takes longer than the
# answer. Before others, who wait for it in the end.
cpu=$(taskset -cp $$ | sed 's/.*[ ,-]//')
nice -n -5 taskset -c "$cpu" "$here/stage" sh "$here/ftracetest.sh" --on-stage "$@" >"$RINGSIDE_SCRATCH/out" 2>&1 || status=$?
if [ $status -eq 77 ]; then
	cat "$RINGSIDE_SCRATCH/out"
	exit 77
fi

# Lines of the suite's own: [4] (instance) Basic trace clock test	[PASS]; each log begins with the file.
: >"$results"
sed -n 's/^\[\([0-9]*\)\].*\[\([A-Z]*\)\]$/\1 \2/p' "$RINGSIDE_SCRATCH/out" |
while read -r number result; do
	log=$(ls "$RINGSIDE_SCRATCH/logs/$number-"*)
	file=$(sed -n '1s|^execute.*/test\.d/||p' "$log")
	where=
	! head -n 1 "$log" | grep -q '^execute (instance)' || where=' (instance)'
	echo "$result $file$where" >>"$results"
	case $result in
	PASS|UNSUPPORTED) [ -n "${FTRACETEST-}" ] || continue ;;
	esac
	echo "--- $result $file$where"
	tail -n 40 "$log" | cut -c 1-200
done

# How it compares: for each line of the list that was run, and for each result that is not in the list.
asked=$RINGSIDE_SCRATCH/asked
printf '%s\n' "$@" | sed "s|^$PWD/||" >"$asked"
awk -v list="$expect" -v asked="$asked" '
BEGIN {
	good["PASS"] = good["XFAIL"] = 1
	while ((getline line < asked) > 0)
		run[line] = 1
	while ((getline line < list) > 0) {
		if (line ~ /^#/ || line ~ /^(OUT|RACES) / || split(line, word, " ") < 2)
			continue
		name = word[2] (word[3] == "(instance)" ? " (instance)" : "")
		if (word[2] in run)
			want[name] = word[1]
	}
}
# Of one that ran more than once the best.
{
	name = $2 ($3 == "(instance)" ? " (instance)" : "")
	if (!(name in came) || !good[came[name]])
		came[name] = $1
}
END {
	for (name in came) {
		got = came[name]
		count[got]++
		if (!(name in want)) {
			print "new   " name ": " got
			if (got == "FAIL")
				bad = 1
		} else if (got != want[name]) {
			print (good[got] ? "better " : "WORSE ") name ": " got ", was " want[name]
			if (!good[got])
				bad = 1
		}
	}
	for (name in want)
		if (!(name in came)) {
			print "WORSE " name ": did not run, was " want[name]
			bad = 1
		}
	printf "%d passed, %d failed, %d unsupported, %d unresolved, %d untested, %d expected to fail\n",
		count["PASS"], count["FAIL"], count["UNSUPPORTED"], count["UNRESOLVED"], count["UNTESTED"],
		count["XFAIL"]
	exit bad
}' "$results" || bad=1

if [ $status -ne 0 ]; then
	echo "the suite did not come to its end: $status"
	tail -n 20 "$RINGSIDE_SCRATCH/out"
	exit 1
fi
exit ${bad-0}
