/*
 * doctor/command: see command.h.
 */
#include "doctor/command.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool command_find(const char *name, char path[PATH_MAX])
{
	const char *dirs = getenv("PATH");

	if (strchr(name, '/'))
		return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX && !access(path, F_OK);
	while (dirs) {
		size_t len = strcspn(dirs, ":");
		struct stat st;

		if (snprintf(path, PATH_MAX, "%.*s/%s", len ? (int)len : 1, len ? dirs : ".", name) < PATH_MAX &&
		    !access(path, X_OK) && !stat(path, &st) && S_ISREG(st.st_mode))
			return true;
		dirs = dirs[len] ? dirs + len + 1 : NULL;
	}
	return false;
}

bool command_script(const char *path, char *line, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	ssize_t n = -1;

	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		n = pread(fd, line, size - 1, 0);
	close(fd);
	if (n < 2 || line[0] != '#' || line[1] != '!')
		return false;
	line[n] = '\0';
	line[strcspn(line, "\n")] = '\0';
	memmove(line, line + 2, strlen(line + 2) + 1);
	return true;
}

/* Past `env`, its options and assignments: the program that it looks for, "" when there is none. */
static const char *behind_env(char **rest)
{
	const char *word;

	while ((word = strtok_r(NULL, " \t", rest)))
		if (word[0] != '-' && !strchr(word, '='))
			return word;
	return "";
}

const char *command_interpreter(char *line)
{
	char *rest;
	const char *interpreter = strtok_r(line, " \t", &rest);
	const char *base = interpreter ? strrchr(interpreter, '/') : NULL;

	return base && !strcmp(base, "/env") ? behind_env(&rest) : interpreter;
}

bool command_resolve(const char *name, char path[PATH_MAX])
{
	char line[256];

	if (!command_find(name, path))
		return false;
	for (int i = 0; command_script(path, line, sizeof(line)); i++) {
		const char *interpreter = command_interpreter(line);

		if (i == COMMAND_SCRIPTS_MAX || !interpreter || !command_find(interpreter, path))
			return false;
	}
	return true;
}
