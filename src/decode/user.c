/*
 * decode/user: see user.h. Loading is for one thread; printers run in any.
 */
#include "decode/user.h"

#include <dlfcn.h>
#include <errno.h>
#include <ringside/plugin.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct user_handler {
	char *system, *event;
	ringside_plugin_printer *print;
	void *arg;
	struct user_handler *next;
};

struct user_object {
	void *handle;
	struct user_object *next;
};

struct ringside_plugin_set {
	struct user_plugins *users;
};

struct ringside_plugin_record {
	const struct handling *h;
};

static void free_handler(struct user_handler *u)
{
	free(u->system);
	free(u->event);
	free(u);
}

static int on_event(struct ringside_plugin_set *set, const char *system, const char *name,
		    ringside_plugin_printer *print, void *arg)
{
	struct user_handler *u = calloc(1, sizeof(*u));

	if (!u)
		return -ENOMEM;
	*u = (struct user_handler){ .system = strdup(system), .event = strdup(name),
				    .print = print, .arg = arg, .next = set->users->handlers };
	if (!u->system || !u->event) {
		free_handler(u);
		return -ENOMEM;
	}
	set->users->handlers = u;
	return 0;
}

static const struct decode_field *find(const struct ringside_plugin_record *r, const char *name)
{
	return decode_format_find(r->h->f.format, name);
}

static int64_t number(const struct ringside_plugin_record *r, const char *name)
{
	const struct decode_field *field = find(r, name);
	const struct frame *f = &r->h->f;

	return field ? (int64_t)decode_field_int(f->format, field, f->rec, f->len) : 0;
}

static struct decode_bytes field_bytes(const struct ringside_plugin_record *r, const char *name)
{
	const struct decode_field *field = find(r, name);
	const struct frame *f = &r->h->f;

	if (!field)
		return (struct decode_bytes){ NULL, 0 };
	return decode_field_bytes(f->format, field, f->rec, f->len);
}

static const void *bytes(const struct ringside_plugin_record *r, const char *name, size_t *len)
{
	struct decode_bytes b = field_bytes(r, name);

	*len = b.len;
	return b.data;
}

static const char *text(const struct ringside_plugin_record *r, const char *name, size_t *len)
{
	struct decode_bytes b = decode_bytes_text(field_bytes(r, name));

	*len = b.len;
	return (const char *)b.data;
}

static const char *symbol(const struct ringside_plugin_record *r, uint64_t addr, uint64_t *offset)
{
	struct decode_symbol sym;

	if (!handler_symbol(r->h, addr, &sym))
		return NULL;
	if (offset)
		*offset = sym.offset;
	return sym.name;
}

static int pid(const struct ringside_plugin_record *r)
{
	return r->h->f.pid;
}

static int cpu(const struct ringside_plugin_record *r)
{
	return r->h->moment->cpu;
}

static uint64_t time_of(const struct ringside_plugin_record *r)
{
	return r->h->moment->ts;
}

static void write_text(const struct ringside_plugin_record *r, const char *p, size_t len)
{
	sink_text(r->h->s, p, len, r->h->f.escape);
}

static void print_text(const struct ringside_plugin_record *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void print_text(const struct ringside_plugin_record *r, const char *format, ...)
{
	struct buf line = BUF_INIT;
	va_list ap;

	va_start(ap, format);
	buf_vprintf(&line, format, ap);
	va_end(ap);
	if (line.len)
		write_text(r, line.data, line.len);
	buf_fini(&line);
}

static const struct ringside_plugin_host host = {
	.abi = RINGSIDE_PLUGIN_ABI, .size = sizeof(host), .on_event = on_event,
	.number = number, .text = text, .bytes = bytes, .symbol = symbol, .pid = pid, .cpu = cpu,
	.time = time_of, .write = write_text, .printf = print_text,
};

/* The entry of an object that speaks our version; NULL and words for any other. */
static int (*entry(void *handle, const char *path, struct err *err))(
	const struct ringside_plugin_host *host, struct ringside_plugin_set *set)
{
	const uint32_t *abi = dlsym(handle, "ringside_plugin_abi");
	int (*start)(const struct ringside_plugin_host *, struct ringside_plugin_set *);

	*(void **)&start = dlsym(handle, "ringside_plugin_start");
	if (!abi || !start) {
		err_set(err, -EINVAL, "%s: no plugin: it has no %s", path,
			abi ? "ringside_plugin_start" : "ringside_plugin_abi");
		return NULL;
	}
	if (*abi != RINGSIDE_PLUGIN_ABI) {
		err_set(err, -EINVAL,
			"%s: made for version %u of the plugin interface, and this is version %u",
			path, *abi, RINGSIDE_PLUGIN_ABI);
		return NULL;
	}
	return start;
}

/* What an object that is not used after all had told until then. */
static void forget(struct user_plugins *users, struct user_handler *until)
{
	struct user_handler *u;

	while ((u = users->handlers) != until) {
		users->handlers = u->next;
		free_handler(u);
	}
}

int user_load(struct user_plugins *users, const char *path, struct err *err)
{
	struct ringside_plugin_set set = { users };
	struct user_handler *before = users->handlers;
	struct user_object *object = calloc(1, sizeof(*object));
	int (*start)(const struct ringside_plugin_host *, struct ringside_plugin_set *);
	int ret = -EINVAL;

	if (!object)
		return err_set(err, -ENOMEM, "out of memory");
	object->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!object->handle) {
		ret = err_set(err, -ENOENT, "%s", dlerror());
		free(object);
		return ret;
	}
	start = entry(object->handle, path, err);
	if (start) {
		ret = start(&host, &set);
		if (ret)
			err_set(err, ret, "%s: the plugin does not start: %s", path,
				strerror(ret < 0 ? -ret : ret));
	}
	if (ret) {
		forget(users, before);
		dlclose(object->handle);
		free(object);
		return ret < 0 ? ret : -EINVAL;
	}
	object->next = users->objects;
	users->objects = object;
	return 0;
}

void user_unload(struct user_plugins *users)
{
	struct user_object *object;

	forget(users, NULL);
	while ((object = users->objects)) {
		users->objects = object->next;
		dlclose(object->handle);
		free(object);
	}
}

const struct user_handler *user_find(const struct user_plugins *users,
				     const struct decode_format *format)
{
	for (const struct user_handler *u = users->handlers; u; u = u->next)
		if (!strcmp(u->system, format->system) && !strcmp(u->event, format->name))
			return u;
	return NULL;
}

enum handled user_print(const struct user_handler *user, const struct handling *h)
{
	struct ringside_plugin_record record = { h };

	return user->print(&record, user->arg) ? HANDLED_NOT : HANDLED;
}
