/*
 * cmd/probe_usdt: probes that files tell of themselves, by notes: sdt_PROVIDER:NAME -> lines of uprobe_events.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "cmd/probe_local.h"
#include "report/json.h"
#include "symbol/usdt.h"

static const char prefix[] = "sdt_";

bool probe_is_usdt(const char *text)
{
	return *text == '%' || (!strncmp(text, prefix, sizeof(prefix) - 1) && strchr(text, ':'));
}

/* [sdt_]PROVIDER:NAME, globs both. */
static bool is_meant(const struct usdt_note *note, const char *pattern)
{
	char name[256];

	snprintf(name, sizeof(name), "%s:%s", note->provider, note->name);
	return glob_match(pattern, name);
}

static const char *pattern_of(const char *text)
{
	if (*text == '%')
		text++;
	return strncmp(text, prefix, sizeof(prefix) - 1) ? text : text + sizeof(prefix) - 1;
}

/* " arg1:s32 arg2:u64": what points of one event must have in common. */
static void put_types(const char *args, struct buf *out)
{
	for (; *args; args += strcspn(args, " ")) {
		size_t name, all;

		args += strspn(args, " ");
		name = strcspn(args, "= ");
		all = strcspn(args, " ");
		buf_printf(out, " %.*s", (int)name, args);
		while (all && args[all - 1] != ':')
			all--;
		if (all)
			buf_printf(out, ":%.*s", (int)strcspn(args + all, " "), args + all);
	}
}

struct made {
	struct probe_events *events;
	const char *path, *group, *name;
	struct buf *signatures;	/* of events so far: "NAME types\n", one for each of `events` */
	struct err *err;
	int left_out;
};

/* The event of that name whose points have the same arguments; another gets a number. */
static int find_name(struct made *made, const struct usdt_note *note, const char *types, char out[64])
{
	struct buf line = BUF_INIT;
	int r = -E2BIG;

	for (int i = 0; r == -E2BIG && i < 1000; i++) {
		const char *known;

		snprintf(out, 58, "%.57s", *made->name ? made->name : note->name);
		if (i)
			snprintf(out + strlen(out), 6, "_%d", i);
		buf_reset(&line);
		buf_printf(&line, "\n%s/%s ", note->provider, out);
		if (buf_failed(&line))
			break;
		known = made->signatures->data ? strstr(made->signatures->data, line.data) : NULL;
		if (known) {
			known += line.len;
			if (!strncmp(known, types, strlen(types)) && known[strlen(types)] == '\n')
				r = 0;
			continue;
		}
		buf_printf(made->signatures, "%s%s\n", line.data, types);
		r = 0;
	}
	buf_fini(&line);
	return r ? err_set(made->err, r, "%s: too many different ones", note->name) : 0;
}

static int add_note(struct made *made, const struct usdt *usdt, const struct usdt_note *note)
{
	struct buf args = BUF_INIT, types = BUF_INIT, line = BUF_INIT, with = BUF_INIT;
	char name[64], group[80], where[160];
	int r;

	made->left_out += usdt_put_args(usdt, note, &args);
	put_types(args.data ? args.data : "", &types);
	r = find_name(made, note, types.data ? types.data : "", name);
	if (*made->group)
		snprintf(group, sizeof(group), "%s", made->group);
	else
		snprintf(group, sizeof(group), "%s%.59s", prefix, note->provider);
	snprintf(where, sizeof(where), "%%%s:%s", note->provider, note->name);
	buf_printf(&line, "p:%s/%s %s:0x%" PRIx64, group, name, made->path, note->offset);
	if (note->semaphore)
		buf_printf(&line, "(0x%" PRIx64 ")", note->semaphore);
	buf_printf(&line, "%s\n", args.data ? args.data : "");
	for (const char *at = args.data ? args.data : ""; *at; at += strcspn(at, " ")) {
		at += strspn(at, " ");
		buf_printf(&with, " %.*s", (int)strcspn(at, "= "), at);
	}
	if (!r && (buf_failed(&line) || buf_failed(&with)))
		r = err_set(made->err, -ENOMEM, "out of memory");
	if (!r)
		r = probe_events_add(made->events,
				     &(struct probe_point){ .group = group, .name = name, .file = "uprobe_events", .path = made->path,
							    .where = where, .line = line.data, .with = with.data ? with.data : "" },
				     made->err);
	buf_fini(&args);
	buf_fini(&types);
	buf_fini(&line);
	buf_fini(&with);
	return r;
}

/* Those of one file that are meant: how many, or -errno. */
static int define_in(struct made *made, const char *path, const char *pattern, struct err *err)
{
	const struct usdt_note *note;
	struct usdt *usdt;
	int r = usdt_open(&usdt, path, err), n = 0;

	if (r)
		return r;
	made->path = path;
	for (size_t i = 0; !r && (note = usdt_at(usdt, i)); i++)
		if (is_meant(note, pattern)) {
			r = add_note(made, usdt, note);
			n++;
		}
	usdt_close(usdt);
	return r ? r : n;
}

static int define_somewhere(struct made *made, const struct opts *opts, const char *pattern)
{
	char **paths;
	size_t n;
	int r = probe_files_known(&paths, &n, opts, made->err), found = 0;

	for (size_t i = 0; !r && i < n; i++) {
		int one = define_in(made, paths[i], pattern, NULL);

		if (one > 0)
			found += one;
		r = made->err->code;
	}
	for (size_t i = 0; i < n; i++)
		free(paths[i]);
	free(paths);
	return r ? r : found;
}

int probe_define_usdt(struct probe_events *events, const struct opts *opts, const char *group, const char *name, const char *text,
		      struct err *err)
{
	struct buf signatures = BUF_INIT;
	struct made made = { .events = events, .group = group, .name = name, .signatures = &signatures, .err = err };
	const char *pattern = pattern_of(text);
	struct probe_file file = { .why = ERR_INIT };
	int r;

	if (opts_value(opts, "exec")) {
		r = probe_file_open(&file, opts, NULL, err);
		if (!r)
			r = probe_file_own(&file, err);
		if (!r)
			r = define_in(&made, file.path, pattern, err);
	} else {
		r = define_somewhere(&made, opts, pattern);
	}
	if (!r)
		r = err_set(err, -ENOENT, "there is no probe '%.100s': `ringside probe -l -x FILE` lists those of a file", text);
	if (r > 0 && made.left_out)
		cmd_say("%s: %d arguments are left out, which are where no probe can fetch them", text, made.left_out);
	probe_file_close(&file);
	buf_fini(&signatures);
	return r < 0 ? r : 0;
}

int probe_list_usdt(struct buf *out, const char *path, const char *glob, bool with_file, bool json, struct err *err)
{
	const struct usdt_note *note, *last = NULL;
	struct usdt *usdt;
	int r = usdt_open(&usdt, path, err);

	if (r)
		return r == -ENODATA ? 0 : r;
	for (size_t i = 0; (note = usdt_at(usdt, i)); i++) {
		if (last && !strcmp(last->name, note->name) && !strcmp(last->provider, note->provider))
			continue;
		last = note;
		if (glob && !is_meant(note, pattern_of(glob)))
			continue;
		if (json) {
			buf_printf(out, "{\"system\":\"%s%s\",\"event\":\"%s\",\"file\":", prefix, note->provider, note->name);
			report_json_string(out, path, strlen(path));
			buf_puts(out, "}\n");
		} else {
			buf_printf(out, "%s%s:%s%s%s%s\n", prefix, note->provider, note->name, with_file ? " [" : "",
				   with_file ? path : "", with_file ? "]" : "");
		}
	}
	usdt_close(usdt);
	return 0;
}
