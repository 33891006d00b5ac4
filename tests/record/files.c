/*
 * A tree of files, as the kernel's: formats of all its systems, names that it forgets again, symbols of a file.
 */
#include "record/kept.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "dat/dat.h"

static char tree[512];

static void make(const char *path, const char *text)
{
	char full[1024], *slash;
	int fd;

	snprintf(full, sizeof(full), "%s/%s", tree, path);
	for (slash = full + strlen(tree); (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		mkdir(full, 0700);
		*slash = '/';
	}
	fd = open(full, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && !close(fd), "%s: %s", full,
	      strerror(errno));
}

static void make_event(const char *path, const char *name, int id)
{
	char text[4096];

	snprintf(text, sizeof(text), "name: %s\nID: %d\nformat:\n%s", name, id, ITEM_BODY);
	make(path, text);
}

static void make_tree(void)
{
	snprintf(tree, sizeof(tree), "%s", path_of("tree"));
	CHECK(!mkdir(tree, 0700), "%s: %s", tree, strerror(errno));
	make("tracing_on", "1\n");
	make("events/enable", "0\n");
	make("events/header_page", "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				   "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
				   "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n");
	make("events/header_event", "# compressed entry header\n");
	make_event("events/ftrace/print/format", "print", 5);
	make_event("events/sched/sched_switch/format", "sched_switch", 300);
	make_event("events/sched/sched_waking/format", "sched_waking", 301);
	make("events/sched/enable", "0\n");
	make("events/empty/enable", "0\n");
	make("events/formless/one/enable", "0\n");
	make_event("events/irq/irq_entry/format", "irq_entry", 302);
	make("printk_formats", "0xffffffff81000000 : \"hello %d\\n\"\n");
	make("saved_cmdlines", "0 <idle>\n12 kworker/0:1-events\n13 a b\n14    \n15 \njunk\n\n");
	make("kallsyms", "ffffffff81000000 T _text\nffffffff81000100 T schedule\t[mod]\nffffffff81000200 T end\n");
}

static void expect_comm(struct dat *dat, int pid, const char *comm)
{
	const char *is = dat_comm(dat, pid);

	CHECK(comm ? is && !strcmp(is, comm) : !is, "%d is called '%s'", pid, is);
}

static void check_file(struct kept *kept, size_t events)
{
	const char *path = path_of("tree.dat");
	struct decode_symbol symbol = { 0 };
	struct decode_printk printk;
	struct err err = ERR_INIT;
	const char *system, *name;
	struct dat *dat;
	size_t i;

	kept_end(kept_begin(kept, 7, path, 1));
	CHECK(!dat_open(&dat, path, &err), "%s", err.text);
	CHECK(!dat_warning(dat, 0), "%s", dat_warning(dat, 0));
	CHECK(dat_nr_events(dat) == events, "%zu events", dat_nr_events(dat));
	CHECK(dat_event_find(dat, 301, &i), "no event 301");
	dat_event_name(dat, i, &system, &name, NULL);
	CHECK(!strcmp(system, "sched") && !strcmp(name, "sched_waking"), "%s:%s", system, name);
	CHECK(dat_printk(dat, 0xffffffff81000000, &printk) && !strcmp(printk.text, "hello %d"), "printk");
	CHECK(dat_symbol(dat, 1, 0xffffffff81000123, &symbol) && !strcmp(symbol.name, "schedule") && symbol.offset == 0x23,
	      "symbol %s", symbol.name);
	expect_comm(dat, 12, "kworker/0:1-events");
	expect_comm(dat, 13, "a b");
	expect_comm(dat, 14, NULL);
	expect_comm(dat, 15, NULL);
	dat_close(dat);
}

int main(void)
{
	struct record_meta_how how = { 0 };
	static struct kept kept;
	struct record_sink sink = kept_sink(&kept);
	struct err err = ERR_INIT;
	struct record_meta *meta;
	struct source *source;

	make_tree();
	source = source_of(tree);
	how.kallsyms = path_of("tree/kallsyms");
	CHECK(!record_meta_open(&meta, source, &how, &err), "%s", err.text);
	meta_put(meta, &kept);
	CHECK(!record_meta_put_symbols(meta, &sink, &err), "%s", err.text);
	CHECK(!record_meta_is_stale(meta), "files cannot say so");
	check_file(&kept, 4);
	kept_puts(&kept);

	/* Names that were there stay, and new ones join. */
	make("saved_cmdlines", "16 new\n");
	make_event("events/irq/irq_exit/format", "irq_exit", 303);
	CHECK(!record_meta_put_names(meta, &sink, &err), "%s", err.text);
	CHECK(kept_puts(&kept) == 1u << DAT_CMDLINES, "not just names");
	CHECK(strstr(kept.sections[DAT_CMDLINES].data, "16 new\n"), "%s", kept.sections[DAT_CMDLINES].data);
	meta_put(meta, &kept);
	CHECK(kept_puts(&kept) == 1u << DAT_EVENT_FORMATS, "not just the event");
	check_file(&kept, 5);
	record_meta_close(meta);

	how.kallsyms = path_of("tree/none");
	CHECK(!record_meta_open(&meta, source, &how, &err), "%s", err.text);
	CHECK(record_meta_put_symbols(meta, &sink, &err) == -ENOENT && strstr(err.text, "none"), "'%s'", err.text);
	record_meta_close(meta);
	source_close(source);
	kept_fini(&kept);
	return 0;
}
