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
