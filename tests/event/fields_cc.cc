/*
 * The same event from C++ has the same text and the same bytes as from C; and what only C++ has:
 * scoped enums, namespaces, qualified types.
 */
#define MOCK_MAIN
#include "event/mock.h"

#include <cstdint>
#include <string>

#include "event/every_field.h"

namespace shop
{
enum class state : short { open = -1, shut = 7 };

RINGSIDE_EVENT(inner, scoped,
	symbols(state, now, {state::open, "open"}, {state::shut, "shut"}),
	field(state, before),
	field(std::uint16_t, count),
	field(const char *, where),
	string_n(what),
	print("%s %d %u %p %s", now, (int)before, count, (const void *)where, what))

void trace(state now, const std::string &what)
{
	trace_inner_scoped(now, state::open, 12, nullptr, what.data(), what.size());
}
} // namespace shop

#define FIXED 136u

static void check_record(const struct mock_record *r)
{
	static const unsigned char cpus[16] = { 0x21, 0, 0, 0, 0, 0, 0, 0, 0x20 };
	double d;
	int64_t ll;

	memcpy(&ll, r->data + 24, 8);
	memcpy(&d, r->data + 64, 8);
	CHECK(r->data[8] == 1 && r->data[9] == 'z' && r->data[11] == 250, "bytes");
	CHECK(ll == -5000000000ll && d == -2.25, "%lld %f", (long long)ll, d);
	CHECK(mock_u32(r, 76) == (uint32_t)-3 && mock_u32(r, 80) == 100, "enums");
	CHECK(mock_u32(r, 116) == (10u << 16 | FIXED), "%#x", mock_u32(r, 116));
	CHECK(!strcmp((const char *)r->data + FIXED, "some text"), "text");
	CHECK(!memcmp(r->data + r->len - 16, cpus, 16), "bits");
	CHECK(r->len == FIXED + 12 + 8 + 12 + 8 + 16, "%u", r->len);
}

static void check_scoped()
{
	struct mock_event *event = mock_find("inner", "scoped");
	const std::string what = "with\0inside";

	mock_compare("scoped", event->body, MOCK_COMMON
		"\tfield:state now;\toffset:8;\tsize:2;\tsigned:1;\n"
		"\tfield:state before;\toffset:10;\tsize:2;\tsigned:1;\n"
		"\tfield:uint16_t count;\toffset:12;\tsize:2;\tsigned:0;\n"
#ifdef __LP64__
		"\tfield:const char * where;\toffset:16;\tsize:8;\tsigned:0;\n"
		"\tfield:__data_loc char[] what;\toffset:24;\tsize:4;\tsigned:0;\n"
#else
		"\tfield:const char * where;\toffset:16;\tsize:4;\tsigned:0;\n"
		"\tfield:__data_loc char[] what;\toffset:20;\tsize:4;\tsigned:0;\n"
#endif
		"\n"
		"print fmt: \"%s %d %u %p %s\", __print_symbolic((unsigned short)REC->now, "
		"{ 65535, \"open\" }, { 7, \"shut\" }), (int)REC->before, REC->count, (const void *)REC->where, "
		"__get_str(what)");
	event->hint = 1;
	shop::trace(shop::state::shut, what);
	const struct mock_record *r = mock_take();
	CHECK(mock_u32(r, 8) == 0xffff0007, "%#x", mock_u32(r, 8));
}

int main()
{
	struct mock_event *event = mock_find("every", "field");

	mock_compare("format", event->body, MOCK_COMMON EVERY_FIELD_TEXT);
	event->hint = 1;
	EVERY_TRACE();
	check_record(mock_take());
	event->hint = 3;
	EVERY_TRACE();
	check_record(mock_take());
	check_scoped();
	return mock_failures != 0;
}
