/*
 * query/sql: see sql.h.
 */
#include "query/sql.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/tree.h"
#include "trigger/spec.h"

/* Synthetic events of statements before this one, then the world's. */
struct overlay {
	const struct sql_world *world;
	const struct sql_lines *lines;
};

/* The synthetic event of that name that a statement before this one makes. */
static const struct decode_format *made(const struct sql_lines *lines, const char *name)
{
	for (size_t i = 0; i < lines->nsynths; i++)
		if (!strcmp(lines->synths[i]->name, name))
			return lines->synths[i];
	return NULL;
}

/* One that is made stands for the world's of the same name: a recording may have the events of the same statements, made live. */
static const struct decode_format *overlay_event(void *arg, const char *system, const char *name, unsigned int nth)
{
	const struct overlay *overlay = arg;
	const struct sql_world *world = overlay->world;
	const struct decode_format *synth = made(overlay->lines, name), *format;

	if (!synth || (system && strcmp(system, synth->system) != 0))
		return world->event(world->arg, system, name, nth);
	if (!nth--)
		return synth;
	for (unsigned int i = 0; (format = world->event(world->arg, system, name, i)); i++)
		if (strcmp(format->system, synth->system) != 0 && !nth--)
			return format;
	return NULL;
}

/* The format that the synthetic event will have. */
static int add_synth(struct sql_lines *lines, const char *text, struct err *err)
{
	static const struct spec_world nothing = { .anything = true };
	struct spec_error error = SPEC_ERROR_INIT;
	struct decode_format **synths = realloc(lines->synths, (lines->nsynths + 1) * sizeof(*synths));
	struct spec_synth *synth = NULL;
	struct buf format = BUF_INIT;
	bool removes;
	int r = synths ? 0 : -ENOMEM;

	lines->synths = synths ? synths : lines->synths;
	if (!r)
		r = spec_synth_parse(&synth, &removes, &nothing, true, text, strlen(text), &error);
	if (!r) {
		buf_printf(&format, "name: %s\nID: 0\nformat:\n", synth->name);
		spec_synth_format(synth, &format);
		r = buf_failed(&format) ? -ENOMEM :
		    decode_format_parse("synthetic", format.data, format.len, NULL, &synths[lines->nsynths], err);
	}
	lines->nsynths += !r;
	if (r)
		err_set(err, r, "%s: %s", text, error.message ? error.message : error.text);
	spec_synth_free(synth);
	spec_error_fini(&error);
	buf_fini(&format);
	return r;
}

/* The next of the names that the options have; the last of them, none before, is the usual one. */
static int next_name(const char **names, char name[SPEC_NAME_MAX], struct err *err)
{
	size_t len = *names ? strcspn(*names, ",") : 0;

	snprintf(name, SPEC_NAME_MAX, "%.*s", (int)len, *names ? *names : "");
	if (!*names)
		strcpy(name, SQL_NAME_DEFAULT);
	else if (!len || len >= SPEC_NAME_MAX)
		return err_set(err, -EINVAL, "a synthetic event needs a name of at most %d letters", SPEC_NAME_MAX - 1);
	else
		*names += len + ((*names)[len] == ',');
	return 0;
}

/* One statement; *at goes behind it. */
static int translate(struct sql_lines *lines, struct sql_tree *tree, const struct sql_world *world, const char *statement,
		     size_t *at, const char **names, const struct sql_options *options, struct err *err)
{
	struct overlay overlay = { world, lines };
	const struct sql_world both = { &overlay, overlay_event };
	size_t before = lines->n;
	char name[SPEC_NAME_MAX] = "";
	int r = sql_parse(tree, statement, *at, err);

	*at = tree->end;
	if (!r)
		r = sql_resolve(tree, &both, err);
	if (!r && tree->is_join)
		r = next_name(names, name, err);
	if (!r)
		r = sql_texts(lines, tree, name, options, err);
	return !r && tree->is_join ? add_synth(lines, lines->line[before].text, err) : r;
}

int sql_translate(struct sql_lines *lines, const struct sql_world *world, const char *statement,
		  const struct sql_options *options, struct err *err)
{
	static const struct sql_options none;
	struct sql_tree *tree = calloc(1, sizeof(*tree));
	const char *names = options ? options->name : NULL;
	size_t at = 0;
	int r = 0;

	memset(lines, 0, sizeof(*lines));
	if (!tree)
		return err_set(err, -ENOMEM, "out of memory");
	do {
		r = translate(lines, tree, world, statement, &at, &names, options ? options : &none, err);
		sql_tree_free(tree);
	} while (!r && statement[at]);
	free(tree);
	if (r)
		sql_lines_fini(lines);
	return r;
}

void sql_lines_fini(struct sql_lines *lines)
{
	for (size_t i = 0; i < lines->n; i++) {
		free(lines->line[i].file);
		free(lines->line[i].text);
		free(lines->line[i].undo);
	}
	for (size_t i = 0; i < lines->nsynths; i++)
		decode_format_free(lines->synths[i]);
	free(lines->line);
	free(lines->synths);
	memset(lines, 0, sizeof(*lines));
}

/* In single quotes; one in the text ends them, stands for itself and begins them again. */
static void put_quoted(const char *text, struct buf *out)
{
	buf_putc(out, '\'');
	for (; *text; text++)
		buf_puts(out, *text == '\'' ? "'\\''" : (char[]){ *text, '\0' });
	buf_putc(out, '\'');
}

void sql_line_show(const struct sql_line *line, const char *prefix, struct buf *out)
{
	/* Shells differ in what echo does with a backslash. */
	buf_puts(out, strchr(line->text, '\\') ? "printf '%s\\n' " : "echo ");
	put_quoted(line->text, out);
	buf_printf(out, " >> %s%s\n", prefix, line->file);
}

void sql_error_show(const char *statement, const struct err *err, struct buf *out)
{
	size_t begin = 0, end;

	if (err->pos >= 0 && (size_t)err->pos <= strlen(statement)) {
		for (size_t i = 0; i < (size_t)err->pos; i++)
			begin = statement[i] == '\n' ? i + 1 : begin;
		end = begin + strcspn(statement + begin, "\n");
		buf_printf(out, "%.*s\n", (int)(end - begin), statement + begin);
		for (size_t i = begin; i < (size_t)err->pos; i++)
			buf_putc(out, statement[i] == '\t' ? '\t' : ' ');
		buf_puts(out, "^\n");
	}
	buf_printf(out, "%s\n", err->text);
}
