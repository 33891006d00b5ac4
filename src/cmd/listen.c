/*
 * cmd/listen: receives what boards record.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "cmd/cmd.h"
#include "cmd/places.h"
#include "cmd/progress.h"
#include "cmd/units.h"
#include "collect/listen.h"

#define USUAL_WAIT 3600

static const struct opt listen_opts[] = {
	PLACES_OPTS,
	{ 'd', "into", "DIR", "the directory for recordings, instead of this one" },
	{ 0, "rotate", "SIZE", "a new file of a recording when one has 100M" },
	{ 0, "keep-for", "TIME", "remove recordings that are older than 7d" },
	{ 0, "keep", "SIZE", "remove the oldest when all of them have more than 10G" },
	{ 0, "quota", "SIZE", "what one board may have; its oldest go first" },
	{ 0, "wait", "TIME", "how long a board that was cut off may come back (1h)" },
	{ 0, "compat", NULL, "take recordings of `trace-cmd record -N`, too: from this machine, or with --insecure" },
	{ 0, "insecure", NULL, "take recordings from anywhere without TLS, from whoever sends them" },
	{ 0, "stdio", NULL, "of one board, which is at standard input and output" },
	{ 0, "list", NULL, "list what has been received" },
	{ 'q', "quiet", NULL, "say nothing" },
	{ 0, NULL, NULL, NULL },
};

struct ask {
	struct listen_how how;
	struct places places;
};

static int take_sizes(struct ask *ask, const struct opts *opts)
{
	struct listen_how *how = &ask->how;
	const struct {
		const char *word;
		uint64_t *bytes;
	} sizes[] = { { "rotate", &how->rotate_bytes }, { "keep", &how->limits.size }, { "quota", &how->limits.quota } };
	const char *age = opts_value(opts, "keep-for"), *wait = opts_value(opts, "wait");
	uint64_t ns;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const char *text = opts_value(opts, sizes[i].word);

		if (text && (!units_size(text, sizes[i].bytes) || !*sizes[i].bytes))
			return cmd_misuse(&cmd_listen, "listen: --%s '%s': a size like 100M is needed", sizes[i].word, text);
	}
	if (age) {
		if (!units_time(age, &ns) || ns < 1000000000)
			return cmd_misuse(&cmd_listen, "listen: --keep-for '%s': a time like 7d is needed", age);
		how->limits.age = (int64_t)(ns / 1000000000);
	}
	how->wait = USUAL_WAIT;
	if (wait) {
		if (!units_time(wait, &ns))
			return cmd_misuse(&cmd_listen, "listen: --wait '%s': a time like 1h is needed", wait);
		how->wait = (unsigned int)(ns / 1000000000);
	}
	return CMD_DONE;
}

/* ---- --list ---- */

static int put_one(void *ctx, const struct store_record *record, bool live, uint64_t size)
{
	time_t began = (time_t)record->began;
	struct buf *out = ctx;
	char when[32], bytes[32], events[48] = "", lost[48] = "";
	struct tm tm;

	localtime_r(&began, &tm);
	strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
	/* Of files before the newest of a recording no more is known than what they have. */
	if (record->nr_lanes) {
		snprintf(events, sizeof(events), "%" PRIu64 " events", record->events);
		if (record->lost)
			snprintf(lost, sizeof(lost), "%" PRIu64 " lost%s", record->lost, record->lost_more ? " and more" : "");
		else
			snprintf(lost, sizeof(lost), "%s", record->lost_more ? "some lost" : "none lost");
	}
	buf_printf(out, "%-16s %s  %9s  %19s  %-9s  %s%s\n", record->board, when, progress_bytes(bytes, size), events, lost, record->file,
		   live ? "  (arriving)" : record->stands == DESK_OPEN && record->nr_lanes ? "  (cut off)" : "");
	return buf_failed(out) ? -ENOMEM : 0;
}

static int list(const char *dir, struct err *err)
{
	struct store store;
	struct buf out = BUF_INIT;
	int r = store_open(&store, dir, false, err);

	if (!r)
		r = store_walk(&store, put_one, &out, err);
	if (!r && out.len)
		r = cmd_put(out.data, out.len, err);
	buf_fini(&out);
	store_close(&store);
	return r;
}

/* ---- all of it ---- */

static int listen_to_all(struct ask *ask, const struct opts *opts)
{
	struct listener *listener = NULL;
	struct err err = ERR_INIT;
	char place[ADDRESS_TEXT];
	int r = places_prepare(&ask->places, &ask->how.gate, opts, "whoever can reach this port can record here, under any name", &err);

	if (!r)
		r = listen_open(&listener, &ask->how, &err);
	for (size_t i = 0; !r && !opts_value(opts, "quiet") && listen_place(listener, i, place, sizeof(place)); i++)
		cmd_say("listens at %s", place);
	if (!r)
		listen_run(listener, &places_stop);
	listen_close(listener);
	return r ? cmd_fail(&err) : CMD_DONE;
}

static int run(const struct opts *opts)
{
	struct ask ask = { .how = { .dir = opts_value(opts, "into"), .compat = opts_value(opts, "compat") } };
	struct err err = ERR_INIT;
	int status;

	if (!ask.how.dir)
		ask.how.dir = ".";
	if (opts_value(opts, "list"))
		return list(ask.how.dir, &err) ? cmd_fail(&err) : CMD_DONE;
	status = take_sizes(&ask, opts);
	if (!status)
		status = places_ask(&ask.places, &cmd_listen, opts);
	return status ? status : listen_to_all(&ask, opts);
}

const struct cmd cmd_listen = {
	.name = "listen",
	.synopsis = "[-d DIR] [--at ADDRESS]... [OPTION]...",
	.summary = "receive what boards record",
	.text = "Receives what `ringside record -N` sends from other machines, any number at once, into\n"
		"DIR/BOARD/DATE.dat, until Ctrl-C. Each file can be read while it arrives. A board is\n"
		"called what `ringside trust` calls its key. One that was cut off goes on where it was.\n",
	.opts = listen_opts,
	.on_file = true,
	.run = run,
};
