/*
 * Points at random places of real programs and libraries: each is planned, and soundly. Windows are what the file has there, their
 * steps are its instructions, and what is moved is as long as it was where nothing has to change. Prints how many are by a jump, by
 * a trap or not at all; and system calls that functions make, which are points of the file's own plan.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "insist.h"
#include "plan/plan.h"
#include "plan/x86.h"
#include "symbol/elf.h"

#define POINTS 40000u

/* As Debian has them. At least so many system calls, and so many of a hundred points by a jump. */
static const struct { const char *path; unsigned int syscalls, jumps; } files[] = {
	{ "/lib/x86_64-linux-gnu/libc.so.6", 300, 88 }, { "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", 0, 90 },
	{ "/usr/lib/x86_64-linux-gnu/libsqlite3.so.0", 0, 90 }, { "/usr/bin/sqlite3", 0, 88 }, { "/usr/bin/python3", 0, 85 },
	{ "/usr/lib/x86_64-linux-gnu/libcrypto.so.3", 0, 90 }, { "/usr/sbin/nginx", 0, 90 },
	{ "/lib64/ld-linux-x86-64.so.2", 0, 0 },
};

static uint64_t seed = 88172645463325252ull;

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* ---- a file ---- */

static struct elf elf;

static void file_open(const char *path)
{
	struct err err = ERR_INIT;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	CHECK(fd >= 0 && !elf_open(&elf, fd, &err), "%s: %s", path, err.text);
}

static void file_close(void)
{
	int fd = elf.fd;

	elf_close(&elf);
	close(fd);
}

static bool file_bytes(uint64_t address, void *to, size_t len)
{
	for (uint32_t i = 0; i < elf.nloads; i++) {
		const struct elf_piece *load = &elf.loads[i];

		if (address >= load->vaddr && address - load->vaddr < load->filesz)
			return pread(elf.fd, to, len, (off_t)(load->offset + (address - load->vaddr))) == (ssize_t)len;
	}
	return false;
}

/* ---- a site ---- */

static const struct plan_site *sites(const struct plan *plan)
{
	return (const struct plan_site *)((const char *)plan + plan->sites);
}

/* Does moving leave its length? */
static bool is_same(const struct x86 *x86)
{
	return x86->kind == X86_PLAIN || x86->kind == X86_NOP || x86->kind == X86_RET || (x86->kind == X86_JMP && !x86->direct);
}

/* Only what fills up comes behind the last. */
static void check_filled(const uint8_t *from, const uint8_t *end)
{
	struct x86 x86;

	for (; from < end; from += x86.len) {
		x86.len = 1;
		if (*from == 0xcc || *from == 0x00)
			continue;
		/* The last may be cut. */
		if (!x86_decode(&x86, from, (size_t)(end - from)))
			return;
		CHECK(x86.kind == X86_NOP, "an instruction of the window is no step");
	}
}

static void check_steps(const struct plan *plan, const struct plan_site *site)
{
	const uint8_t *code = (const uint8_t *)plan + plan->code + site->code, *moved = code + site->window;
	const uint8_t n = moved[site->moved], *steps = moved + site->moved + 1;
	uint8_t window[PLAN_WINDOW_MAX];
	uint32_t from = 0, to = 0;
	struct x86 was, is;

	CHECK(file_bytes(plan_site_window(site), window, site->window), "bytes at %llx", (unsigned long long)site->address);
	CHECK(!memcmp(window, code, site->window), "the window at %llx", (unsigned long long)site->address);
	for (uint8_t i = 0; i < n; i++) {
		CHECK(steps[i * 2] == from && (!to || steps[i * 2 + 1] == to), "step %d at %llx", i, (unsigned long long)site->address);
		CHECK(x86_decode(&was, code + from, site->window - from), "step %d is no instruction", i);
		to = steps[i * 2 + 1];
		CHECK(x86_decode(&is, moved + to, site->moved - to), "step %d, moved, is no instruction", i);
		CHECK(!is_same(&was) || (was.len == is.len && was.kind == is.kind), "step %d, moved, is another", i);
		from += was.len;
		to = is_same(&was) ? to + is.len : 0;
	}
	CHECK(from <= site->window && (!to || to == site->moved), "%u of %u bytes", from, site->window);
	if (from < site->window)
		check_filled(code + from, code + site->window);
	CHECK(!(site->flags & PLAN_SITE_POINT) || site->kind == PLAN_JUMP || !site->before, "a trap before its point");
}

static void check_sites(const struct plan *plan)
{
	for (uint32_t i = 0; i < plan->nsites; i++)
		if (sites(plan)[i].kind != PLAN_NOT)
			check_steps(plan, &sites(plan)[i]);
}

/* ---- plans ---- */

static const struct plan *checked(const struct buf *out, const char *path)
{
	const struct plan *plan = (const struct plan *)out->data;

	CHECK(!plan_check(plan, out->len), "%s: %s", path, plan_check(plan, out->len));
	check_sites(plan);
	return plan;
}

static const struct plan *plan_of(struct buf *out, const char *path)
{
	struct err err = ERR_INIT;

	CHECK(!plan_make(out, &(struct plan_file){ .path = path }, &err), "%s", err.text);
	return checked(out, path);
}

static void look_at_syscalls(const struct plan *plan, const char *path, unsigned int least)
{
	unsigned int kinds[3] = { 0 }, before = 0;

	for (uint32_t i = 0; i < plan->nsites; i++) {
		const struct plan_site *site = &sites(plan)[i];
		const uint8_t *code = (const uint8_t *)plan + plan->code + site->code;

		if (!(site->flags & PLAN_SITE_SYSCALL))
			continue;
		CHECK(site->flags & PLAN_SITE_HIDDEN && site->flags & PLAN_SITE_POINT && site->kind != PLAN_NOT, "a hidden point");
		CHECK(code[site->before] == 0x0f && code[site->before + 1] == 0x05, "a system call");
		kinds[site->kind]++;
		before += site->before != 0;
	}
	printf("%s: %u system calls by a jump, %u of them from before; %u by a trap\n", path, kinds[PLAN_JUMP], before, kinds[PLAN_TRAP]);
	CHECK(kinds[PLAN_JUMP] >= least && kinds[PLAN_TRAP] * 50 <= kinds[PLAN_JUMP], "too few");
}

static void count(const struct plan *plan, const char *path, unsigned int least)
{
	unsigned int kinds[3][PLAN_REASONS] = { { 0 } }, before = 0, all = 0, traps = 0, jumps;

	for (uint32_t i = 0; i < plan->nsites; i++) {
		const struct plan_site *site = &sites(plan)[i];

		CHECK(site->flags & PLAN_SITE_POINT && !(site->flags & PLAN_SITE_HIDDEN), "a point");
		kinds[site->kind][site->reason]++;
		all += site->reason != PLAN_MIDDLE && site->reason != PLAN_NOWHERE;
		before += site->kind == PLAN_JUMP && site->before;
	}
	jumps = kinds[PLAN_JUMP][PLAN_FINE];
	for (int reason = 0; reason < PLAN_REASONS; reason++)
		traps += kinds[PLAN_TRAP][reason];
	printf("%s: %u instructions: %.1f%% by a jump (%.1f%% from before), %.1f%% by a trap, %.1f%% not at all\n", path, all,
	       100.0 * jumps / all, 100.0 * before / all, 100.0 * traps / all, 100.0 * (all - jumps - traps) / all);
	for (int kind = PLAN_NOT; kind <= PLAN_TRAP; kind++)
		for (int reason = 1; reason < PLAN_REASONS; reason++)
			if (kinds[kind][reason])
				printf("  %5u %s: %s\n", kinds[kind][reason], kind == PLAN_TRAP ? "by a trap" : "not at all",
				       plan_reason((enum plan_reason)reason));
	CHECK(jumps * 100ull >= (uint64_t)all * least, "too few");
}

static void look(const char *path, unsigned int syscalls, unsigned int jumps)
{
	struct buf out = BUF_INIT, extra = BUF_INIT, again = BUF_INIT;
	struct err err = ERR_INIT;
	uint64_t *points = malloc(POINTS * sizeof(*points));
	const struct plan *plan;

	CHECK(points, "malloc");
	file_open(path);
	plan = plan_of(&out, path);
	look_at_syscalls(plan, path, syscalls);
	for (uint32_t i = 0; i < POINTS; i++)
		points[i] = plan->text_start + rnd() % (plan->text_end - plan->text_start);
	CHECK(!plan_make_extra(&extra, &(struct plan_file){ .path = path }, points, POINTS, &err), "%s", err.text);
	count(checked(&extra, path), path, jumps);
	/* In another order, and twice. */
	for (uint32_t i = 0; i < POINTS / 2; i++) {
		uint64_t point = points[i];

		points[i] = points[POINTS - 1 - i];
		points[POINTS - 1 - i] = point;
	}
	CHECK(!plan_make_extra(&again, &(struct plan_file){ .path = path }, points, POINTS, &err), "%s", err.text);
	CHECK(again.len == extra.len && !memcmp(again.data, extra.data, extra.len), "the same points, another plan");
	file_close();
	free(points);
	buf_fini(&out);
	buf_fini(&extra);
	buf_fini(&again);
}

int main(int argc, char **argv)
{
	unsigned int n = 0;

	if (argc > 2)
		seed = strtoull(argv[2], NULL, 0);
	if (argc > 1) {
		look(argv[1], 0, 0);
		return 0;
	}
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (!access(files[i].path, R_OK)) {
			look(files[i].path, files[i].syscalls, files[i].jumps);
			n++;
		}
	if (n < 3) {
		puts("no files of a Debian of x86-64 here");
		return 77;
	}
	return 0;
}
