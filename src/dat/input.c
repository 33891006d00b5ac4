/*
 * dat/input: bytes of the file, read or unpacked into memory of our own, of a size that is bounded
 * whatever the file claims. Nothing is mapped: a file that somebody cuts off meanwhile is an error
 * with words, and not a SIGBUS in the program that reads it.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dat/local.h"

#define PIECE 65536

/* What a file says is no command to a terminal. */
static void tame(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 127)
			*text = '?';
}

int dat_bad(const struct dat *dat, struct err *err, int code, uint64_t at, const char *fmt, ...)
{
	char text[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	tame(text);
	return err_set(err, code, "%s: at offset %llu: %s", dat->path, (unsigned long long)at,
		       text);
}

void dat_warn(struct dat *dat, const char *fmt, ...)
{
	char text[600];
	va_list ap;

	if (dat->nr_warnings == DAT_WARNINGS_MAX)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	tame(text);
	dat->warnings[dat->nr_warnings] = strdup(text);
	if (dat->warnings[dat->nr_warnings])
		dat->nr_warnings++;
}

int dat_read(const struct dat *dat, uint64_t at, void *to, size_t len, struct err *err)
{
	size_t done = 0;
	ssize_t n;

	if (at > dat->info.size || len > dat->info.size - at)
		return dat_bad(dat, err, -EBADMSG, at, "%zu bytes are wanted, the file ends at %llu",
			       len, (unsigned long long)dat->info.size);
	while (done < len) {
		n = pread(dat->fd, (char *)to + done, len - done, (off_t)(at + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return dat_bad(dat, err, -errno, at + done, "%s", strerror(errno));
		if (!n)
			return dat_bad(dat, err, -EBADMSG, at + done, "the file has become shorter");
		done += (size_t)n;
	}
	return 0;
}

/* All of the span as it lies there, a NUL behind it. */
static int read_part(const struct dat *dat, const struct span *span, size_t max,
		     struct dat_part *out, struct err *err)
{
	uint8_t *bytes;
	int r;

	if (span->size > max)
		return dat_bad(dat, err, -EBADMSG, span->offset, "a section of %llu bytes",
			       (unsigned long long)span->size);
	bytes = malloc((size_t)span->size + 1);
	if (!bytes)
		return err_set(err, -ENOMEM, "out of memory");
	r = dat_read(dat, span->offset, bytes, (size_t)span->size, err);
	if (r) {
		free(bytes);
		return r;
	}
	bytes[span->size] = '\0';
	*out = (struct dat_part){ bytes, (size_t)span->size };
	return 0;
}

/* The two sizes before a packed section's bytes, checked. */
static int packed_sizes(const struct dat *dat, const struct span *span, size_t max,
			uint32_t *packed, uint32_t *len, struct err *err)
{
	uint8_t sizes[8];
	int r;

	if (span->size < sizeof(sizes))
		return dat_bad(dat, err, -EBADMSG, span->offset, "a packed section of %llu bytes",
			       (unsigned long long)span->size);
	r = dat_read(dat, span->offset, sizes, sizeof(sizes), err);
	if (r)
		return r;
	*packed = (uint32_t)dat_word(dat, sizes, 4);
	*len = (uint32_t)dat_word(dat, sizes + 4, 4);
	if (*packed > span->size - sizeof(sizes) || *len > max || *packed / 2 > (uint64_t)*len + 4096)
		return dat_bad(dat, err, -EBADMSG, span->offset,
			       "a packed section that claims %u bytes, unpacked %u", *packed, *len);
	return 0;
}

int dat_pack_open(const struct dat *dat, uint64_t at, struct pack **out, struct err *err)
{
	struct err why = ERR_INIT;
	int r = pack_open(out, dat->info.compressor, &why);

	return r ? dat_bad(dat, err, r, at, "%s", why.text) : 0;
}

static int unpack(const struct dat *dat, const struct span *span, size_t max,
		  struct dat_part *out, struct err *err)
{
	struct span inner = { .offset = span->offset + 8 };
	struct dat_part from = { 0 };
	struct pack *pack = NULL;
	uint32_t packed = 0, len = 0;
	uint8_t *to;
	long n;
	int r;

	r = packed_sizes(dat, span, max, &packed, &len, err);
	if (!r)
		r = dat_pack_open(dat, span->offset, &pack, err);
	if (r)
		return r;
	inner.size = packed;
	to = malloc((size_t)len + 1);
	if (!to)
		r = err_set(err, -ENOMEM, "out of memory");
	if (!r)
		r = dat_load(dat, &inner, SIZE_MAX, &from, err);
	if (!r) {
		n = pack_expand(pack, from.data, from.len, to, len);
		if (n != (long)len)
			r = dat_bad(dat, err, -EBADMSG, span->offset, "cannot be unpacked");
	}
	dat_part_close(&from);
	pack_close(pack);
	if (r) {
		free(to);
		return r;
	}
	to[len] = '\0';
	*out = (struct dat_part){ to, len };
	return 0;
}

int dat_load(const struct dat *dat, const struct span *span, size_t max, struct dat_part *out,
	     struct err *err)
{
	*out = (struct dat_part){ 0 };
	if (!span->size)
		return 0;
	if (span->offset > dat->info.size || span->size > dat->info.size - span->offset)
		return dat_bad(dat, err, -EBADMSG, span->offset,
			       "a section of %llu bytes, the file ends at %llu",
			       (unsigned long long)span->size, (unsigned long long)dat->info.size);
	return span->packed ? unpack(dat, span, max, out, err) : read_part(dat, span, max, out, err);
}

void dat_part_close(struct dat_part *part)
{
	free((void *)part->data);
	*part = (struct dat_part){ 0 };
}

static int plain_pieces(const struct dat *dat, const struct span *span,
			int (*put)(void *arg, const char *bytes, size_t len), void *arg,
			struct err *err)
{
	char bytes[PIECE];
	uint64_t done = 0;
	size_t n;
	int r = 0;

	for (; !r && done < span->size; done += n) {
		n = span->size - done < PIECE ? (size_t)(span->size - done) : PIECE;
		r = dat_read(dat, span->offset + done, bytes, n, err);
		if (!r)
			r = put(arg, bytes, n);
	}
	return r;
}

int dat_pieces(const struct dat *dat, const struct span *span,
	       int (*put)(void *arg, const char *bytes, size_t len), void *arg, struct err *err)
{
	struct dat_part part;
	int r;

	if (!span->packed)
		return plain_pieces(dat, span, put, arg, err);
	r = dat_load(dat, span, DAT_SECTION_MAX, &part, err);
	if (r)
		return r;
	if (part.len)
		r = put(arg, (const char *)part.data, part.len);
	dat_part_close(&part);
	return r;
}

struct scan scan_part(const struct dat *dat, const struct dat_part *part)
{
	if (!part->len)
		return (struct scan){ .dat = dat, .torn = true };
	return (struct scan){ dat, part->data, part->data + part->len, false };
}

const uint8_t *scan_bytes(struct scan *s, uint64_t len)
{
	const uint8_t *p = s->p;

	if (s->torn || len > (uint64_t)(s->end - p)) {
		s->torn = true;
		return NULL;
	}
	s->p += len;
	return p;
}

uint64_t scan_word(struct scan *s, uint32_t size)
{
	const uint8_t *p = scan_bytes(s, size);

	return p ? dat_word(s->dat, p, size) : 0;
}

const char *scan_string(struct scan *s)
{
	const uint8_t *p = s->p, *nul = s->torn || p == s->end ? NULL :
					memchr(p, 0, (size_t)(s->end - p));

	if (!nul) {
		s->torn = true;
		return "";
	}
	s->p = nul + 1;
	return (const char *)p;
}
