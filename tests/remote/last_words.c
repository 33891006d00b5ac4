/*
 * Who waits for events of a remote whose program ends gets what that wrote last, however late that was, and then the words that it is gone.
 */
#include <errno.h>
#include <string.h>

#include "control/control.h"
#include "insist.h"
#include "remote/local.h"

static struct remote *program;
static int left;

/* It writes one more, and ends, just when it is asked whether it is there. */
static int alive(struct remote *remote, struct err *err)
{
	(void)remote;
	if (left) {
		CHECK(!remote_write_test(program, 0, (uint64_t)left--, NULL), "write");
		return err_set(err, -ENODEV, "gone");
	}
	return err_set(err, -ENODEV, "gone for good");
}

int main(void)
{
	struct remote_how how = { .cpu = -1, .consume = true };
	struct remote_reader *reader;
	struct err err = ERR_INIT;
	struct control *control;
	struct remote *remote;
	struct remote_kind kind;
	struct remote_row row;
	int r;

	CHECK(!control_open(&control, getenv("RINGSIDE_DIR"), true, &err), "%s", err.text);
	CHECK(!remote_open(&program, control->dir.dir, "test", &err) && !remote_enable_event(program, 1, true, &err) &&
	      !remote_enable_tracing(program, true, &err), "%s", err.text);
	CHECK(!remote_open(&remote, control->dir.dir, "test", &err), "%s", err.text);
	kind = *remote->kind;
	remote->kind = &kind;
	CHECK(!remote_reader_open(&reader, remote, &how, &err), "%s", err.text);
	r = remote_reader_next(reader, &row, &err);
	CHECK(!r, "an event in an empty buffer: %d", r);
	kind.alive = alive;
	left = 3;
	for (int i = 3; i; i--) {
		r = remote_reader_next(reader, &row, &err);
		CHECK(r == 1 && !err.code, "%d: %d: %s", i, r, err.text);
		CHECK(!memcmp((const char *)row.data + row.len - sizeof(uint64_t), &(uint64_t){ (uint64_t)i }, sizeof(uint64_t)), "another one");
	}
	r = remote_reader_next(reader, &row, &err);
	CHECK(r == -ENODEV && !strcmp(err.text, "gone for good"), "%d: %s", r, err.text);
	remote_reader_close(reader);
	remote_close(remote);
	remote_close(program);
	control_close(control);
	return 0;
}
