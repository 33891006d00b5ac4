/*
 * control/plans: see plans.h.
 *
 *   slot of the registry --- plan[slot] ---> a plan, behind those that were there before
 *
 * Plans are made without the lock, since that takes a while, and filed under it: whoever was faster has made the same. A file with
 * a build-id is planned for once. One without may have been built anew since, under the same name: it is planned for again
 * whenever it has changed, and what programs have mapped stays as it was.
 */
#include "control/plans_local.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/mono.h"
#include "control/file.h"
#include "control/poke.h"
#include "control/registry.h"
#include "plan/plan.h"

#define WAIT_MS 100	/* a signal may come between looking at *stop and sleeping */
#define ALIGNED(offset) (((offset) + 7) & ~7ull)

int plans_head_read(const struct control *control, struct plans_head *head, struct err *err)
{
	return control_file_read(&control->dir, SEGMENT_PLANS, head, sizeof(*head), 0, err);
}

struct plan *plans_take(const struct control *control, uint64_t offset)
{
	struct plan *plan = NULL;
	uint64_t end;
	uint32_t size;

	if (offset < PLANS_DATA_OFFSET || offset % 8 || control_file_size(&control->dir, SEGMENT_PLANS, &end, NULL) ||
	    offset >= end || end - offset < sizeof(*plan) ||
	    control_file_read(&control->dir, SEGMENT_PLANS, &size, sizeof(size), offset + offsetof(struct plan, size), NULL))
		return NULL;
	if (size >= sizeof(*plan) && size <= end - offset)
		plan = malloc(size);
	if (plan && (control_file_read(&control->dir, SEGMENT_PLANS, plan, size, offset, NULL) || plan_check(plan, size))) {
		free(plan);
		plan = NULL;
	}
	return plan;
}

/* ---- filing ---- */

/* Programs wait there by the file's own page. */
static void wake(const struct control *control)
{
	struct plans_head *head = mmap(NULL, sizeof(*head), PROT_READ, MAP_SHARED, control->dir.fd[SEGMENT_PLANS], 0);

	if (head == MAP_FAILED)
		return;
	syscall(SYS_futex, &head->filed, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	munmap(head, sizeof(*head));
}

int plans_publish(const struct control *control, uint64_t at, uint64_t offset, uint32_t filed, struct err *err)
{
	int r = control_file_publish(&control->dir, SEGMENT_PLANS, &offset, sizeof(offset), at, err);

	filed++;
	if (!r)
		r = control_file_publish(&control->dir, SEGMENT_PLANS, &filed, sizeof(filed), offsetof(struct plans_head, filed), err);
	if (!r)
		wake(control);
	return r;
}

int plans_append(const struct control *control, const struct plans_head *head, const struct buf *plan, uint64_t *offset,
		 struct err *err)
{
	const uint64_t start = head->used > PLANS_DATA_OFFSET ? ALIGNED(head->used) : PLANS_DATA_OFFSET;
	const uint64_t end = start + plan->len;
	int r;

	if (start >= PLANS_SIZE_MAX || plan->len > PLANS_SIZE_MAX - start)
		return err_set(err, -ENOSPC, "%s/plans: is full: remove %s and start again", control->dir.path, control->dir.path);
	r = control_file_grow(&control->dir, SEGMENT_PLANS, end, err);
	if (!r)
		r = control_file_back(&control->dir, SEGMENT_PLANS, start, plan->len, err);
	if (!r)
		r = control_file_write(&control->dir, SEGMENT_PLANS, plan->data, plan->len, start, err);
	if (!r)
		r = control_file_publish(&control->dir, SEGMENT_PLANS, &end, sizeof(end), offsetof(struct plans_head, used), err);
	*offset = start;
	return r;
}

static bool has_same(const struct control *control, uint64_t offset, const struct buf *plan)
{
	struct plan *there = plans_take(control, offset);
	bool same = there && there->size == plan->len && !memcmp(there, plan->data, plan->len);

	free(there);
	return same;
}

/* Under the lock. No bytes: there can be no plan. */
static int file_locked(const struct control *control, const struct control_elf *elf, const struct buf *plan, struct err *err)
{
	struct plans_head head;
	uint32_t slot = plans_slot(elf);
	uint64_t offset = PLAN_NONE;
	int r = plans_head_read(control, &head, err);

	if (r || (head.plan[slot] && elf->build_id_len))
		return r;
	if (plan->len && has_same(control, head.plan[slot], plan))
		return 0;
	if (plan->len)
		r = plans_append(control, &head, plan, &offset, err);
	return r || offset == head.plan[slot] ? r : plans_publish(control, plans_place(slot), offset, head.filed, err);
}

static int file(struct control *control, const struct control_elf *elf, const struct buf *plan, struct err *err)
{
	bool mine;
	int r = control_lock(control, &mine, err);

	if (r)
		return r;
	r = file_locked(control, elf, plan, err);
	control_unlock(control, mine);
	return r;
}

/* ---- planning ---- */

/* What has the same build-id is the same file. */
static uint64_t twin(const struct control *control, const struct control_registry *registry, const struct plans_head *head,
		     const struct control_elf *elf)
{
	for (uint32_t i = 0; elf->build_id_len && i < registry->nelfs; i++) {
		const struct control_elf *other = &registry->elfs[i];
		uint64_t offset = head->plan[plans_slot(other)];
		struct plan *plan;

		if (other == elf || offset <= PLAN_NONE || other->build_id_len != elf->build_id_len ||
		    memcmp(other->build_id, elf->build_id, elf->build_id_len))
			continue;
		plan = plans_take(control, offset);
		free(plan);
		if (plan)
			return offset;
	}
	return 0;
}

static int share(struct control *control, const struct control_elf *elf, uint64_t offset, struct err *err)
{
	struct plans_head head;
	bool mine;
	int r = control_lock(control, &mine, err);

	if (r)
		return r;
	r = plans_head_read(control, &head, err);
	if (!r && !head.plan[plans_slot(elf)])
		r = plans_publish(control, plans_place(plans_slot(elf)), offset, head.filed, err);
	control_unlock(control, mine);
	return r;
}

/* There was not enough of something now: another time there may be, or another one can do it. */
static bool is_passing(int r)
{
	return r == -ENOMEM || r == -EMFILE || r == -ENFILE || r == -EINTR || r == -EIO || r == -ENOSYS;
}

static int plan_one(struct control *control, const struct control_elf *elf, struct err *err)
{
	struct buf plan = BUF_INIT;
	int r = -ENOENT;

	/* A path that is not whole is one of the program's directory: only its build-id can tell that it is the same. */
	if (elf->path[0] == '/' || (elf->path[0] && elf->build_id_len))
		r = plan_make(&plan, &(struct plan_file){ elf->path, elf->build_id, elf->build_id_len }, NULL);
	if (r)
		buf_reset(&plan);
	r = is_passing(r) ? 0 : file(control, elf, &plan, err);
	buf_fini(&plan);
	return r;
}

/* Has a file without a build-id been written since its plan was made? */
static bool is_new(const struct control *control, const struct control_elf *elf, uint64_t offset)
{
	struct plan_stamp stamp = { 0 };
	struct stat st;

	if (offset < PLANS_DATA_OFFSET || elf->path[0] != '/' || stat(elf->path, &st) ||
	    control_file_read(&control->dir, SEGMENT_PLANS, &stamp, sizeof(stamp), offset + offsetof(struct plan, build_id), NULL))
		return true;
	return stamp.changed_s != st.st_mtim.tv_sec || stamp.changed_ns != st.st_mtim.tv_nsec ||
	       stamp.size != (uint64_t)st.st_size || stamp.inode != st.st_ino;
}

static int plan_registry(struct control *control, const struct control_registry *registry, const volatile sig_atomic_t *stop,
			 struct err *err)
{
	struct plans_head head;
	int r = 0;

	for (uint32_t i = 0; !r && i < registry->nelfs && !(stop && *stop); i++) {
		const struct control_elf *elf = &registry->elfs[i];
		uint64_t there, same;

		r = plans_head_read(control, &head, err);
		if (r)
			break;
		there = head.plan[plans_slot(elf)];
		if (elf->build_id_len ? there : there && !is_new(control, elf, there))
			continue;
		same = twin(control, registry, &head, elf);
		r = same ? share(control, elf, same, err) : plan_one(control, elf, err);
	}
	return r;
}

/* Plans for all that have none. `registry` is what they were made of. */
static int plan_all(struct control *control, struct control_registry *registry, const volatile sig_atomic_t *stop, struct err *err)
{
	int r = control_registry_read(registry, &control->dir, CONTROL_REGISTRY_ELFS, err);

	return r ? r : plan_registry(control, registry, stop, err);
}

/* ---- for others ---- */

/* What functions are made of. */
struct memory {
	struct control_registry registry;
	struct plan *plans[REGISTRY_ELFS];
};

static const char *module_of(const struct control_elf *elf)
{
	const char *slash = strrchr(elf->path, '/');

	return slash && slash[1] ? slash + 1 : *elf->path ? elf->path : "?";
}

static void functions_add(struct control_functions *functions, const struct control_elf *elf, const struct plan *plan,
			  uint64_t offset)
{
	const struct plan_site *sites = (const struct plan_site *)((const char *)plan + plan->sites);

	for (uint32_t i = 0; i < plan->nsites; i++) {
		const struct plan_site *site = &sites[i];

		if (site->flags & PLAN_SITE_HIDDEN || site->address >> SYMBOL_SPACE_SHIFT)
			continue;
		functions->all[functions->n++] = (struct control_function){
			.name = (const char *)plan + plan->names + site->name, .module = module_of(elf),
			.address = elf->base + site->address,
			.site = offset + plan->sites + i * sizeof(*site), .size = site->size, .flags = site->flags,
			.kind = site->kind, .reason = site->reason, .program = elf->program,
		};
	}
}

static int functions_take(struct control_functions *functions, struct control *control, struct memory *memory, struct err *err)
{
	const struct control_registry *registry = &memory->registry;
	struct plans_head head;
	size_t n = 0;
	int r = plans_head_read(control, &head, err);

	for (uint32_t i = 0; !r && i < registry->nelfs; i++) {
		memory->plans[i] = plans_take(control, head.plan[plans_slot(&registry->elfs[i])]);
		n += memory->plans[i] ? memory->plans[i]->nsites : 0;
	}
	if (r)
		return r;
	functions->all = calloc(n + 1, sizeof(*functions->all));
	if (!functions->all)
		return err_set(err, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < registry->nelfs; i++)
		if (memory->plans[i])
			functions_add(functions, &registry->elfs[i], memory->plans[i], head.plan[plans_slot(&registry->elfs[i])]);
	return 0;
}

int control_functions_read(struct control_functions *functions, struct control *control, struct err *err)
{
	struct memory *memory = calloc(1, sizeof(*memory));
	int r = memory ? 0 : err_set(err, -ENOMEM, "out of memory");

	*functions = (struct control_functions){ .memory = memory };
	if (!r)
		r = plan_all(control, &memory->registry, NULL, err);
	if (!r)
		r = functions_take(functions, control, memory, err);
	if (r)
		control_functions_fini(functions);
	return r;
}

void control_functions_fini(struct control_functions *functions)
{
	struct memory *memory = functions->memory;

	if (memory) {
		control_registry_fini(&memory->registry);
		for (uint32_t i = 0; i < REGISTRY_ELFS; i++)
			free(memory->plans[i]);
	}
	free(memory);
	free(functions->all);
	*functions = (struct control_functions){ 0 };
}

int plans_make(struct control *control, struct err *err)
{
	struct control_registry registry = { 0 };
	int r = plan_all(control, &registry, NULL, err);

	control_registry_fini(&registry);
	return r;
}

int control_plans_file(struct control *control, struct err *err)
{
	int r = plans_make(control, err);

	if (!r)
		control_points_renew(control);
	return r;
}

/* ---- serving ---- */

static int planner_write(struct control *control, uint32_t planner, struct err *err)
{
	return control_file_publish(&control->dir, SEGMENT_PLANS, &planner, sizeof(planner), offsetof(struct plans_head, planner), err);
}

int control_plans_offer(struct control *control, struct err *err)
{
	return planner_write(control, (uint32_t)getpid(), err);
}

/* Somebody else may have taken over. */
static void planner_leave(struct control *control)
{
	uint32_t planner;

	if (!control_file_read(&control->dir, SEGMENT_PLANS, &planner, sizeof(planner), offsetof(struct plans_head, planner), NULL) &&
	    planner == (uint32_t)getpid())
		planner_write(control, 0, NULL);
}

static void wait_for_wish(const struct registry_head *head, uint32_t seen, int64_t deadline)
{
	int64_t left = deadline < 0 ? WAIT_MS : deadline - mono_ms();
	struct timespec pause;

	left = left < 0 ? 0 : left < WAIT_MS ? left : WAIT_MS;
	pause = (struct timespec){ left / 1000, left % 1000 * 1000000 };
	syscall(SYS_futex, &head->wishes, FUTEX_WAIT, seen, &pause, NULL, 0);
}

/* `head` is for the kernel to look at. We read the file: it may be cut short. */
static int serve(struct control *control, const struct registry_head *head, const volatile sig_atomic_t *stop, int64_t deadline,
		 struct err *err)
{
	uint32_t seen = 0, wishes = 0;
	bool first = true;
	int r = 0;

	while (!r && !(stop && *stop) && (deadline < 0 || first || mono_ms() < deadline)) {
		struct control_registry registry = { 0 };

		r = control_file_read(&control->dir, SEGMENT_REGISTRY, &wishes, sizeof(wishes), offsetof(struct registry_head, wishes),
				      err);
		if (r)
			break;
		if (!first && wishes == seen) {
			wait_for_wish(head, seen, deadline);
			continue;
		}
		first = false;
		seen = wishes;
		r = plan_all(control, &registry, stop, err);
		control_registry_fini(&registry);
		/* Programs have the plan already, and may be through with it. */
		if (!r && control_points_renew(control)) {
			control->retell = true;
			control_poke(control);
		}
	}
	return r;
}

int control_plans_serve(struct control *control, const volatile sig_atomic_t *stop, int timeout_ms, struct err *err)
{
	struct registry_head *head = mmap(NULL, sizeof(*head), PROT_READ, MAP_SHARED, control->dir.fd[SEGMENT_REGISTRY], 0);
	int r;

	if (head == MAP_FAILED)
		r = err_set(err, -errno, "%s/registry: cannot be mapped: %s", control->dir.path, strerror(errno));
	else
		r = control_plans_offer(control, err);
	if (!r) {
		r = serve(control, head, stop, timeout_ms < 0 ? -1 : mono_ms() + timeout_ms, err);
		planner_leave(control);
	}
	if (head != MAP_FAILED)
		munmap(head, sizeof(*head));
	return r;
}
