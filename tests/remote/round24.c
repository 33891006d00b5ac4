/* See round.h. */
#define ROUND_BITS 24
#include "round.h"
