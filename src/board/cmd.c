/*
 * board/cmd: in place of what `record` does beside recording. Options that ask for it are refused before anything is touched.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/near.h"
#include "cmd/background.h"
#include "cmd/beside.h"
#include "cmd/boards.h"
#include "cmd/coming.h"
#include "cmd/exit_maps.h"
#include "cmd/flight_death.h"
#include "cmd/launch_local.h"
#include "cmd/nearest.h"
#include "cmd/pager.h"
#include "cmd/planner.h"
#include "cmd/reach.h"
#include "cmd/record_flight.h"
#include "cmd/remotes.h"
#include "cmd/switches.h"
#include "doctor/elf.h"
#include "doctor/library.h"
#include "source/parts.h"
#include "source/kind.h"

/* ---- what is refused ---- */

static const struct refusal {
	const char *word;
	const char *why;
} refusals[] = {
	{ "agent", "a board is driven, and drives no others" },
	{ "remote", "remotes are read by a whole ringside" },
	{ "flight", "nothing here waits for a moment: send all of it with -N" },
	{ "daemonize", "`ringside agent` stays in the background" },
	{ "user", "commands run as whoever records" },
	{ "proc-map", "names of functions are not looked up here" },
	{ "compression", "it compresses nothing" },
	{ "file-version", "files are of version 7: `ringside convert` elsewhere makes others" },
	{ "compat", "stock trace-cmd is spoken to by a whole ringside" },
	{ "tls", "it has no TLS: use ssh://, a Unix socket or the loopback, or say --insecure" },
};

/* The first to look at the line, since -A splits it. */
int boards_ask(struct boards *boards, const struct cmd *cmd, const struct opts *opts)
{
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		if (opts_value(opts, refusals[i].word))
			return cmd_misuse(cmd, "record: --%s is not in a board's ringside: %s", refusals[i].word, refusals[i].why);
	boards->local = *opts;
	return CMD_DONE;
}

int boards_start(struct boards *boards, struct err *err)
{
	return 0;
}

bool boards_go_on(struct boards *boards)
{
	return false;
}

int boards_finish(struct boards *boards)
{
	return CMD_DONE;
}

int boards_record(struct boards *boards)
{
	return CMD_FAILED;
}

void boards_close(struct boards *boards)
{
}

/* ---- what was not asked for ---- */

int background_fork(struct background *background, struct err *err)
{
	return 0;
}

int background_begin(struct background *background, const char *path, struct err *err)
{
	return 0;
}

void background_end(struct background *background)
{
}

int exit_maps_watch(struct launch *launch, struct err *err)
{
	return 0;
}

int exit_maps_poll(struct launch *launch, int *status, void (*save)(void *ctx, int pid), void *ctx)
{
	return launch_poll(launch, status);
}

int record_flight_check(const char *on, struct err *err)
{
	return 0;
}

int record_flight_open(struct flight **out, const struct record_ask *ask, const struct opts *opts, struct launch *launch, struct err *err)
{
	return 0;
}

int record_flight_run(struct flight *flight)
{
	return 0;
}

void record_flight_close(struct flight *flight)
{
}

int remotes_open(struct remotes *remotes, const struct opts *opts, struct control *control, struct err *err)
{
	return 0;
}

int remotes_on(struct remotes *remotes, struct err *err)
{
	return 0;
}

void remotes_off(struct remotes *remotes)
{
}

void remotes_keep(struct remotes *remotes)
{
}

void remotes_close(struct remotes *remotes)
{
}

/* ---- processes beside it ---- */

void beside_begin(const char *name)
{
}

int planner_begin(struct planner *planner, const struct setup *setup, struct source *source, const struct opts *opts, struct err *err)
{
	return 0;
}

void planner_end(struct planner *planner)
{
}

int reach_open(struct reach *reach, const struct opts *opts, const char *dir, bool quiet, struct err *err)
{
	return 0;
}

void reach_close(struct reach *reach)
{
}

void switches_begin(struct switches *switches, struct source *source, pid_t root)
{
}

void switches_ready(const struct switches *switches)
{
}

void switches_end(struct switches *switches)
{
}

void switches_close(struct switches *switches)
{
}

/* The recording ends when its command does, or when somebody says so. */
int flight_death_watch(struct flight_death *death, const struct opts *opts, bool all, struct err *err)
{
	return 0;
}

pid_t flight_death_gone(struct flight_death *death)
{
	return 0;
}

void flight_death_fini(struct flight_death *death)
{
}

/* ---- looking into files of programs: what a board runs has the runtime as a part of itself ---- */

size_t coming_events(const char *program, const char *event, struct events_wish **found)
{
	*found = NULL;
	return 0;
}

int launch_preload_find(const char *command, char path[PATH_MAX], struct err *err)
{
	return 1;
}

const char *launch_preload_why(const char *command, bool *carries)
{
	*carries = false;
	return NULL;
}

int library_open(const char *path, struct elf *elf)
{
	return -ENOENT;
}

const char *elf_machine(const struct elf *elf, char text[32])
{
	return "";
}

bool elf_runs_here(const struct elf *elf)
{
	return true;
}

void elf_close(struct elf *elf)
{
}

int launch_user_find(struct launch_user *user, const char *name, struct err *err)
{
	return 0;
}

int launch_user_become(const struct launch_user *user)
{
	return 0;
}

int launch_open_source(struct source **out, const struct opts *opts, const char *user, struct err *err)
{
	return cmd_open(out, opts, true, err);
}

void launch_user_fini(struct launch_user *user)
{
}

/* ---- words ---- */

unsigned int near_distance(const char *a, const char *b)
{
	return 99;
}

void nearest_offer(struct nearest *nearest, const char *system, const char *event)
{
}

const char *nearest_words(const struct nearest *nearest, char text[160])
{
	*text = '\0';
	return text;
}

/* None that is not there can come but with a program. */
int nearest_judge(const struct nearest *nearest, struct err *err)
{
	return 0;
}

void source_reason(struct source *source, const char *path, const char *text, size_t len, char *reason, size_t size)
{
	*reason = '\0';
}

const char *source_part_config(const char *path)
{
	return NULL;
}


int pager_show(const struct opts *opts, const struct buf *text, struct err *err)
{
	return cmd_put(text->data, text->len, err);
}
