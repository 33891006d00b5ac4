/*
 * base/err: see err.h. Any thread may use it on its own struct; nothing here is for signal handlers.
 */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void set(struct err *err, int code, int pos, const char *fmt, va_list ap)
{
	if (!err || err->code)
		return;
	err->code = code;
	err->pos = pos;
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
}

int err_set(struct err *err, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	set(err, code, -1, fmt, ap);
	va_end(ap);
	return code;
}

int err_set_at(struct err *err, int code, int pos, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	set(err, code, pos, fmt, ap);
	va_end(ap);
	return code;
}

void err_prefix(struct err *err, const char *fmt, ...)
{
	char cause[sizeof(err->text)];
	va_list ap;
	int n;

	if (!err || !err->code)
		return;
	memcpy(cause, err->text, sizeof(cause));
	va_start(ap, fmt);
	n = vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < sizeof(err->text))
		snprintf(err->text + n, sizeof(err->text) - (size_t)n, "%s", cause);
}
