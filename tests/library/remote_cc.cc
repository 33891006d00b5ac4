/*
 * A C++ program brings a remote: the header and the hosted writer's, its callbacks as functions and as lambdas, its events' texts from a file in C.
 */
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <ringside/remote.h>
#include <string>

#define RINGSIDE_FW_HOSTED
#include "../../fw/remote_events.h"
#include "library/remote_board.h"

#include "insist.h"

namespace {

class board {
public:
	board(ringside_control *tree, const char *name)
	{
		ringside_control_remote_callbacks callbacks = {};

		callbacks.load_trace_buffer = [](unsigned long size, ringside_control_remote_buffer *buffer, void *priv) {
			return static_cast<board *>(priv)->load(size, buffer);
		};
		callbacks.unload_trace_buffer = [](const ringside_control_remote_buffer *buffer, void *priv) {
			static_cast<board *>(priv)->unload(buffer);
		};
		result = ringside_control_remote_register(&remote, tree, name, &callbacks, this, events, 2);
	}
	~board() { ringside_control_remote_unregister(remote); }

	void step(uint32_t cpu)
	{
		const std::lock_guard<std::mutex> guard(lock);

		if (loaded)
			trace_step(&fw, cpu, cpu, seq++);
	}
	int result;

private:
	int load(unsigned long size, ringside_control_remote_buffer *buffer)
	{
		const std::lock_guard<std::mutex> guard(lock);
		ringside_control_remote_how how = {};
		int r;

		how.size = size;
		how.nr_cpus = 2;
		r = ringside_control_remote_alloc_buffer(buffer, &how);
		if (!r)
			r = ringside_fw_hosted_open(&fw, buffer->memory, buffer->size);
		loaded = !r;
		return r;
	}
	void unload(const ringside_control_remote_buffer *buffer)
	{
		const std::lock_guard<std::mutex> guard(lock);

		loaded = false;
		ringside_control_remote_free_buffer(buffer);
	}

	static constexpr const ringside_fw_text *events[] = { &remote_event_step, &remote_event_stall };
	ringside_control_remote *remote = nullptr;
	ringside_fw_hosted fw = {};
	std::mutex lock;
	bool loaded = false;
	uint64_t seq = 0;
};

void put(ringside_control *tree, const char *file, const char *text)
{
	CHECK(!ringside_control_file_write(tree, nullptr, (std::string("remotes/board/") + file).c_str(), text), "%s: %s", file,
	      ringside_control_error(tree));
}

} // namespace

int main()
{
	ringside_control *tree;
	char *text;

	CHECK(!ringside_control_open(&tree, nullptr, RINGSIDE_CONTROL_CREATE), "%s", ringside_control_error(tree));
	{
		auto one = std::make_unique<board>(tree, "board");
		board two(tree, "board");

		CHECK(!one->result && two.result == -EEXIST, "%d, %d", one->result, two.result);
		put(tree, "events/enable", "1");
		put(tree, "tracing_on", "1");
		one->step(0);
		one->step(1);
		CHECK(!ringside_control_file_read(tree, nullptr, "remotes/board/trace", &text, nullptr), "%s", ringside_control_error(tree));
		CHECK(std::strstr(text, "step cpu=1 seq=1\n"), "%s", text);
		std::free(text);
	}
	CHECK(!ringside_control_file_exists(tree, nullptr, "remotes/board/trace"), "it went with its object");
	ringside_control_close(tree);
	return 0;
}
