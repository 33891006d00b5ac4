/*
 * dat/events: formats by ID. Opening a file only finds the name and the number of each; the text
 * is parsed when a record of it is first met, by whichever thread meets it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dat/local.h"
#include "layout/page.h"

/* The kernel's IDs are 16 bits wide in a record. */
#define ID_MAX 65535u

/* What stands behind `key` at the beginning of a line. */
static const char *line_value(const char *text, size_t len, const char *key, size_t *value_len)
{
	size_t n = strlen(key);
	const char *p = text, *end = text + len, *stop;

	for (; p < end; p = stop + 1) {
		stop = memchr(p, '\n', (size_t)(end - p));
		if (!stop)
			stop = end;
		if ((size_t)(stop - p) < n || memcmp(p, key, n))
			continue;
		for (p += n; p < stop && *p == ' '; p++)
			;
		*value_len = (size_t)(stop - p);
		return p;
	}
	return NULL;
}

static bool parse_id(const char *p, size_t len, uint32_t *out)
{
	uint32_t id = 0;

	for (size_t i = 0; i < len && p[i] >= '0' && p[i] <= '9'; i++) {
		id = id * 10 + (uint32_t)(p[i] - '0');
		if (id > ID_MAX)
			return false;
	}
	*out = id;
	return len && *p >= '0' && *p <= '9';
}

static int add_event(struct dat *dat, const char *system, const char *text, size_t len,
		     struct err *err)
{
	struct event event = { .system = system, .text = text, .len = (uint32_t)len };
	size_t cap = dat->cap_events ? dat->cap_events * 2 : 256, name_len, id_len;
	const char *name = line_value(text, len, "name:", &name_len);
	const char *id = line_value(text, len, "ID:", &id_len);
	struct event *more;

	if (!name || !id || !parse_id(id, id_len, &event.id)) {
		dat_warn(dat, "%s: %s: a format without a name and an ID", dat->path, system);
		return 0;
	}
	if (dat->nr_events == DAT_EVENTS_MAX) {
		dat_warn(dat, "%s: %s: more than %d formats", dat->path, system, DAT_EVENTS_MAX);
		return 0;
	}
	if (dat->nr_events == dat->cap_events) {
		more = realloc(dat->events, cap * sizeof(*more));
		if (!more)
			return err_set(err, -ENOMEM, "out of memory");
		dat->events = more;
		dat->cap_events = cap;
	}
	event.name = strndup(name, name_len);
	if (!event.name)
		return err_set(err, -ENOMEM, "out of memory");
	dat->events[dat->nr_events++] = event;
	return 0;
}

/* Returns false at the end of what can be read, with a warning. */
static int formats(struct dat *dat, struct scan *s, const char *system, uint64_t at,
		   struct err *err)
{
	uint64_t nr = scan_word(s, 4), len;
	const uint8_t *text;
	int r = 0;

	for (uint64_t i = 0; i < nr && !s->torn && !r; i++) {
		len = scan_word(s, 8);
		text = scan_bytes(s, len);
		if (text && len <= DECODE_FORMAT_MAX)
			r = add_event(dat, system, (const char *)text, (size_t)len, err);
		else if (text)
			dat_warn(dat, "%s: %s: a format of %llu bytes", dat->path, system,
				 (unsigned long long)len);
	}
	if (s->torn)
		dat_warn(dat, "%s: at offset %llu: formats of %.50s that end early", dat->path,
			 (unsigned long long)at, system);
	return r;
}

static int load(struct dat *dat, enum dat_id id, size_t max, struct dat_part *part, struct scan *s,
		struct err *err)
{
	struct err why = ERR_INIT;
	int r;

	*s = (struct scan){ .dat = dat, .torn = true };
	if (!dat->parts[id].is_there)
		return 0;
	r = dat_load(dat, &dat->parts[id], max, part, &why);
	if (r == -ENOMEM || r == -ENOTSUP)
		return err_set(err, r, "%s", why.text);
	if (r)
		dat_warn(dat, "%s", why.text);
	*s = scan_part(dat, part);
	return 0;
}

static int index_ids(struct dat *dat, struct err *err)
{
	for (size_t i = 0; i < dat->nr_events; i++)
		if (dat->events[i].id >= dat->nr_ids)
			dat->nr_ids = dat->events[i].id + 1;
	dat->by_id = calloc(dat->nr_ids ? dat->nr_ids : 1, sizeof(*dat->by_id));
	if (!dat->by_id)
		return err_set(err, -ENOMEM, "out of memory");
	for (size_t i = dat->nr_events; i--;)
		dat->by_id[dat->events[i].id] = (uint32_t)i + 1;
	return 0;
}

int dat_index_events(struct dat *dat, struct err *err)
{
	struct scan s;
	uint64_t nr;
	int r = load(dat, DAT_FTRACE_EVENTS, DAT_LIST_MAX, &dat->ftrace_events, &s, err);

	if (!r && !s.torn)
		r = formats(dat, &s, "ftrace", dat->parts[DAT_FTRACE_EVENTS].offset, err);
	if (!r)
		r = load(dat, DAT_EVENT_FORMATS, DAT_SECTION_MAX, &dat->event_formats, &s, err);
	nr = s.torn ? 0 : scan_word(&s, 4);
	for (uint64_t i = 0; i < nr && !s.torn && !r; i++) {
		const char *system = scan_string(&s);

		if (!s.torn)
			r = formats(dat, &s, system, dat->parts[DAT_EVENT_FORMATS].offset, err);
	}
	return r ? r : index_ids(dat, err);
}

void dat_free_events(struct dat *dat)
{
	for (size_t i = 0; i < dat->nr_events; i++) {
		decode_format_free(atomic_load(&dat->events[i].format));
		free((void *)dat->events[i].name);
	}
	free(dat->events);
	free(dat->by_id);
	decode_format_free(dat->block);
}

size_t dat_nr_events(const struct dat *dat)
{
	return dat->nr_events;
}

void dat_event_name(const struct dat *dat, size_t i, const char **system, const char **name,
		    uint32_t *id)
{
	*system = dat->events[i].system;
	*name = dat->events[i].name;
	if (id)
		*id = dat->events[i].id;
}

const char *dat_event_text(const struct dat *dat, size_t i, size_t *len)
{
	*len = dat->events[i].len;
	return dat->events[i].text;
}

const struct decode_format *dat_event_format(struct dat *dat, size_t i, struct err *err)
{
	struct event *event = &dat->events[i];
	struct decode_format *format = atomic_load_explicit(&event->format, memory_order_acquire);

	/* Whoever wants to know why has it parsed once more. */
	if (format || (!err && atomic_load_explicit(&event->is_bad, memory_order_relaxed)))
		return format;
	pthread_mutex_lock(&dat->lock);
	format = atomic_load(&event->format);
	if (!format && !decode_format_parse(event->system, event->text, event->len, &dat->info.abi,
					    &format, err))
		atomic_store_explicit(&event->format, format, memory_order_release);
	else if (!format)
		atomic_store_explicit(&event->is_bad, true, memory_order_relaxed);
	pthread_mutex_unlock(&dat->lock);
	return format;
}

bool dat_event_find(const struct dat *dat, uint32_t id, size_t *i)
{
	if (id >= dat->nr_ids || !dat->by_id[id])
		return false;
	*i = dat->by_id[id] - 1;
	return true;
}

/*
 * The blk tracer's records have no format in any file: the kernel has none for them, and their ID and
 * layout have not changed since there is one.
 */
#define BLOCK_ID 13
static const char block_format[] =
	"name: blktrace\nID: 13\nformat:\n" RECORD_HEAD_FORMAT
	"\tfield:u64 sector;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:int bytes;\toffset:24;\tsize:4;\tsigned:0;\n"
	"\tfield:int action;\toffset:28;\tsize:4;\tsigned:0;\n"
	"\tfield:int pid;\toffset:32;\tsize:4;\tsigned:0;\n"
	"\tfield:int device;\toffset:36;\tsize:4;\tsigned:0;\n"
	"\tfield:int cpu;\toffset:40;\tsize:4;\tsigned:0;\n"
	"\tfield:short error;\toffset:44;\tsize:2;\tsigned:0;\n"
	"\tfield:short pdu_len;\toffset:46;\tsize:2;\tsigned:0;\n"
	"\tfield:void data;\toffset:48;\tsize:0;\tsigned:0;\n"
	"\nprint fmt: \"%d\", REC->pid\n";

static const struct decode_format *block(struct dat *dat)
{
	pthread_mutex_lock(&dat->lock);
	if (!dat->block)
		decode_format_parse("ftrace", block_format, sizeof(block_format) - 1, &dat->info.abi,
				    &dat->block, NULL);
	pthread_mutex_unlock(&dat->lock);
	return dat->block;
}

const struct decode_format *dat_format(struct dat *dat, uint32_t id)
{
	size_t i;

	if (dat_event_find(dat, id, &i))
		return dat_event_format(dat, i, NULL);
	return id == BLOCK_ID ? block(dat) : NULL;
}
