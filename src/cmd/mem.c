/*
 * cmd/mem: what functions of the kernel asked the slab allocator for, and what of it was wasted, as
 * `trace-cmd mem` prints it: by kmem's events.
 *
 * Memory is for each function, and for each piece that is not freed yet. A piece whose end is not
 * in the trace counts to the end of it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "cmd/cmd.h"
#include "cmd/files.h"
#include "cmd/pager.h"
#include "replay/replay.h"

static const struct opt mem_opts[] = {
	{ 'i', "input", "FILE", "the trace file, instead of trace.dat" },
	{ 'B', "instance", "INSTANCE", "this buffer, instead of the top one" },
	{ 0, NULL, NULL, NULL },
};

/* Bytes: what is held, all that ever was, and the most that was held at once. */
struct user {
	uint64_t func;
	char *name;
	int64_t alloc, req;
	int64_t total_alloc, total_req;
	int64_t max_alloc, max_req;
};

struct piece {
	struct user *user;
	int64_t alloc, req;
};

struct mem {
	struct dat *dat;
	const char *instance;
	struct replay *replay;
	struct map users;	/* address of a function to struct user */
	struct map pieces;	/* address of a piece to struct piece */
	struct err err;
};

static bool is_one_of(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (!strcmp(name, *names))
			return true;
	return false;
}

static uint64_t value(const struct decode_format *format, const char *name,
		      const struct replay_record *rec)
{
	const struct decode_field *field = decode_format_find(format, name);

	return field ? decode_field_int(format, field, rec->data, rec->len) : 0;
}

static struct user *user_of(struct mem *m, uint64_t call_site)
{
	struct decode_symbol symbol;
	bool known = dat_symbol(m->dat, 0, call_site, &symbol);
	uint64_t func = known ? call_site - symbol.offset : call_site;
	struct user *user = map_get(&m->users, &func, sizeof(func), sizeof(*user));
	struct buf name = BUF_INIT;

	if (!user || user->name)
		return user;
	user->func = func;
	if (known)
		buf_puts(&name, symbol.name);
	else
		buf_printf(&name, "0x%" PRIx64, func);
	user->name = buf_take(&name);
	return user->name ? user : NULL;
}

static int allocated(struct mem *m, const struct replay_record *rec,
		     const struct decode_format *format)
{
	uint64_t ptr = value(format, "ptr", rec);
	struct user *user = user_of(m, value(format, "call_site", rec));
	struct piece *piece = map_get(&m->pieces, &ptr, sizeof(ptr), sizeof(*piece));

	if (!user || !piece)
		return -ENOMEM;
	*piece = (struct piece){ user, (int64_t)value(format, "bytes_alloc", rec),
				 (int64_t)value(format, "bytes_req", rec) };
	user->alloc += piece->alloc;
	user->req += piece->req;
	user->total_alloc += piece->alloc;
	user->total_req += piece->req;
	if (user->alloc > user->max_alloc)
		user->max_alloc = user->alloc;
	if (user->req > user->max_req)
		user->max_req = user->req;
	return 0;
}

static void freed(struct mem *m, const struct replay_record *rec,
		  const struct decode_format *format)
{
	uint64_t ptr = value(format, "ptr", rec);
	struct piece *piece = map_find(&m->pieces, &ptr, sizeof(ptr));

	if (!piece)
		return;
	piece->user->alloc -= piece->alloc;
	piece->user->req -= piece->req;
	map_remove(&m->pieces, &ptr, sizeof(ptr));
}

static int feed(struct mem *m, const struct replay_record *rec)
{
	static const char *const begins[] = { "kmalloc", "kmalloc_node", "kmem_cache_alloc",
					      "kmem_cache_alloc_node", NULL };
	static const char *const ends[] = { "kfree", "kmem_cache_free", NULL };
	const struct decode_format *format = dat_format(m->dat, rec->id);

	if (!format || format->name[0] != 'k' || strcmp(format->system, "kmem"))
		return 0;
	if (is_one_of(format->name, begins))
		return allocated(m, rec, format);
	if (is_one_of(format->name, ends))
		freed(m, rec, format);
	return 0;
}

static bool is_wanted(void *arg, const struct dat_buffer *buffer, int cpu)
{
	const struct mem *m = arg;

	(void)cpu;
	return !strcmp(buffer->name, m->instance);
}

static int gather(struct mem *m)
{
	struct replay_times times = { .shift = true };
	struct replay_record rec;
	int r = replay_new(&m->replay), more = 1;

	if (!r)
		r = replay_add(m->replay, m->dat, &times, is_wanted, m, &m->err);
	while (!r && (more = replay_next(m->replay, &rec, &m->err)) == 1)
		r = feed(m, &rec);
	return r ? r : more < 0 ? more : 0;
}

static int by_waste(const void *a, const void *b)
{
	const struct user *x = (*(const struct map_entry *const *)a)->value;
	const struct user *y = (*(const struct map_entry *const *)b)->value;
	int64_t p = x->alloc - x->req, q = y->alloc - y->req;
	int r;

	if (p != q)
		return p > q ? -1 : 1;
	if (x->alloc != y->alloc)
		return x->alloc > y->alloc ? -1 : 1;
	if (x->total_alloc != y->total_alloc)
		return x->total_alloc > y->total_alloc ? -1 : 1;
	r = strcmp(x->name, y->name);
	return r ? r : (x->func > y->func) - (x->func < y->func);
}

/* What trace-cmd calls the most waste is the most held less the most asked for, at any times. */
static void put_user(struct buf *out, const struct user *u)
{
	buf_printf(out, "%32s\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t\t%8" PRId64 "   %8" PRId64
		   "\t\t%8" PRId64 "   %8" PRId64 "\t%" PRId64 "\n", u->name, u->alloc - u->req,
		   u->alloc, u->req, u->total_alloc, u->total_req, u->max_alloc, u->max_req,
		   u->max_alloc - u->max_req);
}

static int put_users(struct mem *m, struct buf *out)
{
	const struct map_entry **all;
	int r = map_list(&m->users, &all);

	if (r)
		return r;
	qsort(all, m->users.nr, sizeof(*all), by_waste);
	buf_puts(out, "                Function            \tWaste\tAlloc\treq"
		 "\t\tTotAlloc     TotReq\t\tMaxAlloc     MaxReq\tMaxWaste\n"
		 "                --------            \t-----\t-----\t---"
		 "\t\t--------     ------\t\t--------     ------\t--------\n");
	for (size_t i = 0; i < m->users.nr; i++)
		put_user(out, all[i]->value);
	free(all);
	return buf_failed(out) ? -ENOMEM : 0;
}

static void fini(struct mem *m)
{
	const struct map_entry **all;

	if (!map_list(&m->users, &all)) {
		for (size_t i = 0; i < m->users.nr; i++)
			free(((struct user *)all[i]->value)->name);
		free(all);
	}
	map_fini(&m->users);
	map_fini(&m->pieces);
	replay_free(m->replay);
	dat_close(m->dat);
}

static int show(struct mem *m, const struct opts *opts)
{
	struct buf out = BUF_INIT;
	const char *warning;
	int r = put_users(m, &out);

	for (size_t i = 0; (warning = replay_warning(m->replay, i)); i++)
		cmd_say("%s", warning);
	if (!r)
		r = pager_show(opts, &out, &m->err);
	buf_fini(&out);
	return r;
}

static int run(const struct opts *opts)
{
	struct mem m = { .err = ERR_INIT, .instance = opts_value(opts, "instance") };
	const char *path = opts_value(opts, "input"), *arg = opts_arg(opts, 0);
	int r;

	if (path && arg)
		return cmd_misuse(&cmd_mem, "mem: one file at a time: %s or %s", path, arg);
	if (!m.instance)
		m.instance = "";
	r = files_open(&m.dat, path ? path : arg ? arg : FILES_DEFAULT, &m.err);
	if (!r)
		r = gather(&m);
	if (!r)
		r = show(&m, opts);
	fini(&m);
	if (r)
		err_set(&m.err, r, "%s", strerror(-r));
	return r ? cmd_fail(&m.err) : CMD_DONE;
}

const struct cmd cmd_mem = {
	.name = "mem",
	.synopsis = "[-i FILE] [-B INSTANCE] [FILE]",
	.summary = "show what the kernel's functions allocated and wasted",
	.text = "Shows for each function of the kernel how much memory it asked for and got, and\n"
		"what of it was wasted, by the events kmalloc, kmalloc_node, kfree,\n"
		"kmem_cache_alloc, kmem_cache_alloc_node and kmem_cache_free in a trace file.\n",
	.opts = mem_opts,
	.arg = "file",
	.args_max = 1,
	.on_file = true,
	.run = run,
};
