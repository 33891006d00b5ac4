/*
 * record/old: see old.h.
 */
#include "record/old.h"

#include <string.h>

#include "dat/copy.h"

static int copy_all(const struct dat_copy *copy, const struct dat *dat, struct dat_write *write, struct err *err)
{
	uint32_t left_out;
	int r = dat_copy_sections(dat, write, &left_out, err);

	if (!r)
		r = dat_copy_options(dat, write);
	if (!r)
		r = dat_copy_buffers(copy, dat, write, err);
	if (!r)
		return dat_write_finish(write, err);
	dat_write_failed(write, err);
	return err_set(err, r, "%s", strerror(-r));
}

int record_old_make(const char *path, struct err *err)
{
	struct dat_write *write;
	struct dat_copy copy;
	struct dat *dat;
	int r = dat_open(&dat, path, err);

	if (r)
		return r;
	r = dat_copy_init(&copy, dat, err);
	if (!r) {
		copy.how.version = 6;
		r = dat_write_open(&write, path, &copy.how, err);
		if (!r) {
			r = copy_all(&copy, dat, write, err);
			dat_write_close(write);
		}
		dat_copy_fini(&copy);
	}
	dat_close(dat);
	return r;
}
