/* See round.h. */
#define ROUND_BITS 32
#include "round.h"
