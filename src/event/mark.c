/*
 * event/mark: lines of text, the records that a write to trace_marker makes.
 *
 *   common 8 | ip 8, the marker's own | text, a newline, a NUL, zeros to a multiple of 4
 *
 * Any thread and signal handler, as far as vsnprintf may run there.
 */
#define RINGSIDE_INSIDE
#include <ringside/print.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "event/local.h"
#include "layout/page.h"
#include "layout/registry.h"
#include "runtime/runtime.h"

struct mark {
	struct record_head head;
	uint64_t ip;
};

static bool wanted(void)
{
	return __atomic_load_n(runtime_builtin_hint(EVENT_ID_PRINT), __ATOMIC_RELAXED);
}

/* Ends the text of `len` bytes that is in its place and writes the record; there is room for 2
 * bytes more. */
static void finish(void *record, size_t len)
{
	struct mark *mark = record;
	char *text = (char *)(mark + 1);

	if (!len || text[len - 1] != '\n')
		text[len++] = '\n';
	text[len++] = '\0';
	memset(text + len, 0, -len & 3);
	mark->ip = MARKER_IP;
	runtime_write(EVENT_ID_PRINT, record, sizeof(*mark) + ((len + 3) & ~(size_t)3));
}

static void copy(void *record, const char *text, size_t len)
{
	memcpy((char *)record + sizeof(struct mark), text, len);
	finish(record, len);
}

RINGSIDE_API void ringside_mark(const char *text)
{
	uint64_t small[RINGSIDE_STACK_MAX / 8];
	void *record;
	size_t len;

	if (!wanted())
		return;
	if (!text)
		text = "(null)";
	len = strnlen(text, RUNTIME_RECORD_MAX - sizeof(struct mark) - 2);
	if (len + sizeof(struct mark) + 2 <= sizeof(small)) {
		copy(small, text, len);
		return;
	}
	record = runtime_stage_get();
	if (!record) {
		runtime_lose(EVENT_ID_PRINT);
		return;
	}
	copy(record, text, len);
	runtime_stage_put(record);
}

RINGSIDE_API void ringside_vmarkf(const char *format, va_list args)
{
	const size_t room = RUNTIME_RECORD_MAX - sizeof(struct mark) - 1;
	int saved = errno, n;
	char *record;

	if (!wanted())
		return;
	record = runtime_stage_get();
	if (!record) {
		runtime_lose(EVENT_ID_PRINT);
		return;
	}
	n = vsnprintf(record + sizeof(struct mark), room, format, args);
	finish(record, n < 0 ? 0 : (size_t)n < room ? (size_t)n : room - 1);
	runtime_stage_put(record);
	errno = saved;
}

RINGSIDE_API void ringside_markf(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	ringside_vmarkf(format, args);
	va_end(args);
}
