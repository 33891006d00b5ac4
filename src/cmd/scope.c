/*
 * cmd/scope: see scope.h.
 */
#include "cmd/scope.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"

bool scope_is(const struct opts_item *item, const char *word)
{
	return item->opt && !strcmp(item->opt->word, word);
}

/* A name that a directory of instances can hold. */
static bool is_instance(const char *name)
{
	return *name && *name != '.' && strlen(name) < 60 && !strpbrk(name, "/ \t\n");
}

static int add(struct scopes *scopes, const char *instance, int first)
{
	struct scope *more = realloc(scopes->scope, (size_t)(scopes->n + 1) * sizeof(*more));

	if (!more)
		return -ENOMEM;
	scopes->scope = more;
	more[scopes->n++] = (struct scope){ instance, first, first };
	return 0;
}

static int add_instance(struct scopes *scopes, const char *name, int first, struct err *err)
{
	if (!is_instance(name))
		return err_set(err, -EINVAL, "-B '%.100s': an instance cannot have that name", name);
	return add(scopes, name, first) ? err_set(err, -ENOMEM, "out of memory") : 0;
}

/* Is one of the table's options among the first `end` items? */
static bool has_any(const struct opts *opts, int end, const struct opt *table)
{
	for (int i = 0; i < end; i++)
		for (const struct opt *opt = table; opt->word; opt++)
			if (scope_is(&opts->items[i], opt->word))
				return true;
	return false;
}

int scopes_split(struct scopes *scopes, const struct opts *opts, const struct opt *table,
		 struct err *err)
{
	int at = 0, r = 0;

	*scopes = (struct scopes){ .names = BUF_INIT };
	while (at < opts->nitems && !scope_is(&opts->items[at], "instance"))
		at++;
	if (at == opts->nitems || has_any(opts, at, table))
		r = add(scopes, NULL, 0) ? err_set(err, -ENOMEM, "out of memory") : 0;
	if (!r && scopes->n)
		scopes->scope[0].end = at;
	while (!r && at < opts->nitems) {
		r = add_instance(scopes, opts->items[at].value, at + 1, err);
		while (++at < opts->nitems && !scope_is(&opts->items[at], "instance"))
			;
		if (!r)
			scopes->scope[scopes->n - 1].end = at;
	}
	if (r)
		scopes_fini(scopes);
	return r;
}

/* The instances of the source. One without any, or without a place for them, has none. */
static int add_found(struct scopes *scopes, struct source *source, struct err *err)
{
	char *save, *name;
	int r = 0;

	if (source_list(source, "instances", &scopes->names, NULL) || !scopes->names.data)
		return 0;
	for (name = strtok_r(scopes->names.data, "\n", &save); !r && name;
	     name = strtok_r(NULL, "\n", &save)) {
		size_t len = strlen(name);

		if (len < 2 || name[len - 1] != '/')
			continue;
		name[len - 1] = '\0';
		r = add(scopes, name, 0) ? err_set(err, -ENOMEM, "out of memory") : 0;
	}
	return r;
}

int scopes_all(struct scopes *scopes, struct source *source, struct err *err)
{
	int r;

	*scopes = (struct scopes){ .names = BUF_INIT };
	r = add(scopes, NULL, 0) ? err_set(err, -ENOMEM, "out of memory") : 0;
	if (!r)
		r = add_found(scopes, source, err);
	if (r)
		scopes_fini(scopes);
	return r;
}

int scopes_choose(struct scopes *scopes, const struct opts *opts, struct source *source,
		  bool all_has_top, struct err *err)
{
	bool all = opts_value(opts, "all"), top = opts_value(opts, "top") || (all && all_has_top);
	int r = 0;

	*scopes = (struct scopes){ .names = BUF_INIT };
	if (top || (!all && !opts_value(opts, "instance")))
		r = add(scopes, NULL, 0) ? err_set(err, -ENOMEM, "out of memory") : 0;
	if (!r && all)
		r = add_found(scopes, source, err);
	for (int i = 0; !r && !all && i < opts->nitems; i++)
		if (scope_is(&opts->items[i], "instance"))
			r = add_instance(scopes, opts->items[i].value, 0, err);
	for (int i = 0; !r && i < scopes->n; i++)
		r = scope_check(&scopes->scope[i], source, err);
	if (r)
		scopes_fini(scopes);
	return r;
}

void scopes_fini(struct scopes *scopes)
{
	free(scopes->scope);
	buf_fini(&scopes->names);
	*scopes = (struct scopes){ .names = BUF_INIT };
}

int scope_check(const struct scope *scope, struct source *source, struct err *err)
{
	char path[SCOPE_PATH];

	if (!scope->instance || source_exists(source, scope_path(path, scope, "")))
		return 0;
	snprintf(path, sizeof(path), "remotes/%.60s", scope->instance);
	if (source_exists(source, path))
		return err_set(err, -ENOENT, "'%.60s' is a remote, and no instance: `ringside cat%s %s/trace` shows it, `ringside record --remote "
			       "%.60s` records it", scope->instance, source_option(source), path, scope->instance);
	return err_set(err, -ENOENT, "there is no instance '%.60s': `ringside list%s -B` lists those there "
		       "are, `ringside start%s -B %.60s` makes one", scope->instance, source_option(source),
		       source_option(source), scope->instance);
}

const char *scope_path(char path[SCOPE_PATH], const struct scope *scope, const char *file)
{
	if (scope->instance)
		snprintf(path, SCOPE_PATH, "instances/%s%s%s", scope->instance, *file ? "/" : "", file);
	else
		snprintf(path, SCOPE_PATH, "%s", file);
	return path;
}

int scope_read(const struct scope *scope, struct source *source, const char *file, struct buf *out,
	       struct err *err)
{
	char path[SCOPE_PATH];

	return source_read(source, scope_path(path, scope, file), out, err);
}

int scope_write(const struct scope *scope, struct source *source, const char *file,
		const char *text, bool append, struct err *err)
{
	char path[SCOPE_PATH];

	return source_write(source, scope_path(path, scope, file), text, strlen(text), append, err);
}

bool scope_has(const struct scope *scope, struct source *source, const char *file)
{
	char path[SCOPE_PATH];

	return source_exists(source, scope_path(path, scope, file));
}

int scope_write_each(const struct opts *opts, bool all_has_top, const char *file, const char *text)
{
	struct source *source;
	struct scopes scopes;
	struct err err = ERR_INIT;
	int r;

	r = cmd_open(&source, opts, false, &err);
	if (r)
		return cmd_fail(&err);
	r = scopes_choose(&scopes, opts, source, all_has_top, &err);
	if (!r) {
		for (int i = 0; !r && i < scopes.n; i++)
			r = scope_write(&scopes.scope[i], source, file, text, false, &err);
		scopes_fini(&scopes);
	}
	source_close(source);
	return r ? cmd_fail(&err) : CMD_DONE;
}
