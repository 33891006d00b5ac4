/*
 * remote/elf: what a firmware's ELF file tells: where its tracing memory is, what its events are called. See texts.h.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "remote/texts.h"
#include "symbol/elf.h"

static bool find_symbol(const struct elf *elf, const char *name, uint64_t *value)
{
	struct elf_symbols symbols;
	struct elf_symbol symbol;
	bool found = false;

	if (elf_symbols_open(&symbols, elf, SHT_SYMTAB))
		return false;
	while (!found && elf_symbols_next(&symbols, &symbol))
		found = symbol.section != SHN_UNDEF && !strcmp(symbol.name, name);
	if (found)
		*value = symbol.value;
	elf_symbols_close(&symbols);
	return found;
}

static int read_texts(struct remote_elf *out, const struct elf *elf, struct err *err)
{
	struct elf_section section;
	int r = elf_section_find(elf, RINGSIDE_FW_TEXTS, &section);

	/* One that declares no event has none. */
	if (r)
		return 0;
	out->texts = elf_section_take(elf, &section, &out->len);
	return out->texts ? 0 : err_set(err, -EBADMSG, "the section " RINGSIDE_FW_TEXTS " is damaged");
}

/* The first word of the build ID. Where a linker script names segments, those of notes are often left out: then the section has it. */
static uint32_t read_build(const struct elf *elf)
{
	enum { BEFORE = sizeof(Elf32_Nhdr) + sizeof("GNU") };
	unsigned char id[ELF_BUILD_ID_MAX];
	struct elf_section section;
	uint32_t build = 0;
	uint64_t len;
	char *note;

	if (elf_build_id(elf, id) >= 4)
		return (uint32_t)elf_word(elf, id, 4);
	if (elf_section_find(elf, ".note.gnu.build-id", &section))
		return 0;
	note = elf_section_take(elf, &section, &len);
	if (note && len >= BEFORE + 4)
		build = (uint32_t)elf_word(elf, note + BEFORE, 4);
	free(note);
	return build;
}

int remote_elf_read(struct remote_elf *out, const char *path, struct err *err)
{
	struct elf elf;
	int r;

	*out = (struct remote_elf){ 0 };
	r = elf_open_path(&elf, path, err);
	if (r)
		return r;
	out->big_endian = elf.native == (__BYTE_ORDER == __BIG_ENDIAN);
	out->build = read_build(&elf);
	if (!find_symbol(&elf, RINGSIDE_FW_SYMBOL, &out->address))
		r = err_set(err, -ENOENT, "there is no symbol " RINGSIDE_FW_SYMBOL ": was it linked with ringside_fw.c, and not stripped? "
			    "(A program with hosted.c brings its events itself: ringside_control_remote(3))");
	if (!r)
		r = read_texts(out, &elf, err);
	if (r)
		err_prefix(err, "%.200s: ", path);
	elf_close_path(&elf);
	return r;
}
