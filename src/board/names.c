/*
 * board/names: hosts by their numbers, in place of libc's way to the servers of names. Whoever wants names has ssh:// or a proxy, which look
 * them up by themselves.
 */
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* One block: the answer, and its address behind it. */
struct answer {
	struct addrinfo info;
	union {
		struct sockaddr any;
		struct sockaddr_in four;
		struct sockaddr_in6 six;
	} address;
};

static bool add(struct addrinfo ***end, int family, const void *bytes, uint16_t port, const struct addrinfo *hints)
{
	struct answer *answer = calloc(1, sizeof(*answer));

	if (!answer)
		return false;
	answer->address.any.sa_family = (sa_family_t)family;
	if (family == AF_INET) {
		answer->address.four.sin_port = htons(port);
		memcpy(&answer->address.four.sin_addr, bytes, sizeof(struct in_addr));
	} else {
		answer->address.six.sin6_port = htons(port);
		memcpy(&answer->address.six.sin6_addr, bytes, sizeof(struct in6_addr));
	}
	answer->info = (struct addrinfo){
		.ai_family = family,
		.ai_socktype = hints->ai_socktype ? hints->ai_socktype : SOCK_STREAM,
		.ai_protocol = hints->ai_protocol,
		.ai_addr = &answer->address.any,
		.ai_addrlen = family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6),
	};
	**end = &answer->info;
	*end = &answer->info.ai_next;
	return true;
}

int getaddrinfo(const char *restrict host, const char *restrict port, const struct addrinfo *restrict hints, struct addrinfo **restrict out)
{
	uint16_t number = (uint16_t)(port ? atoi(port) : 0);
	struct addrinfo **end = out;
	struct in6_addr six = in6addr_any;
	struct in_addr four = { 0 };
	bool all = !host && hints->ai_flags & AI_PASSIVE, near = (!host && !all) || (host && !strcmp(host, "localhost")), ok = true;

	*out = NULL;
	if (near) {
		six = in6addr_loopback;
		four.s_addr = htonl(INADDR_LOOPBACK);
	}
	/* Where a passive one of six has not to share its port, it takes those of four, too. */
	if ((all || near || inet_pton(AF_INET, host, &four) == 1) && hints->ai_family != AF_INET6)
		ok = add(&end, AF_INET, &four, number, hints);
	if (ok && (all || near || inet_pton(AF_INET6, host, &six) == 1) && hints->ai_family != AF_INET)
		ok = add(&end, AF_INET6, &six, number, hints);
	if (ok)
		return *out ? 0 : EAI_NONAME;
	freeaddrinfo(*out);
	return EAI_MEMORY;
}

void freeaddrinfo(struct addrinfo *all)
{
	while (all) {
		struct addrinfo *next = all->ai_next;

		free(all);
		all = next;
	}
}

const char *gai_strerror(int r)
{
	return r == EAI_MEMORY ? "out of memory" : "a board's ringside knows hosts by their numbers, such as 192.168.1.2, and by ssh://";
}
