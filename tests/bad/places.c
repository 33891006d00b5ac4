/*
 * A tracing directory that cannot be one: its parent is missing, it may not be written, is somebody else's, may be written by all,
 * is a link or a file; one of its files is a pipe, a device, a socket, a directory, a link, somebody else's; its headers are of a
 * newer version, or no headers at all; it is deleted while programs run.
 */
#include "bad/bad.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

static const char *const files[] = { "control", "registry", "rings", "tables", "plans" };
#define NFILES (int)(sizeof(files) / sizeof(files[0]))
static char dir[3000];

static void path_of(char *path, size_t size, int which)
{
	snprintf(path, size, "%s/%s", dir, files[which]);
}

static void refused(const char *what, const char *names)
{
	program_runs_on(what);
	commands_behave(what, true, names);
	printf("%s\n", what);
}

static void the_directory(void)
{
	char other[3100];

	fresh_directory(dir, sizeof(dir), "missing/parent", false);
	refused("missing parent", dir);
	fresh_directory(dir, sizeof(dir), "world", true);
	CHECK(!chmod(dir, 0777), "%s", strerror(errno));
	refused("world-writable", dir);
	CHECK(!chmod(dir, 0770), "%s", strerror(errno));
	refused("group-writable", dir);
	fresh_directory(dir, sizeof(dir), "link", false);
	snprintf(other, sizeof(other), "%s-target", dir);
	CHECK(!mkdir(other, 0700) && !symlink(other, dir), "%s", strerror(errno));
	refused("a link", dir);
	fresh_directory(dir, sizeof(dir), "file", false);
	CHECK(!mknod(dir, S_IFREG | 0600, 0), "%s", strerror(errno));
	refused("a file", dir);
	fresh_directory(dir, sizeof(dir), "pipe", false);
	CHECK(!mkfifo(dir, 0600), "%s", strerror(errno));
	refused("a pipe", dir);
	/* Longer than any path may be. */
	memset(dir, 'x', sizeof(dir) - 1);
	dir[0] = '/';
	setenv("RINGSIDE_DIR", dir, 1);
	program_runs_on("a name too long");
	dir[255] = '\0';
}

static void others(void)
{
	char path[3100];

	if (geteuid()) {
		printf("left out: somebody else's directory (not root)\n");
		return;
	}
	fresh_directory(dir, sizeof(dir), "others", true);
	CHECK(!chown(dir, 12345, 12345), "%s", strerror(errno));
	refused("somebody else's", dir);
	for (int which = 0; which < NFILES; which++) {
		char name[32];

		snprintf(name, sizeof(name), "others-%s", files[which]);
		fresh_directory(dir, sizeof(dir), name, true);
		path_of(path, sizeof(path), which);
		CHECK(!chown(path, 12345, 12345), "%s", strerror(errno));
		refused(name, path);
	}
}

/* In a mount namespace of our own, a directory that nobody may write to. */
static void read_only(void)
{
	pid_t pid;

	fresh_directory(dir, sizeof(dir), "readonly", true);
	pid = fork();
	if (!pid) {
		if (geteuid()) {
			char path[3100];

			for (int which = 0; which < NFILES; which++) {
				path_of(path, sizeof(path), which);
				chmod(path, 0400);
			}
			chmod(dir, 0500);
		} else if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
			   mount(dir, dir, NULL, MS_BIND, NULL) ||
			   mount(NULL, dir, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL)) {
			printf("left out: a read-only mount: %s\n", strerror(errno));
			exit(0);
		}
		refused("read-only", dir);
		exit(0);
	}
	expect_exit(pid, 120, "read-only");
	chmod(dir, 0700);
}

static void replace_file(const char *path, int kind)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	char other[3200];
	int fd;

	CHECK(!unlink(path), "%s", strerror(errno));
	switch (kind) {
	case 0:
		CHECK(!mkfifo(path, 0600), "%s", strerror(errno));
		break;
	case 1:
		CHECK(!mkdir(path, 0700), "%s", strerror(errno));
		break;
	case 2:
		snprintf(other, sizeof(other), "%s-target", path);
		CHECK(!symlink(other, path), "%s", strerror(errno));
		break;
	case 3:
		CHECK(!mknod(path, S_IFREG | 0600, 0), "%s", strerror(errno));
		break;
	case 4:
		/* The name of a socket is short. */
		CHECK(!chdir(dir), "%s", strerror(errno));
		snprintf(name.sun_path, sizeof(name.sun_path), "%.100s", strrchr(path, '/') + 1);
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		CHECK(fd >= 0 && !bind(fd, (struct sockaddr *)&name, sizeof(name)), "%s", strerror(errno));
		close(fd);
		CHECK(!chdir("/"), "%s", strerror(errno));
		break;
	default:
		CHECK(!mknod(path, S_IFCHR | 0600, makedev(1, 5)), "%s", strerror(errno));
	}
}

static void odd_files(void)
{
	static const char *const kinds[] = { "pipe", "directory", "link", "empty", "socket", "device" };
	char path[3100], name[64];

	for (int which = 0; which < NFILES; which++)
		for (int kind = 0; kind < (geteuid() ? 5 : 6); kind++) {
			snprintf(name, sizeof(name), "%s-%s", files[which], kinds[kind]);
			fresh_directory(dir, sizeof(dir), name, true);
			path_of(path, sizeof(path), which);
			replace_file(path, kind);
			refused(name, path);
		}
}

static void patch(int which, off_t at, const void *bytes, size_t len)
{
	char path[3100];
	int fd;

	path_of(path, sizeof(path), which);
	fd = open(path, O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0 && pwrite(fd, bytes, len, at) == (ssize_t)len, "%s: %s", path, strerror(errno));
	close(fd);
}

static void headers(void)
{
	static const struct {
		const char *name;
		off_t at;
		uint64_t value;
		size_t len;
	} fields[] = {
		{ "magic", offsetof(struct segment_head, magic), 0x4141414141414141ull, 8 },
		{ "version", offsetof(struct segment_head, version), SEGMENT_VERSION + 1, 4 },
		{ "ncpu0", offsetof(struct segment_head, ncpu), 0, 4 },
		{ "ncpu", offsetof(struct segment_head, ncpu), 0xffffffff, 4 },
		{ "size", offsetof(struct segment_head, size), 1ull << 60, 8 },
	};
	char path[3100], name[64];

	for (int which = 0; which < NFILES; which++)
		for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
			snprintf(name, sizeof(name), "%s-%s", files[which], fields[i].name);
			fresh_directory(dir, sizeof(dir), name, true);
			patch(which, fields[i].at, &fields[i].value, fields[i].len);
			path_of(path, sizeof(path), which);
			refused(name, path);
		}
}

/* Deleted under a program's feet: it runs on, and whoever comes next begins anew. */
static void deleted(void)
{
	struct note_event event;
	char path[3100];

	fresh_directory(dir, sizeof(dir), "deleted", true);
	event = note_event("deleted");
	for (uint32_t i = 0; i < 1000; i++) {
		note_write(&event, 1, i, NOTE_MIN);
		if (i == 500) {
			for (int which = 0; which < NFILES; which++) {
				path_of(path, sizeof(path), which);
				CHECK(!unlink(path), "%s", strerror(errno));
			}
			CHECK(!rmdir(dir), "%s", strerror(errno));
		}
	}
	commands_behave("deleted", false, dir);
	program_runs_on("deleted");
	path_of(path, sizeof(path), 0);
	CHECK(!access(path, F_OK), "nobody made the directory anew");
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], TRACED))
		return bad_traced();
	setvbuf(stdout, NULL, _IOLBF, 0);
	command_path();
	the_directory();
	others();
	read_only();
	headers();
	odd_files();
	deleted();
	return 0;
}
