/*
 * control/points: can a probe be where its line says? Found out before anything is changed; refused in words.
 *
 *   FUNCTION         its site in the plans of whatever files have it
 *   FUNCTION+OFFSET  a site of their extra plans
 *   PATH:OFFSET      either, in that file, which the directory is told of if no program brought it yet
 */
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "control/hooks.h"
#include "control/probe_world.h"
#include "control/registry.h"
#include "plan/plan.h"
#include "symbol/elf.h"

static const char failed[] = "Failed to register probe event";

/* What was found of all the places that the line means. */
struct looking {
	struct control_items *items;
	const struct spec_probe *probe;
	struct control_registry registry;
	uint32_t good, bad;
	struct control_point worst;	/* the first of the bad */
	struct err err;			/* or why nothing can be told */
};

static void take(struct looking *looking, const struct control_point *point)
{
	const bool returns = looking->probe->returns;

	if (point->kind != PLAN_NOT && !(returns && (!point->entry || point->flags & PLAN_SITE_NO_RETURN_HOOK)))
		looking->good++;
	else if (!looking->bad++)
		looking->worst = *point;
}

static void look_at(struct looking *looking, const struct control_elf *elf, uint64_t address)
{
	struct control_point point = { .address = address };
	int r = control_plans_points(looking->items->control, elf, &point, 1, &looking->err);

	if (!r)
		take(looking, &point);
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
			take(looking, &(struct control_point){
				.entry = true, .kind = function->kind, .reason = function->reason, .flags = function->flags,
			});
		else if (elf)
			look_at(looking, elf, (function->address & mask) + looking->probe->offset);
	}
}

/* Where an offset of the file is loaded, to be run. */
static int address_of(const struct spec_probe *probe, uint64_t *address, struct err *err)
{
	struct elf elf;
	int fd = elf_file(probe->file), r;

	if (fd < 0)
		return err_set(err, fd, "%.200s: %s", probe->path, fd == -ENOEXEC ? "is no ELF file" : strerror(-fd));
	r = elf_open(&elf, fd, err);
	for (uint32_t i = 0; !r && i < elf.nloads; i++) {
		const struct elf_piece *load = &elf.loads[i];

		if (!(load->flags & PF_X) || probe->offset < load->offset || probe->offset - load->offset >= load->filesz)
			continue;
		*address = load->vaddr + (probe->offset - load->offset);
		goto out;
	}
	if (!r)
		r = err_set(err, -EINVAL, "%.200s: no code is at 0x%llx", probe->path, (unsigned long long)probe->offset);
out:
	elf_close(&elf);
	close(fd);
	return r;
}

static void look_in_file(struct looking *looking)
{
	const struct spec_probe *probe = looking->probe;
	uint64_t address = 0;
	int r = address_of(probe, &address, &looking->err);

	for (uint32_t i = 0; !r && i < looking->registry.nelfs; i++)
		if (!strcmp(looking->registry.elfs[i].path, probe->file))
			look_at(looking, &looking->registry.elfs[i], address);
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
	if (worst->kind != PLAN_NOT)
		return refuse_return(looking, error);
	if (worst->reason == PLAN_MIDDLE)
		return spec_probe_refuse(looking->probe, -EILSEQ, "Probe point is not an instruction boundary",
					 "that is in the middle of an instruction", error);
	snprintf(text, sizeof(text), "it cannot be probed: %s", plan_reason(worst->reason));
	return spec_probe_refuse(looking->probe, -EINVAL, failed, text, error);
}

int control_point_check(struct control_items *items, const struct spec_probe *probe, struct spec_error *error, struct err *err)
{
	struct looking looking = { .items = items, .probe = probe, .err = ERR_INIT };
	int r = 0;

	if (probe->kind == SPEC_PROBE_FILE) {
		r = control_plans_bring(items->control, probe->file, &looking.err);
		if (r)
			return control_items_refuse(error, spec_probe_refuse(probe, r, failed, looking.err.text, error), err);
	}
	r = control_registry_read(&looking.registry, &items->control->dir, CONTROL_REGISTRY_ELFS, err);
	if (r)
		return r;
	if (probe->kind == SPEC_PROBE_FILE)
		look_in_file(&looking);
	else if (probe->symbol)
		look_for_function(&looking);
	/* A file that is named and that nobody has brought is still to come. */
	if (!looking.good && (looking.bad || looking.err.code || probe->kind == SPEC_PROBE_FILE))
		r = control_items_refuse(error, refuse(&looking, error), err);
	control_registry_fini(&looking.registry);
	return r;
}
