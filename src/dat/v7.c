/*
 * dat/v7: version 7 is made of sections, each with a header:
 *
 *   id (2) | flags (2) | name (4) | size (8) | payload
 *
 * The file's header has the offset of the first section of options; the last option of each has that
 * of the next. Options say where all other sections are.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dat/local.h"
#include "dat/seven.h"

#define CHAIN_MAX 4096	/* sections of options; each must lie behind the one before */

/* Where a section is, or would be, among those that were found. */
static size_t place_of(const struct dat *dat, uint64_t at)
{
	size_t i = dat->nr_sections;

	while (i && dat->sections[i - 1].at >= at)
		i--;
	return i;
}

/* Keeps a section that was not met before; of more than CHAIN_MAX the rest is not kept. */
static struct dat_section *keep(struct dat *dat, const struct dat_section *section)
{
	size_t i = place_of(dat, section->at);
	struct dat_section *more;

	if (i < dat->nr_sections && dat->sections[i].at == section->at)
		return &dat->sections[i];
	if (dat->nr_sections == CHAIN_MAX)
		return NULL;
	more = realloc(dat->sections, (dat->nr_sections + 1) * sizeof(*more));
	if (!more)
		return NULL;
	dat->sections = more;
	memmove(&more[i + 1], &more[i], (dat->nr_sections - i) * sizeof(*more));
	more[i] = *section;
	dat->nr_sections++;
	return &more[i];
}

/* The head at `at`, and the two sizes behind that of a packed one. */
static int read_section(const struct dat *dat, uint64_t at, struct dat_section *out,
			struct err *err)
{
	uint8_t head[SEVEN_HEAD], sizes[8];
	int r = dat_read(dat, at, head, sizeof(head), err);

	if (r)
		return r;
	*out = (struct dat_section){
		.id = (uint16_t)dat_word(dat, head, 2),
		.flags = (uint16_t)dat_word(dat, head + 2, 2),
		.name = (uint32_t)dat_word(dat, head + 4, 4),
		.at = at,
		.size = dat_word(dat, head + 8, 8),
	};
	out->is_packed = out->flags & SEVEN_PACKED && out->id != DAT_BUFFER &&
			 out->id != DAT_BUFFER_TEXT;
	if (!out->is_packed || dat_read(dat, at + SEVEN_HEAD, sizes, sizeof(sizes), NULL))
		return 0;
	out->packed = (uint32_t)dat_word(dat, sizes, 4);
	out->unpacked = (uint32_t)dat_word(dat, sizes + 4, 4);
	return 0;
}

/* The section at `at`, which must be one of `id`. */
static int section(struct dat *dat, uint64_t at, uint16_t id, struct span *out, struct err *err)
{
	struct dat_section found;
	int r = read_section(dat, at, &found, err);

	if (r)
		return r;
	if (found.id != id)
		return dat_bad(dat, err, -EBADMSG, at, "a section %u, where %u is wanted", found.id,
			       id);
	keep(dat, &found);
	*out = (struct span){
		.offset = at + SEVEN_HEAD,
		.size = found.size,
		.is_there = true,
		.packed = found.flags & SEVEN_PACKED,
	};
	return 0;
}

/* Tells the section of options at `at` that it was read, and what comes behind it. */
static void chain(struct dat *dat, uint64_t at, uint64_t next)
{
	size_t i = place_of(dat, at);

	if (i == dat->nr_sections || dat->sections[i].at != at)
		return;
	dat->sections[i].chained = true;
	dat->sections[i].next = next;
}

/* One section of options. *next is the offset of the following one, 0: none. */
static int one_options(struct dat *dat, uint64_t at, uint64_t *next, struct err *err)
{
	struct span span;
	struct dat_part part;
	struct scan s;
	int r = section(dat, at, DAT_DONE, &span, err);

	*next = 0;
	if (!r)
		r = dat_load(dat, &span, DAT_LIST_MAX - dat->options_read, &part, err);
	if (r)
		return r;
	dat->options_read += part.len;
	s = scan_part(dat, &part);
	while (!r && s.p != s.end) {
		uint16_t id = (uint16_t)scan_word(&s, 2);
		uint32_t len = (uint32_t)scan_word(&s, 4);
		const uint8_t *value = scan_bytes(&s, len);

		if (!value) {
			r = dat_bad(dat, err, -EBADMSG, at, "an option longer than its section");
		} else if (id == DAT_DONE) {
			*next = len >= 8 ? dat_word(dat, value, 8) : 0;
			break;
		} else {
			r = dat_add_option(dat, id, value, len,
					   span.packed ? at : span.offset +
					   (uint64_t)(value - part.data), err);
			if (!r)
				dat_place_option(dat, at);
		}
	}
	dat_part_close(&part);
	chain(dat, at, *next);
	return r;
}

/*
 * A file whose writer was killed, or that was cut off, ends within the chain: what came before it
 * stands.
 */
static int all_options(struct dat *dat, uint64_t at, struct err *err)
{
	struct err why = ERR_INIT;
	uint64_t next;
	int r = one_options(dat, at, &next, err);

	for (int i = 0; !r && next; i++) {
		uint64_t here = next;

		if (here <= at || i == CHAIN_MAX) {
			dat_warn(dat, "%s: at offset %llu: options that lead back to %llu", dat->path,
				 (unsigned long long)at, (unsigned long long)here);
			break;
		}
		if (one_options(dat, here, &next, &why)) {
			dat_warn(dat, "%s", why.text);
			break;
		}
		at = here;
	}
	return r;
}

/* Sections whose options only tell their offset. One that cannot be found is done without. */
static void find_part(struct dat *dat, const struct dat_option *o)
{
	struct err why = ERR_INIT;

	if (o->len < 8)
		dat_bad(dat, &why, -EBADMSG, o->at, "an option without an offset");
	else
		section(dat, dat_word(dat, o->data, 8), o->id, &dat->parts[o->id], &why);
	if (*why.text)
		dat_warn(dat, "%s", why.text);
}

static int cpu_table(struct dat *dat, struct scan *s, struct dat_buffer *buffer,
		     const struct dat_option *o, struct err *err)
{
	uint32_t nr = (uint32_t)scan_word(s, 4);
	struct dat_cpu *cpus, *table;

	if (s->torn || nr > (size_t)(s->end - s->p) / 20)
		return dat_bad(dat, err, -EBADMSG, o->at, "a table of %u CPUs that ends early", nr);
	buffer->cpus = cpus = calloc(nr ? nr : 1, sizeof(*cpus));
	buffer->table = table = calloc(nr ? nr : 1, sizeof(*table));
	if (!cpus || !table)
		return err_set(err, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < nr; i++) {
		cpus[i].cpu = (int)scan_word(s, 4);
		cpus[i].offset = scan_word(s, 8);
		cpus[i].size = scan_word(s, 8);
		table[i] = cpus[i];
	}
	buffer->nr_table = buffer->nr_cpus = nr;
	return 0;
}

static int text_span(struct dat_buffer *buffer, const struct span *span, struct err *err)
{
	struct dat_cpu *cpu = calloc(1, sizeof(*cpu));

	if (!cpu)
		return err_set(err, -ENOMEM, "out of memory");
	*cpu = (struct dat_cpu){ 0, span->offset, span->size };
	buffer->cpus = cpu;
	buffer->nr_cpus = 1;
	buffer->is_text = true;
	return 0;
}

/* A page size of the buffer's own must be one. */
static int page_size(struct dat *dat, const struct dat_buffer *buffer, uint64_t at,
		     struct err *err)
{
	uint32_t size = buffer->page_size;

	if (size >= 64 && size <= DAT_PAGE_MAX && !(size & (size - 1)))
		return 0;
	return dat_bad(dat, err, -EBADMSG, at, "a page size of %u", size);
}

static int one_buffer(struct dat *dat, const struct dat_option *o, struct err *err)
{
	struct scan s = { dat, o->data, o->data + o->len, false };
	struct dat_buffer buffer = { .section = scan_word(&s, 8) };
	struct span span = { 0 };
	int r;

	buffer.name = strdup(scan_string(&s));
	buffer.clock = strdup(scan_string(&s));
	r = s.torn ? dat_bad(dat, err, -EBADMSG, o->at, "a buffer's option that ends early") : 0;
	if (!r && (!buffer.name || !buffer.clock))
		r = err_set(err, -ENOMEM, "out of memory");
	if (!r)
		r = section(dat, buffer.section, o->id, &span, err);
	if (!r && o->id == DAT_BUFFER_TEXT) {
		buffer.page_size = dat->info.page_size;
		r = text_span(&buffer, &span, err);
	} else if (!r) {
		buffer.page_size = (uint32_t)scan_word(&s, 4);
		r = page_size(dat, &buffer, o->at, err);
		if (!r)
			r = cpu_table(dat, &s, &buffer, o, err);
	}
	buffer.packed = span.packed;
	if (!r)
		r = dat_add_buffer(dat, &buffer, err);
	if (r)
		dat_free_buffer(&buffer);
	return r;
}

/* One that makes no sense is done without, unless it is the only one. */
static int buffer_or_warning(struct dat *dat, const struct dat_option *o, struct err *err)
{
	struct err why = ERR_INIT;
	int r = one_buffer(dat, o, &why);

	if (r == -ENOMEM)
		return err_set(err, r, "%s", why.text);
	if (r) {
		dat_warn(dat, "%s", why.text);
		dat->no_buffer = why;
	}
	return 0;
}

/*
 * The strings lie in sections that no option leads to: sections stand one behind the other, so all
 * can be found.
 */
static void find_sections(struct dat *dat, uint64_t at)
{
	struct dat_section found;

	for (int i = 0; i < CHAIN_MAX; i++) {
		if (read_section(dat, at, &found, NULL))
			return;
		keep(dat, &found);
		if (found.id == DAT_STRINGS && !dat->parts[DAT_STRINGS].is_there)
			section(dat, at, DAT_STRINGS, &dat->parts[DAT_STRINGS], NULL);
		if (found.size > dat->info.size - at - SEVEN_HEAD)
			return;
		at += SEVEN_HEAD + found.size;
	}
}

int dat_strings(const struct dat *dat, struct buf *out, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < dat->nr_sections && !r; i++) {
		const struct dat_section *s = &dat->sections[i];
		struct span span = { s->at + SEVEN_HEAD, s->size, true, s->is_packed };
		struct dat_part part;

		if (s->id != DAT_STRINGS)
			continue;
		if (out->len > DAT_LIST_MAX)
			return dat_bad(dat, err, -EBADMSG, s->at, "too many strings");
		r = dat_load(dat, &span, DAT_LIST_MAX, &part, err);
		if (r)
			break;
		if (part.len)
			buf_add(out, part.data, part.len);
		dat_part_close(&part);
	}
	return r;
}

/* Does a file whose first section is this one tell that it grows? */
static bool does_grow(const struct dat *dat, uint64_t at)
{
	struct dat_section first;
	char mark[SEVEN_GROWS_SIZE];

	return !read_section(dat, at, &first, NULL) && first.id == DAT_STRINGS && first.size >= sizeof(mark) &&
	       first.size < UINT32_MAX &&
	       !dat_read(dat, at + SEVEN_HEAD + first.size - sizeof(mark), mark, sizeof(mark), NULL) &&
	       !memcmp(mark, SEVEN_GROWS, sizeof(mark));
}

int dat_open_v7(struct dat *dat, uint64_t at, struct err *err)
{
	uint8_t word[8];
	int r = dat_read(dat, at, word, sizeof(word), err);

	dat->grows = !r && does_grow(dat, at + sizeof(word));
	if (!r)
		r = all_options(dat, dat_word(dat, word, 8), err);
	if (dat->grows)
		dat_measure(dat);
	for (size_t i = 0; !r && i < dat->nr_options; i++) {
		const struct dat_option *o = &dat->options[i];

		if ((o->id >= DAT_HEADER_INFO && o->id <= DAT_CMDLINES) || o->id == DAT_BTF ||
		    o->id == DAT_MODULES)
			find_part(dat, o);
		else if (o->id == DAT_BUFFER || o->id == DAT_BUFFER_TEXT)
			r = buffer_or_warning(dat, o, err);
	}
	if (!r && !dat->nr_buffers && dat->no_buffer.code)
		r = err_set(err, dat->no_buffer.code, "%s", dat->no_buffer.text);
	dat_count_cpus(dat);
	if (!r)
		find_sections(dat, at + sizeof(word));
	return r;
}
