/*
 * remote/add: a memory becomes a remote of a tracing directory, and ceases to be one. See remote.h.
 *
 *   memory, ELF file --find_header, attach--> target --check_elf, texts--> remotes/NAME
 *
 * All is looked at before anything is kept.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "remote/local.h"
#include "remote/served.h"

static int find_header(struct remote *remote, const struct remote_place *place, const struct remote_elf *elf, struct err *err)
{
	struct err other = ERR_INIT;
	struct remote_target target;
	int r;

	if (place->at) {
		remote->at = *place->at;
		return 0;
	}
	/* Where addresses are offsets it lies at its own. */
	if (place->elf && !remote_target_read(&target, &remote->memory, elf->address, &other)) {
		remote->at = elf->address;
		remote_target_fini(&target);
		return 0;
	}
	r = remote_target_find(&remote->memory, place->elf ? &elf->address : NULL, &remote->at, err);
	if (r)
		err_prefix(err, "%.200s: ", remote->path);
	return r;
}

static int check_elf(const struct remote *remote, const struct remote_place *place, const struct remote_elf *elf, struct err *err)
{
	const struct remote_target *target = &remote->target;

	if (elf->address == target->self && elf->big_endian == target->abi.big_endian &&
	    (!elf->build || !target->build || elf->build == target->build) &&
	    (!target->texts_size || target->texts_size == elf->len))
		return 0;
	return err_set(err, -EINVAL, "%.200s is not what runs there: its memory is at %#" PRIx64 ", build %08" PRIx32 ", and that of the "
		       "target at %#" PRIx64 ", build %08" PRIx32, place->elf, elf->address, elf->build, target->self, target->build);
}

static int look_at_place(struct remote *remote, const struct remote_place *place, const struct remote_elf *elf, struct err *err)
{
	int r = remote_memory_open(&remote->memory, remote->path, err);

	if (!r && !remote->memory.size)
		r = err_set(err, -ENODATA, "%.200s: is empty, or does not say how large it is", remote->path);
	if (!r)
		r = find_header(remote, place, elf, err);
	if (!r) {
		r = remote_attach(remote, err);
		if (r)
			err_prefix(err, "%.200s: ", remote->path);
	}
	if (r)
		return r;
	remote->abi = remote->target.abi;
	remote->nr_cpus = remote->target.nr_rings;
	remote->build = elf->build;
	r = place->elf ? check_elf(remote, place, elf, err) : 0;
	if (!r && place->elf)
		r = remote_texts_parse(&remote->texts, remote->name, elf->texts, elf->len, &remote->abi, err);
	return r;
}

/* Without what is left of one who came no further; who comes no further here leaves nothing. */
static int make_folder(struct remote *remote, const struct remote_elf *elf, struct err *err)
{
	int r;

	remote_store_remove(remote->root, remote->name, NULL);
	r = remote_store_make(remote, err);
	if (!r)
		r = remote_store_save(remote, elf->texts, elf->len, err);
	if (r)
		remote_store_remove(remote->root, remote->name, NULL);
	return r;
}

/* While nobody else adds one: -EEXIST. */
static int keep_place(struct remote *remote, const struct remote_elf *elf, struct err *err)
{
	int lock = remote_store_lock_all(remote->root);
	int r = lock < 0 ? err_set(err, lock, "remotes/ cannot be locked: %s", strerror(-lock)) : 0;

	if (!r && remote_exists(remote->root, remote->name))
		r = err_set(err, -EEXIST, "there is a remote '%s' already", remote->name);
	if (!r)
		r = make_folder(remote, elf, err);
	remote_store_unlock_all(lock);
	return r;
}

static int add(struct remote *remote, const struct remote_place *place, struct err *err)
{
	struct remote_elf elf = { 0 };
	int r = place->elf ? remote_elf_read(&elf, place->elf, err) : 0;

	remote->path = realpath(place->memory, NULL);
	/* What a descriptor in /proc leads to may have no name. */
	if (*place->memory == '/' && (!remote->path || access(remote->path, F_OK)) && !access(place->memory, F_OK)) {
		free(remote->path);
		remote->path = strdup(place->memory);
	}
	if (!r && !remote->path)
		r = err_set(err, -errno, "%.200s: %s", place->memory, strerror(errno));
	remote->elf = place->elf ? realpath(place->elf, NULL) : NULL;
	if (!r && (strchr(remote->path, '\n') || (remote->elf && strchr(remote->elf, '\n'))))
		r = err_set(err, -EINVAL, "a path with a newline in it cannot be kept");
	if (!r)
		r = look_at_place(remote, place, &elf, err);
	if (!r)
		r = keep_place(remote, &elf, err);
	free(elf.texts);
	return r;
}

int remote_add(int dir, const char *name, const struct remote_place *place, struct err *err)
{
	struct remote *remote;
	int r;

	if (!remote_store_is_name(name))
		return err_set(err, -EINVAL, "'%.64s' is no name for a remote: letters, digits, _ - and . inside, %d at most, and no file of "
			       "events/", name, REMOTE_NAME_MAX);
	if (remote_exists(dir, name))
		return err_set(err, -EEXIST, "there is a remote '%s' already", name);
	remote = remote_new(dir, name);
	if (!remote)
		return err_set(err, -ENOMEM, "out of memory");
	r = add(remote, place, err);
	remote_close(remote);
	return r;
}

static int check_unused(struct remote *remote, struct err *err)
{
	if (remote_store_lock(remote, LOCK_READERS, F_WRLCK, false) == -EAGAIN)
		return err_set(err, -EBUSY, "somebody takes events out of remote '%s'", remote->name);
	if (remote->kind == &remote_kind_served && served_is_alive(remote))
		return err_set(err, -EBUSY, "remote '%s' goes with the program that serves it", remote->name);
	return 0;
}

int remote_remove(int dir, const char *name, struct err *err)
{
	struct remote *remote;
	int r, lock;

	if (!strcmp(name, REMOTE_TEST))
		return err_set(err, -EPERM, "the remote '%s' is built in", name);
	lock = remote_store_lock_all(dir);
	if (lock < 0)
		return err_set(err, lock, "remotes/ cannot be locked: %s", strerror(-lock));
	r = remote_open_blind(&remote, dir, name, NULL);
	/* One that makes no sense is removed all the same. */
	if (r == -ENOENT)
		err_set(err, r, "there is no remote '%.64s'", name);
	else
		r = r ? 0 : check_unused(remote, err);
	/* Nobody could tell later what was off. */
	if (!r && remote)
		remote_take_back(remote);
	if (!r)
		r = remote_store_remove(dir, name, err);
	remote_close(remote);
	remote_store_unlock_all(lock);
	return r;
}
