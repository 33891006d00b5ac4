/*
 * control/names: see names.h. One thread.
 */
#include "control/names.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mono.h"
#include "control/enable.h"
#include "control/file.h"
#include "control/registry.h"
#include "control/symbols.h"
#include "decode/format.h"
#include "layout/registry.h"

#define REFRESH_NS 200000000ull

struct control_names {
	struct control *control;
	struct control_registry registry;
	uint64_t read_at;
	uint64_t number;	/* of things registered, as of then */
	char comm[sizeof(((struct registry_task *)0)->comm) + 1];
	struct decode_ctx ctx;
	bool tried[EVENT_ID_END];	/* of the formats: parsed, or found unusable */
	struct decode_format *formats[EVENT_ID_END];
};

/* How much was ever registered: the word that moves when a program brings something new. */
static uint64_t number_now(const struct control_names *names)
{
	uint64_t number = 0;

	control_file_read(&names->control->dir, SEGMENT_REGISTRY, &number, sizeof(number),
			  offsetof(struct registry_head, number), NULL);
	return number;
}

/*
 * Reads the registry again: at once when something was registered since, else if that was not just
 * done. True when something may have changed.
 */
static bool refresh(struct control_names *names)
{
	struct control_registry fresh;
	uint64_t now = mono_ns(), number = number_now(names);

	if (number == names->number && now - names->read_at < REFRESH_NS)
		return false;
	names->read_at = now;
	names->number = number;
	if (control_registry_read(&fresh, &names->control->dir, CONTROL_REGISTRY_ALL, NULL))
		return false;
	control_registry_fini(&names->registry);
	names->registry = fresh;
	return true;
}

/* One thread's name straight from its slot: threads come and go too fast to read all of them anew. */
static const char *comm_now(struct control_names *names, int pid)
{
	struct registry_task task;
	uint64_t at = REGISTRY_TASKS_OFFSET + (uint32_t)pid % REGISTRY_TASKS * sizeof(task);

	if (control_file_read(&names->control->dir, SEGMENT_REGISTRY, &task, sizeof(task), at, NULL) ||
	    task.tid != pid || task.seq % 2)
		return NULL;
	memcpy(names->comm, task.comm, sizeof(task.comm));
	control_registry_clean(names->comm);
	return names->comm[0] ? names->comm : NULL;
}

static const char *comm(void *arg, int pid)
{
	struct control_names *names = arg;
	const char *name = control_registry_comm(&names->registry, pid);

	/* No program has that number, and nobody tells that a CPU is idle: somebody ran there whom we may not see. */
	if (!pid)
		return "<...>";
	return name || pid < 0 ? name : comm_now(names, pid);
}

static int tgid(void *arg, int pid)
{
	const struct control_names *names = arg;

	return control_registry_tgid(&names->registry, pid);
}

static const struct control_format *find_printk(const struct control_names *names, uint64_t addr)
{
	uint32_t low = 0, high = names->registry.nformats;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (names->registry.formats[middle].address < addr)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < names->registry.nformats && names->registry.formats[low].address == addr)
		return &names->registry.formats[low];
	return NULL;
}

static bool printk(void *arg, uint64_t addr, struct decode_printk *out)
{
	struct control_names *names = arg;
	const struct control_format *format = find_printk(names, addr);

	if (!format && refresh(names))
		format = find_printk(names, addr);
	if (!format)
		return false;
	out->text = format->text;
	out->caller = format->func[0] ? format->func : NULL;
	return true;
}

static bool symbol(void *arg, int pid, uint64_t addr, struct decode_symbol *out)
{
	struct control_names *names = arg;

	(void)pid;
	return control_symbol(names->control, addr, out);
}

static const char *prototype(void *arg, uint64_t func)
{
	return control_prototype(((struct control_names *)arg)->control, func);
}

int control_names_open(struct control_names **out, struct control *control, struct err *err)
{
	struct control_names *names = calloc(1, sizeof(*names));
	int r;

	if (!names)
		return err_set(err, -ENOMEM, "out of memory");
	names->control = control;
	names->ctx = (struct decode_ctx){
		.arg = names,
		.symbol = symbol,
		.flags = control->escape ? DECODE_ESCAPE : 0,
		.printk = printk,
		.comm = comm,
		.tgid = tgid,
		.prototype = prototype,
	};
	names->read_at = mono_ns();
	names->number = number_now(names);
	r = control_registry_read(&names->registry, &control->dir, CONTROL_REGISTRY_ALL, err);
	if (r) {
		free(names);
		return r;
	}
	*out = names;
	return 0;
}

void control_names_close(struct control_names *names)
{
	if (!names)
		return;
	for (uint32_t id = 0; id < EVENT_ID_END; id++)
		decode_format_free(names->formats[id]);
	control_registry_fini(&names->registry);
	free(names);
}

/* The kernel's own text of synthetic events has blanks where the format has commas: between `name=%d` and `name=%d`. */
static void drop_commas(struct buf *text)
{
	char *from = text->data ? strstr(text->data, "\nprint fmt: \"") : NULL, *to;

	if (!from)
		return;
	from += strlen("\nprint fmt: \"");
	for (to = from; *from && *from != '"';) {
		if (from[0] == ',' && from[1] == ' ')
			from++;
		*to++ = *from++;
	}
	memmove(to, from, strlen(from) + 1);
	text->len -= (size_t)(from - to);
}

/* The text of an event's format file and the directory that it stands in. */
static bool format_text(struct control_names *names, uint32_t id, const char **system,
			struct buf *text)
{
	const struct control_event *event;

	*system = "ftrace";
	if (control_builtin_format(id, text))
		return true;
	event = control_registry_event(&names->registry, id);
	if (!event && refresh(names))
		event = control_registry_event(&names->registry, id);
	if (!event)
		return false;
	*system = event->system;
	control_event_format(event, text);
	if (event->dynamic && !strcmp(event->system, "synthetic"))
		drop_commas(text);
	return !buf_failed(text);
}

const struct decode_format *control_names_format(struct control_names *names, uint32_t id)
{
	struct buf text = BUF_INIT;
	const char *system;

	if (id >= EVENT_ID_END)
		return NULL;
	if (!names->tried[id] && format_text(names, id, &system, &text)) {
		names->tried[id] = true;
		if (decode_format_parse(system, text.data, text.len, NULL, &names->formats[id],
					NULL))
			names->formats[id] = NULL;
	}
	buf_fini(&text);
	return names->formats[id];
}

const char *control_names_comm(struct control_names *names, int pid)
{
	const char *name = pid > 0 ? comm_now(names, pid) : NULL;

	return name ? name : comm(names, pid);
}

const struct decode_ctx *control_names_ctx(struct control_names *names)
{
	return &names->ctx;
}
