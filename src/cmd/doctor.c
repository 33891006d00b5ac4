/*
 * cmd/doctor: what works here, what does not and what mends it; how a program can be traced, or why not.
 *
 * Nothing is changed by looking. What could not be looked at is said to be so.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "doctor/doctor.h"

static const struct opt doctor_opts[] = {
	{ 0, "json", NULL, "one JSON object a line" },
	{ 0, NULL, NULL, NULL },
};

static bool is_pid(const char *text)
{
	return *text && !text[strspn(text, "0123456789")];
}

static int find_directory(struct doctor *doctor, const struct opts *opts, struct err *err)
{
	const char *given = opts_value(opts, "dir");
	const char *named = getenv("RINGSIDE_DIR");
	int r;

	if (given && !*given)
		return err_set(err, -EINVAL, "--dir needs the path of a directory");
	if (given) {
		doctor->dir_from = "--dir";
		buf_puts(&doctor->dir_option, " --dir ");
		doctor_quote(&doctor->dir_option, given);
		r = snprintf(doctor->dir, sizeof(doctor->dir), "%s", given) >= PATH_MAX ? -ENAMETOOLONG : 0;
	} else {
		doctor->dir_from = named && *named ? "RINGSIDE_DIR" : "by default";
		r = segment_path(doctor->dir, sizeof(doctor->dir), false);
	}
	return r ? err_set(err, r, "the path of the tracing directory is too long") : 0;
}

static void look(struct doctor *doctor, const char *what)
{
	long pid;

	if (!what) {
		doctor_machine(doctor);
		doctor_directory(doctor);
		doctor_directory_use(doctor);
		return;
	}
	doctor_directory(doctor);
	errno = 0;
	pid = is_pid(what) ? strtol(what, NULL, 10) : 0;
	if (!is_pid(what))
		doctor_program(doctor, what);
	else if (errno || pid < 1 || pid > INT_MAX)
		doctor_put(doctor, DOCTOR_BAD, "process", NULL, "there is no process %s", what);
	else
		doctor_process(doctor, (pid_t)pid);
}

/* A tree of files, the kernel's above all. What cannot be opened is a finding, too. */
static void look_at_files(struct doctor *doctor, const struct opts *opts)
{
	struct err err = ERR_INIT;
	struct source *source;

	if (cmd_open(&source, opts, false, &err)) {
		doctor_put(doctor, DOCTOR_BAD, "tracefs", NULL, "%s", err.text);
		return;
	}
	doctor_kernel(doctor, source);
	source_close(source);
}

static int run(const struct opts *opts)
{
	bool files = opts_value(opts, "kernel") || opts_value(opts, "tracefs");
	struct doctor doctor = { .json = opts_value(opts, "json") != NULL };
	struct err err = ERR_INIT;
	struct winsize size;
	int r;

	if (files && opts_arg(opts, 0))
		return cmd_misuse(&cmd_doctor, "doctor: a program is traced without --kernel: %s", opts_arg(opts, 0));
	doctor.colour = cmd_colour(STDOUT_FILENO);
	if (isatty(STDOUT_FILENO))
		doctor.width = !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col ? size.ws_col : 80;
	r = find_directory(&doctor, opts, &err);
	if (!r) {
		if (files)
			look_at_files(&doctor, opts);
		else
			look(&doctor, opts_arg(opts, 0));
		r = buf_failed(&doctor.out) ? err_set(&err, -ENOMEM, "out of memory")
					    : cmd_put(doctor.out.data, doctor.out.len, &err);
	}
	control_close(doctor.control);
	buf_fini(&doctor.out);
	buf_fini(&doctor.step);
	buf_fini(&doctor.dir_option);
	if (r)
		return cmd_fail(&err);
	return doctor.bad ? CMD_FAILED : CMD_DONE;
}

const struct cmd cmd_doctor = {
	.name = "doctor",
	.synopsis = "[--json] [PROGRAM | PID]",
	.summary = "tell what works here and what does not",
	.text = "Looks at this machine and the tracing directory; with PROGRAM, or the PID of a running\n"
		"process, at how that can be traced, or why not. A line for each finding: ok, note (worth\n"
		"knowing) or bad (keeps tracing from working), and what mends it. Exits with 1 when\n"
		"something is bad. With --kernel: what of the kernel's tracing can be had here.\n",
	.opts = doctor_opts,
	.args_max = 1,
	.run = run,
};
