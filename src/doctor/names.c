/*
 * doctor/names: which events of the kernel's names nothing records yet. They can be named in filters and histograms, and
 * stay silent until a program brings them.
 */
#include <inttypes.h>
#include <string.h>

#include "control/named.h"
#include "doctor/doctor.h"

struct count {
	const struct control_registry *registry;
	const char *system;	/* the one that is being counted, NULL: none yet */
	uint32_t all, silent;
	struct buf words;
};

static void put_system(struct count *count)
{
	if (count->silent)
		buf_printf(&count->words, "%s%s (%" PRIu32 " of %" PRIu32 ")", count->words.len ? ", " : "",
			   count->system, count->silent, count->all);
	count->all = count->silent = 0;
}

/* One event of the list; those of a system come one behind the other. */
static int count_one(void *ctx, const char *system, const char *name, const struct buf *body)
{
	struct count *count = ctx;
	const struct control_event *event = control_registry_find(count->registry, system, name);
	const struct control_event unseen = { .system = system, .name = name, .named = true };

	(void)body;
	if (count->system && strcmp(count->system, system))
		put_system(count);
	count->system = system;
	count->all++;
	count->silent += !control_event_has_source(event ? event : &unseen);
	return 0;
}

void doctor_names(struct doctor *doctor)
{
	struct control_registry registry;
	struct count count = { .registry = &registry, .words = BUF_INIT };

	/* What is wrong with the registry was said already. */
	if (control_registry_read(&registry, &doctor->control->dir, CONTROL_REGISTRY_EVENTS, NULL))
		return;
	control_named_walk(count_one, &count);
	put_system(&count);
	if (count.words.len && !buf_failed(&count.words))
		doctor_put(doctor, DOCTOR_OK, "names", NULL, "of the kernel's, without a source until a program brings them: %s",
			   count.words.data);
	else
		doctor_put(doctor, DOCTOR_OK, "names", NULL, "all events of the kernel's names have a source");
	buf_fini(&count.words);
	control_registry_fini(&registry);
}
