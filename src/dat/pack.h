/*
 * dat/pack: the compressors that trace files name. zstd and zlib stand behind one file each, and a
 * build without one of them says so when a file asks for it.
 *
 * In: bytes that may be anything. Out: bytes, never more than the caller has made room for. Any
 * thread, each with a state of its own.
 */
#ifndef DAT_PACK_H
#define DAT_PACK_H

#include <stddef.h>

#include "base/err.h"

struct pack;	/* one compressor's state: not for two threads at once */

/* The names as files spell them: "zstd", "zlib". -ENOTSUP with words for any other. */
int pack_open(struct pack **out, const char *name, struct err *err);
void pack_close(struct pack *pack);

/* What a file names: the compressor, and its library's version, "1.5.4". */
const char *pack_called(const struct pack *pack);
const char *pack_version(const struct pack *pack);

/* Bytes that `len` of them may become at most. */
size_t pack_bound(const struct pack *pack, size_t len);

/* The bytes made, or -E2BIG (no room), -EBADMSG (not what this compressor writes), -ENOMEM. */
long pack_shrink(struct pack *pack, const void *from, size_t len, void *to, size_t room);
long pack_expand(struct pack *pack, const void *from, size_t len, void *to, size_t room);

/* The i-th compressor that this build has, the preferred one first; NULL behind the last. */
const char *pack_name(size_t i);

#endif
