/*
 * cmd/mount: the tree as a file system.
 */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/switches.h"
#include "mount/mount.h"

static const struct opt mount_opts[] = {
	{ 0, "uid", "USER", "whose the files are, a number or a name; yours without it" },
	{ 0, "gid", "GROUP", "of which group they are, a number or a name" },
	{ 0, "mode", "MODE", "of the root directory, octal; 700 without it" },
	{ 0, "allow-other", NULL, "let other users in, as far as modes allow" },
	{ 'f', "foreground", NULL, "serve until unmounted or Ctrl-C" },
	{ 0, NULL, NULL, NULL },
};

/* All of it a number in that base, and not above `max`. */
static bool parse_number(const char *text, int base, unsigned long max, unsigned long *number)
{
	char *end;

	errno = 0;
	*number = strtoul(text, &end, base);
	return *text >= '0' && *text <= '9' && !*end && !errno && *number <= max;
}

static bool parse_user(const char *text, uid_t *uid)
{
	const struct passwd *user;
	unsigned long n;

	/* The last number means "no user" to the kernel. */
	if (parse_number(text, 10, (uid_t)-1 - 1ul, &n)) {
		*uid = (uid_t)n;
		return true;
	}
	user = getpwnam(text);
	if (user)
		*uid = user->pw_uid;
	return user;
}

static bool parse_group(const char *text, gid_t *gid)
{
	const struct group *group;
	unsigned long n;

	if (parse_number(text, 10, (gid_t)-1 - 1ul, &n)) {
		*gid = (gid_t)n;
		return true;
	}
	group = getgrnam(text);
	if (group)
		*gid = group->gr_gid;
	return group;
}

static int serve(const struct opts *opts, const struct mount_how *how)
{
	struct control *control;
	struct err err = ERR_INIT;
	int keep, r;

	r = cmd_open_directory(&control, opts, true, &err);
	if (r)
		return cmd_fail(&err);
	switches_follow(control, &keep);
	r = mount_serve(control, opts_arg(opts, 0), how, &err);
	if (keep >= 0)
		close(keep);
	control_close(control);
	return r ? cmd_fail(&err) : CMD_DONE;
}

static int run(const struct opts *opts)
{
	const char *user = opts_value(opts, "uid"), *group = opts_value(opts, "gid");
	const char *mode = opts_value(opts, "mode");
	struct mount_how how = {
		.uid = geteuid(),
		.gid = getegid(),
		.mode = 0700,
		.allow_other = opts_value(opts, "allow-other") != NULL,
		.foreground = opts_value(opts, "foreground") != NULL,
	};
	unsigned long bits;

	if (user && !parse_user(user, &how.uid))
		return cmd_misuse(&cmd_mount, "mount: --uid %s: there is no such user", user);
	if (group && !parse_group(group, &how.gid))
		return cmd_misuse(&cmd_mount, "mount: --gid %s: there is no such group", group);
	if (mode && !parse_number(mode, 8, 07777, &bits))
		return cmd_misuse(&cmd_mount, "mount: --mode %s: an octal number such as 750 is "
				  "needed", mode);
	if (mode)
		how.mode = (mode_t)bits;
	/* What runs for long keeps nothing open that somebody else waits for. */
	if (!how.foreground)
		close_range(STDERR_FILENO + 1, ~0u, 0);
	return serve(opts, &how);
}

const struct cmd cmd_mount = {
	.name = "mount",
	.synopsis = "[--uid USER] [--gid GROUP] [--mode MODE] [--allow-other] [-f] DIR",
	.summary = "mount the tracing tree as a file system",
	.text = "Mounts the tree at the directory DIR, as the kernel's tracefs is mounted, for shells and\n"
		"for programs that know tracefs. A process in the background serves it until it is\n"
		"unmounted; should it be killed, nothing but the mount is lost, and `ringside mount DIR`\n"
		"mounts it again. The tracing directory is made if there is none.\n",
	.opts = mount_opts,
	.args_min = 1,
	.args_max = 1,
	.run = run,
};
