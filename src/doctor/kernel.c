/*
 * doctor/kernel: the doctor's look at a kernel's tracing: what of it can be had here, and what each missing part takes.
 */
#include <errno.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "doctor/doctor.h"
#include "source/parts.h"

/* The first character of a file of one word; '\0' when it cannot be had. */
static char first_of(struct source *source, const char *file)
{
	struct buf text = BUF_INIT;
	char first = '\0';

	if (!source_read(source, file, &text, NULL) && text.data)
		first = *text.data;
	buf_fini(&text);
	return first;
}

static void look_at_tree(struct doctor *doctor, struct source *source)
{
	struct buf path = BUF_INIT;
	struct utsname name;

	if (source_is_kernel(source) && !uname(&name))
		doctor_put(doctor, DOCTOR_OK, "kernel", NULL, "%s %s on %s", name.sysname, name.release, name.machine);
	buf_printf(&path, "%s/tracing_on", source_name(source));
	if (buf_failed(&path) || access(path.data, R_OK))
		doctor_put(doctor, DOCTOR_BAD, "tracefs", "ask as root", "%s cannot be read (%s)", source_name(source), strerror(errno));
	else if (access(path.data, W_OK))
		doctor_put(doctor, DOCTOR_NOTE, "tracefs", "ask as root", "%s can be read, not written", source_name(source));
	else
		doctor_put(doctor, DOCTOR_OK, "tracefs", NULL, "%s can be read and written", source_name(source));
	buf_fini(&path);
}

static void look_at_parts(struct doctor *doctor, struct source *source)
{
	const struct source_part *part;

	for (size_t i = 0; (part = source_part_at(i)); i++) {
		int r = source_part_try(source, part);

		if (!r)
			doctor_put(doctor, DOCTOR_OK, part->word, NULL, "%s, for %s", part->name, part->use);
		else if (r == -ENOENT)
			doctor_put(doctor, DOCTOR_NOTE, part->word, doctor_step(doctor, "use a kernel that was built with ", part->config),
				   "not in this kernel: %s, for %s", part->name, part->use);
		else
			doctor_put(doctor, DOCTOR_NOTE, part->word, NULL, "refused here (%s): %s, for %s", strerror(-r), part->name,
				   part->use);
	}
}

/* What keeps things from coming, though all is there. */
static void look_at_state(struct doctor *doctor, struct source *source)
{
	if (first_of(source, "tracing_on") == '0')
		doctor_put(doctor, DOCTOR_NOTE, "recording", "ringside restart --kernel", "the top buffer is stopped: nothing is recorded there");
	if (source_is_kernel(source) && first_of(source, "ftrace_enabled") == '0')
		doctor_put(doctor, DOCTOR_NOTE, "functions", "sudo sysctl kernel.ftrace_enabled=1", "tracing of functions is switched off");
	if (first_of(source, "stack_tracer_enabled") == '1')
		doctor_put(doctor, DOCTOR_NOTE, "stack", "ringside stack --stop --kernel", "the stack tracer is on: each call of a function is looked at");
	if (first_of(source, "function_profile_enabled") == '1')
		doctor_put(doctor, DOCTOR_NOTE, "profile", "ringside write --kernel function_profile_enabled 0",
			   "functions are being profiled");
}

void doctor_kernel(struct doctor *doctor, struct source *source)
{
	look_at_tree(doctor, source);
	look_at_parts(doctor, source);
	look_at_state(doctor, source);
}
