/*
 * symbol/lines: see lines.h.
 */
#include "symbol/lines.h"

#include <errno.h>
#include <unistd.h>

#include "symbol/elf.h"

#define BYTES_MAX (64u << 20)

int lines_open(struct lines *lines, const char *path)
{
	int fd = elf_file(path);

	*lines = (struct lines){ .left = BYTES_MAX };
	if (fd < 0)
		return fd;
	lines->file = fdopen(fd, "r");
	if (lines->file)
		return 0;
	close(fd);
	return -ENOMEM;
}

void lines_close(struct lines *lines)
{
	if (lines->file)
		fclose(lines->file);
	lines->file = NULL;
}

/* What cannot be read is the end. */
static int next(struct lines *lines)
{
	return lines->left ? (lines->left--, getc(lines->file)) : EOF;
}

bool lines_next(struct lines *lines, char *line, size_t size)
{
	size_t n = 0;
	int c = next(lines);

	if (c == EOF)
		return false;
	for (; c != EOF && c != '\n'; c = next(lines))
		if (n + 1 < size)
			line[n++] = c ? (char)c : '?';
	line[n] = '\0';
	return true;
}
