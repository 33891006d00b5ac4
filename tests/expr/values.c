/*
 * What expressions say of a record: numbers of all kinds, text, floating point, and what is no
 * field of a record but of its moment.
 */
#include "world.h"

static void orders(void)
{
	is_true("u8 == 200");
	is_false("u8 != 200");
	is_true("u8 < 201");
	is_false("u8 < 200");
	is_true("u8 <= 200");
	is_false("u8 <= 199");
	is_true("u8 > 199");
	is_false("u8 > 200");
	is_true("u8 >= 200");
	is_false("u8 >= 201");
	is_true("u16 > u8 && u8 < u16");
	is_true("200 == u8");
	is_true("yes == 1");
	is_true("flags == 025 && flags == 0x15 && flags == 21");
	is_true("ptr == 0xffff888012345678");
}

/* As in C with 64 bits: a sign counts unless the other side has no room for it. */
static void signs(void)
{
	is_true("s8 == -8 && s16 == -1600 && s32 == -320000 && s64 == -64000000000");
	is_true("s8 < 0 && s8 > -9 && s8 <= u8");
	is_true("s64 < s32");
	is_true("s8 == 0xfffffffffffffff8");
	is_true("s8 > 0xfffffffffffffff7");
	is_false("s32 == 0xfffb1e00");
	is_true("u64 > 0x7fffffffffffffff");
	is_true("u64 > s8 - 0x7000000000000000");
	is_true("s8 > -9223372036854775808");
	is_true("s8 / 2 == -4 && s8 % 3 == -2 && s8 >> 1 == -4");
	is_true("u64 >> 60 == 15 && u64 / 0x1000000000000000 == 15");
	/* As libtraceevent has it. */
	check_sample(__FILE__, __LINE__, "s8 < 0", FILTER_UNSIGNED, false);
	check_sample(__FILE__, __LINE__, "s8 > 0", FILTER_UNSIGNED, true);
	check_sample(__FILE__, __LINE__, "s8 == -8", FILTER_UNSIGNED, true);
	check_sample(__FILE__, __LINE__, "s8 >> 60 == 15", FILTER_UNSIGNED, true);
	check_sample(__FILE__, __LINE__, "s8 / 0x1000000000000000 == 15", FILTER_UNSIGNED, true);
}

static void arithmetic(void)
{
	is_true("u8 + 1 == 201 && u8 - 201 == -1 && u8 * 3 == 600");
	is_true("u8 / 3 == 66 && u8 % 3 == 2");
	is_true("u8 & 8 && u8 | 7 && u8 ^ 1");
	is_false("u8 & 7");
	is_false("u8 ^ 200");
	is_true("u8 << 2 == 800 && u8 >> 3 == 25");
	is_true("~u8 == -201 && -u8 == -200 && +u8 == 200");
	is_true("(u8 & (4 | 8)) == 8");
	is_true("arr == \"\\x01\" || u8 - 100 - 50 == 50");
}

/* What C leaves open; libtraceevent dies of the divisions. */
static void open_in_c(void)
{
	is_false("u8 / 0");
	is_false("u8 % 0");
	is_true("u8 / (u8 - 200) == 0 && s8 % (u8 - 200) == 0");
	is_true("(s8 - s8 - 9223372036854775807 - 1) / -1 < 0");
	is_true("(s8 - s8 - 9223372036854775807 - 1) % -1 == 0");
	is_true("u8 << 64 == 0 && u8 >> 64 == 0 && u8 << -1 == 0");
	is_true("s8 >> 64 == -1");
	is_true("f / 0 == 0");
}

static void reals(void)
{
	is_true("f == 1.5 && d == -2.25");
	is_true("f > 1 && f < 2 && d < 0 && d > -3");
	is_true("f * 2 == 3 && f + u8 == 201.5 && d - f == -3.75 && -d == 2.25");
	is_true("u8 > 199.5 && s8 < -7.5");
	is_true("f + 1");
	is_false("f - 1.5");
}

static void texts(void)
{
	is_true("name == \"shop\" && name == 'shop' && 'shop' == name");
	is_false("name == \"sho\"");
	is_false("name == \"shopx\"");
	is_false("name == \"Shop\"");
	is_true("name != \"sho\"");
	is_true("text == \"green tea\"");
	is_true("name != text && name == name && name != COMM");
	is_true("name =~ \"HO\" && name =~ \"^sh.p$\" && name =~ '' && name !~ \"^h\"");
	is_true("text =~ \"coffee\\|tea$\"");
	is_true("text =~ \"^g.*n tea\" && text !~ \"^tea\"");
	/* Regular expressions are basic ones, and these characters. */
	is_false("name =~ \"(a|sh)\"");
	is_true("name ~ \"sh*\" && name ~ \"s[gh]?p\" && name ~ \"shop\"");
	is_false("name ~ \"sh\"");
	is_false("name ~ \"SH*\"");
	is_false("name ~ \"sh[!o]p\"");
	/* An array is the text in its bytes. */
	is_true("mac == \"\" && arr != \"\" && nums == \"\a\"");
}

/* One character in single quotes is what is needed. */
static void characters(void)
{
	is_false("name == 's'");
	is_true("name =~ 's'");
	is_true("u8 == 'a' + 103 && u8 > 'a'");
	is_false("u8 == 'a'");
}

static void addresses(void)
{
	is_true("u64 == \"schedule\" && u64 =~ \"^sched\" && u64 ~ \"sch*\"");
	is_false("u64 != \"schedule\"");
	is_false("u64 !~ \"sched\"");
	is_false("u64 == \"0xfedcba9876543210\"");
	is_true("ptr == \"0xffff888012345678\" && u8 == \"0xc8\" && s8 == \"0xfffffffffffffff8\"");
	/* libtraceevent matches with what happens to be in memory. */
	is_true("u8 =~ \"^0xc8$\"");
	is_true("u8 != \"200\"");
}

static void moments(void)
{
	is_true("COMM == \"shopcomm\" && COMM =~ \"SHOP\" && COMM ~ \"*comm\"");
	is_true("COMM != \"shop\" && common_pid == 4242");
	is_true("CPU == 3 && CPU < 4 && CPU & 2");
	is_true("TIMESTAMP == 1234567890123 && TIMESTAMP_USECS == 1234567890");
	is_true("TIMESTAMP_SECS == 1234");
	/* These are not names of libtraceevent's, and here no others are known. */
	is_false("comm == \"shopcomm\"");
	is_false("cpu == 3");
}

/* A field wins over a name of the same spelling. */
static void own_fields(void)
{
	struct sample rec = sample_record();
	struct err err;
	struct filter *filter = filter_of("xsched: COMM == CPU && CPU < 0", 0, &err);

	check(filter && !filter_asks_comm(filter));
	check(filter && verdict_of(filter, 4, &rec, sizeof(rec)) == FILTER_MATCH);
	filter_free(filter);
	filter = filter_of("sample: u8 == 1 || COMM == \"x\"", 0, &err);
	check(filter && filter_asks_comm(filter));
	filter_free(filter);
}

/* Tasks without a name are called as reports call them. */
static void nameless(void)
{
	struct sample rec = sample_record();
	struct err err;
	struct filter *idle = filter_of(".*: COMM == \"<idle>\"", 0, &err);
	struct filter *other = filter_of(".*: COMM == \"<...>\"", 0, &err);

	rec.head.pid = 0;
	check(verdict_of(idle, 0, &rec, sizeof(rec)) == FILTER_MATCH);
	check(verdict_of(other, 0, &rec, sizeof(rec)) == FILTER_MISS);
	rec.head.pid = 7;
	check(verdict_of(idle, 0, &rec, sizeof(rec)) == FILTER_MISS);
	check(verdict_of(other, 0, &rec, sizeof(rec)) == FILTER_MATCH);
	check(filter_match(other, world_format(NULL, 0), &rec, sizeof(rec), 0, 0, NULL) ==
	      FILTER_MATCH);
	filter_free(idle);
	filter_free(other);
}

int main(void)
{
	orders();
	signs();
	arithmetic();
	open_in_c();
	reals();
	texts();
	characters();
	addresses();
	moments();
	own_fields();
	nameless();
	world_fini();
	return failures ? 1 : 0;
}
