/*
 * cmd/files: see files.h.
 */
#include "cmd/files.h"

#include <errno.h>
#include <string.h>

#include "cmd/cmd.h"

int files_open(struct dat **out, const char *path, struct err *err)
{
	const char *warning;
	int r = dat_open(out, path, err);

	for (size_t i = 0; !r && (warning = dat_warning(*out, i)); i++)
		cmd_say("%s", warning);
	return r;
}

int files_copy_sections(const struct dat *dat, struct dat_write *write, const char *path,
			struct err *err)
{
	uint32_t left_out;
	int r = dat_copy_sections(dat, write, &left_out, err);

	if (r)
		return r;
	if (left_out >> DAT_BTF & 1)
		cmd_say("%s: left out: types of the kernel (BTF), for which a file without "
			"compression has no place", path);
	if (left_out >> DAT_MODULES & 1)
		cmd_say("%s: left out: the kernel's modules, for which a file without "
			"compression has no place", path);
	return 0;
}

int files_copy_meta(const struct dat *dat, struct dat_write *write, const char *path,
		    struct err *err)
{
	int r = files_copy_sections(dat, write, path, err);

	return r ? r : dat_copy_options(dat, write);
}

int files_finish(struct dat_write *write, int r, struct err *err)
{
	if (!r)
		r = dat_write_finish(write, err);
	else
		dat_write_failed(write, err);
	dat_write_close(write);
	return r ? err_set(err, r, "%s", strerror(-r)) : 0;
}
