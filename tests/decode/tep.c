/*
 * The dialect of libtraceevent: what it makes of print formats, of fields and of ftrace's own
 * records, where that is not what the kernel prints. Each text here is what that library printed.
 */
#include "event.h"

static bool symbol(void *arg, int pid, uint64_t addr, struct decode_symbol *out)
{
	(void)arg, (void)pid;
	if (addr < 0x1000 || addr >= 0x2000)
		return false;
	*out = (struct decode_symbol){.name = "main", .module = "shop", .offset = addr - 0x1000};
	return true;
}

static bool printk(void *arg, uint64_t addr, struct decode_printk *out)
{
	static const char *const texts[] = {"hello %d %s %p\n", "plain", "%5d|%-5d|%hd|%x"};

	(void)arg;
	if (addr < 0x3000 || addr > 0x3002)
		return false;
	out->text = texts[addr - 0x3000];
	return true;
}

static const struct decode_ctx ctx = {.flags = DECODE_TEP, .symbol = symbol, .printk = printk};

#define FAILED "[FAILED TO PARSE]"

static const struct {
	const char *fmt, *want;
} cases[] = {
	/* Numbers have no sign until they are printed, and then the size of the conversion. */
	{"\"%d %u %d %u\", REC->s8, REC->u8, REC->s16, REC->u16", "248 200 63936 60000"},
	{"\"%d %ld %lld %hd %hhd\", REC->s32, REC->s32, REC->s64, REC->s32, REC->s32",
	 "-320000 4294647296 -64000000000 7680 0"},
	{"\"%d %d\", REC->s32 < 0, REC->s32 > -5", "0 0"},
	{"\"%lld %d\", (s8)REC->u8, (int)REC->s8", "200 248"},
	{"\"%llx %llx\", (unsigned short)REC->u64, (unsigned short int)REC->u64",
	 "3210 fedcba9876543210"},
	/* Operators of one rank group to the right; parentheses on that side do not hold. */
	{"\"%d %d\", 10 - 2 - 3, 100 / 5 / 2", "11 50"},
	{"\"%d %d %d\", 2 * (3 + 4), (3 + 4) * 2, 2 * (3 - 1) * 5", "10 14 29"},
	{"\"%d %d\", 1 ? 2 : 3 + 4, 5 * -3", "6 -3"},
	{"\"%d %d\", 6 ^ 4, REC->u8 ^ 4", "2 0"},
	{"\"%d %d %d\", true, NAME, 'a'", "0 0 0"},
	{"\"%d\", REC->missing", "0"},
	/* Conversions. */
	{"\"%#x %.0d|%05.2d|%5.3d\", 0, 0, 5, 1", "0 |   05|  001"},
	{"\"%c %+d %f 100%%\", 1, 2", ">c< >+<d >f< 100%"},
	{"\"abc%\", 1", "abc"},
	{"\"a\\tb\\x41\"", "a\tbx41"},
	/* Pointers. */
	{"\"%p %p %20p|%px\", REC->ptr, 0, REC->ptr, REC->ptr",
	 "0xffff888012345678 (nil) 0xffff888012345678|0xffff888012345678x"},
	{"\"%ps %pS %pf %pS\", 0x1010, 0x1010, 0x1000, 0x10", "main main+0x10 main 0x10"},
	{"\"%pM %pM %pI4 %pI4\", REC->mac, REC->u8, REC->u32, REC->mac",
	 "00:1b:21:ab:cd:ef INVALIDMAC 0.40.107.238 INVALIDIPv4"},
	{"\"%pM %*phC\", __get_str(text), 4, __get_dynamic_array(nums)",
	 "ARG TYPE NOT FIELD BUT 8 07:00:08:00"},
	/* Strings, by the kind of their argument. */
	{"\"%s|%s|%s|%s|%s\", REC->u64, NAME, 3 + 4, REC->u8 + 1, (int)REC->u8",
	 "fedcba9876543210|NAME|7||"},
	{"\"%s\", \"a\\nb\"", "a\\nb"},
	{"\"%8s|%.2s|%.*s\", REC->name, REC->name, 3, __get_str(text)", "    shop|sh|gre"},
	{"\"%s\", __print_array(REC->arr, 4, 4)", "1 2 4294967295 4"},
	{"\"%s %s\", __get_rel_bitmask(mask), __get_rel_cpumask(mask)",
	 "00000000,00000001,00000000,0000000f 0-3,64"},
	{"\"%6s|\", __print_flags(REC->flags, \"+\", { 1, \"A\" }, { 4, \"C\" })",
	 "     A+     C+0x10|"},
	{"\"%s %s\", __print_flags(0, \"|\", { NAME, \"A\" }), "
	 "__print_symbolic(0 - 1, { NAME, \"B\" })",
	 "A B"},
	{"\"%s\", __print_symbolic(REC->u8, { 1, \"A\" }, { -1, ((void *)0) })", "0xc8"},
	/* What it cannot read. */
	{"\"%d %d\", 1", FAILED},
	{"\"%d\", unknown(REC->u8)", FAILED},
	{"\"%d\", REC->arr[1 + 1]", FAILED},
	{"\"%d\", &REC->u8", FAILED},
	{"\"%s\", __print_symbolic(REC->u8, { 2 * 3, \"A\" })", FAILED},
	{"\"%lllx\", 1", FAILED},
	{"\"a\tb\"", FAILED},
	{"\"%d\", sizeof(u64)", FAILED},
};

static void print_formats(void)
{
	struct sample r = sample_record();
	struct buf out = BUF_INIT;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct decode_format *f = sample_format(cases[i].fmt);

		buf_reset(&out);
		decode_print(f, &r, sizeof(r), &ctx, &out);
		if (!strcmp(cases[i].want, FAILED))
			out.data[strlen(FAILED) < out.len ? strlen(FAILED) : out.len] = '\0';
		check_text(__FILE__, __LINE__, cases[i].fmt, out.data, cases[i].want);
		decode_format_free(f);
	}
	buf_fini(&out);
}

/* Which of them are better printed by somebody else. */
static void exact_ones(void)
{
	static const struct {
		const char *fmt;
		bool exact;
	} some[] = {
		{"\"%u 100%%\", REC->u8", true}, {"\"%f\", REC->d", false}, {"\"%c\", REC->u8", false},
		{"\"%d\", REC->u8 - 1", false}, {"\"%lld\", REC->s32", false},
	};

	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
		struct decode_format *f = sample_format(some[i].fmt);

		check_text(__FILE__, __LINE__, some[i].fmt, decode_tep_is_exact(f) ? "exact" : "not",
			   some[i].exact ? "exact" : "not");
		decode_format_free(f);
	}
}

static void raw_fields(void)
{
	struct decode_format *f = sample_format("\"0x%x %5d|\", REC->u32, (int)REC->s16");
	struct sample r = sample_record();
	struct buf out = BUF_INIT;

	r.s16 = 7;
	decode_print_fields(f, &r, sizeof(r), &ctx, &out);
	check_text(__FILE__, __LINE__, "raw", out.data,
		   " s8=-8 u8=200 s16=    7 u16=60000 s32=-320000 u32=0xee6b2800 "
		   "s64=-64000000000 u64=0xfedcba9876543210 f=1069547520 flags=21 "
		   "d=-4611123068473966592 ptr=0xffff888012345678 name=shop "
		   "arr=ARRAY[01, 00, 00, 00, 02, 00, 00, 00, ff, ff, ff, ff, 04, 00, 00, 00] "
		   "mac= yes=1 text=green tea mask=ARRAY[0f, 00, 00, 00, 00, 00, 00, 00, 01, 00, "
		   "00, 00, 00, 00, 00, 00] nums=ARRAY[07, 00, 08, 00, ff, ff]");
	decode_format_free(f);
	buf_fini(&out);
}

static const char print_text[] =
	"name: print\nID: 5\nformat:\n" COMMON
	"\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:char buf[];\toffset:16;\tsize:0;\tsigned:0;\n"
	"\nprint fmt: \"%ps: %s\", (void *)REC->ip, REC->buf\n";
static const char bprint_text[] =
	"name: bprint\nID: 6\nformat:\n" COMMON
	"\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:const char * fmt;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:u32 buf[];\toffset:24;\tsize:0;\tsigned:0;\n"
	"\nprint fmt: \"%ps: %s\", (void *)REC->ip, REC->fmt\n";

static void own_record(const char *text, const void *data, size_t len, const char *want)
{
	struct decode_format *f;
	struct err err = ERR_INIT;
	struct buf out = BUF_INIT;

	if (decode_format_parse("ftrace", text, strlen(text), NULL, &f, &err)) {
		printf("%s\n", err.text);
		exit(1);
	}
	decode_print(f, data, len, &ctx, &out);
	check_text(__FILE__, __LINE__, f->name, out.data, want);
	decode_format_free(f);
	buf_fini(&out);
}

static void own_records(void)
{
	struct {
		struct record_head head;
		uint64_t ip;
		uint64_t fmt;
		char args[24];
	} r = {.head = {.type = 6, .pid = 1}, .ip = 0x1010, .fmt = 0x3000};

	memcpy(r.args, "\x07\0\0\0abc\0\x34\x12\0\0\0\0\0\0", 16);
	own_record(bprint_text, &r, sizeof(r), "main: hello 7 abc 0x1234");
	r.fmt = 0x3001;
	own_record(bprint_text, &r, sizeof(r), "main: plain");
	r.fmt = 0x9999;
	own_record(bprint_text, &r, sizeof(r), "main: (NO FORMAT FOUND at 9999)");
	/* %-5d and %hd take no argument and print the next one; then there is none left. */
	r.fmt = 0x3002;
	own_record(bprint_text, &r, 24 + 8, "main:     7|6513249|d|x");
	memcpy(&r.fmt, "hi\n\0", 4);
	own_record(print_text, &r, sizeof(r), "main: hi");
}

int main(void)
{
	print_formats();
	exact_ones();
	raw_fields();
	own_records();
	return failures ? 1 : 0;
}
