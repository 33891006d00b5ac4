/*
 * func/point: probes at instructions, in the traced program. Within this room.
 *
 *   the state's probes --point.c--> points of a file: an instruction, and who wants to know of it
 *                      --window.c--> windows: code that is replaced, with the call-outs of the points in it
 *                      --block.c--> the code that it is replaced by
 *   a thread comes by --> call-out --> func_thunk_point --> func_hit() --> records
 *
 * What a thread may be looking at at any time never changes: probes, and the lists of them that points have. A list that becomes
 * another one is made anew; the one before stays.
 */
#ifndef FUNC_POINT_H
#define FUNC_POINT_H

#include "func/local.h"
#include "layout/probe.h"

#define FUNC_POINTS_MAX 65536u
#define FUNC_PROBES_MAX 16384u
#define FUNC_COPIES_MAX 12u	/* what more has is put together by its program */

/* A function of an allocator: which of its arguments, from 1 on, is the size; 0: none is. */
struct func_allocator {
	const char *name;
	uint8_t size;
	uint8_t times;		/* and by which one that is multiplied */
	bool frees;		/* the first argument is given back */
	bool stored;		/* the result is where the first argument says */
};

/* A probe, by what the state said when it was first seen. */
struct func_probe {
	uint32_t serial;
	uint32_t event;
	uint32_t flags;		/* PROBE_* */
	uint32_t index;		/* where the state had it last: looked at there first */
	uint16_t size;
	uint16_t ncopies;
	struct probe_count *counts;	/* of each CPU; NULL: none */
	const struct func_allocator *allocator;	/* it is the runtime's own, at this function; NULL: a line of the state */
	struct probe_copy copies[FUNC_COPIES_MAX];
};

struct func_list {
	uint32_t n;
	bool memory;		/* some are at an allocator's function */
	const struct func_probe *probe[];
};

/* An instruction that is, or was, probed. */
struct func_point {
	uintptr_t at;
	uint64_t ip;		/* in the symbol space */
	const struct func_list *list;
};

/* What a site has beside what functions need: points in its window, those who want its return. By the site's number. */
struct func_window {
	uintptr_t at;		/* what is replaced, by a jump or a trap */
	uintptr_t code;		/* that leads to, 0: nothing but the site's own ways; as it was made for what follows */
	uintptr_t plain;	/* the site's body without call-outs; 0: it is there for its points alone */
	const struct func_list *returns;	/* NULL: nobody */
	const struct func_list *returned;	/* the last that was made */
	const struct func_file *file;
	const struct plan *plan;
	const struct plan_site *site;
	uint64_t update;	/* that needs it */
	uint8_t way;		/* FUNC_WAY_* */
	uint8_t trap;		/* by int3, of one instruction: step `first` */
	uint8_t first;
	uint8_t npoints;
	uint32_t point[PLAN_WINDOW_MAX];	/* of each step; 0: none */
	uint32_t calls;		/* bits: steps that are system calls, and wanted; they count as points */
	uint32_t made[PLAN_WINDOW_MAX];		/* the same of `code`, and its way */
	uint32_t made_calls;
	uint8_t made_way;
};

/* How a window's code begins, behind the call-out of its first instruction. */
enum { FUNC_WAY_NONE, FUNC_WAY_FUNCTION, FUNC_WAY_GRAPH };

extern struct func_point *func_points __attribute__((visibility("hidden")));

/* hit.c */
/* Before the instruction; registers as they are. */
void func_hit(uint32_t number, struct probe_hit *hit);
/* One of its probes, for which `hit` is ready. */
void func_hit_one(const struct func_probe *probe, struct probe_hit *hit);
/* A function has returned that somebody waits for. */
void func_hit_return(const struct func_list *list, const struct func_call *call, struct probe_hit *hit);
void func_hit_missed(const struct func_list *list);

/* hit_aside.c: compiled as usual. */
struct func_hitting {
	const struct func_probe *probe;
	struct probe_hit *hit;
	void *record;		/* that is ready; NULL: it has to be made by the probe's program */
	uint32_t len;
	bool done;		/* out */
};
void func_hit_aside(void *hitting);
void func_hit_wake(void *ring);

/* memory.c: an allocator's function. What comes of it is in these of the hit's arguments. */
enum { FUNC_MEMORY_REQ, FUNC_MEMORY_ALLOC, FUNC_MEMORY_PTR };
/* It is called, with its return address there: for `memory` of the call. */
#define FUNC_MEMORY_OUTERMOST 1u
uint64_t func_memory_begin(const struct func_site *site, uintptr_t slot);
/* It is about to give something back. */
void func_memory_free(const struct func_probe *probe, struct probe_hit *hit);
/* It has returned, and is in no other one. */
void func_memory_return(const struct func_probe *probe, struct probe_hit *hit);

/* allocator.c */
struct func_heap {
	uintptr_t usable_size;	/* malloc_usable_size(); 0: the allocator has none */
	uintptr_t gnu, gnu_size;	/* the file of the GNU C library, if it is that one's; else nothing */
};
extern struct func_heap func_heap __attribute__((visibility("hidden")));
/* Which of the two events are wanted. */
void func_allocator_select(struct func_selection *selection);
/* Calls `want` for each probe of that file. */
void func_allocator_wants(const struct func_file *file, const struct func_selection *selection,
			  void (*want)(void *arg, uintptr_t at, uint32_t i, bool returns, uint32_t event), void *arg);
/* The one of its i-th function. */
void func_allocator_fill(struct func_probe *probe, uint32_t i, bool returns, uint32_t event);

/* point.c */
struct func_want {
	uintptr_t at;
	const struct func_probe *probe;	/* NULL: it is a system call */
	bool placed;
};
/* What the state wants of a file, by address: memory of the caller's until func_points_done(). */
struct func_wants {
	struct func_want *all;
	uint32_t n, room;
};
/* Memory of the system's, NULL: there is none; func_map_table() asks first whether the program can do without. */
void *func_map(size_t size);
void *func_map_table(size_t size);
bool func_points_init(void);
/* Is any probe wanted by anybody now? */
bool func_points_any(const struct func_selection *selection);
bool func_points_of(struct func_wants *wants, const struct func_file *file, const struct func_selection *selection);
void func_points_done(struct func_wants *wants);
/* By places, and in the order of writing at one. */
void func_wants_sort(struct func_wants *wants);
/* What nobody wants any more of a file that this update has looked at. */
void func_semaphores_lower(const struct func_file *file);
/* The loader has just brought the file: they are as the file has them. */
void func_semaphores_forget(const struct func_file *file);
/* The point there, with just these; 0: no room. */
uint32_t func_point_make(const struct func_file *file, const struct func_want *wants, uint32_t n);
const struct func_list *func_list_make(const struct func_list *old, const struct func_want *wants, uint32_t n, bool returns);

/* steps of a window: func_plan_site() has looked at them */
static inline uint32_t func_steps(const struct plan *plan, const struct plan_site *site, const struct plan_step **steps)
{
	const unsigned char *code = func_plan_code(plan, site) + site->window + site->moved;

	*steps = (const struct plan_step *)(const void *)(code + 1);
	return code[0];
}
static inline uintptr_t func_window_at(const struct func_file *file, const struct plan_site *site)
{
	return file->load + site->address + site->at - (site->flags & PLAN_SITE_POINT ? site->before : 0);
}

/* window.c */
/* A file's points, and where they are among its functions' windows. */
struct func_layout {
	struct func_file *file;
	struct func_wants wants;
	uint32_t *entries;	/* of each site of the plan: 1 + the first want that is at its entry; 0: none */
};
bool func_layout_open(struct func_layout *layout, struct func_file *file, const struct func_selection *selection);
void func_layout_close(struct func_layout *layout);
/* Does a point need that site of the plan? */
static inline bool func_layout_needs(const struct func_layout *layout, uint32_t index)
{
	return layout->entries && layout->entries[index];
}
/* The sites of functions that are wanted, or needed, have numbers: gives all points their windows. */
void func_layout_place(struct func_layout *layout, const uint32_t *wanted, uint32_t n);
/* Once it is known what functions want: code for the windows of this update. */
void func_layout_make(struct func_layout *layout);
/* Of a site by its number, in this update; NULL: it has none. */
struct func_window *func_window_of(uint32_t number);
/* Where threads that come by a trap go on. */
uintptr_t func_window_code(uint32_t number);
/* Who wants to know of its returns; NULL: nobody. */
const struct func_list *func_window_returns(uint32_t number);
/* No points are in it any more: its body is the plain one. */
void func_window_drop(uint32_t number);
/* Those that are not needed any more: calls fn for each. */
void func_windows_each(void (*fn)(void *arg, uint32_t number, struct func_window *window), void *arg);
bool func_windows_init(void);

/* block.c */
/* Code for windows near a file, all of one update. */
struct func_blocks {
	unsigned char *island, *at, *end;
	uintptr_t *thunks;
};
bool func_blocks_open(struct func_blocks *blocks, const struct func_file *file, uint32_t windows, uint32_t points);
/* Sets window->code, and what the site's body is. */
bool func_block_make(struct func_blocks *blocks, uint32_t number, struct func_window *window);
bool func_blocks_close(struct func_blocks *blocks);

/* thunk.S */
extern const char func_thunk_point[] __attribute__((visibility("hidden")));
extern const char func_thunk_return_point[] __attribute__((visibility("hidden")));

#endif
