/*
 * mount/park: see park.h.
 */
#include "mount/park.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "mount/wire.h"

#define SLICE_MS 500
/* Where waiting says that there is something and reading finds nothing, or less than poll(2) wants. */
#define NAP_MS 10

struct parked {
	struct parked *next;
	struct handle *handle;
	fuse_req_t req;
	size_t size;
	uint64_t owner;
	bool claimed;
	/* Noted while it was claimed. */
	bool interrupted;
	bool woken;
};

static void answer(fuse_req_t req, const char *bytes, ssize_t n)
{
	if (n < 0)
		fuse_reply_err(req, (int)-n);
	else
		fuse_reply_buf(req, bytes, (size_t)n);
}

static void unlist(struct parked *parked)
{
	struct parked **at = &parked->handle->parked;

	while (*at != parked)
		at = &(*at)->next;
	*at = parked->next;
}

/* For one that is out of the list. Nobody interrupts it from here on. Not with the handle's lock. */
static void finish(struct parked *parked, const char *bytes, ssize_t n)
{
	fuse_req_t req = parked->req;

	fuse_req_interrupt_func(req, NULL, NULL);
	free(parked);
	answer(req, bytes, n);
}

/* The same for one that is claimed. */
static void finish_claimed(struct parked *parked, const char *bytes, ssize_t n)
{
	pthread_mutex_lock(&parked->handle->lock);
	unlist(parked);
	pthread_mutex_unlock(&parked->handle->lock);
	finish(parked, bytes, n);
}

/* libfuse calls it with its lock of the request, from the thread that got the interrupt or armed it. */
static void interrupt(fuse_req_t req, void *data)
{
	struct parked *parked = data;
	struct handle *handle = parked->handle;
	bool claimed;

	pthread_mutex_lock(&handle->lock);
	claimed = parked->claimed;
	if (claimed)
		parked->interrupted = true;
	else
		unlist(parked);
	pthread_mutex_unlock(&handle->lock);
	if (claimed)
		return;
	free(parked);
	fuse_reply_err(req, EINTR);
}

static ssize_t read_now(struct handle *handle, char *bytes, size_t size)
{
	/*
	 * The kernel cuts a long read into pieces and asks for the next one when a piece came back
	 * full: that would wait, although there is something to return.
	 */
	if (size >= PARK_PIECE_MAX)
		size = PARK_PIECE_MAX - 1;
	return tree_file_read(handle->file, bytes, size, 0, NULL);
}

static bool ensure_waiter(struct handle *handle);

/* There was nothing to read: it waits, unless something was noted. */
static void unclaim(struct parked *parked)
{
	struct handle *handle = parked->handle;
	int r = -EAGAIN;

	pthread_mutex_lock(&handle->lock);
	if (parked->interrupted || handle->closing)
		r = -EINTR;
	else if (parked->woken)
		r = 0;
	else if (!ensure_waiter(handle))
		r = -ENOMEM;
	else
		parked->claimed = false;
	if (r != -EAGAIN)
		unlist(parked);
	pthread_mutex_unlock(&handle->lock);
	if (r != -EAGAIN)
		finish(parked, NULL, r);
}

/* Reads for one that is claimed, in the handle's turn. False: it waits again. */
static bool serve_claimed(struct parked *parked, int waited)
{
	char *bytes = malloc(parked->size ? parked->size : 1);
	ssize_t n = waited;

	pthread_mutex_lock(&parked->handle->lock);
	if (parked->interrupted)
		n = -EINTR;
	pthread_mutex_unlock(&parked->handle->lock);
	if (n >= 0)
		n = bytes ? read_now(parked->handle, bytes, parked->size) : -ENOMEM;
	if (n == -EAGAIN)
		unclaim(parked);
	else
		finish_claimed(parked, bytes, n);
	free(bytes);
	return n != -EAGAIN;
}

/* In the handle's turn and with its lock, which it lets go of in between. True: somebody was served. */
static bool serve(struct handle *handle, int waited)
{
	struct fuse_pollhandle *poll = NULL;
	struct parked *parked;
	bool served;

	if (handle->poll &&
	    (waited < 0 || (handle->followed ? tree_ready(handle->file) : tree_has_news(handle->file, false)))) {
		poll = handle->poll;
		handle->poll = NULL;
	}
	for (parked = handle->parked; parked && parked->claimed;)
		parked = parked->next;
	if (parked)
		parked->claimed = true;
	pthread_mutex_unlock(&handle->lock);
	if (poll) {
		fuse_lowlevel_notify_poll(poll);
		fuse_pollhandle_destroy(poll);
	}
	served = poll;
	if (parked)
		served |= serve_claimed(parked, waited);
	pthread_mutex_lock(&handle->lock);
	return served;
}

/* One wait in the handle's turn, with its lock, which it lets go of. False: it is too early for the next. */
static bool wait_once(struct handle *handle)
{
	bool served = true;
	int r;

	handle->busy = true;
	handle->sleeper = pthread_self();
	handle->asleep = true;
	pthread_mutex_unlock(&handle->lock);
	r = tree_wait(handle->file, SLICE_MS, NULL);
	pthread_mutex_lock(&handle->lock);
	handle->asleep = false;
	if (r == 1 || (r < 0 && r != -EINTR))
		served = serve(handle, r);
	handle->busy = false;
	pthread_cond_broadcast(&handle->changed);
	return served;
}

static void *wait_loop(void *arg)
{
	struct handle *handle = arg;

	pthread_mutex_lock(&handle->lock);
	while (!handle->closing) {
		if ((!handle->parked && !handle->poll) || handle->busy || handle->wanting)
			pthread_cond_wait(&handle->changed, &handle->lock);
		else if (!wait_once(handle) && !handle->closing)
			handle_wait(&handle->changed, &handle->lock, NAP_MS);
	}
	handle->waiting = false;
	pthread_cond_broadcast(&handle->changed);
	pthread_mutex_unlock(&handle->lock);
	return NULL;
}

/* With the handle's lock. */
static bool ensure_waiter(struct handle *handle)
{
	if (!handle->waiting)
		handle->waiting = !pthread_create(&handle->waiter, NULL, wait_loop, handle);
	pthread_cond_broadcast(&handle->changed);
	return handle->waiting;
}

/* Claimed, at the end of the list, and armed: what interrupts it from here on is noted. NULL: no memory. */
static struct parked *park(struct handle *handle, fuse_req_t req, size_t size, uint64_t owner)
{
	struct parked *parked = calloc(1, sizeof(*parked)), **last = &handle->parked;
	uint64_t number = wire_number();

	if (!parked)
		return NULL;
	*parked = (struct parked){ .handle = handle, .req = req, .size = size, .owner = owner,
				   .claimed = true };
	pthread_mutex_lock(&handle->lock);
	while (*last)
		last = &(*last)->next;
	*last = parked;
	/* Threads overtake each other: what was asked later may have been answered before. */
	parked->woken = number < handle->woken ||
			(owner == handle->woken_owner && number < handle->woken_own);
	pthread_mutex_unlock(&handle->lock);
	fuse_req_interrupt_func(req, interrupt, parked);
	return parked;
}

void park_read(struct handle *handle, fuse_req_t req, size_t size, uint64_t owner, bool nonblock)
{
	char *bytes = malloc(size ? size : 1);
	struct parked *parked;
	ssize_t n;

	handle_touch(handle, owner, fuse_req_ctx(req)->pid);
	parked = bytes ? park(handle, req, size, owner) : NULL;
	if (!parked) {
		free(bytes);
		fuse_reply_err(req, ENOMEM);
		return;
	}
	n = fuse_req_interrupted(req) ? -EINTR : handle_begin(handle, NULL);
	if (!n) {
		n = read_now(handle, bytes, size);
		handle_end(handle);
	}
	if (n == -EAGAIN && !nonblock)
		unclaim(parked);
	else
		finish_claimed(parked, bytes, n);
	free(bytes);
}

static unsigned int events_of(struct handle *handle)
{
	int r = tree_wait(handle->file, 0, NULL);

	if (r < 0 && r != -EINTR)
		return POLLERR;
	r = tree_ready(handle->file) ? POLLIN | POLLRDNORM : 0;
	return (unsigned int)r | (tree_has_news(handle->file, true) ? POLLPRI : 0);
}

void park_poll(struct handle *handle, fuse_req_t req, struct fuse_pollhandle *poll)
{
	struct fuse_pollhandle *old = NULL;
	unsigned int events = POLLERR;

	if (!handle_begin(handle, NULL)) {
		events = events_of(handle);
		handle_end(handle);
	}
	/* Who asks for news only sleeps, although there is something to read. */
	if (poll && (!events || (!handle->followed && !(events & (POLLPRI | POLLERR))))) {
		pthread_mutex_lock(&handle->lock);
		old = handle->poll;
		handle->poll = poll;
		if (!ensure_waiter(handle))
			events = POLLERR;
		pthread_mutex_unlock(&handle->lock);
	} else {
		old = poll;
	}
	if (old)
		fuse_pollhandle_destroy(old);
	fuse_reply_poll(req, events);
}

static bool any_waits(const struct handle *handle)
{
	for (const struct parked *parked = handle->parked; parked; parked = parked->next)
		if (!parked->woken)
			return true;
	return false;
}

/* Out of the list, into one of their own: those that wait, and are `owner`'s or anybody's. With the handle's lock. */
static struct parked *take_waiting(struct handle *handle, const uint64_t *owner)
{
	struct parked *taken = NULL, **at = &handle->parked;

	while (*at) {
		struct parked *parked = *at;
		bool meant = !owner || parked->owner == *owner;

		if (meant && parked->claimed)
			parked->woken = true;
		if (!meant || parked->claimed) {
			at = &parked->next;
			continue;
		}
		*at = parked->next;
		parked->next = taken;
		/* An interrupt that is on its way finds it out of the list. */
		parked->claimed = true;
		taken = parked;
	}
	return taken;
}

static void finish_all(struct parked *parked, ssize_t n)
{
	while (parked) {
		struct parked *next = parked->next;

		finish(parked, NULL, n);
		parked = next;
	}
}

bool park_wake(struct handle *handle, const uint64_t *owner)
{
	struct parked *parked;
	bool others;

	pthread_mutex_lock(&handle->lock);
	if (owner) {
		handle->woken_owner = *owner;
		handle->woken_own = wire_number();
	} else {
		handle->woken = wire_number();
	}
	parked = take_waiting(handle, owner);
	others = any_waits(handle);
	pthread_mutex_unlock(&handle->lock);
	finish_all(parked, 0);
	return others;
}

void park_stop(struct handle *handle)
{
	struct parked *parked;
	bool ran;

	pthread_mutex_lock(&handle->lock);
	handle->closing = true;
	ran = handle->waiting;
	pthread_cond_broadcast(&handle->changed);
	while (handle->waiting) {
		if (handle->asleep)
			pthread_kill(handle->sleeper, HANDLE_KICK);
		handle_wait(&handle->changed, &handle->lock, NAP_MS);
	}
	parked = take_waiting(handle, NULL);
	pthread_mutex_unlock(&handle->lock);
	if (ran)
		pthread_join(handle->waiter, NULL);
	finish_all(parked, -EINTR);
	if (handle->poll)
		fuse_pollhandle_destroy(handle->poll);
	handle->poll = NULL;
}
