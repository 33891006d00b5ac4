/*
 * cmd/apply_undo: what a tree of files was like before a profile, and everything back to that when a step of it is refused.
 *
 * A text is kept for each file before it is changed; of events, those that were on. An instance that the profile made goes, and with
 * it all that was done there.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/apply_local.h"
#include "cmd/keep.h"

int undo_add(struct apply *apply, int how, const char *path, const char *text, struct err *err)
{
	struct undo *undo = &apply->undo;
	struct undo_item *more;

	if (apply->control || apply->dry)
		return 0;
	more = realloc(undo->items, (undo->n + 1) * sizeof(*more));
	if (!more)
		return err_set(err, -ENOMEM, "out of memory");
	undo->items = more;
	more += undo->n++;
	*more = (struct undo_item){ how, strdup(path), strdup(text) };
	return more->path && more->text ? 0 : err_set(err, -ENOMEM, "out of memory");
}

static bool is_made(const struct apply *apply, const char *instance)
{
	const struct scope scope = { .instance = instance };
	char path[SCOPE_PATH];

	if (!instance)
		return false;
	scope_path(path, &scope, "");
	for (size_t i = 0; i < apply->undo.n; i++)
		if (apply->undo.items[i].how == UNDO_REMOVE && !strcmp(apply->undo.items[i].path, path))
			return true;
	return false;
}

static bool is_kept(const struct apply *apply, const char *path)
{
	for (size_t i = 0; i < apply->undo.n; i++)
		if (!strcmp(apply->undo.items[i].path, path) && apply->undo.items[i].how != UNDO_APPEND)
			return true;
	return false;
}

/* The first text that a file had is the one that it gets back. */
int undo_keep(struct apply *apply, const struct boot_step *step, const char *file, int kind, struct err *err)
{
	struct scope scope = apply_scope(step);
	struct buf text = BUF_INIT;
	char path[SCOPE_PATH];
	int r = 0;

	scope_path(path, &scope, file);
	if (apply->control || apply->dry || is_made(apply, step->instance) || is_kept(apply, path))
		return 0;
	/* What can only be written cannot be brought back. */
	if (!keep_read(apply->source, &scope, file, (enum setup_keep)kind, &text, NULL))
		r = undo_add(apply, UNDO_WRITE, path, text.data ? text.data : "", err);
	buf_fini(&text);
	return r;
}

int undo_keep_size(struct apply *apply, const struct boot_step *step, struct err *err)
{
	struct scope scope = apply_scope(step);
	struct buf size = BUF_INIT, names = BUF_INIT;
	char path[SCOPE_PATH], file[128], *save;
	int r = 0;

	if (apply->control || apply->dry)
		return 0;
	if (scope_read(&scope, apply->source, "buffer_size_kb", &size, NULL) || !size.data || *size.data != 'X') {
		buf_fini(&size);
		return undo_keep(apply, step, "buffer_size_kb", KEEP_WORD, err);
	}
	/* Each CPU has its own. */
	if (!source_list(apply->source, scope_path(path, &scope, "per_cpu"), &names, NULL) && names.data)
		for (char *name = strtok_r(names.data, "\n", &save); !r && name; name = strtok_r(NULL, "\n", &save)) {
			snprintf(file, sizeof(file), "per_cpu/%.40sbuffer_size_kb", name);
			r = undo_keep(apply, step, file, KEEP_WORD, err);
		}
	buf_fini(&names);
	buf_fini(&size);
	return r;
}

int undo_keep_events(struct apply *apply, const struct boot_step *step, struct err *err)
{
	struct scope scope = apply_scope(step);
	struct buf text = BUF_INIT;
	char path[SCOPE_PATH];
	int r = 0;

	/* Also where the instance is new: what is on there cannot be removed before it. */
	scope_path(path, &scope, "set_event");
	if (apply->control || apply->dry || is_kept(apply, path))
		return 0;
	r = keep_events(apply->source, &scope, &text, err);
	if (!r)
		r = undo_add(apply, UNDO_EVENTS, path, text.data, err);
	buf_fini(&text);
	return r;
}

/* ---- back ---- */

/* Some files throw away what was recorded also for a word that they have. */
static bool is_back(struct apply *apply, const struct undo_item *item)
{
	static const struct scope top;
	struct buf now = BUF_INIT;
	bool same = !keep_read(apply->source, &top, item->path, KEEP_WORD, &now, NULL) && !strcmp(now.data, item->text);

	buf_fini(&now);
	return same;
}

static int write_back(struct apply *apply, const struct undo_item *item, bool append, struct err *err)
{
	if (!append && is_back(apply, item))
		return 0;
	return source_write(apply->source, item->path, item->text, strlen(item->text), append, err);
}

/* Is this a line of the text? */
static bool has_line(const char *text, const char *line, size_t len)
{
	while (*text) {
		size_t n = strcspn(text, "\n");

		if (n == len && !memcmp(text, line, n))
			return true;
		text += n + (text[n] == '\n');
	}
	return false;
}

/* Each event of `these` that is not in `those`, with `sign` before it. */
static int write_difference(struct apply *apply, const char *path, const char *these, const char *those, const char *sign,
			    struct err *err)
{
	char word[200];
	int first = 0;

	while (*these) {
		size_t len = strcspn(these, "\n");
		int r = 0;

		if (!has_line(those, these, len)) {
			snprintf(word, sizeof(word), "%s%.*s\n", sign, (int)len, these);
			r = source_write(apply->source, path, word, strlen(word), true, err);
		}
		first = first ? first : r;
		these += len + (these[len] == '\n');
	}
	return first;
}

static int events_back(struct apply *apply, const struct undo_item *item, struct err *err)
{
	char instance[SCOPE_PATH];
	const bool top = strncmp(item->path, "instances/", 10);
	const struct scope scope = { .instance = top ? NULL : instance };
	struct buf now = BUF_INIT;
	int r, more;

	if (!top)
		snprintf(instance, sizeof(instance), "%.*s", (int)strcspn(item->path + 10, "/"), item->path + 10);
	r = keep_events(apply->source, &scope, &now, err);
	if (!r) {
		r = write_difference(apply, item->path, now.data, item->text, "!", err);
		more = write_difference(apply, item->path, item->text, now.data, "", err);
		r = r ? r : more;
	}
	buf_fini(&now);
	return r;
}

static int sysctl_back(const struct undo_item *item, struct err *err)
{
	int fd = open(item->path, O_WRONLY | O_CLOEXEC);
	size_t len = strlen(item->text);
	int r = fd < 0 || write(fd, item->text, len) != (ssize_t)len ? -errno : 0;

	if (fd >= 0)
		close(fd);
	return r ? err_set(err, r, "%s: %s", item->path, strerror(-r)) : 0;
}

static int back(struct apply *apply, const struct undo_item *item, struct err *err)
{
	switch (item->how) {
	case UNDO_REMOVE:
		return source_rmdir(apply->source, item->path, err);
	case UNDO_EVENTS:
		return events_back(apply, item, err);
	case UNDO_SYSCTL:
		return sysctl_back(item, err);
	default:
		return write_back(apply, item, item->how == UNDO_APPEND, err);
	}
}

int undo_all(struct apply *apply, struct err *err)
{
	struct undo *undo = &apply->undo;
	int first = 0;

	for (size_t i = undo->n; i-- > 0;) {
		int r = undo->items[i].path && undo->items[i].text ? back(apply, &undo->items[i], err) : 0;

		first = first ? first : r;
	}
	return first;
}

void undo_fini(struct undo *undo)
{
	for (size_t i = 0; i < undo->n; i++) {
		free(undo->items[i].path);
		free(undo->items[i].text);
	}
	free(undo->items);
	*undo = (struct undo){ 0 };
}
