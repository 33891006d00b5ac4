/*
 * Any bytes as a line of dynamic_events that makes a probe of any kind. See spec.h. The format text must be one, and an event that has
 * this point cannot have it twice.
 */
#include "spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct spec_error error = SPEC_ERROR_INIT;
	struct buf shown = BUF_INIT, second = BUF_INIT, format = BUF_INIT;
	struct spec_probe *probe, *same;
	struct decode_format *parsed;
	struct err err = ERR_INIT;
	int ret;

	spec_setup();
	ret = spec_probe_parse(&probe, &spec_world, 'd', (const char *)data, size, &error);
	if (ret) {
		spec_check_error(&error, ret);
	} else {
		spec_probe_show(probe, &shown);
		if (spec_probe_parse(&same, &spec_world, 'd', shown.data, shown.len, &error))
			spec_must_be(false, "what is shown is refused", shown.data, error.text);
		spec_probe_show(same, &second);
		spec_must_be(!strcmp(shown.data, second.data), "shown differently", shown.data, second.data);
		spec_must_be(spec_probe_join(same, probe, &error) == -EEXIST, "it is there twice", shown.data, NULL);
		spec_probe_free(same);
		buf_puts(&format, "name: x\nID: 1\nformat:\n");
		spec_probe_format(probe, &format);
		buf_putc(&format, '\n');
		if (decode_format_parse("eprobes", format.data, format.len, NULL, &parsed, &err))
			spec_must_be(false, "the format is none", format.data, err.text);
		decode_format_free(parsed);
	}
	spec_probe_free(probe);
	buf_fini(&shown);
	buf_fini(&second);
	buf_fini(&format);
	spec_error_fini(&error);
	return 0;
}
