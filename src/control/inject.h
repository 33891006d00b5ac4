/*
 * control/inject: an event made from text: `field=value field="text"`. Fields that are not named are 0.
 */
#ifndef CONTROL_INJECT_H
#define CONTROL_INJECT_H

#include <stdint.h>

#include "base/err.h"
#include "control/registry.h"
#include "runtime/runtime.h"

struct control_injection {
	uint64_t record[RUNTIME_RECORD_MAX / 8];	/* its common fields are for whoever writes it */
	uint32_t len;
};

/* -ENOENT: no such field; -EINVAL: not understood, err->pos tells where; -E2BIG. */
int control_inject(struct control_injection *injection, const struct control_event *event,
		   const char *text, size_t len, struct err *err);

#endif
