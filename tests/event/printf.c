/*
 * ringside_printf: what is stored of the format, and how the arguments are packed. And marks.
 */
#define MOCK_MAIN
#include "event/mock.h"

#include <errno.h>
#include <ringside/print.h>

#define PRINT 5
#define BPRINT 6

static char long_text[6000];

/* The format of the record, as it was stored. */
static const char *format_of(const struct mock_record *r)
{
	uint64_t i = (mock_u64(r, 16) - MOCK_FORMATS) / 16;

	if (i < mock_nformats)
		return mock_formats[i];
	printf("FAIL the record has no format\n");
	exit(1);
}

static uint32_t at;

static const struct mock_record *begin(const char *format)
{
	const struct mock_record *r = mock_take();

	CHECK(r->id == BPRINT, "%u", r->id);
	CHECK(!strcmp(format_of(r), format), "\"%s\", where \"%s\" was expected", format_of(r), format);
	at = 24;
	return r;
}

static void word(const struct mock_record *r, uint32_t value)
{
	at = (at + 3) & ~3u;
	CHECK(at + 4 <= r->len && mock_u32(r, at) == value, "at %u: %#x", at, mock_u32(r, at));
	at += 4;
}

static void wide(const struct mock_record *r, uint64_t value)
{
	at = (at + 3) & ~3u;
	CHECK(at + 8 <= r->len && mock_u64(r, at) == value, "at %u: %#llx", at,
	      (unsigned long long)mock_u64(r, at));
	at += 8;
}

static void string(const struct mock_record *r, const char *text)
{
	CHECK(!strcmp((const char *)r->data + at, text), "at %u: \"%s\"", at, (const char *)r->data + at);
	at += (uint32_t)strlen(text) + 1;
}

static void end(const struct mock_record *r)
{
	for (; at % 4; at++)
		CHECK(!r->data[at], "byte %u is not 0", at);
	CHECK(r->len == at, "%u bytes, where %u were expected", r->len, at);
}

static void check_integers(void)
{
	const struct mock_record *r;

	ringside_printf("%d %u %x\n", -1, 2u, 3u);
	r = begin("%d %u %x\n");
	word(r, (uint32_t)-1);
	word(r, 2);
	word(r, 3);
	end(r);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat"
	ringside_printf("%hhd %hu %hhu %hd", 300, (unsigned short)5, 300, 70000);
#pragma GCC diagnostic pop
	r = begin("%d %u %u %d\n");
	word(r, 44);
	word(r, 5);
	word(r, 44);
	word(r, 4464);
	end(r);
	ringside_printf("%ld %lu %lld %zu %jd %td %i", -2l, 3ul, -4ll, (size_t)5, (intmax_t)-6,
			(ptrdiff_t)7, 8);
	r = begin("%ld %lu %lld %zu %lld %ld %i\n");
	wide(r, (uint64_t)-2);
	wide(r, 3);
	wide(r, (uint64_t)-4);
	wide(r, 5);
	wide(r, (uint64_t)-6);
	wide(r, 7);
	word(r, 8);
	end(r);
	ringside_printf("%5d|%-*d|%08lx|100%%", 1, 9, 2, 3ul);
	r = begin("%5d|%-*d|%08lx|100%%\n");
	word(r, 1);
	word(r, 9);
	word(r, 2);
	wide(r, 3);
	end(r);
}

static void check_others(void)
{
	const struct mock_record *r;
	const char *volatile none = NULL;
	double d = 2.5;
	uint64_t bits;

	memcpy(&bits, &d, 8);
	ringside_printf("%s=%d %c %s", "key", 7, 'x', none);
	r = begin("%s=%d %s %s\n");
	string(r, "key");
	word(r, 7);
	string(r, "x");
	string(r, "(null)");
	end(r);
	ringside_printf("%.2f %g %p", 2.5, 2.5f, (void *)0x1234);
	r = begin("%.2f %g %p\n");
	wide(r, bits);
	wide(r, bits);
	wide(r, 0x1234);
	end(r);
	ringside_printf("%.3s %.*s %-10.*s|", "abcdef", 2, "xyz", -1, "all");
	r = begin("%.3s %.*s %-10.*s|\n");
	string(r, "abc");
	word(r, 2);
	string(r, "xy");
	word(r, (uint32_t)-1);
	string(r, "all");
	end(r);
	ringside_printf("no arguments");
	end(begin("no arguments\n"));
}

/* What readers could not make out is formatted at once. */
static void check_on_the_spot(void)
{
	const struct mock_record *r;

	errno = ENOENT;
	ringside_printf("%m %d", 5);
	CHECK(errno == ENOENT, "errno %d", errno);
	r = begin("%s");
	string(r, "No such file or directory 5\n");
	end(r);
	ringside_printf("%Lg %d\n", 1.5L, 6);
	r = begin("%s");
	string(r, "1.5 6\n");
	end(r);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
	ringside_printf("%2$d %1$d", 1, 2);
#pragma GCC diagnostic pop
	r = begin("%s");
	string(r, "2 1\n");
	end(r);
	ringside_printf("%m %s", long_text);
	r = begin("%s");
	CHECK(r->len == RUNTIME_RECORD_MAX && r->data[r->len - 2] == '\n' && !r->data[r->len - 1], "cut");
}

static void check_long(void)
{
	const struct mock_record *r;

	/* More than fits on the stack. */
	long_text[400] = '\0';
	ringside_printf("%s %d", long_text, 11);
	r = begin("%s %d\n");
	string(r, long_text);
	word(r, 11);
	end(r);
	/* More than fits into a record: the number behind it is kept. */
	long_text[400] = 'a';
	ringside_printf("%s %d", long_text, 12);
	r = begin("%s %d\n");
	CHECK(r->len > 3900, "%u", r->len);
	at = 24 + (uint32_t)strlen((const char *)r->data + 24) + 1;
	word(r, 12);
	end(r);
}

static void check_site(void)
{
	uint32_t before = mock_nformats;

	for (int i = 0; i < 3; i++) {
		const struct mock_record *r;

		ringside_printf("turn %d", i);
		r = begin("turn %d\n");
		CHECK(mock_u64(r, 8) - MOCK_BIAS - (uint64_t)(uintptr_t)check_site < 4096,
		      "ip is not in this function");
		CHECK(!strcmp(mock_functions[(mock_u64(r, 16) - MOCK_FORMATS) / 16], "check_site"),
		      "the function's name");
	}
	CHECK(mock_nformats == before, "%u formats, and %u before", mock_nformats, before);
	mock_builtin[BPRINT] = 0;
	ringside_printf("turn %d", 5);
	CHECK(!mock_nrecords, "printed while nobody wants it");
}

static void check_mark(const char *text)
{
	const struct mock_record *r = mock_take();

	CHECK(r->id == PRINT && mock_u64(r, 8) == (1ull << 62) + 16, "%u", r->id);
	CHECK(!strcmp((const char *)r->data + 16, text), "\"%.100s\"", (const char *)r->data + 16);
	CHECK(r->len == (16 + strlen(text) + 1 + 3) / 4 * 4, "%u", r->len);
}

static void check_marks(void)
{
	static char expected[RUNTIME_RECORD_MAX];

	ringside_mark("nobody listens");
	CHECK(!mock_nrecords, "marked while nobody wants it");
	mock_builtin[PRINT] = 1;
	ringside_mark("hello");
	check_mark("hello\n");
	ringside_mark("line\n");
	check_mark("line\n");
	ringside_mark("");
	check_mark("\n");
	ringside_mark(NULL);
	check_mark("(null)\n");
	ringside_markf("%d %s", 42, "x");
	check_mark("42 x\n");
	ringside_markf("%s", "");
	check_mark("\n");
	memset(expected, 'a', sizeof(expected));
	strcpy(expected + RUNTIME_RECORD_MAX - 18, "\n");
	ringside_mark(long_text);
	check_mark(expected);
	ringside_markf("%s", long_text);
	check_mark(expected);
	strcpy(expected + 238, "\n");
	ringside_mark(long_text + sizeof(long_text) - 239);
	check_mark(expected);
	mock_stages = 0;
	ringside_mark(long_text);
	ringside_markf("x");
	CHECK(!mock_nrecords && mock_lost == 2, "%u lost", mock_lost);
	mock_stages = 4;
}

int main(void)
{
	memset(long_text, 'a', sizeof(long_text) - 1);
	CHECK(mock_nformats > 10, "%u formats were registered before main", mock_nformats);
	mock_builtin[BPRINT] = 1;
	check_integers();
	check_others();
	check_on_the_spot();
	check_long();
	check_site();
	check_marks();
	return mock_failures != 0;
}
