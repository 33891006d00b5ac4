/*
 * control/pause: see pause.h. The locks are on bytes of the control file far behind its end, one a buffer.
 */
#include "control/pause.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define LOCKS_AT (1ll << 40)

static struct flock byte(short type, uint32_t place)
{
	return (struct flock){ .l_type = type, .l_whence = SEEK_SET, .l_start = LOCKS_AT + place,
			       .l_len = 1 };
}

static bool lock(struct control *control, short type, uint32_t place)
{
	struct flock lock = byte(type, place);

	if (fcntl(control->dir.fd[SEGMENT_CONTROL], F_OFD_SETLK, &lock))
		return false;
	control->pauses &= ~(1ull << place);
	if (type != F_UNLCK)
		control->pauses |= 1ull << place;
	return true;
}

static bool is_held(const struct control *control, uint32_t place)
{
	struct flock lock = byte(F_WRLCK, place);

	/* The kernel does not tell us about ourselves. */
	return control->pauses & 1ull << place ||
	       (!fcntl(control->dir.fd[SEGMENT_CONTROL], F_OFD_GETLK, &lock) &&
		lock.l_type != F_UNLCK);
}

int control_pause(struct control *control, uint32_t place, struct err *err)
{
	int r = 0;

	/* The lock first: a pause without one is ended by whoever comes. */
	if (!lock(control, F_RDLCK, place))
		r = err_set(err, -ENOLCK, "%s/control: cannot be locked", control->dir.path);
	if (!r)
		r = control_begin(control, err);
	if (!r) {
		control->state.buffers[place].flags |= BUFFER_PAUSED;
		r = control_commit(control, err);
	}
	if (r)
		lock(control, F_UNLCK, place);
	return r;
}

void control_resume(struct control *control, uint32_t place)
{
	lock(control, F_UNLCK, place);
	if (!control_begin(control, NULL))
		control_commit(control, NULL);
}

void control_pause_check(struct control *control)
{
	struct control_state *state = &control->state;

	for (uint32_t i = 0; i < state->nbuffers; i++)
		if (state->buffers[i].flags & BUFFER_PAUSED && !is_held(control, i))
			state->buffers[i].flags &= ~(uint32_t)BUFFER_PAUSED;
}
