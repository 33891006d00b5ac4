/*
 * Any bytes as a line of synthetic_events and of dynamic_events. See spec.h. The format text must be one.
 */
#include "spec.h"

#include <errno.h>

static void run(bool dynamic, const char *text, size_t len)
{
	struct spec_error error = SPEC_ERROR_INIT;
	struct buf shown = BUF_INIT, second = BUF_INIT, format = BUF_INIT;
	struct spec_synth *synth, *same;
	struct decode_format *parsed;
	struct err err = ERR_INIT;
	bool remove;
	int ret = spec_synth_parse(&synth, &remove, &spec_world, dynamic, text, len, &error);

	if (ret) {
		/* What is not there cannot be removed: that is said without words. */
		if (ret != -ENOENT)
			spec_check_error(&error, ret);
	} else if (!remove) {
		spec_synth_show(synth, dynamic, &shown);
		if (spec_synth_parse(&same, &remove, &spec_world, dynamic, shown.data, shown.len, &error))
			spec_must_be(false, "what is shown is refused", shown.data, error.text);
		spec_synth_show(same, dynamic, &second);
		spec_must_be(spec_synth_same(synth, same) && !strcmp(shown.data, second.data), "shown differently",
			     shown.data, second.data);
		spec_synth_free(same);
		buf_puts(&format, "name: x\nID: 1\nformat:\n");
		spec_synth_format(synth, &format);
		buf_putc(&format, '\n');
		if (decode_format_parse("synthetic", format.data, format.len, NULL, &parsed, &err))
			spec_must_be(false, "the format is none", format.data, err.text);
		decode_format_free(parsed);
	}
	spec_synth_free(synth);
	buf_fini(&shown);
	buf_fini(&second);
	buf_fini(&format);
	spec_error_fini(&error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	spec_setup();
	run(false, (const char *)data, size);
	run(true, (const char *)data, size);
	return 0;
}
