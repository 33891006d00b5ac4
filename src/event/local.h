/*
 * event/local: what the files of this room know of each other. The room's door is
 * include/ringside/.
 *
 *   format.c   table of fields -> text of `format`
 *   rewrite.c  print() -> the language of the kernel's print formats
 *   emit.c     arguments -> record -> runtime_write
 *   define.c   text -> table of fields, for other languages
 *   custom.c   events that ride on the sites of others
 *   printf.c   ringside_printf; mark.c   ringside_mark
 */
#ifndef EVENT_LOCAL_H
#define EVENT_LOCAL_H

#include <ringside/abi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* A kind of field that only run-time definitions have: an array that comes with its length. */
enum { EVENT_ARRAY_N = 64 };

/* Tells whether there is a directory at all; without one nothing has to be prepared. */
bool event_attached(void);

/* The body of the event's `format` text: fields, and the print format out of `print`, or one of
 * all fields when that is NULL or "". */
void event_format_text(struct buf *out, const struct ringside_field *fields, const char *print);

/* `print` in the kernel's language: names of fields become accesses to the record. */
void event_rewrite(struct buf *out, const struct ringside_field *fields, const char *print);

/* How field `field` reads in a print format: REC->x, __get_str(x), ... */
void event_rewrite_field(struct buf *out, const struct ringside_field *field);

/* Text as a C string literal, quotes included. */
void event_rewrite_literal(struct buf *out, const char *text);

/* Bytes of the record before its dynamic parts, common fields included. */
uint32_t event_record_fixed(const struct ringside_field *fields);

/* Puts a record together out of `args`, in up to RINGSIDE_RECORD_MAX zeroed or dirty bytes;
 * returns its length. */
uint32_t event_record_fill(void *record, const struct ringside_field *fields, uint32_t fixed,
			   const void *args);

/* Writes event `id`'s record, put together in staging memory. */
void event_record_write(uint32_t id, const struct ringside_field *fields, uint32_t fixed,
			const void *args);

/* A number that tells whether two tables of fields take the same arguments. */
uint32_t event_shape(const struct ringside_field *fields);

/* Interns an event and fills in the object its sites look at. -errno leaves that as it was. */
int event_intern(struct ringside_event *event, const struct ringside_field *fields,
		 uint32_t related);

/* Writes every event that rides on the sites of `base`. */
void event_custom_write(const struct ringside_event *base, const void *args);

#endif
