/*
 * inject/x86_64/borrow: a thread of another process is borrowed and makes calls there.
 *
 *	borrow_begin()	a thread that can be disturbed, stopped; memory of ours in its process
 *	borrow_call()	any number of times
 *	borrow_end()	no memory of ours; the thread goes on where it was
 *
 * The other threads run meanwhile: they may hold locks that a call waits for. But see still.h.
 */
#ifndef INJECT_X86_64_BORROW_H
#define INJECT_X86_64_BORROW_H

#include <stdint.h>

#include "inject/image.h"
#include "inject/x86_64/dispatch.h"
#include "inject/x86_64/tracee.h"

struct borrow {
	const struct image *image;
	struct tracee tracee;
	uint64_t gadget;	/* a `syscall` in its libc */
	uint64_t memory;	/* code and texts, then a stack; 0: none yet */
	uint64_t text;		/* where the next text goes */
	uint64_t frame;		/* the top of that stack: what takes it back without us */
	uint64_t errno_at;	/* 0: not known */
	int error;		/* its errno, as it was found */
	int bell;		/* the signal by which it says that a call is over, 0: its system calls are watched */
	bool foreign;		/* what is called is not ours: nobody knows which system calls it makes */
	uint64_t held;		/* signals that came meanwhile and that it still gets */
	bool broke_sleep;	/* a call of ours made it forget how long to sleep */
	struct dispatch dispatch;	/* what is to become of its system calls afterwards */
	bool left;		/* it is still busy with our call, and goes back by itself */
};

/* Is there all in it that it takes? */
bool borrow_can(const struct image *image);
/* -EBUSY: no thread could be borrowed in the time there is. -ESTALE: it is another program than the image tells of. */
int borrow_begin(struct borrow *borrow, const struct image *image, struct err *err);
/* -ETIMEDOUT: it is still at it, and is left to finish; nothing more can be called. -EFAULT: it failed. -ESRCH: it is gone. */
int borrow_call(struct borrow *borrow, uint64_t function, uint64_t a, uint64_t b, uint64_t *result, struct err *err);
/* Puts a text into its memory; 0: no room. Until borrow_end(). */
uint64_t borrow_text(struct borrow *borrow, const char *text);
/* The same for bytes that no call changes, one such at a time: below the stack of calls. */
uint64_t borrow_list(struct borrow *borrow, const void *bytes, size_t len);
void borrow_end(struct borrow *borrow);

#endif
