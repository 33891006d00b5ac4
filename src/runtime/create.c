/*
 * runtime/create: threads that begin, seen by who makes them. In libringside.so alone: a program that is linked statically has
 * no second pthread_create behind ours.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime/local.h"

typedef int create_fn(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg);

/* Nothing keeps the memory from going meanwhile, so the kernel looks. */
static bool fetch(void *to, void *from, size_t size)
{
	struct iovec here = { to, size }, there = { from, size };

	return !LOAD(runtime.locked) &&
	       syscall(SYS_process_vm_readv, runtime.pid, &here, 1ul, &there, 1ul, 0ul) == (long)size;
}

/* The id of a thread, where libc keeps it; 0: it is over. It may have freed the place that its creator named, too. */
static int32_t tid_of(pthread_t *place)
{
	pthread_t thread;
	int32_t tid;

	if (runtime.tid_offset < 0 || !fetch(&thread, place, sizeof(thread)) ||
	    !fetch(&tid, (char *)thread + runtime.tid_offset, sizeof(tid)))
		return 0;
	return tid;
}

__attribute__((visibility("default"))) int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
							  void *(*start)(void *), void *arg)
{
	static create_fn *real;
	create_fn *fn = LOAD(real);
	int saved = errno, ret;

	if (!fn) {
		fn = (create_fn *)dlsym(RTLD_NEXT, "pthread_create");
		if (!fn)
			return EAGAIN;
		STORE(real, fn);
	}
	runtime_life_forking();
	errno = saved;
	ret = fn(thread, attr, start, arg);
	if (runtime_life_is_telling()) {
		const uintptr_t own = runtime_own_begin();

		saved = errno;
		runtime_life_forked(ret ? 0 : tid_of(thread));
		errno = saved;
		runtime_own_end(own);
	}
	return ret;
}
