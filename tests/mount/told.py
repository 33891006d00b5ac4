#!/usr/bin/python3
"""When a write to the mount returns, programs that run have been told which of their functions are traced: the code of those is
another then, or what it was. Nobody waits for who is stopped, or has ended; and who asks is told when it has its answer."""

import os
import platform
import shlex
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tree

SCRATCH = os.environ["RINGSIDE_SCRATCH"]
PROGRAM = SCRATCH + "/told"
SIZE = 16

SOURCE = r"""
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile unsigned long sum;

__attribute__((noinline)) void work(unsigned long n)
{
	while (n--)
		sum += n * n;
}

__attribute__((noinline)) void rest(unsigned long n)
{
	while (n--)
		sum ^= n + 3;
}

/* When it is told to: writes to a file, and says what another program's code is then. */
static void ask(void)
{
	char path[1000], memory[100];
	unsigned char code[16];
	long address;
	int fd, mem;

	if (scanf("%999s %99s %ld", path, memory, &address) != 3)
		exit(1);
	fd = open(path, O_WRONLY);
	mem = open(memory, O_RDONLY);
	if (write(fd, "1", 1) != 1 || pread(mem, code, sizeof(code), address) != sizeof(code))
		exit(1);
	for (unsigned int i = 0; i < sizeof(code); i++)
		printf("%02x", code[i]);
	printf("\n");
}

int main(int argc, char **argv)
{
	(void)argv;
	printf("%lu %lu\n", (unsigned long)work, (unsigned long)rest);
	fflush(stdout);
	if (argc > 1)
		ask();
	fflush(stdout);
	for (;;) {
		work(3);
		rest(3);
		usleep(1000);
	}
}
"""


class Program:
    """One that has the runtime from its beginning, and tells where its functions are."""

    all = []

    def __init__(self, *args):
        env = dict(os.environ, LD_PRELOAD=os.environ["RINGSIDE_BUILD"] + "/libringside.so.0")
        self.run = subprocess.Popen([PROGRAM, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)
        Program.all.append(self)
        self.work, self.rest = map(int, self.run.stdout.readline().split())
        self.memory = "/proc/%d/mem" % self.run.pid

    def code(self, address):
        with open(self.memory, "rb", 0) as memory:
            memory.seek(address)
            return memory.read(SIZE)

    def end(self):
        self.run.kill()
        self.run.wait()


def build():
    with open(PROGRAM + ".c", "w") as f:
        f.write(SOURCE)
    subprocess.run(shlex.split(os.environ["CC"]) + ["-O1", PROGRAM + ".c", "-o", PROGRAM], check=True)


def switched(program, work, rest):
    """The tracer on and off, and on another function meanwhile."""
    tree.write("set_ftrace_filter", "work\n")
    tree.check(program.code(program.work) == work, "traced without a tracer")
    tree.write("current_tracer", "function")
    tree.check(program.code(program.work) != work, "the tracer is on, and nobody knows")
    tree.check(program.code(program.rest) == rest, "traced but not in the filter")
    tree.write("set_ftrace_filter", "rest\n")
    tree.check(program.code(program.work) == work, "traced but no more in the filter")
    tree.check(program.code(program.rest) != rest, "in the filter, and nobody knows")
    tree.write("current_tracer", "nop")
    tree.check(program.code(program.rest) == rest, "traced with the tracer off")


def asked(asker, program, work):
    """By a program that is one of those that are told, and would be the first."""
    tree.write("set_ftrace_filter", "work\n")
    tree.write("current_tracer", "nop")
    tree.write("function_profile_enabled", "0")
    asker.run.stdin.write(b"%s %s %d\n" % (tree.path("function_profile_enabled").encode(), program.memory.encode(), program.work))
    asker.run.stdin.close()
    said = asker.run.stdout.readline().strip()
    tree.check(said and said != work.hex().encode(), "asked for, and nobody knows")
    # All there is for this one is that it comes.
    while asker.code(asker.work) == work:
        time.sleep(0.01)
    tree.write("function_profile_enabled", "0")
    tree.check(asker.code(asker.work) == work and program.code(program.work) == work, "profiled when that is off")


def passed_by(program, work, other):
    """One that is stopped is not waited for, nor one that has ended."""
    os.kill(other.run.pid, signal.SIGSTOP)
    os.waitid(os.P_PID, other.run.pid, os.WSTOPPED | os.WNOWAIT)
    tree.write("current_tracer", "function")
    tree.check(program.code(program.work) != work, "another one is stopped, and nobody is told")
    other.end()
    tree.write("current_tracer", "nop")
    tree.check(program.code(program.work) == work, "another one has ended, and nobody is told")


def test():
    try:
        all_of_it()
    finally:
        for program in Program.all:
            program.end()


def all_of_it():
    asker, program, other = Program("ask"), Program(), Program()
    work, rest = program.code(program.work), program.code(program.rest)
    for _ in range(3):
        switched(program, work, rest)
    asked(asker, program, work)
    passed_by(program, work, other)


if platform.machine() != "x86_64":
    print("functions of programs that run are traced on x86-64 alone")
    sys.exit(77)
build()
tree.run(test)
