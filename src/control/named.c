/*
 * control/named: see named.h.
 *
 * Programs claim slots and buckets of the registry with compare-and-swap, so this is the one place of the room that maps
 * the file: once for a directory's life and once for an event's, memory given to all that is touched beforehand.
 */
#include "control/named.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "control/calls.h"
#include "control/file.h"
#include "ring/intern.h"

/* Raised when the lists change: directories get what is new, and keep what they had. */
#define LIST_NUMBER 2u

static const struct {
	const char *name;
	const struct named_event *events;
} systems[] = {
	{ "kmem", named_kmem },
	{ "raw_syscalls", named_raw_syscalls },
	{ "ringside", named_ringside },
	{ "sched", named_sched },
	{ "signal", named_signal },
	{ "timer", named_timer },
};

/* What the runtime records by itself in every program. */
static const struct {
	const char *system;
	const char *name;
} own[] = {
	{ "sched", "sched_process_exec" },
	{ "sched", "sched_process_exit" },
	{ "sched", "sched_process_fork" },
	/* And the tool for them. */
	{ "sched", "sched_switch" },
	{ "sched", "sched_wakeup" },
	{ "sched", "sched_waking" },
};

bool control_named_system(const char *system)
{
	for (size_t i = 0; i < sizeof(systems) / sizeof(systems[0]); i++)
		if (!strcmp(systems[i].name, system))
			return true;
	return !strcmp(system, "syscalls");
}

bool control_event_is_call(const char *system)
{
	return !strcmp(system, "raw_syscalls") || !strcmp(system, "syscalls") || !strcmp(system, "ringside") || !strcmp(system, "signal");
}

/* Of a system call that this machine has. */
static bool is_call(const struct control_event *event)
{
	const char *name = event->name;

	if (strcmp(event->system, "syscalls") != 0)
		return control_call_number("read") >= 0;
	name += !strncmp(name, "sys_enter_", 10) ? 10 : !strncmp(name, "sys_exit_", 9) ? 9 : 0;
	return control_call_number(name) >= 0;
}

bool control_event_has_source(const struct control_event *event)
{
	if (!event->named)
		return true;
	if (!strcmp(event->system, "kmem") && (!strcmp(event->name, "kmalloc") || !strcmp(event->name, "kfree")))
		return control_call_number("read") >= 0;
	if (control_event_is_call(event->system))
		return is_call(event);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (!strcmp(own[i].system, event->system) && !strcmp(own[i].name, event->name))
			return true;
	return false;
}

static int walk_syscalls(named_put *put, void *ctx, struct buf *body)
{
	char name[REGISTRY_NAME_MAX + 1];
	int r = 0;

	for (const char *const *call = named_syscalls; !r && *call; call++) {
		int len = (int)named_syscall_name(*call);

		buf_reset(body);
		named_enter_text(*call, body);
		snprintf(name, sizeof(name), "sys_enter_%.*s", len, *call);
		r = put(ctx, "syscalls", name, body);
		if (r)
			break;
		buf_reset(body);
		named_exit_text(body);
		snprintf(name, sizeof(name), "sys_exit_%.*s", len, *call);
		r = put(ctx, "syscalls", name, body);
	}
	return r;
}

int control_named_walk(named_put *put, void *ctx)
{
	struct buf body = BUF_INIT;
	int r = 0;

	for (size_t i = 0; !r && i < sizeof(systems) / sizeof(systems[0]); i++) {
		for (const struct named_event *event = systems[i].events; !r && event->name; event++) {
			buf_reset(&body);
			named_text(event, &body);
			r = put(ctx, systems[i].name, event->name, &body);
		}
	}
	if (!r)
		r = walk_syscalls(put, ctx, &body);
	buf_fini(&body);
	return r;
}

struct putting {
	struct intern intern;
	struct buf blob;
};

/* The event's slot. */
static int put_slot(struct putting *putting, const char *system, const char *name, const struct buf *body)
{
	struct buf *blob = &putting->blob;
	const struct registry_event_blob head = {
		.system_len = (uint16_t)strlen(system), .name_len = (uint16_t)strlen(name),
	};

	buf_reset(blob);
	buf_add(blob, &head, sizeof(head));
	buf_add(blob, system, head.system_len + 1u);
	buf_add(blob, name, head.name_len + 1u);
	buf_add(blob, body->data, body->len);
	if (buf_failed(body) || buf_failed(blob))
		return -ENOMEM;
	return intern_blob(&putting->intern, REGISTRY_EVENT, blob->data, (uint32_t)blob->len);
}

static int put_one(void *ctx, const char *system, const char *name, const struct buf *body)
{
	int i = put_slot(ctx, system, name, body);

	return i < 0 ? i : 0;
}

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

static bool back(const void *start, uint64_t size)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)start & ~(page - 1);

	/* EINVAL: the kernel is too old for that. */
	return !madvise((void *)from, (size_t)((uintptr_t)start + size - from), MADV_POPULATE_WRITE) || errno == EINVAL;
}

static struct registry_head *map_registry(const struct segment_dir *dir, int *r, struct err *err)
{
	uint64_t size;
	void *map;

	*r = control_file_size(dir, SEGMENT_REGISTRY, &size, err);
	if (*r)
		return NULL;
	if (size < REGISTRY_SIZE) {
		*r = err_set(err, -EUCLEAN, "%s/registry: is cut short: remove %s and start again", dir->path, dir->path);
		return NULL;
	}
	map = mmap(NULL, REGISTRY_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, dir->fd[SEGMENT_REGISTRY], 0);
	if (map == MAP_FAILED) {
		*r = err_set(err, -errno, "%s/registry: cannot be mapped: %s", dir->path, strerror(errno));
		return NULL;
	}
	return map;
}

static int put_all(const struct segment_dir *dir, struct err *err)
{
	struct putting putting = { .intern = { .pid = (uint32_t)getpid(), .back = back, .named = true }, .blob = BUF_INIT };
	const uint32_t number = LIST_NUMBER;
	int r;

	putting.intern.head = map_registry(dir, &r, err);
	if (!putting.intern.head)
		return r;
	r = control_named_walk(put_one, &putting);
	munmap(putting.intern.head, REGISTRY_SIZE);
	buf_fini(&putting.blob);
	if (r)
		return err_set(err, r, "%s/registry: %s", dir->path, strerror(-r));
	return control_file_write(dir, SEGMENT_REGISTRY, &number, sizeof(number), offsetof(struct registry_head, named), err);
}

int control_named_ensure(const struct segment_dir *dir, struct err *err)
{
	uint32_t number;
	int r = control_file_read(dir, SEGMENT_REGISTRY, &number, sizeof(number), offsetof(struct registry_head, named), err);

	return r || number >= LIST_NUMBER ? r : put_all(dir, err);
}

int control_named_bring(const struct segment_dir *dir, const char *system, const char *name, const struct buf *body,
			uint32_t *id, struct err *err)
{
	struct putting putting = { .intern = { .pid = (uint32_t)getpid(), .back = back, .dynamic = true }, .blob = BUF_INIT };
	int r;

	if (strlen(system) > REGISTRY_NAME_MAX || strlen(name) > REGISTRY_NAME_MAX || body->len > REGISTRY_TEXT_MAX - 256)
		return err_set(err, -EINVAL, "%.64s:%.64s is too long for an event", system, name);
	putting.intern.head = map_registry(dir, &r, err);
	if (!putting.intern.head)
		return r;
	r = put_slot(&putting, system, name, body);
	munmap(putting.intern.head, REGISTRY_SIZE);
	buf_fini(&putting.blob);
	if (r < 0)
		return err_set(err, r, "%s/registry: no room for %.64s:%.64s", dir->path, system, name);
	*id = EVENT_ID_FIRST + (uint32_t)r;
	return 0;
}

int control_named_elf(const struct segment_dir *dir, const struct buf *blob, uint32_t *slot, struct err *err)
{
	struct intern intern = { .pid = (uint32_t)getpid(), .back = back };
	int r;

	if (buf_failed(blob) || blob->len > REGISTRY_TEXT_MAX)
		return err_set(err, -ENOMEM, "out of memory");
	intern.head = map_registry(dir, &r, err);
	if (!intern.head)
		return r;
	r = intern_blob(&intern, REGISTRY_ELF, blob->data, (uint32_t)blob->len);
	munmap(intern.head, REGISTRY_SIZE);
	if (r < 0)
		return err_set(err, r, "%s/registry: no room for another file", dir->path);
	*slot = (uint32_t)r;
	return 0;
}

int control_named_adopt(const struct segment_dir *dir, const struct control_event *event, struct err *err)
{
	struct registry_head *head;
	int r = 0;

	if (!event->named)
		return 0;
	head = map_registry(dir, &r, err);
	if (!head)
		return r;
	intern_adopt(head, intern_slot(head, REGISTRY_EVENT, event->id - EVENT_ID_FIRST));
	munmap(head, REGISTRY_SIZE);
	return 0;
}
