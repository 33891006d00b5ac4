/*
 * symbol/debug_walk: along the entries of debug information: functions, the blocks in them, the unit that an address is in. The
 * stack is of bounded depth, and steps are counted.
 */
#include <errno.h>
#include <string.h>

#include "symbol/debug_local.h"
#include "symbol/dwarf_numbers.h"

static bool is_function(uint32_t tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
}

/* Has it functions in it that could be of interest? */
static bool is_room(uint32_t tag)
{
	return tag == DW_TAG_lexical_block || tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_try_block ||
	       tag == DW_TAG_catch_block;
}

bool debug_step(struct debug *debug)
{
	return debug->steps && debug->steps--;
}

int debug_words(const struct debug *debug, int r, struct err *err)
{
	/* Who goes along rows just stops. */
	if (!debug->steps)
		r = -EFBIG;
	if (r == -EFBIG)
		return err_set(err, r, "%.200s has more debug information than is looked at for one place", debug->path);
	return r == -ENOMEM ? err_set(err, r, "out of memory") : r;
}

static int walk(struct debug *debug, const struct debug_die *unit, const uint64_t *pc, debug_see *see, void *arg)
{
	struct debug_die stack[DEBUG_DEPTH];
	size_t depth = 0;
	int r = 0;

	if (!debug_dw_child(unit, &stack[0]))
		return 0;
	for (;;) {
		struct debug_die *die = &stack[depth];
		uint32_t tag = debug_dw_tag(die);
		uint64_t entry;
		bool enter = is_room(tag);

		if (!debug_step(debug))
			return -EFBIG;
		if (enter && pc && tag != DW_TAG_namespace && tag != DW_TAG_module)
			enter = debug_dw_has_pc(die, *pc);
		if (is_function(tag) && debug_dw_entry(die, &entry) && (!pc || debug_dw_has_pc(die, *pc))) {
			struct debug_seen seen = { *unit, *die, tag == DW_TAG_inlined_subroutine };

			r = see(arg, debug, &seen);
			enter = true;
		}
		if (r)
			return r;
		if (enter && depth + 1 < DEBUG_DEPTH && debug_dw_child(die, &stack[depth + 1])) {
			depth++;
			continue;
		}
		while (!debug_dw_sibling(&stack[depth], &stack[depth]))
			if (!depth--)
				return 0;
	}
}

int debug_each_function(struct debug *debug, const struct debug_die *unit, const uint64_t *pc, debug_see *see, void *arg)
{
	struct debug_die each;
	void *cursor = NULL;
	int r = 0;

	if (unit)
		return walk(debug, unit, pc, see, arg);
	while (!r && debug_dw_unit(debug->dw, &cursor, &each) && debug_step(debug))
		if (!pc || debug_dw_has_pc(&each, *pc))
			r = walk(debug, &each, pc, see, arg);
	return r;
}

static int see_outer(void *arg, struct debug *debug, const struct debug_seen *seen)
{
	(void)debug;
	if (!seen->inlined)
		*(struct debug_die *)arg = seen->die;
	return 0;
}

bool debug_function_at(struct debug *debug, const struct debug_die *unit, uint64_t pc, struct debug_die *function)
{
	*function = (struct debug_die){ { 0 } };
	debug_each_function(debug, unit, &pc, see_outer, function);
	return function->words[0];
}

bool debug_unit_at(struct debug *debug, uint64_t pc, struct debug_die *unit)
{
	void *cursor = NULL;

	while (debug_dw_unit(debug->dw, &cursor, unit) && debug_step(debug))
		if (debug_dw_has_pc(unit, pc))
			return true;
	return false;
}

bool debug_file_is(const char *path, const char *end)
{
	size_t n = strlen(path), m = strlen(end);

	return n >= m && !strcmp(path + n - m, end) && (n == m || *end == '/' || path[n - m - 1] == '/');
}

size_t debug_blocks_at(struct debug *debug, const struct debug_die *function, uint64_t pc, struct debug_die out[DEBUG_DEPTH])
{
	struct debug_die die;
	size_t n = 1;
	bool more;

	out[0] = *function;
	for (more = debug_dw_child(function, &die); more && n < DEBUG_DEPTH && debug_step(debug);) {
		uint32_t tag = debug_dw_tag(&die);

		if ((tag == DW_TAG_lexical_block || tag == DW_TAG_try_block || tag == DW_TAG_catch_block) &&
		    debug_dw_has_pc(&die, pc)) {
			out[n++] = die;
			more = debug_dw_child(&die, &die);
		} else {
			more = debug_dw_sibling(&die, &die);
		}
	}
	return n;
}

const char *debug_name(struct debug *debug, const struct debug_die *die)
{
	const char *name = debug_dw_text(debug->dw, die, DW_AT_name);

	return name ? name : "";
}
