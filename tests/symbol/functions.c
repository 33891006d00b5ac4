/*
 * The functions of ELF files of all four kinds, and of files that are not what they should be: no more than one line.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "symbol/made.h"
#include "symbol/symbol.h"

#define BASE 0x4000000100000000ull
#define UNKNOWN "4000000100000000 t [lib_one.so_]\t[lib_one.so_]\n"

static char path[1024];

static void store(const void *bytes, size_t len)
{
	FILE *file = fopen(path, "w");

	CHECK(file && fwrite(bytes, 1, len, file) == len && !fclose(file), "%s: %s", path, strerror(errno));
}

static int put(struct buf *out, const void *id, size_t id_len, struct err *err)
{
	return symbol_put_functions(out, &(struct symbol_file){
		.path = path, .build_id = id, .build_id_len = id_len, .base = BASE, .span = 0x4000, .module = "lib one.so]",
	}, err);
}

static void expect(const void *id, size_t id_len, int code, const char *text)
{
	struct buf out = BUF_INIT;
	struct err err = ERR_INIT;
	int r = put(&out, id, id_len, &err);

	CHECK(r == code, "%d (%s), not %d", r, err.text, code);
	CHECK(!r == !err.text[0], "%d says '%s'", r, err.text);
	CHECK(!strcmp(out.data, text), "'%s', not '%s'", out.data, text);
	buf_fini(&out);
}

static void check_kind(bool is64, bool big, uint32_t kind)
{
	static const char want[] =
		UNKNOWN
		"4000000100001000 T first\t[lib_one.so_]\n"
		"4000000100001100 t second\t[lib_one.so_]\n"
		"4000000100001140 t [lib_one.so_+0x1140]\t[lib_one.so_]\n"
		"4000000100002000 T third\t[lib_one.so_]\n"
		"4000000100002800 W weak_name\t[lib_one.so_]\n"
		"4000000100002810 t [lib_one.so_+0x2810]\t[lib_one.so_]\n";
	struct made made;

	made_elf(&made, is64, big, kind);
	store(made.bytes, sizeof(made.bytes));
	expect(NULL, 0, 0, want);
	expect(MADE_ID, 20, 0, want);
	expect("0123456789abcdef012X", 20, -ESTALE, UNKNOWN);
	expect(MADE_ID, 19, -ESTALE, UNKNOWN);
}

static void check_none(void)
{
	struct made made;

	made_elf(&made, true, false, SHT_PROGBITS);
	store(made.bytes, sizeof(made.bytes));
	expect(NULL, 0, 0, UNKNOWN);
	store("no ELF file", 11);
	expect(NULL, 0, -ENOEXEC, UNKNOWN);
	store("", 0);
	expect(NULL, 0, -ENOEXEC, UNKNOWN);
	unlink(path);
	expect(NULL, 0, -ENOENT, UNKNOWN);
	CHECK(!mkfifo(path, 0600), "mkfifo");
	expect(NULL, 0, -ENOEXEC, UNKNOWN);
	unlink(path);
}

/* Whatever comes out is lines in the order of their addresses, all of them within the file's. */
static void check_lines(const struct buf *out)
{
	unsigned long long last = 0, at;
	const char *line = out->data, *end;

	CHECK(out->len, "nothing at all");
	for (; *line; line = end + 1) {
		end = strchr(line, '\n');
		CHECK(end && end - line < 1024 && sscanf(line, "%16llx ", &at) == 1 && line[16] == ' ' && line[18] == ' ',
		      "'%.60s'", line);
		CHECK(at >= last && at >= BASE && at < BASE + 0x4000, "%llx behind %llx", at, last);
		CHECK(!memcmp(end - 14, "\t[lib_one.so_]", 14), "'%.60s'", line);
		last = at;
	}
}

static void look(const void *bytes, size_t len)
{
	struct buf out = BUF_INIT;

	store(bytes, len);
	put(&out, NULL, 0, NULL);
	check_lines(&out);
	buf_reset(&out);
	put(&out, MADE_ID, 20, NULL);
	check_lines(&out);
	buf_fini(&out);
}

static void check_damaged(bool is64, bool big)
{
	uint32_t seed = 5;
	struct made made, bad;

	made_elf(&made, is64, big, SHT_SYMTAB);
	for (size_t len = 0; len < MADE_SIZE; len += 64)
		look(made.bytes, len);
	for (int i = 0; i < 1500; i++) {
		bad = made;
		for (int n = 0; n < 1 + i % 4; n++) {
			static const size_t places[] = { 16, MADE_PHDRS, MADE_NOTE, MADE_STRINGS, MADE_SYMBOLS, MADE_SHDRS };
			size_t at;

			seed = seed * 1664525u + 1013904223u;
			at = places[(seed >> 8) % 6] + (seed >> 16) % 250;
			bad.bytes[at] = (uint8_t)((seed >> 3) % 3 ? seed >> 24 : 0xff);
		}
		look(bad.bytes, MADE_SIZE);
	}
}

/* A name that is longer than any line may be. */
static void check_long(void)
{
	static struct made made;

	made_elf(&made, true, false, SHT_SYMTAB);
	memset(made.bytes + 3000, 'y', 1000);
	made_section(&made, 2, SHT_STRTAB, 3000, 1000, 0);
	look(made.bytes, MADE_SIZE);
}

int main(void)
{
	const char *scratch = getenv("RINGSIDE_SCRATCH");

	snprintf(path, sizeof(path), "%s/made.elf", scratch ? scratch : ".");
	for (int i = 0; i < 8; i++)
		check_kind(i & 1, i & 2, i & 4 ? SHT_SYMTAB : SHT_DYNSYM);
	check_none();
	for (int i = 0; i < 4; i++)
		check_damaged(i & 1, i & 2);
	check_long();
	unlink(path);
	return 0;
}
