/*
 * The tree as text in, text out: every file's text, grammar and errnos, as the kernel has them.
 */
#include "control/room.h"

#include "runtime/runtime.h"

#define BODY                                                                                       \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"                               \
	"\tfield:int n;\toffset:8;\tsize:4;\tsigned:1;\n\n"                                        \
	"print fmt: \"n=%d\", REC->n\n"

#if defined(__x86_64__) || defined(__i386__)
#define CLOCKS "[local] global counter uptime mono mono_raw boot tai x86-tsc\n"
#else
#define CLOCKS "[local] global counter uptime mono mono_raw boot tai\n"
#endif

static const uint32_t *hint_order, *hint_pay, *hint_hit, *hint_small;
static uint32_t id_order, id_pay, id_hit, id_small;

static void bring(const char *system, const char *name, uint32_t related, uint32_t *id,
		  const uint32_t **hint)
{
	int r = runtime_event_intern(system, name, BODY, strlen(BODY), related, id, hint);

	CHECK(!r, "%s:%s cannot be brought: %d", system, name, r);
}

static void check_numbers(struct control *control)
{
	static const struct { const char *text; int want; } cases[] = {
		{ "1", 0 }, { "1\n", 0 }, { "2", 0 }, { "01", 0 }, { "+1", 0 }, { "-1", -EINVAL },
		{ "x", -EINVAL }, { "", -EINVAL }, { "1 ", -EINVAL }, { " 1", -EINVAL },
		{ "0x1", -EINVAL }, { "1 2", -EINVAL }, { "1\n\n", -EINVAL }, { "\n", -EINVAL },
		{ "+", -EINVAL }, { "18446744073709551615", 0 },
		{ "18446744073709551616", -ERANGE }, { "99999999999999999999999", -ERANGE },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		room_write(control, "tracing_on", "0", 0);
		room_write(control, "tracing_on", cases[i].text, cases[i].want);
		room_expect(control, "tracing_on", cases[i].want ? "0\n" : "1\n");
	}
	room_write(control, "tracing_on", "1", 0);
	room_write(control, "events/enable", "2", -EINVAL);
	room_write(control, "events/enable", "x", -EINVAL);
	room_write(control, "events/enable", "", -EINVAL);
}

static void check_sizes(struct control *control)
{
	room_expect(control, "buffer_size_kb", "0 (expanded: 1410)\n");
	room_write(control, "buffer_size_kb", "0", -EINVAL);
	room_write(control, "buffer_size_kb", "x", -EINVAL);
	room_write(control, "buffer_size_kb", "-5", -EINVAL);
	room_write(control, "buffer_size_kb", "99999999999999999999999", -ERANGE);
	room_write(control, "buffer_size_kb", "18446744073709551615", -EINVAL);
	room_write(control, "buffer_size_kb", "99999999", -EINVAL);
	room_expect(control, "buffer_size_kb", "0 (expanded: 1410)\n");
	room_write(control, "buffer_size_kb", "100\n", 0);
	room_expect(control, "buffer_size_kb", "103\n");
	room_write(control, "buffer_size_kb", "1408", 0);
	room_expect(control, "buffer_size_kb", "1410\n");
	room_write(control, "buffer_size_kb", "1", 0);
	room_expect(control, "buffer_size_kb", "15\n");
	room_write(control, "buffer_size_kb", "1408", 0);
}

/* set_event and the enable files say the same of every event, and the hints agree. */
static void expect_on(struct control *control, const char *set_event, const char *all,
		      const char *shop, uint32_t order, uint32_t pay, uint32_t hit)
{
	room_expect_events(control, "set_event", set_event);
	room_expect(control, "events/enable", all);
	room_expect(control, "events/shop/enable", shop);
	CHECK(*hint_order == order && *hint_pay == pay && *hint_hit == hit,
	      "hints %u %u %u, not %u %u %u", *hint_order, *hint_pay, *hint_hit, order, pay, hit);
}

static void check_enable(struct control *control)
{
	room_expect_events(control, "available_events", "shop:order\nshop:pay\nweb:hit\n");
	expect_on(control, "", "0\n", "0\n", 0, 0, 0);
	room_write(control, "events/shop/order/enable", "1", 0);
	expect_on(control, "shop:order\n", "X\n", "X\n", 1, 0, 0);
	room_expect(control, "events/shop/order/enable", "1\n");
	room_expect(control, "events/shop/pay/enable", "0\n");
	room_write(control, "events/shop/enable", "1", 0);
	expect_on(control, "shop:order\nshop:pay\n", "X\n", "1\n", 1, 1, 0);
	room_write(control, "events/enable", "1\n", 0);
	expect_on(control, "shop:order\nshop:pay\nweb:hit\n", "1\n", "1\n", 1, 1, 1);
	room_write(control, "tracing_on", "0", 0);
	expect_on(control, "shop:order\nshop:pay\nweb:hit\n", "1\n", "1\n", 0, 0, 0);
	room_write(control, "tracing_on", "1", 0);
	room_write(control, "events/shop/pay/enable", "0", 0);
	expect_on(control, "shop:order\nweb:hit\n", "X\n", "X\n", 1, 0, 1);
	room_write(control, "events/enable", "0", 0);
	expect_on(control, "", "0\n", "0\n", 0, 0, 0);
}

static void check_set_event(struct control *control)
{
	static const struct { const char *text, *after; int want; } cases[] = {
		{ "shop:order", "shop:order\n", 0 },
		{ "shop:*", "shop:order\nshop:pay\n", 0 },
		{ "shop:", "shop:order\nshop:pay\n", 0 },
		{ ":hit", "web:hit\n", 0 },
		{ "*:pay", "shop:pay\n", 0 },
		{ "shop", "shop:order\nshop:pay\n", 0 },
		{ "hit\n", "web:hit\n", 0 },
		{ "*:*", "shop:order\nshop:pay\nweb:hit\n", 0 },
		{ " shop:order\n\tweb:hit ", "shop:order\nweb:hit\n", 0 },
		{ "shop:* !shop:pay", "shop:order\n", 0 },
		{ "!shop:order", "", 0 },
		{ "", "", 0 },
		{ "s*:o*", "shop:order\n", 0 },
		{ "nosuch", "web:hit\n", -EINVAL },
		{ "shop:nosuch", "web:hit\n", -EINVAL },
		{ "shop:order nosuch:x", "web:hit\n", -EINVAL },	/* all or nothing */
		{ "!", "web:hit\n", -EINVAL },
		{ "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "web:hit\n",
		  -EINVAL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		room_write(control, "set_event", "web:hit", 0);
		room_write(control, "set_event", cases[i].text, cases[i].want);
		room_expect_events(control, "set_event", cases[i].after);
	}
	/* Without `>` it adds. */
	room_write(control, "set_event", "web:hit", 0);
	CHECK(!tree_write(control, "set_event", "shop:pay", 8, 0, NULL), "append");
	room_expect(control, "set_event", "shop:pay\nweb:hit\n");
	room_write(control, "set_event", "", 0);
}

/* A second layout of a name has its own id; the newest is shown, enable covers both. */
static void check_layouts(struct control *control)
{
	static const char other[] =
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
		"\tfield:long m;\toffset:8;\tsize:8;\tsigned:1;\n\nprint fmt: \"m=%ld\", REC->m\n";
	char want[1024];
	const uint32_t *hint;
	uint32_t id;

	snprintf(want, sizeof(want), "name: order\nID: %u\nformat:\n%s", id_order, BODY);
	room_expect(control, "events/shop/order/format", want);
	snprintf(want, sizeof(want), "%u\n", id_order);
	room_expect(control, "events/shop/order/id", want);

	CHECK(!runtime_event_intern("shop", "order", other, strlen(other), 0, &id, &hint), "intern");
	CHECK(id != id_order, "two layouts, one id");
	snprintf(want, sizeof(want), "name: order\nID: %u\nformat:\n%s", id, other);
	room_expect(control, "events/shop/order/format", want);
	room_expect_events(control, "available_events", "shop:order\nshop:pay\nweb:hit\n");
	room_write(control, "events/shop/order/enable", "1", 0);
	CHECK(*hint == 1 && *hint_order == 1, "one of two layouts is off");
	room_write(control, "events/shop/order/enable", "0", 0);
	CHECK(*hint == 0 && *hint_order == 0, "one of two layouts is on");
}

/* An event that rides on another's sites: their word says so. */
static void check_related(struct control *control)
{
	bring("shop", "small", id_pay, &id_small, &hint_small);
	room_write(control, "events/shop/small/enable", "1", 0);
	CHECK(*hint_small == 1 && *hint_pay == 2, "hints %u %u", *hint_small, *hint_pay);
	room_write(control, "events/shop/pay/enable", "1", 0);
	CHECK(*hint_small == 1 && *hint_pay == 3, "hints %u %u", *hint_small, *hint_pay);
	room_write(control, "events/shop/small/enable", "0", 0);
	CHECK(*hint_small == 0 && *hint_pay == 1, "hints %u %u", *hint_small, *hint_pay);
	room_write(control, "events/enable", "0", 0);
}

/* Enabled before it is brought: on when it comes, in this or any program. */
static void check_later(struct control *control)
{
	const uint32_t *hint;
	uint32_t id;

	room_write(control, "events/enable", "1", 0);
	bring("later", "event", 0, &id, &hint);
	CHECK(*hint == 1, "off although everything is on");
	room_expect(control, "events/later/event/enable", "1\n");
	room_write(control, "events/enable", "0", 0);
	CHECK(*hint == 0, "still on");
}

static void refuse(struct control *control, const char *path, int read, int write)
{
	struct buf out = BUF_INIT;
	struct err err = ERR_INIT;
	int r = tree_read(control, path, &out, &err);

	CHECK(r == read, "%s: reading gives %d, not %d", path, r, read);
	CHECK(!r || strstr(err.text, path), "'%s' does not name %s", err.text, path);
	buf_fini(&out);
	err = (struct err)ERR_INIT;
	r = tree_write(control, path, "", 0, 0, &err);
	CHECK(r == write, "%s: writing gives %d, not %d", path, r, write);
}

static void check_paths(struct control *control)
{
	refuse(control, "nosuch", -ENOENT, -ENOENT);
	refuse(control, "events", -EISDIR, -EISDIR);
	refuse(control, "events/shop", -EISDIR, -EISDIR);
	refuse(control, "events/nosuch", -ENOENT, -ENOENT);
	refuse(control, "events/nosuch/enable", -ENOENT, -ENOENT);
	refuse(control, "events/shop/nosuch/enable", -ENOENT, -ENOENT);
	refuse(control, "events/shop/order", -EISDIR, -EISDIR);
	refuse(control, "events/shop/order/id/x", -ENOENT, -ENOENT);
	refuse(control, "events/../tracing_on", -ENOENT, -ENOENT);
	refuse(control, "per_cpu/cpu99999/trace", -ENOENT, -ENOENT);
	refuse(control, "per_cpu/cpu00/trace", -ENOENT, -ENOENT);
	refuse(control, "per_cpu/cpu0x/trace", -ENOENT, -ENOENT);
	refuse(control, "per_cpu/cpu-1/trace", -ENOENT, -ENOENT);
	refuse(control, "per_cpu/cpu0/stats", 0, -EACCES);
	refuse(control, "events/header_page", 0, -EACCES);
	refuse(control, "available_events", 0, -EACCES);
	refuse(control, "trace_marker", -EACCES, 0);
	refuse(control, "trace", 0, 0);
	room_expect(control, "/./tracing_on", "1\n");
	room_expect(control, "//events///enable", "0\n");
	room_write(control, "current_tracer", " nop \n", 0);
	room_write(control, "current_tracer", "nosuch", -EINVAL);
	room_write(control, "trace_clock", "local\n", 0);
	room_write(control, "trace_clock", "nosuch", -EINVAL);
	room_expect(control, "current_tracer", "nop\n");
	room_expect_part(control, "available_tracers", "nop\n", true);
	room_expect(control, "trace_clock", CLOCKS);
}

static void check_list(struct control *control)
{
	static const struct { const char *path, *want; } cases[] = {
		{ "events",
		  "enable\nftrace/\nheader_event\nheader_page\nkmem/\nlater/\nraw_syscalls/\nringside/\nsched/\nshop/\nsignal/\n"
		  "syscalls/\ntimer/\nweb/\n" },
		{ "events/shop/", "enable\nfilter\norder/\npay/\nsmall/\n" },
		{ "events/web/hit", "enable\nfilter\nformat\nhist\nhist_debug\nid\ninject\ntrigger\n" },
		{ "events/ftrace", "bprint/\nfuncgraph_entry/\nfuncgraph_exit/\nfunction/\nkernel_stack/\nprint/\nraw_data/\n" },
		{ "per_cpu/cpu0", 
		  "buffer_size_kb\nsnapshot\nsnapshot_raw\nstats\ntrace\ntrace_pipe\ntrace_pipe_raw\n" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf out = BUF_INIT;
		struct err err = ERR_INIT;

		CHECK(!tree_list(control, cases[i].path, &out, &err), "%s", err.text);
		CHECK(!strcmp(out.data, cases[i].want), "%s has '%s'", cases[i].path, out.data);
		buf_fini(&out);
	}
	CHECK(tree_list(control, "trace", NULL, NULL) == -ENOTDIR, "trace is no directory");
	CHECK(tree_list(control, "nosuch", NULL, NULL) == -ENOENT, "nosuch is nothing");
}

/* Texts that other programs parse. */
static void check_texts(struct control *control)
{
	char *text;

	room_expect(control, "events/header_page",
		    "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		    "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
		    "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
		    "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n");
	room_expect(control, "events/header_event",
		    "# compressed entry header\n\ttype_len    :    5 bits\n"
		    "\ttime_delta  :   27 bits\n\tarray       :   32 bits\n\n"
		    "\tpadding     : type == 29\n\ttime_extend : type == 30\n"
		    "\ttime_stamp : type == 31\n\tdata max type_len  == 28\n");
	text = room_read(control, "events/ftrace/print/format");
	CHECK(strstr(text, "name: print\nID: 5\n") == text && strstr(text, "field:char buf[];"), "%s",
	      text);
	free(text);
	text = room_read(control, "events/ftrace/bprint/format");
	CHECK(strstr(text, "name: bprint\nID: 6\n") == text && strstr(text, "field:u32 buf[];"), "%s",
	      text);
	free(text);
}

static void check_stats(struct control *control)
{
	static const char *const keys[] = { "entries: ", "overrun: ", "commit overrun: ", "bytes: ",
					    "oldest event ts: ", "now ts: ", "dropped events: ",
					    "read events: " };
	char *text = room_read(control, "per_cpu/cpu0/stats"), *line = text;

	for (size_t i = 0; i < 8; i++) {
		CHECK(!strncmp(line, keys[i], strlen(keys[i])), "line %zu: '%s'", i, line);
		line = strchr(line, '\n');
		CHECK(line, "line %zu has no end", i);
		line++;
	}
	CHECK(!*line, "more than eight lines: '%s'", line);
	free(text);
}

static void check_names(struct control *control)
{
	uint64_t address;
	char want[128];
	char *text;

	CHECK(!runtime_format_intern(0, "main", "a \"b\" \\ %d\n\t%s", &address), "intern");
	snprintf(want, sizeof(want), "0x%llx : \"a \\\"b\\\" \\\\ %%d\\n\\t%%s\"\n",
		 (unsigned long long)address);
	room_expect(control, "printk_formats", want);
	room_write(control, "trace_marker", "hello", 0);
	text = room_read(control, "saved_cmdlines");
	snprintf(want, sizeof(want), "%d ", getpid());
	CHECK(!strncmp(text, want, strlen(want)) && strchr(text, '\n'), "'%s' has no %s", text, want);
	free(text);
}

int main(void)
{
	struct control *control = room_open();

	room_expect(control, "events/enable", "0\n");
	bring("shop", "order", 0, &id_order, &hint_order);
	bring("shop", "pay", 0, &id_pay, &hint_pay);
	bring("web", "hit", 0, &id_hit, &hint_hit);
	check_numbers(control);
	check_sizes(control);
	check_enable(control);
	check_set_event(control);
	check_layouts(control);
	check_related(control);
	check_later(control);
	check_paths(control);
	check_list(control);
	check_texts(control);
	check_stats(control);
	check_names(control);
	control_close(control);
	return 0;
}
