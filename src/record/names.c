/*
 * record/names: names of threads. Trees keep a few, the registry those of the newest threads of their numbers; a
 * recording keeps all that it has seen, of each thread the last.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>

#include "record/local.h"

/* Longer than any that the kernel keeps. */
#define NAME_MAX_LEN 63
/* Readers do not take more. */
#define TEXT_MAX (15u << 20)

struct record_name {
	int32_t tid;
	int32_t tgid;		/* 0: not known */
	char told[16];
	char comm[NAME_MAX_LEN + 1];
};

/* Stock readers take a line apart at blanks: a name of blanks alone is none to them, or worse. */
static bool is_name(const char *comm)
{
	return comm[strspn(comm, " ")];
}

/* Of a thread that runs no more and has told nothing new, what it was called when it was last seen is newer. */
static bool is_older(const struct record_name *name, const struct control_task *task)
{
	return !task->running && name->tgid == task->tgid && !strcmp(name->told, task->told);
}

static struct record_name *learn(struct record_meta *meta, int32_t tid, const char *comm)
{
	struct record_name *name = map_get(&meta->names, &tid, sizeof(tid), sizeof(*name));

	if (name) {
		name->tid = tid;
		snprintf(name->comm, sizeof(name->comm), "%s", comm);
	}
	return name;
}

/* "PID NAME" */
static int learn_line(struct record_meta *meta, const char *line)
{
	char *end;
	long tid = strtol(line, &end, 10);

	if (end == line || *end != ' ' || tid < 0 || tid > INT32_MAX || !is_name(end + 1))
		return 0;
	return learn(meta, (int32_t)tid, end + 1) ? 0 : -ENOMEM;
}

static int learn_tree(struct record_meta *meta, struct record_part *part, struct err *err)
{
	struct buf text = BUF_INIT;
	char *at, *line;
	int r = source_exists(part->source, "saved_cmdlines") ?
			source_read(part->source, "saved_cmdlines", &text, err) : 0;

	for (at = text.data; !r && (line = strsep(&at, "\n"));)
		if (learn_line(meta, line))
			r = err_set(err, -ENOMEM, "out of memory");
	buf_fini(&text);
	return r;
}

/* Threads that run: a kernel remembers some hundred names, and forgets those of long ago. */
static int learn_running(struct record_meta *meta, const char *tasks)
{
	DIR *dir = opendir(tasks);
	struct dirent *entry;
	int r = 0;

	while (dir && !r && (entry = readdir(dir))) {
		char path[600], comm[NAME_MAX_LEN + 1];
		int32_t tid = (int32_t)strtol(entry->d_name, NULL, 10);
		FILE *file;

		if (tid <= 0 || map_find(&meta->names, &tid, sizeof(tid)))
			continue;
		snprintf(path, sizeof(path), "%s/%d/comm", tasks, tid);
		file = fopen(path, "re");
		if (!file)
			continue;
		if (fgets(comm, sizeof(comm), file)) {
			comm[strcspn(comm, "\n")] = '\0';
			r = is_name(comm) && !learn(meta, tid, comm) ? -ENOMEM : 0;
		}
		fclose(file);
	}
	if (dir)
		closedir(dir);
	return r;
}

/* Of this machine's kernel, not of a tree that looks like one. */
static int learn_machine(struct record_meta *meta, const struct record_part *part, struct err *err)
{
	struct dirent *entry;
	struct statfs fs;
	DIR *proc;
	int r = 0;

	if (statfs(source_name(part->source), &fs) || (unsigned long)fs.f_type != TRACEFS_MAGIC)
		return 0;
	proc = opendir("/proc");
	while (proc && !r && (entry = readdir(proc))) {
		char path[300];

		if (*entry->d_name < '1' || *entry->d_name > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%.200s/task", entry->d_name);
		r = learn_running(meta, path);
	}
	if (proc)
		closedir(proc);
	return r ? err_set(err, r, "out of memory") : 0;
}

int record_names_gather(struct record_meta *meta, struct record_part *part, bool running, struct err *err)
{
	const struct control_registry *registry = &part->registry;

	if (!part->control) {
		int r = learn_tree(meta, part, err);

		return r || !running ? r : learn_machine(meta, part, err);
	}
	/* Readers take that number for an idle CPU: here it is somebody whom we may not see. */
	if (meta->nr_parts == 1 && !learn(meta, 0, "<...>"))
		return err_set(err, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < registry->ntasks; i++) {
		const struct control_task *task = &registry->tasks[i];
		struct record_name *name = map_find(&meta->names, &task->tid, sizeof(task->tid));

		if (!is_name(task->comm) || (name && is_older(name, task)))
			continue;
		name = learn(meta, task->tid, task->comm);
		if (!name)
			return err_set(err, -ENOMEM, "out of memory");
		name->tgid = task->tgid;
		memcpy(name->told, task->told, sizeof(name->told));
	}
	return 0;
}

static int by_tid(const void *a, const void *b)
{
	const struct record_name *x = (*(const struct map_entry *const *)a)->value;
	const struct record_name *y = (*(const struct map_entry *const *)b)->value;

	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

int record_names_text(struct record_meta *meta, struct buf *out, struct err *err)
{
	const struct map_entry **all = NULL;

	for (size_t i = 0; i < meta->nr_aparts; i++)
		if (!learn(meta, meta->aparts[i].pid, remote_name(meta->aparts[i].remote)))
			return err_set(err, -ENOMEM, "out of memory");
	if (map_list(&meta->names, &all))
		return err_set(err, -ENOMEM, "out of memory");
	if (meta->names.nr)
		qsort(all, meta->names.nr, sizeof(*all), by_tid);
	for (size_t i = 0; i < meta->names.nr && out->len < TEXT_MAX; i++) {
		const struct record_name *name = all[i]->value;

		buf_printf(out, "%" PRId32 " %s\n", name->tid, name->comm);
	}
	free(all);
	return buf_failed(out) ? err_set(err, -ENOMEM, "out of memory") : 0;
}
