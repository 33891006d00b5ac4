/*
 * mount/park: see park.h.
 */
#include "mount/park.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#define SLICE_MS 500
/* Where waiting says that there is something and reading finds nothing, or less than poll(2) wants. */
#define NAP_MS 10

struct parked {
	struct parked *next;
	struct handle *handle;
	fuse_req_t req;
	size_t size;
	uint64_t owner;
	bool interrupted;	/* while it was not in the list */
};

static void answer(fuse_req_t req, const char *bytes, ssize_t n)
{
	if (n < 0)
		fuse_reply_err(req, (int)-n);
	else
		fuse_reply_buf(req, bytes, (size_t)n);
}

/* Nobody interrupts it from here on. Not with the handle's lock. */
static void disarm(struct parked *parked)
{
	fuse_req_interrupt_func(parked->req, NULL, NULL);
}

static void finish(struct parked *parked, const char *bytes, ssize_t n)
{
	fuse_req_t req = parked->req;

	disarm(parked);
	free(parked);
	answer(req, bytes, n);
}

static bool unlist(struct parked *parked)
{
	struct parked **at = &parked->handle->parked;

	while (*at && *at != parked)
		at = &(*at)->next;
	if (!*at)
		return false;
	*at = parked->next;
	return true;
}

/* libfuse calls it with its lock of the request, from the thread that got the interrupt or armed it. */
static void interrupt(fuse_req_t req, void *data)
{
	struct parked *parked = data;
	struct handle *handle = parked->handle;
	bool listed;

	pthread_mutex_lock(&handle->lock);
	listed = unlist(parked);
	if (!listed)
		parked->interrupted = true;
	pthread_mutex_unlock(&handle->lock);
	if (!listed)
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

static void list(struct parked *parked);

/* Reads for a request that was claimed, in the handle's turn. False: it was listed again. */
static bool serve_claimed(struct parked *parked, int waited)
{
	char *bytes = malloc(parked->size ? parked->size : 1);
	ssize_t n = waited < 0 ? waited : -ENOMEM;

	disarm(parked);
	if (parked->interrupted)
		n = -EINTR;
	else if (bytes && waited >= 0)
		n = read_now(parked->handle, bytes, parked->size);
	if (n == -EAGAIN)
		list(parked);
	else
		finish(parked, bytes, n);
	free(bytes);
	return n != -EAGAIN;
}

/* In the handle's turn and with its lock, which it lets go of in between. True: somebody was served. */
static bool serve(struct handle *handle, int waited)
{
	struct fuse_pollhandle *poll = NULL;
	struct parked *parked;
	bool served;

	if (handle->poll && (waited < 0 || tree_ready(handle->file))) {
		poll = handle->poll;
		handle->poll = NULL;
	}
	parked = handle->parked;
	if (parked)
		handle->parked = parked->next;
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

/* Armed first: what interrupts it before it is in the list is seen here. */
static void list(struct parked *parked)
{
	struct handle *handle = parked->handle;
	struct parked **last = &handle->parked;
	int r = 0;

	fuse_req_interrupt_func(parked->req, interrupt, parked);
	pthread_mutex_lock(&handle->lock);
	if (parked->interrupted || handle->closing)
		r = -EINTR;
	else if (!ensure_waiter(handle))
		r = -ENOMEM;
	if (!r) {
		while (*last)
			last = &(*last)->next;
		parked->next = NULL;
		*last = parked;
	}
	pthread_mutex_unlock(&handle->lock);
	if (r)
		finish(parked, NULL, r);
}

void park_read(struct handle *handle, fuse_req_t req, size_t size, uint64_t owner, bool nonblock)
{
	char *bytes = malloc(size ? size : 1);
	struct parked *parked;
	ssize_t n;

	handle_touch(handle, owner);
	n = !bytes ? -ENOMEM : fuse_req_interrupted(req) ? -EINTR : handle_begin(handle, NULL);
	if (!n) {
		n = read_now(handle, bytes, size);
		handle_end(handle);
	}
	if (n == -EAGAIN && !nonblock) {
		parked = calloc(1, sizeof(*parked));
		n = -ENOMEM;
		if (parked) {
			*parked = (struct parked){ NULL, handle, req, size, owner, false };
			list(parked);
			free(bytes);
			return;
		}
	}
	answer(req, bytes, n);
	free(bytes);
}

static unsigned int events_of(struct handle *handle)
{
	int r = tree_wait(handle->file, 0, NULL);

	if (r < 0 && r != -EINTR)
		return POLLERR;
	return tree_ready(handle->file) ? POLLIN | POLLRDNORM : 0;
}

void park_poll(struct handle *handle, fuse_req_t req, struct fuse_pollhandle *poll)
{
	struct fuse_pollhandle *old = NULL;
	unsigned int events = POLLERR;

	if (!handle_begin(handle, NULL)) {
		events = events_of(handle);
		handle_end(handle);
	}
	if (poll && !events) {
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

/* Those that are `owner`'s, NULL: all, in a list of their own. With the handle's lock. */
static struct parked *claim_all(struct handle *handle, const uint64_t *owner)
{
	struct parked *mine = NULL, **at = &handle->parked;

	while (*at) {
		struct parked *parked = *at;

		if (owner && parked->owner != *owner) {
			at = &parked->next;
			continue;
		}
		*at = parked->next;
		parked->next = mine;
		mine = parked;
	}
	return mine;
}

static void finish_all(struct parked *parked, ssize_t n)
{
	while (parked) {
		struct parked *next = parked->next;

		finish(parked, NULL, n);
		parked = next;
	}
}

void park_wake(struct handle *handle, const uint64_t *owner)
{
	struct parked *parked;

	pthread_mutex_lock(&handle->lock);
	parked = claim_all(handle, owner);
	pthread_mutex_unlock(&handle->lock);
	finish_all(parked, 0);
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
	parked = claim_all(handle, NULL);
	pthread_mutex_unlock(&handle->lock);
	if (ran)
		pthread_join(handle->waiter, NULL);
	finish_all(parked, -EINTR);
	if (handle->poll)
		fuse_pollhandle_destroy(handle->poll);
	handle->poll = NULL;
}
