/*
 * ringside_printf in C++: in plain, inline and template functions and in lambdas, each a site of
 * its own that is registered before main, and usable in the initializers before that.
 */
#define MOCK_MAIN
#include "event/mock.h"

#include <ringside/print.h>

#define BPRINT 6

static inline int twice(int x)
{
	ringside_printf("inline %d", x);
	return 2 * x;
}

template <class T> static T same(T x)
{
	ringside_printf("template %d", static_cast<int>(sizeof(T)));
	auto inner = [](int y) { ringside_printf("lambda %d", y); };
	inner(5);
	return x;
}

struct early {
	early()
	{
		mock_builtin[BPRINT] = 1;
		ringside_printf("early");
		mock_builtin[BPRINT] = 0;
	}
};

static early before_main;

static bool stored(const char *format, const char *function)
{
	for (uint32_t i = 0; i < mock_nformats; i++)
		if (!strcmp(mock_formats[i], format) && !strcmp(mock_functions[i], function))
			return true;
	return false;
}

static void expect(uint32_t value)
{
	const struct mock_record *r = mock_take();

	CHECK(mock_u32(r, 24) == value, "%u", mock_u32(r, 24));
}

int main()
{
	CHECK(mock_take()->len == 24, "early");
	CHECK(stored("early\n", "early") && stored("inline %d\n", "twice"), "registered before main");
	CHECK(stored("template %d\n", "same") && stored("lambda %d\n", "operator()"), "before main");
	CHECK(mock_nformats == 6, "%u sites", mock_nformats);
	mock_builtin[BPRINT] = 1;
	twice(3);
	expect(3);
	same('x');
	CHECK(mock_nrecords == 2 && mock_u32(&mock_records[0], 24) == 1 &&
	      mock_u32(&mock_records[1], 24) == 5, "%u", mock_nrecords);
	mock_nrecords = 0;
	same(1ll);
	CHECK(mock_nrecords == 2 && mock_u32(&mock_records[0], 24) == 8, "%u", mock_nrecords);
	CHECK(mock_nformats == 6, "%u sites", mock_nformats);
	return mock_failures != 0;
}
