/*
 * cmd/far: see far.h.
 */
#include "cmd/far.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/mono.h"
#include "cmd/interrupt.h"
#include "cmd/progress.h"
#include "cmd/units.h"
#include "net/trust.h"
#include "record/stock.h"

#define USUAL_SPOOL ((uint64_t)8 << 20)
#define USUAL_LINGER 60000
#define ANSWER_MS 20000
/* Couriers that are killed follow each other no faster. */
#define MEND_MS 1000

/* An agent started us, and brings connections. It is nobody else's. */
static bool by_agent(struct far_end *far)
{
	const char *line = getenv(AGENT_LINE);

	if (!line)
		return false;
	far->how.line = atoi(line);
	unsetenv(AGENT_LINE);
	if (far->how.line > 2)
		fcntl(far->how.line, F_SETFD, FD_CLOEXEC);
	snprintf(far->text, sizeof(far->text), "sent");
	return far->how.line > 2;
}

int far_ask(struct far_end *far, const struct cmd *cmd, const struct opts *opts)
{
	const char *to = opts_value(opts, "to"), *spool = opts_value(opts, "spool"), *linger = opts_value(opts, "linger");
	static const char *const about[] = { "spool", "linger" };
	static const char *const files[] = { "output", "max-size", "rotate", "compression", "file-version", "flight" };
	struct err err = ERR_INIT;
	uint64_t ns;

	for (size_t i = 0; i < sizeof(about) / sizeof(about[0]); i++)
		if (!to && !getenv(AGENT_LINE) && opts_value(opts, about[i]))
			return cmd_misuse(cmd, "record: --%s is about -N, which is not there", about[i]);
	far->spool_size = USUAL_SPOOL;
	far->linger_ms = USUAL_LINGER;
	if (!to && !by_agent(far))
		return CMD_DONE;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (opts_value(opts, files[i]))
			return cmd_misuse(cmd, "record: --%s is about a file, and with -N whoever receives it has that", files[i]);
	far->on = true;
	if (spool && (!units_size(spool, &far->spool_size) || far->spool_size < SPOOL_MIN || far->spool_size > SPOOL_MAX))
		return cmd_misuse(cmd, "record: --spool '%s': a size from 256K to 1G is needed", spool);
	if (linger) {
		if (!units_time(linger, &ns))
			return cmd_misuse(cmd, "record: --linger '%s': a time like 60s is needed", linger);
		far->linger_ms = ns / 1000000;
	}
	if (far->how.line)
		return CMD_DONE;
	if (address_parse(&far->how.to, to, WIRE_PORT, &err))
		return cmd_misuse(cmd, "record: -N: %s", err.text);
	if (far->how.to.kind == ADDRESS_TCP && !*far->how.to.host)
		return cmd_misuse(cmd, "record: -N: a host is needed");
	address_print(&far->how.to, far->text, sizeof(far->text));
	far->how.insecure = opts_value(opts, "insecure");
	far->compat = opts_value(opts, "compat");
	far->how.tls = opts_value(opts, "tls");
	if (far->compat && (far->how.tls || (far->how.to.kind != ADDRESS_TCP && far->how.to.kind != ADDRESS_VSOCK)))
		return cmd_misuse(cmd, "record: --compat: `trace-cmd listen` is reached by TCP or vsock, and knows no TLS");
	far->how.command = "ringside listen --stdio";
	return CMD_DONE;
}

static int send_courier(struct far_end *far, struct err *err)
{
	static const struct courier_talk stock = { stock_talk, true };

	return courier_start(&far->courier, &far->spool, &far->how, far->compat ? &stock : NULL, err);
}

void far_mend(struct far_end *far)
{
	enum spool_state state;
	struct err err = ERR_INIT;

	if (!far->on || !courier_is_gone(&far->courier) || mono_ms() - far->mended_at < MEND_MS)
		return;
	state = spool_state(&far->spool);
	if (state == SPOOL_DONE || state == SPOOL_FAILED)
		return;
	courier_stop(&far->courier);
	far->mended_at = mono_ms();
	/* trace-cmd takes nothing a second time. */
	if (far->compat)
		err_set(&err, -ECHILD, "%s: whoever talked to it was killed", far->text);
	else
		send_courier(far, &err);
	if (err.code)
		spool_say(&far->spool, SPOOL_FAILED, err.code, err.text);
	else if (state != SPOOL_CALLING)
		spool_say(&far->spool, SPOOL_DOWN, -ECHILD, "whoever sent was killed");
}

int far_call(struct far_end *far, struct err *err)
{
	int64_t until = mono_ms() + ANSWER_MS;
	enum spool_state state = SPOOL_CALLING;
	int r;

	far->courier.life = -1;
	if (!far->on)
		return 0;
	if (far->how.insecure)
		cmd_say("--insecure: everybody on the way to %s can read what is recorded, and anybody can be there", far->text);
	r = trust_dir(far->keys, sizeof(far->keys), err);
	if (!r)
		r = spool_init(&far->spool, far->spool_size, err);
	if (r)
		return r;
	far->how.keys = far->keys;
	far->how.needs = TRUST_READ | TRUST_CONTROL;
	r = send_courier(far, err);
	while (!r && (state = spool_state(&far->spool)) == SPOOL_CALLING && mono_ms() < until && !interrupt_end()) {
		spool_wait(&far->spool, SIZE_MAX, state, 100);
		far_mend(far);
	}
	/* Who has answered and was cut off will be again. */
	if (r || state == SPOOL_UP || state == SPOOL_DOWN)
		return r;
	if (state == SPOOL_CALLING)
		return err_set(err, interrupt_end() ? -EINTR : -ETIMEDOUT, "%s: no answer", far->text);
	spool_words(&far->spool, err);
	return err->code;
}

/* Once more than the one that ended the recording, or when nothing has moved for long. */
static bool stops(void *ctx)
{
	struct far_end *far = ctx;
	uint64_t left = spool_left(&far->spool);

	far_mend(far);
	if (interrupt_ends() > 1)
		return true;
	if (!far->until && !interrupt_end())
		return false;
	if (!far->until || left != far->left) {
		far->left = left;
		far->until = mono_ms() + (int64_t)far->linger_ms;
	}
	return mono_ms() > far->until;
}

void far_set(struct far_end *far, struct record_how *how)
{
	if (!far->on)
		return;
	how->spool = &far->spool;
	how->stops = stops;
	how->stops_ctx = far;
}

void far_end(struct far_end *far)
{
	char bytes[32];

	if (!far->on)
		return;
	far->left = spool_left(&far->spool);
	far->until = mono_ms() + (int64_t)far->linger_ms;
	if (spool_state(&far->spool) == SPOOL_DOWN && isatty(STDERR_FILENO)) {
		struct err err = ERR_INIT;

		spool_words(&far->spool, &err);
		cmd_say("%s", err.text);
		cmd_say("%s are still to be sent; Ctrl-C gives them up", progress_bytes(bytes, far->left));
	}
}

bool far_has_all(const struct far_end *far)
{
	return !far->on || spool_state(&far->spool) == SPOOL_DONE;
}

void far_tell(const struct far_end *far, bool quiet)
{
	const struct spool_shared *shared = far->spool.shared;

	if (!far->on || quiet || far->how.line || spool_state(&far->spool) != SPOOL_DONE)
		return;
	if (shared->error != UINT64_MAX && shared->error)
		cmd_say("%s: its clock is matched to %" PRIu64 "%s", far->text, shared->error < 10000 ? shared->error : shared->error / 1000 + 1,
			shared->error < 10000 ? " ns" : " us");
	if (shared->cuts)
		cmd_say("%s: was cut off %" PRIu32 " times, and nothing is missing for that", far->text, shared->cuts);
}

void far_close(struct far_end *far)
{
	if (!far->on || !far->spool.shared)
		return;
	__atomic_store_n(&far->spool.shared->gives_up, 1, __ATOMIC_RELEASE);
	courier_stop(&far->courier);
	spool_fini(&far->spool);
}
