/*
 * Where the other end is, as people write it: what each form means, what is none, and what would be an option or a command of ssh. And who
 * is near: nobody whose way is not the loopback's.
 */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "insist.h"
#include "net/address.h"

static const struct {
	const char *text;
	int kind;		/* -1: none */
	const char *host;
	uint32_t cid, port;
	const char *printed;	/* NULL: as it was written */
} forms[] = {
	{ "board", ADDRESS_TCP, "board", 0, 5877, "board:5877" }, { "board:1", ADDRESS_TCP, "board", 0, 1, NULL },
	{ "board:65535", ADDRESS_TCP, "board", 0, 65535, NULL }, { "192.0.2.7:99", ADDRESS_TCP, "192.0.2.7", 0, 99, NULL },
	{ "[::1]", ADDRESS_TCP, "::1", 0, 5877, "[::1]:5877" }, { "[::1]:80", ADDRESS_TCP, "::1", 0, 80, NULL },
	{ "::1", ADDRESS_TCP, "::1", 0, 5877, "[::1]:5877" }, { "fe80::1%eth0", ADDRESS_TCP, "fe80::1%eth0", 0, 5877, "[fe80::1%eth0]:5877" },
	{ "2001:db8::2:80", ADDRESS_TCP, "2001:db8::2:80", 0, 5877, "[2001:db8::2:80]:5877" }, { "[board]:7", ADDRESS_TCP, "board", 0, 7, "board:7" },
	{ "", ADDRESS_TCP, "", 0, 5877, ":5877" }, { ":7", ADDRESS_TCP, "", 0, 7, NULL }, { "a-b.c_d", ADDRESS_TCP, "a-b.c_d", 0, 5877, "a-b.c_d:5877" },
	{ "board:0", -1, "", 0, 0, NULL }, { "board:65536", -1, "", 0, 0, NULL }, { "board:", -1, "", 0, 0, NULL },
	{ "board:x", -1, "", 0, 0, NULL }, { "board:-1", -1, "", 0, 0, NULL }, { "board:+1", -1, "", 0, 0, NULL },
	{ "board: 1", -1, "", 0, 0, NULL }, { "board:1 ", -1, "", 0, 0, NULL }, { "board:0x10", -1, "", 0, 0, NULL },
	{ "board:99999999999999999999", -1, "", 0, 0, NULL }, { "[::1", -1, "", 0, 0, NULL }, { "[::1]80", -1, "", 0, 0, NULL },
	{ "[::1]:", -1, "", 0, 0, NULL }, { "[::1]:x", -1, "", 0, 0, NULL }, { "bo ard", -1, "", 0, 0, NULL }, { "bo\nard", -1, "", 0, 0, NULL },
	{ "a/b", -1, "", 0, 0, NULL }, { "a;b", -1, "", 0, 0, NULL }, { "a`b`", -1, "", 0, 0, NULL }, { "$(a)", -1, "", 0, 0, NULL },
	{ "-oProxyCommand=x", -1, "", 0, 0, NULL }, { "b\303\244r", -1, "", 0, 0, NULL }, { "\177", -1, "", 0, 0, NULL },
	{ "unix:/run/x", ADDRESS_UNIX, "/run/x", 0, 5877, NULL }, { "unix:x", ADDRESS_UNIX, "x", 0, 5877, NULL }, { "unix:", -1, "", 0, 0, NULL },
	{ "vsock:3", ADDRESS_VSOCK, "", 3, 5877, "vsock:3:5877" }, { "vsock:3:1", ADDRESS_VSOCK, "", 3, 1, NULL },
	{ "vsock:4294967295:4294967294", ADDRESS_VSOCK, "", UINT32_MAX, UINT32_MAX - 1, NULL }, { "vsock:", -1, "", 0, 0, NULL },
	{ "vsock:x", -1, "", 0, 0, NULL }, { "vsock:4294967296", -1, "", 0, 0, NULL }, { "vsock:3:0", -1, "", 0, 0, NULL },
	{ "vsock:3:x", -1, "", 0, 0, NULL }, { "vsock:3:1:2", -1, "", 0, 0, NULL }, { "vsock:00000000000000000000003", -1, "", 0, 0, NULL },
	{ "ssh://board", ADDRESS_SSH, "board", 0, 0, NULL }, { "ssh://me@board:22", ADDRESS_SSH, "me@board", 0, 22, NULL },
	{ "ssh://", -1, "", 0, 0, NULL }, { "ssh://-oProxyCommand=x", -1, "", 0, 0, NULL }, { "ssh://[-oProxyCommand=x]", -1, "", 0, 0, NULL },
	{ "ssh://board/x", -1, "", 0, 0, NULL }, { "ssh://board:0", -1, "", 0, 0, NULL }, { "ssh://a b", -1, "", 0, 0, NULL },
};

static void try_form(size_t i)
{
	struct address address;
	struct err err = ERR_INIT;
	char text[ADDRESS_TEXT];
	int r = address_parse(&address, forms[i].text, 5877, &err);

	CHECK(!r == (forms[i].kind >= 0) && !r == !err.code && (!r || *err.text), "'%s': %d, %s", forms[i].text, r, err.text);
	if (r)
		return;
	CHECK((int)address.kind == forms[i].kind && !strcmp(address.host, forms[i].host) && address.cid == forms[i].cid && address.port == forms[i].port,
	      "'%s': kind %d, '%s', %u, %u", forms[i].text, (int)address.kind, address.host, address.cid, address.port);
	address_print(&address, text, sizeof(text));
	CHECK(!strcmp(text, forms[i].printed ? forms[i].printed : forms[i].text), "'%s' is printed as '%s'", forms[i].text, text);
}

/* Of any length. */
static void try_lengths(void)
{
	static const char *const heads[] = { "", "unix:", "ssh://", "vsock:", "[", "x:" };
	struct address address;
	char text[2000], printed[ADDRESS_TEXT];

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		for (size_t len = 0; len < 1500; len += len < 600 ? 1 : 97) {
			struct err err = ERR_INIT;

			snprintf(text, sizeof(text), "%s", heads[i]);
			memset(text + strlen(heads[i]), i == 5 ? '1' : 'a', len);
			text[strlen(heads[i]) + len] = '\0';
			if (address_parse(&address, text, 1, &err))
				CHECK(*err.text, "%s: refused without words", heads[i]);
			else
				address_print(&address, printed, sizeof(printed));
		}
}

/* ---- near ---- */

static void try_near(void)
{
	static const struct {
		const char *at;
		bool anybody;
	} tries[] = { { "127.0.0.1:0", true }, { "127.8.8.8:0", true }, { "[::1]:0", true }, { "", false } };
	char path[120];

	snprintf(path, sizeof(path), "unix:%s/socket", getenv("RINGSIDE_SCRATCH"));
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		struct address address = { .kind = ADDRESS_TCP };
		struct err err = ERR_INIT;
		int fds[4], n, call, came;
		union {
			struct sockaddr sa;
			struct sockaddr_storage storage;
		} at;
		socklen_t len = sizeof(at);

		if (*tries[i].at)
			snprintf(address.host, sizeof(address.host), "%.*s", (int)strcspn(*tries[i].at == '[' ? tries[i].at + 1 : tries[i].at, *tries[i].at == '[' ? "]" : ":"),
				 tries[i].at + (*tries[i].at == '['));
		else
			CHECK(!address_parse(&address, path, 1, &err), "%s", err.text);
		n = address_listen(&address, fds, 4, &err);
		/* A machine may have no IPv6. */
		if (n < 0 && *tries[i].at == '[')
			continue;
		CHECK(n == 1 && !getsockname(fds[0], &at.sa, &len), "%s: %s", tries[i].at, err.text);
		call = socket(at.sa.sa_family, SOCK_STREAM, 0);
		CHECK(call >= 0 && !connect(call, &at.sa, len) && (came = accept(fds[0], NULL, NULL)) >= 0, "%s: nobody comes", tries[i].at);
		CHECK(address_is_near(call) && address_is_near(came) && address_is_near(fds[0]), "%s: is not near", tries[i].at);
		CHECK(address_is_anybody(came) == tries[i].anybody, "%s: whoever that may be", tries[i].at);
		close(call);
		close(came);
		close(fds[0]);
	}
}

/* What is bound to all addresses is not, whoever comes by it. */
static void try_far(void)
{
	struct address address = { .kind = ADDRESS_TCP };
	struct err err = ERR_INIT;
	int fds[4], n = address_listen(&address, fds, 4, &err), pair[2];

	CHECK(n > 0, "%s", err.text);
	for (int i = 0; i < n; i++) {
		CHECK(!address_is_near(fds[i]), "all addresses are near");
		close(fds[i]);
	}
	CHECK(!pipe(pair) && !address_is_near(pair[0]), "a pipe is near");
}

int main(void)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		try_form(i);
	try_lengths();
	try_near();
	try_far();
	return 0;
}
