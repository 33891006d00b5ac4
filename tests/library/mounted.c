/*
 * The library on a mount of a tracing directory: switched through the mount, a program's records
 * come out of it in order, and read as those of the directory itself do; a marker written there
 * has our pid.
 */
#include "library/lines.h"

static char mount_point[4096];

static int run(const char *verb)
{
	pid_t pid = fork();
	int status;

	CHECK(pid >= 0, "fork");
	if (!pid) {
		execl(getenv("RINGSIDE"), "ringside", verb, mount_point, NULL);
		_exit(127);
	}
	CHECK(waitpid(pid, &status, 0) == pid, "wait");
	return status;
}

static void unmount(void)
{
	run("umount");
}

static void all(struct ringside_control *tree, struct ringside_control *mounted, const char *name)
{
	struct ringside_control_instance *at = NULL, *there = NULL;
	struct ringside_control_records *records;
	int n = 0;

	if (name) {
		FINE(mounted, ringside_control_instance_create(mounted, name, &there));
		FINE(tree, ringside_control_instance_find(tree, name, &at));
	}
	FINE(mounted, ringside_control_event_enable(mounted, there, "lab", "*"));
	CHECK(ringside_control_event_is_enabled(tree, at, "lab", NULL) == RINGSIDE_CONTROL_ON, "on");
	lab_run("20");
	FINE(mounted, ringside_control_mark(mounted, there, "by mount"));
	nlines = 0;
	FINE(tree, ringside_control_records_open(&records, tree, at, RINGSIDE_CONTROL_ANY_CPU,
						 RINGSIDE_CONTROL_PEEK));
	CHECK(!ringside_control_records_each(records, 0, keep_line, NULL), "peek");
	ringside_control_records_close(records);
	CHECK(nlines == 22 && strstr(lines[21], "by mount"), "%d", nlines);

	FINE(mounted, ringside_control_records_open(&records, mounted, there, RINGSIDE_CONTROL_ANY_CPU, 0));
	CHECK(!ringside_control_records_each(records, 0, same_line, &n) && n == nlines, "%d: %s", n,
	      ringside_control_records_error(records));
	ringside_control_records_close(records);
	for (int i = 0; i < nlines; i++)
		free(lines[i]);
	FINE(mounted, ringside_control_event_disable(mounted, there, "lab", NULL));
	if (name)
		FINE(mounted, ringside_control_instance_destroy(mounted, there));
	ringside_control_instance_free(at);
	ringside_control_instance_free(there);
}

int main(void)
{
	struct ringside_control *tree, *mounted;

	if (access("/dev/fuse", R_OK | W_OK)) {
		printf("/dev/fuse cannot be used here\n");
		return 77;
	}
	tree = lab_open();
	snprintf(mount_point, sizeof(mount_point), "%s/mount", getenv("RINGSIDE_SCRATCH"));
	CHECK(!mkdir(mount_point, 0700), "%s", mount_point);
	if (run("mount")) {
		printf("nothing can be mounted here\n");
		return 77;
	}
	atexit(unmount);
	/* Somebody has to have brought the events: a tree of files knows no others. */
	lab_run("1");
	FINE(mounted, ringside_control_open_tracefs(&mounted, mount_point));
	all(tree, mounted, NULL);
	all(tree, mounted, "side");
	ringside_control_close(mounted);
	ringside_control_close(tree);
	return 0;
}
