/*
 * A library that is put before the C library and counts what it is asked for, for memory.sh: "kmalloc TIMES" and "kfree TIMES", in the file
 * that COUNTS names, when the program ends. Now and then it asks itself for something while it is asked: that does not count.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long mallocs, frees;
static int counting;
static __thread int depth __attribute__((tls_model("initial-exec")));
static void *(*real_malloc)(size_t);
static void *(*real_calloc)(size_t, size_t);
static void *(*real_realloc)(void *, size_t);
static void *(*real_aligned_alloc)(size_t, size_t);
static int (*real_posix_memalign)(void **, size_t, size_t);
static void (*real_free)(void *);

static void find(void)
{
	if (real_malloc)
		return;
	*(void **)&real_calloc = dlsym(RTLD_NEXT, "calloc");
	*(void **)&real_realloc = dlsym(RTLD_NEXT, "realloc");
	*(void **)&real_aligned_alloc = dlsym(RTLD_NEXT, "aligned_alloc");
	*(void **)&real_posix_memalign = dlsym(RTLD_NEXT, "posix_memalign");
	*(void **)&real_free = dlsym(RTLD_NEXT, "free");
	*(void **)&real_malloc = dlsym(RTLD_NEXT, "malloc");
}

static void count(long *what)
{
	if (counting && depth == 1)
		__atomic_fetch_add(what, 1, __ATOMIC_RELAXED);
}

void *malloc(size_t size)
{
	void *memory;

	find();
	depth++;
	count(&mallocs);
	if (depth < 3 && size % 7 == 0) {
		void *own = malloc(size + 1);

		__asm__ volatile("" : "+r"(own));
		free(own);
	}
	memory = real_malloc(size);
	depth--;
	return memory;
}

void *calloc(size_t n, size_t size)
{
	void *memory;

	find();
	depth++;
	count(&mallocs);
	memory = real_calloc(n, size);
	depth--;
	return memory;
}

void *realloc(void *old, size_t size)
{
	void *memory;

	find();
	depth++;
	if (old)
		count(&frees);
	memory = real_realloc(old, size);
	if (memory || !old || size)
		count(&mallocs);
	depth--;
	return memory;
}

void *aligned_alloc(size_t align, size_t size)
{
	void *memory;

	find();
	depth++;
	count(&mallocs);
	memory = real_aligned_alloc(align, size);
	depth--;
	return memory;
}

int posix_memalign(void **memory, size_t align, size_t size)
{
	int r;

	find();
	depth++;
	count(&mallocs);
	r = real_posix_memalign(memory, align, size);
	depth--;
	return r;
}

void free(void *memory)
{
	find();
	depth++;
	count(&frees);
	real_free(memory);
	depth--;
}

__attribute__((constructor)) static void begin(void)
{
	counting = 1;
}

__attribute__((destructor)) static void end(void)
{
	char text[100];
	int fd = open(getenv("COUNTS") ? getenv("COUNTS") : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	int len = snprintf(text, sizeof(text), "kmalloc %ld\nkfree %ld\n", mallocs, frees);

	if (write(fd, text, (size_t)len) != len)
		_exit(3);
	close(fd);
}
