/*
 * Every file of the tree, found by listing it: modes, who may read and write, and texts that are the same however they are read.
 * And README, which names each of them.
 */
#include "control/program.h"

static struct item item;
static int nfiles;

/* The whole text through an open file, in pieces of `step`; with a look back in between. */
static char *read_in_steps(struct control *control, const char *path, size_t step)
{
	struct tree_file *file = file_open(control, path, TREE_READ);
	char *first, *again, byte, begin[8];
	size_t len;
	int last;

	/* A histogram is ready when there were hits. */
	CHECK((tree_wait(file, 0, NULL) == 1 && tree_ready(file)) || (tree_is_polled(file) && !tree_is_followed(file)),
	      "%s is not ready", path);
	first = file_drain(file, step, &len, &last);
	CHECK(last == 0, "%s ends with %d", path, last);
	CHECK(tree_file_read(file, &byte, 1, len + 1000, NULL) == 0, "%s has bytes behind its end", path);
	if (len >= sizeof(begin)) {
		CHECK(tree_file_read(file, begin, sizeof(begin), 0, NULL) == sizeof(begin), "%s: not from 0", path);
		CHECK(!memcmp(first, begin, sizeof(begin)), "%s begins with something else", path);
	}
	again = file_drain(file, step, NULL, NULL);
	CHECK(!strcmp(first, again) || strstr(path, "stats"), "%s: '%s' and then '%s'", path, first, again);
	free(again);
	file_close(file);
	return first;
}

static int add(void *ctx, const void *bytes, size_t len)
{
	buf_add(ctx, bytes, len);
	return 0;
}

static void check_readable(struct control *control, const char *path)
{
	static const size_t steps[] = { 1, 13, 65536 };
	struct buf pumped = BUF_INIT;
	char *whole = room_read(control, path);

	CHECK(whole, "%s is nothing", path);
	buf_puts(&pumped, "");
	CHECK(!tree_pump(control, path, add, &pumped, NULL), "%s cannot be had in pieces", path);
	if (!strstr(path, "stats")) {
		CHECK(!strcmp(whole, pumped.data), "%s: pumped '%s'", path, pumped.data);
		for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
			char *text = read_in_steps(control, path, steps[i]);

			CHECK(!strcmp(whole, text), "%s by %zu: '%s', not '%s'", path, steps[i], text, whole);
			free(text);
		}
	}
	buf_fini(&pumped);
	free(whole);
}

static void check_file(struct control *control, const char *path)
{
	struct tree_stat stat;
	struct buf out = BUF_INIT;
	struct err err = ERR_INIT;
	struct tree_file *file;
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	bool followed = !strcmp(name, "trace_pipe") || strstr(name, "_raw");

	nfiles++;
	CHECK(!tree_stat(control, path, &stat, &err), "%s", err.text);
	CHECK(!stat.is_dir, "%s is a directory", path);
	CHECK(stat.mode == 0640 || stat.mode == 0440 || stat.mode == 0220, "%s: mode %o", path, stat.mode);
	CHECK(tree_list(control, path, &out, NULL) == -ENOTDIR, "%s can be listed", path);
	if (!(stat.mode & 0400)) {
		CHECK(tree_read(control, path, &out, &err) == -EACCES, "%s can be read", path);
		file_refused(control, path, TREE_READ, -EACCES);
		file_refused(control, path, TREE_READ | TREE_WRITE, -EACCES);
	} else if (!followed) {
		check_readable(control, path);
	}
	if (!(stat.mode & 0200)) {
		CHECK(tree_write(control, path, "1", 1, 0, NULL) == -EACCES, "%s can be written", path);
		file_refused(control, path, TREE_WRITE, -EACCES);
	} else if (strcmp(name, "free_buffer")) {
		file = file_open(control, path, TREE_WRITE);
		CHECK(file_try(file) == -EBADF, "%s: opened to write, and read", path);
		file_close(file);
	}
	buf_fini(&out);
}

static void check_dir(struct control *control, const char *path)
{
	struct tree_stat stat;
	struct buf names = BUF_INIT, out = BUF_INIT;
	struct err err = ERR_INIT;
	char *name, *save, child[512];

	CHECK(!tree_stat(control, path, &stat, &err), "%s", err.text);
	CHECK(stat.is_dir && stat.mode == 0755, "%s: mode %o", path, stat.mode);
	CHECK(tree_read(control, path, &out, NULL) == -EISDIR, "%s can be read", path);
	CHECK(tree_write(control, path, "", 0, 0, NULL) == -EISDIR, "%s can be written", path);
	CHECK(!tree_list(control, path, &names, &err), "%s", err.text);
	for (name = names.data ? strtok_r(names.data, "\n", &save) : NULL; name; name = strtok_r(NULL, "\n", &save)) {
		snprintf(child, sizeof(child), "%s%s%s", path, *path ? "/" : "", name);
		if (child[strlen(child) - 1] == '/') {
			child[strlen(child) - 1] = '\0';
			check_dir(control, child);
		} else {
			check_file(control, child);
		}
	}
	buf_fini(&names);
}

static void replace(char *path, size_t size, const char *what, const char *with)
{
	char *at = strstr(path, what), rest[512];

	if (!at)
		return;
	snprintf(rest, sizeof(rest), "%s", at + strlen(what));
	snprintf(at, size - (size_t)(at - path), "%s%s", with, rest);
}

/* Each file that it names is there, and each that is there is named. */
static void check_readme(struct control *control)
{
	char *text = room_read(control, "README"), *save, *line, path[512];
	struct err err = ERR_INIT;
	struct tree_stat stat;
	int n = 0;

	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		size_t len = strcspn(line, " ");

		if (!len || line[len - 1] == ':' || !strcmp(line, "Tracing by files:"))
			continue;
		snprintf(path, sizeof(path), "%.*s", (int)len, line);
		replace(path, sizeof(path), "<system>", "test");
		replace(path, sizeof(path), "<event>", "item");
		replace(path, sizeof(path), "<N>", "0");
		replace(path, sizeof(path), "<option>", "overwrite");
		replace(path, sizeof(path), "<name>", "a");
		if (strchr(path, '<') || !strcmp(path, "Tracing"))
			continue;
		n++;
		CHECK(!tree_stat(control, path, &stat, &err), "README names %s: %s", path, err.text);
		CHECK(strlen(line) > len + 1, "README does not say what %s is", path);
	}
	CHECK(n >= 40, "README names %d files", n);
	free(text);
	text = room_read(control, "README");
	CHECK(strstr(text, "trace_pipe") && strstr(text, "per_cpu/cpu<N>/stats") && strstr(text, "instances/<name>"),
	      "README has not got all of them");
	free(text);
}

/* Modes that others look for. */
static void check_modes(struct control *control)
{
	static const struct { const char *path; uint32_t mode; } modes[] = {
		{ "trace", 0640 }, { "trace_pipe", 0440 }, { "trace_marker", 0220 }, { "trace_marker_raw", 0220 },
		{ "free_buffer", 0220 }, { "tracing_on", 0640 }, { "README", 0440 }, { "snapshot", 0640 },
		{ "per_cpu/cpu0/trace_pipe_raw", 0440 }, { "per_cpu/cpu0/snapshot_raw", 0440 },
		{ "per_cpu/cpu0/stats", 0440 }, { "events/enable", 0640 }, { "events/test/item/format", 0440 },
		{ "events/test/item/inject", 0220 }, { "options/raw", 0640 }, { "error_log", 0640 },
		{ "instances/a/trace_marker", 0220 }, { "saved_cmdlines_size", 0640 },
	};
	struct tree_stat stat;
	struct err err = ERR_INIT;

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		CHECK(!tree_stat(control, modes[i].path, &stat, &err), "%s", err.text);
		CHECK(!stat.is_dir && stat.mode == modes[i].mode, "%s: %o, not %o", modes[i].path, stat.mode,
		      modes[i].mode);
	}
	CHECK(tree_stat(control, "nosuch", &stat, &err) == -ENOENT && err.text[0], "nosuch");
}

int main(void)
{
	struct control *control = room_open();

	item = item_bring("item");
	room_mkdir(control, "instances/a", 0);
	room_write(control, "events/enable", "1", 0);
	room_write(control, "tracing_on", "x", -EINVAL);
	item_emit_many(&item, 0, 100);
	room_write(control, "snapshot", "1", 0);
	item_emit_many(&item, 100, 150);
	room_write(control, "instances/a/trace_marker", "hello", 0);
	check_modes(control);
	check_readme(control);
	check_dir(control, "");
	CHECK(nfiles > 100, "only %d files", nfiles);
	control_close(control);
	return 0;
}
