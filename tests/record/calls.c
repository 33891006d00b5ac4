/*
 * Records of functions in a tracing directory, taken out as a file: `ringside report` has the text that trace-cmd's has where
 * that is installed, names of functions included, and leaves where trace-cmd has them. The lines of `ringside stream` are the
 * same.
 */
#include "control/program.h"

#include <fcntl.h>

#include "cmd/stream_lines.h"

#if defined(__clang__)
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

static volatile int sink;

NOINLINE static void inner(void)
{
	sink++;
}

NOINLINE static void outer(void)
{
	inner();
	sink++;
}

static void record(struct control *control, uint32_t id, void *bytes, size_t len)
{
	CHECK(!runtime_write_to(0, control->state.buffers[0].born, id, bytes, len, 0), "event %u is not written", id);
}

static void call(struct control *control, void (*function)(void), int32_t depth)
{
	struct record_graph_entry entry = { .func = runtime_symbol_address((const void *)(uintptr_t)function), .depth = depth };

	record(control, EVENT_ID_GRAPH_ENTRY, &entry, RECORD_GRAPH_ENTRY_SIZE);
}

static void back(struct control *control, void (*function)(void), int32_t depth, uint64_t ns)
{
	struct record_graph_exit exit = { .func = runtime_symbol_address((const void *)(uintptr_t)function), .depth = depth,
					  .retval = (uint64_t)-1, .calltime = 5, .rettime = 5 + ns };

	record(control, EVENT_ID_GRAPH_EXIT, &exit, sizeof(exit));
}

static void calls(struct control *control)
{
	struct record_function function = { .ip = runtime_symbol_address((const void *)(uintptr_t)inner),
					    .parent_ip = runtime_symbol_address((const void *)(uintptr_t)outer) + 1 };

	for (int n = 0; n < 300; n++) {
		cpu_pin(cpu_at(n % 2) < 0 ? cpu_at(0) : cpu_at(n % 2));
		call(control, outer, 0);
		call(control, inner, 1);
		back(control, inner, 1, 999);
		record(control, EVENT_ID_FUNCTION, &function, sizeof(function));
		back(control, outer, 0, 1234567);
	}
}

/* What a command prints; it must succeed. */
static char *output(const char *command, const char *file)
{
	struct buf out = BUF_INIT;
	char line[1024], piece[4096];
	size_t n;
	FILE *f;

	snprintf(line, sizeof(line), "%s '%s'", command, file);
	f = popen(line, "re");
	CHECK(f, "%s", line);
	while ((n = fread(piece, 1, sizeof(piece), f)) > 0)
		buf_add(&out, piece, n);
	CHECK(!pclose(f), "%s", line);
	return buf_take(&out);
}

static void same(const char *ringside, const char *options, const char *file)
{
	char ours[512], theirs[512], *our_text, *their_text;

	snprintf(ours, sizeof(ours), "%s report --layout 3.2 %s", ringside, options);
	snprintf(theirs, sizeof(theirs), "trace-cmd report %s", options);
	our_text = output(ours, file);
	their_text = output(theirs, file);
	CHECK(!strcmp(our_text, their_text), "report %s:\n%.2000s\n--- theirs:\n%.2000s", options, our_text, their_text);
	free(our_text);
	free(their_text);
}

/* What is in the buffer, printed to a file as stream does. */
static void stream(struct control *control, const char *path)
{
	int saved = dup(STDOUT_FILENO), fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct err err = ERR_INIT;
	struct pager pager = { .err = &err };
	struct stream_lines *lines;

	fflush(stdout);
	CHECK(fd >= 0 && saved >= 0 && dup2(fd, STDOUT_FILENO) == STDOUT_FILENO, "%s", path);
	CHECK(!stream_lines_open(&lines, control, &pager, 1, &err), "%s", err.text);
	CHECK(!stream_lines_add(lines, NULL, "", &err), "%s", err.text);
	CHECK(stream_lines_take(lines, NULL, NULL, &err) == 1, "%s", err.text);
	CHECK(!stream_lines_take(lines, NULL, NULL, &err), "%s", err.text);
	stream_lines_close(lines);
	CHECK(!pager_end(&pager, 0), "%s", err.text);
	fflush(stdout);
	CHECK(dup2(saved, STDOUT_FILENO) == STDOUT_FILENO, "stdout");
	close(saved);
	close(fd);
}

int main(void)
{
	static const char *const options[] = { "", "-t", "-R", "-l", "-N", "-O parent -O offset", "-O tailprint -O depth", "--cpu 0" };
	const char *ringside = getenv("RINGSIDE"), *scratch = getenv("RINGSIDE_SCRATCH");
	struct control *control = room_open();
	char file[512], path[512], command[1024], *text, *streamed;

	CHECK(ringside && scratch, "RINGSIDE and RINGSIDE_SCRATCH say where things are");
	room_write(control, "trace_marker", "makes the rings", 0);
	CHECK(!control_refresh(control, NULL), "refresh");
	calls(control);
	snprintf(file, sizeof(file), "%s/calls.dat", scratch);
	snprintf(command, sizeof(command), "%s extract -o", ringside);
	free(output(command, file));
	snprintf(command, sizeof(command), "%s report", ringside);
	text = output(command, file);
	CHECK(count_of(text, ": funcgraph_entry:                   |  outer() {\n") == 300 &&
	      count_of(text, ": funcgraph_entry:        0.999 us   |    inner();\n") == 300 &&
	      count_of(text, ": function:             inner\n") + count_of(text, ": function:                inner\n") == 300 &&
	      count_of(text, ": funcgraph_exit:       # 1234.567 us |  }\n") == 300, "%.3000s", text);
	snprintf(path, sizeof(path), "%s/stream", scratch);
	stream(control, path);
	streamed = output("cat", path);
	CHECK(!strcmp(streamed, strchr(text, '\n') + 1), "%.2000s\n--- report:\n%.2000s", streamed, text);
	free(streamed);
	free(text);
	control_close(control);
	if (system("command -v trace-cmd >/dev/null")) {
		printf("trace-cmd is not installed: not compared\n");
		return 0;
	}
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		same(ringside, options[i], file);
	return 0;
}
