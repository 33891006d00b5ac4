/*
 * plan/check: is this a plan, and the words for what it says.
 */
#include <string.h>

#include "base/crc32c.h"
#include "plan/plan.h"

/* So many things of a size, at a place within the plan. */
static bool is_within(const struct plan *plan, uint32_t at, uint64_t n, uint64_t size)
{
	return at >= sizeof(*plan) && at <= plan->size && !(at % 8) && n <= (plan->size - at) / size;
}

static bool is_whole(const struct plan *plan)
{
	static const uint32_t zero;
	const size_t at = offsetof(struct plan, crc), behind = at + sizeof(zero);
	uint32_t crc = crc32c(0, plan, at);

	crc = crc32c(crc, &zero, sizeof(zero));
	return crc32c(crc, (const char *)plan + behind, plan->size - behind) == plan->crc;
}

static const char *check_fixes(const struct plan *plan, const struct plan_site *site)
{
	const struct plan_fix *fix = (const struct plan_fix *)((const char *)plan + plan->fixes);

	if (site->fixes > plan->nfixes || site->nfixes > plan->nfixes - site->fixes)
		return "fixes of a site lie outside";
	for (uint32_t i = 0; i < site->nfixes; i++) {
		const struct plan_fix *one = &fix[site->fixes + i];
		uint32_t size = one->kind == PLAN_FIX_NEAR ? 4 : 8;

		if (one->kind != PLAN_FIX_NEAR && one->kind != PLAN_FIX_AT)
			return "a fix of no kind";
		if (one->at + size > site->moved)
			return "a fix outside the moved instructions";
	}
	return NULL;
}

/* One for each instruction, in order; a point is one of them. */
static const char *check_steps(const struct plan *plan, const struct plan_site *site)
{
	const uint32_t used = (uint32_t)site->window + site->moved, room = plan->code_size - site->code - used;
	const uint8_t *steps = (const uint8_t *)plan + plan->code + site->code + used;
	const uint32_t n = room ? *steps : 0, before = site->flags & PLAN_SITE_POINT ? site->before : 0;
	bool met = false;

	if (!n || n > PLAN_WINDOW_MAX || n * sizeof(struct plan_step) > room - 1)
		return "steps of a site lie outside";
	for (uint32_t i = 0; i < n; i++) {
		const uint8_t at = steps[1 + i * 2], moved = steps[2 + i * 2];

		if (at >= site->window || moved >= site->moved || (i ? at <= steps[i * 2 - 1] || moved <= steps[i * 2] : at || moved))
			return "steps out of order";
		met |= at == before;
	}
	return met ? NULL : "a point that is no instruction of its window";
}

static const char *check_code(const struct plan *plan, const struct plan_site *site)
{
	const uint64_t start = plan_site_window(site);
	const char *wrong;

	if (site->kind == PLAN_NOT)
		return site->window || site->moved || site->nfixes ? "instructions of a site that cannot be patched" : NULL;
	if (site->window < (site->kind == PLAN_JUMP ? PLAN_JUMP_SIZE : 1) || site->window > PLAN_WINDOW_MAX)
		return "a window of a wrong size";
	if (!site->moved || site->moved > PLAN_MOVED_MAX)
		return "too many moved instructions";
	if (site->code > plan->code_size || (uint32_t)site->window + site->moved > plan->code_size - site->code)
		return "instructions of a site lie outside";
	if (start < plan->text_start || start >= plan->text_end || site->window > plan->text_end - start)
		return "a site outside the code";
	wrong = check_steps(plan, site);
	return wrong ? wrong : check_fixes(plan, site);
}

static const char *check_site(const struct plan *plan, const struct plan_site *site)
{
	if (site->kind > PLAN_TRAP || site->reason >= PLAN_REASONS || (site->kind == PLAN_JUMP) != (site->reason == PLAN_FINE))
		return "a site of no kind";
	if (site->name >= plan->names_size)
		return "a name lies outside";
	if (strlen((const char *)plan + plan->names + site->name) > PLAN_NAME_MAX)
		return "a name is too long";
	if (site->at > (site->flags & PLAN_SITE_POINT ? 0 : 16))
		return "a window that is not at its function's beginning";
	if (site->flags & PLAN_SITE_POINT && site->before > PLAN_WINDOW_MAX)
		return "a window that is not at its point";
	if (site->flags & PLAN_SITE_SYSCALL && (~site->flags & (PLAN_SITE_POINT | PLAN_SITE_HIDDEN)))
		return "a system call that is no point";
	if (site->flags & PLAN_SITE_CHILD && !(site->flags & PLAN_SITE_SYSCALL))
		return "a child of no system call";
	return check_code(plan, site);
}

static const char *check_sites(const struct plan *plan)
{
	const struct plan_site *sites = (const struct plan_site *)((const char *)plan + plan->sites);
	uint64_t free = 0;	/* functions' windows so far end here */
	const char *wrong = NULL;

	for (uint32_t i = 0; !wrong && i < plan->nsites; i++) {
		const struct plan_site *site = &sites[i];

		if (i && site->address <= sites[i - 1].address)
			return "sites out of order";
		wrong = check_site(plan, site);
		if (wrong || site->kind == PLAN_NOT || site->flags & PLAN_SITE_POINT)
			continue;
		if (plan_site_window(site) < free)
			return "windows that overlap";
		free = plan_site_window(site) + site->window;
	}
	return wrong;
}

static const char *check_registers(const struct plan *plan)
{
	const uint8_t *registers = (const uint8_t *)plan + plan->registers;

	for (uint32_t i = 0; i < plan->nsites; i++)
		if (registers[i] > PLAN_REGISTERS_MAX)
			return "a site with more arguments than there are registers";
	return NULL;
}

const char *plan_check(const struct plan *plan, size_t size)
{
	const char *wrong;

	if (size < sizeof(*plan) || plan->size < sizeof(*plan) || plan->size > size || plan->size % 8)
		return "cut short";
	if (plan->build_id_len > sizeof(plan->build_id) || plan->text_start > plan->text_end)
		return "a damaged header";
	if (!is_within(plan, plan->sites, plan->nsites, sizeof(struct plan_site)) ||
	    !is_within(plan, plan->fixes, plan->nfixes, sizeof(struct plan_fix)) ||
	    !is_within(plan, plan->code, plan->code_size, 1) || !is_within(plan, plan->names, plan->names_size, 1) ||
	    !is_within(plan, plan->registers, plan->nsites, 1))
		return "tables lie outside";
	if (!plan->names_size || ((const char *)plan)[plan->names + plan->names_size - 1])
		return "names have no end";
	if (!is_whole(plan))
		return "its checksum is wrong";
	wrong = check_registers(plan);
	return wrong ? wrong : check_sites(plan);
}

const char *plan_reason(enum plan_reason reason)
{
	static const char *const words[PLAN_REASONS] = {
		[PLAN_FINE] = "",
		[PLAN_SHORT] = "too few bytes for a jump",
		[PLAN_ENTERED] = "a branch leads into its first bytes",
		[PLAN_CALLS] = "a call returns into its first bytes",
		[PLAN_UNMOVABLE] = "an instruction that cannot be moved",
		[PLAN_UNDECODED] = "bytes that are no instruction",
		[PLAN_RESTARTED] = "part of a restartable sequence",
		[PLAN_OVERLAPS] = "another symbol lies in its first bytes",
		[PLAN_RESOLVER] = "an indirect function: what runs is another one",
		[PLAN_SPECIAL] = "nothing that is called there",
		[PLAN_MIDDLE] = "the middle of an instruction",
		[PLAN_NOWHERE] = "no code there",
	};

	return reason < PLAN_REASONS ? words[reason] : "";
}
