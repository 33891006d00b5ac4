/*
 * Probes in the tree, without anybody who hits them: each file takes, shows and forgets its own kind, what is refused changes nothing,
 * and all of it is there for who opens the directory later, whatever became of the files since.
 */
#include "control/room.h"

#include <limits.h>

#include "control/plans.h"
#include "layout/probe.h"

#if defined(__x86_64__) && !defined(__ILP32__)

int probed_alpha(const char *text, int n);
int __attribute__((noinline)) probed_alpha(const char *text, int n)
{
	__asm__ volatile("" ::: "memory");
	return text[0] + n;
}

static char self[PATH_MAX];

static const struct state_probe *points(const struct control *control, size_t *n)
{
	*n = control->state.probes.len / sizeof(struct state_probe);
	return (const struct state_probe *)(const void *)control->state.probes.data;
}

static void taken(struct control *control)
{
	const struct state_probe *point;
	size_t n;

	room_add(control, "kprobe_events", "p:one probed_alpha a=%di b=$arg2:s32", 0);
	room_add(control, "kprobe_events", "r:two probed_alpha a=$retval", 0);
	room_add(control, "dynamic_events", "f:three probed_alpha", 0);
	room_add(control, "kprobe_events", "p:late nowhere.so:nothing+5", 0);
	room_expect_part(control, "kprobe_events", "p:kprobes/one probed_alpha a=%di b=$arg2:s32\nr:kprobes/two probed_alpha a=$retval\n", true);
	room_expect_part(control, "kprobe_events", "three", false);
	room_expect(control, "uprobe_events", "");
	room_expect_part(control, "dynamic_events", "f:fprobes/three probed_alpha\n", true);
	room_expect_part(control, "events/kprobes/one/format", "field:s32 b;\toffset:24;\tsize:4;\tsigned:1;", true);
	room_expect_part(control, "available_events", "kprobes:two\n", true);
	room_expect_part(control, "kprobe_profile", "  one                                                        0               0\n", true);

	CHECK(!control_refresh(control, NULL), "no state");
	point = points(control, &n);
	CHECK(n == 4, "%zu points", n);
	CHECK(point[0].flags == PROBE_QUICK && point[0].nquick == 3 && point[0].counts && point[0].event, "the first");
	CHECK(point[1].flags & PROBE_RETURNS && point[1].counts != point[0].counts, "the second");
	CHECK(point[3].offset == 5 && point[3].file, "the last");
}

static void refused(struct control *control)
{
	size_t before = control->state.nitems, n;

	room_add(control, "kprobe_events", "p probed_nothing", -EINVAL);
	room_add(control, "kprobe_events", "p probed_alpha $none", -EINVAL);
	room_expect_part(control, "error_log", "trace_kprobe: error: Invalid $-variable specified\n"
			 "  Command: p probed_alpha $none\n                          ^\n", true);
	room_add(control, "kprobe_events", "p:one probed_alpha a=%di b=$arg2:s32", -EEXIST);
	room_add(control, "kprobe_events", "p:three/x probed_alpha a=%di:symstr", -EOPNOTSUPP);
	room_add(control, "uprobe_events", "p /nonexistent:0x10", -ENOENT);
	room_add(control, "uprobe_events", "p /etc/passwd:0x10", -ENOEXEC);
	room_add(control, "uprobe_events", "p probed_alpha", -EINVAL);
	room_add(control, "kprobe_events", "s:x int a", -EINVAL);
	room_add(control, "dynamic_events", "t:x no_such_event", -ENOENT);
	room_add(control, "dynamic_events", "-:nobody", -ENOENT);
	room_add(control, "uprobe_events", "-:one", -ENOENT);
	CHECK(!control_refresh(control, NULL) && control->state.nitems == before, "something was changed");
	points(control, &n);
	CHECK(n == 4, "%zu points", n);
}

static void kept(void)
{
	struct err err = ERR_INIT;
	struct control *later;

	CHECK(!control_open(&later, NULL, false, &err), "%s", err.text);
	room_expect_part(later, "kprobe_events", "p:kprobes/one probed_alpha a=%di b=$arg2:s32\n", true);
	room_expect_part(later, "kprobe_events", "p:kprobes/late nowhere.so:nothing+5\n", true);
	control_close(later);
}

static void forgotten(struct control *control)
{
	char lines[4096] = "";

	room_write(control, "events/kprobes/one/enable", "1", 0);
	room_add(control, "kprobe_events", "-:one", -EBUSY);
	room_write(control, "kprobe_events", "", -EBUSY);
	room_expect_part(control, "kprobe_events", "late", true);
	/* Another point, and away with the first: the event stays what it was. */
	room_add(control, "kprobe_events", "p:one nowhere.so:other a=%di b=$arg2:s32", 0);
	room_add(control, "kprobe_events", "-:one probed_alpha", 0);
	room_expect(control, "events/kprobes/one/enable", "1\n");
	room_write(control, "events/kprobes/one/enable", "0", 0);
	room_write(control, "kprobe_events", "", 0);
	room_expect(control, "kprobe_events", "");
	room_expect(control, "dynamic_events", "f:fprobes/three probed_alpha\n");
	for (int i = 0; i < 20; i++)
		snprintf(lines + strlen(lines), sizeof(lines) - strlen(lines), "p:n%d probed_alpha  # one of many\n\n", i);
	room_add(control, "dynamic_events", lines, 0);
	room_expect_part(control, "kprobe_events", "p:kprobes/n19 probed_alpha\n", true);
	room_write(control, "dynamic_events", "", 0);
	room_expect(control, "dynamic_events", "");
}

/* Filters of what is removed lie before and between others of the group. */
static void group_forgotten(struct control *control)
{
	room_add(control, "kprobe_events", "p:grp/a nowhere.so:x n=%di:u64", 0);
	room_write(control, "events/grp/a/filter", "n > 1", 0);
	room_add(control, "kprobe_events", "p:grp/a nowhere.so:y n=%di:u64", 0);
	room_add(control, "kprobe_events", "p:grp/b nowhere.so:z", 0);
	room_add(control, "kprobe_events", "p:other/place nowhere.so:z", 0);
	room_add(control, "kprobe_events", "!p shop:place", -EINVAL);
	room_add(control, "kprobe_events", "-:grp/", 0);
	room_expect(control, "kprobe_events", "p:other/place nowhere.so:z\n");
	room_add(control, "kprobe_events", "!p:other/place", 0);
	room_expect(control, "kprobe_events", "");
}

int main(void)
{
	struct control *control = room_open();
	struct err err = ERR_INIT;
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	CHECK(len > 0 && probed_alpha("", 1) == 1, "who am I");
	if (control_plans_bring(control, self, &err) == -ENOSYS) {
		printf("this build knows no instructions\n");
		return 77;
	}
	CHECK(!err.code, "%s", err.text);
	taken(control);
	refused(control);
	kept();
	forgotten(control);
	group_forgotten(control);
	control_close(control);
	return 0;
}

#else

int main(void)
{
	printf("there are no probes in code on this processor\n");
	return 77;
}

#endif
