/*
 * collect/compat: see compat.h and layout/tracecmd.h.
 *
 *	a file's beginning comes first: it is kept until it can be opened, and told to the file that is made
 *	pages come beside it, of each CPU by a port of its own: by TCP one behind the other, by UDP one in each datagram
 *
 * What UDP loses nobody can know.
 */
#include "collect/compat.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mono.h"
#include "collect/compat_local.h"
#include "dat/dat.h"
#include "layout/page.h"

#define WORDS_MS 10000
#define CPUS_MAX 1024u
#define META_MAX ((uint64_t)64 << 20)
/* Behind the recorder's last word. */
#define QUIET_MS 500
#define NOTE_MS 1000

int compat_nonsense(struct compat *compat, const char *what)
{
	return err_set(&compat->err, -EPROTO, "trace-cmd's %s makes no sense", what);
}

/* ---- words ---- */

int compat_put(struct compat *compat, const void *bytes, size_t len)
{
	const uint8_t *from = bytes;
	int64_t until = mono_ms() + WORDS_MS;

	while (len && mono_ms() < until) {
		struct pollfd wait = { .fd = compat->fd, .events = POLLOUT };
		ssize_t n = write(compat->fd, from, len);

		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return err_set(&compat->err, -errno, "%s", strerror(errno));
		if (n <= 0) {
			poll(&wait, 1, 100);
			continue;
		}
		from += n;
		len -= (size_t)n;
	}
	return len ? err_set(&compat->err, -ETIMEDOUT, "it does not listen") : 0;
}

/* What has come: 1, 0 nothing now, -ECONNRESET at the end. */
int compat_fill(struct compat *compat)
{
	char *room = buf_room(&compat->in, TRACECMD_MSG_MAX);
	ssize_t n = room ? read(compat->fd, room, TRACECMD_MSG_MAX) : -1;

	if (!room)
		return err_set(&compat->err, -ENOMEM, "out of memory");
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0)
		return err_set(&compat->err, n ? -errno : -ECONNRESET, "%s", n ? strerror(errno) : "it has hung up");
	compat->in.len += (size_t)n;
	return 1;
}

/* So many bytes, waiting for them. */
int compat_await(struct compat *compat, size_t len)
{
	int64_t until = mono_ms() + WORDS_MS;
	int r = 1;

	while (r >= 0 && compat->in.len < len) {
		struct pollfd wait = { .fd = compat->fd, .events = POLLIN };
		int64_t left = until - mono_ms();

		if (left <= 0)
			return err_set(&compat->err, -ETIMEDOUT, "nothing was heard for %d seconds", WORDS_MS / 1000);
		poll(&wait, 1, (int)left);
		r = compat_fill(compat);
	}
	return r < 0 ? r : 0;
}

void compat_drop(struct compat *compat, size_t len)
{
	memmove(compat->in.data, compat->in.data + len, compat->in.len - len);
	compat->in.len -= len;
}

/* One of its strings, which ends with a NUL. */
static int await_string(struct compat *compat, char *text, size_t size)
{
	size_t len = 0;
	int r;

	for (;;) {
		r = compat_await(compat, len + 1);
		if (r)
			return r;
		if (!compat->in.data[len])
			break;
		if (++len == size)
			return compat_nonsense(compat, "first word");
	}
	memcpy(text, compat->in.data, len + 1);
	compat_drop(compat, len + 1);
	return 0;
}

/* ---- ports ---- */

static int open_ports(struct compat *compat, char *ports, size_t size)
{
	size_t len = 0;

	compat->cpus = calloc(compat->nr_cpus, sizeof(*compat->cpus));
	compat->fds = calloc(2 * compat->nr_cpus + 1, sizeof(*compat->fds));
	if (!compat->cpus || !compat->fds)
		return err_set(&compat->err, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < compat->nr_cpus; i++)
		compat->cpus[i].door = compat->cpus[i].fd = -1;
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
		compat->cpus[i].page = malloc(compat->page_size);
		if (!compat->cpus[i].page)
			return err_set(&compat->err, -ENOMEM, "out of memory");
		len += (size_t)snprintf(ports + len, size - len, "%u", (unsigned int)answer.at) + 1;
	}
	return (int)len;
}

int compat_check_shape(struct compat *compat)
{
	uint32_t size = compat->page_size;

	if (!compat->nr_cpus || compat->nr_cpus > CPUS_MAX)
		return err_set(&compat->err, -E2BIG, "%u CPUs are more than can be taken", compat->nr_cpus);
	if (size < PAGE_SIZE_MIN || size > PAGE_SIZE_MAX || size & (size - 1))
		return compat_nonsense(compat, "size of pages");
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

static int copy_meta(struct compat *compat, const struct dat *dat)
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

	if (r)
		return r;
	find_clock(dat, clock);
	how.long_size = dat_info(dat)->user_long;
	if (dat_info(dat)->abi.big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__))
		r = err_set(&compat->err, -ENOTSUP, "recordings of machines with another order of bytes cannot be taken");
	if (!r)
		r = dat_live_adopt(&compat->live, compat->file, compat->name, &how, &compat->err);
	compat->file = -1;
	if (!r && (r = copy_meta(compat, dat)) && !dat_live_failed(compat->live, &compat->err))
		err_set(&compat->err, r, "%s", strerror(-r));
	dat_close(dat);
	return r;
}

/* ---- pages ---- */

static int put_page(struct compat *compat, uint32_t cpu)
{
	struct iovec iov = { compat->cpus[cpu].page, compat->page_size };
	int r = dat_live_write(compat->live, 0, cpu, &iov, 1);

	if (!r)
		r = dat_live_accept(compat->live, 0, cpu);
	compat->cpus[cpu].have = 0;
	compat->pages++;
	return r && !dat_live_failed(compat->live, &compat->err) ? err_set(&compat->err, r, "%s", strerror(-r)) : r;
}

/* Whole pages of what is there. 1: there was something. */
int compat_take_pages(struct compat *compat, uint32_t i)
{
	struct compat_cpu *cpu = &compat->cpus[i];
	int some = 0;

	for (int n = 0; n < 64 && cpu->fd >= 0; n++) {
		ssize_t got = recv(cpu->fd, cpu->page + cpu->have, compat->page_size - cpu->have, MSG_DONTWAIT);
		int r = 0;

		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			break;
		if (got <= 0 && !compat->udp) {
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

static int take_doors(struct compat *compat)
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

/* ---- messages ---- */

int compat_say(struct compat *compat, enum tracecmd_msg cmd, const void *own, uint32_t own_len, const void *rest, uint32_t len)
{
	struct tracecmd_head head = {
		.size = htobe32((uint32_t)sizeof(head) + own_len + len), .cmd = htobe32(cmd), .cmd_size = htobe32(own_len),
	};
	int r = compat_put(compat, &head, sizeof(head));

	if (!r && own_len)
		r = compat_put(compat, own, own_len);
	return !r && len ? compat_put(compat, rest, len) : r;
}

/* A message that is whole: 1; 0: not yet. */
int compat_next(struct compat *compat, struct tracecmd_head *head)
{
	if (compat->in.len < sizeof(*head))
		return 0;
	memcpy(head, compat->in.data, sizeof(*head));
	head->size = be32toh(head->size);
	head->cmd = be32toh(head->cmd);
	head->cmd_size = be32toh(head->cmd_size);
	if (head->size < sizeof(*head) || head->size > TRACECMD_MSG_MAX || head->cmd_size > head->size - sizeof(*head))
		return compat_nonsense(compat, "message");
	return compat->in.len >= head->size;
}

/* The options of TINIT, each with its NUL. */
static bool wants_tcp(const char *at, size_t len)
{
	while (len) {
		size_t word = strnlen(at, len);

		if (word == 3 && !strncasecmp(at, "tcp", 3))
			return true;
		word += word < len;
		at += word;
		len -= word;
	}
	return false;
}

static int tinit(struct compat *compat, const struct tracecmd_head *head)
{
	struct tracecmd_tinit init;
	struct tracecmd_rinit answer;
	char *ports;
	int r;

	if (compat->cpus || head->cmd_size < sizeof(init))
		return compat_nonsense(compat, "shape");
	memcpy(&init, compat->in.data + sizeof(*head), sizeof(init));
	compat->nr_cpus = be32toh(init.cpus);
	compat->page_size = be32toh(init.page_size);
	compat->udp = !wants_tcp(compat->in.data + sizeof(*head) + head->cmd_size, head->size - sizeof(*head) - head->cmd_size);
	r = compat_check_shape(compat);
	if (!r)
		r = compat_find_file(compat);
	ports = malloc(compat->nr_cpus * 6ul + 1);
	if (!r)
		r = ports ? open_ports(compat, ports, compat->nr_cpus * 6ul + 1) : -ENOMEM;
	answer.cpus = htobe32(compat->nr_cpus);
	if (r >= 0)
		r = compat_say(compat, TRACECMD_RINIT, &answer, sizeof(answer), ports, (uint32_t)r);
	free(ports);
	return r;
}

static int take_message(struct compat *compat, const struct tracecmd_head *head)
{
	const char *rest = compat->in.data + sizeof(*head) + head->cmd_size;
	size_t len = head->size - sizeof(*head) - head->cmd_size;

	switch (head->cmd) {
	case TRACECMD_TINIT:
		return tinit(compat, head);
	case TRACECMD_SEND_DATA:
		return compat->cpus && !compat->live ? compat_take_meta(compat, rest, len) : compat_nonsense(compat, "data");
	case TRACECMD_FIN_DATA:
		return compat->cpus && !compat->live ? compat_begin_file(compat) : compat_nonsense(compat, "data");
	case TRACECMD_CLOSE_RESP:
		compat->closed = true;
		return 0;
	case TRACECMD_CLOSE:
		compat->closed = true;
		return compat->live ? 0 : compat_nonsense(compat, "last word");
	default:
		return compat_say(compat, TRACECMD_NOT_SUPP, NULL, 0, NULL, 0);
	}
}

static int take_messages(struct compat *compat)
{
	struct tracecmd_head head;
	int r = 0, got = compat_fill(compat);

	while (!r && !compat->closed && (r = compat_next(compat, &head)) > 0) {
		r = take_message(compat, &head);
		compat_drop(compat, head.size);
	}
	if (r)
		return r;
	/* A recorder that ends without a word has ended all the same. */
	if (got == -ECONNRESET && compat->live) {
		compat->closed = true;
		compat->err = (struct err)ERR_INIT;
		return 0;
	}
	return got < 0 ? got : 0;
}

/* Of old: all that comes is the file's beginning, up to the end of the recording. */
static int take_old(struct compat *compat)
{
	int got = compat_fill(compat), r = 0;

	if (compat->in.len) {
		r = compat_take_meta(compat, compat->in.data, compat->in.len);
		compat->in.len = 0;
	}
	if (r || got >= 0)
		return r;
	compat->closed = true;
	compat->err = (struct err)ERR_INIT;
	return 0;
}

/* ---- all of it ---- */

void compat_note(struct compat *compat, enum desk_kind kind)
{
	struct desk_ask ask = { .kind = kind, .bytes = compat->live ? dat_live_bytes(compat->live) : 0, .error = UINT64_MAX };
	struct desk_answer answer;

	desk_ask(compat->line, &ask, kind == DESK_ENDED ? &answer : NULL, NULL, NULL);
}

/* Is there anybody who may still send pages? */
bool compat_is_fed(const struct compat *compat)
{
	for (uint32_t i = 0; i < compat->nr_cpus; i++)
		if (compat->cpus[i].fd >= 0)
			return true;
	return false;
}

int compat_look(struct compat *compat, int ms)
{
	struct pollfd alone = { .fd = compat->fd, .events = POLLIN }, *fds = compat->fds ? compat->fds : &alone;
	nfds_t n = 1;
	int some = 0, r = 0;

	fds[0] = (struct pollfd){ .fd = compat->closed ? -1 : compat->fd, .events = POLLIN };
	for (uint32_t i = 0; compat->live && i < compat->nr_cpus; i++) {
		fds[n++] = (struct pollfd){ .fd = compat->cpus[i].door, .events = POLLIN };
		fds[n++] = (struct pollfd){ .fd = compat->cpus[i].fd, .events = POLLIN };
	}
	poll(fds, n, ms);
	if (!compat->closed && fds[0].revents)
		r = compat->old ? take_old(compat) : take_messages(compat);
	if (!r && compat->live)
		r = take_doors(compat);
	for (uint32_t i = 0; !r && compat->live && i < compat->nr_cpus; i++) {
		int got = compat_take_pages(compat, i);

		some |= got > 0;
		r = got < 0 ? got : 0;
	}
	return r ? r : some;
}

static int take_all(struct compat *compat)
{
	int64_t noted = 0, moved = mono_ms(), now;
	int r = 0;

	while (r >= 0) {
		r = compat_look(compat, compat->closed ? 50 : 500);
		now = mono_ms();
		if (r > 0 || !compat->closed)
			moved = now;
		if (compat->closed && (!compat_is_fed(compat) || now - moved > QUIET_MS))
			return 0;
		if (compat->live && now - noted > NOTE_MS) {
			compat_note(compat, DESK_NOTE);
			noted = now;
		}
	}
	return r;
}

/* Numbers, options, and then the beginning of a file of version 6 until it hangs up, which is the end of the recording, too. */
static int greet_old(struct compat *compat, const char *cpus)
{
	struct dat_write_buffer top = { .name = "" };
	struct dat_live_how how = { .nr_buffers = 1, .buffers = &top };
	char text[16], *ports;
	unsigned long options;
	int r = await_string(compat, text, sizeof(text));

	compat->old = true;
	how.nr_cpus = compat->nr_cpus = (uint32_t)strtoul(cpus, NULL, 10);
	how.page_size = compat->page_size = (uint32_t)strtoul(text, NULL, 10);
	compat->udp = true;
	if (!r)
		r = await_string(compat, text, sizeof(text));
	options = strtoul(text, NULL, 10);
	for (unsigned long i = 0; !r && i < options; i++) {
		size_t size;

		r = i < 16 ? await_string(compat, text, sizeof(text)) : compat_nonsense(compat, "list of options");
		size = strtoul(text, NULL, 10);
		if (!r && size > 64)
			r = compat_nonsense(compat, "list of options");
		if (!r)
			r = compat_await(compat, size);
		if (r)
			return r;
		compat->udp &= !wants_tcp(compat->in.data, size);
		compat_drop(compat, size);
	}
	if (!r)
		r = compat_check_shape(compat);
	if (!r)
		r = compat_find_file(compat);
	if (!r)
		r = dat_live_adopt(&compat->live, compat->file, compat->name, &how, &compat->err);
	compat->file = -1;
	ports = malloc(compat->nr_cpus * 6ul + 1);
	if (!r)
		r = ports ? open_ports(compat, ports, compat->nr_cpus * 6ul + 1) : -ENOMEM;
	/* These have commas between. */
	for (int i = 0; i < r - 1; i++)
		if (!ports[i])
			ports[i] = ',';
	if (r > 0)
		r = compat_put(compat, ports, (size_t)r);
	free(ports);
	return r;
}

/* What a file of version 6 has behind its beginning, so that it can be opened. */
static int end_old(struct compat *compat)
{
	uint64_t none[2] = { 0, 0 };
	struct dat *dat;
	uint16_t end = 0;
	int r = compat_take_meta(compat, &compat->nr_cpus, sizeof(compat->nr_cpus));

	if (!r)
		r = compat_take_meta(compat, "options  ", 10);
	if (!r)
		r = compat_take_meta(compat, &end, sizeof(end));
	if (!r)
		r = compat_take_meta(compat, "flyrecord", 10);
	for (uint32_t i = 0; !r && i < compat->nr_cpus; i++)
		r = compat_take_meta(compat, none, sizeof(none));
	if (!r)
		r = dat_open_fd(&dat, compat->meta, compat->name, &compat->err);
	if (r)
		return r;
	r = copy_meta(compat, dat);
	dat_close(dat);
	return r;
}

static int begin(struct compat *compat)
{
	struct desk_ask ask = { .kind = DESK_WHO, .wants = WIRE_RECORDS };
	struct desk_answer answer;
	char text[16];
	int r = desk_ask(compat->line, &ask, &answer, NULL, &compat->err);

	if (!r)
		r = compat_put(compat, TRACECMD_HELLO, strlen(TRACECMD_HELLO));
	if (!r)
		r = await_string(compat, text, sizeof(text));
	if (!r && strcmp(text, TRACECMD_V3_ASK))
		return greet_old(compat, text);
	if (!r)
		r = compat_put(compat, TRACECMD_V3, sizeof(TRACECMD_V3));
	if (!r)
		r = compat_await(compat, sizeof(TRACECMD_V3_MAGIC));
	if (!r && memcmp(compat->in.data, TRACECMD_V3_MAGIC, sizeof(TRACECMD_V3_MAGIC)))
		r = compat_nonsense(compat, "magic word");
	if (r)
		return r;
	compat_drop(compat, sizeof(TRACECMD_V3_MAGIC));
	return compat_put(compat, TRACECMD_OK, strlen(TRACECMD_OK));
}

int compat_run(int fd, int line, const struct session_how *how)
{
	struct compat compat = { .fd = fd, .line = line, .meta = -1, .file = -1, .in = BUF_INIT, .err = ERR_INIT };
	int r = begin(&compat);

	(void)how;
	if (!r)
		r = take_all(&compat);
	if (!r && compat.old)
		r = end_old(&compat);
	if (compat.live)
		compat_note(&compat, DESK_ENDED);
	if (compat.live && !dat_live_finish(compat.live, &compat.err))
		compat_note(&compat, DESK_CLOSED);
	dat_live_close(compat.live);
	for (uint32_t i = 0; compat.cpus && i < compat.nr_cpus; i++)
		free(compat.cpus[i].page);
	free(compat.cpus);
	free(compat.fds);
	buf_fini(&compat.in);
	return r != 0;
}
