/*
 * dat/tasks: names of tasks, and the texts that bprint records name by their address. Both are
 * short lists that are read when the file is opened.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dat/local.h"

struct task {
	int pid;
	const char *comm;
};

struct dat_tasks {
	char *text;
	struct task *all;	/* by PID */
	size_t nr;
};

struct printk {
	uint64_t addr;
	const char *text;
};

struct dat_printks {
	char *text;
	struct printk *all;	/* by address */
	size_t nr;
};

/* The part as text that may be cut up; NULL without one. *lines is not too small. */
static char *copy(struct dat *dat, enum dat_id id, size_t *lines)
{
	struct err why = ERR_INIT;
	struct dat_part part;
	char *text;

	*lines = 1;
	if (!dat->parts[id].is_there || !dat->parts[id].size)
		return NULL;
	if (dat_part_open(dat, id, &part, &why)) {
		dat_warn(dat, "%s", why.text);
		return NULL;
	}
	text = malloc(part.len + 1);
	if (text) {
		memcpy(text, part.data, part.len);
		text[part.len] = '\0';
		for (size_t i = 0; i < part.len; i++)
			*lines += text[i] == '\n';
		/* None that counts is shorter than "1 ". */
		if (*lines > part.len / 3 + 1)
			*lines = part.len / 3 + 1;
	}
	dat_part_close(&part);
	return text;
}

static int by_pid(const void *a, const void *b)
{
	const struct task *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->comm < y->comm ? -1 : x->comm > y->comm;
}

static int by_addr(const void *a, const void *b)
{
	const struct printk *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->text < y->text ? -1 : x->text > y->text;
}

static struct dat_tasks *read_tasks(struct dat *dat)
{
	struct dat_tasks *t = calloc(1, sizeof(*t));
	char *save, *end;
	size_t lines;

	if (!t)
		return NULL;
	t->text = copy(dat, DAT_CMDLINES, &lines);
	t->all = calloc(lines, sizeof(*t->all));
	if (!t->text || !t->all)
		return t;
	for (char *line = strtok_r(t->text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		long pid = strtol(line, &end, 10);

		if (end == line || *end != ' ' || pid < 0 || pid > INT32_MAX)
			continue;
		t->all[t->nr++] = (struct task){ (int)pid, end + 1 };
	}
	qsort(t->all, t->nr, sizeof(*t->all), by_pid);
	return t;
}

/* Turns what C escapes back, in place, and drops the line break at the end. */
static void unescape(char *p)
{
	char *to = p, *from = p;

	for (; *from; from++) {
		if (*from != '\\' || !from[1]) {
			*to++ = *from;
			continue;
		}
		switch (*++from) {
		case 'n':
			*to++ = '\n';
			break;
		case 't':
			*to++ = '\t';
			break;
		case 'r':
			*to++ = '\r';
			break;
		default:
			*to++ = *from;
		}
	}
	if (to > p && to[-1] == '\n')
		to--;
	*to = '\0';
}

/* 0xADDRESS : "TEXT" */
static bool parse_printk(char *line, struct printk *out)
{
	char *end, *text, *quote;

	out->addr = strtoull(line, &end, 16);
	text = end == line ? NULL : strstr(end, " : ");
	if (!text)
		return false;
	text += 3;
	text += strspn(text, " ");
	quote = strrchr(text, '"');
	if (*text == '"' && quote > text) {
		*quote = '\0';
		text++;
	}
	unescape(text);
	out->text = text;
	return true;
}

static struct dat_printks *read_printks(struct dat *dat)
{
	struct dat_printks *p = calloc(1, sizeof(*p));
	size_t lines;
	char *save;

	if (!p)
		return NULL;
	p->text = copy(dat, DAT_PRINTK, &lines);
	p->all = calloc(lines, sizeof(*p->all));
	if (!p->text || !p->all)
		return p;
	for (char *line = strtok_r(p->text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		p->nr += parse_printk(line, &p->all[p->nr]);
	qsort(p->all, p->nr, sizeof(*p->all), by_addr);
	return p;
}

int dat_read_tasks(struct dat *dat, struct err *err)
{
	dat->tasks = read_tasks(dat);
	dat->printks = read_printks(dat);
	if (!dat->tasks || !dat->printks)
		return err_set(err, -ENOMEM, "out of memory");
	return 0;
}

void dat_free_tasks(struct dat *dat)
{
	if (dat->tasks) {
		free(dat->tasks->text);
		free(dat->tasks->all);
	}
	if (dat->printks) {
		free(dat->printks->text);
		free(dat->printks->all);
	}
	free(dat->tasks);
	free(dat->printks);
}

const char *dat_comm(void *arg, int pid)
{
	const struct dat_tasks *t = ((struct dat *)arg)->tasks;
	size_t low = 0, high = t->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (t->all[middle].pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < t->nr && t->all[low].pid == pid ? t->all[low].comm : NULL;
}

bool dat_comm_at(struct dat *dat, size_t i, int *pid, const char **comm)
{
	const struct dat_tasks *t = dat->tasks;

	if (i >= t->nr)
		return false;
	*pid = t->all[i].pid;
	*comm = t->all[i].comm;
	return true;
}

bool dat_printk(void *arg, uint64_t addr, struct decode_printk *out)
{
	const struct dat_printks *p = ((struct dat *)arg)->printks;
	size_t low = 0, high = p->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (p->all[middle].addr < addr)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == p->nr || p->all[low].addr != addr)
		return false;
	*out = (struct decode_printk){ .text = p->all[low].text };
	return true;
}

const char *dat_prototype(const struct dat *dat, uint64_t func)
{
	struct decode_printk found;

	return dat_printk((void *)(uintptr_t)dat, func, &found) ? found.text : NULL;
}

bool dat_printk_at(struct dat *dat, size_t i, uint64_t *addr, const char **text)
{
	const struct dat_printks *p = dat->printks;

	if (i >= p->nr)
		return false;
	*addr = p->all[i].addr;
	*text = p->all[i].text;
	return true;
}
