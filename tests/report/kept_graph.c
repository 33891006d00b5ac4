/*
 * What Linux 6.12 printed while function_graph was its tracer (kept.h, made by graph_vm), and we print: the same bytes, under
 * every option that changes them; and of a buffer that was too small, so that exits come without their entries. With arguments,
 * these files instead.
 */
#include "kept.h"
#include "layout/control.h"
#include "report/graph.h"

static const struct {
	const char *name;
	uint32_t bit;
} options_of_graph[] = {
	{"funcgraph-overrun", TRACER_FLAG_GRAPH_OVERRUN}, {"funcgraph-cpu", TRACER_FLAG_GRAPH_CPU},
	{"funcgraph-overhead", TRACER_FLAG_GRAPH_OVERHEAD}, {"funcgraph-proc", TRACER_FLAG_GRAPH_PROC},
	{"funcgraph-duration", TRACER_FLAG_GRAPH_DURATION}, {"funcgraph-abstime", TRACER_FLAG_GRAPH_ABSTIME},
	{"funcgraph-tail", TRACER_FLAG_GRAPH_TAIL},
};

/* One word of the options; false: it is none of the graph's. */
static bool take_option(const char *word, uint32_t *bits)
{
	bool on = strncmp(word, "no", 2) != 0;

	for (size_t i = 0; i < sizeof(options_of_graph) / sizeof(options_of_graph[0]); i++) {
		if (strcmp(word + (on ? 0 : 2), options_of_graph[i].name))
			continue;
		*bits = on ? *bits | options_of_graph[i].bit : *bits & ~options_of_graph[i].bit;
		return true;
	}
	return false;
}

/* The options that all tracers have, as bits, and the graph's. */
static unsigned int take_options(const char *options, uint32_t *bits)
{
	unsigned int flags = 0;
	char copy[256], *rest = copy, *word;

	*bits = TRACER_FLAGS_DEFAULT;
	snprintf(copy, sizeof(copy), "%s", options);
	while ((word = strtok_r(rest, " ", &rest)))
		if (!take_option(word, bits))
			flags |= look_flags(word);
	return flags;
}

/* The record that follows on the same CPU; 0: none does. */
static size_t next_on_cpu(const struct rows *rows, size_t i)
{
	for (size_t j = i + 1; j < rows->nr; j++)
		if (rows->row[j].cpu == rows->row[i].cpu)
			return j;
	return 0;
}

static void print(struct kept *k, const char *options, struct buf *out)
{
	struct report_graph *graph = report_graph_new(k->head.cpus);
	struct decode_ctx ctx = kept_ctx(k);
	bool *taken = calloc(k->rows.nr, 1);
	uint32_t bits;
	unsigned int flags = take_options(options, &bits);
	uint64_t index = 0;

	CHECK(graph && taken, "out of memory");
	report_graph_header(out, &k->head, bits, flags);
	for (size_t i = 0; i < k->rows.nr; i++) {
		struct report_row *row = &k->rows.row[i];
		size_t next = report_graph_is_entry(row) ? next_on_cpu(&k->rows, i) : 0;

		if (taken[i])
			continue;
		row->index = index++;
		if (next && report_graph_is_leaf(row, &k->rows.row[next]))
			taken[next] = true;
		else
			next = 0;
		if (report_graph_has(row))
			report_graph_line(graph, out, row, next ? &k->rows.row[next] : NULL, &ctx, bits, flags);
		else
			report_trace_line(out, row, &ctx, flags);
	}
	report_graph_free(graph);
	free(taken);
}

int main(int argc, char **argv)
{
	int differ = 0;

	if (argc < 2)
		return kept_file("graph-6.12", print) | kept_file("graph-lost-6.12", print);
	while (*++argv)
		differ |= kept_file(*argv, print);
	return differ;
}
