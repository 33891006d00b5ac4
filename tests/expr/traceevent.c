/*
 * Filters made by chance, on events and records made by chance: by us and by libtraceevent, the
 * library that trace-cmd filters with. Both must accept the same names of events, describe what
 * they understood in the same words, and give the same verdict on each record.
 *
 * Only what the library can do is here. It dies of divisions by 0, of values in parentheses and of
 * text that is compared with CPU; it reads -1 as an operator, and where a number that is no
 * function's address is matched with a regular expression it looks at memory that is not its own.
 *
 * The library is loaded at run time; where it is missing, or its header was when this was built,
 * the test skips.
 */
#include "world.h"

#if defined(__has_include) && __has_include(<traceevent/event-parse.h>)
#include <dlfcn.h>
/* The library's header has macros of the same names. */
enum { OURS_NONE = FILTER_NONE, OURS_MATCH = FILTER_MATCH };
#include <traceevent/event-parse.h>

static struct {
	struct tep_handle *(*alloc)(void);
	void (*free)(struct tep_handle *);
	enum tep_errno (*parse)(struct tep_handle *, const char *, unsigned long, const char *);
	int (*add_comm)(struct tep_handle *, const char *, int);
	int (*add_function)(struct tep_handle *, char *, unsigned long long, char *);
	const char *(*function)(struct tep_handle *, unsigned long long);
	struct tep_event_filter *(*filter)(struct tep_handle *);
	void (*filter_free)(struct tep_event_filter *);
	enum tep_errno (*filter_add)(struct tep_event_filter *, const char *);
	enum tep_errno (*filter_match)(struct tep_event_filter *, struct tep_record *);
	char *(*filter_text)(struct tep_event_filter *, int);
} lib;

static bool load(void)
{
	const struct {
		void *to;
		const char *name;
	} symbols[] = {
		{ &lib.alloc, "tep_alloc" },
		{ &lib.free, "tep_free" },
		{ &lib.parse, "tep_parse_event" },
		{ &lib.add_comm, "tep_register_comm" },
		{ &lib.add_function, "tep_register_function" },
		{ &lib.function, "tep_find_function" },
		{ &lib.filter, "tep_filter_alloc" },
		{ &lib.filter_free, "tep_filter_free" },
		{ &lib.filter_add, "tep_filter_add_filter_str" },
		{ &lib.filter_match, "tep_filter_match" },
		{ &lib.filter_text, "tep_filter_make_string" },
	};
	void *h = dlopen("libtraceevent.so.1", RTLD_NOW);

	for (size_t i = 0; h && i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		void *symbol = dlsym(h, symbols[i].name);

		if (!symbol)
			return false;
		memcpy(symbols[i].to, &symbol, sizeof(symbol));
	}
	return h;
}

static uint64_t seed = 1;

static uint64_t chance64(void)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (seed >> 33 | seed << 31) >> (seed >> 60) * 4;
}

static unsigned int chance(unsigned int below)
{
	return (unsigned int)(chance64() % below);
}

#define any(list) ((list)[chance(sizeof(list) / sizeof((list)[0]))])

/* A scene: events, the same ones in both libraries. */
enum { NR_SCENE = 5, FIXED = 80, REC_MAX = 128, NR_RECORDS = 6 };
static struct decode_format *scene[NR_SCENE];
static const char *const systems[] = { "alpha", "beta", "sched" };
static const char *const event_names[] = { "one", "two", "sched_x", "sched_y", "alpha" };
static const char *const numbers[] = { "n0", "n1", "n2", "n3", "n4", "n5" };
static const char *const texts[] = { "t0", "t1", "t2" };

static void add_number(struct buf *out, const char *name, unsigned int *at)
{
	static const char *const types[] = { "char", "short", "int", "long long" };
	unsigned int log = chance(4), size = 1u << log, is_signed = chance(2);

	*at = (*at + size - 1) & -size;
	buf_printf(out, "\tfield:%s%s %s;\toffset:%u;\tsize:%u;\tsigned:%u;\n",
		   is_signed ? "" : "unsigned ", types[log], name, *at, size, is_signed);
	*at += size;
}

static void add_text(struct buf *out, const char *name, unsigned int *at)
{
	*at = (*at + 3) & -4u;
	if (chance(2)) {
		buf_printf(out, "\tfield:__data_loc char[] %s;\toffset:%u;\tsize:4;\tsigned:0;\n",
			   name, *at);
		*at += 4;
	} else {
		buf_printf(out, "\tfield:char %s[8];\toffset:%u;\tsize:8;\tsigned:0;\n", name, *at);
		*at += 8;
	}
}

/* Each event has some of the fields, each time of other types. */
static void any_format(struct buf *out, size_t i)
{
	unsigned int at = 8;

	buf_printf(out, "name: %s\nID: %zu\nformat:\n" COMMON, event_names[i], 100 + i);
	for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++)
		if (chance(3))
			add_number(out, numbers[k], &at);
	for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++)
		if (chance(3))
			add_text(out, texts[k], &at);
	buf_puts(out, "\nprint fmt: \"x\"\n");
}

static void scene_name(void *arg, size_t i, const char **system, const char **name)
{
	(void)arg;
	*system = scene[i]->system;
	*name = scene[i]->name;
}

static const struct decode_format *scene_format(void *arg, size_t i)
{
	(void)arg;
	return scene[i];
}

static const struct filter_world scene_world = {
	.nr = NR_SCENE, .name = scene_name, .format = scene_format,
};

static struct tep_handle *scene_open(void)
{
	struct tep_handle *tep = lib.alloc();
	struct err err = ERR_INIT;
	char schedule[] = "schedule", other[] = "other", last[] = "last";

	for (size_t i = 0; i < NR_SCENE; i++) {
		const char *system = any(systems);
		struct buf text = BUF_INIT;

		any_format(&text, i);
		check(!lib.parse(tep, text.data, text.len, system));
		check(!decode_format_parse(system, text.data, text.len, NULL, &scene[i], &err));
		buf_fini(&text);
	}
	check(!lib.add_comm(tep, "init", 1));
	check(!lib.add_comm(tep, "shop", 42));
	check(!lib.add_function(tep, schedule, 40, NULL));
	check(!lib.add_function(tep, other, 0x100, NULL));
	check(!lib.add_function(tep, last, 0x8000, NULL));
	return tep;
}

static void scene_close(struct tep_handle *tep)
{
	for (size_t i = 0; i < NR_SCENE; i++)
		decode_format_free(scene[i]);
	lib.free(tep);
}

/* Whose names are asked for is the library's business: what counts is what comes of them. */
static bool symbol(void *arg, int pid, uint64_t addr, struct decode_symbol *out)
{
	(void)pid;
	*out = (struct decode_symbol){ .name = lib.function(arg, addr) };
	return out->name;
}

static const char *comm(void *arg, int pid)
{
	(void)arg;
	return pid == 1 ? "init" : pid == 42 ? "shop" : NULL;
}

static uint64_t any_number(void)
{
	static const uint64_t special[] = {
		0, 1, 2, 40, 50, 127, 128, 200, 255, 0x100, 0x123, 0x7fff, 0x8000, 0xffff,
		0x7fffffff, 0x80000000, 0xffffffff, 1ull << 63, ~0ull, ~0ull - 1,
	};

	return chance(4) ? any(special) : chance64();
}

static const char *const strings[] = { "init", "shop", "shopper", "Tea", "tea", "", "a.b", "x" };

/* Fields one by one, so that small numbers and known texts are common. */
static void any_record(const struct decode_format *format, uint8_t *rec)
{
	static const int pids[] = { 0, 1, 42, 77 };
	struct record_head head = { .type = (uint16_t)format->id, .pid = any(pids) };
	uint32_t tail = FIXED;

	memset(rec, 0, REC_MAX);
	memcpy(rec, &head, sizeof(head));
	for (uint32_t i = 0; i < format->nr_fields; i++) {
		const struct decode_field *f = &format->fields[i];
		uint64_t number = any_number();
		uint32_t loc = tail | 9u << 16;

		if (f->is_common)
			continue;
		if (f->place == DECODE_LOC) {
			memcpy(rec + f->offset, &loc, 4);
			strcpy((char *)rec + tail, any(strings));
			tail += 9;
		} else if (f->is_array) {
			strcpy((char *)rec + f->offset, any(strings));
		} else {
			memcpy(rec + f->offset, &number, f->size);
		}
	}
}

static void add_names(struct buf *out)
{
	static const char *const names[] = {
		"alpha", "beta", "sched", "one", "two", "s.*", ".*", "alpha/.*", "beta/one",
		"ALPHA", ".*/sched_[xy]", "sched_\\(x\\|y\\)", " beta / two ", "o\\?ne",
		"a\\|one", "/one", "[ab].*", "nothing", "sche", "alpha/alpha",
	};

	buf_puts(out, any(names));
	if (!chance(4))
		buf_printf(out, ",%s", any(names));
}

static void add_number_test(struct buf *out)
{
	static const char *const orders[] = { "==", "!=", "<", "<=", ">", ">=" };
	static const char *const math[] = { "+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>" };
	static const char *const formats_of[] = { "%llu", "0x%llx", "0%llo" };
	static const char *const names[] = { "common_pid", "CPU", "bogus", "common_type" };
	const char *op = chance(3) ? any(orders) : any(math);
	unsigned long long number = any_number();

	if ((*op == '/' || *op == '%') && !number)
		number = 7;
	if (!strcmp(op, "<<") || !strcmp(op, ">>"))
		number %= 64;
	buf_printf(out, "%s %s ", chance(4) ? any(numbers) : any(names), op);
	switch (chance(3)) {
	case 0:
		buf_printf(out, formats_of[0], number);
		break;
	case 1:
		buf_printf(out, formats_of[1], number);
		break;
	default:
		buf_printf(out, formats_of[2], number);
	}
}

static void add_text_test(struct buf *out)
{
	static const char *const patterns[] = {
		"^s", "tea", "TEA", "p\\+e", "s.*p$", "[ai]", "^$", "a\\.b", "\\(in\\|sh\\)", "z*",
	};
	static const char *const names[] = {
		"schedule", "other", "last", "0x1", "0xffffffffffffffff",
	};
	const char *name = chance(3) ? any(texts) : "COMM";

	switch (chance(3)) {
	case 0:
		buf_printf(out, "%s %s \"%s\"", any(numbers), chance(2) ? "==" : "!=", any(names));
		break;
	case 1:
		buf_printf(out, "%s %s \"%s\"", name, chance(2) ? "==" : "!=", any(strings));
		break;
	default:
		buf_printf(out, "%s %s \"%s\"", name, chance(2) ? "=~" : "!~", any(patterns));
	}
}

static void add_truth(struct buf *out, unsigned int depth)
{
	unsigned int kind = depth ? chance(7) : 6;

	switch (kind) {
	case 0:
	case 1:
	case 2:
		add_truth(out, depth - 1);
		buf_puts(out, kind == 2 ? "&&" : " || ");
		add_truth(out, depth - 1);
		break;
	case 3:
		buf_puts(out, "!");
		/* fall through */
	case 4:
		buf_puts(out, "(");
		add_truth(out, depth - 1);
		buf_puts(out, ")");
		break;
	case 5:
		buf_puts(out, "!");
		/* fall through */
	default:
		if (chance(2))
			add_number_test(out);
		else
			add_text_test(out);
	}
}

static bool describe_alike(const struct filter *ours, struct tep_event_filter *theirs)
{
	struct buf got = BUF_INIT, want = BUF_INIT;
	bool same;

	buf_puts(&want, "");
	for (int i = 0; i < NR_SCENE; i++) {
		char *text = lib.filter_text(theirs, 100 + i);

		if (text)
			buf_printf(&want, " '%s: %s'\n", scene[i]->name, text);
		free(text);
	}
	filter_describe(ours, &got);
	same = got.data && !strcmp(got.data, want.data);
	if (!same)
		printf("ours:\n%stheirs:\n%s", got.data ? got.data : "", want.data);
	buf_fini(&got);
	buf_fini(&want);
	return same;
}

/* Records that got each verdict. */
static unsigned int seen[3];

static bool match_alike(struct tep_handle *tep, const struct filter *ours,
			struct tep_event_filter *theirs, const struct decode_format *format)
{
	struct decode_ctx ctx = { .arg = tep, .symbol = symbol, .comm = comm };
	union {
		uint8_t bytes[REC_MAX];
		uint64_t align;
	} rec;
	struct tep_record record = { .data = &rec, .size = REC_MAX, .record_size = REC_MAX };
	struct buf fields = BUF_INIT;
	int got, want;

	any_record(format, rec.bytes);
	record.cpu = (int)chance(4);
	got = filter_match(ours, format, &rec, REC_MAX, record.cpu, 0, &ctx);
	want = lib.filter_match(theirs, &record);
	seen[got]++;
	if ((got == OURS_MATCH) == (want == TEP_ERRNO__FILTER_MATCH) &&
	    (got == OURS_NONE) == (want == TEP_ERRNO__FILTER_NOT_FOUND))
		return true;
	decode_print_fields(format, &rec, REC_MAX, NULL, &fields);
	printf("%s:%s\n  got %d, must be %d\n", format->name, fields.data, got, want);
	buf_fini(&fields);
	return false;
}

static void compare(struct tep_handle *tep, const char *text)
{
	struct tep_event_filter *theirs = lib.filter(tep);
	struct err err = ERR_INIT;
	struct filter *ours;
	bool same;
	int got, want;

	check(!filter_new(&ours, FILTER_UNSIGNED));
	got = filter_add(ours, text, &scene_world, &err);
	want = lib.filter_add(theirs, text);
	same = !got == !want;
	if (!same)
		printf("ours: %d %s, theirs: %d\n", got, err.text, want);
	if (!got && !want)
		same = describe_alike(ours, theirs);
	for (int i = 0; !got && !want && same && i < NR_SCENE * NR_RECORDS; i++)
		same = match_alike(tep, ours, theirs, scene[i % NR_SCENE]);
	if (!same) {
		printf("of |%s|\n", text);
		failures++;
	}
	filter_free(ours);
	lib.filter_free(theirs);
}

int main(void)
{
	struct buf text = BUF_INIT;

	if (!load()) {
		printf("skip: no libtraceevent: %s\n", dlerror());
		return 77;
	}
	for (int i = 0; i < 60 && failures < 5; i++) {
		struct tep_handle *tep = scene_open();

		for (int k = 0; k < 80; k++) {
			buf_reset(&text);
			add_names(&text);
			if (chance(8)) {
				buf_puts(&text, chance(2) ? ":" : " : ");
				add_truth(&text, chance(5));
			}
			compare(tep, text.data);
		}
		scene_close(tep);
	}
	buf_fini(&text);
	for (int i = 0; i < 3 && !failures; i++)
		check(seen[i] > 10000);
	return failures ? 1 : 0;
}

#else

int main(void)
{
	printf("skip: built without libtraceevent's headers\n");
	return 77;
}

#endif
