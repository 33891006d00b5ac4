/*
 * Events that ride on the sites of another: wanted each by itself, their numbers converted, off
 * when their library is gone and back when it comes again.
 */
#define MOCK_MAIN
#include "event/mock.h"

#include <ringside/event.h>

enum state { OPEN, SHUT };

RINGSIDE_EVENT(shop, order,
	field(int, item),
	field(double, price),
	field(unsigned char, small),
	string(customer),
	sequence(int, lines),
	array(short, three, 3),
	string_n(piece),
	bitmask(bits),
	symbols(enum state, state, {OPEN, "open"}, {SHUT, "shut"}))

RINGSIDE_CUSTOM_EVENT(shop, order, tiny, field(short, item))

RINGSIDE_CUSTOM_EVENT(shop, order, rest,
	symbols(unsigned char, state, {OPEN, "o"}, {SHUT, "s"}),
	sequence(int, lines),
	field(float, price),
	field(double, item),
	field(long long, small),
	string(customer),
	array(short, three, 2),
	string_n(piece),
	bitmask(bits),
	print("%s %f", customer, price))

static void trace(void)
{
	static const int lines[2] = { 7, 8 };
	static const short three[3] = { 1, -2, 3 };
	static const unsigned long bits[1] = { 9 };

	trace_shop_order(-70001, 2.5, 200, "ann", lines, 2, three, "piece", 3, bits, 10, SHUT);
}

static void check_tiny(const struct mock_record *r)
{
	int16_t item;

	memcpy(&item, r->data + 8, 2);
	CHECK(r->id == mock_find("shop", "tiny")->id && r->len == 12, "%#x, %u", r->id, r->len);
	CHECK(item == (int16_t)-70001 && !r->data[10] && !r->data[11], "%d", item);
}

static void check_rest(const struct mock_record *r)
{
	const struct ringside_record_shop_rest *rest = (const void *)r->data;

	CHECK(rest->state == 1 && rest->price == 2.5f && rest->item == -70001.0, "numbers");
	CHECK(rest->small == 200 && rest->three[0] == 1 && rest->three[1] == -2, "numbers");
	CHECK(rest->lines >> 16 == 8 && mock_u32(r, rest->lines & 0xffff) == 7, "%#x", rest->lines);
	CHECK(!strcmp((const char *)r->data + (rest->customer & 0xffff), "ann"), "customer");
	CHECK(!strcmp((const char *)r->data + (rest->piece & 0xffff), "pie"), "piece");
	CHECK(rest->bits >> 16 == 8 && mock_u64(r, rest->bits & 0xffff) == 9, "bits");
}

int main(void)
{
	struct mock_event *order = mock_find("shop", "order"), *tiny = mock_find("shop", "tiny"),
			  *rest = mock_find("shop", "rest");

	mock_compare("tiny", tiny->body, MOCK_COMMON
		"\tfield:short item;\toffset:8;\tsize:2;\tsigned:1;\n"
		"\nprint fmt: \"item=%hd\", REC->item");
	CHECK(tiny->related == order->id && rest->related == order->id, "what they ride on");
	CHECK(!order->related, "rides on itself");

	order->hint = 2;
	tiny->hint = 1;
	trace();
	check_tiny(mock_take());
	order->hint = 3;
	trace();
	CHECK(mock_nrecords == 2 && mock_records[0].id == order->id, "both");
	check_tiny(&mock_records[1]);
	mock_nrecords = 0;
	tiny->hint = 0;
	rest->hint = 1;
	order->hint = 2;
	trace();
	check_rest(mock_take());

	/* The library that has it goes, and comes back. */
	ringside_stop_shop_rest();
	ringside_stop_shop_rest();
	trace();
	CHECK(!mock_nrecords, "is traced without its library");
	ringside_event_shop_rest.id = 0;
	ringside_start_shop_rest();
	ringside_start_shop_rest();
	trace();
	check_rest(mock_take());
	return mock_failures != 0;
}
