/*
 * A file that is followed, through source/: of a tracing directory and of files alike, what is
 * there comes, then what comes later, until somebody says that it is over; and what was taken out
 * of a tracing directory comes whole, also when it is over in the middle.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "insist.h"
#include "source/source.h"

struct reader {
	struct buf text;
	int asked;		/* how often it was asked whether it is over */
	int pieces;
	int end_after;		/* pieces */
	struct source *other;	/* writes a marker when there is nothing more */
	int refuse;		/* what put says */
};

static int put(void *ctx, const void *bytes, size_t len)
{
	struct reader *reader = ctx;

	buf_add(&reader->text, bytes, len);
	reader->pieces++;
	return reader->refuse;
}

static bool over(void *ctx)
{
	struct reader *reader = ctx;
	struct err err = ERR_INIT;

	/* The second time round, whoever follows has seen all that there was and has waited. */
	if (++reader->asked == 3 && reader->other)
		CHECK(!source_write(reader->other, "trace_marker", "later", 5, false, &err), "%s", err.text);
	return reader->pieces >= reader->end_after || reader->asked > 300;
}

static size_t count(const struct buf *text, const char *what)
{
	size_t n = 0;

	for (const char *at = text->data; at && (at = strstr(at, what)); at += strlen(what))
		n++;
	return n;
}

static struct source *open_source(const struct source_how *how)
{
	struct err err = ERR_INIT;
	struct source *source;

	if (source_open(&source, how, &err)) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	return source;
}

static void directory(void)
{
	struct source *source = open_source(&(struct source_how){ .create = true });
	struct reader reader = { .text = BUF_INIT, .end_after = 2 };
	struct err err = ERR_INIT;

	reader.other = open_source(&(struct source_how){ 0 });
	CHECK(source_control(source), "no tracing directory");
	CHECK(!source_write(source, "trace_marker", "first", 5, false, &err), "%s", err.text);
	CHECK(!source_follow(source, "trace_pipe", put, over, &reader, &err), "%s", err.text);
	CHECK(count(&reader.text, "first") == 1, "%s", reader.text.data);
	CHECK(count(&reader.text, "later") == 1, "%s", reader.text.data);

	/* Over at the first piece, in the middle of many: nothing of it is lost or comes twice. */
	source_close(reader.other);
	reader.other = NULL;
	for (int i = 0; i < 3000; i++)
		CHECK(!source_write(source, "trace_marker", "many", 4, false, &err), "%s", err.text);
	reader.pieces = reader.asked = 0;
	reader.end_after = 1;
	buf_reset(&reader.text);
	CHECK(!source_follow(source, "trace_pipe", put, over, &reader, &err), "%s", err.text);
	CHECK(reader.text.len && reader.text.data[reader.text.len - 1] == '\n', "%s", reader.text.data);
	CHECK(count(&reader.text, "many") < 3000, "%zu of them", count(&reader.text, "many"));
	CHECK(!source_read(source, "trace_pipe", &reader.text, &err), "%s", err.text);
	CHECK(count(&reader.text, "many") == 3000, "%zu of them", count(&reader.text, "many"));

	/* What put says ends it. */
	CHECK(!source_write(source, "trace_marker", "first", 5, false, &err), "%s", err.text);
	reader.refuse = -EPIPE;
	CHECK(source_follow(source, "trace_pipe", put, over, &reader, &err) == -EPIPE, "%s", err.text);
	buf_fini(&reader.text);
	source_close(source);
}

static void make(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	CHECK(file, "%s", strerror(errno));
	fputs(text, file);
	fclose(file);
}

static void files(void)
{
	struct reader reader = { .text = BUF_INIT, .end_after = 1000 };
	struct err err = ERR_INIT;
	struct source *source;
	int writer;

	CHECK(!mkdir("tree", 0755), "%s", strerror(errno));
	make("tree/tracing_on", "1\n");
	make("tree/trace", "evil \033[31m\n");
	CHECK(!mkfifo("tree/trace_pipe", 0644), "%s", strerror(errno));
	source = open_source(&(struct source_how){ .tracefs = "tree", .escape = true });
	CHECK(!source_control(source) && !strcmp(source_name(source), "tree"), "%s", source_name(source));

	/* A pipe that has a writer is waited for; without one it has ended. */
	writer = open("tree/trace_pipe", O_RDWR);
	CHECK(writer >= 0 && write(writer, "one\n", 4) == 4, "%s", strerror(errno));
	reader.end_after = 1;
	CHECK(!source_follow(source, "trace_pipe", put, over, &reader, &err), "%s", err.text);
	CHECK(!strcmp(reader.text.data, "one\n"), "%s", reader.text.data);
	CHECK(!source_read(source, "trace_pipe", &reader.text, &err), "%s", err.text);
	CHECK(!strcmp(reader.text.data, "one\n"), "%s", reader.text.data);
	close(writer);
	reader.end_after = 1000;
	CHECK(!source_follow(source, "trace_pipe", put, over, &reader, &err), "%s", err.text);

	/* What goes to a terminal cannot drive it; what is read to be understood is as it is. */
	buf_reset(&reader.text);
	CHECK(!source_pump(source, "trace", put, &reader, &err), "%s", err.text);
	CHECK(!strcmp(reader.text.data, "evil \\x1b[31m\n"), "%s", reader.text.data);
	buf_reset(&reader.text);
	CHECK(!source_read(source, "trace", &reader.text, &err), "%s", err.text);
	CHECK(!strcmp(reader.text.data, "evil \033[31m\n"), "%s", reader.text.data);
	buf_fini(&reader.text);
	source_close(source);
}

int main(void)
{
	CHECK(!chdir(getenv("RINGSIDE_SCRATCH")), "%s", strerror(errno));
	directory();
	files();
	return 0;
}
