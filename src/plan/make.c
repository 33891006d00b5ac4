/*
 * plan/make: a plan, out of a file: see plan.h.
 *
 *   file -> image -> marks: addresses in data, frames, sequences, branches -> sites, by address -> struct plan
 *   learn                                                                put
 */
#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "plan/entries.h"
#include "plan/frames.h"
#include "plan/image.h"
#include "plan/looks.h"
#include "plan/names.h"
#include "plan/plan.h"
#include "plan/points.h"
#include "plan/sequences.h"
#include "plan/site.h"
#include "symbol/prototype.h"

#define POINTS_MAX (1u << 16)
#define ALIASES_MAX 64	/* names of one address that count when it is asked for again and again */

struct making {
	/* What was learned of the file. */
	int fd;
	struct image image;
	struct frames frames;
	struct sequences sequences;
	bool loader;		/* the dynamic loader itself */
	uint32_t flags;		/* of the plan */
	uint64_t text_start, text_end;
	uint32_t text_crc;
	struct prototypes *prototypes;	/* NULL: nothing is known of what functions take */
	struct points points;
	/* What is made of it. */
	const char *named;	/* the last point's function's name, and where that is */
	uint32_t name;
	uint64_t *wanted;	/* of an extra plan: these points, in order; NULL: functions and system calls */
	size_t nwanted;
	struct buf sites, fixes, code, names, registers;
};

/* ---- what file it is ---- */

static void text_bounds(struct making *making)
{
	const struct image *image = &making->image;

	making->text_start = UINT64_MAX;
	for (uint32_t i = 0; i < image->nloads; i++) {
		const struct image_load *load = &image->loads[i];

		if (!(load->flags & PF_X))
			continue;
		making->text_start = load->start < making->text_start ? load->start : making->text_start;
		making->text_end = load->end > making->text_end ? load->end : making->text_end;
		making->text_crc = crc32c(making->text_crc, load->bytes, load->end - load->start);
	}
	if (!making->text_end)
		making->text_start = 0;
}

static bool starts_with(const char *text, const char *with)
{
	return text && !strncmp(text, with, strlen(with));
}

static bool has_section(const struct elf *elf, const char *name)
{
	struct elf_section section;

	return !elf_section_find(elf, name, &section);
}

static bool defines(const struct image *image, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < image->nsymbols; i++)
		if (!strncmp(image->symbols[i].name, name, len) && (!image->symbols[i].name[len] || image->symbols[i].name[len] == '@'))
			return true;
	return false;
}

static bool imports(const struct elf *elf, const char *name)
{
	struct elf_symbols symbols;
	struct elf_symbol symbol;
	bool found = false;

	if (elf_symbols_open(&symbols, elf, SHT_DYNSYM))
		return false;
	while (!found && elf_symbols_next(&symbols, &symbol))
		found = symbol.section == SHN_UNDEF && !strcmp(symbol.name, name);
	elf_symbols_close(&symbols);
	return found;
}

static int check_file(const struct elf *elf, const struct plan_file *file, struct err *err)
{
	unsigned char id[ELF_BUILD_ID_MAX];
	uint32_t len;

	if (!elf->native || !elf->is64 || elf->machine != EM_X86_64)
		return err_set(err, -ENOTSUP, "%.300s: is not of x86-64", file->path);
	len = elf_build_id(elf, id);
	if (file->build_id_len && (len != file->build_id_len || memcmp(id, file->build_id, len)))
		return err_set(err, -ESTALE, "%.300s: has another build-id by now", file->path);
	if (has_section(elf, ".go.buildinfo") || has_section(elf, ".gopclntab") || has_section(elf, ".note.go.buildid"))
		return err_set(err, -ENOTSUP, "%.300s: is a Go program: its stacks move, and return addresses with them", file->path);
	if (starts_with(elf->soname, "libringside"))
		return err_set(err, -ENOTSUP, "%.300s: is our own runtime", file->path);
	return 0;
}

/* glibc's loader is nothing else; musl's is its libc, too. */
static bool is_loader(const struct image *image)
{
	const struct elf *elf = &image->elf;

	return starts_with(elf->soname, "ld-linux") || starts_with(elf->soname, "ld64.so") ||
	       (elf->type == ET_DYN && !elf->pie && !elf->interp && !elf->nneeded && defines(image, "_dl_debug_state") &&
		!defines(image, "printf"));
}

/* By what they are known that walk stacks with no tables of frames: OCaml, GHC, V8, HotSpot. */
static bool has_walker(const struct image *image)
{
	return defines(image, "caml_call_gc") || defines(image, "caml_garbage_collection") || defines(image, "stg_ap_v_info") ||
	       starts_with(image->elf.soname, "libHS") || defines(image, "Builtins_InterpreterEntryTrampoline") ||
	       defines(image, "JNI_CreateJavaVM");
}

/* What finds frames but is no part of the system can only be told by its name. */
static bool has_own_unwinder(const struct image *image)
{
	const struct elf *elf = &image->elf;

	return (imports(elf, "dl_iterate_phdr") || imports(elf, "_dl_find_object")) && !imports(elf, "_Unwind_RaiseException") &&
	       !imports(elf, "_Unwind_Backtrace") && !defines(image, "_Unwind_RaiseException");
}

static uint32_t flags_of(const struct making *making)
{
	const struct image *image = &making->image;
	const struct elf *elf = &image->elf;
	const bool is_static = !elf->interp && (elf->type == ET_EXEC || elf->pie);

	if (making->loader || starts_with(elf->soname, "libgcc_s.so") || starts_with(elf->soname, "libc."))
		return 0;
	if (has_walker(image) || (is_static && !defines(image, "_Unwind_RaiseException")))
		return PLAN_OWN_UNWINDER | PLAN_OWN_WALKER;
	return has_own_unwinder(image) ? PLAN_OWN_UNWINDER : 0;
}

/* ---- sites ---- */

static bool is_function(const struct image_symbol *symbol)
{
	return (symbol->type == STT_FUNC || symbol->type == STT_GNU_IFUNC) && *symbol->name && *symbol->name != '$' &&
	       *symbol->name != '@';
}

static size_t name_len(const char *name)
{
	size_t len = strcspn(name, "@");

	return len < PLAN_NAME_MAX ? len : PLAN_NAME_MAX;
}

/* Which of two names of one address says more? */
static bool is_better(const struct image_symbol *a, const struct image_symbol *b)
{
	size_t i = name_len(a->name), j = name_len(b->name);

	if ((a->bind == STB_LOCAL) != (b->bind == STB_LOCAL))
		return b->bind == STB_LOCAL;
	if ((*a->name == '_') != (*b->name == '_'))
		return *b->name == '_';
	return i != j ? i < j : memcmp(a->name, b->name, i) < 0;
}

/* What all symbols of one address say together. */
struct subject {
	uint64_t address, size;
	const struct image_symbol *name;
	uint16_t flags;
	bool resolver, special, untouchable;
};

static void subject_add(struct subject *subject, const struct image_symbol *symbol)
{
	char name[PLAN_NAME_MAX + 1];
	size_t len = name_len(symbol->name);

	memcpy(name, symbol->name, len);
	name[len] = '\0';
	subject->address = symbol->address;
	subject->size = symbol->size > subject->size ? symbol->size : subject->size;
	subject->flags |= names_flags(name);
	subject->special |= names_special(name);
	subject->untouchable |= names_untouchable(name);
	subject->resolver |= symbol->type == STT_GNU_IFUNC;
	if (!subject->name || is_better(symbol, subject->name))
		subject->name = symbol;
}

static uint32_t put_name(struct buf *names, const char *name)
{
	uint32_t at = (uint32_t)names->len;
	size_t len = name_len(name);

	for (size_t i = 0; i < len; i++)
		buf_putc(names, (unsigned char)name[i] <= ' ' || name[i] == 0x7f ? '_' : name[i]);
	buf_putc(names, '\0');
	return at;
}

/* Why it cannot be patched at all, whatever its instructions are. */
static enum plan_reason why_not(const struct making *making, const struct subject *subject)
{
	const struct frame *frame = frames_at(&making->frames, subject->address);

	if (subject->resolver)
		return PLAN_RESOLVER;
	if (subject->special || (making->loader && !(subject->flags & PLAN_SITE_LOADS)))
		return PLAN_SPECIAL;
	return frame && !frame_is_entry(frame, subject->address) ? PLAN_SPECIAL : PLAN_FINE;
}

static bool is_unsure(const struct making *making, const struct subject *subject)
{
	const struct frame *frame = frames_at(&making->frames, subject->address);

	return making->frames.damaged || (frame && frame->unsure);
}

static void subject_plan(const struct making *making, const struct subject *subject, struct site *site)
{
	const uint64_t address = subject->address;
	enum plan_reason reason = why_not(making, subject);

	if (!reason) {
		site_make(site, &making->image, address, subject->size, is_unsure(making, subject));
		if (site->kind != PLAN_NOT &&
		    sequences_meet(&making->sequences, address, address + site->at + site->window))
			reason = PLAN_RESTARTED;
	}
	if (reason)
		*site = (struct site){ .kind = PLAN_NOT, .reason = (uint8_t)reason };
}

static uint8_t registers_of(const struct making *making, uint64_t address)
{
	struct prototype prototype;

	return making->prototypes && prototypes_at(making->prototypes, address, &prototype) ? prototype.nregs : 0;
}

/* What every site has: `name` is the function's. */
static struct plan_site site_begin(struct making *making, const struct site *site, uint64_t address, uint32_t name)
{
	return (struct plan_site){
		.address = address,
		.name = name,
		.code = (uint32_t)making->code.len,
		.fixes = (uint32_t)(making->fixes.len / sizeof(struct plan_fix)),
		.flags = (uint16_t)((site->goes ? PLAN_SITE_GOES : 0) | (site->flags_live ? PLAN_SITE_FLAGS_LIVE : 0)),
		.kind = site->kind, .reason = site->reason, .at = site->at,
		.window = site->window, .moved = site->moved, .nfixes = site->nfixes,
	};
}

static void site_end(struct making *making, const struct site *site, const struct plan_site *out, uint8_t registers)
{
	buf_add(&making->sites, out, sizeof(*out));
	buf_add(&making->fixes, site->fixes, site->nfixes * sizeof(*site->fixes));
	buf_add(&making->code, site->original, site->window);
	buf_add(&making->code, site->code, site->moved);
	if (site->kind != PLAN_NOT) {
		buf_putc(&making->code, (char)site->nsteps);
		buf_add(&making->code, site->steps, site->nsteps * sizeof(*site->steps));
	}
	buf_putc(&making->registers, (char)registers);
}

static void put_site(struct making *making, const struct subject *subject)
{
	struct plan_site out;
	struct site site;

	subject_plan(making, subject, &site);
	out = site_begin(making, &site, subject->address, put_name(&making->names, subject->name->name));
	out.size = subject->size < UINT32_MAX ? (uint32_t)subject->size : UINT32_MAX;
	out.flags |= subject->flags;
	if (site.kind != PLAN_NOT && looks_back(&making->image, subject->address, subject->size))
		out.flags |= PLAN_SITE_NO_RETURN_HOOK;
	site_end(making, &site, &out, registers_of(making, subject->address));
}

/* ---- points ---- */

static void subject_of(const struct image *image, const struct image_symbol *symbol, struct subject *subject)
{
	const struct image_symbol *first = symbol, *end = image->symbols + image->nsymbols;

	for (int i = 0; i < ALIASES_MAX && first > image->symbols && first[-1].address == symbol->address; i++)
		first--;
	for (int i = 0; i < 2 * ALIASES_MAX && first < end && first->address == symbol->address; i++, first++)
		if (is_function(first))
			subject_add(subject, first);
	if (!subject->name)
		subject_add(subject, symbol);
}

static enum plan_reason why_no_point(const struct making *making, const struct subject *subject,
				     const struct point_function *function, uint64_t address)
{
	if (subject->resolver)
		return PLAN_RESOLVER;
	return subject->untouchable || making->loader || points_special(&making->points, function, address) ? PLAN_SPECIAL : PLAN_FINE;
}

/* The name of the function around it, "" if it has none. */
static const char *point_plan(struct making *making, uint64_t address, struct site *site)
{
	struct point_function function;
	struct subject subject = { 0 };
	enum plan_reason reason = PLAN_NOWHERE;

	if (points_function(&making->points, &function, address)) {
		if (function.symbol)
			subject_of(&making->image, function.symbol, &subject);
		reason = why_no_point(making, &subject, &function, address);
		points_site(&making->points, &function, site, address);
		/* What is no instruction is none whatever the function is. */
		reason = site->reason == PLAN_MIDDLE ? PLAN_FINE : reason;
	}
	if (reason)
		*site = (struct site){ .kind = PLAN_NOT, .reason = (uint8_t)reason };
	return subject.name ? subject.name->name : "";
}

static void put_point(struct making *making, const struct site *site, uint64_t address, const char *name, uint16_t flags)
{
	struct plan_site out;

	if (!making->named || strcmp(making->named, name)) {
		making->named = name;
		making->name = put_name(&making->names, name);
	}
	out = site_begin(making, site, address, making->name);
	out.flags |= PLAN_SITE_POINT | flags;
	out.before = site->before;
	site_end(making, site, &out, 0);
}

static void put_syscall(struct making *making, uint64_t address)
{
	struct site site;
	const char *name = point_plan(making, address, &site);

	if (site.kind != PLAN_NOT && !(address >> SYMBOL_SPACE_SHIFT))
		put_point(making, &site, address, name,
			  PLAN_SITE_SYSCALL | PLAN_SITE_HIDDEN | (points_makes_child(&making->points, address) ? PLAN_SITE_CHILD : 0));
}

static void put_points(struct making *making)
{
	for (size_t i = 0; i < making->nwanted; i++) {
		struct site site;
		const char *name;

		if (i && making->wanted[i] == making->wanted[i - 1])
			continue;
		name = point_plan(making, making->wanted[i], &site);
		put_point(making, &site, making->wanted[i], name, 0);
	}
}

/* ---- all of them, by address ---- */

/* System calls up to a function's first byte: one that is that byte is the function's own. */
static size_t put_syscalls(struct making *making, size_t i, uint64_t address)
{
	const struct image *image = &making->image;

	for (; i < image->nsyscalls && image->syscalls[i] < address; i++)
		put_syscall(making, image->syscalls[i]);
	return i < image->nsyscalls && image->syscalls[i] == address ? i + 1 : i;
}

static void put_sites(struct making *making)
{
	const struct image *image = &making->image;
	size_t syscalls = 0;

	for (size_t i = 0; i < image->nsymbols; ) {
		struct subject subject = { 0 };
		const uint64_t address = image->symbols[i].address;

		for (; i < image->nsymbols && image->symbols[i].address == address; i++)
			if (is_function(&image->symbols[i]))
				subject_add(&subject, &image->symbols[i]);
		/* The symbol space has no more room for a file. */
		if (!subject.name || address >> SYMBOL_SPACE_SHIFT)
			continue;
		syscalls = put_syscalls(making, syscalls, address);
		put_site(making, &subject);
	}
	put_syscalls(making, syscalls, UINT64_MAX);
}

/* ---- the plan ---- */

/* A file without a build-id is known by when it was written. */
static void put_identity(const struct elf *elf, struct plan *plan)
{
	struct plan_stamp stamp;
	struct stat st;

	plan->build_id_len = elf_build_id(elf, plan->build_id);
	if (plan->build_id_len || fstat(elf->fd, &st))
		return;
	stamp = (struct plan_stamp){ st.st_mtim.tv_sec, st.st_mtim.tv_nsec, (uint64_t)st.st_size, st.st_ino };
	memcpy(plan->build_id, &stamp, sizeof(stamp));
}

static uint32_t put_table(struct buf *out, size_t start, const struct buf *table)
{
	uint32_t at = (uint32_t)(out->len - start);

	buf_add(out, table->data, table->len);
	while ((out->len - start) % 8)
		buf_putc(out, '\0');
	return at;
}

static int put_plan(struct buf *out, struct making *making, struct err *err)
{
	const size_t start = out->len;
	struct plan plan = {
		.flags = making->flags, .machine = EM_X86_64, .nsites = (uint32_t)(making->sites.len / sizeof(struct plan_site)),
		.nfixes = (uint32_t)(making->fixes.len / sizeof(struct plan_fix)), .code_size = (uint32_t)making->code.len,
		.text_start = making->text_start, .text_end = making->text_end, .text_crc = making->text_crc,
	};

	buf_putc(&making->names, '\0');
	plan.names_size = (uint32_t)making->names.len;
	put_identity(&making->image.elf, &plan);
	if (making->sites.len + making->fixes.len + making->code.len + making->names.len > PLANS_SIZE_MAX / 4)
		return err_set(err, -EFBIG, "has too many functions");
	buf_add(out, &plan, sizeof(plan));
	plan.sites = put_table(out, start, &making->sites);
	plan.fixes = put_table(out, start, &making->fixes);
	plan.code = put_table(out, start, &making->code);
	plan.names = put_table(out, start, &making->names);
	plan.registers = put_table(out, start, &making->registers);
	plan.size = (uint32_t)(out->len - start);
	if (buf_failed(out) || buf_failed(&making->sites) || buf_failed(&making->fixes) || buf_failed(&making->code) ||
	    buf_failed(&making->names) || buf_failed(&making->registers))
		return err_set(err, -ENOMEM, "out of memory");
	memcpy(out->data + start, &plan, sizeof(plan));
	plan.crc = crc32c(0, out->data + start, plan.size);
	memcpy(out->data + start, &plan, sizeof(plan));
	return 0;
}

/* Code that the program may write to: who patches it would have to know what it is like when. */
static bool is_writable(const struct image *image)
{
	for (uint32_t i = 0; i < image->nloads; i++)
		if (image->loads[i].flags & PF_W && image->loads[i].flags & PF_X)
			return true;
	return false;
}

static int learn_code(struct making *making, struct err *err)
{
	int r = image_init(&making->image, err);

	if (!r && defines(&making->image, "ringside_runtime_lend"))
		r = err_set(err, -ENOTSUP, "has our own runtime in it");
	if (!r && is_writable(&making->image))
		r = err_set(err, -ENOTSUP, "its code can be written: it may change it itself");
	if (!r)
		r = entries_of_data(&making->image, err);
	if (!r)
		r = frames_init(&making->frames, &making->image, err);
	if (!r)
		r = sequences_init(&making->sequences, &making->image, err);
	if (!r)
		r = entries_of_code(&making->image, err);
	if (r)
		return r;
	making->loader = is_loader(&making->image);
	making->flags = flags_of(making);
	text_bounds(making);
	making->points = (struct points){ .image = &making->image, .frames = &making->frames, .sequences = &making->sequences };
	return 0;
}

static int learn_open(struct making *making, const struct plan_file *file, struct err *err)
{
	struct err why = ERR_INIT;
	int r = elf_open(&making->image.elf, making->fd, &why);

	if (r)
		return err_set(err, r, "%.300s %s", file->path, why.text);
	r = check_file(&making->image.elf, file, err);
	if (r)
		return r;
	/* Most files have no debug information. Points have no arguments. */
	if (!making->wanted)
		prototypes_open(&making->prototypes, &(struct symbol_file){
			.path = file->path, .build_id = file->build_id, .build_id_len = file->build_id_len,
		}, NULL);
	r = learn_code(making, &why);
	return r ? err_set(err, r, "%.300s: %s", file->path, why.text) : 0;
}

/* Whatever comes of it, forget() goes with it. */
static int learn(struct making *making, const struct plan_file *file, struct err *err)
{
	making->fd = elf_file(file->path);
	if (making->fd < 0)
		return err_set(err, making->fd, "%.300s: %s", file->path, strerror(-making->fd));
	return learn_open(making, file, err);
}

static void forget(struct making *making)
{
	if (making->fd >= 0) {
		image_fini(&making->image);
		close(making->fd);
	}
	frames_fini(&making->frames);
	sequences_fini(&making->sequences);
	prototypes_close(making->prototypes);
}

static int put(struct making *making, struct buf *out, const struct plan_file *file, struct err *err)
{
	struct err why = ERR_INIT;
	int r;

	making->named = NULL;
	if (making->wanted)
		put_points(making);
	else
		put_sites(making);
	r = put_plan(out, making, &why);
	buf_fini(&making->sites);
	buf_fini(&making->fixes);
	buf_fini(&making->code);
	buf_fini(&making->names);
	buf_fini(&making->registers);
	return r ? err_set(err, r, "%.300s: %s", file->path, why.text) : 0;
}

int plan_make(struct buf *out, const struct plan_file *file, struct err *err)
{
	struct making *making = calloc(1, sizeof(*making));
	int r;

	if (!making)
		return err_set(err, -ENOMEM, "out of memory");
	r = learn(making, file, err);
	if (!r)
		r = put(making, out, file, err);
	forget(making);
	free(making);
	return r;
}

/* ---- points of one file, again and again ---- */

/* More than that is not kept. */
#define KEPT_MAX (64 << 20)

struct plan_memory {
	pthread_mutex_t lock;
	struct making *making;	/* NULL: of no file */
	struct stat as_read;
};

struct plan_memory *plan_memory_open(void)
{
	struct plan_memory *memory = calloc(1, sizeof(*memory));

	if (memory)
		pthread_mutex_init(&memory->lock, NULL);
	return memory;
}

static void memory_clear(struct plan_memory *memory)
{
	if (memory->making)
		forget(memory->making);
	free(memory->making);
	memory->making = NULL;
}

void plan_memory_close(struct plan_memory *memory)
{
	if (!memory)
		return;
	memory_clear(memory);
	pthread_mutex_destroy(&memory->lock);
	free(memory);
}

/* Is it that file, as it is now? */
static bool is_kept(const struct plan_memory *memory, const struct plan_file *file)
{
	const struct stat *then = &memory->as_read;
	struct stat now;

	return memory->making && !stat(file->path, &now) && now.st_dev == then->st_dev && now.st_ino == then->st_ino &&
	       now.st_size == then->st_size && now.st_mtim.tv_sec == then->st_mtim.tv_sec &&
	       now.st_mtim.tv_nsec == then->st_mtim.tv_nsec && !check_file(&memory->making->image.elf, file, NULL);
}

static int keep(struct plan_memory *memory, const struct plan_file *file, uint64_t *wanted, struct err *err)
{
	int r;

	memory_clear(memory);
	memory->making = calloc(1, sizeof(*memory->making));
	if (!memory->making)
		return err_set(err, -ENOMEM, "out of memory");
	memory->making->wanted = wanted;
	r = learn(memory->making, file, err);
	if (!r && fstat(memory->making->fd, &memory->as_read))
		r = err_set(err, -errno, "%.300s: %s", file->path, strerror(errno));
	if (r)
		memory_clear(memory);
	return r;
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int make_wanted(struct plan_memory *memory, struct buf *out, const struct plan_file *file, uint64_t *wanted, size_t n,
		       struct err *err)
{
	int r;

	pthread_mutex_lock(&memory->lock);
	r = is_kept(memory, file) ? 0 : keep(memory, file, wanted, err);
	if (!r) {
		memory->making->wanted = wanted;
		memory->making->nwanted = n;
		r = put(memory->making, out, file, err);
		memory->making->wanted = NULL;
		if (memory->as_read.st_size > KEPT_MAX)
			memory_clear(memory);
	}
	pthread_mutex_unlock(&memory->lock);
	return r;
}

int plan_memory_extra(struct plan_memory *memory, struct buf *out, const struct plan_file *file, const uint64_t *addresses, size_t n,
		      struct err *err)
{
	uint64_t *wanted = n < POINTS_MAX ? calloc(n + 1, sizeof(*wanted)) : NULL;
	int r;

	if (n >= POINTS_MAX)
		return err_set(err, -EFBIG, "%.300s: too many points", file->path);
	if (!wanted)
		return err_set(err, -ENOMEM, "out of memory");
	if (n)
		memcpy(wanted, addresses, n * sizeof(*wanted));
	qsort(wanted, n, sizeof(*wanted), compare);
	r = make_wanted(memory, out, file, wanted, n, err);
	free(wanted);
	return r;
}

int plan_make_extra(struct buf *out, const struct plan_file *file, const uint64_t *addresses, size_t n, struct err *err)
{
	struct plan_memory *memory = plan_memory_open();
	int r = memory ? plan_memory_extra(memory, out, file, addresses, n, err) : err_set(err, -ENOMEM, "out of memory");

	plan_memory_close(memory);
	return r;
}
