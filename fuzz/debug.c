/*
 * Any bytes for an ELF file with debug information: its functions, lines and variables are found, or words are said. What reads the
 * format is libdw; what is fed to it is bounded here as everywhere.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "symbol/debug.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at_variables(struct debug *debug, struct debug_point *point)
{
	static const char *const steps[] = { "", "->a", ".a", "[1]", "->b:string", ":string", "[0].b", ".b:u32", "->a:s" };
	struct debug_variables variables;
	struct err err = ERR_INIT;

	if (debug_variables_find(&variables, debug, point, &err))
		return;
	for (size_t i = 0; i < variables.n && i < 8; i++)
		for (size_t j = 0; j < sizeof(steps) / sizeof(steps[0]); j++) {
			struct debug_arg arg;
			struct buf expr = BUF_INIT;

			buf_printf(&expr, "%s%s", variables.all[i].name, steps[j]);
			err = (struct err)ERR_INIT;
			if (!debug_argument(debug, point, expr.data, &arg, &err)) {
				if (!arg.body.data || arg.body.len > 63 || !strchr(arg.body.data, ':'))
					abort();
				debug_arg_fini(&arg);
			} else if (!*err.text) {
				abort();
			}
			buf_fini(&expr);
		}
	debug_variables_fini(&variables);
}

static void look_at(struct debug *debug, const char *text)
{
	struct debug_points points;
	struct debug_place place;
	struct err err = ERR_INIT;

	if (debug_place_parse(&place, text, &err))
		abort();
	if (!debug_points_find(&points, debug, &place, &err)) {
		for (size_t i = 0; i < points.n && i < 8; i++) {
			static const char *const exprs[] = { "a", "s", "h" };
			struct buf where = BUF_INIT, source = BUF_INIT;

			debug_describe(debug, points.all[i].address, &where, &source);
			debug_point_put(debug, &points.all[i], &where);
			debug_point_settle(debug, &points.all[i], exprs, 3);
			look_at_variables(debug, &points.all[i]);
			buf_fini(&where);
			buf_fini(&source);
		}
		debug_points_fini(&points);
	} else if (!*err.text) {
		abort();
	}
	debug_place_fini(&place);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct debug_lines lines;
	struct debug_place place = { .function = (char *)"f" };
	struct err err = ERR_INIT;
	struct debug *debug;

	file_fill(data, size);
	if (debug_open(&debug, file_path, &err)) {
		if (!*err.text)
			abort();
		return 0;
	}
	look_at(debug, "*");
	look_at(debug, "debug.cc:2");
	look_at(debug, "g:1");
	if (!debug_lines_find(&lines, debug, &place, 0, &err))
		debug_lines_fini(&lines);
	else if (!*err.text)
		abort();
	debug_close(debug);
	return 0;
}
