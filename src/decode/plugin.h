/*
 * decode/plugin: records whose text in trace-cmd's report is not made from their print format:
 * those for which it has plugins, and those that a user's shared object takes over.
 *
 * In: a record, and what lies around it: the carry, which goes from record to record of a CPU, and
 * the record that comes next. Out: the text behind `event: `, as trace-cmd's plugins write it.
 *
 * A set of plugins is changed until reading begins and is read-only from then on, by any number of
 * threads. A carry belongs to one thread at a time. Parts of a trace are printed by several threads
 * at once: whoever skips a part that another thread prints calls decode_plugin_pass() for its
 * records, in the order of their CPU, and has afterwards the carry that printing would have left.
 */
#ifndef DECODE_PLUGIN_H
#define DECODE_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "decode/print.h"

struct decode_plugins;	/* a set, with the values of their options */
struct decode_plugin;	/* one printer of one event */

enum { DECODE_PLUGINS_NONE = 1 };	/* an empty set, for -N; else all that are built in */
int decode_plugins_new(struct decode_plugins **out, unsigned int flags);
void decode_plugins_free(struct decode_plugins *plugins);

/*
 * A shared object that speaks <ringside/plugin.h>; what it prints comes before what is built in, in
 * an empty set too. -ENOENT, -EINVAL, or what the object says, with words.
 */
int decode_plugins_load(struct decode_plugins *plugins, const char *path, struct err *err);

/*
 * "parent", "ftrace:parent", "fgraph:depth=1"; without a value an option changes from off to on or
 * back. -ENOENT with words when there is no such option, -EINVAL when that is no value: trace-cmd
 * says nothing to either.
 */
int decode_plugins_set(struct decode_plugins *plugins, const char *text, struct err *err);

/* Lists the options with their descriptions, as `trace-cmd list -O` does. */
void decode_plugins_list(const struct decode_plugins *plugins, struct buf *out);

/*
 * The one that prints this event, NULL: none. To be asked once for a format, not for a record, and
 * by one thread at a time; it lives as long as the set.
 */
const struct decode_plugin *decode_plugins_find(const struct decode_plugins *plugins,
						const struct decode_format *format);

/* What goes from record to record on one CPU: the functions under way. */
struct decode_carry;
struct decode_carry *decode_carry_new(void);
void decode_carry_free(struct decode_carry *carry);
/* 0 or -ENOMEM. */
int decode_carry_copy(struct decode_carry *to, const struct decode_carry *from);

struct decode_moment {
	const struct decode_format *format;
	const void *rec;
	size_t len;
	uint64_t ts;
	int cpu;
	const struct decode_ctx *ctx;
	struct decode_carry *carry;	/* of the record's CPU; NULL: as if all were new */

	/*
	 * The record that follows in its buffer, in the order of time over all CPUs and before any
	 * filter; false: there is none. NULL: nobody can tell.
	 */
	bool (*next)(void *arg, struct decode_moment *out);
	/* That record is printed with this one, and will not come again. */
	void (*take)(void *arg);
	/* The record names a task: kept if that task has no name yet. May be NULL. */
	void (*learn)(void *arg, int pid, const char *comm, size_t len);
	void *arg;			/* of these three */
};

/* False: it does not want this record, which then prints as if there was no plugin. */
bool decode_plugin_print(const struct decode_plugin *plugin, const struct decode_moment *moment,
			 struct buf *out);

/* All that printing does but for the text: learn(), take(), and the carry. */
void decode_plugin_pass(const struct decode_plugin *plugin, const struct decode_moment *moment);
/* False: passing does nothing for this one's records. */
bool decode_plugin_carries(const struct decode_plugin *plugin);

#endif
