/*
 * library/hist: the rows of a histogram, out of the text of its file (hist/text), as the public names have them.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "hist/text.h"
#include "library/library.h"

struct ringside_control_hist {
	struct hist_text text;
};

static bool is_hex(const struct hist_text_name *name)
{
	return !strncmp(name->how, "hex", 3) || !strncmp(name->how, "sym", 3);
}

int ringside_control_hist_read(struct ringside_control_hist **out, struct ringside_control *tree,
			       const struct ringside_control_instance *instance, const char *system, const char *event,
			       unsigned int which)
{
	struct ringside_control_hist *hist = NULL;
	char path[PATH_MAX], *text = NULL;
	int r = library_begin(tree);

	*out = NULL;
	if (!r)
		r = library_check_name(tree, system ? system : "", "a system");
	if (!r)
		r = library_check_name(tree, event ? event : "", "an event");
	if (!r)
		r = library_path(tree, instance, path, "events/%s/%s/hist", system, event);
	if (r)
		return r;
	hist = calloc(1, sizeof(*hist));
	if (!hist)
		return err_set(&tree->err, -ENOMEM, "out of memory");
	r = library_read(tree, path, &text, NULL);
	if (!r) {
		r = hist_text_read(&hist->text, text, which);
		if (r)
			err_set(&tree->err, r, r == -ENOENT ? "%s: there is no histogram number %u" :
				"%s: histogram number %u cannot be read", path, which);
	}
	free(text);
	if (r)
		ringside_control_hist_free(hist);
	else
		*out = hist;
	return r;
}

void ringside_control_hist_free(struct ringside_control_hist *hist)
{
	if (!hist)
		return;
	hist_text_fini(&hist->text);
	free(hist);
}

size_t ringside_control_hist_rows(const struct ringside_control_hist *hist)
{
	return hist->text.nrows;
}

uint64_t ringside_control_hist_hits(const struct ringside_control_hist *hist)
{
	return hist->text.hits;
}

uint64_t ringside_control_hist_drops(const struct ringside_control_hist *hist)
{
	return hist->text.drops;
}

const char *ringside_control_hist_key(const struct ringside_control_hist *hist, unsigned int key)
{
	return key < hist->text.nkeys ? hist->text.keys[key].text : NULL;
}

const char *ringside_control_hist_value(const struct ringside_control_hist *hist, unsigned int value)
{
	return value < hist->text.nvalues ? hist->text.values[value].text : NULL;
}

const char *ringside_control_hist_row_text(const struct ringside_control_hist *hist, size_t row, unsigned int key)
{
	return row < hist->text.nrows && key < hist->text.nkeys ? hist->text.rows[row].keys[key] : NULL;
}

/* A number and nothing else; or a name and a number in brackets; or, of a symbol, the other way round. */
int ringside_control_hist_row_number(const struct ringside_control_hist *hist, size_t row, unsigned int key,
				     long long *number)
{
	const char *text = ringside_control_hist_row_text(hist, row, key), *bracket;
	char *end;

	if (!text)
		return -ENOENT;
	bracket = is_hex(&hist->text.keys[key]) ? strchr(text, '[') : strrchr(text, '[');
	if (bracket && (is_hex(&hist->text.keys[key]) ? strchr(bracket, ']') : text[strlen(text) - 1] == ']' ? bracket : NULL))
		text = bracket + 1;
	if (!strchr("0123456789abcdefABCDEF- ", *text) || !*text)
		return -EINVAL;
	*number = *text == '-' || strchr(text, '-') ? strtoll(text, &end, 10) :
		  (long long)strtoull(text, &end, is_hex(&hist->text.keys[key]) ? 16 : 10);
	return end != text && (!*end || *end == ']') ? 0 : -EINVAL;
}

uint64_t ringside_control_hist_row_hits(const struct ringside_control_hist *hist, size_t row)
{
	return row < hist->text.nrows ? hist->text.rows[row].hits : 0;
}

int ringside_control_hist_row_value(const struct ringside_control_hist *hist, size_t row, unsigned int value,
				    long long *number)
{
	const char *text = row < hist->text.nrows && value < hist->text.nvalues ? hist->text.rows[row].values[value] : NULL;

	if (!text)
		return -ENOENT;
	*number = *text == '-' ? strtoll(text, NULL, 10) :
		  (long long)strtoull(text, NULL, is_hex(&hist->text.values[value]) ? 16 : 10);
	return 0;
}
