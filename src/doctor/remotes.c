/*
 * doctor/remotes: memories that firmware and others trace into: are they there, and do they make sense?
 */
#include <stdio.h>
#include <string.h>

#include "doctor/doctor.h"
#include "remote/clock.h"
#include "remote/remote.h"

/* A core that does nothing but wait answers ten times in a second. */
#define PATIENCE_NS 300000000ull

/* What can only be read is not asked. */
static bool answers(struct remote *remote)
{
	struct remote_clock clock;

	if (!remote_is_writable(remote))
		return true;
	remote_clock_init(&clock);
	remote_clock_match(&clock, remote, PATIENCE_NS, false);
	return remote_clock_error(&clock) != UINT64_MAX;
}

static void put_remote(struct doctor *doctor, struct remote *remote)
{
	const char *name = remote_name(remote);
	struct err why = ERR_INIT;
	char words[64];
	bool on;

	if (remote_is_gone(remote)) {
		snprintf(words, sizeof(words), "remote remove %s", name);
		doctor_put(doctor, DOCTOR_NOTE, "remotes", doctor_ringside(doctor, words), "%s: the program that served it is gone", name);
	} else if (remote_tracing_on(remote, &on, &why)) {
		doctor_put(doctor, DOCTOR_NOTE, "remotes", NULL, "%s: %s", name, why.text);
	} else if (remote_server(remote)) {
		doctor_put(doctor, DOCTOR_OK, "remotes", NULL, "%s: tracing is %s, served by process %d", name, on ? "on" : "off",
			   (int)remote_server(remote));
	} else if (!answers(remote)) {
		doctor_put(doctor, DOCTOR_NOTE, "remotes", NULL, "%s: tracing is %s in %s, and nobody answers: it stands still, or is a dump", name,
			   on ? "on" : "off", remote_path(remote));
	} else {
		doctor_put(doctor, DOCTOR_OK, "remotes", NULL, "%s: tracing is %s, in %s", name, on ? "on" : "off", remote_path(remote));
	}
}

void doctor_remotes(struct doctor *doctor)
{
	struct buf names = BUF_INIT;
	char *save, *name;
	int dir = doctor->control->dir.dir, r = remote_list(dir, &names, NULL);

	for (name = r ? NULL : strtok_r(names.data, "\n", &save); name; name = strtok_r(NULL, "\n", &save)) {
		struct err why = ERR_INIT;
		struct remote *remote;

		if (!strcmp(name, REMOTE_TEST))
			continue;
		if (remote_open(&remote, dir, name, &why))
			doctor_put(doctor, DOCTOR_NOTE, "remotes", NULL, "%s: %s", name, why.text);
		else
			put_remote(doctor, remote);
		remote_close(remote);
	}
	buf_fini(&names);
}
