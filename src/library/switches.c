/*
 * library/switches: single settings of a buffer, each one a file of the tree, and markers.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library/library.h"

/* The longest raw marker that any tree takes. */
#define RAW_MAX 3072u

static int set(struct ringside_control *tree, const struct ringside_control_instance *instance,
	       const char *file, const char *text)
{
	char path[PATH_MAX];
	int r = library_begin(tree);

	if (!r)
		r = library_path(tree, instance, path, "%s", file);
	return r ? r : library_write(tree, path, text, strlen(text), false);
}

/* 1 or 0. */
static int get(struct ringside_control *tree, const struct ringside_control_instance *instance,
	       const char *file)
{
	char path[PATH_MAX];
	long long number;
	int r = library_begin(tree);

	if (!r)
		r = library_path(tree, instance, path, "%s", file);
	if (!r)
		r = library_number(tree, path, &number);
	return r ? r : number != 0;
}

int ringside_control_on(struct ringside_control *tree,
			const struct ringside_control_instance *instance)
{
	return set(tree, instance, "tracing_on", "1");
}

int ringside_control_off(struct ringside_control *tree,
			 const struct ringside_control_instance *instance)
{
	return set(tree, instance, "tracing_on", "0");
}

int ringside_control_is_on(struct ringside_control *tree,
			   const struct ringside_control_instance *instance)
{
	return get(tree, instance, "tracing_on");
}

int ringside_control_clear(struct ringside_control *tree,
			   const struct ringside_control_instance *instance)
{
	return set(tree, instance, "trace", "");
}

int ringside_control_snapshot_take(struct ringside_control *tree,
				   const struct ringside_control_instance *instance)
{
	return set(tree, instance, "snapshot", "1");
}

int ringside_control_snapshot_free(struct ringside_control *tree,
				   const struct ringside_control_instance *instance)
{
	return set(tree, instance, "snapshot", "0");
}

/* ---- options ---- */

static int option_file(struct ringside_control *tree, const char *option, char file[PATH_MAX])
{
	int r = library_begin(tree);

	if (!r)
		r = library_check_name(tree, option, "an option");
	return r ? r : library_path(tree, NULL, file, "options/%s", option);
}

int ringside_control_option_set(struct ringside_control *tree,
				const struct ringside_control_instance *instance, const char *option,
				int on)
{
	char file[PATH_MAX];
	int r = option_file(tree, option, file);

	return r ? r : set(tree, instance, file, on ? "1" : "0");
}

int ringside_control_option_get(struct ringside_control *tree,
				const struct ringside_control_instance *instance, const char *option)
{
	char file[PATH_MAX];
	int r = option_file(tree, option, file);

	return r ? r : get(tree, instance, file);
}

int ringside_control_options(struct ringside_control *tree,
			     const struct ringside_control_instance *instance, char ***names)
{
	return ringside_control_file_list(tree, instance, "options", names);
}

/* ---- clocks: one line, the one in use in brackets ---- */

int ringside_control_clock_set(struct ringside_control *tree,
			       const struct ringside_control_instance *instance, const char *clock)
{
	int r = library_begin(tree);

	if (!r)
		r = library_check_name(tree, clock, "a clock");
	return r ? r : set(tree, instance, "trace_clock", clock);
}

int ringside_control_clock_get(struct ringside_control *tree,
			       const struct ringside_control_instance *instance, char **clock)
{
	char *text, *from, *to;
	int r;

	*clock = NULL;
	r = ringside_control_file_read(tree, instance, "trace_clock", &text, NULL);
	if (r)
		return r;
	from = strchr(text, '[');
	to = from ? strchr(from, ']') : NULL;
	if (!to) {
		r = err_set(&tree->err, -EINVAL, "trace_clock: no clock is in brackets");
	} else {
		*clock = strndup(from + 1, (size_t)(to - from - 1));
		r = *clock ? 0 : err_set(&tree->err, -ENOMEM, "out of memory");
	}
	free(text);
	return r;
}

int ringside_control_clocks(struct ringside_control *tree,
			    const struct ringside_control_instance *instance, char ***names)
{
	char *text;
	int r;

	*names = NULL;
	r = ringside_control_file_read(tree, instance, "trace_clock", &text, NULL);
	if (r)
		return r;
	r = library_split(tree, text, "[] \n", names);
	free(text);
	return r;
}

/* ---- sizes ---- */

static int size_file(struct ringside_control *tree, int cpu, char file[PATH_MAX])
{
	int r = library_begin(tree);

	if (r)
		return r;
	if (cpu < -1)
		return err_set(&tree->err, -EINVAL, "there is no CPU %d", cpu);
	if (cpu == -1)
		return library_path(tree, NULL, file, "buffer_size_kb");
	return library_path(tree, NULL, file, "per_cpu/cpu%d/buffer_size_kb", cpu);
}

int ringside_control_buffer_size_set(struct ringside_control *tree,
				     const struct ringside_control_instance *instance, int cpu,
				     size_t kb)
{
	char file[PATH_MAX], text[32];
	int r = size_file(tree, cpu, file);

	snprintf(text, sizeof(text), "%zu", kb);
	return r ? r : set(tree, instance, file, text);
}

int ringside_control_buffer_size_get(struct ringside_control *tree,
				     const struct ringside_control_instance *instance, int cpu,
				     size_t *kb)
{
	char file[PATH_MAX];
	long long number;
	int r = size_file(tree, cpu, file);

	if (!r)
		r = ringside_control_file_read_number(tree, instance, file, &number);
	if (!r)
		*kb = (size_t)number;
	return r;
}

/* ---- pids ---- */

int ringside_control_pids_set(struct ringside_control *tree,
			      const struct ringside_control_instance *instance, const int *pids,
			      size_t count)
{
	struct buf text = BUF_INIT;
	int r = library_begin(tree);

	buf_puts(&text, "");
	for (size_t i = 0; i < count; i++)
		buf_printf(&text, "%d\n", pids[i]);
	if (!r && buf_failed(&text))
		r = err_set(&tree->err, -ENOMEM, "out of memory");
	if (!r)
		r = set(tree, instance, "set_event_pid", text.data);
	buf_fini(&text);
	return r;
}

int ringside_control_pids_get(struct ringside_control *tree,
			      const struct ringside_control_instance *instance, int **pids)
{
	char *text, **words;
	int n, r;

	*pids = NULL;
	r = ringside_control_file_read(tree, instance, "set_event_pid", &text, NULL);
	if (r)
		return r;
	n = library_split(tree, text, " \n", &words);
	free(text);
	if (n < 0)
		return n;
	*pids = calloc((size_t)n + 1, sizeof(**pids));
	for (int i = 0; *pids && i < n; i++)
		(*pids)[i] = atoi(words[i]);
	ringside_control_names_free(words);
	return *pids ? n : err_set(&tree->err, -ENOMEM, "out of memory");
}

/* ---- markers ---- */

static int mark(struct ringside_control *tree, const struct ringside_control_instance *instance,
		const char *file, const void *bytes, size_t len)
{
	char path[PATH_MAX];
	int r = library_path(tree, instance, path, "%s", file);

	/* As `>>`: a marker adds to what is there. */
	return r ? r : library_write(tree, path, bytes, len, true);
}

int ringside_control_mark(struct ringside_control *tree,
			  const struct ringside_control_instance *instance, const char *text)
{
	int r = library_begin(tree);

	if (!r && !text)
		r = err_set(&tree->err, -EINVAL, "trace_marker: a text is missing");
	return r ? r : mark(tree, instance, "trace_marker", text, strlen(text));
}

int ringside_control_vmarkf(struct ringside_control *tree,
			    const struct ringside_control_instance *instance, const char *format,
			    va_list args)
{
	struct buf text = BUF_INIT;
	int r = library_begin(tree);

	if (r)
		return r;
	buf_vprintf(&text, format, args);
	if (buf_failed(&text))
		r = err_set(&tree->err, -ENOMEM, "out of memory");
	else
		r = mark(tree, instance, "trace_marker", text.data ? text.data : "", text.len);
	buf_fini(&text);
	return r;
}

int ringside_control_markf(struct ringside_control *tree,
			   const struct ringside_control_instance *instance, const char *format, ...)
{
	va_list args;
	int r;

	va_start(args, format);
	r = ringside_control_vmarkf(tree, instance, format, args);
	va_end(args);
	return r;
}

int ringside_control_mark_raw(struct ringside_control *tree,
			      const struct ringside_control_instance *instance, unsigned int number,
			      const void *data, size_t len)
{
	unsigned char bytes[sizeof(number) + RAW_MAX];
	int r = library_begin(tree);

	if (!r && (len > RAW_MAX || (len && !data)))
		r = err_set(&tree->err, -EINVAL, "trace_marker_raw: up to %u bytes of data are taken",
			    RAW_MAX);
	if (r)
		return r;
	memcpy(bytes, &number, sizeof(number));
	if (len)
		memcpy(bytes + sizeof(number), data, len);
	return mark(tree, instance, "trace_marker_raw", bytes, sizeof(number) + len);
}
