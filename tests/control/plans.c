/*
 * Plans are filed once for each file that is brought, and shared by those of one build-id; a planner files what programs wish for
 * while it runs; what was scribbled over is no plan.
 */
#include "control/plans.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "control/registry.h"
#include "insist.h"

static char place[64];	/* of the test's files */

static void run(const char *fmt, const char *a, const char *b)
{
	char line[1024];

	snprintf(line, sizeof(line), fmt, a, b);
	CHECK(!system(line), "%s", line);
}

/* A program with a library of its own, and neither has symbols that the other has. */
static void build(void)
{
	run("cat >%s/lib.c <<'E'\nint in_library(int a) { return a * a + 41; }\nE\n%s", place, "");
	run("cat >%s/main.c <<'E'\nint in_library(int);\nint in_program(int a) { return in_library(a) * 3; }\n"
	    "int main(void) { return in_program(1) != 126; }\nE\n%s", place, "");
	run("cd %s && gcc -O2 -shared -fPIC -Wl,--build-id lib.c -o libmade.so && "
	    "gcc -O2 -Wl,--build-id main.c -L. -lmade -Wl,-rpath,'%s' -o made", place, place);
}

static const struct control_function *find(const struct control_functions *functions, const char *name, const char *module)
{
	for (size_t i = 0; i < functions->n; i++)
		if (!strcmp(functions->all[i].name, name) && !strcmp(functions->all[i].module, module))
			return &functions->all[i];
	return NULL;
}

static struct plans_head *head_of(struct control *control)
{
	struct plans_head *head = mmap(NULL, sizeof(*head), PROT_READ | PROT_WRITE, MAP_SHARED, control->dir.fd[SEGMENT_PLANS], 0);

	CHECK(head != MAP_FAILED, "mmap");
	return head;
}

static void brought_with_libraries(struct control *control)
{
	struct err err = ERR_INIT;
	struct control_functions functions;
	const struct control_function *found;
	char path[128];

	snprintf(path, sizeof(path), "%s/made", place);
	CHECK(!control_plans_bring(control, path, &err), "%s", err.text);
	CHECK(!control_functions_read(&functions, control, &err), "%s", err.text);
	found = find(&functions, "in_program", "made");
	CHECK(found && found->program && found->kind == PLAN_JUMP, "in_program");
	found = find(&functions, "in_library", "libmade.so");
	CHECK(found && !found->program && found->kind == PLAN_JUMP, "in_library");
	CHECK(found->address >= SYMBOL_SPACE_BASE, "%llx", (unsigned long long)found->address);
	CHECK(find(&functions, "malloc", "libc.so.6"), "malloc");
	CHECK(!find(&functions, "_dl_debug_state", "ld-linux-x86-64.so.2"), "hidden ones are not shown");
	CHECK(find(&functions, "__tls_get_addr", "ld-linux-x86-64.so.2")->reason == PLAN_SPECIAL, "the loader's own");
	control_functions_fini(&functions);
}

static uint64_t used(struct control *control)
{
	struct plans_head *head = head_of(control);
	uint64_t n = head->used;

	munmap(head, sizeof(*head));
	return n;
}

static void filed_once(struct control *control)
{
	struct err err = ERR_INIT;
	uint64_t before = used(control);
	char path[128];

	snprintf(path, sizeof(path), "%s/made", place);
	CHECK(before > PLANS_DATA_OFFSET, "nothing was filed");
	CHECK(!control_plans_bring(control, path, &err), "%s", err.text);
	CHECK(used(control) == before, "filed again");
	/* Another name, the same file: its functions have addresses of their own, and the plan is the same. */
	run("cp %s/made %s/again", place, place);
	snprintf(path, sizeof(path), "%s/again", place);
	CHECK(!control_plans_bring(control, path, &err), "%s", err.text);
	CHECK(used(control) == before, "not shared");
}

/* The slot that a program of that name has. */
static uint32_t slot_of(struct control *control, const char *name)
{
	struct control_registry registry;
	struct err err = ERR_INIT;
	uint32_t slot = REGISTRY_ELFS;

	CHECK(!control_registry_read(&registry, &control->dir, CONTROL_REGISTRY_ELFS, &err), "%s", err.text);
	for (uint32_t i = 0; i < registry.nelfs; i++) {
		const char *slash = strrchr(registry.elfs[i].path, '/');

		if (slash && !strcmp(slash + 1, name))
			slot = (uint32_t)((registry.elfs[i].base - symbol_space_base(0)) >> SYMBOL_SPACE_SHIFT);
	}
	control_registry_fini(&registry);
	CHECK(slot < REGISTRY_ELFS, "%s is not there", name);
	return slot;
}

static void without_build_id(struct control *control)
{
	struct err err = ERR_INIT;
	struct control_functions functions;
	uint64_t before;
	char path[128];

	snprintf(path, sizeof(path), "%s/plain", place);
	run("echo 'int first(void) { return 1; } int main(void) { return first(); }' | gcc -Wl,--build-id=none -xc - -o %s%s", path, "");
	CHECK(!control_plans_bring(control, path, &err), "%s", err.text);
	CHECK(!control_functions_read(&functions, control, &err), "%s", err.text);
	CHECK(find(&functions, "first", "plain"), "first");
	control_functions_fini(&functions);
	run("echo 'int second(void) { return 1; } int main(void) { return second(); }' | gcc -Wl,--build-id=none -xc - -o %s%s", path, "");
	CHECK(!control_functions_read(&functions, control, &err), "%s", err.text);
	CHECK(find(&functions, "second", "plain") && !find(&functions, "first", "plain"), "built anew");
	control_functions_fini(&functions);
	before = used(control);
	CHECK(!control_functions_read(&functions, control, &err), "%s", err.text);
	control_functions_fini(&functions);
	CHECK(used(control) == before, "planned again, though nothing has changed");
}

static void scribbled(struct control *control)
{
	struct control_functions functions;
	struct err err = ERR_INIT;
	struct plans_head *head = head_of(control);
	uint32_t slot = slot_of(control, "libmade.so");
	uint64_t right = head->plan[slot];
	static const uint64_t wrong[] = { 8, 4096, PLANS_DATA_OFFSET + 1, PLANS_DATA_OFFSET + 8, UINT64_MAX - 7, 1ull << 40 };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		head->plan[slot] = wrong[i];
		CHECK(!control_functions_read(&functions, control, &err), "%s", err.text);
		CHECK(!find(&functions, "in_library", "libmade.so") && find(&functions, "malloc", "libc.so.6"), "%zu", i);
		control_functions_fini(&functions);
	}
	head->plan[slot] = right;
	munmap(head, sizeof(*head));
}

static void refused(struct control *control)
{
	struct err err = ERR_INIT;

	CHECK(control_plans_bring(control, "/nonexistent/file", &err) && *err.text, "no file");
	err = (struct err)ERR_INIT;
	CHECK(control_plans_bring(control, "/etc/passwd", &err) && strstr(err.text, "ELF"), "%s", err.text);
}

/* ---- a planner ---- */

static volatile sig_atomic_t stop;

static void *planner(void *arg)
{
	struct err err = ERR_INIT;

	CHECK(!control_plans_serve(arg, &stop, -1, &err), "%s", err.text);
	return NULL;
}

static void served(struct control *control)
{
	struct registry_head *registry = mmap(NULL, sizeof(*registry), PROT_READ | PROT_WRITE, MAP_SHARED,
					      control->dir.fd[SEGMENT_REGISTRY], 0);
	struct plans_head *head = head_of(control);
	struct control *other;
	struct err err = ERR_INIT;
	pthread_t thread;
	uint32_t slot = slot_of(control, "libmade.so"), filed;

	CHECK(registry != MAP_FAILED, "mmap");
	CHECK(!control_again(&other, control, &err), "%s", err.text);
	CHECK(!pthread_create(&thread, NULL, planner, other), "pthread_create");
	while (__atomic_load_n(&head->planner, __ATOMIC_ACQUIRE) != (uint32_t)getpid())
		usleep(1000);
	for (int i = 0; i < 3; i++) {
		/* As a program does whose file has no plan yet. */
		__atomic_store_n(&head->plan[slot], 0, __ATOMIC_SEQ_CST);
		__atomic_fetch_add(&registry->wishes, 1, __ATOMIC_SEQ_CST);
		syscall(SYS_futex, &registry->wishes, FUTEX_WAKE, 1, NULL, NULL, 0);
		for (;;) {
			filed = __atomic_load_n(&head->filed, __ATOMIC_ACQUIRE);
			if (__atomic_load_n(&head->plan[slot], __ATOMIC_ACQUIRE))
				break;
			syscall(SYS_futex, &head->filed, FUTEX_WAIT, filed, NULL, NULL, 0);
		}
		CHECK(head->plan[slot] >= PLANS_DATA_OFFSET, "%llx", (unsigned long long)head->plan[slot]);
	}
	stop = 1;
	pthread_join(thread, NULL);
	CHECK(!head->planner, "the planner has gone");
	control_close(other);
	CHECK(!control_plans_serve(control, NULL, 0, &err), "%s", err.text);
	CHECK(!head->planner, "the planner has gone");
	munmap(head, sizeof(*head));
	munmap(registry, sizeof(*registry));
}

int main(void)
{
	struct control *control;
	struct err err = ERR_INIT;

#if !defined(__x86_64__)
	puts("plans are of x86-64");
	return 77;
#endif
	snprintf(place, sizeof(place), "%s", getenv("RINGSIDE_SCRATCH") ? getenv("RINGSIDE_SCRATCH") : ".");
	build();
	CHECK(!control_open(&control, NULL, true, &err), "%s", err.text);
	brought_with_libraries(control);
	filed_once(control);
	without_build_id(control);
	scribbled(control);
	refused(control);
	served(control);
	control_close(control);
	return 0;
}
