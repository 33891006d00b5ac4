/*
 * reader/records: which files, CPUs, buffers and events are read, from where to where. See reader.h.
 *
 * What is to be read is gathered first; the first question about records begins the reading, and
 * from then on only seek and until change anything.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reader/reader.h"

int ringside_dat_records_open(struct ringside_dat_records **out, struct ringside_dat *file)
{
	struct ringside_dat_records *records = calloc(1, sizeof(*records));
	int r = records ? 0 : -ENOMEM;

	*out = records;
	if (r)
		return r;
	records->err = (struct err)ERR_INIT;
	records->to = UINT64_MAX;
	records->record.records = records;
	reader_views_init(records);
	if (file)
		r = ringside_dat_records_add(records, file, 0, 0);
	return r;
}

static void stop(struct ringside_dat_records *records)
{
	replay_free(records->replay);
	decode_plugins_free(records->plugins);
	free(records->passes);
	free(records->lanes);
	records->replay = NULL;
	records->plugins = NULL;
	records->passes = NULL;
	records->lanes = NULL;
}

void ringside_dat_records_close(struct ringside_dat_records *records)
{
	if (!records)
		return;
	stop(records);
	reader_texts_free(&records->texts);
	for (size_t i = 0; i < records->nr_files; i++) {
		filter_free(records->files[i].only);
		filter_free(records->files[i].without);
		free(records->files[i].entries);
		free(records->files[i].marks);
	}
	for (size_t i = 0; i < records->nr_buffers; i++)
		free(records->buffers[i]);
	free(records->buffers);
	free(records->cpus);
	free(records->files);
	free(records);
}

const char *ringside_dat_records_error(const struct ringside_dat_records *records)
{
	return records ? records->err.text : "out of memory";
}

static int no_memory(struct ringside_dat_records *records)
{
	return err_set(&records->err, -ENOMEM, "out of memory");
}

/* Before anything that says what is to be read. */
static int still_open(struct ringside_dat_records *records)
{
	records->err = (struct err)ERR_INIT;
	if (records->replay)
		return err_set(&records->err, -EBUSY, "records are being read already: what is read "
			       "is said before the first one");
	return 0;
}

static int fill_file(struct reader_file *to, struct ringside_dat *file)
{
	to->file = file;
	to->entries = calloc(file->nr_events + 1, sizeof(*to->entries));
	to->marks = malloc(READER_IDS);
	if (!to->entries || !to->marks) {
		free(to->entries);
		free(to->marks);
		return -ENOMEM;
	}
	/* An event that nobody has met may be one that leaves something behind. */
	memset(to->marks, 1, READER_IDS);
	return 0;
}

int ringside_dat_records_add(struct ringside_dat_records *records, struct ringside_dat *file,
			     int64_t offset, unsigned int flags)
{
	struct reader_file *more, add = { .times = { .offset = offset, .shift = true } };
	int r = still_open(records);

	if (r)
		return r;
	if (!file || !file->dat)
		return err_set(&records->err, -EBADF, "the file is not open");
	if (flags & ~(unsigned int)(RINGSIDE_DAT_RAW_TIMES | RINGSIDE_DAT_NO_DATE))
		return err_set(&records->err, -EINVAL, "files cannot be read with the flags %#x",
			       flags);
	if (records->filtered)
		return err_set(&records->err, -EBUSY, "a filter is for files that were added before");
	add.times.raw = flags & RINGSIDE_DAT_RAW_TIMES;
	/* As the pages have them, and nothing else: that is promised. */
	if (add.times.raw)
		add.times.offset = 0;
	add.times.no_date = flags & RINGSIDE_DAT_NO_DATE;
	more = realloc(records->files, (records->nr_files + 1) * sizeof(*more));
	if (more)
		records->files = more;
	if (!more || fill_file(&add, file))
		return no_memory(records);
	records->files[records->nr_files++] = add;
	return 0;
}

int ringside_dat_records_cpu(struct ringside_dat_records *records, int cpu)
{
	int *more, r = still_open(records);

	if (r)
		return r;
	if (cpu < 0)
		return err_set(&records->err, -EINVAL, "there is no CPU %d", cpu);
	more = realloc(records->cpus, (records->nr_cpus + 1) * sizeof(*more));
	if (!more)
		return no_memory(records);
	records->cpus = more;
	records->cpus[records->nr_cpus++] = cpu;
	return 0;
}

int ringside_dat_records_buffer(struct ringside_dat_records *records, const char *name)
{
	int r = still_open(records);
	char **more;

	if (r)
		return r;
	if (!name)
		return err_set(&records->err, -EINVAL, "the name of a buffer is missing");
	more = realloc(records->buffers, (records->nr_buffers + 1) * sizeof(*more));
	if (!more)
		return no_memory(records);
	records->buffers = more;
	more[records->nr_buffers] = strdup(name);
	if (!more[records->nr_buffers])
		return no_memory(records);
	records->nr_buffers++;
	return 0;
}

static void world_name(void *arg, size_t i, const char **system, const char **name)
{
	dat_event_name(arg, i, system, name, NULL);
}

static const struct decode_format *world_format(void *arg, size_t i)
{
	return dat_event_format(arg, i, NULL);
}

static int filter_file(struct reader_file *file, struct filter **filter, const char *text,
		       struct err *err)
{
	struct dat *dat = file->file->dat;
	const struct filter_world world = { .arg = dat, .nr = dat_nr_events(dat),
					    .name = world_name, .format = world_format };

	if (!*filter && filter_new(filter, 0))
		return err_set(err, -ENOMEM, "out of memory");
	return filter_add(*filter, text, &world, err);
}

static int refuse_filter(struct ringside_dat_records *records, const char *text,
			 const struct err *why)
{
	if (why->pos < 0)
		return err_set(&records->err, why->code, "%.150s: %.300s", text, why->text);
	return err_set(&records->err, why->code, "%.150s: at character %d: %.300s", text,
		       why->pos + 1, why->text);
}

/* An event need not be in every file, but in one. */
static int add_filter(struct ringside_dat_records *records, const char *text, bool without)
{
	struct err why = ERR_INIT;
	bool any = false;
	int r = still_open(records);

	if (r)
		return r;
	if (!text || !records->nr_files)
		return err_set(&records->err, -EINVAL, "there is no %s",
			       text ? "file to filter" : "filter");
	for (size_t i = 0; i < records->nr_files; i++) {
		struct reader_file *file = &records->files[i];

		why = (struct err)ERR_INIT;
		r = filter_file(file, without ? &file->without : &file->only, text, &why);
		any = any || !r;
		if (r && r != -ENOENT)
			return refuse_filter(records, text, &why);
	}
	if (!any)
		return refuse_filter(records, text, &why);
	records->filtered = true;
	records->only |= !without;
	return 0;
}

int ringside_dat_records_filter(struct ringside_dat_records *records, const char *filter)
{
	return add_filter(records, filter, false);
}

int ringside_dat_records_exclude(struct ringside_dat_records *records, const char *filter)
{
	return add_filter(records, filter, true);
}

static bool lane_wanted(void *arg, const struct dat_buffer *buffer, int cpu)
{
	const struct ringside_dat_records *records = arg;
	bool by_cpu = !records->nr_cpus, by_buffer = !records->nr_buffers;

	for (size_t i = 0; i < records->nr_cpus; i++)
		by_cpu |= records->cpus[i] == cpu;
	for (size_t i = 0; i < records->nr_buffers; i++)
		by_buffer |= !strcmp(records->buffers[i], buffer->name);
	return by_cpu && by_buffer;
}

static bool has_buffer(const struct ringside_dat_records *records, const char *name)
{
	const struct dat_buffer *buffer;

	for (size_t i = 0; i < records->nr_files; i++)
		for (size_t k = 0; (buffer = dat_buffer(records->files[i].file->dat, k)); k++)
			if (!strcmp(buffer->name, name))
				return true;
	return false;
}

static int add_lanes(struct ringside_dat_records *records)
{
	int r = replay_new(&records->replay);

	for (size_t i = 0; i < records->nr_files && !r; i++) {
		struct reader_file *file = &records->files[i];

		file->ticks = replay_times_are_ticks(file->file->dat, &file->times);
		records->passes[i] = file->marks;
		r = replay_add(records->replay, file->file->dat, &file->times, lane_wanted, records,
			       &records->err);
	}
	if (r)
		return r;
	for (records->nr_lanes = 0; replay_lane(records->replay, records->nr_lanes);)
		records->nr_lanes++;
	records->lanes = calloc(records->nr_lanes + 1, sizeof(*records->lanes));
	return records->lanes ? 0 : -ENOMEM;
}

/* Before any question about records. */
static int begin(struct ringside_dat_records *records)
{
	int r;

	records->err = (struct err)ERR_INIT;
	if (records->replay)
		return 0;
	if (!records->nr_files)
		return err_set(&records->err, -EINVAL, "there is no file to read");
	for (size_t i = 0; i < records->nr_buffers; i++)
		if (!has_buffer(records, records->buffers[i]))
			return err_set(&records->err, -ENOENT, "there is no buffer '%.80s'",
				       records->buffers[i]);
	records->passes = calloc(records->nr_files, sizeof(*records->passes));
	r = records->passes ? decode_plugins_new(&records->plugins, 0) : -ENOMEM;
	if (!r)
		r = add_lanes(records);
	if (r) {
		stop(records);
		return err_set(&records->err, r, "out of memory");
	}
	records->job.passes = records->passes;
	replay_use(records->replay, &records->job);
	return 0;
}

int ringside_dat_records_span(struct ringside_dat_records *records, uint64_t *first, uint64_t *last)
{
	uint64_t from, to;
	int any = 0, r = begin(records);

	if (r)
		return r;
	for (size_t i = 0; i < records->nr_lanes; i++) {
		if (!replay_lane_ends(records->replay, i, &from, &to))
			continue;
		*first = !any || from < *first ? from : *first;
		*last = !any || to > *last ? to : *last;
		any = 1;
	}
	return any;
}

int ringside_dat_records_seek(struct ringside_dat_records *records, uint64_t time)
{
	int r = begin(records);

	if (r)
		return r;
	reader_texts_drop(&records->texts);
	memset(records->lanes, 0, records->nr_lanes * sizeof(*records->lanes));
	records->lost = records->lost_unknown = 0;
	records->has_record = records->held = false;
	return replay_seek(records->replay, time, &records->err);
}

int ringside_dat_records_until(struct ringside_dat_records *records, uint64_t time)
{
	records->err = (struct err)ERR_INIT;
	records->to = time;
	return 0;
}

static int step(struct ringside_dat_records *records)
{
	if (records->has_record)
		reader_leave(records);
	records->has_record = false;
	reader_texts_drop(&records->texts);
	return replay_next(records->replay, &records->record.rec, &records->err);
}

int ringside_dat_records_next(struct ringside_dat_records *records,
			      const struct ringside_dat_record **record)
{
	int r = begin(records);

	*record = NULL;
	if (r)
		return r;
	for (r = records->held ? 1 : step(records); r == 1; r = step(records)) {
		records->held = records->record.rec.ts > records->to;
		if (records->held)
			return 0;
		records->has_record = true;
		if (reader_arrive(records)) {
			*record = &records->record;
			return 1;
		}
	}
	return r;
}

int ringside_dat_records_each(struct ringside_dat_records *records,
			      int (*callback)(const struct ringside_dat_record *record,
					      void *context),
			      void *context)
{
	const struct ringside_dat_record *record;
	int r;

	do {
		r = ringside_dat_records_next(records, &record);
		if (r != 1)
			return r;
		r = callback(record, context);
	} while (!r);
	return r;
}

const char *ringside_dat_records_warning(const struct ringside_dat_records *records, size_t i)
{
	return records->replay ? replay_warning(records->replay, i) : NULL;
}

void ringside_dat_records_lost(const struct ringside_dat_records *records, uint64_t *count,
			       uint64_t *unknown)
{
	*count = records->lost;
	*unknown = records->lost_unknown;
}
