/*
 * A file system that is full: when the directory is to be made, when a program registers its events, when a ring is to get its
 * memory with the first event on a CPU, and when the tool wants to change something. On small file systems of our own, in a mount
 * namespace of our own.
 */
#include "bad/bad.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

static char mount_point[3000], dir[3100];

static void mount_small(const char *name, unsigned kib)
{
	char options[64];

	snprintf(mount_point, sizeof(mount_point), "%s/%s", getenv("RINGSIDE_SCRATCH"), name);
	snprintf(options, sizeof(options), "size=%uk,mode=700", kib);
	CHECK(!mkdir(mount_point, 0700) && !mount("none", mount_point, "tmpfs", 0, options), "%s", strerror(errno));
	snprintf(dir, sizeof(dir), "%s/trace", mount_point);
	setenv("RINGSIDE_DIR", dir, 1);
}

/* Takes all that is left, or all but `pages`. */
static void fill_up(unsigned pages)
{
	static char page[4096];
	char path[3200];
	int fd;

	snprintf(path, sizeof(path), "%s/filler", mount_point);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	CHECK(fd >= 0, "%s", strerror(errno));
	while (write(fd, page, sizeof(page)) == (ssize_t)sizeof(page))
		;
	if (pages) {
		off_t size = lseek(fd, 0, SEEK_END) - (off_t)pages * 4096;

		CHECK(!ftruncate(fd, size > 0 ? size : 0), "%s", strerror(errno));
	}
	close(fd);
}

static void done(const char *what)
{
	printf("%s\n", what);
	/* Programs that are still to end keep it busy: it goes with the namespace. */
	umount2(mount_point, MNT_DETACH);
}

static void at_creation(void)
{
	static const unsigned sizes[] = { 4, 8, 12, 16, 20, 32 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		char name[32];

		snprintf(name, sizeof(name), "creation%u", sizes[i]);
		mount_small(name, sizes[i]);
		program_runs_on(name);
		commands_behave(name, false, dir);
		program_runs_on(name);
		done(name);
	}
}

static void at_registration(void)
{
	for (unsigned pages = 0; pages < 6; pages++) {
		char name[32];

		snprintf(name, sizeof(name), "registration%u", pages);
		mount_small(name, 4096);
		/* The directory is there, nobody has brought anything. */
		control_close(tool_open());
		fill_up(pages);
		program_runs_on(name);
		commands_behave(name, false, dir);
		done(name);
	}
}

static void at_first_event(void)
{
	for (unsigned pages = 0; pages < 80; pages += 13) {
		struct control *control;
		char name[32];

		snprintf(name, sizeof(name), "event%u", pages);
		mount_small(name, 4096);
		control = tool_start(32);
		/* Known, so that only rings need memory from here on. */
		fill_up(8);
		program_runs_on(name);
		fill_up(pages);
		program_runs_on(name);
		commands_behave(name, false, dir);
		program_runs_on(name);
		control_close(control);
		done(name);
	}
}

/* The first event on a CPU finds no memory for its ring: counted, not fatal, and errno is left alone. */
static void counted(void)
{
	struct note_event event = { 0, &runtime_hint_off };
	struct control *control;
	uint64_t lost;

	mount_small("counted", 8192);
	control = tool_start(64);
	/* This program began elsewhere: join here. */
	CHECK(!runtime_attach(dir), "cannot attach");
	CHECK(!note_intern(&event, "test", "full") && *event.hint, "the event is not on");
	fill_up(0);
	for (uint32_t i = 0; i < 100; i++) {
		errno = 4711;
		note_write(&event, 1, i, NOTE_MIN);
		CHECK(errno == 4711, "errno is %d", errno);
	}
	lost = unread_now(control);
	CHECK(lost == 100, "R6: %llu of 100 events are accounted for", (unsigned long long)lost);
	control_close(control);
	done("counted");
}

extern const int ringside_no_attach;
const int ringside_no_attach = 1;

static int traced(void)
{
	runtime_attach(getenv("RINGSIDE_DIR"));
	return bad_traced();
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], TRACED))
		return traced();
	command_path();
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		skip("needs a mount namespace of its own: not root");
	setvbuf(stdout, NULL, _IOLBF, 0);
	at_creation();
	at_registration();
	at_first_event();
	counted();
	return 0;
}
