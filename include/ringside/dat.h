/*
 * ringside/dat.h: to read trace files, those of trace-cmd and of `ringside record`.
 *
 *	struct ringside_dat *file;
 *	struct ringside_dat_records *records = NULL;
 *	const struct ringside_dat_record *record;
 *
 *	if (ringside_dat_open(&file, "trace.dat"))
 *		fprintf(stderr, "%s\n", ringside_dat_error(file));
 *	else if (!ringside_dat_records_open(&records, file))
 *		while (ringside_dat_records_next(records, &record) == 1)
 *			puts(ringside_dat_record_line(record, RINGSIDE_DAT_KERNEL));
 *	ringside_dat_records_close(records);
 *	ringside_dat_close(file);
 *
 * Link with libringside-dat. Files are of version 6 or 7, of any machine, and may hold anything:
 * what cannot be read is refused, or left out with a warning, and never read past.
 *
 * Functions return 0, or a count where that is said, or a negative error number such as -ENOENT;
 * errno itself means nothing then. Words for a person are in ringside_dat_error() for opening a
 * file, and in ringside_dat_records_error() for all that is done with records.
 *
 * An open file is read-only: any number of threads may use it at once. Records that are being read,
 * and the record that they stand at, are for one thread at a time; any number may be read at once,
 * of one file too. The library starts no thread, keeps no state of its own, and needs memory for a
 * few pages of each CPU, however long the file is.
 *
 * What is returned as a pointer is peeked: it belongs to the file and stays until that is closed,
 * or to a record and stays until the next one is asked for. Functions that count with `i` begin at
 * 0 and give NULL behind the last. All that closes takes NULL.
 */
#ifndef RINGSIDE_DAT_H
#define RINGSIDE_DAT_H

#include <stddef.h>
#include <stdint.h>

#define RINGSIDE_DAT_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

struct ringside_dat;		/* an open file */
struct ringside_dat_event;	/* an event that a file describes */
struct ringside_dat_field;	/* a field of an event */
struct ringside_dat_records;	/* records as they are read */
struct ringside_dat_record;	/* one of them */

/* ---- files ---- */

/*
 * On failure *file is a handle that only tells why and is closed, or NULL when memory is out.
 * -EBADMSG: it is no trace file, or is damaged beyond use; -ENOTSUP: of a version, or packed in a
 * way, that is not known here.
 */
RINGSIDE_DAT_API int ringside_dat_open(struct ringside_dat **file, const char *path);

/* After the records that are read from it. */
RINGSIDE_DAT_API void ringside_dat_close(struct ringside_dat *file);

/* Why it could not be opened, without a newline at the end; "" when it was. */
RINGSIDE_DAT_API const char *ringside_dat_error(const struct ringside_dat *file);

/* What could not be read of a file that is open all the same, in words. */
RINGSIDE_DAT_API const char *ringside_dat_warning(const struct ringside_dat *file, size_t i);

/*
 * What the file says of itself. The library makes these structs; later versions may have more at
 * their end, and `size` tells how much there is.
 */
struct ringside_dat_info {
	size_t size;
	const char *path;
	uint64_t bytes;			/* of the file */
	int version;			/* 6 or 7 */
	int big_endian;			/* of the machine that was traced, as are these: */
	int long_size;			/* of its kernel */
	unsigned int page_size;
	unsigned int nr_cpus;
	const char *compression;	/* "none", "zstd", "zlib" */
	const char *clock;		/* these are NULL when the file does not tell */
	const char *uname;
	const char *writer;		/* the program that wrote it */
	int has_trace_id;
	uint64_t trace_id;
	uint64_t date;			/* nanoseconds that are added to all times, */
	int64_t offset;			/* and more of them */
	uint32_t tsc_mult, tsc_shift;	/* by which ticks become nanoseconds: * mult >> shift; 0, 0 */
};
RINGSIDE_DAT_API const struct ringside_dat_info *
ringside_dat_about(const struct ringside_dat *file);

/* The buffers: the one at the top of the tree, whose name is "", and the instances. */
struct ringside_dat_buffer {
	size_t size;
	const char *name;
	const char *clock;		/* NULL: not told */
	unsigned int page_size;
	unsigned int nr_cpus;
	const int *cpus;		/* those with data, in rising order */
	int is_text;			/* what a latency tracer left: no records come from it */
};
RINGSIDE_DAT_API const struct ringside_dat_buffer *
ringside_dat_buffer_at(const struct ringside_dat *file, size_t i);

/* Guests of which the file's machine was the host. */
struct ringside_dat_guest {
	size_t size;
	const char *name;
	uint64_t trace_id;		/* of the file that was recorded in it */
	unsigned int nr_cpus;
	const int32_t *pids;		/* of the host's threads that ran its CPUs 0, 1, ... */
};
RINGSIDE_DAT_API const struct ringside_dat_guest *
ringside_dat_guest_at(const struct ringside_dat *file, size_t i);

/* The options, in the file's order and as they lie there, known here or not. */
RINGSIDE_DAT_API const void *ringside_dat_option_at(const struct ringside_dat *file, size_t i,
						    unsigned int *id, size_t *len);

/* ---- names: pointers for what is not of interest may be NULL ---- */

/* The kernel's name for an address; NULL: none. `module` is NULL for what is in none. */
RINGSIDE_DAT_API const char *ringside_dat_symbol(const struct ringside_dat *file, uint64_t address,
						 uint64_t *offset, const char **module);
RINGSIDE_DAT_API const char *ringside_dat_symbol_at(const struct ringside_dat *file, size_t i,
						    uint64_t *address, const char **module);

/* The name of a task, as the file's own list has it; NULL: it has none. */
RINGSIDE_DAT_API const char *ringside_dat_comm(const struct ringside_dat *file, int pid);
RINGSIDE_DAT_API const char *ringside_dat_comm_at(const struct ringside_dat *file, size_t i,
						  int *pid);

/* The format that trace_printk() was called with, by its address. */
RINGSIDE_DAT_API const char *ringside_dat_printk(const struct ringside_dat *file,
						 uint64_t address);
RINGSIDE_DAT_API const char *ringside_dat_printk_at(const struct ringside_dat *file, size_t i,
						    uint64_t *address);

/* The path of what a process had mapped at an address, if that was recorded. */
RINGSIDE_DAT_API const char *ringside_dat_map(const struct ringside_dat *file, int pid,
					      uint64_t address, uint64_t *start, uint64_t *end);
RINGSIDE_DAT_API const char *ringside_dat_map_at(const struct ringside_dat *file, size_t i,
						 int *pid, uint64_t *start, uint64_t *end);

/* ---- events ---- */

RINGSIDE_DAT_API const struct ringside_dat_event *
ringside_dat_event_at(const struct ringside_dat *file, size_t i);
/* By its names; `system` may be NULL: the first of that name. */
RINGSIDE_DAT_API const struct ringside_dat_event *
ringside_dat_event_find(const struct ringside_dat *file, const char *system, const char *name);
RINGSIDE_DAT_API const struct ringside_dat_event *
ringside_dat_event_find_id(const struct ringside_dat *file, int id);

RINGSIDE_DAT_API const char *ringside_dat_event_system(const struct ringside_dat_event *event);
RINGSIDE_DAT_API const char *ringside_dat_event_name(const struct ringside_dat_event *event);
RINGSIDE_DAT_API int ringside_dat_event_id(const struct ringside_dat_event *event);

/* Its `format` as text: `len` bytes, with no NUL behind them. */
RINGSIDE_DAT_API const char *ringside_dat_event_format(const struct ringside_dat_event *event,
						       size_t *len);

/* Fields in the order of the format; none of an event whose format cannot be used. */
RINGSIDE_DAT_API const struct ringside_dat_field *
ringside_dat_field_at(const struct ringside_dat_event *event, size_t i);
RINGSIDE_DAT_API const struct ringside_dat_field *
ringside_dat_field_find(const struct ringside_dat_event *event, const char *name);

enum {
	RINGSIDE_DAT_BYTES = 0,		/* a struct, or a type that is not known here */
	RINGSIDE_DAT_INTEGER = 1,
	RINGSIDE_DAT_BOOL = 2,
	RINGSIDE_DAT_FLOAT = 3,
	RINGSIDE_DAT_POINTER = 4,
	RINGSIDE_DAT_STRING = 5,
};

enum {
	RINGSIDE_DAT_SIGNED = 1,
	RINGSIDE_DAT_ARRAY = 2,		/* the kind is that of an element; a string is none */
	RINGSIDE_DAT_DYNAMIC = 4,	/* each record has its own length */
	RINGSIDE_DAT_COMMON = 8,	/* every event has it */
};

RINGSIDE_DAT_API const char *ringside_dat_field_name(const struct ringside_dat_field *field);
/* Its C type, as the format has it. */
RINGSIDE_DAT_API const char *ringside_dat_field_type(const struct ringside_dat_field *field);
RINGSIDE_DAT_API int ringside_dat_field_kind(const struct ringside_dat_field *field);
RINGSIDE_DAT_API unsigned int ringside_dat_field_flags(const struct ringside_dat_field *field);
/* Bytes: of an element where it is an array or a string. */
RINGSIDE_DAT_API size_t ringside_dat_field_size(const struct ringside_dat_field *field);
/* Elements: 1 of what is no array, 0 where each record has its own number. */
RINGSIDE_DAT_API size_t ringside_dat_field_count(const struct ringside_dat_field *field);

/* ---- records ---- */

/*
 * Begins to read a file's records, in the order of time over all CPUs and buffers. `file` may be
 * NULL: then files are added. On failure *records is a handle that only tells why and is closed,
 * or NULL when memory is out.
 */
RINGSIDE_DAT_API int ringside_dat_records_open(struct ringside_dat_records **records,
					       struct ringside_dat *file);
RINGSIDE_DAT_API void ringside_dat_records_close(struct ringside_dat_records *records);

/* As ringside_dat_error(), for the last call about these records or a record of them. */
RINGSIDE_DAT_API const char *
ringside_dat_records_error(const struct ringside_dat_records *records);

/*
 * What follows up to ringside_dat_records_exclude() says what is to be read, and comes before the
 * first record is asked for: -EBUSY after that.
 */

enum {
	RINGSIDE_DAT_RAW_TIMES = 1,	/* as they were written: nothing converted, nothing added */
	RINGSIDE_DAT_NO_DATE = 2,	/* without the date that `record --date` wrote */
};

/*
 * One more file, whose records come in between. `offset` is added to its times, in nanoseconds.
 * Times of a guest come as those of its host, if its file tells how they differ. Before any filter.
 */
RINGSIDE_DAT_API int ringside_dat_records_add(struct ringside_dat_records *records,
					      struct ringside_dat *file, int64_t offset,
					      unsigned int flags);

/* Only this CPU, or this buffer, and others that are so named. */
RINGSIDE_DAT_API int ringside_dat_records_cpu(struct ringside_dat_records *records, int cpu);
RINGSIDE_DAT_API int ringside_dat_records_buffer(struct ringside_dat_records *records,
						 const char *name);

/*
 * Only records that a filter lets through, as "sched_switch: prev_pid == 0", or another one that
 * is added; and none that an exclusion lets through. The language is that of `ringside report -F`.
 * -ENOENT: no file has such an event; -EBADMSG: it cannot be read, and the words tell where.
 */
RINGSIDE_DAT_API int ringside_dat_records_filter(struct ringside_dat_records *records,
						 const char *filter);
RINGSIDE_DAT_API int ringside_dat_records_exclude(struct ringside_dat_records *records,
						  const char *filter);

/* The times of the first and the last record, filters aside; 1, or 0 when there is no record. */
RINGSIDE_DAT_API int ringside_dat_records_span(struct ringside_dat_records *records,
					       uint64_t *first, uint64_t *last);

/* The next record will be the first one that is not before `time`, wherever one was. */
RINGSIDE_DAT_API int ringside_dat_records_seek(struct ringside_dat_records *records,
					       uint64_t time);
/* From now on the end is behind the last record that is not after `time`. */
RINGSIDE_DAT_API int ringside_dat_records_until(struct ringside_dat_records *records,
						uint64_t time);

/* 1 and a record, which stays until the next call, or 0 at the end. */
RINGSIDE_DAT_API int ringside_dat_records_next(struct ringside_dat_records *records,
					       const struct ringside_dat_record **record);

/* Calls `callback` with each record until it returns something else than 0, which is handed on. */
RINGSIDE_DAT_API int
ringside_dat_records_each(struct ringside_dat_records *records,
			  int (*callback)(const struct ringside_dat_record *record, void *context),
			  void *context);

/* What could not be read so far, in words. */
RINGSIDE_DAT_API const char *
ringside_dat_records_warning(const struct ringside_dat_records *records, size_t i);

/*
 * Events lost before the records that were handed out so far, as far as somebody counted, and how
 * often nobody did. A seek begins anew.
 */
RINGSIDE_DAT_API void ringside_dat_records_lost(const struct ringside_dat_records *records,
						uint64_t *count, uint64_t *unknown);

/* ---- one record ---- */

/* Nanoseconds, unless its clock counts something else. */
RINGSIDE_DAT_API uint64_t ringside_dat_record_time(const struct ringside_dat_record *record);
/* As it was written. */
RINGSIDE_DAT_API uint64_t ringside_dat_record_raw_time(const struct ringside_dat_record *record);
RINGSIDE_DAT_API int ringside_dat_record_cpu(const struct ringside_dat_record *record);
/* The thread that wrote it. */
RINGSIDE_DAT_API int ringside_dat_record_pid(const struct ringside_dat_record *record);
/* Its name, from the file's list or from what the trace has told so far; "<...>": not known. */
RINGSIDE_DAT_API const char *ringside_dat_record_comm(const struct ringside_dat_record *record);

/* Of its event. */
RINGSIDE_DAT_API int ringside_dat_record_id(const struct ringside_dat_record *record);
/* NULL, as are the names, when the file describes no event of that id. */
RINGSIDE_DAT_API const struct ringside_dat_event *
ringside_dat_record_event(const struct ringside_dat_record *record);
RINGSIDE_DAT_API const char *ringside_dat_record_system(const struct ringside_dat_record *record);
RINGSIDE_DAT_API const char *ringside_dat_record_name(const struct ringside_dat_record *record);

/* Bits of common_flags, as the kernel has them. */
enum {
	RINGSIDE_DAT_IRQS_OFF = 0x01,
	RINGSIDE_DAT_RESCHED_LAZY = 0x02,
	RINGSIDE_DAT_RESCHED = 0x04,
	RINGSIDE_DAT_IN_HARDIRQ = 0x08,
	RINGSIDE_DAT_IN_SOFTIRQ = 0x10,
	RINGSIDE_DAT_PREEMPT_RESCHED = 0x20,
	RINGSIDE_DAT_IN_NMI = 0x40,
	RINGSIDE_DAT_BH_OFF = 0x80,
};
RINGSIDE_DAT_API unsigned int ringside_dat_record_flags(const struct ringside_dat_record *record);
/* How often preemption was switched off, up to 15, and migration. */
RINGSIDE_DAT_API unsigned int
ringside_dat_record_preempt_count(const struct ringside_dat_record *record);
RINGSIDE_DAT_API unsigned int
ringside_dat_record_migrate_count(const struct ringside_dat_record *record);

/* Where it comes from. */
RINGSIDE_DAT_API const struct ringside_dat_buffer *
ringside_dat_record_buffer(const struct ringside_dat_record *record);
RINGSIDE_DAT_API struct ringside_dat *
ringside_dat_record_file(const struct ringside_dat_record *record);

#define RINGSIDE_DAT_LOST_UNKNOWN UINT64_MAX

/*
 * Events lost in its buffer on its CPU since the record before it that was handed out; maybe
 * RINGSIDE_DAT_LOST_UNKNOWN.
 */
RINGSIDE_DAT_API uint64_t ringside_dat_record_lost(const struct ringside_dat_record *record);

/* Its bytes as they lie in the file, the common fields included. */
RINGSIDE_DAT_API const void *ringside_dat_record_data(const struct ringside_dat_record *record,
						      size_t *len);

/*
 * A field's value by its name, common fields included, such as common_pid. Integers, bools and
 * pointers are numbers: the two functions give the same 64 bits, extended with the sign if the
 * field has one. -ENOENT: there is no such field; -EINVAL: it is of another kind.
 */
RINGSIDE_DAT_API int ringside_dat_record_number(const struct ringside_dat_record *record,
						const char *field, long long *value);
RINGSIDE_DAT_API int ringside_dat_record_unsigned(const struct ringside_dat_record *record,
						  const char *field, unsigned long long *value);
RINGSIDE_DAT_API int ringside_dat_record_double(const struct ringside_dat_record *record,
						const char *field, double *value);
RINGSIDE_DAT_API int ringside_dat_record_string(const struct ringside_dat_record *record,
						const char *field, const char **text);
/* The bytes of any field, in the order of the machine that was traced. */
RINGSIDE_DAT_API int ringside_dat_record_bytes(const struct ringside_dat_record *record,
					       const char *field, const void **bytes, size_t *len);

/* Elements of an array: how many this record has, and one of them; -ERANGE: there is none. */
RINGSIDE_DAT_API int ringside_dat_record_count(const struct ringside_dat_record *record,
					       const char *field, size_t *count);
RINGSIDE_DAT_API int ringside_dat_record_element(const struct ringside_dat_record *record,
						 const char *field, size_t i, long long *value);
RINGSIDE_DAT_API int ringside_dat_record_element_double(const struct ringside_dat_record *record,
							const char *field, size_t i,
							double *value);

/* As whom texts are written. */
enum {
	RINGSIDE_DAT_KERNEL = 0,	/* the kernel's file `trace` */
	RINGSIDE_DAT_TRACE_CMD = 1,	/* `trace-cmd report` */
};

/*
 * What stands behind the event's name in a line, and the whole line, without a newline. NULL when
 * memory is out. Both stay as long as the record does.
 */
RINGSIDE_DAT_API const char *ringside_dat_record_text(const struct ringside_dat_record *record,
						      int style);
RINGSIDE_DAT_API const char *ringside_dat_record_line(const struct ringside_dat_record *record,
						      int style);

/*
 * 1 when trace-cmd has no line for it, because the line of the record before it on its CPU stands
 * for both: the call of a function that called no other one, and its return.
 */
RINGSIDE_DAT_API int ringside_dat_record_is_joined(const struct ringside_dat_record *record);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
