/*
 * Print formats on records made by chance, printed by us and by libtraceevent, the library that
 * trace-cmd and perf print with. First, as the kernel prints, what both are meant to print alike:
 * libtraceevent has pointers with 0x, takes small negative numbers for large ones, misreads some
 * ternaries, and so on. Then its own dialect, in which nothing may differ, on formats that are made
 * by chance too: each in a process of its own, since the library divides by zero and follows null
 * pointers that odd formats lead it to.
 *
 * The library is loaded at run time; where it is missing, or its header was when this was built,
 * the test skips.
 */
#include "event.h"

#if defined(__has_include) && __has_include(<traceevent/event-parse.h>)
#include <dlfcn.h>
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>
#include <traceevent/event-parse.h>
#include <traceevent/trace-seq.h>

static const char *const formats[] = {
	"\"%u %u %d %u\", REC->u8, REC->u16, REC->s32, REC->u32",
	"\"%lld %llu %llx %lx %ld\", REC->s64, REC->u64, REC->u64, REC->u64, REC->s64",
	"\"[%8d] [%-8u] [%08x] [%4llx]\", REC->s32, REC->u32, REC->u32, REC->u64",
	"\"%s|%16s|%-16s|\", REC->name, REC->name, REC->name",
	"\"%s n=%d\", __get_str(text), REC->s32",
	"\"%s\", __print_flags(REC->flags, \"|\", { 1, \"A\" }, { 2, \"B\" }, { 4, \"C\" }, { 8, "
	"\"D\" })",
	"\"%s\", __print_flags(REC->flags, \"+\", { 3, \"AB\" }, { 1 << 4, \"E\" })",
	"\"%s\", __print_symbolic(REC->u8, { 0, \"zero\" }, { 1, \"one\" }, { 200, \"many\" })",
	"\"%s %s\", __print_hex(REC->mac, 6), __print_hex_str(REC->mac, 6)",
	"\"%d,%d\", ((unsigned int) ((REC->u32) >> 20)), ((unsigned int) ((REC->u32) & ((1U << "
	"20) - 1)))",
	"\"%s %d\", REC->yes ? \"yes\" : \"no\", REC->u16 > 100 ? REC->u8 : REC->u16",
	"\"%d %d\", REC->u8 && REC->u16, !REC->u8 || REC->u16 == 7",
	"\"%u %u\", REC->arr[1], REC->arr[3]",
	"\"%pM %pI6c %pI6 100%%\", REC->mac, REC->arr, REC->arr",
};

static struct {
	struct tep_handle *(*alloc)(void);
	void (*free)(struct tep_handle *);
	void (*long_size)(struct tep_handle *, int);
	enum tep_errno (*parse)(struct tep_handle *, const char *, unsigned long, const char *);
	void (*print)(struct tep_handle *, struct trace_seq *, struct tep_record *, const char *,
		      ...);
	void (*seq_init)(struct trace_seq *);
	void (*seq_destroy)(struct trace_seq *);
	void (*seq_terminate)(struct trace_seq *);
} lib;

static bool load(void)
{
	void *h = dlopen("libtraceevent.so.1", RTLD_NOW);

	if (!h)
		return false;
	*(void **)&lib.alloc = dlsym(h, "tep_alloc");
	*(void **)&lib.free = dlsym(h, "tep_free");
	*(void **)&lib.long_size = dlsym(h, "tep_set_long_size");
	*(void **)&lib.parse = dlsym(h, "tep_parse_event");
	*(void **)&lib.print = dlsym(h, "tep_print_event");
	*(void **)&lib.seq_init = dlsym(h, "trace_seq_init");
	*(void **)&lib.seq_destroy = dlsym(h, "trace_seq_destroy");
	*(void **)&lib.seq_terminate = dlsym(h, "trace_seq_terminate");
	return lib.alloc && lib.free && lib.long_size && lib.parse && lib.print && lib.seq_init &&
	       lib.seq_destroy && lib.seq_terminate;
}

static uint64_t seed = 1;

static uint64_t chance(void)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (seed >> 33 | seed << 31) >> (seed >> 60) * 4;
}

static struct sample any_record(void)
{
	struct sample r = sample_record();

	r.s8 = (int8_t)chance();
	r.u8 = (uint8_t)chance();
	r.s16 = (int16_t)chance();
	r.u16 = (uint16_t)chance();
	r.s32 = chance() % 8 ? (int32_t)chance() : -1;
	r.u32 = (uint32_t)chance();
	r.s64 = (int64_t)chance();
	r.u64 = chance();
	/* Bits that have no name print differently: 0x10 of one, nothing of the other. */
	r.flags = chance() % 15 + 1;
	r.yes = chance() & 1;
	for (int i = 0; i < 4; i++)
		r.arr[i] = (uint32_t)chance();
	for (int i = 0; i < 6; i++)
		r.mac[i] = (uint8_t)chance();
	snprintf(r.name, sizeof(r.name), "n%u", (unsigned int)chance());
	snprintf(r.rest, 10, "t%u", (unsigned int)chance() % 100000);
	return r;
}

static void compare(const char *fmt, const struct decode_ctx *ctx, int records)
{
	struct decode_format *f = sample_format(fmt);
	struct tep_handle *tep = lib.alloc();
	struct buf text = BUF_INIT, out = BUF_INIT;

	check(f->prog || ctx);
	lib.long_size(tep, 8);
	sample_text(&text, fmt);
	check(!lib.parse(tep, text.data, text.len, "test"));
	for (int i = 0, before = failures; i < records && failures < before + 2; i++) {
		struct sample r = any_record();
		struct tep_record rec = {.data = &r, .size = sizeof(r), .record_size = sizeof(r)};
		struct trace_seq s;

		lib.seq_init(&s);
		lib.print(tep, &s, &rec, "%s", TEP_PRINT_INFO);
		lib.seq_terminate(&s);
		buf_reset(&out);
		decode_print(f, &r, sizeof(r), ctx, &out);
		check_text(__FILE__, __LINE__, fmt, out.data, s.buffer);
		lib.seq_destroy(&s);
	}
	buf_fini(&text);
	buf_fini(&out);
	lib.free(tep);
	decode_format_free(f);
}

/* One of a list, by chance. */
#define any_of(list) (list)[chance() % (sizeof(list) / sizeof((list)[0]))]

static void any_number(struct buf *out, int depth);

static void any_leaf(struct buf *out)
{
	static const char *const leaves[] = {
		"REC->s8", "REC->u8", "REC->s16", "REC->u16", "REC->s32", "REC->u32", "REC->s64",
		"REC->u64", "REC->flags", "REC->yes", "REC->ptr", "REC->arr[0]", "REC->arr[3]",
		"REC->mac[2]", "REC->name[0]", "(REC)->u16", "0", "1", "7", "0x10", "010", "300UL",
		"NAME", "__get_dynamic_array_len(nums)", "__builtin_expect(REC->u8, 1)",
	};

	buf_puts(out, any_of(leaves));
}

/* With a cast, a sign, parentheses, or none of them. */
static void any_operand(struct buf *out, int depth)
{
	static const char *const before[] = {
		"(u8)", "(s16)", "(unsigned int)", "(unsigned long)", "(void *)", "(foo_t)", "!",
		"~", "-", "",
	};

	if (chance() % 4 == 0)
		buf_puts(out, any_of(before));
	if (depth > 0 && chance() % 2) {
		buf_putc(out, '(');
		any_number(out, depth - 1);
		buf_putc(out, ')');
	} else {
		any_leaf(out);
	}
}

static void any_number(struct buf *out, int depth)
{
	static const char *const ops[] = {
		"+", "-", "*", "/", "%", "<<", ">>", "<", ">", "<=", ">=", "==", "!=", "&", "^",
		"|", "&&", "||",
	};

	any_operand(out, depth);
	for (uint64_t n = chance() % 4; depth > 0 && n; n--) {
		buf_printf(out, " %s ", any_of(ops));
		any_operand(out, depth - 1);
	}
	if (depth > 0 && chance() % 8 == 0) {
		buf_puts(out, " ? ");
		any_operand(out, depth - 1);
		buf_puts(out, " : ");
		any_operand(out, depth - 1);
	}
}

static void any_list(struct buf *out)
{
	static const char *const entries[] = {
		"{ 0, \"zero\" }", "{ 1, \"one\" }", "{ 1 << 1, \"two\" }", "{ 0x4, \"four\" }",
		"{ -1, \"all\" }", "{ SOME, \"some\" }", "{ (1UL << 3), \"eight\" }",
		"{ 5, \"a\\\\n\\\"b\" }", "{ (unsigned long)16, \"sixteen\" }", "{ 3, NAME }",
	};

	for (uint64_t i = chance() % 5 + 1; i; i--)
		buf_printf(out, "%s%s", any_of(entries), i > 1 ? ", " : "");
}

static void any_text(struct buf *out, int depth)
{
	static const char *const texts[] = {
		"REC->name", "__get_str(text)", "\"words\"", "__print_hex(REC->mac, 6)",
		"__print_hex_str(REC->mac, 4)", "__print_array(REC->arr, 4, 4)",
		"__print_array(__get_dynamic_array(nums), 3, 2)", "__get_rel_bitmask(mask)",
		"__get_rel_cpumask(mask)", "NAME", "REC->u64", "REC->ptr", "5", "3 + 4",
		"REC->u8 + 1", "(int)REC->u8", "__get_bitmask(missing)",
	};
	uint64_t what = chance() % 8;

	if (what == 0 && depth > 0) {
		any_operand(out, 0);
		buf_puts(out, " ? ");
		any_text(out, 0);
		buf_puts(out, " : ");
		any_text(out, 0);
	} else if (what == 1) {
		buf_puts(out, "__print_symbolic(");
		any_number(out, 1);
		buf_puts(out, ", ");
		any_list(out);
		buf_putc(out, ')');
	} else if (what == 2) {
		buf_puts(out, "__print_flags(");
		any_number(out, 1);
		buf_puts(out, chance() % 2 ? ", \"|\", " : ", \"\", ");
		any_list(out);
		buf_putc(out, ')');
	} else {
		buf_puts(out, any_of(texts));
	}
}

static void any_conversion(struct buf *fmt, struct buf *args)
{
	static const char *const numbers[] = {
		"%d", "%u", "%x", "%ld", "%lu", "%lx", "%lld", "%llu", "%llx", "%i", "%X", "%o",
		"%5d", "%-8u|", "%08lx", "%#x", "%#llx", "%.3d", "%8.4x", "%hd", "%hhu", "%zu",
		"%Lx", "%c", "%p", "%pS", "%ps", "%5.0d|", "%#o", "%-6lx|", "%pK", "%e",
		"%jd", "%+d",
	};
	static const char *const strings[] = { "%s", "%s", "%16s|", "%-16s|", "%.3s", "%8.2s" };
	static const char *const memory[] = {
		"%pM\0REC->mac", "%pm\0REC->mac", "%pMF\0REC->mac", "%pI6\0REC->arr",
		"%pI6c\0REC->arr", "%pi6\0REC->arr", "%pI4\0REC->u32", "%pI4h\0REC->u32",
		"%pi4\0REC->flags", "%pU\0REC->arr", "%pUL\0REC->name", "%pM\0REC->u8",
		"%pI4\0__get_str(text)", "%*phC\0" "6, __get_dynamic_array(nums)",
		"%.*s\0" "2, REC->name",
	};
	uint64_t what = chance() % 8;
	const char *both;

	if (what < 4) {
		buf_puts(fmt, any_of(numbers));
		buf_puts(args, ", ");
		any_number(args, 2);
	} else if (what < 7) {
		buf_puts(fmt, any_of(strings));
		buf_puts(args, ", ");
		any_text(args, 1);
	} else {
		both = any_of(memory);
		buf_puts(fmt, both);
		buf_printf(args, ", %s", both + strlen(both) + 1);
	}
	buf_puts(fmt, chance() % 4 ? " " : " 0x");
}

/* True: the library came through. */
static bool compare_apart(const char *fmt)
{
	static const struct decode_ctx ctx = {.flags = DECODE_TEP};
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0) {
		printf("fork: %s\n", strerror(errno));
		exit(1);
	}
	if (!pid) {
		failures = 0;
		compare(fmt, &ctx, 4);
		fflush(stdout);
		_exit(failures != 0);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return false;
	failures += WEXITSTATUS(status);
	return true;
}

static bool compare_any(void)
{
	struct buf fmt = BUF_INIT, args = BUF_INIT;
	bool came_through;

	buf_putc(&fmt, '"');
	buf_puts(&args, "");
	for (uint64_t i = chance() % 4 + 1; i; i--)
		any_conversion(&fmt, &args);
	buf_puts(&fmt, chance() % 2 ? "100%% end\"" : "\"");
	buf_puts(&fmt, args.data ? args.data : "");
	came_through = compare_apart(fmt.data);
	buf_fini(&fmt);
	buf_fini(&args);
	return came_through;
}

int main(void)
{
	int good = 0;

	if (!load()) {
		printf("skip: no libtraceevent: %s\n", dlerror());
		return 77;
	}
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		compare(formats[i], NULL, 200);
	for (int i = 0; i < 4000 && failures < 10; i++)
		good += compare_any();
	check(good > 3000 || failures);
	return failures ? 1 : 0;
}

#else

int main(void)
{
	printf("skip: built without libtraceevent's headers\n");
	return 77;
}

#endif
