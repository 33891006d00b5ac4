/*
 * Any bytes for an ELF file: a plan is refused with words, or made and sound; and so is one of points, at addresses from the file's
 * last bytes.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "plan/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define POINTS 32

static void judge(int r, struct buf *out, const struct err *err)
{
	if (r ? !*err->text || out->len : plan_check((const struct plan *)out->data, out->len) != NULL)
		abort();
	buf_fini(out);
}

static void points(const uint8_t *data, size_t size)
{
	uint64_t addresses[POINTS] = { 0 };
	struct err err = ERR_INIT;
	struct buf out = BUF_INIT;
	size_t n = size / 2 < POINTS ? size / 2 : POINTS;
	int r;

	/* Two bytes each: a file that is made up is small. */
	for (size_t i = 0; i < n; i++)
		addresses[i] = (uint64_t)data[size - 2 * i - 1] << 8 | data[size - 2 * i - 2];
	r = plan_make_extra(&out, &(struct plan_file){ .path = file_path }, addresses, n, &err);
	judge(r, &out, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = ERR_INIT;
	struct buf out = BUF_INIT;
	int r;

	file_fill(data, size);
	r = plan_make(&out, &(struct plan_file){ .path = file_path }, &err);
	judge(r, &out, &err);
	points(data, size);
	/* And any bytes for a plan. */
	if (size >= sizeof(struct plan)) {
		struct plan *plan = malloc(size);

		if (!plan)
			abort();
		memcpy(plan, data, size);
		plan_check(plan, size);
		free(plan);
	}
	return 0;
}
