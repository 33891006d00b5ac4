/*
 * The same for what C++ adds, for plan/everywhere: exceptions that land in functions, destructors on the way, virtual calls.
 */
#include <cstdint>

#define NOINLINE __attribute__((noinline))

static volatile std::uint64_t left;

struct held {
	std::uint64_t n;
	NOINLINE explicit held(std::uint64_t n) : n(n) {}
	NOINLINE ~held() { left = left * 3 + n; }
};

struct base {
	virtual ~base() {}
	virtual std::uint64_t value(std::uint64_t n) { return n; }
};

struct other : base {
	std::uint64_t value(std::uint64_t n) override { return n * 7 + 1; }
};

struct trouble {
	std::uint64_t n;
};

static NOINLINE std::uint64_t throws(std::uint64_t n, base *b)
{
	held first(n);

	if (n % 3 == 0)
		throw trouble{ n };
	if (n % 3 == 1)
		throw static_cast<int>(n);
	held second(n + 1);
	return b->value(n) + b->value(n + 2);
}

static NOINLINE std::uint64_t between(std::uint64_t n, base *b)
{
	held here(n * 2);

	try {
		return throws(n, b) + throws(n + 3, b);
	} catch (const trouble &t) {
		held there(t.n);

		if (t.n & 1)
			throw;
		return t.n + 4;
	}
}

static NOINLINE std::uint64_t catches(std::uint64_t n, base *b)
{
	try {
		return between(n, b);
	} catch (int i) {
		return static_cast<std::uint64_t>(i) * 11;
	} catch (...) {
		return left;
	}
}

extern "C" std::uint64_t work(std::uint64_t n);
extern "C" std::uint64_t work(std::uint64_t n)
{
	base plain;
	other changed;
	std::uint64_t sum = 0;

	left = 0;
	for (std::uint64_t i = 0; i < 2; i++)
		sum = sum * 31 + catches(n + i, i & 1 ? &plain : &changed);
	return sum ^ left;
}
