/*
 * source/triggers: all triggers of a buffer's events taken away, in any tree. See source.h.
 *
 * Histograms may refer to each other's variables, and one that is referred to is busy for as long: rounds are made until none is left,
 * or none goes any more.
 */
#include <errno.h>
#include <string.h>

#include "source/source.h"

struct dropping {
	struct source *source;
	size_t gone, left;	/* in this round */
	struct err err;		/* the first refusal of it */
};

/*
 * The line, behind a !, as a kernel reads it that prints how keys are shown with those that a histogram is sorted by, too,
 * sort=lat.buckets=10.descending, and does not take it there.
 */
static void put_plain_sort(struct buf *undo, const char *line)
{
	const char *sort = strstr(line, ":sort="), *end;

	buf_printf(undo, "!%.*s", sort ? (int)(sort + 6 - line) : (int)strlen(line), line);
	if (!sort)
		return;
	sort += strlen(":sort=");
	end = sort + strcspn(sort, ": ");
	while (sort < end) {
		static const char down[] = ".descending";
		size_t len = strcspn(sort, ",: "), name = strcspn(sort, ".,: ");
		bool falls = len >= strlen(down) && !strncmp(sort + len - strlen(down), down, strlen(down));

		buf_printf(undo, "%.*s%s%s", (int)name, sort, falls ? down : "", sort[len] == ',' ? "," : "");
		sort += len + (sort[len] == ',');
	}
	buf_puts(undo, end);
}

static int write_undo(struct dropping *drop, const char *path, struct buf *undo, struct err *err)
{
	return buf_failed(undo) ? err_set(err, -ENOMEM, "out of memory")
				: source_write(drop->source, path, undo->data, undo->len, true, err);
}

/* One line as it is shown, with its state behind it. */
static void drop_line(struct dropping *drop, const char *path, char *line)
{
	char *state = strstr(line, " [active]");
	struct buf undo = BUF_INIT;
	int r;

	if (!state)
		state = strstr(line, " [paused]");
	if (state)
		*state = '\0';
	buf_printf(&undo, "!%s", line);
	r = write_undo(drop, path, &undo, &drop->err);
	if (r && strstr(line, ":sort=")) {
		buf_reset(&undo);
		put_plain_sort(&undo, line);
		r = write_undo(drop, path, &undo, NULL);
	}
	if (r)
		drop->left++;
	else
		drop->gone++;
	buf_fini(&undo);
}

static bool has_hist(struct source *source, const char *path)
{
	struct buf text = BUF_INIT;
	bool found = !source_read(source, path, &text, NULL) && text.data && strstr(text.data, "hist:keys=");

	buf_fini(&text);
	return found;
}

static void drop_of_event(struct dropping *drop, const char *path)
{
	const size_t gone = drop->gone, left = drop->left;
	struct buf text = BUF_INIT;
	char *save;

	if (!source_read(drop->source, path, &text, NULL) && text.data)
		for (char *line = strtok_r(text.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
			if (*line != '#')
				drop_line(drop, path, line);
	buf_fini(&text);
	/*
	 * A kernel shows the key `cpu` as common_cpu, which it takes for another one: nothing goes then, and nothing is said. With what
	 * is in the file all histograms go.
	 */
	if (drop->gone > gone && drop->left == left && has_hist(drop->source, path))
		source_write(drop->source, path, "", 0, false, NULL);
}

/* `system` ends in a slash. */
static void drop_of_system(struct dropping *drop, const char *buffer, const char *system)
{
	struct buf path = BUF_INIT, names = BUF_INIT;
	char *save;

	buf_printf(&path, "%sevents/%s", buffer, system);
	if (!buf_failed(&path) && !source_list(drop->source, path.data, &names, NULL) && names.data)
		for (char *name = strtok_r(names.data, "\n", &save); name; name = strtok_r(NULL, "\n", &save)) {
			buf_reset(&path);
			buf_printf(&path, "%sevents/%s%strigger", buffer, system, name);
			if (strchr(name, '/') && !buf_failed(&path))
				drop_of_event(drop, path.data);
		}
	buf_fini(&path);
	buf_fini(&names);
}

static void drop_of_all(struct dropping *drop, const char *buffer)
{
	struct buf path = BUF_INIT, names = BUF_INIT;
	char *save;

	buf_printf(&path, "%sevents", buffer);
	if (!buf_failed(&path) && !source_list(drop->source, path.data, &names, NULL) && names.data)
		for (char *name = strtok_r(names.data, "\n", &save); name; name = strtok_r(NULL, "\n", &save))
			if (strchr(name, '/'))
				drop_of_system(drop, buffer, name);
	buf_fini(&path);
	buf_fini(&names);
}

int source_drop_triggers(struct source *source, const char *buffer, const char *system, struct err *err)
{
	struct dropping drop = { .source = source };

	do {
		drop.gone = drop.left = 0;
		drop.err = (struct err)ERR_INIT;
		if (system)
			drop_of_system(&drop, buffer, system);
		else
			drop_of_all(&drop, buffer);
	} while (drop.gone && drop.left);
	return drop.left ? err_set(err, drop.err.code, "%s", drop.err.text) : 0;
}
