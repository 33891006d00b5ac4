/*
 * The functions that nm finds in a file are those that are put, each by one of its names, and no others: of this program, of
 * the shared library, and of both when they are stripped. Addresses are those of the running program.
 */
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "insist.h"
#include "symbol/symbol.h"

/* "ADDRESS NAME" */
struct list {
	char **all;
	size_t n, cap;
};

static void list_add(struct list *list, unsigned long long address, const char *name)
{
	if (list->n == list->cap) {
		list->cap = list->cap ? list->cap * 2 : 256;
		list->all = realloc(list->all, list->cap * sizeof(*list->all));
		CHECK(list->all, "memory");
	}
	CHECK(asprintf(&list->all[list->n++], "%016llx %.*s", address, (int)strcspn(name, "@"), name) > 0, "memory");
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* In order, each once. */
static void list_settle(struct list *list)
{
	size_t n = 0;

	if (list->n)
		qsort(list->all, list->n, sizeof(*list->all), compare);
	for (size_t i = 0; i < list->n; i++) {
		if (n && !strcmp(list->all[n - 1], list->all[i]))
			free(list->all[i]);
		else
			list->all[n++] = list->all[i];
	}
	list->n = n;
}

static void list_fini(struct list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->all[i]);
	free(list->all);
}

/* name|address|class|type|size|line|section, each with blanks around. */
static bool nm_line(char *line, struct list *list)
{
	char *part[5], *end;

	for (int i = 0; i < 5; i++) {
		part[i] = strsep(&line, "|");
		if (!line)
			return false;
		part[i] += strspn(part[i], " ");
		for (end = part[i] + strlen(part[i]); end > part[i] && end[-1] == ' ';)
			*--end = '\0';
	}
	if (strcmp(part[3], "FUNC") && strcmp(part[3], "IFUNC"))
		return false;
	list_add(list, strtoull(part[1], NULL, 16), part[0]);
	return true;
}

static struct list nm_list(const char *path, const char *how)
{
	char command[2048], *line = NULL;
	struct list list = { 0 };
	size_t room = 0;
	FILE *nm;

	snprintf(command, sizeof(command), "nm %s -f sysv --defined-only '%s' 2>/dev/null", how, path);
	nm = popen(command, "r");
	CHECK(nm, "nm");
	while (getline(&line, &room, nm) > 0)
		nm_line(line, &list);
	pclose(nm);
	free(line);
	list_settle(&list);
	return list;
}

static struct list our_list(const char *path)
{
	struct symbol_file file = { .path = path, .base = 0, .span = 1ull << 32, .module = "m" };
	struct buf out = BUF_INIT;
	struct list list = { 0 };
	struct err err = ERR_INIT;
	char *at, *line;

	CHECK(!symbol_put_functions(&out, &file, &err), "%s", err.text);
	for (at = out.data; (line = strsep(&at, "\n")) && *line;) {
		char *tab = strchr(line, '\t');

		CHECK(tab && !strcmp(tab, "\t[m]"), "'%s'", line);
		*tab = '\0';
		if (!symbol_is_unknown(line + 19))
			list_add(&list, strtoull(line, NULL, 16), line + 19);
	}
	buf_fini(&out);
	list_settle(&list);
	return list;
}

/* Of the names that nm has for an address one is put, and no address is left out. Gives how many there are. */
static size_t expect_same(const char *path, const char *how)
{
	struct list theirs = nm_list(path, how), ours = our_list(path);
	size_t i, at = 0, n = ours.n;

	for (i = 0; i < ours.n; i++) {
		bool found = false;

		CHECK(at < theirs.n && !strncmp(theirs.all[at], ours.all[i], 16), "%s: we have %s, nm has %s", path, ours.all[i],
		      at < theirs.n ? theirs.all[at] : "nothing");
		for (; at < theirs.n && !strncmp(theirs.all[at], ours.all[i], 16); at++)
			found |= !strcmp(theirs.all[at], ours.all[i]);
		CHECK(found, "%s: nm does not have %s", path, ours.all[i]);
	}
	CHECK(at == theirs.n, "%s: nm has %s, we have not", path, theirs.all[at]);
	list_fini(&theirs);
	list_fini(&ours);
	return n;
}

static int base_of(struct dl_phdr_info *info, size_t size, void *base)
{
	(void)size;
	*(uintptr_t *)base = info->dlpi_addr;
	return 1;
}

/* This very function is where the table says. */
static void check_place(const char *path)
{
	struct list ours = our_list(path);
	uintptr_t base = 0;
	char want[64];
	bool found = false;

	dl_iterate_phdr(base_of, &base);
	snprintf(want, sizeof(want), "%016llx check_place", (unsigned long long)((uintptr_t)check_place - base));
	for (size_t i = 0; i < ours.n; i++)
		found |= !strcmp(ours.all[i], want);
	CHECK(found, "no '%s'", want);
	list_fini(&ours);
}

int main(void)
{
	const char *scratch = getenv("RINGSIDE_SCRATCH"), *build = getenv("RINGSIDE_BUILD");
	char self[1024], library[1024], stripped[1024], command[4096];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (system("nm --version >/dev/null 2>&1 && strip --version >/dev/null 2>&1")) {
		puts("there is no nm or no strip");
		return 77;
	}
	CHECK(len > 0 && scratch && build, "where am I?");
	self[len] = '\0';
	snprintf(library, sizeof(library), "%s/libringside.so", build);
	snprintf(stripped, sizeof(stripped), "%s/stripped.so", scratch);
	CHECK(expect_same(self, "") > 20, "too few functions");
	CHECK(expect_same(library, "") > 50, "too few functions");
	check_place(self);
	snprintf(command, sizeof(command), "strip -o '%s' '%s'", stripped, library);
	CHECK(!system(command), "strip");
	CHECK(expect_same(stripped, "-D") > 5, "too few functions");
	unlink(stripped);
	return 0;
}
