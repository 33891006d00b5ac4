/*
 * doctor/elf: see elf.h.
 */
#include "doctor/elf.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <ringside/abi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define NATIVE_DATA ELFDATA2LSB
#else
#define NATIVE_DATA ELFDATA2MSB
#endif

#define TABLE_MAX (64ull << 20)		/* bytes of one table that are worth reading */
#define IMAGE_MAX (1ull << 30)
#define DYNAMIC_MAX (1u << 20)
#define SEGMENTS_MAX 4096u

struct section {
	uint32_t name, type, link;
	uint64_t addr, offset, size;
};

static int damaged(struct err *err, const char *how)
{
	return err_set(err, -EBADMSG, "%s", how);
}

/* Exactly so many bytes; -EBADMSG when the file ends before them. */
static int read_at(const struct elf *elf, void *bytes, uint64_t len, uint64_t offset)
{
	char *to = bytes;

	if (offset > elf->size || len > elf->size - offset)
		return -EBADMSG;
	while (len) {
		ssize_t n = pread(elf->fd, to, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EBADMSG;
		to += n;
		offset += (uint64_t)n;
		len -= (uint64_t)n;
	}
	return 0;
}

/* A string that ends before `room` bytes are over, as a copy; NULL when there is none. */
static char *string_at(const struct elf *elf, uint64_t offset, uint64_t room)
{
	char text[PATH_MAX];

	if (offset >= elf->size)
		return NULL;
	room = room < elf->size - offset ? room : elf->size - offset;
	room = room < sizeof(text) ? room : sizeof(text);
	if (read_at(elf, text, room, offset) || !memchr(text, '\0', room))
		return NULL;
	return strdup(text);
}

/* Where in the file an address of the program lies, and how many bytes of it follow. */
static bool place(const struct elf *elf, uint64_t address, uint64_t *offset, uint64_t *room)
{
	for (uint32_t i = 0; i < elf->nloads; i++) {
		const struct elf_load *load = &elf->loads[i];

		if (address < load->vaddr || address - load->vaddr >= load->filesz)
			continue;
		*offset = load->offset + (address - load->vaddr);
		*room = load->filesz - (address - load->vaddr);
		return true;
	}
	return false;
}

static int section_read(const struct elf *elf, uint32_t i, struct section *section)
{
	Elf64_Shdr wide;
	Elf32_Shdr narrow;
	uint64_t entry = elf->is64 ? sizeof(wide) : sizeof(narrow);
	int r;

	if (!elf->sections || (i && i >= elf->nsections))
		return -ENODATA;
	r = read_at(elf, elf->is64 ? (void *)&wide : (void *)&narrow, entry, elf->sections + i * entry);
	if (r)
		return r;
	*section = elf->is64 ? (struct section){ wide.sh_name, wide.sh_type, wide.sh_link,
						 wide.sh_addr, wide.sh_offset, wide.sh_size }
			     : (struct section){ narrow.sh_name, narrow.sh_type, narrow.sh_link,
						 narrow.sh_addr, narrow.sh_offset, narrow.sh_size };
	return 0;
}

/* -ENOENT: there is none of that name. -ENODATA: there are no sections. */
static int section_find(const struct elf *elf, const char *name, struct section *section)
{
	size_t len = strlen(name) + 1;
	struct section names;
	char text[32];

	if (section_read(elf, elf->names, &names))
		return -ENODATA;
	for (uint32_t i = 1; i < elf->nsections; i++) {
		int r = section_read(elf, i, section);

		if (r)
			return r;
		if (section->name < names.size && len <= names.size - section->name &&
		    !read_at(elf, text, len, names.offset + section->name) && !memcmp(text, name, len))
			return 0;
	}
	return -ENOENT;
}

/* All of a section, at most TABLE_MAX bytes, to be freed; *len of them. */
static char *section_take(const struct elf *elf, const struct section *section, uint64_t *len)
{
	char *bytes;

	*len = section->size;
	if (section->type == SHT_NOBITS || *len > TABLE_MAX || *len > elf->size)
		return NULL;
	bytes = malloc((size_t)*len + 1);
	if (bytes && read_at(elf, bytes, *len, section->offset)) {
		free(bytes);
		return NULL;
	}
	return bytes;
}

static int load_add(struct elf *elf, const Elf64_Phdr *segment, struct err *err)
{
	if (segment->p_offset > elf->size || segment->p_filesz > elf->size - segment->p_offset)
		return damaged(err, "is cut short: its last bytes are missing");
	if (elf->nloads == CMD_ELF_LOADS_MAX)
		return damaged(err, "has a damaged header: too many parts");
	elf->loads[elf->nloads++] =
		(struct elf_load){ segment->p_vaddr, segment->p_offset, segment->p_filesz };
	return 0;
}

static int segment_read(const struct elf *elf, uint64_t at, Elf64_Phdr *segment)
{
	Elf32_Phdr narrow;
	int r;

	if (elf->is64)
		return read_at(elf, segment, sizeof(*segment), at);
	r = read_at(elf, &narrow, sizeof(narrow), at);
	*segment = (Elf64_Phdr){ .p_type = narrow.p_type, .p_offset = narrow.p_offset,
				 .p_vaddr = narrow.p_vaddr, .p_filesz = narrow.p_filesz };
	return r;
}

/* `dynamic` is the segment of that kind; its p_type stays PT_NULL when there is none. */
static int segments_read(struct elf *elf, uint64_t at, uint32_t n, Elf64_Phdr *dynamic,
			 struct err *err)
{
	Elf64_Phdr segment;
	int r = 0;

	if (n > SEGMENTS_MAX)
		return damaged(err, "has a damaged header: too many parts");
	for (uint32_t i = 0; !r && i < n; i++) {
		r = segment_read(elf, at, &segment);
		if (r)
			return err_set(err, r, "is cut short: its table of parts is missing");
		at += elf->is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
		if (segment.p_type == PT_LOAD)
			r = load_add(elf, &segment, err);
		if (segment.p_type == PT_DYNAMIC)
			*dynamic = segment;
		if (segment.p_type == PT_INTERP && !elf->interp) {
			elf->interp = string_at(elf, segment.p_offset, segment.p_filesz);
			if (!elf->interp)
				return damaged(err, "has a damaged header: the name of its loader makes no "
						    "sense");
		}
	}
	return r;
}

static bool dynamic_entry(const struct elf *elf, uint64_t at, uint64_t *tag, uint64_t *value)
{
	Elf64_Dyn wide;
	Elf32_Dyn narrow;
	bool good;

	if (elf->is64) {
		good = !read_at(elf, &wide, sizeof(wide), at);
		*tag = good ? (uint64_t)wide.d_tag : DT_NULL;
		*value = good ? wide.d_un.d_val : 0;
	} else {
		good = !read_at(elf, &narrow, sizeof(narrow), at);
		*tag = good ? (uint32_t)narrow.d_tag : DT_NULL;
		*value = good ? narrow.d_un.d_val : 0;
	}
	return *tag != DT_NULL;
}

static int dynamic_read(struct elf *elf, const Elf64_Phdr *segment, struct err *err)
{
	uint64_t entry = elf->is64 ? sizeof(Elf64_Dyn) : sizeof(Elf32_Dyn);
	uint64_t n = (segment->p_filesz < DYNAMIC_MAX ? segment->p_filesz : DYNAMIC_MAX) / entry;
	uint64_t tag, value, table = 0, offset = 0, room = 0;

	elf->dynamic = true;
	for (uint64_t i = 0; i < n && dynamic_entry(elf, segment->p_offset + i * entry, &tag, &value); i++)
		if (tag == DT_STRTAB)
			table = value;
		else if (tag == DT_FLAGS_1)
			elf->pie = value & DF_1_PIE;
	if (table && !place(elf, table, &offset, &room))
		return damaged(err, "has a damaged dynamic section: its strings are missing");
	for (uint64_t i = 0; i < n && dynamic_entry(elf, segment->p_offset + i * entry, &tag, &value); i++) {
		char **slot = tag == DT_RPATH ? &elf->rpath : tag == DT_RUNPATH ? &elf->runpath : NULL;

		if (tag == DT_NEEDED && elf->nneeded < CMD_ELF_NEEDED_MAX)
			slot = &elf->needed[elf->nneeded];
		if (!slot || *slot)
			continue;
		*slot = value < room ? string_at(elf, offset + value, room - value) : NULL;
		if (!*slot)
			return damaged(err, "has a damaged dynamic section: a name makes no sense");
		elf->nneeded += tag == DT_NEEDED;
	}
	return 0;
}

/* Where tables begin and how many entries they have; numbers that do not fit stand in section 0. */
static int header_read(struct elf *elf, uint64_t *segments, uint32_t *nsegments, struct err *err)
{
	Elf64_Ehdr head;
	Elf32_Ehdr narrow;
	struct section first;
	uint64_t entry = elf->is64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);

	if (read_at(elf, elf->is64 ? (void *)&head : (void *)&narrow, elf->is64 ? sizeof(head) : sizeof(narrow), 0))
		return damaged(err, "is cut short: it ends within its header");
	if (!elf->is64)
		head = (Elf64_Ehdr){ .e_phoff = narrow.e_phoff, .e_phentsize = narrow.e_phentsize,
				     .e_phnum = narrow.e_phnum, .e_shoff = narrow.e_shoff,
				     .e_shentsize = narrow.e_shentsize, .e_shnum = narrow.e_shnum,
				     .e_shstrndx = narrow.e_shstrndx };
	*segments = head.e_phoff;
	*nsegments = head.e_phnum;
	if (head.e_phnum && head.e_phentsize != (elf->is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)))
		return damaged(err, "has a damaged header: its table of parts makes no sense");
	if (!head.e_shoff || head.e_shentsize != entry)
		return 0;
	elf->sections = head.e_shoff;
	elf->nsections = head.e_shnum;
	elf->names = head.e_shstrndx;
	if (section_read(elf, 0, &first)) {
		elf->sections = 0;
		return 0;
	}
	if (!elf->nsections)
		elf->nsections = first.size < 1u << 20 ? (uint32_t)first.size : 0;
	if (elf->names == SHN_XINDEX)
		elf->names = first.link;
	return 0;
}

static int parts_read(struct elf *elf, struct err *err)
{
	Elf64_Phdr dynamic = { .p_type = PT_NULL };
	uint32_t nsegments = 0;
	uint64_t segments = 0;
	int r;

	r = header_read(elf, &segments, &nsegments, err);
	if (!r)
		r = segments_read(elf, segments, nsegments, &dynamic, err);
	if (!r && dynamic.p_type == PT_DYNAMIC)
		r = dynamic_read(elf, &dynamic, err);
	return r;
}

int elf_open(struct elf *elf, int fd, struct err *err)
{
	unsigned char ident[EI_NIDENT + 4];
	struct stat st;
	int r;

	memset(elf, 0, sizeof(*elf));
	elf->fd = fd;
	if (fstat(fd, &st))
		return err_set(err, -errno, "%s", strerror(errno));
	elf->size = (uint64_t)st.st_size;
	r = read_at(elf, ident, SELFMAG, 0);
	if (r && r != -EBADMSG)
		return err_set(err, r, "%s", strerror(-r));
	if (r || memcmp(ident, ELFMAG, SELFMAG))
		return err_set(err, -ENOEXEC, "is no ELF file");
	if (read_at(elf, ident, sizeof(ident), 0))
		return damaged(err, "is cut short: it ends within its header");
	if ((ident[EI_CLASS] != ELFCLASS32 && ident[EI_CLASS] != ELFCLASS64) ||
	    (ident[EI_DATA] != ELFDATA2LSB && ident[EI_DATA] != ELFDATA2MSB))
		return damaged(err, "has a damaged header: neither of 32 nor of 64 bits");
	elf->is64 = ident[EI_CLASS] == ELFCLASS64;
	elf->native = ident[EI_DATA] == NATIVE_DATA;
	if (ident[EI_DATA] == ELFDATA2LSB) {
		elf->type = (uint16_t)(ident[16] | ident[17] << 8);
		elf->machine = (uint16_t)(ident[18] | ident[19] << 8);
	} else {
		elf->type = (uint16_t)(ident[16] << 8 | ident[17]);
		elf->machine = (uint16_t)(ident[18] << 8 | ident[19]);
	}
	if (!elf->native)
		return 0;
	r = parts_read(elf, err);
	if (r)
		elf_close(elf);
	return r;
}

void elf_close(struct elf *elf)
{
	for (uint32_t i = 0; i < elf->nneeded; i++)
		free(elf->needed[i]);
	free(elf->interp);
	free(elf->rpath);
	free(elf->runpath);
	memset(elf, 0, sizeof(*elf));
	elf->fd = -1;
}

const char *elf_machine(const struct elf *elf, char text[32])
{
	switch (elf->machine) {
	case EM_X86_64:
		return elf->is64 ? "x86_64" : "x32";
	case EM_386:
		return "i386";
	case EM_AARCH64:
		return "aarch64";
	case EM_ARM:
		return "arm";
	case EM_RISCV:
		return "riscv";
	case EM_PPC64:
		return "powerpc";
	case EM_S390:
		return "s390";
	default:
		snprintf(text, 32, "machine %u", elf->machine);
		return text;
	}
}

bool elf_runs_here(const struct elf *elf)
{
#if defined(__aarch64__)
	return elf->native && elf->is64 && elf->machine == EM_AARCH64;
#else
	struct utsname name;

	if (!elf->native)
		return false;
	if (!elf->is64)
		return elf->machine == EM_386;
	return elf->machine == EM_X86_64 && !uname(&name) && !strcmp(name.machine, "x86_64");
#endif
}

/*
 * What a semaphore that a note names is part of: Ringside's is the second member of an event, which tells the
 * version of its layout and is otherwise untouched; others' stand alone.
 */
static bool is_event(const struct elf *elf, uint64_t semaphore)
{
	const uint64_t word = elf->is64 ? 8 : 4;
	uint32_t abi, id;
	uint64_t offset, room;

	/* hint, semaphore and flags, id, write, fields, nothing, abi: see struct ringside_event. */
	if (semaphore < word || !place(elf, semaphore - word, &offset, &room) || room < 3 * word + 16)
		return false;
	return !read_at(elf, &id, sizeof(id), offset + word + 4) && !id &&
	       !read_at(elf, &abi, sizeof(abi), offset + 3 * word + 12) && abi >= 1 &&
	       abi <= RINGSIDE_ABI;
}

/* A note's three addresses and three strings. `base`: where .stapsdt.base is now; the note tells where it was. */
static bool site_take(const struct elf *elf, const char *bytes, uint64_t len, uint64_t base,
		      void (*put)(void *ctx, const char *system, const char *name, bool ours), void *ctx)
{
	const uint64_t word = elf->is64 ? 8 : 4;
	uint64_t semaphore = 0, told = 0;
	const char *system, *name;

	if (len < 3 * word)
		return false;
	memcpy(&told, bytes + word, word);
	memcpy(&semaphore, bytes + 2 * word, word);
	system = bytes + 3 * word;
	len -= 3 * word;
	if (!memchr(system, '\0', len))
		return false;
	name = system + strlen(system) + 1;
	len -= (uint64_t)(name - system);
	if (!memchr(name, '\0', len))
		return false;
	if (semaphore && base && told)
		semaphore += base - told;
	put(ctx, system, name, semaphore && is_event(elf, semaphore));
	return true;
}

int elf_sites(const struct elf *elf,
		  void (*put)(void *ctx, const char *system, const char *name, bool ours), void *ctx)
{
	struct section section, base;
	uint64_t at = 0, len;
	char *bytes;
	int r;

	r = section_find(elf, ".note.stapsdt", &section);
	if (r)
		return r == -ENOENT ? 0 : r;
	if (section_find(elf, ".stapsdt.base", &base))
		base.addr = 0;
	bytes = section_take(elf, &section, &len);
	if (!bytes)
		return -EBADMSG;
	while (!r && len - at >= 12) {
		uint32_t head[3];
		uint64_t name_len, desc_len;

		memcpy(head, bytes + at, sizeof(head));
		at += sizeof(head);
		name_len = ((uint64_t)head[0] + 3) & ~3ull;
		desc_len = ((uint64_t)head[1] + 3) & ~3ull;
		if (name_len > len - at || head[1] > len - at - name_len)
			r = -EBADMSG;
		else if (head[2] == 3 && head[0] == 8 && !memcmp(bytes + at, "stapsdt", 8) &&
			 !site_take(elf, bytes + at + name_len, head[1], base.addr, put, ctx))
			r = -EBADMSG;
		else
			at += name_len + (desc_len < len - at - name_len ? desc_len : len - at - name_len);
	}
	free(bytes);
	return r;
}

/* Does one of the table's symbols have this name and a place? */
static bool table_defines(const struct elf *elf, const char *table, uint64_t len, const char *names,
			  uint64_t names_len, const char *symbol)
{
	uint64_t entry = elf->is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	size_t symbol_len = strlen(symbol) + 1;

	for (uint64_t at = 0; len - at >= entry; at += entry) {
		Elf64_Sym wide;
		Elf32_Sym narrow;
		uint32_t name, where;

		if (elf->is64) {
			memcpy(&wide, table + at, sizeof(wide));
			name = wide.st_name;
			where = wide.st_shndx;
		} else {
			memcpy(&narrow, table + at, sizeof(narrow));
			name = narrow.st_name;
			where = narrow.st_shndx;
		}
		if (where != SHN_UNDEF && name < names_len && symbol_len <= names_len - name &&
		    !memcmp(names + name, symbol, symbol_len))
			return true;
	}
	return false;
}

int elf_defines(const struct elf *elf, const char *symbol)
{
	int found = -ENODATA;

	for (uint32_t i = 1; i < elf->nsections && found != 1; i++) {
		struct section section, strings;
		char *table, *names;
		uint64_t len = 0, names_len = 0;

		if (section_read(elf, i, &section))
			break;
		if ((section.type != SHT_SYMTAB && section.type != SHT_DYNSYM) ||
		    section_read(elf, section.link, &strings))
			continue;
		table = section_take(elf, &section, &len);
		names = section_take(elf, &strings, &names_len);
		if (table && names && table_defines(elf, table, len, names, names_len, symbol))
			found = 1;
		else if (table && names && section.type == SHT_SYMTAB)
			found = 0;
		free(table);
		free(names);
	}
	return found;
}

static int load_holds(const struct elf *elf, const struct elf_load *load, char *piece,
		      size_t piece_size, const void *bytes, size_t len)
{
	uint64_t at = 0;

	while (load->filesz - at >= len) {
		uint64_t n = load->filesz - at < piece_size ? load->filesz - at : piece_size;
		int r = read_at(elf, piece, n, load->offset + at);

		if (r)
			return r;
		if (memmem(piece, n, bytes, len))
			return 1;
		/* One that begins in this piece may end in the next. */
		at += n - len + 1;
	}
	return 0;
}

int elf_holds(const struct elf *elf, const void *bytes, size_t len)
{
	const size_t piece_size = 1u << 20;
	uint64_t all = 0;
	char *piece;
	int r = 0;

	for (uint32_t i = 0; i < elf->nloads; i++)
		all += elf->loads[i].filesz < IMAGE_MAX ? elf->loads[i].filesz : IMAGE_MAX;
	if (all > IMAGE_MAX)
		return -EFBIG;
	piece = malloc(piece_size);
	if (!piece)
		return -ENOMEM;
	for (uint32_t i = 0; i < elf->nloads && !r; i++)
		r = load_holds(elf, &elf->loads[i], piece, piece_size, bytes, len);
	free(piece);
	return r;
}
