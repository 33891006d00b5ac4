/*
 * A setup of a tracing directory: what a line asks for is put in force as a whole, nothing is taken before it is switched on, and
 * undoing it brings everything back, whoever else has changed something meanwhile.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/setup.h"
#include "insist.h"

static const struct opt table[] = { SETUP_BUFFER_OPTS, SETUP_LINE_OPTS, SETUP_ONLY_OPT, SETUP_TOP_OPT,
				    { 0, NULL, NULL, NULL } };
static const struct setup_how fresh = { .on = true, .fresh = true };

/* A setup with its line. */
struct try {
	char line[512];
	struct opts opts;
	struct setup *setup;
	struct source *source;
};

static struct source *open_source(void)
{
	struct source_how how = { .create = true };
	struct err err = ERR_INIT;
	struct source *source;

	CHECK(!source_open(&source, &how, &err), "%s", err.text);
	return source;
}

static int try_parse(struct try *try, const char *line, const struct setup_how *how, struct err *err)
{
	char *argv[64], *save;
	int argc = 0, r;

	snprintf(try->line, sizeof(try->line), "%s", line);
	for (char *word = strtok_r(try->line, " ", &save); word; word = strtok_r(NULL, " ", &save))
		argv[argc++] = word;
	r = opts_parse(&try->opts, argc, argv, table, NULL, 0, err);
	CHECK(!r, "'%s': %s", line, err->text);
	return setup_parse(&try->setup, &try->opts, how, err);
}

static int try_apply(struct try *try, const char *line, const struct setup_how *how)
{
	struct err err = ERR_INIT;
	int r = try_parse(try, line, how, &err);

	CHECK(!r, "'%s': %s", line, err.text);
	try->source = open_source();
	return setup_apply(try->setup, try->source, &err);
}

static void try_undo(struct try *try)
{
	struct err err = ERR_INIT;

	CHECK(!setup_undo(try->setup, &err), "%s", err.text);
	setup_close(try->setup);
	source_close(try->source);
	opts_fini(&try->opts);
}

static char *text_of(struct source *source, const char *path)
{
	struct buf text = BUF_INIT;
	struct err err = ERR_INIT;

	CHECK(!source_read(source, path, &text, &err), "%s", err.text);
	buf_puts(&text, "");
	return buf_take(&text);
}

static void expect(struct source *source, const char *path, const char *want)
{
	char *text = text_of(source, path);

	CHECK(!strcmp(text, want), "%s says '%s', not '%s'", path, text, want);
	free(text);
}

static void put(struct source *source, const char *path, const char *text)
{
	struct err err = ERR_INIT;

	CHECK(!source_write(source, path, text, strlen(text), false, &err), "%s", err.text);
}

/* Rules of the top buffer as one text. */
static void expect_rules(struct source *source, const char *want)
{
	struct control *control = source_control(source);
	struct buf text = BUF_INIT;

	CHECK(!control_refresh(control, NULL), "unreadable");
	buf_puts(&text, "");
	for (uint32_t i = 0; i < control->state.nrules; i++)
		if (!control->state.rules[i].buffer)
			buf_printf(&text, "%s%s:%s ", control->state.rules[i].on ? "" : "!",
				   control->state.rules[i].system, control->state.rules[i].event);
	CHECK(!strcmp(text.data, want), "rules are '%s', not '%s'", text.data, want);
	buf_fini(&text);
}

static void enable(const char *system, bool on)
{
	struct setup_how how = { .on = false };
	char line[100];
	struct try try;

	snprintf(line, sizeof(line), "-q %s -e %s:*", on ? "" : "-v", system);
	CHECK(!try_apply(&try, line, &how), "'%s'", line);
	setup_close(try.setup);
	source_close(try.source);
	opts_fini(&try.opts);
}

/* One for this alone: it takes nothing until it may, and leaves nothing. */
static void check_fresh(struct source *source)
{
	struct err err = ERR_INIT;
	char path[200], want[64];
	struct try try;

	CHECK(!try_apply(&try, "-q -e shop -b 64 -B web -e http", &fresh), "refused");
	CHECK(setup_buffers(try.setup) == 2, "%zu", setup_buffers(try.setup));
	snprintf(want, sizeof(want), "record-%d", (int)getpid());
	CHECK(!strcmp(setup_instance(try.setup, 0), want), "%s", setup_instance(try.setup, 0));
	CHECK(!*setup_title(try.setup, 0) && !strcmp(setup_title(try.setup, 1), "web"), "titles");
	snprintf(path, sizeof(path), "instances/%s/tracing_on", want);
	expect(source, path, "0\n");
	expect(source, "instances/web/tracing_on", "0\n");
	CHECK(!setup_on(try.setup, &err), "%s", err.text);
	expect(source, path, "1\n");
	expect(source, "instances/web/tracing_on", "1\n");
	CHECK(!setup_off(try.setup, &err), "%s", err.text);
	expect(source, path, "0\n");
	expect_rules(source, "");
	try_undo(&try);
	CHECK(!source_exists(source, "instances/web"), "web is left");
	snprintf(path, sizeof(path), "instances/%s", want);
	CHECK(!source_exists(source, path), "%s is left", want);

	/* A name that is taken is not taken over. */
	CHECK(!source_mkdir(source, path, &err), "%s", err.text);
	CHECK(!try_apply(&try, "-q -e shop", &fresh), "refused");
	CHECK(strcmp(setup_instance(try.setup, 0), want), "it is somebody else's");
	try_undo(&try);
	CHECK(source_exists(source, path), "%s is gone", path);
	CHECK(!source_rmdir(source, path, &err), "%s", err.text);

	/* An instance that was there stays. */
	CHECK(!source_mkdir(source, "instances/web", &err), "%s", err.text);
	CHECK(!try_apply(&try, "-q -B web -e http -O nooverwrite", &fresh), "refused");
	CHECK(setup_buffers(try.setup) == 1, "%zu", setup_buffers(try.setup));
	expect(source, "instances/web/options/overwrite", "0\n");
	try_undo(&try);
	expect(source, "instances/web/options/overwrite", "1\n");
	expect(source, "instances/web/tracing_on", "1\n");
	CHECK(!source_rmdir(source, "instances/web", &err), "%s", err.text);
}

#define EVERYTHING "--top -q -e http -v -e mine:* -b 200 -C mono -O nooverwrite -O markers -M 1 -P 5,6 -P 7 -c"

/* The top buffer, with all that it has, and what others do in between. */
static void check_top(struct source *source)
{
	static const char *const files[] = {
		"tracing_on", "buffer_size_kb", "trace_clock", "trace_options", "tracing_cpumask", "set_event_pid",
	};
	char *before[sizeof(files) / sizeof(files[0])];
	struct try try;

	put(source, "options/markers", "0");
	put(source, "set_event_pid", "1 2 3");
	put(source, "buffer_size_kb", "100");
	enable("mine", true);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		before[i] = text_of(source, files[i]);

	CHECK(!try_apply(&try, EVERYTHING, &fresh), "refused");
	expect(source, "tracing_on", "0\n");
	expect(source, "set_event_pid", "5\n6\n7\n");
	expect(source, "options/event-fork", "1\n");
	expect_rules(source, "http:* *:http !mine:* ");
	enable("other", true);
	expect_rules(source, "http:* *:http !mine:* other:* ");
	try_undo(&try);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		expect(source, files[i], before[i]);
	expect_rules(source, "mine:* other:* ");

	/* What somebody else has switched off is not brought back. */
	CHECK(!try_apply(&try, "--top -q -e http", &fresh), "refused");
	enable("other", false);
	expect_rules(source, "mine:* http:* *:http !other:* ");
	try_undo(&try);
	expect_rules(source, "mine:* ");
	CHECK(!try_apply(&try, "--top -q -e http", &fresh), "refused");
	put(source, "set_event", "");
	try_undo(&try);
	expect_rules(source, "");
	enable("mine", true);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		free(before[i]);
}

/* A refusal, however late it comes, leaves everything as it was. */
static void check_refused(struct source *source)
{
	static const char *const lines[] = {
		"--top -q -e a -C mono -P 9 -M fffffffff",
		"--top -q -e a -O raw -O nosuch",
		"--top -q -e a -C boot --max-graph-depth 99999999999",
		"--top -q -e a -O hex -l no_such_function",
		"-q -e a -B new -e b -B newer -C boot -n nosuch",
		"-q -e a -B new -e b -R stacktrace",
		"-q -e a -B new -e b -f x>1 -f y>1",
	};
	struct buf names = BUF_INIT;
	struct try try;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char *options = text_of(source, "trace_options"), *clock = text_of(source, "trace_clock");
		char *pids = text_of(source, "set_event_pid");

		CHECK(try_apply(&try, lines[i], &fresh), "'%s' was taken", lines[i]);
		expect(source, "trace_options", options);
		expect(source, "trace_clock", clock);
		expect(source, "set_event_pid", pids);
		expect(source, "tracing_on", "1\n");
		expect_rules(source, "mine:* ");
		buf_reset(&names);
		source_list(source, "instances", &names, NULL);
		CHECK(!names.len, "'%s' left '%s'", lines[i], names.data);
		setup_close(try.setup);
		source_close(try.source);
		opts_fini(&try.opts);
		free(options);
		free(clock);
		free(pids);
	}
	buf_fini(&names);
}

/* Lines that are wrong whatever the source is. */
static void check_wrong(void)
{
	static const char *const lines[] = {
		"-e a -c", "-v -e a -f x>1", "-v -e a -R stacktrace", "--max-graph-depth x", "-M -2",
		"-B a -e x -B a -e y",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct err err = ERR_INIT;
		struct try try;
		int r = try_parse(&try, lines[i], &fresh, &err);

		CHECK(r == -EINVAL && *err.text, "'%s': %d", lines[i], r);
		opts_fini(&try.opts);
	}
}

/* -F: only the command's thread, beside those of -P. */
static void check_only(struct source *source)
{
	struct err err = ERR_INIT;
	struct try try;

	CHECK(!try_parse(&try, "--top -q -e a -F -P 8", &fresh, &err), "%s", err.text);
	try.source = open_source();
	setup_only(try.setup, 1234);
	CHECK(!setup_apply(try.setup, try.source, &err), "%s", err.text);
	expect(source, "set_event_pid", "8\n1234\n");
	try_undo(&try);
}

static pid_t record_elsewhere(void)
{
	int line[2];
	char ready;
	pid_t pid;

	CHECK(!pipe(line), "pipe");
	pid = fork();
	if (!pid) {
		struct try try;

		/* A test that fails leaves nobody behind. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (try_apply(&try, "-q -e a -B own -e b", &fresh))
			_exit(1);
		if (write(line[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(line[1]);
	CHECK(read(line[0], &ready, 1) == 1, "it has nothing");
	close(line[0]);
	return pid;
}

/* Who is killed leaves instances, which the next one removes; never those of who lives, nor anybody else's. */
static void check_sweep(struct source *source)
{
	struct err err = ERR_INIT;
	struct try try;
	char theirs[64];
	pid_t pid;
	int n;

	CHECK(!source_mkdir(source, "instances/record-1", &err), "%s", err.text);
	CHECK(!try_apply(&try, "-q -e a", &fresh), "refused");
	pid = record_elsewhere();
	snprintf(theirs, sizeof(theirs), "instances/record-%d", (int)pid);
	CHECK(source_exists(source, theirs) && source_exists(source, "instances/own"), "nothing was made");
	n = setup_sweep(source, &err);
	CHECK(!n, "%d swept, all of them alive", n);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	CHECK(source_exists(source, theirs), "it cleaned up after its death");
	n = setup_sweep(try.source, &err);
	CHECK(n == 2, "%d swept: %s", n, err.text);
	CHECK(!source_exists(source, theirs) && !source_exists(source, "instances/own"), "they are still there");
	n = setup_sweep(source, &err);
	CHECK(!n, "%d swept once more", n);
	CHECK(source_exists(source, "instances/record-1"), "somebody's own instance is gone");
	try_undo(&try);
	CHECK(!source_rmdir(source, "instances/record-1", &err), "%s", err.text);
}

int main(void)
{
	struct source *source = open_source();

	check_wrong();
	check_fresh(source);
	check_top(source);
	check_refused(source);
	check_only(source);
	check_sweep(source);
	source_close(source);
	return 0;
}
