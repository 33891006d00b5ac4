/*
 * Several texts in one filter, and two filters of which one says what is not shown: what trace-cmd
 * does with -F A -F B and with -F A -v -F B.
 */
#include "world.h"

static struct filter *filter_of_two(const char *one, const char *two)
{
	struct err err;
	struct filter *filter = filter_of(one, 0, &err);

	if (!filter || filter_add(filter, two, &world, &err)) {
		printf("%s, %s: %s\n", one, two, err.text);
		exit(1);
	}
	return filter;
}

static enum filter_verdict says(const struct filter *filter, size_t i)
{
	struct sample rec = sample_record();

	return verdict_of(filter, i, &rec, sizeof(rec));
}

static void any_of_them(void)
{
	struct filter *filter = filter_of_two("sample: u8 == 1", "sample: u8 == 200");

	check(says(filter, 0) == FILTER_MATCH);
	check(says(filter, 1) == FILTER_NONE);
	filter_free(filter);
	filter = filter_of_two("sample: u8 == 200", "sample: u8 == 1");
	check(says(filter, 0) == FILTER_MATCH);
	filter_free(filter);
	filter = filter_of_two("sample: u8 == 1", ".*: u8 == 2");
	check(says(filter, 0) == FILTER_MISS);
	check(says(filter, 1) == FILTER_MISS);
	filter_free(filter);
	filter = filter_of_two("sched", "sched/sched_switch: a == 1");
	check(says(filter, 1) == FILTER_MATCH);
	filter_free(filter);
}

/* What is refused leaves no trace. */
static void refused_text(void)
{
	struct buf before = BUF_INIT, after = BUF_INIT;
	struct filter *filter = filter_of_two("sched", "sample: u8 == 1");
	struct err err = ERR_INIT;

	filter_describe(filter, &before);
	check(filter_add(filter, "irq: b ==", &world, &err) == -EBADMSG);
	err = (struct err)ERR_INIT;
	check(filter_add(filter, "irq,nothing", &world, &err) == -ENOENT);
	err = (struct err)ERR_INIT;
	check(filter_add(filter, "irq,sample: name == 1", &world, &err) == -EBADMSG);
	filter_describe(filter, &after);
	check_text(__FILE__, __LINE__, "after what was refused", after.data, before.data);
	check(says(filter, 3) == FILTER_NONE);
	buf_fini(&before);
	buf_fini(&after);
	filter_free(filter);
}

static void described(void)
{
	struct filter *filter = filter_of_two("sched_wakeup,irq: b & 1", "sched/.*");
	struct buf out = BUF_INIT;

	filter_describe(filter, &out);
	check_text(__FILE__, __LINE__, "two texts", out.data,
		   " 'sched_wakeup: b & 1'\n 'irq_entry: b & 1'\n"
		   " 'sched_switch: TRUE'\n 'sched_wakeup: TRUE'\n");
	buf_fini(&out);
	filter_free(filter);
}

static void shows(const char *wanted, const char *unwanted, bool sample, bool wakeup)
{
	struct err err;
	struct filter *yes = wanted ? filter_of(wanted, 0, &err) : NULL;
	struct filter *no = unwanted ? filter_of(unwanted, 0, &err) : NULL;
	struct sample rec = sample_record();

	if (filter_shows(yes, no, world_format(NULL, 0), &rec, sizeof(rec), 3, 0, NULL) != sample ||
	    filter_shows(yes, no, world_format(NULL, 2), &rec, sizeof(rec), 3, 0, NULL) != wakeup) {
		printf("-F '%s' -v -F '%s' shows something else\n", wanted ? wanted : "",
		       unwanted ? unwanted : "");
		failures++;
	}
	filter_free(yes);
	filter_free(no);
}

static void wanted_and_not(void)
{
	shows(NULL, NULL, true, true);
	shows("sample", NULL, true, false);
	shows("sample: u8 == 1", NULL, false, false);
	shows(NULL, "sample", false, true);
	shows(NULL, "sample: u8 == 1", true, true);
	shows("sample", "sample: u8 == 200", false, false);
	shows("sample", "sample: u8 == 1", true, false);
	shows("sample", "sched", true, false);
	shows(".*", "sched", true, false);
	shows(".*: u8 == 200", ".*: nothing == 1", true, false);
}

int main(void)
{
	any_of_them();
	refused_text();
	described();
	wanted_and_not();
	world_fini();
	return failures ? 1 : 0;
}
