/*
 * An ELF file that says of each of its sections that it is all of the file, and a table of symbols, is refused before long.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "insist.h"
#include "symbol/elf.h"

#define SECTIONS 60000u
#define SIZE (64 << 20)

/* Sparse: it takes 4 MiB. */
static void make(const char *path)
{
	Elf64_Ehdr head = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT }, .e_type = ET_EXEC, .e_machine = EM_X86_64,
		.e_version = EV_CURRENT, .e_shoff = sizeof(head), .e_ehsize = sizeof(head), .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = SECTIONS,
	};
	Elf64_Shdr none = { .sh_type = SHT_NOBITS }, table = { .sh_type = SHT_SYMTAB, .sh_size = SIZE - (4 << 20) };
	FILE *file = fopen(path, "w");

	CHECK(file && fwrite(&head, sizeof(head), 1, file) == 1 && fwrite(&none, sizeof(none), 1, file) == 1, "%s", path);
	for (uint32_t i = 1; i < SECTIONS; i++)
		CHECK(fwrite(&table, sizeof(table), 1, file) == 1, "%s", path);
	CHECK(!fclose(file) && !truncate(path, SIZE), "%s", path);
}

int main(void)
{
	struct elf_symbols symbols;
	struct elf elf;
	char path[4096];

	snprintf(path, sizeof(path), "%s/many", getenv("RINGSIDE_SCRATCH"));
	make(path);
	alarm(20);
	CHECK(!elf_open_path(&elf, path, NULL), "it is one");
	CHECK(elf_symbols_open(&symbols, &elf, SHT_SYMTAB), "a table without names");
	elf_close_path(&elf);
	unlink(path);
	return 0;
}
