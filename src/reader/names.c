/*
 * reader/names: what a file calls addresses, tasks and texts. See reader.h.
 *
 * A handle that only tells why its file could not be opened knows no names.
 */
#include "reader/reader.h"

static const char *put_symbol(const struct decode_symbol *symbol, const char **module)
{
	if (module)
		*module = symbol->module;
	return symbol->name;
}

const char *ringside_dat_symbol(const struct ringside_dat *file, uint64_t address, uint64_t *offset,
				const char **module)
{
	struct decode_symbol symbol;

	if (!file->dat || !dat_symbol(file->dat, 0, address, &symbol))
		return NULL;
	if (offset)
		*offset = symbol.offset;
	return put_symbol(&symbol, module);
}

const char *ringside_dat_symbol_at(const struct ringside_dat *file, size_t i, uint64_t *address,
				   const char **module)
{
	struct decode_symbol symbol;
	uint64_t at;

	if (!file->dat || !dat_symbol_at(file->dat, i, &at, &symbol))
		return NULL;
	if (address)
		*address = at;
	return put_symbol(&symbol, module);
}

const char *ringside_dat_comm(const struct ringside_dat *file, int pid)
{
	return file->dat ? dat_comm(file->dat, pid) : NULL;
}

const char *ringside_dat_comm_at(const struct ringside_dat *file, size_t i, int *pid)
{
	const char *comm;
	int its_pid;

	if (!file->dat || !dat_comm_at(file->dat, i, &its_pid, &comm))
		return NULL;
	if (pid)
		*pid = its_pid;
	return comm;
}

const char *ringside_dat_printk(const struct ringside_dat *file, uint64_t address)
{
	struct decode_printk printk;

	return file->dat && dat_printk(file->dat, address, &printk) ? printk.text : NULL;
}

const char *ringside_dat_printk_at(const struct ringside_dat *file, size_t i, uint64_t *address)
{
	const char *text;
	uint64_t at;

	if (!file->dat || !dat_printk_at(file->dat, i, &at, &text))
		return NULL;
	if (address)
		*address = at;
	return text;
}

static const char *put_map(const struct dat_map *map, uint64_t *start, uint64_t *end)
{
	if (!map)
		return NULL;
	if (start)
		*start = map->start;
	if (end)
		*end = map->end;
	return map->path;
}

const char *ringside_dat_map(const struct ringside_dat *file, int pid, uint64_t address,
			     uint64_t *start, uint64_t *end)
{
	return file->dat ? put_map(dat_map_find(file->dat, pid, address), start, end) : NULL;
}

const char *ringside_dat_map_at(const struct ringside_dat *file, size_t i, int *pid,
				uint64_t *start, uint64_t *end)
{
	const struct dat_map *map = file->dat ? dat_map(file->dat, i) : NULL;

	if (map && pid)
		*pid = map->pid;
	return put_map(map, start, end);
}
