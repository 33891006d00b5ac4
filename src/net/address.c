/*
 * net/address: see address.h.
 */
#include "net/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <linux/vm_sockets.h>

#include "base/mono.h"

/* ---- text ---- */

static bool parse_number(const char *text, uint32_t max, uint32_t *number)
{
	char *end;
	unsigned long long n = strtoull(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || n > max)
		return false;
	*number = (uint32_t)n;
	return true;
}

static int bad_port(const char *text, const char *port, struct err *err)
{
	return err_set(err, -EINVAL, "%.200s: '%.40s' is no port: a number from 1 to 65535 is needed", text, port);
}

static int parse_vsock(struct address *address, const char *text, struct err *err)
{
	const char *cid = text + strlen("vsock:"), *colon = strchr(cid, ':');
	char own[16];

	address->kind = ADDRESS_VSOCK;
	/* What is cut off would be another one. */
	if (snprintf(own, sizeof(own), "%.*s", (int)(colon ? colon - cid : (long)sizeof(own)), cid) >= (int)sizeof(own) ||
	    !parse_number(own, UINT32_MAX, &address->cid))
		return err_set(err, -EINVAL, "%.200s: a guest's number is needed, vsock:CID or vsock:CID:PORT", text);
	if (colon && (!parse_number(colon + 1, UINT32_MAX - 1, &address->port) || !address->port))
		return bad_port(text, colon + 1, err);
	return 0;
}

static int parse_unix(struct address *address, const char *text, struct err *err)
{
	const char *path = text + strlen("unix:");

	address->kind = ADDRESS_UNIX;
	if (!*path)
		return err_set(err, -EINVAL, "unix: a path is needed, unix:/run/ringside");
	if (strlen(path) >= sizeof(((struct sockaddr_un *)0)->sun_path))
		return err_set(err, -ENAMETOOLONG, "%.200s: the path of a socket may not be so long", text);
	strcpy(address->host, path);
	return 0;
}

static bool is_host(const char *host)
{
	for (; *host; host++)
		if (*host <= ' ' || *host >= 127 || strchr("/\\\"'`$;|&<>(){}*?!", *host))
			return false;
	return true;
}

/* HOST, HOST:PORT, [ADDRESS], [ADDRESS]:PORT; an address of IPv6 may stand alone, too. */
static int parse_host(struct address *address, const char *text, const char *from, struct err *err)
{
	const char *end, *port = NULL, *close = *from == '[' ? strchr(from, ']') : NULL;

	if (*from == '[' && (!close || (close[1] && close[1] != ':')))
		return err_set(err, -EINVAL, "%.200s: [ADDRESS]:PORT is needed", text);
	end = close ? close : strrchr(from, ':');
	if (close && close[1])
		port = close + 2;
	else if (!close && end && strchr(from, ':') == end)
		port = end + 1;
	if (!close && !port)
		end = from + strlen(from);
	from += close ? 1 : 0;
	if ((size_t)(end - from) >= sizeof(address->host))
		return err_set(err, -ENAMETOOLONG, "%.100s...: no host has such a name", text);
	memcpy(address->host, from, (size_t)(end - from));
	address->host[end - from] = '\0';
	/* What begins with a dash would be an option of ssh. */
	if (!is_host(address->host) || *address->host == '-')
		return err_set(err, -EINVAL, "%.200s: that is no name of a host", text);
	if (port && (!parse_number(port, 65535, &address->port) || !address->port))
		return bad_port(text, port, err);
	return 0;
}

int address_parse(struct address *address, const char *text, uint32_t port, struct err *err)
{
	int r;

	*address = (struct address){ .kind = ADDRESS_TCP, .port = port };
	if (!strncmp(text, "unix:", 5))
		return parse_unix(address, text, err);
	if (!strncmp(text, "vsock:", 6))
		return parse_vsock(address, text, err);
	if (strncmp(text, "ssh://", 6))
		return parse_host(address, text, text, err);
	address->kind = ADDRESS_SSH;
	address->port = 0;
	r = parse_host(address, text, text + 6, err);
	return r || *address->host ? r : err_set(err, -EINVAL, "ssh://: a host is needed, ssh://USER@HOST");
}

void address_print(const struct address *address, char *text, size_t size)
{
	bool six = strchr(address->host, ':');

	switch (address->kind) {
	case ADDRESS_UNIX:
		snprintf(text, size, "unix:%s", address->host);
		break;
	case ADDRESS_VSOCK:
		snprintf(text, size, "vsock:%u:%u", address->cid, address->port);
		break;
	case ADDRESS_SSH:
		snprintf(text, size, address->port ? "ssh://%s:%u" : "ssh://%s", address->host, address->port);
		break;
	case ADDRESS_TCP:
		snprintf(text, size, six ? "[%s]:%u" : "%s:%u", address->host, address->port);
		break;
	}
}

/* ---- sockets ---- */

union any {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
	struct sockaddr_vm vm;
	struct sockaddr_storage storage;
};

static bool is_loopback(const union any *a)
{
	static const uint8_t mapped[13] = { [10] = 0xff, 0xff, 127 };

	switch (a->sa.sa_family) {
	case AF_UNIX:
	case AF_VSOCK:
		return true;
	case AF_INET:
		return ntohl(a->in.sin_addr.s_addr) >> 24 == 127;
	case AF_INET6:
		return IN6_IS_ADDR_LOOPBACK(&a->in6.sin6_addr) || !memcmp(&a->in6.sin6_addr, mapped, sizeof(mapped));
	default:
		return false;
	}
}

bool address_is_near(int fd)
{
	union any own = { 0 }, peer = { 0 };
	socklen_t len = sizeof(own);

	if (getsockname(fd, &own.sa, &len))
		return false;
	len = sizeof(peer);
	/* Who has a way around the loopback to its address is not near. */
	if (!getpeername(fd, &peer.sa, &len) && !is_loopback(&peer))
		return false;
	return is_loopback(&own);
}

bool address_is_anybody(int fd)
{
	union any own = { 0 }, peer = { 0 };
	socklen_t len = sizeof(own), peer_len = sizeof(peer);

	if (getsockname(fd, &own.sa, &len) || getpeername(fd, &peer.sa, &peer_len))
		return true;
	if (peer.sa.sa_family == AF_VSOCK)
		return peer.vm.svm_cid == VMADDR_CID_LOCAL || peer.vm.svm_cid == own.vm.svm_cid;
	return peer.sa.sa_family != AF_UNIX;
}

static int wait_connected(int fd, int ms)
{
	struct pollfd wait = { .fd = fd, .events = POLLOUT };
	socklen_t len = sizeof(int);
	int code = 0, r;

	do
		r = poll(&wait, 1, ms);
	while (r < 0 && errno == EINTR);
	if (!r)
		return -ETIMEDOUT;
	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &len) ? -errno : -code;
}

static int call(const struct sockaddr *to, socklen_t len, int protocol, int ms)
{
	int fd = socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol), r = 0, yes = 1;

	if (fd < 0)
		return -errno;
	if (connect(fd, to, len))
		r = errno == EINPROGRESS || errno == EAGAIN ? wait_connected(fd, ms) : -errno;
	if (r) {
		close(fd);
		return r;
	}
	if (to->sa_family == AF_INET || to->sa_family == AF_INET6)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	return fd;
}

static int look_up(const struct address *address, bool listens, struct addrinfo **all, struct err *err)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG | (listens ? AI_PASSIVE : 0) };
	char port[8];
	int r;

	snprintf(port, sizeof(port), "%u", address->port);
	/* The loopback is there where nothing else is configured. */
	if (!strcmp(address->host, "localhost") || strspn(address->host, "0123456789.:abcdefABCDEF") == strlen(address->host))
		hints.ai_flags &= ~AI_ADDRCONFIG;
	r = getaddrinfo(*address->host ? address->host : NULL, port, &hints, all);
	if (!r)
		return 0;
	return err_set(err, r == EAI_AGAIN ? -EAGAIN : -ENOENT, "%s: %s", address->host,
		       r == EAI_SYSTEM ? strerror(errno) : gai_strerror(r));
}

static int connect_tcp(const struct address *address, int ms, struct err *err)
{
	struct addrinfo *all = NULL;
	int64_t end = mono_ms() + ms;
	int fd = look_up(address, false, &all, err);
	char text[ADDRESS_TEXT];

	if (fd)
		return fd;
	fd = -EHOSTUNREACH;
	for (struct addrinfo *one = all; one && fd < 0; one = one->ai_next) {
		int64_t left = end - mono_ms();

		fd = call(one->ai_addr, one->ai_addrlen, one->ai_protocol, left > 0 ? (int)left : 0);
	}
	freeaddrinfo(all);
	address_print(address, text, sizeof(text));
	return fd < 0 ? err_set(err, fd, "%s: %s", text, strerror(-fd)) : fd;
}

static socklen_t fill(const struct address *address, union any *to)
{
	*to = (union any){ 0 };
	if (address->kind == ADDRESS_UNIX) {
		to->un.sun_family = AF_UNIX;
		snprintf(to->un.sun_path, sizeof(to->un.sun_path), "%.*s", (int)sizeof(to->un.sun_path) - 1, address->host);
		return sizeof(to->un);
	}
	to->vm.svm_family = AF_VSOCK;
	to->vm.svm_cid = address->cid;
	to->vm.svm_port = address->port;
	return sizeof(to->vm);
}

int address_connect(const struct address *address, int ms, struct err *err)
{
	char text[ADDRESS_TEXT];
	union any to;
	int fd;

	if (address->kind == ADDRESS_TCP)
		return connect_tcp(address, ms, err);
	address_print(address, text, sizeof(text));
	if (address->kind == ADDRESS_SSH)
		return err_set(err, -EINVAL, "%s: that is no socket", text);
	fd = call(&to.sa, fill(address, &to), 0, ms);
	return fd < 0 ? err_set(err, fd, "%s: %s", text, strerror(-fd)) : fd;
}

int address_beside(int fd, uint32_t port, int ms, struct err *err)
{
	union any to = { 0 };
	socklen_t len = sizeof(to);
	int64_t until = mono_ms() + ms;
	int beside, r, yes = 1;

	if (getpeername(fd, &to.sa, &len))
		return err_set(err, -errno, "its ports: %s", strerror(errno));
	if (to.sa.sa_family == AF_VSOCK)
		to.vm.svm_port = port;
	else if (to.sa.sa_family == AF_INET || to.sa.sa_family == AF_INET6)
		/* Both have it at the same place. */
		to.in.sin_port = htons((uint16_t)port);
	else
		return err_set(err, -EPROTO, "its ports can be reached by TCP and vsock only");
	if (!port || (to.sa.sa_family != AF_VSOCK && port > 65535))
		return err_set(err, -EPROTO, "it has no port %u", port);
	for (;;) {
		beside = socket(to.sa.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		r = beside < 0 || connect(beside, &to.sa, len) ? -errno : 0;
		if ((r != -ECONNREFUSED && r != -ECONNRESET) || mono_ms() > until)
			break;
		close(beside);
		poll(NULL, 0, 20);
	}
	if (r) {
		if (beside >= 0)
			close(beside);
		return err_set(err, r, "its port %u: %s", port, strerror(-r));
	}
	if (to.sa.sa_family != AF_VSOCK)
		setsockopt(beside, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	return beside;
}

static int bind_one(const struct sockaddr *at, socklen_t len, int protocol)
{
	int fd = socket(at->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol), yes = 1, r;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (at->sa_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof(yes));
	if (!bind(fd, at, len) && !listen(fd, 128))
		return fd;
	r = -errno;
	close(fd);
	return r;
}

/* What a listener that was killed has left. */
static void clear_path(const struct address *address, const union any *at, socklen_t len)
{
	struct stat st;
	int fd;

	if (lstat(address->host, &st) || !S_ISSOCK(st.st_mode))
		return;
	fd = call(&at->sa, len, 0, 1000);
	if (fd == -ECONNREFUSED)
		unlink(address->host);
	if (fd >= 0)
		close(fd);
}

static int listen_tcp(const struct address *address, int *fds, int max, struct err *err)
{
	struct addrinfo *all = NULL;
	int n = 0, r = look_up(address, true, &all, err), first = 0;

	if (r)
		return r;
	for (struct addrinfo *one = all; one && n < max; one = one->ai_next) {
		int fd = bind_one(one->ai_addr, one->ai_addrlen, one->ai_protocol);

		if (fd >= 0)
			fds[n++] = fd;
		else if (!first)
			first = fd;
	}
	freeaddrinfo(all);
	return n ? n : first ? first : -EADDRNOTAVAIL;
}

int address_listen(const struct address *address, int *fds, int max, struct err *err)
{
	char text[ADDRESS_TEXT];
	union any at;
	socklen_t len;
	int r;

	address_print(address, text, sizeof(text));
	if (address->kind == ADDRESS_SSH)
		return err_set(err, -EINVAL, "%s: nobody can listen there", text);
	if (address->kind == ADDRESS_TCP) {
		r = listen_tcp(address, fds, max, err);
	} else {
		len = fill(address, &at);
		if (address->kind == ADDRESS_UNIX)
			clear_path(address, &at, len);
		r = bind_one(&at.sa, len, 0);
		if (r >= 0) {
			fds[0] = r;
			r = 1;
		}
	}
	return r < 0 ? err_set(err, r, "cannot listen at %s: %s", text, strerror(-r)) : r;
}

static void print(const union any *a, char *text, size_t size, bool with_port)
{
	char number[INET6_ADDRSTRLEN] = "?";

	switch (a->sa.sa_family) {
	case AF_UNIX:
		snprintf(text, size, "unix%s%s", with_port ? ":" : "", with_port ? a->un.sun_path : "");
		break;
	case AF_VSOCK:
		snprintf(text, size, with_port ? "vsock:%u:%u" : "vsock:%u", a->vm.svm_cid, a->vm.svm_port);
		break;
	case AF_INET:
		inet_ntop(AF_INET, &a->in.sin_addr, number, sizeof(number));
		snprintf(text, size, with_port ? "%s:%u" : "%s", number, ntohs(a->in.sin_port));
		break;
	case AF_INET6:
		inet_ntop(AF_INET6, &a->in6.sin6_addr, number, sizeof(number));
		snprintf(text, size, with_port ? "[%s]:%u" : "%s", number, ntohs(a->in6.sin6_port));
		break;
	default:
		snprintf(text, size, "?");
	}
}

void address_peer(int fd, char *text, size_t size)
{
	union any a = { 0 };
	socklen_t len = sizeof(a);

	if (getpeername(fd, &a.sa, &len))
		snprintf(text, size, "a pipe");
	else
		print(&a, text, size, false);
}

void address_own(int fd, char *text, size_t size)
{
	union any a = { 0 };
	socklen_t len = sizeof(a);

	if (getsockname(fd, &a.sa, &len))
		snprintf(text, size, "?");
	else
		print(&a, text, size, true);
}
