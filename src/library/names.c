/*
 * library/names: see names.h. All that the files say may be anything: lines that make no sense
 * are passed by.
 */
#include "library/names.h"

#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <time.h>

#include "base/mono.h"
#include "layout/page.h"
#include "library/kallsyms.h"

#define REFRESH_NS 200000000ull

/* A file with a line for each number, read again when it is old. */
struct table {
	const char *path;
	bool quoted;		/* texts are in quotes */
	struct line {
		uint64_t number;
		char *text;	/* in `text` below */
	} *lines;		/* by number */
	size_t nlines;
	struct buf text;
	uint64_t read_at;
};

struct library_names {
	struct source *source;
	struct decode_abi abi;
	struct table comms;
	struct table printks;
	struct library_kallsyms *symbols;	/* of the kernel's own tree */
	bool has_symbols;			/* if they can be read, that is: not tried yet */
	uint64_t scanned_at;
	struct decode_ctx ctx;
	char *paths[EVENT_ID_END];	/* "events/SYSTEM/EVENT", of those not parsed yet */
	struct decode_format *formats[EVENT_ID_END];
	bool seen[EVENT_ID_END];
};

/* Once in a while: true when it is time to read again, which counts as done. */
static bool is_due(uint64_t *last)
{
	uint64_t now = mono_ns();

	if (*last && now - *last < REFRESH_NS)
		return false;
	*last = now;
	return true;
}

/* ---- lines by number ---- */

static int line_compare(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

static size_t count_lines(const char *text)
{
	size_t n = 0;

	for (; (text = strchr(text, '\n')); text++)
		n++;
	return n + 1;
}

/* A text in quotes, behind " : ", as the text itself, in its place; false when it is none. */
static bool unquote(char *text)
{
	char *to = text, *at = text + strspn(text, " :");

	if (*at++ != '"')
		return false;
	for (; *at && *at != '"'; at++) {
		if (*at == '\\' && at[1]) {
			at++;
			*to++ = *at == 'n' ? '\n' : *at == 't' ? '\t' : *at;
		} else {
			*to++ = *at;
		}
	}
	*to = '\0';
	return true;
}

static void table_read(struct table *table, struct source *source)
{
	char *save, *end;

	buf_reset(&table->text);
	table->nlines = 0;
	buf_puts(&table->text, "");
	if (source_read(source, table->path, &table->text, NULL) || buf_failed(&table->text))
		return;
	free(table->lines);
	table->lines = calloc(count_lines(table->text.data), sizeof(*table->lines));
	if (!table->lines)
		return;
	for (char *at = strtok_r(table->text.data, "\n", &save); at;
	     at = strtok_r(NULL, "\n", &save)) {
		struct line line = { strtoull(at, &end, 0), end };

		if (end != at && (!table->quoted || unquote(end)))
			table->lines[table->nlines++] = line;
	}
	qsort(table->lines, table->nlines, sizeof(*table->lines), line_compare);
}

static const char *table_find(struct table *table, struct source *source, uint64_t number)
{
	const struct line want = { number, NULL }, *line = NULL;

	for (int tries = 0; !line && tries < 2; tries++) {
		if (tries && !is_due(&table->read_at))
			break;
		if (tries)
			table_read(table, source);
		if (table->nlines)
			line = bsearch(&want, table->lines, table->nlines, sizeof(want), line_compare);
	}
	return line ? line->text : NULL;
}

static void table_fini(struct table *table)
{
	free(table->lines);
	buf_fini(&table->text);
}

/* saved_cmdlines: "PID NAME". */
static const char *comm(void *arg, int pid)
{
	struct library_names *names = arg;
	const char *text = pid > 0 ? table_find(&names->comms, names->source, (uint64_t)pid) : NULL;

	while (text && *text == ' ')
		text++;
	return text && *text ? text : NULL;
}

/* printk_formats: `0xADDRESS : "FORMAT"`. */
static bool printk(void *arg, uint64_t addr, struct decode_printk *out)
{
	struct library_names *names = arg;
	const char *text = table_find(&names->printks, names->source, addr);

	*out = (struct decode_printk){ .text = text };
	return text != NULL;
}

/* Read when first needed: there are many. */
static bool symbol(void *arg, int pid, uint64_t addr, struct decode_symbol *out)
{
	struct library_names *names = arg;

	(void)pid;
	if (names->has_symbols)
		names->symbols = library_kallsyms_open();
	names->has_symbols = false;
	return names->symbols && library_kallsyms_find(names->symbols, addr, out);
}

/* ---- formats ---- */

static bool is_kernels(const struct source *source)
{
	struct statfs fs;

	return !statfs(source_name(source), &fs) && fs.f_type == TRACEFS_MAGIC;
}

struct library_names *library_names_open(struct source *source, const struct decode_abi *abi)
{
	struct library_names *names = calloc(1, sizeof(*names));

	if (!names)
		return NULL;
	names->source = source;
	names->abi = *abi;
	names->comms.path = "saved_cmdlines";
	names->printks.path = "printk_formats";
	names->printks.quoted = true;
	names->has_symbols = is_kernels(source);
	names->ctx = (struct decode_ctx){ .arg = names, .symbol = symbol, .printk = printk,
					  .comm = comm };
	return names;
}

void library_names_close(struct library_names *names)
{
	if (!names)
		return;
	for (uint32_t id = 0; id < EVENT_ID_END; id++) {
		decode_format_free(names->formats[id]);
		free(names->paths[id]);
	}
	table_fini(&names->comms);
	table_fini(&names->printks);
	library_kallsyms_close(names->symbols);
	free(names);
}

/*
 * The number in `id`, or in the line "ID: " of `format`, which all events have; EVENT_ID_END when
 * there is none.
 */
static uint32_t read_id(struct library_names *names, const char *path, struct buf *text)
{
	char file[PATH_MAX];
	const char *at;
	unsigned int id;

	buf_reset(text);
	snprintf(file, sizeof(file), "%s/id", path);
	if (source_exists(names->source, file) && !source_read(names->source, file, text, NULL) &&
	    text->len && sscanf(text->data, "%9u", &id) == 1 && id < EVENT_ID_END)
		return id;
	buf_reset(text);
	snprintf(file, sizeof(file), "%s/format", path);
	if (source_read(names->source, file, text, NULL) || !text->len)
		return EVENT_ID_END;
	at = strstr(text->data, "\nID:");
	return at && sscanf(at + 4, "%9u", &id) == 1 && id < EVENT_ID_END ? id : EVENT_ID_END;
}

/* Calls `found` for every directory in `path`. */
static void each_directory(struct library_names *names, const char *path,
			   void (*found)(struct library_names *names, const char *path))
{
	struct buf list = BUF_INIT;
	char inside[PATH_MAX], *save;

	buf_puts(&list, "");
	if (!source_list(names->source, path, &list, NULL) && !buf_failed(&list)) {
		for (char *name = strtok_r(list.data, "\n", &save); name;
		     name = strtok_r(NULL, "\n", &save)) {
			size_t len = strlen(name);

			if (name[len - 1] != '/')
				continue;
			name[len - 1] = '\0';
			if (snprintf(inside, sizeof(inside), "%s/%s", path, name) < PATH_MAX - 16)
				found(names, inside);
		}
	}
	buf_fini(&list);
}

static void learn_event(struct library_names *names, const char *path)
{
	struct buf text = BUF_INIT;
	uint32_t id = read_id(names, path, &text);

	if (id < EVENT_ID_END && !names->seen[id]) {
		names->paths[id] = strdup(path);
		names->seen[id] = names->paths[id] != NULL;
	}
	buf_fini(&text);
}

static void learn_system(struct library_names *names, const char *path)
{
	each_directory(names, path, learn_event);
}

/* "events/SYSTEM/EVENT" to a format, if there is sense in it. */
static void parse(struct library_names *names, uint32_t id)
{
	struct buf text = BUF_INIT;
	char file[PATH_MAX], *system, *end;

	snprintf(file, sizeof(file), "%s/format", names->paths[id]);
	system = strchr(names->paths[id], '/') + 1;
	end = strchr(system, '/');
	*end = '\0';
	if (!source_read(names->source, file, &text, NULL) && text.len &&
	    decode_format_parse(system, text.data, text.len, &names->abi, &names->formats[id], NULL))
		names->formats[id] = NULL;
	buf_fini(&text);
	free(names->paths[id]);
	names->paths[id] = NULL;
}

const struct decode_format *library_names_format(struct library_names *names, uint32_t id)
{
	if (id >= EVENT_ID_END)
		return NULL;
	if (!names->seen[id] && is_due(&names->scanned_at))
		each_directory(names, "events", learn_system);
	if (names->paths[id])
		parse(names, id);
	return names->formats[id];
}

const struct decode_ctx *library_names_ctx(struct library_names *names)
{
	return &names->ctx;
}
