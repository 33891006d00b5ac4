/*
 * cmd/opts: see opts.h.
 */
#include "cmd/opts.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Where the parser is in the command line. */
struct line {
	int argc;
	char **argv;
	int at;
	const struct opt *tables[2];
};

static const struct opt *find_letter(const struct line *line, char letter)
{
	for (int t = 0; t < 2; t++)
		for (const struct opt *opt = line->tables[t]; opt && opt->word; opt++)
			if (opt->letter == letter)
				return opt;
	return NULL;
}

static const struct opt *find_word(const struct line *line, const char *word, size_t len)
{
	for (int t = 0; t < 2; t++)
		for (const struct opt *opt = line->tables[t]; opt && opt->word; opt++)
			if (strlen(opt->word) == len && !memcmp(opt->word, word, len))
				return opt;
	return NULL;
}

static void add(struct opts *opts, const struct opt *opt, const char *value)
{
	opts->items[opts->nitems].opt = opt;
	opts->items[opts->nitems].value = value ? value : "";
	opts->nitems++;
	opts->nargs += !opt;
}

/* The value of an option that wants one: what is left of its word, or the next word. */
static int take_value(struct line *line, const char *rest, const char **value)
{
	if (rest)
		*value = rest;
	else if (line->at + 1 < line->argc)
		*value = line->argv[++line->at];
	else
		return -EINVAL;
	return 0;
}

static const char *article(const char *noun)
{
	return strchr("AEIO", *noun) ? "an" : "a";
}

static int parse_word(struct opts *opts, struct line *line, struct err *err)
{
	const char *word = line->argv[line->at] + 2;
	const char *equals = strchr(word, '=');
	size_t len = equals ? (size_t)(equals - word) : strlen(word);
	const struct opt *opt = find_word(line, word, len);
	const char *value = NULL;

	if (!opt)
		return err_set(err, -EINVAL, "there is no option --%.*s", (int)len, word);
	if (equals && !opt->arg)
		return err_set(err, -EINVAL, "option --%s takes no value", opt->word);
	if (opt->arg && take_value(line, equals ? equals + 1 : NULL, &value))
		return err_set(err, -EINVAL, "option --%s needs %s %s", opt->word, article(opt->arg),
			       opt->arg);
	add(opts, opt, value);
	return 0;
}

/* -abc is -a -b -c, unless one of them takes the rest as its value. Items has room for all of them. */
static int parse_letters(struct opts *opts, struct line *line, struct err *err)
{
	const char *letter = line->argv[line->at] + 1;

	for (; *letter; letter++) {
		const struct opt *opt = find_letter(line, *letter);
		const char *value = NULL;

		if (!opt)
			return err_set(err, -EINVAL, "there is no option -%c", *letter);
		if (opt->arg && take_value(line, letter[1] ? letter + 1 : NULL, &value))
			return err_set(err, -EINVAL, "option -%c needs %s %s", opt->letter,
				       article(opt->arg), opt->arg);
		add(opts, opt, value);
		if (opt->arg)
			break;
	}
	return 0;
}

int opts_parse(struct opts *opts, int argc, char **argv, const struct opt *table,
	       const struct opt *common, int verbatim, struct err *err)
{
	struct line line = { argc, argv, 0, { table, common } };
	bool plain = false;
	size_t room = 1;
	int r = 0;

	memset(opts, 0, sizeof(*opts));
	for (int i = 0; i < argc; i++)
		room += strlen(argv[i]) + 1;
	opts->items = calloc(room, sizeof(*opts->items));
	if (!opts->items)
		return err_set(err, -ENOMEM, "out of memory");
	for (; !r && line.at < argc; line.at++) {
		const char *word = argv[line.at];

		plain |= verbatim < 0 && opts->nargs;
		if (plain || word[0] != '-' || !word[1] || opts->nargs + 1 == verbatim)
			add(opts, NULL, word);
		else if (!strcmp(word, "--"))
			plain = true;
		else if (word[1] == '-')
			r = parse_word(opts, &line, err);
		else
			r = parse_letters(opts, &line, err);
	}
	if (r)
		opts_fini(opts);
	return r;
}

void opts_fini(struct opts *opts)
{
	free(opts->items);
	memset(opts, 0, sizeof(*opts));
}

const char *opts_value(const struct opts *opts, const char *word)
{
	for (int i = opts->nitems; i-- > 0;)
		if (opts->items[i].opt && !strcmp(opts->items[i].opt->word, word))
			return opts->items[i].value;
	return NULL;
}

const char *opts_arg(const struct opts *opts, int i)
{
	for (int j = 0; j < opts->nitems; j++)
		if (!opts->items[j].opt && !i--)
			return opts->items[j].value;
	return NULL;
}

int opts_command(const struct opts *opts, int i, char ***argv, struct err *err)
{
	char **arg = *argv = calloc((size_t)(opts->nargs - i) + 1, sizeof(**argv));

	if (!arg)
		return err_set(err, -ENOMEM, "out of memory");
	for (; i < opts->nargs; i++)
		*arg++ = (char *)(uintptr_t)opts_arg(opts, i);
	return 0;
}
