#define RINGSIDE_FW_RINGS 3
#define RINGSIDE_FW_FLAGS RINGSIDE_FW_DISCARD
#include "scribbled_one.c"
