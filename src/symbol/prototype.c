/*
 * symbol/prototype: see prototype.h.
 *
 * Parameters are in registers in the order in which they are declared; so says the ABI, and other files rely on it. Functions
 * that only their own file calls are the compiler's: it leaves out what is not used. There the debug information of optimised code is
 * asked where a parameter is at the function's first instruction, and if it is not said, then it is not known.
 */
#include "symbol/prototype.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbol/beside.h"
#include "symbol/dwarf.h"
#include "symbol/dwarf_numbers.h"
#include "symbol/dwarf_types.h"
#include "symbol/member.h"

#define FUNCTIONS_MAX (1u << 20)
#define TEXT_MAX (128u << 20)
#define HOPS_MAX 4

struct found {
	uint64_t address;
	size_t text;		/* in texts */
	uint64_t master;	/* the entry that has its parameters */
	uint64_t type;		/* of what it returns */
	uint32_t order;
	uint8_t nregs;
};

struct prototypes {
	struct found *all;	/* by address */
	size_t n, room;
	struct buf texts;
	struct buf clones;	/* addresses, in order, of functions that the compiler made of others */
};

struct parameter {
	uint64_t offset;	/* of its entry, by which others name it */
	const char *name;
	struct type type;
	int8_t reg;		/* -1: in none that is known */
	bool told;		/* it is said to be in one where the function begins */
	bool silent;		/* nothing is said of where it is then, though it was optimised */
	bool artificial, listed;	/* the compiler's own; and is it there where the code is? */
};

struct subject {
	struct dwarf_die die;	/* that has the code */
	struct dwarf_die master;	/* that has all parameters, in order */
	uint64_t address;
	bool external;
	bool known;		/* the parameters are */
	struct type returns;
	struct parameter parameters[PROTOTYPE_PARAMETERS_MAX];
	uint32_t n;
};

static const uint8_t registers[PROTOTYPE_REGISTERS] = { 5, 4, 1, 2, 8, 9 };	/* by the number that debug information has */

static bool is_language(uint32_t language)
{
	static const uint8_t known[] = {
		DW_LANG_C89, DW_LANG_C, DW_LANG_C99, DW_LANG_C11, DW_LANG_C17, DW_LANG_C_plus_plus, DW_LANG_C_plus_plus_03,
		DW_LANG_C_plus_plus_11, DW_LANG_C_plus_plus_14, DW_LANG_C_plus_plus_17, DW_LANG_C_plus_plus_20,
	};

	for (size_t i = 0; i < sizeof(known); i++)
		if (known[i] == language)
			return true;
	return false;
}

/* ---- parameters ---- */

/* What is said where the code is, or where that was taken from. */
static void add_parameter(struct dwarf *dwarf, struct subject *subject, const struct dwarf_die *die)
{
	struct parameter *parameter = &subject->parameters[subject->n];
	struct dwarf_die said = *die;

	if (subject->n == PROTOTYPE_PARAMETERS_MAX) {
		subject->known = false;
		return;
	}
	*parameter = (struct parameter){ .offset = die->offset, .reg = -1, .silent = true, .artificial = die->artificial };
	for (int i = 0; i < HOPS_MAX && !said.type && said.origin; i++)
		if (!dwarf_die_at(dwarf, said.origin, &said))
			break;
	parameter->name = said.name;
	if (said.type && !said.unsure)
		parameter->type = type_at(dwarf, said.type);
	else
		parameter->type = (struct type){ .kind = '?' };
	subject->n++;
}

/* The general register that it is in when the function begins; -1: in none that is for arguments. */
static int8_t register_of(struct dwarf_cursor expression)
{
	uint64_t op = dwarf_word(&expression, 1);

	if (expression.bad || expression.at != expression.end || op < DW_OP_reg0 || op > DW_OP_reg31)
		return -1;
	for (uint32_t i = 0; i < PROTOTYPE_REGISTERS; i++)
		if (registers[i] == op - DW_OP_reg0)
			return (int8_t)i;
	return -1;
}

/* In a register, in several, or at its place on the stack as in code that is not optimised. */
static bool is_plain(struct dwarf_cursor expression)
{
	uint64_t op = dwarf_word(&expression, 1);

	return !expression.bad && ((op >= DW_OP_reg0 && op <= DW_OP_reg31) || op == DW_OP_fbreg);
}

static void note_location(struct dwarf *dwarf, const struct subject *subject, const struct dwarf_die *die,
			  struct parameter *parameter)
{
	struct dwarf_cursor expression;

	parameter->listed = true;
	if (!dwarf_location(dwarf, die, subject->address, &expression))
		return;
	parameter->silent = !is_plain(expression);
	parameter->reg = register_of(expression);
	parameter->told = parameter->reg >= 0;
}

static struct parameter *parameter_at(struct subject *subject, uint64_t offset)
{
	for (uint32_t i = 0; i < subject->n; i++)
		if (subject->parameters[i].offset == offset)
			return &subject->parameters[i];
	return NULL;
}

/* Constructors and destructors have parameters of which each of their kinds takes some. */
static void drop_absent(struct subject *subject)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < subject->n; i++)
		if (subject->parameters[i].listed || !subject->parameters[i].artificial)
			subject->parameters[n++] = subject->parameters[i];
	subject->n = n;
}

static void find_parameters(struct dwarf *dwarf, struct subject *subject)
{
	struct dwarf_die child, next;
	bool more;

	for (more = dwarf_die_child(dwarf, &subject->master, &child); more; child = next) {
		if (child.tag == DW_TAG_formal_parameter)
			add_parameter(dwarf, subject, &child);
		more = dwarf_die_next(dwarf, &child, &next);
	}
	for (more = dwarf_die_child(dwarf, &subject->die, &child); more; child = next) {
		struct parameter *parameter = child.tag == DW_TAG_formal_parameter ?
			parameter_at(subject, subject->die.offset == subject->master.offset ? child.offset : child.origin) : NULL;

		if (parameter)
			note_location(dwarf, subject, &child, parameter);
		more = dwarf_die_next(dwarf, &child, &next);
	}
	drop_absent(subject);
}

/* Deals out registers as the ABI does; false: somebody is where it says otherwise. */
static bool deal(struct subject *subject, bool check)
{
	uint32_t next = subject->returns.way == TYPE_ADDRESS ||
			(subject->returns.kind == 's' && subject->returns.way == TYPE_ELSEWHERE && subject->returns.size > 16);
	uint32_t vectors = 0;

	for (uint32_t i = 0; i < subject->n; i++) {
		struct parameter *parameter = &subject->parameters[i];
		const struct type *type = &parameter->type;
		int8_t reg = -1;

		if ((type->way == TYPE_GENERAL || type->way == TYPE_ADDRESS) && type->nregs <= PROTOTYPE_REGISTERS - next &&
		    type->nvectors + vectors <= 8) {
			reg = (int8_t)next;
			next += type->nregs;
		}
		vectors += type->nvectors;
		if (check && parameter->told && type->way != TYPE_ADDRESS && type->kind != 's' && parameter->reg != reg)
			return false;
		if (!check)
			parameter->reg = reg;
	}
	return true;
}

static void place_parameters(struct subject *subject)
{
	const struct type *returns = &subject->returns;

	for (uint32_t i = 0; i < subject->n; i++)
		if (subject->parameters[i].type.way == TYPE_UNSURE)
			subject->known = false;
	/* Whether it comes back by an address is the first thing to know. */
	if (returns->kind == '?' || (returns->kind == 's' && returns->way == TYPE_UNSURE))
		subject->known = false;
	if (!subject->known)
		return;
	if (deal(subject, true)) {
		deal(subject, false);
	} else {
		for (uint32_t i = 0; i < subject->n; i++)
			if (!subject->parameters[i].told)
				subject->parameters[i].reg = -1;
	}
	for (uint32_t i = 0; i < subject->n && !subject->external; i++)
		if (subject->parameters[i].silent)
			subject->parameters[i].reg = -1;
}

/* ---- functions ---- */

static bool is_clone(const struct prototypes *prototypes, uint64_t address)
{
	const uint64_t *all = (const void *)prototypes->clones.data;
	size_t low = 0, high = prototypes->clones.len / sizeof(*all);

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (all[middle] == address)
			return true;
		if (all[middle] < address)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

static int compare_addresses(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* They are known by their names: "f.constprop.0", "f.isra.0", "f.part.0". */
static void find_clones(struct prototypes *prototypes, const struct elf *elf)
{
	struct elf_symbols symbols;
	struct elf_symbol symbol;

	if (elf_symbols_open(&symbols, elf, SHT_SYMTAB))
		return;
	while (elf_symbols_next(&symbols, &symbol))
		if (symbol.type == STT_FUNC && symbol.name[0] && strchr(symbol.name + 1, '.'))
			buf_add(&prototypes->clones, &symbol.value, sizeof(symbol.value));
	elf_symbols_close(&symbols);
	if (prototypes->clones.len)
		qsort(prototypes->clones.data, prototypes->clones.len / sizeof(uint64_t), sizeof(uint64_t), compare_addresses);
}

/* Where it is, and where the rest is said. */
static bool take_subject(struct dwarf *dwarf, const struct dwarf_die *die, struct subject *subject)
{
	struct dwarf_die said = *die;

	*subject = (struct subject){ .die = *die, .master = *die, .address = die->low_pc, .known = true };
	if (die->declaration || (!die->has_low_pc && !dwarf_first_range(dwarf, die, &subject->address)) || !subject->address)
		return false;
	subject->external = die->external;
	subject->known = die->calling <= DW_CC_normal;
	for (int i = 0; i < HOPS_MAX && (said.origin || said.specification); i++) {
		bool origin = said.origin;

		if (!dwarf_die_at(dwarf, origin ? said.origin : said.specification, &said))
			return false;
		if (origin)
			subject->master = said;
		subject->external |= said.external;
		subject->known &= said.calling <= DW_CC_normal;
		if (!subject->die.type)
			subject->die.type = said.type;
	}
	subject->known &= !said.unsure;
	return true;
}

static void put_type(struct buf *out, const struct type *type)
{
	buf_putc(out, type->kind);
	if (strchr("iuefs", type->kind))
		buf_printf(out, "%u", type->size);
}

/* Names are the file's: of what is no part of one there is an underscore. */
static void put_name(struct buf *out, const char *name)
{
	for (size_t i = 0; name && name[i] && i < PROTOTYPE_NAME_MAX; i++) {
		unsigned char c = (unsigned char)name[i];
		bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
			    c >= 0x80;

		buf_putc(out, fine ? (char)c : '_');
	}
}

/* How many registers it takes to have them all. */
static uint8_t put_prototype(struct buf *out, const struct subject *subject)
{
	uint32_t most = 0;

	put_type(out, &subject->returns);
	buf_puts(out, subject->known ? "(" : "(?");
	for (uint32_t i = 0; subject->known && i < subject->n; i++) {
		const struct parameter *parameter = &subject->parameters[i];
		uint32_t end = parameter->reg < 0 ? 0 : (uint32_t)parameter->reg + parameter->type.nregs;

		if (i)
			buf_putc(out, ',');
		if (parameter->type.way == TYPE_ADDRESS)
			buf_putc(out, 'p');
		else
			put_type(out, &parameter->type);
		if (parameter->reg >= 0)
			buf_printf(out, "@%d", parameter->reg);
		if (parameter->reg >= 0 && parameter->type.nregs > 1)
			buf_printf(out, "+%u", parameter->type.nregs);
		buf_putc(out, ' ');
		put_name(out, parameter->name);
		most = end > most ? end : most;
	}
	buf_puts(out, ")");
	buf_putc(out, '\0');
	return (uint8_t)(most < PROTOTYPE_REGISTERS ? most : PROTOTYPE_REGISTERS);
}

static bool add_function(struct prototypes *prototypes, struct dwarf *dwarf, const struct dwarf_die *die)
{
	struct found found = { .text = prototypes->texts.len, .order = (uint32_t)prototypes->n };
	struct subject subject;

	if (!take_subject(dwarf, die, &subject))
		return true;
	/* Nobody else calls those, whoever calls the one that they were made of. */
	subject.external = subject.external && !is_clone(prototypes, subject.address);
	subject.returns = type_at(dwarf, subject.die.type);
	find_parameters(dwarf, &subject);
	place_parameters(&subject);
	if (prototypes->n == prototypes->room) {
		size_t room = prototypes->room ? prototypes->room * 2 : 256;
		struct found *more = realloc(prototypes->all, room * sizeof(*more));

		if (!more)
			return false;
		prototypes->all = more;
		prototypes->room = room;
	}
	found.address = subject.address;
	found.master = subject.master.offset;
	found.type = subject.die.type;
	found.nregs = put_prototype(&prototypes->texts, &subject);
	prototypes->all[prototypes->n++] = found;
	return !buf_failed(&prototypes->texts) && prototypes->n < FUNCTIONS_MAX && prototypes->texts.len < TEXT_MAX;
}

/* All entries of a unit, whatever they are in. */
static bool add_unit(struct prototypes *prototypes, struct dwarf *dwarf, struct dwarf_unit *unit)
{
	uint64_t at = unit->first;
	struct dwarf_die die;

	if (!dwarf_unit_known(dwarf, unit) || !is_language(unit->language))
		return true;
	while (at < unit->end && dwarf_die_read(dwarf, unit, at, &die)) {
		if (die.tag == DW_TAG_subprogram && !add_function(prototypes, dwarf, &die))
			return false;
		at = die.next;
	}
	return true;
}

static int compare(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int read_all(void *arg, const struct elf *elf)
{
	struct prototypes *prototypes = arg;
	struct dwarf dwarf;
	int r = elf->machine == EM_X86_64 ? dwarf_open(&dwarf, elf) : -ENODATA;

	if (r)
		return r;
	find_clones(prototypes, elf);
	for (size_t i = 0; i < dwarf.nunits; i++)
		if (!add_unit(prototypes, &dwarf, &dwarf.units[i]))
			break;
	dwarf_close(&dwarf);
	if (prototypes->n)
		qsort(prototypes->all, prototypes->n, sizeof(*prototypes->all), compare);
	return buf_failed(&prototypes->texts) || buf_failed(&prototypes->clones) ? -ENOMEM : prototypes->n ? 0 : -ENODATA;
}

/* ---- files ---- */

/* Whatever reads debug information: -ENODATA, it is not in this file. */
typedef int reading(void *arg, const struct elf *elf);

static int read_beside(const struct elf *elf, const char *of, reading *read, void *arg)
{
	char *path = symbol_beside(elf, of);
	struct elf other;
	int fd = path ? elf_file(path) : -1, r;

	free(path);
	if (fd < 0)
		return -ENODATA;
	r = elf_open_bare(&other, fd, NULL);
	r = r ? -ENODATA : read(arg, &other);
	elf_close(&other);
	close(fd);
	return r;
}

static int look_into(const struct elf *elf, const struct symbol_file *file, reading *read, void *arg, struct err *err)
{
	unsigned char id[ELF_BUILD_ID_MAX];
	uint32_t len = elf_build_id(elf, id);
	int r;

	if (file->build_id_len && (len != file->build_id_len || memcmp(id, file->build_id, len)))
		return err_set(err, -ESTALE, "%.300s: has another build-id by now", file->path);
	r = read(arg, elf);
	if (r == -ENODATA)
		r = read_beside(elf, file->path, read, arg);
	return r ? err_set(err, r, "%.300s: %s", file->path, r == -ENODATA ? "has no debug information" : strerror(-r)) : 0;
}

static int read_file(const struct symbol_file *file, reading *read, void *arg, struct err *err)
{
	struct elf elf;
	int r = elf_open_path(&elf, file->path, err);

	if (r)
		return r;
	r = look_into(&elf, file, read, arg, err);
	elf_close_path(&elf);
	return r;
}

int prototypes_open(struct prototypes **out, const struct symbol_file *file, struct err *err)
{
	struct prototypes *prototypes = calloc(1, sizeof(*prototypes));
	int r = prototypes ? read_file(file, read_all, prototypes, err) : err_set(err, -ENOMEM, "out of memory");

	if (r) {
		prototypes_close(prototypes);
		return r;
	}
	*out = prototypes;
	return 0;
}

void prototypes_close(struct prototypes *prototypes)
{
	if (!prototypes)
		return;
	free(prototypes->all);
	buf_fini(&prototypes->texts);
	buf_fini(&prototypes->clones);
	free(prototypes);
}

static const struct found *find(const struct prototypes *prototypes, uint64_t address)
{
	size_t low = 0, high = prototypes->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (prototypes->all[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < prototypes->n && prototypes->all[low].address == address ? &prototypes->all[low] : NULL;
}

bool prototypes_at(const struct prototypes *prototypes, uint64_t address, struct prototype *out)
{
	const struct found *found = find(prototypes, address);

	if (found)
		*out = (struct prototype){ address, prototypes->texts.data + found->text, found->nregs };
	return found;
}

/* ---- members ---- */

struct asked {
	const struct found *of;
	const char *path;
	struct buf *out;
};

/* The type of the parameter that the path begins with. */
static bool begin(struct dwarf *dwarf, const struct asked *asked, size_t len, uint64_t *type)
{
	struct dwarf_die master, child, next;
	bool more;

	*type = asked->of->type;
	if (len == 7 && !memcmp(asked->path, "$retval", 7))
		return true;
	if (!dwarf_die_at(dwarf, asked->of->master, &master))
		return false;
	for (more = dwarf_die_child(dwarf, &master, &child); more; child = next) {
		struct dwarf_die said = child;

		for (int i = 0; i < HOPS_MAX && !said.type && said.origin; i++)
			if (!dwarf_die_at(dwarf, said.origin, &said))
				break;
		*type = said.type;
		if (child.tag == DW_TAG_formal_parameter && said.name && strlen(said.name) == len && !memcmp(said.name, asked->path, len))
			return true;
		more = dwarf_die_next(dwarf, &child, &next);
	}
	return false;
}

static int read_member(void *arg, const struct elf *elf)
{
	const struct asked *asked = arg;
	size_t len = strcspn(asked->path, "-.");
	struct dwarf dwarf;
	uint64_t type;
	int r = dwarf_open(&dwarf, elf);

	if (r)
		return r;
	r = begin(&dwarf, asked, len, &type) ? 0 : -ENOENT;
	if (!r)
		dwarf_member(&dwarf, type, asked->path, len, asked->out);
	dwarf_close(&dwarf);
	return buf_failed(asked->out) ? -ENOMEM : r;
}

int prototypes_member(const struct prototypes *prototypes, const struct symbol_file *file, uint64_t address, const char *path,
		      struct buf *out)
{
	struct asked asked = { find(prototypes, address), path, out };

	return asked.of ? read_file(file, read_member, &asked, NULL) : -ENOENT;
}
