/*
 * Options that tell where a file is from come back through the reader: the machine, what each CPU counted, mappings.
 */
#include "record/kept.h"

#include <sys/utsname.h>

#include "dat/dat.h"

static const struct dat_option *option_at(const struct dat *dat, enum dat_id id, size_t n)
{
	const struct dat_option *option;

	for (size_t i = 0; (option = dat_option(dat, i)); i++)
		if (option->id == id && !n--)
			return option;
	return NULL;
}

static void check_info(const struct dat *dat)
{
	const struct dat_info *info = dat_info(dat);
	struct utsname name;
	char want[512];

	CHECK(!uname(&name), "uname");
	snprintf(want, sizeof(want), "%s %s %s %s", name.sysname, name.nodename, name.release, name.machine);
	CHECK(!strcmp(info->uname, want), "'%s'", info->uname);
	CHECK(!strcmp(info->writer, "ringside " RINGSIDE_VERSION), "'%s'", info->writer);
	CHECK(info->has_traceid && info->traceid, "no trace id");
}

static void check_stats(struct control *control, const struct dat *dat)
{
	char *text = room_read(control, "instances/other/per_cpu/cpu0/stats"), want[4096], *end;
	const struct dat_option *option = option_at(dat, DAT_CPUSTAT, 0);
	size_t n = 0;

	CHECK(option && !strncmp((const char *)option->data, "CPU: 0\nentries: ", 16), "the top buffer");
	/* Behind those of the top buffer, all of its CPUs. */
	for (n = 1; (option = option_at(dat, DAT_CPUSTAT, n)) && strncmp((const char *)option->data, "\nBuffer", 7); n++) {
		snprintf(want, sizeof(want), "CPU: %zu\n", n);
		CHECK(!strncmp((const char *)option->data, want, strlen(want)), "%s behind CPU %zu", option->data, n - 1);
	}
	CHECK(option && !strcmp((const char *)option->data, "\nBuffer: named\n\n") && option->len == 17, "no name");
	option = option_at(dat, DAT_CPUSTAT, n + 1);
	/* The time goes on. */
	snprintf(want, sizeof(want), "CPU: 0\n%s", text);
	end = strstr(want, "now ts");
	CHECK(end && option && !strncmp((const char *)option->data, want, (size_t)(end - want)), "'%s', not '%s'",
	      option ? (const char *)option->data : NULL, want);
	CHECK(option->data[option->len - 1] == '\0' && option->data[option->len - 2] == '\n', "its end");
	free(text);
}

static void check_maps(const struct dat *dat)
{
	const struct dat_map *map = dat_map_find(dat, getpid(), (uintptr_t)check_maps);
	char self[1024];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	CHECK(len > 0 && map, "where is this program?");
	self[len] = '\0';
	CHECK(!strcmp(map->path, self), "'%s'", map->path);
	map = dat_map_find(dat, getpid(), (uintptr_t)getpid);
	CHECK(map || (uintptr_t)getpid - (uintptr_t)check_maps < 1u << 30, "where is libc?");
	for (size_t i = 0; (map = dat_map(dat, i)); i++)
		CHECK(map->path[0] == '/' && map->pid == getpid() && map->start < map->end, "a mapping of '%s'", map->path);
	CHECK(!dat_map_find(dat, getpid(), (uintptr_t)&self), "the stack is mapped from a file");
}

int main(void)
{
	struct control *control = room_open();
	struct source *source = source_of(NULL);
	struct record_meta *meta = meta_of(source);
	const char *path = path_of("machine.dat");
	static struct kept kept;
	struct record_sink sink = kept_sink(&kept);
	struct err err = ERR_INIT;
	struct dat *dat;

	room_mkdir(control, "instances/other", 0);
	meta_put(meta, &kept);
	CHECK(!record_meta_put_machine(meta, 0, &sink, &err), "%s", err.text);
	CHECK(!record_meta_put_stats(source, NULL, "", &sink, &err), "%s", err.text);
	CHECK(!record_meta_put_stats(source, "other", "named", &sink, &err), "%s", err.text);
	CHECK(!record_meta_put_maps(meta, getpid(), &sink, &err), "%s", err.text);
	CHECK(record_meta_put_maps(meta, 0x7ffffff0, &sink, &err) == -ENOENT && err.text[0], "a process that is not there");
	CHECK(record_meta_put_stats(source, "none", "", &sink, NULL) < 0, "an instance that is not there");
	for (int version = 6; version < 8; version++) {
		kept_end(kept_begin(&kept, version, path, 1));
		CHECK(!dat_open(&dat, path, &err), "%s", err.text);
		CHECK(!dat_warning(dat, 0), "%s", dat_warning(dat, 0));
		check_info(dat);
		check_stats(control, dat);
		check_maps(dat);
		dat_close(dat);
	}
	record_meta_close(meta);
	source_close(source);
	control_close(control);
	kept_fini(&kept);
	return 0;
}
