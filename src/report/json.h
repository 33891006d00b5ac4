/*
 * report/json: a record as one JSON object on a line.
 *
 *   {"ts":1000,"cpu":0,"pid":42,"comm":"shop","system":"shop","event":"order","fields":{"n":3}}
 *
 * ts is what the page holds (nanoseconds, mostly). comm is null when nobody knows it. Fields keep
 * the order of the format, the common ones left out. Integers are numbers, a bool is true or false,
 * pointers are strings of hexadecimal digits ("0x7f.."), as a reader's numbers may not hold them;
 * strings are strings, other arrays are arrays, what has no known type is a string of its bytes in
 * hexadecimal. A float that JSON cannot write is "NaN", "Infinity" or "-Infinity". A field that the
 * record is too short for is null. ftrace's own records also have their "text". A record of an ID
 * that nobody has described has null for system and event, and the fields common_type and data.
 * Whatever the record holds, the line is valid JSON in UTF-8; bytes that are not UTF-8 become
 * U+FFFD.
 */
#ifndef REPORT_JSON_H
#define REPORT_JSON_H

#include "base/buf.h"
#include "report/trace.h"

/*
 * Records of trace files also have "buffer" (the name of the instance, "" for the top one) and, where
 * several files are read at once, "file".
 */
void report_json_line(struct buf *out, const struct report_row *row, const struct decode_ctx *ctx);

/* Before the first record after a gap: {"ts":..,"cpu":0,"lost":5}; null where nobody counted. */
void report_json_lost(struct buf *out, const struct report_row *row, uint64_t lost);

/* A string with its quotes, for others who write JSON. */
void report_json_string(struct buf *out, const char *text, size_t len);

#endif
