/* Calls of all kinds, for two tracers to agree on: virtual ones, recursion, callbacks, exceptions, jumps, threads. */
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#define APART __attribute__((noinline))

static volatile long sum;

struct shape { virtual ~shape() {} virtual int area(int n) = 0; };
struct square : shape { APART int area(int n) override { sum += n; return n * n; } };
struct disc : shape { APART int area(int n) override { sum -= n; return n * 3; } };
APART static int twice(int n) { sum += n; return 2 * n; }
APART static int ackermann(int m, int n) { return !m ? n + 1 : !n ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }
APART static int by_value(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
APART static int deep(int n) { if (!n) throw std::runtime_error("end"); return deep(n - 1) + twice(n); }
APART static int guarded(int n) { try { return deep(n); } catch (const std::exception &) { return twice(n); } }
static jmp_buf place;
APART static void jumper(int n) { if (!n) std::longjmp(place, 1); sum += n; jumper(n - 1); sum += n; }
APART static int landing(int n) { if (!setjmp(place)) jumper(n); return twice(n); }
APART static void thread_a() { for (int i = 0; i < 20; i++) twice(i); }
APART static void thread_b() { for (int i = 0; i < 20; i++) guarded(i % 4); }

int main()
{
	int values[] = { 5, 3, 9, 1, 7 };
	shape *shapes[] = { new square, new disc };

	for (int i = 0; i < 6; i++)
		sum += shapes[i % 2]->area(i);
	std::printf("%d\n", ackermann(2, 3));
	std::qsort(values, 5, sizeof(*values), by_value);
	for (int i = 0; i < 4; i++)
		std::printf("%d %d\n", guarded(i), landing(i));
	std::thread a(thread_a), b(thread_b);
	a.join();
	b.join();
	return 0;
}
