/*
 * Formats and records made to hurt: nested, repeated, oversized. Each must be refused or printed
 * within a bound of text, stack and time; and the text of a record that ends early stays in the
 * record.
 */
#include <time.h>

#include "event.h"

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void repeat(struct buf *b, const char *text, size_t n)
{
	while (n--)
		buf_puts(b, text);
}

static void hurt(const char *what, struct buf *fmt)
{
	struct decode_format *f = sample_format(fmt->data);
	struct sample r = sample_record();
	struct buf out = BUF_INIT;
	double start = now();

	decode_print(f, &r, sizeof(r), NULL, &out);
	if (!out.len || out.len > DECODE_TEXT_MAX + 20 || now() - start > 2) {
		printf("%s: %zu bytes in %f s\n", what, out.len, now() - start);
		failures++;
	}
	buf_fini(&out);
	buf_fini(fmt);
	decode_format_free(f);
}

/* "HEAD" + n * OPEN + MIDDLE + n * CLOSE + TAIL. */
static void nest(const char *head, const char *open, const char *middle, const char *close,
		 const char *tail)
{
	static const size_t sizes[] = {10, 90, 150, 300, 100000};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct buf b = BUF_INIT;

		if (sizes[i] * (strlen(open) + strlen(close)) > DECODE_FORMAT_MAX - 4096)
			continue;
		buf_puts(&b, head);
		repeat(&b, open, sizes[i]);
		buf_puts(&b, middle);
		repeat(&b, close, sizes[i]);
		buf_puts(&b, tail);
		hurt(open, &b);
	}
}

static void records_cut(void)
{
	static const char fmt[] =
		"\"%d %s %s %s %s %s %pI6 %pU %s %*pb %*ph %lx %f\", REC->s64, REC->name, "
		"__get_str(text), __print_array(REC->arr, 4, 4), "
		"__print_hex(__get_dynamic_array(nums), 99), "
		"__get_bitmask(mask), REC->arr, REC->arr, __print_array(__get_dynamic_array(mask),"
		" 9, 8), "
		"500, REC->mac, 64, REC->mac, ((u64 *)__get_dynamic_array(mask))[1], REC->d";
	struct decode_format *f = sample_format(fmt);
	struct sample r = sample_record();
	static const uint32_t locations[] = {0, 0xffffffff, 0xffff0000, 0xffff,
					     0x00080000 | (sizeof(r) - 4)};

	check(f->prog);
	for (size_t l = 0; l < sizeof(locations) / sizeof(locations[0]); l++) {
		r = sample_record();
		if (locations[l])
			r.text = r.mask = r.nums = locations[l];
		for (size_t len = 0; len <= sizeof(r); len++) {
			struct buf out = BUF_INIT;
			uint8_t *copy = malloc(len ? len : 1);

			memcpy(copy, &r, len);
			decode_print(f, copy, len, NULL, &out);
			decode_print_fields(f, copy, len, NULL, &out);
			check(out.len > 40 && out.len < 8192);
			buf_fini(&out);
			free(copy);
		}
	}
	decode_format_free(f);
}

int main(void)
{
	struct buf b = BUF_INIT;

	nest("\"%d\", ", "(", "REC->u8", ")", "");
	nest("\"%d\", ", "-", "REC->u8", "", "");
	nest("\"%d\", ", "(int)", "REC->u8", "", "");
	nest("\"%d\", ", "!(", "REC->u8", ")", "");
	nest("\"%d\", ", "(REC->yes ? ", "REC->u8", " : 1)", "");
	nest("\"%d\", ", "REC->yes ? 1 : ", "REC->u8", "", "");
	nest("\"%d\", ", "(", "REC->u8", " ?: 1)", "");
	nest("\"%d\", ", "(", "REC->u64", " ?: 1u)", "");
	nest("\"%d\", ", "REC->u8 + ", "1", "", "");
	nest("\"%d\", ", "", "REC->u8", " + REC->u8", "");
	nest("\"%d\", ", "REC->arr[", "0", "]", "");
	nest("\"%d\", ", "sizeof(", "REC->u8", ")", "");
	nest("\"%d\", ", "__builtin_expect(", "REC->u8", ", 1)", "");
	nest("\"%s\", ", "__print_symbolic(1, { ", "1", ", \"a\" })", "");
	nest("\"", "%d", "\"", ", 1", "");
	nest("\"", "%s", "\"", ", REC->name", "");
	nest("\"", "%9999d", "\"", ", 1", "");
	nest("\"%s\", __print_flags(-1, \"|\"", ", { 1, \"a\" }", "", "", ")");

	/* A separator of 100 kB between flags. */
	buf_puts(&b, "\"%s\", __print_flags(-1, \"");
	repeat(&b, "x", 100000);
	buf_puts(&b, "\"");
	repeat(&b, ", { 0, \"a\" }", 50000);
	buf_puts(&b, ")");
	hurt("separator", &b);
	buf_puts(
		&b,
		"\"%2000000000d %.2000000000d %*d %999.999999f %-99999s|\", 1, 2, 2000000000, 3, "
		"REC->d, \"x\"");
	hurt("width", &b);
	buf_puts(&b, "\"%pppppppppppppppppppppppppppppp %pSSSSSSSSSSSSSSSS\", REC->ptr, REC->ptr");
	hurt("letters", &b);
	records_cut();
	return failures ? 1 : 0;
}
