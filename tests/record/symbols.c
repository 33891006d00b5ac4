/*
 * Addresses of the symbol space have the names of the functions that lie there, also when the program is gone. When its
 * file is gone, or is another one by now, there is no name, and none of a neighbour either.
 */
#include "record/kept.h"

#include <fcntl.h>
#include <search.h>
#include <sys/stat.h>

#include "dat/dat.h"
#include "layout/registry.h"
#include "symbol/symbol.h"

static __attribute__((noinline)) int here(int n)
{
	return n * 3 + getpid();
}

/* A copy of this program, which tells where `here` is. */
static char *copy(const char *name)
{
	char command[4096], *path = strdup(path_of(name));

	snprintf(command, sizeof(command), "cp /proc/%d/exe '%s'", getpid(), path);
	CHECK(!system(command), "%s", command);
	return path;
}

static uint64_t address_in(const char *path)
{
	uint64_t address = 0;
	int out[2];
	pid_t pid;

	CHECK(!pipe(out), "pipe");
	pid = child_fork();
	if (!pid) {
		dup2(out[1], 1);
		execl(path, path, "tell", (char *)NULL);
		_exit(127);
	}
	close(out[1]);
	CHECK(read(out[0], &address, sizeof(address)) == sizeof(address), "it tells nothing");
	close(out[0]);
	child_expect(pid);
	return address;
}

static int tell(void)
{
	uint64_t address = runtime_symbol_address((void *)(uintptr_t)here);

	return write(1, &address, sizeof(address)) != sizeof(address);
}

static void expect(struct dat *dat, uint64_t address, const char *name, const char *module)
{
	struct decode_symbol symbol = { 0 };

	CHECK(dat_symbol(dat, 1, address, &symbol) && !strcmp(symbol.name, name), "%llx is %s, not %s",
	      (unsigned long long)address, symbol.name, name);
	CHECK(module ? symbol.module && !strcmp(symbol.module, module) : !symbol.module, "it is in %s", symbol.module);
}

static struct dat *file_of(struct kept *kept)
{
	const char *path = path_of("symbols.dat");
	struct err err = ERR_INIT;
	struct dat *dat;

	kept_end(kept_begin(kept, 7, path, 1));
	CHECK(!dat_open(&dat, path, &err), "%s", err.text);
	CHECK(!dat_warning(dat, 0), "%s", dat_warning(dat, 0));
	return dat;
}

int main(int argc, char **argv)
{
	char *kept_copy, *gone, *changed, command[4096];
	uint64_t at_kept, at_gone, at_changed, at_self, at_library;
	struct control *control;
	struct source *source;
	struct record_meta *meta;
	static struct kept kept;
	struct record_sink sink = kept_sink(&kept);
	struct err err = ERR_INIT;
	struct dat *dat;

	if (argc > 1 && !strcmp(argv[1], "tell"))
		return tell();
	CHECK(here(1), "here");
	control = room_open();
	kept_copy = copy("a kept");
	gone = copy("gone");
	changed = copy("changed");
	at_kept = address_in(kept_copy);
	at_gone = address_in(gone);
	at_changed = address_in(changed);
	at_self = runtime_symbol_address((void *)(uintptr_t)here);
	at_library = runtime_symbol_address((void *)(uintptr_t)lfind);
	CHECK(at_kept && at_gone && at_changed && at_self && at_library, "no addresses");
	CHECK(!unlink(gone) && !unlink(changed), "unlink");
	snprintf(command, sizeof(command), "cp /bin/sh '%s'", changed);
	CHECK(!system(command), "%s", command);

	source = source_of(NULL);
	meta = meta_of(source);
	meta_put(meta, &kept);
	CHECK(!record_meta_put_symbols(meta, &sink, &err), "%s", err.text);
	dat = file_of(&kept);
	expect(dat, MARKER_IP, "tracing_mark_write", NULL);
	expect(dat, at_kept, "here", NULL);
	expect(dat, at_kept + 1, "here", NULL);
	expect(dat, at_self, "here", NULL);
	expect(dat, at_library, "lfind", "libc.so.6");
	expect(dat, at_gone, "[gone]", "gone");
	expect(dat, at_changed, "[changed]", "changed");
	dat_close(dat);
	record_meta_close(meta);
	source_close(source);
	control_close(control);
	kept_fini(&kept);
	free(kept_copy);
	free(gone);
	free(changed);
	return 0;
}
