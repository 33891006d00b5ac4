/*
 * record/symbols: names of addresses, as a kallsyms text.
 *
 * Of a tracing directory: the symbol space, in which each ELF file that programs brought has a place of its own. Files that
 * are gone or have changed since have no names, and the text says so. Of the kernel: what it tells in /proc/kallsyms.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "control/control.h"
#include "layout/registry.h"
#include "record/local.h"
#include "symbol/symbol.h"

#define PIECE 65536
#define TEXT_MAX (64u << 20)

static int out_of_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "out of memory");
}

static void put_marker(struct buf *out)
{
	buf_printf(out, "%016" PRIx64 " T " MARKER_NAME "\n", (uint64_t)MARKER_IP);
}

static const char *module_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : *path ? path : "?";
}

/* A path that is not whole is one of the program's directory, not ours: only its build-id can tell that it is the same. */
static const char *path_of(const struct control_elf *elf)
{
	return elf->path[0] == '/' || (elf->path[0] && elf->build_id_len) ? elf->path : "";
}

static int put_space(struct record_part *part, struct buf *out, struct err *err)
{
	struct control_registry registry;
	int r = control_registry_read(&registry, &part->control->dir, CONTROL_REGISTRY_ELFS, err);

	if (r)
		return r;
	put_marker(out);
	for (uint32_t i = 0; i < registry.nelfs && !buf_failed(out); i++) {
		const struct control_elf *elf = &registry.elfs[i];

		/* Beyond what readers take, files are there without their names. */
		symbol_put_functions(out, &(struct symbol_file){
			.path = out->len < TEXT_MAX / 2 ? path_of(elf) : "",
			.build_id = elf->build_id,
			.build_id_len = elf->build_id_len,
			.base = elf->base,
			.span = 1ull << SYMBOL_SPACE_SHIFT,
			.module = module_of(elf->path),
			.program = elf->program,
		}, NULL);
	}
	/* Readers take the last line for one address alone: it is behind all files. */
	if (registry.nelfs)
		buf_printf(out, "%" PRIx64 " t %s\n", symbol_space_base(REGISTRY_ELFS), SYMBOL_UNKNOWN);
	control_registry_fini(&registry);
	return buf_failed(out) ? out_of_memory(err) : 0;
}

/* A whole file. */
static int read_text(const char *path, struct buf *out, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = 0;
	char *room;

	if (fd < 0)
		return err_set(err, -errno, "%.300s: %s", path, strerror(errno));
	while ((room = buf_room(out, PIECE)) && (n = read(fd, room, PIECE)) > 0 && out->len + (size_t)n <= TEXT_MAX)
		out->len += (size_t)n;
	n = n < 0 ? -errno : n;
	close(fd);
	if (!room)
		return out_of_memory(err);
	if (n > 0)
		return err_set(err, -EFBIG, "%.300s: more than %u bytes of symbols", path, TEXT_MAX);
	return n ? err_set(err, (int)n, "%.300s: %s", path, strerror((int)-n)) : 0;
}

/* Those who may not see addresses are shown zeros. */
static bool has_addresses(const struct buf *text)
{
	const char *p = text->data, *end = p + text->len;

	while (p && p < end) {
		for (; p < end && *p == '0'; p++)
			;
		if (p < end && *p != ' ')
			return true;
		p = memchr(p, '\n', (size_t)(end - p));
		p = p ? p + 1 : NULL;
	}
	return false;
}

/* A mount of a tracing directory: its symbol space cannot be seen from there. */
static bool is_mount(const struct record_part *part)
{
	struct statfs fs;

	return !statfs(source_name(part->source), &fs) && (unsigned long)fs.f_type == FUSE_SUPER_MAGIC;
}

static int put_kernel(struct buf *out, struct err *err)
{
	struct buf text = BUF_INIT;

	if (!read_text("/proc/kallsyms", &text, NULL) && has_addresses(&text))
		buf_add(out, text.data, text.len);
	buf_fini(&text);
	return buf_failed(out) ? out_of_memory(err) : 0;
}

/* Behind the formats of printk, which were put before. */
static int put_prototypes(struct record_meta *meta, const struct record_sink *sink, struct err *err)
{
	const struct buf *formats = &meta->kept[KEPT_PRINTK];
	struct buf text = BUF_INIT;
	bool wanted = false;
	int r = 0;

	for (size_t i = 0; i < meta->nr_parts; i++) {
		record_prototypes_look(&meta->parts[i]);
		wanted |= meta->parts[i].prototypes;
	}
	if (!wanted)
		return 0;
	buf_add(&text, formats->data, formats->len);
	for (size_t i = 0; !r && i < meta->nr_parts; i++)
		if (meta->parts[i].prototypes)
			r = record_prototypes_put(&meta->parts[i], &text, err);
	if (!r && buf_failed(&text))
		r = out_of_memory(err);
	if (!r && (r = sink->section(sink->ctx, DAT_PRINTK, text.data ? text.data : "", text.len)))
		err_set(err, r, "what functions take cannot be put into the file: %s", strerror(-r));
	buf_fini(&text);
	return r;
}

static int put_part(struct record_part *part, struct buf *out, struct err *err)
{
	if (part->control)
		return put_space(part, out, err);
	if (!is_mount(part))
		return put_kernel(out, err);
	put_marker(out);
	return 0;
}

int record_meta_put_symbols(struct record_meta *meta, const struct record_sink *sink, struct err *err)
{
	struct buf text = BUF_INIT;
	int r = 0;

	if (meta->kallsyms)
		r = read_text(meta->kallsyms, &text, err);
	/* Addresses of a directory are below all of a kernel's. */
	for (size_t i = 0; !r && !meta->kallsyms && i < meta->nr_parts; i++)
		r = put_part(&meta->parts[i], &text, err);
	if (!r && text.len && (r = sink->section(sink->ctx, DAT_KALLSYMS, text.data, text.len)))
		err_set(err, r, "symbols cannot be put into the file: %s", strerror(-r));
	buf_fini(&text);
	return r ? r : put_prototypes(meta, sink, err);
}
