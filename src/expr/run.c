/*
 * expr/run: a program on a record of a file; see compile.h. Pure but for the context's callbacks: any thread, any bytes.
 */
#include <endian.h>

#include "expr/compile.h"

/* Who is asked for names while one record is looked at. */
struct asked {
	const struct tree *tree;
	const struct decode_ctx *ctx;
};

/* The name of the record's task, as reports show those that have none. */
static const char *ask_comm(void *arg, int32_t pid)
{
	const struct decode_ctx *ctx = ((const struct asked *)arg)->ctx;
	const char *name = ctx && ctx->comm ? ctx->comm(ctx->arg, pid) : NULL;

	return name ? name : pid ? "<...>" : "<idle>";
}

static const char *ask_symbol(void *arg, int32_t pid, uint64_t address)
{
	const struct decode_ctx *ctx = ((const struct asked *)arg)->ctx;
	struct decode_symbol symbol;

	return ctx && ctx->symbol && ctx->symbol(ctx->arg, pid, address, &symbol) ? symbol.name : NULL;
}

static bool ask_match(void *arg, uint32_t pattern, const char *text, uint32_t len)
{
	return expr_pattern_match(((const struct asked *)arg)->tree->nodes[pattern].pattern, text, len);
}

bool expr_run(const struct expr_program *program, const struct expr_record *record)
{
	struct asked asked = { program->tree, record->ctx };
	const struct program_names names = { &asked, ask_comm, ask_symbol, ask_match };
	struct program_input in;

	program_input_open(&in, record->rec, record->len < UINT32_MAX ? (uint32_t)record->len : UINT32_MAX, program->fields);
	in.cpu = record->cpu;
	in.ts = record->ts;
	in.names = &names;
	in.swap = program->format->abi.big_endian != (__BYTE_ORDER == __BIG_ENDIAN);
	return program_test(program->bytes.data, program->bytes.len, &in);
}
