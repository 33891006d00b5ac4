/*
 * control/plans_extra: points that are no functions' entries: a file's extra plan (layout/plan.h). See plans.h.
 *
 * The newest extra plan has all points of those before it, and more. It is made without the lock and filed under it; who was faster
 * had other points, so it is made once more.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/pictures.h"
#include "control/plans_local.h"
#include "plan/plan.h"

#define TRIES 16

/* What the plans say of it. */
static bool look_up(const struct plan *plan, const struct plan *extra, struct control_point *point)
{
	const struct plan_site *site = plan ? plan_site_find(plan, point->address) : NULL;

	point->entry = site && !(site->flags & (PLAN_SITE_HIDDEN | PLAN_SITE_POINT));
	if (!point->entry)
		site = extra ? plan_site_find(extra, point->address) : NULL;
	if (!site)
		return false;
	point->kind = site->kind;
	point->reason = site->reason;
	point->flags = site->flags;
	return true;
}

/* Points of another build of the file are worth nothing. */
static struct plan *take_extra(const struct control *control, uint64_t offset, const struct plan *plan)
{
	struct plan *extra = plans_take(control, offset);

	if (extra && (extra->build_id_len != plan->build_id_len ||
		      memcmp(extra->build_id, plan->build_id, sizeof(plan->build_id)))) {
		free(extra);
		return NULL;
	}
	return extra;
}

/* Those that are there, and those that are asked for. */
static uint64_t *gather(const struct plan *extra, const struct control_point *points, size_t n, bool all, size_t *count)
{
	const struct plan_site *site = extra ? (const void *)((const char *)extra + extra->sites) : NULL;
	uint64_t *addresses = calloc((extra ? extra->nsites : 0) + n + 1, sizeof(*addresses));

	*count = 0;
	for (uint32_t i = 0; addresses && extra && i < extra->nsites; i++)
		addresses[(*count)++] = site[i].address;
	for (size_t i = 0; addresses && i < n; i++)
		if (!points[i].entry && (all || points[i].kind != PLAN_NOT))
			addresses[(*count)++] = points[i].address;
	return addresses;
}

static int make(struct control *control, struct buf *made, const struct control_elf *elf, const struct plan *extra,
		const struct control_point *points, size_t n, bool all, struct err *err)
{
	const struct plan_file file = { elf->path, elf->build_id, elf->build_id_len };
	struct plan_memory *memory = control_pictures_plans(control->pictures);
	size_t count;
	uint64_t *addresses = gather(extra, points, n, all, &count);
	int r = memory && addresses ? plan_memory_extra(memory, made, &file, addresses, count, err) :
		err_set(err, -ENOMEM, "out of memory");

	free(addresses);
	if (r == -ENOSYS)
		return err_set(err, r, "this tool was built without a decoder of instructions: only functions can be probed");
	return r;
}

/* -EAGAIN: somebody has filed another one since. */
static int file_extra(struct control *control, const struct control_elf *elf, uint64_t before, const struct buf *made,
		      struct err *err)
{
	struct plans_head head;
	const uint32_t slot = plans_slot(elf);
	uint64_t offset;
	bool mine;
	int r = control_lock(control, &mine, err);

	if (r)
		return r;
	r = plans_head_read(control, &head, err);
	if (!r && head.extra[slot] != before)
		r = -EAGAIN;
	if (!r)
		r = plans_append(control, &head, made, &offset, err);
	if (!r)
		r = plans_publish(control, plans_extra_place(slot), offset, head.filed, err);
	control_unlock(control, mine);
	return r;
}

/* Once with all, to learn which can be; and again without the others, if there are any. */
static int plan_points(struct control *control, const struct control_elf *elf, const struct plan *plan, uint64_t before,
		       struct control_point *points, size_t n, struct err *err)
{
	struct plan *extra = take_extra(control, before, plan);
	struct buf made = BUF_INIT;
	size_t missing = 0, bad = 0;
	int r = 0;

	for (size_t i = 0; i < n; i++)
		missing += !look_up(plan, extra, &points[i]);
	if (missing)
		r = make(control, &made, elf, extra, points, n, true, err);
	for (size_t i = 0; !r && missing && i < n; i++) {
		if (!look_up(plan, (const struct plan *)(const void *)made.data, &points[i]))
			points[i].reason = PLAN_NOWHERE;
		bad += !points[i].entry && points[i].kind == PLAN_NOT;
	}
	if (!r && bad && bad < missing) {
		buf_reset(&made);
		r = make(control, &made, elf, extra, points, n, false, err);
	}
	if (!r && missing > bad)
		r = file_extra(control, elf, before, &made, err);
	if (!r)
		r = missing > bad;
	buf_fini(&made);
	free(extra);
	return r;
}

/* Whoever looked at it has kept that there is none, but not why. */
static int no_plan(const struct control_elf *elf, struct err *err)
{
	struct buf plan = BUF_INIT;
	struct err why = ERR_INIT;

	plan_make(&plan, &(struct plan_file){ elf->path, elf->build_id, elf->build_id_len }, &why);
	buf_fini(&plan);
	return why.code ? err_set(err, -ENOEXEC, "%s", why.text) :
			  err_set(err, -ENOEXEC, "%.300s: nothing of it can be patched", elf->path);
}

int control_plans_points(struct control *control, const struct control_elf *elf, struct control_point *points, size_t n,
			 struct err *err)
{
	struct plans_head head;
	int r = -EAGAIN;

	for (uint32_t i = 0; r == -EAGAIN && i < TRIES; i++) {
		struct plan *plan;

		r = plans_head_read(control, &head, err);
		/* A program brought it, and nobody has looked at it yet. */
		if (!r && !head.plan[plans_slot(elf)] && !i) {
			r = plans_make(control, err);
			if (!r)
				r = plans_head_read(control, &head, err);
		}
		if (r)
			break;
		plan = plans_take(control, head.plan[plans_slot(elf)]);
		r = plan ? plan_points(control, elf, plan, head.extra[plans_slot(elf)], points, n, err) : no_plan(elf, err);
		free(plan);
	}
	return r == -EAGAIN ? err_set(err, -EBUSY, "%.300s: too many probe it at once: try again", elf->path) : r;
}
