/*
 * Real programs (one of them, unless RINGSIDE_LONG is set), every instruction of theirs told by valgrind: a place that they come to
 * from elsewhere than the instruction before is never behind the first byte of a window, of whatever point or function; and
 * where they come to is an instruction to us, too.
 */
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "insist.h"
#include "plan/plan.h"
#include "symbol/elf.h"

#define SLOTS (1u << 20)
#define AT_ONCE 60000u

static const char *place;	/* of the test's files */
static uint64_t slots[SLOTS];	/* places that were come to, by their hash */
static uint64_t executed, arrivals;

/* ---- running ---- */

static void arrive(uint64_t address)
{
	uint64_t i = address * 0x9e3779b97f4a7c15ull >> 44;

	while (slots[i] && slots[i] != address)
		i = (i + 1) % SLOTS;
	if (slots[i])
		return;
	slots[i] = address;
	CHECK(++arrivals < SLOTS / 2, "too many");
}

/* There are many millions of such lines: "I  04001100,3". */
static bool read_line(const char *line, uint64_t *address, unsigned int *size)
{
	const char *at = line + 1;

	if (*line != 'I')
		return false;
	for (*address = 0; *at == ' '; at++)
		;
	for (; *at && *at != ','; at++)
		*address = *address << 4 | (uint64_t)(*at <= '9' ? *at - '0' : *at - 'a' + 10);
	*size = *at ? (unsigned int)(at[1] - '0') : 0;
	if (*at && at[2] >= '0' && at[2] <= '9')
		*size = *size * 10 + (unsigned int)(at[2] - '0');
	return *size;
}

static void follow_line(const char *line)
{
	static uint64_t last, next;
	uint64_t address;
	unsigned int size;

	if (!read_line(line, &address, &size))
		return;
	/* A string's comes again for each of its bytes. */
	if (address != next && address != last)
		arrive(address);
	executed++;
	last = address;
	next = address + size;
}

/* Each line is a write of its own. Who sleeps in between is not woken for each of them. */
static void follow(int trace)
{
	static char text[2 << 20];
	size_t have = 0;
	ssize_t n;

	memset(slots, 0, sizeof(slots));
	executed = arrivals = 0;
	fcntl(trace, F_SETPIPE_SZ, 1 << 20);
	while ((n = read(trace, text + have, sizeof(text) - have)) > 0) {
		char *line = text, *end;

		have += (size_t)n;
		while ((end = memchr(line, '\n', (size_t)(text + have - line)))) {
			*end = '\0';
			follow_line(line);
			line = end + 1;
		}
		have -= (size_t)(line - text);
		memmove(text, line, have);
		usleep(2000);
	}
}

/* A library that tells where everything is, at the end. */
static void make_teller(void)
{
	char line[1024];
	FILE *f;

	snprintf(line, sizeof(line), "%s/tell.c", place);
	f = fopen(line, "w");
	CHECK(f, "%s", line);
	fputs("#include <fcntl.h>\n#include <unistd.h>\n"
	      "__attribute__((destructor)) static void tell(void) { char b[4096]; int from = open(\"/proc/self/maps\", O_RDONLY); long n;\n"
	      "while ((n = read(from, b, sizeof(b))) > 0) if (write(8, b, (unsigned long)n) != n) _exit(1); close(from); }\n", f);
	CHECK(!fclose(f), "%s", line);
	snprintf(line, sizeof(line), "gcc -shared -fPIC -o %s/tell.so %s/tell.c", place, place);
	CHECK(!system(line), "%s", line);
}

static void run(const char *command)
{
	char line[4096];
	FILE *trace;

	snprintf(line, sizeof(line), "LD_PRELOAD=%s/tell.so exec valgrind --tool=lackey --trace-mem=yes --log-fd=9 %s "
		 "9>&1 8>%s/maps >/dev/null 2>/dev/null </dev/null", place, command, place);
	trace = popen(line, "r");
	CHECK(trace, "%s", line);
	follow(fileno(trace));
	CHECK(!pclose(trace) && executed > 100000, "%s: %" PRIu64 " instructions", line, executed);
}

/* ---- a file ---- */

static uint64_t *here;	/* arrivals of this file, by address in it */
static size_t nhere;

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static bool is_arrival(uint64_t address)
{
	return bsearch(&address, here, nhere, sizeof(*here), compare);
}

/* How much is to be added to addresses of its file; its code is mapped from there in the file. */
static uint64_t base_of(const char *path, uint64_t start, uint64_t offset)
{
	struct err err = ERR_INIT;
	struct elf elf;
	uint64_t base = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	CHECK(fd >= 0 && !elf_open(&elf, fd, &err), "%s: %s", path, err.text);
	for (uint32_t i = 0; i < elf.nloads; i++)
		if (elf.loads[i].flags & PF_X && (elf.loads[i].offset & ~4095ull) == offset)
			base = start - (elf.loads[i].vaddr & ~4095ull);
	elf_close(&elf);
	close(fd);
	return base;
}

static void take_arrivals(uint64_t base, const struct plan *plan)
{
	here = calloc(arrivals + 1, sizeof(*here));
	CHECK(here, "memory");
	nhere = 0;
	for (uint32_t i = 0; i < SLOTS; i++)
		if (slots[i] && slots[i] - base >= plan->text_start && slots[i] - base < plan->text_end)
			here[nhere++] = slots[i] - base;
	qsort(here, nhere, sizeof(*here), compare);
}

static void check_plan(const struct plan *plan, const char *path)
{
	const struct plan_site *sites = (const struct plan_site *)((const char *)plan + plan->sites);

	CHECK(!plan_check(plan, plan->size), "%s: %s", path, plan_check(plan, plan->size));
	for (uint32_t i = 0; i < plan->nsites; i++) {
		const struct plan_site *site = &sites[i];
		const uint64_t window = plan_site_window(site);

		CHECK(site->reason != PLAN_UNDECODED || !is_arrival(site->address), "%s: %" PRIx64 " in %s is executed", path,
		      site->address, (const char *)plan + plan->names + site->name);
		for (uint64_t at = window + 1; site->kind == PLAN_JUMP && at < window + site->window; at++)
			CHECK(!is_arrival(at), "%s: %" PRIx64 " is in the window of %" PRIx64 ", in %s", path, at, site->address,
			      (const char *)plan + plan->names + site->name);
	}
}

/* All points whose windows could have an arrival in them. */
static void check_points(const char *path, uint64_t start)
{
	uint64_t *points = calloc(AT_ONCE, sizeof(*points));

	CHECK(points, "memory");
	for (size_t i = 0; i < nhere; ) {
		struct buf out = BUF_INIT;
		struct err err = ERR_INIT;
		size_t n = 0;

		for (; i < nhere && n + PLAN_WINDOW_MAX <= AT_ONCE; i++)
			for (uint64_t back = 0; back < PLAN_WINDOW_MAX && here[i] - start >= back; back++)
				points[n++] = here[i] - back;
		CHECK(!plan_make_extra(&out, &(struct plan_file){ .path = path }, points, n, &err), "%s", err.text);
		check_plan((const struct plan *)out.data, path);
		buf_fini(&out);
	}
	free(points);
}

static void check_file(const char *path, uint64_t start, uint64_t offset)
{
	struct buf out = BUF_INIT;
	struct err err = ERR_INIT;
	const struct plan *plan;

	CHECK(!plan_make(&out, &(struct plan_file){ .path = path }, &err), "%s", err.text);
	plan = (const struct plan *)out.data;
	take_arrivals(base_of(path, start, offset), plan);
	check_plan(plan, path);
	check_points(path, plan->text_start);
	printf("  %s: %zu places\n", path, nhere);
	free(here);
	buf_fini(&out);
}

static void check_files(void)
{
	char line[1024], path[512], rights[8];
	uint64_t start, offset;
	FILE *maps;

	snprintf(line, sizeof(line), "%s/maps", place);
	maps = fopen(line, "r");
	CHECK(maps, "%s", line);
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%" SCNx64 "-%*x %7s %" SCNx64 " %*s %*u %511s", &start, rights, &offset, path) == 4 &&
		    !strcmp(rights, "r-xp") && path[0] == '/' && !strstr(path, "valgrind") && !strstr(path, "/tell.so"))
			check_file(path, start, offset);
	fclose(maps);
}

int main(void)
{
	static const char *const commands[][2] = {
		{ "/usr/bin/sqlite3", "/usr/bin/sqlite3 :memory: \"create table t(a, b); with recursive c(x) as (select 1 "
		  "union all select x + 1 from c where x < 200) insert into t select x, hex(x * x) from c; create index i on t(b); select count(*), sum(a), "
		  "group_concat(b) from t where b like '%3%' group by a % 7 order by 2; select printf('%5.2f %s %q', 3.1, 'x', 'y');\"" },
		{ "/usr/bin/python3", "/usr/bin/python3 -S -E -c \"d = {str(i): '%08.3f %x %s %r' % (i * 1.7, i, 'z' * (i % 5), (i, 'a')) "
		  "for i in range(20)}\n"
		  "sorted(d.values()); print(str(d).replace('x', 'y').split(), 10 ** 50 // 7, float('1e300'))\n"
		  "try: 1 // 0\nexcept ZeroDivisionError as e: print(e)\"" },
		{ "/usr/bin/openssl", "/usr/bin/openssl dgst -sha256 /etc/passwd" },
	};
	unsigned int n = 0;

	place = getenv("RINGSIDE_SCRATCH");
	CHECK(place, "where am I?");
#if !defined(__x86_64__)
	puts("plans are of x86-64");
	return 77;
#endif
	if (system("valgrind --version >/dev/null 2>&1")) {
		puts("no valgrind here");
		return 77;
	}
	make_teller();
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (access(commands[i][0], X_OK))
			continue;
		run(commands[i][1]);
		printf("%s: %" PRIu64 " instructions, %" PRIu64 " places come to\n", commands[i][0], executed, arrivals);
		check_files();
		n++;
		/* The others are as many instructions again, and six times more. */
		if (!getenv("RINGSIDE_LONG"))
			break;
	}
	if (!n)
		puts("no programs of a Debian of x86-64 here");
	return n ? 0 : 77;
}
