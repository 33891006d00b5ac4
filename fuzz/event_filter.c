/*
 * Filters as event files take them. The first byte of the input says how the rest is read:
 *
 *   even   any bytes as the text, twice: for an event that is there and for one that is still to come. What is accepted
 *          verifies and runs; what is refused says why, and where in the text.
 *   odd    choices of a walk (tests/trigger/walk.h): a filter is made of them, and the compiled program has to say what the
 *          walk says.
 */
#include <stdint.h>

#include "../tests/trigger/walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool function(void *arg, const char *name, uint64_t *start, uint64_t *end)
{
	(void)arg;
	*start = 100;
	*end = 200;
	return name[0] == 'f' || name[0] == '1';
}

static void run(const struct decode_format *format, const char *text, size_t len, bool anything)
{
	const struct spec_world world = { .function = function, .anything = anything };
	struct program_field fields[PROGRAM_FIELDS_MAX];
	struct walk_record record;
	struct walk w = { .choices = (const uint8_t *)text, .n = len };
	struct program_input in = { .rec = &record, .len = sizeof(record), .cpu = WALK_CPU, .fields = fields, .comm = WALK_COMM };
	struct spec_error error = SPEC_ERROR_INIT;
	const char *body = strchr(walk_format, '\t');
	struct buf out = BUF_INIT;

	walk_fill(&w, &record);
	if (!spec_filter_compile(&world, anything ? NULL : format, text, len, &out, &error)) {
		if (!program_verify(out.data, out.len))
			abort();
		if (program_link(out.data, out.len, body, strlen(body), fields) < 0 && !anything)
			abort();
		program_test(out.data, out.len, &in);
		in.len /= 2;
		program_test(out.data, out.len, &in);
	/* The kernel's caret counts from 1, and from behind a brace that is not there. */
	} else if (!error.text[0] || !error.code || out.len || error.pos > len + 2) {
		abort();
	}
	buf_fini(&out);
	spec_error_fini(&error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct decode_format *format;
	char *copy;

	if (!format)
		format = walk_parse();
	if (!size)
		return 0;
	if (data[0] & 1) {
		if (!walk_compare(format, data + 1, size - 1))
			abort();
		return 0;
	}
	copy = malloc(size);
	if (!copy)
		return 0;
	memcpy(copy, data + 1, size - 1);
	run(format, copy, size - 1, false);
	run(format, copy, size - 1, true);
	free(copy);
	return 0;
}
