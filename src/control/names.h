/*
 * control/names: what stands behind the numbers in records: formats by id, printf formats by
 * address, threads by tid.
 *
 * Made from the registry when first asked, and again when a number turns up that was not known: at
 * once if something was registered since, else not more often than a few times a second. What it hands out stays until the names
 * are closed, but for comm and printk texts, which stay until the next question.
 */
#ifndef CONTROL_NAMES_H
#define CONTROL_NAMES_H

#include "control/control.h"
#include "decode/print.h"

struct control_names;

int control_names_open(struct control_names **out, struct control *control, struct err *err);
void control_names_close(struct control_names *names);

/* NULL: nobody has described an event of that id, or not in a way that makes sense. */
const struct decode_format *control_names_format(struct control_names *names, uint32_t id);

/* The name of a thread as it has told it by now, which the one below need not be; NULL: it has not. */
const char *control_names_comm(struct control_names *names, int pid);

/* For decode_print() and the like. */
const struct decode_ctx *control_names_ctx(struct control_names *names);

#endif
