/*
 * dat/maps: where processes had their files mapped, as `record --proc-map` saw it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dat/local.h"

struct dat_maps {
	struct dat_map *all;
	char **texts;		/* that paths lie in */
	size_t nr, cap, nr_texts;
};

static struct dat_maps *maps(struct dat *dat)
{
	if (!dat->maps)
		dat->maps = calloc(1, sizeof(*dat->maps));
	return dat->maps;
}

static int put(struct dat_maps *m, struct dat_map map)
{
	size_t cap = m->cap ? m->cap * 2 : 64;
	struct dat_map *more;

	if (m->nr == m->cap) {
		more = realloc(m->all, cap * sizeof(*more));
		if (!more)
			return -ENOMEM;
		m->all = more;
		m->cap = cap;
	}
	m->all[m->nr++] = map;
	return 0;
}

/* "start end path", the numbers in hexadecimal. */
static int put_line(struct dat_maps *m, int pid, char *line)
{
	struct dat_map map = { .pid = pid };
	char *p, *end;

	map.start = strtoull(line, &p, 16);
	map.end = strtoull(p, &end, 16);
	if (p == line || end == p || *end != ' ')
		return 0;
	map.path = end + 1;
	return put(m, map);
}

/* "pid nlibs exe", then a line for each library. */
int dat_add_maps(struct dat *dat, const struct dat_option *o)
{
	struct dat_maps *m = maps(dat);
	char **more = m ? realloc(m->texts, (m->nr_texts + 1) * sizeof(*more)) : NULL, *save, *line;
	char *text = more ? strdup((const char *)o->data) : NULL;
	unsigned int pid, nr;
	int r = 0;

	if (more)
		m->texts = more;
	if (!text)
		return -ENOMEM;
	m->texts[m->nr_texts++] = text;
	line = strtok_r(text, "\n", &save);
	if (!line || sscanf(line, "%x %x ", &pid, &nr) != 2)
		return -EBADMSG;
	while (!r && (line = strtok_r(NULL, "\n", &save)))
		r = put_line(m, (int)pid, line);
	return r;
}

const struct dat_map *dat_map(const struct dat *dat, size_t i)
{
	return dat->maps && i < dat->maps->nr ? &dat->maps->all[i] : NULL;
}

const struct dat_map *dat_map_find(const struct dat *dat, int pid, uint64_t addr)
{
	const struct dat_map *m;

	for (size_t i = 0; (m = dat_map(dat, i)); i++)
		if (m->pid == pid && addr >= m->start && addr < m->end)
			return m;
	return NULL;
}

void dat_free_maps(struct dat *dat)
{
	if (!dat->maps)
		return;
	for (size_t i = 0; i < dat->maps->nr_texts; i++)
		free(dat->maps->texts[i]);
	free(dat->maps->texts);
	free(dat->maps->all);
	free(dat->maps);
}
