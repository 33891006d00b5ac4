/*
 * cmd/apply_same: see apply_same.h. Lines are compared as they are shown, which is not quite how they are written.
 *
 *	p:kprobes/read vfs_read%return $retval	->	r:kprobes/read vfs_read arg1=$retval
 *	e:opens/open syscalls/sys_enter_openat	->	e:opens/open syscalls.sys_enter_openat
 *	lat u64 us; char comm[16]		->	lat	u64 us; char[16] comm
 *	hist:keys=pid				->	hist:keys=pid:vals=hitcount:sort=hitcount:size=2048 [active]
 *	traceoff:3 if pid == 1			->	traceoff:count=2 if pid == 1
 */
#include "cmd/apply_same.h"

#include <stdio.h>
#include <string.h>

#include "base/glob.h"

#define SAME_WORDS "exact same"

/* The next word of a line; its length, 0 at the end. */
static size_t next_word(const char **at)
{
	*at += strspn(*at, " \t;");
	return strcspn(*at, " \t;\n");
}

/* Words without the names that arguments get when they have none: the n-th is argN. */
static const char *without_name(const char *word, size_t *len, int n)
{
	char name[16];
	size_t own;

	snprintf(name, sizeof(name), "arg%d=", n);
	own = strlen(name);
	if (*len <= own || strncmp(word, name, own))
		return word;
	*len -= own;
	return word + own;
}

/* Names of events have a slash or a dot in them. */
static bool same_word(const char *x, const char *y, size_t len, bool name)
{
	for (size_t i = 0; i < len; i++)
		if (x[i] != y[i] && !(name && strchr("/.", x[i]) && strchr("/.", y[i])))
			return false;
	return true;
}

static bool same_line(const char *shown, const char *written)
{
	bool returns = *shown == 'r' && *written == 'p', event = *shown == 'e';

	for (int n = 0;; n++) {
		size_t a = next_word(&shown), b = next_word(&written), a_len = a, b_len = b, skip = returns && !n;
		const char *x = without_name(shown, &a_len, n - 1), *y = without_name(written, &b_len, n - 1);

		if (returns && n == 1 && b_len > 7 && !strncmp(y + b_len - 7, "%return", 7))
			b_len -= 7;
		if (a_len != b_len || a_len < skip || !same_word(x + skip, y + skip, a_len - skip, !n || (event && n == 1)))
			return false;
		if (!a)
			return true;
		shown += a;
		written += b;
	}
}

/* A field of a synthetic event as it is shown, from how it is shown or written. */
static void put_field(const char *field, size_t len, struct buf *out)
{
	const char *end = field + len, *name, *array;

	while (end > field && strchr(" \t", end[-1]))
		end--;
	for (name = end; name > field && !strchr(" \t", name[-1]);)
		name--;
	array = memchr(name, '[', (size_t)(end - name));
	for (const char *at = field; at < name; at++)
		if (!strchr(" \t", *at))
			buf_putc(out, *at);
		else if (at > field && !strchr(" \t", at[-1]) && at + strspn(at, " \t") < name)
			buf_putc(out, ' ');
	buf_printf(out, "%.*s %.*s;", array ? (int)(end - array) : 0, array ? array : "", (int)((array ? array : end) - name), name);
}

static void put_synth(const char *line, struct buf *out)
{
	size_t len = strcspn(line, " \t");

	buf_printf(out, "%.*s ", (int)len, line);
	for (line += len; *line; line += *line == ';') {
		line += strspn(line, " \t");
		len = strcspn(line, ";");
		if (len)
			put_field(line, len, out);
		line += len;
	}
}

static bool same_synth(const char *shown, const char *written)
{
	struct buf a = BUF_INIT, b = BUF_INIT;
	bool same;

	put_synth(shown, &a);
	put_synth(written, &b);
	same = !buf_failed(&a) && !buf_failed(&b) && !strcmp(a.data, b.data);
	buf_fini(&a);
	buf_fini(&b);
	return same;
}

static bool is_listed(struct source *source, const char *file, const char *line)
{
	bool synthetic = !strcmp(file, "synthetic_events"), found = false;
	struct buf text = BUF_INIT;
	char *save;

	if (!source_read(source, file, &text, NULL) && text.data)
		for (char *at = strtok_r(text.data, "\n", &save); at && !found; at = strtok_r(NULL, "\n", &save))
			found = synthetic ? same_synth(at, line) : same_line(at, line);
	buf_fini(&text);
	return found;
}

/* The last entry of an error_log: the words behind "error: ", or NULL. */
static const char *last_entry(const char *text)
{
	const char *last = NULL;

	for (const char *at = text; (at = strstr(at, " error: ")); at++)
		last = at + 8;
	return last;
}

void same_why(struct source *source, const struct scope *scope, const char *text, char why[128])
{
	struct buf log = BUF_INIT;
	const char *last = NULL, *command;
	size_t len = strcspn(text, "\n");

	*why = '\0';
	if (!scope_read(scope, source, "error_log", &log, NULL) && log.data)
		last = last_entry(log.data);
	command = last ? strstr(last, "Command: ") : NULL;
	if (command && !strncmp(command + 9, text, len < 40 ? len : 40))
		snprintf(why, 128, "%.*s", (int)strcspn(last, "\n"), last);
	buf_fini(&log);
}

/* The source's own words for it; files have a place for theirs. */
static bool says_so(struct source *source, const struct err *refused)
{
	struct buf text = BUF_INIT;
	bool said = strstr(refused->text, SAME_WORDS);
	const char *last = NULL;

	if (!said && !source_read(source, "error_log", &text, NULL) && text.data)
		last = last_entry(text.data);
	if (last) {
		const char *words = strstr(last, SAME_WORDS);

		said = words && words < last + strcspn(last, "\n");
	}
	buf_fini(&text);
	return said;
}

bool same_define(struct source *source, const struct boot_step *step)
{
	return is_listed(source, step->file, step->text);
}

bool same_refused(struct source *source, const struct boot_step *step, const struct err *refused)
{
	return strcmp(step->file, "synthetic_events") && says_so(source, refused);
}

/* What begins at `text` ends at one of `stops` outside of brackets, or with the line. */
static size_t span(const char *text, const char *stops)
{
	size_t n = 0;
	int depth = 0;

	for (; text[n] && text[n] != '\n'; n++) {
		depth += text[n] == '(' || text[n] == '[';
		depth -= text[n] == ')' || text[n] == ']';
		if (depth <= 0 && strchr(stops, text[n]))
			break;
	}
	return n;
}

/* A part of a histogram, between its colons, or one of the values or variables that share one. */
struct piece {
	const char *at;
	size_t len;
	bool value;
	bool shared;
};

static bool begins(const char *text, size_t len, const char *const *words)
{
	for (; *words; words++)
		if (strlen(*words) == len && !memcmp(text, *words, len))
			return true;
	return false;
}

/* From the first colon to the filter. `*at` is behind the one before it. */
static bool next_piece(const char **at, struct piece *piece)
{
	static const char *const values[] = { "vals", "val", "values", NULL };
	static const char *const others[] = { "keys", "key", "sort", "size", "name", "clock", NULL };

	if (**at == ':') {
		size_t word = strcspn(++*at, "=:( ");

		piece->value = (*at)[word] == '=' && begins(*at, word, values);
		piece->shared = (*at)[word] == '=' && !begins(*at, word, others);
		*at += piece->value ? word + 1 : 0;
	} else if (**at == ',' && piece->shared) {
		++*at;
	} else {
		return false;
	}
	piece->at = *at;
	piece->len = span(*at, piece->shared ? ",: " : ": ");
	*at += piece->len;
	return true;
}

static bool has_piece(const char *text, const struct piece *piece)
{
	struct piece other = { .at = NULL };

	for (const char *at = text + span(text, ": "); next_piece(&at, &other);)
		if (other.value == piece->value && other.len == piece->len && !memcmp(other.at, piece->at, piece->len))
			return true;
	return false;
}

/* What is shown of each, or what makes no other of one: hits, which are counted anyway, its size, what is done to one that is there. */
static bool is_usual(const struct piece *piece)
{
	static const char *const usual[] = { "sort=hitcount", "pause", "cont", "continue", "clear", NULL }, *const hits[] = { "hitcount", NULL };

	return begins(piece->at, piece->len, piece->value ? hits : usual) ||
	       (!piece->value && (!strncmp(piece->at, "size=", 5) || !strncmp(piece->at, "clock=", 6)));
}

static bool has_pieces(const char *text, const char *of)
{
	struct piece piece = { .at = NULL };

	for (const char *at = of + span(of, ": "); next_piece(&at, &piece);)
		if (!is_usual(&piece) && !has_piece(text, &piece))
			return false;
	return true;
}

/* One that has more, or less, is another one beside it. */
static bool same_hist(const char *shown, const char *written)
{
	return has_pieces(shown, written) && has_pieces(written, shown);
}

/* Of others, what they do and to which event; how often is counted down. */
static bool same_action(const char *shown, const char *written)
{
	bool names = !strncmp(written, "enable_", 7) || !strncmp(written, "disable_", 8);
	size_t n = strcspn(written, ": ");

	for (int i = 0; names && i < 2 && written[n] == ':'; i++)
		n += 1 + strcspn(written + n + 1, ": ");
	return !strncmp(shown, written, n) && strchr(": \n", shown[n]);
}

static bool same_parts(const char *shown, const char *written)
{
	const char *x = strstr(shown, " if "), *y = strstr(written, " if ");
	size_t len = y ? strlen(y) : 0;

	/* Behind a filter there is the state of a histogram, or nothing. */
	if (!x != !y || (x && (strncmp(x, y, len) || (x[len] && strncmp(x + len, " [", 2)))))
		return false;
	if (strncmp(written, "hist:", 5))
		return same_action(shown, written);
	return !strncmp(shown, "hist:", 5) && same_hist(shown, written);
}

/* All triggers of a buffer have a file, too, where events that are still to come have none of their own. */
static bool has_trigger(struct source *source, const struct scope *scope, const char *file, const char *name, const char *written)
{
	struct buf text = BUF_INIT;
	size_t len = strlen(name);
	bool found = false;
	char *save;

	if (!scope_read(scope, source, file, &text, NULL) && text.data)
		for (char *at = strtok_r(text.data, "\n", &save); at && !found; at = strtok_r(NULL, "\n", &save))
			found = *at != '#' && !strncmp(at, name, len) && same_parts(at + len, written);
	buf_fini(&text);
	return found;
}

bool same_trigger(struct source *source, const struct scope *scope, const struct boot_step *step)
{
	char file[256], name[160];

	snprintf(file, sizeof(file), "events/%.80s/%.80s/trigger", step->system, step->event);
	if (scope_has(scope, source, file))
		return has_trigger(source, scope, file, "", step->text);
	snprintf(name, sizeof(name), "%.70s:%.70s\t", step->system, step->event);
	return has_trigger(source, scope, "show_event_triggers", name, step->text);
}

size_t same_command_len(const char *text)
{
	size_t n = strcspn(text, ":"), word = n + (text[n] == ':');
	int words = !strncmp(text + word, "enable_event:", 13) || !strncmp(text + word, "disable_event:", 14) ? 3 : 1;

	while (words-- && text[n])
		n += 1 + strcspn(text + n + 1, ":");
	return n;
}

/* FUNCTION:COMMAND:unlimited, or :count=N; patterns are shown as the functions that they match. */
bool same_command(struct source *source, const struct scope *scope, const struct boot_step *step)
{
	size_t name = strcspn(step->text, ":"), rest = same_command_len(step->text) - name;
	struct buf text = BUF_INIT;
	bool found = false;
	char *save;

	if (!scope_read(scope, source, step->file, &text, NULL) && text.data)
		for (char *at = strtok_r(text.data, "\n", &save); at && !found; at = strtok_r(NULL, "\n", &save)) {
			size_t n = strcspn(at, ":");

			found = at[n] && glob_match_within(step->text, name, at, strcspn(at, " :")) && same_command_len(at) - n == rest &&
				!memcmp(at + n, step->text + name, rest);
		}
	buf_fini(&text);
	return found;
}
