/*
 * Statements become the same lines as with libtracefs, the random number in names of variables aside. Where they do not,
 * the table says what ours are and why.
 */
#include <stdio.h>
#if defined(__has_include) && __has_include(<traceevent/event-parse.h>)

#include <dlfcn.h>
#include <regex.h>
#include <sys/wait.h>
#include <unistd.h>
#include <traceevent/event-parse.h>
#include <traceevent/trace-seq.h>

#include "query/world.h"

struct tracefs_synth;
struct tracefs_hist;
enum { ON_MAX = 2, ON_CHANGE = 3 };	/* as in enum tracefs_synth_handler */

static struct tep_handle *(*alloc_)(void);
static enum tep_errno (*parse_)(struct tep_handle *, const char *, unsigned long, const char *);
static void (*long_size_)(struct tep_handle *, int);
static void (*seq_init_)(struct trace_seq *);
static int (*terminate_)(struct trace_seq *);
static struct tracefs_synth *(*sql_)(struct tep_handle *, const char *, const char *, char **);
static bool (*complete_)(struct tracefs_synth *);
static int (*synth_echo_)(struct trace_seq *, struct tracefs_synth *);
static int (*hist_echo_)(struct trace_seq *, void *, struct tracefs_hist *, int);
static struct tracefs_hist *(*start_hist_)(struct tracefs_synth *);
static int (*trace_)(struct tracefs_synth *, int, const char *);
static int (*snapshot_)(struct tracefs_synth *, int, const char *);
static int (*save_)(struct tracefs_synth *, int, const char *, char **);

static struct tep_handle *tep;

static bool load(void)
{
	static const struct {
		const char *name;
		void *function;
	} table[] = {
		{ "tep_alloc", &alloc_ }, { "tep_parse_event", &parse_ }, { "tep_set_long_size", &long_size_ },
		{ "trace_seq_init", &seq_init_ }, { "trace_seq_terminate", &terminate_ }, { "tracefs_sql", &sql_ },
		{ "tracefs_synth_complete", &complete_ }, { "tracefs_synth_echo_cmd", &synth_echo_ },
		{ "tracefs_hist_echo_cmd", &hist_echo_ }, { "tracefs_synth_get_start_hist", &start_hist_ },
		{ "tracefs_synth_trace", &trace_ }, { "tracefs_synth_snapshot", &snapshot_ }, { "tracefs_synth_save", &save_ },
	};
	void *library = dlopen("libtracefs.so.1", RTLD_NOW);

	for (size_t i = 0; library && i < sizeof(table) / sizeof(table[0]); i++) {
		void *function = dlsym(library, table[i].name);

		if (!function)
			return false;
		memcpy(table[i].function, &function, sizeof(function));
	}
	return library;
}

static void parse_formats(void)
{
	tep = alloc_();
	long_size_(tep, 8);
	for (size_t i = 0; i < WORLD_EVENTS; i++)
		CHECK(!parse_(tep, query_formats[i].text, strlen(query_formats[i].text), query_formats[i].system), "%zu", i);
}

/* ---- The statements ---- */

struct statement {
	const char *sql;
	struct sql_options options;
	const char *ours;	/* NULL: as libtracefs has it. "": refused here, and there is a reason */
	const char *why;
};

#define JOIN " from shop.order as start join pay as end on start.id = end.id"
#define WAKE " from sched_waking as start JOIN sched_switch as end ON start.pid = end.next_pid"
#define LATENCY "select start.id, (end.TIMESTAMP_USECS - start.TIMESTAMP_USECS) as lat" JOIN
#define WHERE "select start.id" JOIN " where "
/* What WHERE becomes, conditions aside. */
#define MADE(first, second) "s:lat s32 id;|hist:keys=id:__arg_R_2=id" first \
	"|hist:keys=id:__id_R_1=$__arg_R_2:onmatch(shop.order).lat($__id_R_1)" second

static const struct statement statements[] = {
	/* Of the talk and of the manual. */
	{ .sql = "SELECT end.next_comm AS name, start.pid, (end.TIMESTAMP_USECS - start.TIMESTAMP_USECS) AS latency FROM sched_waking"
	  " AS start JOIN sched_switch AS end ON start.pid = end.next_pid" },
	{ .sql = "SELECT start.id, end.prev_pid FROM sys_enter AS start JOIN sched_switch AS end ON start.common_pid = end.prev_pid"
	  " WHERE end.prev_state == 2" },
	{ .sql = "SELECT start.filename, end.ret FROM sys_enter_openat AS start JOIN sys_exit_openat AS end"
	  " ON start.common_pid = end.common_pid" },
	{ .sql = "SELECT syscalls.sys_enter_read.fd, syscalls.sys_exit_read.ret FROM syscalls.sys_enter_read JOIN"
	  " syscalls.sys_exit_read ON syscalls.sys_enter_read.common_pid = syscalls.sys_exit_read.common_pid" },
	{ .sql = "SELECT sys_enter_read.fd, sys_exit_read.ret FROM sys_enter_read JOIN sys_exit_read"
	  " ON sys_enter_read.common_pid = sys_exit_read.common_pid" },
	{ .sql = "SELECT start.fd AS filed, end.ret AS return FROM sys_enter_read AS start JOIN sys_exit_read AS end"
	  " ON start.common_pid = end.common_pid" },
	{ .sql = "select start.pid, (end.TIMESTAMP_USECS - start.TIMESTAMP_USECS) as lat" WAKE " WHERE start.prio < 100 &&"
	  " (!(end.prev_pid < 1 || end.prev_prio > 100) || end.prev_pid == 0)" },
	{ .sql = "select start.pid, (end.TIMESTAMP_USECS - start.TIMESTAMP_USECS) as lat" WAKE
	  " WHERE start.prio < 100 && end.prev_prio < 100" },
	{ .sql = "select start.pid, (end.TIMESTAMP - start.TIMESTAMP) as lat" WAKE " WHERE start.prio < 100 || end.prev_prio < 100",
	  .ours = "", .why = "refused by both" },
	{ .sql = "SELECT end.next_comm AS comm, (end.TIMESTAMP_USECS - start.TIMESTAMP_USECS) AS lat" WAKE
	  " WHERE end.next_prio < 100 && end.next_comm == \"cyclictest\"", .options = { .max = "lat", .trace = true, .snapshot = true } },
	{ .sql = "SELECT common_pid, CAST(bytes_req AS _COUNTER_) FROM kmalloc" },
	{ .sql = "SELECT CAST(call_site as SYM-OFFSET), bytes_req, CAST(bytes_alloc AS _COUNTER_) FROM kmalloc" },
	{ .sql = "select CAST(common_pid AS comm), CAST(id AS syscall) FROM sys_enter" },
	{ .sql = "sElEct \\from from regcache_drop_region" },
	/* Names and types. */
	{ .sql = "select start.truesize, end.len from napi_gro_receive_entry as start JOIN netif_receive_skb as end"
	  " ON start.skbaddr = end.skbaddr" },
	{ .sql = "select start.ip_summed, start.vlan_tagged, start.queue_mapping, start.hash, end.skbaddr from napi_gro_receive_entry as"
	  " start join netif_receive_skb as end on start.skbaddr = end.skbaddr" },
	{ .sql = "select end.len as x, start.truesize as x2, (end.len - start.truesize) as diff from napi_gro_receive_entry as start"
	  " join netif_receive_skb as end on start.skbaddr = end.skbaddr" },
	{ .sql = "select start.id, start.who, start.city, start.kind, start.shift" JOIN },
	{ .sql = "select start.id, end.how as paid" JOIN },
	{ .sql = "select start.id, (end.id - start.id) as diff" JOIN },
	{ .sql = "select start.id, (end.id + start.id) as diff" JOIN },
	{ .sql = "select start.id, end.id + start.id as diff" JOIN },
	{ .sql = "select start.id, end.id - start.id diff" JOIN },
	{ .sql = "select start.id, (start.id + end.id) as diff" JOIN, .why = "the sum has its terms as written",
	  .ours = "s:lat s32 id; s32 diff;|hist:keys=id:__arg_R_2=id,__arg_R_3=id|hist:keys=id:__id_R_1=$__arg_R_2,"
		  "__diff_R_4=$__arg_R_3+id:onmatch(shop.order).lat($__id_R_1,$__diff_R_4)" },
	{ .sql = "select (start.TIMESTAMP - end.TIMESTAMP) as d" JOIN, .why = "libtracefs subtracts the other way round",
	  .ours = "s:lat u64 d;|hist:keys=id:__arg_R_1=common_timestamp|hist:keys=id:__d_R_2=$__arg_R_1-common_timestamp:"
		  "onmatch(shop.order).lat($__d_R_2)" },
	{ .sql = "select start.id, (end.cents - start.cents) as diff" JOIN, .why = "32 and 64 bits can be subtracted",
	  .ours = "s:lat s32 id; s64 diff;|hist:keys=id:__arg_R_2=id,__arg_R_3=cents|hist:keys=id:__id_R_1=$__arg_R_2,"
		  "__diff_R_4=cents-$__arg_R_3:onmatch(shop.order).lat($__id_R_1,$__diff_R_4)" },
	{ .sql = "select (end.id - 3) as d" JOIN, .why = "numbers can be subtracted",
	  .ours = "s:lat s32 d;|hist:keys=id|hist:keys=id:__d_R_1=id-3:onmatch(shop.order).lat($__d_R_1)" },
	{ .sql = "select (end.id * (start.id - 3)) as d" JOIN, .why = "expressions have no parentheses: there is a variable instead",
	  .ours = "s:lat s32 d;|hist:keys=id:__arg_R_1=id|hist:keys=id:__arg_R_2=$__arg_R_1-3,__d_R_3=id*$__arg_R_2:"
		  "onmatch(shop.order).lat($__d_R_3)" },
	{ .sql = "select start.id, TIMESTAMP_DELTA_USECS as lat" JOIN, .why = "libtracefs has it since 1.8",
	  .ours = "s:lat s32 id; u64 lat;|hist:keys=id:__arg_R_2=id,__arg_R_3=common_timestamp.usecs|hist:keys=id:__id_R_1="
		  "$__arg_R_2,__lat_R_4=common_timestamp.usecs-$__arg_R_3:onmatch(shop.order).lat($__id_R_1,$__lat_R_4)" },
	{ .sql = "select start.id, TIMESTAMP_DELTA as lat" JOIN, .why = "libtracefs has it since 1.8",
	  .ours = "s:lat s32 id; u64 lat;|hist:keys=id:__arg_R_2=id,__arg_R_3=common_timestamp|hist:keys=id:__id_R_1="
		  "$__arg_R_2,__lat_R_4=common_timestamp-$__arg_R_3:onmatch(shop.order).lat($__id_R_1,$__lat_R_4)" },
	{ .sql = "select start.id, start.STACKTRACE as stack" JOIN, .why = "libtracefs asks the running kernel whether it can",
	  .ours = "s:lat s32 id; unsigned long[] stack;|hist:keys=id:__arg_R_2=id,__arg_R_4=common_stacktrace|hist:keys=id:"
		  "__id_R_1=$__arg_R_2,__stack_R_3=$__arg_R_4:onmatch(shop.order).lat($__id_R_1,$__stack_R_3)" },
	{ .sql = "select end.TIMESTAMP as t, start.TIMESTAMP as s" JOIN },
	{ .sql = "select end.TIMESTAMP, start.TIMESTAMP_USECS" JOIN, .why = "a name has no dot in it",
	  .ours = "s:lat u64 common_timestamp; u64 common_timestamp_usecs;|hist:keys=id:__arg_R_3=common_timestamp.usecs|"
		  "hist:keys=id:__arg_R_1=common_timestamp,__common_timestamp_usecs_R_2=$__arg_R_3:onmatch(shop.order)."
		  "lat($__arg_R_1,$__common_timestamp_usecs_R_2)" },
	{ .sql = "select start.common_pid, end.common_pid as e" JOIN },
	{ .sql = "select start.id, end.id" JOIN, .ours = "", .why = "a synthetic event cannot have two fields of one name" },
	{ .sql = "select start.id, end.id as id2 from shop.order as start JOIN pay as end ON start.id == end.id" },
	{ .sql = "select start.id, end.id as id2 from shop.order as start JOIN pay as end ON end.id = start.id" },
	{ .sql = "select start.id from shop.order start JOIN pay end ON end.id = start.id" },
	{ .sql = "select shop.order.id, pay.cents from shop.order join pay on order.id = pay.id" },
	{ .sql = "select shop.order.id, pay.cents from shop.order as start join pay on start.id = pay.id" },
	{ .sql = "select order.id, pay.cents from order join pay on order.id = pay.id", .ours = "",
	  .why = "there are two events of that name: libtracefs takes the first" },
	{ .sql = "select start.id from shop.order as start join bakery.order as end on start.id = end.id" },
	{ .sql = "select start.id from shop.order as start join pay as end on start.who = end.how" },
	{ .sql = "select start.id, end.id as i from shop.order as start JOIN pay as end ON start.id = end.id,"
	  " start.common_pid = end.common_pid" },
	{ .sql = "select start.id, end.id as i from shop.order as start JOIN pay as end ON start.id = end.id"
	  " AND start.common_pid = end.common_pid", .why = "AND is what SQL has there",
	  .ours = "s:lat s32 id; s32 i;|hist:keys=id,common_pid:__arg_R_2=id|hist:keys=id,common_pid:__id_R_1=$__arg_R_2,"
		  "__i_R_3=id:onmatch(shop.order).lat($__id_R_1,$__i_R_3)" },
	{ .sql = "select start.id from shop.order as start join pay as end on start.cents = end.cents",
	  .why = "numbers of different sizes can be the same",
	  .ours = "s:lat s32 id;|hist:keys=cents:__arg_R_2=id|hist:keys=cents:__id_R_1=$__arg_R_2:onmatch(shop.order)."
		  "lat($__id_R_1)" },
	{ .sql = "select start.who" JOIN " where start.id = end.id", .ours = "", .why = "refused by both" },
	{ .sql = "select start.id from shop.order as start join pay as end on start.who = end.id", .ours = "", .why = "refused by both" },
	{ .sql = "select start.nosuch" JOIN, .ours = "", .why = "refused by both" },
	{ .sql = "select x.id" JOIN, .ours = "", .why = "refused by both" },
	{ .sql = "select CAST(start.id as hex)" JOIN, .ours = "", .why = "libtracefs forgets the cast" },
	{ .sql = "select cents" JOIN, .ours = "", .why = "refused by both: both events have it" },
	/* Conditions. */
	{ .sql = WHERE "start.kind == 1" },
	{ .sql = WHERE "start.kind = 1" },
	{ .sql = WHERE "start.who == \"ann\" && end.how ~ \"c*\"" },
	{ .sql = WHERE "start.city != \"x\" && start.kind != 3" },
	{ .sql = WHERE "start.kind == 1 || start.id == 2 && start.shift == 3" },
	{ .sql = WHERE "start.kind == 1 && start.id == 2 || start.shift == 3", .why = "&& comes before ||",
	  .ours = MADE(" if kind == 1&&(id == 2)||shift == 3", "") },
	{ .sql = WHERE "start.kind == 1 && (start.id == 2 || start.shift == 3)" },
	{ .sql = WHERE "start.kind == 1 && (start.id == 2 && start.shift == 3)" },
	{ .sql = WHERE "(start.kind == 1 && end.id == 2) && start.shift == 3", .why = "these parentheses say nothing",
	  .ours = MADE(" if kind == 1&&(shift == 3)", " if id == 2") },
	{ .sql = WHERE "start.kind == 1 && end.id == 2 || end.cents == 3", .ours = "",
	  .why = "&& comes before ||, and what is left of that || is about both events" },
	{ .sql = WHERE "start.kind == 1 && start.id == 2 && end.cents == 3 && start.shift > 0" },
	{ .sql = WHERE "(start.kind & 4 || start.shift <= 3) && (end.cents < 3 && end.cents > 0x1)" },
	{ .sql = WHERE "!start.kind == 1" },
	{ .sql = WHERE "!(start.kind == 1 && start.id == 3) && !(end.id == 3)" },
	{ .sql = WHERE "start.id & 0x10" },
	{ .sql = WHERE "start.kind == 010" },
	{ .sql = WHERE "start.kind == 1 && !start.kind == 3" },
	{ .sql = WHERE "(start.kind == 1 || start.id == 2) || start.shift == 3" },
	{ .sql = WHERE "start.kind >= 1 AND NOT start.shift < -3", .why = "AND, NOT and numbers below zero are SQL, too",
	  .ours = MADE(" if kind >= 1&&(!(shift < -3))", "") },
	{ .sql = WHERE "start.who == 'ann'", .why = "single quotes are SQL's", .ours = MADE(" if who == \"ann\"", "") },
	{ .sql = WHERE "end.TIMESTAMP > 3", .ours = "", .why = "no filter knows the time" },
	{ .sql = WHERE "end.cents == start.cents", .ours = "", .why = "refused by both" },
	{ .sql = "select id from pay where how == 3", .ours = "", .why = "a text is no number" },
	{ .sql = "select id from pay where id == \"a\"", .ours = "", .why = "a number is no text" },
	{ .sql = "select id from pay where how > 3", .ours = "", .why = "refused by both" },
	/* Histograms. */
	{ .sql = "select id from pay" },
	{ .sql = "select id, cents from pay where cents > 100" },
	{ .sql = "select id from pay where cents > 100 && id != 3" },
	{ .sql = "select id from pay where id == 1 || cents == 2 && cents == 3" },
	{ .sql = "select id from pay where (id == 1 || cents == 2) && cents == 3 && id == 4" },
	{ .sql = "select pay.id, CAST(pay.cents as log2) from pay where pay.cents > 100" },
	{ .sql = "select p.id, CAST(p.cents as log) from pay as p where p.cents > 100" },
	{ .sql = "select id from pay as p where shop.pay.id == 1" },
	{ .sql = "select sched.sched_waking.pid from sched_waking" },
	{ .sql = "select sched_waking.pid from sched.sched_waking" },
	{ .sql = "select CAST(cents as hex), CAST(id as sym), cast(common_pid as sym-offset) from pay" },
	{ .sql = "select CAST(cents as hex) as money, id as key from pay" },
	{ .sql = "select CAST(common_pid as execname), how from pay" },
	{ .sql = "select id, CAST(cents as _COUNTER_) from pay" },
	{ .sql = "select CAST(cents as _counter_), id from pay", .why = "types are in any case", .ours = "hist:keys=id:vals=cents" },
	{ .sql = "select CAST(cents as buckets=10) from pay", .why = "libtracefs has no buckets", .ours = "hist:keys=cents.buckets=10" },
	{ .sql = "select how, COUNT(*) from pay order by COUNT(*) desc, how", .why = "libtracefs has no order",
	  .ours = "hist:keys=how:sort=hitcount.descending,how" },
	{ .sql = "select CPU, COMM, STACKTRACE from pay", .why = "libtracefs knows no moments without JOIN",
	  .ours = "hist:keys=common_cpu,common_comm,common_stacktrace" },
	{ .sql = "select id, CAST(cents - id as _COUNTER_) from pay", .why = "values can be calculated",
	  .ours = "hist:keys=id:vals=cents-id" },
	{ .sql = "select CAST(id as comm) from pay", .ours = "", .why = "refused by both" },
	{ .sql = "select CAST(how as hex) from pay", .ours = "", .why = "refused by both" },
	{ .sql = "select CAST(cents as nosuch) from pay", .ours = "", .why = "refused by both" },
	{ .sql = "select CAST(cents as _COUNTER_) from pay", .ours = "", .why = "there is nothing to count by" },
	{ .sql = "select id from nosuch", .ours = "", .why = "refused by both" },
	{ .sql = "select nosuch from pay", .ours = "", .why = "refused by both" },
	{ .sql = "select id from pay;", .why = "a semicolon may end a statement", .ours = "hist:keys=id" },
	/* What happens. */
	{ .sql = LATENCY },
	{ .sql = LATENCY, .options = { .max = "lat", .snapshot = true } },
	{ .sql = LATENCY, .options = { .change = "lat", .snapshot = true } },
	{ .sql = LATENCY, .options = { .max = "lat", .snapshot = true, .trace = true } },
	{ .sql = LATENCY, .options = { .change = "lat", .trace = true, .snapshot = true } },
	{ .sql = LATENCY, .options = { .max = "lat", .save = "how,cents" }, .why = "libtracefs never comes back from it",
	  .ours = "s:lat s32 id; u64 lat;|hist:keys=id:__arg_R_2=id,__arg_R_3=common_timestamp.usecs|hist:keys=id:__id_R_1="
		  "$__arg_R_2,__lat_R_4=common_timestamp.usecs-$__arg_R_3:onmax($__lat_R_4).save(how,cents)" },
	{ .sql = LATENCY, .options = { .max = "lat", .save = "how,cents", .snapshot = true } },
	{ .sql = LATENCY, .options = { .change = "lat", .save = "how,cents", .trace = true, .snapshot = true } },
	{ .sql = "select start.id, end.cents as price" JOIN, .options = { .max = "price", .snapshot = true } },
	{ .sql = LATENCY, .options = { .max = "lat" }, .why = "to wait for a maximum and then not to look at it helps nobody",
	  .ours = "s:lat s32 id; u64 lat;|hist:keys=id:__arg_R_2=id,__arg_R_3=common_timestamp.usecs|hist:keys=id:__id_R_1="
		  "$__arg_R_2,__lat_R_4=common_timestamp.usecs-$__arg_R_3:onmax($__lat_R_4).lat($__id_R_1,$__lat_R_4)" },
	{ .sql = LATENCY, .options = { .max = "nosuch", .snapshot = true }, .ours = "", .why = "refused by both" },
	{ .sql = LATENCY, .options = { .max = "lat", .save = "nosuch" }, .ours = "", .why = "refused by both" },
};

/* ---- Their lines and ours: texts with | between ---- */

/* The name that libtracefs gave the variable for `var`: nothing else does it take for it. */
static bool variable(struct tracefs_synth *synth, const char *var, char *out, size_t size)
{
	struct trace_seq seq;
	char what[80];
	const char *at;

	seq_init_(&seq);
	synth_echo_(&seq, synth);
	terminate_(&seq);
	snprintf(what, sizeof(what), "__%s_", var);
	at = strstr(seq.buffer, what);
	if (at)
		snprintf(out, size, "%.*s", (int)strcspn(at, "="), at);
	return at;
}

static int their_actions(struct tracefs_synth *synth, const struct sql_options *options)
{
	const char *var = options->max ? options->max : options->change;
	int on = options->max ? ON_MAX : ON_CHANGE, r = 0;
	char name[128], fields[128], *list[9] = { NULL };

	if (!var)
		return 0;
	if (!variable(synth, var, name, sizeof(name)))
		return -1;
	if (options->save) {
		snprintf(fields, sizeof(fields), "%s", options->save);
		list[0] = strtok(fields, ",");
		for (int i = 0; i < 7 && list[i]; i++)
			list[i + 1] = strtok(NULL, ",");
		r |= save_(synth, on, name, list);
	}
	if (options->trace)
		r |= trace_(synth, on, name);
	if (options->snapshot)
		r |= snapshot_(synth, on, name);
	return r;
}

static void their_lines(const struct statement *statement, FILE *to)
{
	struct tracefs_synth *synth = sql_(tep, "lat", statement->sql, NULL);
	struct trace_seq seq;

	seq_init_(&seq);
	if (!synth || their_actions(synth, &statement->options))
		return;
	if (complete_(synth))
		synth_echo_(&seq, synth);
	else
		hist_echo_(&seq, NULL, start_hist_(synth), 0);
	terminate_(&seq);
	/* echo '...' > FILE: what is quoted, and the files for the test of them below. */
	for (const char *at = seq.buffer; (at = strstr(at, "echo '")); at++) {
		const char *end = strstr(at, "' >");

		fprintf(to, "%s%.*s", at == seq.buffer ? "" : "|", (int)(end - at - 6), at + 6);
	}
}

/* In a process of its own: some refusals end it, or never end. */
static void run_theirs(const struct statement *statement, char *out, size_t size)
{
	FILE *to = tmpfile();
	size_t n;
	pid_t pid;

	CHECK(to, "tmpfile: %m");
	fflush(NULL);
	pid = fork();
	if (!pid) {
		freopen("/dev/null", "w", stderr);
		alarm(5);
		their_lines(statement, to);
		fflush(to);
		_exit(0);
	}
	CHECK(pid > 0 && waitpid(pid, NULL, 0) == pid, "fork: %m");
	rewind(to);
	n = fread(out, 1, size - 1, to);
	out[n] = '\0';
	fclose(to);
}

/* _NUMBER_N becomes _R_N. */
static void same_numbers(char *text)
{
	regmatch_t match[2];
	regex_t number;
	char *at = text;

	CHECK(!regcomp(&number, "_([0-9]+)_[0-9]", REG_EXTENDED), "regcomp");
	while (!regexec(&number, at, 2, match, 0)) {
		memmove(at + match[1].rm_so + 1, at + match[1].rm_eo, strlen(at + match[1].rm_eo) + 1);
		at[match[1].rm_so] = 'R';
		at += match[1].rm_so + 1;
	}
	regfree(&number);
}

static void run_ours(const struct statement *statement, char *out, size_t size)
{
	struct sql_options options = statement->options;
	struct sql_lines lines;
	struct err err = ERR_INIT;
	int len = 0;

	options.name = "lat";
	out[0] = '\0';
	if (sql_translate(&lines, &world, statement->sql, &options, &err)) {
		CHECK(*err.text, "%s is refused without a word", statement->sql);
		return;
	}
	for (size_t i = 0; i < lines.n; i++)
		len += snprintf(out + len, size - (size_t)len, "%s%s", i ? "|" : "", lines.line[i].text);
	sql_lines_fini(&lines);
}

int main(void)
{
	static char ours[8192], theirs[8192];
	size_t same = 0, other = 0;
	int bad = 0;

	if (!load()) {
		puts("there is no libtracefs");
		return 77;
	}
	world_open();
	parse_formats();
	for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++) {
		const struct statement *statement = &statements[i];

		run_ours(statement, ours, sizeof(ours));
		run_theirs(statement, theirs, sizeof(theirs));
		same_numbers(ours);
		same_numbers(theirs);
		if (statement->ours ? strcmp(ours, statement->ours) != 0 : strcmp(ours, theirs) != 0 || !*ours) {
			printf("%s\n  ours   %s\n  theirs %s\n", statement->sql, ours, theirs);
			bad = 1;
		}
		if (!strcmp(ours, theirs))
			same++;
		else
			other++;
	}
	printf("%zu statements as libtracefs has them, %zu otherwise\n", same, other);
	world_close();
	return bad;
}

#else
int main(void)
{
	puts("there is no libtraceevent");
	return 77;
}
#endif
