/*
 * remote/register: remotes that this process brings, from beginning to end. See serve.h; what is asked meanwhile is answered in serve.c.
 *
 *   texts are checked | folder, texts, socket | config: it is there for all | init() | thread
 *
 * Whoever dies before `config` leaves a folder that is none, and behind that one that nobody serves. Both are cleared away by the next
 * one of that name; who brings one does all up to `config` under a lock, so that of two, one finds the other, and who takes his away
 * has it, too, so that he takes no other's.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "remote/served.h"
#include "remote/serving.h"

#define QUEUE 16

/* ---- events ---- */

static int check_text(const struct remote_offer *offer, size_t i, struct err *err)
{
	const struct ringside_fw_text *text = offer->events[i];
	size_t least;

	if (!text)
		return err_set(err, -EINVAL, "event %zu is NULL", i);
	least = sizeof(*text) + text->nr_fields * sizeof(text->fields[0]);
	if (text->bytes < least || text->bytes & 3)
		return err_set(err, -EINVAL, "the text of event %zu makes no sense", i);
	if (i && text->id <= offer->events[i - 1]->id)
		return err_set(err, -EINVAL, "event %.*s has the ID %u, behind %u: they have to rise", RINGSIDE_FW_NAME, text->name, text->id,
			       offer->events[i - 1]->id);
	if (text->id >= KEPT_EVENTS)
		return err_set(err, -EINVAL, "event %.*s has the ID %u: the largest is %u", RINGSIDE_FW_NAME, text->name, text->id,
			       KEPT_EVENTS - 1);
	return 0;
}

/* All texts one behind the other, as an ELF file has them, in `bytes`, and understood. */
static int take_texts(struct remote *remote, const struct remote_offer *offer, struct buf *bytes, struct err *err)
{
	int r = offer->nr_events && !offer->events ? err_set(err, -EINVAL, "events are NULL") : 0;

	for (size_t i = 0; !r && i < offer->nr_events; i++) {
		r = check_text(offer, i, err);
		if (!r)
			buf_add(bytes, offer->events[i], offer->events[i]->bytes);
	}
	if (!r && buf_failed(bytes))
		r = err_set(err, -ENOMEM, "out of memory");
	if (r)
		return r;
	r = remote_texts_parse(&remote->texts, remote->name, bytes->data, bytes->len, &remote->abi, err);
	return r == -EBADMSG ? -EINVAL : r;
}

/* ---- the folder ---- */

/* One of that name that nobody serves any more goes. */
static int make_way(int root, const char *name, struct err *err)
{
	struct remote *old;
	bool stays;
	int r;

	if (!remote_exists(root, name)) {
		/* A folder, perhaps, of one who came no further. */
		remote_store_remove(root, name, NULL);
		return 0;
	}
	r = remote_open_blind(&old, root, name, NULL);
	stays = r || old->kind != &remote_kind_served || served_is_alive(old);
	remote_close(old);
	if (stays)
		return err_set(err, -EEXIST, "there is a remote '%s' already", name);
	return remote_store_remove(root, name, err);
}

static int listen_at(struct remote_serving *serving, struct err *err)
{
	struct sockaddr_un address;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	serving->listener = fd;
	served_address(&address, serving->remote->dir);
	if (fd >= 0 && !bind(fd, (struct sockaddr *)&address, sizeof(address)) &&
	    !fchmodat(serving->remote->dir, SERVED_SOCKET, 0600, 0) && !listen(fd, QUEUE) &&
	    !serving_watch(serving, fd, SERVING_LISTENER))
		return 0;
	return err_set(err, -errno, "remotes/%s/" SERVED_SOCKET " cannot be made: %s", serving->remote->name, strerror(errno));
}

/* Under the lock. What was made of it is removed by the caller, if this fails. */
static int publish(struct remote_serving *serving, const struct buf *texts, struct err *err)
{
	int r = remote_store_make(serving->remote, err);

	if (!r)
		r = listen_at(serving, err);
	return r ? r : remote_store_save(serving->remote, texts->data, texts->len, err);
}

/* The folder, if it is still the one that was made here, and stays it meanwhile. */
static void withdraw(struct remote_serving *serving)
{
	int lock = remote_store_lock_all(serving->root);
	int now = remote_store_open(serving->root, serving->remote->name, false);
	struct stat ours, there;

	if (now >= 0 && serving->remote->dir >= 0 && !fstat(now, &there) && !fstat(serving->remote->dir, &ours) &&
	    ours.st_ino == there.st_ino && ours.st_dev == there.st_dev)
		remote_store_remove(serving->root, serving->remote->name, NULL);
	if (now >= 0)
		close(now);
	remote_store_unlock_all(lock);
}

/* ---- from beginning to end ---- */

static void free_serving(struct remote_serving *serving)
{
	for (int i = 0; i < SERVING_PEERS; i++)
		if (serving->peers[i].fd >= 0)
			close(serving->peers[i].fd);
	if (serving->listener >= 0)
		close(serving->listener);
	if (serving->wake >= 0)
		close(serving->wake);
	if (serving->watch >= 0)
		close(serving->watch);
	remote_close(serving->remote);
	if (serving->root >= 0)
		close(serving->root);
	free(serving);
}

static struct remote_serving *new_serving(int dir, const struct remote_offer *offer)
{
	struct remote_serving *serving = calloc(1, sizeof(*serving));

	if (!serving)
		return NULL;
	serving->callbacks = *offer->callbacks;
	serving->priv = offer->priv;
	serving->pid = getpid();
	serving->listener = -1;
	for (int i = 0; i < SERVING_PEERS; i++)
		serving->peers[i].fd = -1;
	serving->root = fcntl(dir, F_DUPFD_CLOEXEC, 0);
	serving->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	serving->watch = epoll_create1(EPOLL_CLOEXEC);
	serving->remote = remote_new(serving->root, offer->name);
	if (serving->remote && serving->root >= 0 && !serving_watch(serving, serving->wake, SERVING_WAKE) &&
	    getrandom(&serving->number, sizeof(serving->number), 0) == (ssize_t)sizeof(serving->number)) {
		serving->remote->kind = &remote_kind_served;
		return serving;
	}
	free_serving(serving);
	return NULL;
}

/* No handler of the program's runs in it. */
static int start(struct remote_serving *serving, struct err *err)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&serving->thread, NULL, serving_run, serving);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r ? err_set(err, -r, "no thread can be had: %s", strerror(r)) : 0;
}

/* Others may come from here on; who asks something waits until there is a thread. */
static int begin(struct remote_serving *serving, struct err *err)
{
	int r = serving->callbacks.init ? serving->callbacks.init(serving->priv) : 0;

	if (r > 0)
		r = -EINVAL;
	return r ? err_set(err, r, "init() refuses: %s", strerror(-r)) : start(serving, err);
}

static int check_offer(const struct remote_offer *offer, struct err *err)
{
	if (!offer->name || !remote_store_is_name(offer->name))
		return err_set(err, -EINVAL, "'%.64s' is no name for a remote: letters, digits, _ - and . inside, %d at most, and no file of events/",
			       offer->name ? offer->name : "", REMOTE_NAME_MAX);
	if (!offer->callbacks || !offer->callbacks->load_trace_buffer)
		return err_set(err, -EINVAL, "a remote needs a callback load_trace_buffer");
	return 0;
}

int remote_register(struct remote_serving **out, int dir, const struct remote_offer *offer, struct err *err)
{
	struct remote_serving *serving = NULL;
	struct buf texts = BUF_INIT;
	int r = check_offer(offer, err), lock = -1;
	bool made = false;

	*out = NULL;
	if (!r && !(serving = new_serving(dir, offer)))
		r = err_set(err, -ENOMEM, "out of memory, or of descriptors");
	if (!r)
		r = take_texts(serving->remote, offer, &texts, err);
	if (!r && (lock = remote_store_lock_all(dir)) < 0)
		r = err_set(err, lock, "remotes/ cannot be locked: %s", strerror(-lock));
	if (!r)
		r = make_way(dir, offer->name, err);
	if (!r) {
		made = true;
		r = publish(serving, &texts, err);
	}
	buf_fini(&texts);
	remote_store_unlock_all(lock);
	if (!r)
		r = begin(serving, err);
	if (!r) {
		*out = serving;
		return 0;
	}
	if (made)
		withdraw(serving);
	if (serving)
		free_serving(serving);
	return r;
}

void remote_unregister(struct remote_serving *serving)
{
	uint64_t one = 1;

	if (!serving)
		return;
	/* All that the thread changes is in a child as it was at any moment. */
	if (serving->pid != getpid()) {
		close(serving->listener);
		close(serving->wake);
		close(serving->watch);
		close(serving->root);
		return;
	}
	withdraw(serving);
	while (write(serving->wake, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	pthread_join(serving->thread, NULL);
	serving_end(serving);
	free_serving(serving);
}
