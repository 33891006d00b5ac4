/*
 * library/hist: the rows of a histogram, out of the text of its file: so it is the same for every tree, the kernel's
 * included.
 *
 *   # trigger info: hist:keys=who,id.hex:vals=hitcount,cents:sort=...
 *   { who: ann        , id: 1f } hitcount:          2  cents:        120
 *
 * Keys' names are taken from the line above, so that a text with a comma in it is not taken for two.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "library/library.h"

#define NAMES_MAX 16

struct name {
	char *text;
	bool is_hex;
};

struct row {
	char *keys[NAMES_MAX];
	uint64_t hits;
	char *values[NAMES_MAX];
};

struct ringside_control_hist {
	char *text;		/* all of it, cut into pieces */
	char *names[2];		/* of keys and values, likewise */
	struct name keys[NAMES_MAX];
	struct name values[NAMES_MAX];	/* but for the hits */
	unsigned int nkeys, nvalues;
	struct row *rows;
	size_t nrows;
	uint64_t hits, drops;
};

/* Where the block of that number begins; its end is cut off. */
static char *find_block(char *text, unsigned int which)
{
	static const char begin[] = "# event histogram\n";
	char *at = strstr(text, begin), *next;

	while (at && which--)
		at = strstr(at + 1, begin);
	next = at ? strstr(at + 1, begin) : NULL;
	if (next)
		*next = '\0';
	return at;
}

/* "a,b.hex,c.buckets=10": names without their modifiers. */
static unsigned int split_names(char *list, struct name names[NAMES_MAX])
{
	unsigned int n = 0;
	char *save;

	for (char *name = strtok_r(list, ",", &save); name && n < NAMES_MAX; name = strtok_r(NULL, ",", &save)) {
		char *dot = strchr(name, '.');

		names[n].is_hex = dot && (!strncmp(dot, ".hex", 4) || !strncmp(dot, ".sym", 4));
		if (dot)
			*dot = '\0';
		names[n++].text = name;
	}
	return n;
}

/* The part of the trigger's text behind `word`. */
static unsigned int read_names(const char *info, const char *word, char **copy, struct name names[NAMES_MAX])
{
	const char *at = strstr(info, word);

	if (!at)
		return 0;
	at += strlen(word);
	*copy = strndup(at, strcspn(at, ": \n"));
	return *copy ? split_names(*copy, names) : 0;
}

static char *trim(char *text)
{
	size_t len;

	text += strspn(text, " \t\n");
	len = strlen(text);
	while (len && strchr(" \t\n", text[len - 1]))
		text[--len] = '\0';
	return text;
}

/* The keys of a row, between its braces. */
static void read_keys(const struct ringside_control_hist *hist, struct row *row, char *text)
{
	for (unsigned int i = 0; i < hist->nkeys && text; i++) {
		char *colon = strstr(text, ":"), *next = NULL;

		if (!colon)
			return;
		text = colon + 1;
		if (i + 1 < hist->nkeys) {
			size_t len = strlen(hist->keys[i + 1].text);

			for (next = strstr(text, ", "); next; next = strstr(next + 1, ", "))
				if (!strncmp(next + 2, hist->keys[i + 1].text, len) && next[2 + len] == ':')
					break;
			if (next)
				*next++ = '\0';
		}
		row->keys[i] = trim(text);
		text = next;
	}
}

static void read_values(const struct ringside_control_hist *hist, struct row *row, char *text)
{
	for (unsigned int i = 0; i < hist->nvalues && text; i++) {
		text = strchr(text, ':');
		if (!text)
			return;
		text += 1 + strspn(text + 1, " ");
		row->values[i] = text;
		text = strchr(text, ' ');
		if (text)
			*text++ = '\0';
	}
}

/* A row begins with a brace; a stack in it has lines of its own. */
static int add_row(struct ringside_control_hist *hist, char *text)
{
	struct row *rows = realloc(hist->rows, (hist->nrows + 1) * sizeof(*rows)), *row;
	char *brace = strstr(text, "} hitcount:"), *hits = brace ? brace + strlen("} hitcount:") : NULL;

	if (!rows)
		return -ENOMEM;
	hist->rows = rows;
	row = &rows[hist->nrows];
	memset(row, 0, sizeof(*row));
	/* A text may have such a brace in it: the last one counts. */
	for (char *more = hits; more && (more = strstr(more, "} hitcount:"));) {
		brace = more;
		more += strlen("} hitcount:");
		hits = more;
	}
	if (!brace)
		return 0;
	*brace = '\0';
	hist->nrows++;
	read_keys(hist, row, text + 1);
	row->hits = strtoull(hits, &hits, 10);
	read_values(hist, row, hits);
	return 0;
}

static uint64_t total(const char *block, const char *word)
{
	const char *at = strstr(block, word);

	return at ? strtoull(at + strlen(word), NULL, 10) : 0;
}

static int read_rows(struct ringside_control_hist *hist, char *block)
{
	char *totals = strstr(block, "\nTotals:\n"), *at, *next;
	int r = 0;

	if (totals) {
		hist->hits = total(totals, "Hits: ");
		hist->drops = total(totals, "Dropped: ");
		*totals = '\0';
	}
	for (at = strstr(block, "\n{ "); at && !r; at = next) {
		next = strstr(at + 1, "\n{ ");
		if (next)
			*next = '\0';
		r = add_row(hist, at + 1);
	}
	return r;
}

static int read_info(struct ringside_control_hist *hist, char *block)
{
	char *info = strstr(block, "# trigger info: "), *end = info ? strchr(info, '\n') : NULL;
	struct name values[NAMES_MAX];
	unsigned int n;

	if (!end)
		return -EBADMSG;
	*end = '\0';
	hist->nkeys = read_names(info, "keys=", &hist->names[0], hist->keys);
	n = read_names(info, ":vals=", &hist->names[1], values);
	*end = '\n';
	for (unsigned int i = 0; i < n; i++)
		if (strcmp(values[i].text, "hitcount"))
			hist->values[hist->nvalues++] = values[i];
	return !hist->names[0] || !hist->names[1] ? -ENOMEM : hist->nkeys ? 0 : -EBADMSG;
}

int ringside_control_hist_read(struct ringside_control_hist **out, struct ringside_control *tree,
			       const struct ringside_control_instance *instance, const char *system, const char *event,
			       unsigned int which)
{
	struct ringside_control_hist *hist = NULL;
	char path[PATH_MAX], *block;
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
	r = library_read(tree, path, &hist->text, NULL);
	if (!r) {
		block = find_block(hist->text, which);
		r = block ? read_info(hist, block) : -ENOENT;
		if (!r)
			r = read_rows(hist, block);
		if (r)
			err_set(&tree->err, r, r == -ENOENT ? "%s: there is no histogram number %u" :
				"%s: histogram number %u cannot be read", path, which);
	}
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
	free(hist->text);
	free(hist->names[0]);
	free(hist->names[1]);
	free(hist->rows);
	free(hist);
}

size_t ringside_control_hist_rows(const struct ringside_control_hist *hist)
{
	return hist->nrows;
}

uint64_t ringside_control_hist_hits(const struct ringside_control_hist *hist)
{
	return hist->hits;
}

uint64_t ringside_control_hist_drops(const struct ringside_control_hist *hist)
{
	return hist->drops;
}

const char *ringside_control_hist_key(const struct ringside_control_hist *hist, unsigned int key)
{
	return key < hist->nkeys ? hist->keys[key].text : NULL;
}

const char *ringside_control_hist_value(const struct ringside_control_hist *hist, unsigned int value)
{
	return value < hist->nvalues ? hist->values[value].text : NULL;
}

const char *ringside_control_hist_row_text(const struct ringside_control_hist *hist, size_t row, unsigned int key)
{
	return row < hist->nrows && key < hist->nkeys ? hist->rows[row].keys[key] : NULL;
}

/* A number and nothing else; or a name and a number in brackets; or, of a symbol, the other way round. */
int ringside_control_hist_row_number(const struct ringside_control_hist *hist, size_t row, unsigned int key,
				     long long *number)
{
	const char *text = ringside_control_hist_row_text(hist, row, key), *bracket;
	char *end;

	if (!text)
		return -ENOENT;
	bracket = hist->keys[key].is_hex ? strchr(text, '[') : strrchr(text, '[');
	if (bracket && (hist->keys[key].is_hex ? strchr(bracket, ']') : text[strlen(text) - 1] == ']' ? bracket : NULL))
		text = bracket + 1;
	if (!strchr("0123456789abcdefABCDEF- ", *text) || !*text)
		return -EINVAL;
	*number = *text == '-' || strchr(text, '-') ? strtoll(text, &end, 10) :
		  (long long)strtoull(text, &end, hist->keys[key].is_hex ? 16 : 10);
	return end != text && (!*end || *end == ']') ? 0 : -EINVAL;
}

uint64_t ringside_control_hist_row_hits(const struct ringside_control_hist *hist, size_t row)
{
	return row < hist->nrows ? hist->rows[row].hits : 0;
}

int ringside_control_hist_row_value(const struct ringside_control_hist *hist, size_t row, unsigned int value,
				    long long *number)
{
	const char *text = row < hist->nrows && value < hist->nvalues ? hist->rows[row].values[value] : NULL;

	if (!text)
		return -ENOENT;
	*number = *text == '-' ? strtoll(text, NULL, 10) :
		  (long long)strtoull(text, NULL, hist->values[value].is_hex ? 16 : 10);
	return 0;
}
