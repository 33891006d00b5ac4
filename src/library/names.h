/*
 * library/names: what stands behind the numbers in the records of a tree of files: formats by id,
 * names of threads by pid, printf formats by address. The same for a tracing directory is
 * control/names.
 *
 * Read when first asked for, and again, not more often than a few times a second, when a number
 * turns up that was not known. Formats stay until the names are closed; other texts until the
 * next question. One thread.
 */
#ifndef LIBRARY_NAMES_H
#define LIBRARY_NAMES_H

#include "decode/print.h"
#include "source/source.h"

struct library_names;

/*
 * `source` stays with the caller, `abi` is that of the machine that writes. NULL when memory is
 * out.
 */
struct library_names *library_names_open(struct source *source, const struct decode_abi *abi);
void library_names_close(struct library_names *names);

/* NULL: nobody has described an event of that id, or not in a way that makes sense. */
const struct decode_format *library_names_format(struct library_names *names, uint32_t id);

const struct decode_ctx *library_names_ctx(struct library_names *names);

#endif
