/*
 * cmd/boards: see boards.h.
 */
#include "cmd/boards.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/mono.h"
#include "cmd/files.h"
#include "cmd/interrupt.h"
#include "cmd/launch.h"
#include "cmd/progress.h"
#include "net/trust.h"

/* Somebody may have to type a password first. */
#define START_MS 120000
/* A step of waiting for all. */
#define STEP_MS 50

static bool is(const struct opts_item *item, const char *word)
{
	return item->opt && !strcmp(item->opt->word, word);
}

/* What says that something is to be recorded here, too. */
static bool is_about_events(const struct opts_item *item)
{
	static const char *const words[] = { "event", "tracer", "kernel", "tracefs", "remote", "instance", "top", "only-command", "pid" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (is(item, words[i]))
			return true;
	return false;
}

/* What is ours wherever it stands. */
static bool is_ours(const struct opts_item *item)
{
	static const char *const words[] = { "output", "quiet", "insecure", "tls", "compat" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (is(item, words[i]))
			return true;
	return !item->opt;
}

/* A name for its file, from whatever it is called by. */
static void name_board(struct boards *boards, struct board *board)
{
	const struct address *to = &board->how.caller.to;
	const char *from = to->kind == ADDRESS_VSOCK ? "vsock" : to->host, *at = strrchr(from, '@');
	size_t len;

	from = at ? at + 1 : from;
	at = to->kind == ADDRESS_UNIX ? strrchr(from, '/') : NULL;
	from = at ? at + 1 : from;
	if (board->how.guest)
		snprintf(board->name, sizeof(board->name), "%s", board->guest);
	else if (to->kind == ADDRESS_VSOCK)
		snprintf(board->name, sizeof(board->name), "vsock-%u", to->cid);
	else
		snprintf(board->name, sizeof(board->name), "%.*s", (int)strcspn(from, "/"), from);
	len = strlen(board->name);
	for (size_t i = 2, j = 0; j < boards->n - 1; j++) {
		if (strcmp(boards->all[j].name, board->name))
			continue;
		snprintf(board->name + len, sizeof(board->name) - len, "-%zu", i++);
		j = (size_t)-1;
	}
}

/* trace.dat is trace-NAME.dat's. */
static void name_file(struct board *board, const char *path)
{
	const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
	int stem = dot && dot > path && (!slash || dot > slash + 1) ? (int)(dot - path) : (int)strlen(path);

	snprintf(board->path, sizeof(board->path), "%.*s-%s%s", stem, path, board->name, path + stem);
}

static struct board *add(struct boards *boards, const struct opts *opts)
{
	struct board *board = &boards->all[boards->n];

	board->argv = calloc(2 * (size_t)opts->nitems + 3, sizeof(*board->argv));
	return board->argv ? &boards->all[boards->n++] : NULL;
}

static void add_word(struct board *board, const char *word)
{
	size_t n = 0;

	while (board->argv[n])
		n++;
	board->argv[n] = strdup(word);
}

static void add_item(struct board *board, const struct opts_item *item)
{
	char word[64];

	snprintf(word, sizeof(word), "--%s", item->opt->word);
	add_word(board, word);
	if (item->opt->arg)
		add_word(board, item->value);
}

/* trace-cmd knows most options by their letters only. */
static void shorten(struct board *board)
{
	for (char **word = board->argv; *word; word++)
		for (const struct opt *opt = cmd_record.opts; opt->word; opt++)
			if (!strncmp(*word, "--", 2) && !strcmp(*word + 2, opt->word) && opt->letter)
				snprintf(*word, 3, "-%c", opt->letter);
}

/* A guest by its name, whose pages may come by FIFOs, before its address: NAME@vsock:3. */
static const char *take_guest(struct board *board, const char *text)
{
	const char *at = strchr(text, '@');

	if (!board->how.compat || !at || at == text)
		return text;
	snprintf(board->guest, sizeof(board->guest), "%.*s", (int)(at - text), text);
	if (!trust_is_name(board->guest))
		return text;
	board->how.guest = board->guest;
	return at + 1;
}

static int begin_board(struct boards *boards, const struct cmd *cmd, const struct opts *opts, const char *text)
{
	struct err err = ERR_INIT;
	struct board *board;

	if (boards->n == BOARDS_MAX)
		return cmd_misuse(cmd, "record: -A: there are %d boards at most", BOARDS_MAX);
	board = add(boards, opts);
	if (!board)
		return cmd_fail(&(struct err){ -ENOMEM, -1, "out of memory" });
	board->how.compat = opts_value(opts, "compat");
	text = take_guest(board, text);
	if (address_parse(&board->how.caller.to, text, WIRE_PORT, &err))
		return cmd_misuse(cmd, "record: -A: %s", err.text);
	if (board->how.caller.to.kind == ADDRESS_TCP && !*board->how.caller.to.host)
		return cmd_misuse(cmd, "record: -A: a host is needed");
	board->how.caller.command = "ringside agent --stdio";
	board->how.caller.insecure = opts_value(opts, "insecure");
	board->how.caller.tls = opts_value(opts, "tls");
	name_board(boards, board);
	return CMD_DONE;
}

int boards_ask(struct boards *boards, const struct cmd *cmd, const struct opts *opts)
{
	const char *path = opts_value(opts, "output");
	struct board *board = NULL;
	int status = CMD_DONE;

	if (opts_value(opts, "tls") && opts_value(opts, "insecure"))
		return cmd_misuse(cmd, "record: --tls and --insecure do not go together");
	boards->local.items = calloc((size_t)opts->nitems + 1, sizeof(*boards->local.items));
	boards->all = calloc(BOARDS_MAX, sizeof(*boards->all));
	if (!boards->local.items || !boards->all)
		return cmd_fail(&(struct err){ -ENOMEM, -1, "out of memory" });
	boards->local.nargs = opts->nargs;
	boards->quiet = opts_value(opts, "quiet");
	for (int i = 0; !status && i < opts->nitems; i++) {
		const struct opts_item *item = &opts->items[i];

		if (is(item, "agent")) {
			status = begin_board(boards, cmd, opts, item->value);
			board = status ? NULL : &boards->all[boards->n - 1];
		} else if (board && !is_ours(item)) {
			add_item(board, item);
		} else {
			boards->local.items[boards->local.nitems++] = *item;
			boards->has_local |= is_about_events(item);
		}
	}
	for (size_t i = 0; i < boards->n && opts_value(opts, "compat"); i++)
		shorten(&boards->all[i]);
	for (size_t i = 0; i < boards->n; i++)
		name_file(&boards->all[i], path ? path : FILES_DEFAULT);
	if (!status && !boards->n && !opts_value(opts, "to") && (opts_value(opts, "tls") || opts_value(opts, "insecure")))
		status = cmd_misuse(cmd, "record: --%s is about -N or -A, and there is neither",
				    opts_value(opts, "tls") ? "tls" : "insecure");
	if (!status && boards->n && opts_value(opts, "to"))
		status = cmd_misuse(cmd, "record: -N sends what is recorded here, and -A receives what is recorded there");
	return status;
}

/* ---- while they record ---- */

static void say(void *ctx, const char *text)
{
	const struct board *board = ctx;

	/* It says it of itself. */
	cmd_say("%s: %s", board->name, strncmp(text, "ringside: ", 10) ? text : text + 10);
}

int boards_start(struct boards *boards, struct err *err)
{
	int64_t until = mono_ms() + START_MS;
	int r = 0;

	if (!boards->n)
		return 0;
	r = trust_dir(boards->keys, sizeof(boards->keys), err);
	while (!r && !boards->machine)
		if (getrandom(&boards->machine, sizeof(boards->machine), 0) < 0)
			r = err_set(err, -errno, "no number for the recording");
	for (size_t i = 0; !r && i < boards->n; i++) {
		struct board *board = &boards->all[i];

		board->how.caller.keys = boards->keys;
		board->how.argv = board->argv;
		board->how.path = board->path;
		board->how.machine = boards->machine;
		board->how.say = boards->quiet ? NULL : say;
		board->how.ctx = board;
		r = drive_start(&board->drive, &board->how, err);
	}
	for (size_t i = 0; !r && i < boards->n; i++) {
		const struct drive *drive = &boards->all[i].drive;
		enum drive_state state = DRIVE_CALLING;

		/* One that was cut off on the way may come back. */
		while ((state == DRIVE_CALLING || state == DRIVE_CUT) && mono_ms() < until && !interrupt_end())
			state = drive_wait(drive, state, STEP_MS);
		if (state == DRIVE_FAILED)
			r = err_set(err, drive->shared->code, "%s", drive->shared->words);
		else if (state == DRIVE_CALLING || state == DRIVE_CUT)
			r = err_set(err, interrupt_end() ? -EINTR : -ETIMEDOUT, "%s: does not begin to record", boards->all[i].name);
	}
	return r;
}

static void tell_failure(struct board *board)
{
	const struct drive_shared *shared = board->drive.shared;

	if (board->told)
		return;
	board->told = true;
	cmd_say("%s", *shared->words ? shared->words : board->name);
	if (shared->events)
		cmd_say("%s: has %" PRIu64 " events; the last are missing", board->path, shared->events);
}

bool boards_go_on(struct boards *boards)
{
	bool any = false;

	for (size_t i = 0; i < boards->n; i++) {
		enum drive_state state = drive_wait(&boards->all[i].drive, DRIVE_CALLING, 0);

		if (state == DRIVE_FAILED)
			tell_failure(&boards->all[i]);
		any |= state != DRIVE_FAILED && state != DRIVE_DONE;
	}
	return any;
}

static int tell(const struct boards *boards, struct board *board, enum drive_state state)
{
	const struct drive_shared *shared = board->drive.shared;
	char bytes[32], lost[32] = "none", clock[64] = "";

	if (state != DRIVE_DONE) {
		tell_failure(board);
		return CMD_FAILED;
	}
	if (shared->lost)
		snprintf(lost, sizeof(lost), "%" PRIu64, shared->lost);
	if (shared->error != UINT64_MAX)
		snprintf(clock, sizeof(clock), ", its clock matched to %" PRIu64 " %s",
			 shared->error < 10000 ? shared->error : shared->error / 1000 + 1, shared->error < 10000 ? "ns" : "us");
	if (!boards->quiet || shared->lost || shared->lost_more)
		cmd_say("%s: %" PRIu64 " events, %s, %s lost%s%s", board->path, shared->events, progress_bytes(bytes, shared->bytes), lost,
			shared->lost_more ? ", and some that could not be counted" : "", clock);
	return shared->status ? CMD_FAILED : CMD_DONE;
}

int boards_finish(struct boards *boards)
{
	unsigned int ends = interrupt_ends();
	int status = CMD_DONE;

	for (size_t i = 0; i < boards->n; i++)
		drive_stop(&boards->all[i].drive);
	for (size_t i = 0; i < boards->n; i++) {
		enum drive_state state = drive_wait(&boards->all[i].drive, DRIVE_CALLING, 0);

		while (state != DRIVE_DONE && state != DRIVE_FAILED && interrupt_ends() == ends)
			state = drive_wait(&boards->all[i].drive, state, STEP_MS);
		status |= tell(boards, &boards->all[i], state);
	}
	return status;
}

int boards_record(struct boards *boards)
{
	const struct opts *opts = &boards->local;
	struct launch launch = LAUNCH_NONE;
	struct err err = ERR_INIT;
	char **argv = NULL;
	bool any = true;
	int status = 0, r = opts_command(opts, 0, &argv, &err);
	struct launch_how how = { .argv = argv, .quiet = true };

	interrupt_catch();
	if (!r && opts->nargs)
		r = launch_start(&launch, &how, &err);
	if (!r)
		r = boards_start(boards, &err);
	if (!r && opts->nargs)
		r = launch_go(&launch, &err);
	if (!r && !opts->nargs && !boards->quiet && isatty(STDERR_FILENO))
		cmd_say("recording; Ctrl-C ends it");
	while (!r && !interrupt_end() && !(opts->nargs ? launch_poll(&launch, &status) : !any)) {
		any = boards_go_on(boards);
		poll(NULL, 0, 20);
	}
	status = opts->nargs && status ? launch_exit_status(status) : CMD_DONE;
	status = r ? cmd_fail(&err) : boards_finish(boards) ? CMD_FAILED : status;
	launch_close(&launch);
	free(argv);
	return status;
}

void boards_close(struct boards *boards)
{
	for (size_t i = 0; i < boards->n; i++) {
		struct board *board = &boards->all[i];

		drive_close(&board->drive);
		for (char **word = board->argv; *word; word++)
			free(*word);
		free(board->argv);
	}
	free(boards->all);
	free(boards->local.items);
	*boards = (struct boards){ 0 };
}
