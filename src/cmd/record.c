/*
 * cmd/record: events of programs into a trace file, while a command runs or until somebody says so.
 *
 *	read the line | buffers made ready | file | command at the gate | on | go ... | off | rest of the file | undone
 *
 * The file comes before anything is switched on: what cannot be written must not disturb anybody. Whatever ends it on the
 * way, buffers are off and gone, and the file is closed up.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/background.h"
#include "cmd/boards.h"
#include "cmd/exit_maps.h"
#include "cmd/far.h"
#include "cmd/flight_death.h"
#include "cmd/interrupt.h"
#include "cmd/launch.h"
#include "cmd/party.h"
#include "cmd/planner.h"
#include "cmd/progress.h"
#include "cmd/reach.h"
#include "cmd/record_ask.h"
#include "cmd/record_flight.h"
#include "cmd/remotes.h"
#include "cmd/scope.h"
#include "cmd/setup.h"
#include "cmd/switches.h"
#include "control/clock.h"

/* KiB of each CPU's ring. */
#define USUAL_KB 16384
#define TITLE_MAX 80

static const struct opt record_opts[] = {
	SETUP_BUFFER_OPTS,
	SETUP_LINE_OPTS,
	SETUP_ONLY_OPT,
	SETUP_TOP_OPT,
	{ 'o', "output", "PATH", "the file, instead of trace.dat" },
	FAR_OPTS,
	BOARDS_OPT,
	{ 0, "remote", "NAME[:EVENTS]", "also what this remote records: all its events, or those named, with commas between" },
	{ 'm', "max-size", "KB", "of each CPU only the newest events, so many KiB" },
	{ 0, "rotate", "SIZE|TIME", "a new file when one has 100M, or after 30s; old ones are PATH.1, PATH.2 ..." },
	{ 0, "keep", "N", "of those the newest N" },
	{ 0, "compression", "NAME", "pack while recording: any, none, zstd, zlib" },
	{ 0, "file-version", "6|7", "the file's version (7)" },
	{ 0, "date", NULL, "times as the calendar has them" },
	{ 0, "ts-offset", "NS", "added to all times" },
	{ 0, "proc-map", NULL, "save where the command, or the threads of -P, have which files mapped" },
	{ 'k', "keep-buffers", NULL, "leave the buffers and settings as they are then" },
	{ 0, "user", "NAME", "run the command as that user" },
	{ 0, "daemonize", NULL, "record in the background; PATH.pid has the process" },
	{ 'r', "priority", "N", "record with this real-time priority" },
	{ 's', "sleep", "US", "accepted, for trace-cmd's sake, as are all up to --temp: what they tune is not there" },
	{ 0, "poll", NULL, "it sleeps until something comes" },
	{ 0, "nosplice", NULL, "pages are copied once anyway" },
	{ 0, "cmdlines-size", "N", "names of all threads are kept anyway" },
	{ 0, "tsc2nsec", NULL, "the usual clock does so anyway" },
	{ 0, "temp", "DIR", "there are no files but the one" },
	{ 0, "flight", NULL, "keep the newest events in memory until the moment of --on comes" },
	{ 0, "before", "TIME", "what is saved of the time before it (5s)" },
	{ 0, "after", "TIME", "and after it (1s)" },
	{ 0, "on", "MOMENT", "EVENT[ if FILTER], death of the command, or signal (SIGUSR1)" },
	{ 0, NULL, NULL, NULL },
};

struct session {
	struct record_ask ask;
	const struct opts *opts;
	struct parties parties;
	struct party *programs, *files;	/* of those; NULL: the line is not about such */
	char **argv;		/* the command */
	struct launch launch;
	struct planner planner;
	struct switches switches;
	struct remotes remotes;	/* of --remote */
	struct far_end far;	/* of -N */
	struct boards *boards;	/* of -A */
	struct background background;
	struct reach reach;
	struct flight_death others;	/* of -P without a command: whose end is ours */
	struct record *record;
	struct flight *flight;
	struct record_buffer *buffers;
	char (*titles)[TITLE_MAX];	/* of those whose name in the file is not their own */
	struct progress progress;
	bool began;		/* something may be recorded */
	bool ended;		/* the command has, or the last of the others */
	int status;
	struct err err;
};

/* ---- what is recorded ---- */

static bool is_taken(const struct session *session, const char *title)
{
	for (size_t i = 0; i < session->ask.how.nr_buffers; i++)
		if (!strcmp(session->buffers[i].name, title))
			return true;
	return false;
}

/* Its own name, or, where a buffer of another source has that already, with the source's before it. */
static const char *title_of(struct session *session, const struct party *party, size_t i)
{
	const char *title = setup_title(party->setup, i), *word = party_word(party);
	char *own = session->titles[session->ask.how.nr_buffers];

	if (party == &session->parties.party[0] || (*title && !is_taken(session, title)))
		return title;
	if (*title)
		snprintf(own, TITLE_MAX, "%s-%.60s", word, title);
	else
		snprintf(own, TITLE_MAX, "%s", word);
	while (is_taken(session, own) && strlen(own) < TITLE_MAX - 1)
		strcat(own, "-");
	return own;
}

static int name_buffers(struct session *session)
{
	struct record_how *how = &session->ask.how;
	size_t n = 0;

	for (size_t p = 0; p < session->parties.n; p++)
		n += setup_buffers(session->parties.party[p].setup);
	n += session->remotes.n;
	session->buffers = calloc(n, sizeof(*session->buffers));
	session->titles = calloc(n, sizeof(*session->titles));
	if (!session->buffers || !session->titles)
		return err_set(&session->err, -ENOMEM, "out of memory");
	how->buffers = session->buffers;
	for (size_t p = 0; p < session->parties.n; p++) {
		const struct party *party = &session->parties.party[p];

		for (size_t i = 0; i < setup_buffers(party->setup); i++) {
			const char *instance = setup_instance(party->setup, i), *title = title_of(session, party, i);

			session->buffers[how->nr_buffers++] = (struct record_buffer){
				.source = party->source, .instance = instance ? instance : "", .name = title,
			};
		}
	}
	for (size_t i = 0; i < session->remotes.n; i++) {
		const char *name = session->remotes.all[i].name;
		char *own = session->titles[how->nr_buffers];

		snprintf(own, TITLE_MAX, "%s", name);
		while (is_taken(session, own) && strlen(own) < TITLE_MAX - 1)
			strcat(own, "-");
		session->buffers[how->nr_buffers++] = (struct record_buffer){
			.source = session->parties.party[0].source, .instance = "", .name = own, .remote = session->remotes.all[i].remote,
		};
	}
	return 0;
}

/* ---- what holds for all sources ---- */

/* One timeline: the counter, which is the same for all and costs least, else the time since the machine started. */
static int choose_clock(struct session *session)
{
	const char *said = opts_value(session->opts, "clock"), *clock = control_clock_cheapest();
	struct buf text = BUF_INIT;

	if (session->parties.n < 2 && !(session->files && opts_value(session->opts, "remote")) && !session->far.on && !session->boards->n)
		return 0;
	/* What other machines can be asked about. */
	if (session->far.on || session->boards->n)
		clock = "mono";
	else if (source_read(session->files->source, "trace_clock", &text, NULL) || !text.data || !strstr(text.data, clock) ||
	    strcmp(clock, "x86-tsc") || (session->programs && setup_wants_nanoseconds(session->programs->setup)))
		clock = "mono";
	buf_fini(&text);
	for (size_t p = 0; p < session->parties.n; p++)
		setup_use_clock(session->parties.party[p].setup, said ? said : clock);
	return 0;
}

static int sweep_all(struct session *session)
{
	int r = 0;

	for (size_t p = 0; r >= 0 && p < session->parties.n; p++)
		r = setup_sweep(session->parties.party[p].source, &session->err);
	return r < 0 ? r : 0;
}

static int apply(struct session *session)
{
	int r = choose_clock(session);

	for (size_t p = 0; !r && p < session->parties.n; p++)
		r = setup_apply(session->parties.party[p].setup, session->parties.party[p].source, &session->err);
	return r;
}

/* What the recorder does itself is not what anybody wants to see. */
static int hide(struct session *session)
{
	pid_t one = getpid();
	int r = 0;

	for (size_t i = 0; session->files && one && !r; i++) {
		r = setup_hide(session->files->setup, one, &session->err);
		one = session->record ? record_helper(session->record, i) : 0;
	}
	return r;
}

static int switch_all(struct session *session, bool on, struct err *err)
{
	int r = 0;

	for (size_t p = 0; p < session->parties.n && (!r || !on); p++) {
		struct setup *setup = session->parties.party[p].setup;
		int now = on ? setup_on(setup, err) : setup_off(setup, err);

		r = r ? r : now;
	}
	return r;
}

static void save_maps(void *ctx, int pid)
{
	struct session *session = ctx;

	if (session->record)
		record_add_maps(session->record, pid, NULL);
}

/* A short one may be at its end before we know that it began. */
static void watch_started(void *ctx)
{
	struct session *session = ctx;

	exit_maps_poll(&session->launch, &session->status, save_maps, session);
}

static int start_command(struct session *session)
{
	struct launch_how how = {
		.argv = session->argv,
		.user = session->ask.user,
		.preload = session->programs,
		.quiet = session->ask.quiet,
		.dir = session->programs ? source_name(session->programs->source) : NULL,
	};
	int r = launch_start(&session->launch, &how, &session->err);

	if (!r && session->ask.proc_map) {
		r = exit_maps_watch(&session->launch, &session->err);
		session->launch.meanwhile = watch_started;
		session->launch.ctx = session;
	}
	for (size_t p = 0; !r && opts_value(session->opts, "only-command") && p < session->parties.n; p++)
		setup_only(session->parties.party[p].setup, session->launch.pid);
	return r;
}

/* What the recorder starts has the usual one. */
static int take_priority(struct session *session)
{
	struct sched_param param = { .sched_priority = session->ask.priority };

	if (param.sched_priority && sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param))
		return err_set(&session->err, -errno, "-r %d: %s", param.sched_priority, strerror(errno));
	return 0;
}

/* With -c, what they started may go on. Where they cannot be watched the end is up to the user. */
static int watch_others(struct session *session)
{
	int r;

	if (session->ask.has_command || session->ask.flight || opts_value(session->opts, "children"))
		return 0;
	r = flight_death_watch(&session->others, session->opts, false, &session->err);
	if (r && r != -ESRCH) {
		flight_death_fini(&session->others);
		session->others = (struct flight_death){ 0 };
		r = 0;
	}
	return r;
}

/* What only programs need, before their events are on and behind that. */
static int begin_programs(struct session *session)
{
	const struct party *programs = session->programs;

	if (!programs)
		return 0;
	return planner_begin(&session->planner, programs->setup, programs->source, &programs->opts, &session->err);
}

static int reach_programs(struct session *session)
{
	const struct party *programs = session->programs;

	if (!programs)
		return 0;
	switches_begin(&session->switches, programs->source, session->ask.has_command ? session->launch.pid : 0);
	return reach_open(&session->reach, &programs->opts, source_name(programs->source), session->ask.quiet, &session->err);
}

/* Everything but the first event. */
static int begin(struct session *session)
{
	int r = far_call(&session->far, &session->err);

	if (!r)
		r = boards_start(session->boards, &session->err);
	session->ask.how.traceid = session->boards->machine;
	if (!r)
		r = sweep_all(session);
	if (!r)
		r = take_priority(session);
	if (!r)
		r = opts_command(session->opts, 0, &session->argv, &session->err);
	if (!r)
		r = watch_others(session);
	if (!r)
		r = begin_programs(session);
	if (!r && session->ask.has_command)
		r = start_command(session);
	if (!r)
		r = apply(session);
	if (!r)
		r = reach_programs(session);
	if (!r)
		r = remotes_open(&session->remotes, session->opts, session->programs ? source_control(session->programs->source) : NULL,
					&session->err);
	if (!r)
		r = name_buffers(session);
	if (!r && session->ask.flight)
		r = record_flight_open(&session->flight, &session->ask, session->opts,
				       session->ask.has_command ? &session->launch : NULL, &session->err);
	else if (!r)
		r = record_open(&session->record, &session->ask.how, &session->err);
	return r ? r : hide(session);
}

/* ---- while it runs ---- */

static void watch_command(struct session *session)
{
	int r;

	if (!session->ask.has_command || session->ended)
		return;
	if (session->ask.proc_map)
		r = exit_maps_poll(&session->launch, &session->status, save_maps, session);
	else
		r = launch_poll(&session->launch, &session->status);
	/* A command that cannot be waited for is not waited for. */
	session->ended = r != 0;
}

static int step(struct session *session)
{
	struct record_sums sums;
	uint32_t seen = __atomic_load_n(interrupt_word(), __ATOMIC_ACQUIRE);
	bool all = false;
	int r;

	watch_command(session);
	boards_go_on(session->boards);
	while (flight_death_gone(&session->others))
		session->ended = !session->others.left;
	if (session->ended || interrupt_end())
		return 0;
	record_sleep(session->record, progress_wait(&session->progress), interrupt_word(), seen, &all);
	do {
		r = record_take(session->record, all, &session->err);
		record_sums(session->record, &sums);
		progress_show(&session->progress, &sums);
	} while (r > 0 && !interrupt_end());
	return r < 0 ? r : 1;
}

/* Of a file that could be written no further, or a directory that is gone. */
static void tell_trouble(struct session *session)
{
	progress_end(&session->progress);
	cmd_say("%s", session->err.text);
	if (session->ask.has_command && !session->ended)
		cmd_say("the recording has ended; the command goes on");
}

/* Of one -P. */
static void tell_maps(struct session *session, const char *list)
{
	char *end;

	for (; *list; list = *end == ',' ? end + 1 : end) {
		long pid = strtol(list, &end, 10);

		if (end == list)
			return;
		record_add_maps(session->record, (int)pid, NULL);
	}
}

static void tell_maps_of_others(struct session *session)
{
	for (int i = 0; session->ask.proc_map && i < session->opts->nitems; i++)
		if (scope_is(&session->opts->items[i], "pid"))
			tell_maps(session, session->opts->items[i].value);
}

static void tell_result(struct session *session)
{
	struct record_sums sums;
	char bytes[32], lost[32] = "none";

	record_sums(session->record, &sums);
	if (sums.lost)
		snprintf(lost, sizeof(lost), "%" PRIu64, sums.lost);
	if (session->ask.quiet && !sums.lost && !sums.lost_more)
		return;
	/* Who drives has that in the file, and says it. */
	if (session->far.how.line && far_has_all(&session->far))
		return;
	cmd_say("%s: %" PRIu64 " events, %s, %s lost%s%s", session->far.on ? session->far.text : session->ask.path, sums.events,
		progress_bytes(bytes, sums.bytes), lost, sums.lost_more ? ", and some that could not be counted" : "",
		far_has_all(&session->far) ? "" : "; not all of them have arrived");
	if (sums.files)
		cmd_say("%s.%u and before it: what came before", session->ask.path, sums.files);
}

/* One timeline, as far as the clocks could be matched. */
static void tell_clocks(struct session *session)
{
	struct buf text = BUF_INIT;
	uint64_t error;

	for (size_t i = 0; record_remote_clock(session->record, i, &text, &error); i++, buf_reset(&text))
		if (!session->ask.quiet || error == UINT64_MAX)
			cmd_say("%s", text.data);
	buf_fini(&text);
}

/* With -k: the one that nobody gave a name has to be found again. */
static void tell_kept(struct session *session)
{
	for (size_t p = 0; session->ask.keep_buffers && !session->ask.quiet && p < session->parties.n; p++) {
		const struct party *party = &session->parties.party[p];

		for (size_t i = 0; i < setup_buffers(party->setup); i++) {
			const char *instance = setup_instance(party->setup, i);

			if (instance && !*setup_title(party->setup, i))
				cmd_say("the instance %s stays as it is: `ringside set%s -v -B %s` removes it", instance,
					party == session->files ? " --kernel" : "", instance);
		}
	}
}

/* The signal that ends us may have ended the command, too: its maps are wanted. */
static void see_off(struct session *session)
{
	for (int i = 0; session->ask.proc_map && session->ask.has_command && !session->ended && i < 20; i++) {
		watch_command(session);
		poll(NULL, 0, session->ended ? 0 : 10);
	}
}

static int record_all(struct session *session)
{
	int r = 1, end;

	session->began = true;
	/* Behind those whom it records it would be late: their buffers hold some milliseconds. Who may not goes on as he is. */
	if (session->files && !session->ask.priority)
		setpriority(PRIO_PROCESS, 0, -20);
	progress_begin(&session->progress, session->ask.quiet);
	tell_maps_of_others(session);
	while (r > 0) {
		far_mend(&session->far);
		r = step(session);
	}
	if (r < 0)
		tell_trouble(session);
	progress_end(&session->progress);
	switches_end(&session->switches);
	switch_all(session, false, NULL);
	if (session->ask.keep_buffers)
		remotes_keep(&session->remotes);
	else
		remotes_off(&session->remotes);
	see_off(session);
	far_end(&session->far);
	end = record_finish(session->record, r ? NULL : &session->err);
	if (!r && end)
		cmd_say("%s", session->err.text);
	tell_result(session);
	far_tell(&session->far, session->ask.quiet || end);
	tell_clocks(session);
	tell_kept(session);
	return r ? r : end;
}

/* ---- all of it ---- */

/* The rest of its life nobody looks at. */
static int wait_for_command(struct session *session, bool failed)
{
	struct pollfd end = { .fd = session->launch.pidfd, .events = POLLIN };

	for (watch_command(session); session->ask.has_command && !session->ended && !interrupt_end();
	     watch_command(session))
		poll(&end, 1, 1000);
	if (session->ended && session->status)
		return launch_exit_status(session->status);
	return failed ? CMD_FAILED : CMD_DONE;
}

/* Of a recording that could not begin there is no file. */
static void take_back(struct session *session)
{
	struct stat st;

	record_close(session->record);
	session->record = NULL;
	if (!session->ask.flight && !session->far.on && !lstat(session->ask.path, &st) && S_ISREG(st.st_mode))
		unlink(session->ask.path);
}

static int go(struct session *session)
{
	int r = switch_all(session, true, &session->err);

	if (!r)
		r = remotes_on(&session->remotes, &session->err);
	if (!r)
		switches_ready(&session->switches);
	if (!r && session->ask.daemonize)
		r = background_begin(&session->background, session->ask.path, &session->err);
	if (!r && session->ask.has_command)
		r = launch_go(&session->launch, &session->err);
	if (r) {
		take_back(session);
		return cmd_fail(&session->err);
	}
	if (!session->ask.has_command && !session->ask.quiet && isatty(STDERR_FILENO))
		cmd_say("recording; Ctrl-C ends it");
	r = session->flight ? record_flight_run(session->flight) : record_all(session);
	return wait_for_command(session, r);
}

static void give_up(struct session *session)
{
	struct err err = ERR_INIT;

	record_close(session->record);
	record_flight_close(session->flight);
	remotes_close(&session->remotes);
	switches_end(&session->switches);
	reach_close(&session->reach);
	flight_death_fini(&session->others);
	for (size_t p = 0; p < session->parties.n; p++) {
		struct setup *setup = session->parties.party[p].setup;

		if (setup && (session->ask.keep_buffers && session->began ? setup_leave(setup, &err) : setup_undo(setup, &err)))
			cmd_say("%s", err.text);
	}
	switches_close(&session->switches);
	planner_end(&session->planner);
	launch_close(&session->launch);
	far_close(&session->far);
	parties_fini(&session->parties);
	background_end(&session->background);
	free(session->buffers);
	free(session->titles);
	free(session->argv);
}

/* What two busy CPUs write while a disk makes a recorder wait; less where there is little memory. */
static uint64_t usual_size(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), cpus = sysconf(_SC_NPROCESSORS_CONF);
	uint64_t kb = pages > 0 && cpus > 0 ? (uint64_t)pages * ((uint64_t)sysconf(_SC_PAGESIZE) / 1024) / 32 /
					      (uint64_t)cpus : USUAL_KB;

	return kb > USUAL_KB ? USUAL_KB : kb < 64 ? 64 : kb;
}

/* What the line says of each source; nothing is touched. */
static int parse(struct session *session)
{
	int r = parties_split(&session->parties, session->opts, &session->err);

	if (r)
		return r;
	session->programs = parties_programs(&session->parties);
	session->files = parties_files(&session->parties);
	for (size_t p = 0; !r && p < session->parties.n; p++) {
		struct party *party = &session->parties.party[p];
		bool programs = party == session->programs;
		struct setup_how how = {
			.on = true, .fresh = true, .stays = session->ask.keep_buffers,
			.clock = programs ? control_clock_cheapest() : NULL, .size_kb = programs ? usual_size() : 0,
		};

		r = setup_parse(&party->setup, &party->opts, &how, &session->err);
	}
	if (!r && session->ask.flight && opts_value(session->opts, "remote"))
		r = err_set(&session->err, -EINVAL, "--flight keeps events of programs, and --remote is about others");
	if (!r && session->files && session->ask.flight)
		r = err_set(&session->err, -EINVAL, "--flight keeps events of programs: for the newest of a kernel there are `start --kernel`, "
			    "and `extract --kernel` when it comes to that");
	return r;
}

static int open_sources(struct session *session)
{
	int r = 0;

	for (size_t p = 0; !r && p < session->parties.n; p++) {
		struct party *party = &session->parties.party[p];

		r = launch_open_source(&party->source, &party->opts, party == session->programs ? session->ask.user : NULL,
				       &session->err);
	}
	return r;
}

static int record_here(const struct opts *opts, struct boards *boards)
{
	struct session session = {
		.opts = opts, .boards = boards, .launch = LAUNCH_NONE, .background.tell = -1, .err = ERR_INIT,
	};
	int status = record_ask(&session.ask, &cmd_record, opts), r;

	if (!status)
		status = far_ask(&session.far, &cmd_record, opts);
	far_set(&session.far, &session.ask.how);
	if (status)
		return status;
	r = parse(&session);
	if (r) {
		parties_fini(&session.parties);
		return setup_refused(&cmd_record, r, &session.err);
	}
	if (session.ask.daemonize) {
		r = background_fork(&session.background, &session.err);
		if (r > 0) {
			parties_fini(&session.parties);
			return r - 1;
		}
	}
	/* Before anything that the processes beside us would have, too. */
	interrupt_catch();
	if (!r)
		r = open_sources(&session);
	if (!r)
		r = begin(&session);
	status = r ? cmd_fail(&session.err) : go(&session);
	if (!r)
		status |= boards_finish(boards);
	give_up(&session);
	return status;
}

static int run(const struct opts *opts)
{
	struct boards boards = { 0 };
	int status = boards_ask(&boards, &cmd_record, opts);

	if (!status && boards.n && !boards.has_local)
		status = boards_record(&boards);
	else if (!status)
		status = record_here(&boards.local, &boards);
	boards_close(&boards);
	return status;
}

const struct cmd cmd_record = {
	.name = "record",
	.synopsis = "[-o PATH | -N HOST] " SETUP_SYNOPSIS " [OPTION]... [-A HOST [OPTION]...]... [--] [COMMAND [ARGUMENT]...]",
	.summary = "record events into a trace file",
	.mixes = true,
	.text = "Runs a command and records what it, and every other program that uses the tracing\n"
		"directory, emits; without a command until Ctrl-C. The file can be opened at any\n"
		"moment, also by trace-cmd. All events are recorded when neither -e nor -p is there.\n"
		"A buffer is made for this alone and removed in the end, unless -B or --top names\n"
		"another. The command's exit status is passed on. With -N it goes to another machine,\n"
		"with -A others record, too, each into a file of its own.\n",
	.opts = record_opts,
	.args_max = -1,
	.verbatim = -1,
	.run = run,
};
