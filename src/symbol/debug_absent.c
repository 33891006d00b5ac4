/*
 * symbol/debug_absent: in place of what stands on libdw, in a build without it. What comes behind debug_open() is never called.
 */
#include <errno.h>

#include "symbol/debug.h"

int debug_open(struct debug **out, const char *path, struct err *err)
{
	*out = NULL;
	return err_set(err, -ENOSYS, "%.300s: what reads debug information (libdw) is not built in", path);
}

void debug_close(struct debug *debug)
{
	(void)debug;
}

void debug_look_in(struct debug *debug, const char *dir)
{
	(void)debug;
	(void)dir;
}

const char *debug_file(const struct debug *debug)
{
	(void)debug;
	return "";
}

int debug_points_find(struct debug_points *points, struct debug *debug, const struct debug_place *place, struct err *err)
{
	(void)debug;
	(void)place;
	*points = (struct debug_points){ 0 };
	return err_set(err, -ENOSYS, "what reads debug information (libdw) is not built in");
}

bool debug_point_settle(struct debug *debug, struct debug_point *point, const char *const *exprs, size_t n)
{
	(void)debug;
	(void)point;
	(void)exprs;
	(void)n;
	return false;
}

void debug_point_put(struct debug *debug, const struct debug_point *point, struct buf *out)
{
	(void)debug;
	buf_puts(out, point->name);
}

int debug_argument(struct debug *debug, const struct debug_point *point, const char *text, struct debug_arg *arg, struct err *err)
{
	(void)debug;
	(void)point;
	*arg = (struct debug_arg){ .body = BUF_INIT };
	return err_set(err, -ENOSYS, "%.100s: what reads debug information (libdw) is not built in", text);
}

void debug_arg_fini(struct debug_arg *arg)
{
	buf_fini(&arg->body);
}

int debug_variables_find(struct debug_variables *variables, struct debug *debug, const struct debug_point *point, struct err *err)
{
	(void)debug;
	(void)point;
	*variables = (struct debug_variables){ 0 };
	return err_set(err, -ENOSYS, "what reads debug information (libdw) is not built in");
}

void debug_variables_fini(struct debug_variables *variables)
{
	(void)variables;
}

int debug_lines_find(struct debug_lines *lines, struct debug *debug, const struct debug_place *place, uint32_t to,
		     struct err *err)
{
	(void)debug;
	(void)place;
	(void)to;
	*lines = (struct debug_lines){ 0 };
	return err_set(err, -ENOSYS, "what reads debug information (libdw) is not built in");
}

void debug_lines_fini(struct debug_lines *lines)
{
	(void)lines;
}

bool debug_describe(struct debug *debug, uint64_t address, struct buf *where, struct buf *file)
{
	(void)debug;
	(void)address;
	(void)where;
	(void)file;
	return false;
}
