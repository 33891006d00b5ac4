/*
 * control/own: see own.h. The locks are on bytes of the control file far behind its end, one a buffer, as those of pause.c.
 * They are shared: who still holds the byte of an instance that was removed under him does not keep others from its place.
 */
#include "control/own.h"

#include <errno.h>
#include <fcntl.h>

#include "control/buffer.h"

#define LOCKS_AT ((1ll << 40) + 4096)

static struct flock byte(short type, uint32_t place)
{
	return (struct flock){ .l_type = type, .l_whence = SEEK_SET, .l_start = LOCKS_AT + place,
			       .l_len = 1 };
}

static int own(struct control *control, const char *name, struct err *err)
{
	struct state_buffer *buffer;
	struct flock lock;
	int r, place;

	r = control_buffer_add(control, name, err);
	if (r)
		return r;
	place = control_state_buffer(&control->state, name);
	lock = byte(F_RDLCK, (uint32_t)place);
	if (fcntl(control->dir.fd[SEGMENT_CONTROL], F_OFD_SETLK, &lock))
		return err_set(err, -ENOLCK, "%s/control: cannot be locked", control->dir.path);
	buffer = &control->state.buffers[place];
	buffer->flags |= BUFFER_OWNED;
	control->owned |= 1ull << place;
	return 0;
}

int control_own_add(struct control *control, const char *name, struct err *err)
{
	int r = control_begin(control, err);

	if (r)
		return r;
	/* The lock comes before what it is for can be seen: nobody finds the instance without it. */
	return control_end(control, own(control, name, err), err);
}

int control_own_release(struct control *control, struct err *err)
{
	int r = control_begin(control, err);

	if (r)
		return r;
	for (uint32_t i = 1; i < control->state.nbuffers; i++)
		if (control->owned & 1ull << i)
			control->state.buffers[i].flags &= ~(uint32_t)BUFFER_OWNED;
	control->owned = 0;
	return control_end(control, 0, err);
}

static bool is_orphan(const struct control *control, uint32_t place)
{
	const struct state_buffer *buffer = &control->state.buffers[place];
	struct flock lock = byte(F_WRLCK, place);

	/* The kernel does not tell us about ourselves. */
	return buffer->born && buffer->flags & BUFFER_OWNED && !(control->owned & 1ull << place) &&
	       !fcntl(control->dir.fd[SEGMENT_CONTROL], F_OFD_GETLK, &lock) && lock.l_type == F_UNLCK;
}

static bool has_orphan(const struct control *control)
{
	for (uint32_t i = 1; i < control->state.nbuffers; i++)
		if (is_orphan(control, i))
			return true;
	return false;
}

int control_own_sweep(struct control *control, struct err *err)
{
	int n = 0, r;

	r = control_refresh(control, err);
	if (r || !has_orphan(control))
		return r;
	r = control_begin(control, err);
	if (r)
		return r;
	for (uint32_t i = 1; i < control->state.nbuffers; i++)
		if (is_orphan(control, i) && !control_buffer_remove(control, i, NULL))
			n++;
	r = control_end(control, 0, err);
	return r ? r : n;
}
