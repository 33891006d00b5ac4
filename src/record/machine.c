/*
 * record/machine: options of a trace file that tell where and how it was made.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "record/local.h"

/* A text with its NUL; the text may have failed to grow. */
static int put_text(const struct record_sink *sink, enum dat_id id, struct buf *text, struct err *err)
{
	int r = buf_failed(text) ? -ENOMEM : sink->option(sink->ctx, id, text->data, text->len + 1);

	return r ? err_set(err, r, "an option cannot be put into the file: %s", strerror(-r)) : 0;
}

/* Two recordings are told apart by it, and a guest's is found by its host's: it must not be 0. */
static uint64_t random_id(void)
{
	uint64_t id = 0;

	while (getrandom(&id, sizeof(id), 0) != sizeof(id) && errno == EINTR)
		;
	return id ? id : 1;
}

int record_meta_put_machine(struct record_meta *meta, uint64_t traceid, const struct record_sink *sink, struct err *err)
{
	uint64_t id = traceid ? traceid : random_id();
	struct buf text = BUF_INIT;
	struct utsname name;
	int r;

	if (uname(&name))
		return err_set(err, -errno, "this machine's name cannot be had: %s", strerror(errno));
	buf_printf(&text, "%s %s %s %s", name.sysname, name.nodename, name.release, name.machine);
	r = put_text(sink, DAT_UNAME, &text, err);
	buf_reset(&text);
	buf_puts(&text, "ringside " RINGSIDE_VERSION);
	if (meta->nr_parts > 1)
		buf_puts(&text, DAT_MIXED);
	if (!r)
		r = put_text(sink, DAT_VERSION, &text, err);
	buf_fini(&text);
	if (!r && (r = sink->option(sink->ctx, DAT_TRACEID, &id, sizeof(id))))
		err_set(err, r, "an option cannot be put into the file: %s", strerror(-r));
	return r;
}

/* ---- what each CPU counted ---- */

static int by_number(const void *a, const void *b)
{
	const unsigned long *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Numbers of the CPUs in a list of "cpuN/", in their order; how many, or -ENOMEM. */
static long cpus_take(char *list, unsigned long **cpus)
{
	size_t n = 0, lines = 1;
	char *line, *end;

	for (const char *p = list; p && *p; p++)
		lines += *p == '\n';
	*cpus = calloc(lines, sizeof(**cpus));
	if (!*cpus)
		return -ENOMEM;
	while ((line = strsep(&list, "\n"))) {
		if (strncmp(line, "cpu", 3))
			continue;
		(*cpus)[n] = strtoul(line + 3, &end, 10);
		n += end > line + 3 && !strcmp(end, "/");
	}
	qsort(*cpus, n, sizeof(**cpus), by_number);
	return (long)n;
}

static int put_cpu(struct source *source, const char *per_cpu, unsigned long cpu, const struct record_sink *sink,
		   struct err *err)
{
	struct buf text = BUF_INIT, path = BUF_INIT;
	int r;

	buf_printf(&path, "%s/cpu%lu/stats", per_cpu, cpu);
	buf_printf(&text, "CPU: %lu\n", cpu);
	r = buf_failed(&path) ? err_set(err, -ENOMEM, "out of memory") : source_read(source, path.data, &text, err);
	if (!r)
		r = put_text(sink, DAT_CPUSTAT, &text, err);
	buf_fini(&text);
	buf_fini(&path);
	return r;
}

static int put_cpus(struct source *source, const char *per_cpu, const struct record_sink *sink, struct err *err)
{
	struct buf list = BUF_INIT;
	unsigned long *cpus = NULL;
	long n = 0;
	int r = source_list(source, per_cpu, &list, err);

	if (!r) {
		n = cpus_take(list.data, &cpus);
		r = n < 0 ? err_set(err, -ENOMEM, "out of memory") : 0;
	}
	for (long i = 0; !r && i < n; i++)
		r = put_cpu(source, per_cpu, cpus[i], sink, err);
	free(cpus);
	buf_fini(&list);
	return r;
}

int record_meta_put_stats(struct source *source, const char *instance, const char *name,
			  const struct record_sink *sink, struct err *err)
{
	struct buf text = BUF_INIT;
	int r = 0;

	if (name && *name) {
		buf_printf(&text, "\nBuffer: %s\n\n", name);
		r = put_text(sink, DAT_CPUSTAT, &text, err);
		buf_reset(&text);
	}
	if (instance && *instance)
		buf_printf(&text, "instances/%s/per_cpu", instance);
	else
		buf_puts(&text, "per_cpu");
	if (!r)
		r = buf_failed(&text) ? err_set(err, -ENOMEM, "out of memory") :
					put_cpus(source, text.data, sink, err);
	buf_fini(&text);
	return r;
}

/* ---- where a process has its files ---- */

/* A line of /proc/PID/maps, if it is code from a file: "start-end perms offset device inode path". */
static bool put_mapping(struct buf *out, char *line)
{
	unsigned long long start, end;
	char perms[8];
	int at = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%llx-%llx %7s %*s %*s %*s %n", &start, &end, perms, &at) != 3 || !at ||
	    perms[2] != 'x' || line[at] != '/')
		return false;
	buf_printf(out, "%llx %llx %s\n", start, end, line + at);
	return true;
}

static int open_failed(int pid, int code, struct err *err)
{
	if (code == -ENOENT || code == -ESRCH)
		return err_set(err, -ENOENT, "there is no process %d", pid);
	return err_set(err, code, "the mappings of process %d cannot be read: %s", pid, strerror(-code));
}

/* The lines, and how many they are. */
static int read_maps(int pid, struct buf *out, unsigned int *n, struct err *err)
{
	char path[64], *line = NULL;
	size_t room = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	file = fopen(path, "re");
	if (!file)
		return open_failed(pid, -errno, err);
	while (getline(&line, &room, file) > 0)
		*n += put_mapping(out, line);
	free(line);
	fclose(file);
	return 0;
}

/* Its own name may hold anything; the option is made of lines. */
static void put_exe(int pid, struct buf *out)
{
	char path[64], exe[4096];
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	len = readlink(path, exe, sizeof(exe));
	for (ssize_t i = 0; i < len; i++)
		buf_putc(out, (unsigned char)exe[i] < ' ' ? '?' : exe[i]);
	if (len <= 0)
		buf_putc(out, '?');
}

int record_meta_put_maps(struct record_meta *meta, int pid, const struct record_sink *sink, struct err *err)
{
	struct buf maps = BUF_INIT, text = BUF_INIT;
	unsigned int n = 0;
	int r;

	(void)meta;
	r = read_maps(pid, &maps, &n, err);
	if (!r) {
		buf_printf(&text, "%x %x ", (unsigned int)pid, n);
		put_exe(pid, &text);
		buf_putc(&text, '\n');
		if (maps.len)
			buf_add(&text, maps.data, maps.len);
		if (buf_failed(&maps))
			text.failed = true;
		r = put_text(sink, DAT_PROCMAPS, &text, err);
	}
	buf_fini(&maps);
	buf_fini(&text);
	return r;
}
