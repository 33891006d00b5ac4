/*
 * mount/handles: see handles.h.
 */
#include "mount/handles.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mount/inodes.h"

/* A kick that comes just before the sleep is lost, so it is given again after this time. */
#define KICK_AGAIN_MS 5
/* The release is on its way already, so that this is for a machine that is very busy. */
#define LEAVING_MS 2000

void handle_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
}

static struct timespec after(int ms)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	at.tv_sec += ms / 1000;
	at.tv_nsec += ms % 1000 * 1000000L;
	if (at.tv_nsec >= 1000000000) {
		at.tv_sec++;
		at.tv_nsec -= 1000000000;
	}
	return at;
}

void handle_wait(pthread_cond_t *cond, pthread_mutex_t *lock, int ms)
{
	struct timespec at = after(ms);

	pthread_cond_timedwait(cond, lock, &at);
}

void handles_init(struct handles *all)
{
	memset(all, 0, sizeof(*all));
	pthread_mutex_init(&all->lock, NULL);
	handle_cond_init(&all->changed);
}

void handles_fini(struct handles *all)
{
	while (all->nidle)
		control_close(all->idle[--all->nidle]);
	pthread_cond_destroy(&all->changed);
	pthread_mutex_destroy(&all->lock);
}

static void enlist(struct handle *handle)
{
	struct handles *all = handle->all;

	pthread_mutex_lock(&all->lock);
	handle->next = all->first;
	handle->link = &all->first;
	if (handle->next)
		handle->next->link = &handle->next;
	all->first = handle;
	pthread_mutex_unlock(&all->lock);
}

static void delist(struct handle *handle)
{
	struct handles *all = handle->all;

	pthread_mutex_lock(&all->lock);
	*handle->link = handle->next;
	if (handle->next)
		handle->next->link = handle->link;
	all->left++;
	pthread_cond_broadcast(&all->changed);
	pthread_mutex_unlock(&all->lock);
}

struct control *handles_take_idle(struct handles *all)
{
	struct control *control = NULL;

	pthread_mutex_lock(&all->lock);
	if (all->nidle)
		control = all->idle[--all->nidle];
	pthread_mutex_unlock(&all->lock);
	return control;
}

/* Paths of one buffer begin alike: the length of "instances/NAME", 0 for the top. */
static size_t buffer_len(const char *path)
{
	static const char *const folders[] = { "instances/", HANDLES_REMOTES };

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		size_t len = strlen(folders[i]);

		if (!strncmp(path, folders[i], len))
			return len + strcspn(path + len, "/");
	}
	return 0;
}

/* At an event: with other files something may go when they are closed, as locks do. */
static bool only_looked(const struct handle *handle)
{
	const char *path = handle->path + buffer_len(handle->path);

	return handle->flags == TREE_READ && !handle->followed && !strncmp(path + (*path == '/'), "events/", 7);
}

static void leave_control(struct handle *handle)
{
	struct handles *all = handle->all;
	struct control *control = handle->control;

	if (only_looked(handle) && !control->pauses && !control->owned) {
		pthread_mutex_lock(&all->lock);
		if (all->nidle < HANDLES_IDLE) {
			all->idle[all->nidle++] = control;
			control = NULL;
		}
		pthread_mutex_unlock(&all->lock);
	}
	control_close(control);
}

int handle_open(struct handle **out, struct handles *all, struct control *control, const char *path,
		unsigned int flags, struct err *err)
{
	struct handle *handle = calloc(1, sizeof(*handle));
	int r = -ENOMEM;

	if (handle)
		handle->path = strdup(path);
	if (handle && handle->path)
		r = tree_open(&handle->file, control, path, flags, err);
	if (r) {
		if (handle)
			free(handle->path);
		free(handle);
		control_close(control);
		return r;
	}
	handle->all = all;
	handle->control = control;
	handle->flags = flags;
	handle->followed = tree_is_followed(handle->file);
	handle->polled = tree_is_polled(handle->file);
	pthread_mutex_init(&handle->lock, NULL);
	handle_cond_init(&handle->changed);
	enlist(handle);
	*out = handle;
	return 0;
}

void handle_close(struct handle *handle)
{
	if (handle->file)
		tree_close(handle->file, NULL);
	leave_control(handle);
	/* Only now has it left. */
	delist(handle);
	pthread_cond_destroy(&handle->changed);
	pthread_mutex_destroy(&handle->lock);
	free(handle->path);
	free(handle);
}

static void take_turn(struct handle *handle)
{
	pthread_mutex_lock(&handle->lock);
	handle->wanting++;
	while (handle->busy) {
		if (handle->asleep)
			pthread_kill(handle->sleeper, HANDLE_KICK);
		handle_wait(&handle->changed, &handle->lock, KICK_AGAIN_MS);
	}
	handle->wanting--;
	handle->busy = true;
	handle->control->asker = handle->asker;
	pthread_mutex_unlock(&handle->lock);
}

void handle_end(struct handle *handle)
{
	pthread_mutex_lock(&handle->lock);
	handle->busy = false;
	pthread_cond_broadcast(&handle->changed);
	pthread_mutex_unlock(&handle->lock);
}

int handle_begin(struct handle *handle, struct err *err)
{
	int r;

	take_turn(handle);
	if (handle->file)
		return 0;
	r = tree_open(&handle->file, handle->control, handle->path, handle->flags & ~TREE_TRUNC,
		      err);
	if (r) {
		handle->file = NULL;
		handle_end(handle);
		/* It was there when it was opened. */
		return r == -ENOENT ? -ENODEV : r;
	}
	return 0;
}

static void note_leaving(struct handle *handle, bool leaving)
{
	pthread_mutex_lock(&handle->all->lock);
	handle->leaving = leaving;
	pthread_cond_broadcast(&handle->all->changed);
	pthread_mutex_unlock(&handle->all->lock);
}

void handle_touch(struct handle *handle, uint64_t owner, pid_t asker)
{
	pthread_mutex_lock(&handle->lock);
	handle->used = true;
	handle->owner = owner;
	handle->asker = asker;
	pthread_mutex_unlock(&handle->lock);
	note_leaving(handle, false);
}

int handle_flush(struct handle *handle, uint64_t owner, pid_t asker, bool others, struct err *err)
{
	bool last, used;
	int r = 0;

	pthread_mutex_lock(&handle->lock);
	used = handle->used;
	last = (!used || handle->owner == owner) && !others;
	if (last)
		handle->asker = asker;
	pthread_mutex_unlock(&handle->lock);
	if (last && used && !handle->followed) {
		take_turn(handle);
		if (handle->file)
			r = tree_close(handle->file, err);
		handle->file = NULL;
		handle_end(handle);
	}
	if (last)
		note_leaving(handle, true);
	return r;
}

bool handles_below(struct handles *all, const char *path)
{
	bool found = false;

	pthread_mutex_lock(&all->lock);
	for (struct handle *handle = all->first; handle && !found; handle = handle->next)
		found = inode_path_below(handle->path, path);
	pthread_mutex_unlock(&all->lock);
	return found;
}

static bool any_leaving(const struct handles *all, const char *path, bool followed)
{
	size_t len = buffer_len(path);

	for (const struct handle *handle = all->first; handle; handle = handle->next)
		if (handle->leaving && handle->followed >= followed && buffer_len(handle->path) == len &&
		    !strncmp(handle->path, path, len))
			return true;
	return false;
}

void handles_wait_pipes(struct handles *all, const char *path)
{
	struct timespec until = after(LEAVING_MS);
	bool timeout = strncmp(path, HANDLES_REMOTES, strlen(HANDLES_REMOTES));

	pthread_mutex_lock(&all->lock);
	while (!timeout && any_leaving(all, path, true))
		timeout = pthread_cond_timedwait(&all->changed, &all->lock, &until) != 0;
	pthread_mutex_unlock(&all->lock);
}

uint64_t handles_left(struct handles *all)
{
	uint64_t left;

	pthread_mutex_lock(&all->lock);
	left = all->left;
	pthread_mutex_unlock(&all->lock);
	return left;
}

bool handles_wait_leaving(struct handles *all, const char *path, uint64_t left)
{
	struct timespec until = after(LEAVING_MS);
	bool had, timeout = false;

	pthread_mutex_lock(&all->lock);
	had = all->left != left || any_leaving(all, path, false);
	while (any_leaving(all, path, false) && !timeout)
		timeout = pthread_cond_timedwait(&all->changed, &all->lock, &until) != 0;
	pthread_mutex_unlock(&all->lock);
	return had;
}
