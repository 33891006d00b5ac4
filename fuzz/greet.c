/*
 * Before anybody is known: any bytes as the first words of whoever connects to a listener or an agent, of whoever a courier called, and of
 * a stock peer at either. They get in or are refused with words, and all of it has an end. What comes behind them when they do get in
 * goes all the way, to a file in memory.
 */
#include "agent/compat.h"
#include "collect/session.h"
#include "net/greet.h"
#include "still_target.h"

static const uint8_t *port_bytes;
static size_t port_len;
static bool refuses;
static int asked;

int desk_ask(int line, const struct desk_ask *ask, struct desk_answer *answer, int fds[2], struct err *err)
{
	(void)line;
	still_insist(ask->text_len < sizeof(ask->text) && strnlen(ask->name, sizeof(ask->name)) < sizeof(ask->name));
	if (fds)
		fds[0] = fds[1] = -1;
	if (!answer)
		return 0;
	still_insist(++asked < 10000);
	memset(answer, 0, sizeof(*answer));
	if (ask->kind == DESK_WHO && refuses)
		return err_set(err, -EACCES, "nobody knows you");
	strcpy(answer->name, "somebody");
	if (ask->kind == DESK_FILE) {
		fds[0] = memfd_create("recording", 0);
		fds[1] = memfd_create("bases", 0);
	} else if (ask->kind == DESK_PORT) {
		fds[0] = still_port(port_bytes, port_len < 8192 ? port_len : 8192);
		answer->at = 4711;
	} else if (ask->kind == DESK_NEXT || ask->kind == DESK_RUN) {
		return err_set(err, -EBUSY, "not now");
	}
	return 0;
}

/* ---- who listens to it ---- */

static void be_caller(int fd)
{
	struct greet_how how = { .host = "there", .text = "there:1", .name = "here" };
	char peer[WIRE_NAME_MAX + 1];
	struct err err = ERR_INIT;
	struct channel channel;
	int r = greet(&channel, fd, &how, WIRE_RECORDS, peer, &err);

	still_insist(!r == !err.code && (!r || *err.text));
	still_insist(r || strlen(peer) <= WIRE_NAME_MAX);
	channel_fini(&channel);
}

static void be_asked(int fd)
{
	struct admit_how how = { .line = -1, .bare = true, .name = "here", .machine = 1 };
	struct err err = ERR_INIT;
	struct channel channel;
	int r = admit(&channel, fd, &how, &err);

	still_insist(!r == !err.code && (!r || *err.text));
	if (r)
		admit_refuse(&channel, &err);
	channel_fini(&channel);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct session_how listener = { .bare = true, .machine = 1, .name = "here" };
	const struct admit_how agent = { .line = -1, .bare = true, .name = "here", .machine = 1 };
	int fd;

	if (!size || size > 65536)
		return 0;
	still_begin();
	refuses = *data & 16;
	asked = 0;
	port_bytes = data + size / 2;
	port_len = size - size / 2;
	fd = still_line(data + 1, size - 1, &still_peer);
	switch (*data & 7) {
	case 0:
		be_asked(fd);
		break;
	case 1:
		be_caller(fd);
		break;
	case 2:
	case 3:
		session_run(fd, -1, &listener);
		break;
	case 4:
		compat_run_agent(fd, &agent);
		break;
	default:
		/* Who waits for a word is taken for trace-cmd. */
		listener.compat = true;
		still_silent = 1;
		session_run(fd, -1, &listener);
	}
	still_end();
	return 0;
}
