/*
 * inject/image: what another process has in its memory: ELF files, what they export, and code that must not be interrupted.
 *
 * All of it is read from that memory and nothing from files: a file may be deleted, replaced, or lie where only that process can
 * see it. It may hold anything, and change while one looks: every table is bounded, and what makes no sense is not there.
 */
#ifndef INJECT_IMAGE_H
#define INJECT_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "layout/stopped.h"

struct target_range {
	uint64_t start, end;
};

struct target_function {
	uint64_t address, size;
	uint32_t name;		/* in names */
};

struct target_file {
	uint64_t start, end;	/* from its first byte to its last, holes included */
	struct target_range code;	/* the first mapping that can be executed */
	uint64_t load;		/* less than an address of it, one in the file's memory image */
	uint64_t frames;	/* .eh_frame_hdr, 0: none */
	struct target_function *functions;	/* that it exports, by address */
	size_t nfunctions;
	char *names;
	uint64_t names_len;
	struct target_range *delicate;	/* code that may hold a lock of the allocator or the loader */
	size_t ndelicate;
	bool libc;
	bool wholly;		/* all of it is delicate: the loader, another allocator */
};

struct image {
	pid_t pid;
	struct target_file *files;	/* by address */
	size_t nfiles;
	struct stopped_edges edges;	/* of the runtime, if it has any */
};

/* -ESRCH, -EACCES, -ENOMEM. */
int target_open(struct image *image, pid_t pid, struct err *err);
void target_close(struct image *image);

/* All of the bytes, or false. */
bool target_read(const struct image *image, uint64_t address, void *bytes, size_t len);
bool target_write(const struct image *image, uint64_t address, const void *bytes, size_t len);
/* A text that ends before `size` bytes are over. */
bool target_text(const struct image *image, uint64_t address, char *text, size_t size);

/* The file that an address is of, NULL: none. */
const struct target_file *target_at(const struct image *image, uint64_t address);
const struct target_file *target_libc(const struct image *image);
/* The address of an exported function; libc's, if that has one of the name. 0: there is none. */
uint64_t target_find(const struct image *image, const char *name);
/* Where a function returns to that has this return address: the same, unless function_graph has put it there. */
uint64_t target_true_return(const struct image *image, uint64_t address);
/* May who is at this address hold a lock that loading a library takes? */
bool target_is_delicate(const struct image *image, uint64_t address);

#endif
