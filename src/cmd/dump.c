/*
 * cmd/dump: what a trace file tells beside its events, as it lies there: as text, and that to the
 * byte as trace-cmd 3.1.6 prints it.
 *
 * Version 6 is shown from front to end. Of version 7 the sections come first, then the options,
 * then, the last one first, the sections that the options lead to.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/dump_options.h"
#include "cmd/files.h"
#include "cmd/pager.h"

/* What is asked for; ALL is all of these. */
enum {
	SUMMARY = 1, HEAD_PAGE = 2, HEAD_EVENT = 4, FTRACE_EVENTS = 8, SYSTEMS = 16, EVENTS = 32,
	KALLSYMS = 64, PRINTK = 128, CMD_LINES = 256, MODULES = 512, OPTIONS = 1024,
	FLYRECORD = 2048, CLOCK = 4096, STRINGS = 8192, SECTIONS = 16384, ALL = 32767,
};

static const struct opt dump_opts[] = {
	{ 'i', "input", "FILE", "the trace file, instead of trace.dat" },
	{ 'v', "validate", NULL, "tell whether it is a valid trace file" },
	{ 0, "all", NULL, "everything" },
	{ 0, "summary", NULL, "what there is, in a line each: also without options" },
	{ 0, "head-page", NULL, "how pages begin" },
	{ 0, "head-event", NULL, "how records begin" },
	{ 0, "ftrace-events", NULL, "formats of ftrace's own events" },
	{ 0, "systems", NULL, "systems, and how many events each has" },
	{ 0, "events", NULL, "formats of all other events" },
	{ 0, "kallsyms", NULL, "names of the kernel's addresses" },
	{ 0, "printk", NULL, "formats of trace_printk()" },
	{ 0, "cmd-lines", NULL, "names of tasks" },
	{ 0, "modules", NULL, "the kernel's modules" },
	{ 0, "options", NULL, "options" },
	{ 0, "flyrecord", NULL, "where the events of each CPU are" },
	{ 0, "clock", NULL, "the clock" },
	{ 0, "strings", NULL, "names of sections" },
	{ 0, "sections", NULL, "sections" },
	{ 0, NULL, NULL, NULL },
};

/* In the order of the bits. */
static const char *const wishes[] = {
	"summary", "head-page", "head-event", "ftrace-events", "systems", "events", "kallsyms",
	"printk", "cmd-lines", "modules", "options", "flyrecord", "clock", "strings", "sections",
};

struct dump {
	struct dat *dat;
	const struct dat_info *info;
	unsigned int wanted;
	struct buf strings;
	struct buf out;
	struct pager pager;
	struct err err;
};

/* What has gathered goes out, so that it need not be held as a whole. */
static int flush(struct dump *d)
{
	int r = 0;

	if (buf_failed(&d->out))
		return err_set(&d->err, -ENOMEM, "out of memory");
	if (d->out.len)
		r = pager_put(&d->pager, d->out.data, d->out.len);
	buf_reset(&d->out);
	return r;
}

static bool wants(const struct dump *d, unsigned int what)
{
	return d->wanted & what;
}

static void put_head(struct dump *d)
{
	const struct dat_info *info = d->info;
	bool big = info->abi.big_endian;

	buf_printf(&d->out, "\n Tracing meta data in file %s:\n\t[Initial format]\n", info->path);
	buf_printf(&d->out, "\t\t%d\t[Version]\n", info->version);
	buf_printf(&d->out, "\t\t%d\t[%s endian]\n", big, big ? "Big" : "Little");
	buf_printf(&d->out, "\t\t%u\t[Bytes in a long]\n", info->user_long);
	buf_printf(&d->out, "\t\t%" PRIu32 "\t[Page size, bytes]\n", info->page_size);
	if (info->version < 7)
		return;
	buf_printf(&d->out, "\t\t%s\t[Compression algorithm]\n", info->compressor);
	buf_printf(&d->out, "\t\t%s\t[Compression version]\n", info->compressor_version);
}

static const char *section_name(const struct dump *d, const struct dat_section *s)
{
	if (s->name >= d->strings.len || memchr(d->strings.data + s->name, 0,
						d->strings.len - s->name) == NULL)
		return "Unknown";
	return d->strings.data + s->name;
}

/* The heading of what comes out of a section. */
static void put_section(struct dump *d, const struct dat_section *s)
{
	buf_printf(&d->out, "\t[Section %u @ %" PRIu64 ": \"%s\", flags 0x%x, %" PRIu64 " bytes]\n",
		   s->id, s->at, section_name(d, s), s->flags, s->size);
}

static struct dump_bytes bytes_of(const struct dump *d, const struct dat_part *part)
{
	return (struct dump_bytes){ part->data, part->len, d->info->abi.big_endian };
}

/* A name, a length, a text; the title is asked for by a summary, too. */
static int put_header(struct dump *d, struct dump_bytes *bytes, const char *title,
		      unsigned int which)
{
	const uint8_t *text;
	uint64_t len;

	dump_string(bytes);
	len = dump_word(bytes, 8);
	text = dump_take(bytes, &len);
	if (wants(d, SUMMARY | which))
		buf_printf(&d->out, "\t[%s, %" PRIu64 " bytes]\n", title, len);
	if (wants(d, which)) {
		buf_add(&d->out, text, (size_t)len);
		buf_putc(&d->out, '\n');
	}
	return flush(d);
}

static int put_headers(struct dump *d, const struct dat_part *part)
{
	struct dump_bytes bytes = bytes_of(d, part);
	int r = put_header(d, &bytes, "Header page", HEAD_PAGE);

	return r ? r : put_header(d, &bytes, "Header event", HEAD_EVENT);
}

/* Formats, each with its length before it. */
static int put_formats(struct dump *d, struct dump_bytes *bytes, uint64_t nr, bool wanted)
{
	int r = 0;

	for (; nr && bytes->len && !r; nr--) {
		uint64_t len = dump_word(bytes, 8);
		const uint8_t *text = dump_take(bytes, &len);

		if (!wanted)
			continue;
		buf_add(&d->out, text, (size_t)len);
		buf_putc(&d->out, '\n');
		r = flush(d);
	}
	return r;
}

static int put_ftrace(struct dump *d, const struct dat_part *part)
{
	struct dump_bytes bytes = bytes_of(d, part);
	uint64_t nr = dump_word(&bytes, 4);
	int r;

	buf_printf(&d->out, "\t[Ftrace format, %" PRIu64 " events]\n", nr);
	r = put_formats(d, &bytes, nr, wants(d, FTRACE_EVENTS));
	return r ? r : flush(d);
}

static int put_events(struct dump *d, const struct dat_part *part)
{
	struct dump_bytes bytes = bytes_of(d, part);
	uint64_t systems = dump_word(&bytes, 4), nr;
	int r = 0;

	buf_printf(&d->out, "\t[Events format, %" PRIu64 " systems]\n", systems);
	for (; systems && bytes.len && !r; systems--) {
		const char *name = dump_string(&bytes);

		nr = dump_word(&bytes, 4);
		if (wants(d, SYSTEMS))
			buf_printf(&d->out, "\t\t%s %" PRIu64 " [system, events]\n", name, nr);
		r = put_formats(d, &bytes, nr, wants(d, EVENTS));
	}
	return r ? r : flush(d);
}

/* A text with its title, and behind it an empty line. */
static int put_text(struct dump *d, const struct dat_part *part, const char *title,
		    unsigned int which)
{
	int r;

	buf_printf(&d->out, "\t[%s, %zu bytes]\n", title, part->len);
	r = flush(d);
	if (r || !wants(d, which))
		return r;
	if (part->len)
		r = pager_put(&d->pager, (const char *)part->data, part->len);
	buf_putc(&d->out, '\n');
	return r ? r : flush(d);
}

/* Which of the wishes a part of the file is about. */
static unsigned int wish_for(enum dat_id id)
{
	switch (id) {
	case DAT_HEADER_INFO:
		return HEAD_PAGE | HEAD_EVENT;
	case DAT_FTRACE_EVENTS:
		return FTRACE_EVENTS;
	case DAT_EVENT_FORMATS:
		return SYSTEMS | EVENTS;
	case DAT_KALLSYMS:
		return KALLSYMS;
	case DAT_PRINTK:
		return PRINTK;
	case DAT_CMDLINES:
		return CMD_LINES;
	case DAT_MODULES:
		return MODULES;
	default:
		return 0;
	}
}

static int put_part(struct dump *d, enum dat_id id)
{
	struct dat_part part;
	int r;

	if (!wants(d, SUMMARY | wish_for(id)))
		return 0;
	r = dat_part_open(d->dat, id, &part, &d->err);
	if (r)
		return r;
	switch (id) {
	case DAT_HEADER_INFO:
		r = put_headers(d, &part);
		break;
	case DAT_FTRACE_EVENTS:
		r = put_ftrace(d, &part);
		break;
	case DAT_EVENT_FORMATS:
		r = put_events(d, &part);
		break;
	case DAT_KALLSYMS:
		r = put_text(d, &part, "Kallsyms", KALLSYMS);
		break;
	case DAT_PRINTK:
		r = put_text(d, &part, "Trace printk", PRINTK);
		break;
	case DAT_CMDLINES:
		r = put_text(d, &part, "Saved command lines", CMD_LINES);
		break;
	case DAT_MODULES:
		r = put_text(d, &part, "Modules", MODULES);
		break;
	default:
		break;
	}
	dat_part_close(&part);
	return r;
}

static void put_strings(struct dump *d)
{
	size_t len;

	buf_puts(&d->out, "\t[String @ offset]\n");
	for (size_t at = 0; at < d->strings.len; at += len + 1) {
		len = strnlen(d->strings.data + at, d->strings.len - at);
		buf_printf(&d->out, "\t\t\"%s\" @ %zu\n", d->strings.data + at, at);
	}
}

static void put_sections(struct dump *d)
{
	const struct dat_section *s;

	for (size_t i = 0; (s = dat_section(d->dat, i)); i++) {
		buf_printf(&d->out, "\t[Section %2u @ %-16" PRIu64 "\t\"%s\", flags 0x%x, ", s->id,
			   s->at, section_name(d, s), s->flags);
		if (s->is_packed)
			buf_printf(&d->out, "%" PRIu32 " compressed, %" PRIu32 " uncompressed]\n",
				   s->packed, s->unpacked);
		else
			buf_printf(&d->out, "%" PRIu64 "%s bytes]\n", s->size,
				   s->flags & 1 ? " compressed" : "");
	}
}

static const struct dat_section *section_at(const struct dump *d, uint64_t at)
{
	const struct dat_section *s;

	for (size_t i = 0; (s = dat_section(d->dat, i)); i++)
		if (s->at == at)
			return s;
	return NULL;
}

static void put_buffer_line(struct dump *d, uint64_t section)
{
	const struct dat_buffer *b;
	uint64_t bytes = 0;

	for (size_t i = 0; (b = dat_buffer(d->dat, i)) && b->section != section;)
		i++;
	if (!b)
		return;
	buf_printf(&d->out, "\t[buffer \"%s\", \"%s\" clock, ", b->name, b->clock);
	for (uint32_t i = 0; i < b->nr_table; i++)
		bytes += b->table[i].size;
	if (b->is_text)
		buf_puts(&d->out, "latency data]\n");
	else
		buf_printf(&d->out, "%" PRIu32 " page size, %" PRIu32 " cpus, %" PRIu64
			   " bytes flyrecord data]\n", b->page_size, b->nr_table, bytes);
}

static void put_buffer(struct dump *d, const struct dat_option *o)
{
	uint64_t at = o->len < 8 ? 0 : decode_abi_load(o->data, 8, d->info->abi.big_endian);
	const struct dat_section *section = section_at(d, at);

	if (wants(d, FLYRECORD) && section)
		put_section(d, section);
	if (wants(d, FLYRECORD | OPTIONS))
		dump_option(d->dat, o, &d->out);
	if (wants(d, SUMMARY) && d->info->version == 7)
		put_buffer_line(d, at);
}

static void put_option(struct dump *d, const struct dat_option *o)
{
	if (o->id == DAT_BUFFER || o->id == DAT_BUFFER_TEXT)
		put_buffer(d, o);
	else if (wants(d, OPTIONS))
		dump_option(d->dat, o, &d->out);
	else if (wants(d, CLOCK) && o->id == DAT_CLOCK)
		dump_clock(o, &d->out);
}

/* Those of one section (0: of all); returns how many. */
static size_t put_options(struct dump *d, uint64_t section)
{
	const struct dat_option *o;
	size_t nr = 0;

	for (size_t i = 0; (o = dat_option(d->dat, i)); i++) {
		if (section && o->section != section)
			continue;
		put_option(d, o);
		nr++;
	}
	return nr;
}

static void put_nr_options(struct dump *d, size_t nr)
{
	if (wants(d, SUMMARY | OPTIONS))
		buf_printf(&d->out, "\t[%zu options]\n", nr);
}

/* Each section ends with one more option, which tells where the next section is. */
static void put_chain(struct dump *d)
{
	const struct dat_section *s;
	size_t nr = 0;

	for (size_t i = 0; (s = dat_section(d->dat, i)); i++) {
		if (s->id != DAT_DONE || !s->chained)
			continue;
		if (wants(d, OPTIONS))
			put_section(d, s);
		nr += put_options(d, s->at) + 1;
		if (wants(d, OPTIONS))
			dump_done(s->next, &d->out);
	}
	put_nr_options(d, nr);
}

/* The sections that options lead to, from the last one on. */
static int put_parts(struct dump *d)
{
	const struct dat_section *s;
	size_t nr = 0;
	int r = 0;

	while (dat_option(d->dat, nr))
		nr++;
	while (nr-- && !r) {
		const struct dat_option *o = dat_option(d->dat, nr);

		if (!wish_for(o->id) || o->len < 8)
			continue;
		s = section_at(d, decode_abi_load(o->data, 8, d->info->abi.big_endian));
		if (s && wants(d, wish_for(o->id)))
			put_section(d, s);
		r = flush(d);
		if (s && !r)
			r = put_part(d, o->id);
	}
	return r;
}

static int dump_v7(struct dump *d)
{
	size_t nr = 0;
	int r = dat_strings(d->dat, &d->strings, &d->err);

	if (r)
		return r;
	if (wants(d, STRINGS))
		put_strings(d);
	if (wants(d, SECTIONS))
		put_sections(d);
	put_chain(d);
	r = put_parts(d);
	while (dat_section(d->dat, nr))
		nr++;
	if (!r && wants(d, SUMMARY | SECTIONS))
		buf_printf(&d->out, "\t[%zu sections]\n", nr);
	return r ? r : flush(d);
}

static void put_table(struct dump *d, const struct dat_buffer *top)
{
	if (wants(d, SUMMARY | FLYRECORD))
		buf_puts(&d->out, "\t[Flyrecord tracing data]\n");
	/* trace-cmd shows a zero as nothing. */
	for (uint32_t i = 0; wants(d, FLYRECORD) && i < top->nr_table; i++)
		buf_printf(&d->out, "\t %10.0" PRIu64 " %10.0" PRIu64
			   "\t[offset, size of cpu %d]\n", top->table[i].offset,
			   top->table[i].size, top->table[i].cpu);
	if (!wants(d, SUMMARY | CLOCK))
		return;
	buf_puts(&d->out, "\t[Tracing clock]\n\t\t");
	if (*top->clock)
		buf_printf(&d->out, "[%s]\n", top->clock);
	else
		buf_puts(&d->out, " No tracing clock saved in the file\n");
}

static int dump_v6(struct dump *d)
{
	const struct dat_buffer *top = dat_buffer(d->dat, 0);
	size_t nr;
	int r = 0;

	for (enum dat_id id = DAT_HEADER_INFO; id <= DAT_CMDLINES && !r; id++)
		r = put_part(d, id);
	if (r)
		return r;
	if (wants(d, SUMMARY))
		buf_printf(&d->out, "\t%" PRIu32 " [CPUs with tracing data]\n", d->info->nr_cpus);
	nr = put_options(d, 0);
	/* Only what latency tracers left may come without options. */
	if (nr || !top || !top->is_text)
		put_nr_options(d, nr);
	if (top && top->is_text && wants(d, SUMMARY))
		buf_puts(&d->out, "\t[Latency tracing data]\n");
	else if (top && !top->is_text)
		put_table(d, top);
	return flush(d);
}

static int dump(struct dump *d)
{
	int r;

	if (wants(d, SUMMARY))
		put_head(d);
	r = d->info->version == 7 ? dump_v7(d) : dump_v6(d);
	return r ? r : flush(d);
}

static unsigned int wishes_of(const struct opts *opts)
{
	unsigned int wanted = opts_value(opts, "all") ? ALL : 0;

	for (size_t i = 0; i < sizeof(wishes) / sizeof(wishes[0]); i++)
		if (opts_value(opts, wishes[i]))
			wanted |= 1u << i;
	if (!wanted && !opts_value(opts, "validate"))
		wanted = SUMMARY;
	return wanted;
}

/* A file of which a part cannot be read can be shown, but is not a valid one. */
static int validate(struct dump *d)
{
	if (dat_warning(d->dat, 0))
		return err_set(&d->err, -EBADMSG, "%.400s is damaged", d->info->path);
	buf_printf(&d->out, "File %s is a valid trace-cmd file\n", d->info->path);
	return flush(d);
}

static int run(const struct opts *opts)
{
	struct dump d = { .err = ERR_INIT, .out = BUF_INIT, .strings = BUF_INIT };
	const char *path = opts_value(opts, "input"), *arg = opts_arg(opts, 0);
	int r;

	if (path && arg)
		return cmd_misuse(&cmd_dump, "dump: one file at a time: %s or %s", path, arg);
	path = path ? path : arg ? arg : FILES_DEFAULT;
	r = files_open(&d.dat, path, &d.err);
	if (r)
		return cmd_fail(&d.err);
	d.info = dat_info(d.dat);
	d.wanted = wishes_of(opts);
	pager_begin(&d.pager, opts, 0, &d.err);
	r = dump(&d);
	if (!r && opts_value(opts, "validate"))
		r = validate(&d);
	r = pager_end(&d.pager, r);
	buf_fini(&d.out);
	buf_fini(&d.strings);
	dat_close(d.dat);
	return r ? cmd_fail(&d.err) : CMD_DONE;
}

const struct cmd cmd_dump = {
	.name = "dump",
	.synopsis = "[-i FILE] [-v] [--all] [--summary] [--PART]... [FILE]",
	.summary = "show what a trace file holds beside its events",
	.text = "Shows the parts of a trace file other than events, as they lie there: a summary,\n"
		"or those parts that the options name.\n",
	.opts = dump_opts,
	.arg = "file",
	.args_max = 1,
	.on_file = true,
	.run = run,
};
