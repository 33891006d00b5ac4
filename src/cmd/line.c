/*
 * cmd/line: see line.h. All but line_entry_new() runs for every record of a trace.
 */
#include "cmd/line.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"

static bool matches(const regex_t *re, const struct decode_format *format)
{
	return re && !regexec(re, format->name, 0, NULL, 0);
}

/*
 * Where all is to be the same, what libtraceevent cannot print or gets wrong is printed so, too. Else
 * not: where we can do better.
 */
static bool prints_better(const struct decode_format *format)
{
	if (!strcmp(format->system, "ftrace"))
		return !strcmp(format->name, "blktrace") || !strcmp(format->name, "bprint");
	return format->prog && !decode_tep_is_exact(format);
}

static void fill(const struct line_look *look, struct line_entry *entry, const struct decode_format *format)
{
	entry->format = format;
	if (!format)
		return;
	entry->raw = look->raw || matches(look->raw_events, format);
	entry->flags = look->decode;
	if (!look->old_layout && prints_better(format))
		entry->flags ^= DECODE_TEP | DECODE_LONE;
	if (!entry->raw && !matches(look->plain_events, format))
		entry->plugin = decode_plugins_find(look->plugins, format);
	entry->carries = entry->plugin && decode_plugin_carries(entry->plugin);
	entry->learns_odd = look->old_layout && !entry->plugin &&
			    (entry->raw || decode_tep_is_raw(format, !look->no_plugins));
	entry->carries |= entry->learns_odd;
	entry->migrate_disable = decode_format_find(format, "common_migrate_disable");
	entry->lock_depth = decode_format_find(format, "common_lock_depth");
	entry->pid = decode_format_find(format, "pid");
	entry->next_pid = decode_format_find(format, "next_pid");
}

struct line_entry *line_entry_new(const struct line_look *look, const struct decode_format *format)
{
	struct line_entry *entry;
	struct buf name = BUF_INIT;

	if (format)
		tracecmd_name(&name, format->name);
	entry = calloc(1, sizeof(*entry) + name.len + TRACECMD_NAME_ROOM);
	if (entry) {
		fill(look, entry, format);
		entry->name_len = name.len;
		memcpy(entry->name, name.data ? name.data : "", name.len);
	}
	buf_fini(&name);
	return entry;
}

void line_prefix(struct buf *out, size_t width, const char *name)
{
	if (*name)
		buf_printf(out, "%*s: ", (int)width, name);
	else
		buf_printf(out, "%*s", (int)width + 2, "");
}

static int field_or_none(const struct line_entry *entry, const struct decode_field *field,
			 const struct decode_moment *moment)
{
	return field ? (int)(decode_field_int(entry->format, field, moment->rec, moment->len) & 0xff) : -1;
}

static const char *comm_of(const struct decode_moment *moment, int pid)
{
	return moment->ctx->comm(moment->ctx->arg, pid);
}

void line_columns(const struct line_look *look, const struct line_entry *entry, const struct decode_moment *moment,
		  bool ticks, struct line_before *before, struct tracecmd_memory *memory, struct buf *out)
{
	unsigned int flags = look->columns | (ticks ? TRACECMD_TICKS : 0) | (entry->raw ? TRACECMD_RAW : 0);
	struct tracecmd_row row;

	row.head = (struct record_head){ 0 };
	row.cpu = moment->cpu;
	row.ts = moment->ts;
	row.name = entry->name;
	row.name_len = entry->name_len;
	row.has_diff = false;
	row.migrate_disable = field_or_none(entry, entry->migrate_disable, moment);
	row.lock_depth = look->old_layout ? -1 : field_or_none(entry, entry->lock_depth, moment);

	decode_record_head(&entry->format->abi, moment->rec, moment->len, &row.head);
	row.comm = comm_of(moment, row.head.pid);
	if (flags & TRACECMD_DIFF) {
		uint64_t shown = tracecmd_shown(moment->ts, flags & ~TRACECMD_TICKS);

		row.has_diff = before->any;
		row.diff = (int64_t)(shown - before->shown);
		before->shown = shown;
		/* To trace-cmd a time of 0 is none. */
		before->any = shown || !look->old_layout;
	}
	tracecmd_columns(out, &row, flags, memory);
}

void line_info(const struct line_entry *entry, const struct decode_moment *moment, struct buf *out)
{
	if (entry->raw) {
		decode_print_fields(entry->format, moment->rec, moment->len, moment->ctx, out);
		return;
	}
	if (entry->plugin && decode_plugin_print(entry->plugin, moment, out))
		return;
	decode_print(entry->format, moment->rec, moment->len, moment->ctx, out);
}

void line_end(struct buf *out)
{
	/* A line break that a text brings along is the line's. */
	if (out->len && out->data[out->len - 1] == '\n')
		return;
	if (!buf_room(out, 1))
		return;
	out->data[out->len++] = '\n';
}

void line_unknown(const struct line_look *look, const struct decode_abi *abi, const struct decode_moment *moment,
		  uint32_t id, struct tracecmd_memory *memory, struct buf *out)
{
	static const char no_name[TRACECMD_NAME_ROOM];
	struct tracecmd_row row = { .cpu = moment->cpu, .ts = moment->ts, .name = no_name,
				    .migrate_disable = -1, .lock_depth = -1 };

	if (look->old_layout) {
		buf_puts(out, "[UNKNOWN EVENT][UNKNOWN EVENT] (NULL):               "
			      "[UNKNOWN EVENT]\n");
		return;
	}
	decode_record_head(abi, moment->rec, moment->len, &row.head);
	row.comm = comm_of(moment, row.head.pid);
	tracecmd_columns(out, &row, look->columns, memory);
	buf_printf(out, "[UNKNOWN EVENT] %u\n", id);
}

void line_tell_lost(uint64_t count, uint64_t unknown)
{
	if (count && unknown)
		cmd_say("%" PRIu64 " events were lost, and more in %" PRIu64 " places where nobody "
			"counted", count, unknown);
	else if (count)
		cmd_say("%" PRIu64 " events were lost", count);
	else if (unknown)
		cmd_say("events were lost in %" PRIu64 " places, nobody knows how many", unknown);
}
