/*
 * remote: see remote.h. Here are a remote's life and its files but for those that show events.
 */
#include "remote/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "fw/layout.h"
#include "remote/local.h"
#include "remote/served.h"

/* ---- opening ---- */

struct remote *remote_new(int root, const char *name)
{
	struct remote *remote = calloc(1, sizeof(*remote));

	if (!remote)
		return NULL;
	strncpy(remote->name, name, REMOTE_NAME_MAX);
	remote->root = root;
	remote->dir = -1;
	remote->state = -1;
	remote->memory.fd = -1;
	remote->line = -1;
	remote->trouble = (struct err)ERR_INIT;
	remote->abi = (struct decode_abi)DECODE_ABI_NATIVE;
	return remote;
}

void remote_close(struct remote *remote)
{
	if (!remote)
		return;
	remote_detach(remote);
	remote_texts_fini(&remote->texts);
	if (remote->state >= 0)
		close(remote->state);
	if (remote->dir >= 0)
		close(remote->dir);
	if (remote->line >= 0)
		close(remote->line);
	free(remote->swapped);
	free(remote->path);
	free(remote->elf);
	free(remote);
}

int remote_open_blind(struct remote **out, int dir, const char *name, struct err *err)
{
	struct remote *remote;
	int r = 0;

	*out = NULL;
	if (!remote_exists(dir, name))
		return err_set(err, -ENOENT, "there is no remote '%.64s'", name);
	remote = remote_new(dir, name);
	if (!remote)
		return err_set(err, -ENOMEM, "out of memory");
	remote->dir = remote_store_open(dir, name, false);
	if (!strcmp(name, REMOTE_TEST))
		r = remote_test_open(remote, err);
	else
		r = remote->dir < 0 ? err_set(err, remote->dir, "remotes/%s: %s", name, strerror(-remote->dir))
				    : remote_store_load(remote, err);
	if (r) {
		remote_close(remote);
		return r;
	}
	*out = remote;
	return 0;
}

int remote_open_cpus(struct remote **out, int dir, const char *name, struct err *err)
{
	int r = remote_open_blind(out, dir, name, err);

	if (r)
		return r;
	if ((*out)->kind == &remote_kind_served)
		served_recall(*out);
	else
		(*out)->kind->find(*out, &(*out)->trouble);
	return 0;
}

/* A buffer of one who was killed, unless somebody changes something now, who may just have loaded it. */
static void drop_leftover(struct remote *remote);

int remote_open(struct remote **out, int dir, const char *name, struct err *err)
{
	int r = remote_open_blind(out, dir, name, err);

	if (r)
		return r;
	(*out)->kind->find(*out, &(*out)->trouble);
	remote_take_back(*out);
	drop_leftover(*out);
	return 0;
}

void remote_detach(struct remote *remote)
{
	if (remote->there)
		remote_target_fini(&remote->target);
	remote_memory_close(&remote->memory);
	free(remote->hailed);
	remote->hailed = NULL;
	remote->there = false;
}

/* Are the texts that we have those of the firmware that runs there? */
static int check_build(const struct remote *remote, struct err *err)
{
	const struct remote_target *target = &remote->target;

	if ((target->build && remote->build && target->build != remote->build) ||
	    (remote->texts.nr && target->texts_size && target->texts_size != remote->texts_size))
		return err_set(err, -ESTALE, "the target runs another build than the one that the remote was added with: remove it, and "
			       "add it with that");
	return 0;
}

int remote_attach(struct remote *remote, struct err *err)
{
	int r = remote_target_read(&remote->target, &remote->memory, remote->at, err);

	if (!r) {
		remote->there = true;
		remote->life++;
		r = check_build(remote, err);
	}
	if (r)
		remote_detach(remote);
	return r;
}

/* ---- what it is ---- */

const char *remote_name(const struct remote *remote)
{
	return remote->name;
}

const char *remote_path(const struct remote *remote)
{
	return remote->path;
}

const char *remote_elf_path(const struct remote *remote)
{
	return remote->elf;
}

bool remote_is_certain(const struct remote *remote)
{
	return !remote->there || (remote->build && remote->target.build);
}

uint64_t remote_at(const struct remote *remote)
{
	return remote->at;
}

bool remote_is_writable(const struct remote *remote)
{
	return remote->there && remote->memory.writable;
}

pid_t remote_server(const struct remote *remote)
{
	return remote->server;
}

bool remote_is_gone(struct remote *remote)
{
	return remote->kind == &remote_kind_served && !served_is_alive(remote);
}

const struct remote_texts *remote_texts(const struct remote *remote)
{
	return &remote->texts;
}

const struct remote_target *remote_target(const struct remote *remote, struct err *why)
{
	if (remote->there)
		return &remote->target;
	err_set(why, remote->trouble.code ? remote->trouble.code : -ENODEV, "%s",
		remote->trouble.code ? remote->trouble.text : "no buffer is loaded");
	return NULL;
}

const struct decode_abi *remote_abi(const struct remote *remote)
{
	return remote->there ? &remote->target.abi : &remote->abi;
}

uint32_t remote_cpus(const struct remote *remote)
{
	return remote->there ? remote->target.nr_rings : remote->nr_cpus;
}

uint32_t remote_cpu(const struct remote *remote, uint32_t i)
{
	return remote->there ? remote->target.rings[i].cpu : remote->kind == &remote_kind_served ? remote_store_cpu(remote, i) : i;
}

int remote_ring_of(const struct remote *remote, uint32_t cpu)
{
	for (uint32_t i = 0; i < remote_cpus(remote); i++)
		if (remote_cpu(remote, i) == cpu)
			return (int)i;
	return -ENODEV;
}

uint64_t remote_ns(const struct remote_target *target, uint64_t ticks)
{
	/* No rate is so high that this could overflow: TARGET_HZ_MAX. */
	return ticks / target->tick_hz * 1000000000u + ticks % target->tick_hz * 1000000000u / target->tick_hz;
}

int remote_look(struct remote *remote, struct err *err)
{
	struct err why = ERR_INIT;
	int r = -ESTALE;

	if (remote->there && (!remote->kind->is_same || remote->kind->is_same(remote)))
		r = remote_target_check(&remote->target, &remote->memory, &why);
	if (r == -ESTALE) {
		remote_detach(remote);
		why = (struct err)ERR_INIT;
		r = remote->kind->find(remote, &why);
	}
	remote->trouble = why;
	return r ? err_set(err, r, "%s", why.code ? why.text : "no buffer is loaded") : 0;
}

/* ---- loading and unloading ---- */

bool remote_is_empty(struct remote *remote)
{
	unsigned char bytes[TARGET_PAGE_MAX];
	struct remote_page page = { .bytes = bytes };
	bool same = remote_is_settled(remote);

	for (uint32_t i = 0; i < remote->target.nr_rings; i++) {
		struct remote_cursor cursor = { 0 };

		if (same)
			remote_store_cursor(remote, i, &cursor);
		if (remote_ring_next(&remote->target, &remote->memory, i, &cursor, &page, NULL))
			return false;
	}
	return true;
}

/* Does somebody take events out? */
static bool has_readers(struct remote *remote)
{
	return remote->pipes || (remote->state >= 0 && remote_store_is_locked(remote, LOCK_READERS));
}

static bool is_on(struct remote *remote)
{
	uint32_t on = 0;

	return remote->there && !remote_memory_word(&remote->memory, remote->target.control, &on, 4) && on;
}

/* There is a buffer. Is it one to the kernel's rules, too? A target's own is always there, and others are when who had them was killed. */
static bool is_wanted(struct remote *remote)
{
	return is_on(remote) || has_readers(remote) || !remote_is_empty(remote);
}

bool remote_is_read(struct remote *remote)
{
	return remote->state >= 0 && remote_store_is_locked(remote, LOCK_READERS);
}

bool remote_is_loaded(struct remote *remote)
{
	return !remote_look(remote, NULL) && is_wanted(remote);
}

/*
 * A number that is there for as long as the target's memory keeps what it holds: the one that somebody left, or one of ours, if there is a
 * target that answers. A dump gets none: the next one that is put in its place would be without.
 */
static uint32_t mark(struct remote *remote)
{
	uint32_t mark;

	if (remote_target_mark(&remote->target, &remote->memory, &mark) || mark || remote->kind != &remote_kind_memory ||
	    !(remote->hailed ? remote_word_is_heard(remote) : remote_word_hail(remote)))
		return mark;
	if (getrandom(&mark, sizeof(mark), GRND_NONBLOCK) != sizeof(mark) || !mark)
		mark = 1;
	return remote_store_word(remote, remote->target.control + offsetof(struct ringside_fw_control, mark), mark, NULL) ? 0 : mark;
}

/* Whose the cursors are. */
static void note_life(struct remote *remote, struct kept *kept)
{
	kept->mark = remote->target.mark = mark(remote);
	kept->boots = remote->target.boots;
	kept->nr_rings = remote->target.nr_rings;
	kept->dev = remote->memory.dev;
	kept->ino = remote->memory.ino;
}

/* What is missing in a buffer that was made just now is lost, from its first event on. */
static int begin_buffer(struct remote *remote, struct kept *kept, struct err *err)
{
	struct remote_cursor first = { .known = 1 };
	int r = 0;

	for (uint32_t i = 0; !r && i < remote->target.nr_rings; i++)
		r = remote_store_set_cursor(remote, i, &first, err);
	note_life(remote, kept);
	return r ? r : remote_store_keep(remote, kept, err);
}

int remote_need(struct remote *remote, struct err *err)
{
	struct kept kept;
	int r = remote_look(remote, NULL);

	if (!r)
		return 0;
	if (remote->trouble.code)
		return err_set(err, r, "%s", remote->trouble.text);
	r = remote_store_make(remote, err);
	if (r)
		return r;
	remote_store_kept(remote, &kept);
	r = remote->kind->load_trace_buffer(remote, kept.size_kb, err);
	return r || remote->kind == &remote_kind_memory ? r : begin_buffer(remote, &kept, err);
}

void remote_drop(struct remote *remote)
{
	if (!remote_look(remote, NULL) && !is_wanted(remote))
		remote->kind->unload_trace_buffer(remote);
}

static void drop_leftover(struct remote *remote)
{
	if (!remote->there || remote->kind == &remote_kind_memory || remote->state < 0 || is_wanted(remote) ||
	    remote_store_lock(remote, LOCK_CHANGE, F_WRLCK, false))
		return;
	remote_drop(remote);
	remote_store_lock(remote, LOCK_CHANGE, F_UNLCK, false);
}

/* What changes something is done by one at a time. */
static int begin(struct remote *remote, struct err *err)
{
	int r = remote_store_make(remote, err);

	if (!r && remote_store_lock(remote, LOCK_CHANGE, F_WRLCK, true))
		r = err_set(err, -EBUSY, "somebody else changes remote '%s'", remote->name);
	return r;
}

static int end(struct remote *remote, int r)
{
	remote_store_lock(remote, LOCK_CHANGE, F_UNLCK, false);
	return r;
}

/* ---- files ---- */

int remote_tracing_on(struct remote *remote, bool *on, struct err *err)
{
	int r = remote_look(remote, NULL);

	*on = !r && is_on(remote);
	return r && remote->trouble.code ? err_set(err, r, "%s", remote->trouble.text) : 0;
}

int remote_enable_tracing(struct remote *remote, bool on, struct err *err)
{
	struct err none = ERR_INIT;
	int r = begin(remote, err);

	if (r)
		return r;
	r = on ? remote_need(remote, err) : remote_look(remote, &none);
	if (!r)
		r = remote->kind->enable_tracing(remote, on, err);
	else if (!on && remote->trouble.code)
		r = err_set(err, r, "%s", none.text);
	else if (!on)
		r = 0;
	/* One that was loaded for this, in vain, goes as well. */
	if (r ? on : !on)
		remote_drop(remote);
	return end(remote, r);
}

/* The enable word that an ID's bit is in. */
static uint64_t enable_word(const struct remote *remote, uint32_t id)
{
	return remote->target.control + offsetof(struct ringside_fw_control, enable) + id / 32 * 4;
}

static int load_word(struct remote *remote, uint64_t at, uint32_t *value, struct err *err)
{
	unsigned char word[4];
	int r = remote_memory_word(&remote->memory, at, word, 4);

	*value = (uint32_t)decode_abi_load(word, 4, remote->target.abi.big_endian);
	return r ? err_set(err, r, "the memory cannot be read: %s", strerror(-r)) : 0;
}

int remote_event_is_on(struct remote *remote, uint32_t id, bool *on, struct err *err)
{
	uint32_t word = 0;
	struct kept kept;
	int r = remote_look(remote, NULL);

	if (r && !remote->trouble.code) {
		remote_store_kept(remote, &kept);
		*on = id < KEPT_EVENTS && kept.enable[id / 32] >> id % 32 & 1;
		return 0;
	}
	if (r)
		return err_set(err, r, "%s", remote->trouble.text);
	r = id < remote->target.nr_events ? load_word(remote, enable_word(remote, id), &word, err) : 0;
	*on = word >> id % 32 & 1;
	return r;
}

/* What a buffer that comes later is to begin with. */
static int keep_event(struct remote *remote, uint32_t id, bool on, struct err *err)
{
	struct kept kept;

	remote_store_kept(remote, &kept);
	if (id >= KEPT_EVENTS)
		return err_set(err, -ERANGE, "event %" PRIu32 " has too large a number", id);
	kept.enable[id / 32] = (kept.enable[id / 32] & ~(1u << id % 32)) | (uint32_t)on << id % 32;
	return remote_store_keep(remote, &kept, err);
}

int remote_enable_event(struct remote *remote, uint32_t id, bool on, struct err *err)
{
	int r = begin(remote, err);

	if (r)
		return r;
	r = remote_look(remote, NULL);
	if (r && remote->trouble.code)
		r = err_set(err, r, "%s", remote->trouble.text);
	else if (!r && id >= remote->target.nr_events)
		r = err_set(err, -EINVAL, "the target has no event %" PRIu32, id);
	else if (!r || remote->kind->enable_early)
		r = remote->kind->enable_event(remote, id, on, err);
	else
		r = 0;
	if (!r && remote->kind != &remote_kind_memory)
		r = keep_event(remote, id, on, err);
	return end(remote, r);
}

int remote_size(struct remote *remote, uint64_t *kb, bool *loaded, struct err *err)
{
	struct kept kept;
	int r = remote_look(remote, NULL);

	if (r && remote->trouble.code)
		return err_set(err, r, "%s", remote->trouble.text);
	remote_store_kept(remote, &kept);
	*loaded = !r && is_wanted(remote);
	*kb = kept.size_kb ? kept.size_kb : REMOTE_USUAL_KB;
	if (remote->kind == &remote_kind_memory)
		*kb = (((uint64_t)remote->target.rings[0].mask + 1) * remote->target.page_size + 1023) / 1024;
	return 0;
}

bool remote_is_full(struct remote *remote)
{
	struct remote_look look;

	for (uint32_t i = 0; remote->there && i < remote->target.nr_rings; i++)
		if (!remote_ring_look(&remote->target, &remote->memory, i, &look) && look.full)
			return true;
	return false;
}

int remote_set_size(struct remote *remote, uint64_t kb, struct err *err)
{
	struct kept kept;
	uint64_t has;
	bool loaded;
	int r = begin(remote, err);

	if (r)
		return r;
	/* Who had it may have been killed. */
	remote_drop(remote);
	r = remote_size(remote, &has, &loaded, err);
	if (!r && (!kb || kb > REMOTE_KB_MAX))
		r = err_set(err, -EINVAL, "a buffer has 1 to %u KiB a CPU", REMOTE_KB_MAX);
	else if (!r && loaded)
		r = err_set(err, -EBUSY, "the buffer is loaded: it has another size when it was unloaded: tracing_on 0, and all of it read "
			    "or reset");
	else if (!r && remote->kind == &remote_kind_memory && kb != has)
		r = err_set(err, -EINVAL, "the size of its buffer is the target's own: %" PRIu64 " KiB a CPU", has);
	if (!r) {
		remote_store_kept(remote, &kept);
		kept.size_kb = (uint32_t)kb;
		r = remote_store_keep(remote, &kept, err);
	}
	return end(remote, r);
}

bool remote_is_settled(struct remote *remote)
{
	struct remote_target *target = &remote->target;
	struct kept kept;
	uint32_t mark;

	if (remote_store_kept(remote, &kept) || kept.boots != target->boots || kept.nr_rings != target->nr_rings ||
	    kept.dev != remote->memory.dev || kept.ino != remote->memory.ino)
		return false;
	/* What cannot be read says so when it is. Where none could be left, somebody else may have left one since. */
	if (kept.mark && !remote_target_mark(target, &remote->memory, &mark) && mark != kept.mark)
		return false;
	if (!target->mark)
		target->mark = kept.mark;
	return true;
}

bool remote_is_marked_late(struct remote *remote)
{
	struct kept kept;
	uint32_t mark;

	return !remote_store_kept(remote, &kept) && !kept.mark &&
	       (remote_word_is_heard(remote) || (!remote_target_mark(&remote->target, &remote->memory, &mark) && mark));
}

int remote_settle(struct remote *remote, struct err *err)
{
	struct remote_cursor none = { 0 };
	bool settled = remote_is_settled(remote);
	struct kept kept;
	int r = 0;

	if (settled && !remote_is_marked_late(remote))
		return 0;
	remote_store_kept(remote, &kept);
	for (uint32_t i = 0; !settled && !r && i < remote->target.nr_rings; i++)
		r = remote_store_set_cursor(remote, i, &none, err);
	note_life(remote, &kept);
	return r ? r : remote_store_keep(remote, &kept, err);
}

/* Behind a reset: what is there is behind everybody, whether or not the target has heard of it. */
static int end_ring(struct remote *remote, uint32_t ring, struct err *err)
{
	struct remote_cursor cursor;
	int r = remote_ring_end(&remote->target, &remote->memory, ring, &cursor, err);

	if (!r)
		r = remote_store_set_cursor(remote, ring, &cursor, err);
	/* Where the oldest stay there is room now, also if the target did not answer yet, and somebody else asks something meanwhile. */
	if (!r)
		remote_word_swap(remote, ring, cursor.number);
	return r;
}

int remote_reset(struct remote *remote, int cpu, struct err *err)
{
	struct err none = ERR_INIT;
	uint32_t first, n;
	int r = begin(remote, err), one;

	if (r)
		return r;
	r = remote_look(remote, &none);
	if (r && !remote->trouble.code)
		return end(remote, 0);
	if (r)
		return end(remote, err_set(err, r, "%s", none.text));
	one = cpu < 0 ? 0 : remote_ring_of(remote, (uint32_t)cpu);
	if (one < 0)
		return end(remote, err_set(err, -ENODEV, "the remote has no cpu %d", cpu));
	first = (uint32_t)one;
	n = cpu < 0 ? remote->target.nr_rings : 1;
	r = remote_settle(remote, err);
	if (!r)
		r = remote->kind->reset(remote, first, n, err);
	for (uint32_t ring = first; !r && ring < first + n; ring++)
		r = end_ring(remote, ring, err);
	if (!r)
		remote_drop(remote);
	return end(remote, r);
}
