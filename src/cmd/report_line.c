/*
 * cmd/report_line: see report.h. These run for every record of a trace, on several threads at once;
 * what changes from record to record lies in a report_own, or is used with one thread only.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/report.h"
#include "cmd/report_profile.h"
#include "cmd/report_wakeup.h"
#include "decode/page.h"
#include "report/json.h"

#define CACHE 1024	/* a power of two */
#define NAMES 16

enum { FLAG_HARDIRQ = 8, FLAG_SOFTIRQ = 16 };

struct symbol_slot {
	const struct dat *dat;
	uint64_t addr;
	bool known;
	struct decode_symbol symbol;
};

struct name_slot {
	const struct dat *dat;
	const char *name;	/* of one format, so that its address tells it from others */
	uint64_t addr;
	bool known;
};

struct comm_slot {
	const struct dat *dat;
	int pid;
	uint32_t seen;		/* without a comm: names that the trace had told by then */
	const char *comm;
};

struct report_own {
	struct report *report;
	struct decode_ctx ctx;
	const struct replay_record *rec;
	const struct line_entry *entry;
	struct symbol_slot symbols[CACHE];
	struct comm_slot comms[CACHE];
	struct name_slot names[NAMES];
	struct tracecmd_memory columns;
	struct decode_memo memo;
	struct decode_moment given;	/* the next record, in joins() */
	bool taken;
	struct buf text;		/* of CSV */
};

/* Names are asked for again and again, and do not change. */
static bool own_symbol(void *arg, int pid, uint64_t addr, struct decode_symbol *out)
{
	struct report_own *own = arg;
	struct dat *dat = own->rec->lane->file;
	struct symbol_slot *slot = &own->symbols[(addr ^ addr >> 10) & (CACHE - 1)];

	if (slot->dat != dat || slot->addr != addr) {
		*slot = (struct symbol_slot){ .dat = dat, .addr = addr };
		slot->known = dat_symbol(dat, pid, addr, &slot->symbol);
	}
	*out = slot->symbol;
	return slot->known;
}

/* A name stays once it is known; that there is none, until the trace tells another one. */
static const char *own_comm(void *arg, int pid)
{
	struct report_own *own = arg;
	struct comm_slot *slot = &own->comms[(unsigned int)pid & (CACHE - 1)];
	struct dat *dat = own->rec->lane->file;
	const char *comm;
	uint32_t seen;

	if (slot->dat == dat && slot->pid == pid &&
	    (slot->comm || slot->seen == replay_names_seen(own->rec)))
		return slot->comm;
	comm = replay_comm(own->rec, pid);
	if (comm)
		*slot = (struct comm_slot){ dat, pid, 0, comm };
	else if (replay_unnamed(own->rec, pid, &seen))
		*slot = (struct comm_slot){ dat, pid, seen, NULL };
	return comm;
}

/* Few print formats name symbols, and these few the same one for each record. */
static bool own_address(void *arg, const char *name, size_t len, uint64_t *out)
{
	struct report_own *own = arg;
	struct dat *dat = own->rec->lane->file;
	struct name_slot *slot = &own->names[(uintptr_t)name / 8 % NAMES];

	if (slot->dat != dat || slot->name != name) {
		*slot = (struct name_slot){ .dat = dat, .name = name };
		slot->known = dat_address(dat, name, len, &slot->addr);
	}
	*out = slot->addr;
	return slot->known;
}

/*
 * Among names that are learned, arrays that have held other bytes than text have their place, too: by
 * numbers that no task has.
 */
static int odd_number(const struct line_entry *entry, const struct decode_field *field)
{
	return -2 - (int)(entry->format->id * 64 + (uint32_t)(field - entry->format->fields) % 64);
}

static bool own_odd(void *arg, const struct decode_field *field)
{
	struct report_own *own = arg;

	return own->entry->learns_odd && replay_comm(own->rec, odd_number(own->entry, field));
}

static void learn_odd(void *arg, const struct decode_field *field)
{
	struct report_own *own = arg;

	replay_learn(own->rec, odd_number(own->entry, field), "", 0);
}

static bool own_printk(void *arg, uint64_t addr, struct decode_printk *out)
{
	return dat_printk(((struct report_own *)arg)->rec->lane->file, addr, out);
}

static const char *own_prototype(void *arg, uint64_t func)
{
	return dat_prototype(((struct report_own *)arg)->rec->lane->file, func);
}

struct report_own *report_own_new(struct report *report)
{
	struct report_own *own = calloc(1, sizeof(*own));

	if (!own)
		return NULL;
	own->report = report;
	own->ctx = (struct decode_ctx){ .arg = own, .flags = report->look.decode, .memo = &own->memo,
					.symbol = own_symbol,
					.printk = own_printk, .address = own_address,
					.odd = own_odd, .comm = own_comm, .prototype = own_prototype };
	return own;
}

void report_own_free(struct report_own *own)
{
	if (own)
		buf_fini(&own->text);
	free(own);
}

static bool is_named(const struct report *report, const char *comm)
{
	for (size_t i = 0; i < report->nr_comms; i++)
		if (!strcmp(report->comms[i], comm))
			return true;
	return false;
}

/* Whether a task is one of those that were asked for. */
static bool is_wanted(const struct report *report, struct report_own *own, int pid)
{
	const char *comm;

	for (size_t i = 0; i < report->nr_pids; i++)
		if (report->pids[i] == pid)
			return true;
	if (!report->nr_comms)
		return false;
	comm = own_comm(own, pid);
	return is_named(report, comm ? comm : pid ? "<...>" : "<idle>");
}

/* By a task or about it: as trace-cmd has it, what wakes a task or switches to it is about it. */
static bool by_task(const struct report *report, struct report_own *own,
		    const struct replay_record *rec, const struct line_entry *entry, int pid)
{
	const struct decode_field *about[] = { entry->pid, entry->next_pid };

	if (is_wanted(report, own, pid))
		return true;
	for (int i = 0; i < 2; i++)
		if (about[i] && is_wanted(report, own, (int)decode_field_int(entry->format, about[i],
									      rec->data, rec->len)))
			return true;
	return false;
}

static bool filtered(const struct filter *filter, struct report_own *own,
		     const struct replay_record *rec, const struct line_entry *entry)
{
	return filter && entry->format &&
	       filter_match(filter, entry->format, rec->data, rec->len, rec->lane->cpu, rec->ts,
			    &own->ctx) == FILTER_MATCH;
}

bool report_wanted(struct report *report, struct report_own *own, const struct replay_record *rec,
		   const struct line_entry *entry)
{
	const struct report_file *file = &report->files[rec->lane->file_nr];
	bool tasks = report->nr_pids || report->nr_comms;
	struct record_head head = { 0 };

	if (!report->choosy)
		return true;
	own->rec = rec;
	if (report->cpus && !report->cpus[(size_t)rec->lane->cpu % report->nr_cpus])
		return false;
	decode_record_head(&dat_info(file->dat)->abi, rec->data, rec->len, &head);
	if ((report->no_irqs && (head.flags & FLAG_HARDIRQ)) ||
	    (report->no_softirqs && (head.flags & FLAG_SOFTIRQ)))
		return false;
	if (filtered(file->filter_out, own, rec, entry))
		return false;
	if (!tasks && !file->filter)
		return true;
	return (tasks && by_task(report, own, rec, entry, head.pid)) ||
	       filtered(file->filter, own, rec, entry);
}

static bool next_moment(void *arg, struct decode_moment *out)
{
	struct report_own *own = arg;
	struct replay_record next;
	const struct line_entry *entry;

	if (!replay_peek(own->rec, &next))
		return false;
	entry = report_entry(own->report, &own->report->files[next.lane->file_nr], next.id);
	if (!entry || !entry->format)
		return false;
	*out = (struct decode_moment){ .format = entry->format, .rec = next.data, .len = next.len,
				       .ts = next.ts, .cpu = next.lane->cpu, .ctx = &own->ctx };
	return true;
}

static void take_moment(void *arg)
{
	replay_take(((struct report_own *)arg)->rec);
}

static void learn_moment(void *arg, int pid, const char *comm, size_t len)
{
	replay_learn(((struct report_own *)arg)->rec, pid, comm, len);
}

static struct decode_moment moment(struct report_own *own, const struct replay_record *rec,
				   const struct line_entry *entry)
{
	return (struct decode_moment){
		.format = entry->format, .rec = rec->data, .len = rec->len, .ts = rec->ts,
		.cpu = rec->lane->cpu, .ctx = &own->ctx, .carry = replay_carry(rec),
		.next = next_moment, .take = take_moment, .arg = own,
	};
}

/* The text behind the columns. */
static void put_info(struct report_own *own, const struct replay_record *rec,
		     const struct line_entry *entry, struct buf *out)
{
	struct decode_moment m = moment(own, rec, entry);

	own->entry = entry;
	own->ctx.flags = entry->flags;
	line_info(entry, &m, out);
}

/*
 * Instances and files have their names before their lines. A line about a loss has it in place of
 * the line that follows, as in trace-cmd.
 */
static void put_prefix(const struct report *report, const struct report_file *file,
		       const struct replay_record *rec, struct buf *out)
{
	const char *name = rec->lane->buffer->name;

	if (!*name && report->nr_files > 1)
		name = file->base;
	line_prefix(out, report->prefix, name);
}

static void put_line(struct report *report, struct report_own *own, struct report_file *file,
		     const struct replay_record *rec, const struct line_entry *entry,
		     struct buf *out)
{
	struct decode_moment m = moment(own, rec, entry);

	if (report->prefix)
		put_prefix(report, file, rec, out);
	if (rec->lost)
		tracecmd_lost(out, rec->lane->cpu, rec->lost);
	if (report->boundary && rec->first_of_page)
		buf_printf(out, "CPU:%d [SUBBUFFER START]\n", rec->lane->cpu);
	if (!entry->format) {
		line_unknown(&report->look, &dat_info(rec->lane->file)->abi, &m, rec->id, &own->columns, out);
		return;
	}
	own->entry = entry;
	own->ctx.flags = entry->flags;
	line_columns(&report->look, entry, &m, file->ticks, &report->before, &own->columns, out);
	line_info(entry, &m, out);
	if (report->wakeup)
		report_wakeup_feed(report->wakeup, rec, entry->format, out);
	line_end(out);
}

static void put_row(struct report *report, struct report_own *own, struct report_file *file,
		    const struct replay_record *rec, const struct line_entry *entry,
		    struct buf *out)
{
	buf_reset(&own->text);
	if (report->form == REPORT_CSV && entry->format)
		put_info(own, rec, entry, &own->text);
	report_row(report, file, rec, entry, &own->ctx, &own->text, out);
}

static void feed_profile(struct report *report, const struct replay_record *rec,
			 const struct line_entry *entry)
{
	if (entry->format && report_profile_feed(report->profile, rec, entry->format))
		err_set(&report->err, -ENOMEM, "out of memory");
}

/* Within a CPU times do not go back, unless the clock or the file is broken. */
static void check_time(struct report *report, const struct replay_record *rec)
{
	uint64_t before;

	if (!replay_went_back(rec, &before))
		return;
	cmd_say("CPU %d: time went back from %" PRIu64 " to %" PRIu64, rec->lane->cpu, before,
		rec->ts);
	report->went_back = true;
}

static void *begin(void *arg)
{
	return report_own_new(arg);
}

static void end(void *arg, void *own)
{
	(void)arg;
	report_own_free(own);
}

/* Once its entry is known a record of an event that leaves nothing behind is not shown again. */
static void pass(void *arg, const struct replay_record *rec)
{
	struct report *report = arg;
	struct report_own *own = report->passing;
	struct report_file *file = &report->files[rec->lane->file_nr];
	const struct line_entry *entry = report_entry(report, file, rec->id);
	struct decode_moment m;

	if (!entry || !entry->carries) {
		if (rec->id < REPORT_IDS)
			file->marks[rec->id] = 0;
		return;
	}
	own->rec = rec;
	if (!report_wanted(report, own, rec, entry))
		return;
	if (entry->learns_odd) {
		own->entry = entry;
		decode_odd_fields(entry->format, rec->data, rec->len, learn_odd, own);
		return;
	}
	m = moment(own, rec, entry);
	m.next = NULL;
	m.learn = learn_moment;
	decode_plugin_pass(entry->plugin, &m);
}

static bool given_moment(void *arg, struct decode_moment *out)
{
	struct report_own *own = arg;

	*out = own->given;
	return own->given.format;
}

static void take_given(void *arg)
{
	((struct report_own *)arg)->taken = true;
}

/* Asks the plugin of the one whether it takes the other. */
static bool joins(void *arg, const struct replay_record *last, const struct replay_record *next)
{
	struct report *report = arg;
	struct report_own *own = report->passing;
	struct report_file *file = &report->files[last->lane->file_nr];
	const struct line_entry *entry = report_entry(report, file, last->id);
	const struct line_entry *other = report_entry(report, file, next->id);
	struct decode_moment m;

	if (!entry || !other || !entry->plugin || !entry->carries || !other->format ||
	    !report_wanted(report, own, last, entry))
		return false;
	own->rec = last;
	own->taken = false;
	own->given = moment(own, next, other);
	m = moment(own, last, entry);
	m.next = given_moment;
	m.take = take_given;
	m.carry = NULL;
	decode_plugin_pass(entry->plugin, &m);
	return own->taken;
}

static void record(void *arg, void *mine, const struct replay_record *rec, struct buf *out)
{
	struct report *report = arg;
	struct report_own *own = mine;
	struct report_file *file = &report->files[rec->lane->file_nr];
	const struct line_entry *entry = report_entry(report, file, rec->id);

	if (!entry)
		return;
	own->rec = rec;
	if (report->ts_check)
		check_time(report, rec);
	if ((report->follow && !report_follow_new(report, rec)) || (report->choosy && !report_wanted(report, own, rec, entry)))
		return;
	if (report->skip) {
		report->skip--;
		return;
	}
	if (report->profile)
		feed_profile(report, rec, entry);
	else if (report->form == REPORT_TEXT)
		put_line(report, own, file, rec, entry, out);
	else
		put_row(report, own, file, rec, entry, out);
}

static int put(void *arg, const char *bytes, size_t len)
{
	struct report *report = arg;

	return report->follow ? report_follow_put(report, bytes, len) : pager_put(&report->pager, bytes, len);
}

const struct replay_job report_job = { .pass = pass, .joins = joins, .begin = begin, .end = end, .record = record,
				       .put = put };
