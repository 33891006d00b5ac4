/*
 * Any bytes as the text of a filter and as a record of the event that it is for: parsed, described,
 * compiled in both ways and run. Input:
 *
 *   text NUL record
 *
 * A text that names an event (has a ':' or "s/e" in it) is taken as it is; all else is an
 * expression for the one event there is, which has a field of each kind. The same bytes are a
 * pattern and a glob for the record's.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "expr/filter.h"
#include "expr/pattern.h"
#include "fields.h"

static const char format_text[] =
	FUZZ_FIELDS
	"\tfield:__rel_loc u8[] m;\toffset:52;\tsize:4;\tsigned:0;\n"
	"\tfield:u32 z[];\toffset:56;\tsize:0;\tsigned:0;\n"
	"\nprint fmt: \"\"\n";

static struct decode_format *formats[2];

static void name(void *arg, size_t i, const char **system, const char **event)
{
	(void)arg, (void)i;
	*system = "s";
	*event = "e";
}

static const struct decode_format *format(void *arg, size_t i)
{
	return ((struct decode_format **)arg)[i];
}

static bool symbol(void *arg, int pid, uint64_t addr, struct decode_symbol *out)
{
	(void)arg, (void)pid;
	*out = (struct decode_symbol){ .name = "function" };
	return addr & 1;
}

static const char *comm(void *arg, int pid)
{
	(void)arg;
	return pid & 1 ? "comm" : NULL;
}

static void run(const char *text, unsigned int flags, const uint8_t *rec, size_t len)
{
	const struct filter_world world = { formats, 2, name, format };
	const struct decode_ctx ctx = { .symbol = symbol, .comm = comm };
	struct err err = ERR_INIT;
	struct buf out = BUF_INIT;
	struct filter *filter;

	if (filter_new(&filter, flags))
		return;
	if (!filter_add(filter, text, &world, &err)) {
		filter_describe(filter, &out);
		filter_asks_comm(filter);
		for (size_t cut = len; ; cut /= 2) {
			filter_match(filter, formats[0], rec, cut, 1, 2, &ctx);
			filter_match(filter, formats[1], rec, cut, 1, 2, NULL);
			if (!cut)
				break;
		}
	} else if (!err.text[0] || err.pos < -1 || err.pos > (int)strlen(text)) {
		abort();
	}
	buf_fini(&out);
	filter_free(filter);
}

static void match(const char *text, const uint8_t *rec, size_t len)
{
	struct pattern *pattern;
	struct err err = ERR_INIT;

	if (!expr_pattern_new(text, strlen(text), PATTERN_ANY_CASE, &pattern, &err))
		expr_pattern_match(pattern, rec, len);
	expr_pattern_free(pattern);
	err = (struct err)ERR_INIT;
	if (!expr_pattern_new_glob(text, strlen(text), &pattern, &err))
		expr_pattern_match(pattern, rec, len);
	expr_pattern_free(pattern);
}

static void setup(void)
{
	for (int i = 0; i < 2; i++) {
		struct decode_abi abi = { .big_endian = i, .long_size = i ? 4 : 8 };
		struct err err = ERR_INIT;

		if (decode_format_parse("s", format_text, strlen(format_text), &abi, &formats[i],
					&err))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = memchr(data, 0, size);
	size_t text_len = nul ? (size_t)(nul - data) : size;
	size_t len = nul ? size - text_len - 1 : 0;
	struct buf text = BUF_INIT;
	uint8_t *rec = malloc(len ? len : 1);

	if (!formats[0])
		setup();
	if (!rec)
		return 0;
	if (len)
		memcpy(rec, nul + 1, len);
	buf_puts(&text, "");
	if (!memchr(data, ':', text_len) && !memmem(data, text_len, "s/e", 3))
		buf_puts(&text, "e:");
	buf_add(&text, data, text_len);
	run(text.data, 0, rec, len);
	run(text.data, FILTER_UNSIGNED, rec, len);
	match(text.data, rec, len);
	buf_fini(&text);
	free(rec);
	return 0;
}
