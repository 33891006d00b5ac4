/*
 * base/buf: see buf.h.
 */
#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buf_fini(struct buf *buf)
{
	free(buf->data);
	*buf = (struct buf)BUF_INIT;
}

void buf_reset(struct buf *buf)
{
	buf->len = 0;
	if (buf->data)
		buf->data[0] = '\0';
}

char *buf_grow(struct buf *buf, size_t more)
{
	size_t need = buf->len + more + 1;
	size_t cap = buf->cap ? buf->cap : 256;
	char *data;

	if (buf->failed || need < more)
		goto fail;
	if (need <= buf->cap)
		return buf->data + buf->len;
	while (cap < need)
		cap *= 2;
	data = realloc(buf->data, cap);
	if (!data)
		goto fail;
	buf->data = data;
	buf->cap = cap;
	return buf->data + buf->len;
fail:
	buf->failed = true;
	return NULL;
}

void buf_add(struct buf *buf, const void *bytes, size_t len)
{
	char *end = buf_room(buf, len);

	if (!end)
		return;
	/* Nothing may lie nowhere. */
	if (len)
		memcpy(end, bytes, len);
	end[len] = '\0';
	buf->len += len;
}

void buf_puts(struct buf *buf, const char *text)
{
	buf_add(buf, text, strlen(text));
}

void buf_putc(struct buf *buf, char c)
{
	buf_add(buf, &c, 1);
}

void buf_vprintf(struct buf *buf, const char *fmt, va_list ap)
{
	va_list again;
	char *end;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n < 0)
		return;
	end = buf_room(buf, (size_t)n);
	if (!end)
		return;
	vsnprintf(end, (size_t)n + 1, fmt, ap);
	buf->len += (size_t)n;
}

void buf_printf(struct buf *buf, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(buf, fmt, ap);
	va_end(ap);
}

char *buf_take(struct buf *buf)
{
	char *text;

	if (buf->failed) {
		buf_fini(buf);
		return NULL;
	}
	text = buf->data ? buf->data : strdup("");
	*buf = (struct buf)BUF_INIT;
	return text;
}
