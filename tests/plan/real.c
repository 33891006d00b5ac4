/*
 * Of the functions of real programs and libraries nearly all get a jump; what is left has its reason. Prints which.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "insist.h"
#include "plan/plan.h"

/* As Debian has them; those with few functions to be seen count little. */
static const char *const files[] = {
	"/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "/lib/x86_64-linux-gnu/libgcc_s.so.1",
	"/lib/x86_64-linux-gnu/libm.so.6", "/usr/lib/x86_64-linux-gnu/libcrypto.so.3", "/usr/lib/x86_64-linux-gnu/libsqlite3.so.0",
	"/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0", "/bin/bash", "/usr/bin/python3", "/usr/bin/git", "/usr/bin/sqlite3",
	"/usr/lib/gcc/x86_64-linux-gnu/12/cc1", "/usr/sbin/nginx", "/bin/busybox",
};

static unsigned long sites_all, jumps_all;
static unsigned int nfiles;

static void look(const char *path)
{
	unsigned int kinds[3][PLAN_REASONS] = { { 0 } };
	struct buf out = BUF_INIT;
	struct err err = ERR_INIT;
	const struct plan *plan;
	const struct plan_site *sites;
	unsigned int jumps, n = 0;

	CHECK(!plan_make(&out, &(struct plan_file){ .path = path }, &err), "%s", err.text);
	plan = (const struct plan *)out.data;
	CHECK(!plan_check(plan, out.len), "%s: %s", path, plan_check(plan, out.len));
	sites = (const struct plan_site *)(out.data + plan->sites);
	for (uint32_t i = 0; i < plan->nsites; i++) {
		if (sites[i].flags & PLAN_SITE_POINT)
			continue;
		kinds[sites[i].kind][sites[i].reason]++;
		n++;
	}
	jumps = kinds[PLAN_JUMP][PLAN_FINE];
	printf("%s: %u functions, %u by a jump\n", path, n, jumps);
	for (int kind = PLAN_NOT; kind <= PLAN_TRAP; kind++)
		for (int reason = 1; reason < PLAN_REASONS; reason++)
			if (kinds[kind][reason])
				printf("  %5u %s: %s\n", kinds[kind][reason], kind == PLAN_TRAP ? "by a trap" : "not at all",
				       plan_reason(reason));
	/* Indirect functions run under the names of what they choose. */
	CHECK(jumps >= (n - kinds[PLAN_NOT][PLAN_RESOLVER]) * 0.95, "%s: %u of %u", path, jumps, n);
	sites_all += n;
	jumps_all += jumps;
	nfiles++;
	buf_fini(&out);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (!access(files[i], R_OK))
			look(files[i]);
	if (nfiles < 3) {
		puts("no files of a Debian of x86-64 here");
		return 77;
	}
	printf("%lu of %lu functions by a jump\n", jumps_all, sites_all);
	CHECK(jumps_all > sites_all * 0.95, "too few");
	return 0;
}
