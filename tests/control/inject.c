/*
 * events/S/E/inject: an event made from text, whatever its fields are; and nothing at all when the text is wrong.
 */
#include "control/program.h"

static const char body[] =
	ITEM_COMMON
	"\tfield:s8 a;\toffset:8;\tsize:1;\tsigned:1;\n"
	"\tfield:u8 b;\toffset:9;\tsize:1;\tsigned:0;\n"
	"\tfield:short c;\toffset:10;\tsize:2;\tsigned:1;\n"
	"\tfield:unsigned int d;\toffset:12;\tsize:4;\tsigned:0;\n"
	"\tfield:long long e;\toffset:16;\tsize:8;\tsigned:1;\n"
	"\tfield:u64 f;\toffset:24;\tsize:8;\tsigned:0;\n"
	"\tfield:char g[8];\toffset:32;\tsize:8;\tsigned:1;\n"
	"\tfield:__data_loc char[] h;\toffset:40;\tsize:4;\tsigned:1;\n"
	"\tfield:__rel_loc char[] i;\toffset:44;\tsize:4;\tsigned:1;\n"
	"\tfield:int j[2];\toffset:48;\tsize:8;\tsigned:1;\n"
	"\tfield:bool k;\toffset:56;\tsize:1;\tsigned:0;\n"
	"\nprint fmt: \"%d %u %d %u %lld %llu <%s> <%s> <%s> %d %d %d\", REC->a, REC->b, REC->c, REC->d, REC->e, REC->f, "
	"REC->g, __get_str(h), __get_rel_str(i), REC->j[0], REC->j[1], REC->k\n";

#define PATH "events/test/all/inject"

static void inject(struct control *control, const char *text, const char *want)
{
	char *got;

	room_append(control, PATH, text, 0);
	got = room_read(control, "trace_pipe");
	CHECK(count_of(got, want) == 1 && count_of(got, "\n") == 1, "'%s' became '%s', not '%s'", text, got, want);
	free(got);
}

static void check_fields(struct control *control)
{
	char big[3000], text[3100], want[3100];

	inject(control, "a=1", ": all: 1 0 0 0 0 0 <> <> <> 0 0 0\n");
	inject(control, "a=-128 b=255 c=-32768 d=4294967295 e=-9223372036854775808 f=18446744073709551615 k=1",
	       ": all: -128 255 -32768 4294967295 -9223372036854775808 18446744073709551615 <> <> <> 0 0 1\n");
	inject(control, "d=0x1f e=010\n", ": all: 0 0 0 31 8 0 <> <> <> 0 0 0\n");
	inject(control, "  h=\"hello\"   g = 'seven77'\ti=\"rel \\\"q\\\" \\\\\" d=2",
	       ": all: 0 0 0 2 0 0 <seven77> <hello> <rel \"q\" \\> 0 0 0\n");
	inject(control, "g=\"much too long\"", "<much to> <> <>");
	inject(control, "h='' i=\"\"", "<> <> <>");
	/* The last word counts. */
	inject(control, "d=1 d=2 h='x' h='y'", ": all: 0 0 0 2 0 0 <> <y> <> 0 0 0\n");
	memset(big, 'z', sizeof(big));
	big[sizeof(big) - 1] = '\0';
	snprintf(text, sizeof(text), "h='%s' a=3", big);
	snprintf(want, sizeof(want), ": all: 3 0 0 0 0 0 <> <%s> <> 0 0 0\n", big);
	inject(control, text, want);
}

static void check_refused(struct control *control)
{
	static const struct { const char *text; int want, pos; } bad[] = {
		{ "nosuch=1", -ENOENT, 0 }, { "a=1 nosuch=1", -ENOENT, 4 }, { "a", -EINVAL, 1 }, { "a=", -EINVAL, 2 },
		{ "a=x", -EINVAL, 2 }, { "a=1x", -EINVAL, 2 }, { "=1", -EINVAL, 0 }, { "a=1,b=2", -EINVAL, 2 },
		{ "a='1'", -EINVAL, 5 }, { "h=1", -EINVAL, 2 }, { "j=1", -EINVAL, 2 }, { "g=1", -EINVAL, 2 },
		{ "h=\"open", -EINVAL, 7 }, { "h=\"open\\", -EINVAL, 8 }, { "h='a\"", -EINVAL, 5 },
		{ "common_pid=1", -EINVAL, 11 }, { "f=18446744073709551616", -EINVAL, 2 },
		{ "e=-9223372036854775809", -EINVAL, 2 }, { "h='a'x", -ENOENT, 5 },
	};
	char *big = malloc(5001);
	struct err err;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int r;

		err = (struct err)ERR_INIT;
		r = tree_write(control, PATH, bad[i].text, strlen(bad[i].text), 0, &err);
		CHECK(r == bad[i].want, "'%s': %d (%s), not %d", bad[i].text, r, err.text, bad[i].want);
		CHECK(err.pos == bad[i].pos, "'%s' is wrong at %d (%s), not %d", bad[i].text, err.pos, err.text,
		      bad[i].pos);
	}
	memset(big, 'a', 5000);
	memcpy(big, "h='", 3);
	memcpy(big + 4998, "'", 2);
	err = (struct err)ERR_INIT;
	CHECK(tree_write(control, PATH, big, 4999, 0, &err) == -E2BIG, "%s", err.text);
	free(big);
	room_expect(control, "trace_pipe", "");
	room_append(control, PATH, "", 0);
	room_expect(control, "trace_pipe", "");
	room_write(control, "tracing_on", "0", 0);
	room_append(control, PATH, "a=1", -EBADF);
	room_write(control, "tracing_on", "1", 0);
}

int main(void)
{
	struct control *control = room_open();
	struct item all;

	CHECK(!runtime_event_intern("test", "all", body, strlen(body), 0, &all.id, &all.hint), "the event");
	/* What is refused has made no rings. */
	check_refused(control);
	room_expect(control, "buffer_size_kb", "0 (expanded: 1410)\n");
	/* On or not. */
	check_fields(control);
	room_expect(control, "events/test/all/enable", "0\n");
	check_refused(control);
	room_write(control, "events/enable", "1", 0);
	check_fields(control);
	/* In an instance it stays there. */
	room_mkdir(control, "instances/a", 0);
	room_append(control, "instances/a/" PATH, "a=7", 0);
	CHECK(count_in(control, "instances/a/trace", "all: 7 ") == 1, "not in the instance");
	room_expect(control, "trace_pipe", "");
	room_rmdir(control, "instances/a", 0);
	control_close(control);
	return 0;
}
