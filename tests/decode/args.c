/*
 * Arguments of functions by prototypes that make sense, that make none, and by none at all; and what functions return.
 */
#include "event.h"

#include "decode/args.h"

static const char entry_text[] =
	"name: funcgraph_entry\nID: 11\nformat:\n" COMMON
	"\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:int depth;\toffset:16;\tsize:4;\tsigned:1;\n"
	"\tfield:unsigned long args[];\toffset:24;\tsize:0;\tsigned:0;\n\n"
	"print fmt: \"--> %ps (%d)\", (void *)REC->func, REC->depth\n";

static struct decode_format *format;
static const struct decode_field *args;

static const struct {
	uint64_t fixed[3];
	uint64_t args[6];
} record = { { 0 }, { (uint64_t)-2, 0x1ffffffff, 0xffffff80, 0x12345, 7, 8 } };

static void expect(int line, const char *prototype, uint32_t n, const char *want)
{
	uint32_t len = 24 + n * 8;
	struct buf out = BUF_INIT;
	struct sink s;
	char *copy = malloc(len);

	memcpy(copy, &record, len);
	sink_open(&s, &out, DECODE_TEXT_MAX);
	decode_args_put(&s, prototype, format, args, copy, len);
	sink_close(&s);
	check_text(__FILE__, line, prototype ? prototype : "none", out.data, want);
	buf_fini(&out);
	free(copy);
}
#define EXPECT(...) expect(__LINE__, __VA_ARGS__)

static void sound(void)
{
	EXPECT("v(i4@0 a,i4@1 b,i1@2 c,p@3 d)", 4, "(a=-2, b=-1, c=-128, d=0x12345)");
	EXPECT("v(u4@0 a,u8@1 b,u1@2 c,b@3 d)", 4, "(a=0xfffffffe, b=0x1ffffffff, c=0x80, d=0x45)");
	EXPECT("v(e4@0 a,i8@1 b,i2@2 c,e1@3 d)", 4, "(a=-2, b=8589934591, c=-128, d=69)");
	EXPECT("v(s16@3+2 a,s8@5 b,i16@0+2 c)", 6, "(a=[0x12345:0x7], b=[0x8], c=[0xfffffffffffffffe:0x1ffffffff])");
	EXPECT("v(f8 d,i4@4 a,i4 lost)", 5, "(d=?, a=7, lost=?)");
	EXPECT("v(p@4 ,i4@5)", 6, "(0x7, 8)");
	EXPECT("v()", 2, "()");
	/* What the record does not have. */
	EXPECT("v(i4@0 a,i4@1 b,s16@0+2 c)", 1, "(a=-2, b=?, c=?)");
	EXPECT(NULL, 2, "(0xfffffffffffffffe, 0x1ffffffff)");
	EXPECT("i4(?)", 1, "(0xfffffffffffffffe)");
	EXPECT(NULL, 0, "()");
	check(decode_args_count(format, args, 23) == 0 && decode_args_count(format, args, 24) == 0 &&
	      decode_args_count(format, args, 31) == 0 && decode_args_count(format, args, 32) == 1 &&
	      decode_args_count(format, args, 500) == 6 && decode_args_count(format, NULL, 500) == 0);
}

/* Files may hold any text. */
static void senseless(void)
{
	static const char *const texts[] = {
		"(", "v(", "v(i", "v(i4@", "v(i4@0", "v(i4@0 a", "v(i4@0 a,", "v(i4@0+ a)", "v(i99999999999@0 a)", "v(i3@0 a)", "v(i4@77777777777 a)",
		"v(s8@0+4294967295 a)", "v(s8@5+99 a)", "v(s8@4294967295+1 a)", "v(s8@0+0 a)", "v(x@0 a)", "v(,)", "v(,,,,)", "v(i4@0 a\n\033[1m)", "",
		"none at all", "v(v v)", "v(?@0 a)",
	};
	char *copy;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		for (uint32_t n = 0; n <= 6; n++) {
			struct buf out = BUF_INIT;
			struct sink s;

			copy = strdup(texts[i]);
			sink_open(&s, &out, DECODE_TEXT_MAX);
			decode_args_put(&s, copy, format, args, &record, 24 + n * 8);
			decode_args_put_returned(&s, copy, (uint64_t)-2, false);
			sink_close(&s);
			check(out.len > 2 && out.data[0] == '(' && !strchr(out.data, '\033') && !strchr(out.data, '\n'));
			decode_args_returns(copy);
			buf_fini(&out);
			free(copy);
		}
	}
}

static void returned(const char *prototype, uint64_t value, bool hex, const char *want)
{
	struct buf out = BUF_INIT;
	struct sink s;

	sink_open(&s, &out, DECODE_TEXT_MAX);
	decode_args_put_returned(&s, prototype, value, hex);
	sink_close(&s);
	check_text(__FILE__, __LINE__, prototype ? prototype : "none", out.data, want);
	buf_fini(&out);
}

static void returns(void)
{
	returned(NULL, 0, false, "0x0");
	returned(NULL, (uint32_t)-5, false, "-5");
	returned(NULL, (uint64_t)-22, false, "-22");
	returned(NULL, (uint64_t)-22, true, "0xffffffffffffffea");
	returned(NULL, (uint64_t)-5000, false, "0xffffffffffffec78");
	returned("i4()", 0xabcd00000000fff0, false, "0xfff0");
	returned("i4()", 0xabcdfffffffb, false, "-5");
	returned("i4()", 0xabcdfffffffb, true, "0xfffffffb");
	returned("i2()", 0xfffffffe, false, "-2");
	returned("i8()", 0xfffffffb, false, "0xfffffffb");
	returned("u4()", 0xfffffffffffffffb, false, "0xfffffffb");
	returned("b()", 0xffffff01, false, "0x1");
	returned("p()", (uint64_t)-1, false, "-1");
	returned("p()", 0x7fff00001234, false, "0x7fff00001234");
	check(!decode_args_returns("v()") && !decode_args_returns("f8()") && decode_args_returns("i4()") && decode_args_returns(NULL));
}

int main(void)
{
	struct err err = ERR_INIT;

	if (decode_format_parse("ftrace", entry_text, strlen(entry_text), NULL, &format, &err)) {
		printf("%s\n", err.text);
		return 1;
	}
	args = decode_format_find(format, "args");
	check(args != NULL);
	sound();
	senseless();
	returns();
	decode_format_free(format);
	return failures ? 1 : 0;
}
