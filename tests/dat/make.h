/*
 * Trace files made up in memory: version 6 and 7, packed or not, of any machine. Where length words
 * and offsets lie is noted on the way (spots), for those who want to damage them.
 *
 *   make_begin() | pages: make_page(), make_event() ... | make_file() | make_end()
 *
 * make_plain() does it all and gives a small file with some of everything.
 */
#ifndef TESTS_DAT_MAKE_H
#define TESTS_DAT_MAKE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "dat/dat.h"
#include "dat/pack.h"

#define MAKE_LANES 64
#define MAKE_SPOTS 2048
#define MAKE_SWITCH 300		/* ID of sched_switch; function and print have the kernel's */

struct make_spot {
	size_t at;
	uint32_t size;
};

struct make {
	int version;
	const char *compressor;		/* NULL: none */
	bool big_endian;
	uint8_t long_size;
	uint32_t page_size;
	uint32_t nr_cpus;		/* lanes of the top buffer; those behind are the instance's */
	uint32_t chunk_pages;
	bool small;			/* as little text as possible */
	bool plain_options;		/* of a packed file: not packed */
	bool renamed;			/* sched_switch has another ID: more_format stands for it */
	const char *more_format;	/* of system "more", NULL: none */
	size_t more_format_len;
	const char *kallsyms;
	struct buf extra;		/* options as they lie in a file */

	struct buf out;
	struct make_spot spots[MAKE_SPOTS];
	size_t nr_spots;
	struct buf lanes[MAKE_LANES];
	uint32_t nr_lanes;

	/* Private. */
	struct pack *pack;
	size_t page;			/* of the lane written last, where it begins */
	uint64_t ts;
	uint64_t offsets[DAT_NR_IDS];
	uint64_t lane_at[MAKE_LANES], lane_size[MAKE_LANES];
};

static inline void make_set(const struct make *m, void *to, uint64_t value, uint32_t size)
{
	uint8_t *p = to;

	for (uint32_t i = 0; i < size; i++)
		p[m->big_endian ? size - 1 - i : i] = (uint8_t)(value >> (8 * i));
}

static inline void make_word(const struct make *m, struct buf *to, uint64_t value, uint32_t size)
{
	uint8_t bytes[8];

	make_set(m, bytes, value, size);
	buf_add(to, bytes, size);
}

static inline void make_text(struct buf *to, const char *text)
{
	buf_add(to, text, strlen(text) + 1);
}

/* The word that comes next in the file is a length, an offset or a count. */
static inline void make_spot(struct make *m, size_t at, uint32_t size)
{
	if (m->nr_spots < MAKE_SPOTS)
		m->spots[m->nr_spots++] = (struct make_spot){ at, size };
}

/* The same in a text of its own: `base` is where it comes to lie, SIZE_MAX: nowhere to be found. */
static inline void make_length(struct make *m, struct buf *to, size_t base, uint64_t value,
			       uint32_t size)
{
	if (base != SIZE_MAX)
		make_spot(m, base + to->len, size);
	make_word(m, to, value, size);
}

static inline void make_begin(struct make *m, int version, const char *compressor)
{
	*m = (struct make){ .version = version, .compressor = compressor, .long_size = 8,
			    .page_size = 512, .nr_cpus = 2, .chunk_pages = 2,
			    .kallsyms = "ffffffff81000000 T start\nffffffff81000100 t second\n"
					"ffffffffa0000000 t of_module\t[module]\n" };
}

static inline void make_end(struct make *m)
{
	buf_fini(&m->out);
	buf_fini(&m->extra);
	for (uint32_t i = 0; i < MAKE_LANES; i++)
		buf_fini(&m->lanes[i]);
	pack_close(m->pack);
}

/* Pages of a lane. */

static inline uint32_t make_head(const struct make *m)
{
	return 8u + m->long_size;
}

static inline void make_page(struct make *m, uint32_t lane, uint64_t ts)
{
	struct buf *to = &m->lanes[lane];
	char *room = buf_room(to, m->page_size);

	if (!room)
		abort();
	memset(room, 0, m->page_size);
	m->page = to->len;
	to->len += m->page_size;
	m->ts = ts;
	make_set(m, to->data + m->page, ts, 8);
	if (lane >= m->nr_lanes)
		m->nr_lanes = lane + 1;
}

static inline uint32_t make_commit(const struct make *m, const struct buf *lane)
{
	uint32_t commit;

	memcpy(&commit, lane->data + m->page + 8 + (m->big_endian ? m->long_size - 4 : 0), 4);
	return m->big_endian ? __builtin_bswap32(commit) : commit;
}

/* False: it has no room in the page written last. */
static inline bool make_raw(struct make *m, uint32_t lane, const void *bytes, uint32_t len)
{
	struct buf *to = &m->lanes[lane];
	uint32_t commit = make_commit(m, to);

	if (commit + len > m->page_size - make_head(m))
		return false;
	memcpy(to->data + m->page + make_head(m) + commit, bytes, len);
	make_set(m, to->data + m->page + 8, commit + len, m->long_size);
	return true;
}

static inline uint32_t make_head_word(const struct make *m, uint32_t type, uint32_t delta)
{
	return m->big_endian ? type << 27 | delta : type | delta << 5;
}

/* A record of `len` bytes, a multiple of 4 up to 112, at a time that is not before the last one's. */
static inline bool make_event(struct make *m, uint32_t lane, uint64_t ts, const void *data,
			      uint32_t len)
{
	uint8_t bytes[4 + 112];

	make_set(m, bytes, make_head_word(m, len / 4, (uint32_t)(ts - m->ts)), 4);
	memcpy(bytes + 4, data, len);
	if (!make_raw(m, lane, bytes, 4 + len))
		return false;
	m->ts = ts;
	return true;
}

/* An absolute stamp (type 31) or a step (30). */
static inline bool make_stamp(struct make *m, uint32_t lane, uint32_t type, uint64_t value)
{
	uint8_t bytes[8];

	make_set(m, bytes, make_head_word(m, type, (uint32_t)(value & 0x7ffffff)), 4);
	make_set(m, bytes + 4, value >> 27, 4);
	return make_raw(m, lane, bytes, 8);
}

/* The body of a record: of a function's, a switch, or a message. */
static inline uint32_t make_record(const struct make *m, uint8_t *to, uint32_t id, int pid,
				   uint64_t value)
{
	memset(to, 0, 56);
	make_set(m, to, id, 2);
	make_set(m, to + 4, (uint32_t)pid, 4);
	if (id == 1) {
		make_set(m, to + 8, 0xffffffff81000000 + value % 0x200, m->long_size);
		make_set(m, to + 8 + m->long_size, 0xffffffff81000000, m->long_size);
		return 8 + 2u * m->long_size;
	}
	if (id == MAKE_SWITCH) {
		memcpy(to + 8, "before", 6);
		make_set(m, to + 24, (uint32_t)pid, 4);
		make_set(m, to + 28, value, 4);
		make_set(m, to + 32, value % 7, 8);
		return 40;
	}
	if (id == 10 || id == 11) {
		make_set(m, to + 8, 0xffffffff81000000 + value % 7, m->long_size);
		make_set(m, to + 24, value * 100, 8);
		make_set(m, to + 32, value * 101, 8);
		return id == 10 ? 40 : 24;
	}
	make_set(m, to + 8, 0xffffffff81000010, m->long_size);
	memcpy(to + 8 + m->long_size, "words", 6);
	return 8u + m->long_size + 8;
}

/* Texts. */

static inline void make_format(const struct make *m, struct buf *to, const char *name,
			       unsigned int id)
{
	unsigned int l = m->long_size;

	buf_printf(to, "name: %s\nID: %u\nformat:\n"
		   "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		   "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
		   "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
		   "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n", name, id);
	if (id == 1)
		buf_printf(to, "\tfield:unsigned long ip;\toffset:8;\tsize:%u;\tsigned:0;\n"
			   "\tfield:unsigned long parent_ip;\toffset:%u;\tsize:%u;\tsigned:0;\n\n"
			   "print fmt: \" %%ps <-- %%ps\", (void *)REC->ip, (void *)REC->parent_ip\n",
			   l, 8 + l, l);
	else if (id == 10 || id == 11)
		buf_printf(to, "\tfield:unsigned long func;\toffset:8;\tsize:%u;\tsigned:0;\n"
			   "\tfield:int depth;\toffset:16;\tsize:4;\tsigned:1;\n%s\n"
			   "print fmt: \"%%ps (%%d)\", (void *)REC->func, REC->depth\n", l, id == 11 ? "" :
			   "\tfield:unsigned long long calltime;\toffset:24;\tsize:8;\tsigned:0;\n"
			   "\tfield:unsigned long long rettime;\toffset:32;\tsize:8;\tsigned:0;\n");
	else if (id == MAKE_SWITCH)
		buf_puts(to, "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
			 "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
			 "\tfield:int next;\toffset:28;\tsize:4;\tsigned:1;\n"
			 "\tfield:long state;\toffset:32;\tsize:8;\tsigned:1;\n\n"
			 "print fmt: \"%s:%d ==> %d %s\", REC->comm, REC->pid, REC->next, "
			 "__print_flags(REC->state, \"|\", { 1, \"S\" }, { 2, \"D\" })\n");
	else
		buf_printf(to, "\tfield:unsigned long ip;\toffset:8;\tsize:%u;\tsigned:0;\n"
			   "\tfield:char buf[];\toffset:%u;\tsize:0;\tsigned:0;\n\n"
			   "print fmt: \"%%ps: %%s\", (void *)REC->ip, REC->buf\n", l, 8 + l);
}

static inline void make_sized(struct make *m, struct buf *to, size_t base, const struct buf *text,
			      uint32_t word)
{
	make_length(m, to, base, text->len, word);
	buf_add(to, text->data ? text->data : "", text->len);
}

static inline void make_headers(struct make *m, struct buf *to, size_t base)
{
	struct buf text = BUF_INIT;

	buf_printf(&text, "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		   "\tfield: local_t commit;\toffset:8;\tsize:%u;\tsigned:1;\n", m->long_size);
	make_text(to, "header_page");
	make_sized(m, to, base, &text, 8);
	buf_reset(&text);
	buf_puts(&text, "# compressed entry header\n");
	make_text(to, "header_event");
	make_sized(m, to, base, &text, 8);
	buf_fini(&text);
}

static inline void make_one_format(struct make *m, struct buf *to, size_t base, const char *name,
				   unsigned int id)
{
	struct buf text = BUF_INIT;

	make_format(m, &text, name, id);
	make_sized(m, to, base, &text, 8);
	buf_fini(&text);
}

static inline void make_ftrace(struct make *m, struct buf *to, size_t base)
{
	make_length(m, to, base, m->small ? 1 : 4, 4);
	make_one_format(m, to, base, "function", 1);
	if (m->small)
		return;
	make_one_format(m, to, base, "print", 5);
	make_one_format(m, to, base, "funcgraph_entry", 11);
	make_one_format(m, to, base, "funcgraph_exit", 10);
}

static inline void make_formats(struct make *m, struct buf *to, size_t base)
{
	make_length(m, to, base, m->more_format ? 2 : 1, 4);
	make_text(to, "sched");
	make_length(m, to, base, 1, 4);
	if (m->renamed) {
		make_length(m, to, base, 25, 8);
		buf_puts(to, "name: other\nID: 9\nformat:");
	} else {
		make_one_format(m, to, base, "sched_switch", MAKE_SWITCH);
	}
	if (!m->more_format)
		return;
	make_text(to, "more");
	make_length(m, to, base, 1, 4);
	make_length(m, to, base, m->more_format_len, 8);
	buf_add(to, m->more_format, m->more_format_len);
}

static inline void make_part(struct make *m, struct buf *to, size_t base, enum dat_id id)
{
	const char *text = id == DAT_KALLSYMS ? m->kallsyms :
			   id == DAT_PRINTK ? "0xffffffff81000010 : \"a %d\\n\"\n" :
					      "1 init\n22 some task\n";

	switch (id) {
	case DAT_HEADER_INFO:
		make_headers(m, to, base);
		break;
	case DAT_FTRACE_EVENTS:
		make_ftrace(m, to, base);
		break;
	case DAT_EVENT_FORMATS:
		make_formats(m, to, base);
		break;
	default:
		make_length(m, to, base, strlen(text), id == DAT_CMDLINES ? 8 : 4);
		buf_puts(to, text);
	}
}

/* Options. */

static inline void make_option(struct make *m, struct buf *to, size_t base, uint16_t id,
			       const void *data, size_t len)
{
	make_word(m, to, id, 2);
	make_length(m, to, base, len, 4);
	buf_add(to, data, len);
}

static inline void make_guest(struct make *m, struct buf *to, size_t base)
{
	struct buf value = BUF_INIT;

	make_text(&value, "guest");
	make_word(m, &value, 77, 8);
	make_length(m, &value, base == SIZE_MAX ? base : base + to->len + 6, 2, 4);
	for (uint32_t i = 0; i < 2; i++) {
		make_word(m, &value, i, 4);
		make_word(m, &value, 100 + i, 4);
	}
	make_option(m, to, base, DAT_GUEST, value.data, value.len);
	buf_fini(&value);
}

static inline void make_shift(struct make *m, struct buf *to, size_t base)
{
	struct buf value = BUF_INIT;
	size_t at = base == SIZE_MAX ? base : base + to->len + 6;

	make_word(m, &value, 88, 8);
	make_word(m, &value, 1, 4);
	make_length(m, &value, at, 1, 4);
	make_length(m, &value, at, 2, 4);
	for (uint32_t column = 0; column < 4; column++)
		for (uint32_t i = 0; i < 2; i++)
			make_word(m, &value, column == 2 ? 1 : column == 3 ? 0 : 1000 + i * 500, 8);
	make_option(m, to, base, DAT_TIME_SHIFT, value.data, value.len);
	buf_fini(&value);
}

static inline void make_options(struct make *m, struct buf *to, size_t base)
{
	static const char maps[] = "16 1 /bin/program\n1000 2000 /lib/one\n3000 4000 /lib/two\n";
	uint8_t word[16] = { 0 };

	make_option(m, to, base, DAT_CLOCK, "local [mono] boot", 18);
	make_set(m, word, m->nr_cpus, 4);
	make_option(m, to, base, DAT_CPUCOUNT, word, 4);
	if (m->small)
		return;
	make_option(m, to, base, DAT_UNAME, "Linux", 6);
	make_option(m, to, base, DAT_OFFSET, "-5", 3);
	make_option(m, to, base, DAT_DATE, "0x10", 5);
	make_option(m, to, base, DAT_CPUSTAT, "CPU: 0\n", 8);
	make_set(m, word, 99, 8);
	make_option(m, to, base, DAT_TRACEID, word, 8);
	make_option(m, to, base, DAT_PROCMAPS, maps, sizeof(maps));
	make_guest(m, to, base);
	make_shift(m, to, base);
	memset(word, 0, sizeof(word));
	make_set(m, word, 3, 4);
	make_set(m, word + 4, 1, 4);
	make_option(m, to, base, DAT_TSC2NSEC, word, 16);
}

/* What lies on the disk of a lane: its pages, or chunks of them. */
static inline void make_packed(struct make *m, const struct buf *pages)
{
	size_t chunk = (size_t)m->chunk_pages * m->page_size, len;
	size_t at = m->out.len;
	uint32_t nr = 0;

	make_length(m, &m->out, 0, 0, 4);
	for (size_t done = 0; done < pages->len; done += len, nr++) {
		size_t head = m->out.len, bound;
		long n;
		char *room;

		len = pages->len - done < chunk ? pages->len - done : chunk;
		bound = pack_bound(m->pack, len);
		make_length(m, &m->out, 0, 0, 4);
		make_length(m, &m->out, 0, len, 4);
		room = buf_room(&m->out, bound);
		n = room ? pack_shrink(m->pack, pages->data + done, len, room, bound) : -1;
		if (n < 0)
			abort();
		m->out.len += (size_t)n;
		make_set(m, m->out.data + head, (uint64_t)n, 4);
	}
	make_set(m, m->out.data + at, nr, 4);
}

static inline void make_align(struct make *m)
{
	while (m->out.len % m->page_size)
		buf_putc(&m->out, 0);
}

/* The size that is told of packed data leaves out the number of chunks. */
static inline void make_data(struct make *m, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		make_align(m);
		m->lane_at[i] = m->out.len;
		if (m->compressor) {
			make_packed(m, &m->lanes[i]);
			m->lane_size[i] = m->out.len - m->lane_at[i] - 4;
		} else {
			buf_add(&m->out, m->lanes[i].data ? m->lanes[i].data : "", m->lanes[i].len);
			m->lane_size[i] = m->out.len - m->lane_at[i];
		}
	}
}

/* Version 6. The tables stand before the data: they are filled in when that is there. */

static inline size_t make_table(struct make *m)
{
	size_t at;

	make_text(&m->out, "flyrecord");
	at = m->out.len;
	for (uint32_t i = 0; i < 2 * m->nr_cpus; i++)
		make_length(m, &m->out, 0, 0, 8);
	make_length(m, &m->out, 0, 6, 8);
	buf_puts(&m->out, "[mono]");
	return at;
}

static inline void make_fill(struct make *m, size_t table, uint32_t from)
{
	for (uint32_t i = 0; i < m->nr_cpus; i++) {
		make_set(m, m->out.data + table + 16 * i, m->lane_at[from + i], 8);
		make_set(m, m->out.data + table + 16 * i + 8, m->lane_size[from + i], 8);
	}
}

static inline void make_v6(struct make *m)
{
	bool instance = m->nr_lanes > m->nr_cpus;
	size_t offset = 0, tables[2];

	for (enum dat_id id = DAT_HEADER_INFO; id <= DAT_CMDLINES; id++)
		make_part(m, &m->out, 0, id);
	make_length(m, &m->out, 0, m->nr_cpus, 4);
	make_text(&m->out, "options  ");
	make_options(m, &m->out, 0);
	if (instance) {
		offset = m->out.len + 6;
		make_option(m, &m->out, 0, DAT_BUFFER, "\0\0\0\0\0\0\0\0instance", 17);
		make_spot(m, offset, 8);
	}
	if (m->extra.len)
		buf_add(&m->out, m->extra.data, m->extra.len);
	make_word(m, &m->out, 0, 2);
	tables[0] = make_table(m);
	make_data(m, 0, m->nr_cpus);
	make_fill(m, tables[0], 0);
	if (!instance)
		return;
	make_align(m);
	make_set(m, m->out.data + offset, m->out.len, 8);
	tables[1] = make_table(m);
	make_data(m, m->nr_cpus, 2 * m->nr_cpus);
	make_fill(m, tables[1], m->nr_cpus);
}

/* Version 7. */

static inline size_t make_section(struct make *m, uint16_t id, bool packed)
{
	size_t at = m->out.len;

	make_word(m, &m->out, id, 2);
	make_word(m, &m->out, packed, 2);
	make_word(m, &m->out, UINT32_MAX, 4);
	make_length(m, &m->out, 0, 0, 8);
	return at;
}

static inline void make_section_end(struct make *m, size_t at)
{
	make_set(m, m->out.data + at + 8, m->out.len - at - 16, 8);
}

/* The payload, packed if the file is. */
static inline void make_payload(struct make *m, const struct buf *text, bool packed)
{
	size_t head = m->out.len, bound;
	long n;
	char *room;

	if (!packed) {
		buf_add(&m->out, text->data, text->len);
		return;
	}
	bound = pack_bound(m->pack, text->len);
	make_length(m, &m->out, 0, 0, 4);
	make_length(m, &m->out, 0, text->len, 4);
	room = buf_room(&m->out, bound);
	n = room ? pack_shrink(m->pack, text->data, text->len, room, bound) : -1;
	if (n < 0)
		abort();
	m->out.len += (size_t)n;
	make_set(m, m->out.data + head, (uint64_t)n, 4);
}

static inline void make_buffer_option(struct make *m, struct buf *to, size_t base, uint64_t section,
				      const char *name, uint32_t from, uint32_t until)
{
	struct buf value = BUF_INIT;
	size_t at = base == SIZE_MAX ? base : base + to->len + 6;

	make_length(m, &value, at, section, 8);
	make_text(&value, name);
	make_text(&value, "mono");
	make_length(m, &value, at, m->page_size, 4);
	make_length(m, &value, at, until - from, 4);
	for (uint32_t i = from; i < until; i++) {
		make_length(m, &value, at, i - from, 4);
		make_length(m, &value, at, m->lane_at[i], 8);
		make_length(m, &value, at, m->lane_size[i], 8);
	}
	make_option(m, to, base, DAT_BUFFER, value.data, value.len);
	buf_fini(&value);
}

static inline void make_offset_options(struct make *m, struct buf *to, size_t base)
{
	for (enum dat_id id = DAT_HEADER_INFO; id <= DAT_CMDLINES; id++) {
		make_word(m, to, id, 2);
		make_length(m, to, base, 8, 4);
		make_length(m, to, base, m->offsets[id], 8);
	}
}

/* A section of options: `from` to `until` are the lanes of a buffer; returns where `next` lies. */
static inline size_t make_options_section(struct make *m, const char *buffer, uint64_t section,
					  uint32_t from, uint32_t until, uint64_t next)
{
	bool packed = m->compressor && !m->plain_options;
	size_t at = make_section(m, DAT_DONE, packed), base = packed ? SIZE_MAX : m->out.len;
	struct buf text = BUF_INIT;
	size_t next_at;

	if (buffer) {
		make_buffer_option(m, &text, base, section, buffer, from, until);
	} else {
		make_offset_options(m, &text, base);
		make_options(m, &text, base);
		if (m->extra.len)
			buf_add(&text, m->extra.data, m->extra.len);
	}
	make_word(m, &text, 0, 2);
	make_length(m, &text, base, 8, 4);
	make_length(m, &text, base, next, 8);
	make_payload(m, &text, packed);
	next_at = m->out.len - 8;
	make_section_end(m, at);
	buf_fini(&text);
	return next_at;
}

static inline size_t make_buffer(struct make *m, uint32_t from, uint32_t until)
{
	size_t at = make_section(m, DAT_BUFFER, m->compressor);

	make_data(m, from, until);
	make_section_end(m, at);
	return at;
}

/* Packed options cannot be filled in later, so the chain is laid with the last options first known. */
static inline void make_v7(struct make *m)
{
	size_t first, top, instance = 0, second, strings;

	make_text(&m->out, m->compressor ? m->compressor : "none");
	make_text(&m->out, m->compressor ? "1.0" : "");
	first = m->out.len;
	make_length(m, &m->out, 0, 0, 8);
	for (enum dat_id id = DAT_HEADER_INFO; id <= DAT_CMDLINES; id++) {
		struct buf text = BUF_INIT;

		m->offsets[id] = make_section(m, (uint16_t)id, m->compressor);
		make_part(m, &text, m->compressor ? SIZE_MAX : m->out.len, id);
		make_payload(m, &text, m->compressor);
		make_section_end(m, m->offsets[id]);
		buf_fini(&text);
	}
	top = make_buffer(m, 0, m->nr_cpus);
	if (m->nr_lanes > m->nr_cpus)
		instance = make_buffer(m, m->nr_cpus, m->nr_lanes);
	strings = make_section(m, DAT_STRINGS, false);
	make_text(&m->out, "headers");
	make_section_end(m, strings);
	/* The sizes of sections that only differ in an offset may differ, packed: laid out twice. */
	make_set(m, m->out.data + first, m->out.len, 8);
	second = m->out.len;
	for (int pass = 0; pass < 2; pass++) {
		size_t spots = m->nr_spots, start = m->out.len, third;

		make_options_section(m, NULL, 0, 0, 0, second);
		if (m->out.len != second && !pass) {
			second = m->out.len + (m->compressor ? 64 : 0);
			m->out.len = start;
			m->nr_spots = spots;
			continue;
		}
		while (m->out.len < second)
			buf_putc(&m->out, 0);
		third = second + 1024;
		make_options_section(m, "", top, 0, m->nr_cpus, instance ? third : 0);
		if (instance) {
			while (m->out.len < third)
				buf_putc(&m->out, 0);
			make_options_section(m, "instance", instance, m->nr_cpus, m->nr_lanes, 0);
		}
	}
}

static inline void make_file(struct make *m)
{
	struct err err = ERR_INIT;

	if (m->compressor && pack_open(&m->pack, m->compressor, &err))
		abort();
	buf_add(&m->out, "\x17\x08\x44tracing", 10);
	make_text(&m->out, m->version == 6 ? "6" : "7");
	buf_putc(&m->out, m->big_endian);
	buf_putc(&m->out, (char)m->long_size);
	make_length(m, &m->out, 0, m->page_size, 4);
	if (m->version == 6)
		make_v6(m);
	else
		make_v7(m);
	if (buf_failed(&m->out))
		abort();
}

/* Records of some kinds on `lanes` lanes, `pages` pages each, their times woven into each other. */
static inline void make_weave(struct make *m, uint32_t lanes, uint32_t pages, uint64_t start,
			      uint32_t step)
{
	static const uint32_t ids[] = { 1, MAKE_SWITCH, 5, 11, 10, 11, 10 };
	uint8_t record[64];

	for (uint32_t lane = 0; lane < lanes; lane++) {
		uint64_t ts = start + lane * 7, n = 0;

		for (uint32_t page = 0; page < pages; page++) {
			make_page(m, lane, ts);
			for (;;) {
				uint32_t id = ids[n % (m->small ? 2 : 7)];
				uint32_t len = make_record(m, record, id, 20 + (int)(n % 5), n);

				if (!make_event(m, lane, ts, record, len))
					break;
				n++;
				ts += step + (n * 2654435761u >> 28) % step;
			}
		}
	}
}

static inline void make_plain(struct make *m, int version, const char *compressor)
{
	make_begin(m, version, compressor);
	make_weave(m, 4, 3, 1000, 100);
	make_file(m);
}

#endif
