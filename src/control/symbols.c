/*
 * control/symbols: see symbols.h. One thread a handle.
 */
#include "control/symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/registry.h"
#include "layout/registry.h"
#include "symbol/prototype.h"
#include "symbol/symbol.h"

struct file {
	const struct control_elf *elf;
	struct symbol_table *table;
	struct prototypes *prototypes;
	bool tried, tried_prototypes;
};

struct control_symbols {
	struct control_registry registry;
	uint64_t number;	/* of things registered, as of then */
	struct file *files;	/* by slot, as the registry's */
	struct symbol_function function;
};

static void forget(struct control_symbols *symbols)
{
	for (uint32_t i = 0; i < symbols->registry.nelfs; i++) {
		symbol_table_close(symbols->files[i].table);
		prototypes_close(symbols->files[i].prototypes);
	}
	free(symbols->files);
	control_registry_fini(&symbols->registry);
	symbols->files = NULL;
	symbols->registry = (struct control_registry){ 0 };
}

void control_symbols_close(struct control_symbols *symbols)
{
	if (!symbols)
		return;
	forget(symbols);
	free(symbols);
}

/* Tables of files that were read before are kept: places are never dealt twice. */
static bool learn(struct control_symbols *symbols, const struct segment_dir *dir)
{
	struct control_symbols fresh = { 0 };

	if (control_registry_number(dir, &fresh.number, NULL) || fresh.number == symbols->number ||
	    control_registry_read(&fresh.registry, dir, CONTROL_REGISTRY_ELFS, NULL))
		return false;
	fresh.files = calloc(fresh.registry.nelfs + 1u, sizeof(*fresh.files));
	if (!fresh.files) {
		control_registry_fini(&fresh.registry);
		return false;
	}
	for (uint32_t i = 0, old = 0; i < fresh.registry.nelfs; i++) {
		fresh.files[i].elf = &fresh.registry.elfs[i];
		while (old < symbols->registry.nelfs && symbols->registry.elfs[old].base < fresh.files[i].elf->base)
			old++;
		if (old == symbols->registry.nelfs || symbols->registry.elfs[old].base != fresh.files[i].elf->base)
			continue;
		fresh.files[i].table = symbols->files[old].table;
		fresh.files[i].tried = symbols->files[old].tried;
		fresh.files[i].prototypes = symbols->files[old].prototypes;
		fresh.files[i].tried_prototypes = symbols->files[old].tried_prototypes;
		symbols->files[old].table = NULL;
		symbols->files[old].prototypes = NULL;
	}
	forget(symbols);
	*symbols = fresh;
	return true;
}

static struct control_symbols *symbols_of(struct control *control)
{
	if (!control->symbols) {
		control->symbols = calloc(1, sizeof(*control->symbols));
		if (control->symbols)
			learn(control->symbols, &control->dir);
	}
	return control->symbols;
}

static const char *module_of(const struct control_elf *elf)
{
	const char *slash = strrchr(elf->path, '/');

	return slash && slash[1] ? slash + 1 : *elf->path ? elf->path : "?";
}

/* A path that is not whole is one of the program's directory: only its build-id can tell that it is the same. */
static bool is_reachable(const struct control_elf *elf)
{
	return elf->path[0] == '/' || (elf->path[0] && elf->build_id_len);
}

static struct symbol_file symbol_file(const struct control_elf *elf)
{
	return (struct symbol_file){
		.path = elf->path, .build_id = elf->build_id, .build_id_len = elf->build_id_len, .module = module_of(elf),
	};
}

static const struct symbol_table *table_of(struct file *file)
{
	struct symbol_file from = symbol_file(file->elf);

	if (!file->tried && is_reachable(file->elf))
		symbol_table_open(&file->table, &from, NULL);
	file->tried = true;
	return file->table;
}

static const struct prototypes *prototypes_of(struct file *file)
{
	struct symbol_file from = symbol_file(file->elf);

	if (!file->tried_prototypes && is_reachable(file->elf))
		prototypes_open(&file->prototypes, &from, NULL);
	file->tried_prototypes = true;
	return file->prototypes;
}

static struct file *file_at(struct control_symbols *symbols, uint64_t base)
{
	uint32_t low = 0, high = symbols->registry.nelfs;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (symbols->files[middle].elf->base < base)
			low = middle + 1;
		else
			high = middle;
	}
	return low < symbols->registry.nelfs && symbols->files[low].elf->base == base ? &symbols->files[low] : NULL;
}

/* The file that has that address of the symbol space; NULL: nobody told of one. */
static struct file *file_of(struct control *control, uint64_t address)
{
	const uint64_t base = address & ~((1ull << SYMBOL_SPACE_SHIFT) - 1);
	struct control_symbols *symbols;
	struct file *file;

	if (address < symbol_space_base(0) || address >= symbol_space_base(REGISTRY_ELFS))
		return NULL;
	symbols = symbols_of(control);
	file = symbols ? file_at(symbols, base) : NULL;
	if (symbols && !file && learn(symbols, &control->dir))
		file = file_at(symbols, base);
	return file;
}

bool control_symbol(struct control *control, uint64_t address, struct decode_symbol *symbol)
{
	const struct symbol_table *table;
	struct symbol_function *function;
	struct file *file;

	if (address == MARKER_IP) {
		*symbol = (struct decode_symbol){ .name = MARKER_NAME, .size = 1 };
		return true;
	}
	file = file_of(control, address);
	table = file ? table_of(file) : NULL;
	if (!table || !symbol_table_at(table, address - file->elf->base, &control->symbols->function))
		return false;
	function = &control->symbols->function;
	*symbol = (struct decode_symbol){
		.name = function->name,
		.module = file->elf->program ? NULL : module_of(file->elf),
		.offset = address - file->elf->base - function->address,
		.size = function->size,
	};
	return true;
}

const char *control_prototype(struct control *control, uint64_t address)
{
	struct file *file = file_of(control, address);
	const struct prototypes *prototypes = file ? prototypes_of(file) : NULL;
	struct prototype prototype;

	return prototypes && prototypes_at(prototypes, address - file->elf->base, &prototype) ? prototype.text : NULL;
}

int control_member(struct control *control, uint64_t address, const char *path, struct buf *out)
{
	struct file *file = file_of(control, address);
	const struct prototypes *prototypes = file ? prototypes_of(file) : NULL;
	struct symbol_file from;

	if (!prototypes)
		return -ENOENT;
	from = symbol_file(file->elf);
	return prototypes_member(prototypes, &from, address - file->elf->base, path, out);
}

/* The parts of "NAME [MODULE]" or "MODULE:NAME"; of a name alone the module is empty. False: too long. */
static bool take_apart(const char *text, char name[SYMBOL_NAME_MAX + 1], char module[256])
{
	const char *bracket = strstr(text, " ["), *colon = strchr(text, ':');
	size_t name_len = strlen(text), module_len = 0;
	const char *at = text, *of = "";

	/* C++ has colons in names, but two of them. */
	if (bracket && text[name_len - 1] == ']') {
		of = bracket + 2;
		module_len = name_len - (size_t)(of - text) - 1;
		name_len = (size_t)(bracket - text);
	} else if (colon && colon[1] != ':') {
		of = text;
		module_len = (size_t)(colon - text);
		at = colon + 1;
		name_len -= module_len + 1;
	}
	if (!name_len || name_len > SYMBOL_NAME_MAX || module_len > 255)
		return false;
	memcpy(name, at, name_len);
	name[name_len] = '\0';
	memcpy(module, of, module_len);
	module[module_len] = '\0';
	return true;
}

/* In the programs or in the libraries. */
static bool find_in(struct control_symbols *symbols, bool programs, const char *name, const char *module, uint64_t *start,
		    uint64_t *end)
{
	for (uint32_t i = 0; i < symbols->registry.nelfs; i++) {
		struct file *file = &symbols->files[i];
		const struct symbol_table *table;

		if (file->elf->program != programs || (*module && strcmp(module, module_of(file->elf))))
			continue;
		table = table_of(file);
		if (!table || !symbol_table_find(table, name, &symbols->function))
			continue;
		*start = file->elf->base + symbols->function.address;
		*end = *start + (symbols->function.size ? symbols->function.size : 1);
		return true;
	}
	return false;
}

bool control_function(struct control *control, const char *text, uint64_t *start, uint64_t *end)
{
	char name[SYMBOL_NAME_MAX + 1], module[256];
	struct control_symbols *symbols = symbols_of(control);

	if (!symbols || !take_apart(text, name, module))
		return false;
	learn(symbols, &control->dir);
	return find_in(symbols, true, name, module, start, end) || find_in(symbols, false, name, module, start, end);
}

static bool find_data_in(struct control_symbols *symbols, bool programs, const char *name, const char *module, uint64_t *start,
			 uint64_t *end)
{
	for (uint32_t i = 0; i < symbols->registry.nelfs; i++) {
		const struct control_elf *elf = &symbols->registry.elfs[i];
		struct symbol_file from = symbol_file(elf);
		uint64_t address, size;

		if (elf->program != programs || (*module && strcmp(module, module_of(elf))) || !is_reachable(elf) ||
		    !symbol_find_data(&from, name, &address, &size))
			continue;
		*start = elf->base + address;
		*end = *start + (size ? size : 1);
		return true;
	}
	return false;
}

bool control_data(struct control *control, const char *text, uint64_t *start, uint64_t *end)
{
	char name[SYMBOL_NAME_MAX + 1], module[256];
	struct control_symbols *symbols = symbols_of(control);

	if (!symbols || !take_apart(text, name, module))
		return false;
	learn(symbols, &control->dir);
	return find_data_in(symbols, true, name, module, start, end) || find_data_in(symbols, false, name, module, start, end);
}
