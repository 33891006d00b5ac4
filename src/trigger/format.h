/*
 * trigger/format: lines of a `format` file for events that are made of text. Private to the room.
 */
#ifndef TRIGGER_FORMAT_H
#define TRIGGER_FORMAT_H

#include "trigger/spec.h"

/* `type` with its bounds: of an array within the record they go behind the name, and how many there are the size tells. */
void format_field(struct buf *out, const char *type, const char *name, uint32_t offset, uint32_t size, bool is_signed);

#endif
