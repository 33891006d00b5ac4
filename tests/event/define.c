/*
 * Events defined at run time: the same text and bytes as the same event declared in C, and a line
 * that says why for everything that makes no sense.
 */
#define MOCK_MAIN
#include "event/mock.h"

#include <ringside/define.h>
#include <ringside/event.h>
#include <stdbool.h>

typedef uint8_t u8;

RINGSIDE_EVENT(shop, order,
	field(int, item),
	field(bool, ok),
	field(double, price),
	field(float, weight),
	field(unsigned long long, big),
	field(void *, where),
	string(customer),
	array(u8, mac, 6),
	array(char, comm, 16),
	sequence(short, lines),
	bitmask(cpus),
	print("item=%d %s", item, customer))

#define FIELDS "int item; bool ok;double price; float weight; unsigned  long long big; void *where;" \
	" string customer; u8 mac[6]; char comm [ 16 ]; short lines[] ; bitmask cpus;\n"

static const u8 mac[6] = { 1, 2, 3, 4, 5, 6 };
static const short lines[3] = { 1, -2, 3 };
static const unsigned long cpus[1] = { 0x5 };

static void check_same(void)
{
	struct ringside_defined *event =
		ringside_define("shop", "order", FIELDS, "\"item=%d %s\", item, customer", NULL, 0);
	union ringside_value v[11] = {
		{ .i = -42 }, { .u = 1 }, { .d = 9.99 }, { .d = 0.5 }, { .u = 1ull << 63 },
		{ .u = 0x1000 }, { .bytes = { "ann", RINGSIDE_TO_NUL } }, { .bytes = { mac, 6 } },
		{ .bytes = { "bash", 4 } }, { .bytes = { lines, 3 } }, { .bytes = { cpus, 3 } },
	};
	struct mock_record first;

	CHECK(mock_nevents == 1, "%u events: the same twice is one", mock_nevents);
	CHECK(ringside_emit(event, v, 11) == 0 && !mock_nrecords, "emitted while nobody wants it");
	CHECK(!ringside_enabled(event) && !*ringside_enabled_word(event), "enabled");
	mock_events[0].hint = 1;
	CHECK(ringside_enabled(event) && *ringside_enabled_word(event), "not enabled");
	trace_shop_order(-42, true, 9.99, 0.5f, 1ull << 63, (void *)0x1000, "ann", mac, "bash", lines, 3, cpus,
			 3);
	first = *mock_take();
	CHECK(ringside_emit(event, v, 11) == 0, "refused");
	CHECK(!memcmp(&first, mock_take(), sizeof(first)), "two records");
	CHECK(ringside_emit(event, v, 10) < 0 && ringside_emit(NULL, v, 11) < 0 && !mock_nrecords,
	      "too few values");
	CHECK(ringside_define("shop", "order", FIELDS, "\"item=%d %s\", item, customer", NULL, 0) == event,
	      "defined again, it is another");
	v[6].bytes.data = NULL;
	v[7].bytes.len = 2;
	v[8].bytes.len = 2;
	v[9].bytes.data = NULL;
	CHECK(!ringside_emit(event, v, 11), "refused");
	const struct mock_record *r = mock_take();
	const struct ringside_record_shop_order *order = (const void *)r->data;
	CHECK(!strcmp((const char *)r->data + (order->customer & 0xffff), "(null)"), "NULL");
	CHECK(order->mac[1] == 2 && !order->mac[2] && !strcmp(order->comm, "ba"), "short arrays");
	CHECK(!(order->lines >> 16), "nothing");
}

static void check_text(void)
{
	CHECK(ringside_define("lang", "py", "s8 a;u64 b; enum kind c; pid_t d; const char *e; u16 f[]",
			      "\"%d \" \"%s\", a > 0 && REC->b, __print_symbolic(c, { 0, \"a\" }), "
			      "__get_dynamic_array_len(f), f_count, true", NULL, 0), "refused");
	mock_compare("lang:py", mock_find("lang", "py")->body, MOCK_COMMON
		"\tfield:s8 a;\toffset:8;\tsize:1;\tsigned:1;\n"
		"\tfield:u64 b;\toffset:16;\tsize:8;\tsigned:0;\n"
		"\tfield:enum kind c;\toffset:24;\tsize:4;\tsigned:0;\n"
		"\tfield:pid_t d;\toffset:28;\tsize:4;\tsigned:1;\n"
#ifdef __LP64__
		"\tfield:const char * e;\toffset:32;\tsize:8;\tsigned:0;\n"
		"\tfield:__data_loc u16[] f;\toffset:40;\tsize:4;\tsigned:0;\n"
#else
		"\tfield:const char * e;\toffset:32;\tsize:4;\tsigned:0;\n"
		"\tfield:__data_loc u16[] f;\toffset:36;\tsize:4;\tsigned:0;\n"
#endif
		"\nprint fmt: \"%d %s\", REC->a > 0 && REC->b, __print_symbolic(REC->c, { 0, \"a\" }), "
		"__get_dynamic_array_len(f), (__get_dynamic_array_len(f) / 2), 1");
	CHECK(ringside_define("lang", "none", "", NULL, NULL, 0), "refused");
	mock_compare("lang:none", mock_find("lang", "none")->body, MOCK_COMMON "\nprint fmt: \"\"");
}

static void refused(const char *system, const char *name, const char *fields, const char *print,
		    const char *why)
{
	char text[200] = "";
	uint32_t before = mock_nevents;

	CHECK(!ringside_define(system, name, fields, print, text, sizeof(text)), "\"%s\" is accepted",
	      fields);
	CHECK(strstr(text, why), "\"%s\", which does not say \"%s\"", text, why);
	CHECK(before == mock_nevents, "and made known");
}

static void check_refused(void)
{
	char name[100];

	memset(name, 'x', sizeof(name));
	name[99] = '\0';
	refused("", "e", "int a", NULL, "not a name");
	refused(NULL, "e", "int a", NULL, "not a name");
	refused("s", "9e", "int a", NULL, "not a name");
	refused("s", "a b", "int a", NULL, "only letters");
	refused("s", name, "int a", NULL, "longer than 60");
	refused("s", "e", "int", NULL, "expected a type and a name");
	refused("s", "e", "int a; int a", NULL, "two of that name");
	refused("s", "e", "int common_pid", NULL, "every event");
	refused("s", "e", "integer a", NULL, "unknown type \"integer\"");
	refused("s", "e", "int a[0]", NULL, "expected");
	refused("s", "e", "int a[-1]", NULL, "what is '-'");
	refused("s", "e", "int a[x]", NULL, "expected");
	refused("s", "e", "int a[99999999999999999999]", NULL, "expected");
	refused("s", "e", "int a]", NULL, "expected");
	refused("s", "e", "string a[3]", NULL, "no arrays of string");
	refused("s", "e", "int a, b", NULL, "what is ','");
	refused("s", "e", "u64 a[4000]", NULL, "longer than 4048");
	refused("s", "e", "a b c d e f g h i j", NULL, "too long");
	refused("s", "e", "int a", "a=%d", "in quotes");
	refused("s", "e", "int a", "\"a=%d, a", "not closed");
	refused("s", "e", "int a", "\"a=%d\", (a", "unbalanced");
	refused("s", "e", "int a", "\"a=%d\", a)", "unbalanced");
	CHECK(!ringside_define("s", "e", "int", NULL, NULL, 0), "accepted");
	CHECK(!ringside_enabled(NULL) && !*ringside_enabled_word(NULL), "NULL is wanted");
}

static void check_detached(void)
{
	struct ringside_defined *event;
	union ringside_value v = { .i = 1 };

	mock_detached = 1;
	event = ringside_define("shop", "alone", "int a", NULL, NULL, 0);
	CHECK(event && !ringside_enabled(event) && !ringside_emit(event, &v, 1), "without a directory");
	mock_detached = 0;
}

int main(void)
{
	check_same();
	check_text();
	check_refused();
	check_detached();
	CHECK(ringside_define("s", "max", "u8 a[4000]; string s", NULL, NULL, 0), "refused");
	return mock_failures != 0;
}
