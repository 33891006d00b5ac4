/*
 * collect/compat_old: version 1 of trace-cmd's protocol: numbers and options as text, then the beginning of a file of version 6 until it
 * hangs up, which is the end of the recording, too. Nothing says where that beginning ends: so it is tried when nothing came for a while,
 * and once more in the end.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mono.h"
#include "collect/compat_local.h"
#include "dat/dat.h"

#define OPTIONS_MAX 16
#define OPTION_MAX 64
/* After so long it may be all. */
#define REST_MS 1000
/* Up to the size of longs: magic, "tracing6", order of bytes. */
#define HEAD_LEN 14

/* 0 when it is none. */
static uint32_t number(const char *text)
{
	return strspn(text, "0123456789") == strlen(text) && strlen(text) < 10 ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

static int take_options(struct compat *compat)
{
	char text[16];
	int r = compat_await_string(compat, text, sizeof(text));
	uint32_t n = r ? 0 : number(text);

	if (n > OPTIONS_MAX)
		return compat_nonsense(compat, "list of options");
	for (uint32_t i = 0; !r && i < n; i++) {
		uint32_t size;

		r = compat_await_string(compat, text, sizeof(text));
		size = r ? 0 : number(text);
		if (size > OPTION_MAX)
			return compat_nonsense(compat, "list of options");
		if (!r)
			r = compat_await(compat, size);
		if (r)
			return r;
		compat->udp &= !compat_wants_stream(compat->in.data, size);
		compat_drop(compat, size);
	}
	return r;
}

int compat_greet_old(struct compat *compat, const char *cpus)
{
	char text[16], *ports = NULL;
	size_t size;
	int r;

	compat->old = compat->udp = true;
	compat->nr_cpus = number(cpus);
	if (!compat->nr_cpus)
		return compat_nonsense(compat, "first word");
	r = compat_await_string(compat, text, sizeof(text));
	if (r)
		return r;
	compat->page_size = number(text);
	r = compat_check_shape(compat);
	if (!r)
		r = take_options(compat);
	if (!r)
		r = compat_find_file(compat);
	if (!r)
		r = compat_open_ports(compat, &ports, &size);
	/* These have commas between. */
	for (size_t i = 0; !r && i + 1 < size; i++)
		if (!ports[i])
			ports[i] = ',';
	if (!r)
		r = compat_put(compat, ports, size);
	free(ports);
	return r;
}

/* What a file of version 6 has behind its beginning. An older one says nothing of names of tasks. */
static int open_with_end(const struct compat *compat, bool has_tasks, struct dat **dat, struct err *err)
{
	const uint64_t none[2] = { 0, 0 };
	const uint16_t end = 0;
	struct buf rest = BUF_INIT;
	int r;

	if (!has_tasks)
		buf_add(&rest, none, sizeof(none[0]));
	buf_add(&rest, &compat->nr_cpus, sizeof(compat->nr_cpus));
	buf_add(&rest, "options  ", 10);
	buf_add(&rest, &end, sizeof(end));
	buf_add(&rest, "flyrecord", 10);
	for (uint32_t i = 0; i < compat->nr_cpus; i++)
		buf_add(&rest, none, sizeof(none));
	if (buf_failed(&rest))
		r = -ENOMEM;
	else if (pwrite(compat->meta, rest.data, rest.len, (off_t)compat->meta_len) != (ssize_t)rest.len)
		r = -EIO;
	else
		r = ftruncate(compat->meta, (off_t)(compat->meta_len + rest.len)) ? -errno : 0;
	buf_fini(&rest);
	return r ? err_set(err, r, "cannot write %.200s: %s", compat->name, strerror(-r)) : dat_open_fd(dat, dup(compat->meta), compat->name, err);
}

int compat_tell_old(struct compat *compat)
{
	struct err err = ERR_INIT;
	struct dat *dat;
	int r;

	if (!compat->live || compat->told_len == compat->meta_len)
		return 0;
	compat->told_len = compat->meta_len;
	r = open_with_end(compat, true, &dat, &err);
	if (r)
		r = open_with_end(compat, false, &dat, &compat->err);
	if (r)
		return r;
	r = compat_copy_meta(compat, dat);
	dat_close(dat);
	return r;
}

/* As soon as it says what kind of machine it is; before that no page is taken. */
static int begin_file(struct compat *compat)
{
	struct dat_write_buffer top = { .name = "" };
	struct dat_live_how how = { .page_size = compat->page_size, .nr_cpus = compat->nr_cpus, .buffers = &top, .nr_buffers = 1 };
	uint8_t head[HEAD_LEN];
	int r;

	if (compat->live || compat->meta_len < HEAD_LEN)
		return 0;
	if (pread(compat->meta, head, sizeof(head), 0) != (ssize_t)sizeof(head) || memcmp(head, "\027\010Dtracing6", 12) ||
	    (head[13] != 4 && head[13] != 8))
		return compat_nonsense(compat, "beginning of a file");
	compat->abi = (struct decode_abi){ .big_endian = head[12], .long_size = head[13] };
	r = compat_check_order(compat);
	if (r)
		return r;
	how.long_size = head[13];
	r = dat_live_adopt(&compat->live, compat->file, compat->name, &how, &compat->err);
	compat->file = -1;
	return r;
}

int compat_take_old(struct compat *compat)
{
	int got = compat_fill(compat), r = 0;

	if (compat->in.len) {
		r = compat_take_meta(compat, compat->in.data, compat->in.len);
		compat->in.len = 0;
		compat->meta_at = mono_ms();
	}
	if (!r)
		r = begin_file(compat);
	if (r || got >= 0)
		return r;
	compat->closed = true;
	compat->err = (struct err)ERR_INIT;
	return 0;
}

void compat_look_old(struct compat *compat)
{
	struct err err = compat->err;

	if (!compat->old || mono_ms() - compat->meta_at < REST_MS)
		return;
	/* It was not all yet. */
	if (compat_tell_old(compat) && !dat_live_failed(compat->live, NULL))
		compat->err = err;
}
