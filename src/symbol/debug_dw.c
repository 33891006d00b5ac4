/*
 * symbol/debug_dw: entries, lines, locations and frames of an ELF file's debug information, by libdw. The only file that knows
 * it.
 *
 * A struct debug_die is the bytes of a Dwarf_Die. libdw keeps what it decoded until the handle is closed; what it reads may be
 * damaged on purpose, and loops of ours that go along it are bounded by who calls (struct debug's steps).
 */
#include <assert.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbol/debug_local.h"

static_assert(sizeof(struct debug_die) >= sizeof(Dwarf_Die), "its bytes");

#define SECTIONS_MAX 512u
#define FILES_MAX 64u	/* that entries refer to */

struct debug_dw {
	struct section {
		const char *from, *to;
	} sections[SECTIONS_MAX];
	size_t nsections;
	Elf *learned[FILES_MAX];
	size_t nlearned;
	int fd, beside;		/* -1: not open */
	Elf *elf, *beside_elf;
	Dwarf *dwarf;
	Dwarf_CFI *frames;	/* of .eh_frame, ours to end */
};

/* libdw takes entries that it could write to. */
static Dwarf_Die die_of(const struct debug_die *die)
{
	Dwarf_Die out;

	memcpy(&out, die, sizeof(out));
	return out;
}

static void die_to(struct debug_die *to, const Dwarf_Die *from)
{
	memcpy(to, from, sizeof(*from));
}

/* ---- files ---- */

static int open_elf(const char *path, int *fd, Elf **elf, struct err *err)
{
	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (*fd < 0)
		return err_set(err, -errno, "%.300s: %s", path, strerror(errno));
	/* Read, not mapped: a file that shrinks meanwhile must not end us. */
	*elf = elf_begin(*fd, ELF_C_READ, NULL);
	if (!*elf || elf_kind(*elf) != ELF_K_ELF)
		return err_set(err, -ENOEXEC, "%.300s is no ELF file", path);
	return 0;
}

static bool is_ours(Elf *elf)
{
	GElf_Ehdr head;

	return gelf_getehdr(elf, &head) && head.e_machine == EM_X86_64 && gelf_getclass(elf) == ELFCLASS64;
}

/* libdw goes along texts to their ends: the last one has to have one. */
static bool texts_end(Elf *elf)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr head;
		const char *name = gelf_getshdr(scn, &head) ? elf_strptr(elf, names, head.sh_name) : NULL;
		Elf_Data *data;

		if (!name || head.sh_type == SHT_NOBITS || (strcmp(name, ".debug_str") && strcmp(name, ".debug_line_str")))
			continue;
		data = elf_rawdata(scn, NULL);
		if (data && data->d_buf && data->d_size && ((const char *)data->d_buf)[data->d_size - 1])
			return false;
	}
	return true;
}

int debug_dw_open(struct debug_dw **out, const char *path, const char *beside, struct err *err)
{
	struct debug_dw *dw = calloc(1, sizeof(*dw));
	int r;

	if (!dw)
		return err_set(err, -ENOMEM, "out of memory");
	dw->fd = dw->beside = -1;
	elf_version(EV_CURRENT);
	r = open_elf(path, &dw->fd, &dw->elf, err);
	if (!r && beside)
		r = open_elf(beside, &dw->beside, &dw->beside_elf, err);
	if (!r && !is_ours(dw->elf))
		r = err_set(err, -ENODATA, "%.300s is for another kind of processor", path);
	if (!r) {
		dw->dwarf = dwarf_begin_elf(beside ? dw->beside_elf : dw->elf, DWARF_C_READ, NULL);
		if (!dw->dwarf)
			r = err_set(err, -ENODATA, "%.300s has no debug information", path);
		else if (!texts_end(beside ? dw->beside_elf : dw->elf))
			r = err_set(err, -EBADMSG, "%.300s has debug information that is damaged", path);
	}
	if (r) {
		debug_dw_close(dw);
		return r;
	}
	dw->frames = dwarf_getcfi_elf(dw->elf);
	*out = dw;
	return 0;
}

void debug_dw_close(struct debug_dw *dw)
{
	if (!dw)
		return;
	if (dw->dwarf)
		dwarf_end(dw->dwarf);
	if (dw->frames)
		dwarf_cfi_end(dw->frames);
	elf_end(dw->beside_elf);
	elf_end(dw->elf);
	if (dw->beside >= 0)
		close(dw->beside);
	if (dw->fd >= 0)
		close(dw->fd);
	free(dw);
}

/* ---- entries ---- */

bool debug_dw_unit(struct debug_dw *dw, void **cursor, struct debug_die *unit)
{
	Dwarf_CU *next;
	Dwarf_Die die, sub;
	uint8_t kind;

	while (!dwarf_get_units(dw->dwarf, *cursor, &next, NULL, &kind, &die, &sub)) {
		*cursor = next;
		/* What a skeleton stands for is in a file of its own, which libdw has looked for. */
		if (kind == DW_UT_skeleton && dwarf_tag(&sub) != DW_TAG_invalid)
			die = sub;
		if (dwarf_tag(&die) != DW_TAG_compile_unit)
			continue;
		die_to(unit, &die);
		return true;
	}
	return false;
}

bool debug_dw_child(const struct debug_die *die, struct debug_die *child)
{
	Dwarf_Die of = die_of(die), out;

	if (dwarf_child(&of, &out))
		return false;
	die_to(child, &out);
	return true;
}

bool debug_dw_sibling(const struct debug_die *die, struct debug_die *next)
{
	Dwarf_Die of = die_of(die), out;

	if (dwarf_siblingof(&of, &out))
		return false;
	die_to(next, &out);
	return true;
}

uint32_t debug_dw_tag(const struct debug_die *die)
{
	Dwarf_Die of = die_of(die);

	return (uint32_t)dwarf_tag(&of);
}

bool debug_dw_same(const struct debug_die *a, const struct debug_die *b)
{
	return a->words[0] == b->words[0];
}

static Dwarf_Attribute *attr_of(const struct debug_die *die, uint32_t attribute, Dwarf_Attribute *out)
{
	Dwarf_Die of = die_of(die);

	return dwarf_attr_integrate(&of, attribute, out);
}

bool debug_dw_has(const struct debug_die *die, uint32_t attribute)
{
	Dwarf_Attribute attr;

	return attr_of(die, attribute, &attr);
}

/* Learns where sections of a file with entries are in memory: texts have to end there. */
static void learn_sections(struct debug_dw *dw, Elf *elf)
{
	Elf_Scn *scn = NULL;

	for (size_t i = 0; i < dw->nlearned; i++)
		if (dw->learned[i] == elf)
			return;
	if (!elf || dw->nlearned == FILES_MAX)
		return;
	dw->learned[dw->nlearned++] = elf;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr head;
		Elf_Data *data;

		/* As libdw has it in memory; what it did not look at is read now. */
		if (!gelf_getshdr(scn, &head) || head.sh_type == SHT_NOBITS || dw->nsections == SECTIONS_MAX)
			continue;
		data = elf_rawdata(scn, NULL);
		if (data && data->d_buf && data->d_size)
			dw->sections[dw->nsections++] = (struct section){ data->d_buf, (const char *)data->d_buf + data->d_size };
	}
}

static bool ends(const struct debug_dw *dw, const char *text)
{
	for (size_t i = 0; i < dw->nsections; i++)
		if (text >= dw->sections[i].from && text < dw->sections[i].to)
			return memchr(text, '\0', (size_t)(dw->sections[i].to - text));
	return false;
}

const char *debug_dw_text(struct debug_dw *dw, const struct debug_die *die, uint32_t attribute)
{
	Dwarf_Attribute attr;
	const char *text;
	Dwarf *of, *shared;

	text = attr_of(die, attribute, &attr) ? dwarf_formstring(&attr) : NULL;
	if (!text || ends(dw, text))
		return text;
	/* In another file that this one refers to. */
	of = dwarf_cu_getdwarf(attr.cu);
	shared = of ? dwarf_getalt(of) : NULL;
	learn_sections(dw, of ? dwarf_getelf(of) : NULL);
	learn_sections(dw, shared ? dwarf_getelf(shared) : NULL);
	return ends(dw, text) ? text : NULL;
}

bool debug_dw_number(const struct debug_die *die, uint32_t attribute, int64_t *number)
{
	Dwarf_Attribute attr;
	Dwarf_Word word;
	Dwarf_Sword sword;
	Dwarf_Block block;

	if (!attr_of(die, attribute, &attr))
		return false;
	switch (dwarf_whatform(&attr)) {
	case DW_FORM_block: case DW_FORM_block1: case DW_FORM_block2: case DW_FORM_block4:
		if (dwarf_formblock(&attr, &block) || block.length > 8)
			return false;
		*number = 0;
		memcpy(number, block.data, block.length);
		return true;
	case DW_FORM_sdata: case DW_FORM_implicit_const:
		if (dwarf_formsdata(&attr, &sword))
			return false;
		*number = sword;
		return true;
	default:
		if (dwarf_formudata(&attr, &word))
			return false;
		*number = (int64_t)word;
		return true;
	}
}

int debug_dw_member(const struct debug_die *die, int64_t *offset)
{
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	Dwarf_Word word;
	size_t n;

	*offset = 0;
	/* Of a union all are at its beginning. */
	if (!attr_of(die, DW_AT_data_member_location, &attr))
		return 0;
	if (!dwarf_formudata(&attr, &word)) {
		*offset = (int64_t)word;
		return 0;
	}
	/* As versions 2 and 3 have it; of a virtual base class more has to be computed. */
	if (dwarf_getlocation(&attr, &ops, &n) || n != 1 || ops[0].atom != DW_OP_plus_uconst)
		return -EOPNOTSUPP;
	*offset = (int64_t)ops[0].number;
	return 0;
}

/* The declaration of what is defined elsewhere, or of what this is an instance of. */
static Dwarf_Die declaration_of(const struct debug_die *die)
{
	Dwarf_Die at = die_of(die);

	for (int i = 0; i < 8; i++) {
		Dwarf_Attribute attr;
		Dwarf_Die next;

		if (!dwarf_attr(&at, DW_AT_specification, &attr) && !dwarf_attr(&at, DW_AT_abstract_origin, &attr))
			break;
		if (!dwarf_formref_die(&attr, &next))
			break;
		at = next;
	}
	return at;
}

void debug_dw_put_scopes(struct debug_dw *dw, const struct debug_die *die, struct buf *out)
{
	Dwarf_Die at = declaration_of(die), *scopes = NULL;
	int n = dwarf_getscopes_die(&at, &scopes);

	/* The first is the function itself, the last the unit. */
	for (int i = n - 2; i > 0; i--) {
		int tag = dwarf_tag(&scopes[i]);
		struct debug_die scope;
		const char *name;

		if (tag != DW_TAG_namespace && tag != DW_TAG_class_type && tag != DW_TAG_structure_type)
			continue;
		die_to(&scope, &scopes[i]);
		name = debug_dw_text(dw, &scope, DW_AT_name);
		if (name)
			buf_printf(out, "%s::", name);
	}
	free(scopes);
}

bool debug_dw_flag(const struct debug_die *die, uint32_t attribute)
{
	Dwarf_Attribute attr;
	bool flag = false;

	return attr_of(die, attribute, &attr) && !dwarf_formflag(&attr, &flag) && flag;
}

bool debug_dw_ref(const struct debug_die *die, uint32_t attribute, struct debug_die *to)
{
	Dwarf_Attribute attr;
	Dwarf_Die out;

	if (!attr_of(die, attribute, &attr) || !dwarf_formref_die(&attr, &out))
		return false;
	die_to(to, &out);
	return true;
}

/* A file of the unit's list by its number there. dwarf_decl_file() takes 0 for none, which since version 5 is the first. */
static const char *file_of(Dwarf_CU *cu, int64_t index)
{
	Dwarf_Die unit;
	Dwarf_Files *files;
	Dwarf_Half version;
	size_t n;

	if (!dwarf_cu_die(cu, &unit, &version, NULL, NULL, NULL, NULL, NULL) || dwarf_getsrcfiles(&unit, &files, &n) ||
	    index < 0 || (uint64_t)index >= n || (!index && version < 5))
		return NULL;
	return dwarf_filesrc(files, (size_t)index, NULL, NULL);
}

static bool file_and_line(const struct debug_die *die, uint32_t file_attribute, uint32_t line_attribute, const char **file,
			  uint32_t *line)
{
	Dwarf_Attribute attr;
	Dwarf_Word index;
	int64_t number;

	if (!attr_of(die, file_attribute, &attr) || dwarf_formudata(&attr, &index) || index > INT32_MAX ||
	    !debug_dw_number(die, line_attribute, &number) || number <= 0 || number > INT32_MAX)
		return false;
	*file = file_of(attr.cu, (int64_t)index);
	*line = (uint32_t)number;
	return *file;
}

bool debug_dw_declared(const struct debug_die *die, const char **file, uint32_t *line)
{
	return file_and_line(die, DW_AT_decl_file, DW_AT_decl_line, file, line);
}

bool debug_dw_called(const struct debug_die *die, const char **file, uint32_t *line)
{
	return file_and_line(die, DW_AT_call_file, DW_AT_call_line, file, line);
}

bool debug_dw_has_pc(const struct debug_die *die, uint64_t pc)
{
	Dwarf_Die of = die_of(die);

	return dwarf_haspc(&of, pc) == 1;
}

/* 0 is where code went that the linker left out. */
bool debug_dw_entry(const struct debug_die *die, uint64_t *pc)
{
	Dwarf_Die of = die_of(die);
	Dwarf_Addr at = 0, base, end;

	if (dwarf_entrypc(&of, &at) && dwarf_ranges(&of, 0, &base, &at, &end) <= 0)
		return false;
	*pc = at;
	return at != 0;
}

bool debug_dw_end(const struct debug_die *die, uint64_t entry, uint64_t *end)
{
	Dwarf_Die of = die_of(die);
	Dwarf_Addr base, from, to;
	ptrdiff_t at = 0;

	for (int i = 0; i < 4096 && (at = dwarf_ranges(&of, at, &base, &from, &to)) > 0; i++) {
		if (entry < from || entry >= to)
			continue;
		*end = to;
		return true;
	}
	return false;
}

/* ---- lines ---- */

size_t debug_dw_rows(const struct debug_die *unit)
{
	Dwarf_Die of = die_of(unit);
	Dwarf_Lines *lines;
	size_t n;

	return dwarf_getsrclines(&of, &lines, &n) ? 0 : n;
}

bool debug_dw_row(const struct debug_die *unit, size_t i, struct debug_row *row)
{
	Dwarf_Die of = die_of(unit);
	Dwarf_Lines *lines;
	Dwarf_Line *line;
	Dwarf_Addr address;
	size_t n;
	int number;

	if (dwarf_getsrclines(&of, &lines, &n) || i >= n)
		return false;
	line = dwarf_onesrcline(lines, i);
	if (!line || dwarf_lineaddr(line, &address) || dwarf_lineno(line, &number) ||
	    dwarf_linebeginstatement(line, &row->statement) || dwarf_lineprologueend(line, &row->prologue_end) ||
	    dwarf_lineendsequence(line, &row->end))
		return false;
	row->address = address;
	row->line = number > 0 ? (uint32_t)number : 0;
	row->file = dwarf_linesrc(line, NULL, NULL);
	return row->file;
}

/* ---- locations ---- */

/* What the function was given in a register: only the plain form of it. */
static bool entry_value(Dwarf_Attribute *attr, const Dwarf_Op *op, struct debug_op *out)
{
	Dwarf_Attribute inner;
	Dwarf_Op *ops;
	size_t n;

	if (dwarf_getlocation_attr(attr, op, &inner) || dwarf_getlocation(&inner, &ops, &n) || n != 1 ||
	    ops[0].atom < DW_OP_reg0 || ops[0].atom > DW_OP_reg31)
		return false;
	*out = (struct debug_op){ .code = DW_OP_entry_value, .a = ops[0].atom - DW_OP_reg0 };
	return true;
}

static bool take_op(Dwarf_Attribute *attr, const Dwarf_Op *op, struct debug_op *out)
{
	Dwarf_Attribute indexed;
	Dwarf_Addr address;
	Dwarf_Block block;
	Dwarf_Die die;

	*out = (struct debug_op){ .code = op->atom, .a = op->number, .b = op->number2 };
	switch (op->atom) {
	case DW_OP_entry_value:
	case DW_OP_GNU_entry_value:
		return attr && entry_value(attr, op, out);
	case DW_OP_implicit_value:
		if (!attr || dwarf_getlocation_implicit_value(attr, op, &block) || block.length > 8)
			return false;
		out->a = 0;
		memcpy(&out->a, block.data, block.length);
		return true;
	case DW_OP_implicit_pointer:
	case DW_OP_GNU_implicit_pointer:
		if (!attr || dwarf_getlocation_die(attr, op, &die))
			return false;
		*out = (struct debug_op){ .code = DW_OP_implicit_pointer, .b = op->number2 };
		die_to(&out->die, &die);
		return true;
	case DW_OP_addrx:
	case DW_OP_GNU_addr_index:
		if (!attr || dwarf_getlocation_attr(attr, op, &indexed) || dwarf_formaddr(&indexed, &address))
			return false;
		*out = (struct debug_op){ .code = DW_OP_addr, .a = address };
		return true;
	default:
		return true;
	}
}

static int take_ops(Dwarf_Attribute *attr, const Dwarf_Op *from, size_t n, struct debug_op ops[DEBUG_OPS_MAX])
{
	if (n > DEBUG_OPS_MAX)
		return -EOPNOTSUPP;
	for (size_t i = 0; i < n; i++)
		if (!take_op(attr, &from[i], &ops[i]))
			return -EOPNOTSUPP;
	return (int)n;
}

int debug_dw_location(struct debug_dw *dw, const struct debug_die *die, uint32_t attribute, uint64_t pc,
		      struct debug_op ops[DEBUG_OPS_MAX], bool *listed)
{
	Dwarf_Attribute attr;
	Dwarf_Op *found[1];
	size_t n[1];
	unsigned int form;

	(void)dw;
	*listed = false;
	if (!attr_of(die, attribute, &attr))
		return 0;
	form = dwarf_whatform(&attr);
	*listed = form == DW_FORM_sec_offset || form == DW_FORM_loclistx || form == DW_FORM_data4 || form == DW_FORM_data8;
	if (dwarf_getlocation_addr(&attr, pc, found, n, 1) != 1)
		return 0;
	return take_ops(&attr, found[0], n[0], ops);
}

static int cfa_of(Dwarf_CFI *cfi, uint64_t pc, struct debug_op ops[DEBUG_OPS_MAX])
{
	Dwarf_Frame *frame;
	Dwarf_Op *found;
	size_t n;
	int r = 0;

	if (!cfi || dwarf_cfi_addrframe(cfi, pc, &frame))
		return 0;
	if (!dwarf_frame_cfa(frame, &found, &n))
		r = take_ops(NULL, found, n, ops);
	free(frame);
	return r;
}

int debug_dw_cfa(struct debug_dw *dw, uint64_t pc, struct debug_op ops[DEBUG_OPS_MAX])
{
	int r = cfa_of(dw->frames, pc, ops);

	return r ? r : cfa_of(dwarf_getcfi(dw->dwarf), pc, ops);
}

uint64_t debug_dw_offset_near(struct debug_dw *dw, uint64_t address, uint64_t at)
{
	GElf_Phdr part;
	size_t n;

	if (elf_getphdrnum(dw->elf, &n))
		return address;
	for (size_t i = 0; i < n && i < 256; i++)
		if (gelf_getphdr(dw->elf, (int)i, &part) && part.p_type == PT_LOAD && at - part.p_vaddr < part.p_memsz)
			return address - part.p_vaddr + part.p_offset;
	return address;
}
