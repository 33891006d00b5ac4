/*
 * library/remote: <ringside/remote.h>: remotes that the program brings, and buffers for them. What is done with the former is remote/serve.h;
 * the latter are for the writer of fw/ in this program or another one.
 */
#include "ringside/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fw/hosted.h"
#include "library/library.h"
#include "remote/serve.h"

#define USUAL_EVENTS 1024u
#define USUAL_PAGE 4096u

_Static_assert((unsigned int)RINGSIDE_CONTROL_REMOTE_DISCARD == RINGSIDE_FW_DISCARD, "one flag");

struct ringside_control_remote {
	struct remote_serving *serving;
};

/* ---- buffers ---- */

static int geometry(const struct ringside_control_remote_how *how, struct ringside_fw_hosted_how *out)
{
	unsigned int page = how->page_size ? how->page_size : USUAL_PAGE;

	*out = (struct ringside_fw_hosted_how){
		.nr_rings = how->nr_cpus, .nr_pages = 2, .nr_events = how->nr_events ? how->nr_events : USUAL_EVENTS, .flags = how->flags,
	};
	if (page & (page - 1))
		return -EINVAL;
	while (out->page_shift < 31 && 1u << out->page_shift < page)
		out->page_shift++;
	while (out->nr_pages < RINGSIDE_FW_HOSTED_PAGES && (uint64_t)out->nr_pages * page < how->size)
		out->nr_pages *= 2;
	return ringside_fw_hosted_size(out) && (uint64_t)out->nr_pages * page >= how->size ? 0 : -EINVAL;
}

int ringside_control_remote_alloc_buffer(struct ringside_control_remote_buffer *buffer,
					 const struct ringside_control_remote_how *how)
{
	struct ringside_fw_hosted_how hosted;
	int r = buffer && how ? geometry(how, &hosted) : -EINVAL;
	size_t size;
	int fd;

	if (r)
		return r;
	size = ringside_fw_hosted_size(&hosted);
	fd = memfd_create("ringside-remote", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	*buffer = (struct ringside_control_remote_buffer){ .fd = fd, .memory = MAP_FAILED, .size = size };
	/* All of it is there from the start: who writes does not die of what is missing. */
	r = -posix_fallocate(fd, 0, (off_t)size);
	if (!r && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		r = -errno;
	if (!r) {
		buffer->memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		r = buffer->memory == MAP_FAILED ? -errno : ringside_fw_hosted_init(buffer->memory, size, &hosted);
	}
	if (r) {
		ringside_control_remote_free_buffer(buffer);
		*buffer = (struct ringside_control_remote_buffer){ .fd = -1 };
	}
	return r;
}

void ringside_control_remote_free_buffer(const struct ringside_control_remote_buffer *buffer)
{
	if (!buffer)
		return;
	if (buffer->memory && buffer->memory != MAP_FAILED)
		munmap(buffer->memory, buffer->size);
	if (buffer->fd >= 0)
		close(buffer->fd);
}

/* ---- remotes ---- */

int ringside_control_remote_register(struct ringside_control_remote **remote, struct ringside_control *tree, const char *name,
				     const struct ringside_control_remote_callbacks *callbacks, void *priv,
				     const struct ringside_fw_text *const *events, size_t nr_events)
{
	struct remote_offer offer = { .name = name, .callbacks = callbacks, .priv = priv, .events = events, .nr_events = nr_events };
	struct ringside_control_remote *made;
	struct control *control;
	int r;

	*remote = NULL;
	r = library_begin(tree);
	if (r)
		return r;
	control = source_control(tree->source);
	if (!control)
		return err_set(&tree->err, -EOPNOTSUPP, "only a tracing directory can be brought remotes");
	made = calloc(1, sizeof(*made));
	if (!made)
		return err_set(&tree->err, -ENOMEM, "out of memory");
	r = remote_register(&made->serving, control->dir.dir, &offer, &tree->err);
	if (r) {
		free(made);
		return r;
	}
	*remote = made;
	return 0;
}

void ringside_control_remote_unregister(struct ringside_control_remote *remote)
{
	if (!remote)
		return;
	remote_unregister(remote->serving);
	free(remote);
}
