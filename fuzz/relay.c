/*
 * An agent's side of a connection: any words of a driver, ours or a stock one, and any of the recorder's that was started for him. What is
 * asked for comes to the desk as it was said, in its bounds; it has an end whoever falls silent.
 *
 * The input: a byte for who drives, two for how long its words are; behind them the recorder's.
 */
#include "agent/compat.h"
#include "agent/relay.h"
#include "still_target.h"

static const uint8_t *recorder_bytes;
static size_t recorder_len;
static int asked, runs, recorder_peer;

int desk_ask(int line, const struct desk_ask *ask, struct desk_answer *answer, int fds[2], struct err *err)
{
	(void)line;
	(void)err;
	still_insist(ask->text_len < sizeof(ask->text));
	if (fds)
		fds[0] = fds[1] = -1;
	if (!answer)
		return 0;
	still_insist(++asked < 10000);
	memset(answer, 0, sizeof(*answer));
	strcpy(answer->name, "somebody");
	if (ask->kind == DESK_RUN) {
		int words[2];

		still_insist(++runs == 1 && !pipe2(words, O_NONBLOCK));
		still_insist(write(words[1], "words\n", 6) == 6);
		close(words[1]);
		fds[0] = still_line(recorder_bytes, recorder_len, &recorder_peer);
		fds[1] = words[0];
	} else if (ask->kind == DESK_PORT) {
		fds[0] = still_port(recorder_bytes, recorder_len < 8192 ? recorder_len : 8192);
		answer->at = 4711;
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct admit_how how = { .line = -1, .bare = true, .name = "here", .machine = 1 };
	size_t len;
	int fd;

	if (size < 3 || size > 65536)
		return 0;
	len = (size_t)data[1] | (size_t)data[2] << 8;
	len = len < size - 3 ? len : size - 3;
	recorder_bytes = data + 3 + len;
	recorder_len = size - 3 - len;
	still_begin();
	asked = runs = 0;
	fd = still_line(data + 3, len, &still_peer);
	if (*data & 1)
		compat_run_agent(fd, &how);
	else
		relay_run(fd, &how);
	still_end();
	return 0;
}
