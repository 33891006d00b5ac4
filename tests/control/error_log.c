/*
 * error_log: the last eight writes that were refused, why, and where in the text; each buffer has its own.
 */
#include "control/program.h"

#include <sys/stat.h>
#include <time.h>

#define NOISY 3

static struct item item;

/* One entry: three lines, as tools read them. */
static char *expect_entry(char *text, const char *where, const char *command, int pos)
{
	unsigned long long sec;
	char head[256], *line = text, *end;
	unsigned int us;
	int n = 0;

	CHECK(sscanf(line, "[%llu.%6u] %n", &sec, &us, &n) == 2 && n > 0, "'%s' does not begin with a time", line);
	CHECK(n >= 15 && (n == 15 || sec >= 100000), "the time is %d wide: '%s'", n, line);
	CHECK(sec <= (unsigned long long)time(NULL) && us < 1000000, "[%llu.%u]", sec, us);
	snprintf(head, sizeof(head), "%s: error: ", where);
	CHECK(!strncmp(line + n, head, strlen(head)), "'%s' is not about %s", line, where);
	CHECK(line[(size_t)n + strlen(head)] > ' ', "no words: '%s'", line);
	end = strchr(line, '\n');
	CHECK(end, "a line has no end");
	line = end + 1;
	snprintf(head, sizeof(head), "  Command: %s\n", command);
	CHECK(!strncmp(line, head, strlen(head)), "'%s' is not '%s'", line, head);
	line += strlen(head);
	end = strchr(line, '\n');
	CHECK(end && end + 1 - line == 13 + pos && end[-1] == '^' && strspn(line, " ") == (size_t)(11 + pos),
	      "'%s' does not point at %d", line, pos);
	return end + 1;
}

static void check_layout(struct control *control)
{
	char *text, *at;

	room_expect(control, "error_log", "");
	room_write(control, "tracing_on", "a\tb\n", -EINVAL);
	room_append(control, "events/test/item/inject", "n=1 m=2", -ENOENT);
	room_append(control, "events/test/item/inject", "n=x", -EINVAL);
	text = room_read(control, "error_log");
	at = expect_entry(text, "tracing_on", "a b", 0);
	at = expect_entry(at, "events/test/item/inject", "n=1 m=2", 4);
	at = expect_entry(at, "events/test/item/inject", "n=x", 2);
	CHECK(!*at, "and '%s'", at);
	free(text);
	/* Writing does nothing, `>` empties. */
	room_append(control, "error_log", "x", 0);
	CHECK(count_in(control, "error_log", ": error: ") == 3, "emptied");
	room_write(control, "error_log", "", 0);
	room_expect(control, "error_log", "");
}

static void check_eight(struct control *control)
{
	struct control *other = room_again(control);
	char word[32], *text, *at;

	for (int i = 0; i < 20; i++) {
		snprintf(word, sizeof(word), "word%d", i);
		/* Whoever wrote it, through whatever. */
		if (i % 2) {
			struct tree_file *file = file_open(other, "current_tracer", TREE_WRITE);

			file_write(file, word, -EINVAL);
			file_close(file);
		} else {
			room_write(control, "current_tracer", word, -EINVAL);
		}
		CHECK(count_in(control, "error_log", ": error: ") == (i < 8 ? i + 1 : 8), "after %d", i);
	}
	text = at = room_read(other, "error_log");
	for (int i = 12; i < 20; i++) {
		snprintf(word, sizeof(word), "word%d", i);
		at = expect_entry(at, "current_tracer", word, 0);
	}
	CHECK(!*at, "and '%s'", at);
	free(text);
	control_close(other);
}

/* Each has its own, and none pushes out another's. */
static void check_instances(struct control *control)
{
	char path[64];

	room_write(control, "error_log", "", 0);
	room_write(control, "trace_clock", "top", -EINVAL);
	for (int i = 0; i < NOISY; i++) {
		snprintf(path, sizeof(path), "instances/i%d", i);
		room_mkdir(control, path, 0);
		snprintf(path, sizeof(path), "instances/i%d/trace_clock", i);
		for (int j = 0; j < 200; j++)
			room_write(control, path, "inst", -EINVAL);
	}
	CHECK(count_in(control, "error_log", ": error: ") == 1 && count_in(control, "error_log", "Command: top\n") == 1,
	      "the top's are gone");
	CHECK(count_in(control, "instances/i0/error_log", ": error: ") == 8, "an instance's are gone");
	CHECK(count_in(control, "instances/i0/error_log", "] instances/i0/trace_clock: error: ") == 8, "which?");
	room_write(control, "instances/i0/error_log", "", 0);
	room_expect(control, "instances/i0/error_log", "");
	CHECK(count_in(control, "instances/i1/error_log", ": error: ") == 8, "another's were emptied");
	for (int i = 0; i < NOISY; i++) {
		snprintf(path, sizeof(path), "instances/i%d", i);
		room_rmdir(control, path, 0);
	}
	CHECK(count_in(control, "error_log", ": error: ") == 1, "the top's are gone");
	room_mkdir(control, "instances/i1", 0);
	room_expect(control, "instances/i1/error_log", "");
	room_rmdir(control, "instances/i1", 0);
}

/* Nobody has to be able to read what is in the file. */
static void check_garbage(struct control *control)
{
	char path[5000];
	FILE *file;

	snprintf(path, sizeof(path), "%s/errors", control->dir.path);
	file = fopen(path, "w");
	CHECK(file, "%s: %s", path, strerror(errno));
	for (int i = 0; i < 100000; i++)
		fputc(i * 7 % 256, file);
	fclose(file);
	room_expect(control, "error_log", "");
	room_write(control, "tracing_on", "x", -EINVAL);
	CHECK(count_in(control, "error_log", ": error: ") == 1, "nothing is told any more");
	CHECK(!unlink(path) && !symlink("/dev/null", path), "%s", strerror(errno));
	room_write(control, "tracing_on", "x", -EINVAL);
	room_expect(control, "error_log", "");
	CHECK(!unlink(path) && !mkdir(path, 0700), "%s", strerror(errno));
	room_write(control, "tracing_on", "x", -EINVAL);
	room_expect(control, "error_log", "");
}

int main(void)
{
	struct control *control = room_open();

	/* The first thing that happens in a directory, so that the two could be taken for each other. */
	room_mkdir(control, "instances/first", 0);
	room_write(control, "instances/first/tracing_on", "x", -EINVAL);
	room_expect(control, "error_log", "");
	room_rmdir(control, "instances/first", 0);
	item = item_bring("item");
	check_layout(control);
	check_eight(control);
	check_instances(control);
	check_garbage(control);
	control_close(control);
	return 0;
}
