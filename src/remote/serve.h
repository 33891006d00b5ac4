/*
 * remote/serve: remotes that this process brings, for <ringside/remote.h>, which has the contract.
 */
#ifndef REMOTE_SERVE_H
#define REMOTE_SERVE_H

#include "base/err.h"
#include "ringside/remote.h"

struct remote_serving;

struct remote_offer {
	const char *name;
	const struct ringside_control_remote_callbacks *callbacks;
	void *priv;
	const struct ringside_fw_text *const *events;
	size_t nr_events;
};

/* `dir` is a descriptor of the tracing directory, and stays the caller's. */
int remote_register(struct remote_serving **out, int dir, const struct remote_offer *offer, struct err *err);
void remote_unregister(struct remote_serving *serving);

#endif
