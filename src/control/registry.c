/*
 * control/registry: see registry.h.
 *
 * The tables are read slot by slot from one copy of each, and texts from one copy of the heap that
 * is made after the tables: a slot is marked ready after its text was written, so the text of a slot
 * that was ready in the table is in the heap. What is in neither is not seen, this time.
 */
#include "control/registry.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/file.h"

/* One table and what its slots point to. */
struct picture {
	const struct segment_dir *dir;
	struct registry_slot *slots;
	const char *heap;
	uint64_t heap_len;
};

/* Bytes of a slot's blob, at least `head` of them, or NULL. */
static const char *blob(const struct picture *picture, const struct registry_slot *slot, size_t head)
{
	if (slot->state != REGISTRY_READY || slot->text_len < head ||
	    slot->text_len > REGISTRY_TEXT_MAX || slot->text < REGISTRY_HEAP_OFFSET ||
	    slot->text - REGISTRY_HEAP_OFFSET > picture->heap_len ||
	    slot->text_len > picture->heap_len - (slot->text - REGISTRY_HEAP_OFFSET))
		return NULL;
	return picture->heap + (slot->text - REGISTRY_HEAP_OFFSET);
}

/* Is this `len` bytes and a NUL, with no NUL or control character before? */
static bool is_name(const char *text, size_t len, size_t room)
{
	if (len >= room || text[len])
		return false;
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			return false;
	return true;
}

/* A system or an event: also the name of a file in the tree. */
static bool is_file_name(const char *text, size_t len, size_t room)
{
	return len && len <= REGISTRY_NAME_MAX && is_name(text, len, room) && text[0] != '.' &&
	       !memchr(text, '/', len) && !memchr(text, ':', len) && !memchr(text, ' ', len);
}

static bool event_take(struct control_event *event, const struct picture *picture, uint32_t i)
{
	const struct registry_slot *slot = &picture->slots[i];
	struct registry_event_blob head;
	const char *text = blob(picture, slot, sizeof(head));
	size_t room;

	if (!text)
		return false;
	memcpy(&head, text, sizeof(head));
	text += sizeof(head);
	room = slot->text_len - sizeof(head);
	if (!is_file_name(text, head.system_len, room))
		return false;
	event->system = text;
	text += head.system_len + 1u;
	room -= head.system_len + 1u;
	if (!is_file_name(text, head.name_len, room))
		return false;
	event->name = text;
	text += head.name_len + 1u;
	room -= head.name_len + 1u;
	event->body = text;
	event->body_len = (uint32_t)strnlen(text, room);
	event->id = EVENT_ID_FIRST + i;
	event->related = slot->related;
	event->hint = slot->hint;
	event->dynamic = slot->dynamic;
	event->named = slot->named;
	event->number = slot->number;
	return true;
}

static int event_compare(const void *a, const void *b)
{
	const struct control_event *x = a, *y = b;
	int r = strcmp(x->system, y->system);

	if (!r)
		r = strcmp(x->name, y->name);
	/* What a program brought is newer than what is only a name. */
	if (!r)
		r = (int)x->named - (int)y->named;
	if (!r)
		r = x->number > y->number ? -1 : x->number < y->number;
	return r ? r : x->id < y->id ? -1 : x->id > y->id;
}

/* A slot that is taken and shows nothing yet, or never will: its claimant may have died. */
static void halfway_take(struct control_registry *registry, uint32_t state, uint64_t at)
{
	struct control_moment *moment = &registry->moment;

	if (state <= REGISTRY_READY)
		return;
	registry->unsettled = true;
	if (moment->nhalfway < CONTROL_REGISTRY_HALFWAY_MAX) {
		moment->halfway[moment->nhalfway].at = at + offsetof(struct registry_slot, state);
		moment->halfway[moment->nhalfway].state = state;
	}
	moment->nhalfway++;
}

void control_registry_show(struct control_registry *registry)
{
	for (uint32_t i = 0; i < registry->nevents; i++) {
		struct control_event *event = &registry->events[i];

		event->shown = !i || strcmp(event[-1].system, event->system) ||
			       strcmp(event[-1].name, event->name);
	}
}

static int events_take(struct control_registry *registry, const struct picture *picture)
{
	registry->events = calloc(REGISTRY_EVENTS, sizeof(*registry->events));
	if (!registry->events)
		return -ENOMEM;
	for (uint32_t i = 0; i < REGISTRY_EVENTS; i++) {
		if (event_take(&registry->events[registry->nevents], picture, i))
			registry->nevents++;
		else
			halfway_take(registry, picture->slots[i].state,
				     REGISTRY_EVENTS_OFFSET + i * sizeof(struct registry_slot));
	}
	qsort(registry->events, registry->nevents, sizeof(*registry->events), event_compare);
	for (uint32_t i = 0; i < registry->nevents; i++)
		registry->has_dynamic |= registry->events[i].dynamic;
	control_registry_show(registry);
	return 0;
}

static bool format_take(struct control_format *format, const struct picture *picture, uint32_t i)
{
	const struct registry_slot *slot = &picture->slots[i];
	struct registry_format_blob head;
	const char *text = blob(picture, slot, sizeof(head));
	size_t room;

	if (!text)
		return false;
	memcpy(&head, text, sizeof(head));
	text += sizeof(head);
	room = slot->text_len - sizeof(head);
	if (!is_name(text, head.func_len, room))
		return false;
	format->func = text;
	text += head.func_len + 1u;
	room -= head.func_len + 1u;
	if (head.format_len >= room || text[head.format_len])
		return false;
	format->text = text;
	format->address = format_space_address(i);
	format->ip = head.ip;
	return true;
}

static int formats_take(struct control_registry *registry, const struct picture *picture)
{
	registry->formats = calloc(REGISTRY_FORMATS, sizeof(*registry->formats));
	if (!registry->formats)
		return -ENOMEM;
	for (uint32_t i = 0; i < REGISTRY_FORMATS; i++) {
		if (format_take(&registry->formats[registry->nformats], picture, i))
			registry->nformats++;
		else
			halfway_take(registry, picture->slots[i].state,
				     REGISTRY_FORMATS_OFFSET + i * sizeof(struct registry_slot));
	}
	return 0;
}

static bool elf_take(struct control_elf *elf, const struct picture *picture, uint32_t i)
{
	const struct registry_slot *slot = &picture->slots[i];
	struct registry_elf_blob head;
	const char *text = blob(picture, slot, sizeof(head));
	size_t room;

	if (!text)
		return false;
	memcpy(&head, text, sizeof(head));
	text += sizeof(head);
	room = slot->text_len - sizeof(head);
	if (head.build_id_len > room ||
	    !is_name(text + head.build_id_len, head.path_len, room - head.build_id_len))
		return false;
	elf->base = symbol_space_base(i);
	elf->build_id = (const unsigned char *)text;
	elf->build_id_len = head.build_id_len;
	elf->path = text + head.build_id_len;
	elf->program = head.program == 1;
	return true;
}

static int elfs_take(struct control_registry *registry, const struct picture *picture)
{
	registry->elfs = calloc(REGISTRY_ELFS, sizeof(*registry->elfs));
	if (!registry->elfs)
		return -ENOMEM;
	for (uint32_t i = 0; i < REGISTRY_ELFS; i++)
		if (elf_take(&registry->elfs[registry->nelfs], picture, i))
			registry->nelfs++;
	return 0;
}

static int task_compare(const void *a, const void *b)
{
	const struct control_task *x = a, *y = b;

	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

void control_registry_clean(char comm[16])
{
	comm[15] = '\0';
	for (int i = 0; comm[i]; i++)
		if ((unsigned char)comm[i] < ' ' || comm[i] == 0x7f)
			comm[i] = '?';
}

/*
 * Is the process that told its name still the one of this number? Its threads have start times of their own, which
 * nobody wrote down. Without a start time, a process of the same number is taken for the same.
 */
static bool is_running(const struct control_task *task, uint32_t start)
{
	char path[64], text[1024], *name_end;
	unsigned long long now = 0;
	FILE *file;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%" PRId32 "/stat", task->tgid);
	file = fopen(path, "re");
	if (!file)
		return false;
	n = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[n] = '\0';
	name_end = strrchr(text, ')');
	if (!name_end || sscanf(name_end + 1, " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
				"%*s %*s %*s %*s %*s %*s %llu", &now) != 1)
		return false;
	return !start || (uint32_t)now == start;
}

/* The present name of a thread that still runs: it may have changed since it was written down. */
static void refresh_comm(struct control_task *task, uint32_t start)
{
	char path[64], comm[16];
	FILE *file;
	size_t n;

	if (!is_running(task, start))
		return;
	snprintf(path, sizeof(path), "/proc/%" PRId32 "/task/%" PRId32 "/comm", task->tgid,
		 task->tid);
	file = fopen(path, "re");
	if (!file)
		return;
	n = fread(comm, 1, sizeof(comm), file);
	fclose(file);
	while (n && (comm[n - 1] == '\n' || n == sizeof(comm)))
		n--;
	if (!n)
		return;
	memcpy(task->comm, comm, n);
	task->comm[n] = '\0';
	control_registry_clean(task->comm);
	task->running = true;
}

static int tasks_take(struct control_registry *registry, const struct registry_task *table)
{
	registry->tasks = calloc(REGISTRY_TASKS, sizeof(*registry->tasks));
	if (!registry->tasks)
		return -ENOMEM;
	for (uint32_t i = 0; i < REGISTRY_TASKS; i++) {
		struct control_task *task = &registry->tasks[registry->ntasks];

		if (table[i].tid <= 0 || table[i].seq & 1 ||
		    (uint32_t)table[i].tid % REGISTRY_TASKS != i)
			continue;
		task->tid = table[i].tid;
		task->tgid = table[i].tgid;
		memcpy(task->comm, table[i].comm, sizeof(task->comm));
		control_registry_clean(task->comm);
		memcpy(task->told, task->comm, sizeof(task->told));
		refresh_comm(task, table[i].start);
		registry->ntasks++;
	}
	qsort(registry->tasks, registry->ntasks, sizeof(*registry->tasks), task_compare);
	return 0;
}

static int heap_read(struct control_registry *registry, struct picture *picture, struct err *err)
{
	struct registry_head head;
	uint64_t size, end;
	int r;

	r = control_file_read(picture->dir, SEGMENT_REGISTRY, &head, sizeof(head), 0, err);
	if (!r)
		r = control_file_size(picture->dir, SEGMENT_REGISTRY, &size, err);
	if (r)
		return r;
	end = head.heap_used < REGISTRY_SIZE ? head.heap_used : REGISTRY_SIZE;
	end = end < size ? end : size;
	picture->heap_len = end > REGISTRY_HEAP_OFFSET ? end - REGISTRY_HEAP_OFFSET : 0;
	/* One byte more, so that nothing is empty; the texts bring their own ends. */
	registry->heap = calloc(1, picture->heap_len + 1);
	if (!registry->heap)
		return err_set(err, -ENOMEM, "out of memory");
	picture->heap = registry->heap;
	return control_file_read(picture->dir, SEGMENT_REGISTRY, registry->heap, picture->heap_len,
				 REGISTRY_HEAP_OFFSET, err);
}

static const struct table {
	unsigned int what;
	uint32_t count;
	uint64_t offset;
	int (*take)(struct control_registry *registry, const struct picture *picture);
} tables[] = {
	{ CONTROL_REGISTRY_EVENTS, REGISTRY_EVENTS, REGISTRY_EVENTS_OFFSET, events_take },
	{ CONTROL_REGISTRY_FORMATS, REGISTRY_FORMATS, REGISTRY_FORMATS_OFFSET, formats_take },
	{ CONTROL_REGISTRY_ELFS, REGISTRY_ELFS, REGISTRY_ELFS_OFFSET, elfs_take },
};

#define NTABLES (sizeof(tables) / sizeof(tables[0]))

/* All slots of the wanted tables, one after the other, then the heap, then what it means. */
static int tables_read(struct control_registry *registry, struct picture *picture,
		       unsigned int what, struct err *err)
{
	struct registry_slot *slots[NTABLES] = { NULL };
	int r = 0;

	for (size_t i = 0; !r && i < NTABLES; i++) {
		if (!(what & tables[i].what))
			continue;
		slots[i] = malloc(tables[i].count * sizeof(struct registry_slot));
		r = slots[i] ? control_file_read(picture->dir, SEGMENT_REGISTRY, slots[i],
						 tables[i].count * sizeof(struct registry_slot),
						 tables[i].offset, err)
			     : err_set(err, -ENOMEM, "out of memory");
	}
	if (!r)
		r = heap_read(registry, picture, err);
	for (size_t i = 0; !r && i < NTABLES; i++) {
		picture->slots = slots[i];
		if (slots[i] && tables[i].take(registry, picture))
			r = err_set(err, -ENOMEM, "out of memory");
	}
	for (size_t i = 0; i < NTABLES; i++)
		free(slots[i]);
	return r;
}

static int tasks_read(struct control_registry *registry, const struct segment_dir *dir,
		      struct err *err)
{
	struct registry_task *table = malloc(REGISTRY_TASKS * sizeof(*table));
	int r;

	if (!table)
		return err_set(err, -ENOMEM, "out of memory");
	r = control_file_read(dir, SEGMENT_REGISTRY, table, REGISTRY_TASKS * sizeof(*table),
			      REGISTRY_TASKS_OFFSET, err);
	if (!r && tasks_take(registry, table))
		r = err_set(err, -ENOMEM, "out of memory");
	free(table);
	return r;
}

int control_registry_read(struct control_registry *registry, const struct segment_dir *dir,
			  unsigned int what, struct err *err)
{
	struct picture picture = { .dir = dir };
	int r;

	memset(registry, 0, sizeof(*registry));
	r = control_registry_number(dir, &registry->moment.number, err);
	if (!r && what & ~(unsigned int)CONTROL_REGISTRY_TASKS)
		r = tables_read(registry, &picture, what, err);
	if (!r && what & CONTROL_REGISTRY_TASKS)
		r = tasks_read(registry, dir, err);
	if (r)
		control_registry_fini(registry);
	return r;
}

void control_registry_fini(struct control_registry *registry)
{
	free(registry->events);
	free(registry->formats);
	free(registry->tasks);
	free(registry->elfs);
	free(registry->heap);
	memset(registry, 0, sizeof(*registry));
}

/* The first event that is not before this name; the newest of that name, if there is one. */
static uint32_t lower_bound(const struct control_registry *registry, const char *system,
			    const char *name)
{
	uint32_t low = 0, high = registry->nevents;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int r = strcmp(registry->events[middle].system, system);

		if (!r)
			r = strcmp(registry->events[middle].name, name);
		if (r < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t control_registry_system(const struct control_registry *registry, const char *system)
{
	return lower_bound(registry, system, "");
}

const struct control_event *control_registry_find(const struct control_registry *registry,
						  const char *system, const char *name)
{
	uint32_t i = lower_bound(registry, system, name);
	const struct control_event *event = i < registry->nevents ? &registry->events[i] : NULL;

	return event && !strcmp(event->system, system) && !strcmp(event->name, name) ? event : NULL;
}

int control_registry_number(const struct segment_dir *dir, uint64_t *number, struct err *err)
{
	return control_file_read(dir, SEGMENT_REGISTRY, number, sizeof(*number),
				 offsetof(struct registry_head, number), err);
}

uint32_t control_registry_no_returns(const struct segment_dir *dir)
{
	uint32_t n;

	return control_file_read(dir, SEGMENT_REGISTRY, &n, sizeof(n), offsetof(struct registry_head, no_returns), NULL) ? 0 : n;
}

bool control_registry_has_more(const struct control_moment *moment, const struct segment_dir *dir)
{
	uint64_t number;
	uint32_t state;

	if (control_registry_number(dir, &number, NULL) || number != moment->number ||
	    moment->nhalfway > CONTROL_REGISTRY_HALFWAY_MAX)
		return true;
	for (uint32_t i = 0; i < moment->nhalfway; i++)
		if (control_file_read(dir, SEGMENT_REGISTRY, &state, sizeof(state), moment->halfway[i].at, NULL) ||
		    state != moment->halfway[i].state)
			return true;
	return false;
}

int control_registry_names(const struct segment_dir *dir, uint32_t *mark, struct err *err)
{
	size_t len = REGISTRY_TASKS * sizeof(struct registry_task);
	uint64_t *table = malloc(len), sum = 0;
	int r;

	if (!table)
		return err_set(err, -ENOMEM, "out of memory");
	r = control_file_read(dir, SEGMENT_REGISTRY, table, len, REGISTRY_TASKS_OFFSET, err);
	/* A megabyte, looked at each second: no more than a step a word. */
	for (size_t i = 0; !r && i < len / sizeof(*table); i++)
		sum = (sum ^ table[i]) * 0x9e3779b97f4a7c15u;
	*mark = (uint32_t)(sum >> 32);
	free(table);
	return r;
}

const struct control_event *control_registry_event(const struct control_registry *registry,
						   uint32_t id)
{
	for (uint32_t i = 0; i < registry->nevents; i++)
		if (registry->events[i].id == id)
			return &registry->events[i];
	return NULL;
}

static const struct control_task *find_task(const struct control_registry *registry, int32_t tid)
{
	struct control_task key = { .tid = tid };

	return registry->ntasks ? bsearch(&key, registry->tasks, registry->ntasks,
					  sizeof(*registry->tasks), task_compare) : NULL;
}

const char *control_registry_comm(const struct control_registry *registry, int32_t tid)
{
	const struct control_task *task = find_task(registry, tid);

	return task ? task->comm : NULL;
}

int32_t control_registry_tgid(const struct control_registry *registry, int32_t tid)
{
	const struct control_task *task = find_task(registry, tid);

	return task ? task->tgid : 0;
}
