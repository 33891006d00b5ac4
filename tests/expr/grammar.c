/*
 * How expressions are read: what binds to what, told by their description, and what is refused,
 * with the place. Where libtraceevent crashes or misreads, the comment says so.
 */
#include "world.h"

static void reads(const char *expr, const char *want)
{
	char text[512], line[512];
	struct buf out = BUF_INIT;
	struct filter *filter;
	struct err err;

	snprintf(text, sizeof(text), "sample: %s", expr);
	snprintf(line, sizeof(line), " 'sample: %s'\n", want);
	filter = filter_of(text, 0, &err);
	if (filter)
		filter_describe(filter, &out);
	check_text(__FILE__, __LINE__, expr, filter ? out.data : err.text, line);
	buf_fini(&out);
	filter_free(filter);
}

static void truths(void)
{
	reads("u8==200", "u8 == 200");
	reads("((u8 == 0xc8))", "u8 == 200");
	/* Neither of && and || binds stronger. */
	reads("u8 == 1 || u8 == 2 && u8 == 3", "((u8 == 1) || (u8 == 2)) && (u8 == 3)");
	reads("u8 == 1 && u8 == 2 || u8 == 3", "((u8 == 1) && (u8 == 2)) || (u8 == 3)");
	reads("u8 == 1 || (u8 == 2 && u8 == 3)", "(u8 == 1) || ((u8 == 2) && (u8 == 3))");
	reads("!u8 == 1 && u8 == 2", "(!(u8 == 1)) && (u8 == 2)");
	reads("!(u8 == 1 && u8 == 2)", "!((u8 == 1) && (u8 == 2))");
	reads("!!(u8 == 1)", "!(!(u8 == 1))");
	reads("u8 & 8 && name =~ 'x'", "(u8 & 8) && (name =~ \"x\")");
	reads("!(u8 & 8)", "!(u8 & 8)");
	reads("name ~ \"s*\"", "name ~ \"s*\"");
	reads("name == \"a\\\"b\\.\"", "name == \"a\"b\\.\"");
}

static void values(void)
{
	/* libtraceevent refuses more than one operator, and dies of values in parentheses. */
	reads("u8 + 1 == 201", "(u8 + 1) == 201");
	reads("(u8 + 1) == 201", "(u8 + 1) == 201");
	reads("u8 == u16 - 1 * 2", "u8 == (u16 - (1 * 2))");
	reads("u8 - 1 - 2 == 3", "((u8 - 1) - 2) == 3");
	reads("u8 & 4 == 4", "(u8 & 4) == 4");
	reads("u8 | 1 ^ 2 & 3 << 4 + 5 * 6", "u8 | (1 ^ (2 & (3 << (4 + (5 * 6)))))");
	reads("u8 * 6 + 5 << 4 & 3 ^ 2 | 1", "(((((u8 * 6) + 5) << 4) & 3) ^ 2) | 1");
	reads("-u8 == ~u16", "-u8 == ~u16");
	reads("~(u8 + 1) == 1", "~(u8 + 1) == 1");
	/* libtraceevent reads these as u8 - 1 and u8 + 1, which are true for most records. */
	reads("u8 == -1", "u8 == -1");
	reads("u8 == +1", "u8 == 1");
	reads("u8 == ~1", "u8 == -2");
	reads("u8 == 010 + 0x10 + 10u", "u8 == ((8 + 16) + 10)");
	reads("f == 1.5e0", "f == 1.5");
}

/* What an event cannot answer is false and goes away. */
static void folding(void)
{
	reads("nothing == 1", "FALSE");
	reads("nothing != 1", "FALSE");
	reads("nothing !~ \"x\"", "FALSE");
	reads("nothing + 1", "FALSE");
	reads("!(nothing == 1)", "TRUE");
	reads("nothing == 1 || u8 == 2", "u8 == 2");
	reads("u8 == 2 || nothing == 1", "u8 == 2");
	reads("nothing == 1 && u8 == 2", "FALSE");
	reads("u8 == 2 && !(nothing == 1)", "u8 == 2");
	reads("u8 == 2 || !(nothing == 1)", "TRUE");
	reads("!(u8 == 2 || nothing == 1) && !nothing == 1", "!(u8 == 2)");
}

static void ends(void)
{
	refused("sample:", -EBADMSG, 7, "ends too early");
	refused("sample: ", -EBADMSG, 8, "ends too early");
	/* libtraceevent dies of these. */
	refused("sample: u8 ==", -EBADMSG, 13, "ends too early");
	refused("sample: u8 == 1 &&", -EBADMSG, 18, "ends too early");
	refused("sample: u8 == 1 && && u8 == 1", -EBADMSG, 19, "missing here");
	refused("sample: name == \"shop", -EBADMSG, 16, "closing quote");
	refused("sample: name == 'shop\"", -EBADMSG, 16, "closing quote");
	refused("sample: name =~ \"shop\\\"", -EBADMSG, 16, "closing quote");
	/* It takes these for u8 == 1, and !(u8 == 2). */
	refused("sample: u8 == 1 u16", -EBADMSG, 16, "&& or ||");
	refused("sample: u8 == 1 ! u8 == 2", -EBADMSG, 16, "&& or ||");
	refused("sample: u8 == 1 (u8 == 2)", -EBADMSG, 16, "&& or ||");
	refused("sample: u8 == 1, u8 == 2", -EBADMSG, 15, "no operator");
	refused("sample: u8 == 1)", -EBADMSG, 15, "no parenthesis");
	refused("sample: (u8 == 1", -EBADMSG, 8, "never closed");
	refused("sample: (u8 == 1 u8", -EBADMSG, 17, "missing here");
	refused("sample: ()", -EBADMSG, 9, "missing here");
	refused("sample: !", -EBADMSG, 9, "ends too early");
}

static void words(void)
{
	refused("sample: u8 = 1", -EBADMSG, 11, "==");
	refused("sample: u8 => 1", -EBADMSG, 11, "==");
	refused("sample: u8 <> 1", -EBADMSG, 12, "missing here");
	refused("sample: u8 == 1x", -EBADMSG, 14, "no number");
	refused("sample: u8 == 0x", -EBADMSG, 14, "no number");
	refused("sample: u8 == 08", -EBADMSG, 14, "octal");
	refused("sample: u8 == 18446744073709551616", -EBADMSG, 14, "64 bits");
	refused("sample: arr[1] == 1", -EBADMSG, 11, "no operator");
	refused("sample: \x01 == 1", -EBADMSG, 8, "no operator");
}

/* What stands in the wrong place. */
static void kinds(void)
{
	refused("sample: u8", -EBADMSG, 10, "comparison is missing");
	refused("sample: !u8", -EBADMSG, 11, "comparison is missing");
	refused("sample: u8 && u8 == 1", -EBADMSG, 11, "comparison is missing");
	refused("sample: 1", -EBADMSG, 9, "comparison is missing");
	refused("sample: u8 == 1 == 1", -EBADMSG, 16, "compared again");
	refused("sample: (u8 == 1) == 1", -EBADMSG, 12, "no number");
	refused("sample: 1 == (u8 == 1)", -EBADMSG, 17, "no number");
	refused("sample: u8 + (u8 == 1)", -EBADMSG, 17, "no number");
	refused("sample: -(u8 == 1)", -EBADMSG, 13, "no number");
	refused("sample: u8 + \"x\"", -EBADMSG, 13, "no number");
	refused("sample: name < \"x\"", -EBADMSG, 13, "text");
	refused("sample: name =~ shop", -EBADMSG, 16, "in quotes");
	refused("sample: name =~ 5", -EBADMSG, 16, "in quotes");
	refused("sample: name =~ \"ab[\"", -EBADMSG, 19, "bracket");
}

/* What can be read, but no event can answer. One that can is enough. */
static void types(void)
{
	refused("sample: name == shop", -EBADMSG, 16, "shop is a field of none");
	refused("sample: name == 5", -EBADMSG, 8, "name is no number");
	refused("sample: u8 == name", -EBADMSG, 14, "name is no number");
	refused("sample: arr & 5", -EBADMSG, 8, "arr is no number");
	refused("sample: text > 5", -EBADMSG, 8, "text is text");
	refused("sample: name < text", -EBADMSG, 8, "name is text");
	refused("sample: COMM == 1", -EBADMSG, 8, "COMM is no number");
	refused("sample: f & 1", -EBADMSG, 8, "f is no whole number");
	refused("sample: f =~ \"1\"", -EBADMSG, 8, "f is a number");
	/* libtraceevent dies of these. */
	refused("sample: CPU == \"3\"", -EBADMSG, 8, "CPU is a number");
	refused("sample: CPU =~ \"3\"", -EBADMSG, 8, "CPU is a number");
}

static void several_events(void)
{
	struct buf out = BUF_INIT;
	struct err err;
	/* In xsched COMM is a number. */
	struct filter *filter = filter_of("sample,xsched,irq: COMM == 1 || b == b", 0, &err);

	check(filter);
	if (filter)
		filter_describe(filter, &out);
	check_text(__FILE__, __LINE__, "three events", out.data ? out.data : err.text,
		   " 'irq_entry: b == b'\n 'xsched: COMM == 1'\n 'sample: FALSE'\n");
	buf_fini(&out);
	filter_free(filter);
}

int main(void)
{
	truths();
	values();
	folding();
	ends();
	words();
	kinds();
	types();
	several_events();
	world_fini();
	return failures ? 1 : 0;
}
