/*
 * hist/text: see text.h. Pure.
 *
 *   # trigger info: hist:keys=who,id.hex:vals=hitcount,cents:sort=...
 *   { who: ann        , id: 1f } hitcount:          2  cents:        120
 *   	max:         70  id:          4
 *
 * Names are taken from the line above, so that a text with a comma in it is not taken for two.
 */
#include "hist/text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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

/* "a,b.hex,c.buckets=10" */
static unsigned int split_names(char *list, struct hist_text_name names[HIST_TEXT_NAMES])
{
	unsigned int n = 0;
	char *save;

	for (char *name = strtok_r(list, ",", &save); name && n < HIST_TEXT_NAMES; name = strtok_r(NULL, ",", &save)) {
		char *dot = strchr(name, '.');

		if (dot)
			*dot++ = '\0';
		names[n++] = (struct hist_text_name){ name, dot ? dot : "", false };
	}
	return n;
}

/* The part of the trigger's text behind `word`. */
static unsigned int read_names(const char *info, const char *word, char **copy, struct hist_text_name names[HIST_TEXT_NAMES])
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

/*
 * What is behind a name that stands here, or NULL: "NAME:", of a share "NAME (%):", of quantiles "NAME p50:", of a stack
 * "NAME.stacktrace". Who asked for cpu gets that, under a line that says common_cpu.
 */
static char *behind_name(char *at, const char *name)
{
	size_t len = strlen(name);

	if (!strcmp(name, "common_cpu") && !strncmp(at, "cpu:", 4))
		return at + 4;
	if (strncmp(at, name, len))
		return NULL;
	at += len;
	if (*at == ':')
		return at + 1;
	if (!strncmp(at, " (%):", 5))
		return at + 5;
	if (!strncmp(at, " p50:", 5))
		return at + 1;
	return !strncmp(at, ".stacktrace", 11) ? at + 11 : NULL;
}

/* The first name, or the last, with `before` in front of it; NULL. */
static char *find_name(char *text, const char *before, const char *name, bool last)
{
	char *found = NULL;

	for (char *at = strstr(text, before); at && (last || !found); at = strstr(at + 1, before))
		if (behind_name(at + strlen(before), name))
			found = at;
	return found;
}

/* Texts behind their names, each up to the next name. The first name is there; of others some may be missing. */
static void cut(char *text, const char *before, const struct hist_text_name *names, unsigned int n, char **to)
{
	char *begin[HIST_TEXT_NAMES] = { text }, *at = text + 1;

	for (unsigned int i = 1; i < n; i++) {
		begin[i] = find_name(at, before, names[i].text, false);
		if (begin[i])
			at = begin[i] + 1;
	}
	for (unsigned int i = 0; i < n; i++)
		if (begin[i])
			*begin[i]++ = '\0';
	for (unsigned int i = 0; i < n; i++) {
		at = begin[i] ? behind_name(begin[i] + strspn(begin[i], " "), names[i].text) : NULL;
		to[i] = at ? trim(at) : NULL;
	}
}

static bool is_hits(const struct hist_text_name *name)
{
	return !strcmp(name->text, "hitcount") && !*name->how;
}

/* A row begins with a brace; a stack in it has lines of its own. `all` are its values as they stand there. */
static int add_row(struct hist_text *hist, char *text, const struct hist_text_name *all, unsigned int nall)
{
	struct hist_text_row *rows = realloc(hist->rows, (hist->nrows + 1) * sizeof(*rows)), *row;
	char *values[HIST_TEXT_NAMES] = { NULL }, *brace, *below;
	unsigned int n = 0;

	if (!rows)
		return -ENOMEM;
	hist->rows = rows;
	row = &rows[hist->nrows];
	memset(row, 0, sizeof(*row));
	/* A text may have such a brace in it: the last one counts. */
	brace = find_name(text, is_hits(&all[0]) ? "} " : "}  ", all[0].text, true);
	if (!brace)
		return 0;
	*brace = '\0';
	hist->nrows++;
	below = strstr(brace + 1, "\n\t");
	if (below) {
		*below = '\0';
		row->below = trim(below + 1);
	}
	cut(text, ", ", hist->keys, hist->nkeys, row->keys);
	cut(brace, "  ", all, nall, values);
	for (unsigned int i = 0; i < nall; i++) {
		if (is_hits(&all[i]))
			row->hits = values[i] ? strtoull(values[i], NULL, 10) : 0;
		else
			row->values[n++] = values[i];
	}
	return 0;
}

static uint64_t total(const char *block, const char *word)
{
	const char *at = strstr(block, word);

	return at ? strtoull(at + strlen(word), NULL, 10) : 0;
}

static int read_rows(struct hist_text *hist, char *block, const struct hist_text_name *all, unsigned int nall)
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
		r = add_row(hist, at + 1, all, nall);
	}
	return r;
}

static int read_block(struct hist_text *hist, char *block)
{
	char *info = strstr(block, "# trigger info: "), *end = info ? strchr(info, '\n') : NULL;
	struct hist_text_name all[HIST_TEXT_NAMES];
	unsigned int n;

	if (!end)
		return -EBADMSG;
	*end = '\0';
	hist->nkeys = read_names(info, "keys=", &hist->names[0], hist->keys);
	n = read_names(info, ":vals=", &hist->names[1], all);
	*end = '\n';
	if (!hist->names[0] || !hist->names[1])
		return -ENOMEM;
	if (!hist->nkeys || !n)
		return -EBADMSG;
	for (unsigned int i = 0; i < n; i++)
		if (!is_hits(&all[i]))
			hist->values[hist->nvalues++] = all[i];
	return read_rows(hist, block, all, n);
}

int hist_text_read(struct hist_text *hist, const char *text, unsigned int which)
{
	char *block;

	*hist = (struct hist_text){ .text = strdup(text) };
	if (!hist->text)
		return -ENOMEM;
	block = find_block(hist->text, which);
	return block ? read_block(hist, block) : -ENOENT;
}

void hist_text_fini(struct hist_text *hist)
{
	free(hist->text);
	free(hist->names[0]);
	free(hist->names[1]);
	free(hist->rows);
	*hist = (struct hist_text){ 0 };
}

uint64_t hist_text_number(const char *text, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = strstr(text, name); at; at = strstr(at + 1, name))
		if ((at == text || strchr(" \t", at[-1])) && at[len] == ':')
			return strtoull(at + len + 1, NULL, 10);
	return 0;
}
