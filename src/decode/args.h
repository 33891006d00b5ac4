/*
 * decode/args: arguments and return values of functions as text, by their prototypes (layout/prototype.h).
 *
 * In: the words that a record has, one for each argument register, and the function's prototype, which may be any text or none.
 */
#ifndef DECODE_ARGS_H
#define DECODE_ARGS_H

#include "decode/print.h"
#include "decode/sink.h"

/* How many words behind its fields a record of a function's call has; `args` is that field of its format, or NULL. */
uint32_t decode_args_count(const struct decode_format *format, const struct decode_field *args, uint32_t len);

/*
 * "(name=value, name=value)", as Linux has it from 6.15 on: numbers with a sign in decimal, all others in hexadecimal, structures as
 * [0x1:0x2], `?` for what is in no register that was kept. Without a prototype "(0x1, 0x2)". NULL: not known.
 */
void decode_args_put(struct sink *s, const char *prototype, const struct decode_format *format, const struct decode_field *args,
		     const void *rec, uint32_t len);

/* Does what was in the register mean something? Not of a function that returns nothing, or in other registers. NULL: it may. */
bool decode_args_returns(const char *prototype);
/*
 * What was returned, as Linux has it: in hexadecimal, but negative numbers that may be an errno in decimal, unless `hex`. Without a
 * prototype those of 32 bits count, too; with one what is above the value is left out.
 */
void decode_args_put_returned(struct sink *s, const char *prototype, uint64_t value, bool hex);

/* The prototype of a function by the callback of ctx; NULL: not known. */
const char *decode_prototype(const struct decode_ctx *ctx, uint64_t func);

#endif
