/*
 * base/buf: bytes that grow. The string in it is always NUL-terminated, so `data` may be printed once anything
 * was added. A failed allocation latches: later additions do nothing and buf_failed() tells.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct buf {
	char *data;
	size_t len;
	size_t cap;
	bool failed;
};

#define BUF_INIT { NULL, 0, 0, false }

void buf_fini(struct buf *buf);
/* Empties it and keeps the memory. */
void buf_reset(struct buf *buf);
/* Makes room for `more` further bytes; NULL when memory is out. Returns the end of the data. */
char *buf_grow(struct buf *buf, size_t more);
static inline char *buf_room(struct buf *buf, size_t more)
{
	if (buf->len < buf->cap && more < buf->cap - buf->len && !buf->failed)
		return buf->data + buf->len;
	return buf_grow(buf, more);
}
void buf_add(struct buf *buf, const void *bytes, size_t len);
void buf_puts(struct buf *buf, const char *text);
void buf_putc(struct buf *buf, char c);
void buf_printf(struct buf *buf, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *buf, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
/* The text is now yours to free(); the buf is empty. NULL when an allocation failed. */
char *buf_take(struct buf *buf);

static inline bool buf_failed(const struct buf *buf)
{
	return buf->failed;
}

#endif
