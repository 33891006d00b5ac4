/*
 * record/dest_file: a file here. See dest.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "record/dest.h"

struct here {
	struct dest dest;
	struct dat_live *live;
};

static struct dat_live *live_of(const struct dest *dest)
{
	return ((const struct here *)dest)->live;
}

static int section(struct dest *dest, enum dat_id id, const void *payload, size_t len)
{
	return dat_live_section(live_of(dest), id, payload, len);
}

static int option(struct dest *dest, enum dat_id id, const void *value, size_t len)
{
	return dat_live_option(live_of(dest), id, value, len);
}

static int publish(struct dest *dest)
{
	return dat_live_publish(live_of(dest));
}

static int write_pages(struct dest *dest, size_t buffer, uint32_t cpu, const struct iovec *pages, int n)
{
	return dat_live_write(live_of(dest), buffer, cpu, pages, n);
}

static int splice_pages(struct dest *dest, size_t buffer, uint32_t cpu, int pipe, size_t len)
{
	return dat_live_splice(live_of(dest), buffer, cpu, pipe, len);
}

static int accept_pages(struct dest *dest, size_t buffer, uint32_t cpu, bool open)
{
	return open ? dat_live_accept_open(live_of(dest), buffer, cpu) : dat_live_accept(live_of(dest), buffer, cpu);
}

static uint64_t bytes(const struct dest *dest)
{
	return dat_live_bytes(live_of(dest));
}

static uint64_t room(const struct dest *dest)
{
	(void)dest;
	return UINT64_MAX;
}

static void wait_for_room(struct dest *dest, int ms)
{
	(void)dest;
	(void)ms;
}

static void tell(struct dest *dest, const struct dest_sums *sums)
{
	(void)dest;
	(void)sums;
}

static int failed(const struct dest *dest, struct err *err)
{
	return dat_live_failed(live_of(dest), err);
}

static int finish(struct dest *dest, const struct dest_sums *sums, struct err *err)
{
	(void)sums;
	return dat_live_finish(live_of(dest), err);
}

static void close_file(struct dest *dest)
{
	dat_live_close(live_of(dest));
	free(dest);
}

static const struct dest_kind here = {
	section, option, publish, write_pages, splice_pages, accept_pages, bytes, room, wait_for_room, tell, failed, finish, close_file,
};

int dest_file_open(struct dest **out, const char *path, const struct dat_live_how *how, struct err *err)
{
	struct here *dest = calloc(1, sizeof(*dest));
	int r = dest ? dat_live_open(&dest->live, path, how, err) : err_set(err, -ENOMEM, "out of memory");

	*out = NULL;
	if (r) {
		free(dest);
		return r;
	}
	dest->dest.kind = &here;
	*out = &dest->dest;
	return 0;
}
