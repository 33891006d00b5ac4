/*
 * control/func: the tracers.
 */
#ifndef CONTROL_FUNC_H
#define CONTROL_FUNC_H

#include <stdint.h>

/* Of TRACER_*, if there is such a tracer on this processor; else NULL. */
const char *control_tracer_name(uint32_t tracer);

#endif
