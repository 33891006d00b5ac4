/*
 * Any bytes as a line of an event's `trigger` file. See spec.h.
 */
#include "spec.h"

static struct spec_trigger *again(const char *shown, size_t len, bool remove)
{
	struct spec_error error = SPEC_ERROR_INIT;
	struct spec_trigger *trigger;
	struct buf text = BUF_INIT;

	buf_puts(&text, remove ? "!" : "");
	buf_add(&text, shown, len);
	if (spec_trigger_parse(&trigger, &spec_world, "s", "e", text.data, text.len, &error))
		spec_must_be(false, "what is shown is refused", text.data, error.text);
	buf_fini(&text);
	spec_error_fini(&error);
	return trigger;
}

static void show_again(const struct spec_trigger *trigger)
{
	struct buf shown = BUF_INIT, second = BUF_INIT;
	struct spec_trigger *same;
	size_t len;

	spec_trigger_show(trigger, trigger->count, false, &shown);
	len = shown.len - (trigger->kind == SPEC_HIST ? strlen(" [active]") : 0);
	same = again(shown.data, len, true);
	spec_must_be(spec_trigger_same(trigger, same), "what is shown means something else", shown.data, NULL);
	spec_trigger_free(same);
	if (trigger->kind == SPEC_HIST) {
		same = again(shown.data, len, false);
		spec_trigger_show(same, same->count, false, &second);
		spec_must_be(!strcmp(shown.data, second.data), "shown differently", shown.data, second.data);
		spec_trigger_free(same);
	}
	buf_fini(&shown);
	buf_fini(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct spec_error error = SPEC_ERROR_INIT;
	struct spec_trigger *trigger;
	int ret;

	spec_setup();
	ret = spec_trigger_parse(&trigger, &spec_world, "s", "e", (const char *)data, size, &error);
	if (ret)
		spec_check_error(&error, ret);
	else if (!trigger->remove)
		show_again(trigger);
	spec_trigger_free(trigger);
	spec_error_fini(&error);
	return 0;
}
