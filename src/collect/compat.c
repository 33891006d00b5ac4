/*
 * collect/compat: see compat.h and layout/tracecmd.h. Greetings and messages of version 3 are here, those of version 1 in
 * compat_old.c; what comes of them in compat_take.c.
 */
#include "collect/compat.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mono.h"
#include "collect/compat_local.h"

#define NOTE_MS 1000
/* Before a version's number. */
#define VERSION_ASK "-1V"

/* ---- messages ---- */

static int tinit(struct compat *compat, const struct tracecmd_head *head)
{
	struct tracecmd_tinit init;
	struct tracecmd_rinit answer;
	char *ports = NULL;
	size_t len;
	int r;

	if (compat->cpus || head->cmd_size < sizeof(init))
		return compat_nonsense(compat, "shape");
	memcpy(&init, compat->in.data + sizeof(*head), sizeof(init));
	compat->nr_cpus = be32toh(init.cpus);
	compat->page_size = be32toh(init.page_size);
	compat->udp = !compat_wants_stream(compat->in.data + sizeof(*head) + head->cmd_size, head->size - sizeof(*head) - head->cmd_size);
	r = compat_check_shape(compat);
	if (!r)
		r = compat_find_file(compat);
	if (!r)
		r = compat_open_ports(compat, &ports, &len);
	answer.cpus = htobe32(compat->nr_cpus);
	if (!r)
		r = compat_say(compat, TRACECMD_RINIT, &answer, sizeof(answer), ports, (uint32_t)len);
	free(ports);
	return r;
}

static int take_message(struct compat *compat, const struct tracecmd_head *head)
{
	const char *rest = compat->in.data + sizeof(*head) + head->cmd_size;
	size_t len = head->size - sizeof(*head) - head->cmd_size;

	switch (head->cmd) {
	case TRACECMD_TINIT:
		return tinit(compat, head);
	case TRACECMD_SEND_DATA:
		return compat->cpus && !compat->live ? compat_take_meta(compat, rest, len) : compat_nonsense(compat, "data");
	case TRACECMD_FIN_DATA:
		return compat->cpus && !compat->live ? compat_begin_file(compat) : compat_nonsense(compat, "data");
	case TRACECMD_CLOSE_RESP:
		compat->closed = true;
		return 0;
	case TRACECMD_CLOSE:
		compat->closed = true;
		return compat->live ? 0 : compat_nonsense(compat, "last word");
	default:
		return compat_say(compat, TRACECMD_NOT_SUPP, NULL, 0, NULL, 0);
	}
}

static int take_messages(struct compat *compat)
{
	struct tracecmd_head head;
	int r = 0, got = compat_fill(compat);

	while (!r && !compat->closed && (r = compat_next(compat, &head)) > 0) {
		r = take_message(compat, &head);
		compat_drop(compat, head.size);
	}
	if (r)
		return r;
	/* A recorder that ends without a word has ended all the same. */
	if (got == -ECONNRESET && compat->live) {
		compat->closed = compat->cut = true;
		compat->err = (struct err)ERR_INIT;
		return 0;
	}
	return got < 0 ? got : 0;
}

/* ---- all of it ---- */

int compat_look(struct compat *compat, int ms)
{
	struct pollfd alone = { .fd = compat->fd, .events = POLLIN }, *fds = compat->fds ? compat->fds : &alone;
	nfds_t n = 1;
	int some = 0, r = 0;

	fds[0] = (struct pollfd){ .fd = compat->closed ? -1 : compat->fd, .events = POLLIN };
	for (uint32_t i = 0; compat->live && i < compat->nr_cpus; i++) {
		fds[n++] = (struct pollfd){ .fd = compat->cpus[i].door, .events = POLLIN };
		fds[n++] = (struct pollfd){ .fd = compat->cpus[i].fd, .events = POLLIN };
	}
	poll(fds, n, ms);
	if (!compat->closed && fds[0].revents)
		r = compat->old ? compat_take_old(compat) : take_messages(compat);
	if (!r && compat->live)
		r = compat_take_doors(compat);
	for (uint32_t i = 0; !r && compat->live && i < compat->nr_cpus; i++) {
		int got = compat_take_pages(compat, i);

		some |= got > 0;
		r = got < 0 ? got : 0;
	}
	return r ? r : some;
}

static int take_all(struct compat *compat)
{
	int64_t noted = 0, moved = mono_ms(), now;
	int r = 0;

	while (r >= 0 && !compat_is_over(compat, moved)) {
		r = compat_look(compat, compat->closed ? 50 : 500);
		now = mono_ms();
		if (r > 0 || !compat->closed)
			moved = now;
		compat_look_old(compat);
		if (compat->live && now - noted > NOTE_MS) {
			compat_note(compat, DESK_NOTE);
			noted = now;
		}
	}
	return r < 0 ? r : 0;
}

static int begin(struct compat *compat)
{
	struct desk_ask ask = { .kind = DESK_WHO, .wants = WIRE_RECORDS };
	struct desk_answer answer;
	char text[16];
	int r = desk_ask(compat->line, &ask, &answer, NULL, &compat->err);

	if (!r)
		r = compat_put(compat, TRACECMD_HELLO, strlen(TRACECMD_HELLO));
	if (!r)
		r = compat_await_string(compat, text, sizeof(text));
	if (!r && strncmp(text, VERSION_ASK, strlen(VERSION_ASK)))
		return compat_greet_old(compat, text);
	if (!r)
		r = compat_put(compat, TRACECMD_V3, sizeof(TRACECMD_V3));
	/* One that knows others, too, asks again. */
	if (!r && strcmp(text, TRACECMD_V3_ASK))
		r = compat_await_string(compat, text, sizeof(text));
	if (!r && strcmp(text, TRACECMD_V3_ASK))
		r = compat_nonsense(compat, "version");
	if (!r)
		r = compat_await(compat, sizeof(TRACECMD_V3_MAGIC));
	if (!r && memcmp(compat->in.data, TRACECMD_V3_MAGIC, sizeof(TRACECMD_V3_MAGIC)))
		r = compat_nonsense(compat, "magic word");
	if (r)
		return r;
	compat_drop(compat, sizeof(TRACECMD_V3_MAGIC));
	return compat_put(compat, TRACECMD_OK, strlen(TRACECMD_OK));
}

/* What has come is kept, whatever it ended with. */
static int finish(struct compat *compat)
{
	int r = compat->old ? compat_tell_old(compat) : 0, closed;

	if (!compat->live)
		return r ? r : compat_nonsense(compat, "end");
	compat_note(compat, DESK_ENDED);
	closed = dat_live_finish(compat->live, r ? NULL : &compat->err);
	if (!closed)
		compat_note(compat, DESK_CLOSED);
	return r ? r : closed;
}

int compat_run(int fd, int line)
{
	struct compat compat = { .fd = fd, .line = line, .meta = -1, .file = -1, .in = BUF_INIT, .err = ERR_INIT };
	struct desk_ask ask = { .kind = DESK_SAY };
	int r = begin(&compat), ended;

	if (!r)
		r = take_all(&compat);
	ended = r && !compat.live ? r : finish(&compat);
	if (compat.cut && !r && !ended)
		err_set(&compat.err, 0, "it has hung up without a last word; what it sent is kept");
	if (r || ended || compat.cut) {
		ask.text_len = (uint32_t)snprintf(ask.text, sizeof(ask.text), "%s", compat.err.text);
		desk_ask(line, &ask, NULL, NULL, NULL);
	}
	compat_fini(&compat);
	return r || ended;
}
