/*
 * dat/v6: version 6 keeps everything one behind the other:
 *
 *   headers | ftrace formats | event formats | kallsyms | printk | command lines | number of CPUs |
 *   "options  " {id, size, value}... 0 | "flyrecord" {offset, size}... clock | pages of each CPU
 *   or "latency  " and text up to the end
 *
 * An instance is an option with the offset of another "flyrecord" table. So a file that was cut off
 * before its first table has no data at all, and is refused.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dat/local.h"

#define TAG_LEN 10
#define NAME_MAX_LEN 256
#define CPU_ENTRY 16

struct walk {
	struct dat *dat;
	struct err *err;
	uint64_t at;
	int ret;		/* 0, or the first error: then nothing moves any more */
};

static void get(struct walk *w, void *to, size_t len)
{
	if (!w->ret)
		w->ret = dat_read(w->dat, w->at, to, len, w->err);
	if (w->ret)
		memset(to, 0, len);
	else
		w->at += len;
}

static uint64_t word(struct walk *w, uint32_t size)
{
	uint8_t bytes[8];

	get(w, bytes, size);
	return dat_word(w->dat, bytes, size);
}

static void skip(struct walk *w, uint64_t len)
{
	if (w->ret)
		return;
	if (len > w->dat->info.size - w->at)
		w->ret = dat_bad(w->dat, w->err, -EBADMSG, w->at,
				 "%llu bytes are wanted, the file ends at %llu",
				 (unsigned long long)len, (unsigned long long)w->dat->info.size);
	else
		w->at += len;
}

/* A string of at most NAME_MAX_LEN bytes with its NUL. */
static void name(struct walk *w, char *to)
{
	uint64_t left = w->dat->info.size - w->at;
	size_t len = left < NAME_MAX_LEN ? (size_t)left : NAME_MAX_LEN;
	uint64_t at = w->at;
	char *nul;

	*to = '\0';
	if (w->ret)
		return;
	get(w, to, len);
	nul = w->ret ? NULL : memchr(to, 0, len);
	if (nul)
		w->at = at + (uint64_t)(nul - to) + 1;
	else if (!w->ret)
		w->ret = dat_bad(w->dat, w->err, -EBADMSG, at, "a name without an end");
}

static void begin(struct walk *w, enum dat_id id)
{
	w->dat->parts[id].offset = w->at;
}

static void finish(struct walk *w, enum dat_id id)
{
	struct span *span = &w->dat->parts[id];

	span->size = w->at - span->offset;
	span->is_there = !w->ret;
}

static void headers(struct walk *w)
{
	char tag[NAME_MAX_LEN];

	begin(w, DAT_HEADER_INFO);
	for (int i = 0; i < 2; i++) {
		name(w, tag);
		if (!w->ret && strcmp(tag, i ? "header_event" : "header_page"))
			w->ret = dat_bad(w->dat, w->err, -EBADMSG, w->at, "%s is wanted",
					 i ? "header_event" : "header_page");
		skip(w, word(w, 8));
	}
	finish(w, DAT_HEADER_INFO);
}

static void formats(struct walk *w)
{
	uint64_t nr = word(w, 4);

	for (uint64_t i = 0; i < nr && !w->ret; i++)
		skip(w, word(w, 8));
}

static void events(struct walk *w)
{
	char system[NAME_MAX_LEN];
	uint64_t nr;

	begin(w, DAT_FTRACE_EVENTS);
	formats(w);
	finish(w, DAT_FTRACE_EVENTS);
	begin(w, DAT_EVENT_FORMATS);
	nr = word(w, 4);
	for (uint64_t i = 0; i < nr && !w->ret; i++) {
		name(w, system);
		formats(w);
	}
	finish(w, DAT_EVENT_FORMATS);
}

static void text(struct walk *w, enum dat_id id, uint32_t length_size)
{
	uint64_t len = word(w, length_size);

	begin(w, id);
	skip(w, len);
	finish(w, id);
}

static void options(struct walk *w)
{
	uint8_t *value;
	uint64_t at;
	uint32_t id, len;

	while (!w->ret && (id = (uint32_t)word(w, 2))) {
		len = (uint32_t)word(w, 4);
		at = w->at;
		skip(w, len);
		if (w->ret)
			return;
		value = len > DAT_LIST_MAX ? NULL : malloc((size_t)len + 1);
		if (len > DAT_LIST_MAX)
			w->ret = dat_bad(w->dat, w->err, -EBADMSG, at, "an option of %u bytes", len);
		else if (!value)
			w->ret = err_set(w->err, -ENOMEM, "out of memory");
		else
			w->ret = dat_read(w->dat, at, value, len, w->err);
		if (!w->ret)
			w->ret = dat_add_option(w->dat, (uint16_t)id, value, len, at, w->err);
		free(value);
	}
}

static bool told_clock(const struct dat *dat)
{
	for (size_t i = 0; i < dat->nr_options; i++)
		if (dat->options[i].id == DAT_CLOCK)
			return true;
	return false;
}

/* The clock between brackets behind a table; it is there if the options have clocks. */
static char *clock_name(struct walk *w)
{
	char bytes[64];
	uint64_t len = told_clock(w->dat) ? word(w, 8) : 0;

	if (w->ret || len < 3 || len >= sizeof(bytes) || len > w->dat->info.size - w->at)
		return strdup("");
	get(w, bytes, (size_t)len);
	if (w->ret || bytes[0] != '[' || bytes[len - 1] != ']')
		return strdup("");
	return strndup(bytes + 1, (size_t)len - 2);
}

/* The CPUs of a table, and of these the ones that have data. */
static int entries(struct walk *w, struct dat_buffer *buffer, uint32_t nr)
{
	struct dat_cpu *cpus = calloc(nr ? nr : 1, sizeof(*cpus));
	struct dat_cpu *all = calloc(nr ? nr : 1, sizeof(*all));

	buffer->cpus = cpus;
	buffer->table = all;
	if (!cpus || !all)
		return err_set(w->err, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < nr; i++) {
		all[i] = (struct dat_cpu){ .cpu = (int)i, .offset = word(w, 8) };
		all[i].size = word(w, 8);
		if (all[i].size)
			cpus[buffer->nr_cpus++] = all[i];
	}
	buffer->nr_table = nr;
	return w->ret;
}

/* A table of CPUs at `at`, which is behind its tag. */
static int table(struct dat *dat, uint64_t at, const char *buffer_name, struct err *err)
{
	struct walk w = { .dat = dat, .err = err, .at = at };
	uint32_t nr = dat->info.nr_cpus;
	struct dat_buffer buffer = { .page_size = dat->info.page_size, .section = at - TAG_LEN };

	if (nr > DAT_CPUS_MAX || nr > (dat->info.size - at) / CPU_ENTRY)
		return dat_bad(dat, err, -EBADMSG, at, "a table of %u CPUs, the file ends at %llu",
			       nr, (unsigned long long)dat->info.size);
	w.ret = entries(&w, &buffer, nr);
	buffer.name = strdup(buffer_name);
	buffer.clock = clock_name(&w);
	if (!w.ret && (!buffer.name || !buffer.clock))
		w.ret = err_set(err, -ENOMEM, "out of memory");
	if (!w.ret)
		w.ret = dat_add_buffer(dat, &buffer, err);
	if (w.ret)
		dat_free_buffer(&buffer);
	return w.ret;
}

static int instance(struct dat *dat, const struct dat_option *o, struct err *err)
{
	struct scan s = { dat, o->data, o->data + o->len, false };
	uint64_t at = scan_word(&s, 8);
	const char *called = scan_string(&s);
	char tag[TAG_LEN];
	int r;

	r = s.torn ? dat_bad(dat, err, -EBADMSG, o->at, "an instance without a name") :
		     dat_read(dat, at, tag, sizeof(tag), err);
	if (!r && memcmp(tag, "flyrecord", TAG_LEN))
		r = dat_bad(dat, err, -EBADMSG, at, "the table of %.50s is wanted", called);
	return r ? r : table(dat, at + TAG_LEN, called, err);
}

/* One that makes no sense is done without. */
static int instances(struct dat *dat, struct err *err)
{
	for (size_t i = 0; i < dat->nr_options; i++) {
		struct err why = ERR_INIT;
		int r = 0;

		if (dat->options[i].id == DAT_BUFFER)
			r = instance(dat, &dat->options[i], &why);
		if (r == -ENOMEM)
			return err_set(err, r, "%s", why.text);
		if (r)
			dat_warn(dat, "%s", why.text);
	}
	return 0;
}

static int latency(struct walk *w)
{
	struct dat_buffer buffer = { .page_size = w->dat->info.page_size, .is_text = true,
				     .nr_cpus = 1, .section = w->at - TAG_LEN };
	struct dat_cpu *cpu = calloc(1, sizeof(*cpu));
	int r;

	buffer.cpus = cpu;
	buffer.name = strdup("");
	buffer.clock = strdup("");
	if (cpu)
		*cpu = (struct dat_cpu){ 0, w->at, w->dat->info.size - w->at };
	r = cpu && buffer.name && buffer.clock ? dat_add_buffer(w->dat, &buffer, w->err) :
						 err_set(w->err, -ENOMEM, "out of memory");
	if (r)
		dat_free_buffer(&buffer);
	return r;
}

int dat_open_v6(struct dat *dat, uint64_t at, struct err *err)
{
	struct walk w = { .dat = dat, .err = err, .at = at };
	char tag[TAG_LEN];
	int r;

	headers(&w);
	events(&w);
	text(&w, DAT_KALLSYMS, 4);
	text(&w, DAT_PRINTK, 4);
	text(&w, DAT_CMDLINES, 8);
	dat->info.nr_cpus = (uint32_t)word(&w, 4);
	get(&w, tag, sizeof(tag));
	if (!w.ret && !memcmp(tag, "options  ", TAG_LEN)) {
		options(&w);
		get(&w, tag, sizeof(tag));
		dat_count_cpus(dat);
	}
	if (w.ret)
		return w.ret;
	if (!memcmp(tag, "latency  ", TAG_LEN))
		return latency(&w);
	if (memcmp(tag, "flyrecord", TAG_LEN))
		return dat_bad(dat, err, -EBADMSG, w.at - TAG_LEN, "the table of CPUs is wanted");
	r = table(dat, w.at, "", err);
	return r ? r : instances(dat, err);
}
