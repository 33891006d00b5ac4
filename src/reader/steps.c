/*
 * reader/steps: from record to record: names that the trace tells, functions under way, records
 * that trace-cmd prints together, losses. See reader.h.
 *
 * Some of trace-cmd's texts depend on what was before. The replay passes each stretch of records
 * once before they are handed out, see replay_job, and then each record is either printed or passed
 * again when it is left: so texts are the same whether or not anybody asked for those before.
 */
#include <string.h>

#include "decode/page.h"
#include "reader/reader.h"

static_assert(RINGSIDE_DAT_LOST_UNKNOWN == PAGE_LOST_UNKNOWN, "handed on as it is");

static struct reader_file *file_of(struct ringside_dat_records *records,
				   const struct replay_record *rec)
{
	return &records->files[rec->lane->file_nr];
}

static void find_entry(struct ringside_dat_records *records, struct reader_file *file, size_t i,
		       struct reader_entry *entry)
{
	entry->found = true;
	entry->event = &file->file->events[i];
	entry->format = reader_format(entry->event, NULL);
	if (entry->format)
		entry->plugin = decode_plugins_find(records->plugins, entry->format);
	entry->carries = entry->plugin && decode_plugin_carries(entry->plugin);
}

const struct reader_entry *reader_entry(struct ringside_dat_records *records,
					const struct replay_record *rec)
{
	static const struct reader_entry none;
	struct reader_file *file = file_of(records, rec);
	size_t i;

	if (!dat_event_find(file->file->dat, rec->id, &i))
		return &none;
	if (!file->entries[i].found)
		find_entry(records, file, i, &file->entries[i]);
	return &file->entries[i];
}

static bool view_symbol(void *arg, int pid, uint64_t addr, struct decode_symbol *out)
{
	return dat_symbol(((struct reader_view *)arg)->rec->lane->file, pid, addr, out);
}

static bool view_printk(void *arg, uint64_t addr, struct decode_printk *out)
{
	return dat_printk(((struct reader_view *)arg)->rec->lane->file, addr, out);
}

static const char *view_prototype(void *arg, uint64_t func)
{
	return dat_prototype(((struct reader_view *)arg)->rec->lane->file, func);
}

static const char *view_comm(void *arg, int pid)
{
	return replay_comm(((struct reader_view *)arg)->rec, pid);
}

static bool view_next(void *arg, struct decode_moment *out)
{
	struct reader_view *view = arg;
	const struct reader_entry *entry;
	struct replay_record next;

	if (!replay_peek(view->rec, &next))
		return false;
	entry = reader_entry(view->records, &next);
	if (!entry->format)
		return false;
	*out = (struct decode_moment){ .format = entry->format, .rec = next.data, .len = next.len,
				       .ts = next.ts, .cpu = next.lane->cpu, .ctx = &view->ctx };
	return true;
}

/*
 * Records are for all who read them: one that is printed with the one before still comes. Its bytes
 * stay where they are until then, so they tell which one it is.
 */
static void view_take(void *arg)
{
	struct reader_view *view = arg;
	struct ringside_dat_records *records = view->records;
	struct replay_record next;

	if (replay_peek(view->rec, &next))
		records->lanes[next.lane->nr].joined = next.data;
}

static void view_learn(void *arg, int pid, const char *comm, size_t len)
{
	replay_learn(((struct reader_view *)arg)->rec, pid, comm, len);
}

static struct decode_moment moment(struct reader_view *view, const struct replay_record *rec,
				   const struct reader_entry *entry)
{
	view->rec = rec;
	return (struct decode_moment){
		.format = entry->format, .rec = rec->data, .len = rec->len, .ts = rec->ts,
		.cpu = rec->lane->cpu, .ctx = &view->ctx, .carry = replay_carry(rec),
		.arg = view,
	};
}

struct decode_moment reader_moment(struct ringside_dat_record *record)
{
	struct decode_moment m = moment(&record->records->reading, &record->rec, record->entry);

	m.next = view_next;
	m.take = view_take;
	return m;
}

/* What follows cannot be seen from here, see replay_job: only names and functions are kept. */
static void pass(void *arg, const struct replay_record *rec)
{
	struct ringside_dat_records *records = arg;
	const struct reader_entry *entry = reader_entry(records, rec);
	struct decode_moment m;

	if (!entry->carries) {
		if (rec->id < READER_IDS)
			file_of(records, rec)->marks[rec->id] = 0;
		return;
	}
	m = moment(&records->passing, rec, entry);
	m.learn = view_learn;
	decode_plugin_pass(entry->plugin, &m);
}

static void view_init(struct ringside_dat_records *records, struct reader_view *view)
{
	view->records = records;
	view->ctx = (struct decode_ctx){ .arg = view, .symbol = view_symbol, .printk = view_printk,
					 .comm = view_comm, .prototype = view_prototype };
}

void reader_views_init(struct ringside_dat_records *records)
{
	view_init(records, &records->reading);
	view_init(records, &records->passing);
	records->job.arg = records;
	records->job.pass = pass;
}

static uint64_t add_lost(uint64_t a, uint64_t b)
{
	return a == PAGE_LOST_UNKNOWN || b == PAGE_LOST_UNKNOWN ? PAGE_LOST_UNKNOWN : a + b;
}

static void count_lost(struct ringside_dat_records *records, uint64_t lost)
{
	if (lost == PAGE_LOST_UNKNOWN)
		records->lost_unknown++;
	else
		records->lost += lost;
}

static bool matches(struct ringside_dat_records *records, const struct filter *filter)
{
	const struct ringside_dat_record *record = &records->record;

	return filter && record->entry->format &&
	       filter_match(filter, record->entry->format, record->rec.data, record->rec.len,
			    record->rec.lane->cpu, record->rec.ts, &records->reading.ctx) ==
		       FILTER_MATCH;
}

/* A file without any event that a filter names has no filter, and yet nothing to show. */
static bool wanted(struct ringside_dat_records *records)
{
	const struct reader_file *file = records->record.file;

	if (records->only && !matches(records, file->only))
		return false;
	return !matches(records, file->without);
}

bool reader_arrive(struct ringside_dat_records *records)
{
	struct ringside_dat_record *record = &records->record;
	const struct replay_record *rec = &record->rec;
	struct reader_lane *lane = &records->lanes[rec->lane->nr];

	records->reading.rec = rec;
	record->file = file_of(records, rec);
	record->entry = reader_entry(records, rec);
	record->head = (struct record_head){ 0 };
	decode_record_head(&dat_info(rec->lane->file)->abi, rec->data, rec->len, &record->head);
	record->joined = lane->joined == rec->data;
	record->passed = false;
	lane->joined = NULL;
	if (rec->lost) {
		count_lost(records, rec->lost);
		lane->lost = add_lost(lane->lost, rec->lost);
	}
	if (records->filtered && !wanted(records)) {
		reader_leave(records);
		records->has_record = false;
		/* A line that is not there stands for nothing. */
		lane->joined = NULL;
		return false;
	}
	record->lost = lane->lost;
	lane->lost = 0;
	return true;
}

void reader_leave(struct ringside_dat_records *records)
{
	struct ringside_dat_record *record = &records->record;
	struct decode_moment m;

	if (!record->entry->carries || record->passed || record->joined)
		return;
	m = reader_moment(record);
	decode_plugin_pass(record->entry->plugin, &m);
	record->passed = true;
}
