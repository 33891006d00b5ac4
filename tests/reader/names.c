/*
 * What a file calls addresses, tasks and texts.
 */
#include "reader/lab.h"
#include "reader/made.h"

static void symbols(const struct ringside_dat *file)
{
	uint64_t offset, address;
	const char *module = "?";

	CHECK(!strcmp(ringside_dat_symbol(file, 0xffffffff81000104, &offset, &module), "second") &&
	      offset == 4 && !module, "second");
	CHECK(!strcmp(ringside_dat_symbol(file, 0xffffffffc0000010, &offset, &module), "inner") &&
	      offset == 16 && !strcmp(module, "mod"), "inner");
	CHECK(!strcmp(ringside_dat_symbol(file, 0xffffffff81000000, NULL, NULL), "first"), "first");
	CHECK(!ringside_dat_symbol(file, 0x1000, &offset, &module), "before the first");
	CHECK(!strcmp(ringside_dat_symbol_at(file, 1, &address, &module), "second") &&
	      address == 0xffffffff81000100 && !module, "by number");
	CHECK(ringside_dat_symbol_at(file, 3, NULL, NULL) &&
	      !ringside_dat_symbol_at(file, 4, NULL, NULL), "four");
}

static void others(const struct ringside_dat *file)
{
	uint64_t address, start, end;
	int pid;

	CHECK(!strcmp(ringside_dat_comm(file, 42), "lab") && !ringside_dat_comm(file, 43), "tasks");
	CHECK(!strcmp(ringside_dat_comm_at(file, 0, &pid), "init") && pid == 1 &&
	      ringside_dat_comm_at(file, 1, NULL) && !ringside_dat_comm_at(file, 2, NULL), "tasks");
	CHECK(!strcmp(ringside_dat_printk(file, 0xffffffff82000000), "hello %d") &&
	      !ringside_dat_printk(file, 1), "printk");
	CHECK(ringside_dat_printk_at(file, 0, &address) && address == 0xffffffff82000000 &&
	      !ringside_dat_printk_at(file, 1, NULL), "printk");
	CHECK(!strcmp(ringside_dat_map(file, 42, 0x400010, &start, &end), "/bin/lab") &&
	      start == 0x400000 && end == 0x500000, "map");
	CHECK(!ringside_dat_map(file, 43, 0x400010, NULL, NULL) &&
	      !ringside_dat_map(file, 42, 0x500000, NULL, NULL), "other maps");
	CHECK(ringside_dat_map_at(file, 0, &pid, NULL, NULL) && pid == 42 &&
	      !ringside_dat_map_at(file, 1, NULL, NULL, NULL), "maps");
}

static void real(void)
{
	struct ringside_dat *file = lab_open(lab_data("mixed.v7.dat"));
	uint64_t offset;

	CHECK(!strcmp(ringside_dat_comm(file, 18), "rcu_preempt"), "18");
	CHECK(!strcmp(ringside_dat_symbol(file, 0xffffffffb321f801, &offset, NULL), "bts_event_init") &&
	      offset == 1, "bts_event_init");
	CHECK(!strcmp(ringside_dat_printk(file, 0xffffffffb438dfa0), "mt_find"), "printk");
	ringside_dat_close(file);
}

int main(void)
{
	static struct made made;
	struct ringside_dat *file;

	made_record(&made, 0, 1000, 1, 42, 0);
	made_write(&made, lab_scratch("made.dat"));
	file = lab_open(lab_scratch("made.dat"));
	symbols(file);
	others(file);
	ringside_dat_close(file);
	if (lab_unpacks())
		real();
	return 0;
}
