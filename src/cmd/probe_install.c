/*
 * cmd/probe_install: events that probes are: they come into the tree, all or none of them, and go again.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/glob.h"
#include "cmd/probe_local.h"
#include "cmd/probe_why.h"

/* ---- names ---- */

/* The number of NAME_1, NAME_2 that nobody has; or a refusal. */
static int find_free(const char *known, struct probe_event *event, bool force, struct buf *line, struct err *err)
{
	char base[64];

	memcpy(base, event->name, sizeof(base));
	for (int i = 0; i < 1000; i++) {
		buf_reset(line);
		if (i)
			buf_printf(line, "%.58s_%d", base, i);
		else
			buf_puts(line, base);
		if (buf_failed(line))
			return err_set(err, -ENOMEM, "out of memory");
		memcpy(event->name, line->data, line->len + 1);
		buf_reset(line);
		buf_printf(line, ":%s/%s ", event->group, event->name);
		event->renamed = i;
		if (!line->data || !strstr(known, line->data))
			return 0;
		if (!force)
			return err_set(err, -EEXIST, "there is %s:%s already: remove it with -d, or say -f for another",
				       event->group, base);
	}
	return err_set(err, -EEXIST, "there are too many events %s:%s", event->group, base);
}

/* Lines under the name that the event has now. */
static void put_renamed(struct buf *out, const struct probe_event *event)
{
	const char *at = event->lines.data;

	if (!event->renamed) {
		buf_puts(out, at);
		return;
	}
	while (at && *at) {
		const char *blank = strchr(at, ' '), *end = strchr(at, '\n');

		buf_printf(out, "%.*s:%s/%s%.*s\n", (int)strcspn(at, ":"), at, event->group, event->name, (int)(end - blank), blank);
		at = end + 1;
	}
}

/* ---- writing ---- */

/* A tree of few files has one for all kinds. */
static const char *file_of(struct source *source, const struct probe_event *event)
{
	return source_exists(source, event->file) || !source_exists(source, "dynamic_events") ? event->file : "dynamic_events";
}

static int check_files(struct source *source, const struct probe_events *events, struct err *err)
{
	for (size_t i = 0; i < events->n; i++) {
		const char *file = events->all[i].file;

		if (source_exists(source, file))
			continue;
		if (!strcmp(file, "kprobe_events") && !source_control(source))
			return err_set(err, -ENOENT, "%.200s has no kprobe_events: this kernel was built without probes in its own code "
				       "(CONFIG_KPROBE_EVENTS)", source_name(source));
		if (!source_exists(source, "dynamic_events"))
			return err_set(err, -ENOENT, "%.200s has no %s: nothing can be probed there", source_name(source), file);
	}
	return 0;
}

/* The first n events go again; what the kernel still says about it is of no interest any more. */
static void take_back(struct source *source, const struct probe_events *events, size_t n)
{
	struct buf line = BUF_INIT;

	while (n--) {
		buf_reset(&line);
		buf_printf(&line, "-:%s/%s\n", events->all[n].group, events->all[n].name);
		if (line.data)
			source_write(source, file_of(source, &events->all[n]), line.data, line.len, true, NULL);
	}
	buf_fini(&line);
}

/* One write: lines of event i, and of those before it that wait. */
static int write_lines(struct source *source, struct probe_events *events, size_t i, const struct buf *lines, struct err *err)
{
	struct probe_event *event = &events->all[i];
	struct err why = ERR_INIT, words = ERR_INIT;
	int r = source_write(source, file_of(source, event), lines->data, lines->len, true, &why);

	if (!r)
		return 0;
	probe_why(source, event, &why, &words);
	/* Nobody meant just this one. */
	if (event->one_of_many && (r == -EINVAL || r == -ENOENT || r == -EADDRNOTAVAIL || r == -EILSEQ)) {
		event->refused = true;
		err_set(err, r, "%s", words.text);
		return 0;
	}
	take_back(source, events, i + 1);
	*err = words;
	return r;
}

/* A tracing directory takes them all at once, and plans for them together; a kernel would stop in the middle. */
static int write_events(struct source *source, struct probe_events *events, struct err *err)
{
	struct buf lines = BUF_INIT;
	struct err why = ERR_INIT;
	size_t refused = 0;
	int r = 0;

	for (size_t i = 0; !r && i < events->n; i++) {
		const bool last = i + 1 == events->n || strcmp(file_of(source, &events->all[i]), file_of(source, &events->all[i + 1]));

		put_renamed(&lines, &events->all[i]);
		if (buf_failed(&lines)) {
			r = err_set(&why, -ENOMEM, "out of memory");
		} else if (!source_control(source) || last) {
			r = write_lines(source, events, i, &lines, &why);
			buf_reset(&lines);
		}
		refused += events->all[i].refused;
	}
	if (r || (refused && refused == events->n))
		r = err_set(err, r ? r : why.code, "%s", why.text);
	else if (refused)
		cmd_say("%zu of %zu functions are refused, and left out: %s", refused, events->n, why.text);
	buf_fini(&lines);
	return r;
}

static void say_added(struct buf *out, const struct probe_events *events, const struct opts *opts)
{
	const char *tree = opts_value(opts, "tracefs"), *dir = opts_value(opts, "dir");
	const struct probe_event *one = NULL;

	buf_printf(out, "Added new event%s:\n", events->n > 1 ? "s" : "");
	for (size_t i = 0; i < events->n; i++) {
		const struct probe_event *event = &events->all[i];

		if (event->refused)
			continue;
		one = one ? one : event;
		buf_printf(out, "  %s:%s (on %s%s%s%s%s)\n", event->group, event->name, event->where.data, *event->path ? " in " : "",
			   event->path, event->with.len ? " with" : "", event->with.len ? event->with.data : "");
	}
	if (one)
		buf_printf(out, "\nRecord it with `ringside record %s%s%s-e %s:%s`\n",
			   opts_value(opts, "kernel") ? "--kernel" : tree ? "--tracefs " : dir ? "--dir " : "", tree ? tree : dir ? dir : "",
			   opts_value(opts, "kernel") || tree || dir ? " " : "", one->group, one->name);
}

int probe_install(struct probe_events *events, const struct opts *opts, struct buf *out, struct err *err)
{
	struct buf known = BUF_INIT, scratch = BUF_INIT;
	struct source *source;
	int r = cmd_open(&source, opts, true, err);

	if (r)
		return r;
	r = check_files(source, events, err);
	if (!r)
		r = probe_definitions(source, &known, err);
	for (size_t i = 0; !r && i < events->n; i++)
		r = find_free(known.data ? known.data : "", &events->all[i], opts_value(opts, "force"), &scratch, err);
	if (!r)
		r = write_events(source, events, err);
	if (!r) {
		cmd_say_unreached(source);
		say_added(out, events, opts);
	}
	source_close(source);
	buf_fini(&known);
	buf_fini(&scratch);
	return r;
}

/* ---- removing ---- */

static bool is_meant(const struct probe_line *line, const struct opts *opts)
{
	struct buf name = BUF_INIT;
	bool match = false;

	buf_printf(&name, "%s:%s", line->group, line->name);
	for (int i = 0; name.data && i < opts->nargs; i++) {
		const char *arg = opts_arg(opts, i);

		match |= glob_match(arg, strchr(arg, ':') ? name.data : line->name);
	}
	buf_fini(&name);
	return match;
}

/* A line that removes it, to the file that it is in; points of one event go together. */
static void put_gone(struct buf gone[2], const struct probe_line *line, bool dynamic)
{
	struct buf text = BUF_INIT;
	struct buf *to = &gone[!dynamic && !line->path];

	buf_printf(&text, "-:%s/%s\n", line->group, line->name);
	if (text.data && !(to->data && strstr(to->data, text.data)))
		buf_puts(to, text.data);
	buf_fini(&text);
}

static int write_gone(struct source *source, const char *file, const char *lines, size_t len, struct buf *out, struct err *err)
{
	int r = source_write(source, file, lines, len, true, err);

	for (const char *at = lines; !r && at < lines + len; at += strcspn(at, "\n") + 1) {
		const size_t group = strcspn(at + 2, "/");

		buf_printf(out, "Removed event: %.*s:%.*s\n", (int)group, at + 2, (int)strcspn(at + 3 + group, "\n"), at + 3 + group);
	}
	return r;
}

/* A kernel would stop at the first that it keeps, and say neither which nor why. */
static int remove_each(struct source *source, const char *file, const char *lines, struct buf *out, struct err *err)
{
	struct err why = ERR_INIT;
	size_t gone = 0, kept = 0;
	const char *first = NULL;

	for (size_t len; *lines; lines += len) {
		struct err one = ERR_INIT;

		len = strcspn(lines, "\n") + 1;
		if (!write_gone(source, file, lines, len, out, &one)) {
			gone++;
		} else if (!kept++) {
			first = lines + 2;
			why = one;
		}
	}
	if (!kept)
		return 0;
	return err_set(err, why.code, "%.*s:%.*s stays: %s; of the others %zu are removed, and %zu stay", (int)strcspn(first, "/"), first,
		       (int)strcspn(strchr(first, '/') + 1, "\n"), strchr(first, '/') + 1,
		       why.code == -EBUSY ? "it is on somewhere, or has a trigger" : why.text, gone, kept - 1);
}

static int remove_from(struct source *source, const struct opts *opts, struct buf *out, struct err *err)
{
	const bool dynamic = source_exists(source, "dynamic_events");
	struct buf known = BUF_INIT, gone[2] = { BUF_INIT, BUF_INIT };	/* the second: of kprobe_events, where there is no dynamic_events */
	const char *const files[2] = { dynamic ? "dynamic_events" : "uprobe_events", "kprobe_events" };
	struct probe_line line;
	int r = probe_definitions(source, &known, err);

	for (char *save, *at = r || !known.data ? NULL : strtok_r(known.data, "\n", &save); at; at = strtok_r(NULL, "\n", &save))
		if (probe_line_read(&line, at) && is_meant(&line, opts))
			put_gone(gone, &line, dynamic);
	if (!r && !gone[0].len && !gone[1].len)
		r = err_set(err, -ENOENT, "no probe is called %.200s: -l lists those that are there", opts_arg(opts, 0));
	if (!r && (buf_failed(&gone[0]) || buf_failed(&gone[1])))
		r = err_set(err, -ENOMEM, "out of memory");
	for (int i = 0; !r && i < 2; i++)
		if (gone[i].len)
			r = source_control(source) ? write_gone(source, files[i], gone[i].data, gone[i].len, out, err) :
						     remove_each(source, files[i], gone[i].data, out, err);
	if (!r)
		cmd_say_unreached(source);
	buf_fini(&known);
	buf_fini(&gone[0]);
	buf_fini(&gone[1]);
	return r;
}

int probe_remove(struct buf *out, const struct opts *opts, struct err *err)
{
	struct source *source;
	int r = cmd_open(&source, opts, false, err);

	if (r)
		return r;
	r = remove_from(source, opts, out, err);
	source_close(source);
	return r;
}
