/*
 * doctor/command: the file that a command's name stands for, and what runs it when that is a script.
 */
#ifndef DOCTOR_COMMAND_H
#define DOCTOR_COMMAND_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#define COMMAND_SCRIPTS_MAX 5	/* interpreters that are scripts, as the kernel counts */

/* The file that a shell would run for this name. */
bool command_find(const char *name, char path[PATH_MAX]);

/* Is the file a script? Then its first line, without #!. */
bool command_script(const char *path, char *line, size_t size);

/* The program that such a line names, also behind `env`; "" when that names none, NULL when nobody is named. Cuts the line. */
const char *command_interpreter(char *line);

/* The file that runs in the end. */
bool command_resolve(const char *name, char path[PATH_MAX]);

#endif
