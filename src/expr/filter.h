/*
 * expr/filter: the filter language of `report -F`, as trace-cmd reads it.
 *
 *   sched/sched_switch,sched_wakeup: prev_pid == 0 && next_comm =~ "^sh"
 *
 *   filter = names [ ':' truth ]          without a truth all records of these events match
 *   names  = name { ',' name }
 *   name   = SYSTEM '/' EVENT | NAME      NAME: all events of that system, and those of that name;
 *                                         each is a regular expression for the whole name, with
 *                                         small and large letters the same
 *   truth  = unit { ('&&' | '||') unit }  from left to right: neither binds stronger
 *   unit   = '!' unit | value '==' '!=' '<' '<=' '>' '>=' value | value '=~' '!~' '~' TEXT
 *          | '(' truth ')' | a value that is calculated: flags & 4
 *   value  = a field, COMM, CPU, TIMESTAMP (ns), TIMESTAMP_USECS, TIMESTAMP_SECS, 10 012 0xa 1.5
 *            "text" 'text' 'c', in parentheses or not, with + - * / % & | ^ ~ << >>, which bind as
 *            in C but stronger than comparisons
 *
 * =~ and !~ take regular expressions (pattern.h) that match anywhere in a text, small and large
 * letters the same; ~ takes a glob for all of it. A number against a text in quotes is the name of
 * the function that it is an address in, else (and if it has no room for an address) hexadecimal
 * digits with 0x. An array is the text in its bytes. A comparison with a field that an event does
 * not have is false for that event.
 *
 * In: texts of filters, and the events that there are (a world: names at once, formats when they
 * are asked for). Out: a yes or no for a record. A filter is built by one thread and then read by
 * any number of them. It is for one world: files number their events differently.
 */
#ifndef EXPR_FILTER_H
#define EXPR_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "decode/format.h"
#include "decode/print.h"

struct filter_world {
	void *arg;
	size_t nr;
	/* System and name of the i-th event; peeked. */
	void (*name)(void *arg, size_t i, const char **system, const char **name);
	/* NULL when its text cannot be used. Formats must outlive the filter. */
	const struct decode_format *(*format)(void *arg, size_t i);
};

/* Longest text of a filter, and most instructions of all events' programs in one filter, with their size. */
#define FILTER_TEXT_MAX (1u << 16)
#define FILTER_CODE_MAX (1u << 20)
#define FILTER_CODE_SIZE 32u

struct filter;

enum filter_verdict {
	FILTER_NONE,	/* no text names this event */
	FILTER_MISS,
	FILTER_MATCH,
};

/*
 * Numbers are compared and calculated as C does in 64 bits, where a field's sign counts. With
 * FILTER_UNSIGNED no number has one and `ret < 0` is never true, as in libtraceevent. With
 * FILTER_STRICT a field that none of a text's events has is a mistake, too.
 */
enum { FILTER_UNSIGNED = 1, FILTER_STRICT = 2 };
int filter_new(struct filter **out, unsigned int flags);
void filter_free(struct filter *filter);

/*
 * One -F text. A record matches a filter when one of its texts does. -ENOENT: no event has such a
 * name; -EBADMSG: the text cannot be read, or asks for what none of the events can answer; -E2BIG:
 * it is too much; -ENOMEM. err->pos is the place in the text, and the filter is as it was.
 */
int filter_add(struct filter *filter, const char *text, const struct filter_world *world,
	       struct err *err);

/* ctx (may be NULL) gives COMM its names (ctx->comm) and addresses theirs; cpu is CPU. */
enum filter_verdict filter_match(const struct filter *filter, const struct decode_format *format,
				 const void *rec, size_t len, int cpu, uint64_t ts,
				 const struct decode_ctx *ctx);

/*
 * What -v means: the -F before it say what is shown, those behind it what is not, and there is one
 * -v at most. A record is shown if there is nothing before -v or some of it matches, and nothing
 * behind -v matches. Events that no text names are thus dropped if anything is wanted, and shown if
 * all there is is unwanted. Either may be NULL: no -F there.
 */
bool filter_shows(const struct filter *wanted, const struct filter *unwanted,
		  const struct decode_format *format, const void *rec, size_t len, int cpu,
		  uint64_t ts, const struct decode_ctx *ctx);

/* Whether any part asks for COMM, which depends on what the trace has told so far. */
bool filter_asks_comm(const struct filter *filter);

/* What was understood, an event a line, text after text, as `report -T` shows it. */
void filter_describe(const struct filter *filter, struct buf *out);

#endif
