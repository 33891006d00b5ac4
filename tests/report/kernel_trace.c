/*
 * The same records printed twice: by this machine's kernel, as its `trace` file under one set of
 * options after the other, and by us from the raw pages of trace_pipe_raw and the `format` texts.
 * Both must be the same bytes.
 *
 * Events whose text needs what only a kernel has at hand (its variables, functions, strings) are
 * compared up to their name, and counted; so are all under `fields` by kernels other than 6.12,
 * whose text we follow and later ones have changed. Set VERBOSE to see every difference.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/utsname.h>

#include "../decode/tracefs.h"
#include "decode/prog.h"
#include "kernel_names.h"
#include "recorded.h"

#define SMALL_KB "8"

/* Something of everything: tasks, signals, timers, files, packets with addresses. */
static void do_things(const struct tracefs *t)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_addr = in6addr_loopback};
	struct itimerval it = {.it_value.tv_usec = 2000};
	socklen_t len = sizeof(in), len6 = sizeof(in6);
	int a, b, status;
	pid_t pid;

	tracefs_set(t->instance, "trace_marker", "hello");
	tracefs_set(t->instance, "trace_marker", "a line\nand another\n\n");
	tracefs_set(t->instance, "trace_marker", "bell \a, escape \033[1m, 100 %s\n");
	tracefs_write(t->instance, "trace_marker_raw", "\1\2\3\4abcde", 9);
	for (int i = 0; i < 3; i++) {
		pid = fork();
		if (!pid) {
			execl("/bin/true", "true", NULL);
			_exit(1);
		}
		kill(pid, SIGCONT);
		waitpid(pid, &status, 0);
	}
	signal(SIGALRM, SIG_IGN);
	setitimer(ITIMER_REAL, &it, NULL);
	usleep(5000);
	for (int family = 0; family < 2; family++) {
		struct sockaddr *sa = family ? (struct sockaddr *)&in6 : (struct sockaddr *)&in;
		socklen_t *sl = family ? &len6 : &len;

		a = socket(sa->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		b = socket(sa->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (!bind(a, sa, *sl) && !listen(a, 1) && !getsockname(a, sa, sl) &&
		    !connect(b, sa, *sl) && write(b, "x", 1) != 1)
			printf("no packet\n");
		close(a);
		close(b);
	}
	usleep(2000);
}

/* Options that the file is read under, a "no" before those that are on by themselves. */
static const char *const looks[] = {
	"",
	"raw",
	"hex",
	"bin",
	"fields",
	"verbose",
	"latency-format",
	"latency-format verbose",
	"latency-format verbose fields",
	"latency-format record-tgid noirq-info",
	"latency-format nocontext-info",
	"latency-format raw",
	"nocontext-info",
	"nocontext-info raw",
	"nocontext-info hex",
	"nocontext-info bin",
	"nocontext-info fields",
	"noirq-info",
	"record-tgid",
	"record-tgid noirq-info",
	"noannotate",
	"sym-offset",
	"sym-addr",
	"sym-offset sym-addr",
	"raw hex fields",
	"raw hex bin",
};

#define LOOKS (sizeof(looks) / sizeof(looks[0]))

/* False when one of them is not to be had; then nothing has changed. */
static bool set_options(const struct tracefs *t, const char *options, bool on)
{
	char words[100], path[200], *word, *save = NULL;

	snprintf(words, sizeof(words), "%s", options);
	for (word = strtok_r(words, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		bool off = !strncmp(word, "no", 2);

		snprintf(path, sizeof(path), "options/%s", word + (off ? 2 : 0));
		if (!tracefs_set(t->instance, path, on != off ? "1" : "0")) {
			*strstr(strcpy(words, options), word) = '\0';
			return set_options(t, words, !on) && false;
		}
	}
	return true;
}

static bool stream_open(struct stream *s, const struct tracefs *t, int cpu)
{
	char path[300];
	ssize_t n = 0;
	int fd;

	snprintf(path, sizeof(path), "%s/per_cpu/cpu%d/trace_pipe_raw", t->instance, cpu);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return false;
	do {
		char *room = buf_room(&s->pages, SUBBUF);

		n = room ? read(fd, room, SUBBUF) : -1;
		if (n > 0 && n != SUBBUF)
			fail("a page of %zd bytes", n);
		s->pages.len += n > 0 ? (size_t)n : 0;
	} while (n > 0);
	close(fd);
	return true;
}

/* What is left of the kernel's text, which may be anything with `bin`. */
struct theirs {
	const char *at, *end;
};

static void skip_line(struct theirs *t)
{
	const char *nl = memchr(t->at, '\n', (size_t)(t->end - t->at));

	t->at = nl ? nl + 1 : t->end;
}

/*
 * A line of the kernel's that is ours as far as it can be, `ours` ending in a line break; moves
 * theirs on.
 */
static bool same_line(struct theirs *t, const struct buf *ours, size_t len)
{
	if ((size_t)(t->end - t->at) < len || memcmp(t->at, ours->data, len))
		return false;
	t->at += len;
	if (len < ours->len)
		skip_line(t);
	return true;
}

/* Bytes of a line up to the text of its event: all when there is no such place. */
static size_t name_len(const struct buf *line, unsigned int flags)
{
	const char *end = flags & REPORT_NO_CONTEXT ? line->data : strstr(line->data, ": ");

	end = end ? strstr(end + 2, ": ") : NULL;
	return end ? (size_t)(end - line->data) : line->len;
}

static bool is_reference(void)
{
	struct utsname uts;

	return !uname(&uts) && !strncmp(uts.release, "6.12.", 5);
}

static bool has_string_pointer(const struct decode_format *f)
{
	for (uint32_t i = 0; i < f->nr_fields; i++)
		if (strstr(f->fields[i].type, "char *"))
			return true;
	return false;
}

/*
 * Whether the text needs what a format does not tell: a function of the kernel, a value of an enum,
 * a string in its memory.
 */
static bool beyond_us(const struct decode_format *f, unsigned int flags)
{
	if (!f || f->special || (flags & (REPORT_RAW | REPORT_HEX | REPORT_BIN)))
		return false;
	if (flags & REPORT_FIELDS)
		return !is_reference() || has_string_pointer(f);
	return !f->prog || f->prog->nr_dropped;
}

/* Records, and those of them that were compared by their name alone. */
static unsigned long counts[2];

static void compare(const char *look, struct theirs t, const struct rows *rows,
		    const struct report_trace_head *head)
{
	unsigned int flags = look_flags(look);
	unsigned long differ = 0;
	struct buf out = BUF_INIT;

	report_trace_header(&out, head, flags);
	if (!same_line(&t, &out, out.len))
		fail("%s: header\n--- theirs\n%.1200s\n--- ours\n%s", look, t.at, out.data);
	for (size_t i = 0; i < rows->nr; i++) {
		const struct report_row *row = &rows->row[i];

		buf_reset(&out);
		/*
		 * The kernel says nothing of a CPU whose first record is one of the first two of
		 * all.
		 */
		if (head->written > head->entries && rows->first[i] && i > 1)
			report_trace_started(&out, row->cpu, flags);
		report_trace_line(&out, row, &ctx, flags);
		counts[0]++;
		if (same_line(&t, &out, out.len))
			continue;
		if (beyond_us(row->format, flags) &&
		    same_line(&t, &out, name_len(&out, flags))) {
			counts[1]++;
			continue;
		}
		if (++differ < (getenv("VERBOSE") ? 100000 : 5))
			printf("%s\n--- theirs\n%.*s\n--- ours\n%s", look,
			       (int)strcspn(t.at, "\n"), t.at, out.data);
		skip_line(&t);
	}
	if (t.at != t.end)
		fail("%s: the kernel has more lines: %.200s", look, t.at);
	if (differ)
		fail("%s: %lu of %zu records differ", look, differ, rows->nr);
	buf_fini(&out);
}

static bool with_events(const struct tracefs *t, const char *const *events)
{
	bool any = false;
	char name[200];

	for (; *events; events++) {
		snprintf(name, sizeof(name), "events/%s/enable", *events);
		any |= tracefs_set(t->instance, name, "1");
	}
	return any;
}

struct seen {
	char *data;	/* NULL: this kernel does not have the options */
	size_t len;
};

static void read_looks(const struct tracefs *t, struct seen *texts)
{
	for (size_t i = 0; i < LOOKS; i++) {
		free(texts[i].data);
		texts[i].data = NULL;
		if (!set_options(t, looks[i], true))
			continue;
		texts[i].data = tracefs_read(t->instance, "trace", &texts[i].len);
		set_options(t, looks[i], false);
	}
}

/*
 * The texts and the task names that they were made with: those are kept for all instances and may
 * change under us.
 */
static void read_trace(const struct tracefs *t, struct seen *texts)
{
	char *before, *after;
	bool same = false;

	for (int i = 0; i < 20; i++) {
		before = tracefs_read(t->root, "saved_cmdlines", NULL);
		read_looks(t, texts);
		after = tracefs_read(t->root, "saved_cmdlines", NULL);
		same = before && after && !strcmp(before, after);
		free(before);
		if (same) {
			load_comms(after);
			load_tgids(tracefs_read(t->root, "saved_tgids", NULL));
			return;
		}
		free(after);
	}
	printf("skip: somebody else traces, and task names change all the time\n");
	exit(77);
}

/* A buffer that was never cleared has times that count from 0, so each round has its own. */
static void record(const struct tracefs *t, const char *kb, const char *const *events)
{
	int times = strcmp(kb, SMALL_KB) ? 1 : 20;

	tracefs_set(t->instance, "buffer_size_kb", kb);
	if (!tracefs_set(t->instance, "options/hash-ptr", "0"))
		skip("this kernel hides pointers");
	set_options(t, "record-tgid", true);
	if (!with_events(t, events))
		fail("no event can be switched on");
	while (times--)
		do_things(t);
	tracefs_set(t->instance, "tracing_on", "0");
	tracefs_set(t->instance, "events/enable", "0");
	set_options(t, "record-tgid", false);
}

/* What a header tells that we cannot know, from the kernel's own. */
static void read_head(struct report_trace_head *head, const struct seen *texts, char model[32])
{
	if (sscanf(texts[0].data,
		   "# tracer: nop\n#\n# entries-in-buffer/entries-written: %" SCNu64 "/%" SCNu64
		   " #P:%u",
		   &head->entries, &head->written, &head->cpus) != 3)
		fail("the kernel's header is another: %.200s", texts[0].data);
	for (size_t i = 0; i < LOOKS; i++) {
		char *at = texts[i].data ? strstr(texts[i].data, "| (M:") : NULL;

		if (at && sscanf(at, "| (M:%31s", model) == 1)
			head->model = model;
	}
}

static void one_round(const struct tracefs *t, const char *kb, const char *const *events)
{
	static struct stream streams[CPUS_MAX];
	struct seen texts[LOOKS] = {0};
	struct rows rows = {0};
	struct utsname uts;
	struct report_trace_head head = {.tracer = "nop", .release = uts.release};
	char model[32];
	int cpus = 0;

	uname(&uts);
	record(t, kb, events);
	read_trace(t, texts);
	read_head(&head, texts, model);
	while (cpus < CPUS_MAX && stream_open(&streams[cpus], t, cpus))
		cpus++;
	rows_merge(&rows, streams, cpus, known.formats);
	if (!strcmp(kb, SMALL_KB) && head.written == head.entries)
		fail("nothing was overwritten");
	if (rows.nr != head.entries)
		fail("%zu records in the pages, the header says %" PRIu64, rows.nr, head.entries);
	for (size_t i = 0; i < LOOKS; i++) {
		struct theirs theirs = {texts[i].data, texts[i].data + texts[i].len};

		if (theirs.at)
			compare(looks[i], theirs, &rows, &head);
		else
			printf("not here: %s\n", looks[i]);
		free(texts[i].data);
	}
	printf("%" PRIu64 " of %" PRIu64 " records: the same\n", head.entries, head.written);
	for (int i = 0; i < cpus; i++)
		buf_fini(&streams[i].pages);
	rows_fini(&rows);
}

static int work(const struct tracefs *t, const char *kb, const char *const *events)
{
	load_symbols();
	load_formats(t);
	load_printks(t);
	one_round(t, kb, events);
	printf("%lu lines compared, %lu of them by name only\n", counts[0], counts[1]);
	forget();
	return 0;
}

static int many_events(const struct tracefs *t)
{
	static const char *const all[] = {
		"sched",       "irq",  "timer",	     "signal", "task", "raw_syscalls", "workqueue",
		"ipi",	       "net",  "skb",	     "sock",   "tcp",  "udp",	       "rcu",
		"irq_vectors", "kmem", "exceptions", "fib",    "fib6", "power",	       NULL};
	const char *wanted[] = {getenv("EVENTS"), NULL};

	return work(t, "2048", wanted[0] ? wanted : all);
}

/* More than fits: older records are overwritten. */
static int small_buffer(const struct tracefs *t)
{
	static const char *const few[] = {"sched", "raw_syscalls", NULL};

	return work(t, SMALL_KB, few);
}

int main(void)
{
	int r = tracefs_with_instance(many_events);

	return r ? r : tracefs_with_instance(small_buffer);
}
