/*
 * The only process of a machine: writes each line of /cases where it says to, and tells on the console what the kernel made
 * of it. Started by record_vm, which see for the form of both.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <unistd.h>

static char events[64][128];
static int nevents;

static int put(const char *file, const char *text, int flags)
{
	int fd = open(file, O_WRONLY | flags), ret;

	if (fd < 0)
		return errno;
	ret = write(fd, text, strlen(text)) < 0 ? errno : 0;
	close(fd);
	return ret;
}

/* Each line of a file, with something before it. Lines that are for readers are left out. */
static void show(const char *file, const char *before)
{
	char line[4096];
	FILE *f = fopen(file, "r");

	while (f && fgets(line, sizeof(line), f)) {
		if (line[0] != '#')
			printf("%s%s", before, line);
	}
	if (f)
		fclose(f);
}

/* Of lists that only grow the last line tells what is new. */
static void show_last(const char *file)
{
	char line[4096], last[4096] = "";
	FILE *f = fopen(file, "r");

	while (f && fgets(line, sizeof(line), f))
		strcpy(last, line);
	if (f)
		fclose(f);
	if (last[0])
		printf("+ %s", last);
}

/* The last entry of error_log: location and message, command, place of the caret. */
static void show_error(void)
{
	char line[3][4096] = { "", "", "" };
	FILE *f = fopen("error_log", "r");
	char *head;

	while (f && fgets(line[2], sizeof(line[2]), f)) {
		if (strstr(line[2], "] ") && strstr(line[2], ": error: ")) {
			strcpy(line[0], strstr(line[2], "] ") + 2);
		} else if (!strncmp(line[2], "  Command: ", 11)) {
			strcpy(line[1], line[2] + 11);
		}
	}
	if (f)
		fclose(f);
	head = strchr(line[2], '^');
	if (line[0][0] && head)
		printf("! %s! %s! %d\n", line[0], line[1], (int)(head - line[2]) - 11);
}

/* What was taken is removed in the words that it was written in: what listings show is not always understood. */
static struct {
	char path[128], text[4096];
} taken[1024];
static int ntaken;

static void reset(void)
{
	char text[4097];

	for (int round = 0; round < 4; round++) {
		for (int i = ntaken - 1; i >= 0; i--) {
			snprintf(text, sizeof(text), "!%s", taken[i].text);
			put(taken[i].path, text, O_APPEND);
		}
		put("synthetic_events", "\n", O_TRUNC);
		put("dynamic_events", "\n", O_TRUNC);
	}
	ntaken = 0;
	for (int i = 0; i < nevents; i++)
		show(events[i], "LEFT ");
	show("dynamic_events", "LEFT ");
}

static const char *path_of(const char *where)
{
	static char path[128];

	if (strchr(where, '_') && !strchr(where, '/'))
		return where;
	snprintf(path, sizeof(path), "events/%.100s/trigger", where);
	for (int i = 0; i < nevents; i++) {
		if (!strcmp(events[i], path))
			return path;
	}
	if (nevents < 64 && !access(path, F_OK))
		strcpy(events[nevents++], path);
	return path;
}

static void run(char *line)
{
	char *text = strchr(line, ' ');
	const char *path;
	int ret;

	if (text)
		*text++ = '\0';
	printf("> %s%s%s\n", line, text ? " " : "", text ? text : "");
	if (!strcmp(line, "reset")) {
		reset();
		return;
	}
	if (!strcmp(line, "format")) {
		char file[256];

		snprintf(file, sizeof(file), "events/%s/format", text);
		show(file, "+ ");
		return;
	}
	put("error_log", "\n", O_TRUNC);
	path = path_of(line);
	ret = put(path, text, O_APPEND);
	printf("= %d\n", ret);
	if (ret) {
		show_error();
		return;
	}
	if (strstr(path, "/trigger"))
		show(path, "+ ");
	else if (text[0] != '!')
		show_last(path);
	text += strspn(text, " ");
	if (strstr(path, "/trigger") && text[0] != '!') {
		strcpy(taken[ntaken].path, path);
		strcpy(taken[ntaken++].text, text);
	}
}

int main(void)
{
	char line[8192];
	FILE *f;

	mount("sys", "/sys", "sysfs", 0, NULL);
	mount("tracing", "/sys/kernel/tracing", "tracefs", 0, NULL);
	if (!chdir("/sys/kernel/tracing") && (f = fopen("/cases", "r")) != NULL) {
		while (fgets(line, sizeof(line), f)) {
			line[strcspn(line, "\n")] = '\0';
			if (line[0] && line[0] != '#')
				run(line);
		}
		printf("END\n");
	}
	fflush(stdout);
	sync();
	usleep(300000);
	return reboot(RB_POWER_OFF);
}
