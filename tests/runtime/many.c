/*
 * Ten thousand processes that come, trace and go: by fork, and by exec so that each attaches anew. Every event is there, and the
 * directory is no larger than after the first few.
 */
#include "runtime/trace.h"

#include <sys/stat.h>

#include "control/registry.h"

#define FORKS 10000u
#define EXECS 304u

static struct note_event event;

static int one(uint32_t who)
{
	note_write(&event, who, 0, NOTE_MIN);
	return 0;
}

static uint64_t directory_bytes(const struct control *control)
{
	uint64_t sum = 0;

	for (int i = 0; i < SEGMENT_KINDS; i++) {
		struct stat st;

		CHECK(!fstat(control->dir.fd[i], &st), "%s", strerror(errno));
		sum += (uint64_t)st.st_blocks * 512;
	}
	return sum;
}

/* Slots that are not free, and bytes of the heap. */
static uint64_t registry_used(const struct control *control, uint64_t *heap)
{
	struct registry_slot *slots = malloc(REGISTRY_EVENTS * sizeof(*slots));
	struct registry_head head;
	uint64_t used = 0;
	int fd = control->dir.fd[SEGMENT_REGISTRY];

	CHECK(pread(fd, &head, sizeof(head), 0) == sizeof(head), "registry");
	CHECK(pread(fd, slots, REGISTRY_EVENTS * sizeof(*slots), REGISTRY_EVENTS_OFFSET) > 0, "registry");
	for (uint32_t i = 0; i < REGISTRY_EVENTS; i++)
		used += slots[i].state != REGISTRY_FREE;
	*heap = head.heap_used;
	free(slots);
	return used;
}

static uint32_t names_in(const char *path)
{
	char command[4300];
	FILE *list;
	int c;
	uint32_t lines = 0;

	snprintf(command, sizeof(command), "ls -A '%s'", path);
	list = popen(command, "r");
	CHECK(list, "%s", strerror(errno));
	while ((c = fgetc(list)) != EOF)
		lines += c == '\n';
	pclose(list);
	return lines;
}

static void start_some(uint32_t from, uint32_t count, bool exec)
{
	const uint32_t batch = 8;

	for (uint32_t i = 0; i < count; i += batch) {
		for (uint32_t n = 0; n < batch; n++) {
			char who[16];
			pid_t pid = fork();

			CHECK(pid >= 0, "%s", strerror(errno));
			if (pid)
				continue;
			if (!exec)
				_exit(one(from + i + n));
			snprintf(who, sizeof(who), "%u", from + i + n);
			execl("/proc/self/exe", "traced", who, (char *)NULL);
			_exit(127);
		}
		for (uint32_t n = 0; n < batch; n++) {
			int status;

			CHECK(wait(&status) > 0 && !status, "a process ends with %x", status);
		}
	}
}

static void see(const struct seen *seen, void *ctx)
{
	uint8_t *there = ctx;

	CHECK(seen->who < FORKS + EXECS + 64 && !there[seen->who], "who %u", seen->who);
	there[seen->who] = 1;
}

int main(int argc, char **argv)
{
	static uint8_t there[FORKS + EXECS + 64];
	struct control *control;
	const struct state_set *live;
	uint64_t bytes, rings, slots, heap, heap_after, count;
	uint32_t names;

	if (argc > 1) {
		event = note_event("many");
		return one((uint32_t)strtoul(argv[1], NULL, 10));
	}
	control = tool_start(500);
	event = note_event("many");
	start_some(FORKS + EXECS, 32, false);
	start_some(FORKS + EXECS + 32, 32, true);
	bytes = directory_bytes(control);
	slots = registry_used(control, &heap);
	names = names_in(control->dir.path);
	start_some(0, FORKS, false);
	start_some(FORKS, EXECS, true);
	printf("directory %llu -> %llu bytes, %llu slots\n", (unsigned long long)bytes,
	       (unsigned long long)directory_bytes(control), (unsigned long long)slots);
	/* Names of threads take a fixed table, a slot for a tid, and the first few need not have come by every ring: these, and
	 * no more, may fill up. */
	tool_refresh(control);
	live = &control->state.buffers[0].live;
	rings = set_size(control->dir.ncpu, live->npages, live->page_size);
	CHECK(directory_bytes(control) <= bytes + rings + REGISTRY_TASKS * sizeof(struct registry_task) + 65536,
	      "the directory grows with the number of processes");
	CHECK(registry_used(control, &heap_after) == slots, "slots are leaked");
	CHECK(heap_after == heap, "the heap grows from %llu to %llu", (unsigned long long)heap,
	      (unsigned long long)heap_after);
	CHECK(names_in(control->dir.path) == names, "files are left behind");
	count = read_all(control, false, see, there, NULL);
	CHECK(count == FORKS + EXECS + 64, "%llu events", (unsigned long long)count);
	control_close(control);
	return 0;
}
