/*
 * control/func: the tracers.
 */
#ifndef CONTROL_FUNC_H
#define CONTROL_FUNC_H

#include <stdbool.h>
#include <stdint.h>

/* Of TRACER_*. */
const char *control_tracer_name(uint32_t tracer);
/* Can it be chosen on this processor? */
bool control_tracer_is_here(uint32_t tracer);

#endif
