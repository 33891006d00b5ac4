/*
 * Writers that number their events, and what a report has to say of them.
 *
 * Each writer is a thread of one of several processes. It leaves in memory that a test shares with it which number it is
 * about to emit and which it has emitted, so that after a kill both bounds of what must have been recorded are known.
 */
#ifndef TESTS_RECORD_NUMBERS_H
#define TESTS_RECORD_NUMBERS_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <ringside/ringside.h>

#include "insist.h"

#define NUMBERS_WRITERS 64
#define NUMBERS_PROCESSES 8
#define NUMBERS_CPUS 1024

RINGSIDE_EVENT(numbers, number, field(unsigned int, who), field(unsigned long long, nr),
	       print("who=%u nr=%llu", who, nr))
/* The same for another buffer; these writers count on their own, behind the others. */
RINGSIDE_EVENT(numbers, other, field(unsigned int, who), field(unsigned long long, nr),
	       print("who=%u nr=%llu", who, nr))

/* Shared by the test and all writers. */
struct numbers {
	uint32_t processes, threads;	/* of each */
	uint32_t burst, pause_us;	/* so many events, then so long nothing */
	uint64_t count;			/* of each writer */
	bool pinned;			/* each thread has one CPU */
	bool two;			/* both events */
	uint32_t pids[NUMBERS_PROCESSES];
	uint32_t running, ended;	/* threads */
	struct {
		uint64_t begun, done;
		char apart[48];
	} writer[NUMBERS_WRITERS];
};

static struct numbers *numbers;

static inline char *scratch_path(const char *name)
{
	const char *dir = getenv("RINGSIDE_SCRATCH");
	char *path;

	CHECK(asprintf(&path, "%s/%s", dir ? dir : "/tmp", name) > 0, "memory");
	return path;
}

static inline void numbers_map(void)
{
	char *path = scratch_path("numbers");
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	CHECK(fd >= 0 && !ftruncate(fd, sizeof(*numbers)), "%s: %s", path, strerror(errno));
	numbers = mmap(NULL, sizeof(*numbers), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(numbers != MAP_FAILED, "mmap: %s", strerror(errno));
	close(fd);
	free(path);
}

static inline uint32_t numbers_writers(void)
{
	return numbers->processes * numbers->threads;
}

static inline void numbers_sleep(uint64_t us)
{
	nanosleep(&(struct timespec){ (time_t)(us / 1000000), (long)(us % 1000000) * 1000 }, NULL);
}

/* ---- the program ---- */

static inline void numbers_pin(uint32_t who)
{
	cpu_set_t may, one;
	int want, cpu = -1;

	CHECK(!sched_getaffinity(0, sizeof(may), &may), "affinity");
	want = (int)(who % (uint32_t)CPU_COUNT(&may));
	for (int i = 0; i < CPU_SETSIZE && want >= 0; i++)
		if (CPU_ISSET(i, &may) && want-- == 0)
			cpu = i;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	CHECK(!sched_setaffinity(0, sizeof(one), &one), "affinity");
}

static inline void *numbers_write(void *arg)
{
	uint32_t who = (uint32_t)(uintptr_t)arg;

	if (numbers->pinned)
		numbers_pin(who);
	__atomic_add_fetch(&numbers->running, 1, __ATOMIC_SEQ_CST);
	for (uint64_t i = 1; i <= numbers->count; i++) {
		__atomic_store_n(&numbers->writer[who].begun, i, __ATOMIC_RELEASE);
		trace_numbers_number(who, i);
		if (numbers->two)
			trace_numbers_other(who, i);
		__atomic_store_n(&numbers->writer[who].done, i, __ATOMIC_RELEASE);
		if (numbers->pause_us && i % numbers->burst == 0)
			numbers_sleep(numbers->pause_us);
	}
	__atomic_add_fetch(&numbers->ended, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

static inline void numbers_process(uint32_t n)
{
	pthread_t threads[NUMBERS_WRITERS];

	__atomic_store_n(&numbers->pids[n], (uint32_t)getpid(), __ATOMIC_SEQ_CST);
	for (uint32_t i = 0; i < numbers->threads; i++)
		CHECK(!pthread_create(&threads[i], NULL, numbers_write, (void *)(uintptr_t)(n * numbers->threads + i)),
		      "thread");
	for (uint32_t i = 0; i < numbers->threads; i++)
		pthread_join(threads[i], NULL);
}

/* What the recorder runs. The first process is the one that it waits for, and that waits for the others. */
static inline int numbers_main(void)
{
	numbers_map();
	for (uint32_t n = 1; n < numbers->processes; n++) {
		pid_t pid = fork();

		CHECK(pid >= 0, "fork");
		if (!pid) {
			numbers_process(n);
			_exit(0);
		}
	}
	numbers_process(0);
	while (wait(NULL) > 0 || errno == EINTR)
		;
	return 0;
}

/* Kills all of them, the one that is waited for last: nobody writes any more when it ends. */
static inline void numbers_kill(void)
{
	for (uint32_t n = NUMBERS_PROCESSES; n--;) {
		pid_t pid = (pid_t)__atomic_load_n(&numbers->pids[n], __ATOMIC_SEQ_CST);
		char path[64], text[512] = "", *state;

		if (!pid || kill(pid, SIGKILL))
			continue;
		/* Until it is dead, although its parent has not asked. */
		for (bool lives = n; lives; numbers_sleep(100)) {
			snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
			int fd = open(path, O_RDONLY | O_CLOEXEC);
			ssize_t len = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

			if (fd >= 0)
				close(fd);
			text[len > 0 ? len : 0] = '\0';
			state = strrchr(text, ')');
			lives = state && state[2] != 'Z' && state[2] != 'X';
		}
	}
}

/* ---- what a report says ---- */

struct told {
	uint64_t events, lost;
	uint64_t lost_of[NUMBERS_CPUS];		/* each CPU's, of all buffers */
	uint64_t gaps_of[NUMBERS_CPUS];		/* numbers that are not there, by the CPU of the one behind them */
	struct {
		uint64_t first, last, events, gaps;
	} writer[2 * NUMBERS_WRITERS];	/* those of the other event behind the others */
	bool uncounted;			/* something was lost, and nobody knows how much */
	bool unordered;			/* a number is not larger than the one before it */
	char words[200];		/* the line that shows it */
};

static inline void told_event(struct told *told, const char *line, unsigned int cpu)
{
	const char *at = strstr(line, "who=");
	unsigned long long nr;
	unsigned int who;

	CHECK(sscanf(at, "who=%u nr=%llu", &who, &nr) == 2 && who < NUMBERS_WRITERS && cpu < NUMBERS_CPUS,
	      "a strange line: %s", line);
	if (strstr(line, ": other: "))
		who += NUMBERS_WRITERS;
	told->events++;
	if (!told->writer[who].events++)
		told->writer[who].first = nr;
	if (nr <= told->writer[who].last && !told->unordered) {
		told->unordered = true;
		snprintf(told->words, sizeof(told->words), "behind %llu: %.150s",
			 (unsigned long long)told->writer[who].last, line);
		return;
	}
	told->gaps_of[cpu] += nr - told->writer[who].last - 1;
	told->writer[who].gaps += nr - told->writer[who].last - 1;
	told->writer[who].last = nr;
}

/* A line of `ringside report` or `trace-cmd report`. */
static inline void told_line(struct told *told, const char *line)
{
	const char *mark = strstr(line, "CPU:"), *bracket = strchr(line, '[');
	unsigned long long lost;
	unsigned int cpu;

	if (strstr(line, "who=")) {
		CHECK(bracket && sscanf(bracket, "[%u]", &cpu) == 1, "a strange line: %s", line);
		told_event(told, line, cpu);
	} else if (mark && sscanf(mark, "CPU:%u [%llu EVENTS DROPPED]", &cpu, &lost) == 2) {
		CHECK(cpu < NUMBERS_CPUS, "a strange line: %s", line);
		told->lost += lost;
		told->lost_of[cpu] += lost;
	} else if (mark && strstr(mark, "EVENTS DROPPED")) {
		told->uncounted = true;
	}
}

/* Runs a command line and reads what it prints, behind what was read before; its exit status, as a shell has it. */
static inline int told_read(struct told *told, const char *command)
{
	FILE *pipe = popen(command, "r");
	char line[4096];
	int status;

	CHECK(pipe, "popen");
	while (fgets(line, sizeof(line), pipe))
		told_line(told, line);
	status = pclose(pipe);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#endif
