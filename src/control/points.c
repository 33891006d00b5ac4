/*
 * control/points: can a probe be where its line says? Found out before anything is changed; refused in words.
 *
 *   FUNCTION         its site in the plans of whatever files have it
 *   FUNCTION+OFFSET  a site of their extra plans
 *   PATH:OFFSET      either, in that file, which the directory is told of if no program brought it yet
 *
 * To make a plan takes a while: points of many lines that are written at once are planned for together.
 */
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/hooks.h"
#include "control/plans_local.h"
#include "control/probe_world.h"
#include "control/registry.h"
#include "plan/plan.h"
#include "symbol/elf.h"

static const char failed[] = "Failed to register probe event";

/* An instruction of a file, to be planned for. */
struct wish {
	uint32_t elf;		/* in the registry */
	uint64_t address;
};

/* What was found of all the places that the line means. */
struct looking {
	struct control_items *items;
	const struct spec_probe *probe;
	struct control_registry registry;
	struct buf *wishes;	/* struct wish[]: they are only gathered; NULL: they are looked at */
	bool known;		/* only in files that the directory knows */
	uint32_t good, bad;
	struct control_point worst;	/* the first of the bad */
	struct err err;			/* or why nothing can be told */
};

/* The C library holds off all signals at times, and a trap would kill: the runtime sets none there (func/trap.c). */
static bool is_trapless(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	return !strncmp(name, "libc.so", 7) || !strncmp(name, "libc-", 5) || !strncmp(name, "libpthread", 10);
}

static void take(struct looking *looking, const char *path, const struct control_point *point)
{
	const bool returns = looking->probe->returns, usable = point->kind == PLAN_JUMP || (point->kind == PLAN_TRAP && !is_trapless(path));

	if (usable && !(returns && (!point->entry || point->flags & PLAN_SITE_NO_RETURN_HOOK)))
		looking->good++;
	else if (!looking->bad++)
		looking->worst = *point;
}

static void look_at(struct looking *looking, const struct control_elf *elf, uint64_t address)
{
	struct control_point point = { .address = address };
	struct wish wish = { (uint32_t)(elf - looking->registry.elfs), address };

	if (looking->wishes)
		buf_add(looking->wishes, &wish, sizeof(wish));
	else if (control_plans_points(looking->items->control, elf, &point, 1, &looking->err) >= 0)
		take(looking, elf->path, &point);
}

static const struct control_elf *elf_at(const struct control_registry *registry, uint64_t base)
{
	for (uint32_t i = 0; i < registry->nelfs; i++)
		if (registry->elfs[i].base == base)
			return &registry->elfs[i];
	return NULL;
}

static void look_for_function(struct looking *looking)
{
	const struct control_functions *functions = control_items_functions(looking->items);
	const uint64_t mask = (1ull << SYMBOL_SPACE_SHIFT) - 1;

	for (size_t i = 0; functions && i < functions->n; i++) {
		const struct control_function *function = &functions->all[i];
		const struct control_elf *elf;

		if (!control_probe_means(looking->probe, function))
			continue;
		elf = elf_at(&looking->registry, function->address & ~mask);
		if (!looking->probe->offset)
			take(looking, function->module, &(struct control_point){
				.entry = true, .kind = function->kind, .reason = function->reason, .flags = function->flags,
			});
		else if (elf)
			look_at(looking, elf, (function->address & mask) + looking->probe->offset);
	}
}

/* Where an offset of the file is loaded, to be run. */
static int address_of(const struct elf *elf, const struct spec_probe *probe, uint64_t *address, struct err *err)
{
	for (uint32_t i = 0; i < elf->nloads; i++) {
		const struct elf_piece *load = &elf->loads[i];

		if (!(load->flags & PF_X) || probe->offset < load->offset || probe->offset - load->offset >= load->filesz)
			continue;
		*address = load->vaddr + (probe->offset - load->offset);
		return 0;
	}
	return err_set(err, -EINVAL, "%.200s: no code is at 0x%llx", probe->path, (unsigned long long)probe->offset);
}

static bool is_that(const struct control_elf *there, const char *path, const unsigned char *id, size_t id_len)
{
	return !strcmp(there->path, path) && there->build_id_len == id_len && !memcmp(there->build_id, id, id_len);
}

/* The file as it is now; if nobody told of it, the directory is told. */
static const struct control_elf *bring(struct looking *looking, const struct elf *elf)
{
	struct control *control = looking->items->control;
	unsigned char id[ELF_BUILD_ID_MAX];
	const size_t id_len = elf_build_id(elf, id);

	for (int tries = 0; tries < 2; tries++) {
		/* Without a build-id its plan may be of what it was before. */
		for (uint32_t i = 0; (id_len || tries || looking->known) && i < looking->registry.nelfs; i++)
			if (is_that(&looking->registry.elfs[i], looking->probe->file, id, id_len))
				return &looking->registry.elfs[i];
		if (tries || looking->known || control_plans_bring(control, looking->probe->file, &looking->err))
			break;
		control_registry_fini(&looking->registry);
		if (control_registry_read(&looking->registry, &control->dir, CONTROL_REGISTRY_ELFS, &looking->err))
			break;
	}
	return NULL;
}

static void look_in_file(struct looking *looking)
{
	const struct spec_probe *probe = looking->probe;
	const struct control_elf *there;
	struct elf elf;
	uint64_t address = 0;
	int fd = elf_file(probe->file);

	if (fd < 0) {
		err_set(&looking->err, fd, "%.200s: %s", probe->path, fd == -ENOEXEC ? "is no ELF file" : strerror(-fd));
		return;
	}
	if (!elf_open(&elf, fd, &looking->err) && !address_of(&elf, probe, &address, &looking->err)) {
		there = bring(looking, &elf);
		if (there)
			look_at(looking, there, address);
	}
	elf_close(&elf);
	close(fd);
}

static void look(struct looking *looking)
{
	looking->good = looking->bad = 0;
	looking->err = (struct err)ERR_INIT;
	if (looking->probe->kind == SPEC_PROBE_FILE)
		look_in_file(looking);
	else if (looking->probe->symbol)
		look_for_function(looking);
}

/* ---- what comes of it ---- */

static int refuse_return(const struct looking *looking, struct spec_error *error)
{
	if (!looking->worst.entry)
		return spec_probe_refuse(looking->probe, -EINVAL, "Retprobe address must be an function entry",
					 "no function begins there: its return cannot be probed", error);
	return spec_probe_refuse(looking->probe, -EINVAL, failed, "it looks at its return address, which is thus left alone", error);
}

static int refuse(const struct looking *looking, struct spec_error *error)
{
	const struct control_point *worst = &looking->worst;
	char text[200];

	if (!looking->bad)
		return spec_probe_refuse(looking->probe, looking->err.code ? looking->err.code : -EINVAL, failed,
					 looking->err.code ? looking->err.text : "nothing is there that could be probed", error);
	if (worst->kind != PLAN_NOT && looking->probe->returns && (!worst->entry || worst->flags & PLAN_SITE_NO_RETURN_HOOK))
		return refuse_return(looking, error);
	if (worst->reason == PLAN_MIDDLE)
		return spec_probe_refuse(looking->probe, -EILSEQ, "Probe point is not an instruction boundary",
					 "that is in the middle of an instruction", error);
	snprintf(text, sizeof(text), "it cannot be probed%s: %s",
		 worst->kind == PLAN_TRAP ? " in the C library, where only a jump may be" : "", plan_reason(worst->reason));
	return spec_probe_refuse(looking->probe, -EINVAL, failed, text, error);
}

int control_point_check(struct control_items *items, const struct spec_probe *probe, struct spec_error *error, struct err *err)
{
	struct looking looking = { .items = items, .probe = probe };
	int r = control_registry_read(&looking.registry, &items->control->dir, CONTROL_REGISTRY_ELFS, err);

	if (r)
		return r;
	look(&looking);
	if (probe->file && probe->kind != SPEC_PROBE_FILE && !strncmp(probe->file, "libringside.so", strlen("libringside.so")))
		err_set(&looking.err, -EINVAL, "%.200s is our own runtime", probe->file);
	/* A file that is named and that nobody has brought is still to come. */
	if (!looking.good && (looking.bad || looking.err.code || probe->kind == SPEC_PROBE_FILE))
		r = control_items_refuse(error, refuse(&looking, error), err);
	control_registry_fini(&looking.registry);
	return r;
}

/* ---- many at once ---- */

static int by_file(const void *a, const void *b)
{
	const struct wish *one = a, *other = b;

	if (one->elf != other->elf)
		return one->elf < other->elf ? -1 : 1;
	return one->address < other->address ? -1 : one->address > other->address;
}

/* What is wrong with one of them its own line will be told. True: some are new. */
static bool fulfil(struct looking *looking)
{
	struct wish *wishes = (struct wish *)(void *)looking->wishes->data;
	const size_t n = looking->wishes->len / sizeof(*wishes);
	struct control_point *points = calloc(n + 1, sizeof(*points));
	bool any = false;

	if (n)
		qsort(wishes, n, sizeof(*wishes), by_file);
	for (size_t i = 0, end; points && i < n; i = end) {
		for (end = i; end < n && wishes[end].elf == wishes[i].elf; end++)
			points[end - i] = (struct control_point){ .address = wishes[end].address };
		any |= control_plans_points(looking->items->control, &looking->registry.elfs[wishes[i].elf], points, end - i,
					    NULL) > 0;
	}
	free(points);
	return any;
}

void control_points_foresee(struct control_items *items, char file, const char *text, size_t len)
{
	struct spec_error error = SPEC_ERROR_INIT;
	struct buf wishes = BUF_INIT;
	struct looking looking = { .items = items, .wishes = &wishes };
	const char *end = text + len;

	if (control_registry_read(&looking.registry, &items->control->dir, CONTROL_REGISTRY_ELFS, NULL))
		return;
	for (const char *next; text < end; text = next) {
		const char *eol = memchr(text, '\n', (size_t)(end - text));
		const size_t line = (size_t)((eol ? eol : end) - text);
		struct spec_probe *probe = NULL;

		next = eol ? eol + 1 : end;
		if (spec_probe_parse(&probe, control_items_world(items, 0, false), file, text, line, &error))
			continue;
		looking.probe = probe;
		if (spec_probe_is_code(probe))
			look(&looking);
		spec_probe_free(probe);
	}
	if (!buf_failed(&wishes))
		fulfil(&looking);
	control_registry_fini(&looking.registry);
	buf_fini(&wishes);
	spec_error_fini(&error);
}

/* ---- files that came behind the probe ---- */

static bool renew(struct looking *looking)
{
	struct control_items *items = looking->items;

	for (uint32_t i = 0; i < items->control->state.nitems; i++) {
		looking->probe = items->specs[i].probe;
		/* Functions' entries are in every plan. */
		if (looking->probe && spec_probe_is_code(looking->probe) && looking->probe->offset)
			look(looking);
	}
	return !buf_failed(looking->wishes) && fulfil(looking);
}

bool control_points_renew(struct control *control)
{
	struct control_items *items = NULL;
	struct buf wishes = BUF_INIT;
	struct looking looking = { .wishes = &wishes, .known = true };
	bool any = false;

	if ((!control->locked && control_refresh(control, NULL)) || !control->state.probes.len ||
	    control_items_open(&items, control, NULL))
		return false;
	looking.items = items;
	if (!control_registry_read(&looking.registry, &control->dir, CONTROL_REGISTRY_ELFS, NULL))
		any = renew(&looking);
	control_registry_fini(&looking.registry);
	control_items_close(items);
	buf_fini(&wishes);
	return any;
}
