/*
 * ftrace's own records: markers, printf records with binary arguments, raw data, functions, stacks.
 */
#include <limits.h>
#include <stdarg.h>

#include "event.h"
#include "layout/registry.h"

static bool symbol(void *arg, int pid, uint64_t addr, struct decode_symbol *out)
{
	(void)arg, (void)pid;
	out->name = addr == 0x1000 ? "sell" : addr == 0x2000 ? "main" : NULL;
	out->size = 0x10;
	return out->name;
}

static bool printk(void *arg, uint64_t addr, struct decode_printk *out)
{
	out->text = arg;
	out->caller = addr & 1 ? "cook" : NULL;
	return addr >= 0x3000;
}

static struct decode_format *own(const char *name, const char *fields)
{
	struct buf text = BUF_INIT;
	struct decode_format *f;
	struct err err = ERR_INIT;

	buf_printf(&text,
		   "name: %s\nID: 5\nformat:\n" COMMON "%s\nprint fmt: \"%%s\", \"the format's\"\n",
		   name, fields);
	if (decode_format_parse("ftrace", text.data, text.len, NULL, &f, &err)) {
		printf("%s\n", err.text);
		exit(1);
	}
	buf_fini(&text);
	return f;
}

static void expect(int line, const struct decode_format *f, const void *rec, size_t len, char *fmt,
		   const char *want)
{
	struct decode_ctx ctx = {.arg = fmt, .symbol = symbol, .printk = printk};
	struct buf out = BUF_INIT;
	void *copy = malloc(len);

	memcpy(copy, rec, len);
	decode_print(f, copy, len, &ctx, &out);
	check(decode_is_whole(f));
	check_text(__FILE__, line, f->name, out.data, want);
	buf_fini(&out);
	free(copy);
}

static void markers(void)
{
	struct decode_format *f = own("print",
				      "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
				      "\tfield:char buf[];\toffset:16;\tsize:0;\tsigned:0;\n");
	struct {
		struct record_head head;
		uint64_t ip;
		char buf[16];
	} r = {.ip = MARKER_IP, .buf = "hello\n"};

	expect(__LINE__, f, &r, sizeof(r), NULL, "tracing_mark_write: hello");
	strcpy(r.buf, "two\nlines\n\n");
	expect(__LINE__, f, &r, sizeof(r), NULL, "tracing_mark_write: two\nlines\n");
	r.ip = 0x1000;
	strcpy(r.buf, "no break");
	expect(__LINE__, f, &r, sizeof(r), NULL, "sell: no break");
	r.ip = 0x5000;
	memset(r.buf, 'x', sizeof(r.buf));
	expect(__LINE__, f, &r, sizeof(r), NULL, "0x5000: xxxxxxxxxxxxxxxx");
	expect(__LINE__, f, &r, 16, NULL, "0x5000: ");
	expect(__LINE__, f, &r, 15, NULL, "0x0: ");
	decode_format_free(f);
}

/* Packs arguments as the kernel's vbin_printf does, one letter each: c h i l s d. */
struct packed {
	struct record_head head;
	uint64_t ip, fmt;
	uint8_t buf[256];
	size_t len;
};

static void pack(struct packed *p, const char *letters, ...)
{
	size_t size, align;
	const char *s;
	uint64_t v;
	double d;
	va_list ap;

	p->len = 0;
	va_start(ap, letters);
	for (; *letters; letters++) {
		if (*letters == 's') {
			s = va_arg(ap, const char *);
			strcpy((char *)p->buf + p->len, s);
			p->len += strlen(s) + 1;
			continue;
		}
		size = *letters == 'c' ? 1 : *letters == 'h' ? 2 : *letters == 'i' ? 4 : 8;
		align = size == 8 ? 4 : size;
		p->len = (p->len + align - 1) & ~(align - 1);
		if (*letters == 'd') {
			d = va_arg(ap, double);
			memcpy(&v, &d, 8);
		} else {
			v = size == 8 ? va_arg(ap, uint64_t) : va_arg(ap, unsigned int);
		}
		memcpy(p->buf + p->len, &v, size);
		p->len += size;
	}
	va_end(ap);
}

static void binary(void)
{
	struct decode_format *f = own("bprint",
				      "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
				      "\tfield:const char * fmt;\toffset:16;\tsize:8;\tsigned:0;\n"
				      "\tfield:u32 buf[];\toffset:24;\tsize:0;\tsigned:0;\n");
	struct packed p = {.ip = 0x1000, .fmt = 0x3000};
	const size_t head = offsetof(struct packed, buf);
	struct decode_ctx unknown = {0};
	struct buf out = BUF_INIT;

	pack(&p, "i", 42);
	expect(__LINE__, f, &p, head + p.len, "n=%d\n", "sell: n=42");
	p.fmt = 0x3001;
	expect(__LINE__, f, &p, head + p.len, "n=%d", "cook: n=42");
	expect(__LINE__, f, &p, head, "100%% none", "cook: 100% none");

	/* Each alignment from each odd place. */
	pack(&p, "ccchil", 'a', 'b', 'c', -2, INT_MIN, (uint64_t)LLONG_MIN);
	expect(__LINE__, f, &p, head + p.len, "%c%c%c %hd %d %lld",
	       "cook: abc -2 -2147483648 -9223372036854775808");
	pack(&p, "sish", "x", 7, "long string", 9);
	expect(__LINE__, f, &p, head + p.len, "%s %u %s %hu", "cook: x 7 long string 9");
	pack(&p, "sssi", "a", "", "b", 3);
	expect(__LINE__, f, &p, head + p.len, "%s%s%s%d", "cook: ab3");
	pack(&p, "cdcd", 1, 1.5, 2, -0.25);
	expect(__LINE__, f, &p, head + p.len, "%hhd %g %hhd %.3f", "cook: 1 1.5 2 -0.250");
	pack(&p, "lll", (uint64_t)0x2000, (uint64_t)0x1000, (uint64_t)0xabc);
	expect(__LINE__, f, &p, head + p.len, "%ps %pS %p",
	       "cook: main sell+0x0/0x10 0000000000000abc");
	pack(&p, "iisiii", 6, 2, "abcdef", -6, 5, 3);
	expect(__LINE__, f, &p, head + p.len, "[%*.*s] [%*d] [%x]", "cook: [    ab] [5     ] [3]");
	/* The writer printed this one itself. */
	pack(&p, "csi", 1, "127.0.0.1", 8080);
	expect(__LINE__, f, &p, head + p.len, "%hhu %pI4:%d", "cook: 1 127.0.0.1:8080");
	pack(&p, "lil", (uint64_t)1, 2, (uint64_t)3);
	expect(__LINE__, f, &p, head + p.len, "%lu %u %zu", "cook: 1 2 3");

	/* Fewer bytes than the format wants. */
	pack(&p, "i", 1);
	expect(__LINE__, f, &p, head + p.len, "%d %d %s %lx.", "cook: 1 ? ? ?.");
	expect(__LINE__, f, &p, head + 3, "%d", "cook: ?");
	memcpy(p.buf, "abcd", 4);
	expect(__LINE__, f, &p, head + 4, "%s|%s", "cook: abcd|?");

	p.ip = 0x1000;
	decode_print(f, &p, head + 4, &unknown, &out);
	check_text(__FILE__, __LINE__, "unknown format", out.data,
		   "0x1000: [format 0x3001 is not known] 61 62 63 64");
	buf_fini(&out);
	decode_format_free(f);
}

static void others(void)
{
	struct decode_format *raw = own("raw_data",
					"\tfield:unsigned int id;\toffset:8;\tsize:4;\tsigned:0;\n"
					"\tfield:char buf[];\toffset:12;\tsize:0;\tsigned:0;\n");
	struct decode_format *fn = own(
		"function", "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
			    "\tfield:unsigned long parent_ip;\toffset:16;\tsize:8;\tsigned:0;\n");
	struct decode_format *st = own(
		"kernel_stack",
		"\tfield:int size;\toffset:8;\tsize:4;\tsigned:1;\n"
		"\tfield:unsigned long caller[8];\toffset:16;\tsize:64;\tsigned:0;\n");
	struct decode_format *puts = own(
		"bputs", "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
			 "\tfield:const char * str;\toffset:16;\tsize:8;\tsigned:0;\n");
	uint64_t r[] = {0, 0x1000, 0x2000, 0x1000, UINT64_MAX};
	struct {
		struct record_head head;
		uint32_t id;
		uint8_t buf[8];
	} data = {.id = 0x4030201, .buf = "abcde"};

	expect(__LINE__, raw, &data, sizeof(data), NULL, "# 4030201 buf: 61 62 63 64 65 00 00 00");
	expect(__LINE__, raw, &data, 12, NULL, "# 4030201 buf:");
	expect(__LINE__, fn, r, 24, NULL, "sell <-main");
	expect(__LINE__, st, r, sizeof(r), NULL, "<stack trace>\n => main\n => sell");
	r[2] = 0x3000;
	expect(__LINE__, puts, r, 24, "a constant\n", "sell: a constant");
	r[2] = 0;
	expect(__LINE__, fn, r, 24, NULL, "sell");
	decode_format_free(raw);
	decode_format_free(fn);
	decode_format_free(st);
	decode_format_free(puts);
}

static void expect_with(int line, const struct decode_format *f, const void *rec, size_t len,
			unsigned int flags, const char *want)
{
	struct decode_ctx ctx = {.flags = flags, .symbol = symbol};
	struct buf out = BUF_INIT;

	decode_print(f, rec, len, &ctx, &out);
	check_text(__FILE__, line, f->name, out.data, want);
	buf_fini(&out);
}

/* Addresses as the options ask for them; a user's without a name come as they are. */
static void places(void)
{
	struct decode_format *fn = own(
		"function", "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
			    "\tfield:unsigned long parent_ip;\toffset:16;\tsize:8;\tsigned:0;\n");
	struct decode_format *st = own(
		"user_stack", "\tfield:unsigned int tgid;\toffset:8;\tsize:4;\tsigned:0;\n"
			      "\tfield:unsigned long caller[8];\toffset:16;\tsize:64;\tsigned:0;\n");
	uint64_t r[] = {0, 0x1000, 0x2000, 0x5000, 0};

	expect_with(__LINE__, fn, r, 24, DECODE_NO_PARENT, "sell");
	expect_with(__LINE__, fn, r, 24, DECODE_SYM_OFFSET, "sell+0x0/0x10 <-main+0x0/0x10");
	expect_with(__LINE__, fn, r, 24, DECODE_SYM_ADDR,
		    "sell <0000000000001000> <-main <0000000000002000>");
	expect_with(__LINE__, st, r, sizeof(r), 0,
		    "<user stack trace>\n => main\n =>  <0000000000005000>");
	decode_format_free(fn);
	decode_format_free(st);
}

static void messages(void)
{
	struct decode_format *print = own(
		"print", "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
			 "\tfield:char buf[];\toffset:16;\tsize:0;\tsigned:0;\n");
	struct decode_format *sample = sample_format("\"x\"");
	struct {
		struct record_head head;
		uint64_t ip;
		char buf[8];
	} r = {.ip = MARKER_IP, .buf = "hello\n"};
	struct buf out = BUF_INIT;

	check(decode_is_message(print) && !decode_is_message(sample));
	decode_print_message(print, &r, sizeof(r), NULL, &out);
	check_text(__FILE__, __LINE__, "a message", out.data, "hello");
	buf_fini(&out);
	decode_format_free(print);
	decode_format_free(sample);
}

int main(void)
{
	markers();
	binary();
	others();
	places();
	messages();
	return failures ? 1 : 0;
}
