/*
 * Filters, triggers, synthetic events, histograms and statements by the library, with a program that is traced.
 */
#include "library/lab.h"

static const struct ringside_control_instance *const top;

static void filters(struct ringside_control *tree)
{
	char *text;

	FINE(tree, ringside_control_filter_set(tree, top, "lab", "step", "n > 1"));
	FINE(tree, ringside_control_filter_get(tree, top, "lab", "step", &text));
	CHECK(!strcmp(text, "n > 1"), "%s", text);
	free(text);
	FINE(tree, ringside_control_filter_set(tree, top, "lab", "step", NULL));
	FINE(tree, ringside_control_filter_get(tree, top, "lab", "step", &text));
	CHECK(!strcmp(text, "none"), "%s", text);
	free(text);
	REFUSED(tree, ringside_control_filter_set(tree, top, "lab", "step", "nosuch > 1"), EINVAL);
	FINE(tree, ringside_control_filter_set(tree, top, "lab", "step", ""));
	REFUSED(tree, ringside_control_filter_set(tree, top, NULL, NULL, "n > 1"), EINVAL);
}

static void triggers(struct ringside_control *tree)
{
	char **list;

	FINE(tree, ringside_control_trigger_add(tree, top, "lab", "done", "traceoff:3"));
	CHECK(ringside_control_trigger_list(tree, top, "lab", "done", &list) == 1, "one");
	CHECK(!strcmp(list[0], "traceoff:count=3"), "%s", list[0]);
	ringside_control_names_free(list);
	REFUSED(tree, ringside_control_trigger_add(tree, top, "lab", "done", "traceoff:3"), EEXIST);
	FINE(tree, ringside_control_trigger_remove(tree, top, "lab", "done", "traceoff"));
	CHECK(ringside_control_trigger_list(tree, top, "lab", "done", &list) == 0, "none");
	ringside_control_names_free(list);
	REFUSED(tree, ringside_control_trigger_add(tree, top, "lab", "done", "nosuch"), EINVAL);
}

static void rows(struct ringside_control *tree)
{
	struct ringside_control_hist *hist;
	long long number;

	FINE(tree, ringside_control_hist_start(tree, top, "lab", "step", "keys=n:vals=n:sort=n"));
	FINE(tree, ringside_control_hist_start(tree, top, "lab", "step", "keys=common_pid.execname"));
	lab_run("5");
	FINE(tree, ringside_control_hist_read(&hist, tree, top, "lab", "step", 0));
	CHECK(ringside_control_hist_rows(hist) == 5 && ringside_control_hist_hits(hist) == 5, "rows");
	CHECK(!ringside_control_hist_drops(hist), "drops");
	CHECK(!strcmp(ringside_control_hist_key(hist, 0), "n") && !ringside_control_hist_key(hist, 1), "keys");
	CHECK(!strcmp(ringside_control_hist_value(hist, 0), "n") && !ringside_control_hist_value(hist, 1), "values");
	for (size_t i = 1; i < 5; i++) {
		long long before, now, sum;

		CHECK(!ringside_control_hist_row_number(hist, i - 1, 0, &before), "number");
		CHECK(!ringside_control_hist_row_number(hist, i, 0, &now) && now == before + 1, "%lld", now);
		CHECK(!ringside_control_hist_row_value(hist, i, 0, &sum) && sum == now, "%lld", sum);
		CHECK(ringside_control_hist_row_hits(hist, i) == 1, "hits");
	}
	CHECK(ringside_control_hist_row_number(hist, 5, 0, &number) == -ENOENT, "a row too much");
	CHECK(!ringside_control_hist_row_text(hist, 0, 1), "a key too much");
	ringside_control_hist_free(hist);

	FINE(tree, ringside_control_hist_read(&hist, tree, top, "lab", "step", 1));
	CHECK(ringside_control_hist_rows(hist) == 1 && ringside_control_hist_row_hits(hist, 0) == 5, "one task");
	CHECK(!ringside_control_hist_row_number(hist, 0, 0, &number) && number > 1, "its number: %lld", number);
	CHECK(strchr(ringside_control_hist_row_text(hist, 0, 0), '['), "%s", ringside_control_hist_row_text(hist, 0, 0));
	ringside_control_hist_free(hist);
	REFUSED(tree, ringside_control_hist_read(&hist, tree, top, "lab", "step", 2), ENOENT);
	CHECK(!hist, "a handle of nothing");

	FINE(tree, ringside_control_hist_stop(tree, top, "lab", "step", "keys=n:vals=n:sort=n"));
	FINE(tree, ringside_control_hist_stop(tree, top, "lab", "step", "keys=common_pid.execname"));
	REFUSED(tree, ringside_control_hist_read(&hist, tree, top, "lab", "step", 0), ENOENT);
}

static void synths(struct ringside_control *tree)
{
	char *text;

	FINE(tree, ringside_control_synth_create(tree, "took", "int n; u64 us"));
	FINE(tree, ringside_control_file_read(tree, top, "synthetic_events", &text, NULL));
	CHECK(!strcmp(text, "took\tint n; u64 us\n"), "%s", text);
	free(text);
	REFUSED(tree, ringside_control_synth_create(tree, "took", "int n"), EEXIST);
	FINE(tree, ringside_control_synth_destroy(tree, "took"));
	REFUSED(tree, ringside_control_synth_destroy(tree, "took"), ENOENT);
	REFUSED(tree, ringside_control_synth_create(tree, "a b", "int n"), EINVAL);
}

static void statements(struct ringside_control *tree)
{
	struct ringside_control_hist *hist;
	char *text;

	FINE(tree, ringside_control_sql_translate(tree, top, "SELECT n FROM lab.step WHERE n > 2", NULL, &text));
	CHECK(!strcmp(text, "echo 'hist:keys=n if n > 2' >> events/lab/step/trigger\n"), "%s", text);
	free(text);
	REFUSED(tree, ringside_control_sql_translate(tree, top, "SELECT nosuch FROM lab.step", NULL, &text), ENOENT);
	CHECK(strstr(ringside_control_error(tree), "SELECT nosuch FROM lab.step\n       ^"), "%s", ringside_control_error(tree));
	FINE(tree, ringside_control_sql_execute(tree, top, "SELECT n FROM lab.step WHERE n > 2;"
		"SELECT start.n, (end.common_pid - start.common_pid) AS same FROM lab.step AS start JOIN lab.done AS end"
		" ON start.common_pid = end.common_pid; SELECT same FROM pair", "pair"));
	lab_run("5");
	FINE(tree, ringside_control_hist_read(&hist, tree, top, "lab", "step", 0));
	CHECK(ringside_control_hist_rows(hist) > 0, "no rows");
	ringside_control_hist_free(hist);
	FINE(tree, ringside_control_hist_read(&hist, tree, top, "synthetic", "pair", 0));
	CHECK(ringside_control_hist_hits(hist) == 1, "%llu pairs", (unsigned long long)ringside_control_hist_hits(hist));
	ringside_control_hist_free(hist);
	REFUSED(tree, ringside_control_synth_destroy(tree, "pair"), EBUSY);
}

int main(void)
{
	struct ringside_control *tree = lab_open();

	/* Brings the events. */
	lab_run("1");
	filters(tree);
	triggers(tree);
	rows(tree);
	synths(tree);
	statements(tree);
	ringside_control_close(tree);
	return 0;
}
