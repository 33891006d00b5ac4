/*
 * Any bytes as a `format` text and as a record of that event: parsed, compiled and printed in every
 * way there is. Input:
 *
 *   text NUL printf-format NUL record
 *
 * where a text that does not begin with "name:" is taken for a print format of an event with one
 * field of each kind. The printf-format is what a bprint record's address leads to.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "decode/print.h"
#include "layout/page.h"
#include "report/graph.h"
#include "report/json.h"
#include "report/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char head[] =
	"name: fuzz\nID: 32768\nformat:\n" RECORD_HEAD_FORMAT
	"\tfield:int i;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:u64 u;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:double d;\toffset:24;\tsize:8;\tsigned:1;\n"
	"\tfield:bool b;\toffset:32;\tsize:1;\tsigned:0;\n"
	"\tfield:void * p;\toffset:40;\tsize:8;\tsigned:0;\n"
	"\tfield:char s[8];\toffset:48;\tsize:8;\tsigned:0;\n"
	"\tfield:u16 a[4];\toffset:56;\tsize:8;\tsigned:0;\n"
	"\tfield:__data_loc char[] t;\toffset:64;\tsize:4;\tsigned:0;\n"
	"\tfield:__rel_loc unsigned long[] m;\toffset:68;\tsize:4;\tsigned:0;\n"
	"\tfield:struct pair q;\toffset:72;\tsize:12;\tsigned:0;\n"
	"\tfield:u32 z[];\toffset:84;\tsize:0;\tsigned:0;\n"
	"\nprint fmt: ";

static bool symbol(void *arg, int pid, uint64_t addr, struct decode_symbol *out)
{
	(void)arg, (void)pid;
	*out = (struct decode_symbol){ .name = "function", .offset = addr & 15, .size = 16,
				       .module = addr & 16 ? "module" : NULL };
	return addr & 1;
}

static bool printk(void *arg, uint64_t addr, struct decode_printk *out)
{
	out->text = arg;
	return addr & 1;
}

static const char *comm(void *arg, int pid)
{
	return pid & 1 ? arg : NULL;
}

/* As an entry, as a leaf, and as whatever comes after them. */
static void print_graph(const struct report_row *row, const struct decode_ctx *ctx)
{
	struct report_graph *graph = report_graph_new(2);
	struct buf out = BUF_INIT;

	if (graph) {
		report_graph_line(graph, &out, row, NULL, ctx, ~0u, 0);
		report_graph_line(graph, &out, row, row, ctx, ~0u, REPORT_LATENCY);
		report_graph_line(graph, &out, row, NULL, ctx, 0, REPORT_NO_CONTEXT);
		report_graph_alone(&out, row, NULL, ctx, 2, ~0u, 0);
	}
	report_graph_is_leaf(row, row);
	report_graph_free(graph);
	buf_fini(&out);
}

static void print(const struct decode_format *format, const uint8_t *rec, size_t len,
		  const char *printf_text)
{
	struct decode_ctx ctx = { .arg = (void *)printf_text, .symbol = symbol, .printk = printk,
				  .comm = comm };
	struct report_row row = { .ts = 1, .format = format, .data = rec, .len = (uint32_t)len };
	struct buf out = BUF_INIT;

	decode_print(format, rec, len, &ctx, &out);
	if (out.len > DECODE_TEXT_MAX + 32)
		abort();
	ctx.flags = DECODE_ESCAPE;
	decode_print_fields(format, rec, len, &ctx, &out);
	report_trace_line(&out, &row, &ctx, 0);
	for (unsigned int flag = REPORT_TICKS; flag <= REPORT_NO_PARENT; flag <<= 1)
		report_trace_line(&out, &row, &ctx, flag);
	if (report_graph_has(&row))
		print_graph(&row, &ctx);
	report_json_line(&out, &row, NULL);
	report_json_line(&out, &row, &ctx);
	buf_fini(&out);
}

static void one(const char *system, const char *text, size_t len, const uint8_t *rec,
		size_t rec_len, const char *printf_text)
{
	struct decode_format *format;
	struct err err = ERR_INIT;

	for (int i = 0; i < 2; i++) {
		struct decode_abi abi = { .big_endian = i, .long_size = i ? 4 : 8 };

		if (decode_format_parse(system, text, len, &abi, &format, &err))
			continue;
		print(format, rec, rec_len, printf_text);
		decode_format_free(format);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = memchr(data, 0, size), *second;
	size_t text_len = nul ? (size_t)(nul - data) : size, rec_len = 0;
	struct buf text = BUF_INIT;
	uint8_t *rec = NULL;
	const char *printf_text = "";

	second = nul ? memchr(nul + 1, 0, size - text_len - 1) : NULL;
	if (second) {
		printf_text = (const char *)nul + 1;
		rec_len = size - (size_t)(second + 1 - data);
	}
	rec = malloc(rec_len ? rec_len : 1);
	if (!rec)
		return 0;
	if (rec_len)
		memcpy(rec, second + 1, rec_len);
	if (text_len < 5 || memcmp(data, "name:", 5))
		buf_puts(&text, head);
	buf_add(&text, data, text_len);
	one("ftrace", text.data, text.len, rec, rec_len, printf_text);
	buf_fini(&text);
	free(rec);
	return 0;
}
