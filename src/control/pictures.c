/*
 * control/pictures: see pictures.h.
 *
 * Is a picture still true? Whoever brings something claims a slot, takes a number, and marks the slot ready. So
 * a picture that saw no claimed slot is true until the number moves; one that did may miss what was under way,
 * and is looked at again after a moment, for ever if the claimant died.
 */
#include "control/pictures.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/mono.h"

#define MOMENT_NS 50000000ull

struct control_picture {
	struct control_registry registry;
	uint64_t number;
	uint64_t read_at;
	uint32_t users;		/* atomic */
};

struct control_pictures {
	pthread_mutex_t lock;
	struct control_picture *newest;
	struct plan_memory *plans;	/* NULL: nobody asked yet */
	uint32_t users;		/* atomic */
};

struct control_pictures *control_pictures_open(void)
{
	struct control_pictures *pictures = calloc(1, sizeof(*pictures));

	if (pictures) {
		pthread_mutex_init(&pictures->lock, NULL);
		pictures->users = 1;
	}
	return pictures;
}

struct control_pictures *control_pictures_share(struct control_pictures *pictures)
{
	__atomic_fetch_add(&pictures->users, 1, __ATOMIC_RELAXED);
	return pictures;
}

void control_pictures_leave(struct control_picture **mine)
{
	struct control_picture *picture = *mine;

	*mine = NULL;
	if (!picture || __atomic_sub_fetch(&picture->users, 1, __ATOMIC_ACQ_REL))
		return;
	control_registry_fini(&picture->registry);
	free(picture);
}

void control_pictures_close(struct control_pictures *pictures)
{
	if (!pictures || __atomic_sub_fetch(&pictures->users, 1, __ATOMIC_ACQ_REL))
		return;
	control_pictures_leave(&pictures->newest);
	plan_memory_close(pictures->plans);
	pthread_mutex_destroy(&pictures->lock);
	free(pictures);
}

struct plan_memory *control_pictures_plans(struct control_pictures *pictures)
{
	struct plan_memory *plans;

	pthread_mutex_lock(&pictures->lock);
	if (!pictures->plans)
		pictures->plans = plan_memory_open();
	plans = pictures->plans;
	pthread_mutex_unlock(&pictures->lock);
	return plans;
}

static bool is_true(const struct control_picture *picture, uint64_t number)
{
	return picture && picture->number == number &&
	       (!picture->registry.unsettled || mono_ns() - picture->read_at < MOMENT_NS);
}

static struct control_picture *paint(const struct segment_dir *dir, uint64_t number, struct err *err)
{
	struct control_picture *picture = calloc(1, sizeof(*picture));

	if (!picture) {
		err_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	picture->number = number;
	picture->read_at = mono_ns();
	picture->users = 1;
	if (control_registry_read(&picture->registry, dir, CONTROL_REGISTRY_EVENTS, err)) {
		free(picture);
		return NULL;
	}
	return picture;
}

const struct control_registry *control_pictures_take(struct control_pictures *pictures,
						     struct control_picture **mine,
						     const struct segment_dir *dir,
						     struct err *err)
{
	struct control_picture *fresh;
	uint64_t number;

	/* The number first: what is brought after it makes the picture untrue. */
	if (control_registry_number(dir, &number, err))
		return NULL;
	pthread_mutex_lock(&pictures->lock);
	if (!is_true(pictures->newest, number)) {
		fresh = paint(dir, number, err);
		if (!fresh) {
			pthread_mutex_unlock(&pictures->lock);
			return NULL;
		}
		control_pictures_leave(&pictures->newest);
		pictures->newest = fresh;
	}
	if (*mine != pictures->newest) {
		control_pictures_leave(mine);
		__atomic_fetch_add(&pictures->newest->users, 1, __ATOMIC_RELAXED);
		*mine = pictures->newest;
	}
	pthread_mutex_unlock(&pictures->lock);
	return &(*mine)->registry;
}
