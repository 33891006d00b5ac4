/*
 * ringside/control.h: to control tracing and to read what was recorded, from a program.
 *
 *	struct ringside_control *tree;
 *
 *	if (ringside_control_open(&tree, NULL, RINGSIDE_CONTROL_CREATE) ||
 *	    ringside_control_event_enable(tree, NULL, "shop", NULL))
 *		fprintf(stderr, "%s\n", ringside_control_error(tree));
 *	ringside_control_close(tree);
 *
 * Link with libringside-control. It does not make a program a traced one: that is libringside's
 * part, and a program may have both.
 *
 * A tree is a tracing directory, or files that look like the kernel's tracefs. Where a function
 * takes an instance, NULL is the top of the tree.
 *
 * Functions return 0, or a count where that is said, or a negative error number such as -ENOENT;
 * errno itself means nothing then. What went wrong in the last call about a tree is in
 * ringside_control_error(), in words for a person.
 *
 * A tree, and the instances found in it, are for one thread at a time; several trees may be open
 * at once, of one directory too. Records that are being read have a life of their own: they may
 * be used in another thread than their tree. Handles hold no resource that a fork would hurt, but
 * a child opens its own. Only ringside_control_records_stop() is for signal handlers.
 *
 * Text and names that are handed out through `char **` are freed with free(), lists of names with
 * ringside_control_names_free(); on failure they are NULL. What comes as `const` is peeked.
 */
#ifndef RINGSIDE_CONTROL_H
#define RINGSIDE_CONTROL_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#define RINGSIDE_CONTROL_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

struct ringside_control;		/* a tree */
struct ringside_control_instance;
struct ringside_control_records;	/* records as they are read */
struct ringside_control_record;		/* one of them */
struct ringside_control_hist;		/* a histogram, as it was when it was read */

/* ---- trees ---- */

enum {
	RINGSIDE_CONTROL_CREATE = 1,	/* make the tracing directory if there is none */
};

/*
 * Opens a tracing directory; NULL is the one that programs use: $RINGSIDE_DIR, or the usual one. On
 * failure *tree is a handle that only tells why and is closed, or NULL when memory is out.
 */
RINGSIDE_CONTROL_API int ringside_control_open(struct ringside_control **tree,
					       const char *directory, unsigned int flags);

/* The same for a tree of files: the kernel's if `path` is NULL, or any that is mounted there. */
RINGSIDE_CONTROL_API int ringside_control_open_tracefs(struct ringside_control **tree,
						       const char *path);

RINGSIDE_CONTROL_API void ringside_control_close(struct ringside_control *tree);

/* Its path. */
RINGSIDE_CONTROL_API const char *ringside_control_name(const struct ringside_control *tree);

/* Why the last call about this tree failed, without a newline at the end; "" when it did not. */
RINGSIDE_CONTROL_API const char *ringside_control_error(const struct ringside_control *tree);

/* ---- files: paths are relative to the top or to the instance ---- */

/* 1 or 0. */
RINGSIDE_CONTROL_API int
ringside_control_file_exists(struct ringside_control *tree,
			     const struct ringside_control_instance *instance, const char *path);

/*
 * All of it, with a NUL behind it; `len`, which may be NULL, tells the bytes before that. Of a file
 * that is followed, such as trace_pipe, what is there now.
 */
RINGSIDE_CONTROL_API int
ringside_control_file_read(struct ringside_control *tree,
			   const struct ringside_control_instance *instance, const char *path,
			   char **text, size_t *len);

/* A file that begins with a number. -EINVAL when it does not. */
RINGSIDE_CONTROL_API int
ringside_control_file_read_number(struct ringside_control *tree,
				  const struct ringside_control_instance *instance,
				  const char *path, long long *number);

/* As `> path`, and as `>> path`. The text is checked as a whole before any of it is applied. */
RINGSIDE_CONTROL_API int
ringside_control_file_write(struct ringside_control *tree,
			    const struct ringside_control_instance *instance, const char *path,
			    const char *text);
RINGSIDE_CONTROL_API int
ringside_control_file_append(struct ringside_control *tree,
			     const struct ringside_control_instance *instance, const char *path,
			     const char *text);

/*
 * Names in a directory, sorted, those of directories with a '/' at the end; how many. "" is the
 * top.
 */
RINGSIDE_CONTROL_API int
ringside_control_file_list(struct ringside_control *tree,
			   const struct ringside_control_instance *instance, const char *path,
			   char ***names);

/* Lists of names end with NULL. */
RINGSIDE_CONTROL_API void ringside_control_names_free(char **names);

/* ---- instances ---- */

/* -EEXIST when there is one of that name. */
RINGSIDE_CONTROL_API int
ringside_control_instance_create(struct ringside_control *tree, const char *name,
				 struct ringside_control_instance **instance);

/* -ENOENT when there is none. */
RINGSIDE_CONTROL_API int
ringside_control_instance_find(struct ringside_control *tree, const char *name,
			       struct ringside_control_instance **instance);

/* Takes the instance out of the tree, and all that it recorded. The handle stays to be freed. */
RINGSIDE_CONTROL_API int
ringside_control_instance_destroy(struct ringside_control *tree,
				  const struct ringside_control_instance *instance);

/* Frees the handle; the instance itself stays. */
RINGSIDE_CONTROL_API void
ringside_control_instance_free(struct ringside_control_instance *instance);

RINGSIDE_CONTROL_API const char *
ringside_control_instance_name(const struct ringside_control_instance *instance);

/* The names of all; how many. */
RINGSIDE_CONTROL_API int ringside_control_instances(struct ringside_control *tree, char ***names);

/* ---- events ---- */

enum {
	RINGSIDE_CONTROL_OFF = 0,
	RINGSIDE_CONTROL_ON = 1,
	RINGSIDE_CONTROL_MIXED = 2,	/* some on, some off */
};

/*
 * Switches events on or off. `system` and `event` may be patterns (* ? []); NULL is any. In a
 * tracing directory this holds for programs that start later, too, so that it need not match
 * anything yet; in other trees -ENOENT says that it does not.
 */
RINGSIDE_CONTROL_API int
ringside_control_event_enable(struct ringside_control *tree,
			      const struct ringside_control_instance *instance, const char *system,
			      const char *event);
RINGSIDE_CONTROL_API int
ringside_control_event_disable(struct ringside_control *tree,
			       const struct ringside_control_instance *instance, const char *system,
			       const char *event);

/* RINGSIDE_CONTROL_OFF, _ON or _MIXED, of the events that there are; -ENOENT when none matches. */
RINGSIDE_CONTROL_API int
ringside_control_event_is_enabled(struct ringside_control *tree,
				  const struct ringside_control_instance *instance,
				  const char *system, const char *event);

/* Names of systems, and of a system's events; how many. */
RINGSIDE_CONTROL_API int ringside_control_systems(struct ringside_control *tree, char ***names);
RINGSIDE_CONTROL_API int ringside_control_events(struct ringside_control *tree, const char *system,
						 char ***names);

/* The event's fields, as its file `format` describes them. */
RINGSIDE_CONTROL_API int ringside_control_event_format(struct ringside_control *tree,
						       const char *system, const char *event,
						       char **text);

/* ---- switches ---- */

/* Recording: the buffer takes events. */
RINGSIDE_CONTROL_API int ringside_control_on(struct ringside_control *tree,
					     const struct ringside_control_instance *instance);
RINGSIDE_CONTROL_API int ringside_control_off(struct ringside_control *tree,
					      const struct ringside_control_instance *instance);
/* 1 or 0. */
RINGSIDE_CONTROL_API int ringside_control_is_on(struct ringside_control *tree,
						const struct ringside_control_instance *instance);

/* Forgets what was recorded. */
RINGSIDE_CONTROL_API int ringside_control_clear(struct ringside_control *tree,
						const struct ringside_control_instance *instance);

/* Sets aside what was recorded, and begins anew; gives the memory of what was set aside back. */
RINGSIDE_CONTROL_API int
ringside_control_snapshot_take(struct ringside_control *tree,
			       const struct ringside_control_instance *instance);
RINGSIDE_CONTROL_API int
ringside_control_snapshot_free(struct ringside_control *tree,
			       const struct ringside_control_instance *instance);

/*
 * Trace options, by their names: "overwrite". _get gives 1 or 0, -ENOENT: there is no such
 * option.
 */
RINGSIDE_CONTROL_API int
ringside_control_option_set(struct ringside_control *tree,
			    const struct ringside_control_instance *instance, const char *option,
			    int on);
RINGSIDE_CONTROL_API int
ringside_control_option_get(struct ringside_control *tree,
			    const struct ringside_control_instance *instance, const char *option);
RINGSIDE_CONTROL_API int
ringside_control_options(struct ringside_control *tree,
			 const struct ringside_control_instance *instance, char ***names);

/* The clock by which records are stamped. A new one empties the buffer. */
RINGSIDE_CONTROL_API int
ringside_control_clock_set(struct ringside_control *tree,
			   const struct ringside_control_instance *instance, const char *clock);
RINGSIDE_CONTROL_API int
ringside_control_clock_get(struct ringside_control *tree,
			   const struct ringside_control_instance *instance, char **clock);
RINGSIDE_CONTROL_API int
ringside_control_clocks(struct ringside_control *tree,
			const struct ringside_control_instance *instance, char ***names);

/* KiB of one CPU's buffer; -1 is every CPU, and when they differ _get gives -EINVAL for that. */
RINGSIDE_CONTROL_API int
ringside_control_buffer_size_set(struct ringside_control *tree,
				 const struct ringside_control_instance *instance, int cpu,
				 size_t kb);
RINGSIDE_CONTROL_API int
ringside_control_buffer_size_get(struct ringside_control *tree,
				 const struct ringside_control_instance *instance, int cpu,
				 size_t *kb);

/* The threads whose events are recorded; none: all threads'. _get tells how many; free() them. */
RINGSIDE_CONTROL_API int
ringside_control_pids_set(struct ringside_control *tree,
			  const struct ringside_control_instance *instance, const int *pids,
			  size_t count);
RINGSIDE_CONTROL_API int
ringside_control_pids_get(struct ringside_control *tree,
			  const struct ringside_control_instance *instance, int **pids);

/* ---- filters and triggers: texts as the kernel's tracing has them ---- */

/*
 * Which events of a kind are recorded: "cents > 100 && who == \"ann\"". `event` NULL: of all of the system. A filter of NULL
 * or "" is none. _get gives "none" where there is none.
 */
RINGSIDE_CONTROL_API int
ringside_control_filter_set(struct ringside_control *tree,
			    const struct ringside_control_instance *instance, const char *system,
			    const char *event, const char *filter);
RINGSIDE_CONTROL_API int
ringside_control_filter_get(struct ringside_control *tree,
			    const struct ringside_control_instance *instance, const char *system,
			    const char *event, char **filter);

/*
 * What happens when the event does: "traceoff:1 if cents > 100", "hist:keys=who:vals=cents". -EEXIST: that is there already.
 * _remove takes the same text; one whose variables are used by another is -EBUSY. _list: as they are shown; how many.
 */
RINGSIDE_CONTROL_API int
ringside_control_trigger_add(struct ringside_control *tree,
			     const struct ringside_control_instance *instance, const char *system,
			     const char *event, const char *trigger);
RINGSIDE_CONTROL_API int
ringside_control_trigger_remove(struct ringside_control *tree,
				const struct ringside_control_instance *instance,
				const char *system, const char *event, const char *trigger);
RINGSIDE_CONTROL_API int
ringside_control_trigger_list(struct ringside_control *tree,
			      const struct ringside_control_instance *instance, const char *system,
			      const char *event, char ***triggers);

/*
 * Synthetic events, which triggers make happen: `fields` are "int id; u64 latency; char who[]". They are events of the
 * system "synthetic". -EEXIST; -EBUSY: a trigger still uses it.
 */
RINGSIDE_CONTROL_API int ringside_control_synth_create(struct ringside_control *tree,
						       const char *name, const char *fields);
RINGSIDE_CONTROL_API int ringside_control_synth_destroy(struct ringside_control *tree,
							const char *name);

/* ---- histograms ---- */

/* Counts by keys from now on, "keys=who:vals=cents": a trigger, hist:..., by a shorter name. */
RINGSIDE_CONTROL_API int
ringside_control_hist_start(struct ringside_control *tree,
			    const struct ringside_control_instance *instance, const char *system,
			    const char *event, const char *keys);
RINGSIDE_CONTROL_API int
ringside_control_hist_stop(struct ringside_control *tree,
			   const struct ringside_control_instance *instance, const char *system,
			   const char *event, const char *keys);

/*
 * Reads the rows of the event's histogram number `which` (0, 1, ...), in the order that it is sorted by. -ENOENT: it has no
 * such. What is read is a picture of that moment and belongs to the caller.
 */
RINGSIDE_CONTROL_API int
ringside_control_hist_read(struct ringside_control_hist **hist, struct ringside_control *tree,
			   const struct ringside_control_instance *instance, const char *system,
			   const char *event, unsigned int which);
RINGSIDE_CONTROL_API void ringside_control_hist_free(struct ringside_control_hist *hist);

RINGSIDE_CONTROL_API size_t ringside_control_hist_rows(const struct ringside_control_hist *hist);
/* Hits of all rows, and those that found no room. */
RINGSIDE_CONTROL_API uint64_t ringside_control_hist_hits(const struct ringside_control_hist *hist);
RINGSIDE_CONTROL_API uint64_t ringside_control_hist_drops(const struct ringside_control_hist *hist);

/* The names of keys, and of values besides the hits: of number 0, 1, ...; NULL behind the last. */
RINGSIDE_CONTROL_API const char *
ringside_control_hist_key(const struct ringside_control_hist *hist, unsigned int key);
RINGSIDE_CONTROL_API const char *
ringside_control_hist_value(const struct ringside_control_hist *hist, unsigned int value);

/*
 * Of one row: a key as it is shown, without the blanks around it, and as a number: -EINVAL when it is a text or a range; of
 * one with a name and a number it is the number. Hits, and a value's sum. Rows, keys and values that are not there are NULL,
 * 0 and -ENOENT. Texts stay as long as the histogram.
 */
RINGSIDE_CONTROL_API const char *
ringside_control_hist_row_text(const struct ringside_control_hist *hist, size_t row,
			       unsigned int key);
RINGSIDE_CONTROL_API int
ringside_control_hist_row_number(const struct ringside_control_hist *hist, size_t row,
				 unsigned int key, long long *number);
RINGSIDE_CONTROL_API uint64_t
ringside_control_hist_row_hits(const struct ringside_control_hist *hist, size_t row);
RINGSIDE_CONTROL_API int
ringside_control_hist_row_value(const struct ringside_control_hist *hist, size_t row,
				unsigned int value, long long *number);

/*
 * A SELECT statement, or several with semicolons between them, as ringside-sqlhist(1) has them: what it is in lines of a
 * shell at the root of the tree, and all of that done, or nothing. `names`: of the synthetic events of JOINs, separated by
 * commas; NULL: "Anonymous". Of a statement that is refused the error's last lines show the place.
 */
RINGSIDE_CONTROL_API int
ringside_control_sql_translate(struct ringside_control *tree,
			       const struct ringside_control_instance *instance,
			       const char *statement, const char *names, char **lines);
RINGSIDE_CONTROL_API int
ringside_control_sql_execute(struct ringside_control *tree,
			     const struct ringside_control_instance *instance,
			     const char *statement, const char *names);

/* ---- markers ---- */

/* A line of text as an event of its own, ftrace:print. -EBADF while recording is off. */
RINGSIDE_CONTROL_API int ringside_control_mark(struct ringside_control *tree,
					       const struct ringside_control_instance *instance,
					       const char *text);
RINGSIDE_CONTROL_API int ringside_control_markf(struct ringside_control *tree,
						const struct ringside_control_instance *instance,
						const char *format, ...)
	__attribute__((format(printf, 3, 4)));
RINGSIDE_CONTROL_API int ringside_control_vmarkf(struct ringside_control *tree,
						 const struct ringside_control_instance *instance,
						 const char *format, va_list args)
	__attribute__((format(printf, 3, 0)));

/*
 * Bytes as an event of its own, ftrace:raw_data: a number of your choice, and up to 3072 of data.
 */
RINGSIDE_CONTROL_API int
ringside_control_mark_raw(struct ringside_control *tree,
			  const struct ringside_control_instance *instance, unsigned int number,
			  const void *data, size_t len);

/* ---- records ---- */

enum {
	RINGSIDE_CONTROL_PEEK = 1,	/* leave them there, and end behind what is there now */
	RINGSIDE_CONTROL_SNAPSHOT = 2,	/* what was set aside; goes with _PEEK */
};

#define RINGSIDE_CONTROL_ANY_CPU (-1)
#define RINGSIDE_CONTROL_LOST_UNKNOWN UINT64_MAX

/*
 * Begins to read records, those of all CPUs in order of time or those of one. They are taken out
 * of the buffer, which only one reader a CPU can do at a time (-EBUSY), unless they are only
 * looked at: RINGSIDE_CONTROL_PEEK works in a tracing directory alone (-EOPNOTSUPP). What is read
 * belongs to the tree and is closed before it.
 */
RINGSIDE_CONTROL_API int
ringside_control_records_open(struct ringside_control_records **records,
			      struct ringside_control *tree,
			      const struct ringside_control_instance *instance, int cpu,
			      unsigned int flags);

/*
 * What was taken out and not asked for is left to the next reader of a tracing directory, unless
 * it came from a program without restartable sequences; otherwise it is lost. Who stops first,
 * and asks until that is told, loses nothing.
 */
RINGSIDE_CONTROL_API void ringside_control_records_close(struct ringside_control_records *records);

/*
 * 1 and the next record, which stays until the next call; waits for one up to `timeout_ms` (-1: as
 * long as it takes). 0: none came, and for those who peek: this was all. -EINTR: a signal was
 * caught. -ECANCELED: stopped, and all that was taken out before has been handed out. -ENODEV: the
 * instance is gone.
 */
RINGSIDE_CONTROL_API int
ringside_control_records_next(struct ringside_control_records *records,
			      const struct ringside_control_record **record, int timeout_ms);

/*
 * Calls `callback` with each record, until it returns something else than 0, which is handed on,
 * or until stopped, or until none came for `timeout_ms`, or until those who peek have seen all:
 * then 0. Goes on when a signal was caught.
 */
RINGSIDE_CONTROL_API int
ringside_control_records_each(struct ringside_control_records *records, int timeout_ms,
			      int (*callback)(const struct ringside_control_record *record,
					      void *context),
			      void *context);

/*
 * Ends a wait within a tenth of a second, and the reading when what was taken out is handed out.
 * From any thread and from signal handlers, until the records are closed.
 */
RINGSIDE_CONTROL_API void ringside_control_records_stop(struct ringside_control_records *records);

/* As ringside_control_error(), for calls about these records. */
RINGSIDE_CONTROL_API const char *
ringside_control_records_error(const struct ringside_control_records *records);

/* ---- one record ---- */

/* By the buffer's clock: nanoseconds, unless that counts something else. */
RINGSIDE_CONTROL_API uint64_t
ringside_control_record_time(const struct ringside_control_record *record);
RINGSIDE_CONTROL_API int ringside_control_record_cpu(const struct ringside_control_record *record);
/* The thread that wrote it. */
RINGSIDE_CONTROL_API int ringside_control_record_pid(const struct ringside_control_record *record);
/* Of its event. */
RINGSIDE_CONTROL_API int ringside_control_record_id(const struct ringside_control_record *record);
/* NULL when nobody has described an event of that id. */
RINGSIDE_CONTROL_API const char *
ringside_control_record_system(const struct ringside_control_record *record);
RINGSIDE_CONTROL_API const char *
ringside_control_record_event(const struct ringside_control_record *record);

/* Events lost on its CPU between the one before and this; maybe RINGSIDE_CONTROL_LOST_UNKNOWN. */
RINGSIDE_CONTROL_API uint64_t
ringside_control_record_lost(const struct ringside_control_record *record);

/* Its bytes, the common fields included. */
RINGSIDE_CONTROL_API const void *
ringside_control_record_data(const struct ringside_control_record *record, size_t *len);

/* The name of field 0, 1, ..., of those that the event itself has; NULL behind the last. */
RINGSIDE_CONTROL_API const char *
ringside_control_record_field(const struct ringside_control_record *record, unsigned int index);

/*
 * A field's value by its name: an integer (or a pointer; of the largest unsigned ones the same
 * bits), a floating-point number, a text. Common fields, such as common_pid, too. -ENOENT: there
 * is no such field; -EINVAL: it is of another kind. Texts stay as long as the record does.
 */
RINGSIDE_CONTROL_API int
ringside_control_record_number(const struct ringside_control_record *record, const char *field,
			       long long *value);
RINGSIDE_CONTROL_API int
ringside_control_record_double(const struct ringside_control_record *record, const char *field,
			       double *value);
RINGSIDE_CONTROL_API int
ringside_control_record_string(const struct ringside_control_record *record, const char *field,
			       const char **text);
/* The bytes of any field, such as an array. */
RINGSIDE_CONTROL_API int
ringside_control_record_bytes(const struct ringside_control_record *record, const char *field,
			      const void **bytes, size_t *len);

/*
 * The record as the file `trace` shows it, without a newline, and the part of it that stands behind
 * the event's name. NULL when memory is out. Both stay as long as the record does.
 */
RINGSIDE_CONTROL_API const char *
ringside_control_record_line(const struct ringside_control_record *record);
RINGSIDE_CONTROL_API const char *
ringside_control_record_text(const struct ringside_control_record *record);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
