/*
 * A remote that this program brings, by the callbacks that it is asked through: which come, when, and with what, while its files are read and
 * written in this program.
 */
#include "library/remote_lab.h"

static struct ringside_control *tree;

/* Nothing is asked before it is wanted, nothing twice; reading asks nothing. */
static void switches(struct board *board)
{
	struct ringside_control_remote *remote = board_register(board, tree, "board");

	board_said(board, "init");
	board_expect(tree, "board", "tracing_on", "0\n");
	board_expect(tree, "board", "buffer_size_kb", "7 (unloaded)\n");
	board_expect(tree, "board", "events/enable", "0\n");
	board_expect(tree, "board", "trace", "");
	board_expect(tree, "board", "events/board/stall/id", "40\n");
	board_write(tree, "board", "tracing_on", "0");
	board_said(board, "");

	board_write(tree, "board", "tracing_on", "1");
	board_said(board, "load 7168, on 1");
	board_expect(tree, "board", "tracing_on", "1\n");
	board_expect(tree, "board", "buffer_size_kb", "7 (loaded)\n");
	board_write(tree, "board", "tracing_on", "1");
	board_said(board, "");
	REFUSED(tree, board_try(tree, "board", "buffer_size_kb", "20"), EBUSY);
	board_write(tree, "board", "tracing_on", "0");
	board_said(board, "on 0, unload");
	board_expect(tree, "board", "tracing_on", "0\n");

	board_write(tree, "board", "buffer_size_kb", "20");
	board_write(tree, "board", "tracing_on", "1");
	board_said(board, "load 20480, on 1");
	CHECK(board->fw.rings[0].mask == 7 && board->fw.rings[1].mask == 7, "20 KiB, rounded up");
	CHECK(board->fw.control->on == 1, "the words say so, too");
	board_unregister(board, remote);
	board_said(board, "on 0, unload");
	CHECK(!ringside_control_file_exists(tree, NULL, "remotes/board/tracing_on"), "it is taken out");
}

/* An event is switched when there is no buffer, too, and the next one begins with that. */
static void events(struct board *board)
{
	struct ringside_control_remote *remote = board_register(board, tree, "board");

	board_said(board, "init");
	board_write(tree, "board", "events/board/stall/enable", "1");
	board_said(board, "event 40 1");
	board_write(tree, "board", "events/board/stall/enable", "1");
	board_said(board, "");
	board_expect(tree, "board", "events/enable", "X\n");
	board_write(tree, "board", "tracing_on", "1");
	board_said(board, "load 7168, on 1");
	CHECK(ringside_fw_hosted_is_on(&board->fw, 40) && !ringside_fw_hosted_is_on(&board->fw, 1), "as before");
	board_write(tree, "board", "events/enable", "1");
	board_said(board, "event 1 1");
	CHECK(ringside_fw_hosted_is_on(&board->fw, 40) && ringside_fw_hosted_is_on(&board->fw, 1), "both");
	board_write(tree, "board", "events/board/stall/enable", "0");
	board_said(board, "event 40 0");
	CHECK(!ringside_fw_hosted_is_on(&board->fw, 40), "off");
	board_write(tree, "board", "tracing_on", "0");
	board_said(board, "on 0, unload");
	board_write(tree, "board", "tracing_on", "1");
	board_said(board, "load 7168, on 1");
	CHECK(!ringside_fw_hosted_is_on(&board->fw, 40) && ringside_fw_hosted_is_on(&board->fw, 1), "as before");
	board_write(tree, "board", "tracing_on", "0");
	board_unregister(board, remote);
	board_said(board, "on 0, unload");
}

/* What is in the buffer keeps it, and so does who takes events out. */
static void unloading(struct board *board)
{
	struct ringside_control_remote *remote = board_register(board, tree, "board");
	uint64_t seq[BOARD_CPUS] = { 0, 0 };

	memset(board->seq, 0, sizeof(board->seq));
	board_write(tree, "board", "events/enable", "1");
	board_write(tree, "board", "tracing_on", "1");
	board_said(board, "init, event 1 1, event 40 1, load 7168, on 1");
	board_steps(board, 0, 3);
	board_steps(board, 1, 2);
	board_write(tree, "board", "tracing_on", "0");
	board_said(board, "on 0");
	board_steps(board, 0, 3);
	CHECK(board_lines(tree, "board", "trace", NULL) == 5, "all that there is");
	CHECK(board_lines(tree, "board", "per_cpu/cpu1/trace", NULL) == 2, "of one CPU");
	board_said(board, "");
	CHECK(board_lines(tree, "board", "per_cpu/cpu1/trace_pipe", seq) == 2, "taken");
	board_said(board, "");
	CHECK(board_lines(tree, "board", "per_cpu/cpu1/trace_pipe", seq) == 0, "once");
	CHECK(board_lines(tree, "board", "trace_pipe", seq) == 3, "taken");
	board_said(board, "unload");
	/* Who takes events out wants a buffer, for as long as he does. */
	CHECK(board_lines(tree, "board", "trace_pipe", seq) == 0, "nothing");
	board_said(board, "load 7168, unload");
	board_unregister(board, remote);
	board_said(board, "");
}

static void resets(struct board *board)
{
	struct ringside_control_remote *remote = board_register(board, tree, "board");

	board_write(tree, "board", "events/enable", "1");
	board_write(tree, "board", "tracing_on", "1");
	board_said(board, "init, event 1 1, event 40 1, load 7168, on 1");
	board_steps(board, 0, 3);
	board_steps(board, 1, 2);
	board_write(tree, "board", "per_cpu/cpu1/trace", "");
	board_said(board, "reset 1");
	CHECK(board_lines(tree, "board", "trace", NULL) == 3, "cpu 0 stays");
	CHECK(board->fw.rings[1].asked != board->fw.rings[1].answered, "cpu 1 was asked");
	board_steps(board, 1, 1);
	CHECK(board->fw.rings[1].asked == board->fw.rings[1].answered, "and answered, by an event");
	CHECK(board_lines(tree, "board", "trace", NULL) == 4, "which is there");
	board_write(tree, "board", "trace", "");
	board_said(board, "reset 0, reset 1");
	CHECK(board_lines(tree, "board", "trace", NULL) == 0, "all of it");
	REFUSED(tree, board_try(tree, "board", "per_cpu/cpu2/trace", ""), ENODEV);
	board_said(board, "");
	/* What is off and was full goes with it. */
	board_steps(board, 0, 3);
	board_write(tree, "board", "tracing_on", "0");
	board_write(tree, "board", "trace", "");
	board_said(board, "on 0, reset 0, reset 1, unload");
	board_unregister(board, remote);
	board_said(board, "");
}

/* A page is told of once; where the oldest stay there is room again. */
static void pages(struct board *board)
{
	struct ringside_control_remote *remote;
	uint64_t seq[BOARD_CPUS] = { 0, 0 };
	char path[256], *text;
	uint32_t kept;

	board->page = 256;
	board->flags = RINGSIDE_CONTROL_REMOTE_DISCARD;
	memset(board->seq, 0, sizeof(board->seq));
	remote = board_register(board, tree, "board");
	board_write(tree, "board", "buffer_size_kb", "1");
	board_write(tree, "board", "events/enable", "1");
	board_write(tree, "board", "tracing_on", "1");
	board_said(board, "init, event 1 1, event 40 1, load 1024, on 1");
	board_steps(board, 0, 1);
	CHECK(board_lines(tree, "board", "trace_pipe", seq) == 1 && board_lines(tree, "board", "trace_pipe", seq) == 0, "one");
	board_said(board, "");
	board_steps(board, 0, 100);
	kept = 4 * (board->fw.rings[0].tail == 3);
	CHECK(kept == 4, "four pages, up to %u", board->fw.rings[0].tail);
	kept = (uint32_t)board_lines(tree, "board", "trace_pipe", seq);
	CHECK(kept > 8 && kept < 100, "%u are the oldest", kept);
	board_said(board, "swap 0");
	CHECK(board->fw.rings[0].consumed == 3, "%u pages have room again", board->fw.rings[0].consumed);
	board_steps(board, 0, 1);
	FINE(tree, ringside_control_file_read(tree, NULL, board_path(path, "board", "trace_pipe"), &text, NULL));
	CHECK(strstr(text, " EVENTS]\n") && strstr(text, "seq=101"), "%s", text);
	free(text);
	board_said(board, "swap 0");
	board_unregister(board, remote);
	board_said(board, "on 0, unload");
	board->page = 0;
	board->flags = 0;
}

/* What a callback returns is the file's, with words. */
static void refusals(struct board *board)
{
	struct ringside_control_remote *remote = board_register(board, tree, "board");
	char *text;

	board->refuse_load = -EDQUOT;
	REFUSED(tree, board_try(tree, "board", "tracing_on", "1"), EDQUOT);
	CHECK(strstr(ringside_control_error(tree), strerror(EDQUOT)), "%s", ringside_control_error(tree));
	REFUSED(tree, ringside_control_file_read(tree, NULL, "remotes/board/trace_pipe", &text, NULL), EDQUOT);
	board->refuse_load = -ENOENT;
	REFUSED(tree, board_try(tree, "board", "tracing_on", "1"), ENOENT);
	/* No error number. */
	board->refuse_load = 7;
	REFUSED(tree, board_try(tree, "board", "tracing_on", "1"), EINVAL);
	board->refuse_load = -100000;
	REFUSED(tree, board_try(tree, "board", "tracing_on", "1"), EINVAL);
	board->refuse_load = 0;
	board_said(board, "init, load 7168, load 7168, load 7168, load 7168, load 7168");
	board_expect(tree, "board", "tracing_on", "0\n");

	/* A buffer that was loaded in vain goes. */
	board->refuse_on = -EPERM;
	REFUSED(tree, board_try(tree, "board", "tracing_on", "1"), EPERM);
	board_said(board, "load 7168, on 1, unload");
	board->refuse_on = 0;
	board->refuse_event = -EXDEV;
	REFUSED(tree, board_try(tree, "board", "events/board/step/enable", "1"), EXDEV);
	board_expect(tree, "board", "events/board/step/enable", "0\n");
	board->refuse_event = 0;
	board_write(tree, "board", "events/board/step/enable", "1");
	board_write(tree, "board", "tracing_on", "1");
	board_steps(board, 0, 1000);
	board_said(board, "event 1 1, event 1 1, load 7168, on 1");
	board->refuse_event = -EXDEV;
	REFUSED(tree, board_try(tree, "board", "events/board/step/enable", "0"), EXDEV);
	CHECK(ringside_fw_hosted_is_on(&board->fw, 1), "still on");
	board->refuse_event = 0;
	board->refuse_reset = -EIO;
	REFUSED(tree, board_try(tree, "board", "trace", ""), EIO);
	CHECK(board->fw.rings[0].asked == 0, "not asked");
	CHECK(board_lines(tree, "board", "trace", NULL) > 0, "not emptied");
	board->refuse_reset = 0;
	board->refuse_on = -EPERM;
	REFUSED(tree, board_try(tree, "board", "tracing_on", "0"), EPERM);
	board_expect(tree, "board", "tracing_on", "1\n");
	board->refuse_on = 0;
	board_said(board, "event 1 0, reset 0, on 0");
	/* Nobody waits for that one. */
	board->refuse_swap = -EIO;
	FINE(tree, ringside_control_file_read(tree, NULL, "remotes/board/trace_pipe", &text, NULL));
	free(text);
	board_said(board, "swap 0");
	board->refuse_swap = 0;
	board_unregister(board, remote);
	board_said(board, "on 0, unload");
}

int main(void)
{
	struct board *board = board_new();
	int before;

	tree = lab_open();
	switches(board);
	before = lab_descriptors();
	events(board);
	unloading(board);
	resets(board);
	pages(board);
	refusals(board);
	CHECK(lab_descriptors() == before, "%d descriptors, not %d", lab_descriptors(), before);
	board_free(board);
	ringside_control_close(tree);
	return 0;
}
