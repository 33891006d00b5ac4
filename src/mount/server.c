/*
 * mount/server: the life of a server: mounted, in the background, serving, unmounted.
 *
 *   parent: look at the place -> fork -> wait for a word -> return
 *   server:                          \-> mount -> serve, "ready" once -> unmounted, or told to end -> return
 *
 * What goes wrong before it is ready is the word that the parent returns.
 */
#include "mount/server.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mount/mount.h"
#include "mount/overhear.h"
#include "mount/wire.h"

/* Requests may wait for the directory's lock, each on a thread: others still get through. */
#define THREADS_MAX 64
#define THREADS_IDLE 4

/* The server leaves this directory, and opens the tracing directory anew for each file. */
static int make_absolute(struct control *control, struct err *err)
{
	char path[PATH_MAX];

	if (!realpath(control->dir.path, path))
		return err_set(err, -errno, "%s: %s", control->dir.path, strerror(errno));
	strcpy(control->dir.path, path);
	return 0;
}

static int refuse_place(const char *place, const struct control *control, const char *path,
			struct err *err)
{
	if (!inode_path_below(control->dir.path, strcmp(path, "/") ? path : ""))
		return 0;
	return err_set(err, -EINVAL, "%s: holds the tracing directory %s, which would be hidden: "
		       "choose an empty directory", place, control->dir.path);
}

/* An absolute path at which nothing of ours is mounted any more. */
static int prepare_place(char *path, size_t size, const char *place, const struct control *control,
			 struct err *err)
{
	struct place_identity identity;
	struct stat st;
	int r;

	r = place_resolve(path, size, place, err);
	if (r)
		return r;
	if (place_is_ours(path)) {
		if (place_ask(path, &identity) != -ENOTCONN)
			return err_set(err, -EBUSY, "%s: a tree of Ringside is mounted there "
				       "already: `ringside umount %s` takes it away", place, place);
		r = place_unmount(path, true, err);
		if (r)
			return r;
	}
	if (stat(path, &st))
		return err_set(err, -errno, "%s: %s", place, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return err_set(err, -ENOTDIR, "%s: is no directory, and only on one can a tree be "
			       "mounted", place);
	return refuse_place(place, control, path, err);
}

static int open_controls(struct server *server, struct control *control, struct err *err)
{
	struct stat dir;
	int r;

	if (fstat(control->dir.dir, &dir))
		return err_set(err, -errno, "%s: %s", control->dir.path, strerror(errno));
	server->identity.dev = dir.st_dev;
	server->identity.ino = dir.st_ino;
	/* A shell that has the runtime, and waits for what it writes here, is one of those who are told. */
	control->aside = true;
	r = control_again(&server->look, control, err);
	if (!r)
		r = control_again(&server->change, control, err);
	return r;
}

static int server_init(struct server *server, struct control *control, const struct mount_how *how,
		       struct err *err)
{
	int r;

	memset(server, 0, sizeof(*server));
	server->ready = -1;
	pthread_mutex_init(&server->look_lock, NULL);
	pthread_mutex_init(&server->change_lock, NULL);
	pthread_mutex_init(&server->listings_lock, NULL);
	handles_init(&server->handles);
	r = inodes_init(&server->inodes, how->uid, how->gid, how->mode);
	if (!r)
		r = cpus_init(&server->cpus);
	if (r)
		return err_set(err, r, "out of memory");
	return open_controls(server, control, err);
}

static void server_fini(struct server *server)
{
	if (server->session)
		fuse_session_destroy(server->session);
	control_close(server->look);
	control_close(server->change);
	if (server->cpus.workers)
		cpus_fini(&server->cpus);
	if (server->inodes.slots)
		inodes_fini(&server->inodes);
	handles_fini(&server->handles);
	if (server->backings.device > 0)
		backings_fini(&server->backings);
	if (server->ready >= 0)
		close(server->ready);
}

static int start_session(struct server *server, const struct mount_how *how, struct err *err)
{
	char options[128];
	char *argv[] = { (char *)"ringside", (char *)"-o", options, NULL };
	struct fuse_args args = FUSE_ARGS_INIT(3, argv);
	struct overhear ear;
	char said[256];

	snprintf(options, sizeof(options),
		 "fsname=" PLACE_SOURCE ",subtype=" PLACE_SUBTYPE ",default_permissions,noexec%s",
		 how->allow_other ? ",allow_other" : "");
	overhear_begin(&ear);
	server->session = fuse_session_new(&args, &server_ops, sizeof(server_ops), server);
	overhear_end(&ear, said, sizeof(said));
	fuse_opt_free_args(&args);
	if (!server->session)
		return err_set(err, -EINVAL, "libfuse refuses to serve: %s", said);
	return 0;
}

static int mount_session(struct server *server, const char *place, const char *path, struct err *err)
{
	struct overhear ear;
	char said[256];
	int r;

	if (access("/dev/fuse", F_OK))
		return err_set(err, -ENODEV, "/dev/fuse is missing: `modprobe fuse` as root, or give "
			       "it to this container");
	overhear_begin(&ear);
	r = fuse_session_mount(server->session, path);
	overhear_end(&ear, said, sizeof(said));
	if (r)
		return err_set(err, -EPERM, "%s: cannot be mounted on: %s", place,
			       *said ? said : "libfuse does not say why");
	backings_init(&server->backings, server->session);
	r = wire_init(server->session);
	if (r)
		fuse_session_unmount(server->session);
	return r ? err_set(err, r, "out of memory") : 0;
}

/* One word to whoever waits. */
static void server_tell(struct server *server, const struct err *err)
{
	if (server->ready < 0)
		return;
	/* A pipe takes this much at once. Who waits may have been killed; the mount is there all the same. */
	if (write(server->ready, err, sizeof(*err)) < 0)
		errno = 0;
	close(server->ready);
	server->ready = -1;
}

void server_is_ready(struct server *server)
{
	static const struct err none = ERR_INIT;

	server_tell(server, &none);
}

static void on_kick(int number)
{
	(void)number;
}

static void catch_signals(const struct mount_how *how)
{
	/* Without SA_RESTART: a wait ends. */
	struct sigaction kick = { .sa_handler = on_kick }, ignore = { .sa_handler = SIG_IGN };

	sigaction(HANDLE_KICK, &kick, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
	if (!how->foreground)
		sigaction(SIGHUP, &ignore, NULL);
}

/* Until it is unmounted or told to end. SIGINT, SIGTERM and SIGHUP are for the thread that runs this. */
static int run_loop(struct server *server, const struct mount_how *how, struct err *err)
{
	struct fuse_loop_config *config = fuse_loop_cfg_create();
	int r;

	if (!config)
		return err_set(err, -ENOMEM, "out of memory");
	fuse_loop_cfg_set_max_threads(config, THREADS_MAX);
	fuse_loop_cfg_set_idle_threads(config, THREADS_IDLE);
	catch_signals(how);
	server->identity.pid = (uint64_t)getpid();
	r = fuse_set_signal_handlers(server->session);
	if (!r) {
		r = fuse_session_loop_mt(server->session, config);
		fuse_remove_signal_handlers(server->session);
	}
	fuse_loop_cfg_destroy(config);
	/* Workers still use what is open. */
	cpus_fini(&server->cpus);
	server_close_all(server);
	/* A positive number is the signal that ended it. */
	return r < 0 ? err_set(err, r, "the server cannot run: %s", strerror(-r)) : 0;
}

/* Into a session of its own, where no terminal reaches it. */
static int settle_in_background(struct err *err)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	bool done = null >= 0 && setsid() >= 0 && !chdir("/");

	for (int fd = 0; done && fd <= 2; fd++)
		done = dup2(null, fd) >= 0;
	if (!done)
		return err_set(err, -errno, "the server cannot go into the background: %s",
			       strerror(errno));
	close(null);
	return 0;
}

/* All of a server's life; `ready` is the pipe to whoever waits for it, or -1. */
static int serve(struct control *control, const char *place, const char *path,
		 const struct mount_how *how, int ready, struct err *err)
{
	struct server server;
	int r;

	r = server_init(&server, control, how, err);
	server.ready = ready;
	if (!r)
		r = start_session(&server, how, err);
	if (!r)
		r = mount_session(&server, place, path, err);
	if (!r) {
		if (!how->foreground)
			r = settle_in_background(err);
		if (!r)
			r = run_loop(&server, how, err);
		fuse_session_unmount(server.session);
	}
	if (r)
		server_tell(&server, err);
	server_fini(&server);
	return r;
}

/* What the server says when it is ready, or why it is not. */
static int await(int pipe, struct err *err)
{
	struct err said;
	ssize_t n;

	do
		n = read(pipe, &said, sizeof(said));
	while (n < 0 && errno == EINTR);
	close(pipe);
	if (n != (ssize_t)sizeof(said))
		return err_set(err, -EIO, "the server ended before the tree could be used");
	return said.code ? err_set(err, said.code, "%s", said.text) : 0;
}

int mount_serve(struct control *control, const char *place, const struct mount_how *how,
		struct err *err)
{
	char path[PATH_MAX];
	int ends[2], r;
	pid_t pid;

	r = make_absolute(control, err);
	if (!r)
		r = prepare_place(path, sizeof(path), place, control, err);
	if (r)
		return r;
	if (how->foreground)
		return serve(control, place, path, how, -1, err);
	if (pipe2(ends, O_CLOEXEC))
		return err_set(err, -errno, "no pipe: %s", strerror(errno));
	pid = fork();
	if (!pid) {
		close(ends[0]);
		/* The parent says what went wrong. */
		serve(control, place, path, how, ends[1], err);
		return 0;
	}
	close(ends[1]);
	if (pid > 0)
		return await(ends[0], err);
	r = err_set(err, -errno, "no process for the server: %s", strerror(errno));
	close(ends[0]);
	return r;
}
