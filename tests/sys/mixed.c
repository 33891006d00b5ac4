/*
 * Threads that make system calls, processes, threads and signals all the time, and say what came of it: `mixed ROUNDS`. Whatever is
 * switched meanwhile, it is the same. For storm.sh.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int rounds = 30;
static volatile int fails, over;
static pthread_t sleeper;
static __thread volatile sig_atomic_t hits;

#define SURE(cond) \
	do { \
		if (!(cond)) { \
			fails++; \
			fprintf(stderr, "line %d: %s\n", __LINE__, #cond); \
		} \
	} while (0)

static void on_signal(int sig)
{
	int saved = errno;

	(void)sig;
	hits++;
	getppid();
	errno = saved;
}

__attribute__((noinline)) int work(int n)
{
	return n * 3 + 1;
}

__attribute__((noinline)) long calls(int n)
{
	long sum = 0;

	for (int i = 0; i < n; i++) {
		char got[8];
		int ends[2], fd = open("/dev/null", O_RDWR);

		SURE(fd >= 0 && !pipe(ends) && write(ends[1], "abcd", 4) == 4 && read(ends[0], got, sizeof(got)) == 4);
		sum += got[i % 4] + work(i);
		close(ends[0]);
		close(ends[1]);
		close(fd);
	}
	return sum;
}

static void *make_calls(void *sum)
{
	for (int i = 0; i < rounds * 3; i++)
		*(long *)sum += calls(20);
	return NULL;
}

/* Ends with that status? */
static int ends_with(pid_t child, int status)
{
	int got = -1;

	while (waitpid(child, &got, 0) < 0)
		if (errno != EINTR)
			return 0;
	return WIFEXITED(got) && WEXITSTATUS(got) == status;
}

static void *make_forks(void *sum)
{
	for (int i = 0; i < rounds; i++) {
		pid_t child = fork();

		if (!child) {
			calls(3);
			_exit(7);
		}
		SURE(ends_with(child, 7));
		child = vfork();
		if (!child) {
			work(1);
			execl("/bin/true", "true", (char *)NULL);
			_exit(9);
		}
		SURE(ends_with(child, 0));
		child = vfork();
		if (!child) {
			getppid();
			_exit(5);
		}
		SURE(ends_with(child, 5));
		++*(long *)sum;
	}
	return NULL;
}

static void *make_spawns(void *sum)
{
	char *argv[] = { (char *)"true", NULL }, said[16];
	pid_t child;

	for (int i = 0; i < rounds; i++) {
		FILE *pipe;

		SURE(!posix_spawn(&child, "/bin/true", NULL, NULL, argv, environ) && ends_with(child, 0));
		SURE(system("exit 3") == 3 << 8);
		pipe = popen("echo hello", "r");
		SURE(pipe && fgets(said, sizeof(said), pipe) && !strcmp(said, "hello\n") && !pclose(pipe));
		++*(long *)sum;
	}
	return NULL;
}

static void *same(void *arg)
{
	return arg;
}

static void *make_threads(void *sum)
{
	for (long i = 0; i < rounds * 4; i++) {
		pthread_t thread;
		void *got;

		SURE(!pthread_create(&thread, NULL, same, (void *)i) && !pthread_join(thread, &got));
		*(long *)sum += (long)got;
	}
	return NULL;
}

/* To itself, on a stack for it, held off and not. */
static void *make_signals(void *sum)
{
	stack_t stack = { .ss_sp = malloc(65536), .ss_size = 65536 };
	const struct timespec moment = { .tv_nsec = 1000 };
	sigset_t all, before;

	sigaltstack(&stack, NULL);
	sigfillset(&all);
	for (int i = 0; i < rounds * 30; i++) {
		int had = hits;

		pthread_kill(pthread_self(), SIGUSR1);
		SURE(hits == had + 1);
		pthread_sigmask(SIG_SETMASK, &all, &before);
		pthread_kill(pthread_self(), SIGUSR1);
		getppid();
		SURE(hits == had + 1);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
		SURE(hits == had + 2);
		ppoll(NULL, 0, &moment, &before);
		++*(long *)sum;
	}
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
	free(stack.ss_sp);
	return NULL;
}

/* One that waits, and another that wakes it. */
static void *sleep_on(void *unused)
{
	struct pollfd none = { .fd = -1 };

	while (!over)
		poll(&none, 1, 5);
	return unused;
}

static void *wake(void *sum)
{
	for (int i = 0; i < rounds * 20; i++) {
		pthread_kill(sleeper, SIGUSR2);
		usleep(100);
		++*(long *)sum;
	}
	return NULL;
}

static void *make_memory(void *sum)
{
	for (int i = 0; i < rounds * 20; i++) {
		char *memory = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		SURE(memory != MAP_FAILED);
		memory[100] = 7;
		mprotect(memory, 4096, PROT_READ);
		*(long *)sum += memory[100];
		munmap(memory, 65536);
		free(malloc(200000));
		sched_yield();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static void *(*const doers[])(void *) = {
		make_calls, make_forks, make_spawns, make_threads, make_signals, wake, make_memory, make_calls,
	};
	struct sigaction act = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_RESTART };
	pthread_t thread[8];
	long sum[8] = { 0 };

	if (argc > 1)
		rounds = atoi(argv[1]);
	sigaction(SIGUSR1, &act, NULL);
	sigaction(SIGUSR2, &act, NULL);
	pthread_create(&sleeper, NULL, sleep_on, NULL);
	for (int i = 0; i < 8; i++)
		pthread_create(&thread[i], NULL, doers[i], &sum[i]);
	for (int i = 0; i < 8; i++)
		pthread_join(thread[i], NULL);
	over = 1;
	pthread_join(sleeper, NULL);
	for (int i = 0; i < 8; i++)
		printf("%d %ld\n", i, sum[i]);
	return fails != 0;
}
