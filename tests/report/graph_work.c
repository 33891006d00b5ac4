/*
 * Work for function_graph, done in the virtual machine of graph_vm: calls that fail, that are short, that sleep for up to a
 * second, words in between, and two tasks that take turns on a CPU.
 */
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int marker, on;

static void insist(int is_so)
{
	if (!is_so)
		_exit(1);
}

static void nap(long us)
{
	struct timespec time = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&time, NULL);
}

static void say(const char *words)
{
	insist(write(marker, words, strlen(words)) > 0);
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	insist(!sched_setaffinity(0, sizeof(set), &set));
}

static void child(int from)
{
	char c;

	prctl(PR_SET_NAME, "a-long-name-ofit");
	insist(read(from, &c, 1) == 1);
	say("woken");
	insist(read(-1, &c, 1) < 0);
	_exit(0);
}

int main(void)
{
	int pair[2];
	char c;

	pin(0);
	marker = open("/sys/kernel/tracing/trace_marker", O_WRONLY);
	on = open("/sys/kernel/tracing/tracing_on", O_WRONLY);
	insist(marker >= 0 && on >= 0 && !pipe(pair));
	/* The end of this write is recorded, its beginning was not. */
	insist(write(on, "1", 1) == 1);
	say("hello\n");
	insist(open("/nowhere/to/be/found", O_RDONLY) < 0);
	insist(read(77, &c, 1) < 0);
	if (!fork())
		child(pair[0]);
	nap(1000);
	insist(write(pair[1], "x", 1) == 1);
	nap(20000);
	nap(150000);
	pin(1);
	say("two\nlines\n");
	nap(1200000);
	wait(NULL);
	insist(write(on, "0", 1) == 1);
	return 0;
}
