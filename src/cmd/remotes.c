/*
 * cmd/remotes: see remotes.h.
 */
#include "cmd/remotes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/scope.h"

/* Is the event one of a list, "a,b", or is there none? */
static bool is_wanted(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
		if (!strncmp(at, name, len) && (!at[len] || at[len] == ','))
			return true;
	return !list;
}

static int check_events(const struct remote *remote, const char *list, struct err *err)
{
	for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		char name[RINGSIDE_FW_NAME];
		size_t len = strcspn(at, ",");

		if (len < sizeof(name)) {
			memcpy(name, at, len);
			name[len] = '\0';
		}
		if (len >= sizeof(name) || !remote_texts_name(remote_texts(remote), name))
			return err_set(err, -EINVAL, "remote %s has no event '%.*s'", remote_name(remote), (int)(len < 40 ? len : 40), at);
	}
	return 0;
}

static int open_one(struct remotes *remotes, const char *value, struct control *control, struct err *err)
{
	size_t i = remotes->n, len = strcspn(value, ":");
	int r;

	if (!len || len > REMOTE_NAME_MAX)
		return err_set(err, -EINVAL, "--remote '%.40s': the name of a remote is needed, see `ringside remote list`", value);
	for (size_t before = 0; before < i; before++)
		if (!strncmp(remotes->all[before].name, value, len) && !remotes->all[before].name[len])
			return err_set(err, -EINVAL, "--remote %.40s: '%.*s' stands there twice; several events of one are named with commas "
				       "between", value, (int)len, value);
	memcpy(remotes->all[i].name, value, len);
	remotes->all[i].events = value[len] ? value + len + 1 : NULL;
	r = remote_open(&remotes->all[i].remote, control->dir.dir, remotes->all[i].name, err);
	if (r)
		return r;
	remotes->n++;
	r = check_events(remotes->all[i].remote, remotes->all[i].events, err);
	if (r)
		return r;
	/* How many CPUs there are is not known of all before. */
	r = remote_hold(remotes->all[i].remote, err);
	if (r)
		err_prefix(err, "remote %s: ", remotes->all[i].name);
	remotes->all[i].held = !r;
	return r;
}

int remotes_open(struct remotes *remotes, const struct opts *opts, struct control *control, struct err *err)
{
	int r = 0;

	if (!opts_value(opts, "remote"))
		return 0;
	remotes->all = calloc((size_t)opts->nitems, sizeof(*remotes->all));
	if (!remotes->all)
		return err_set(err, -ENOMEM, "out of memory");
	if (!control) {
		const char *dir = opts_value(opts, "dir");

		r = control_open(&remotes->control, dir, false, err);
		control = remotes->control;
	}
	for (int i = 0; !r && i < opts->nitems; i++)
		if (scope_is(&opts->items[i], "remote"))
			r = open_one(remotes, opts->items[i].value, control, err);
	return r;
}

/* Of one that can only be read nothing can be switched. */
static bool is_told(struct remote *remote)
{
	return !remote_target(remote, NULL) || remote_is_writable(remote);
}

static int switch_on(struct remote *remote, const char *list, struct err *err)
{
	const struct remote_texts *texts = remote_texts(remote);
	bool *wanted = calloc(texts->nr + 1, sizeof(*wanted));
	int r;

	if (!wanted)
		return err_set(err, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < texts->nr; i++)
		wanted[i] = is_wanted(list, texts->events[i].name);
	r = remote_borrow(remote, wanted, err);
	free(wanted);
	return r;
}

int remotes_on(struct remotes *remotes, struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < remotes->n; i++) {
		struct remote *remote = remotes->all[i].remote;

		r = is_told(remote) ? switch_on(remote, remotes->all[i].events, err) : 0;
		if (r)
			err_prefix(err, "remote %s: ", remotes->all[i].name);
	}
	return r;
}

void remotes_off(struct remotes *remotes)
{
	for (size_t i = 0; i < remotes->n; i++)
		remote_give_back(remotes->all[i].remote);
}

void remotes_keep(struct remotes *remotes)
{
	for (size_t i = 0; i < remotes->n; i++)
		remote_keep(remotes->all[i].remote);
}

void remotes_close(struct remotes *remotes)
{
	remotes_off(remotes);
	for (size_t i = 0; i < remotes->n; i++) {
		if (remotes->all[i].held)
			remote_release(remotes->all[i].remote);
		remote_close(remotes->all[i].remote);
	}
	free(remotes->all);
	if (remotes->control)
		control_close(remotes->control);
	*remotes = (struct remotes){ 0 };
}

/* ---- all of a directory ---- */

typedef void remotes_visit(void *ctx, struct remote *remote);

static void visit_all(struct control *control, remotes_visit *visit, void *ctx)
{
	struct buf names = BUF_INIT;
	char *save, *name;
	int r = remote_list(control->dir.dir, &names, NULL);

	for (name = r ? NULL : strtok_r(names.data, "\n", &save); name; name = strtok_r(NULL, "\n", &save)) {
		struct remote *remote;

		if (!remote_open(&remote, control->dir.dir, name, NULL))
			visit(ctx, remote);
		remote_close(remote);
	}
	buf_fini(&names);
}

/* What fails is told, the first of it, and all else is done. */
static void reset_one(void *ctx, struct remote *remote)
{
	const struct remote_texts *texts = remote_texts(remote);
	struct err why = ERR_INIT;
	bool on, loaded;
	uint64_t kb;
	int r = remote_tracing_on(remote, &on, &why);

	/* Of what is not there, nothing is on. */
	if (r == -ENOENT || r == -ENODEV)
		return;
	if (!r && on && is_told(remote))
		remote_enable_tracing(remote, false, &why);
	for (uint32_t i = 0; i < texts->nr; i++)
		if (is_told(remote) && !remote_event_is_on(remote, texts->events[i].id, &on, NULL) && on)
			remote_enable_event(remote, texts->events[i].id, false, &why);
	if (remote_is_loaded(remote))
		remote_reset(remote, -1, &why);
	if (!remote_size(remote, &kb, &loaded, NULL) && kb != REMOTE_USUAL_KB)
		remote_set_size(remote, REMOTE_USUAL_KB, NULL);
	if (why.code)
		err_set(ctx, why.code, "remote %s is not reset: %s", remote_name(remote), why.text);
}

int remotes_reset(struct control *control, struct err *err)
{
	struct err first = ERR_INIT;

	visit_all(control, reset_one, &first);
	return first.code ? err_set(err, first.code, "%s", first.text) : 0;
}

struct lines {
	struct buf *on, *wrong;
};

static void put_one(void *ctx, struct remote *remote)
{
	struct err why = ERR_INIT;
	struct lines *lines = ctx;
	bool on;

	if (remote_tracing_on(remote, &on, &why))
		buf_printf(lines->wrong, "%s: %s\n", remote_name(remote), why.text);
	else if (on)
		buf_printf(lines->on, "%s\n", remote_name(remote));
}

void remotes_put(struct control *control, struct buf *on, struct buf *wrong)
{
	visit_all(control, put_one, &(struct lines){ on, wrong });
}
