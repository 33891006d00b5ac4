/*
 * trace_marker and trace_marker_raw: text and bytes that anybody writes are events like others, in the name of who wrote them.
 */
#include "control/program.h"

#include "decode/page.h"

/* The only event's bytes in the buffer, taken out; the caller frees them. */
static char *take_one(struct control *control, uint32_t *len)
{
	char path[64], *pages, *data = NULL;
	struct tree_file *file;
	struct page_event event;
	struct page_walk walk;
	size_t size;

	snprintf(path, sizeof(path), "per_cpu/cpu%d/trace_pipe_raw", cpu_at(0));
	file = file_open(control, path, TREE_READ);
	pages = file_drain(file, 65536, &size, NULL);
	file_close(file);
	CHECK(size == 4096 && !page_walk_init(&walk, pages, 4096), "%zu bytes", size);
	while (page_walk_next(&walk, &event) == 1) {
		CHECK(!data, "more than one event");
		data = malloc(event.len);
		memcpy(data, event.data, event.len);
		*len = event.len;
	}
	free(pages);
	return data;
}

static void check_text(struct control *control)
{
	char *text;

	room_expect(control, "buffer_size_kb", "0 (expanded: 1410)\n");
	room_write(control, "trace_marker", "", 0);
	room_expect(control, "buffer_size_kb", "0 (expanded: 1410)\n");
	room_write(control, "trace_marker", "one", 0);
	room_expect(control, "buffer_size_kb", "1410\n");
	room_write(control, "trace_marker", "two\n", 0);
	room_append(control, "trace_marker", "three \t\"3\"", 0);
	text = room_read(control, "trace_pipe");
	CHECK(count_of(text, ": tracing_mark_write: one\n") == 1 && count_of(text, ": tracing_mark_write: two\n") == 1 &&
	      count_of(text, ": tracing_mark_write: three \t\"3\"\n") == 1 && count_of(text, "\n") == 3, "'%s'", text);
	free(text);
	room_write(control, "tracing_on", "0", 0);
	room_write(control, "trace_marker", "no", -EBADF);
	room_write(control, "trace_marker_raw", "abcdef", -EBADF);
	room_write(control, "tracing_on", "1", 0);
	room_expect(control, "trace_pipe", "");
	/* What a person mistypes here is none of error_log's business. */
	room_expect(control, "error_log", "");
}

/* Not recorded: told, as the kernel does. */
static void check_refused(struct control *control)
{
	char *all = room_read(control, "tracing_cpumask");
	struct err err = ERR_INIT;
	int r = 0, n = 0;

	room_write(control, "tracing_cpumask", "0", 0);
	room_write(control, "trace_marker", "no", -EBADF);
	room_write(control, "trace_marker_raw", "abcd", -EBADF);
	room_write(control, "tracing_cpumask", all, 0);
	free(all);
	room_write(control, "buffer_size_kb", "16", 0);
	room_write(control, "options/overwrite", "0", 0);
	while (!r && n++ < 10000)
		r = tree_write(control, "trace_marker", "full", 4, 0, &err);
	CHECK(r == -EBADF && strstr(err.text, "full"), "%d after %d (%s)", r, n, err.text);
	CHECK(count_in(control, "trace_pipe", "tracing_mark_write: full") == n - 1, "not all that were accepted");
	room_write(control, "trace_marker", "room", 0);
	room_write(control, "options/overwrite", "1", 0);
	room_write(control, "buffer_size_kb", "1408", 0);
	CHECK(count_in(control, "trace_pipe", "[LOST 1 EVENTS]") == 1, "the refused one is not told");
}

/* Longer than a record: taken in pieces that are the text again when they are put together. */
static void check_long(struct control *control)
{
	static const size_t lens[] = { 3999, 4000, 4001, 8000, 50000 };

	for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		struct tree_file *file = file_open(control, "trace_marker", TREE_WRITE);
		char *said = malloc(lens[i] + 1), *heard, *at, *to;
		struct err err = ERR_INIT;
		size_t done = 0;

		for (size_t j = 0; j < lens[i]; j++)
			said[j] = (char)('a' + j % 23);
		said[lens[i]] = '\0';
		/* A file takes what fits and says how much; the whole at once takes all of it. */
		while (done < lens[i]) {
			ssize_t n = tree_file_write(file, said + done, lens[i] - done, NULL, &err);

			CHECK(n > 0 && (size_t)n <= 4096, "%zd (%s)", n, err.text);
			done += (size_t)n;
		}
		file_close(file);
		for (int round = 0; round < 2; round++) {
			heard = room_read(control, "trace_pipe");
			for (at = to = heard; (at = strstr(at, "tracing_mark_write: "));) {
				char *end;

				at += strlen("tracing_mark_write: ");
				end = strchr(at, '\n');
				CHECK(end, "a line has no end");
				memmove(to, at, (size_t)(end - at));
				to += end - at;
				at = end;
			}
			*to = '\0';
			CHECK(!strcmp(said, heard), "%zu bytes come back as %zu", lens[i], strlen(heard));
			free(heard);
			if (!round)
				room_write(control, "trace_marker", said, 0);
		}
		free(said);
	}
}

static void check_raw(struct control *control)
{
	char big[3080], *data;
	uint32_t len, id = 0x1234abcd;

	memset(big, 'x', sizeof(big));
	big[3077] = '\0';
	room_write(control, "trace_marker_raw", "", 0);
	room_write(control, "trace_marker_raw", "abc", -EINVAL);
	room_write(control, "trace_marker_raw", big, -EINVAL);
	memcpy(big, &id, 4);
	for (uint32_t n = 4; n <= 3076; n += n < 12 ? 1 : 1532) {
		struct record_head head;
		struct err err = ERR_INIT;

		CHECK(!tree_write(control, "trace_marker_raw", big, n, 0, &err), "%s", err.text);
		data = take_one(control, &len);
		memcpy(&head, data, sizeof(head));
		CHECK(head.type == EVENT_ID_RAW_DATA && head.pid == gettid(), "type %u of %d", head.type, head.pid);
		CHECK(len == 8 + ((n + 3) & ~3u) && !memcmp(data + 8, big, n), "%u bytes as %u", n, len);
		for (uint32_t i = 8 + n; i < len; i++)
			CHECK(!data[i], "garbage behind the data");
		free(data);
	}
}

/* In the name of who wrote, when that is somebody else. */
static void check_caller(struct control *control)
{
	struct tree_caller caller = { .tid = 4000001, .tgid = 4000000, .comm = "somebody" };
	struct tree_file *file = file_open(control, "trace_marker", TREE_WRITE);
	struct record_head head;
	struct err err = ERR_INIT;
	uint32_t len;
	char *data;

	CHECK(tree_file_write(file, "hello", 5, &caller, &err) == 5, "%s", err.text);
	CHECK(count_in(control, "trace", "        somebody-4000001 ") == 1, "not in its name");
	data = take_one(control, &len);
	memcpy(&head, data, sizeof(head));
	CHECK(head.pid == 4000001, "pid %d", head.pid);
	free(data);
	/* The next one is ours again. */
	CHECK(tree_file_write(file, "hello", 5, NULL, &err) == 5, "%s", err.text);
	data = take_one(control, &len);
	memcpy(&head, data, sizeof(head));
	CHECK(head.pid == gettid(), "pid %d", head.pid);
	free(data);
	file_close(file);
	CHECK(count_in(control, "saved_cmdlines", "4000001 somebody\n") == 1, "its name was forgotten");
}

/* A child that never traced writes in its own name. */
static void check_child(struct control *control)
{
	struct record_head head;
	uint32_t len;
	char *data;
	pid_t pid = child_fork();

	if (!pid) {
		room_write(room_open(), "trace_marker", "child", 0);
		_exit(0);
	}
	child_expect(pid);
	data = take_one(control, &len);
	memcpy(&head, data, sizeof(head));
	CHECK(head.pid == pid, "pid %d, not %d", head.pid, pid);
	free(data);
}

int main(void)
{
	struct control *control = room_open();

	cpu_pin(cpu_at(0));
	check_text(control);
	check_refused(control);
	check_long(control);
	check_raw(control);
	check_caller(control);
	check_child(control);
	control_close(control);
	return 0;
}
