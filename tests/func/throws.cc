/*
 * Exceptions under tracing: thrown across many calls, again, nested, kept, between threads, and out of what is cancelled.
 * Compiled and run by tests/func/real.sh, traced and not.
 */
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#define NOINLINE __attribute__((noinline))

static std::atomic<long> gone;

struct guard {
	int n;
	explicit guard(int i) : n(i) {}
	NOINLINE ~guard() { gone += n; }
};

NOINLINE static int below(int depth, int how)
{
	guard g(1);
	int r;

	if (!depth) {
		switch (how % 4) {
		case 0:
			throw how;
		case 1:
			throw std::runtime_error("run " + std::to_string(how));
		case 2:
			return static_cast<int>(std::vector<int>(3).at(static_cast<size_t>(how)));
		default:
			return std::stoi("none");
		}
	}
	r = below(depth - 1, how);
	return r + g.n;
}

NOINLINE static std::string caught(int depth, int how)
{
	try {
		return std::to_string(below(depth, how));
	} catch (int i) {
		return "int " + std::to_string(i);
	} catch (const std::out_of_range &e) {
		return std::string("range ") + e.what();
	} catch (const std::exception &e) {
		return e.what();
	}
}

NOINLINE static void again(int depth)
{
	try {
		if (depth)
			again(depth - 1);
		else
			throw std::logic_error("deep");
	} catch (std::logic_error &) {
		guard g(2);
		if (depth % 3 == 0)
			throw;
		std::throw_with_nested(std::logic_error("at " + std::to_string(depth)));
	}
}

static void unfold(const std::exception &e, std::string &into)
{
	into += std::string(e.what()) + "/";
	try {
		std::rethrow_if_nested(e);
	} catch (const std::exception &inner) {
		unfold(inner, into);
	}
}

struct throws_late {
	NOINLINE ~throws_late() noexcept(false)
	{
		if (!std::uncaught_exceptions())
			throw 17;
	}
};

NOINLINE static int late()
{
	try {
		throws_late t;
		guard g(3);
	} catch (int i) {
		return i;
	}
	return 0;
}

static std::string between()
{
	std::exception_ptr kept;
	std::string said;

	std::thread([&] {
		try {
			below(9, 1);
		} catch (...) {
			kept = std::current_exception();
		}
	}).join();
	try {
		std::rethrow_exception(kept);
	} catch (const std::exception &e) {
		said = e.what();
	}
	auto answer = std::async(std::launch::async, [] { return below(4, 5); });
	try {
		answer.get();
	} catch (const std::exception &e) {
		said += std::string(" ") + e.what();
	}
	return said;
}

static void *cancelled(void *arg)
{
	guard g(100);

	try {
		for (;;) {
			caught(3, 1);
			usleep(100);
			pthread_testcancel();
		}
	} catch (const std::exception &) {
		std::puts("no exception of ours");
	} catch (...) {
		*static_cast<std::atomic<int> *>(arg) += 1;
		throw;
	}
	return nullptr;
}

static void *exits(void *arg)
{
	guard g(1000);

	caught(5, 3);
	try {
		pthread_exit(nullptr);
	} catch (...) {
		*static_cast<std::atomic<int> *>(arg) += 1;
		throw;
	}
}

static int cancel()
{
	std::atomic<int> seen(0);
	std::vector<pthread_t> all(16);

	for (size_t i = 0; i < all.size(); i++)
		pthread_create(&all[i], nullptr, i % 2 ? cancelled : exits, &seen);
	usleep(20000);
	for (size_t i = 0; i < all.size(); i++) {
		if (i % 2)
			pthread_cancel(all[i]);
		pthread_join(all[i], nullptr);
	}
	return seen;
}

NOINLINE static void never() noexcept
{
	below(3, 1);
}

int main(int argc, char **)
{
	std::string said;
	std::vector<std::thread> all;
	std::atomic<int> right(0);

	for (int how = 0; how < 4; how++)
		for (int depth : { 0, 1, 10, 100 })
			std::printf("%s\n", caught(depth, how + 4).c_str());
	for (int depth = 0; depth < 12; depth++) {
		try {
			again(depth);
		} catch (const std::exception &e) {
			unfold(e, said);
		}
	}
	std::printf("%s\n%d\n%s\n", said.c_str(), late(), between().c_str());
	for (int i = 0; i < 8; i++)
		all.emplace_back([&right, i] {
			for (int n = 0; n < 300; n++)
				right += caught(n % 40, 4 * i) == "int " + std::to_string(4 * i);
		});
	for (auto &thread : all)
		thread.join();
	/* How often those that are cancelled get round differs. */
	std::printf("%d %ld\n", right.load(), gone.load());
	std::printf("%d\n", cancel());
	std::fflush(stdout);
	if (argc > 1) {
		std::set_terminate([] {
			std::puts("terminated");
			std::fflush(stdout);
			_exit(19);
		});
		never();
	}
	return 3;
}
