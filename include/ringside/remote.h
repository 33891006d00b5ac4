/*
 * ringside/remote.h: to bring a tracing remote: a simulator, a virtual machine monitor or a driver shows what
 * its firmware, guest or other side traces, as remotes/NAME/ in a tracing directory.
 *
 *	static const struct ringside_control_remote_callbacks callbacks = {
 *		.load_trace_buffer = load,
 *		.unload_trace_buffer = unload,
 *	};
 *
 *	ringside_control_remote_register(&remote, tree, "board", &callbacks, board, events, 2);
 *	...
 *	ringside_control_remote_unregister(remote);
 *
 * Link with libringside-control. The callbacks are the kernel's, for those who know its remotes. Whoever writes
 * to a file of remotes/NAME/, in this program or another one of the same user, has them called: one at a time,
 * in a thread that registering starts, with all signals blocked. They return 0 or a negative error number, which
 * is then that of the file. They come back soon: after a second or two those who wait are told that this program
 * does not answer, and what they asked for is not done if it was not begun. They touch neither files of their own
 * remote nor its registration.
 *
 * Events are written by fw/, which comes in source (pkg-config --variable=fwdir ringside-control): into firmware, or
 * hosted (fw/hosted.h), by threads of this program or by others that see the memory. Readers go to the memory
 * directly, and cost who writes nothing.
 */
#ifndef RINGSIDE_REMOTE_H
#define RINGSIDE_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ringside/control.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ringside_control_remote;	/* one that is registered */
struct ringside_fw_text;	/* an event: fw/define_remote_events.h makes them, remote_event_NAME */

/* ---- buffers ---- */

/* A memory with a header of fw/layout.h in it, and rings. */
struct ringside_control_remote_buffer {
	int fd;			/* a file or a device; those who read get it, too */
	uint64_t header;	/* where in it the header is */
	void *memory;		/* where it is mapped here, and how much of it: for those who write. Who brings a */
	size_t size;		/* memory of his own leaves this alone */
};

enum {
	RINGSIDE_CONTROL_REMOTE_DISCARD = 1,	/* what comes when a ring is full is refused: the oldest stays */
};

struct ringside_control_remote_how {
	size_t size;		/* bytes of each CPU's ring; rounded up */
	unsigned int nr_cpus;	/* up to 1024 */
	unsigned int page_size;	/* 256 to 4096, a power of two; 0: 4096 */
	unsigned int nr_events;	/* IDs are below that, up to 65535; 0: 1024 */
	unsigned int flags;
};

/*
 * Makes a buffer of memory that needs no file, that cannot be cut off, and that fw/hosted.h can write to:
 * ringside_fw_hosted_open(&fw, buffer->memory, buffer->size). What it is asked for is what load_trace_buffer() is
 * asked for. -EINVAL: there is none of that kind. Frees one: nobody may write to it any more.
 */
RINGSIDE_CONTROL_API int
ringside_control_remote_alloc_buffer(struct ringside_control_remote_buffer *buffer,
				     const struct ringside_control_remote_how *how);
RINGSIDE_CONTROL_API void
ringside_control_remote_free_buffer(const struct ringside_control_remote_buffer *buffer);

/* ---- remotes ---- */

/*
 * Each but load_trace_buffer may be NULL. What they are told is also in the buffer: when enable_tracing,
 * enable_event or reset returned 0, the control words and the ring's `asked` are set, as the writers of fw/ want
 * them, unless the descriptor can only be read. Only changes are told.
 */
struct ringside_control_remote_callbacks {
	/* Once, in the thread that registers, before any other. */
	int (*init)(void *priv);
	/* A buffer is wanted: tracing_on is to be 1, or somebody takes events out. `size`: bytes a CPU. */
	int (*load_trace_buffer)(unsigned long size, struct ringside_control_remote_buffer *buffer,
				 void *priv);
	/* It is not any more: it is off, empty, and nobody reads it. Or the remote goes. */
	void (*unload_trace_buffer)(const struct ringside_control_remote_buffer *buffer, void *priv);
	/* The file tracing_on; there is a buffer. */
	int (*enable_tracing)(bool enable, void *priv);
	/* Who takes events out has come to another page; where a full ring refuses events, there is room now. */
	int (*swap_reader_page)(unsigned int cpu, void *priv);
	/* The ring is to be empty. Who writes to it does that by his next event, or ringside_fw_hosted_tick(). */
	int (*reset)(unsigned int cpu, void *priv);
	/* The file enable of one of the events; maybe before there is a buffer, which begins with what is on. */
	int (*enable_event)(unsigned short id, bool enable, void *priv);
};

/*
 * From now on the tracing directory has a remote of that name. `events`: strictly rising by their IDs, below 1024;
 * they are copied, and so are the callbacks. The tree may be closed before the remote is unregistered.
 *
 * -EEXIST: there is one of that name; if that was another program's, which is gone, it is replaced. -EINVAL: no
 * such name, callbacks or events. -EOPNOTSUPP: the tree is no tracing directory. Else what init() returned, or
 * what cannot be had. ringside_control_error() has the words. On failure *remote is NULL.
 */
RINGSIDE_CONTROL_API int
ringside_control_remote_register(struct ringside_control_remote **remote,
				 struct ringside_control *tree, const char *name,
				 const struct ringside_control_remote_callbacks *callbacks,
				 void *priv, const struct ringside_fw_text *const *events,
				 size_t nr_events);

/*
 * Takes it out of the directory. When this returns, no callback runs or will: if need be, tracing was switched off
 * and the buffer unloaded, in this thread. Who reads gets what is left, and then -ENODEV. NULL is none.
 *
 * A program that ends without this, or is killed, leaves remotes/NAME/, whose files say that it is gone; `ringside
 * remote remove NAME`, or the next one that registers the name, clears it away. A child of fork() has no part in it.
 */
RINGSIDE_CONTROL_API void
ringside_control_remote_unregister(struct ringside_control_remote *remote);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
