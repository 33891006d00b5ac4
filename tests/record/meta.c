/*
 * What programs brought is in the file that is made of it: every layout of an event, printf formats, names. What is put
 * again is what has changed, and nothing is missed that a program was half-way through bringing.
 */
#include "record/kept.h"

#include <pthread.h>

#include "control/registry.h"
#include "dat/dat.h"
#include "layout/registry.h"

#define OTHER_BODY \
	ITEM_COMMON "\tfield:long long big;\toffset:8;\tsize:8;\tsigned:1;\n\nprint fmt: \"big=%lld\", REC->big\n"

#define ALL \
	(1u << DAT_HEADER_INFO | 1u << DAT_FTRACE_EVENTS | 1u << DAT_EVENT_FORMATS | 1u << DAT_PRINTK | 1u << DAT_CMDLINES)

static struct item item, other;
static uint64_t printed;

/* A thread that records something and waits. */
static struct {
	pthread_t id;
	pthread_barrier_t turn;
	pid_t tid;
} thread;

static void *thread_main(void *arg)
{
	(void)arg;
	thread.tid = gettid();
	prctl(PR_SET_NAME, "first name");
	item_emit(&item, 1);
	pthread_barrier_wait(&thread.turn);
	pthread_barrier_wait(&thread.turn);
	return NULL;
}

static void thread_start(void)
{
	CHECK(!pthread_barrier_init(&thread.turn, NULL, 2) && !pthread_create(&thread.id, NULL, thread_main, NULL),
	      "no thread");
	pthread_barrier_wait(&thread.turn);
}

/* As another thread does it: the runtime does not hear of it. */
static void thread_rename(const char *name)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/comm", thread.tid);
	file = fopen(path, "w");
	CHECK(file && fputs(name, file) >= 0 && !fclose(file), "%s: %s", path, strerror(errno));
}

/* It is gone when its number is: a little later than it can be joined. */
static void thread_end(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d", thread.tid);
	pthread_barrier_wait(&thread.turn);
	pthread_join(thread.id, NULL);
	while (!access(path, F_OK))
		usleep(1000);
}

static struct dat *again(struct kept *kept, int version)
{
	const char *path = path_of(version == 6 ? "six.dat" : "seven.dat");
	struct err err = ERR_INIT;
	struct dat *dat;

	kept_end(kept_begin(kept, version, path, 2));
	CHECK(!dat_open(&dat, path, &err), "%s", err.text);
	CHECK(!dat_warning(dat, 0), "%s", dat_warning(dat, 0));
	return dat;
}

static void expect_event(struct dat *dat, uint32_t id, const char *system, const char *name, const char *field)
{
	const char *s, *n, *text;
	size_t i, len;

	CHECK(dat_event_find(dat, id, &i), "no event %u", id);
	dat_event_name(dat, i, &s, &n, NULL);
	CHECK(!strcmp(s, system) && !strcmp(n, name), "event %u is %s:%s", id, s, n);
	text = dat_event_text(dat, i, &len);
	CHECK(memmem(text, len, field, strlen(field)), "%s:%s has no %s", s, n, field);
	CHECK(dat_format(dat, id), "%s:%s cannot be used", s, n);
}

static void expect_comm(struct dat *dat, pid_t tid, const char *comm)
{
	const char *is = dat_comm(dat, tid);

	CHECK(comm ? is && !strcmp(is, comm) : !is, "%d is called %s", tid, is);
}

static void check_file(struct control *control, struct kept *kept, int version)
{
	struct dat *dat = again(kept, version);
	char *text = room_read(control, "events/header_page");
	struct decode_printk printk;
	struct dat_part part;

	expect_event(dat, item.id, "test", "item", "int n");
	expect_event(dat, other.id, "test", "item", "long long big");
	expect_event(dat, EVENT_ID_PRINT, "ftrace", "print", "char buf[]");
	expect_event(dat, EVENT_ID_BPRINT, "ftrace", "bprint", "fmt");
	expect_event(dat, EVENT_ID_RAW_DATA, "ftrace", "raw_data", "id");
	expect_event(dat, EVENT_ID_KERNEL_STACK, "ftrace", "kernel_stack", "caller");
	expect_event(dat, EVENT_ID_FUNCTION, "ftrace", "function", "parent_ip");
	expect_event(dat, EVENT_ID_GRAPH_ENTRY, "ftrace", "funcgraph_entry", "depth");
	expect_event(dat, EVENT_ID_GRAPH_EXIT, "ftrace", "funcgraph_exit", "retval");
	CHECK(dat_nr_events(dat) == 9, "%zu events", dat_nr_events(dat));
	CHECK(dat_info(dat)->abi.long_size == 8, "a commit of %u bytes", dat_info(dat)->abi.long_size);
	CHECK(!dat_part_open(dat, DAT_HEADER_INFO, &part, NULL) && memmem(part.data, part.len, text, strlen(text)),
	      "the header is not the tree's");
	dat_part_close(&part);
	CHECK(dat_printk(dat, printed, &printk) && !strcmp(printk.text, "\"%d\" of\t%s\\"), "printf: '%s'", printk.text);
	expect_comm(dat, getpid(), "a [b] 1 c?x");
	expect_comm(dat, thread.tid, "first name");
	expect_comm(dat, 0, "<...>");
	free(text);
	dat_close(dat);
}

/* Only what is new is put. */
static void check_updates(struct record_meta *meta, struct kept *kept)
{
	const uint32_t *hint;
	uint32_t id;
	uint64_t address;

	CHECK(!record_meta_is_stale(meta), "stale at once");
	meta_put(meta, kept);
	CHECK(!kept_puts(kept), "something is put again");

	CHECK(!runtime_event_intern("late", "comer", ITEM_BODY, strlen(ITEM_BODY), 0, &id, &hint), "intern");
	CHECK(record_meta_is_stale(meta), "an event is not noticed");
	/* A failure leaves everything to be done. */
	kept->fail = -ENOSPC;
	CHECK(record_meta_put(meta, &(struct record_sink){ kept_section, kept_option, kept }, NULL) == -ENOSPC, "the sink");
	kept->fail = 0;
	CHECK(record_meta_is_stale(meta), "a failure counts");
	meta_put(meta, kept);
	CHECK(kept_puts(kept) == 1u << DAT_EVENT_FORMATS && !record_meta_is_stale(meta), "after an event");

	CHECK(!runtime_format_intern(0, "f", "late", &address), "intern");
	CHECK(record_meta_is_stale(meta), "a format is not noticed");
	meta_put(meta, kept);
	CHECK(kept_puts(kept) == 1u << DAT_PRINTK && !record_meta_is_stale(meta), "after a format");

	/* What is there already is nothing new. */
	CHECK(!runtime_event_intern("late", "comer", ITEM_BODY, strlen(ITEM_BODY), 0, &id, &hint), "intern");
	CHECK(!record_meta_is_stale(meta), "stale without a reason");
}

/* Somebody has claimed a slot and its number; when it is ready, the number does not tell. */
static void check_halfway(struct control *control, struct record_meta *meta, struct kept *kept)
{
	int fd = control->dir.fd[SEGMENT_REGISTRY];
	off_t at = (off_t)(REGISTRY_EVENTS_OFFSET + (other.id - EVENT_ID_FIRST) * sizeof(struct registry_slot));
	uint32_t ready, claimed = (uint32_t)getpid() << 2 | REGISTRY_CLAIMED;
	struct dat *dat;

	CHECK(pread(fd, &ready, 4, at) == 4 && ready == REGISTRY_READY && pwrite(fd, &claimed, 4, at) == 4, "slot");
	meta_put(meta, kept);
	CHECK(kept_puts(kept) == 1u << DAT_EVENT_FORMATS, "a slot that is not ready");
	CHECK(!record_meta_is_stale(meta), "stale as long as nothing happens");
	CHECK(pwrite(fd, &ready, 4, at) == 4, "slot");
	CHECK(record_meta_is_stale(meta), "a slot that becomes ready is not noticed");
	meta_put(meta, kept);
	dat = again(kept, 7);
	expect_event(dat, other.id, "test", "item", "long long big");
	dat_close(dat);
	kept_puts(kept);
}

static void check_names(struct record_meta *meta, struct kept *kept)
{
	struct record_sink sink = kept_sink(kept);
	struct err err = ERR_INIT;
	struct dat *dat;
	pid_t pid;

	thread_rename("second name");
	CHECK(!record_meta_put_names(meta, &sink, &err), "%s", err.text);
	CHECK(kept_puts(kept) == 1u << DAT_CMDLINES, "not just names");
	dat = again(kept, 7);
	expect_comm(dat, thread.tid, "second name");
	dat_close(dat);

	/* Gone, it keeps the last that is known of it. */
	thread_end();
	pid = child_fork();
	if (!pid) {
		prctl(PR_SET_NAME, "child");
		item_emit(&item, 3);
		_exit(0);
	}
	child_expect(pid);
	for (int i = 0; i < 100 && !record_meta_has_names(meta); i++)
		usleep(100000);
	CHECK(!record_meta_put_names(meta, &sink, &err), "%s", err.text);
	CHECK(kept_puts(kept) == 1u << DAT_CMDLINES, "a child's name is not noticed");
	dat = again(kept, 7);
	expect_comm(dat, thread.tid, "second name");
	expect_comm(dat, pid, "child");
	dat_close(dat);
}

/* On request, also what is only a name. */
static void check_all(struct control *control, struct source *source)
{
	const struct control_event *named = control_registry_find(control_events(control, NULL), "sched", "sched_switch");
	const struct record_meta_how how = { .all_formats = true };
	struct record_meta *meta;
	static struct kept kept;
	struct dat *dat;

	CHECK(!record_meta_open(&meta, source, &how, NULL), "open");
	meta_put(meta, &kept);
	dat = again(&kept, 7);
	expect_event(dat, named->id, "sched", "sched_switch", "prev_comm");
	dat_close(dat);
	record_meta_close(meta);
	kept_fini(&kept);
}

int main(void)
{
	struct control *control = room_open();
	struct source *source = source_of(NULL);
	struct record_meta *meta = meta_of(source);
	static struct kept kept;

	CHECK(record_meta_is_stale(meta), "nothing was put");
	prctl(PR_SET_NAME, "a [b] 1 c\tx");
	item = item_bring("item");
	CHECK(!runtime_event_intern("test", "item", OTHER_BODY, strlen(OTHER_BODY), 0, &other.id, &other.hint), "intern");
	CHECK(item.id != other.id, "one ID for two layouts");
	CHECK(!runtime_format_intern(0, "main", "\"%d\" of\t%s\\\n", &printed), "intern");
	/* The kernel's names come with the first look at events; the file has none of them. */
	CHECK(control_events(control, NULL), "no events");
	room_write(control, "events/enable", "1", 0);
	item_emit(&item, 0);
	/* Not at the same tick of the clock as the process. */
	usleep(30000);
	thread_start();

	meta_put(meta, &kept);
	CHECK(kept_puts(&kept) == ALL, "not everything is put");
	check_file(control, &kept, 7);
	check_file(control, &kept, 6);
	check_updates(meta, &kept);
	check_halfway(control, meta, &kept);
	check_names(meta, &kept);
	check_all(control, source);
	record_meta_close(meta);
	source_close(source);
	control_close(control);
	kept_fini(&kept);
	return 0;
}
