/*
 * symbol/debug_files: opens a file's debug information, which is in it or beside it (beside.h).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/beside.h"
#include "symbol/debug_local.h"
#include "symbol/elf.h"

#define STEPS_MAX 50000000ull

static int look(struct debug *debug, char **beside, struct err *err)
{
	struct elf elf;
	int r = elf_open_path(&elf, debug->path, err);

	*beside = NULL;
	if (r)
		return r;
	if (!symbol_has_debug(&elf))
		*beside = symbol_beside(&elf, debug->path);
	elf_close_path(&elf);
	return 0;
}

int debug_open(struct debug **out, const char *path, struct err *err)
{
	struct debug *debug = calloc(1, sizeof(*debug));
	char *beside = NULL;
	int r;

	*out = NULL;
	if (!debug)
		return err_set(err, -ENOMEM, "out of memory");
	debug->steps = STEPS_MAX;
	debug->path = realpath(path, NULL);
	/* A file without a name is none that others lie beside. */
	if (!debug->path)
		debug->path = strdup(path);
	r = debug->path ? look(debug, &beside, err) : err_set(err, -ENOMEM, "out of memory");
	if (!r)
		r = debug_dw_open(&debug->dw, debug->path, beside, err);
	debug->from = beside;
	if (r) {
		debug_close(debug);
		return r;
	}
	*out = debug;
	return 0;
}

void debug_close(struct debug *debug)
{
	if (!debug)
		return;
	debug_dw_close(debug->dw);
	free(debug->path);
	free(debug->from);
	free(debug);
}

void debug_look_in(struct debug *debug, const char *dir)
{
	debug->sources = dir;
}

const char *debug_file(const struct debug *debug)
{
	return debug->from ? debug->from : debug->path;
}
