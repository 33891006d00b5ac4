/*
 * A part of hard.c: how threads and processes begin, live and end: in the middle of calls, looked at by themselves, with files that come
 * and go, and with less and less to live on.
 */
#ifndef TESTS_FUNC_HARD_LIVES_H
#define TESTS_FUNC_HARD_LIVES_H

/* ---- Threads ---- */

static void cleaned(void *arg)
{
	__atomic_fetch_add((int *)arg, 1, __ATOMIC_RELAXED);
	leaf(4);
}

static NOINLINE void end_below(int depth, int *count)
{
	pthread_cleanup_push(cleaned, count);
	KEEP(depth);
	if (depth)
		end_below(depth - 1, count);
	else
		pthread_exit(NULL);
	leaf(5);
	pthread_cleanup_pop(0);
}

static void *ends(void *arg)
{
	end_below(7, arg);
	return NULL;
}

static NOINLINE void spin_below(int depth, int *count)
{
	pthread_cleanup_push(cleaned, count);
	KEEP(depth);
	if (depth)
		spin_below(depth - 1, count);
	else
		for (;;) {
			outer(1);
			pthread_testcancel();
		}
	leaf(6);
	pthread_cleanup_pop(0);
}

static void *cancelled(void *arg)
{
	spin_below(7, arg);
	return NULL;
}

static void *cancelled_anywhere(void *arg)
{
	(void)arg;
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (uint64_t i = 0;; i++)
		outer(i);
	return NULL;
}

static void threads(void)
{
	pthread_t all[24];
	void *result;
	int count = 0, were = 0;

	for (int round = 0; round < 6; round++) {
		for (int i = 0; i < 24; i++)
			pthread_create(&all[i], NULL, i % 3 == 0 ? ends : i % 3 == 1 ? cancelled : cancelled_anywhere, &count);
		for (int i = 0; i < 24; i++) {
			if (i % 3)
				pthread_cancel(all[i]);
			pthread_join(all[i], &result);
			were += result == PTHREAD_CANCELED;
		}
	}
	/* Those that were cancelled before they began cleaned nothing up. */
	printf("threads %d %d\n", count >= 6 * 8 * 8, were);
}

static void *leaves_all(void *arg)
{
	outer(1);
	(void)arg;
	printf("main is gone\n");
	exit(5);
}

/* The first thread ends before the others. */
static void main_ends(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, leaves_all, NULL);
	pthread_exit(NULL);
}

static NOINLINE void exit_below(int depth)
{
	KEEP(depth);
	if (depth)
		exit_below(depth - 1);
	fflush(stdout);
	_exit(6);
}

static void *busy(void *arg)
{
	for (uint64_t i = 0;; i++)
		outer(i);
	return arg;
}

static void at_once(void)
{
	pthread_t thread;

	for (int i = 0; i < 4; i++)
		pthread_create(&thread, NULL, busy, NULL);
	outer(2);
	exit_below(30);
}

/* ---- Processes ---- */

static int wait_for(pid_t pid)
{
	int status = -1;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static NOINLINE pid_t vfork_below(int depth)
{
	char *const args[] = { "sh", "-c", "exit 9", NULL };
	pid_t pid;

	KEEP(depth);
	if (depth)
		return vfork_below(depth - 1) + 0 * (pid_t)leaf(1);
	pid = vfork();
	if (!pid) {
		leaf(7);
		execve("/bin/sh", args, environ);
		_exit(127);
	}
	return pid;
}

static void processes(void)
{
	char *const args[] = { "sh", "-c", "exit 11", NULL };
	int sum = 0;
	pid_t pid, all[200];

	for (int i = 0; i < 10; i++)
		sum += wait_for(vfork_below(i));
	for (int i = 0; i < 10; i++) {
		if (posix_spawn(&pid, "/bin/sh", NULL, NULL, args, environ))
			printf("no posix_spawn\n");
		sum += wait_for(pid);
	}
	sum += WEXITSTATUS(system("exit 13"));
	fflush(stdout);
	for (int i = 0; i < 200; i++) {
		all[i] = fork();
		if (!all[i]) {
			outer((uint64_t)i);
			_exit(i % 100);
		}
	}
	for (int i = 0; i < 200; i++)
		sum += wait_for(all[i]);
	printf("processes %d\n", sum);
}

/* Forks of forks while threads run. */
static void forks(void)
{
	pthread_t thread;
	pid_t pid, first;

	for (int i = 0; i < 3; i++)
		pthread_create(&thread, NULL, busy, NULL);
	fflush(stdout);
	for (int i = 0; i < 40; i++) {
		pid = first = fork();
		for (int below = 0; !pid && below < 3; below++) {
			outer(3);
			pid = fork();
			if (pid)
				_exit(wait_for(pid) + 1);
		}
		if (!first) {
			outer(4);
			_exit(1);
		}
		if (wait_for(first) != 4)
			printf("a fork went wrong\n");
	}
	printf("forks\n");
}

/* ---- Who looks at the stack ---- */

static NOINLINE void trace_below(int depth)
{
	void *frames[64];
	char **names;
	int n;

	KEEP(depth);
	if (depth) {
		trace_below(depth - 1);
		leaf(8);
		return;
	}
	n = backtrace(frames, 64);
	names = backtrace_symbols(frames, n);
	for (int i = 0; i < n; i++) {
		char *open = strchr(names[i], '('), *close = open ? strchr(open, ')') : NULL;

		/* Within libc it is where it is; of ours, names and distances. */
		if (open && close && !strstr(names[i], "libc.so"))
			printf("%.*s\n", (int)(close - open + 1), open);
	}
	free(names);
}

static void traces(void)
{
	for (int i = 0; i < 3; i++)
		trace_below(3 * i);
}

/* From a handler, whose stack is right above the one that it interrupts. */
static void trace_interrupted(int sig)
{
	(void)sig;
	trace_below(1);
}

static NOINLINE void interrupted(uint64_t n)
{
	KEEP(n);
	raise(SIGUSR2);
	leaf(n);
}

static NOINLINE void walked_over(uint64_t n)
{
	KEEP(n);
	leaf(n);
}

static void *traced_above(void *stack)
{
	const stack_t alt = { .ss_sp = (char *)stack + (1 << 20), .ss_size = 1 << 20 };

	sigaltstack(&alt, NULL);
	for (uint64_t i = 0; i < 3; i++) {
		interrupted(i);
		walked_over(i);
	}
	return NULL;
}

static void traces_above(void)
{
	void *stack = mmap(NULL, 2 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct sigaction action = { .sa_handler = trace_interrupted, .sa_flags = SA_ONSTACK };
	pthread_attr_t attributes;
	pthread_t thread;

	sigaction(SIGUSR2, &action, NULL);
	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, stack, 1 << 20);
	pthread_create(&thread, &attributes, traced_above, stack);
	pthread_join(thread, NULL);
}

static NOINLINE uintptr_t ask_return(void)
{
	return (uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0));
}

static void returns(void)
{
	uintptr_t a = ask_return();

	printf("returns %d\n", a > (uintptr_t)returns && a < (uintptr_t)returns + 200);
}

/* ---- The loader ---- */

static void *loader(void *arg)
{
	static const char *const names[] = { "libm.so.6", "libz.so.1", "libresolv.so.2", "./libhard.so" };
	unsigned seed = (unsigned)(uintptr_t)arg;

	for (int i = 0; i < 150; i++) {
		const char *name = names[rand_r(&seed) % 4];
		void *lib = dlopen(name, i % 2 ? RTLD_NOW : RTLD_LAZY);
		int (*call)(int) = lib ? (int (*)(int))dlsym(lib, "hard_lib") : NULL;

		if (call && call(i) != i * 7 + 1)
			printf("wrong answer\n");
		outer((uint64_t)i);
		if (lib)
			dlclose(lib);
	}
	return NULL;
}

static void loads(void)
{
	pthread_t all[6];

	for (int i = 0; i < 6; i++)
		pthread_create(&all[i], NULL, loader, (void *)(uintptr_t)(i + 1));
	for (int i = 0; i < 6; i++)
		pthread_join(all[i], NULL);
	printf("loads\n");
}

/* ---- Less and less to live on ---- */

static void descriptors(void)
{
	const struct rlimit few = { 3, 3 };

	for (int fd = 3; fd < 1024; fd++)
		close(fd);
	setrlimit(RLIMIT_NOFILE, &few);
	for (uint64_t i = 0; i < 2000; i++)
		outer(i);
	printf("descriptors\n");
}

/* Gives up system calls but a few, with death for the others. */
static void sandbox(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { 5, filter };
	const char done[] = "sandbox\n";

	fflush(stdout);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(1);
	for (uint64_t i = 0; i < 20000; i++)
		outer(i);
	state_a(100000, 1);
	recurse(5000);
	if (write(1, done, sizeof(done) - 1) < 0)
		_exit(2);
	_exit(0);
}

/* The same behind the libc's back, so that no runtime can know of it. */
static void sandbox_raw(void)
{
	const char done[] = "strict\n";

	outer(1);
	fflush(stdout);
	syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, NULL);
	for (uint64_t i = 0; i < 20000; i++)
		outer(i);
	recurse(5000);
	if (write(1, done, sizeof(done) - 1) < 0)
		syscall(SYS_exit, 2);
	syscall(SYS_exit, 0);
}

static void rooted(void)
{
	if (chroot("/proc/self/fdinfo") || chdir("/")) {
		printf("rooted\n");
		return;
	}
	for (uint64_t i = 0; i < 20000; i++)
		outer(i);
	if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
		printf("no setuid\n");
	for (uint64_t i = 0; i < 20000; i++)
		outer(i);
	printf("rooted\n");
}

#endif
