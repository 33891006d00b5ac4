/*
 * The print-format language on one record: every conversion, operator and helper, with the text
 * that the kernel gives.
 */
#include "event.h"

static bool symbol(void *arg, int pid, uint64_t addr, struct decode_symbol *out)
{
	(void)arg;
	if (addr == 0x1000 && pid == 4242)
		*out = (struct decode_symbol){.name = "main", .offset = 0x10, .size = 0x80};
	else if (addr == 0x2000)
		*out = (struct decode_symbol){
			.name = "malloc", .module = "libc.so.6", .size = 0x40};
	else
		return false;
	return true;
}

static bool printk(void *arg, uint64_t addr, struct decode_printk *out)
{
	(void)arg;
	if (addr != 0x3000)
		return false;
	out->text = "a known string";
	return true;
}

static const struct decode_ctx ctx = {.symbol = symbol, .printk = printk};

static const struct {
	const char *fmt, *want;
} cases[] = {
	/* Integers of each width; the conversion, not the field, says how much is taken. */
	{"\"%d %u %d %u\", REC->s8, REC->u8, REC->s16, REC->u16", "-8 200 -1600 60000"},
	{"\"%d %u %lld %llu\", REC->s32, REC->u32, REC->s64, REC->u64",
	 "-320000 4000000000 -64000000000 18364758544493064720"},
	{"\"%d %i %u\", REC->u32, REC->u32, REC->s8", "-294967296 -294967296 4294967288"},
	{"\"%x %X %lx %llx %#x %#X %#llx\", REC->u32, REC->u32, REC->u64, REC->u64, REC->u8, "
	 "REC->u8, REC->u64",
	 "ee6b2800 EE6B2800 fedcba9876543210 fedcba9876543210 0xc8 0XC8 0xfedcba9876543210"},
	{"\"%hhx %hx %hhd %hd %hu\", REC->u32, REC->u32, 255, 65535, -1", "0 2800 -1 -1 65535"},
	{"\"%zu %zd %jd %td %Lu %qu\", REC->u64, REC->s64, REC->s64, REC->s64, REC->u64, REC->u64",
	 "18364758544493064720 -64000000000 -64000000000 -64000000000 18364758544493064720 "
	 "18364758544493064720"},
	{"\"%o %#o %#o\", 8, 8, 0", "10 010 0"},
	{"\"[%5d] [%-5d] [%05d] [%+d] [% d] [%5.3d]\", 42, 42, -42, 42, 42, 7",
	 "[   42] [42   ] [-0042] [+42] [ 42] [  007]"},
	{"\"[%*d] [%-*d] [%.*d] [%*d]\", 5, 42, 5, 42, 3, 7, -4, 1",
	 "[   42] [42   ] [007] [1   ]"},
	/* Where the kernel and C part ways. */
	{"\"%#x %.0d %08.3d %#08x\", 0, 0, 5, 0x1f", "0x0 0 00000005 0x00001f"},
	{"\"%c%c[%3c][%-3c]\", 72, 'i', 'x', 'y'", "Hi[  x][y  ]"},
	{"\"100%% %d%%\", 5", "100% 5%"},
	{"\"%k %d\", 5", "%k 5"},
	{"\"tail %\"", "tail %"},

	/* Text. */
	{"\"%s|%8s|%-8s|%.2s|%.*s\", REC->name, REC->name, REC->name, REC->name, 3, REC->name",
	 "shop|    shop|shop    |sh|sho"},
	{"\"%s %10s %.5s\", __get_str(text), __get_str(text), __get_str(text)",
	 "green tea  green tea green"},
	{"\"%s\", (char *)__get_dynamic_array(text)", "green tea"},
	{"\"a\\tb\\\"c\\\\d\\x41\\101\\n\" \"e\" \"f %s\", \"g\" \"h\"", "a\tb\"c\\dAA\nef gh"},
	{"\"%s %s\", REC->yes ? \"yes\" : \"no\", !REC->yes ? \"yes\" : \"no\"", "yes no"},
	{"\"%s %s\", (char *)0x3000, (char *)0", "a known string (null)"},
	{"\"%s\", REC->ptr", "0xffff888012345678"},

	/* Floating point, which the kernel has not. */
	{"\"%f %.2f %e %g %8.1f|\", REC->d, REC->f, REC->d, REC->f, REC->d",
	 "-2.250000 1.50 -2.250000e+00 1.5     -2.2|"},
	{"\"%g %g %d %g\", REC->f * 2 + 1, REC->d / 3.0, (int)REC->d, (double)REC->s8",
	 "4 -0.75 -2 -8"},
	{"\"%d %d %s\", REC->f > 1, REC->d > 0, REC->d < REC->f ? \"less\" : \"more\"", "1 0 less"},

	/* Expressions, typed as in C. */
	{"\"%d %d %d %d\", 1 + 2 * 3, (1 + 2) * 3, 10 - 4 - 3, 100 / 7 % 5", "7 9 3 4"},
	{"\"%d %d %d\", 1 << 4 | 3, 6 & 3 ^ 1, 1 | 2 == 2", "19 3 1"},
	{"\"%d %d %d %d\", 1 < 2, 2 <= 1, 3 != 3, 1 && 0 || 1", "1 0 0 1"},
	{"\"%d %d %d %d\", -REC->u8, ~REC->u8, !REC->u8, !!REC->u8", "-200 -201 0 1"},
	{"\"%d %d\", REC->s32 < 0, REC->s32 < 0u", "1 0"},
	{"\"%lld %llu\", (long long)(REC->u32 + 500000000), (unsigned long long)REC->s32",
	 "205032704 18446744073709231616"},
	{"\"%d %llx %x\", REC->s32 >> 4, REC->u64 >> 60, REC->u32 >> 28", "-20000 f e"},
	{"\"%d %u %d\", (u8)300, (unsigned char)REC->s8, (s8)200", "44 248 -56"},
	{"\"%u %u\", ((unsigned int) ((REC->u32) >> 20)), ((unsigned int) ((REC->u32) & ((1U << "
	 "20) - 1)))",
	 "3814 731136"},
	{"\"%d %d\", REC->s32 / 7, REC->s32 % 7", "-45714 -2"},
	{"\"%d %d %d\", REC->s32 / 0, REC->u32 % 0, 5 / (REC->yes - 1)", "0 0 0"},
	{"\"%d\", REC->u8 ?: 7", "200"},
	{"\"%d %d\", (REC->yes - 1) ?: 7, REC->u8 > 100 ? REC->u8 > 150 ? 3 : 2 : 1", "7 3"},
	{"\"%lu %lu %lu %lu\", sizeof(u64), sizeof(int), sizeof(REC->arr), sizeof(unsigned long)",
	 "8 4 16 8"},
	{"\"%d %d\", true, false", "1 0"},
	{"\"%x %x\", (xfs_flags_t)-1, (unknown_t)REC->u8", "ffffffff c8"},
	{"\"%u\", (REC)->u8", "200"},
	{"\"%d\", __builtin_expect(!!(REC->u8 > 5), 0)", "1"},
	{"\"%d %d %d\", 010, 0x1F, 'A'", "8 31 65"},

	/* Arrays. */
	{"\"%u %d %u\", REC->arr[0], REC->arr[2], REC->arr[REC->yes]", "1 -1 2"},
	{"\"%u %u\", REC->arr[4], REC->arr[REC->u32]", "0 0"},
	{"\"%u %u %u\", ((u16 *)__get_dynamic_array(nums))[1], *(u16 *)__get_dynamic_array(nums), "
	 "REC->mac[5]",
	 "8 7 239"},
	{"\"%u %u\", *REC->arr, *(&REC->arr[1])", "1 2"},
	{"\"%d %d\", __get_dynamic_array_len(nums), __get_dynamic_array_len(text)", "6 10"},
	{"\"%u %u\", REC->__data_loc_text >> 16, (REC->__data_loc_text & 0xffff) > 0", "10 1"},

	/* Helpers. */
	{"\"%s\", __print_flags(REC->flags, \"|\", { 1, \"A\" }, { 2, \"B\" }, { 1 << 2, \"C\" })",
	 "A|C|0x10"},
	{"\"%s\", __print_flags(REC->flags, \"\", { 0x5, \"AC\" }, { 1, \"A\" })", "AC0x10"},
	{"\"[%s]\", __print_flags(0, \"|\", { 0, \"none\" }, { 1, \"A\" })", "[]"},
	{"\"[%s]\", __print_flags(8, \"|\", { 0, \"zero\" }, { 1, \"A\" })", "[zero|0x8]"},
	{"\"[%s] [%8s] [%-6s] [%.2s]\", __print_flags(0x100, \"|\", { 1, \"A\" }), "
	 "__print_flags(5, \"+\", "
	 "{ 1, \"A\" }, { 4, \"C\" }), __print_flags(1, \"+\", { 1, \"A\" }), __print_symbolic(3, "
	 "{ 3, \"three\" })",
	 "[0x100] [     A+C] [A     ] [th]"},
	{"\"%s\", __print_flags(REC->s64, \"|\", { 0x8000000000000000UL, \"TOP\" })",
	 "TOP|0x7ffffff1194d8000"},
	{"\"%s %s %s\", __print_symbolic(REC->u8, { 1, \"one\" }, { 200, \"many\" }), "
	 "__print_symbolic(7, { 1, "
	 "\"one\" }), __print_symbolic(REC->s8, { -8, \"minus\" })",
	 "many 0x7 minus"},
	{"\"%s\", __print_symbolic(REC->u8, { UNRESOLVED, \"what\" }, { 200, \"many\" }, { -1, "
	 "NULL })",
	 "many"},
	{"\"%s\", __print_symbolic(REC->u8, { })", "0xc8"},
	{"\"%s\", __print_symbolic(REC->u8, { 1, \"a\" }, { -1, ((void *)0) })", "0xc8"},
	{"\"%s|%s\", __print_hex(REC->mac, 6), __print_hex_str(REC->mac, 6)",
	 "00 1b 21 ab cd ef|001b21abcdef"},
	{"\"%s\", __print_hex(__get_dynamic_array(nums), __get_dynamic_array_len(nums))",
	 "07 00 08 00 ff ff"},
	{"\"%s\", __print_hex(REC->mac, 100000)", "00 1b 21 ab cd ef"},
	{"\"%s %s\", __print_array(REC->arr, 4, 4), __print_array(REC->mac, 2, 1)",
	 "{0x1,0x2,0xffffffff,0x4} {0x0,0x1b}"},
	{"\"%s\", __print_array(__get_dynamic_array(nums), __get_dynamic_array_len(nums) / "
	 "sizeof(u16), sizeof(u16))",
	 "{0x7,0x8,0xffff}"},
	{"\"%s %s\", __print_array(REC->arr, 0, 4), __print_array(REC->mac, 2, 3)",
	 "{} {BAD SIZE:3 0x0,BAD SIZE:3 0x1b}"},
	{"\"%s %s\", __get_rel_bitmask(mask), __get_cpumask(mask)",
	 "00000000,00000001,00000000,0000000f 00000000,00000001,00000000,0000000f"},
	{"\"%llu.%09llu\", __print_ns_to_secs(5000000007ULL), "
	 "__print_ns_without_secs(5000000007ULL)",
	 "5.000000007"},

	/* Pointers. */
	{"\"%p %px %#p %20p|\", REC->ptr, REC->ptr, (void *)16, (void *)16",
	 "ffff888012345678 ffff888012345678 0x0000000000000010                   10|"},
	{"\"%pS %ps %pS %ps %pS\", (void *)0x1000, (void *)0x1000, (void *)0x2000, (void *)0x2000,"
	 " (void *)0x9000",
	 "main+0x10/0x80 main malloc+0x0/0x40 [libc.so.6] malloc [libc.so.6] 0x9000"},
	{"\"%pM %pMF %pm %pMR\", REC->mac, REC->mac, REC->mac, REC->mac",
	 "00:1b:21:ab:cd:ef 00-1b-21-ab-cd-ef 001b21abcdef ef:cd:ab:21:1b:00"},
	{"\"%pI4 %pi4 %15pI4|\", REC->mac, REC->mac, REC->mac",
	 "0.27.33.171 000.027.033.171     0.27.33.171|"},
	{"\"%pI6 %pI6c %pi6\", REC->arr, REC->arr, REC->arr",
	 "0100:0000:0200:0000:ffff:ffff:0400:0000 100:0:200:0:ffff:ffff:400:0 "
	 "0100000002000000ffffffff04000000"},
	{"\"%pI6c\", __get_rel_dynamic_array(mask)", "f00::100:0:0:0"},
	{"\"%pU %pUB %pUl\", REC->arr, REC->arr, REC->arr",
	 "01000000-0200-0000-ffff-ffff04000000 01000000-0200-0000-FFFF-FFFF04000000 "
	 "00000001-0002-0000-ffff-ffff04000000"},
	{"\"%*ph %*phC %*phN\", 3, REC->mac, 3, REC->mac, 3, REC->mac", "00 1b 21 00:1b:21 001b21"},
	{"\"%*pb %*pbl\", 36, __get_rel_dynamic_array(mask), 128, __get_rel_dynamic_array(mask)",
	 "0,0000000f 0-3,64"},
	{"\"%pISpc\", REC->mac", "(einval)"},
	{"\"%pU\", REC->mac", "(bytes)"},
	/* More arguments than conversions are nobody's business. */
	{"\"%d\", 1, some_function(2)", "1"},
};

/* What cannot be read prints raw, whatever the reason. */
static const char *const unreadable[] = {
	"",
	"REC->u8",
	"\"%d\"",
	"\"%d\", ",
	"\"%d\", nobody",
	"\"%d\", nobody(1)",
	"\"%d\", REC->nobody",
	"\"%d\", REC->u8 +",
	"\"%d\", (REC->u8",
	"\"%d\", REC->name",
	"\"%s\", ({ int a = 1; a; })",
	"\"%s\", __print_flags(REC->u8)",
	"\"%s\", __print_symbolic(REC->u8, { 1 })",
	"\"%d\", REC->arr[",
	"\"%d\", REC->u8[0]",
	"\"%d\", REC->ptr[0]",
	"\"%d\", \"text\"",
	"\"unclosed",
	"\"%s\", __get_str(nobody)",
	"\"%d\", REC->d << 1",
	"\"%d\", 'ab'",
	"\"%d\", @",
	"\"%d\", sizeof(struct x)",
	"\"%d\", &1",
};

static const char raw_text[] =
	" s8=-8 u8=200 s16=-1600 u16=60000 s32=-320000 u32=4000000000 s64=-64000000000 "
	"u64=18364758544493064720 f=1.5"
	" flags=21 d=-2.25 ptr=0xffff888012345678 name=shop arr={1,2,4294967295,4} mac={0,27,33,"
	"171,205,239} yes=1"
	" text=green tea mask={15,1} nums={7,8,65535}";

static void expect(const char *fmt, const char *want, unsigned int flags)
{
	struct decode_format *f = sample_format(fmt);
	struct sample r = sample_record();
	struct decode_ctx c = ctx;
	struct buf out = BUF_INIT;

	c.flags = flags;
	if (want == raw_text)
		check(!f->prog && f->print_err.code);
	else if (!f->prog)
		printf("%s at %d: ", f->print_err.text, f->print_err.pos);
	decode_print(f, &r, sizeof(r), &c, &out);
	check_text(__FILE__, __LINE__, fmt, out.data, want);
	buf_fini(&out);
	decode_format_free(f);
}

static void escapes(void)
{
	struct decode_format *f = sample_format("\"%s \\t %8s\", REC->name, __get_str(text)");
	struct decode_ctx c = {.flags = DECODE_ESCAPE};
	struct sample r = sample_record();
	struct buf out = BUF_INIT;

	memcpy(r.name, "a\n\033[1m\xc2\x9b\x7f", 10);
	memcpy(r.rest, "t\xc3\xa9\t\0", 5);
	decode_print(f, &r, sizeof(r), &c, &out);
	check_text(__FILE__, __LINE__, "escaped", out.data,
		   "a\\n\\x1b[1m\\xc2\\x9b\\x7f \t    t\xc3\xa9\\t");
	buf_reset(&out);
	decode_print(f, &r, sizeof(r), NULL, &out);
	check_text(__FILE__, __LINE__, "as it is", out.data,
		   "a\n\033[1m\xc2\x9b\x7f \t     t\xc3\xa9\t");
	buf_fini(&out);
	decode_format_free(f);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect(cases[i].fmt, cases[i].want, 0);
	for (size_t i = 0; i < sizeof(unreadable) / sizeof(unreadable[0]); i++)
		expect(unreadable[i], raw_text, 0);
	escapes();
	return failures ? 1 : 0;
}
