/*
 * symbol/functions: functions of an ELF file, and those as lines of a kallsyms text; data by name.
 */
#include "symbol/functions.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/symbol.h"

#define TEXT_MAX (32u << 20)	/* of one file */
#define NAME_LEN_MAX SYMBOL_NAME_MAX	/* a line stays below 1024 bytes: longer ones are too much for readers */
#define MODULE_LEN_MAX 255u
#define GAP_MIN 64u		/* fewer bytes are there to align what follows */

void functions_fini(struct functions *functions)
{
	elf_symbols_close(&functions->symbols);
	free(functions->all);
	*functions = (struct functions){ .stripped = functions->stripped };
}

static bool is_function(const struct elf_symbol *symbol)
{
	return (symbol->type == STT_FUNC || symbol->type == STT_GNU_IFUNC) && symbol->section != SHN_UNDEF &&
	       symbol->section != SHN_ABS && symbol->value && symbol->name[0] && symbol->name[0] != '$';
}

static char type_of(const struct elf_symbol *symbol)
{
	return symbol->bind == STB_LOCAL ? 't' : symbol->bind == STB_WEAK ? 'W' : 'T';
}

static int functions_add(struct functions *functions, const struct elf_symbol *symbol)
{
	/* There the lowest bit of an address tells the instruction set. */
	uint64_t flag = functions->symbols.elf->machine == EM_ARM;

	if (functions->n == functions->cap) {
		size_t cap = functions->cap ? functions->cap * 2 : 1024;
		struct function *more = realloc(functions->all, cap * sizeof(*more));

		if (!more)
			return -ENOMEM;
		functions->all = more;
		functions->cap = cap;
	}
	functions->all[functions->n++] = (struct function){
		symbol->value & ~flag, symbol->size, symbol->name, type_of(symbol), symbol->type == STT_GNU_IFUNC,
	};
	return 0;
}

/* Those of one table of the file: how many, or -errno. */
static int functions_take(struct functions *functions, const struct elf *elf, uint32_t kind)
{
	struct elf_symbol symbol;
	int r = elf_symbols_open(&functions->symbols, elf, kind);

	if (r)
		return r == -ENODATA ? 0 : r;
	while (!r && elf_symbols_next(&functions->symbols, &symbol))
		if (is_function(&symbol))
			r = functions_add(functions, &symbol);
	if (r || !functions->n)
		functions_fini(functions);
	return r ? r : functions->n != 0;
}

/* Of several names of one address the first is the one that is shown, the same that a plan's site has (plan/make.c): one that is
 * known outside, without an underscore, short. */
static int compare(const void *a, const void *b)
{
	const struct function *x = a, *y = b;
	size_t i = strcspn(x->name, "@"), j = strcspn(y->name, "@");

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if ((x->type == 't') != (y->type == 't'))
		return x->type == 't' ? 1 : -1;
	if ((*x->name == '_') != (*y->name == '_'))
		return *x->name == '_' ? 1 : -1;
	return i != j ? (i < j ? -1 : 1) : strcmp(x->name, y->name);
}

/* Files call things what they like, but lines are taken apart at blanks, tabs and brackets. */
static void put_word(struct buf *out, const char *text, size_t max, const char *not)
{
	for (size_t i = 0; i < max && text[i]; i++)
		buf_putc(out, (unsigned char)text[i] <= ' ' || text[i] == 0x7f || strchr(not, text[i]) ? '_' : text[i]);
}

/* Of what has no name one wants to know at least where it is: readers add how far behind this address they are. */
static void put_unknown(struct buf *out, const struct symbol_file *file, uint64_t address)
{
	buf_puts(out, "[");
	put_word(out, file->module, MODULE_LEN_MAX, "[]");
	if (address)
		buf_printf(out, "+0x%" PRIx64, address);
	buf_puts(out, "]");
}

static void put_line(struct buf *out, const struct symbol_file *file, uint64_t address, char type, const char *name)
{
	/* "name@VERSION" in files that are not stripped. */
	size_t len = strcspn(name, "@");
	bool unknown = !strcmp(name, SYMBOL_UNKNOWN);

	buf_printf(out, "%016" PRIx64 " %c ", file->base + address, type);
	if (unknown)
		put_unknown(out, file, address);
	else
		put_word(out, name, len && len < NAME_LEN_MAX ? len : NAME_LEN_MAX, "");
	if (!file->program || unknown) {
		buf_puts(out, "\t[");
		put_word(out, file->module, MODULE_LEN_MAX, "[]");
		buf_puts(out, "]");
	}
	buf_puts(out, "\n");
}

/* `known` is where the functions so far end: what is between it and the next one has no name. */
static void put_all(struct buf *out, const struct symbol_file *file, const struct functions *functions)
{
	size_t start = out->len;
	uint64_t known = 0;
	bool open = true;	/* nothing is said of what follows `known` */

	for (size_t i = 0; i < functions->n; i++) {
		const struct function *function = &functions->all[i];
		uint64_t end = function->address + function->size;

		if (function->address >= file->span)
			break;
		if (out->len - start > TEXT_MAX) {
			known = function->address;
			open = true;
			break;
		}
		if (open && function->address - known >= (i ? GAP_MIN : 1) && function->address > known)
			put_line(out, file, known, 't', SYMBOL_UNKNOWN);
		/* One name an address: readers of such lines choose among several by chance. */
		if (!i || function->address != function[-1].address)
			put_line(out, file, function->address, function->type, function->name);
		/* One without a size is taken to reach as far as the next. */
		open = function->size || function->address < known;
		if (end > known && end > function->address)
			known = end;
		else if (known < function->address)
			known = function->address;
	}
	if (open && known < file->span)
		put_line(out, file, known, 't', SYMBOL_UNKNOWN);
}

/* A build-id of another length was cut by whoever wrote it down. */
static bool is_changed(const struct elf *elf, const struct symbol_file *file)
{
	unsigned char id[ELF_BUILD_ID_MAX];
	uint32_t len = elf_build_id(elf, id);

	return file->build_id_len && (len != file->build_id_len || memcmp(id, file->build_id, len));
}

static int look_into(struct functions *functions, const struct elf *elf, const struct symbol_file *file, struct err *err)
{
	int r;

	if (is_changed(elf, file))
		return err_set(err, -ESTALE, "%.300s: has another build-id by now", file->path);
	r = functions_take(functions, elf, SHT_SYMTAB);
	functions->stripped = !r;
	if (!r)
		r = functions_take(functions, elf, SHT_DYNSYM);
	if (r < 0)
		return err_set(err, r, "out of memory");
	if (functions->n)
		qsort(functions->all, functions->n, sizeof(*functions->all), compare);
	return 0;
}

int functions_init(struct functions *functions, const struct symbol_file *file, struct err *err)
{
	struct elf elf;
	int r = elf_open_path(&elf, file->path, err);

	*functions = (struct functions){ 0 };
	if (r)
		return r;
	r = look_into(functions, &elf, file, err);
	elf_close_path(&elf);
	/* Names are kept, the file is not. */
	functions->symbols.elf = NULL;
	return r;
}

int symbol_put_functions(struct buf *out, const struct symbol_file *file, struct err *err)
{
	struct functions functions;
	int r = functions_init(&functions, file, err);

	if (r)
		put_line(out, file, 0, 't', SYMBOL_UNKNOWN);
	else
		put_all(out, file, &functions);
	functions_fini(&functions);
	return !r && buf_failed(out) ? err_set(err, -ENOMEM, "out of memory") : r;
}

/* ---- data ---- */

static bool is_named(const struct elf_symbol *symbol, const char *name)
{
	const size_t len = strlen(name);

	return symbol->type == STT_OBJECT && symbol->section != SHN_UNDEF && symbol->section != SHN_ABS && symbol->value &&
	       !strncmp(symbol->name, name, len) && (!symbol->name[len] || symbol->name[len] == '@');
}

static bool find_data(const struct elf *elf, uint32_t kind, const char *name, uint64_t *address, uint64_t *size)
{
	struct elf_symbols symbols;
	struct elf_symbol symbol;
	bool found = false;

	if (elf_symbols_open(&symbols, elf, kind))
		return false;
	while (!found && elf_symbols_next(&symbols, &symbol)) {
		found = is_named(&symbol, name);
		*address = symbol.value;
		*size = symbol.size;
	}
	elf_symbols_close(&symbols);
	return found;
}

bool symbol_find_data(const struct symbol_file *file, const char *name, uint64_t *address, uint64_t *size)
{
	struct elf elf;
	bool found;

	if (elf_open_path(&elf, file->path, NULL))
		return false;
	found = !is_changed(&elf, file) &&
		(find_data(&elf, SHT_SYMTAB, name, address, size) || find_data(&elf, SHT_DYNSYM, name, address, size));
	elf_close_path(&elf);
	return found;
}
