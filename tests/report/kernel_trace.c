/*
 * The same records printed twice: by this machine's kernel, as its `trace` file, and by us from the
 * raw pages of trace_pipe_raw and the `format` texts. Both must be the same bytes.
 *
 * Events whose print format needs what only a kernel has at hand (its variables, functions) are
 * compared up to their name, and counted. Set VERBOSE to see every difference.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "../decode/tracefs.h"
#include "decode/page.h"
#include "decode/prog.h"
#include "report/trace.h"

#define SUBBUF 4096
#define CPUS_MAX 64

struct symbol {
	uint64_t addr;
	const char *name;
	const char *module;
};

struct known_text {
	uint64_t addr;
	char *text;
};

/* What the callbacks of decode_ctx look into. */
static struct {
	struct decode_format *formats[65536];
	struct symbol *symbols;
	size_t nr_symbols;
	char *comms_text, *comms[32768 * 128];
	char *symbols_text, *printks_text;
	struct known_text *printks;
	size_t nr_printks;
} known;

static int by_addr(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	/*
	 * Of several names for one address the kernel takes the first; names lie in the order of
	 * the file.
	 */
	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static void load_symbols(void)
{
	char *text = tracefs_read("/proc", "kallsyms", NULL), *line, *save = NULL;
	size_t cap = 0;

	known.symbols_text = text;
	for (line = text ? strtok_r(text, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save)) {
		char *name, *tab, *addr_end;
		uint64_t addr = strtoull(line, &addr_end, 16);

		if (*addr_end != ' ' || strlen(addr_end) < 4)
			continue;
		name = addr_end + 3;
		tab = strchr(name, '\t');
		if (tab) {
			*tab = '\0';
			tab += 2;
			tab[strcspn(tab, "]")] = '\0';
		}
		if (known.nr_symbols == cap) {
			cap = cap ? cap * 2 : 65536;
			known.symbols = realloc(known.symbols, cap * sizeof(*known.symbols));
			if (!known.symbols)
				fail("out of memory");
		}
		known.symbols[known.nr_symbols++] = (struct symbol){addr, name, tab};
	}
	qsort(known.symbols, known.nr_symbols, sizeof(*known.symbols), by_addr);
	if (!known.nr_symbols || !known.symbols[known.nr_symbols - 1].addr) {
		errno = EPERM;
		skip("this kernel hides its addresses");
	}
}

static bool symbol(void *arg, int pid, uint64_t addr, struct decode_symbol *out)
{
	size_t lo = 0, hi = known.nr_symbols, next;

	(void)arg, (void)pid;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (known.symbols[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || lo == known.nr_symbols || !known.symbols[lo - 1].addr)
		return false;
	next = lo--;
	while (lo && known.symbols[lo - 1].addr == known.symbols[lo].addr)
		lo--;
	*out = (struct decode_symbol){
		.name = known.symbols[lo].name,
		.module = known.symbols[lo].module,
		.offset = addr - known.symbols[lo].addr,
		.size = known.symbols[next].addr - known.symbols[lo].addr,
	};
	return true;
}

/* printk_formats: 0xADDRESS : "text", with the usual escapes. */
static void load_printks(const struct tracefs *t)
{
	char *text = tracefs_read(t->root, "printk_formats", NULL), *line, *save = NULL;

	known.printks_text = text;
	for (line = text ? strtok_r(text, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save)) {
		char *start = strchr(line, '"'), *end = strrchr(line, '"'), *to;

		if (!start || end == start || strchr(start, '\\'))
			continue;
		to = start + 1;
		*end = '\0';
		known.printks = realloc(known.printks,
					(known.nr_printks + 1) * sizeof(*known.printks));
		if (!known.printks)
			fail("out of memory");
		known.printks[known.nr_printks].addr = strtoull(line, NULL, 16);
		known.printks[known.nr_printks++].text = to;
	}
}

static bool printk(void *arg, uint64_t addr, struct decode_printk *out)
{
	(void)arg;
	for (size_t i = 0; i < known.nr_printks; i++) {
		if (known.printks[i].addr == addr) {
			out->text = known.printks[i].text;
			return true;
		}
	}
	return false;
}

static void load_comms(char *text)
{
	char *line, *save = NULL;

	memset(known.comms, 0, sizeof(known.comms));
	free(known.comms_text);
	known.comms_text = text;
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *end;
		long pid = strtol(line, &end, 10);

		if (*end == ' ' && pid > 0 && (size_t)pid < sizeof(known.comms) / sizeof(char *))
			known.comms[pid] = end + 1;
	}
}

static const char *comm(void *arg, int pid)
{
	(void)arg;
	return pid > 0 && (size_t)pid < sizeof(known.comms) / sizeof(char *) ? known.comms[pid]
									     : NULL;
}

static const struct decode_ctx ctx = {.symbol = symbol, .printk = printk, .comm = comm};

static void load_format(const char *events, const char *system, const char *event)
{
	struct decode_format *format;
	struct err err = ERR_INIT;
	char name[600];
	size_t len;
	char *text;

	snprintf(name, sizeof(name), "%s/%s/format", system, event);
	text = tracefs_read(events, name, &len);
	if (!text)
		return;
	if (decode_format_parse(system, text, len, NULL, &format, &err))
		fail("%s: %s at %d", name, err.text, err.pos);
	free(text);
	if (format->id < 65536)
		known.formats[format->id] = format;
}

static void load_formats(const struct tracefs *t)
{
	char events[200], path[512];
	struct dirent *sys, *ev;
	DIR *outer, *inner;

	snprintf(events, sizeof(events), "%s/events", t->root);
	outer = opendir(events);
	while (outer && (sys = readdir(outer))) {
		snprintf(path, sizeof(path), "%s/%s", events, sys->d_name);
		inner = sys->d_name[0] == '.' ? NULL : opendir(path);
		while (inner && (ev = readdir(inner)))
			if (ev->d_name[0] != '.')
				load_format(events, sys->d_name, ev->d_name);
		if (inner)
			closedir(inner);
	}
	if (outer)
		closedir(outer);
}

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

struct stream {
	struct buf pages;
	size_t at; /* page that is walked */
	struct page_walk walk;
	struct page_event event;
	bool has, started;
};

static void stream_next(struct stream *s, int cpu)
{
	int r;

	while ((r = page_walk_next(&s->walk, &s->event)) == 0 && s->at < s->pages.len) {
		if (page_walk_init(&s->walk, s->pages.data + s->at, SUBBUF))
			fail("cpu %d: page %zu cannot be one", cpu, s->at / SUBBUF);
		s->at += SUBBUF;
	}
	if (r < 0)
		fail("cpu %d: page %zu is torn", cpu, s->at / SUBBUF - 1);
	s->has = r > 0;
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
	stream_next(s, cpu);
	return true;
}

/* The stream whose next event is the oldest; of equals the kernel takes the lower CPU. */
static int oldest(const struct stream *s, int cpus)
{
	int best = -1;

	for (int i = 0; i < cpus; i++)
		if (s[i].has && (best < 0 || s[i].event.ts < s[best].event.ts))
			best = i;
	return best;
}

/*
 * A line of the kernel's that is ours as far as it can be, `ours` ending in a line break; moves
 * both on.
 */
static bool same_line(const char **theirs, const char *ours, size_t len, bool name_only)
{
	const char *name_end;

	if (!name_only) {
		if (strncmp(*theirs, ours, len))
			return false;
		*theirs += len;
		return true;
	}
	name_end = memmem(ours, len, ": ", 2);
	name_end = name_end ? strstr(name_end + 2, ": ") : NULL;
	if (!name_end || strncmp(*theirs, ours, (size_t)(name_end - ours)))
		return false;
	*theirs = strchrnul(*theirs, '\n');
	*theirs += **theirs == '\n';
	return true;
}

/*
 * Whether the text needs what a format does not tell: a function of the kernel, or a value of an
 * enum.
 */
static bool beyond_us(const struct decode_format *f)
{
	return f && !f->special && (!f->prog || f->prog->nr_dropped);
}

/* Records, and those of them that were compared by their name alone. */
static unsigned long counts[2];

static void compare(const char *theirs, struct stream *s, int cpus,
		    const struct report_trace_head *head, bool annotate)
{
	struct buf out = BUF_INIT;
	unsigned long records = 0, differ = 0;
	int cpu;

	report_trace_header(&out, head);
	if (!same_line(&theirs, out.data, out.len, false))
		fail("header\n--- theirs\n%.900s\n--- ours\n%s", theirs, out.data);
	for (; (cpu = oldest(s, cpus)) >= 0; stream_next(&s[cpu], cpu)) {
		struct report_row row = {.ts = s[cpu].event.ts,
					 .cpu = cpu,
					 .data = s[cpu].event.data,
					 .len = s[cpu].event.len};
		uint16_t type;

		memcpy(&type, row.data, 2);
		row.format = known.formats[type];
		buf_reset(&out);
		/*
		 * The kernel says nothing of a CPU whose first record is one of the first two of
		 * all.
		 */
		if (annotate && !s[cpu].started && records > 1)
			report_trace_started(&out, cpu);
		s[cpu].started = true;
		records++;
		report_trace_line(&out, &row, &ctx, 0);
		counts[0]++;
		if (same_line(&theirs, out.data, out.len, false))
			continue;
		if (beyond_us(row.format) && same_line(&theirs, out.data, out.len, true)) {
			counts[1]++;
			continue;
		}
		if (++differ < (getenv("VERBOSE") ? 100000 : 5))
			printf("--- theirs\n%.*s\n--- ours\n%s", (int)strcspn(theirs, "\n"), theirs,
			       out.data);
		theirs = strchrnul(theirs, '\n');
		theirs += *theirs == '\n';
	}
	if (*theirs)
		fail("the kernel has more lines: %.200s", theirs);
	if (differ)
		fail("%lu of %lu records differ", differ, records);
	if (records != head->entries)
		fail("%lu records in the pages, the header says %" PRIu64, records, head->entries);
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

/*
 * The text and the task names that it was made with: they are kept for all instances and may change
 * under us.
 */
static char *read_trace(const struct tracefs *t)
{
	char *before, *after, *text;
	bool same = false;

	for (int i = 0; i < 20; i++) {
		before = tracefs_read(t->root, "saved_cmdlines", NULL);
		text = tracefs_read(t->instance, "trace", NULL);
		after = tracefs_read(t->root, "saved_cmdlines", NULL);
		same = before && after && !strcmp(before, after);
		free(before);
		if (same) {
			load_comms(after);
			return text;
		}
		free(after);
		free(text);
	}
	printf("skip: somebody else traces, and task names change all the time\n");
	exit(77);
}

static void one_round(const struct tracefs *t, const char *kb, const char *const *events)
{
	static struct stream streams[CPUS_MAX];
	struct report_trace_head head = {.tracer = "nop"};
	char *text, path[300];
	int cpus = 0;

	memset(streams, 0, sizeof(streams));
	tracefs_set(t->instance, "tracing_on", "0");
	tracefs_set(t->instance, "buffer_size_kb", kb);
	if (!tracefs_set(t->instance, "options/hash-ptr", "0"))
		skip("this kernel hides pointers");
	snprintf(path, sizeof(path), "%s/trace", t->instance);
	if (truncate(path, 0))
		fail("%s cannot be cleared: %s", path, strerror(errno));
	if (!with_events(t, events))
		fail("no event can be switched on");
	tracefs_set(t->instance, "tracing_on", "1");
	do_things(t);
	tracefs_set(t->instance, "tracing_on", "0");
	tracefs_set(t->instance, "events/enable", "0");

	text = read_trace(t);
	if (sscanf(text,
		   "# tracer: nop\n#\n# entries-in-buffer/entries-written: %" SCNu64 "/%" SCNu64
		   " #P:%u",
		   &head.entries, &head.written, &head.cpus) != 3)
		fail("the kernel's header is another: %.200s", text);
	while (cpus < CPUS_MAX && stream_open(&streams[cpus], t, cpus))
		cpus++;
	compare(text, streams, cpus, &head, head.written > head.entries);
	printf("%" PRIu64 " of %" PRIu64 " records: the same\n", head.entries, head.written);
	for (int i = 0; i < cpus; i++)
		buf_fini(&streams[i].pages);
	free(text);
}

static void forget(void)
{
	for (int i = 0; i < 65536; i++)
		decode_format_free(known.formats[i]);
	free(known.symbols);
	free(known.symbols_text);
	free(known.printks);
	free(known.printks_text);
	free(known.comms_text);
}

static int work(const struct tracefs *t)
{
	static const char *const all[] = {
		"sched",       "irq",  "timer",	     "signal", "task", "raw_syscalls", "workqueue",
		"ipi",	       "net",  "skb",	     "sock",   "tcp",  "udp",	       "rcu",
		"irq_vectors", "kmem", "exceptions", "fib",    "fib6", "power",	       NULL};
	static const char *const few[] = {"sched", "raw_syscalls", NULL};
	const char *wanted[] = {getenv("EVENTS"), NULL};

	load_symbols();
	load_formats(t);
	load_printks(t);
	one_round(t, "2048", wanted[0] ? wanted : all);
	one_round(t, "8", few);
	printf("%lu records compared, %lu of them by name only\n", counts[0], counts[1]);
	forget();
	return 0;
}

int main(void)
{
	return tracefs_with_instance(work);
}
