/*
 * doctor/machine: the doctor's look at the kernel and what it offers.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <mntent.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "doctor/doctor.h"
#include "layout/control.h"
#include "layout/registry.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define MOUNT_WAIT_MS 1000

extern const unsigned int __rseq_size __attribute__((weak));

static void look_at_kernel(struct doctor *doctor)
{
	long page = sysconf(_SC_PAGESIZE), cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct utsname name;
	bool secured;
	void *probe;

	if (uname(&name)) {
		doctor_put(doctor, DOCTOR_NOTE, "kernel", NULL, "uname: %s", strerror(errno));
		return;
	}
	probe = mmap(NULL, (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	secured = probe != MAP_FAILED && !madvise(probe, (size_t)page, MADV_POPULATE_WRITE);
	if (probe != MAP_FAILED)
		munmap(probe, (size_t)page);
	if (!secured)
		doctor_put(doctor, DOCTOR_NOTE, "kernel", "use Linux 5.14 or newer",
			   "%s %s on %s cannot promise memory: a full file system ends a trace",
			   name.sysname, name.release, name.machine);
	else if (page != 4096)
		doctor_put(doctor, DOCTOR_NOTE, "kernel", NULL,
			   "%s %s on %s, %ld CPUs, pages of %ld bytes: children that are forked past libc "
			   "are not told apart", name.sysname, name.release, name.machine, cpus, page);
	else
		doctor_put(doctor, DOCTOR_OK, "kernel", NULL, "%s %s on %s, %ld CPU%s", name.sysname,
			   name.release, name.machine, cpus, cpus == 1 ? "" : "s");
}

static bool glibc_registers_rseq(void)
{
	return &__rseq_size && __rseq_size;
}

/* 0: the kernel takes a registration, from glibc at this thread's start or from us, as the runtime would. */
static int try_rseq(void)
{
	static __thread struct {
		uint32_t words[8];
	} area __attribute__((aligned(32)));
#if defined(__aarch64__)
	const uint32_t signature = 0xd428bc00u;
#else
	const uint32_t signature = 0x53053053u;
#endif

	if (syscall(SYS_rseq, &area, sizeof(area), 0, signature)) {
		/* Another area is registered for this thread: that is glibc's. */
		if (glibc_registers_rseq() && (errno == EINVAL || errno == EBUSY))
			return 0;
		return -errno;
	}
	return syscall(SYS_rseq, &area, sizeof(area), 1, signature) ? -errno : 0;
}

static void look_at_rseq(struct doctor *doctor)
{
	static const char without[] = "events take the overflow rings, which are slower and may drop";
	const char *tunables = getenv("GLIBC_TUNABLES");
	int r = try_rseq();

	if (r == -ENOSYS)
		doctor_put(doctor, DOCTOR_NOTE, "rseq", "use Linux 4.18 or newer, built with CONFIG_RSEQ",
			   "the kernel has no restartable sequences: %s", without);
	else if (r)
		doctor_put(doctor, DOCTOR_NOTE, "rseq", "allow the system call rseq in the sandbox around this",
			   "the kernel refuses restartable sequences (%s): %s", strerror(-r), without);
	else if (tunables && strstr(tunables, "glibc.pthread.rseq=0"))
		doctor_put(doctor, DOCTOR_OK, "rseq", NULL,
			   "the kernel has it; glibc's is off by GLIBC_TUNABLES, so programs register their own");
	else
		doctor_put(doctor, DOCTOR_OK, "rseq", NULL, "the kernel has it; %s registers it",
			   glibc_registers_rseq() ? "glibc" : "the runtime");
}

static void look_at_membarrier(struct doctor *doctor)
{
	const long wanted = MEMBARRIER_CMD_GLOBAL_EXPEDITED | MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ;
	long has = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);

	if (has < 0)
		doctor_put(doctor, DOCTOR_NOTE, "membarrier", "allow the system call membarrier, or use Linux 5.10",
			   "%s: readers look each 100 ms instead of being woken", strerror(errno));
	else if ((has & wanted) != wanted)
		doctor_put(doctor, DOCTOR_NOTE, "membarrier", "use Linux 5.10 or newer",
			   "the kernel has only some of it: changes take longer to hold");
	else
		doctor_put(doctor, DOCTOR_OK, "membarrier", NULL, "the kernel has it");
}

#if defined(__x86_64__) || defined(__i386__)
#define CLOCKSOURCE "/sys/devices/system/clocksource/clocksource0/"

/* The first line of a small file; "" when it cannot be had. */
static void read_line(const char *path, char *line, int size)
{
	FILE *file = fopen(path, "re");

	if (!file || !fgets(line, size, file))
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	if (file)
		fclose(file);
}

/* As control/clock.c decides it. */
static void look_at_clock(struct doctor *doctor)
{
	static const char cost[] = "each event asks the kernel for the time, some 20 ns more";
	unsigned int a, b, c, d = 0;
	char source[64], others[256];
	int how = PR_TSC_ENABLE;

	if (!prctl(PR_GET_TSC, &how) && how == PR_TSC_SIGSEGV) {
		doctor_put(doctor, DOCTOR_BAD, "clock", "allow it with prctl(PR_SET_TSC, PR_TSC_ENABLE)",
			   "reading the CPU's counter is forbidden here: programs do not attach");
		return;
	}
	read_line(CLOCKSOURCE "current_clocksource", source, sizeof(source));
	read_line(CLOCKSOURCE "available_clocksource", others, sizeof(others));
	if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d & 1u << 8))
		doctor_put(doctor, DOCTOR_NOTE, "clock", NULL, "the CPU's counter does not run evenly: %s", cost);
	else if (!source[0])
		doctor_put(doctor, DOCTOR_NOTE, "clock", "mount /sys",
			   "the kernel does not tell its clock source: %s", cost);
	else if (strcmp(source, "tsc"))
		doctor_put(doctor, DOCTOR_NOTE, "clock",
			   strstr(others, "tsc") ? "echo tsc | sudo tee " CLOCKSOURCE "current_clocksource" : NULL,
			   "the kernel's clock source is %s, not tsc: %s", source, cost);
	else
		doctor_put(doctor, DOCTOR_OK, "clock", NULL, "the CPU's counter, which the kernel trusts (tsc)");
}
#else
static void look_at_clock(struct doctor *doctor)
{
	doctor_put(doctor, DOCTOR_OK, "clock", NULL, "the CPU's counter");
}
#endif

/* What the runtime and the making of a directory ask of the limits that programs inherit from here. */
static void look_at_limits(struct doctor *doctor)
{
	const uint64_t map = 4 * (CONTROL_SIZE_MAX + REGISTRY_SIZE + (32ull << 20));
	struct rlimit space, file;

	if (getrlimit(RLIMIT_AS, &space) || getrlimit(RLIMIT_FSIZE, &file))
		doctor_put(doctor, DOCTOR_NOTE, "limits", NULL, "cannot be read: %s", strerror(errno));
	else if (space.rlim_cur != RLIM_INFINITY && space.rlim_cur < map)
		doctor_put(doctor, DOCTOR_BAD, "limits", "ulimit -v unlimited",
			   "programs may map %llu MiB and do not attach with less than %llu",
			   (unsigned long long)space.rlim_cur >> 20, (unsigned long long)map >> 20);
	else if (file.rlim_cur != RLIM_INFINITY && file.rlim_cur < REGISTRY_SIZE)
		doctor_put(doctor, DOCTOR_BAD, "limits", "ulimit -f unlimited",
			   "files may have %llu MiB: a tracing directory needs %llu to be made",
			   (unsigned long long)file.rlim_cur >> 20, (unsigned long long)REGISTRY_SIZE >> 20);
	else
		doctor_put(doctor, DOCTOR_OK, "limits", NULL,
			   "on memory and the size of files are not in the way");
}

static bool find_tool(const char *name, char *path, size_t size, struct stat *st)
{
	const char *dirs = getenv("PATH");

	while (dirs && *dirs) {
		size_t len = strcspn(dirs, ":");

		snprintf(path, size, "%.*s/%s", (int)len, dirs, name);
		if (len && !access(path, X_OK) && !stat(path, st) && S_ISREG(st->st_mode))
			return true;
		dirs += len + (dirs[len] == ':');
	}
	return false;
}

static void look_at_fuse(struct doctor *doctor)
{
	bool root = !geteuid();
	char path[4096];
	struct stat st;
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	int error = errno;

	if (fd >= 0)
		close(fd);
	if (fd < 0 && error == ENOENT)
		doctor_put(doctor, DOCTOR_NOTE, "fuse", "sudo modprobe fuse",
			   "there is no /dev/fuse: the tree of files cannot be mounted");
	else if (fd < 0)
		doctor_put(doctor, DOCTOR_NOTE, "fuse", error == EACCES ? "sudo chmod 666 /dev/fuse" : NULL,
			   "/dev/fuse: %s: the tree of files cannot be mounted", strerror(error));
	else if (!find_tool("fusermount3", path, sizeof(path), &st) && !root)
		doctor_put(doctor, DOCTOR_NOTE, "fuse", "sudo apt-get install fuse3",
			   "there is no fusermount3 in PATH: the tree of files cannot be mounted");
	else if (!root && !(st.st_mode & S_ISUID))
		doctor_put(doctor, DOCTOR_NOTE, "fuse", doctor_step(doctor, "sudo chmod u+s ", path),
			   "%s is not set-user-ID: the tree of files cannot be mounted", path);
	else
		doctor_put(doctor, DOCTOR_OK, "fuse", NULL, "/dev/fuse can be opened: the tree of files can "
			   "be mounted");
}

/* A server may hang, and whoever asks it with it: 0 or -errno from a child, -ETIME when it does not answer. */
static int ask_mount(const char *path)
{
	struct timespec pause = { 0, 5000000 };
	pid_t child = fork();
	int status;

	if (!child) {
		struct statx stx;

		/* What the kernel remembers would also be told of a server that is gone. */
		_exit(statx(AT_FDCWD, path, AT_STATX_FORCE_SYNC, STATX_MODE, &stx) ? errno & 0x7f : 0);
	}
	if (child < 0)
		return -errno;
	for (int ms = 0; ms < MOUNT_WAIT_MS; ms += 5) {
		pid_t r = waitpid(child, &status, WNOHANG);

		if (r < 0)
			return -errno;
		if (r)
			return WIFEXITED(status) ? -WEXITSTATUS(status) : -EIO;
		nanosleep(&pause, NULL);
	}
	kill(child, SIGKILL);
	waitpid(child, &status, WNOHANG);
	return -ETIME;
}

/* 0 when it answers, else -errno and a line of its own; -EACCES: another user's, which is none of our business. */
static int look_at_mount(struct doctor *doctor, const struct mntent *mount)
{
	int r = ask_mount(mount->mnt_dir);

	if (r == -ENOTCONN)
		doctor_put(doctor, DOCTOR_NOTE, "mounts", doctor_step(doctor, "fusermount3 -u ", mount->mnt_dir),
			   "the server of %s is gone", mount->mnt_dir);
	else if (r == -ETIME)
		doctor_put(doctor, DOCTOR_NOTE, "mounts", doctor_step(doctor, "fusermount3 -uz ", mount->mnt_dir),
			   "the server of %s does not answer within %d s", mount->mnt_dir,
			   MOUNT_WAIT_MS / 1000);
	else if (r && r != -EACCES)
		doctor_put(doctor, DOCTOR_NOTE, "mounts", NULL, "%s: %s", mount->mnt_dir, strerror(-r));
	return r;
}

static void look_at_tracefs(struct doctor *doctor, const char *dir)
{
	char path[PATH_MAX + 32];
	int fd, error;

	if (!dir[0]) {
		bool known = !access("/sys/kernel/tracing", F_OK);

		doctor_put(doctor, DOCTOR_NOTE, "tracefs",
			   known ? "sudo mount -t tracefs nodev /sys/kernel/tracing" : NULL,
			   known ? "the kernel's is not mounted: its events are out of reach"
				 : "this kernel has none: no events of the kernel");
		return;
	}
	snprintf(path, sizeof(path), "%s/available_events", dir);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	error = errno;
	if (fd >= 0)
		close(fd);
	snprintf(path, sizeof(path), "%s/tracing_on", dir);
	if (fd < 0)
		doctor_put(doctor, DOCTOR_NOTE, "tracefs", "ask for the kernel's events as root",
			   "the kernel's is at %s, which you may not read (%s)", dir, strerror(error));
	else if (access(path, W_OK))
		doctor_put(doctor, DOCTOR_NOTE, "tracefs", "switch the kernel's events as root",
			   "the kernel's is at %s, to be read, not written", dir);
	else
		doctor_put(doctor, DOCTOR_OK, "tracefs", NULL, "the kernel's is at %s, to be read and written",
			   dir);
}

/* One walk for both: mounts of our tree call themselves tracefs, too. */
static void look_at_mounts(struct doctor *doctor)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	char text[3 * PATH_MAX], kernel[PATH_MAX] = "";
	int answer = 0;
	struct mntent mount;

	if (!mounts) {
		doctor_put(doctor, DOCTOR_NOTE, "mounts", "mount /proc", "/proc/self/mounts: %s",
			   strerror(errno));
		return;
	}
	while (getmntent_r(mounts, &mount, text, sizeof(text))) {
		if (!strcmp(mount.mnt_type, "tracefs") && !kernel[0])
			snprintf(kernel, sizeof(kernel), "%s", mount.mnt_dir);
		if (!strcmp(mount.mnt_fsname, "tracefs") && !strncmp(mount.mnt_type, "fuse", 4))
			answer += !look_at_mount(doctor, &mount);
	}
	endmntent(mounts);
	if (answer)
		doctor_put(doctor, DOCTOR_OK, "mounts", NULL, "%d of the tree of files answer%s", answer,
			   answer == 1 ? "s" : "");
	look_at_tracefs(doctor, kernel);
}

void doctor_machine(struct doctor *doctor)
{
	look_at_kernel(doctor);
	look_at_rseq(doctor);
	look_at_membarrier(doctor);
	look_at_clock(doctor);
	look_at_limits(doctor);
	look_at_fuse(doctor);
	look_at_mounts(doctor);
}
