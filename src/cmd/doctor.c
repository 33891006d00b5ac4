/*
 * cmd/doctor: what works here, what does not and what mends it; how a program can be traced, or why not.
 *
 * Nothing is changed by looking. What could not be looked at is said to be so.
 */
#include "cmd/doctor.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "report/json.h"

#define INDENT 17	/* where the words of a finding begin */

static const struct opt doctor_opts[] = {
	{ 0, "json", NULL, "one JSON object a line" },
	{ 0, NULL, NULL, NULL },
};

static const struct {
	const char *word;
	const char *colour;
} marks[] = {
	[DOCTOR_OK] = { "ok", "\033[32m" },
	[DOCTOR_NOTE] = { "note", "\033[33m" },
	[DOCTOR_BAD] = { "bad", "\033[1;31m" },
};

void doctor_quote(struct buf *out, const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "/._-+,:@%=";

	if (*text && !text[strspn(text, plain)]) {
		buf_puts(out, text);
		return;
	}
	buf_putc(out, '\'');
	for (; *text; text++)
		if (*text == '\'')
			buf_puts(out, "'\\''");
		else
			buf_putc(out, *text);
	buf_putc(out, '\'');
}

const char *doctor_step(struct doctor *doctor, const char *words, const char *text)
{
	buf_reset(&doctor->step);
	buf_puts(&doctor->step, words);
	doctor_quote(&doctor->step, text);
	return buf_failed(&doctor->step) ? words : doctor->step.data;
}

void doctor_sudo(struct buf *out, uid_t uid)
{
	if (uid == geteuid())
		return;
	if (uid)
		buf_printf(out, "sudo -u '#%u' ", (unsigned int)uid);
	else
		buf_puts(out, "sudo ");
}

const char *doctor_ringside(struct doctor *doctor, const char *words)
{
	buf_reset(&doctor->step);
	buf_printf(&doctor->step, "ringside %s%s", words,
		   doctor->dir_option.len ? doctor->dir_option.data : "");
	return buf_failed(&doctor->step) ? words : doctor->step.data;
}

/* Names in it come from people and from programs. */
static void put_clean(struct buf *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		buf_putc(out, (unsigned char)text[i] < ' ' || text[i] == 0x7f ? '?' : text[i]);
}

/* Words, broken between them where the terminal ends. A step is left whole, to be copied. */
static void put_words(struct doctor *doctor, const char *text)
{
	size_t room = doctor->width > INDENT + 20 ? (size_t)(doctor->width - INDENT) : SIZE_MAX;
	size_t column = 0;

	while (*text) {
		size_t len = strcspn(text, " ");

		if (column && column + 1 + len > room) {
			buf_printf(&doctor->out, "\n%*s", INDENT, "");
			column = 0;
		} else if (column) {
			buf_putc(&doctor->out, ' ');
			column++;
		}
		put_clean(&doctor->out, text, len);
		column += len;
		text += len;
		text += *text == ' ';
	}
	buf_putc(&doctor->out, '\n');
}

static void put_json(struct doctor *doctor, enum doctor_mark mark, const char *check, const char *step,
		     const char *text)
{
	buf_printf(&doctor->out, "{\"check\":\"%s\",\"mark\":\"%s\",\"text\":", check, marks[mark].word);
	report_json_string(&doctor->out, text, strlen(text));
	buf_puts(&doctor->out, ",\"step\":");
	if (step)
		report_json_string(&doctor->out, step, strlen(step));
	else
		buf_puts(&doctor->out, "null");
	buf_puts(&doctor->out, "}\n");
}

void doctor_put(struct doctor *doctor, enum doctor_mark mark, const char *check, const char *step,
		const char *fmt, ...)
{
	struct buf text = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	doctor->bad |= mark == DOCTOR_BAD;
	if (doctor->json) {
		put_json(doctor, mark, check, step, text.data ? text.data : "");
	} else {
		buf_printf(&doctor->out, "%s%-4s%s  %-10s ", doctor->colour ? marks[mark].colour : "",
			   marks[mark].word, doctor->colour ? "\033[0m" : "", check);
		put_words(doctor, text.data ? text.data : "");
		if (step) {
			buf_printf(&doctor->out, "%*s-> ", INDENT, "");
			put_clean(&doctor->out, step, strlen(step));
			buf_putc(&doctor->out, '\n');
		}
	}
	doctor->out.failed |= buf_failed(&text);
	buf_fini(&text);
}

/* Digits only: a process. A program of such a name is ./NAME. */
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

static int run(const struct opts *opts)
{
	struct doctor doctor = { .json = opts_value(opts, "json") != NULL };
	struct err err = ERR_INIT;
	struct winsize size;
	int r;

	doctor.colour = cmd_colour(STDOUT_FILENO);
	if (isatty(STDOUT_FILENO))
		doctor.width = !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col ? size.ws_col : 80;
	r = find_directory(&doctor, opts, &err);
	if (!r) {
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
		"something is bad.\n",
	.opts = doctor_opts,
	.args_max = 1,
	.run = run,
};
