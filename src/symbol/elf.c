/*
 * symbol/elf: see elf.h. Fields are picked from the file's bytes by word size and byte order (FIELD).
 */
#include "symbol/elf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define NATIVE_DATA ELFDATA2LSB
#else
#define NATIVE_DATA ELFDATA2MSB
#endif

#define TABLE_MAX (64ull << 20)		/* bytes of one table that are worth reading */
#define DYNAMIC_MAX (1u << 20)
#define SEGMENTS_MAX 4096u
#define SECTIONS_MAX (1u << 20)
#define NOTES_MAX (1u << 20)

/* Bytes of an Elf64_KIND or Elf32_KIND, whichever the file has. */
#define ENTRY(elf, kind) ((elf)->is64 ? sizeof(Elf64_##kind) : sizeof(Elf32_##kind))
#define FIELD64(elf, raw, kind, field) \
	elf_word(elf, (const char *)(raw) + offsetof(Elf64_##kind, field), sizeof(((Elf64_##kind *)0)->field))
#define FIELD32(elf, raw, kind, field) \
	elf_word(elf, (const char *)(raw) + offsetof(Elf32_##kind, field), sizeof(((Elf32_##kind *)0)->field))
#define FIELD(elf, raw, kind, field) \
	((elf)->is64 ? FIELD64(elf, raw, kind, field) : FIELD32(elf, raw, kind, field))

static int damaged(struct err *err, const char *how)
{
	return err_set(err, -EBADMSG, "%s", how);
}

int elf_read(const struct elf *elf, void *bytes, uint64_t len, uint64_t offset)
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

uint64_t elf_word(const struct elf *elf, const void *bytes, size_t size)
{
	const uint8_t *from = bytes;
	bool little = elf->native == (NATIVE_DATA == ELFDATA2LSB);
	uint64_t value = 0;

	for (size_t i = 0; i < size; i++)
		value |= (uint64_t)from[little ? i : size - 1 - i] << i * 8;
	return value;
}

/* A string that ends before `room` bytes are over, as a copy; NULL when there is none. */
static char *string_at(const struct elf *elf, uint64_t offset, uint64_t room)
{
	char text[PATH_MAX];

	if (offset >= elf->size)
		return NULL;
	room = room < elf->size - offset ? room : elf->size - offset;
	room = room < sizeof(text) ? room : sizeof(text);
	if (elf_read(elf, text, room, offset) || !memchr(text, '\0', room))
		return NULL;
	return strdup(text);
}

bool elf_place(const struct elf *elf, uint64_t address, uint64_t *offset, uint64_t *room)
{
	for (uint32_t i = 0; i < elf->nloads; i++) {
		const struct elf_piece *load = &elf->loads[i];

		if (address < load->vaddr || address - load->vaddr >= load->filesz)
			continue;
		*offset = load->offset + (address - load->vaddr);
		*room = load->filesz - (address - load->vaddr);
		return true;
	}
	return false;
}

/* ---- sections ---- */

int elf_section_read(const struct elf *elf, uint32_t i, struct elf_section *section)
{
	char raw[sizeof(Elf64_Shdr)];
	int r;

	if (!elf->sections || (i && i >= elf->nsections))
		return -ENODATA;
	r = elf_read(elf, raw, ENTRY(elf, Shdr), elf->sections + i * ENTRY(elf, Shdr));
	if (r)
		return r;
	*section = (struct elf_section){
		.name = (uint32_t)FIELD(elf, raw, Shdr, sh_name),
		.type = (uint32_t)FIELD(elf, raw, Shdr, sh_type),
		.link = (uint32_t)FIELD(elf, raw, Shdr, sh_link),
		.flags = FIELD(elf, raw, Shdr, sh_flags),
		.addr = FIELD(elf, raw, Shdr, sh_addr),
		.offset = FIELD(elf, raw, Shdr, sh_offset),
		.size = FIELD(elf, raw, Shdr, sh_size),
	};
	return 0;
}

int elf_section_find(const struct elf *elf, const char *name, struct elf_section *section)
{
	size_t len = strlen(name) + 1;
	struct elf_section names;
	char text[32];

	if (len > sizeof(text) || elf_section_read(elf, elf->names, &names))
		return -ENODATA;
	for (uint32_t i = 1; i < elf->nsections; i++) {
		int r = elf_section_read(elf, i, section);

		if (r)
			return r;
		if (section->name < names.size && len <= names.size - section->name &&
		    !elf_read(elf, text, len, names.offset + section->name) && !memcmp(text, name, len))
			return 0;
	}
	return -ENOENT;
}

char *elf_section_take(const struct elf *elf, const struct elf_section *section, uint64_t *len)
{
	char *bytes;

	*len = section->size;
	if (section->type == SHT_NOBITS || *len > TABLE_MAX || *len > elf->size)
		return NULL;
	bytes = malloc((size_t)*len + 1);
	if (!bytes)
		return NULL;
	if (elf_read(elf, bytes, *len, section->offset)) {
		free(bytes);
		return NULL;
	}
	bytes[*len] = '\0';
	return bytes;
}

/* ---- symbols ---- */

static int symbols_take(struct elf_symbols *symbols, const struct elf *elf, const struct elf_section *section)
{
	struct elf_section strings;

	*symbols = (struct elf_symbols){ .elf = elf };
	if (elf_section_read(elf, section->link, &strings))
		return -EBADMSG;
	symbols->table = elf_section_take(elf, section, &symbols->len);
	symbols->names = elf_section_take(elf, &strings, &symbols->names_len);
	if (symbols->table && symbols->names)
		return 0;
	elf_symbols_close(symbols);
	return -EBADMSG;
}

int elf_symbols_open(struct elf_symbols *symbols, const struct elf *elf, uint32_t kind)
{
	struct elf_section section;

	/* There is one of a kind. A file that says otherwise may say so of thousands, each as large as it is. */
	for (uint32_t i = 1; i < elf->nsections && !elf_section_read(elf, i, &section); i++)
		if (section.type == kind)
			return symbols_take(symbols, elf, &section);
	return -ENODATA;
}

bool elf_symbols_next(struct elf_symbols *symbols, struct elf_symbol *symbol)
{
	const struct elf *elf = symbols->elf;
	const char *raw = symbols->table + symbols->at;
	uint64_t name;
	uint8_t info;

	if (symbols->len - symbols->at < ENTRY(elf, Sym))
		return false;
	symbols->at += ENTRY(elf, Sym);
	name = FIELD(elf, raw, Sym, st_name);
	info = (uint8_t)FIELD(elf, raw, Sym, st_info);
	*symbol = (struct elf_symbol){
		.name = name < symbols->names_len ? symbols->names + name : "",
		.value = FIELD(elf, raw, Sym, st_value),
		.size = FIELD(elf, raw, Sym, st_size),
		.section = (uint16_t)FIELD(elf, raw, Sym, st_shndx),
		.bind = ELF64_ST_BIND(info),
		.type = ELF64_ST_TYPE(info),
	};
	return true;
}

void elf_symbols_close(struct elf_symbols *symbols)
{
	free(symbols->table);
	free(symbols->names);
	symbols->table = symbols->names = NULL;
}

/* ---- notes ---- */

/* Looks through one piece of notes for the build-id. */
static uint32_t build_id_in(const struct elf *elf, const char *at, const char *end, unsigned char *id)
{
	while (end - at >= (ptrdiff_t)sizeof(Elf64_Nhdr)) {
		uint64_t name_len = (FIELD64(elf, at, Nhdr, n_namesz) + 3) & ~3ull;
		uint64_t len = FIELD64(elf, at, Nhdr, n_descsz), padded = (len + 3) & ~3ull;
		uint64_t type = FIELD64(elf, at, Nhdr, n_type), room;

		at += sizeof(Elf64_Nhdr);
		room = (uint64_t)(end - at);
		if (name_len > room || len > room - name_len)
			return 0;
		if (type == NT_GNU_BUILD_ID && name_len == 4 && !memcmp(at, "GNU", 4)) {
			len = len < ELF_BUILD_ID_MAX ? len : ELF_BUILD_ID_MAX;
			memcpy(id, at + 4, len);
			return (uint32_t)len;
		}
		if (padded > room - name_len)
			return 0;
		at += name_len + padded;
	}
	return 0;
}

uint32_t elf_build_id(const struct elf *elf, unsigned char id[ELF_BUILD_ID_MAX])
{
	uint32_t len = 0;

	for (uint32_t i = 0; i < elf->nnotes && !len; i++) {
		const struct elf_piece *note = &elf->notes[i];
		char *bytes = note->filesz <= NOTES_MAX ? malloc(note->filesz + 1) : NULL;

		if (bytes && !elf_read(elf, bytes, note->filesz, note->offset))
			len = build_id_in(elf, bytes, bytes + note->filesz, id);
		free(bytes);
	}
	return len;
}

/* ---- parts ---- */

static int load_add(struct elf *elf, const struct elf_piece *load, struct err *err)
{
	if (elf->bare)
		return 0;
	if (load->offset > elf->size || load->filesz > elf->size - load->offset)
		return damaged(err, "is cut short: its last bytes are missing");
	if (elf->nloads == ELF_LOADS_MAX)
		return damaged(err, "has a damaged header: too many parts");
	elf->loads[elf->nloads++] = *load;
	return 0;
}

static int segment_add(struct elf *elf, uint32_t type, const struct elf_piece *piece, struct err *err)
{
	if (type == PT_LOAD)
		return load_add(elf, piece, err);
	if (type == PT_NOTE && elf->nnotes < ELF_NOTES_MAX)
		elf->notes[elf->nnotes++] = *piece;
	if (type == PT_INTERP && !elf->interp && !elf->bare) {
		elf->interp = string_at(elf, piece->offset, piece->filesz);
		if (!elf->interp)
			return damaged(err, "has a damaged header: the name of its loader makes no sense");
	}
	return 0;
}

/* `dynamic` is the segment of that kind; elf->dynamic stays false when there is none. */
static int segments_read(struct elf *elf, uint64_t at, uint32_t n, struct elf_piece *dynamic, struct err *err)
{
	char raw[sizeof(Elf64_Phdr)];
	int r = 0;

	if (n > SEGMENTS_MAX)
		return damaged(err, "has a damaged header: too many parts");
	for (uint32_t i = 0; !r && i < n; i++) {
		struct elf_piece piece;
		uint32_t type;

		r = elf_read(elf, raw, ENTRY(elf, Phdr), at);
		if (r)
			return err_set(err, r, "is cut short: its table of parts is missing");
		at += ENTRY(elf, Phdr);
		type = (uint32_t)FIELD(elf, raw, Phdr, p_type);
		piece = (struct elf_piece){ FIELD(elf, raw, Phdr, p_vaddr), FIELD(elf, raw, Phdr, p_offset),
					    FIELD(elf, raw, Phdr, p_filesz), (uint32_t)FIELD(elf, raw, Phdr, p_flags) };
		if (type == PT_DYNAMIC && !elf->bare) {
			*dynamic = piece;
			elf->dynamic = true;
		}
		r = segment_add(elf, type, &piece, err);
	}
	return r;
}

static bool dynamic_entry(const struct elf *elf, uint64_t at, uint64_t *tag, uint64_t *value)
{
	char raw[sizeof(Elf64_Dyn)];

	if (elf_read(elf, raw, ENTRY(elf, Dyn), at))
		return false;
	*tag = FIELD(elf, raw, Dyn, d_tag);
	*value = FIELD(elf, raw, Dyn, d_un);
	return *tag != DT_NULL;
}

static int dynamic_read(struct elf *elf, const struct elf_piece *segment, struct err *err)
{
	uint64_t entry = ENTRY(elf, Dyn);
	uint64_t n = (segment->filesz < DYNAMIC_MAX ? segment->filesz : DYNAMIC_MAX) / entry;
	uint64_t tag, value, table = 0, offset = 0, room = 0;

	for (uint64_t i = 0; i < n && dynamic_entry(elf, segment->offset + i * entry, &tag, &value); i++)
		if (tag == DT_STRTAB)
			table = value;
		else if (tag == DT_FLAGS_1)
			elf->pie = value & DF_1_PIE;
	if (table && !elf_place(elf, table, &offset, &room))
		return damaged(err, "has a damaged dynamic section: its strings are missing");
	for (uint64_t i = 0; i < n && dynamic_entry(elf, segment->offset + i * entry, &tag, &value); i++) {
		char **slot = tag == DT_RPATH ? &elf->rpath : tag == DT_RUNPATH ? &elf->runpath : tag == DT_SONAME ? &elf->soname : NULL;

		if (tag == DT_NEEDED && elf->nneeded < ELF_NEEDED_MAX)
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

/* Numbers that do not fit into the header stand in section 0. */
static void sections_read(struct elf *elf, const char *head)
{
	struct elf_section first;

	elf->sections = FIELD(elf, head, Ehdr, e_shoff);
	if (!elf->sections || FIELD(elf, head, Ehdr, e_shentsize) != ENTRY(elf, Shdr) ||
	    elf_section_read(elf, 0, &first)) {
		elf->sections = 0;
		return;
	}
	elf->nsections = (uint32_t)FIELD(elf, head, Ehdr, e_shnum);
	elf->names = (uint32_t)FIELD(elf, head, Ehdr, e_shstrndx);
	if (!elf->nsections)
		elf->nsections = first.size < SECTIONS_MAX ? (uint32_t)first.size : 0;
	if (elf->names == SHN_XINDEX)
		elf->names = first.link;
}

static int parts_read(struct elf *elf, struct err *err)
{
	struct elf_piece dynamic = { 0 };
	char head[sizeof(Elf64_Ehdr)];
	uint32_t nsegments;
	int r;

	if (elf_read(elf, head, ENTRY(elf, Ehdr), 0))
		return damaged(err, "is cut short: it ends within its header");
	nsegments = (uint32_t)FIELD(elf, head, Ehdr, e_phnum);
	if (nsegments && FIELD(elf, head, Ehdr, e_phentsize) != ENTRY(elf, Phdr))
		return damaged(err, "has a damaged header: its table of parts makes no sense");
	sections_read(elf, head);
	r = segments_read(elf, FIELD(elf, head, Ehdr, e_phoff), nsegments, &dynamic, err);
	if (!r && elf->dynamic)
		r = dynamic_read(elf, &dynamic, err);
	return r;
}

static int ident_read(struct elf *elf, struct err *err)
{
	char ident[EI_NIDENT + 4];
	int r = elf_read(elf, ident, SELFMAG, 0);

	if (r && r != -EBADMSG)
		return err_set(err, r, "%s", strerror(-r));
	if (r || memcmp(ident, ELFMAG, SELFMAG))
		return err_set(err, -ENOEXEC, "is no ELF file");
	if (elf_read(elf, ident, sizeof(ident), 0))
		return damaged(err, "is cut short: it ends within its header");
	if ((ident[EI_CLASS] != ELFCLASS32 && ident[EI_CLASS] != ELFCLASS64) ||
	    (ident[EI_DATA] != ELFDATA2LSB && ident[EI_DATA] != ELFDATA2MSB))
		return damaged(err, "has a damaged header: neither of 32 nor of 64 bits");
	elf->is64 = ident[EI_CLASS] == ELFCLASS64;
	elf->native = ident[EI_DATA] == NATIVE_DATA;
	elf->type = (uint16_t)FIELD(elf, ident, Ehdr, e_type);
	elf->machine = (uint16_t)FIELD(elf, ident, Ehdr, e_machine);
	return 0;
}

/* Frees what was read of the parts, and knows nothing of them. */
static void parts_drop(struct elf *elf)
{
	struct elf bare = { .fd = elf->fd, .size = elf->size, .is64 = elf->is64, .native = elf->native,
			    .type = elf->type, .machine = elf->machine };

	for (uint32_t i = 0; i < elf->nneeded; i++)
		free(elf->needed[i]);
	free(elf->interp);
	free(elf->rpath);
	free(elf->runpath);
	free(elf->soname);
	*elf = bare;
}

int elf_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	int r;

	if (fd < 0)
		return -errno;
	r = fstat(fd, &st) ? -errno : S_ISREG(st.st_mode) ? 0 : -ENOEXEC;
	if (!r)
		return fd;
	close(fd);
	return r;
}

static int open_as(struct elf *elf, int fd, bool bare, struct err *err)
{
	struct stat st;
	int r;

	memset(elf, 0, sizeof(*elf));
	elf->fd = fd;
	elf->bare = bare;
	if (fstat(fd, &st))
		return err_set(err, -errno, "%s", strerror(errno));
	elf->size = (uint64_t)st.st_size;
	r = ident_read(elf, err);
	if (r)
		return r;
	/* Nobody here will run it: what it is for is all that matters then. */
	r = parts_read(elf, elf->native ? err : NULL);
	if (r)
		parts_drop(elf);
	return elf->native ? r : 0;
}

int elf_open(struct elf *elf, int fd, struct err *err)
{
	return open_as(elf, fd, false, err);
}

int elf_open_bare(struct elf *elf, int fd, struct err *err)
{
	return open_as(elf, fd, true, err);
}

void elf_close(struct elf *elf)
{
	parts_drop(elf);
	elf->fd = -1;
}

int elf_open_path(struct elf *elf, const char *path, struct err *err)
{
	struct err why = ERR_INIT;
	int fd = elf_file(path), r;

	if (fd < 0)
		return err_set(err, fd, "%.300s: %s", path, fd == -ENOEXEC ? "is no regular file" : strerror(-fd));
	r = elf_open(elf, fd, &why);
	if (!r)
		return 0;
	elf_close_path(elf);
	return err_set(err, r, "%.300s %s", path, why.text);
}

void elf_close_path(struct elf *elf)
{
	close(elf->fd);
	elf_close(elf);
}
