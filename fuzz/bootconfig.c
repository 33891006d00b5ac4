/*
 * Any bytes as a bootconfig, and as a histogram that is saved. What is shown of one reads the same again, with and without braces, and
 * what is said of a histogram by keys makes a text again.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boot/config.h"
#include "boot/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must_be(bool is, const char *what, const struct buf *text)
{
	if (is)
		return;
	fprintf(stderr, "%s:\n%s\n", what, text->data ? text->data : "");
	abort();
}

/* One that holds both quotes is shown wrongly by the kernel, too; and empty keys that others stand beside are not shown. */
static bool is_sayable(const struct boot_node *node)
{
	for (const struct boot_node *value = node->value; value; value = value->next)
		if (strchr(value->text, '"') && strchr(value->text, '\''))
			return false;
	for (const struct boot_node *child = node->child; child; child = child->next)
		if (!is_sayable(child))
			return false;
	return true;
}

static void check_shown(const struct boot_config *config)
{
	struct buf tree = BUF_INIT, list = BUF_INIT, again = BUF_INIT;
	struct boot_config *same = NULL;
	struct err err = ERR_INIT;

	boot_config_show(config, &tree);
	boot_config_list(config, &list);
	must_be(!boot_config_parse(&same, tree.data, tree.len, false, &err), "what is shown is refused", &tree);
	boot_config_list(same, &again);
	must_be(list.len == again.len && !memcmp(list.data, again.data, list.len), "what is shown says something else", &tree);
	boot_config_free(same);
	buf_fini(&tree);
	buf_fini(&list);
	buf_fini(&again);
}

static void run_config(const char *text, size_t len, bool bounded)
{
	struct boot_config *config = NULL;
	struct boot_profile profile;
	struct err err = ERR_INIT;
	struct buf words = BUF_INIT;
	unsigned int line, column;

	if (boot_config_parse(&config, text, len, bounded, &err)) {
		buf_puts(&words, err.text);
		must_be(err.text[0] && err.pos >= 0 && (size_t)err.pos <= len, "refused without words or a place", &words);
		boot_text_place(text, len, err.pos, &line, &column);
		buf_fini(&words);
		return;
	}
	if (is_sayable(&config->root))
		check_shown(config);
	if (!boot_profile_make(&profile, config, &err))
		boot_profile_fini(&profile);
	else
		must_be(err.text[0] && err.pos >= 0 && (size_t)err.pos <= len, "keys refused without words or a place", &words);
	boot_config_free(config);
}

/* By keys, to text, and by keys again. */
static void run_hist(const char *text)
{
	struct buf keys = BUF_INIT, config_text = BUF_INIT, again = BUF_INIT;
	struct boot_config *config = NULL;
	struct boot_profile profile;
	struct err err = ERR_INIT;

	if (boot_hist_keys(text, "\t", &keys)) {
		buf_printf(&config_text, "ftrace.event.a.b.hist {\n%s}\n", keys.data);
		if (!boot_config_parse(&config, config_text.data, config_text.len, false, &err) &&
		    !boot_profile_make(&profile, config, &err)) {
			must_be(profile.n == 1 && boot_hist_keys(profile.steps[0].text, "\t", &again), "the keys make no histogram",
				&config_text);
			boot_profile_fini(&profile);
		}
		boot_config_free(config);
	}
	buf_fini(&keys);
	buf_fini(&config_text);
	buf_fini(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);

	run_config((const char *)data, size, true);
	run_config((const char *)data, size, false);
	run_hist(text);
	(void)boot_hist_needs(text, text, "a", "b");
	free(text);
	return 0;
}
