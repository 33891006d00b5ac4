/*
 * inject/image: see image.h.
 *
 * Delicate is code of the allocator and the loader, and of those who take their locks. What is exported of those is known by
 * name; the functions that they share are not, but lie beside them, since compilers keep a source file's code together: in libc
 * the unnamed code next to such a function counts as well.
 */
#include "inject/image.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define FILES_MAX 4096u
#define SEGMENTS_MAX 64u
#define DYNAMIC_MAX 256u
#define SYMBOLS_MAX (1u << 20)
#define NAMES_MAX (64ull << 20)
#define BUCKETS_MAX (1u << 20)
#define DELICATE_MAX 512u	/* of a file; who has more of it is nothing else */

static const char *const delicate_names[] = {
	"malloc", "free", "cfree", "calloc", "realloc", "reallocarray", "memalign", "aligned_alloc", "posix_memalign", "valloc",
	"pvalloc", "malloc_trim", "malloc_usable_size", "mallinfo", "mallinfo2", "malloc_stats", "mallopt", "malloc_info",
	"__default_morecore", "__libc_malloc", "__libc_free", "__libc_calloc", "__libc_realloc", "__libc_memalign",
	"__libc_valloc", "__libc_pvalloc", "__libc_mallopt", "dlopen", "dlmopen", "dlclose", "dlsym", "dlvsym", "dlerror",
	"dladdr", "dladdr1", "dlinfo", "dl_iterate_phdr", "fork", "_Fork", "__fork", "__libc_fork", "__register_atfork",
	"pthread_atfork", "exit", "quick_exit", "on_exit", "at_quick_exit", "__cxa_atexit", "__cxa_finalize", "setenv",
	"unsetenv", "putenv", "clearenv", "setuid", "setgid", "seteuid", "setegid", "setreuid", "setregid", "setresuid",
	"setresgid", "setgroups",
};

/* The same, but the code beside it is that which every thread runs in. */
static const char alone[] = "pthread_create";

#define NDELICATE (sizeof(delicate_names) / sizeof(delicate_names[0]))

bool target_read(const struct image *image, uint64_t address, void *bytes, size_t len)
{
	struct iovec here = { bytes, len }, there = { (void *)(uintptr_t)address, len };

	return process_vm_readv(image->pid, &here, 1, &there, 1, 0) == (ssize_t)len;
}

bool target_write(const struct image *image, uint64_t address, const void *bytes, size_t len)
{
	struct iovec here = { (void *)(uintptr_t)bytes, len }, there = { (void *)(uintptr_t)address, len };

	return process_vm_writev(image->pid, &here, 1, &there, 1, 0) == (ssize_t)len;
}

bool target_text(const struct image *image, uint64_t address, char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (!target_read(image, address + i, &text[i], 1))
			return false;
		if (!text[i])
			return true;
	}
	return false;
}

/* ---- what a file exports ---- */

struct tables {
	uint64_t symbols, names, names_len, hash, gnu_hash;
};

/* The loader may have turned the file's addresses into those of memory, or not. */
static uint64_t in_memory(const struct target_file *file, uint64_t address)
{
	return address >= file->start && address < file->end ? address : address + file->load;
}

static void read_dynamic(const struct image *image, const struct target_file *file, uint64_t at, struct tables *tables)
{
	Elf64_Dyn entry;

	for (uint32_t i = 0; i < DYNAMIC_MAX; i++) {
		if (!target_read(image, at + i * sizeof(entry), &entry, sizeof(entry)) || entry.d_tag == DT_NULL)
			return;
		if (entry.d_tag == DT_SYMTAB)
			tables->symbols = in_memory(file, entry.d_un.d_ptr);
		else if (entry.d_tag == DT_STRTAB)
			tables->names = in_memory(file, entry.d_un.d_ptr);
		else if (entry.d_tag == DT_STRSZ)
			tables->names_len = entry.d_un.d_val;
		else if (entry.d_tag == DT_HASH)
			tables->hash = in_memory(file, entry.d_un.d_ptr);
		else if (entry.d_tag == DT_GNU_HASH)
			tables->gnu_hash = in_memory(file, entry.d_un.d_ptr);
	}
}

/* No table says how many symbols there are: the last bucket's chain ends with the last one. */
static uint32_t count_by_gnu_hash(const struct image *image, uint64_t at)
{
	uint32_t head[4], *buckets, last = 0, word;
	uint64_t chains;

	if (!target_read(image, at, head, sizeof(head)) || !head[0] || head[0] > BUCKETS_MAX || head[2] > BUCKETS_MAX)
		return 0;
	at += sizeof(head) + head[2] * 8ull;
	chains = at + head[0] * 4ull;
	buckets = calloc(head[0], sizeof(*buckets));
	if (!buckets || !target_read(image, at, buckets, head[0] * sizeof(*buckets))) {
		free(buckets);
		return 0;
	}
	for (uint32_t i = 0; i < head[0]; i++)
		last = buckets[i] > last ? buckets[i] : last;
	free(buckets);
	if (last < head[1])
		return 0;
	for (; last < SYMBOLS_MAX && target_read(image, chains + (last - head[1]) * 4ull, &word, sizeof(word)); last++)
		if (word & 1)
			return last + 1;
	return 0;
}

static uint32_t count_symbols(const struct image *image, const struct tables *tables)
{
	uint32_t head[2];

	if (tables->gnu_hash)
		return count_by_gnu_hash(image, tables->gnu_hash);
	return tables->hash && target_read(image, tables->hash, head, sizeof(head)) && head[1] <= SYMBOLS_MAX ? head[1] : 0;
}

static int by_address(const void *a, const void *b)
{
	const struct target_function *one = a, *other = b;

	return one->address < other->address ? -1 : one->address > other->address;
}

static void take_functions(struct target_file *file, const Elf64_Sym *symbols, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const Elf64_Sym *symbol = &symbols[i];
		uint32_t type = ELF64_ST_TYPE(symbol->st_info);

		/* Data only where it is the runtime's, for us. */
		if (symbol->st_shndx == SHN_UNDEF || symbol->st_name >= file->names_len ||
		    (type != STT_FUNC && type != STT_GNU_IFUNC && strcmp(file->names + symbol->st_name, "__ringside_edges") &&
		     strcmp(file->names + symbol->st_name, "__ringside_calls")) || symbol->st_value > file->end - file->load)
			continue;
		file->functions[file->nfunctions++] = (struct target_function){
			file->load + symbol->st_value, symbol->st_size, symbol->st_name };
	}
	qsort(file->functions, file->nfunctions, sizeof(*file->functions), by_address);
}

/* Of a file that makes no sense there are no functions. */
static void read_functions(const struct image *image, struct target_file *file, const struct tables *tables)
{
	uint32_t n = tables->symbols && tables->names ? count_symbols(image, tables) : 0;
	Elf64_Sym *symbols;

	if (!n || !tables->names_len || tables->names_len > NAMES_MAX)
		return;
	symbols = calloc(n, sizeof(*symbols));
	file->names = malloc(tables->names_len + 1);
	file->functions = calloc(n, sizeof(*file->functions));
	if (symbols && file->names && file->functions && target_read(image, tables->symbols, symbols, n * sizeof(*symbols)) &&
	    target_read(image, tables->names, file->names, tables->names_len)) {
		file->names[tables->names_len] = '\0';
		file->names_len = tables->names_len;
		take_functions(file, symbols, n);
	}
	free(symbols);
}

static const char *name_of(const struct target_file *file, const struct target_function *function)
{
	return file->names + function->name;
}

static const struct target_function *function_named(const struct target_file *file, const char *name)
{
	for (size_t i = 0; i < file->nfunctions; i++)
		if (!strcmp(name_of(file, &file->functions[i]), name))
			return &file->functions[i];
	return NULL;
}

/* ---- what of it is delicate ---- */

static bool is_delicate_name(const char *name)
{
	for (size_t i = 0; i < NDELICATE; i++)
		if (!strcmp(name, delicate_names[i]))
			return true;
	return false;
}

/* From the end of the named function before it to the beginning of the one behind it. */
static struct target_range with_neighbours(const struct target_file *file, size_t i)
{
	struct target_range range = { file->code.start, file->code.end };
	uint64_t address = file->functions[i].address;

	for (size_t j = 0; j < file->nfunctions; j++) {
		const struct target_function *other = &file->functions[j];

		if (other->address < address && other->address + other->size > range.start)
			range.start = other->address + other->size;
		if (other->address > address && other->address < range.end)
			range.end = other->address;
	}
	/* One that says it reaches into this one. */
	if (range.start > address)
		range.start = address;
	return range;
}

static void note_delicate(struct target_file *file, bool wide)
{
	file->delicate = calloc(DELICATE_MAX, sizeof(*file->delicate));
	file->wholly |= !file->delicate;
	for (size_t i = 0; !file->wholly && i < file->nfunctions; i++) {
		const struct target_function *function = &file->functions[i];
		const char *name = name_of(file, function);
		bool lonely = !strcmp(name, alone);

		if (!lonely && !is_delicate_name(name))
			continue;
		file->wholly = file->ndelicate + 1 == DELICATE_MAX;
		file->delicate[file->ndelicate++] = wide && !lonely ? with_neighbours(file, i) :
			(struct target_range){ function->address, function->address + function->size };
	}
}

/* ---- the files ---- */

/* Program headers, through the ELF header that the file's first mapping begins with. */
static void describe(const struct image *image, struct target_file *file)
{
	Elf64_Phdr segments[SEGMENTS_MAX];
	struct tables tables = { 0 };
	uint64_t dynamic = 0;
	bool placed = false;
	Elf64_Ehdr head;

	if (!target_read(image, file->start, &head, sizeof(head)) || memcmp(head.e_ident, ELFMAG, SELFMAG) ||
	    head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_phentsize != sizeof(segments[0]) || head.e_phnum > SEGMENTS_MAX ||
	    !target_read(image, file->start + head.e_phoff, segments, head.e_phnum * sizeof(segments[0])))
		return;
	for (uint32_t i = 0; i < head.e_phnum; i++) {
		if (segments[i].p_type == PT_LOAD && !placed) {
			file->load = file->start - (segments[i].p_vaddr & ~4095ull);
			placed = true;
		}
		if (segments[i].p_type == PT_DYNAMIC)
			dynamic = segments[i].p_vaddr;
		if (segments[i].p_type == PT_GNU_EH_FRAME)
			file->frames = segments[i].p_vaddr;
	}
	file->frames = file->frames ? file->load + file->frames : 0;
	if (dynamic)
		read_dynamic(image, file, file->load + dynamic, &tables);
	read_functions(image, file, &tables);
	file->libc = function_named(file, "__libc_start_main");
}

/* A word of what the kernel told the program about itself. */
static uint64_t auxiliary(pid_t pid, uint64_t type)
{
	uint64_t word[2], value = 0;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && read(fd, word, sizeof(word)) == sizeof(word) && word[0])
		if (word[0] == type)
			value = word[1];
	if (fd >= 0)
		close(fd);
	return value;
}

static void judge(struct image *image)
{
	uint64_t base = auxiliary(image->pid, AT_BASE), entry = auxiliary(image->pid, AT_ENTRY);

	for (size_t i = 0; i < image->nfiles; i++) {
		struct target_file *file = &image->files[i];
		bool allocates = function_named(file, "malloc"), program = entry >= file->start && entry < file->end;

		/* A library that brings another allocator is that all through. */
		file->wholly = !file->libc && !program && (allocates || (base >= file->start && base < file->end));
		note_delicate(file, file->libc || allocates);
	}
}

struct mapping {
	uint64_t start, end, inode;
	unsigned int major, minor;
	char perms[5];
};

/* Mappings of one file follow each other, with nothing of another file between. */
static int take_mapping(struct image *image, const struct mapping *mapping, struct mapping *last)
{
	struct target_file *file = image->nfiles ? &image->files[image->nfiles - 1] : NULL;

	if (!file || mapping->inode != last->inode || mapping->major != last->major || mapping->minor != last->minor) {
		/* Data that was mapped is of no interest. */
		if (!file || file->code.end) {
			if (image->nfiles == FILES_MAX)
				return -E2BIG;
			file = &image->files[image->nfiles++];
		}
		*file = (struct target_file){ .start = mapping->start };
	}
	file->end = mapping->end;
	if (mapping->perms[2] == 'x' && !file->code.end)
		file->code = (struct target_range){ mapping->start, mapping->end };
	*last = *mapping;
	return 0;
}

static int read_maps(struct image *image, struct err *err)
{
	struct mapping mapping, last = { 0 };
	char path[64], *line = NULL;
	size_t cap = 0;
	FILE *maps;
	int r = 0;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)image->pid);
	maps = fopen(path, "re");
	if (!maps)
		return err_set(err, errno == ENOENT ? -ESRCH : -errno, "the memory of process %d cannot be looked at: %s",
			       (int)image->pid, strerror(errno));
	while (!r && getline(&line, &cap, maps) > 0)
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*s %x:%x %" SCNu64, &mapping.start, &mapping.end, mapping.perms,
			   &mapping.major, &mapping.minor, &mapping.inode) == 6 && mapping.inode)
			r = take_mapping(image, &mapping, &last);
	free(line);
	fclose(maps);
	return r ? err_set(err, r, "process %d has more files mapped than one should", (int)image->pid) : 0;
}

static void read_edges(struct image *image)
{
	uint64_t at = target_find(image, "__ringside_edges");
	struct stopped_edges edges;

	if (at && target_read(image, at, &edges, sizeof(edges)))
		image->edges = edges;
}

int target_open(struct image *image, pid_t pid, struct err *err)
{
	int r;

	*image = (struct image){ .pid = pid, .files = calloc(FILES_MAX, sizeof(*image->files)) };
	r = image->files ? read_maps(image, err) : err_set(err, -ENOMEM, "out of memory");
	if (r) {
		target_close(image);
		return r;
	}
	for (size_t i = 0; i < image->nfiles; i++)
		if (image->files[i].code.end)
			describe(image, &image->files[i]);
	judge(image);
	read_edges(image);
	return 0;
}

void target_close(struct image *image)
{
	for (size_t i = 0; i < image->nfiles; i++) {
		free(image->files[i].functions);
		free(image->files[i].names);
		free(image->files[i].delicate);
	}
	free(image->files);
	*image = (struct image){ 0 };
}

/* ---- questions ---- */

const struct target_file *target_at(const struct image *image, uint64_t address)
{
	for (size_t i = 0; i < image->nfiles; i++)
		if (address >= image->files[i].start && address < image->files[i].end)
			return &image->files[i];
	return NULL;
}

const struct target_file *target_libc(const struct image *image)
{
	for (size_t i = 0; i < image->nfiles; i++)
		if (image->files[i].libc)
			return &image->files[i];
	return NULL;
}

uint64_t target_find(const struct image *image, const char *name)
{
	const struct target_file *libc = target_libc(image);
	const struct target_function *function = libc ? function_named(libc, name) : NULL;

	for (size_t i = 0; !function && i < image->nfiles; i++)
		function = function_named(&image->files[i], name);
	return function ? function->address : 0;
}

uint64_t target_true_return(const struct image *image, uint64_t address)
{
	const struct stopped_edges *edges = &image->edges;

	for (int i = 0; i < 8 && edges->stride && address - edges->code < edges->size; i++)
		if (!target_read(image, edges->data + (address - edges->code) / edges->stride * edges->stride + edges->parent, &address,
				 sizeof(address)))
			return 0;
	return address;
}

bool target_is_delicate(const struct image *image, uint64_t address)
{
	const struct target_file *file = target_at(image, address);

	if (!file || file->wholly)
		return file != NULL;
	for (size_t i = 0; i < file->ndelicate; i++)
		if (address >= file->delicate[i].start && address < file->delicate[i].end)
			return true;
	return false;
}
