/*
 * Plugins: the text of records that trace-cmd does not print by their formats, what goes from one
 * record to the next, options, and a shared object of a user's.
 */
#include "event.h"

#include <errno.h>

#include "decode/plugin.h"

static bool symbol(void *arg, int pid, uint64_t addr, struct decode_symbol *out)
{
	static const char *const names[] = {"main", "work", "rest"};

	(void)arg, (void)pid;
	if (addr < 0x1000 || addr >= 0x4000)
		return false;
	*out = (struct decode_symbol){.name = names[addr / 0x1000 - 1], .offset = addr & 0xfff};
	return true;
}

static const struct decode_ctx ctx = {.flags = DECODE_TEP, .symbol = symbol};

#define FIELD(type_name, offset, size, sgn) \
	"\tfield:" type_name ";\toffset:" #offset ";\tsize:" #size ";\tsigned:" #sgn ";\n"

static const struct {
	const char *system, *text;
} texts[] = {
	{"ftrace", "name: function\nID: 1\nformat:\n" COMMON FIELD("unsigned long ip", 8, 8, 0)
		FIELD("unsigned long parent_ip", 16, 8, 0)
		"\nprint fmt: \" %ps <-- %ps\", (void *)REC->ip, (void *)REC->parent_ip\n"},
	{"ftrace", "name: funcgraph_entry\nID: 2\nformat:\n" COMMON
		FIELD("unsigned long func", 8, 8, 0) FIELD("int depth", 16, 4, 1)
		"\nprint fmt: \"%d\", REC->depth\n"},
	{"ftrace", "name: funcgraph_exit\nID: 3\nformat:\n" COMMON
		FIELD("unsigned long func", 8, 8, 0) FIELD("int depth", 16, 4, 1)
		FIELD("unsigned long long calltime", 24, 8, 0)
		FIELD("unsigned long long rettime", 32, 8, 0) "\nprint fmt: \"%d\", REC->depth\n"},
	{"sched", "name: sched_switch\nID: 4\nformat:\n" COMMON
		FIELD("char prev_comm[16]", 8, 16, 0) FIELD("int prev_pid", 24, 4, 1)
		 FIELD("int prev_prio", 28, 4, 1)
		FIELD("long prev_state", 32, 8, 1) FIELD("char next_comm[16]", 40, 16, 0)
		FIELD("int next_pid", 56, 4, 1) FIELD("int next_prio", 60, 4, 1)
		"\nprint fmt: \"x\"\n"},
	{"kmem", "name: kfree\nID: 5\nformat:\n" COMMON FIELD("unsigned long call_site", 8, 8, 0)
		FIELD("const void * ptr", 16, 8, 0)
		"\nprint fmt: \"call_site=%pS ptr=%p\", (void *)REC->call_site, REC->ptr\n"},
	{"jbd2", "name: stats\nID: 6\nformat:\n" COMMON FIELD("dev_t dev", 8, 4, 0)
		"\nprint fmt: \"%s %u\", jbd2_dev_to_name(REC->dev), jiffies_to_msecs(REC->dev)\n"},
	{"shop", "name: order\nID: 7\nformat:\n" COMMON FIELD("int id", 8, 4, 1)
		FIELD("char customer[16]", 12, 16, 0) "\nprint fmt: \"id=%d\", REC->id\n"},
};

#define NR_TEXTS (sizeof(texts) / sizeof(texts[0]))

struct record {
	struct record_head head;
	union {
		uint64_t words[7];
		struct {
			char prev_comm[16];
			int32_t prev_pid, prev_prio;
			int64_t prev_state;
			char next_comm[16];
			int32_t next_pid, next_prio;
		} sw;
		struct {
			int32_t id;
			char customer[16];
		} order;
	};
};

static struct decode_format *formats[NR_TEXTS];
static struct decode_plugins *plugins;
static struct decode_carry *carry;

static const struct decode_format *format_of(const struct record *r)
{
	return formats[r->head.type - 1];
}

static const struct record *following;
static int taken;
static char learned[64];

static bool next(void *arg, struct decode_moment *out)
{
	(void)arg;
	if (!following)
		return false;
	*out = (struct decode_moment){.format = format_of(following), .rec = following,
				      .len = sizeof(*following), .ctx = &ctx};
	return true;
}

static void take(void *arg)
{
	(void)arg;
	taken++;
}

static void learn(void *arg, int pid, const char *comm, size_t len)
{
	size_t used = strlen(learned);

	(void)arg;
	snprintf(learned + used, sizeof(learned) - used, "%d=%.*s ", pid, (int)len, comm);
}

static void print(const struct record *r, const char *want)
{
	const struct decode_plugin *p = decode_plugins_find(plugins, format_of(r));
	struct decode_moment m = {.format = format_of(r), .rec = r, .len = sizeof(*r), .ctx = &ctx,
				  .carry = carry, .next = next, .take = take, .learn = learn};
	struct buf out = BUF_INIT;

	if (!p || !decode_plugin_print(p, &m, &out))
		decode_print(format_of(r), r, sizeof(*r), &ctx, &out);
	check_text(__FILE__, __LINE__, format_of(r)->name, out.data, want);
	buf_fini(&out);
}

static struct record words(int type, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	return (struct record){.head = {.type = (uint16_t)type, .pid = 1}, .words = {a, b, c, d}};
}

static void functions(void)
{
	struct record a = words(1, 0x2000, 0x1004, 0, 0), b = words(1, 0x3000, 0x2008, 0, 0);
	struct record unknown = words(1, 0x9000, 0x3000, 0, 0);
	struct decode_carry *copy = decode_carry_new();
	struct decode_carry *back = carry;

	print(&a, "work");
	print(&b, "   rest");
	check(!decode_carry_copy(copy, carry));
	print(&unknown, "      0x9000");
	carry = copy;
	print(&b, "   rest");
	carry = back;
	decode_carry_free(copy);
	check(!decode_plugins_set(plugins, "ftrace:parent", NULL));
	check(!decode_plugins_set(plugins, "offset=1", NULL));
	check(!decode_plugins_set(plugins, "indent=0", NULL));
	print(&b, "rest+0x0  <-- work+0x8 ");
	check(decode_plugins_set(plugins, "nosuch", NULL) == -ENOENT);
	check(decode_plugins_set(plugins, "fgraph:parent", NULL) == -ENOENT);
	check(decode_plugins_set(plugins, "parent=some", NULL) == -EINVAL);
	check(!decode_plugins_set(plugins, "parent", NULL));
	check(!decode_plugins_set(plugins, "offset", NULL));
}

static void graph(void)
{
	struct record entry = words(2, 0x1000, 1, 0, 0), end = words(3, 0x1000, 1, 1000, 13500);
	struct record other = words(3, 0x2000, 0, 0, 2000000000);

	print(&entry, "             |    main() {");
	following = &other;
	print(&entry, "             |    main() {");
	following = &end;
	print(&entry, "+ 12.500 us  |    main();");
	check(taken == 1);
	following = NULL;
	print(&end, "+ 12.500 us  |    }");
	print(&other, "$ 2000000 us |  }");
	check(!decode_plugins_set(plugins, "tailprint", NULL));
	check(!decode_plugins_set(plugins, "depth", NULL));
	print(&end, "+ 12.500 us  |    } /* main */ (1)");
}

static void rest(void)
{
	struct record sw = {.head = {.type = 4, .pid = 1},
			    .sw = {"cook", 7, 120, 0x21, "waiter", 8, -3}};
	struct record free_at = words(5, 0x1010, 0x77, 0, 0), stats = words(6, 0x800001, 0, 0, 0);
	struct buf out = BUF_INIT;

	print(&sw, "cook:7 [120] S|X ==> waiter:8 [-3]");
	check_text(__FILE__, __LINE__, "learned", learned, "7=cook 8=waiter ");
	print(&free_at, "(main+0x10) call_site=main+0x10 ptr=0x77");
	print(&stats, "8:1 8388609");
	decode_print(formats[5], &stats, sizeof(stats), &ctx, &out);
	check_text(__FILE__, __LINE__, "without plugins", out.data,
		   "[FAILED TO PARSE] dev=8388609");
	buf_reset(&out);
	decode_plugins_list(plugins, &out);
	check(strstr(out.data, "  plugin:\tfgraph\n  option:\tdepth\n") != NULL);
	buf_fini(&out);
}

static void user(void)
{
	struct record order = {.head = {.type = 7, .pid = 1}, .order = {5, "Ada"}};
	const char *build = getenv("RINGSIDE_BUILD");
	struct err err = ERR_INIT;
	char path[4096];

	print(&order, "id=5");
	check(decode_plugins_load(plugins, "/no/such/plugin.so", &err) == -ENOENT);
	check(strstr(err.text, "/no/such/plugin.so") != NULL);
	if (!build)
		return;
	snprintf(path, sizeof(path), "%s/examples/orders.so", build);
	check(!decode_plugins_load(plugins, path, &err));
	print(&order, "Ada has ordered, which makes number 5");
	order.order.customer[0] = '\0';
	print(&order, "id=5");
}

int main(void)
{
	struct err err = ERR_INIT;

	for (size_t i = 0; i < NR_TEXTS; i++)
		if (decode_format_parse(texts[i].system, texts[i].text, strlen(texts[i].text), NULL,
					&formats[i], &err)) {
			printf("%s\n", err.text);
			return 1;
		}
	check(!decode_plugins_new(&plugins, 0));
	carry = decode_carry_new();
	functions();
	graph();
	rest();
	user();
	decode_carry_free(carry);
	decode_plugins_free(plugins);
	for (size_t i = 0; i < NR_TEXTS; i++)
		decode_format_free(formats[i]);
	return failures ? 1 : 0;
}
