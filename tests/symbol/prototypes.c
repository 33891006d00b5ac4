/*
 * What functions take and give, by the debug information of files made here: of two compilers, two versions, optimised and not, C and
 * C++, compressed, in a file beside. Then such files cut short and with bytes changed: whatever comes out of them is a
 * prototype, or nothing. Under sanitizers, above all.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "insist.h"
#include "symbol/prototype.h"

static const char *place;	/* of the test's files */

static bool run(const char *command)
{
	char line[2048];

	snprintf(line, sizeof(line), "cd %s && %s", place, command);
	return !system(line);
}

static void put(const char *file, const char *text)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", place, file);
	f = fopen(path, "w");
	CHECK(f && fputs(text, f) >= 0 && !fclose(f), "%s", path);
}

/* ---- what is asked ---- */

static struct prototypes *prototypes;
static struct symbol_table *table;

static void look_into(const char *file)
{
	struct err err = ERR_INIT;
	char path[512];
	struct symbol_file from = { .path = path };

	snprintf(path, sizeof(path), "%s/%s", place, file);
	CHECK(!prototypes_open(&prototypes, &from, &err), "%s", err.text);
	CHECK(!symbol_table_open(&table, &from, &err), "%s", err.text);
}

static void done(void)
{
	prototypes_close(prototypes);
	symbol_table_close(table);
}

static void expect(const char *how, const char *name, const char *want, unsigned int nregs)
{
	struct symbol_function function;
	struct prototype prototype;

	CHECK(symbol_table_find(table, name, &function), "%s: %s is not there", how, name);
	CHECK(prototypes_at(prototypes, function.address, &prototype), "%s: nothing is known of %s", how, name);
	CHECK(!strcmp(prototype.text, want) && prototype.nregs == nregs, "%s: %s is %s, of %u", how, name, prototype.text,
	      prototype.nregs);
	CHECK(!prototypes_at(prototypes, function.address + 1, &prototype), "%s: %s has a middle", how, name);
}

/* ---- C ---- */

static const char c_text[] =
	"#include <stdbool.h>\n"
	"#include <stdint.h>\n"
	"struct small { int a, b; }; struct mixed { double d; long l; }; struct big { long x[9]; };\n"
	"struct two { long a; char *b; }; struct __attribute__((packed)) odd { char c; long l; }; struct pair { float a, b; };\n"
	"struct bits { int a : 3, b : 5; }; union either { int i; char *p; }; struct nested { struct small s; int n[2]; };\n"
	"enum colour { RED, BLUE = -3 };\n"
	"struct node { struct node *next; char text[5]; unsigned hue : 3, shade : 6; struct two inner; union { short half; long whole; }; };\n"
	"#define NI __attribute__((noinline)) __attribute__((used))\n"
	"#define BARRIER __asm__ volatile(\"\" ::: \"memory\")\n"
	"NI int plain(int a, const char *s) { BARRIER; return a + s[0]; }\n"
	"NI void many(bool b, enum colour c, unsigned char u, short sh, uint64_t q, void *p, long seventh)\n"
	"{ __asm__ volatile(\"\" :: \"r\"(p), \"r\"(seventh), \"r\"(q), \"r\"(b + c + u + sh)); }\n"
	"NI double floats(double d, int i, float f, long j) { BARRIER; return d + i + f + j; }\n"
	"NI struct big large(int n) { struct big b = { { n } }; BARRIER; return b; }\n"
	"NI struct small values(struct small s, int k) { BARRIER; s.a += k; return s; }\n"
	"NI struct mixed halves(struct mixed m, int k) { BARRIER; m.l += k; return m; }\n"
	"NI long memory(struct two t, struct odd o, int after) { BARRIER; return t.a + o.l + after; }\n"
	"NI long wide(struct pair f, __int128 w, int after) { BARRIER; return (long)f.a + (long)w + after; }\n"
	"NI long spills(int a, int b, int c, int d, int e, struct two t, int f) { BARRIER; return a + b + c + d + e + t.a + f; }\n"
	"NI long bits(struct bits b, int after) { BARRIER; return b.a + after; }\n"
	"NI long unions(union either e, struct nested n) { BARRIER; return e.i + n.n[1]; }\n"
	"NI int unused(int first, int b) { BARRIER; (void)first; return b; }\n"
	"NI int words(const char *fmt, ...) { BARRIER; return fmt[0]; }\n"
	"typedef const volatile int number; typedef int (*function)(int);\n"
	"NI number *derived(function f, int array[4], number n) { BARRIER; return f(array[0] + n) ? (number *)array : 0; }\n"
	"NI long complexes(_Complex double z, long double l, int a) { BARRIER; return (long)z + (long)l + a; }\n"
	"NI int none(void) { BARRIER; return 1; }\n"
	"NI const struct node *nodes(struct node *node, int n) { BARRIER; return node->next + n; }\n"
	"__attribute__((noinline)) static int dropped(int first, int used) { BARRIER; (void)first; return used * 2; }\n"
	"int main(int argc, char **argv) { (void)argv; return dropped(1, argc) + dropped(2, argc + 1) < 0; }\n";

static void expect_member(const char *how, const char *path, const char *want)
{
	struct symbol_function function;
	struct buf out = BUF_INIT;
	char file[512];

	snprintf(file, sizeof(file), "%s/c", place);
	CHECK(symbol_table_find(table, "nodes", &function), "%s: it is not there", how);
	CHECK(prototypes_member(prototypes, &(struct symbol_file){ .path = file }, function.address, path, &out) == (*want ? 0 : -ENOENT),
	      "%s: %s", how, path);
	CHECK(!*want || !strcmp(out.data, want), "%s: %s is %s", how, path, out.data);
	buf_fini(&out);
}

static void expect_members(const char *how)
{
	static const char *const all[][2] = {
		{ "node->next", "p+0" }, { "node->text", "a+8" }, { "node->hue", "u4:3@8+12" }, { "node->shade", "u4:6@11+12" },
		{ "node->inner.b", "p+24" }, { "node->whole", "i8+32" }, { "node->half", "i2+32" }, { "node->inner", "s16+16" },
		{ "node->next->next->inner.a", "i8+0+0+16" }, { "$retval->next->text", "a+0+8" }, { "node->nothing", "?6" },
		{ "node->next->", "?12" }, { "node->next.half", "!11" }, { "node->text.x", "!11" }, { "n->half", "!3" },
		{ "node->inner->a", "!13" }, { "other->half", "" },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		expect_member(how, all[i][0], all[i][1]);
}

static void expect_c(const char *how, bool optimised)
{
	look_into("c");
	expect_members(how);
	expect(how, "plain", "i4(i4@0 a,p@1 s)", 2);
	expect(how, "many", "v(b@0 b,e4@1 c,u1@2 u,i2@3 sh,u8@4 q,p@5 p,i8 seventh)", 6);
	expect(how, "floats", "f8(f8 d,i4@0 i,f4 f,i8@1 j)", 2);
	expect(how, "large", "s72(i4@1 n)", 2);
	expect(how, "values", "s8(s8@0 s,i4@1 k)", 2);
	expect(how, "halves", "s16(s16@0 m,i4@1 k)", 2);
	expect(how, "memory", "i8(s16@0+2 t,s9 o,i4@2 after)", 3);
	expect(how, "wide", "i8(s8 f,i16@0+2 w,i4@2 after)", 3);
	expect(how, "spills", "i8(i4@0 a,i4@1 b,i4@2 c,i4@3 d,i4@4 e,s16 t,i4@5 f)", 6);
	expect(how, "bits", "i8(?)", 0);
	expect(how, "unions", "i8(s8@0 e,s16@1+2 n)", 3);
	expect(how, "unused", "i4(i4@0 first,i4@1 b)", 2);
	expect(how, "words", "i4(p@0 fmt)", 1);
	expect(how, "derived", "p(p@0 f,p@1 array,i4@2 n)", 3);
	expect(how, "complexes", "i8(f16 z,f16 l,i4@0 a)", 1);
	expect(how, "none", "i4()", 0);
	if (!optimised)
		expect(how, "dropped", "i4(i4@0 first,i4@1 used)", 2);
	done();
}

/* A parameter that a compiler leaves out, which not all do (`kept`), is not taken for what is in its register; where the other is, is known. */
static void expect_dropped(const char *how, bool kept)
{
	static const char *const names[] = { "dropped", "dropped.isra.0", "dropped.constprop.0", "dropped.constprop.0.isra.0" };
	struct symbol_function function;
	struct prototype prototype;
	bool found = false;

	look_into("c");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!symbol_table_find(table, names[i], &function) || !prototypes_at(prototypes, function.address, &prototype))
			continue;
		found = true;
		CHECK(!strcmp(prototype.text, "i4(i4 first,i4@0 used)") || (kept && !strcmp(prototype.text, "i4(i4@0 first,i4@1 used)")),
		      "%s: %s is %s", how, names[i], prototype.text);
	}
	CHECK(found, "%s: where is it?", how);
	done();
}

static void check_c(const char *compiler, int version, int level, const char *more)
{
	char line[512];

	snprintf(line, sizeof(line), "%s -gdwarf-%d -O%d %s c.c -o c", compiler, version, level, more);
	CHECK(run(line), "%s", line);
	expect_c(line, level);
	if (level)
		expect_dropped(line, level < 2);
}

/* ---- C++ ---- */

static const char cc_text[] =
	"#define NI __attribute__((noinline)) __attribute__((used))\n"
	"#define BARRIER asm volatile(\"\" ::: \"memory\")\n"
	"struct held { long a; held(const held &); ~held(); };\n"
	"struct pod { int a; long b; };\n"
	"struct base { virtual ~base(); virtual int order(int item, const held &who); long n; };\n"
	"struct derived : virtual base { derived(int n); int more; };\n"
	"extern \"C\" {\n"
	"NI long by_value(pod p, int x, int &r, int &&rr) { BARRIER; return p.a + x + r + rr; }\n"
	"NI long member(long pod::*m, int after) { BARRIER; return *(long *)&m + after; }\n"
	"NI long method(int (base::*m)(int, const held &), int after) { BARRIER; return *(long *)&m + after; }\n"
	"}\n"
	"held::held(const held &h) : a(h.a) { BARRIER; } held::~held() { BARRIER; } base::~base() { BARRIER; }\n"
	"int base::order(int item, const held &who) { BARRIER; n += item + who.a; return n; }\n"
	"NI derived::derived(int m) { BARRIER; more = m; }\n"
	"int main() { return 0; }\n";

static void check_cc(const char *compiler, int level)
{
	char line[512];

	snprintf(line, sizeof(line), "%s -std=c++17 -g -O%d -fno-exceptions cc.cc -o c", compiler, level);
	CHECK(run(line), "%s", line);
	look_into("c");
	expect(line, "by_value", "i8(s16@0+2 p,i4@2 x,p@3 r,p@4 rr)", 5);
	expect(line, "member", "i8(i8@0 m,i4@1 after)", 2);
	expect(line, "method", "i8(s16@0+2 m,i4@2 after)", 3);
	expect(line, "_ZN4base5orderEiRK4held", "i4(p@0 this,i4@1 item,p@2 who)", 3);
	expect(line, "_ZN4heldC1ERKS_", "v(p@0 this,p@1 h)", 2);
	expect(line, "_ZN4baseD1Ev", "v(p@0 this)", 1);
	/* With bases that are shared there are two of them: one is told where those are. */
	expect(line, "_ZN7derivedC1Ei", "v(p@0 this,i4@1 m)", 2);
	done();
}

/* ---- other places ---- */

static void check_places(void)
{
	struct prototypes *none;
	char path[512];
	struct symbol_file from = { .path = path };

	CHECK(run("gcc -g -gz=zlib -O0 c.c -o c"), "gcc -gz");
	expect_c("compressed", false);
	CHECK(run("gcc -g -O0 -Wl,--build-id c.c -o full && objcopy --only-keep-debug full c.debug && "
		  "objcopy --strip-debug full c && objcopy --add-gnu-debuglink=c.debug c"), "objcopy");
	expect_c("beside", false);
	CHECK(run("mkdir -p .debug && mv c.debug .debug/"), "mv");
	expect_c("below", false);
	/* That of another build is none. */
	CHECK(run("gcc -g -O1 -Wl,--build-id c.c -o full && objcopy --only-keep-debug full .debug/c.debug"), "objcopy");
	snprintf(path, sizeof(path), "%s/c", place);
	CHECK(prototypes_open(&none, &from, NULL) == -ENODATA, "debug information of something else");
	from.build_id = "nothing";
	from.build_id_len = 7;
	CHECK(prototypes_open(&none, &from, NULL) == -ESTALE, "another file");
}

/* ---- anything ---- */

static uint64_t seed = 88172645463325252ull;

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static int memory;
static unsigned int refused, made;

static void look(const char *bytes, size_t len)
{
	struct err err = ERR_INIT;
	struct prototypes *all;
	struct prototype prototype;
	struct buf member = BUF_INIT;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", memory);
	CHECK(!ftruncate(memory, 0) && pwrite(memory, bytes, len, 0) == (ssize_t)len, "write");
	if (prototypes_open(&all, &(struct symbol_file){ .path = path }, &err)) {
		CHECK(*err.text, "without words");
		refused++;
		return;
	}
	for (uint64_t at = 0x1000; at < 0x1800; at++) {
		if (!prototypes_at(all, at, &prototype))
			continue;
		CHECK(prototype.nregs <= PROTOTYPE_REGISTERS && strchr(prototype.text, '(') && strlen(prototype.text) < 8192,
		      "'%s'", prototype.text);
		buf_reset(&member);
		if (prototype.text[0] == 'p' &&
		    !prototypes_member(all, &(struct symbol_file){ .path = path }, at, "$retval->next->inner.a", &member))
			CHECK(strchr("iuefspa?vb!*", *member.data), "'%s'", member.data);
	}
	buf_fini(&member);
	made++;
	prototypes_close(all);
}

static void check_hostile(const char *command)
{
	char *bytes = malloc(1 << 20), *changed = malloc(1 << 20), path[512];
	size_t len;
	FILE *f;

	CHECK(run(command), "%s", command);
	snprintf(path, sizeof(path), "%s/c", place);
	f = fopen(path, "r");
	CHECK(f && bytes && changed, "%s", path);
	len = fread(bytes, 1, 1 << 20, f);
	fclose(f);
	for (int i = 0; i < 60; i++)
		look(bytes, len * (size_t)i / 60);
	for (int i = 0; i < 1500; i++) {
		memcpy(changed, bytes, len);
		for (uint64_t n = 1 + rnd() % 8; n; n--)
			/* Of a file without code nearly all is debug information. */
			changed[64 + rnd() % (len - 64)] = rnd() % 3 ? (char)rnd() : rnd() % 2 ? (char)0xff : (char)(rnd() % 64);
		look(changed, len);
	}
	free(bytes);
	free(changed);
}

int main(void)
{
	static const char *const compilers[] = { "gcc", "clang" };

#if !defined(__x86_64__) || defined(__ILP32__)
	return 77;
#endif
	place = getenv("RINGSIDE_SCRATCH");
	CHECK(place, "where am I?");
	put("c.c", c_text);
	put("cc.cc", cc_text);
	for (size_t i = 0; i < 2; i++) {
		for (int level = 0; level <= 2; level++)
			for (int version = 4; version <= 5; version++)
				check_c(compilers[i], version, level, "");
		check_cc(i ? "clang++" : "g++", 0);
		check_cc(i ? "clang++" : "g++", 2);
	}
	check_c("gcc", 3, 1, "");
	check_c("gcc", 5, 1, "-ffunction-sections -freorder-functions");
	check_c("clang", 5, 1, "-fdebug-types-section");
	check_places();
	memory = memfd_create("file", MFD_CLOEXEC);
	check_hostile("gcc -g -O1 c.c -nostdlib -Wl,-e,main -o c");
	check_hostile("gcc -gdwarf-4 -O2 c.c -nostdlib -Wl,-e,main -o c");
	check_hostile("clang -g -O2 c.c -nostdlib -Wl,-e,main -o c");
	check_hostile("gcc -g -gz=zlib -O1 c.c -nostdlib -Wl,-e,main -o c");
	CHECK(refused > 100 && made > 100, "%u refused, %u made", refused, made);
	printf("%u refused, %u made\n", refused, made);
	return 0;
}
