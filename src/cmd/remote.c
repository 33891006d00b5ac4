/*
 * cmd/remote: memories that firmware or a hypervisor traces into: added to a tracing directory, listed, removed. What is done with them
 * then are files of the tree, remotes/NAME/.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "remote/clock.h"

#define MATCH_NS 100000000ull

static const struct opt remote_opts[] = {
	{ 0, "mem", "FILE[@OFFSET]", "the memory: a file that it is in, a dump, a device; its header is at OFFSET, or looked for" },
	{ 0, "elf", "FILE", "the firmware's ELF file: where the header is, what its events are called" },
	{ 0, NULL, NULL, NULL },
};

/* Cuts "@OFFSET" off; 1: there was one. -EINVAL. A file that there is may have an @ in its name. */
static int cut_offset(char *path, uint64_t *at)
{
	char *sign = strrchr(path, '@'), *end;

	if (!sign || strchr(sign, '/') || !access(path, F_OK))
		return 0;
	errno = 0;
	*at = strtoull(sign + 1, &end, 0);
	/* A blank or a sign would do for strtoull(). */
	if (sign[1] < '0' || sign[1] > '9' || *end || errno)
		return -EINVAL;
	*sign = '\0';
	return 1;
}

static int add(const struct opts *opts, struct control *control, struct err *err)
{
	const char *mem = opts_value(opts, "mem");
	char *path = strdup(mem);
	struct remote_place place = { .memory = path, .elf = opts_value(opts, "elf") };
	uint64_t at;
	int r = path ? cut_offset(path, &at) : err_set(err, -ENOMEM, "out of memory");

	if (r == -EINVAL)
		r = err_set(err, r, "--mem %.200s: what is behind @ is no offset", mem);
	if (r == 1)
		place.at = &at;
	if (r >= 0)
		r = remote_add(control->dir.dir, opts_arg(opts, 1), &place, err);
	free(path);
	return r;
}

static void put_events(const struct remote *remote, struct buf *out)
{
	if (remote_texts(remote)->nr)
		buf_printf(out, "  events  %" PRIu32 "\n", remote_texts(remote)->nr);
	else if (remote_server(remote))
		buf_puts(out, "  events  without names: it was brought without texts\n");
	else if (remote_elf_path(remote))
		buf_puts(out, "  events  without names: the ELF file has none. Does one of its files include define_remote_events.h, and has the\n"
			      "          header that declares them no include guard?\n");
	else
		buf_puts(out, "  events  without names: it was added without --elf\n");
}

/* Where those names came from. */
static void put_elf(const struct remote *remote, struct buf *out)
{
	if (!remote_elf_path(remote))
		return;
	buf_printf(out, "  elf     %s\n", remote_elf_path(remote));
	if (!remote_is_certain(remote))
		buf_puts(out, "          which may be another build's: not both have a build ID\n");
}

static void show(struct remote *remote, struct buf *out)
{
	const struct remote_target *target;
	struct err why = ERR_INIT;
	struct remote_clock clock;
	bool on = false, loaded;

	/* Whoever looks may find that it is gone, or another one: what is shown is as it was last seen. */
	remote_tracing_on(remote, &on, NULL);
	loaded = remote_is_loaded(remote);
	target = remote_target(remote, &why);
	buf_printf(out, "%s\n", remote_name(remote));
	if (remote_path(remote))
		buf_printf(out, "  memory  %s @%#" PRIx64 "%s\n", remote_path(remote), remote_at(remote),
			   target && !remote_is_writable(remote) ? ", can only be read" : "");
	if (remote_server(remote))
		buf_printf(out, "  served  by process %d\n", (int)remote_server(remote));
	if (!target) {
		buf_printf(out, "  state   %s\n", why.text);
		if (remote_is_gone(remote))
			buf_printf(out, "          `ringside remote remove %s` clears it away\n", remote_name(remote));
		if (remote_server(remote))
			put_events(remote, out);
		put_elf(remote, out);
		return;
	}
	buf_printf(out, "  state   %s, tracing is %s, started %" PRIu32 " time%s\n", loaded ? "loaded" : "unloaded",
		   on ? "on" : "off", target->boots, target->boots == 1 ? "" : "s");
	buf_printf(out, "  buffer  %" PRIu32 " CPU%s, %" PRIu32 " pages of %" PRIu32 " bytes each, %s%s\n", target->nr_rings,
		   target->nr_rings == 1 ? "" : "s", target->rings[0].mask + 1, target->page_size,
		   target->rings[0].discard ? "the oldest stay" : "the newest stay",
		   remote_is_full(remote) ? ", and it is full: what comes is refused" : "");
	buf_printf(out, "  words   %s-endian, %u bits\n", target->abi.big_endian ? "big" : "little", target->abi.long_size * 8u);
	put_events(remote, out);
	put_elf(remote, out);
	remote_clock_init(&clock);
	remote_clock_match(&clock, remote, MATCH_NS, false);
	buf_puts(out, "  clock   ");
	remote_clock_describe(&clock, remote_clock_error(&clock), target, out);
	buf_putc(out, '\n');
}

static int list(struct control *control, struct err *err)
{
	struct buf names = BUF_INIT, out = BUF_INIT;
	char *save, *name;
	int r = remote_list(control->dir.dir, &names, err);

	for (name = r ? NULL : strtok_r(names.data, "\n", &save); name && !r; name = strtok_r(NULL, "\n", &save)) {
		struct remote *remote;
		struct err why = ERR_INIT;

		if (remote_open(&remote, control->dir.dir, name, &why))
			buf_printf(&out, "%s\n  state   %s\n", name, why.text);
		else
			show(remote, &out);
		remote_close(remote);
	}
	if (!r)
		r = buf_failed(&out) ? err_set(err, -ENOMEM, "out of memory") : cmd_put(out.data, out.len, err);
	buf_fini(&names);
	buf_fini(&out);
	return r;
}

static int check_line(const struct opts *opts, const char *verb)
{
	bool with_place = opts_value(opts, "mem") || opts_value(opts, "elf");

	if (!strcmp(verb, "list"))
		return opts_arg(opts, 1) ? cmd_misuse(&cmd_remote, "list takes no name")
		     : with_place ? cmd_misuse(&cmd_remote, "--mem and --elf are for add") : 0;
	if (strcmp(verb, "add") && strcmp(verb, "remove"))
		return cmd_misuse(&cmd_remote, "'%.40s': it is add, list or remove", verb);
	if (!opts_arg(opts, 1))
		return cmd_misuse(&cmd_remote, "%s takes a NAME", verb);
	/* Nothing, or nothing but an offset, is no file. */
	if (!strcmp(verb, "add") && (!opts_value(opts, "mem") || strchr("@", *opts_value(opts, "mem"))))
		return cmd_misuse(&cmd_remote, "add needs --mem FILE");
	if (!strcmp(verb, "remove") && with_place)
		return cmd_misuse(&cmd_remote, "--mem and --elf are for add");
	return 0;
}

static int run(const struct opts *opts)
{
	const char *verb = opts_arg(opts, 0);
	struct control *control;
	struct err err = ERR_INIT;
	int r = check_line(opts, verb);

	if (r)
		return r;
	if (opts_value(opts, "kernel") || opts_value(opts, "tracefs"))
		r = err_set(&err, -EINVAL, "a kernel's remotes are its own, and none can be added: `ringside cat --kernel remotes` lists them, if "
			    "it has any");
	else
		r = cmd_open_directory(&control, opts, true, &err);
	if (r)
		return cmd_fail(&err);
	if (!strcmp(verb, "add"))
		r = add(opts, control, &err);
	else if (!strcmp(verb, "list"))
		r = list(control, &err);
	else
		r = remote_remove(control->dir.dir, opts_arg(opts, 1), &err);
	control_close(control);
	return r ? cmd_fail(&err) : CMD_DONE;
}

const struct cmd cmd_remote = {
	.name = "remote",
	.synopsis = "add NAME --mem FILE[@OFFSET] [--elf FILE] | list | remove NAME",
	.summary = "see inside firmware and hypervisors",
	.text = "Firmware that is built with the writer in fw/ traces into its own memory. Where that can be\n"
		"seen, in a file that a machine's RAM is in, a dump, or a device, it is added by a name, and\n"
		"remotes/NAME/ in the tree then has the files of one of the kernel's remotes:\n"
		"\n"
		"  ringside remote add board --mem /dev/shm/ram --elf board.elf\n"
		"  ringside write remotes/board/tracing_on 1\n"
		"  ringside write remotes/board/events/enable 1\n"
		"  ringside cat remotes/board/trace_pipe\n"
		"  ringside record --remote board ./program\n",
	.opts = remote_opts,
	.arg = "add|list|remove",
	.args_min = 1,
	.args_max = 2,
	.run = run,
};
