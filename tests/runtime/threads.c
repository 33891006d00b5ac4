/*
 * Threads, four times as many as cores, that start, trace and end over and over: every event is there, under its thread's tid and
 * name (R6), and the program has no thread that it did not start.
 */
#include "runtime/trace.h"

#include <pthread.h>
#include <sys/prctl.h>

#include "control/registry.h"

#define LIVES 40

static struct ledger *ledger;
static struct note_event event;

static void *life(void *arg)
{
	uint32_t who = ledger_join(ledger);
	char name[16];

	(void)arg;
	snprintf(name, sizeof(name), "life-%u", who);
	/* Before the first event, or after it. */
	if (who % 2)
		pthread_setname_np(pthread_self(), name);
	for (uint32_t i = 0; i < 200; i++)
		ledger_say(ledger, who, &event, NOTE_MIN + i % 24 * 4);
	if (who % 2 == 0)
		prctl(PR_SET_NAME, name);
	return NULL;
}

static uint32_t threads_now(void)
{
	char line[256];
	uint32_t n = 0;
	FILE *status = fopen("/proc/self/status", "re");

	while (status && fgets(line, sizeof(line), status))
		if (sscanf(line, "Threads: %u", &n) == 1)
			break;
	if (status)
		fclose(status);
	return n;
}

/* The newest name of a tid: those that were used again meanwhile are somebody else's. */
static uint32_t check_names(struct control *control)
{
	struct control_registry registry;
	struct err err = ERR_INIT;
	uint32_t right = 0;

	CHECK(!control_registry_read(&registry, &control->dir, CONTROL_REGISTRY_TASKS, &err), "%s", err.text);
	for (uint32_t i = 0; i < registry.ntasks; i++)
		for (uint32_t who = 0; who < ledger->rows; who++) {
			char name[16];

			snprintf(name, sizeof(name), "life-%u", who);
			right += registry.tasks[i].tid == ledger->row[who].tid && !strcmp(registry.tasks[i].comm, name);
		}
	control_registry_fini(&registry);
	return right;
}

static void *waits(void *arg)
{
	pthread_barrier_t *barrier = arg;
	uint32_t who = ledger_join(ledger);

	ledger_say(ledger, who, &event, NOTE_MIN);
	pthread_barrier_wait(barrier);
	pthread_barrier_wait(barrier);
	return NULL;
}

/* One that has told its name, and gets another from somebody else. */
static void check_named_by_another(struct control *control)
{
	struct control_registry registry;
	struct err err = ERR_INIT;
	pthread_barrier_t barrier;
	pthread_t thread;
	bool found = false;

	pthread_barrier_init(&barrier, NULL, 2);
	CHECK(!pthread_create(&thread, NULL, waits, &barrier), "pthread_create");
	pthread_barrier_wait(&barrier);
	CHECK(!pthread_setname_np(thread, "by-another"), "pthread_setname_np");
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&barrier);
	CHECK(!control_registry_read(&registry, &control->dir, CONTROL_REGISTRY_TASKS, &err), "%s", err.text);
	for (uint32_t i = 0; i < registry.ntasks; i++)
		found |= registry.tasks[i].tid == ledger->row[ledger->rows - 1].tid &&
			 !strcmp(registry.tasks[i].comm, "by-another");
	control_registry_fini(&registry);
	CHECK(found, "the name that another gave is not known");
}

int main(void)
{
	struct control *control = tool_start(2000);
	uint32_t n = 4 * cores(), names;
	pthread_t *thread = calloc(n, sizeof(*thread));

	ledger = shared_memory(sizeof(*ledger));
	event = note_event("threads");
	for (int round = 0; round < LIVES; round++) {
		for (uint32_t i = 0; i < n; i++)
			CHECK(!pthread_create(&thread[i], NULL, life, NULL), "pthread_create");
		for (uint32_t i = 0; i < n; i++)
			pthread_join(thread[i], NULL);
		if (round % 8 == 3)
			tool_enable(control, "other", "life", round % 16 == 3);
	}
	check_named_by_another(control);
	/* A joined thread may still be on its way out. */
	for (int i = 0; i < 1000 && threads_now() != 1; i++)
		usleep(10000);
	CHECK(threads_now() == 1, "the program has %u threads", threads_now());
	ledger_verify(ledger, control, false);
	names = check_names(control);
	printf("%u of %u names\n", names, ledger->rows);
	CHECK(names >= ledger->rows / 2, "threads are nameless");
	free(thread);
	control_close(control);
	return 0;
}
