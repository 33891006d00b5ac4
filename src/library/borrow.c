/*
 * library/borrow: whose runtime writes the markers of this process.
 *
 * A marker goes into a ring as any program's event does, so control/mark attaches a runtime to
 * the directory. A program that is traced has one already, in libringside, and two of them in one
 * directory would be one too many: so that one is borrowed. A program without libringside, or one
 * that is traced in another directory, gets the runtime that this library carries, when the first
 * marker is written and not before: by itself it never attaches.
 *
 *   control/mark -- runtime_attach, _write_to, _tell_name --> here --> ringside_runtime_lend(): libringside's
 *                                                                  \-> __real_...: our own
 *
 * The linker leads the calls here (--wrap in meson.build). Threads that write to different trees
 * may come at once; each first attaches, and that decides where what it writes next goes.
 */
#include <errno.h>
#include <pthread.h>

#include "runtime/lend.h"
#include "runtime/runtime.h"

/* There, if the program has libringside. */
extern __typeof__(ringside_runtime_lend) ringside_runtime_lend __attribute__((weak));

/* Never at start: see runtime/attach.c. */
extern const int ringside_no_attach __attribute__((visibility("hidden")));
const int ringside_no_attach = 1;

int __real_runtime_attach(const char *path);
int __real_runtime_write_to(uint32_t b, uint64_t born, uint32_t id, void *record, size_t len,
			    int32_t tid);
void __real_runtime_tell_name(int32_t tid, int32_t tgid, uint32_t start, const char comm[16]);
int __wrap_runtime_attach(const char *path);
int __wrap_runtime_write_to(uint32_t b, uint64_t born, uint32_t id, void *record, size_t len,
			    int32_t tid);
void __wrap_runtime_tell_name(int32_t tid, int32_t tgid, uint32_t start, const char comm[16]);

static __thread const struct runtime_loan *borrowed;

int __wrap_runtime_attach(const char *path)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	const struct runtime_loan *loan = NULL;
	int r;

	if (ringside_runtime_lend)
		loan = ringside_runtime_lend(RUNTIME_LOAN);
	borrowed = loan && loan->is_at(path) ? loan : NULL;
	if (borrowed)
		return -EALREADY;
	pthread_mutex_lock(&lock);
	r = __real_runtime_attach(path);
	pthread_mutex_unlock(&lock);
	return r;
}

int __wrap_runtime_write_to(uint32_t b, uint64_t born, uint32_t id, void *record, size_t len,
			    int32_t tid)
{
	if (borrowed)
		return borrowed->write_to(b, born, id, record, len, tid);
	return __real_runtime_write_to(b, born, id, record, len, tid);
}

void __wrap_runtime_tell_name(int32_t tid, int32_t tgid, uint32_t start, const char comm[16])
{
	if (borrowed)
		borrowed->tell_name(tid, tgid, start, comm);
	else
		__real_runtime_tell_name(tid, tgid, start, comm);
}
