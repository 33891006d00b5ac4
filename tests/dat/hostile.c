/*
 * Trace files that were made to hurt: options that lead in circles, bombs, counts of 4 billion,
 * formats of a megabyte, times that stand still or go back, text that is a command to a terminal.
 * Each is read as far as it goes, or refused with the place, soon, and within a bounded address
 * space.
 */
#include "dat/make.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "dat/child.h"
#include "dat/local.h"

/* A file is refused, or not, with these words in what is said of it. */
static void says(const struct make *m, bool refused, const char *words)
{
	struct err err = ERR_INIT;
	struct dat *dat;
	bool found;

	child_put_all(&m->out);
	child_look();
	CHECK(!dat_open(&dat, child_path, &err) == !refused, "%s: %s", child->words, err.text);
	found = strstr(err.text, words);
	for (size_t i = 0; dat && dat_warning(dat, i); i++)
		found |= !!strstr(dat_warning(dat, i), words);
	CHECK(found, "%s: it does not say '%s', but '%s' and '%s'", child->words, words, err.text,
	      dat && dat_warning(dat, 0) ? dat_warning(dat, 0) : "");
	CHECK(!refused || strstr(err.text, "at offset"), "%s: no offset: %s", child->words, err.text);
	dat_close(dat);
}

static struct walk_count counted(const struct make *m)
{
	child_put_all(&m->out);
	return child_look();
}

static struct make plain(int version)
{
	struct make m;

	make_plain(&m, version, NULL);
	return m;
}

static void set_spot(struct make *m, size_t i, uint64_t value)
{
	make_set(m, m->out.data + m->spots[i].at, value, m->spots[i].size);
}

/* Version 7's first words: the page size, then where the options are. */
enum { PAGE_SIZE_SPOT, OPTIONS_SPOT };

/* A section of options that has only the way to the next one. */
static void link_section(struct make *m, uint64_t next)
{
	size_t at = make_section(m, DAT_DONE, false);

	make_word(m, &m->out, 0, 2);
	make_word(m, &m->out, 8, 4);
	make_word(m, &m->out, next, 8);
	make_section_end(m, at);
}

static void chains(void *arg)
{
	struct make m = plain(7);
	uint64_t options = decode_abi_load(m.out.data + m.spots[OPTIONS_SPOT].at, 8, false), at;

	(void)arg;
	HERE("options that lead to themselves");
	at = m.out.len;
	link_section(&m, at);
	set_spot(&m, OPTIONS_SPOT, at);
	says(&m, true, "header_page");
	HERE("options that lead back");
	at = m.out.len;
	link_section(&m, options);
	set_spot(&m, OPTIONS_SPOT, at);
	says(&m, true, "header_page");
	HERE("options that are the file's first bytes");
	set_spot(&m, OPTIONS_SPOT, 0);
	says(&m, true, "a section");
	HERE("options without an end");
	at = m.out.len;
	for (int i = 0; i < 70000; i++)
		link_section(&m, m.out.len + 30);
	set_spot(&m, OPTIONS_SPOT, at);
	says(&m, true, "header_page");
	make_end(&m);
}

static void many(void *arg)
{
	struct make m;
	struct walk_count n;

	(void)arg;
	for (int version = 6; version <= 7; version++) {
		HERE("version %d: 70000 options", version);
		make_begin(&m, version, NULL);
		make_weave(&m, 2, 2, 1000, 100);
		for (int i = 0; i < 70000; i++)
			make_option(&m, &m.extra, SIZE_MAX, DAT_CPUSTAT, "CPU: 0\n", 8);
		make_file(&m);
		says(&m, true, "more than 65536 options");
		make_end(&m);
	}
	HERE("70000 options not known to anybody, of no bytes");
	make_begin(&m, 7, NULL);
	make_weave(&m, 2, 2, 1000, 100);
	for (int i = 0; i < 60000; i++)
		make_option(&m, &m.extra, SIZE_MAX, 999, "", 0);
	make_file(&m);
	n = counted(&m);
	CHECK(!n.opened && n.records > 20, "%s", n.err.text);
	make_end(&m);
}

static void sizes(void *arg)
{
	static const uint64_t pages[] = { 0, 1, 3, 32, 4097, (uint64_t)1 << 31, UINT32_MAX };
	struct make m;

	(void)arg;
	for (int version = 6; version <= 7; version++)
		for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
			HERE("version %d: a page size of %llx", version, (unsigned long long)pages[i]);
			m = plain(version);
			set_spot(&m, PAGE_SIZE_SPOT, pages[i]);
			says(&m, true, "page size");
			make_end(&m);
		}
	HERE("4 billion CPUs");
	m = plain(6);
	for (size_t i = 0; i < m.out.len - 14; i++)
		if (!memcmp(m.out.data + i + 4, "options  ", 10))
			make_set(&m, m.out.data + i, UINT32_MAX, 4);
		else if (m.out.data[i] == DAT_CPUCOUNT && !memcmp(m.out.data + i, "\x08\0\x04\0\0\0", 6))
			make_set(&m, m.out.data + i + 6, UINT32_MAX, 4);
	says(&m, true, "a table of 4294967295 CPUs");
	make_end(&m);
}

/* Many CPUs whose data is the same bytes. */
static void overlap(void *arg)
{
	struct buf value = BUF_INIT;
	struct walk_count n;
	struct make m;

	(void)arg;
	make_begin(&m, 7, NULL);
	make_weave(&m, 2, 3, 1000, 100);
	make_file(&m);
	HERE("20000 CPUs that share their data");
	make_word(&m, &value, 0, 8);
	make_text(&value, "shared");
	make_text(&value, "mono");
	make_word(&m, &value, m.page_size, 4);
	make_word(&m, &value, 20000, 4);
	for (uint32_t i = 0; i < 20000; i++) {
		make_word(&m, &value, i, 4);
		make_word(&m, &value, m.lane_at[0], 8);
		make_word(&m, &value, m.page_size, 8);
	}
	/* The buffer's own section is the first two bytes that read as one. */
	for (size_t i = 0; i < m.out.len - 16; i++)
		if (!memcmp(m.out.data + i, "\3\0\0\0\xff\xff\xff\xff", 8)) {
			make_set(&m, value.data, i, 8);
			break;
		}
	make_end(&m);
	make_begin(&m, 7, NULL);
	make_weave(&m, 2, 3, 1000, 100);
	make_option(&m, &m.extra, SIZE_MAX, DAT_BUFFER, value.data, value.len);
	make_file(&m);
	n = counted(&m);
	CHECK(!n.opened && n.warnings, "%s", n.err.text);
	make_end(&m);
	buf_fini(&value);
}

/* As many CPUs as a machine may have, each with a page of its own. */
static void many_cpus(void *arg)
{
	const uint32_t nr = 16000;
	struct walk_count n;
	uint64_t data = 0;
	struct make m;

	(void)arg;
	HERE("%u CPUs", nr);
	/* Twice: where their pages lie is known when the file is made. */
	for (int pass = 0; pass < 2; pass++) {
		struct buf value = BUF_INIT;

		make_begin(&m, 7, NULL);
		make_weave(&m, 2, 3, 1000, 100);
		make_word(&m, &value, 0, 8);
		make_text(&value, "many");
		make_text(&value, "mono");
		make_word(&m, &value, m.page_size, 4);
		make_word(&m, &value, nr, 4);
		for (uint32_t i = 0; i < nr; i++) {
			make_word(&m, &value, i, 4);
			make_word(&m, &value, data + (uint64_t)i * m.page_size, 8);
			make_word(&m, &value, m.page_size, 8);
		}
		make_option(&m, &m.extra, SIZE_MAX, DAT_BUFFER, value.data, value.len);
		buf_fini(&value);
		make_file(&m);
		if (!pass) {
			data = m.out.len + 16;
			make_end(&m);
		}
	}
	for (size_t i = 0; i + 13 < m.out.len; i++)
		if (!memcmp(m.out.data + i, "many\0mono", 10))
			make_set(&m, m.out.data + i - 8, m.out.len, 8);
	make_section(&m, DAT_BUFFER, false);
	for (uint32_t i = 0; i < nr; i++)
		buf_add(&m.out, m.lanes[0].data, m.page_size);
	n = counted(&m);
	CHECK(!n.opened && n.records > nr * 5, "%s: %llu records", n.err.text,
	      (unsigned long long)n.records);
	make_end(&m);
}

/* The first chunk of a packed file, and its sizes, become others. */
static void put_chunk(struct make *m, const void *plain_bytes, size_t len, uint32_t claims)
{
	uint64_t at = m->lane_at[0];
	size_t bound = pack_bound(m->pack, len);
	uint8_t *room = malloc(bound);
	long n = pack_shrink(m->pack, plain_bytes, len, room, bound);
	struct buf tail = BUF_INIT;

	CHECK(n > 0, "%ld", n);
	/* Lane 0 moves behind everything, where there is room. */
	make_word(m, &tail, 1, 4);
	make_word(m, &tail, (uint64_t)n, 4);
	make_word(m, &tail, claims, 4);
	buf_add(&tail, room, (size_t)n);
	for (size_t i = 0; i < m->out.len - 20; i++)
		if (decode_abi_load(m->out.data + i, 8, false) == at &&
		    decode_abi_load(m->out.data + i + 8, 8, false) == m->lane_size[0]) {
			make_set(m, m->out.data + i, m->out.len, 8);
			make_set(m, m->out.data + i + 8, tail.len - 4, 8);
		}
	buf_add(&m->out, tail.data, tail.len);
	buf_fini(&tail);
	free(room);
}

/* A packed file with options that are not: their words can be found. */
static struct make packed_file(const char *compressor)
{
	struct make m;

	make_begin(&m, 7, compressor);
	m.plain_options = true;
	make_weave(&m, 2, 3, 1000, 100);
	make_file(&m);
	return m;
}

static void bombs(void *arg)
{
	const size_t len = 12 << 20;
	uint8_t *zeros = calloc(1, len);
	struct walk_count n, before;
	struct make m;

	CHECK(zeros, "no memory");
	m = packed_file(arg);
	before = counted(&m);
	HERE("%s: a chunk that becomes more than it claims", (const char *)arg);
	put_chunk(&m, zeros, len, 4096);
	n = counted(&m);
	CHECK(!n.opened && n.warnings && n.records && n.records < before.records, "%s", n.err.text);
	make_end(&m);
	HERE("%s: a chunk that becomes less than it claims", (const char *)arg);
	m = packed_file(arg);
	put_chunk(&m, zeros, 4096, 8 << 20);
	n = counted(&m);
	CHECK(!n.opened && n.warnings && n.records, "%s", n.err.text);
	make_end(&m);
	HERE("%s: a chunk that cannot be unpacked, before others", (const char *)arg);
	m = packed_file(arg);
	memset(m.out.data + m.lane_at[0] + 4 + 8, 0x55, 12);
	n = counted(&m);
	CHECK(!n.opened && n.warnings && n.records > before.records / 2, "%llu of %llu records",
	      (unsigned long long)n.records, (unsigned long long)before.records);
	CHECK(n.lanes == 2, "%u lanes have records", n.lanes);
	make_end(&m);
	HERE("%s: a chunk of 12 MB without an event", (const char *)arg);
	m = packed_file(arg);
	put_chunk(&m, zeros, len, (uint32_t)len);
	n = counted(&m);
	CHECK(!n.opened && n.records, "%s", n.err.text);
	make_end(&m);
	free(zeros);
}

/* 40000 chunks of 12 MB each: half a terabyte. */
static void many_bombs(void *arg)
{
	const size_t len = 12 << 20;
	uint8_t *zeros = calloc(1, len), *room;
	struct make m = packed_file(arg);
	size_t bound = pack_bound(m.pack, len), at;
	struct buf chunk = BUF_INIT;
	struct walk_count n;
	long packed;

	HERE("%s: half a terabyte of nothing", (const char *)arg);
	room = malloc(bound);
	CHECK(zeros && room, "no memory");
	put_chunk(&m, zeros, len, (uint32_t)len);
	packed = pack_shrink(m.pack, zeros, len, room, bound);
	make_word(&m, &chunk, (uint64_t)packed, 4);
	make_word(&m, &chunk, len, 4);
	buf_add(&chunk, room, (size_t)packed);
	/* Behind the one that is there; the CPU's size and its number of chunks follow. */
	at = m.out.len - (12 + (size_t)packed);
	for (int i = 0; i < 2000; i++)
		buf_add(&m.out, chunk.data, chunk.len);
	make_set(&m, m.out.data + at, 40000, 4);
	for (size_t i = 0; i < at; i++)
		if (decode_abi_load(m.out.data + i, 8, false) == at)
			make_set(&m, m.out.data + i + 8, m.out.len - at - 4, 8);
	n = counted(&m);
	CHECK(!n.opened && n.records && n.warnings, "%s", n.err.text);
	make_end(&m);
	buf_fini(&chunk);
	free(zeros);
	free(room);
}

/* A format of about a megabyte, of an event that thousands of records are of. */
static void long_format(bool valid, size_t len)
{
	struct buf text = BUF_INIT;
	struct walk_count n;
	struct make m;

	make_begin(&m, 7, NULL);
	m.page_size = 4096;
	make_format(&m, &text, "switch_again", 300);
	while (text.len < len)
		if (valid)
			buf_printf(&text, "# %zu is no field\n", text.len);
		else
			buf_printf(&text, "\tfield:int field_%zu;\toffset:8;\tsize:4;\tsigned:1;\n", text.len);
	if (!valid)
		buf_puts(&text, "\tfield:int;\toffset:-;\tsize:x;\n");
	m.more_format = text.data;
	m.more_format_len = text.len;
	m.renamed = true;
	make_weave(&m, 2, 40, 1000, 100);
	make_file(&m);
	n = counted(&m);
	CHECK(!n.opened && n.records > 3000, "%s", n.err.text);
	make_end(&m);
	buf_fini(&text);
}

static void formats(void *arg)
{
	struct make m;

	(void)arg;
	HERE("a format of 1 MB");
	long_format(true, (1 << 20) - 100);
	HERE("a format of 1 MB that cannot be parsed");
	long_format(false, (1 << 20) - 100);
	HERE("a format of 2 MB");
	long_format(true, 2 << 20);
	HERE("an ID of more than 16 bits");
	make_begin(&m, 6, NULL);
	m.more_format = "name: wide\nID: 65836\nformat:\n";
	m.more_format_len = strlen(m.more_format);
	make_weave(&m, 2, 2, 1000, 100);
	make_file(&m);
	says(&m, false, "a format without a name and an ID");
	make_end(&m);
	HERE("two events of one ID");
	make_begin(&m, 6, NULL);
	m.more_format = "name: twin\nID: 300\nformat:\n";
	m.more_format_len = strlen(m.more_format);
	make_weave(&m, 2, 2, 1000, 100);
	make_file(&m);
	CHECK(counted(&m).records > 20, "no records");
	make_end(&m);
}

static void long_lines(void *arg)
{
	struct buf text = BUF_INIT;
	struct decode_symbol symbol;
	struct err err = ERR_INIT;
	struct dat *dat;
	struct make m;

	(void)arg;
	buf_puts(&text, "ffffffff81000000 T ");
	for (int i = 0; i < 1 << 20; i++)
		buf_putc(&text, 'a' + i % 26);
	buf_puts(&text, "\nffffffff81000100 T short\nffffffff81000200 T last\n");
	for (int version = 6; version <= 7; version++) {
		HERE("version %d: a symbol of 1 MB", version);
		make_begin(&m, version, NULL);
		m.kallsyms = text.data;
		make_weave(&m, 2, 2, 1000, 100);
		make_file(&m);
		counted(&m);
		CHECK(!dat_open(&dat, child_path, &err), "%s", err.text);
		CHECK(dat_symbol(dat, 0, 0xffffffff81000010, &symbol) && strlen(symbol.name) < 2000,
		      "the long one");
		CHECK(dat_symbol(dat, 0, 0xffffffff81000110, &symbol) && !strcmp(symbol.name, "short"),
		      "the one behind it");
		dat_close(dat);
		make_end(&m);
	}
	buf_fini(&text);
}

/* What those see of /proc/kallsyms who may not: all at 0. */
static void hidden_symbols(void *arg)
{
	struct buf text = BUF_INIT;
	struct decode_symbol symbol;
	struct err err = ERR_INIT;
	uint64_t addr;
	struct dat *dat;
	struct make m;
	size_t nr = 0;

	(void)arg;
	HERE("400000 symbols at 0");
	for (int i = 0; i < 400000; i++)
		buf_printf(&text, "0 t f%d\n", i);
	buf_puts(&text, "1000 t above\n");
	make_begin(&m, 6, NULL);
	m.kallsyms = text.data;
	make_weave(&m, 2, 2, 1000, 100);
	make_file(&m);
	counted(&m);
	CHECK(!dat_open(&dat, child_path, &err), "%s", err.text);
	for (; dat_symbol_at(dat, nr, &addr, &symbol); nr++)
		CHECK(addr || symbol.size == 0x1000, "a size of %llx", (unsigned long long)symbol.size);
	CHECK(nr == 400001, "%zu symbols", nr);
	dat_close(dat);
	make_end(&m);
	buf_fini(&text);
}

/* Times of a lane: all the same, going back, or both; `pages` pages of two records. */
static void odd_times(int how, uint32_t pages, uint64_t until)
{
	uint32_t seed = 5, made = 0;
	struct replay_record rec;
	struct err err = ERR_INIT;
	struct replay *replay;
	uint64_t nr = 0, last = 0;
	uint8_t record[64];
	struct dat *dat;
	struct make m;
	int r;

	make_begin(&m, 6, NULL);
	for (uint32_t lane = 0; lane < 2; lane++)
		for (uint32_t i = 0; i < pages; i++) {
			uint32_t len = make_record(&m, record, MAKE_SWITCH, 30, i);

			seed = seed * 1664525 + 1013904223;
			make_page(&m, lane, how == 0 ? 5000 : how == 1 ? 5000 + (seed >> 20) : 5000 - i % 5000);
			if (how == 3)
				make_stamp(&m, lane, 31, seed >> 12);
			made += make_event(&m, lane, m.ts, record, len);
			made += make_event(&m, lane, m.ts + 3, record, len);
		}
	make_file(&m);
	counted(&m);
	CHECK(!dat_open(&dat, child_path, &err) && !replay_new(&replay), "%s", err.text);
	CHECK(!replay_add(replay, dat, &(struct replay_times){ .raw = true }, NULL, NULL, &err), "%s",
	      err.text);
	replay_until(replay, until);
	while ((r = replay_next(replay, &rec, &err)) == 1) {
		nr++;
		CHECK(how || rec.ts >= last, "%llu after %llu", (unsigned long long)rec.ts,
		      (unsigned long long)last);
		last = how ? 0 : rec.ts - 3;
	}
	CHECK(!r && (until != UINT64_MAX || nr == made), "%llu of %u records: %s",
	      (unsigned long long)nr, made, err.text);
	replay_free(replay);
	dat_close(dat);
	make_end(&m);
}

static void times(void *arg)
{
	static const char *const names[] = { "stand still", "leap", "go back", "are stamps that leap" };

	(void)arg;
	for (int how = 0; how < 4; how++)
		for (int u = 0; u < 3; u++) {
			HERE("times that %s over thousands of pages, until %d", names[how], u);
			odd_times(how, 12000, u ? 4000 + (uint64_t)u * 1000 : UINT64_MAX);
		}
}

static void commits(void *arg)
{
	static const uint64_t lies[] = { 497, 4096, 0x07ffffff, 0x80000000, 0xc0000000, 0xc00001f0,
					 0xffffffff80000010, UINT64_MAX, 3 };
	struct walk_count before, n;
	struct make m = plain(6);

	(void)arg;
	HERE("undamaged pages");
	before = counted(&m);
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		HERE("a page that has %llx bytes", (unsigned long long)lies[i]);
		make_set(&m, m.out.data + m.lane_at[0] + 8, lies[i], 8);
		n = counted(&m);
		CHECK(!n.opened && n.records && n.records <= before.records, "%s", n.err.text);
	}
	make_end(&m);
}

/* What becomes shorter while it is read ends there, with a warning. */
static void shrinking(void *arg)
{
	struct err err = ERR_INIT;
	struct replay_record rec;
	struct replay *replay;
	struct dat *dat;
	struct make m;
	int r = 0, nr = 0;

	(void)arg;
	for (int version = 6; version <= 7; version++) {
		HERE("version %d: a file that shrinks", version);
		alarm(CHILD_SECONDS);
		make_begin(&m, version, NULL);
		m.page_size = 4096;
		make_weave(&m, 2, 500, 1000, 100);
		make_file(&m);
		child_put_all(&m.out);
		CHECK(!dat_open(&dat, child_path, &err) && !replay_new(&replay), "%s", err.text);
		CHECK(!replay_add(replay, dat, NULL, NULL, NULL, &err), "%s", err.text);
		for (nr = 0; nr < 100; nr++)
			CHECK(replay_next(replay, &rec, &err) == 1, "%s", err.text);
		CHECK(!ftruncate(child_file, 3000), "%s", strerror(errno));
		for (; (r = replay_next(replay, &rec, &err)) == 1; nr++)
			CHECK(rec.len, "an empty record");
		CHECK(!r && replay_warning(replay, 0) &&
		      strstr(replay_warning(replay, 0), "become shorter"), "%d %s", r, err.text);
		for (size_t i = 0; i < dat_nr_events(dat); i++)
			CHECK(dat_event_format(dat, i, &err), "%s", err.text);
		replay_free(replay);
		dat_close(dat);
		make_end(&m);
	}
}

static void holes(void *arg)
{
	struct make m = plain(6);
	struct walk_count n;
	size_t i;

	(void)arg;
	HERE("a CPU of a terabyte of nothing");
	for (i = 0; decode_abi_load(m.out.data + i, 8, false) != m.lane_at[0] ||
		    decode_abi_load(m.out.data + i + 8, 8, false) != m.lane_size[0]; i++)
		;
	make_set(&m, m.out.data + i, m.out.len, 8);
	make_set(&m, m.out.data + i + 8, (uint64_t)1 << 40, 8);
	child_put_all(&m.out);
	CHECK(!ftruncate(child_file, (off_t)1 << 41), "%s", strerror(errno));
	n = child_look();
	CHECK(!n.opened && n.records && n.warnings, "%s", n.err.text);
	make_end(&m);
}

static void waiting(void *arg)
{
	const char *scratch = getenv("RINGSIDE_SCRATCH");
	struct err err = ERR_INIT;
	struct dat *dat;
	char path[4096];

	(void)arg;
	HERE("a FIFO that nobody writes to");
	alarm(CHILD_SECONDS);
	snprintf(path, sizeof(path), "%s/hostile-fifo.%d", scratch ? scratch : "/tmp", getpid());
	CHECK(!mkfifo(path, 0600), "%s", strerror(errno));
	CHECK(dat_open(&dat, path, &err) == -EINVAL && strstr(err.text, "regular"), "%s", err.text);
	unlink(path);
}

static void tame(void *arg)
{
	struct err err = ERR_INIT;
	struct make m = plain(6);
	struct dat *dat;

	(void)arg;
	HERE("a version that is a command to a terminal");
	memcpy(m.out.data + 10, "\033[2J\r\n", 7);
	child_put_all(&m.out);
	CHECK(dat_open(&dat, child_path, &err), "it opens");
	for (const char *p = err.text; *p; p++)
		CHECK((unsigned char)*p >= ' ', "byte %x is said", *p);
	make_end(&m);
}

/* Records of few bytes that print many: a run puts them out as they come. */
static void long_text(void *arg, void *own, const struct replay_record *rec, struct buf *out)
{
	char *room = buf_room(out, 65536);

	(void)arg, (void)own, (void)rec;
	if (!room)
		return;
	memset(room, 'x', 65536);
	out->len += 65536;
}

static int count_bytes(void *arg, const char *bytes, size_t len)
{
	(void)bytes;
	*(uint64_t *)arg += len;
	return 0;
}

static void texts(void *arg)
{
	uint64_t bytes = 0, records;
	struct replay_job job = { .arg = &bytes, .record = long_text, .put = count_bytes };
	struct err err = ERR_INIT;
	struct replay *replay;
	struct dat *dat;
	struct make m;

	(void)arg;
	HERE("records that print 64 KB each");
	make_begin(&m, 6, NULL);
	m.page_size = 4096;
	make_weave(&m, 2, 60, 1000, 100);
	make_file(&m);
	records = counted(&m).put;
	for (unsigned int threads = 1; threads <= 3; threads += 2) {
		bytes = 0;
		CHECK(!dat_open(&dat, child_path, &err) && !replay_new(&replay), "%s", err.text);
		CHECK(!replay_add(replay, dat, NULL, NULL, NULL, &err), "%s", err.text);
		CHECK(!replay_run(replay, &job, threads, &err), "%s", err.text);
		CHECK(bytes == records * 65536, "%llu bytes of %llu records",
		      (unsigned long long)bytes, (unsigned long long)records);
		replay_free(replay);
		dat_close(dat);
	}
	make_end(&m);
}

int main(void)
{
	static const struct {
		const char *name;
		void (*cases)(void *arg);
	} all[] = {
		{ "chains of options", chains }, { "many options", many }, { "sizes", sizes },
		{ "overlaps", overlap }, { "many CPUs", many_cpus },
		{ "formats", formats }, { "long lines", long_lines },
		{ "hidden symbols", hidden_symbols },
		{ "times", times }, { "commits", commits }, { "shrinking", shrinking },
		{ "holes", holes }, { "waiting", waiting }, { "tame", tame }, { "texts", texts },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		child_run(all[i].name, all[i].cases, NULL);
	for (size_t i = 0; pack_name(i); i++) {
		child_run("bombs", bombs, (void *)(uintptr_t)pack_name(i));
		child_run("many bombs", many_bombs, (void *)(uintptr_t)pack_name(i));
	}
	return 0;
}
