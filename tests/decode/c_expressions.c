/*
 * Expressions by chance, worked out twice: by our compiled print formats, and by the C compiler,
 * since print formats are C. The same text serves both: in the C program REC is a pointer to the
 * record.
 *
 * Needs a compiler at run time ($CC, else cc); without one the test skips. CASES and SEED can be
 * set to look further.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "event.h"

static uint64_t seed = 20240607;

static unsigned int chance(unsigned int n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned int)(seed >> 33) % n;
}

static void leaf(struct buf *b)
{
	static const char *const leaves[] = {
		"REC->s8",     "REC->u8",     "REC->s16",  "REC->u16", "REC->s32",
		"REC->u32",    "REC->s64",    "REC->u64",  "REC->yes", "REC->arr[2]",
		"REC->arr[1]", "REC->mac[3]", "REC->flags"};
	static const char *const suffixes[] = {"", "U", "L", "UL", "LL", "ULL"};

	if (chance(3))
		buf_puts(b, leaves[chance(sizeof(leaves) / sizeof(leaves[0]))]);
	else if (chance(2))
		buf_printf(b, "%u%s", chance(300), suffixes[chance(6)]);
	else
		buf_printf(b, "0x%x%s", chance(0x7fffffff) * 2 + 1, suffixes[chance(6)]);
}

/* Nothing that C leaves undefined: divisors are odd, counts of shifts small. */
static void expr(struct buf *b, unsigned int depth)
{
	static const char *const casts[] = {
		"u8",		"s8",	"unsigned short", "s16",	   "int",
		"unsigned int", "u32",	"long",		  "unsigned long", "s64",
		"u64",		"bool", "unsigned char"};
	static const char *const ops[] = {"+", "-",  "*",  "&",	 "|",  "^",  "<",
					  ">", "<=", ">=", "==", "!=", "&&", "||"};
	unsigned int what = depth ? chance(12) : 0;

	if (what < 2) {
		leaf(b);
		return;
	}
	if (what < 8) {
		/* Half of them leave it to precedence. */
		bool parens = chance(2);

		buf_puts(b, parens ? "(" : "");
		expr(b, depth - 1);
		buf_printf(b, " %s ", ops[chance(14)]);
		expr(b, depth - 1);
		buf_puts(b, parens ? ")" : "");
	} else if (what == 8) {
		buf_printf(b, "%c", "-~!"[chance(3)]);
		buf_putc(b, '(');
		expr(b, depth - 1);
		buf_putc(b, ')');
	} else if (what == 9) {
		buf_printf(b, "(%s)(", casts[chance(13)]);
		expr(b, depth - 1);
		buf_putc(b, ')');
	} else if (what == 10) {
		buf_putc(b, '(');
		expr(b, depth - 1);
		buf_puts(b, chance(2) ? " << ((" : " >> ((");
		expr(b, depth - 1);
		buf_puts(b, ") & 15))");
	} else if (chance(2)) {
		buf_putc(b, '(');
		expr(b, depth - 1);
		buf_puts(b, " ? ");
		expr(b, depth - 1);
		buf_puts(b, " : ");
		expr(b, depth - 1);
		buf_putc(b, ')');
	} else {
		buf_putc(b, '(');
		expr(b, depth - 1);
		buf_puts(b, chance(2) ? " / ((" : " % ((");
		expr(b, depth - 1);
		buf_puts(b, ") | 1))");
	}
}

static void c_program(FILE *f, struct buf *exprs, unsigned int nr)
{
	struct sample r = sample_record();
	const uint8_t *bytes = (const uint8_t *)&r;

	fprintf(f,
		"#include <stdint.h>\n#include <stdbool.h>\n#include <stdio.h>\n"
		"typedef int8_t s8; typedef uint8_t u8; typedef int16_t s16; typedef uint16_t "
		"u16;\n"
		"typedef int32_t s32; typedef uint32_t u32; typedef int64_t s64; typedef uint64_t "
		"u64;\n"
		"static const _Alignas(8) unsigned char bytes[] = {");
	for (size_t i = 0; i < sizeof(r); i++)
		fprintf(f, "%u,", bytes[i]);
	/* The layout of struct sample, without its header. */
	fprintf(f,
		"};\nstruct rec { char head[8]; s8 s8; u8 u8; s16 s16; u16 u16, pad; s32 s32; u32 "
		"u32; s64 s64;\n"
		"unsigned long long u64; float f; u32 flags; double d; u64 ptr; char name[16]; "
		"u32 arr[4];\n"
		"unsigned char mac[6]; bool yes; };\n#define REC ((const struct rec *)bytes)\nint "
		"main(void) {\n");
	for (unsigned int i = 0; i < nr; i++)
		fprintf(f, "printf(\"%%lld %%u\\n\", (long long)(%s), (unsigned int)(%s));\n",
			exprs[i].data, exprs[i].data);
	fprintf(f, "return 0; }\n");
}

/* Lines of the compiled program, or a skip. */
static FILE *run_c(struct buf *exprs, unsigned int nr)
{
	const char *cc = getenv("CC"), *dir = getenv("RINGSIDE_SCRATCH");
	char command[1024];
	FILE *f;

	cc = cc && *cc ? cc : "cc";
	dir = dir ? dir : "/tmp";
	snprintf(command, sizeof(command),
		 "%s -w -O0 -fwrapv -x c - -o %s/c_expressions >%s/c_expressions.log 2>&1", cc, dir,
		 dir);
	f = popen(command, "w");
	if (f)
		c_program(f, exprs, nr);
	if (!f || pclose(f)) {
		printf("skip: no working C compiler (%s)\n", command);
		exit(77);
	}
	snprintf(command, sizeof(command), "%s/c_expressions", dir);
	return popen(command, "r");
}

static void compare(const char *text, const char *want)
{
	struct buf fmt = BUF_INIT, out = BUF_INIT;
	struct sample r = sample_record();
	struct decode_format *f;

	buf_printf(&fmt, "\"%%lld %%u\", (long long)(%s), (unsigned int)(%s)", text, text);
	f = sample_format(fmt.data);
	if (!f->prog)
		printf("%s at %d\n", f->print_err.text, f->print_err.pos);
	decode_print(f, &r, sizeof(r), NULL, &out);
	check_text(__FILE__, __LINE__, text, out.data, want);
	decode_format_free(f);
	buf_fini(&out);
	buf_fini(&fmt);
}

int main(void)
{
	unsigned int nr = getenv("CASES") ? (unsigned int)atoi(getenv("CASES")) : 600, done = 0;
	struct buf *exprs = calloc(nr, sizeof(*exprs));
	char line[200];
	FILE *f;

	if (sizeof(long) != 8) {
		printf("skip: the compiler's long is not the record's\n");
		return 77;
	}
	if (getenv("SEED"))
		seed = strtoull(getenv("SEED"), NULL, 0);
	for (unsigned int i = 0; i < nr; i++)
		expr(&exprs[i], 1 + i % 5);
	f = run_c(exprs, nr);
	while (f && done < nr && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		compare(exprs[done++].data, line);
	}
	if (f)
		pclose(f);
	check(done == nr);
	for (unsigned int i = 0; i < nr; i++)
		buf_fini(&exprs[i]);
	free(exprs);
	printf("%u expressions\n", done);
	return failures ? 1 : 0;
}
