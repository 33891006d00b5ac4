/*
 * doctor/finding: how a finding is written, for people and as JSON. See doctor.h.
 */
#include "doctor/doctor.h"

#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "report/json.h"

#define INDENT 17	/* where the words of a finding begin */

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
