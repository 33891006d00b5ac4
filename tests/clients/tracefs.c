/*
 * A program that knows nothing but libtracefs, against a mount of ours (tests/clients/stage): it sets
 * up an instance, traces itself, and finds in it what it traced, by every way the library has.
 */
#include <stdio.h>
#if defined(__has_include) && __has_include(<tracefs.h>)

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <kbuffer.h>
#include <tracefs.h>

#include <ringside/ringside.h>

#include "insist.h"

#define ORDERS 500

RINGSIDE_EVENT(shop, order, field(int, id), string(who), print("id=%d who=%s", id, who))
RINGSIDE_EVENT(shop, pay, field(int, id), field(unsigned, cents))

static struct tracefs_instance *kitchen;
static struct tep_handle *tep;

static void sell(int orders)
{
	for (int i = 0; i < orders; i++) {
		trace_shop_order(i, i % 2 ? "bert" : "ann");
		if (i % 5 == 0)
			trace_shop_pay(i, (unsigned)i * 7);
	}
}

static void clear(void)
{
	CHECK(tracefs_instance_file_clear(kitchen, "trace") == 0, "clear: %m");
}

/* How often `what` is in the text of the instance's file; the file has to be there. */
static int count(const char *file, const char *what)
{
	char *text = tracefs_instance_file_read(kitchen, file, NULL);
	int n = 0;

	CHECK(text, "%s: %m", file);
	for (const char *at = text; (at = strstr(at, what)); at += strlen(what))
		n++;
	free(text);
	return n;
}

static bool in_list(char **list, const char *name)
{
	bool found = false;

	CHECK(list, "no list for %s: %m", name);
	for (int i = 0; list[i]; i++)
		found |= !strcmp(list[i], name);
	return found;
}

/* Systems, events, tracers: what there is. */
static void discover(void)
{
	char **list, *text;
	struct tep_event *event;
	int len;

	CHECK(!strcmp(tracefs_tracing_dir(), "/sys/kernel/tracing"), "%s", tracefs_tracing_dir());
	list = tracefs_event_systems(NULL);
	CHECK(in_list(list, "shop"), "no system shop");
	tracefs_list_free(list);
	list = tracefs_system_events(NULL, "shop");
	CHECK(in_list(list, "order") && in_list(list, "pay"), "no order, no pay");
	CHECK(tracefs_list_size(list) == 2, "%d events", tracefs_list_size(list));
	tracefs_list_free(list);
	/* To the library nop is none: where there is no other, it has no list. */
	list = tracefs_tracers(NULL);
	for (int i = 0; list && list[i]; i++)
		CHECK(tracefs_tracer_available(NULL, list[i]), "%s", list[i]);
	tracefs_list_free(list);
	CHECK(!tracefs_tracer_available(NULL, "nosuch"), "nosuch");

	tep = tracefs_local_events(NULL);
	CHECK(tep, "local events: %m");
	event = tep_find_event_by_name(tep, "shop", "order");
	CHECK(event, "order is not parsed");
	CHECK(tep_find_any_field(event, "who"), "order has no who");
	CHECK(tep_find_event_by_name(tep, "ftrace", "print"), "print is not parsed");
	text = tracefs_event_file_read(NULL, "shop", "order", "id", &len);
	CHECK(text && atoi(text) == event->id, "id %s, not %d", text, event->id);
	free(text);
	CHECK(!tracefs_event_file_exists(NULL, "shop", "order", "nosuch"), "nosuch");
}

static int see_kitchen(const char *name, void *seen)
{
	*(int *)seen += !strcmp(name, "kitchen");
	return 0;
}

static void make(void)
{
	struct tracefs_instance *again;
	char **list;
	int seen = 0;

	kitchen = tracefs_instance_create("kitchen");
	CHECK(kitchen, "create: %m");
	CHECK(tracefs_instance_is_new(kitchen), "it is not new");
	CHECK(tracefs_instance_exists("kitchen"), "it does not exist");
	CHECK(!tracefs_instance_exists("cellar"), "cellar exists");
	again = tracefs_instance_create("kitchen");
	CHECK(again && !tracefs_instance_is_new(again), "it is new once more");
	tracefs_instance_free(again);
	CHECK(tracefs_instances_walk(see_kitchen, &seen) == 0 && seen == 1, "seen %d times", seen);
	list = tracefs_instances("^kit");
	CHECK(in_list(list, "kitchen"), "it is not among those of kit");
	tracefs_list_free(list);
	CHECK(tracefs_dir_exists(kitchen, "events/shop/order"), "it has no events");
	CHECK(tracefs_file_exists(kitchen, "trace_pipe"), "it has no trace_pipe");
	CHECK(!tracefs_file_exists(kitchen, "available_events"), "it has what is at the top only");
}

static void switches(void)
{
	CHECK(tracefs_event_is_enabled(kitchen, "shop", NULL) == TRACEFS_ALL_DISABLED, "on from the start");
	CHECK(tracefs_event_enable(kitchen, "shop", "order") == 0, "enable: %m");
	CHECK(tracefs_event_is_enabled(kitchen, "shop", "order") == TRACEFS_ALL_ENABLED, "not on");
	CHECK(tracefs_event_is_enabled(kitchen, "shop", "pay") == TRACEFS_ALL_DISABLED, "pay is on, too");
	CHECK(tracefs_event_is_enabled(kitchen, "shop", NULL) == TRACEFS_SOME_ENABLED, "not one of them");
	CHECK(tracefs_event_is_enabled(NULL, "shop", NULL) == TRACEFS_ALL_DISABLED, "on at the top");
	CHECK(tracefs_event_enable(kitchen, "shop", "nosuch") < 0, "nosuch was enabled");
	sell(10);
	CHECK(count("trace", ": order: ") == 10, "%d orders", count("trace", ": order: "));
	CHECK(count("trace", ": pay: ") == 0, "pays");
	CHECK(tracefs_event_enable(kitchen, "shop", NULL) == 0, "enable all: %m");
	CHECK(tracefs_event_is_enabled(kitchen, "shop", NULL) == TRACEFS_ALL_ENABLED, "not all");
	clear();
	sell(10);
	CHECK(count("trace", ": order: ") == 10 && count("trace", ": pay: ") == 2, "not 10 and 2");
	CHECK(count("trace", "order: id=7 who=bert\n") == 1, "not the text");

	clear();
	CHECK(tracefs_trace_is_on(kitchen) == 1, "off");
	CHECK(tracefs_trace_off(kitchen) == 0 && tracefs_trace_is_on(kitchen) == 0, "not off: %m");
	CHECK(tracefs_trace_is_on(NULL) == 1, "off at the top");
	sell(10);
	CHECK(count("trace", ": order: ") == 0, "recorded while off");
	CHECK(tracefs_trace_on(kitchen) == 0 && tracefs_trace_is_on(kitchen) == 1, "not on: %m");

	CHECK(tracefs_event_disable(kitchen, "shop", "pay") == 0, "disable: %m");
	sell(10);
	CHECK(count("trace", ": order: ") == 10 && count("trace", ": pay: ") == 0, "pay is still on");
	CHECK(tracefs_event_disable(kitchen, NULL, NULL) == 0, "disable everything: %m");
	CHECK(tracefs_event_is_enabled(kitchen, "shop", NULL) == TRACEFS_ALL_DISABLED, "something is on");
	clear();
}

/* What an iteration has met. */
struct meeting {
	int orders, pays, marks, others, stop_after;
	unsigned long long last[CPU_SETSIZE];
};

static int meet(struct tep_event *event, struct tep_record *record, int cpu, void *context)
{
	struct meeting *m = context;
	unsigned long long value;
	const char *who;
	int len;

	CHECK(record->ts >= m->last[cpu], "time goes back on CPU %d", cpu);
	m->last[cpu] = record->ts;
	if (!strcmp(event->system, "shop") && !strcmp(event->name, "order")) {
		CHECK(tep_get_field_val(NULL, event, "id", record, &value, 1) == 0, "no id");
		CHECK((int)value == m->orders, "order %d after %d", (int)value, m->orders - 1);
		who = tep_get_field_raw(NULL, event, "who", record, &len, 1);
		CHECK(who && !strcmp(who, value % 2 ? "bert" : "ann"), "order %d of %s", (int)value, who);
		CHECK(tep_get_common_field_val(NULL, event, "common_pid", record, &value, 1) == 0 &&
		      (pid_t)value == (pid_t)syscall(SYS_gettid), "not by me: %llu", value);
		m->orders++;
	} else if (!strcmp(event->system, "shop") && !strcmp(event->name, "pay")) {
		m->pays++;
	} else if (!strcmp(event->system, "ftrace") && !strcmp(event->name, "print")) {
		m->marks++;
	} else {
		m->others++;
	}
	return m->stop_after && m->orders == m->stop_after;
}

static int follow_pay(struct tep_event *event, struct tep_record *record, int cpu, void *context)
{
	unsigned long long id, cents;

	(void)cpu;
	CHECK(tep_get_field_val(NULL, event, "id", record, &id, 1) == 0, "no id");
	CHECK(tep_get_field_val(NULL, event, "cents", record, &cents, 1) == 0, "no cents");
	CHECK(cents == id * 7, "%llu cents for %llu", cents, id);
	++*(int *)context;
	return 0;
}

static void iterate(void)
{
	struct meeting m = { 0 };
	int followed = 0;

	CHECK(tracefs_event_enable(kitchen, "shop", NULL) == 0, "enable: %m");
	sell(ORDERS);
	CHECK(tracefs_iterate_raw_events(tep, kitchen, NULL, 0, meet, &m) == 0, "iterate: %m");
	CHECK(m.orders == ORDERS && m.pays == ORDERS / 5 && !m.others, "%d orders, %d pays, %d others",
	      m.orders, m.pays, m.others);
	m = (struct meeting){ 0 };
	CHECK(tracefs_iterate_raw_events(tep, kitchen, NULL, 0, meet, &m) == 0, "iterate: %m");
	CHECK(!m.orders && !m.pays, "what was taken out is still there");

	CHECK(tracefs_follow_event(tep, kitchen, "shop", "pay", follow_pay, &followed) == 0, "follow: %m");
	sell(ORDERS);
	m = (struct meeting){ 0 };
	CHECK(tracefs_iterate_raw_events(tep, kitchen, NULL, 0, meet, &m) == 0, "iterate: %m");
	CHECK(m.orders == ORDERS && followed == ORDERS / 5, "%d orders, followed %d", m.orders, followed);
	clear();
}

/* Marks, as text and as bytes, by the library's own door. */
static void marks(void)
{
	struct meeting m = { 0 };
	static const char raw[] = "\x2a\0\0\0some bytes";

	CHECK(tracefs_print_init(kitchen) == 0, "marker: %m");
	CHECK(tracefs_printf(kitchen, "table %d is laid", 12) == 0, "printf: %m");
	tracefs_print_close(kitchen);
	CHECK(count("trace", "tracing_mark_write: table 12 is laid\n") == 1, "the mark is not there");
	CHECK(tracefs_binary_init(kitchen) == 0, "raw marker: %m");
	CHECK(tracefs_binary_write(kitchen, (void *)(uintptr_t)raw, sizeof(raw)) == 0, "raw: %m");
	tracefs_binary_close(kitchen);
	CHECK(count("trace", "# 2a buf: 73 6f 6d 65 ") == 1, "the raw mark is not there");
	CHECK(tracefs_iterate_raw_events(tep, kitchen, NULL, 0, meet, &m) == 0, "iterate: %m");
	CHECK(m.marks == 1 && m.others == 1, "%d marks, %d others", m.marks, m.others);
	CHECK(tracefs_instance_file_append(kitchen, "trace_marker", "one more") > 0, "append: %m");
	CHECK(count("trace", ": one more\n") == 1, "one more is not there");
	clear();
}

static void *pinned_sell(void *cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(*(int *)cpu, &set);
	CHECK(pthread_setaffinity_np(pthread_self(), sizeof(set), &set) == 0, "pin");
	sell(ORDERS);
	return NULL;
}

static void sell_on(int cpu)
{
	pthread_t thread;

	CHECK(pthread_create(&thread, NULL, pinned_sell, &cpu) == 0, "thread");
	pthread_join(thread, NULL);
}

/* Records in one sub-buffer, by libtraceevent's own reader of such pages. */
static int records(void *page)
{
	struct kbuffer *kbuf = kbuffer_alloc(KBUFFER_LSIZE_SAME_AS_HOST, KBUFFER_ENDIAN_SAME_AS_HOST);
	unsigned long long ts;
	int n = 0;

	CHECK(kbuf && kbuffer_load_subbuffer(kbuf, page) == 0, "page");
	CHECK(kbuffer_missed_events(kbuf) == 0, "some were lost");
	for (void *event = kbuffer_read_event(kbuf, &ts); event; event = kbuffer_next_event(kbuf, &ts))
		n++;
	kbuffer_free(kbuf);
	return n;
}

static int last_cpu(void)
{
	cpu_set_t set;
	int last = 0;

	CHECK(sched_getaffinity(0, sizeof(set), &set) == 0, "affinity");
	for (int i = 0; i < CPU_SETSIZE; i++)
		last = CPU_ISSET(i, &set) ? i : last;
	return last;
}

static void pages(void)
{
	int cpu = last_cpu(), n = 0, size, r;
	char name[] = "/tmp/ringside-pages.XXXXXX";
	struct tracefs_cpu *tcpu = tracefs_cpu_open(kitchen, cpu, true);
	char *page;
	int fd;

	CHECK(tcpu, "open: %m");
	size = tracefs_cpu_read_size(tcpu);
	CHECK(size >= 4096, "%d bytes a page", size);
	page = malloc((size_t)size);
	CHECK(tracefs_cpu_read(tcpu, page, true) <= 0, "something is there");

	sell_on(cpu);
	while ((r = tracefs_cpu_read(tcpu, page, true)) > 0)
		n += records(page);
	CHECK(n == ORDERS + ORDERS / 5, "read: %d records", n);

	/* The same through a pipe. */
	sell_on(cpu);
	n = 0;
	while ((r = tracefs_cpu_buffered_read(tcpu, page, true)) > 0)
		n += records(page);
	while ((r = tracefs_cpu_flush(tcpu, page)) > 0)
		n += records(page);
	CHECK(n == ORDERS + ORDERS / 5, "buffered read: %d records", n);

	/* And into a file. */
	fd = mkstemp(name);
	CHECK(fd >= 0, "%s: %m", name);
	unlink(name);
	sell_on(cpu);
	while (tracefs_cpu_write(tcpu, fd, true) > 0)
		;
	CHECK(tracefs_cpu_flush_write(tcpu, fd) >= 0, "flush: %m");
	n = 0;
	for (off_t at = 0; pread(fd, page, (size_t)size, at) == size; at += size)
		n += records(page);
	CHECK(n == ORDERS + ORDERS / 5, "written: %d records", n);
	close(fd);
	free(page);
	tracefs_cpu_close(tcpu);
	clear();
}

struct reader {
	struct tracefs_cpu *tcpu;
	int got;
};

static void *read_blocked(void *arg)
{
	struct reader *reader = arg;
	char *page = malloc((size_t)tracefs_cpu_read_size(reader->tcpu));
	int r = tracefs_cpu_read(reader->tcpu, page, false);

	reader->got = r > 0 ? records(page) : r;
	free(page);
	return NULL;
}

/* A reader that waits gets what comes, and can be told to stop waiting. */
static void waiting(void)
{
	struct reader reader = { .tcpu = tracefs_cpu_open(kitchen, last_cpu(), false), .got = -1 };
	pthread_t thread;

	CHECK(reader.tcpu, "open: %m");
	CHECK(tracefs_instance_file_write(kitchen, "buffer_percent", "0") > 0, "buffer_percent: %m");
	CHECK(pthread_create(&thread, NULL, read_blocked, &reader) == 0, "thread");
	usleep(200000);
	CHECK(reader.got == -1, "it does not wait");
	sell_on(last_cpu());
	pthread_join(thread, NULL);
	CHECK(reader.got > 0, "it got %d", reader.got);
	clear();

	CHECK(pthread_create(&thread, NULL, read_blocked, &reader) == 0, "thread");
	usleep(200000);
	CHECK(tracefs_cpu_stop(reader.tcpu) >= 0, "stop: %m");
	pthread_join(thread, NULL);
	CHECK(reader.got <= 0, "it got %d out of nothing", reader.got);
	tracefs_cpu_close(reader.tcpu);
	clear();
}

static void settings(void)
{
	const enum tracefs_option_id id = TRACEFS_OPTION_PAUSE_ON_TRACE;
	char *clock, *text;
	long long number = 0;
	int len = 0;

	CHECK(tracefs_option_is_supported(kitchen, id), "no pause-on-trace");
	CHECK(tracefs_option_mask_is_set(tracefs_options_get_supported(kitchen), TRACEFS_OPTION_OVERWRITE),
	      "no overwrite");
	CHECK(tracefs_option_is_enabled(kitchen, TRACEFS_OPTION_OVERWRITE), "overwrite is off");
	CHECK(tracefs_option_disable(kitchen, id) == 0 && !tracefs_option_is_enabled(kitchen, id), "off: %m");
	CHECK(tracefs_option_enable(kitchen, id) == 0 && tracefs_option_is_enabled(kitchen, id), "on: %m");
	CHECK(!tracefs_option_is_enabled(NULL, id), "on at the top");
	CHECK(tracefs_option_disable(kitchen, id) == 0 && !tracefs_option_is_enabled(kitchen, id), "off: %m");

	clock = tracefs_get_clock(kitchen);
	CHECK(clock && !strcmp(clock, "local"), "clock %s", clock);
	free(clock);
	CHECK(tracefs_instance_file_write(kitchen, "trace_clock", "mono") > 0, "clock: %m");
	clock = tracefs_get_clock(kitchen);
	CHECK(clock && !strcmp(clock, "mono"), "clock %s", clock);
	free(clock);
	CHECK(tracefs_instance_file_write(kitchen, "trace_clock", "nosuch") < 0, "clock nosuch");
	CHECK(tracefs_instance_file_write(kitchen, "trace_clock", "local") > 0, "clock: %m");

	/* A size is what was asked for, rounded up to pages. */
	CHECK(tracefs_instance_set_buffer_size(kitchen, 256, -1) == 0, "size: %m");
	CHECK(tracefs_instance_file_read_number(kitchen, "buffer_size_kb", &number) == 0, "size: %m");
	CHECK(number >= 256 && number < 264, "size %lld", number);
	CHECK(tracefs_instance_get_buffer_size(kitchen, 0) == number, "size %zd of CPU 0, not %lld",
	      tracefs_instance_get_buffer_size(kitchen, 0), number);
	CHECK(tracefs_tracer_set(kitchen, TRACEFS_TRACER_NOP) == 0, "nop: %m");
	CHECK(tracefs_tracer_clear(kitchen) == 0, "clear the tracer: %m");
	text = tracefs_instance_file_read(kitchen, "current_tracer", &len);
	CHECK(text && len == 4 && !strcmp(text, "nop\n"), "current_tracer %s", text);
	free(text);
}

/* Only the CPUs of the mask record. */
static void affinity(void)
{
	int other = last_cpu();
	char *mask;

	mask = tracefs_instance_get_affinity(kitchen);
	CHECK(mask, "affinity: %m");
	free(mask);
	CHECK(tracefs_instance_set_affinity(kitchen, "0") >= 0, "set: %m");
	mask = tracefs_instance_get_affinity(kitchen);
	CHECK(mask && !strcmp(mask, "0"), "affinity %s", mask);
	free(mask);
	sell_on(0);
	CHECK(count("trace", ": order: ") == ORDERS, "CPU 0 does not record");
	clear();
	if (other) {
		sell_on(other);
		CHECK(count("trace", ": order: ") == 0, "CPU %d records", other);
	}
	CHECK(tracefs_instance_set_affinity(kitchen, NULL) >= 0, "all: %m");
	sell_on(other);
	CHECK(count("trace", ": order: ") == ORDERS, "CPU %d does not record again", other);
	clear();
}

/* The log is empty, tells of a bad filter, and is empty again. */
static void errors(void)
{
	char *text;

	CHECK(tracefs_error_clear(kitchen) == 0, "clear: %m");
	text = tracefs_error_last(kitchen);
	CHECK(!text || !*text, "an error: %s", text);
	free(text);
	CHECK(tracefs_event_file_write(kitchen, "shop", "order", "filter", "id ==") < 0, "a bad filter is taken");
	text = tracefs_error_last(kitchen);
	CHECK(text && strstr(text, "filter") && strstr(text, ": error: "), "error: %s", text);
	free(text);
	text = tracefs_error_all(kitchen);
	CHECK(text && strstr(text, "id =="), "errors: %s", text);
	free(text);
	CHECK(tracefs_error_clear(kitchen) == 0, "clear: %m");
	text = tracefs_error_all(kitchen);
	CHECK(!text || !*text, "still an error: %s", text);
	free(text);
}

/*
 * trace_pipe as text, and the names of threads. Not by tracefs_trace_pipe_stream(): that splices, and
 * the kernel's FUSE ends a splice at the size of the file, which text that is yet to come does not have.
 */
static void text_pipe(void)
{
	char *text = calloc(1, 1 << 20);
	int fd, n = 0;
	ssize_t len = 0, more;

	sell(ORDERS);
	fd = tracefs_instance_file_open(kitchen, "trace_pipe", O_RDONLY | O_NONBLOCK);
	CHECK(fd >= 0, "trace_pipe: %m");
	while ((more = read(fd, text + len, (1 << 20) - 1 - (size_t)len)) > 0)
		len += more;
	CHECK(more < 0 && errno == EAGAIN, "it ended: %zd, %m", more);
	close(fd);
	for (const char *at = text; (at = strstr(at, ": order: id=")); at++)
		n++;
	CHECK(n == ORDERS, "%d orders", n);
	CHECK(count("trace", ": order: ") == 0, "they are still there");
	free(text);

	CHECK(tracefs_load_cmdlines(NULL, tep) == 0, "cmdlines: %m");
	CHECK(!strcmp(tep_data_comm_from_pid(tep, getpid()), "till"), "I am %s",
	      tep_data_comm_from_pid(tep, getpid()));
}

static void unmake(void)
{
	struct tracefs_instance *many[8];
	char name[16];

	CHECK(tracefs_instance_destroy(kitchen) == 0, "destroy: %m");
	CHECK(!tracefs_instance_exists("kitchen"), "it exists");
	tracefs_instance_free(kitchen);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 8; i++) {
			snprintf(name, sizeof(name), "room-%d", i);
			many[i] = tracefs_instance_create(name);
			CHECK(many[i] && tracefs_instance_is_new(many[i]), "%s: %m", name);
		}
		for (int i = 0; i < 8; i++) {
			CHECK(tracefs_instance_destroy(many[i]) == 0, "room-%d: %m", i);
			tracefs_instance_free(many[i]);
		}
	}
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	prctl(PR_SET_NAME, "till");
	discover();
	make();
	switches();
	iterate();
	marks();
	pages();
	waiting();
	settings();
	affinity();
	errors();
	text_pipe();
	unmake();
	tep_free(tep);
	return 0;
}

#else

int main(void)
{
	puts("libtracefs-dev is not there");
	return 77;
}

#endif
