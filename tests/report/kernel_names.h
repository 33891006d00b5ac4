/*
 * What this machine's kernel knows and its records do not hold: formats of events, names of
 * addresses and tasks. For the callbacks of a decode_ctx.
 */
#ifndef TESTS_REPORT_KERNEL_NAMES_H
#define TESTS_REPORT_KERNEL_NAMES_H

#include <dirent.h>

#include "../decode/tracefs.h"
#include "decode/print.h"

struct symbol {
	uint64_t addr;
	const char *name;
	const char *module;
};

struct known_text {
	uint64_t addr;
	char *text;
};

/* What the callbacks of decode_ctx look into. */
static struct {
	struct decode_format *formats[65536];
	struct symbol *symbols;
	size_t nr_symbols;
	char *comms_text, *comms[32768 * 128];
	int tgids[32768 * 128];
	char *symbols_text, *printks_text;
	struct known_text *printks;
	size_t nr_printks;
} known;

static int by_addr(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	/*
	 * Of several names for one address the kernel takes the first; names lie in the order of
	 * the file.
	 */
	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static void load_symbols(void)
{
	char *text = tracefs_read("/proc", "kallsyms", NULL), *line, *save = NULL;
	size_t cap = 0;

	known.symbols_text = text;
	for (line = text ? strtok_r(text, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save)) {
		char *name, *tab, *addr_end;
		uint64_t addr = strtoull(line, &addr_end, 16);

		if (*addr_end != ' ' || strlen(addr_end) < 4)
			continue;
		name = addr_end + 3;
		tab = strchr(name, '\t');
		if (tab) {
			*tab = '\0';
			tab += 2;
			tab[strcspn(tab, "]")] = '\0';
		}
		if (known.nr_symbols == cap) {
			cap = cap ? cap * 2 : 65536;
			known.symbols = realloc(known.symbols, cap * sizeof(*known.symbols));
			if (!known.symbols)
				fail("out of memory");
		}
		known.symbols[known.nr_symbols++] = (struct symbol){addr, name, tab};
	}
	qsort(known.symbols, known.nr_symbols, sizeof(*known.symbols), by_addr);
	if (!known.nr_symbols || !known.symbols[known.nr_symbols - 1].addr) {
		errno = EPERM;
		skip("this kernel hides its addresses");
	}
}

static bool symbol(void *arg, int pid, uint64_t addr, struct decode_symbol *out)
{
	size_t lo = 0, hi = known.nr_symbols, next;

	(void)arg, (void)pid;
	/* Below, kallsyms has offsets that are no addresses. */
	if (!(addr >> 63))
		return false;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (known.symbols[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || lo == known.nr_symbols || !known.symbols[lo - 1].addr)
		return false;
	next = lo--;
	while (lo && known.symbols[lo - 1].addr == known.symbols[lo].addr)
		lo--;
	*out = (struct decode_symbol){
		.name = known.symbols[lo].name,
		.module = known.symbols[lo].module,
		.offset = addr - known.symbols[lo].addr,
		.size = known.symbols[next].addr - known.symbols[lo].addr,
	};
	return true;
}

/* printk_formats: 0xADDRESS : "text", with the usual escapes. */
static void load_printks(const struct tracefs *t)
{
	char *text = tracefs_read(t->root, "printk_formats", NULL), *line, *save = NULL;

	known.printks_text = text;
	for (line = text ? strtok_r(text, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save)) {
		char *start = strchr(line, '"'), *end = strrchr(line, '"'), *to;

		if (!start || end == start || strchr(start, '\\'))
			continue;
		to = start + 1;
		*end = '\0';
		known.printks = realloc(known.printks,
					(known.nr_printks + 1) * sizeof(*known.printks));
		if (!known.printks)
			fail("out of memory");
		known.printks[known.nr_printks].addr = strtoull(line, NULL, 16);
		known.printks[known.nr_printks++].text = to;
	}
}

static bool printk(void *arg, uint64_t addr, struct decode_printk *out)
{
	(void)arg;
	for (size_t i = 0; i < known.nr_printks; i++) {
		if (known.printks[i].addr == addr) {
			out->text = known.printks[i].text;
			return true;
		}
	}
	return false;
}

static void load_comms(char *text)
{
	char *line, *save = NULL;

	memset(known.comms, 0, sizeof(known.comms));
	free(known.comms_text);
	known.comms_text = text;
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *end;
		long pid = strtol(line, &end, 10);

		if (*end == ' ' && pid > 0 && (size_t)pid < sizeof(known.comms) / sizeof(char *))
			known.comms[pid] = end + 1;
	}
}

static const char *comm(void *arg, int pid)
{
	(void)arg;
	return pid > 0 && (size_t)pid < sizeof(known.comms) / sizeof(char *) ? known.comms[pid]
									     : NULL;
}

static void load_tgids(char *text)
{
	char *line, *save = NULL;
	int pid, tgid;

	memset(known.tgids, 0, sizeof(known.tgids));
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		if (sscanf(line, "%d %d", &pid, &tgid) == 2 && pid > 0 &&
		    (size_t)pid < sizeof(known.tgids) / sizeof(int))
			known.tgids[pid] = tgid;
	free(text);
}

static int tgid_of(void *arg, int pid)
{
	(void)arg;
	return pid > 0 && (size_t)pid < sizeof(known.tgids) / sizeof(int) ? known.tgids[pid] : 0;
}

static const struct decode_ctx ctx = {
	.symbol = symbol, .printk = printk, .comm = comm, .tgid = tgid_of};

static void load_format(const char *events, const char *system, const char *event)
{
	struct decode_format *format;
	struct err err = ERR_INIT;
	char name[600];
	size_t len;
	char *text;

	snprintf(name, sizeof(name), "%s/%s/format", system, event);
	text = tracefs_read(events, name, &len);
	if (!text)
		return;
	if (decode_format_parse(system, text, len, NULL, &format, &err))
		fail("%s: %s at %d", name, err.text, err.pos);
	free(text);
	if (format->id < 65536)
		known.formats[format->id] = format;
}

static void load_formats(const struct tracefs *t)
{
	char events[200], path[512];
	struct dirent *sys, *ev;
	DIR *outer, *inner;

	snprintf(events, sizeof(events), "%s/events", t->root);
	outer = opendir(events);
	while (outer && (sys = readdir(outer))) {
		snprintf(path, sizeof(path), "%s/%s", events, sys->d_name);
		inner = sys->d_name[0] == '.' ? NULL : opendir(path);
		while (inner && (ev = readdir(inner)))
			if (ev->d_name[0] != '.')
				load_format(events, sys->d_name, ev->d_name);
		if (inner)
			closedir(inner);
	}
	if (outer)
		closedir(outer);
}

static void forget(void)
{
	for (int i = 0; i < 65536; i++)
		decode_format_free(known.formats[i]);
	free(known.symbols);
	free(known.symbols_text);
	free(known.printks);
	free(known.printks_text);
	free(known.comms_text);
}

#endif
