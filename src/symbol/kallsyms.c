/*
 * symbol/kallsyms: see kallsyms.h.
 */
#include "symbol/kallsyms.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECE 65536

int kallsyms_read(struct buf *text, struct err *err)
{
	FILE *file = fopen(KALLSYMS, "re");
	char *room;
	size_t n = 0;
	int r;

	if (!file)
		return err_set(err, -errno, KALLSYMS ": %s", strerror(errno));
	while ((room = buf_room(text, PIECE)) && (n = fread(room, 1, PIECE, file)) > 0) {
		text->len += n;
		text->data[text->len] = '\0';
	}
	r = ferror(file) ? -EIO : 0;
	fclose(file);
	if (buf_failed(text))
		return err_set(err, -ENOMEM, "out of memory");
	return r || !text->len ? err_set(err, -EIO, KALLSYMS ": cannot be read") : 0;
}

static bool parse(char *line, struct kallsyms_symbol *symbol)
{
	char *end, *module;

	symbol->address = strtoull(line, &end, 16);
	if (end == line || strlen(end) < 4)
		return false;
	symbol->type = end[1];
	symbol->name = end + 3;
	module = strchr(end + 3, '\t');
	if (module) {
		*module++ = '\0';
		module += *module == '[';
		module[strcspn(module, "]")] = '\0';
	}
	symbol->module = module;
	return true;
}

bool kallsyms_next(char **at, struct kallsyms_symbol *symbol)
{
	while (*at && **at) {
		char *line = *at, *end = line;

		/* By hand: who checks strings as a whole would look at all of the text, for each line. */
		while (*end && *end != '\n')
			end++;
		*at = *end ? end + 1 : NULL;
		*end = '\0';
		if (parse(line, symbol))
			return true;
	}
	return false;
}

bool kallsyms_is_code(const struct kallsyms_symbol *symbol)
{
	return symbol->type && strchr("tTwW", symbol->type);
}
