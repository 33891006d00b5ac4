/*
 * inject/x86_64/safe: whether a stopped thread may be made to call the loader.
 */
#ifndef INJECT_X86_64_SAFE_H
#define INJECT_X86_64_SAFE_H

#include <stdbool.h>

#include "inject/image.h"
#include "inject/x86_64/tracee.h"

bool safe_to_borrow(const struct image *image, const struct tracee *tracee);

#endif
