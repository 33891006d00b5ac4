/*
 * A part of hard.c: what a thread does to its stack. It jumps out of functions, switches to others, grows without end, and is interrupted
 * on it.
 */
#ifndef TESTS_FUNC_HARD_STACKS_H
#define TESTS_FUNC_HARD_STACKS_H

/* ---- Jumps ---- */

static jmp_buf there;
static sigjmp_buf back;

static NOINLINE void jump_from(int depth)
{
	KEEP(depth);
	if (depth)
		jump_from(depth - 1);
	else
		longjmp(there, 1);
	leaf(1);
}

static void out_of_handler(int sig)
{
	outer((uint64_t)sig);
	siglongjmp(back, 1);
}

static NOINLINE void raise_below(int depth)
{
	KEEP(depth);
	if (depth)
		raise_below(depth - 1);
	else
		raise(SIGUSR1);
	leaf(2);
}

static void jumps(void)
{
	volatile int n = 0, m = 0;

	for (volatile int i = 0; i < 5000; i++) {
		if (setjmp(there))
			n++;
		else
			jump_from(i % 50);
	}
	signal(SIGUSR1, out_of_handler);
	for (volatile int i = 0; i < 2000; i++) {
		if (sigsetjmp(back, 1))
			m++;
		else
			raise_below(i % 20);
	}
	printf("jumps %d %d %lx\n", n, m, outer(7));
}

/* Out of whatever is going on, at any moment. */
static volatile sig_atomic_t leaps;

static void leap(int sig)
{
	leaps++;
	inner((uint64_t)sig);
	siglongjmp(back, 1);
}

static void leaping(void)
{
	const struct itimerval every = { { 0, 100 }, { 0, 100 } }, never = { { 0, 0 }, { 0, 0 } };
	volatile uint64_t i = 0, same = 0;

	signal(SIGALRM, leap);
	if (!sigsetjmp(back, 1))
		setitimer(ITIMER_REAL, &every, NULL);
	while (leaps < 3000) {
		same |= outer(i) ^ outer(i);
		i++;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_IGN);
	printf("leaping %lx %lx\n", (unsigned long)same, outer(8));
}

/* ---- Stacks of their own ---- */

#define COROS 64
#define CORO_STACK 16384
static struct coro {
	ucontext_t context, *from;
	uint64_t sum;
	int rounds, done;
	char *stack;
} coros[COROS];

static NOINLINE void coro_yield(struct coro *coro)
{
	swapcontext(&coro->context, coro->from);
}

static NOINLINE void coro_work(struct coro *coro, int depth)
{
	KEEP(depth);
	coro->sum += leaf((uint64_t)depth);
	if (depth)
		coro_work(coro, depth - 1);
	coro_yield(coro);
	coro->sum += inner((uint64_t)depth);
}

static void coro_main(int i)
{
	for (int n = 0; n < coros[i].rounds; n++)
		coro_work(&coros[i], n % 10);
	coros[i].done = 1;
	for (;;)
		coro_yield(&coros[i]);
}

static void coro_make(int i, int rounds)
{
	struct coro *coro = &coros[i];

	coro->stack = malloc(CORO_STACK);
	coro->rounds = rounds;
	getcontext(&coro->context);
	coro->context.uc_stack.ss_sp = coro->stack;
	coro->context.uc_stack.ss_size = CORO_STACK;
	coro->context.uc_link = NULL;
	makecontext(&coro->context, (void (*)(void))(void *)coro_main, 1, i);
}

static NOINLINE void coro_go(struct coro *coro)
{
	ucontext_t here;

	coro->from = &here;
	swapcontext(&here, &coro->context);
}

static void contexts(void)
{
	uint64_t sum = 0;
	int left = 1;

	for (int i = 0; i < COROS; i++)
		coro_make(i, 20 + i);
	while (left) {
		left = 0;
		for (int i = COROS - 1; i >= 0; i--)
			if (!coros[i].done) {
				coro_go(&coros[i]);
				left = 1;
			}
	}
	for (int i = 0; i < COROS; i++)
		sum += coros[i].sum;
	printf("contexts %lx\n", sum);
}

/* Handed on by a signal handler, at any moment, to the next. */
static ucontext_t turns[3], finished;
static volatile int turn;
static volatile sig_atomic_t handed;

static void hand_on(int sig)
{
	int from = turn;

	handed++;
	inner((uint64_t)sig);
	turn = (turn + 1) % 3;
	swapcontext(&turns[from], &turns[turn]);
}

static void take_turns(int i)
{
	uint64_t wrong = 0;
	sigset_t alarm;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigprocmask(SIG_UNBLOCK, &alarm, NULL);
	for (uint64_t n = (uint64_t)i; handed < 3000; n++)
		wrong |= outer(n) ^ outer(n);
	signal(SIGALRM, SIG_IGN);
	if (wrong)
		printf("wrong\n");
	setcontext(&finished);
}

static void preempted(void)
{
	const struct itimerval every = { { 0, 100 }, { 0, 100 } }, never = { { 0, 0 }, { 0, 0 } };
	volatile int again = 0;
	sigset_t alarm;

	/* Who was never there begins with the signal blocked: setcontext() sets the mask first, and the rest later. */
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigprocmask(SIG_BLOCK, &alarm, NULL);
	getcontext(&finished);
	if (!again) {
		again = 1;
		for (int i = 0; i < 3; i++) {
			getcontext(&turns[i]);
			turns[i].uc_stack.ss_size = 1 << 16;
			turns[i].uc_stack.ss_sp = malloc(1 << 16);
			makecontext(&turns[i], (void (*)(void))(void *)take_turns, 1, i);
		}
		signal(SIGALRM, hand_on);
		setitimer(ITIMER_REAL, &every, NULL);
		setcontext(&turns[0]);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	printf("preempted\n");
}

/* Each goes on in whichever thread takes it next. */
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static int queue[COROS + 1], queued;

static void *mover(void *arg)
{
	int i;

	for (;;) {
		pthread_mutex_lock(&queue_lock);
		i = queued ? queue[0] : -1;
		if (i >= 0)
			memmove(queue, queue + 1, sizeof(*queue) * (size_t)--queued);
		pthread_mutex_unlock(&queue_lock);
		if (i < 0)
			return arg;
		coro_go(&coros[i]);
		if (coros[i].done)
			continue;
		pthread_mutex_lock(&queue_lock);
		queue[queued++] = i;
		pthread_mutex_unlock(&queue_lock);
	}
}

static void movers(void)
{
	pthread_t threads[4];
	uint64_t sum = 0;

	for (int i = 0; i < COROS; i++) {
		coro_make(i, 30);
		queue[queued++] = i;
	}
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, mover, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	mover(NULL);
	for (int i = 0; i < COROS; i++)
		sum += coros[i].sum;
	printf("movers %lx\n", sum);
}

/* ---- Depth, tails ---- */

static NOINLINE uint64_t recurse(uint64_t n)
{
	uint64_t r;

	KEEP(n);
	r = n ? recurse(n - 1) : 1;
	KEEP(r);
	return r * 3 + 1;
}

static void deep(void)
{
	printf("deep %lx %lx\n", recurse(100000), recurse(1000));
}

static NOINLINE uint64_t state_a(uint64_t n, uint64_t sum);
static NOINLINE uint64_t state_c(uint64_t n, uint64_t sum)
{
	KEEP(n);
	return n ? state_a(n - 1, sum ^ n) : leaf(sum);
}
static NOINLINE uint64_t state_b(uint64_t n, uint64_t sum)
{
	KEEP(n);
	return n ? state_c(n - 1, sum * 5) : sum;
}
static NOINLINE uint64_t state_a(uint64_t n, uint64_t sum)
{
	KEEP(n);
	return n ? state_b(n - 1, sum + n) : leaf(sum) + 1;
}

static void tails(void)
{
	printf("tails %lx\n", state_a(1000000, 1));
}

/* ---- Signals ---- */

static void tick(int sig)
{
	int saved = errno;

	ticks++;
	outer((uint64_t)sig);
	errno = saved;
}

static void signals(void)
{
	const struct itimerval every = { { 0, 100 }, { 0, 100 } }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction action = { .sa_handler = tick, .sa_flags = SA_RESTART };
	uint64_t sum = 0;

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	for (uint64_t i = 0; ticks < 2000; i++)
		sum |= outer(i) == 0;
	setitimer(ITIMER_REAL, &never, NULL);
	printf("signals %d\n", (int)sum);
}

/* A handler on a stack that has room for so many signals as the system counts one, and a kilobyte for it and for us. */
static void on_altstack(size_t signals)
{
	size_t size = signals * (size_t)getauxval(AT_MINSIGSTKSZ) + 1024;
	char *stack = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t alt = { .ss_sp = stack + 65536 - size, .ss_size = size };
	struct sigaction action = { .sa_handler = tick, .sa_flags = SA_ONSTACK };
	const int before = ticks;

	memset(stack, 0x5a, 65536 - size);
	/* What it calls is looked for the first time elsewhere: on some processors the loader alone needs more than that stack has. */
	raise(0);
	tick(0);
	ticks--;
	if (sigaltstack(&alt, NULL))
		printf("no sigaltstack\n");
	sigaction(SIGUSR2, &action, NULL);
	for (int i = 0; i < 3000; i++)
		raise(SIGUSR2);
	for (size_t i = 0; i < 65536 - size; i++)
		if (stack[i] != 0x5a) {
			printf("altstack overrun by %zu\n", 65536 - size - i);
			return;
		}
	printf("altstack %d\n", (int)ticks - before);
}

static void altstack(void)
{
	on_altstack(1);
}

/* The call by which the handler returns may be a signal, too. */
static void altstack_of_two(void)
{
	on_altstack(2);
}

static sigjmp_buf away_to;

static volatile int leapt;

static NOINLINE void leapt_at_last(uint64_t n)
{
	KEEP(n);
	leaf(n + 2);
}

static NOINLINE void leap_away(int sig)
{
	KEEP(sig);
	leaf((uint64_t)sig);
	if (++leapt == 5000)
		leapt_at_last(1);
	siglongjmp(away_to, 1);
}

static NOINLINE void leapt_from(uint64_t n)
{
	KEEP(n);
	raise(SIGUSR1);
	leaf(n);
}

/* Handlers that never come back from a stack of their own, more often than calls are remembered. */
static void leaping_aside(void)
{
	struct sigaction action = { .sa_handler = leap_away, .sa_flags = SA_ONSTACK };
	char *stack = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const stack_t alt = { .ss_sp = stack, .ss_size = 65536 };

	sigaltstack(&alt, NULL);
	sigaction(SIGUSR1, &action, NULL);
	leapt = 0;
	sigsetjmp(away_to, 1);
	if (leapt < 5000)
		leapt_from(1);
	printf("leaping_aside %d\n", leapt);
}

/* The same for a stack of a coroutine, with nothing below it. */
static void smallstack(void)
{
	static struct coro coro;
	char *stack = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(stack, 0x5a, 65536);
	coros[0] = coro;
	getcontext(&coros[0].context);
	coros[0].rounds = 30;
	coros[0].context.uc_stack.ss_sp = stack + 65536 - 3072;
	coros[0].context.uc_stack.ss_size = 3072;
	makecontext(&coros[0].context, (void (*)(void))(void *)coro_main, 1, 0);
	while (!coros[0].done)
		coro_go(&coros[0]);
	for (size_t i = 0; i < 65536 - 3072; i++)
		if (stack[i] != 0x5a) {
			printf("smallstack overrun by %zu\n", 65536 - 3072 - i);
			return;
		}
	printf("smallstack %lx\n", coros[0].sum);
}

/* One that is never finished, on memory that is given back. What comes then walks a stack below. */
static void *unmapped(void *arg)
{
	const size_t size = 1 << 16;
	char *stack = arg;
	void *frames[8];

	for (int i = 0; i < 20; i++) {
		coros[0].done = 0;
		getcontext(&coros[0].context);
		coros[0].rounds = 1;
		coros[0].context.uc_stack.ss_sp = stack;
		coros[0].context.uc_stack.ss_size = size;
		makecontext(&coros[0].context, (void (*)(void))(void *)coro_main, 1, 0);
		coro_go(&coros[0]);
	}
	munmap(stack, size);
	backtrace(frames, 8);
	inner(1);
	return NULL;
}

static void gone(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	char *all = mmap(NULL, 4 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	/* The thread's stack is right below the other. */
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, all, 1 << 20);
	pthread_create(&thread, &attr, unmapped, all + (1 << 20));
	pthread_join(thread, NULL);
	printf("gone\n");
}

static void blocked(void)
{
	sigset_t all, none;
	uint64_t sum = 0;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &none);
	for (uint64_t i = 0; i < 1000; i++)
		sum += outer(i);
	sum += strlen(getenv("PATH")) != 0;
	sigprocmask(SIG_SETMASK, &none, NULL);
	printf("blocked %lx\n", sum);
}

/* int3 of its own, with a handler of its own. */
static void trapped(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)info, (void)context;
	ticks++;
	leaf(3);
}

static void traps(void)
{
	struct sigaction action = { .sa_sigaction = trapped, .sa_flags = SA_SIGINFO }, old;
	int n = 0;

	sigaction(SIGTRAP, &action, &old);
	n += old.sa_handler == SIG_DFL;
	for (int i = 0; i < 1000; i++) {
		__asm__ volatile("int3");
		outer((uint64_t)i);
	}
	raise(SIGTRAP);
	sigaction(SIGTRAP, NULL, &old);
	n += old.sa_sigaction == trapped;
	printf("traps %d %d\n", (int)ticks, n);
}

#endif
