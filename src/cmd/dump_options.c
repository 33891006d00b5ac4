/*
 * cmd/dump_options: see dump_options.h. Values are read with all checks: an option that is shorter
 * than its kind needs shows zeros.
 */
#include "cmd/dump_options.h"

#include <inttypes.h>
#include <string.h>

uint64_t dump_word(struct dump_bytes *bytes, uint32_t size)
{
	uint64_t len = size;
	const uint8_t *p = dump_take(bytes, &len);

	return len == size ? decode_abi_load(p, size, bytes->big_endian) : 0;
}

const char *dump_string(struct dump_bytes *bytes)
{
	const char *text = (const char *)bytes->p;
	uint64_t len = strnlen(text, bytes->len) + 1;

	dump_take(bytes, &len);
	return text;
}

const uint8_t *dump_take(struct dump_bytes *bytes, uint64_t *len)
{
	const uint8_t *p = bytes->p;

	if (*len > bytes->len)
		*len = bytes->len;
	bytes->p += *len;
	bytes->len -= (size_t)*len;
	return p;
}

static void put_head(struct buf *out, const char *name, uint32_t len)
{
	buf_printf(out, "\t\t[Option %s, %" PRIu32 " bytes]", name, len);
}

static void put_buffer(struct buf *out, struct dump_bytes *v, int version, bool is_text)
{
	uint32_t nr;

	buf_printf(out, "\n%" PRIu64 " [offset]\n", dump_word(v, 8));
	buf_printf(out, "\"%s\" [name]\n", dump_string(v));
	if (version < 7)
		return;
	buf_printf(out, "\"%s\" [clock]\n", dump_string(v));
	if (is_text)
		return;
	buf_printf(out, "%" PRIu64 " [Page size, bytes]\n", dump_word(v, 4));
	nr = (uint32_t)dump_word(v, 4);
	buf_printf(out, "%" PRIu32 " [CPUs]:\n", nr);
	for (uint32_t i = 0; i < nr && v->len; i++) {
		uint64_t cpu = dump_word(v, 4), offset = dump_word(v, 8);

		buf_printf(out, "   %" PRIu64 " %" PRIu64 "\t%" PRIu64
			   "\t[id, data offset and size]\n", cpu, offset, dump_word(v, 8));
	}
}

/*
 * How many samples there are of each CPU, then all of them. What the option says in a row is taken
 * apart when the file is opened.
 */
static void put_shift(struct buf *out, const struct dat *dat, struct dump_bytes *v)
{
	const struct dat_shift *shift = dat_shift(dat);
	uint64_t peer = dump_word(v, 8), flags = dump_word(v, 4);

	buf_printf(out, "\n0x%" PRIx64 " [peer's trace id]\n", peer);
	buf_printf(out, "0x%" PRIx64 " [peer's protocol flags]\n", flags);
	buf_printf(out, "0x%" PRIx64 " [peer's CPU count]\n", dump_word(v, 4));
	if (!shift)
		return;
	for (uint32_t i = 0; i < shift->nr_cpus; i++)
		buf_printf(out, "%" PRIu32 " [samples count for CPU %" PRIu32 "]\n",
			   shift->cpus[i].nr, i);
	for (uint32_t i = 0; i < shift->nr_cpus; i++)
		for (uint32_t j = 0; j < shift->cpus[i].nr; j++) {
			const struct dat_shift_sample *s = &shift->cpus[i].samples[j];

			buf_printf(out, "\t%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64
				   "[offset * scaling >> fraction @ time]\n", s->offset, s->scale,
				   s->fraction, s->time);
		}
}

static void put_guest(struct buf *out, struct dump_bytes *v)
{
	uint32_t nr;

	buf_printf(out, "\n%s [Guest name]\n", dump_string(v));
	buf_printf(out, "0x%" PRIx64 " [trace id]\n", dump_word(v, 8));
	nr = (uint32_t)dump_word(v, 4);
	buf_printf(out, "%" PRIu32 " [Guest CPUs]\n", nr);
	for (uint32_t i = 0; i < nr && v->len; i++) {
		uint64_t cpu = dump_word(v, 4);

		buf_printf(out, "  %" PRIu64 " %d [guest cpu, host pid]\n", cpu,
			   (int)dump_word(v, 4));
	}
}

static void put_tsc(struct buf *out, struct dump_bytes *v)
{
	uint64_t mult = dump_word(v, 4), shift = dump_word(v, 4);

	buf_printf(out, "\n%" PRIu64 " %" PRIu64 " %" PRIu64 " [multiplier, shift, offset]\n", mult,
		   shift, dump_word(v, 8));
}

static const char *name_of(uint16_t id)
{
	static const char *const names[DAT_NR_IDS] = {
		[DAT_DATE] = "DATE", [DAT_CPUSTAT] = "CPUSTAT", [DAT_BUFFER] = "BUFFER",
		[DAT_CLOCK] = "TRACECLOCK", [DAT_UNAME] = "UNAME", [DAT_HOOK] = "HOOK",
		[DAT_OFFSET] = "OFFSET", [DAT_CPUCOUNT] = "CPUCOUNT", [DAT_VERSION] = "VERSION",
		[DAT_PROCMAPS] = "PROCMAPS", [DAT_TRACEID] = "TRACEID",
		[DAT_TIME_SHIFT] = "TimeShift", [DAT_GUEST] = "GUEST", [DAT_TSC2NSEC] = "TSC2NSEC",
		[DAT_STRINGS] = "STRINGS", [DAT_HEADER_INFO] = "HEADERS",
		[DAT_FTRACE_EVENTS] = "FTRACE EVENTS", [DAT_EVENT_FORMATS] = "EVENT FORMATS",
		[DAT_KALLSYMS] = "KALLSYMS", [DAT_PRINTK] = "PRINTK", [DAT_CMDLINES] = "CMDLINES",
		[DAT_BUFFER_TEXT] = "BUFFER", [DAT_BTF] = "BTF", [DAT_LAST_BOOT] = "LAST BOOT INFO",
		[DAT_MODULES] = "MODULES",
	};

	return id < DAT_NR_IDS ? names[id] : NULL;
}

/* Those whose value is a text. */
static void put_text(struct buf *out, const struct dat_option *o)
{
	buf_putc(out, '\n');
	buf_add(out, o->data, strnlen((const char *)o->data, o->len));
	buf_putc(out, '\n');
}

static void put_value(struct buf *out, const struct dat *dat, const struct dat_option *o)
{
	struct dump_bytes v = { o->data, o->len, dat_info(dat)->abi.big_endian };

	switch (o->id) {
	case DAT_BUFFER:
	case DAT_BUFFER_TEXT:
		put_buffer(out, &v, dat_info(dat)->version, o->id == DAT_BUFFER_TEXT);
		break;
	case DAT_CPUCOUNT:
		buf_printf(out, "\n%" PRIu64 "\n", dump_word(&v, 4));
		break;
	case DAT_TRACEID:
		buf_printf(out, "\n0x%" PRIX64 "\n", dump_word(&v, 8));
		break;
	case DAT_TIME_SHIFT:
		put_shift(out, dat, &v);
		break;
	case DAT_GUEST:
		put_guest(out, &v);
		break;
	case DAT_TSC2NSEC:
		put_tsc(out, &v);
		break;
	default:
		if ((o->id >= DAT_HEADER_INFO && o->id <= DAT_CMDLINES) || o->id == DAT_BTF ||
		    o->id == DAT_MODULES)
			buf_printf(out, " @ %" PRIu64 "\n", dump_word(&v, 8));
		else
			put_text(out, o);
	}
}

void dump_option(const struct dat *dat, const struct dat_option *option, struct buf *out)
{
	const char *name = name_of(option->id);

	if (!name) {
		buf_printf(out, " %u %" PRIu32 "\t[Unknown option, size - skipping]\n", option->id,
			   option->len);
		return;
	}
	if (option->id == DAT_TSC2NSEC)
		buf_putc(out, '\n');
	put_head(out, name, option->len);
	put_value(out, dat, option);
}

void dump_clock(const struct dat_option *option, struct buf *out)
{
	buf_add(out, option->data, strnlen((const char *)option->data, option->len));
	buf_putc(out, '\n');
}

void dump_done(uint64_t next, struct buf *out)
{
	put_head(out, "DONE", 8);
	buf_printf(out, "\n%" PRIu64 "\n", next);
	if (next)
		buf_puts(out, "\n\n");
}
