/*
 * cmd/report_info: see report_info.h.
 */
#include "cmd/report_info.h"

#include <errno.h>
#include <inttypes.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dat/block.h"
#include "report/tracecmd.h"

static const char *endian_word(bool big)
{
	return big ? "big" : "little";
}

void report_info_endian(const struct dat *dat, struct buf *out)
{
	bool host_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

	buf_printf(out, "file is %s endian and host is %s endian\n",
		   endian_word(dat_info(dat)->abi.big_endian), endian_word(host_big));
}

void report_info_page_size(const struct dat *dat, struct buf *out)
{
	buf_printf(out, "file page size is %" PRIu32 ", and host page size is %ld\n",
		   dat_info(dat)->page_size, sysconf(_SC_PAGESIZE));
}

static void put_function(struct buf *out, uint64_t addr, const struct decode_symbol *symbol)
{
	buf_printf(out, "%016" PRIx64 " %s", addr, symbol->name);
	if (symbol->module)
		buf_printf(out, " [%s]", symbol->module);
	buf_putc(out, '\n');
}

void report_info_functions(struct dat *dat, struct buf *out)
{
	struct decode_symbol symbol;
	uint64_t addr;

	for (size_t i = 0; dat_symbol_at(dat, i, &addr, &symbol); i++)
		put_function(out, addr, &symbol);
}

/* As the kernel's printk_formats has it, so that a text stays a line. */
static void put_escaped(struct buf *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\n')
			buf_puts(out, "\\n");
		else if (*text == '\t')
			buf_puts(out, "\\t");
		else if (*text == '"' || *text == '\\')
			buf_printf(out, "\\%c", *text);
		else
			buf_putc(out, *text);
	}
}

void report_info_printks(struct dat *dat, struct buf *out)
{
	const char *text;
	uint64_t addr;

	for (size_t i = 0; dat_printk_at(dat, i, &addr, &text); i++) {
		buf_printf(out, "%016" PRIx64 " ", addr);
		put_escaped(out, text);
		buf_putc(out, '\n');
	}
}

struct named {
	const char *system, *name;
};

static int by_name(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int r = strcmp(x->system, y->system);

	return r ? r : strcmp(x->name, y->name);
}

int report_info_events(const struct dat *dat, struct buf *out)
{
	size_t nr = dat_nr_events(dat);
	struct named *all = calloc(nr + 1, sizeof(*all));

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		dat_event_name(dat, i, &all[i].system, &all[i].name, NULL);
	qsort(all, nr, sizeof(*all), by_name);
	for (size_t i = 0; i < nr; i++)
		buf_printf(out, "%s:%s\n", all[i].system, all[i].name);
	free(all);
	return 0;
}

/* Which formats are wanted: `event` is not used where one expression is for either. */
struct wish {
	bool any, both;
	regex_t system, event;
};

static int compile(regex_t *re, const char *text, size_t len, struct err *err)
{
	char *copy = strndup(text, len), wrong[128];
	int r;

	if (!copy)
		return err_set(err, -ENOMEM, "out of memory");
	r = regcomp(re, copy, REG_ICASE | REG_NOSUB);
	if (r) {
		regerror(r, re, wrong, sizeof(wrong));
		r = err_set(err, -EINVAL, "'%.100s': %s", copy, wrong);
	}
	free(copy);
	return r;
}

static int wish_init(struct wish *wish, const char *re, struct err *err)
{
	const char *colon;
	int r;

	*wish = (struct wish){ .any = !re };
	if (!re)
		return 0;
	re += strspn(re, ":");
	colon = strchr(re, ':');
	wish->both = colon && colon[1];
	r = compile(&wish->system, re, colon ? (size_t)(colon - re) : strlen(re), err);
	if (!r && wish->both) {
		r = compile(&wish->event, colon + 1, strlen(colon + 1), err);
		if (r)
			regfree(&wish->system);
	}
	return r;
}

static void wish_fini(struct wish *wish)
{
	if (!wish->any)
		regfree(&wish->system);
	if (wish->both)
		regfree(&wish->event);
}

static bool wanted(const struct wish *wish, const char *system, const char *name)
{
	if (wish->any)
		return true;
	if (wish->both)
		return !regexec(&wish->system, system, 0, NULL, 0) &&
		       !regexec(&wish->event, name, 0, NULL, 0);
	return !regexec(&wish->system, system, 0, NULL, 0) ||
	       !regexec(&wish->system, name, 0, NULL, 0);
}

int report_info_formats(const struct dat *dat, const char *re, struct buf *out, struct err *err)
{
	const char *system, *name, *text, *last = "";
	struct wish wish;
	size_t len;
	int r = wish_init(&wish, re, err);

	for (size_t i = 0; !r && i < dat_nr_events(dat); i++) {
		dat_event_name(dat, i, &system, &name, NULL);
		/* Those of ftrace itself stand apart in the file, and are not shown. */
		if (!strcmp(system, "ftrace") || !wanted(&wish, system, name))
			continue;
		if (strcmp(system, last))
			buf_printf(out, "\nsystem: %s\n", system);
		last = system;
		text = dat_event_text(dat, i, &len);
		buf_add(out, text, len);
		buf_putc(out, '\n');
	}
	if (!r)
		wish_fini(&wish);
	return r;
}

size_t report_info_check(struct dat *dat, struct buf *out)
{
	const struct decode_format *format;
	const char *system, *name;
	size_t bad = 0;

	for (size_t i = 0; i < dat_nr_events(dat); i++) {
		struct err err = ERR_INIT;

		format = dat_event_format(dat, i, &err);
		if (format && !decode_has_text(format) && format->print_err.code)
			err = format->print_err;
		else if (format)
			continue;
		dat_event_name(dat, i, &system, &name, NULL);
		buf_printf(out, "%s:%s: %s\n", system, name, err.text);
		bad++;
	}
	return bad;
}

/* The kernel's own words: the last byte of each is a NUL, in whose place comes an end of line. */
static bool put_stats(const struct dat *dat, struct buf *out)
{
	const struct dat_option *o;
	bool any = false;

	for (size_t i = 0; (o = dat_option(dat, i)); i++) {
		if (o->id != DAT_CPUSTAT || !o->len)
			continue;
		buf_add(out, o->data, strnlen((const char *)o->data, o->len - 1));
		buf_putc(out, '\n');
		any = true;
	}
	return any;
}

static void put_place(struct buf *out, int cpu, uint64_t offset, uint64_t size)
{
	buf_printf(out, "CPU%d data recorded at offset=0x%" PRIx64 "\n"
		   "    %" PRIu64 " bytes in size\n", cpu, offset, size);
}

static int unpacked_size(const struct dat *dat, const struct dat_buffer *buffer, uint32_t i,
			 uint64_t *size, struct err *err)
{
	struct dat_lane *lane;
	int r = dat_lane_open(&lane, dat, buffer, i, 0, err);

	if (!r)
		r = dat_lane_length(lane, size, err);
	dat_lane_close(lane);
	return r;
}

/*
 * Of packed data trace-cmd tells where it is in the temporary file that it unpacks into, behind a
 * first page that is empty; we have no such file, and tell the same.
 */
static int put_packed_places(const struct dat *dat, const struct dat_buffer *buffer,
			     struct buf *out, struct err *err)
{
	uint64_t at = buffer->page_size, size;
	int cpu = 0, r = 0;

	for (uint32_t i = 0; i < buffer->nr_cpus && !r; i++) {
		for (; cpu < buffer->cpus[i].cpu; cpu++)
			put_place(out, cpu, 0, 0);
		r = unpacked_size(dat, buffer, i, &size, err);
		if (r)
			break;
		put_place(out, cpu++, at, size);
		at += size;
	}
	return r;
}

/* Version 6 lists all CPUs, 7 those with data: then the others up to the last are empty. */
static int put_places(const struct dat *dat, struct buf *out, struct err *err)
{
	const struct dat_buffer *buffer = dat_buffer(dat, 0);
	int cpu = 0;

	if (!buffer || *buffer->name || buffer->is_text)
		return 0;
	if (buffer->packed)
		return put_packed_places(dat, buffer, out, err);
	for (uint32_t i = 0; i < buffer->nr_table; i++) {
		const struct dat_cpu *entry = &buffer->table[i];

		for (; cpu < entry->cpu && (uint32_t)cpu < dat_info(dat)->nr_cpus; cpu++)
			put_place(out, cpu, 0, 0);
		put_place(out, entry->cpu, entry->offset, entry->size);
		cpu = entry->cpu + 1;
	}
	return 0;
}

int report_info_stat(const struct dat *dat, struct buf *out, struct err *err)
{
	buf_puts(out, "\nKernel buffer statistics:\n"
		 "  Note: \"entries\" are the entries left in the kernel ring buffer and are not\n"
		 "        recorded in the trace data. They should all be zero.\n\n");
	if (put_stats(dat, out))
		buf_putc(out, '\n');
	else
		buf_puts(out, " No stats in this file\n");
	return put_places(dat, out, err);
}

void report_info_uname(const struct dat *dat, struct buf *out)
{
	const char *uname = dat_info(dat)->uname;

	buf_printf(out, "%s\n", uname ? uname : " uname was not recorded in this file");
	report_info_version(dat, out);
}

void report_info_version(const struct dat *dat, struct buf *out)
{
	const char *writer = dat_info(dat)->writer;

	buf_printf(out, "%s\n", writer ? writer : " version was not recorded in this file");
}

static void put_time(struct buf *out, uint64_t ts, unsigned int flags)
{
	uint64_t shown = tracecmd_shown(ts, flags);

	if (flags & TRACECMD_TICKS)
		buf_printf(out, "%12" PRIu64, shown);
	else if (flags & TRACECMD_NS)
		buf_printf(out, "%5" PRIu64 ".%09" PRIu64, shown / 1000000000, shown % 1000000000);
	else
		buf_printf(out, "%5" PRIu64 ".%06" PRIu64, shown / 1000000, shown % 1000000);
}

static bool is_top(void *arg, const struct dat_buffer *buffer, int cpu)
{
	(void)arg;
	(void)cpu;
	return !*buffer->name;
}

int report_info_cpus(struct dat *dat, const struct report_info_cpus *how, struct buf *out,
		     struct err *err)
{
	const struct replay_lane *lane;
	struct replay *replay = NULL;
	uint64_t first, last;
	int r = replay_new(&replay);

	if (r)
		return err_set(err, r, "out of memory");
	r = replay_add(replay, dat, &how->times, is_top, NULL, err);
	if (!r)
		buf_printf(out, "List of CPUs in %s with data:\n", dat_info(dat)->path);
	for (size_t i = 0; !r && (lane = replay_lane(replay, i)); i++) {
		if (!replay_lane_ends(replay, i, &first, &last))
			continue;
		buf_printf(out, "  %d", lane->cpu);
		if (how->first) {
			buf_puts(out, "\tFirst event:");
			put_time(out, first, how->flags);
		}
		if (how->last) {
			buf_puts(out, "\tLast event:");
			put_time(out, last, how->flags);
		}
		buf_putc(out, '\n');
	}
	replay_free(replay);
	return r;
}
