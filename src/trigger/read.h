/*
 * trigger/read: what the readers of texts share: memory that goes in one piece, words cut out of a line, refusals. Private
 * to the room.
 *
 * Readers work on a copy of the line and put NULs into it, so that a refusal can name the piece that it is about; where a
 * piece stands in the line is found by looking for it there, as the kernel does: the caret is below its first occurrence.
 */
#ifndef TRIGGER_READ_H
#define TRIGGER_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trigger/spec.h"

struct read_block;
struct read_mem {
	struct read_block *blocks;
	bool failed;
};

/* Zeroed; NULL when memory is out, which latches in `failed`. */
void *read_alloc(struct read_mem *mem, size_t size);
char *read_dup(struct read_mem *mem, const char *text, size_t len);
void read_mem_fini(struct read_mem *mem);

/* Begins anew: nothing was refused, `location` and the command are what a refusal would show. */
void read_begin(struct spec_error *error, const char *command, size_t len, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Refused with one of the kernel's messages, the caret below `piece` (NULL: at the beginning). Returns code. */
int read_refuse(struct spec_error *error, int code, const char *message, const char *piece);
int read_refuse_at(struct spec_error *error, int code, const char *message, size_t pos);
/* Refused without an entry in error_log; what was logged before stays. */
int read_refuse_silently(struct spec_error *error, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* All is well after all. Returns 0. */
int read_accept(struct spec_error *error);

bool read_is_blank(char c);
char *read_skip_blanks(char *text);
/* In place: blanks at both ends go. */
char *read_strip(char *text);
/* Where `prefix` ends in the text; NULL when it does not begin so. */
char *read_after(char *text, const char *prefix);
/* A number as C writes it, all of the text: 0, -EINVAL, -ERANGE. */
int read_number(const char *text, uint64_t *out);
/* Letters, digits and _, not beginning with a digit; of systems also -. */
bool read_is_name(const char *text);
bool read_is_system_name(const char *text);
/* false: too long. */
bool read_copy_name(char to[SPEC_NAME_MAX], const char *text);

#endif
