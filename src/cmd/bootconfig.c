/*
 * cmd/bootconfig: a bootconfig at the end of an initrd: attached, removed, shown; as the kernel's own tool does it, byte for byte.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "boot/config.h"
#include "boot/initrd.h"
#include "cmd/cmd.h"

static const struct opt bootconfig_opts[] = {
	{ 'a', "add", "PROFILE", "attach this file, instead of what is there" },
	{ 'd', "delete", NULL, "remove what is there" },
	{ 'l', "list", NULL, "show it as a list of whole keys" },
	{ 'e', "initrd", "INITRD", "the image; the same as naming it alone" },
	{ 0, NULL, NULL, NULL },
};

/* A text that a kernel would take, or words with the place. */
static int parse(struct boot_config **config, const char *name, const struct buf *text, struct err *err)
{
	unsigned int line, column;
	int r = boot_config_parse(config, text->data ? text->data : "", text->len, true, err);

	if (r && err->pos >= 0) {
		boot_text_place(text->data ? text->data : "", text->len, err->pos, &line, &column);
		err_prefix(err, "%s:%u:%u: ", name, line, column);
	}
	return r;
}

static int open_image(const char *path, int flags, struct err *err)
{
	int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK);

	return fd < 0 ? err_set(err, -errno, "%s: %s", path, strerror(errno)) : fd;
}

/* What is attached, or what the file itself is. */
static int load(const char *path, struct buf *text, struct err *err)
{
	int fd = open_image(path, O_RDONLY, err), r;
	off_t size;

	if (fd < 0)
		return fd;
	r = boot_initrd_read(fd, text, &size, err);
	close(fd);
	if (r < 0)
		err_prefix(err, "%s: ", path);
	if (r)
		return r < 0 ? r : 0;
	if (size <= BOOT_SIZE_MAX)
		r = cmd_read(path, text, err);
	if (!r && (size > BOOT_SIZE_MAX || memchr(text->data, '\0', text->len)))
		r = err_set(err, -ENOENT, "%s: no bootconfig is attached to it", path);
	return r;
}

static int show(const char *path, bool list, struct err *err)
{
	struct buf text = BUF_INIT, out = BUF_INIT;
	struct boot_config *config = NULL;
	int r = load(path, &text, err);

	/* An empty one has nothing to show. */
	if (!r && text.len)
		r = parse(&config, path, &text, err);
	if (!r && config && list)
		boot_config_list(config, &out);
	else if (!r && config)
		boot_config_show(config, &out);
	if (!r)
		r = buf_failed(&out) ? err_set(err, -ENOMEM, "out of memory") : cmd_put(out.data, out.len, err);
	boot_config_free(config);
	buf_fini(&out);
	buf_fini(&text);
	return r;
}

static int write_image(const char *path, const char *text, size_t len, struct err *err)
{
	int fd = open_image(path, O_RDWR, err), r;

	if (fd < 0)
		return fd;
	r = boot_initrd_write(fd, text, len, err);
	if (r)
		err_prefix(err, "%s: ", path);
	close(fd);
	return r;
}

static int attach(const char *path, const char *name, struct err *err)
{
	struct buf text = BUF_INIT, out = BUF_INIT;
	struct boot_config *config = NULL;
	int r = cmd_read(name, &text, err);

	if (!r && memchr(text.data, '\0', text.len))
		r = err_set(err, -EINVAL, "%s: is no text: it has a NUL in it", name);
	if (!r)
		r = parse(&config, name, &text, err);
	if (!r)
		r = write_image(path, text.data, text.len, err);
	if (!r) {
		buf_printf(&out, "Apply %s to %s\n\tNumber of nodes: %u\n\tSize: %zu bytes\n\tChecksum: %u\n", name, path, config->nodes,
			   text.len + 1, boot_initrd_sum(text.data, text.len));
		r = buf_failed(&out) ? err_set(err, -ENOMEM, "out of memory") : cmd_put(out.data, out.len, err);
	}
	boot_config_free(config);
	buf_fini(&out);
	buf_fini(&text);
	return r;
}

static int run(const struct opts *opts)
{
	const char *add = opts_value(opts, "add"), *delete = opts_value(opts, "delete"), *list = opts_value(opts, "list");
	const char *named = opts_value(opts, "initrd"), *path = named ? named : opts_arg(opts, 0);
	struct err err = ERR_INIT;
	int r;

	if (!!add + !!delete + !!list > 1)
		return cmd_misuse(&cmd_bootconfig, "bootconfig: one of -a, -d and -l");
	if (!path || (named && opts_arg(opts, 0)))
		return cmd_misuse(&cmd_bootconfig, "bootconfig: which image?");
	if (add)
		r = attach(path, add, &err);
	else if (delete)
		r = write_image(path, NULL, 0, &err);
	else
		r = show(path, list, &err);
	return r ? cmd_fail(&err) : CMD_DONE;
}

const struct cmd cmd_bootconfig = {
	.name = "bootconfig",
	.synopsis = "[-a FILE | -d | -l] INITRD",
	.summary = "attach a start-up profile to an initrd",
	.text = "Attaches FILE to an initrd, where the kernel finds it when `bootconfig` is on its command\n"
		"line, removes it, or shows what is attached; of a file that is no initrd, shows what it\n"
		"says. A FILE that the kernel would not take is refused, with its line and column.\n",
	.opts = bootconfig_opts,
	.arg = "INITRD",
	.args_min = 0,
	.args_max = 1,
	.run = run,
};
