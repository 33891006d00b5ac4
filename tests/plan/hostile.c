/*
 * Files that are cut short and files with bytes changed: a plan is refused with words, or made and sound, and so is an extra plan for
 * points anywhere. Under sanitizers, above all. And plans themselves with bytes changed: not sound, for any byte.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "insist.h"
#include "plan/plan.h"

static uint64_t seed = 88172645463325252ull;
static char path[64];
static int file;
static unsigned int refused, made;

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* With another build-id: debug information that lies beside the real one is for other tests, and takes long to read each time. */
static char *file_take(const char *from, size_t *len)
{
	static const char note[16] = "\4\0\0\0\24\0\0\0\3\0\0\0GNU";
	FILE *f = fopen(from, "r");
	char *bytes = malloc(1 << 20), *id;

	CHECK(f && bytes, "%s", from);
	*len = fread(bytes, 1, 1 << 20, f);
	fclose(f);
	id = memmem(bytes, *len, note, sizeof(note));
	if (id)
		id[sizeof(note)] ^= 1;
	return bytes;
}

static void judge(int r, const struct buf *out, const struct err *err)
{
	if (r) {
		CHECK(*err->text && !out->len, "%d without words", r);
		refused++;
	} else {
		CHECK(!plan_check((const struct plan *)out->data, out->len), "%s", plan_check((const struct plan *)out->data, out->len));
		made++;
	}
}

/* Within the code, mostly. */
static void look_at_points(void)
{
	const struct plan_file from = { .path = path };
	struct err err = ERR_INIT;
	struct buf out = BUF_INIT;
	uint64_t points[64], start = rnd() % (1 << 16);
	int r;

	for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++)
		points[i] = rnd() % 8 ? start + rnd() % (1 << (1 + rnd() % 16)) : rnd() >> rnd() % 64;
	r = plan_make_extra(&out, &from, points, sizeof(points) / sizeof(points[0]), &err);
	judge(r, &out, &err);
	buf_fini(&out);
}

static void look(const char *bytes, size_t len)
{
	struct err err = ERR_INIT;
	struct buf out = BUF_INIT;
	int r;

	CHECK(!ftruncate(file, 0) && pwrite(file, bytes, len, 0) == (ssize_t)len, "write");
	r = plan_make(&out, &(struct plan_file){ .path = path }, &err);
	judge(r, &out, &err);
	buf_fini(&out);
	look_at_points();
}

static void cut(const char *bytes, size_t len)
{
	for (size_t n = 0; n < len; n += n < 256 ? 7 : 1 + rnd() % (len / 50))
		look(bytes, n);
}

/* Where headers and tables are, and anywhere. */
static void change(char *bytes, size_t len, unsigned int times)
{
	char *copy = malloc(len);

	CHECK(copy, "malloc");
	for (unsigned int i = 0; i < times; i++) {
		memcpy(copy, bytes, len);
		for (uint64_t n = 1 + rnd() % 8; n; n--) {
			size_t at = rnd() % 3 ? rnd() % len : rnd() % 2 ? rnd() % 1024 : len - 1 - rnd() % 2048;

			copy[at] = (char)(rnd() % 4 ? rnd() : rnd() % 2 ? 0xff : 0);
		}
		look(copy, len);
	}
	free(copy);
}

/* A plan with a byte changed, and with its checksum made good again: that one is to be looked through without harm. */
static void change_plan(void)
{
	struct buf out = BUF_INIT;
	struct err err = ERR_INIT;
	struct plan *plan;

	CHECK(!plan_make(&out, &(struct plan_file){ .path = path }, &err), "%s", err.text);
	plan = (struct plan *)out.data;
	CHECK(!plan_check(plan, out.len), "sound");
	for (unsigned int i = 0; i < 3000; i++) {
		size_t at = i < sizeof(*plan) ? i : rnd() % out.len;
		char *copy = malloc(out.len), was = out.data[at];
		struct plan *changed = (struct plan *)copy;

		CHECK(copy, "malloc");
		memcpy(copy, out.data, out.len);
		copy[at] = (char)(was ^ (1 << rnd() % 8));
		CHECK(plan_check(changed, out.len), "byte %zu is changed", at);
		changed->crc = 0;
		if (changed->size <= out.len)
			changed->crc = crc32c(0, copy, changed->size);
		plan_check(changed, out.len);
		CHECK(plan_check(plan, out.len - 1 - rnd() % 200) , "cut short");
		free(copy);
	}
	buf_fini(&out);
}

int main(int argc, char **argv)
{
	static const char *const files[] = { "/lib/x86_64-linux-gnu/libgcc_s.so.1", "/lib/x86_64-linux-gnu/libdl.so.2",
					     "/lib64/ld-linux-x86-64.so.2" };
	unsigned int times = argc > 1 ? (unsigned int)atoi(argv[1]) : 400;

	file = memfd_create("file", MFD_CLOEXEC);
	CHECK(file >= 0, "memfd");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	if (access(files[0], R_OK)) {
		puts("no files of a Debian of x86-64 here");
		return 77;
	}
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		size_t len;
		char *bytes;

		if (access(files[i], R_OK))
			continue;
		bytes = file_take(files[i], &len);
		cut(bytes, len);
		change(bytes, len, times);
		look(bytes, len);
		if (!i)
			change_plan();
		free(bytes);
	}
	CHECK(refused && made, "%u refused, %u made", refused, made);
	printf("%u refused, %u made\n", refused, made);
	return 0;
}
