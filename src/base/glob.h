/*
 * base/glob: shell-like patterns (* ? [] \) as the kernel's filter files match them.
 * Iterative and bounded by len(pattern) * len(text): any bytes may come in, from a signal handler too.
 */
#ifndef BASE_GLOB_H
#define BASE_GLOB_H

#include <stdbool.h>
#include <stddef.h>

bool glob_match(const char *pattern, const char *text);
/* The same without a NUL behind either; the bytes may even change meanwhile. */
bool glob_match_within(const char *pattern, size_t pattern_len, const char *text, size_t len);

#endif
