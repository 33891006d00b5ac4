/*
 * func/window: which code is replaced so that a file's points are come by. See point.h.
 *
 * A point is at a function's entry, and then the function's own site; or in the window of a function that is patched for other
 * reasons, or of another point, and then its call-out goes between the moved instructions there; or it has a window of its own, by the
 * file's extra plan. Where that would meet another one it is the one instruction alone, by int3.
 */
#include <string.h>
#include <sys/mman.h>

#include "func/point.h"

#if defined(__x86_64__) && !defined(__ILP32__)

#define WINDOWS_MAX FUNC_POINTS_MAX
#define BUCKETS (2 * WINDOWS_MAX)

static struct func_window *windows;	/* WINDOWS_MAX of them; the first is none */
static uint32_t nwindows = 1;
static uint32_t *of_site;		/* FUNC_SITES_MAX: the window of each */
static uint32_t *buckets;		/* sites that are there for points alone, by what they replace */

bool func_windows_init(void)
{
	const size_t size = WINDOWS_MAX * sizeof(*windows) + (FUNC_SITES_MAX + BUCKETS) * sizeof(uint32_t);
	unsigned char *all;

	if (windows)
		return true;
	all = func_map_table(size);
	if (!all)
		return false;
	of_site = (uint32_t *)(void *)(all + WINDOWS_MAX * sizeof(*windows));
	buckets = of_site + FUNC_SITES_MAX;
	windows = (struct func_window *)(void *)all;
	return true;
}

struct func_window *func_window_of(uint32_t number)
{
	struct func_window *window = windows && of_site[number] ? &windows[of_site[number]] : NULL;

	return window && window->update == func_all.update ? window : NULL;
}

uintptr_t func_window_code(uint32_t number)
{
	return LOAD(windows[of_site[number]].code);
}

const struct func_list *func_window_returns(uint32_t number)
{
	return LOAD(windows[of_site[number]].returns);
}

void func_window_drop(uint32_t number)
{
	struct func_window *window = windows && of_site[number] ? &windows[of_site[number]] : NULL;
	struct func_site *site = &func_all.sites[number];

	if (!window || !window->plain || site->body == window->plain)
		return;
	site->body = window->plain;
	window->code = 0;
	STORE(site->edge, 0);
}

void func_windows_each(void (*fn)(void *arg, uint32_t number, struct func_window *window), void *arg)
{
	for (uint32_t i = 1; windows && i < func_all.nsites; i++)
		if (of_site[i])
			fn(arg, i, &windows[of_site[i]]);
}

/* For this update, with no points yet. */
static struct func_window *begin(uint32_t number, const struct func_file *file, const struct plan *plan, const struct plan_site *site)
{
	struct func_window *window = func_window_of(number);

	if (window)
		return window;
	if (!of_site[number]) {
		if (nwindows == WINDOWS_MAX)
			return NULL;
		of_site[number] = nwindows++;
		windows[of_site[number]].plain = func_all.sites[number].body;
	}
	window = &windows[of_site[number]];
	/* Another plan's steps are others. */
	if (window->site != site)
		window->code = 0;
	window->file = file;
	window->plan = plan;
	window->site = site;
	window->at = func_window_at(file, site);
	window->update = func_all.update;
	window->returns = NULL;
	window->way = FUNC_WAY_NONE;
	window->trap = window->first = window->npoints = 0;
	window->calls = 0;
	memset(window->point, 0, sizeof(window->point));
	return window;
}

/* ---- Layout ---- */

/* Probes at a function's first byte and behind its endbr64, which all come by at one step: they count as the first's. */
static bool are_together(struct func_wants *wants, uint32_t w, uintptr_t behind)
{
	const uintptr_t at = wants->all[w].at;
	bool moved = false;

	for (; w < wants->n && wants->all[w].at <= behind; w++) {
		moved |= wants->all[w].at != at;
		wants->all[w].at = at;
	}
	return moved;
}

bool func_layout_open(struct func_layout *layout, struct func_file *file, const struct func_selection *selection)
{
	bool moved = false;

	*layout = (struct func_layout){ .file = file };
	if (!func_points_of(&layout->wants, file, selection) || !func_windows_init())
		return false;
	layout->entries = func_map((file->plan->nsites + 1) * sizeof(*layout->entries));
	for (uint32_t i = 0, w = 0; layout->entries && i < file->plan->nsites && w < layout->wants.n; i++) {
		const struct plan_site *site = func_plan_site(file->plan, i);
		uintptr_t start;

		if (!site || site->flags & PLAN_SITE_POINT)
			continue;
		start = file->load + site->address;
		while (w < layout->wants.n && layout->wants.all[w].at < start)
			w++;
		/* Behind endbr64 is the entry, too. */
		if (w < layout->wants.n && layout->wants.all[w].at <= start + site->at) {
			layout->entries[i] = w + 1;
			moved |= are_together(&layout->wants, w, start + site->at);
		}
	}
	/* In the order of writing again, each group where it was. */
	if (moved)
		func_wants_sort(&layout->wants);
	return layout->entries != NULL;
}

void func_layout_close(struct func_layout *layout)
{
	if (layout->entries)
		munmap(layout->entries, (layout->file->plan->nsites + 1) * sizeof(*layout->entries));
	func_points_done(&layout->wants);
	layout->entries = NULL;
}

/* What is replaced, in the order of addresses. */
struct cover {
	uintptr_t start, end;
	const struct plan *plan;
	const struct plan_site *site;
	uint32_t number;
};

struct covers {
	struct cover *all;
	uint32_t n, room;
};

/* The first that ends behind an address. */
static uint32_t cover_at(const struct covers *covers, uintptr_t at)
{
	uint32_t low = 0, high = covers->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (covers->all[middle].end <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_free(const struct covers *covers, uintptr_t start, uintptr_t end)
{
	uint32_t i = cover_at(covers, start);

	return i == covers->n || covers->all[i].start >= end;
}

static void add_cover(struct covers *covers, const struct cover *cover)
{
	uint32_t i = cover_at(covers, cover->start);

	if (covers->n == covers->room)
		return;
	memmove(&covers->all[i + 1], &covers->all[i], (covers->n - i) * sizeof(covers->all[0]));
	covers->all[i] = *cover;
	covers->n++;
}

/* The instruction of a window that begins there; -1: none does. */
static int step_at(const struct plan *plan, const struct plan_site *site, uint32_t at)
{
	const struct plan_step *steps;
	uint32_t n = func_steps(plan, site, &steps);

	for (uint32_t i = 0; i < n; i++)
		if (steps[i].at == at)
			return (int)i;
	return -1;
}

/* How many wants are at the place of the first. */
static uint32_t group(const struct func_layout *layout, uint32_t w)
{
	uint32_t n = 1;

	while (w + n < layout->wants.n && layout->wants.all[w + n].at == layout->wants.all[w].at)
		n++;
	return n;
}

/* How many of them are probes: a system call comes last. */
static uint32_t probes(const struct func_layout *layout, uint32_t w)
{
	const uint32_t n = group(layout, w);

	return n - !layout->wants.all[w + n - 1].probe;
}

/* The call-out of these before instruction `step`; and itself, if it is a system call. */
static void put_point(struct func_layout *layout, struct func_window *window, uint32_t step, uint32_t w)
{
	const uint32_t n = probes(layout, w);
	uint32_t point = n ? func_point_make(layout->file, &layout->wants.all[w], n) : 0;

	if (n < group(layout, w) && !(window->calls & 1u << step)) {
		window->calls |= 1u << step;
		window->npoints++;
	}
	if (!point || window->point[step])
		return;
	window->point[step] = point;
	window->npoints++;
}

/* ---- Sites of points alone ---- */

static uint32_t site_at(const struct func_file *file, uintptr_t at)
{
	uint32_t hash = (uint32_t)((at * 0x9e3779b97f4a7c15ull) >> 40);

	for (uint32_t i = 0;; i++) {
		uint32_t *bucket = &buckets[(hash + i) % BUCKETS];
		struct func_site *site = &func_all.sites[*bucket];

		if (!*bucket) {
			if (func_all.nsites == FUNC_SITES_MAX || nwindows == WINDOWS_MAX)
				return 0;
			*bucket = func_all.nsites++;
			func_all.sites[*bucket] = (struct func_site){
				.ip = at + file->delta, .file = file, .flags = FUNC_SITE_POINT,
			};
			return *bucket;
		}
		if (site->file == file && site->ip == at + file->delta)
			return *bucket;
	}
}

/* The point there, in one of the file's plans. */
static const struct plan_site *point_site(const struct func_file *file, const struct plan *plan, uintptr_t at)
{
	uint32_t low = 0, high = plan ? plan->nsites : 0;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct plan_site *site = (const struct plan_site *)(const void *)((const char *)plan + plan->sites) + middle;

		if (site->address == at - file->load)
			return func_plan_site(plan, middle);
		if (site->address < at - file->load)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* An instruction that nothing else covers, or whose own window would meet another. */
static void place_alone(struct func_layout *layout, struct covers *covers, uint32_t w)
{
	const uintptr_t at = layout->wants.all[w].at;
	const struct func_file *file = layout->file;
	const bool call = !probes(layout, w);
	const struct plan *plan = call ? file->plan : file->extra;
	const struct plan_site *site = point_site(file, plan, at);
	const uintptr_t start = site ? func_window_at(file, site) : 0;
	const int step = site ? step_at(plan, site, (uint32_t)(at - start)) : -1;
	struct cover cover = { .start = start, .plan = plan, .site = site };
	struct func_window *window;
	bool trap;

	if (step < 0)
		return;
	cover.end = start + site->window;
	trap = site->kind == PLAN_TRAP || !is_free(covers, start, cover.end);
	/* A signal comes for it anyway. */
	if (trap && call)
		return;
	if (trap) {
		cover.start = at;
		cover.end = at + 1;
	}
	/* What only fills up is covered by the jump before it. */
	if (trap && (!file->traps || !is_free(covers, at, at + 1)))
		return;
	cover.number = site_at(file, cover.start);
	window = cover.number ? begin(cover.number, file, plan, site) : NULL;
	if (!window)
		return;
	window->plain = 0;
	window->at = cover.start;
	window->trap = trap;
	window->first = trap ? (uint8_t)step : 0;
	put_point(layout, window, (uint32_t)step, w);
	add_cover(covers, &cover);
}

/* ---- All of them ---- */

/* In a window that is there already. */
static bool place_within(struct func_layout *layout, const struct covers *covers, uint32_t w)
{
	const uintptr_t at = layout->wants.all[w].at;
	const uint32_t i = cover_at(covers, at);
	const struct cover *cover = &covers->all[i];
	struct func_window *window;
	int step;

	if (i == covers->n || cover->start > at)
		return false;
	step = step_at(cover->plan, cover->site, (uint32_t)(at - func_window_at(layout->file, cover->site)));
	window = step < 0 ? NULL : begin(cover->number, layout->file, cover->plan, cover->site);
	if (!window || (window->trap && window->first != step))
		return false;
	put_point(layout, window, (uint32_t)step, w);
	return true;
}

static void place_entry(struct func_layout *layout, const struct cover *cover, uint32_t w)
{
	struct func_window *window = begin(cover->number, layout->file, cover->plan, cover->site);
	const struct func_want *wants = &layout->wants.all[w];
	const uint32_t n = probes(layout, w);

	if (!window)
		return;
	window->trap = cover->site->kind == PLAN_TRAP;
	put_point(layout, window, 0, w);
	window->returns = func_list_make(window->returned, wants, n, true);
	window->returned = window->returns;
	if (window->returns && !window->returns->n)
		window->returns = NULL;
	layout->wants.all[w].placed = true;
}

void func_layout_place(struct func_layout *layout, const uint32_t *wanted, uint32_t n)
{
	struct func_file *file = layout->file;
	struct covers covers = { .room = n + layout->wants.n };

	covers.all = func_map((covers.room + 1) * sizeof(covers.all[0]));
	if (!covers.all)
		return;
	for (uint32_t i = 0; i < n; i++) {
		const struct plan_site *site = func_plan_site(file->plan, wanted[i]);
		struct cover cover = { .plan = file->plan, .site = site, .number = file->numbers[wanted[i]] };

		if (!site || !cover.number)
			continue;
		cover.start = func_window_at(file, site);
		cover.end = cover.start + (site->kind == PLAN_TRAP ? 1 : site->window);
		add_cover(&covers, &cover);
		if (layout->entries[wanted[i]])
			place_entry(layout, &cover, layout->entries[wanted[i]] - 1);
	}
	for (uint32_t w = 0; w < layout->wants.n; w += group(layout, w))
		if (!layout->wants.all[w].placed && !place_within(layout, &covers, w))
			place_alone(layout, &covers, w);
	munmap(covers.all, (covers.room + 1) * sizeof(covers.all[0]));
}

/* ---- Their code ---- */

static bool is_made(const struct func_window *window)
{
	return window->code && window->made_way == window->way && window->made_calls == window->calls &&
	       !memcmp(window->made, window->point, sizeof(window->made));
}

/* Of this file and update, those whose code is not what it should be. */
static uint32_t to_make(const struct func_layout *layout, struct func_blocks *blocks, uint32_t *points)
{
	uint32_t n = 0;

	*points = 0;
	for (uint32_t i = 1; i < func_all.nsites; i++) {
		struct func_window *window = func_window_of(i);

		if (!window || window->file != layout->file || !window->npoints || is_made(window))
			continue;
		n++;
		*points += window->npoints;
		if (blocks && !func_block_make(blocks, i, window))
			window->code = 0;
	}
	return n;
}

void func_layout_make(struct func_layout *layout)
{
	struct func_blocks blocks;
	uint32_t points, n = to_make(layout, NULL, &points);

	if (!n || !func_blocks_open(&blocks, layout->file, n, points))
		return;
	to_make(layout, &blocks, &points);
	if (func_blocks_close(&blocks))
		return;
	/* Nobody may run these. */
	for (uint32_t i = 1; i < func_all.nsites; i++) {
		struct func_window *window = func_window_of(i);

		if (!window || window->code - (uintptr_t)blocks.island >= (uintptr_t)(blocks.end - blocks.island))
			continue;
		func_window_drop(i);
		window->code = 0;
	}
}

#endif
