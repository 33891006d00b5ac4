/*
 * Text of `hist`, byte for byte as a 6.12 kernel has it.
 *
 * tests/data/hist-6.12 (made by tests/hist/record_vm) has what was written to `trigger`, the events that were caused, and
 * what `hist` then showed. Here the same histograms are understood by a few lines of our own, the same events are counted in
 * a table that is put together by hand, and shown.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hist/show.h"
#include "insist.h"
#include "trigger/lower.h"

#define KSYS_READ 0xffffffff81445ce0ull

struct event {
	uint64_t fd, offset, whence, ret, pid;
	const char *comm, *path;
};

/* A histogram, and its table as programs would have left it. */
struct subject {
	struct spec_hist hist;
	struct spec_term terms[32];
	struct spec_action actions[4];
	uint32_t nterms;
	struct hook_key keys[HOOK_KEYS_MAX];
	uint32_t hash_size;
	struct table_shape shape;
	unsigned char *bytes;
	uint32_t snapshots;
	char info[512];
};

/* ---- The few forms of trigger that the file has ---- */

static const struct spec_term *term_of(struct subject *s, const char *text, size_t len)
{
	static const struct {
		const char *text;
		enum spec_how how;
	} hows[] = {
		{ "hex", SPEC_HEX }, { "sym", SPEC_SYM }, { "sym-offset", SPEC_SYM_OFFSET }, { "execname", SPEC_EXECNAME },
		{ "syscall", SPEC_SYSCALL }, { "log2", SPEC_LOG2 }, { "usecs", SPEC_USECS }, { "percent", SPEC_PERCENT },
		{ "graph", SPEC_GRAPH }, { "stacktrace", SPEC_STACKTRACE },
	};
	struct spec_term *term = &s->terms[s->nterms++];
	char name[64], *dot, *plus;

	CHECK(s->nterms < 32 && len < sizeof(name), "%.*s", (int)len, text);
	memcpy(name, text, len);
	name[len] = '\0';
	term->form = HOOK_NUMBER;
	term->size = 8;
	plus = strchr(name, '+');
	if (plus) {
		term->what = SPEC_MATH;
		term->op = '+';
		term->a = term_of(s, name, (size_t)(plus - name));
		term->b = term_of(s, plus + 1, strlen(plus + 1));
		return term;
	}
	dot = strchr(name, '.');
	if (dot) {
		*dot++ = '\0';
		if (sscanf(dot, "buckets=%" SCNu64, &term->number) == 1)
			term->how = SPEC_BUCKETS;
		for (size_t i = 0; i < sizeof(hows) / sizeof(hows[0]); i++)
			if (!strcmp(dot, hows[i].text))
				term->how = hows[i].how;
		CHECK(term->how != SPEC_PLAIN, "%s", dot);
	}
	snprintf(term->name, sizeof(term->name), "%s", name);
	term->is_signed = !strcmp(name, "ret") || !strcmp(name, "common_pid");
	if (!strcmp(name, "hitcount"))
		term->what = SPEC_HITCOUNT;
	else if (!strcmp(name, "cpu") || !strcmp(name, "common_cpu"))
		term->what = SPEC_CPU;
	else if (strstr(name, "stacktrace"))
		term->what = SPEC_STACK;
	else if (name[0] == '$') {
		term->what = SPEC_VAR;
		memmove(term->name, name + 1, strlen(name));
	}
	if (term->what == SPEC_STACK || term->how == SPEC_STACKTRACE)
		term->form = HOOK_STACK;
	if (!strcmp(name, "path")) {
		term->form = HOOK_TEXT;
		term->size = TABLE_TEXT_MAX;
	}
	return term;
}

static uint32_t terms_of(struct subject *s, const char *text, size_t len, const struct spec_term **terms)
{
	uint32_t n = 0;

	while (len) {
		const char *comma = memchr(text, ',', len);
		size_t part = comma ? (size_t)(comma - text) : len;

		terms[n++] = term_of(s, text, part);
		text += comma ? part + 1 : part;
		len -= comma ? part + 1 : part;
	}
	return n;
}

static void read_sorts(struct subject *s, const char *text)
{
	char copy[128], *save = NULL;

	snprintf(copy, sizeof(copy), "%s", text);
	for (char *word = strtok_r(copy, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		struct spec_sort *sort = &s->hist.sorts[s->hist.nsorts++];
		char *dot = strchr(word, '.');

		if (dot)
			*dot++ = '\0';
		sort->key = sort->val = -1;
		sort->descending = dot && !strcmp(dot, "descending");
		for (uint32_t i = 0; i < s->hist.nkeys; i++)
			if (!strcmp(s->hist.keys[i]->name, word))
				sort->key = (int)i;
		for (uint32_t i = 0; i < s->hist.nvals && sort->key < 0; i++)
			if (!strcmp(s->hist.vals[i]->name, word))
				sort->val = (int)i;
	}
}

/* Variables are named for what they are: the terms of onmax($m) say `offset`, those that save() names themselves. */
static void read_action(struct subject *s, const char *text, const char *vars)
{
	struct spec_action *action = &s->actions[s->hist.nactions];
	const char *paren = strchr(text, '('), *dot = strchr(text, '.'), *open = strchr(dot, '('), *is;
	char var[4] = { paren[2], '=', '\0', '\0' };
	struct spec_term *value;

	s->hist.actions[s->hist.nactions++] = action;
	action->handler = !strncmp(text, "onmax", 5) ? HOOK_ONMAX : HOOK_ONCHANGE;
	action->doing = !strncmp(dot, ".save", 5) ? HOOK_DO_SAVE : !strncmp(dot, ".snap", 5) ? HOOK_DO_SNAPSHOT : HOOK_DO_TRACE;
	is = strstr(vars, var);
	CHECK(is, "%s in %s", var, vars);
	value = (struct spec_term *)term_of(s, is + 2, strcspn(is + 2, ",:"));
	value->a = term_of(s, is + 2, strcspn(is + 2, ",:"));
	value->what = SPEC_VAR;
	value->name[0] = paren[2];
	value->name[1] = '\0';
	action->value = value;
	if (action->doing == HOOK_DO_SAVE)
		action->nparams = terms_of(s, open + 1, strcspn(open + 1, ")"), action->params);
}

static void subject_read(struct subject *s, const char *line)
{
	char copy[512], *save = NULL, *cond = strstr(line, " if ");
	const char *sorts = NULL;

	memset(s, 0, sizeof(*s));
	snprintf(copy, sizeof(copy), "%.*s", (int)(cond ? (size_t)(cond - line) : strlen(line)), line);
	for (char *part = strtok_r(copy, ":", &save); part; part = strtok_r(NULL, ":", &save)) {
		if (!strncmp(part, "keys=", 5))
			s->hist.nkeys = terms_of(s, part + 5, strlen(part + 5), s->hist.keys);
		else if (!strncmp(part, "vals=", 5))
			s->hist.nvals = terms_of(s, part + 5, strlen(part + 5), s->hist.vals);
		else if (!strncmp(part, "sort=", 5))
			sorts = part + 5;
		else if (!strncmp(part, "onmax", 5) || !strncmp(part, "onchange", 8))
			read_action(s, part, line);
		else if (!strcmp(part, "nohitcount"))
			s->hist.nohitcount = true;
	}
	/* The hits are always there, and named only for people, or as `vals=$a`, which is its field. */
	if (s->hist.nvals && s->hist.vals[0]->what == SPEC_HITCOUNT && s->hist.vals[0]->how == SPEC_PLAIN)
		memmove(s->hist.vals, s->hist.vals + 1, --s->hist.nvals * sizeof(s->hist.vals[0]));
	if (s->hist.nvals && s->hist.vals[0]->what == SPEC_VAR)
		s->hist.vals[0] = term_of(s, "offset", 6);
	if (sorts)
		read_sorts(s, sorts);
	s->hist.size = 1024;
	lower_hist_shape(&s->hist, 2, &s->shape);
	lower_hist_keys(&s->hist, s->keys, &s->hash_size);
	s->bytes = calloc(1, table_size(&s->shape));
	CHECK(s->bytes, "memory");
}

/* ---- Counting ---- */

static uint64_t number_of(const struct spec_term *term, const struct event *event)
{
	uint64_t n, power;

	if (term->what == SPEC_MATH)
		return number_of(term->a, event) + number_of(term->b, event);
	if (term->what == SPEC_VAR)
		return number_of(term->a, event);
	if (term->what == SPEC_CPU)
		return 0;
	n = !strcmp(term->name, "fd") ? event->fd : !strcmp(term->name, "offset") || !strcmp(term->name, "lat") ?
		event->offset : !strcmp(term->name, "whence") ? event->whence : !strcmp(term->name, "common_pid") ?
		event->pid : !strcmp(term->name, "id") ? 8 : event->ret;
	if (term->how == SPEC_BUCKETS)
		return n / term->number * term->number;
	if (term->how != SPEC_LOG2)
		return n;
	for (power = 0; power < 64 && 1ull << power < n; power++)
		;
	return power;
}

static void make_key(const struct subject *s, const struct event *event, unsigned char *key)
{
	static const uint64_t stack[] = { 2, 1, 2 };

	memset(key, 0, s->shape.key_size);
	for (uint32_t i = 0; i < s->hist.nkeys; i++) {
		unsigned char *at = key + s->keys[i].at;
		uint64_t number = number_of(s->hist.keys[i], event);

		if (s->keys[i].form == HOOK_STACK)
			memcpy(at, stack, sizeof(stack));
		else if (s->keys[i].form == HOOK_TEXT)
			memcpy(at, event->path, strlen(event->path));
		else
			memcpy(at, &number, 8);
		if (s->keys[i].with_comm)
			memcpy(at + 8, event->comm, strlen(event->comm));
	}
}

/* The element of a key; parts are filled from their ends, slots in no order. */
static unsigned char *element_of(struct subject *s, uint32_t part, const unsigned char *key)
{
	unsigned char *at = s->bytes + part % s->shape.parts * table_part_size(&s->shape), *element;
	uint64_t *next = (uint64_t *)(void *)(at + 8), *slots = (uint64_t *)(void *)(at + sizeof(struct table_part));

	for (uint64_t i = 0; i <= *next; i++) {
		element = at + sizeof(struct table_part) + 8ull * s->shape.slots + i * s->shape.element_size;
		if (i == *next)
			break;
		if (!memcmp(element + s->shape.key_at, key, s->hash_size))
			return element;
	}
	memcpy(element + s->shape.key_at, key, s->shape.key_size);
	slots[(*next * 37 + 5) % s->shape.slots] = 0xabcdef0000000000 | (*next + 1);
	++*next;
	return element;
}

static void track(struct subject *s, unsigned char *element, const struct event *event)
{
	struct table_track *tracks = (struct table_track *)(void *)(element + table_tracks_at(&s->shape));
	struct table_save *saves = (struct table_save *)(void *)(element + table_saves_at(&s->shape));

	for (uint32_t i = 0; i < s->hist.nactions; i++) {
		const struct spec_action *action = s->hist.actions[i];
		uint64_t value = number_of(action->value, event);

		if (action->handler == HOOK_ONMAX ? value <= tracks[i].value : value == tracks[i].value)
			continue;
		tracks[i].value = value;
		tracks[i].is_set = action->doing == HOOK_DO_SNAPSHOT ? ++s->snapshots : 1;
		for (uint32_t p = 0; p < action->nparams; p++) {
			saves[p].number = number_of(action->params[p], event);
			if (action->params[p]->form == HOOK_TEXT)
				snprintf(saves[p].text, sizeof(saves[p].text), "%s", event->path);
		}
	}
}

static void hit(struct subject *s, const struct event *event, uint32_t part)
{
	unsigned char key[HOOK_KEY_MAX], *element;
	uint64_t *numbers;

	make_key(s, event, key);
	element = element_of(s, part, key);
	numbers = (uint64_t *)(void *)element;
	numbers[0]++;
	for (uint32_t i = 0; i < s->hist.nvals; i++)
		numbers[1 + i] += number_of(s->hist.vals[i], event);
	if (s->hist.nactions)
		track(s, element, event);
}

/* ---- The events of the file ---- */

static bool passes(const char *trigger, const struct event *event)
{
	return strstr(trigger, "if fd > 38") ? event->fd > 38 : strstr(trigger, "if offset == 100") ? event->offset == 100 : true;
}

static void seek(struct subject *s, const char *trigger, const char *comm, uint64_t pid, const char *args)
{
	long long times, fd, whence;
	char offset[32];
	int used;

	while (sscanf(args, "%lld %lld %31s %lld%n", &times, &fd, offset, &whence, &used) == 4) {
		struct event event = { (uint64_t)fd, strtoull(offset, NULL, 0), (uint64_t)whence,
				       fd == 1 ? (uint64_t)-29 : (uint64_t)-9, pid, comm, "" };

		for (uint32_t n = 0; n < (uint32_t)times && passes(trigger, &event); n++)
			hit(s, &event, n);
		args += used;
	}
}

static void name(struct subject *s, uint64_t pid, const char *args)
{
	struct event event = { .pid = pid, .comm = "name" };
	char path[256];
	long times;
	char *end;

	while ((times = strtol(args, &end, 10)) > 0) {
		size_t len = strcspn(end + 1, " \n");

		memcpy(path, end + 1, len);
		path[len] = '\0';
		event.path = path;
		for (uint32_t n = 0; n < (uint32_t)times; n++)
			hit(s, &event, n);
		args = end + 1 + len;
	}
}

/* What the recorder's functions did. */
static void cause(struct subject *s, const char *trigger, const char *what, uint64_t pid)
{
	char args[64];

	if (!strncmp(what, "taskset 1 ", 10))
		what += 10;
	if (!strncmp(what, "numbers", 7)) {
		seek(s, trigger, "one", pid, "1 4294967295 -1 0");
		seek(s, trigger, "two", pid + 1, "2 7 4096 1");
		seek(s, trigger, "three", pid + 2, "3 3 1000000000000 2");
		seek(s, trigger, "five", pid + 3, "5 12345678 0x8000000000000000 3");
		seek(s, trigger, "seven", pid + 4, "7 0 0 4");
	} else if (!strncmp(what, "many", 4) || !strncmp(what, "calls", 5)) {
		for (int i = what[0] == 'm'; i < (what[0] == 'm' ? 42 : 480); i++) {
			if (what[0] == 'm')
				snprintf(args, sizeof(args), "%d %d %d00 1", i, i, i);
			else
				snprintf(args, sizeof(args), "1 1 %d 0", i);
			seek(s, trigger, "many", pid, args);
		}
	} else if (!strncmp(what, "sizes", 5)) {
		seek(s, trigger, "sizes", pid, "1 1 0 0 2 1 1 0 3 1 2 0 4 1 3 0 5 1 4 0 6 1 5 0 7 1 1023 0 8 1 1024 0 "
		     "9 1 1025 0 10 1 -1 0");
	} else if (!strncmp(what, "seek ", 5)) {
		seek(s, trigger, "x", pid, strchr(what + 5, ' '));
	} else if (!strncmp(what, "name ", 5)) {
		name(s, pid, what + 5);
	} else {
		CHECK(!strncmp(what, "true", 4), "%s", what);
	}
}

static bool symbol(void *arg, uint64_t address, bool offset, struct buf *out)
{
	(void)arg;
	if (address == 1 || address == 2)
		buf_puts(out, address == 1 ? "do_syscall_64+0x147/0x180" : "entry_SYSCALL_64_after_hwframe+0x76/0x7e");
	else if (address < KSYS_READ || address >= KSYS_READ + 0xf0)
		return false;
	else if (offset)
		buf_printf(out, "ksys_read+0x%" PRIx64 "/0xf0", (uint64_t)(address - KSYS_READ));
	else
		buf_puts(out, "ksys_read");
	return true;
}

/* ---- Comparing ---- */

/* The number of a task that the text has, of the first if there are several. */
static uint64_t pid_in(const char *text)
{
	const char *pid = strstr(text, "common_pid: "), *open;

	if (!pid)
		pid = strstr(text, "max: ");
	if (!pid)
		return 0;
	open = strchr(pid, '[');
	pid = open && open - pid < 40 ? open + 1 : strchr(pid, ':') + 1;
	return strtoull(pid, NULL, 10);
}

static void show(struct subject *s, const char *info, struct buf *out)
{
	struct hist_names names = { .symbol = symbol };
	struct hist_rows rows;

	CHECK(!hist_rows_read(&rows, s->bytes, &s->shape, s->hash_size), "rows");
	hist_sort(&rows, &s->hist);
	hist_show(&rows, &s->hist, info, &names, out);
	hist_rows_fini(&rows);
	free(s->bytes);
}

static void info_in(const char *text, char *info, size_t size)
{
	static const char head[] = "# trigger info: ";
	const char *at = strstr(text, head);

	CHECK(at, "no trigger info in %s", text);
	at += sizeof(head) - 1;
	snprintf(info, size, "%.*s", (int)strcspn(at, "\n"), at);
}

/* One section: triggers, what was done, the text. */
static void compare(const char *title, const char *section, const char *text)
{
	struct buf out = BUF_INIT;
	const char *block = text, *what = NULL;

	for (const char *line = section; line < text; line = strchr(line, '\n') + 1)
		if (line[0] == '$' && !strstr(line, "events/"))
			what = line + 2;
	/* As long as nobody wrote what was done: a function of the recorder that says nothing. */
	what = what && what < text && strncmp(what, "events", 6) ? what : "numbers";
	for (const char *line = section; line < text; line = strchr(line, '\n') + 1) {
		char trigger[512], info[512];
		struct subject s;
		const char *hist = strstr(line, "hist:");

		if (strncmp(line, "$ events", 8))
			continue;
		snprintf(trigger, sizeof(trigger), "%.*s", (int)strcspn(hist, "\n"), hist);
		buf_puts(&out, out.len ? "\n\n" : "");
		subject_read(&s, trigger);
		cause(&s, trigger, what, pid_in(block));
		info_in(block, info, sizeof(info));
		show(&s, info, &out);
		block = strstr(block + 1, "# event histogram");
	}
	CHECK(!buf_failed(&out), "memory");
	if (strcmp(out.data, text)) {
		fprintf(stderr, "%s: ours:\n%s\nthe kernel's:\n%s", title, out.data, text);
		exit(1);
	}
	buf_fini(&out);
}

/* Events of others are in it, its rows are in no order, or it has no text. */
static bool is_left_out(const char *title)
{
	static const char *const left_out[] = { "named", "ties", "eprobe", "synth", "end",
#ifndef __x86_64__
						"allcalls", "syscall", "unknowncall",
#endif
	};

	for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++)
		if (!strcmp(title, left_out[i]))
			return true;
	return false;
}

static char *slurp(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = calloc(1, 1 << 20);

	CHECK(file && text && fread(text, 1, (1 << 20) - 1, file), "%s", path);
	fclose(file);
	return text;
}

int main(void)
{
	const char *source = getenv("RINGSIDE_SOURCE");
	char path[4096], *file, *next;
	int compared = 0;

	snprintf(path, sizeof(path), "%s/tests/data/hist-6.12", source ? source : ".");
	file = slurp(path);
	for (char *at = file; at; at = next) {
		char title[64], *text, *whole;

		next = strstr(at + 1, "\n== ");
		if (next)
			*next++ = '\0';
		CHECK(sscanf(at, "== %63s", title) == 1, "%.40s", at);
		text = strstr(at, "# event histogram");
		if (is_left_out(title))
			continue;
		CHECK(text, "%s has no text", title);
		/* More of other things may follow. */
		if (!strcmp(title, "synthstack2"))
			strstr(text + 1, "# event histogram")[-1] = '\0';
		if (strstr(text, "\n$ "))
			*strstr(text, "\n$ ") = '\0';
		whole = malloc(strlen(at) + 2);
		CHECK(whole, "memory");
		sprintf(whole, "%s\n", at);
		compare(title, whole, whole + (text - at));
		free(whole);
		compared++;
	}
	free(file);
	CHECK(compared >= 40, "%d histograms only", compared);
	return 0;
}
