/* SPDX-License-Identifier: MIT */
/*
 * controls DIR [SYSTEM...] - what every control file of a tracefs below DIR says, line by line with its name before it.
 *
 * For diff: in the order of names, without files that hold what was recorded, and without those that change by themselves. Where SYSTEMs are
 * given, of the others' events no more than what their system says is read, which spares a slow machine most of the time.
 */
#include <fcntl.h>
#include <fts.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char **systems;

/* Of those that cannot be written, these tell what others have set. */
static const char *const told[] = { "enabled_functions", "timestamp_mode", "buffer_total_size_kb" };
static const char *const records[] = { "trace", "trace_pipe", "trace_pipe_raw", "tracing_max_latency" };

static bool is_among(const char *const *names, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

static bool is_control(const FTSENT *entry)
{
	mode_t mode = entry->fts_statp->st_mode;

	if (is_among(records, sizeof(records) / sizeof(records[0]), entry->fts_name))
		return false;
	return (mode & 0444 && mode & 0222) || is_among(told, sizeof(told) / sizeof(told[0]), entry->fts_name);
}

/* An event's directory: .../events/SYSTEM/EVENT, of a system that nobody asked for. */
static bool is_left_out(const FTSENT *entry)
{
	const FTSENT *system = entry->fts_parent;

	if (!*systems || entry->fts_level < 3 || strcmp(system->fts_parent->fts_name, "events"))
		return false;
	for (char **name = systems; *name; name++)
		if (!strcmp(*name, system->fts_name))
			return false;
	return true;
}

/* Of a snapshot whether there is one; of a function that is traced not by which piece of memory. */
static void show(const FTSENT *entry, const char *path)
{
	bool snapshot = !strcmp(entry->fts_name, "snapshot"), functions = !strcmp(entry->fts_name, "enabled_functions");
	FILE *file = fopen(entry->fts_accpath, "re");
	char *line = NULL;
	size_t room = 0;
	int n = 0;

	while (file && getline(&line, &room, file) > 0) {
		line[strcspn(line, functions ? ")\n" : "\n")] = '\0';
		if (!snapshot || strstr(line, "Snapshot is"))
			printf("%s: %s\n", path, line);
		n++;
	}
	if (!n)
		printf("%s:%s\n", path, file ? "" : " cannot be read");
	free(line);
	if (file)
		fclose(file);
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

int main(int argc, char **argv)
{
	char *roots[] = { argc > 1 ? argv[1] : (char *)"", NULL };
	FTS *walk = fts_open(roots, FTS_PHYSICAL, by_name);
	size_t cut = strlen(roots[0]) + 1;
	FTSENT *entry;

	systems = argv + 2;
	while (argc > 1 && walk && (entry = fts_read(walk))) {
		if (entry->fts_info == FTS_D && is_left_out(entry))
			fts_set(walk, entry, FTS_SKIP);
		else if (entry->fts_info == FTS_D && entry->fts_level && !strcmp(entry->fts_parent->fts_name, "instances"))
			printf("%s: an instance\n", entry->fts_path + cut);
		else if (entry->fts_info == FTS_F && is_control(entry))
			show(entry, entry->fts_path + cut);
	}
	return argc > 1 && walk && !fts_close(walk) ? 0 : 1;
}
