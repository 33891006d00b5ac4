/*
 * collect/compat_take: what a stock recorder sends becomes a file: its beginning, kept until it can be opened and then told to the file that
 * is made, and pages, which come by a port of each CPU: by TCP one behind the other, by UDP one in each datagram.
 *
 * What UDP loses nobody can know.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mono.h"
#include "collect/compat_local.h"
#include "dat/dat.h"
#include "decode/page.h"
#include "net/gate.h"

#define PORT_TEXT 11	/* of a vsock they are long */
/* Behind the recorder's last word. */
#define QUIET_MS 500
#define STUCK_MS 15000
#define META_MAX ((uint64_t)64 << 20)

/* ---- ports ---- */

static int make_cpus(struct compat *compat)
{
	compat->cpus = calloc(compat->nr_cpus, sizeof(*compat->cpus));
	compat->fds = calloc(2 * (size_t)compat->nr_cpus + 1, sizeof(*compat->fds));
	for (uint32_t i = 0; compat->cpus && i < compat->nr_cpus; i++)
		compat->cpus[i].door = compat->cpus[i].fd = -1;
	for (uint32_t i = 0; compat->cpus && i < compat->nr_cpus; i++)
		if (!(compat->cpus[i].page = malloc(compat->page_size)))
			return err_set(&compat->err, -ENOMEM, "out of memory");
	return compat->cpus && compat->fds ? 0 : err_set(&compat->err, -ENOMEM, "out of memory");
}

int compat_check_shape(struct compat *compat)
{
	uint32_t size = compat->page_size;

	if (!compat->nr_cpus || compat->nr_cpus >= GATE_PORTS_MAX)
		return err_set(&compat->err, -E2BIG, "%u CPUs are more than can be taken", compat->nr_cpus);
	if (size < PAGE_SIZE_MIN || size > PAGE_SIZE_MAX || size & (size - 1))
		return compat_nonsense(compat, "size of pages");
	return make_cpus(compat);
}

int compat_check_order(struct compat *compat)
{
	if (compat->abi.big_endian == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__))
		return 0;
	return err_set(&compat->err, -ENOTSUP, "recordings of machines with another order of bytes cannot be taken");
}

int compat_open_ports(struct compat *compat, char **list, size_t *len)
{
	size_t size = compat->nr_cpus * (size_t)PORT_TEXT;
	char *ports = malloc(size);

	*list = ports;
	*len = 0;
	if (!ports)
		return err_set(&compat->err, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < compat->nr_cpus; i++) {
		struct desk_ask ask = { .kind = DESK_PORT, .len = i, .wants = compat->udp };
		struct desk_answer answer;
		int fds[2], r = desk_ask(compat->line, &ask, &answer, fds, &compat->err);

		if (r)
			return r;
		if (compat->udp)
			compat->cpus[i].fd = fds[0];
		else
			compat->cpus[i].door = fds[0];
		*len += (size_t)snprintf(ports + *len, size - *len, "%u", (unsigned int)answer.at) + 1;
	}
	return 0;
}

/* ---- the file ---- */

int compat_find_file(struct compat *compat)
{
	struct desk_ask ask = { .kind = DESK_FILE, .len = compat->nr_cpus };
	struct desk_answer answer;
	int fds[2], r;

	if (getrandom(ask.recording, sizeof(ask.recording), 0) != (ssize_t)sizeof(ask.recording))
		return err_set(&compat->err, -EIO, "no number for the recording");
	r = desk_ask(compat->line, &ask, &answer, fds, &compat->err);
	if (r)
		return r;
	compat->file = fds[0];
	compat->meta = fds[1];
	snprintf(compat->name, sizeof(compat->name), "%s", answer.file);
	return 0;
}

int compat_take_meta(struct compat *compat, const void *bytes, size_t len)
{
	if (compat->meta_len + len > META_MAX)
		return err_set(&compat->err, -E2BIG, "it tells more than %llu MiB beside its pages", (unsigned long long)META_MAX >> 20);
	if (pwrite(compat->meta, bytes, len, (off_t)compat->meta_len) != (ssize_t)len)
		return err_set(&compat->err, -errno, "cannot write %.200s: %s", compat->name, strerror(errno));
	compat->meta_len += len;
	return 0;
}

/* The clock that is in brackets. */
static void find_clock(const struct dat *dat, char clock[32])
{
	const char *text = dat_info(dat)->clock, *open = text ? strchr(text, '[') : NULL;

	snprintf(clock, 32, "%.*s", open ? (int)strcspn(open + 1, "]") : text ? (int)strcspn(text, " \n") : 0, open ? open + 1 : text ? text : "");
}

int compat_copy_meta(struct compat *compat, const struct dat *dat)
{
	const struct dat_option *option;
	struct dat_part part;
	int r = 0;

	for (int id = DAT_HEADER_INFO; !r && id <= DAT_CMDLINES; id++) {
		r = dat_part_open(dat, (enum dat_id)id, &part, &compat->err);
		if (r == -ENOENT) {
			compat->err = (struct err)ERR_INIT;
			r = 0;
			continue;
		}
		if (!r)
			r = dat_live_section(compat->live, (enum dat_id)id, part.data, part.len);
		dat_part_close(&part);
	}
	for (size_t i = 0; !r && (option = dat_option(dat, i)); i++)
		if (!dat_write_owns(option->id) && !(option->id >= DAT_HEADER_INFO && option->id <= DAT_CMDLINES))
			r = dat_live_option(compat->live, option->id, option->data, option->len);
	return r ? r : dat_live_publish(compat->live);
}

/* Its beginning is whole. */
int compat_begin_file(struct compat *compat)
{
	char clock[32];
	struct dat_write_buffer top = { .name = "", .clock = clock };
	struct dat_live_how how = { .page_size = compat->page_size, .nr_cpus = compat->nr_cpus, .buffers = &top, .nr_buffers = 1 };
	struct dat *dat;
	int r = dat_open_fd(&dat, compat->meta, compat->name, &compat->err);

	compat->meta = -1;
	if (r)
		return r;
	find_clock(dat, clock);
	how.long_size = dat_info(dat)->user_long;
	compat->abi = dat_info(dat)->abi;
	r = compat_check_order(compat);
	if (!r)
		r = dat_live_adopt(&compat->live, compat->file, compat->name, &how, &compat->err);
	compat->file = -1;
	if (!r && (r = compat_copy_meta(compat, dat)) && !dat_live_failed(compat->live, &compat->err))
		err_set(&compat->err, r, "%s", strerror(-r));
	dat_close(dat);
	return r;
}

/* ---- pages ---- */

/* Stock recorders tell no sums. */
static void count(struct compat *compat, const uint8_t *page)
{
	struct page_event event;
	struct page_walk walk;

	if (page_walk_init_abi(&walk, page, compat->page_size, &compat->abi))
		return;
	while (page_walk_next(&walk, &event) > 0)
		compat->events++;
	if (walk.lost == PAGE_LOST_UNKNOWN)
		compat->lost_more = true;
	else
		compat->lost += walk.lost;
}

static int put_page(struct compat *compat, uint32_t cpu)
{
	struct iovec iov = { compat->cpus[cpu].page, compat->page_size };
	int r = dat_live_write(compat->live, 0, cpu, &iov, 1);

	if (!r)
		r = dat_live_accept(compat->live, 0, cpu);
	compat->cpus[cpu].have = 0;
	if (!r)
		count(compat, compat->cpus[cpu].page);
	return r && !dat_live_failed(compat->live, &compat->err) ? err_set(&compat->err, r, "%s", strerror(-r)) : r;
}

/* Whole pages of what is there. 1: there was something. */
int compat_take_pages(struct compat *compat, uint32_t i)
{
	struct compat_cpu *cpu = &compat->cpus[i];
	int some = 0;

	for (int n = 0; n < 64 && cpu->fd >= 0; n++) {
		size_t room = compat->page_size - cpu->have;
		ssize_t got = compat->fifo ? read(cpu->fd, cpu->page + cpu->have, room) : recv(cpu->fd, cpu->page + cpu->have, room, MSG_DONTWAIT);
		int r = 0;

		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			break;
		if (got <= 0 && !compat->udp && !compat->fifo) {
			close(cpu->fd);
			cpu->fd = -1;
		}
		if (got <= 0)
			break;
		some = 1;
		cpu->have += (uint32_t)got;
		/* A datagram is a page, or part of one that has no more. */
		if (compat->udp && cpu->have < compat->page_size) {
			memset(cpu->page + cpu->have, 0, compat->page_size - cpu->have);
			cpu->have = compat->page_size;
		}
		if (cpu->have == compat->page_size)
			r = put_page(compat, i);
		if (r)
			return r;
	}
	return some;
}

int compat_take_doors(struct compat *compat)
{
	for (uint32_t i = 0; i < compat->nr_cpus; i++) {
		struct compat_cpu *cpu = &compat->cpus[i];

		if (cpu->door < 0)
			continue;
		cpu->fd = accept4(cpu->door, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (cpu->fd < 0)
			continue;
		close(cpu->door);
		cpu->door = -1;
	}
	return 0;
}

struct desk_ask compat_about(const struct compat *compat, enum desk_kind kind)
{
	return (struct desk_ask){
		.kind = kind, .bytes = compat->live ? dat_live_bytes(compat->live) : 0, .error = UINT64_MAX, .events = compat->events,
		.lost = compat->lost, .lost_more = compat->lost_more, .wants = kind == DESK_NOTE,
	};
}

void compat_note(struct compat *compat, enum desk_kind kind)
{
	struct desk_ask ask = compat_about(compat, kind);
	struct desk_answer answer;

	desk_ask(compat->line, &ask, kind == DESK_ENDED ? &answer : NULL, NULL, NULL);
}

/* Its last word was said, and nobody sends pages any more; what hangs up in the end is waited for longer. */
bool compat_is_over(const struct compat *compat, int64_t moved_at)
{
	bool fed = false;

	for (uint32_t i = 0; i < compat->nr_cpus; i++)
		fed |= compat->cpus[i].fd >= 0;
	return compat->closed && (!fed || mono_ms() - moved_at > (compat->udp || compat->fifo ? QUIET_MS : STUCK_MS));
}

void compat_fini(struct compat *compat)
{
	dat_live_close(compat->live);
	for (uint32_t i = 0; compat->cpus && i < compat->nr_cpus; i++)
		free(compat->cpus[i].page);
	free(compat->cpus);
	free(compat->fds);
	buf_fini(&compat->in);
}
