/*
 * net/gate: see gate.h.
 */
#include "net/gate.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/vm_sockets.h>

#include "base/mono.h"
#include "net/caller.h"
#include "net/jail.h"
#include "net/pump.h"

/* Connections whose peer nobody knows yet, and of all kinds. */
#define STRANGERS_MAX 48
#define VISITS_MAX 256
/* Of one name, or of one address without keys: a board that is known may not keep out the others. */
#define VISITS_OF_ONE 64
/* A child in a jail that is waited for. */
#define JAIL_MS 60000
#define MEMORY ((size_t)512 << 20)

void gate_say(const struct gate *gate, const char *fmt, ...)
{
	char text[600];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	/* Words of others are among them, and terminals do what they are told. */
	for (char *c = text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			*c = '?';
	if (gate->how.say)
		gate->how.say(gate->how.ctx, text);
}

bool gate_give(const struct visit *visit, struct desk_answer *answer, const struct err *err, const int *fds, int n)
{
	if (err->code) {
		answer->code = err->code;
		snprintf(answer->words, sizeof(answer->words), "%.250s", err->text);
	}
	return !desk_answer(visit->line, answer, fds, err->code ? 0 : n);
}

/* ---- who it is ---- */

/* Once: a session has one handshake. */
static bool answer_sign(const struct gate *gate, struct visit *visit, const struct desk_ask *ask)
{
	struct desk_answer answer = { 0 };
	int n = -1;

	if (!visit->signed_once && ask->len <= sizeof(ask->said) && gate->key)
		n = tls_key_sign(gate->key, ask->said, ask->len, answer.signature, sizeof(answer.signature));
	visit->signed_once = true;
	answer.code = n > 0 ? 0 : -EACCES;
	answer.len = n > 0 ? (uint32_t)n : 0;
	return !desk_answer(visit->line, &answer, NULL, 0);
}

/* Without a key it is called what it calls itself, unless somebody with a key is. */
static int name_bare(const struct gate *gate, struct visit *visit, const char *own, struct err *err)
{
	struct trust trust;
	int r = 0;

	if (!visit->bare)
		return err_set(err, -EACCES, "it shows no key");
	snprintf(visit->name, sizeof(visit->name), "%.56s", trust_is_name(own) ? own : trust_is_name(visit->from) ? visit->from : "board");
	if (gate->how.keys)
		r = trust_named(&trust, gate->how.keys, visit->name, err);
	if (r > 0)
		strcat(visit->name, ".keyless");
	return r < 0 ? r : 0;
}

static int name_keyed(const struct gate *gate, struct visit *visit, const char *fingerprint, struct err *err)
{
	struct trust trust;
	char verb[24];
	int r = trust_find(&trust, gate->how.keys, fingerprint, gate->how.verb, err);

	if (r < 0)
		return r;
	if (!r)
		return err_set(err, -EACCES, "the key %.60s is not known there: `ringside trust NAME %.60s` admits it", fingerprint, fingerprint);
	trust_print_verbs(gate->how.verb, verb);
	if (!(trust.may & gate->how.verb))
		return err_set(err, -EACCES, "%s may not %s there: `ringside trust %s %.60s --may %s` lets it", trust.name, verb, trust.name,
			       fingerprint, verb);
	strcpy(visit->name, trust.name);
	return 0;
}

static int check_crowd(const struct gate *gate, const struct visit *visit, struct err *err)
{
	unsigned int n = 0;

	for (const struct visit *other = gate->visits; other; other = other->next)
		n += other->known && other->keyed == visit->keyed &&
		     !strcmp(visit->keyed ? other->name : other->from, visit->keyed ? visit->name : visit->from);
	return n < VISITS_OF_ONE ? 0 : err_set(err, -EBUSY, "%s has %u connections there already", visit->keyed ? visit->name : visit->from, n);
}

static bool answer_who(const struct gate *gate, struct visit *visit, const struct desk_ask *ask)
{
	struct desk_answer answer = { 0 };
	struct err err = ERR_INIT;
	int r;

	if (visit->known)
		return false;
	visit->keyed = *ask->fingerprint && gate->key;
	if (ask->wants != gate->how.wants)
		r = err_set(&err, -ENOTSUP, gate->how.wants == WIRE_RECORDS ? "`ringside listen` is there, which records nothing" :
			    "`ringside agent` is there, which receives nothing");
	else if (visit->keyed)
		r = name_keyed(gate, visit, ask->fingerprint, &err);
	else
		r = name_bare(gate, visit, ask->name, &err);
	if (!r)
		r = check_crowd(gate, visit, &err);
	visit->known = !r;
	if (r)
		gate_say(gate, "%s was refused: %s", visit->from, err.text);
	strcpy(answer.name, visit->name);
	return gate_give(visit, &answer, &err, NULL, 0);
}

/* ---- ports ---- */

static int open_vsock(uint64_t *port, struct err *err)
{
	struct sockaddr_vm at = { .svm_family = AF_VSOCK, .svm_cid = VMADDR_CID_ANY, .svm_port = VMADDR_PORT_ANY };
	socklen_t len = sizeof(at);
	int fd = socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), code;

	if (fd >= 0 && !bind(fd, (struct sockaddr *)&at, len) && !listen(fd, 1) && !getsockname(fd, (struct sockaddr *)&at, &len)) {
		*port = at.svm_port;
		return fd;
	}
	code = -errno;
	if (fd >= 0)
		close(fd);
	return err_set(err, code, "no port for pages: %s", strerror(-code));
}

static int open_port(bool udp, uint64_t *port, struct err *err)
{
	struct sockaddr_in6 at = { .sin6_family = AF_INET6 };
	struct sockaddr_in old = { .sin_family = AF_INET };
	int kind = (udp ? SOCK_DGRAM : SOCK_STREAM) | SOCK_CLOEXEC | SOCK_NONBLOCK, no = 0, much = 4 << 20;
	int fd = socket(AF_INET6, kind, 0);
	socklen_t len = sizeof(at);
	bool ok = fd >= 0 && !setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no)) && !bind(fd, (struct sockaddr *)&at, len);

	if (!ok) {
		if (fd >= 0)
			close(fd);
		fd = socket(AF_INET, kind, 0);
		ok = fd >= 0 && !bind(fd, (struct sockaddr *)&old, sizeof(old));
	}
	/* What does not fit is lost, and nobody knows; root may have more than is usual. */
	if (ok && udp && setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &much, sizeof(much)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &much, sizeof(much));
	if (!ok || (!udp && listen(fd, 1)) || getsockname(fd, (struct sockaddr *)&at, &len)) {
		int code = -errno;

		if (fd >= 0)
			close(fd);
		return err_set(err, code, "no port for pages: %s", strerror(-code));
	}
	/* Both have it at the same place. */
	*port = ntohs(at.sin6_port);
	return fd;
}

static int check_ports(const struct gate *gate, const struct visit *visit, struct err *err)
{
	unsigned int all = 0;

	for (const struct visit *other = gate->visits; other; other = other->next)
		all += other->nr_ports;
	if (visit->nr_ports >= GATE_PORTS_MAX)
		return err_set(err, -E2BIG, "more than %u ports are not for one", GATE_PORTS_MAX);
	return all < GATE_PORTS_ALL ? 0 : err_set(err, -EAGAIN, "all %u ports are taken", GATE_PORTS_ALL);
}

bool gate_port(const struct gate *gate, struct visit *visit, const struct desk_ask *ask)
{
	struct desk_answer answer = { 0 };
	struct err err = ERR_INIT;
	int r = check_ports(gate, visit, &err), fd = r;
	bool ok;

	if (!r)
		fd = strncmp(visit->from, "vsock", 5) ? open_port(ask->wants, &answer.at, &err) : open_vsock(&answer.at, &err);
	ok = gate_give(visit, &answer, &err, &fd, 1);
	visit->nr_ports += fd >= 0;
	if (fd >= 0)
		close(fd);
	return ok;
}

/* ---- visits ---- */

static void drop(struct gate *gate, struct visit *visit)
{
	struct visit **link = &gate->visits;

	while (*link != visit)
		link = &(*link)->next;
	*link = visit->next;
	if (visit->known && gate->how.gone)
		gate->how.gone(gate->how.ctx, visit);
	if (visit->line >= 0)
		close(visit->line);
	free(visit);
}

void gate_end(struct visit *visit)
{
	if (!visit->pid)
		return;
	kill(visit->pid, SIGKILL);
	while (waitpid(visit->pid, NULL, 0) < 0 && errno == EINTR)
		;
	/* Whoever attends finds that it has hung up. */
	visit->pid = 0;
}

/* Of those that nobody knows the oldest, of the address that has most of them. */
static struct visit *tiresome(const struct gate *gate, unsigned int *strangers)
{
	struct visit *worst = NULL;
	unsigned int most = 0;

	*strangers = 0;
	for (struct visit *visit = gate->visits; visit; visit = visit->next) {
		unsigned int n = 0;

		if (visit->known)
			continue;
		++*strangers;
		for (const struct visit *other = gate->visits; other; other = other->next)
			n += !other->known && !strcmp(other->from, visit->from);
		if (n > most || (n == most && worst && visit->since < worst->since)) {
			most = n;
			worst = visit;
		}
	}
	return worst;
}

/* The child has the connection and the line to us, and nothing else. */
static void keep_two(int *one, int *other)
{
	int a = fcntl(*one, F_DUPFD, 64), b = fcntl(*other, F_DUPFD, 64);

	if (a < 0 || b < 0)
		_exit(1);
	dup2(a, 3);
	dup2(b, 4);
	*one = 3;
	*other = 4;
	caller_drop_files((const int[]){ 3, 4 }, 2);
}

static int sign(void *ctx, const uint8_t *said, size_t len, uint8_t *signature, size_t size)
{
	struct desk_ask ask = { .kind = DESK_SIGN, .len = (uint32_t)len };
	struct desk_answer answer;

	if (len > sizeof(ask.said))
		return -1;
	memcpy(ask.said, said, len);
	if (desk_ask(*(const int *)ctx, &ask, &answer, NULL, NULL) || answer.len > sizeof(answer.signature) || answer.len > size)
		return -1;
	memcpy(signature, answer.signature, answer.len);
	return (int)answer.len;
}

/* Here it is not in memory any more. */
static void hollow_key(struct gate *gate, int *line)
{
	struct tls_key *whole = gate->key;
	struct err err = ERR_INIT;

	if (whole && tls_key_hollow(&gate->key, whole, sign, line, &err))
		_exit(1);
	tls_key_free(whole);
}

static void live(struct gate *gate, int fd, int line, bool bare)
{
	struct err err = ERR_INIT;

	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != gate->self)
		_exit(1);
	prctl(PR_SET_NAME, "session");
	keep_two(&fd, &line);
	hollow_key(gate, &line);
	_exit(jail_enter(MEMORY, false, &err) ? 1 : gate->how.live(gate->how.ctx, fd, line, bare));
}

static bool needs_no_key(const struct gate *gate, int fd)
{
	if (gate->how.insecure || fd == gate->how.stdio)
		return true;
	return address_is_near(fd) && !(gate->how.near_needs_key && address_is_anybody(fd));
}

static void receive(struct gate *gate, int fd)
{
	struct visit *visit = calloc(1, sizeof(*visit)), *worst;
	unsigned int strangers;
	int line[2] = { -1, -1 };

	worst = tiresome(gate, &strangers);
	if (strangers >= STRANGERS_MAX && worst) {
		gate_end(worst);
		drop(gate, worst);
	}
	if (!visit || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, line)) {
		free(visit);
		close(fd);
		return;
	}
	visit->line = line[0];
	visit->since = mono_ms();
	visit->bare = needs_no_key(gate, fd);
	address_peer(fd, visit->from, sizeof(visit->from));
	visit->pid = fork();
	if (!visit->pid)
		live(gate, fd, line[1], visit->bare);
	close(line[1]);
	close(fd);
	visit->next = gate->visits;
	gate->visits = visit;
	if (visit->pid < 0) {
		visit->pid = 0;
		drop(gate, visit);
	}
}

static void accept_all(struct gate *gate, int at)
{
	for (int i = 0; i < 16; i++) {
		int fd = accept4(at, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		unsigned int n = 0;

		if (fd < 0)
			return;
		for (const struct visit *visit = gate->visits; visit; visit = visit->next)
			n++;
		if (n >= VISITS_MAX)
			close(fd);
		else
			receive(gate, fd);
	}
}

static bool has_ended(pid_t pid, int *status)
{
	for (int i = 0; i < 50; i++) {
		if (waitpid(pid, status, WNOHANG) == pid)
			return true;
		poll(NULL, 0, 1);
	}
	return false;
}

static bool answer(struct gate *gate, struct visit *visit, const struct desk_ask *ask)
{
	switch (ask->kind) {
	case DESK_SIGN:
		return answer_sign(gate, visit, ask);
	case DESK_WHO:
		return answer_who(gate, visit, ask);
	case DESK_SAY:
		gate_say(gate, "%s (%s): %.400s", visit->known ? visit->name : "?", visit->from, ask->text);
		return true;
	default:
		return visit->known && gate->how.answer(gate->how.ctx, visit, ask);
	}
}

/* What it asks; at the end it is gone. */
static void attend(struct gate *gate, struct visit *visit)
{
	struct desk_ask ask;
	int r = 1, status = 0;

	for (int i = 0; i < 16 && r > 0; i++) {
		r = visit->pid ? desk_hear(visit->line, &ask) : 0;
		if (r > 0 && !answer(gate, visit, &ask))
			r = -EPROTO;
	}
	if (r > 0 || r == -EAGAIN)
		return;
	/* Who hangs up and lives on is not waited for. */
	if (visit->pid && (r < 0 || !has_ended(visit->pid, &status)))
		gate_end(visit);
	if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
		gate_say(gate, "%s: whoever listened to it was killed (%s)", visit->from, strsignal(WTERMSIG(status)));
	visit->pid = 0;
	drop(gate, visit);
}

/* ---- the gate ---- */

int gate_open(struct gate *gate, const struct gate_how *how, struct err *err)
{
	int r = 0;

	*gate = (struct gate){ .how = *how, .self = getpid() };
	if (how->keys)
		r = trust_own(&gate->key, how->keys, false, err);
	for (size_t i = 0; !r && i < how->nr; i++) {
		int n = address_listen(&how->at[i], gate->fds + gate->nr_fds, GATE_FDS - gate->nr_fds, err);

		if (n < 0)
			r = n;
		else
			gate->nr_fds += n;
	}
	if (!r && how->stdio >= 0) {
		gate->how.stdio = pump_stdio(err);
		r = gate->how.stdio < 0 ? gate->how.stdio : 0;
	}
	if (!r && how->stdio >= 0) {
		fcntl(gate->how.stdio, F_SETFL, O_NONBLOCK);
		receive(gate, gate->how.stdio);
	}
	if (r)
		gate_close(gate);
	return r;
}

void gate_close(struct gate *gate)
{
	while (gate->visits) {
		gate_end(gate->visits);
		drop(gate, gate->visits);
	}
	for (int i = 0; i < gate->nr_fds; i++)
		close(gate->fds[i]);
	tls_key_free(gate->key);
	gate->key = NULL;
	gate->nr_fds = 0;
}

bool gate_attend(struct gate *gate)
{
	struct pollfd fds[GATE_FDS + VISITS_MAX];
	struct visit *visit, *next;
	int n = 0;

	if (!gate->nr_fds && !gate->visits)
		return false;
	for (; n < gate->nr_fds; n++)
		fds[n] = (struct pollfd){ .fd = gate->fds[n], .events = POLLIN };
	for (visit = gate->visits; visit; visit = visit->next)
		fds[n++] = (struct pollfd){ .fd = visit->line, .events = POLLIN };
	if (poll(fds, (nfds_t)n, 1000) <= 0)
		return true;
	/* Those first whose places are as they were asked for. */
	n = gate->nr_fds;
	for (visit = gate->visits; visit; visit = next, n++) {
		next = visit->next;
		if (fds[n].revents)
			attend(gate, visit);
	}
	for (int i = 0; i < gate->nr_fds; i++)
		if (fds[i].revents)
			accept_all(gate, gate->fds[i]);
	return true;
}

int gate_in_jail(int (*work)(void *ctx), void *ctx)
{
	int64_t until = mono_ms() + JAIL_MS;
	pid_t pid = fork();
	int status = -1;

	if (!pid) {
		struct err err = ERR_INIT;

		_exit(jail_enter(MEMORY, false, &err) ? 1 : work(ctx));
	}
	/* What it looks at may be made to keep it for ever. */
	while (pid > 0 && !waitpid(pid, &status, WNOHANG)) {
		if (mono_ms() > until)
			kill(pid, SIGKILL);
		poll(NULL, 0, 2);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -ECHILD;
}
